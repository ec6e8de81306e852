/**
 * Which packets came of what: the reservation that a packet belongs to becomes the rewriter's run,
 * and the launch of the run is told of its packets. Kernels that were reserved outside of host
 * calls may be a graph's: their fingerprints tell.
 *
 * Of rewrite.c, in place as packet_read.h is, but for what would take registers from the functions
 * that most packets go through. By the submitter.
 */
#ifndef RTL_INTERCEPT_QUEUE_REWRITE_RUN_H
#define RTL_INTERCEPT_QUEUE_REWRITE_RUN_H

#include "graph/fingerprint.h"
#include "intercept/queue/packet_read.h"
#include "intercept/queue/rewrite.h"

/** What the account of one batch comes to; added to the shared ledger once. */
struct rtl_batch_counts {
    uint64_t seen, skipped, stopped, withheld, borrowed;
    uint64_t pending, pool, taken; /* lost for these reasons; taken: by the device, not followed */
    struct rtl_launch_part launch; /* that the last packets belong to */
};

/** Tells the launch that packets were counted for last of them. */
static inline void rtl_run_tell(struct rtl_rewriter *rewriter, struct rtl_batch_counts *counts)
{
    if (counts->launch.packets > 0 && counts->launch.launch != RTL_NONE)
        rewriter->launches->pass(&counts->launch);
    counts->launch = (struct rtl_launch_part){.launch = RTL_NONE};
}

/** The fingerprint of kernels that begin with those of `before`, and of one more. */
static RTL_ALWAYS_INLINE uint64_t rtl_run_fingerprint(uint64_t before,
                                                      const struct rtl_kernel_key *key)
{
    uint64_t plane = key->block_z_grid_x >> 32 | key->grid_y_z << 32;
    uint64_t rest = key->grid_y_z >> 32 | key->block;
    return rtl_fingerprint_words(before, key->kernel_object, key->kernarg, plane, rest,
                                 (uint16_t)key->block_z_grid_x);
}

/** Where the first packet of that fingerprint is noted, and the last one. */
static inline uint64_t *rtl_run_first_packet(struct rtl_rewriter *rewriter, uint64_t key)
{
    return &rewriter->first_packets[key % RTL_REWRITE_EDGES];
}

static inline uint64_t *rtl_run_last_packet(struct rtl_rewriter *rewriter, uint64_t key)
{
    return &rewriter->last_packets[key % RTL_REWRITE_EDGES];
}

/** Notes a kernel as one that replays begin with; returns its fingerprint. */
static inline uint64_t rtl_run_add_first_packet(struct rtl_rewriter *rewriter,
                                                const struct rtl_kernel_key *kernel)
{
    uint64_t key = rtl_run_fingerprint(0, kernel);
    *rtl_run_first_packet(rewriter, key) = key;
    rewriter->edge_count++;
    return key;
}

/** Notes a kernel as one that replays end with. */
static inline void rtl_run_add_last_packet(struct rtl_rewriter *rewriter,
                                           const struct rtl_kernel_key *kernel)
{
    uint64_t key = rtl_run_fingerprint(0, kernel);
    *rtl_run_last_packet(rewriter, key) = key;
    rewriter->edge_count++;
}

/** The first of packets that were reserved at once, right after a kernel that was reserved alone.
 */
static inline void rtl_run_note_first_packet(struct rtl_rewriter *rewriter)
{
    const struct rtl_rewrite_run *run = &rewriter->run;
    if (rewriter->last_single_at == 0 || rewriter->last_single_at != run->first)
        return;
    uint64_t key = rtl_run_add_first_packet(rewriter, &rewriter->last_single);
    rewriter->launches->set_head(run->reservation.launch, key);
}

/** Whether what the run holds is a batch of a replay behind which there may be more. */
static inline bool rtl_run_is_full_batch(const struct rtl_rewrite_run *run)
{
    uint32_t count = run->reservation.count;
    return (run->reservation.flags & RTL_RESERVED_INFERRED) != 0 && count > 1 &&
           count <= RTL_REWRITE_BATCH && (count & (count - 1)) == 0;
}

/** The reservation that a packet belongs to becomes the run, if it is not already. */
static __attribute__((noinline)) void rtl_run_enter(struct rtl_rewriter *rewriter, uint64_t index)
{
    struct rtl_rewrite_run *run = &rewriter->run;
    if (index >= run->first && index < run->end)
        return;
    run->behind_batch = index == run->end && rtl_run_is_full_batch(run);
    run->reservation = rtl_reservations_at(rewriter->reservations, index);
    run->first = index;
    run->end = index + run->reservation.count;
    run->fingerprint = 0;
    run->arguments[0] = run->arguments[1] = 0;
    if ((run->reservation.flags & RTL_RESERVED_INFERRED) != 0)
        rtl_run_note_first_packet(rewriter);
}

/** Whether a kernel that was reserved alone may be a launch of its own. */
static inline bool rtl_run_may_be_launch(const struct rtl_rewriter *rewriter)
{
    return rewriter->edge_count > 0 || rtl_graph_pages_any(rewriter->pages);
}

/** The fingerprint of a kernel that was reserved alone if it is a launch of its own: its arguments
 * are a graph's, or it has been seen as a head, or as what is left behind full batches. 0: it is
 * none. */
static inline uint64_t rtl_run_launch_key(struct rtl_rewriter *rewriter,
                                          const struct rtl_kernel_key *kernel)
{
    uint64_t key = rtl_run_fingerprint(0, kernel);
    return rtl_graph_pages_have(rewriter->pages, kernel->kernarg) ||
                   *rtl_run_first_packet(rewriter, key) == key ||
                   *rtl_run_last_packet(rewriter, key) == key
               ? key
               : 0;
}

/** Adds the arguments of a kernel, or of the last of several, to those of the run. What was
 * reserved alone says nothing of its page: it may have been taken for a head. */
static inline void rtl_run_add_arguments(struct rtl_rewriter *rewriter, uint64_t arguments)
{
    struct rtl_rewrite_run *run = &rewriter->run;
    if (run->arguments[0] == 0)
        run->arguments[0] = arguments;
    run->arguments[1] = arguments;
    if (run->reservation.count > 1)
        rtl_graph_pages_add(rewriter->pages, arguments);
}

/** A kernel that was reserved alone. */
static inline void rtl_run_note_single(struct rtl_rewriter *rewriter,
                                       const struct rtl_kernel_key *kernel)
{
    struct rtl_rewrite_run *run = &rewriter->run;
    uint64_t key = rtl_run_may_be_launch(rewriter) ? rtl_run_launch_key(rewriter, kernel) : 0;
    if (key != 0) {
        run->reservation.launch = rewriter->launches->infer(rewriter->queue, run->first, 1);
        run->reservation.flags |= RTL_RESERVED_INFERRED;
        run->fingerprint = key;
        rtl_run_add_arguments(rewriter, kernel->kernarg);
        return;
    }
    if (run->behind_batch)
        rtl_run_add_last_packet(rewriter, kernel);
    rewriter->last_single = *kernel;
    rewriter->last_single_at = run->first + 1;
}

/** Adds a kernel to the fingerprint of its launch, or looks whether it is a launch of its own. */
static inline void rtl_run_note_kernel(struct rtl_rewriter *rewriter, const void *packet,
                                       bool extended, const struct rtl_kernel_facts *facts)
{
    struct rtl_rewrite_run *run = &rewriter->run;
    uint32_t flags = run->reservation.flags;
    if (rewriter->mode != RTL_MODE_FULL ||
        (flags & (RTL_RESERVED_INFERRED | RTL_RESERVED_OUTSIDE)) == 0)
        return;
    struct rtl_kernel_key key = {
        .kernel_object = facts->kernel_object,
        .kernarg = rtl_packet_kernarg(packet, extended),
        .block = (uint64_t)facts->block[0] << 32 | (uint64_t)facts->block[1] << 48,
        .block_z_grid_x = facts->block[2] | (uint64_t)facts->grid[0] << 32,
        .grid_y_z = facts->grid[1] | (uint64_t)facts->grid[2] << 32,
    };
    if ((flags & RTL_RESERVED_INFERRED) != 0) {
        run->fingerprint = rtl_run_fingerprint(run->fingerprint, &key);
        rtl_run_add_arguments(rewriter, key.kernarg);
    } else if (run->reservation.count == 1) {
        rtl_run_note_single(rewriter, &key);
    }
}

/** Counts packets for their launch; `left_out`: of the kernels among them. */
static __attribute__((noinline)) void rtl_run_count(struct rtl_rewriter *rewriter,
                                                    struct rtl_batch_counts *counts,
                                                    uint32_t packets, uint32_t kernels,
                                                    uint32_t left_out)
{
    const struct rtl_rewrite_run *run = &rewriter->run;
    if (run->reservation.launch == RTL_NONE)
        return;
    if (counts->launch.launch != run->reservation.launch) {
        rtl_run_tell(rewriter, counts);
        counts->launch.launch = run->reservation.launch;
    }
    counts->launch.packets += packets;
    counts->launch.kernels += kernels;
    counts->launch.left_out += left_out;
    counts->launch.fingerprint = run->fingerprint;
    counts->launch.arguments[0] = run->arguments[0];
    counts->launch.arguments[1] = run->arguments[1];
}

#endif

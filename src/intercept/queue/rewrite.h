/**
 * Packet rewriting: gives the kernels of a batch a completion signal that RTL can read times from.
 *
 * Pure: memory only, no HSA calls, no allocation, no locks. Nothing but the `completion_signal` of
 * a packet is changed, and only in packets that the device cannot have seen yet. One thread at a
 * time per queue.
 *
 * What happens to a kernel packet (the HSA one, or AMD's extended dispatch) that the mode wants:
 *
 *     no signal of its own                        a pool signal is put in
 *     a plain user signal at 1, no one else's     borrowed: the packet stays as it is, its times
 *                                                 are read from that signal
 *     any other signal                            replaced by a pool signal; the completion is
 *                                                 forwarded to the program's
 *
 * While forwards are pending, the signals of all other packets are replaced and forwarded too, or
 * they would overtake the kernels before them.
 */
#ifndef RTL_INTERCEPT_QUEUE_REWRITE_H
#define RTL_INTERCEPT_QUEUE_REWRITE_H

#include "common/lines.h"
#include "intercept/queue/borrow.h"
#include "intercept/queue/graph_pages.h"
#include "intercept/queue/launches.h"
#include "intercept/queue/pending.h"
#include "intercept/queue/reservations.h"
#include "pool/pool.h"
#include "ring/wire.h"

#include <hsa/hsa.h>
#include <stdint.h>

#define RTL_REWRITE_CACHE 64u
#define RTL_REWRITE_EDGES 256u

/** Batches in which HIP submits a graph grow by powers of two up to this. */
#define RTL_REWRITE_BATCH 256u

/** What is told of launches; see launches.h, whose functions these are but in tests. */
struct rtl_launch_sink {
    uint32_t (*infer)(uint32_t queue, uint64_t first, uint32_t packets);
    void (*set_head)(uint32_t launch, uint64_t head);
    void (*pass)(const struct rtl_launch_part *part);
};

/** Which packets came of what, as far as a queue's packets have been submitted. */
struct rtl_rewrite_run {
    uint64_t first, end; /**< packets of the reservation */
    struct rtl_reservation reservation;
    uint64_t fingerprint;  /**< of its kernels so far, if it is a launch that was inferred */
    uint64_t arguments[2]; /**< addresses of those of its first kernel and its last, as above */
    bool behind_batch;     /**< it follows a full batch that was inferred: more of that may come */
};

/** What the fingerprint of a kernel is made of, in the words of its packet (pending.h). */
struct rtl_kernel_key {
    uint64_t kernel_object, kernarg, block, block_z_grid_x, grid_y_z;
};

struct rtl_rewriter {
    /** These two lines are read for each batch. */
    _Alignas(RTL_FALSE_SHARING_BYTES) struct rtl_pending *pending;
    struct rtl_pool *pool;
    struct rtl_wire_ledger *ledger;
    const struct rtl_reservations *reservations; /**< notes of producers */
    const struct rtl_launch_sink *launches;
    enum rtl_mode mode;
    uint32_t id_count;
    uint32_t edge_count; /**< first and last packets of replays ever noted */
    /** Not 0: at least one of so many packets in a row gets a pool signal if none would have one
     * otherwise, so that it is known how far the device is. */
    uint32_t progress_every;
    uint32_t since_progress; /**< packets since the last one with a pool signal */
    bool paused;             /**< recording is stopped: kernels are left out */
    bool shared_ledger;      /**< other queues count in the same row of the ledger */
    struct rtl_rewrite_run run;
    uint64_t last_single_at; /**< index + 1 of `last_single`, 0: there was none */
    /** And this one for packets that were reserved alone, or have a signal of the program's. */
    _Alignas(64) struct rtl_kernel_key
        last_single; /**< the last that was reserved outside of a call */
    struct rtl_borrow_table *borrows;
    struct rtl_graph_pages *pages;                /**< of all queues */
    uint32_t queue;                               /**< in the trace */
    uint32_t queue_index;                         /**< of the queue, in the list of queues */
    _Alignas(64) uint32_t ids[RTL_REWRITE_CACHE]; /**< pool signals at hand, the next one last */
    /** Harvests some finished records, to make room or free signals, or makes signals; returns how
     * many. Must not wait. */
    unsigned (*reclaim)(void *context);
    void *context;
    void (*on_low_watermark)(
        void);                 /**< half of the signals are in use; NULL: nobody wants to know */
    void (*on_replaced)(void); /**< a signal was replaced; NULL: nobody wants to know */
    /** Fingerprints of kernels that were reserved alone, right before packets that were reserved at
     * once (the first packets of replays, heads in graph/infer.h) or behind a full batch of those
     * (the last ones): a replay has one packet in its first batch, and may have one left for its
     * last. */
    uint64_t first_packets[RTL_REWRITE_EDGES], last_packets[RTL_REWRITE_EDGES];
};

/** Rewrites `count` packets that follow each other in memory; the first has the index `first` in
 * its queue. `epoch`: current code epoch (symbols.h). */
void rtl_rewrite(struct rtl_rewriter *rewriter, void *packets, uint64_t first, uint64_t count,
                 uint32_t epoch);

/** What became of a completion signal. */
enum rtl_followed {
    RTL_FOLLOWED_BORROWED, /**< it is the program's own, and read in place */
    RTL_FOLLOWED_POOL,     /**< it is one of the pool's now */
    RTL_FOLLOWED_NO_ROOM,  /**< not followed: no room for a record */
    RTL_FOLLOWED_NO_SIGNAL /**< not followed: no pool signal was free */
};

/** Sees to it that the completion of what `facts` describe is seen: borrows `*signal` or puts a
 * pool signal there, and adds the record. `facts->app_signal` is the program's signal (0: none);
 * `pool_id` and `baseline_end` are set here. */
enum rtl_followed rtl_rewrite_follow(struct rtl_rewriter *rewriter, hsa_signal_t *signal,
                                     struct rtl_kernel_facts *facts);

/** Tells the launches of the packets [first, end) that these will never pass. */
void rtl_rewrite_skip(struct rtl_rewriter *rewriter, uint64_t first, uint64_t end);

/** Gives the signals at hand back to the pool. */
void rtl_rewrite_release(struct rtl_rewriter *rewriter);

#endif

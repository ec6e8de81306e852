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
 * While forwards are owed, the signals of all other packets are replaced and forwarded too, or they
 * would overtake the kernels before them.
 */
#ifndef RTL_INTERCEPT_REWRITE_H
#define RTL_INTERCEPT_REWRITE_H

#include "intercept/borrow.h"
#include "intercept/pending.h"
#include "pool/pool.h"
#include "ring/wire.h"

#include <hsa/hsa.h>
#include <stdint.h>

#define RTL_REWRITE_CACHE 64u

struct rtl_rewriter {
    struct rtl_pending *pending;
    struct rtl_pool *pool;
    struct rtl_borrow_table *borrows;
    struct rtl_wire_ledger *ledger;
    enum rtl_mode mode;
    /** By slot of the queue: 1 if the packet's slot was reserved alone, 0 if with others (a batch).
     * Modes that make no difference may leave it NULL. Written by producers. */
    _Atomic uint8_t *alone;
    uint64_t alone_mask; /**< slots - 1 */
    bool paused;         /**< recording is stopped: kernels are left out */
    /** Not 0: at least one of so many packets in a row gets a pool signal if none would have one
     * otherwise, so that it is known how far the device is. */
    uint64_t mark_every;
    uint64_t unmarked;               /**< packets since the last one with a pool signal */
    uint32_t slot;                   /**< of the queue, in names of records */
    uint32_t ids[RTL_REWRITE_CACHE]; /**< pool signals at hand */
    uint32_t id_count;
    /** Harvests some finished records of the queue, to make room or free signals; returns how many.
     * Must not wait. */
    unsigned (*help)(void *context);
    void *context;
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
 * pool signal there, and adds the record. `facts->own` is the program's signal (0: none); `pool_id`
 * and `stamp` are set here. */
enum rtl_followed rtl_rewrite_follow(struct rtl_rewriter *rewriter, hsa_signal_t *signal,
                                     struct rtl_kernel_facts *facts);

/** Gives the signals at hand back to the pool. */
void rtl_rewrite_release(struct rtl_rewriter *rewriter);

/** Packet type in an AQL header. */
static inline unsigned rtl_packet_type(uint16_t header)
{
    return (header >> HSA_PACKET_HEADER_TYPE) & ((1u << HSA_PACKET_HEADER_WIDTH_TYPE) - 1);
}

#endif

/**
 * Untracked queues: queues that take kernels and that RTL only passes through, because they cannot
 * be followed, or not yet (adoption.h).
 *
 * They are known by what producers do with them. Their kernels are counted when a doorbell is rung
 * and stand in the ledger as not followed; packets that the device has taken by then count as
 * kernels, whatever they were, and so do all where the ring is not to be read.
 */
#ifndef RTL_INTERCEPT_QUEUE_UNTRACKED_H
#define RTL_INTERCEPT_QUEUE_UNTRACKED_H

#include "ring/ring.h"

#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>

/** Takes memory for what they are found by, before an entry is hooked. False: there is none. */
bool rtl_untracked_begin(void);

/** What is known of one. */
struct rtl_untracked_queue {
    uint32_t id;     /**< in the trace */
    uint32_t agent;  /**< RTL_NONE: not known */
    bool blind;      /**< its ring is not read */
    const char *why; /**< it will never be followed; NULL: it may be, when it is idle */
};

/** Counts a queue, with what it was given before, and names it in the trace, with the reason in a
 * part of a sentence, which is copied. Once a queue. Any thread. */
void rtl_untracked_add(const hsa_queue_t *queue, const struct rtl_untracked_queue *untracked);

/** What is known of a queue: true if it is counted, or there are too many to be. Lock-free, any
 * thread. `why` is not the sentence, but NULL or not as it was. */
bool rtl_untracked_find(const hsa_queue_t *queue, struct rtl_untracked_queue *untracked);

/** A doorbell was rung that is none of ours: counts what its queue was given. Before the store is
 * passed on. False: it is no untracked queue's. Any thread, lock-free. */
bool rtl_untracked_count(uint64_t doorbell);

/** The queue is about to be destroyed. Any thread. */
void rtl_untracked_remove(const hsa_queue_t *queue);

#endif

/**
 * Untracked queues: queues that take kernels and that RTL only passes through, because they were
 * not made by hsa_queue_create, or before RTL was there, or could not be followed.
 *
 * They are known by what producers do with them. Their kernels are counted when a doorbell is rung
 * and stand in the ledger as not followed; packets that the device has taken by then count as
 * kernels, whatever they were.
 */
#ifndef RTL_INTERCEPT_QUEUE_UNTRACKED_H
#define RTL_INTERCEPT_QUEUE_UNTRACKED_H

#include "ring/ring.h"

#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>

/** Takes memory for what they are found by, before an entry is hooked. False: there is none. */
bool rtl_untracked_begin(void);

/** A producer has used a write-index entry on a queue that is not followed: it is named in the
 * trace if it is new and takes kernels. Any thread; takes a lock the first time. */
void rtl_untracked_seen(const hsa_queue_t *queue);

/** Names a queue that could not be followed, under the id it has, with the reason in a sentence.
 * Any thread. */
void rtl_untracked_add(const hsa_queue_t *queue, uint32_t id, uint32_t agent, const char *why);

/** A doorbell was rung that is none of ours: counts what its queue was given. Before the store is
 * passed on. Any thread, lock-free. */
void rtl_untracked_count(uint64_t doorbell);

/** The queue is about to be destroyed. Any thread. */
void rtl_untracked_remove(const hsa_queue_t *queue);

#endif

/**
 * Kernels and copies that have completed, and whose records wait because the ring is full.
 *
 * The process may die while they wait. Its ledger tells then that they were lost for want of room,
 * and not in flight: how many were known to be done lies beside how many were handed over.
 */
#ifndef RTL_INTERCEPT_QUEUE_BACKLOG_H
#define RTL_INTERCEPT_QUEUE_BACKLOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct rtl_queue;

/** What the last count has found, so that the next one need not look at it again. Zeros at first.
 */
struct rtl_backlog {
    _Atomic bool counting; /**< a thread is at it: the rest is its own, and others look at all */
    uint64_t id;           /**< of the queue that it was of, + 1 */
    uint64_t accounted;    /**< what its row had accounted then */
    uint64_t next;         /**< all records before it were done or completed */
    uint64_t completed;    /**< of these, the ones that wait */
};

/** Counts what waits on a queue, into its row of the ledger, while the ring has no room: records
 * behind `max_incomplete` running kernels are not looked at. Any thread. */
void rtl_backlog_count(struct rtl_queue *queue, unsigned max_incomplete);

#endif

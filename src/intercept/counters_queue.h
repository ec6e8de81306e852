/**
 * What counting needs of a queue that is followed by interception.
 */
#ifndef RTL_INTERCEPT_COUNTERS_QUEUE_H
#define RTL_INTERCEPT_COUNTERS_QUEUE_H

#include "intercept/queue.h"

struct rtl_counters_agent;
struct rtl_counters_kernels;
struct rtl_counters_ranges;

/** Made once for a state of queue.h, and used again with it: its `observer`. The queue is counted
 * while it is `observed`. */
struct rtl_counters_queue {
    struct rtl_queue *queue;
    struct rtl_counters_agent *device;
    struct rtl_counters_kernels *kernels; /**< kernel mode, else NULL */
    struct rtl_counters_ranges *ranges;   /**< range mode, else NULL */
    unsigned char *out;                   /**< packets on their way to the hardware */
    uint64_t room;                        /**< of `out`, packets */
};

/** That of the queue in a place of the list; NULL if it is not counted. Any thread. */
static inline struct rtl_counters_queue *rtl_counters_queue_at(uint32_t slot)
{
    struct rtl_queue *queue = rtl_queues_at(slot);
    return rtl_queue_is_observed(queue) ? queue->observer : NULL;
}

#endif

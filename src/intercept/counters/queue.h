/**
 * What counting needs of a queue that is followed by interception.
 */
#ifndef RTL_INTERCEPT_COUNTERS_QUEUE_H
#define RTL_INTERCEPT_COUNTERS_QUEUE_H

#include "intercept/queue/queue.h"

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

/** One of the two ways to count (RTL_COUNTING). `queue` is one that it has opened. */
struct rtl_counting {
    uint32_t max_expansion; /**< packets on the hardware for one of the program's, at most */
    bool is_hurried;        /**< the program waits for the counter thread */
    /** Readies a queue, and its device before its first; false if the runtime, memory or the device
     * do not allow it. Slow. */
    bool (*open)(struct rtl_counters_queue *queue);
    /** The calling thread has reserved packets in the queue. Keeps errno. */
    void (*reserve)(struct rtl_counters_queue *queue, uint64_t first, uint64_t count);
    /** How many packets more the queue may be given just now. */
    uint64_t (*most)(const struct rtl_counters_queue *queue);
    /** Adds a packet of the program's, which has been rewritten, at `out` with what belongs to it.
     * Returns how many packets that are. */
    uint64_t (*put)(struct rtl_counters_queue *queue, const void *packet, uint64_t index,
                    unsigned char *out);
    /** One look at all queues: moves on what waits, reads and sends. `busy` if something is in
     * flight. Returns how many kernels ended, or reads came. Counter thread, or a holder of its
     * lock.
     */
    unsigned (*round)(bool *busy);
    /** The queue is no more: what is to be read of it is read now, or never. Under the counter
     * thread's lock. */
    void (*close)(struct rtl_counters_queue *queue);
    /** Counts what is left as not finished. With the counter thread at rest. */
    void (*count_unfinished)(void);
    /** Frees what belongs to devices. With the counter thread gone. */
    void (*end)(void);
};

#endif

/**
 * Queues that come and go: the entries that create and destroy them, and the states (queue.h) that
 * serve them.
 */
#ifndef RTL_INTERCEPT_QUEUE_LIFECYCLE_H
#define RTL_INTERCEPT_QUEUE_LIFECYCLE_H

#include "intercept/base/config.h"
#include "intercept/queue/queue.h"

/** What queues need of those who stand above them. All may be called by any thread. */
struct rtl_queue_services {
    /** Sees to it that the worker runs, which looks after the queues and writes to the ring. False:
     * no thread could be made, and `why_no_worker` says why in a part of a sentence. */
    bool (*start_worker)(struct rtl_ring *ring);
    void (*why_no_worker)(char *text, size_t size);
    /** Signals run low: a worker that naps ends its nap. Waits for nothing. */
    void (*wake_worker)(void);
    /** Code at that address has asked for a queue, which is about to be made. Returns who that is,
     * for `created`. */
    uint32_t (*creating)(const void *caller);
    void (*created)(uint32_t maker, uint32_t queue);
};

/** Prepares the list for a ring (NULL: accounts go nowhere) and hooks the queue and write-index
 * entries. */
void rtl_queues_hook(const struct rtl_config *config, struct rtl_ring *ring,
                     const struct rtl_queue_services *services);

/** Makes a state for the copies of an agent (copies.h), which lives until rtl_queues_close_all.
 * NULL if there is none left; `*ledger` is the row to count in either way. Any thread; slow. */
struct rtl_queue *rtl_queues_add_copies(uint32_t agent, struct rtl_wire_ledger **ledger);

/** Closes all queues that are still there: the runtime shuts down. Waits for submissions that are
 * under way, at most `patience_ns` for all of them. */
void rtl_queues_close_all(uint64_t patience_ns);

/** Marks a CLOSING queue whose records are all accounted for as free. Worker only. */
void rtl_queues_release(struct rtl_queue *queue);

#endif

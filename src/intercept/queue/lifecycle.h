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
    /** A function that the runtime exports, by its name; NULL: none. */
    void *(*find_in_runtime)(const char *name);
};

/** Prepares the list for a ring (NULL: accounts go nowhere) and hooks the queue and write-index
 * entries. */
void rtl_queues_hook(const struct rtl_config *config, struct rtl_ring *ring,
                     const struct rtl_queue_services *services);

/** Follows a queue that is idle and that nobody else can reserve packets of meanwhile (adoption.h),
 * by interposition, under the id that it has, if it is not RTL_NONE. `described`: it is an
 * amd_queue_t; `caller`: code that uses it. NULL: there is no room, or no worker. Slow. */
struct rtl_queue *rtl_queues_adopt(hsa_queue_t *queue, uint32_t id, uint32_t agent, bool described,
                                   const void *caller);

/** The state of a hardware queue that is followed under another handle, and from now on under this
 * one; NULL if there is none. Any thread; takes a lock. */
struct rtl_queue *rtl_queues_find_alias(hsa_queue_t *handle);

/** A handle is about to be released. With the last one RTL lets go of the queue, which may go on
 * and be adopted again. Any thread. */
void rtl_queues_release_handle(hsa_queue_t *handle);

/** Makes a state for the copies of an agent (copies.h), which lives until rtl_queues_close_all.
 * NULL if there is none left; `*ledger` is the row to count in either way. Any thread; slow. */
struct rtl_queue *rtl_queues_add_copies(uint32_t agent, struct rtl_wire_ledger **ledger);

/** Looks once at each queue for packets that a producer has published past librtl.so, as the worker
 * does now and then. The runtime must be up. Any thread. */
void rtl_queues_look(void);

/** The same for a process that ends in a moment, by _exit, in a signal handler perhaps: what the
 * device has had is counted (rtl_submit_account). Async-signal-safe. */
void rtl_queues_account(void);

/** Closes all queues that are still there: the runtime shuts down. Waits for submissions that are
 * under way, at most `patience_ns` for all of them. */
void rtl_queues_close_all(uint64_t patience_ns);

/** Marks a CLOSING queue whose records are all accounted for as free. Worker only. */
void rtl_queues_release(struct rtl_queue *queue);

#endif

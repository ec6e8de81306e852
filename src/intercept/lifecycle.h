/**
 * Queues that come and go: the entries that create and destroy them, and the states (queue.h) that
 * serve them.
 */
#ifndef RTL_INTERCEPT_LIFECYCLE_H
#define RTL_INTERCEPT_LIFECYCLE_H

#include "intercept/config.h"
#include "intercept/queue.h"

/** Prepares the list for a ring (NULL: accounts go nowhere) and hooks the queue and write-index
 * entries. */
void rtl_queues_hook(const struct rtl_config *config, struct rtl_ring *ring);

/** Makes a state for the copies of an agent (copies.h), which lives until rtl_queues_close_all.
 * NULL if there is none left; `*ledger` is the row to count in either way. Any thread; slow. */
struct rtl_queue *rtl_queues_add_copies(uint32_t agent, struct rtl_wire_ledger **ledger);

/** Closes all queues that are still there: the runtime shuts down. Waits for submissions that are
 * under way, at most `patience_ns` for all of them. */
void rtl_queues_close_all(uint64_t patience_ns);

/** Marks a CLOSING queue whose records are all accounted for as free. Worker only. */
void rtl_queues_release(struct rtl_queue *queue);

#endif

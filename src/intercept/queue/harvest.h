/**
 * Harvesting: from finished kernels to records in the ring.
 */
#ifndef RTL_INTERCEPT_QUEUE_HARVEST_H
#define RTL_INTERCEPT_QUEUE_HARVEST_H

#include "intercept/queue/queue.h"
#include "intercept/queue/signal_pool.h"

#define RTL_HARVEST_ALL UINT32_MAX

/** Makes the table of borrowed signals, which asks here what becomes of a record. Before a queue is
 * followed. False: there is no memory. */
bool rtl_harvest_begin(void);

/** Harvests finished records of a queue from its head on; gives up after `max_incomplete` records
 * in a row whose kernels have not completed. With RTL_HARVEST_ALL it looks at all, and takes those
 * as well whose signal the program has armed again unseen. Records that have to be forwarded are
 * left alone. Any thread. Returns how many. */
unsigned rtl_harvest(struct rtl_queue *queue, unsigned most, unsigned max_incomplete);

/** Forwards the completion of replaced signals, oldest first. One thread at a time per queue: while
 * another is at it, nothing is done. With `quiet`, up to the first signal that somebody may be
 * asleep on: to wake him takes a system call. Any thread. Returns how many. */
unsigned rtl_harvest_forward(struct rtl_queue *queue, bool quiet);

/** If pending records are about to fill their table, parks those at its head whose kernels run on
 * and on. Any thread; while another is at it, nothing is done. */
void rtl_harvest_park(struct rtl_queue *queue);

/** Takes records at the head of the table whose signals were armed again unseen, when they are
 * found so for the second time. Worker only. */
void rtl_harvest_rearmed(struct rtl_queue *queue);

/** Finishes parked records that have completed. Any thread that may make system calls; while
 * another is at it, nothing is done. Returns how many were finished. */
unsigned rtl_harvest_finish_parked(void);

/** Accounts for everything of a queue that is destroyed: finished records are harvested, the others
 * counted as lost. Worker only. */
void rtl_harvest_close(struct rtl_queue *queue);

/** The program is about to write to a signal: harvests the record that borrows it if its kernel has
 * completed. With `destroyed`, gives up the record otherwise, and waits for a thread that is
 * completing the signal just now. Any thread. */
void rtl_harvest_finish_borrowed(uint64_t handle, bool destroyed);

/** In a forked child: nobody is completing signals. */
void rtl_harvest_forked(void);

/** True if a signal of any queue is yet to be forwarded. Any thread. */
bool rtl_forwards_pending(void);

/** Forwards what is ready of all queues. Any thread that may make system calls. Returns how many.
 */
unsigned rtl_forward_ready_all(void);

/** How many kernels are neither recorded nor lost, over all queues. Any thread. */
uint64_t rtl_harvest_unfinished(void);

/** True if there are parked records. Any thread. */
bool rtl_harvest_has_parked(void);

/** True if one of them is of a kernel or copy whose correlation is `least` or greater, or somebody
 * is just at them. Any thread. */
bool rtl_harvest_has_parked_since(uint64_t least);

#endif

/**
 * Adoption: queues that RTL did not see being made, followed from a producer's first use on.
 *
 * What makes a queue differs from release to release (hsa_queue_create, hsa_amd_queue_create,
 * hsa_amd_counted_queue_acquire), and so does the place of those entries in the runtime's tables.
 * What does not are the write-index entries of the core table, which a producer has to call. A
 * queue is adopted there while it is idle: all packets that were ever reserved have been taken by
 * the device, so that nobody holds an index which RTL does not know of. It is interposed then. One
 * that is busy is untracked until it is idle. Packets that were there before RTL saw the queue are
 * counted as not followed.
 *
 * Several handles may be of one hardware queue; they have one doorbell and share one state.
 *
 * Never adopted are queues of other agents than GPUs, those with a ring in device memory (a read of
 * it by the host takes a round trip over the bus a word), another tool's intercept queues, and all
 * where RTL has to use intercept queues itself. They are untracked, with the reason.
 */
#ifndef RTL_INTERCEPT_QUEUE_ADOPTION_H
#define RTL_INTERCEPT_QUEUE_ADOPTION_H

#include "intercept/queue/queue.h"

/** How a function of the runtime is found by its name, NULL if there is none: the places of those
 * that adoption needs are not the same in all tables. */
typedef void *rtl_adoption_find(const char *name);

/** Before the first queue, and again after another hsa_init. */
void rtl_adoption_begin(rtl_adoption_find *find);

/** No queue is adopted any more: the runtime shuts down. Any thread. */
void rtl_adoption_end(void);

/** A producer is about to move the write index of a queue that is not followed. Returns its state
 * if it is followed now. Else NULL: the index is the runtime's, and, if `*held` is set, nobody
 * adopts a queue until rtl_adoption_leave. Keeps errno. Any thread. */
struct rtl_queue *rtl_adoption_enter(const hsa_queue_t *queue, const void *caller, bool *held);

/** A doorbell was rung that nobody knows: of a queue whose index its producer moves without the
 * runtime, so that rtl_adoption_enter has not seen it. It is taken up as there. Keeps errno. Any
 * thread. */
void rtl_adoption_rung(hsa_signal_t doorbell, const void *caller);

/** The runtime's write index has been moved. */
void rtl_adoption_leave(bool held);

/** In a forked child: the only thread holds nothing, and no queue is adopted. */
void rtl_adoption_forked(void);

#endif

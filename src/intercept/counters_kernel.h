/**
 * Kernel mode: one kernel at a time on a device, between a packet that starts the counters and one
 * that stops them.
 *
 * Each kernel asks: a barrier packet in front of it completes when all before it in its queue is
 * done, a second one waits until the keeper grants it the device, in the order in which they could
 * run. So nobody is granted who could
 * not run at once, and queues that wait for each other go on. Kernels that are not counted (graph
 * replays) ask as well: those that are have the device for themselves.
 *
 * A kernel that does not end keeps the others waiting for two seconds; then all go on at once, not
 * counted, until it has ended.
 */
#ifndef RTL_INTERCEPT_COUNTERS_KERNEL_H
#define RTL_INTERCEPT_COUNTERS_KERNEL_H

#include "intercept/counters_device.h"
#include "intercept/counters_queue.h"

/** Packets on the hardware for one of the program's. */
#define RTL_COUNTED_KERNEL_SPREAD 6u

/** Readies a queue; false if the runtime or memory does not allow it. */
bool rtl_counters_kernels_open(struct rtl_counters_queue *queue);

/** Adds a packet of the program's, which has been rewritten, at `out` with what belongs to it.
 * Returns how many packets that are. */
uint64_t rtl_counters_kernels_put(struct rtl_counters_queue *queue, const void *packet,
                                  uint64_t index, unsigned char *out);

/** Grants and reads, one look at all queues. `busy` if something is on its way. Returns how many
 * kernels ended. Keeper, or whoever holds it off. */
unsigned rtl_counters_kernels_round(bool *busy);

/** Drops what the queue has asked for: it is no more. Under the keeper's lock. */
void rtl_counters_kernels_close(struct rtl_counters_queue *queue);

/** Counts what is left as not finished. */
void rtl_counters_kernels_settle(void);

/** Frees what belongs to devices. With the keeper gone. */
void rtl_counters_kernels_end(void);

#endif

/**
 * A queue of ours on a device, for packets that wait for nothing of the program's. The hardware's
 * own queue: no tool sees it.
 */
#ifndef RTL_INTERCEPT_COUNTERS_INTERNAL_QUEUE_H
#define RTL_INTERCEPT_COUNTERS_INTERNAL_QUEUE_H

#include "intercept/counters/device.h"

#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>

struct rtl_internal_queue {
    hsa_queue_t *queue; /**< NULL: not made */
    uint64_t written;   /**< packets */
};

/** Makes the queue; false if the runtime refuses. Slow. */
bool rtl_internal_open(struct rtl_internal_queue *own, hsa_agent_t agent);

/** Destroys it; nothing happens if there is none. Slow. */
void rtl_internal_close(struct rtl_internal_queue *own);

/** True if it takes one more packet. */
bool rtl_internal_has_room(const struct rtl_internal_queue *own);

/** Submits a packet; there must be room. One thread at a time. */
void rtl_internal_put(struct rtl_internal_queue *own, const void *packet);

/** A signal that is only looked at, and that the device lowers; 0 if the runtime refuses. */
uint64_t rtl_internal_signal(int64_t value);

/** Value of a signal; acquires what was written before it was lowered. */
int64_t rtl_internal_value(uint64_t signal);

/** Sets a signal. */
void rtl_internal_set(uint64_t signal, int64_t value);

/** Waits until a signal is at 0 or below; false if it is not after `patience_ns`. */
bool rtl_internal_wait(uint64_t signal, uint64_t patience_ns);

/** Has the device start, read and stop its counters of this pass once, in a queue of ours: a device
 * that cannot is found out before the program's queues wait for it. At most a second. */
bool rtl_internal_try(const struct rtl_counters_agent *device);

#endif

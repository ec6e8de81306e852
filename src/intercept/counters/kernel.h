/**
 * Kernel mode: one kernel at a time on a device, between a packet that starts the counters and one
 * that stops them.
 *
 * Each kernel asks: a barrier packet in front of it completes when all before it in its queue is
 * done, a second one waits until the counter thread grants it the device, in the order in which
 * they could run. So nobody is granted who could not run at once, and queues that wait for each
 * other go on. Kernels that are not counted (graph replays) ask as well: those that are have the
 * device for themselves.
 *
 * A kernel that does not end keeps the others waiting for two seconds; then all go on at once, not
 * counted, until it has ended.
 */
#ifndef RTL_INTERCEPT_COUNTERS_KERNEL_H
#define RTL_INTERCEPT_COUNTERS_KERNEL_H

#include "intercept/counters/queue.h"

extern const struct rtl_counting rtl_counting_kernels;

#endif

/**
 * Hardware counters of the program's kernels (RTL_METRICS, RTL_COUNTING, RTL_PASS).
 *
 * Counters are started, stopped and read by packets in queues: AMD's aqlprofile makes them, and
 * they are put in between the program's packets where the queue is an intercept queue, on their way
 * to the hardware. The program's own indices stay as they are. A thread of ours, the counter
 * thread, hands out the device, and reads what was counted.
 *
 * Kernel mode (counters/kernel.h): each kernel alone on its device, between two packets. Range mode
 * (counters/range.h): counters run freely and are read where ranges begin and end.
 *
 * What could not be counted is counted with its reason. Nothing here ends, blocks or prints in the
 * program.
 */
#ifndef RTL_INTERCEPT_COUNTERS_COUNTERS_H
#define RTL_INTERCEPT_COUNTERS_COUNTERS_H

#include "intercept/base/config.h"
#include "intercept/queue/queue.h"

#include <stdbool.h>
#include <stdint.h>

/** Takes the settings, asks the library, plans, and tells the trace. When the tool is loaded, with
 * the agents listed; again after another hsa_init. */
void rtl_counters_begin(const struct rtl_config *config);

/** True if queues have to be intercept queues for what RTL_METRICS asks. Once rtl_counters_begin
 * has come back. */
bool rtl_counters_need_packets(void);

/** Counts the kernels of queues on devices that are counted. To be registered if
 * rtl_counters_need_packets. */
extern const struct rtl_queue_observer rtl_counters_observer;

/** Gives what is in flight `patience_ns` to be read and sent. At the end of the program. */
void rtl_counters_drain(uint64_t patience_ns);

/** Counts what is left as not finished, and tells the trace. At the very end. */
void rtl_counters_last(void);

/** Ends the counter thread and frees what the runtime lent, before the runtime goes. */
void rtl_counters_end(uint64_t patience_ns);

/** In a forked child, where there is no counter thread: nothing is counted. */
void rtl_counters_forked(void);

#endif

/**
 * Range mode: the counters of a device run freely, and are read where ranges begin and end.
 *
 * A range begins on a queue with the first packet that its thread reserves there within it, and is
 * read right before that packet, when all before it in the queue is done. It ends there behind its
 * last packet: before the next packet that comes, or, if none comes, by a packet in a queue of ours
 * once the queue is idle; what comes just then waits for that packet. So kernels within a range are
 * not serialised, only its ends are; no index of the program's changes; no queue waits for another.
 *
 * What a range counted on a device lies between the earliest of its begins and the latest of its
 * ends there. Other work that was on the device meanwhile is in it: RTL_SAMPLE_SHARED tells where
 * that may be.
 *
 * One lock guards it all. It is held for some instructions by the program's threads, where a range
 * begins or ends on a queue, and by the counter thread.
 */
#ifndef RTL_INTERCEPT_COUNTERS_RANGE_H
#define RTL_INTERCEPT_COUNTERS_RANGE_H

#include "intercept/counters/queue.h"

extern const struct rtl_counting rtl_counting_ranges;

/** A range has ended. Any thread; keeps errno. */
void rtl_counters_range_ended(uint64_t id);

/** In a forked child. */
void rtl_counters_ranges_forked(void);

#endif

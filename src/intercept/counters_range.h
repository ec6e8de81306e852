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
 * begins or ends on a queue, and by the keeper.
 */
#ifndef RTL_INTERCEPT_COUNTERS_RANGE_H
#define RTL_INTERCEPT_COUNTERS_RANGE_H

#include "intercept/counters_device.h"
#include "intercept/counters_queue.h"

/** Packets on the hardware for one of the program's, at most. */
#define RTL_COUNTED_RANGE_SPREAD 4u

/** Readies a queue, and its device before its first; false if the runtime, memory or the device do
 * not allow it. Slow. */
bool rtl_counters_ranges_open(struct rtl_counters_queue *queue);

/** Adds a packet of the program's, which has been rewritten, at `out` with what belongs to it.
 * Returns how many packets that are. */
uint64_t rtl_counters_ranges_put(struct rtl_counters_queue *queue, const void *packet,
                                 uint64_t index, unsigned char *out);

/** The calling thread has reserved packets in the queue: they belong to its ranges. Keeps errno. */
void rtl_counters_ranges_reserve(struct rtl_counters_queue *queue, uint64_t first, uint64_t count);

/** A range has ended. Any thread; keeps errno. */
void rtl_counters_range_ended(uint64_t id);

/** Ends ranges on idle queues, reads and sends. `busy` if something is on its way. Returns how many
 * reads came. Keeper. */
unsigned rtl_counters_ranges_round(bool *busy);

/** How many reads of a queue are on their way; a hint. */
uint32_t rtl_counters_ranges_reading(const struct rtl_counters_queue *queue);

/** The queue is no more: what is to be read of it is read now, or never. Under the keeper's lock.
 */
void rtl_counters_ranges_close(struct rtl_counters_queue *queue);

/** Counts what is left as not finished. With the keeper at rest. */
void rtl_counters_ranges_settle(void);

/** Frees what belongs to devices. With the keeper gone. */
void rtl_counters_ranges_end(void);

/** In a forked child. */
void rtl_counters_ranges_forked(void);

#endif

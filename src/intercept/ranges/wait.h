/**
 * Waiting until the device is done with what was submitted in a range.
 */
#ifndef RTL_INTERCEPT_RANGES_WAIT_H
#define RTL_INTERCEPT_RANGES_WAIT_H

#include <stdbool.h>
#include <stdint.h>

/** Waits until the kernels and copies that have been submitted by now, and since the range of this
 * id began, are harvested: at most until `deadline_ns` (CLOCK_MONOTONIC). True if they are. What
 * was submitted in a range carries an id that is greater than the range's, or the range's own
 * (base/thread_context.h); so does what other threads submitted meanwhile. Any thread but a
 * harvester. */
bool rtl_range_wait(uint64_t id, uint64_t deadline_ns);

#endif

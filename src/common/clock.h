/**
 * Clocks of the host.
 */
#ifndef RTL_COMMON_CLOCK_H
#define RTL_COMMON_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/** Reads a clock in ns. Any thread. */
uint64_t rtl_clock_ns(clockid_t clock);

/** The trace's clock: CLOCK_BOOTTIME in ns. */
uint64_t rtl_now(void);

/** Sleeps for `ns`, less than a second, and no longer than until a signal's handler has run. Any
 * thread; keeps errno. */
void rtl_nap(uint64_t ns);

/** Waits until `done`, which is called with `context` every `nap_ns`, or until `deadline_ns`
 * (CLOCK_MONOTONIC) is past. True if it is done. Any thread; keeps errno. */
bool rtl_wait_until(bool (*done)(void *context), void *context, uint64_t deadline_ns,
                    uint64_t nap_ns);

#endif

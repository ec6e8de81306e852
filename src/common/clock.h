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

/** Finds out by how much the clocks of this process are ahead of the machine's, which is not 0 in a
 * time namespace (time_namespaces(7)), and is told from then on. False if that cannot be found out:
 * there is no /proc, or the process has left its namespace to its children for another one. Then
 * its clocks are taken for the machine's. Needs a descriptor for a moment in such a namespace.
 * Keeps errno. Any thread. */
bool rtl_clock_begin(void);

/** By how many ns CLOCK_BOOTTIME or CLOCK_MONOTONIC of this process is ahead of the machine's, as
 * far as rtl_clock_begin was called. Any thread. */
int64_t rtl_clock_offset(clockid_t clock);

/** The start time of a process in clock ticks since boot (/proc/PID/stat, field 22), which Linux
 * tells by the clock of who reads, by the machine's: the same whoever has read it, or one more or
 * less where a namespace is ahead by no whole number of ticks. */
uint64_t rtl_clock_start_ticks(uint64_t start);

/** The trace's clock: CLOCK_BOOTTIME of the machine in ns, as far as rtl_clock_begin was called. */
uint64_t rtl_now(void);

/** Sleeps for `ns`, less than a second, and no longer than until a signal's handler has run. Any
 * thread; keeps errno. */
void rtl_nap(uint64_t ns);

/** Waits until `done`, which is called with `context` every `nap_ns`, or until `deadline_ns`
 * (CLOCK_MONOTONIC) is past. True if it is done. Any thread; keeps errno. */
bool rtl_wait_until(bool (*done)(void *context), void *context, uint64_t deadline_ns,
                    uint64_t nap_ns);

#endif

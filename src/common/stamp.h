/**
 * The trace's clock (rtl_now) for what is stamped all the time: host calls and ranges.
 *
 * A reading of the system's clock waits until all instructions before it are done, twice a host
 * call. A thread reads it once a millisecond here, and the processor's time-stamp counter in
 * between: where the kernel itself keeps its time by that counter, and so has seen to it that it
 * runs on, at one rate, on all processors alike. Elsewhere a stamp is a reading of the clock.
 *
 * A stamp is off by at most what the rate may change in a millisecond (a microsecond: adjtimex(2)
 * allows 500 millionths either way), and by some ns of readings. In a thread no stamp comes before
 * an earlier one.
 */
#ifndef RTL_COMMON_STAMP_H
#define RTL_COMMON_STAMP_H

#include "common/clock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#if defined __x86_64__
#include <x86intrin.h>
#endif

/** How long a thread goes by the counter, ns. */
#define RTL_STAMP_WINDOW_NS UINT64_C(1000000)

/** A reading of the clock, ns, between two of the counter. */
struct rtl_stamp_reading {
    uint64_t before, ns, after;
};

/** The counter's rate, learnt from readings; zeros in the beginning. */
struct rtl_stamp_scale {
    _Atomic uint64_t rate;     /**< ns per tick, times 2^32; 0: not known yet */
    _Atomic uint64_t tightest; /**< fewest ticks of a reading */
    uint64_t ticks, ns;        /**< of the first reading; of who learns */
    uint64_t span;             /**< ns from there to the one that `rate` is from */
};

/** What a thread goes by: `ns` at `ticks`, and the rate, for `window` ticks; zeros in the
 * beginning. */
struct rtl_stamp_line {
    uint64_t ticks, ns, rate, window;
};

/** True if nothing came between the parts of a reading, as far as can be told by those before; so
 * false for the first one of a scale. Any thread. */
bool rtl_stamp_is_tight(struct rtl_stamp_scale *scale, const struct rtl_stamp_reading *reading);

/** Learns from a tight reading. A rate that contradicts the one before (the machine was asleep, or
 * the counter is not what it was said to be) makes it unknown again. One thread at a time. */
void rtl_stamp_learn(struct rtl_stamp_scale *scale, const struct rtl_stamp_reading *reading);

/** The stamp for a reading, from which on the thread goes by its line if the rate is known and the
 * reading tight. */
uint64_t rtl_stamp_take(struct rtl_stamp_line *line, struct rtl_stamp_scale *scale,
                        const struct rtl_stamp_reading *reading);

/** Whether the kernel keeps its time by the time-stamp counter, as it says in the file at `path`
 * (/sys/devices/system/clocksource/clocksource0/current_clocksource). Keeps errno. */
bool rtl_stamp_is_kept_by_counter(const char *path);

/** The line of the calling thread. */
extern _Thread_local struct rtl_stamp_line rtl_stamp_line
    __attribute__((tls_model("initial-exec")));

/** A stamp that takes a reading. */
uint64_t rtl_stamp_by_reading(void);

/** Begins to learn the counter's rate, so that it is known some ms from now, when stamps are
 * wanted. Opens a file; keeps errno. Any thread. */
void rtl_stamp_begin(void);

/** Now, ns of the trace's clock. Any thread; keeps errno. */
static inline uint64_t rtl_stamp(void)
{
#if defined __x86_64__
    const struct rtl_stamp_line *line = &rtl_stamp_line;
    uint64_t since = __rdtsc() - line->ticks;
    if (since < line->window)
        return line->ns + (since * line->rate >> 32);
#endif
    return rtl_stamp_by_reading();
}

#endif

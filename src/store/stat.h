/**
 * Statistics of durations: exact count, sum, sum of squares, least and greatest, and a histogram
 * for percentiles. Parts that are gathered apart (by threads, of chunks) add up to the same whole
 * in every order.
 */
#ifndef RTL_STORE_STAT_H
#define RTL_STORE_STAT_H

#include <stdbool.h>
#include <stdint.h>

/** The histogram: durations below 64 one by one, above that 64 steps between a power of two and the
 * next. The middle of a step is at most 1/128 away from any duration in it. */
#define RTL_STAT_STEPS   64u
#define RTL_STAT_OCTAVES 59u

/** Durations beyond this (in ns: 13 days) count as this in the sum of squares, which is then sure
 * not to overflow. */
#define RTL_STAT_SQUARED_MAX (UINT64_C(1) << 50)

__extension__ typedef unsigned __int128 rtl_wide; /* NOLINT(readability-identifier-naming) */

/** Zeroed memory has no durations. Owned by one thread at a time. */
struct rtl_stat {
    uint64_t count, total;
    rtl_wide squares;
    uint64_t least_inverted; /**< ~least: 0 is "none yet" */
    uint64_t max;
    uint64_t *octaves[RTL_STAT_OCTAVES]; /**< RTL_STAT_STEPS counts each, NULL: none */
};

/** Makes the counts of an octave; false when memory is short. */
bool rtl_stat_octave(struct rtl_stat *stat, unsigned octave);

/** Adds a duration; false when memory is short (then it is not added). */
static inline bool rtl_stat_add(struct rtl_stat *stat, uint64_t duration)
{
    unsigned octave = 0;
    uint64_t step = duration;
    if (duration >= RTL_STAT_STEPS) {
        octave = 58u - (unsigned)__builtin_clzll(duration);
        step = duration >> (octave - 1);
    }
    if (!stat->octaves[octave] && !rtl_stat_octave(stat, octave))
        return false;
    uint64_t squared = duration < RTL_STAT_SQUARED_MAX ? duration : RTL_STAT_SQUARED_MAX;
    stat->octaves[octave][step % RTL_STAT_STEPS]++;
    stat->count++;
    stat->total += duration;
    stat->squares += (rtl_wide)squared * squared;
    stat->least_inverted = ~duration > stat->least_inverted ? ~duration : stat->least_inverted;
    stat->max = duration > stat->max ? duration : stat->max;
    return true;
}

/** Adds all that `part` has. False when memory is short. */
bool rtl_stat_merge(struct rtl_stat *stat, const struct rtl_stat *part);

/** Least duration; 0 without any. */
uint64_t rtl_stat_min(const struct rtl_stat *stat);

/** Standard deviation of all (not of a sample). */
double rtl_stat_deviation(const struct rtl_stat *stat);

/** The duration that `fraction` (0 to 1) of all do not exceed, by nearest rank: within 1/128 of it,
 * and never outside of least and greatest. 0 without any. */
uint64_t rtl_stat_percentile(const struct rtl_stat *stat, double fraction);

/** Frees the counts. */
void rtl_stat_free(struct rtl_stat *stat);

#endif

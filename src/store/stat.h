/**
 * Statistics of durations: exact count, sum, sum of squares, least and greatest, and a histogram
 * for percentiles. Parts that are gathered apart (by threads, of chunks) add up to the same whole
 * in every order.
 *
 * A trace may have a hundred thousand kinds of kernels, most of which ran a few times: the first
 * few steps of the histogram lie in the struct, and only more of them take memory of their own.
 */
#ifndef RTL_STORE_STAT_H
#define RTL_STORE_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The histogram: durations below 64 one by one, above that 64 steps between a power of two and the
 * next. The middle of a step is at most 1/128 away from any duration in it. */
#define RTL_STAT_STEPS   64u
#define RTL_STAT_OCTAVES 59u

/** Steps are numbered from 0: so many of them, one after the other, octave by octave. */
#define RTL_STAT_BINS (RTL_STAT_STEPS * RTL_STAT_OCTAVES)

/** Steps that take no memory beyond the struct. */
#define RTL_STAT_FEW 6u

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
    uint64_t **octaves; /**< RTL_STAT_OCTAVES, of RTL_STAT_STEPS counts each, NULL: none. NULL:
                           `few` has them all */
    uint32_t few_count;
    uint32_t few_bins[RTL_STAT_FEW];
    uint64_t few_counts[RTL_STAT_FEW];
};

/** The step that a duration is in. */
static inline uint32_t rtl_stat_bin_of(uint64_t duration)
{
    if (duration < RTL_STAT_STEPS)
        return (uint32_t)duration;
    unsigned octave = 58u - (unsigned)__builtin_clzll(duration);
    return octave * RTL_STAT_STEPS + (uint32_t)(duration >> (octave - 1)) % RTL_STAT_STEPS;
}

/** Adds `count` to a step below RTL_STAT_BINS, and nothing else; false when memory is short. */
bool rtl_stat_add_bin(struct rtl_stat *stat, uint32_t bin, uint64_t count);

/** Adds a duration; false when memory is short (then it is not added). */
static inline bool rtl_stat_add(struct rtl_stat *stat, uint64_t duration)
{
    uint32_t bin = rtl_stat_bin_of(duration);
    uint64_t *octave = stat->octaves ? stat->octaves[bin / RTL_STAT_STEPS] : NULL;
    if (octave)
        octave[bin % RTL_STAT_STEPS]++;
    else if (!rtl_stat_add_bin(stat, bin, 1))
        return false;
    uint64_t squared = duration < RTL_STAT_SQUARED_MAX ? duration : RTL_STAT_SQUARED_MAX;
    stat->count++;
    stat->total += duration;
    stat->squares += (rtl_wide)squared * squared;
    stat->least_inverted = ~duration > stat->least_inverted ? ~duration : stat->least_inverted;
    stat->max = duration > stat->max ? duration : stat->max;
    return true;
}

/** The next step from `*bin` on that has durations, which `*bin` becomes, and how many; 0 if there
 * is none. */
uint64_t rtl_stat_next_bin(const struct rtl_stat *stat, uint32_t *bin);

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

/**
 * What is said of many durations: count, total, extremes, deviation, percentiles. Memory is bounded
 * however many come: up to STATS_KEPT percentiles are exact, beyond that within 0.2 %.
 */
#ifndef RTL_TOOLS_STATS_H
#define RTL_TOOLS_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STATS_KEPT 8192u

/** Zeroed memory is empty. Values are ns or any other whole number. */
struct stats {
    uint64_t count, total, min, max;
    /** In the order in which they came, each `stride`-th: all of them as long as stride is 1. */
    uint64_t *kept;
    size_t kept_count, kept_capacity;
    uint64_t stride;    /**< 0 before the first */
    uint64_t *sorted;   /**< `kept` by size, made when it is asked for; NULL: not made */
    double mean, away;  /**< away: sum of the squared distances from the mean */
    uint64_t **octaves; /**< counts of 256 ranges each, once stride is above 1; else NULL */
};

/** Adds a value. Memory that is short ends the program with a sentence. */
void stats_add(struct stats *stats, uint64_t value);

/** The least value that `per_mille` thousandths of all values do not exceed (nearest rank); 0
 * without values. */
uint64_t stats_quantile(struct stats *stats, unsigned per_mille);

/** Standard deviation over the mean (of all values, not of a sample); 0 without values. */
double stats_variation(const struct stats *stats);

/** Standard deviation. */
double stats_deviation(const struct stats *stats);

/** The median of the distances from the median. */
uint64_t stats_median_distance(struct stats *stats);

/** The kept values by size; they belong to `stats` and live until the next stats_add. */
const uint64_t *stats_sorted(struct stats *stats);

/** True if percentiles are exact. */
bool stats_exact(const struct stats *stats);

void stats_free(struct stats *stats);

#endif

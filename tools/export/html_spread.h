/**
 * How durations are spread: counts in buckets that are at most 1/64 of their value wide, so that
 * quantiles are right to 0.8 % in memory that does not grow with the trace.
 */
#ifndef RTL_TOOLS_EXPORT_HTML_SPREAD_H
#define RTL_TOOLS_EXPORT_HTML_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

#define SPREAD_PAGES   59u
#define SPREAD_BUCKETS 64u

/** Zeroed memory is empty. */
struct spread {
    uint64_t count, least, most, sum;
    double squares;
    uint32_t *pages[SPREAD_PAGES]; /**< of SPREAD_BUCKETS each, those that have something */
};

/** Adds a duration, ns. False when memory is short. */
bool spread_add(struct spread *spread, uint64_t value);

/** The value that a share (0 to 1) of all are not above; 0 if there is none. */
uint64_t spread_quantile(const struct spread *spread, double share);

/** Mean and standard deviation; 0 if there is none. */
double spread_mean(const struct spread *spread);
double spread_deviation(const struct spread *spread);

void spread_free(struct spread *spread);

#endif

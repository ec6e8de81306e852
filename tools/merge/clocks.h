/**
 * How far the clocks of two hosts are apart, by collectives that both ran: none of their kernels
 * ends before all have begun, on whatever host. So each collective bounds the difference from both
 * sides, and all together, with a drift that does not change, leave what is possible. Pure.
 */
#ifndef RTL_TOOLS_MERGE_CLOCKS_H
#define RTL_TOOLS_MERGE_CLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** More than this no clock of a host drifts, ns a second. */
#define CLOCKS_DRIFT 500000.0

/** GPUs' times are as far off their hosts' clocks, at most, ns; each bound is so much wider. */
#define CLOCKS_SLACK 1000

/** At a time the difference (what is added to the one host's times, so that they are the other's)
 * is from `least` to `most`, ns. */
struct clocks_bound {
    uint64_t at;
    int64_t least, most;
};

struct clocks {
    int64_t shift; /**< in the middle of the time between the first bound and the last one */
    /** A single shift for all of that time is not further off than this, the drift included, ns. */
    uint64_t error;
    double drift, drift_least, drift_most; /**< ns a second */
};

/** Finds it. False if no difference and drift fits all bounds, or there is none. */
bool clocks_find(const struct clocks_bound *bounds, size_t count, struct clocks *clocks);

#endif

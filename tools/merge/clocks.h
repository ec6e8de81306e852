/**
 * How far the clocks of two hosts are apart, by what bounds the difference from both sides:
 * collectives that both ran, none of whose kernels ends before all have begun, on whatever host;
 * and messages that went from one host to the other and back. All bounds together, with a drift
 * that does not change, leave what is possible. Pure.
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

/** When the host whose times are moved recorded, on its clock as the bounds have it. From the first
 * bound to the last it is compared anyhow. */
struct clocks_span {
    uint64_t from, to; /**< which may have passed 2^64; `to` before `from`: nothing is known */
};

struct clocks {
    int64_t shift; /**< of all that are possible the one that is the least off at worst */
    /** A single shift is not further off than this at any time of the span, nor between the first
     * bound and the last one, the drift included, ns. */
    uint64_t error;
    uint64_t between;                      /**< what it would be between the bounds alone, ns */
    uint64_t before, after;                /**< of the span is outside the bounds, ns */
    double drift, drift_least, drift_most; /**< ns a second */
    bool steady; /**< one drift fits all bounds; else it is that from the first to the last */
};

/** As a number of ns, the nearest that there is. */
int64_t clocks_ns(double ns);

/** Finds it. False if no difference and drift fits all bounds, or there is none. Outside the bounds
 * any drift may go on that fits all of them. */
bool clocks_find(const struct clocks_bound *bounds, size_t count, const struct clocks_span *span,
                 struct clocks *clocks);

/** The same, but the drift may change, as that of a clock does that is kept right by another one:
 * it is at most CLOCKS_DRIFT at any time. What is possible grows with the time from the next bound.
 */
bool clocks_follow(const struct clocks_bound *bounds, size_t count, const struct clocks_span *span,
                   struct clocks *clocks);

/** What some bounds leave possible at any time: with one drift if one fits, else with one that
 * changes. */
struct clocks_model {
    const struct clocks_bound *bounds; /**< the caller's */
    size_t count;
    bool steady;
    uint64_t middle;
    double low, high;         /**< drifts that are possible, if steady */
    struct clocks_path *path; /**< else */
};

/** Makes it; false, and nothing to free, if no difference fits, or there is no bound. */
bool clocks_model_make(const struct clocks_bound *bounds, size_t count, struct clocks_model *model);

/** The difference at a time is between these, ns. */
void clocks_model_at(const struct clocks_model *model, uint64_t at, double *least, double *most);

void clocks_model_free(struct clocks_model *model);

#endif

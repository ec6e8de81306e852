/**
 * Metrics of ranges, each with a rule that says how it is made of many kernels (metrics.def has
 * them all). Pure.
 */
#ifndef RTL_COMMON_METRICS_H
#define RTL_COMMON_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What metrics are made of. */
enum rtl_quantity {
    /* Of kernels: sums. */
    RTL_QUANTITY_WORK_ITEMS,
    RTL_QUANTITY_WORK_GROUPS,
    RTL_QUANTITY_LANES, /**< work-items that the work-groups would have if all were full */
    /* Of kernels: the greatest. */
    RTL_QUANTITY_LONGEST_NS,
    RTL_QUANTITY_LDS_BYTES,
    RTL_QUANTITY_SCRATCH_BYTES,
    /* Of the range as a whole: rtl_range_time. */
    RTL_QUANTITY_KERNELS,
    RTL_QUANTITY_KERNEL_NS,
    RTL_QUANTITY_BUSY_NS,
    RTL_QUANTITY_OVERLAP_NS,
    RTL_QUANTITY_COPY_BYTES,
    RTL_QUANTITY_COPYING_NS,
    RTL_QUANTITY_COPY_OVERLAP_NS,
    RTL_QUANTITY_WITHIN_NS,
    RTL_QUANTITY_WALL_NS, /**< 0 where the range never ended */
    RTL_QUANTITIES,
    RTL_QUANTITY_NONE = RTL_QUANTITIES
};

/** Zeroed memory is nothing at all. */
struct rtl_quantities {
    uint64_t values[RTL_QUANTITIES];
};

enum rtl_rule {
    RTL_RULE_SUM,
    RTL_RULE_MAX,
    RTL_RULE_RATIO /**< of two sums */
};

struct rtl_metric {
    const char *name;
    enum rtl_rule rule;
    enum rtl_quantity numerator, denominator; /**< denominator: of a ratio */
    unsigned factor;
    const char *unit;
    const char *formula;
};

/** All metrics; static storage. */
const struct rtl_metric *rtl_metrics(size_t *count);

/** The metric of that name, NULL if there is none. */
const struct rtl_metric *rtl_metric_find(const char *name);

/** "sum", "max", "ratio of sums". */
const char *rtl_rule_name(enum rtl_rule rule);

/** Adds a kernel. `grid` and `block` are in work-items; a block of 0 counts as 1. */
void rtl_quantities_kernel(struct rtl_quantities *quantities, const uint32_t grid[3],
                           const uint32_t block[3], uint64_t duration_ns, uint32_t lds_bytes,
                           uint32_t scratch_bytes);

/** Adds what was added to `more`, of kernels alone: sums to sums, the greater one of the greatest.
 */
void rtl_quantities_add(struct rtl_quantities *quantities, const struct rtl_quantities *more);

/** A metric of these quantities; false if it has no value: a ratio to nothing. */
bool rtl_metric_value(const struct rtl_metric *metric, const struct rtl_quantities *quantities,
                      double *value);

#endif

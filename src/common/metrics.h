/**
 * Metrics of ranges, each with a rule that says how it is made of many kernels (metrics.def has
 * them all), out of what a trace has or out of hardware counters. Pure.
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
    enum rtl_quantity numerator, denominator; /**< denominator: of a ratio; NONE: of counters */
    unsigned factor;
    const char *unit;
    const char *formula;
    /** Of hardware counters, else NULL: a sum of them, "64*A - 32*B", which counts in the place of
     * the numerator. */
    const char *over;
    const char *under; /**< the same in the place of the denominator, NULL: none */
};

/** Room for the name of a counter, with its terminator. */
#define RTL_COUNTER_NAME 64
/** As many counters may stand in a sum. */
#define RTL_MOST_TERMS 4

/** All metrics; static storage. */
const struct rtl_metric *rtl_metrics(size_t *count);

/** The metric of that name, or of the one counter (counters.def) of that name: its sum. NULL if
 * there is neither. */
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

/** A metric of these quantities; false if it has no value: a ratio to nothing, or it is one of
 * hardware counters. */
bool rtl_metric_value(const struct rtl_metric *metric, const struct rtl_quantities *quantities,
                      double *value);

/** Writes the name of counter `index` (from 0, each once) that a metric is made of; false if it has
 * no more. */
bool rtl_metric_counter(const struct rtl_metric *metric, size_t index, char name[RTL_COUNTER_NAME]);

/** Whether a metric needs hardware counters. */
bool rtl_metric_is_counted(const struct rtl_metric *metric);

/** What a counter has counted, in kernels or in a range. Zeroed memory: it was not read. */
struct rtl_count {
    uint64_t sum;
    uint64_t max;     /**< in one kernel */
    uint64_t samples; /**< how often it was read; 0: there is no value */
    bool of_range;    /**< a whole range was counted at once: there is no maximum */
};

/** Adds what was counted in a kernel, or (`of_range`) in a range. */
void rtl_count_add(struct rtl_count *count, uint64_t value, bool of_range);

/** Adds other kernels or ranges. */
void rtl_count_merge(struct rtl_count *count, const struct rtl_count *more);

/** A metric whose counters have their places in a row of rtl_count. No memory of its own. */
struct rtl_measure {
    const struct rtl_metric *metric;
    struct rtl_metric_sum {
        unsigned terms; /**< 0: it is a quantity */
        int64_t factor[RTL_MOST_TERMS];
        size_t place[RTL_MOST_TERMS];
    } over, under;
};

/** Looks up the counters of a metric among `names`. False if one is not there; a metric that needs
 * none is always measured. `metric` must live as long as the measure. */
bool rtl_measure_make(struct rtl_measure *measure, const struct rtl_metric *metric,
                      const char *const *names, size_t count);

struct rtl_value {
    double number;
    bool whole;     /**< it is `exact` */
    uint64_t exact; /**< of sums and maxima */
};

/** The value, of quantities and of counters in the order of rtl_measure_make's names (may be NULL
 * if it needs none). False if it has none: a ratio to nothing, a counter that was not read, the
 * maximum of kernels of which only the range as a whole was counted. */
bool rtl_measure_value(const struct rtl_measure *measure, const struct rtl_quantities *quantities,
                       const struct rtl_count *counts, struct rtl_value *value);

#endif

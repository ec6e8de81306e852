#include "common/metrics.h"

#include <string.h>

static const struct rtl_metric metrics[] = {
#define METRIC(name, rule, numerator, denominator, factor, unit, formula)                          \
    {#name, RTL_RULE_##rule, RTL_QUANTITY_##numerator, RTL_QUANTITY_##denominator, factor,         \
     unit,  formula},
#include "common/metrics.def"
#undef METRIC
};

enum { METRICS = sizeof metrics / sizeof metrics[0] };

const struct rtl_metric *rtl_metrics(size_t *count)
{
    *count = METRICS;
    return metrics;
}

const struct rtl_metric *rtl_metric_find(const char *name)
{
    for (size_t i = 0; i < METRICS; i++)
        if (strcmp(metrics[i].name, name) == 0)
            return &metrics[i];
    return NULL;
}

const char *rtl_rule_name(enum rtl_rule rule)
{
    static const char *const names[] = {"sum", "max", "ratio of sums"};
    return names[rule];
}

static void raise_to(uint64_t *greatest, uint64_t value)
{
    if (value > *greatest)
        *greatest = value;
}

void rtl_quantities_kernel(struct rtl_quantities *quantities, const uint32_t grid[3],
                           const uint32_t block[3], uint64_t duration_ns, uint32_t lds_bytes,
                           uint32_t scratch_bytes)
{
    uint64_t *values = quantities->values;
    uint64_t items = 1;
    uint64_t groups = 1;
    uint64_t size = 1;
    for (unsigned i = 0; i < 3; i++) {
        uint32_t side = block[i] > 0 ? block[i] : 1;
        items *= grid[i];
        groups *= ((uint64_t)grid[i] + side - 1) / side;
        size *= side;
    }
    values[RTL_QUANTITY_WORK_ITEMS] += items;
    values[RTL_QUANTITY_WORK_GROUPS] += groups;
    values[RTL_QUANTITY_LANES] += groups * size;
    raise_to(&values[RTL_QUANTITY_LONGEST_NS], duration_ns);
    raise_to(&values[RTL_QUANTITY_LDS_BYTES], lds_bytes);
    raise_to(&values[RTL_QUANTITY_SCRATCH_BYTES], scratch_bytes);
}

void rtl_quantities_add(struct rtl_quantities *quantities, const struct rtl_quantities *more)
{
    for (unsigned i = RTL_QUANTITY_WORK_ITEMS; i <= RTL_QUANTITY_LANES; i++)
        quantities->values[i] += more->values[i];
    for (unsigned i = RTL_QUANTITY_LONGEST_NS; i <= RTL_QUANTITY_SCRATCH_BYTES; i++)
        raise_to(&quantities->values[i], more->values[i]);
}

bool rtl_metric_value(const struct rtl_metric *metric, const struct rtl_quantities *quantities,
                      double *value)
{
    double numerator = (double)quantities->values[metric->numerator];
    if (metric->rule != RTL_RULE_RATIO) {
        *value = numerator;
        return true;
    }
    uint64_t denominator = quantities->values[metric->denominator];
    if (denominator == 0)
        return false;
    *value = metric->factor * numerator / (double)denominator;
    return true;
}

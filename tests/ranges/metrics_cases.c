#include "../common/check.h"
#include "common/metrics.h"

#include <string.h>

static double value_of(const char *name, const struct rtl_quantities *quantities)
{
    const struct rtl_metric *metric = rtl_metric_find(name);
    double value = -1;
    return metric != NULL && rtl_metric_value(metric, quantities, &value) ? value : -1;
}

static struct rtl_quantities kernel(uint32_t x, uint32_t block, uint64_t ns, uint32_t lds)
{
    const uint32_t grid[3] = {x, 1, 1};
    const uint32_t blocks[3] = {block, 1, 1};
    struct rtl_quantities quantities = {0};
    rtl_quantities_kernel(&quantities, grid, blocks, ns, lds, 0);
    return quantities;
}

/* 0 % of a long time and 100 % of a short one are 10 % of both together: not the mean, 50 %. */
const char *Metrics_ARatioIsThatOfTheSums(void)
{
    struct rtl_quantities none = {0};
    struct rtl_quantities all = {0};
    struct rtl_quantities both = {0};
    none.values[RTL_QUANTITY_COPYING_NS] = 900;
    all.values[RTL_QUANTITY_COPYING_NS] = 100;
    all.values[RTL_QUANTITY_COPY_OVERLAP_NS] = 100;
    both.values[RTL_QUANTITY_COPYING_NS] = 1000;
    both.values[RTL_QUANTITY_COPY_OVERLAP_NS] = 100;
    CHECK(value_of("copy_hidden", &none) == 0);
    CHECK(value_of("copy_hidden", &all) == 100);
    CHECK(value_of("copy_hidden", &both) == 10);
    return NULL;
}

/* One full group of 1024, and nine groups of 1024 with one work-item each. */
const char *Metrics_KernelsAreAddedBeforeTheyAreDivided(void)
{
    struct rtl_quantities sum = kernel(1024, 1024, 10, 0);
    CHECK(value_of("lane_use", &sum) == 100);
    for (unsigned i = 0; i < 9; i++) {
        const struct rtl_quantities one = kernel(1, 1024, 10, 0);
        rtl_quantities_add(&sum, &one);
    }
    CHECK(value_of("work_items", &sum) == 1033);
    CHECK(value_of("work_groups", &sum) == 10);
    CHECK(value_of("lane_use", &sum) == 100.0 * 1033 / 10240);
    CHECK(value_of("work_group_size", &sum) == 103.3);
    return NULL;
}

const char *Metrics_TheGreatestOfMaxima(void)
{
    struct rtl_quantities a = kernel(64, 64, 70, 100);
    const struct rtl_quantities b = kernel(64, 64, 30, 400);
    rtl_quantities_add(&a, &b);
    CHECK(value_of("kernel_time_max", &a) == 70);
    CHECK(value_of("lds_max", &a) == 400);
    CHECK(value_of("scratch_max", &a) == 0);
    return NULL;
}

const char *Metrics_ARatioToNothingHasNoValue(void)
{
    const struct rtl_quantities nothing = {0};
    double value = 7;
    CHECK(!rtl_metric_value(rtl_metric_find("lane_use"), &nothing, &value) && value == 7);
    CHECK(rtl_metric_value(rtl_metric_find("kernels"), &nothing, &value) && value == 0);
    CHECK(rtl_metric_find("lane") == NULL && rtl_metric_find("") == NULL);
    return NULL;
}

const char *Metrics_EachIsDeclared(void)
{
    size_t count;
    const struct rtl_metric *metrics = rtl_metrics(&count);
    CHECK(count > 0);
    for (size_t i = 0; i < count; i++) {
        CHECK(rtl_metric_find(metrics[i].name) == &metrics[i]);
        CHECK(metrics[i].numerator < RTL_QUANTITIES);
        CHECK((metrics[i].rule == RTL_RULE_RATIO) == (metrics[i].denominator < RTL_QUANTITIES));
        CHECK(metrics[i].factor == 1 || strcmp(metrics[i].unit, "%") == 0);
        CHECK(*metrics[i].unit != '\0' && *metrics[i].formula != '\0');
    }
    return NULL;
}

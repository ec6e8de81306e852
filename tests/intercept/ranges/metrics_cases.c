#include "../../common/check.h"
#include "common/counters.h"
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

/* Each is in the table of counters, on a GPU on which all of them are. */
static const char *check_counters(const struct rtl_metric *metric)
{
    char name[RTL_COUNTER_NAME];
    unsigned families = RTL_GFX_ANY;
    size_t count = 0;
    for (; rtl_metric_counter(metric, count, name); count++) {
        unsigned here = 0;
        for (unsigned family = 1; family <= RTL_GFX11; family *= 2)
            here |= rtl_counter_find(name, family) ? family : 0;
        families &= here;
    }
    CHECK((count > 0) == rtl_metric_is_counted(metric));
    CHECK(families & RTL_GFX90A);
    CHECK(metric->rule != RTL_RULE_MAX || count < 2);
    return NULL;
}

const char *Metrics_EachIsDeclared(void)
{
    size_t count;
    const struct rtl_metric *metrics = rtl_metrics(&count);
    CHECK(count > 0);
    for (size_t i = 0; i < count; i++) {
        CHECK(rtl_metric_find(metrics[i].name) == &metrics[i]);
        CHECK((metrics[i].numerator < RTL_QUANTITIES) == !rtl_metric_is_counted(&metrics[i]));
        CHECK((metrics[i].rule == RTL_RULE_RATIO) ==
              (metrics[i].denominator < RTL_QUANTITIES || metrics[i].under != NULL));
        CHECK(metrics[i].denominator == RTL_QUANTITY_NONE || metrics[i].under == NULL);
        CHECK(metrics[i].factor == 1 || strcmp(metrics[i].unit, "%") == 0);
        CHECK(*metrics[i].unit != '\0' && *metrics[i].formula != '\0');
        CHECK_DONE(check_counters(&metrics[i]));
    }
    return NULL;
}

static const char *const counters[] = {"SQ_WAVES", "TCC_MISS", "TCC_HIT", "TCC_EA_RDREQ",
                                       "TCC_EA_RDREQ_32B"};
enum { COUNTERS = sizeof counters / sizeof counters[0] };

/* What was counted, by the places of `counters`. */
struct counted {
    struct rtl_count row[COUNTERS];
};

static void count(struct counted *counted, const uint64_t values[COUNTERS], bool of_range)
{
    for (unsigned i = 0; i < COUNTERS; i++)
        rtl_count_add(&counted->row[i], values[i], of_range);
}

/* -1: no value, -2: not measured. */
static double counted_of(const char *name, const struct counted *counted)
{
    const struct rtl_quantities quantities = {.values[RTL_QUANTITY_BUSY_NS] = 50};
    const struct rtl_metric *metric = rtl_metric_find(name);
    struct rtl_measure measure;
    struct rtl_value value;
    if (metric == NULL || !rtl_measure_make(&measure, metric, counters, COUNTERS))
        return -2;
    return rtl_measure_value(&measure, &quantities, counted->row, &value) ? value.number : -1;
}

/* 900 requests that all miss, and 100 that all hit: 10 % of 1000, not the mean of 0 % and 100 %. */
const char *Metrics_CacheHitsAreThoseOfAllRequests(void)
{
    static const uint64_t misses[COUNTERS] = {1, 900, 0, 0, 0};
    static const uint64_t hits[COUNTERS] = {1, 0, 100, 0, 0};
    struct counted cold = {0};
    struct counted warm = {0};
    count(&cold, misses, false);
    count(&warm, hits, false);
    CHECK(counted_of("l2_hit", &cold) == 0 && counted_of("l2_hit", &warm) == 100);
    for (unsigned i = 0; i < COUNTERS; i++)
        rtl_count_merge(&cold.row[i], &warm.row[i]);
    CHECK(counted_of("l2_hit", &cold) == 10);
    CHECK(counted_of("l2_requests", &cold) == 1000);
    CHECK(counted_of("waves", &cold) == 2);
    CHECK(counted_of("TCC_HIT", &cold) == 100 && counted_of("TCC_MISS", &cold) == 900);
    return NULL;
}

/* 5 requests of 64 bytes and 3 of 32, in 50 ns. */
const char *Metrics_SumsOfCountersHaveFactors(void)
{
    static const uint64_t values[COUNTERS] = {7, 0, 0, 8, 3};
    struct counted counted = {0};
    count(&counted, values, false);
    CHECK(counted_of("fetch_bytes", &counted) == 5 * 64 + 3 * 32);
    CHECK(counted_of("fetch_rate", &counted) == (5 * 64 + 3 * 32) / 50.0);
    CHECK(counted_of("l2_hit", &counted) == -1);      /* no request */
    CHECK(counted_of("write_bytes", &counted) == -2); /* counters that were not recorded */
    return NULL;
}

const char *Metrics_WhatWasNotReadHasNoValue(void)
{
    static const uint64_t values[COUNTERS] = {7, 1, 3, 0, 0};
    struct counted counted = {0};
    CHECK(counted_of("waves", &counted) == -1);
    count(&counted, values, false);
    counted.row[1] = (struct rtl_count){0};
    CHECK(counted_of("waves", &counted) == 7);
    CHECK(counted_of("l2_hit", &counted) == -1);
    return NULL;
}

const char *Metrics_AMaximumIsThatOfKernels(void)
{
    static const uint64_t values[3][COUNTERS] = {{7}, {30}, {5}};
    struct counted counted = {0};
    for (unsigned i = 0; i < 3; i++)
        count(&counted, values[i], false);
    CHECK(counted_of("waves_max", &counted) == 30);
    CHECK(counted_of("waves", &counted) == 42);
    count(&counted, values[0], true);
    CHECK(counted_of("waves_max", &counted) == -1);
    CHECK(counted_of("waves", &counted) == 49);
    return NULL;
}

/* A double has 53 bits; what is a sum keeps its 64. */
const char *Metrics_SumsAreExact(void)
{
    static const uint64_t values[COUNTERS] = {UINT64_C(0xFFFFFFFFFFFFF001), 0, 0, 1, 3};
    struct counted counted = {0};
    struct rtl_measure measure;
    struct rtl_value value;
    count(&counted, values, false);
    CHECK(rtl_measure_make(&measure, rtl_metric_find("waves_max"), counters, COUNTERS));
    CHECK(rtl_measure_value(&measure, NULL, counted.row, &value) && value.whole);
    CHECK(value.exact == UINT64_C(0xFFFFFFFFFFFFF001));
    counted.row[0].sum = (UINT64_C(1) << 62) + 1;
    CHECK(rtl_measure_make(&measure, rtl_metric_find("waves"), counters, COUNTERS));
    CHECK(rtl_measure_value(&measure, NULL, counted.row, &value) && value.whole);
    CHECK(value.exact == (UINT64_C(1) << 62) + 1);
    CHECK(rtl_measure_make(&measure, rtl_metric_find("fetch_bytes"), counters, COUNTERS));
    CHECK(rtl_measure_value(&measure, NULL, counted.row, &value) && !value.whole);
    CHECK(value.number == 64.0 - 96.0);
    return NULL;
}

const char *Metrics_TheirCountersEachOnce(void)
{
    char name[RTL_COUNTER_NAME];
    const struct rtl_metric *metric = rtl_metric_find("l2_hit");
    CHECK(rtl_metric_counter(metric, 0, name) && strcmp(name, "TCC_HIT") == 0);
    CHECK(rtl_metric_counter(metric, 1, name) && strcmp(name, "TCC_MISS") == 0);
    CHECK(!rtl_metric_counter(metric, 2, name));
    metric = rtl_metric_find("fetch_rate");
    CHECK(rtl_metric_counter(metric, 0, name) && strcmp(name, "TCC_EA_RDREQ") == 0);
    CHECK(rtl_metric_counter(metric, 1, name) && strcmp(name, "TCC_EA_RDREQ_32B") == 0);
    CHECK(!rtl_metric_counter(metric, 2, name));
    CHECK(!rtl_metric_counter(rtl_metric_find("lane_use"), 0, name));
    return NULL;
}

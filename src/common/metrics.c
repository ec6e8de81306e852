#include "common/metrics.h"

#include <string.h>

static const struct rtl_metric metrics[] = {
#define METRIC(name, rule, numerator, denominator, factor, unit, formula)                          \
    {#name,                                                                                        \
     RTL_RULE_##rule,                                                                              \
     RTL_QUANTITY_##numerator,                                                                     \
     RTL_QUANTITY_##denominator,                                                                   \
     factor,                                                                                       \
     unit,                                                                                         \
     formula,                                                                                      \
     NULL,                                                                                         \
     NULL},
#define COUNTED(name, rule, over, under, denominator, factor, unit, formula)                       \
    {#name,                                                                                        \
     RTL_RULE_##rule,                                                                              \
     RTL_QUANTITY_NONE,                                                                            \
     RTL_QUANTITY_##denominator,                                                                   \
     factor,                                                                                       \
     unit,                                                                                         \
     formula,                                                                                      \
     over,                                                                                         \
     under},
#include "common/metrics.def"
#undef COUNTED
#undef METRIC
};

/* Each counter by its own name; where it has several rows the first one serves. */
static const struct rtl_metric counters[] = {
#define COUNTER(name, block, event, families, unit, text)                                          \
    {#name, RTL_RULE_SUM, RTL_QUANTITY_NONE, RTL_QUANTITY_NONE, 1, unit, text, #name, NULL},
#include "common/counters.def"
#undef COUNTER
};

enum {
    METRICS = sizeof metrics / sizeof metrics[0],
    COUNTERS = sizeof counters / sizeof counters[0]
};

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
    for (size_t i = 0; i < COUNTERS; i++)
        if (strcmp(counters[i].name, name) == 0)
            return &counters[i];
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
    const struct rtl_measure measure = {.metric = metric};
    struct rtl_value found;
    if (rtl_metric_is_counted(metric) || !rtl_measure_value(&measure, quantities, NULL, &found))
        return false;
    *value = found.number;
    return true;
}

bool rtl_metric_is_counted(const struct rtl_metric *metric)
{
    return metric->over != NULL;
}

/* Sums of counters: "64*A - 32*B". Takes the next term; false at the end. */
static bool next_term(const char **text, int64_t *factor, char name[RTL_COUNTER_NAME])
{
    size_t length = 0;
    *factor = 1;
    if (*text == NULL || **text == '\0')
        return false;
    for (; **text == ' ' || **text == '+' || **text == '-'; ++*text)
        if (**text == '-')
            *factor = -*factor;
    if (**text >= '0' && **text <= '9') {
        int64_t number = 0;
        for (; **text >= '0' && **text <= '9'; ++*text)
            number = 10 * number + (**text - '0');
        *factor *= number;
        *text += **text == '*';
    }
    for (; **text != '\0' && **text != ' '; ++*text)
        if (length + 1 < RTL_COUNTER_NAME)
            name[length++] = **text;
    name[length] = '\0';
    return true;
}

/* Counter `index` of both sums, repetitions included. */
static bool counter_at(const struct rtl_metric *metric, size_t index, char name[RTL_COUNTER_NAME])
{
    const char *sums[] = {metric->over, metric->under};
    int64_t factor;
    for (unsigned i = 0; i < 2; i++)
        while (next_term(&sums[i], &factor, name))
            if (index-- == 0)
                return true;
    return false;
}

static bool came_before(const struct rtl_metric *metric, size_t index, const char *name)
{
    char other[RTL_COUNTER_NAME];
    for (size_t i = 0; i < index && counter_at(metric, i, other); i++)
        if (strcmp(other, name) == 0)
            return true;
    return false;
}

bool rtl_metric_counter(const struct rtl_metric *metric, size_t index, char name[RTL_COUNTER_NAME])
{
    for (size_t at = 0; counter_at(metric, at, name); at++)
        if (!came_before(metric, at, name) && index-- == 0)
            return true;
    return false;
}

void rtl_count_add(struct rtl_count *count, uint64_t value, bool of_range)
{
    count->sum += value;
    count->samples++;
    count->of_range = count->of_range || of_range;
    if (!of_range)
        raise_to(&count->max, value);
}

void rtl_count_merge(struct rtl_count *count, const struct rtl_count *more)
{
    count->sum += more->sum;
    count->samples += more->samples;
    count->of_range = count->of_range || more->of_range;
    raise_to(&count->max, more->max);
}

static bool make_sum(struct rtl_metric_sum *sum, const char *text, const char *const *names,
                     size_t count)
{
    char name[RTL_COUNTER_NAME];
    sum->terms = 0;
    for (int64_t factor; next_term(&text, &factor, name); sum->terms++) {
        size_t place = 0;
        while (place < count && strcmp(names[place], name) != 0)
            place++;
        if (place == count || sum->terms == RTL_MOST_TERMS)
            return false;
        sum->factor[sum->terms] = factor;
        sum->place[sum->terms] = place;
    }
    return true;
}

bool rtl_measure_make(struct rtl_measure *measure, const struct rtl_metric *metric,
                      const char *const *names, size_t count)
{
    measure->metric = metric;
    return make_sum(&measure->over, metric->over, names, count) &&
           make_sum(&measure->under, metric->under, names, count);
}

/* Above this a double is no uint64_t. */
#define BEYOND 18446744073709549568.0

static void set_whole(struct rtl_value *value, uint64_t exact)
{
    *value = (struct rtl_value){.number = (double)exact, .whole = true, .exact = exact};
}

static bool sum_of(const struct rtl_metric_sum *sum, const struct rtl_count *counts,
                   struct rtl_value *value)
{
    double number = 0;
    uint64_t exact = 0;
    for (unsigned i = 0; i < sum->terms; i++) {
        const struct rtl_count *count = &counts[sum->place[i]];
        if (count->samples == 0)
            return false;
        number += (double)sum->factor[i] * (double)count->sum;
        exact += (uint64_t)sum->factor[i] * count->sum;
    }
    *value = (struct rtl_value){number, number >= 0 && number < BEYOND, exact};
    return true;
}

static bool part_of(const struct rtl_metric_sum *sum, enum rtl_quantity quantity,
                    const struct rtl_quantities *quantities, const struct rtl_count *counts,
                    struct rtl_value *value)
{
    if (sum->terms > 0)
        return sum_of(sum, counts, value);
    set_whole(value, quantities->values[quantity]);
    return true;
}

static bool max_of(const struct rtl_count *count, struct rtl_value *value)
{
    set_whole(value, count->max);
    return count->samples > 0 && !count->of_range;
}

bool rtl_measure_value(const struct rtl_measure *measure, const struct rtl_quantities *quantities,
                       const struct rtl_count *counts, struct rtl_value *value)
{
    const struct rtl_metric *metric = measure->metric;
    struct rtl_value under;
    if (metric->rule == RTL_RULE_MAX && measure->over.terms > 0)
        return max_of(&counts[measure->over.place[0]], value);
    if (!part_of(&measure->over, metric->numerator, quantities, counts, value))
        return false;
    if (metric->rule != RTL_RULE_RATIO)
        return true;
    if (!part_of(&measure->under, metric->denominator, quantities, counts, &under) ||
        under.number == 0)
        return false;
    *value = (struct rtl_value){.number = metric->factor * value->number / under.number};
    return true;
}

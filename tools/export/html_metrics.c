#include "export/html_metrics.h"

#include "common/counters.h"
#include "common/open.h"

#include <string.h>

void html_metrics_begin(struct html_metrics *metrics, const struct counts *counts, bool counted)
{
    size_t count;
    const struct rtl_metric *list = rtl_metrics(&count);
    *metrics = (struct html_metrics){.counts = counts};
    for (size_t i = 0; i < count && metrics->measure_count < METRICS_MOST; ++i)
        if ((!counted || rtl_metric_is_counted(&list[i])) &&
            counts_measure(counts, &list[i], &metrics->measures[metrics->measure_count]))
            ++metrics->measure_count;
    metrics->count = metrics->measure_count + counts->count;
}

static bool value_of_measure(const struct rtl_measure *measure,
                             const struct rtl_quantities *quantities, const struct rtl_count *row,
                             struct rtl_value *value)
{
    return (row || !rtl_metric_is_counted(measure->metric)) &&
           rtl_measure_value(measure, quantities, row, value);
}

bool html_metrics_value(const struct html_metrics *metrics, size_t column,
                        const struct rtl_quantities *quantities, const struct rtl_count *row,
                        struct rtl_value *value)
{
    if (column < metrics->measure_count)
        return value_of_measure(&metrics->measures[column], quantities, row, value);
    if (!row || row[column - metrics->measure_count].samples == 0)
        return false;
    uint64_t sum = row[column - metrics->measure_count].sum;
    *value = (struct rtl_value){.number = (double)sum, .whole = true, .exact = sum};
    return true;
}

bool html_metrics_whole(const struct html_metrics *metrics, size_t column)
{
    return column >= metrics->measure_count ||
           metrics->measures[column].metric->rule != RTL_RULE_RATIO;
}

static bool was_recorded(const struct metrics *recorded, const char *name)
{
    for (size_t i = 0; i < recorded->count; ++i)
        if (strcmp(recorded->list[i]->name, name) == 0)
            return true;
    return false;
}

static json_t *column_json(const char *name, const char *unit, const char *rule,
                           const char *formula, const struct metrics *recorded)
{
    return json_pack("{s:o,s:s,s:s,s:s,s:b}", "name", open_text(name), "unit", unit, "rule", rule,
                     "formula", formula, "recorded", was_recorded(recorded, name));
}

json_t *html_metrics_json(const struct html_metrics *metrics, size_t column,
                          const struct metrics *recorded)
{
    if (column < metrics->measure_count) {
        const struct rtl_metric *metric = metrics->measures[column].metric;
        return column_json(metric->name, metric->unit, rtl_rule_name(metric->rule), metric->formula,
                           recorded);
    }
    const char *name = metrics->counts->names.list[column - metrics->measure_count];
    const struct rtl_counter *known = rtl_counter_find(name, RTL_GFX_ANY);
    return column_json(name, known ? known->unit : "", rtl_rule_name(RTL_RULE_SUM),
                       known ? known->text : "hardware counter", recorded);
}

void html_metrics_write(const struct html_metrics *metrics, size_t column,
                        const struct rtl_quantities *quantities, const struct rtl_count *row,
                        struct bytes *bytes)
{
    struct rtl_value value = {0};
    bool known = html_metrics_value(metrics, column, quantities, row, &value);
    float rounded = (float)value.number;
    uint32_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    uint64_t number = !html_metrics_whole(metrics, column) ? bits
                      : value.whole                        ? value.exact
                                                           : (uint64_t)0;
    bytes_varint(bytes, known ? number + 1 : 0);
}

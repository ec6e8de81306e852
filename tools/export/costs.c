#include "export/costs.h"

#include "common/memory.h"

#include <stdlib.h>

/* For the comparison of places. */
static const struct range_row *sorted;

static int by_id(const void *left, const void *right)
{
    const struct range_row *a = &sorted[*(const size_t *)left];
    const struct range_row *b = &sorted[*(const size_t *)right];
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

static void take_measures(struct costs *costs)
{
    size_t count;
    const struct rtl_metric *metrics = rtl_metrics(&count);
    for (size_t i = 0; i < count && costs->measure_count < METRICS_MOST; ++i)
        if (rtl_metric_is_counted(&metrics[i]) &&
            counts_measure(&costs->reading.counts, &metrics[i],
                           &costs->measures[costs->measure_count]))
            ++costs->measure_count;
}

rtl_status_t costs_read(struct costs *costs, const struct export *export)
{
    *costs = (struct costs){0};
    if (export->info.ranges == 0 || export->info.kernel_samples + export->info.range_samples == 0)
        return RTL_OK;
    rtl_status_t status = ranges_read(export->trace, false, &costs->reading);
    if (status != RTL_OK)
        return status;
    costs->order = memory_new(costs->reading.count, sizeof *costs->order);
    for (size_t i = 0; i < costs->reading.count; ++i)
        costs->order[i] = i;
    sorted = costs->reading.rows;
    if (costs->reading.count)
        qsort(costs->order, costs->reading.count, sizeof *costs->order, by_id);
    take_measures(costs);
    return RTL_OK;
}

static const struct range_row *find(const struct costs *costs, const rtl_range_t *range)
{
    size_t low = 0;
    size_t high = costs->reading.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct range_row *row = &costs->reading.rows[costs->order[middle]];
        if (row->process == range->process && row->id == range->id)
            return row;
        if (row->process < range->process ||
            (row->process == range->process && row->id < range->id))
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

void costs_each(const struct costs *costs, const rtl_range_t *range,
                void (*take)(void *state, const char *name, const struct rtl_value *value),
                void *state)
{
    const struct range_row *row = find(costs, range);
    const struct counts *counts = &costs->reading.counts;
    struct rtl_value value;
    if (!row || !row->counts)
        return;
    for (size_t i = 0; i < counts->count; ++i) {
        if (row->counts[i].samples == 0)
            continue;
        value = (struct rtl_value){
            .number = (double)row->counts[i].sum, .whole = true, .exact = row->counts[i].sum};
        take(state, counts->names.list[i], &value);
    }
    for (size_t i = 0; i < costs->measure_count; ++i)
        if (ranges_value(row, &costs->measures[i], &value))
            take(state, costs->measures[i].metric->name, &value);
}

void costs_free(struct costs *costs)
{
    if (costs->order)
        ranges_free(&costs->reading);
    free(costs->order);
    *costs = (struct costs){0};
}

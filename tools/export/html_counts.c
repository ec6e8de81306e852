#include "export/html_counts.h"

#include "common/memory.h"
#include "common/open.h"

#include <stdlib.h>

rtl_status_t html_counts_begin(struct html_counts *counts, rtl_trace_t *trace)
{
    return counts_read(trace, &counts->counts);
}

static struct html_counted *row_of(struct html_counts *counts, uint32_t name)
{
    size_t count = counts->name_count ? counts->name_count : 64;
    if (name < counts->name_count)
        return &counts->names[name];
    while (count <= name)
        count *= 2;
    counts->names = memory_grown(counts->names, count, sizeof *counts->names);
    for (size_t i = counts->name_count; i < count; ++i)
        counts->names[i] = (struct html_counted){0};
    counts->name_count = count;
    return &counts->names[name];
}

void html_counts_add(struct html_counts *counts, uint32_t name, const rtl_kernel_t *kernel,
                     const rtl_trace_sample_t *sample)
{
    struct html_counted *row = row_of(counts, name);
    uint64_t duration = kernel->end > kernel->start ? kernel->end - kernel->start : 0;
    ++row->kernels;
    ++row->quantities.values[RTL_QUANTITY_KERNELS];
    row->quantities.values[RTL_QUANTITY_KERNEL_NS] += duration;
    /* One at a time on their device. */
    row->quantities.values[RTL_QUANTITY_BUSY_NS] += duration;
    counts_add(&counts->counts, sample, &row->counts);
}

static json_t *value_json(const struct html_metrics *metrics, size_t column,
                          const struct html_counted *row)
{
    struct rtl_value value;
    if (!html_metrics_value(metrics, column, &row->quantities, row->counts, &value))
        return json_null();
    return value.whole ? open_number(value.exact) : json_real(value.number);
}

static json_t *row_json(const struct html_metrics *metrics, size_t name,
                        const struct html_counted *row)
{
    json_t *list = json_pack("[I,I]", (json_int_t)name, (json_int_t)row->kernels);
    for (size_t i = 0; i < metrics->count; ++i)
        (void)json_array_append_new(list, value_json(metrics, i, row));
    return list;
}

json_t *html_counts_json(const struct html_counts *counts, rtl_trace_t *trace)
{
    struct html_metrics metrics;
    struct metrics recorded = {0};
    json_t *columns = json_array();
    json_t *rows = json_array();
    html_metrics_begin(&metrics, &counts->counts, true);
    (void)counts_metrics(trace, &recorded);
    for (size_t i = 0; i < metrics.count; ++i)
        (void)json_array_append_new(columns, html_metrics_json(&metrics, i, &recorded));
    for (size_t i = 0; i < counts->name_count; ++i)
        if (counts->names[i].kernels)
            (void)json_array_append_new(rows, row_json(&metrics, i, &counts->names[i]));
    return json_pack("{s:o,s:o}", "metrics", columns, "rows", rows);
}

json_t *html_counts_list(const struct export *export)
{
    const rtl_trace_counter_t *items = NULL;
    size_t count = 0;
    json_t *list = json_array();
    (void)rtlTraceCounters(export->trace, &items, &count);
    for (size_t i = 0; i < count; ++i)
        (void)json_array_append_new(list, open_text(items[i].name));
    return list;
}

void html_counts_free(struct html_counts *counts)
{
    for (size_t i = 0; i < counts->name_count; ++i)
        free(counts->names[i].counts);
    free(counts->names);
    counts_free(&counts->counts);
    *counts = (struct html_counts){0};
}

#include "ranges/cells.h"

#include "common/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DEEPEST_INDENT 16u

void ranges_cell_name(struct table *table, const struct ranges_view *view,
                      const struct range_row *row)
{
    unsigned indent = 2 * (row->depth < DEEPEST_INDENT ? row->depth : DEEPEST_INDENT);
    char space[2 * DEEPEST_INDENT + 1];
    (void)snprintf(space, sizeof space, "%*s", (int)indent, "");
    table_name(table, space, ranges_name(view, row->name));
}

const char *ranges_mark(const struct ranges_view *view, const struct range_row *row)
{
    const struct counts_process process = counts_process(&view->reading.counts, row->process);
    bool whole = !process.counting || !process.kernels ||
                 ranges_counted(&view->reading, row) >= row->time.kernels;
    return row->shared ? "*" : whole ? "" : "~";
}

void ranges_cell_value(struct table *table, const struct rtl_measure *measure,
                       const struct rtl_value *value)
{
    const char *unit = measure->metric->unit;
    char cell[64];
    if (strcmp(unit, "ns") == 0)
        table_cell(table, show_duration(value->number).text);
    else if (value->whole)
        table_cell(table, show_count(value->exact).text);
    else {
        (void)snprintf(cell, sizeof cell, strcmp(unit, "%") == 0 ? "%.1f %%" : "%.2f",
                       value->number);
        table_cell(table, cell);
    }
}

void ranges_cell_metrics(struct table *table, const struct ranges_view *view,
                         const struct range_row *row)
{
    for (size_t i = 0; i < view->measure_count; ++i) {
        struct rtl_value value;
        if (ranges_value(row, &view->measures[i], &value))
            ranges_cell_value(table, &view->measures[i], &value);
        else
            table_cell(table, "-");
    }
}

void ranges_cell_metric_names(struct table *table, const struct ranges_view *view)
{
    for (size_t i = 0; i < view->measure_count; ++i)
        table_cell(table, view->measures[i].metric->name);
}

void ranges_cell_process(struct table *table, const struct ranges_view *view, uint32_t process)
{
    char cell[16];
    if (!view->several)
        return;
    (void)snprintf(cell, sizeof cell, "%" PRIu32, process);
    table_cell(table, cell);
}

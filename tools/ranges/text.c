#include "common/command.h"
#include "common/open.h"
#include "common/plain.h"
#include "common/show.h"
#include "common/table.h"
#include "ranges/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OF_KERNELS 8u /* metrics that a table of kernels has columns for */
/* Of a table, with its terminator. */
#define LAYOUT         (TABLE_MOST_COLUMNS + 1)
#define NAMES_SHOWN    10u /* of kernels, of one range */
#define DEEPEST_INDENT 16u

static void show_range_name(struct table *table, const struct ranges_view *view,
                            const struct range_row *row)
{
    unsigned indent = 2 * (row->depth < DEEPEST_INDENT ? row->depth : DEEPEST_INDENT);
    char space[2 * DEEPEST_INDENT + 1];
    (void)snprintf(space, sizeof space, "%*s", (int)indent, "");
    table_name(table, space, ranges_name(view, row->name));
}

/* Of a range: "*" if it was counted together with other work, "~" if not all of its kernels were
 * counted. */
static const char *mark_of(const struct ranges_view *view, const struct range_row *row)
{
    const struct counts_process process = counts_process(&view->reading.counts, row->process);
    bool whole = !process.counting || !process.kernels ||
                 ranges_counted(&view->reading, row) >= row->time.kernels;
    return row->shared ? "*" : whole ? "" : "~";
}

static void show_id(struct table *table, const struct ranges_view *view,
                    const struct range_row *row)
{
    char cell[32];
    (void)snprintf(cell, sizeof cell, "%" PRIu64 "%s", row->id,
                   view->measure_count ? mark_of(view, row) : "");
    table_cell(table, cell);
}

static void show_times(struct table *table, const struct ranges_view *view,
                       const struct range_row *row)
{
    const struct rtl_range_time *time = &row->time;
    show_id(table, view, row);
    table_cell(table, row->end ? show_duration((double)ranges_wall(row)).text : "open");
    table_cell(table, show_duration((double)time->busy).text);
    if (!view->recorded)
        table_cell(table,
                   row->end
                       ? show_duration((double)rtl_range_time_idle(time, ranges_wall(row))).text
                       : "-");
    table_cell(table, show_count(time->kernels).text);
    if (view->recorded)
        return;
    table_cell(table, time->copies ? show_bytes(time->copy_bytes).text : "-");
    table_cell(table, row->launches ? show_count(row->launches).text : "-");
}

static void show_value(struct table *table, const struct rtl_measure *measure,
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

static void show_metrics(struct table *table, const struct ranges_view *view,
                         const struct range_row *row)
{
    for (size_t i = 0; i < view->measure_count; ++i) {
        struct rtl_value value;
        if (ranges_value(row, &view->measures[i], &value))
            show_value(table, &view->measures[i], &value);
        else
            table_cell(table, "-");
    }
}

static void show_metric_names(struct table *table, const struct ranges_view *view)
{
    for (size_t i = 0; i < view->measure_count; ++i)
        table_cell(table, view->measures[i].metric->name);
}

/* Metrics in the place of times and counts, or beside some of them. */
static struct table *begin_table(const struct ranges_view *view, char layout[LAYOUT])
{
    static const char *const times[] = {"wall", "busy", "idle", "kernels", "copied", "launches"};
    static const char *const fewer[] = {"wall", "busy", "kernels"};
    bool chosen_only = view->measure_count && !view->recorded;
    const char *const *heading = view->recorded ? fewer : times;
    size_t count = chosen_only      ? 0
                   : view->recorded ? sizeof fewer / sizeof fewer[0]
                                    : sizeof times / sizeof times[0];
    memset(layout, 'r', 1 + count + view->measure_count);
    layout[1 + count + view->measure_count] = 'n';
    struct table *table = table_new(layout);
    table_wide(table, view->options->wide);
    table_cell(table, "id");
    for (size_t i = 0; i < count; ++i)
        table_cell(table, heading[i]);
    show_metric_names(table, view);
    table_cell(table, "range");
    return table;
}

static void show_table(const struct ranges_view *view)
{
    unsigned left = view->options->top ? view->options->top : UINT32_MAX;
    char layout[LAYOUT] = {0};
    struct table *table = begin_table(view, layout);
    for (size_t i = 0; i < view->reading.count && left > 0; ++i) {
        const struct range_row *row = &view->reading.rows[i];
        if (!ranges_chosen(view, row))
            continue;
        if (view->measure_count && !view->recorded)
            show_id(table, view, row);
        else
            show_times(table, view, row);
        show_metrics(table, view, row);
        show_range_name(table, view, row);
        --left;
    }
    table_print(table, stdout);
}

static void show_names(const struct ranges_view *view, const struct range_row *row)
{
    static const char *const heading[] = {"calls", "total", "kernel"};
    struct table *table = table_new("rrn");
    table_wide(table, view->options->wide);
    for (size_t i = 0; i < sizeof heading / sizeof heading[0]; ++i)
        table_cell(table, heading[i]);
    for (size_t i = 0; i < row->name_count && i < NAMES_SHOWN; ++i) {
        table_cell(table, show_count(row->names[i].kernels).text);
        table_cell(table, show_duration((double)row->names[i].total).text);
        table_cell(table, ranges_name(view, row->names[i].name));
    }
    table_print(table, stdout);
    if (row->name_count > NAMES_SHOWN)
        (void)printf("  and %s\n", show_things(row->name_count - NAMES_SHOWN, "other name").text);
}

/* Whether a metric has a column in tables of kernels: it is of counters, and there is room. */
static bool is_of_kernels(const struct ranges_view *view, size_t index)
{
    unsigned before = 0;
    for (size_t i = 0; i < index; ++i)
        before += rtl_metric_is_counted(view->measures[i].metric);
    return before < OF_KERNELS && rtl_metric_is_counted(view->measures[index].metric);
}

static void show_kernel_metrics(struct table *table, const struct ranges_view *view,
                                const struct range_kernel *kernel)
{
    for (size_t i = 0; i < view->measure_count; ++i) {
        struct rtl_value value;
        if (!is_of_kernels(view, i))
            continue;
        if (ranges_kernel_value(kernel, &view->measures[i], &value))
            show_value(table, &view->measures[i], &value);
        else
            table_cell(table, "-");
    }
}

static struct table *begin_kernels(const struct ranges_view *view, char layout[LAYOUT])
{
    static const char *const heading[] = {"duration", "queue", "packet"};
    size_t columns = sizeof heading / sizeof heading[0];
    for (size_t i = 0; i < view->measure_count; ++i)
        columns += is_of_kernels(view, i);
    memset(layout, 'r', columns);
    layout[columns] = 'n';
    struct table *table = table_new(layout);
    table_wide(table, view->options->wide);
    for (size_t i = 0; i < sizeof heading / sizeof heading[0]; ++i)
        table_cell(table, heading[i]);
    for (size_t i = 0; i < view->measure_count; ++i)
        if (is_of_kernels(view, i))
            table_cell(table, view->measures[i].metric->name);
    table_cell(table, "kernel");
    return table;
}

static void show_kernels(const struct ranges_view *view, size_t range)
{
    size_t count;
    const struct range_kernel *kernels = ranges_kernels(&view->reading, range, &count);
    char layout[LAYOUT] = {0};
    struct table *table = begin_kernels(view, layout);
    for (size_t i = 0; i < count; ++i) {
        char cell[32];
        uint64_t duration =
            kernels[i].end > kernels[i].start ? kernels[i].end - kernels[i].start : 0;
        table_cell(table, show_duration((double)duration).text);
        (void)snprintf(cell, sizeof cell, "%" PRIu32, kernels[i].queue);
        table_cell(table, cell);
        (void)snprintf(cell, sizeof cell, "%" PRIu64, kernels[i].packet);
        table_cell(table, cell);
        show_kernel_metrics(table, view, &kernels[i]);
        table_cell(table, ranges_name(view, kernels[i].name));
    }
    table_print(table, stdout);
}

/* Of a range that was asked for, what it is made of as well. */
static void show_parts(const struct ranges_view *view)
{
    const struct ranges_reading *reading = &view->reading;
    for (size_t i = 0; i < reading->count; ++i) {
        char name[512];
        if (!ranges_chosen(view, &reading->rows[i]))
            continue;
        if (view->options->id && reading->rows[i].name_count) {
            (void)printf("kernels by name\n");
            show_names(view, &reading->rows[i]);
        }
        if (!view->options->kernels)
            continue;
        (void)printf("kernels of %s (%" PRIu64 "), in the order of their launches\n",
                     plain_text(ranges_name(view, reading->rows[i].name), name, sizeof name),
                     reading->rows[i].id);
        show_kernels(view, i);
    }
}

/* How counters were read, and what they lack. */
static void show_counting(const struct ranges_view *view)
{
    const struct ranges_reading *reading = &view->reading;
    const struct counts *counts = &reading->counts;
    if (counts->passes == 0)
        return;
    (void)printf("counters: of %s%s%s", counts->of_kernels ? "each kernel, one at a time" : "",
                 counts->of_kernels && counts->of_ranges ? ", and of " : "",
                 counts->of_ranges ? "whole ranges" : "");
    if (counts->passes > 1)
        (void)printf(", in %u passes", counts->passes);
    if (reading->strange_kernels)
        (void)printf("; %s %s not in the trace or not the same in each pass",
                     show_things(reading->strange_kernels, "kernel").text,
                     show_are(reading->strange_kernels));
    if (reading->strange_ranges)
        (void)printf("; %s %s not in the trace or not the same in each pass",
                     show_things(reading->strange_ranges, "range").text,
                     show_are(reading->strange_ranges));
    if (reading->changed_ranges)
        (void)printf("; %s ran more or fewer kernels in a later pass",
                     show_things(reading->changed_ranges, "range").text);
    (void)putchar('\n');
}

static void show_marks(const struct ranges_view *view)
{
    bool shared = false;
    bool parts = false;
    for (size_t i = 0; view->measure_count && i < view->reading.count; ++i) {
        const char *mark = mark_of(view, &view->reading.rows[i]);
        bool shown = ranges_chosen(view, &view->reading.rows[i]);
        shared = shared || (shown && *mark == '*');
        parts = parts || (shown && *mark == '~');
    }
    if (shared)
        (void)printf("  * other work was on the GPU meanwhile, or may have been: it is counted, "
                     "too\n");
    if (parts)
        (void)printf("  ~ not all of its kernels were counted\n");
}

int ranges_show_text(const struct ranges_view *view)
{
    const struct ranges_options *options = view->options;
    size_t count = ranges_count_chosen(view);
    char absent[512];
    if (view->reading.count == 0)
        (void)printf("%s has no ranges\n", plain(options->path));
    else
        (void)printf("%s; %s %s in none\n", show_things(count, "range").text,
                     show_things(view->reading.outside, "kernel").text,
                     show_are(view->reading.outside));
    absent_say(&view->absent, absent, sizeof absent);
    if (absent[0])
        (void)printf("  %s, and in no range\n", absent);
    show_counting(view);
    counts_show_uncounted(view->uncounted, view->uncounted_count, stdout);
    if (count > 0)
        show_table(view);
    if (options->top && count > options->top)
        (void)printf("  and %s more (--top 0 shows all)\n", show_count(count - options->top).text);
    if (view->left_out)
        (void)printf("  and %s (--metrics chooses, --json has all)\n",
                     show_things(view->left_out, "more metric").text);
    show_marks(view);
    show_parts(view);
    return EXIT_FINE;
}

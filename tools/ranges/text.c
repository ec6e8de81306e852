#include "common/command.h"
#include "common/open.h"
#include "common/plain.h"
#include "common/show.h"
#include "common/table.h"
#include "ranges/cells.h"
#include "ranges/groups.h"
#include "ranges/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OF_KERNELS 8u /* metrics that a table of kernels has columns for */
/* Of a table, with its terminator. */
#define LAYOUT      (TABLE_MOST_COLUMNS + 1)
#define NAMES_SHOWN 10u /* of kernels, of one range */

static void show_id(struct table *table, const struct ranges_view *view,
                    const struct range_row *row)
{
    char cell[32];
    (void)snprintf(cell, sizeof cell, "%" PRIu64 "%s", row->id,
                   view->measure_count ? ranges_mark(view, row) : "");
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
    size_t before = (size_t)view->several + 1 + count + view->measure_count;
    memset(layout, 'r', before);
    layout[before] = 'n';
    struct table *table = table_new(layout);
    table_wide(table, view->options->wide);
    if (view->several)
        table_cell(table, "process");
    table_cell(table, "id");
    for (size_t i = 0; i < count; ++i)
        table_cell(table, heading[i]);
    ranges_cell_metric_names(table, view);
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
        ranges_cell_process(table, view, row->process);
        if (view->measure_count && !view->recorded)
            show_id(table, view, row);
        else
            show_times(table, view, row);
        ranges_cell_metrics(table, view, row);
        ranges_cell_name(table, view, row);
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
            ranges_cell_value(table, &view->measures[i], &value);
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
        const char *mark = ranges_mark(view, &view->reading.rows[i]);
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

static void show_count_line(const struct ranges_view *view, size_t count)
{
    uint64_t outside = view->reading.outside;
    if (view->reading.count == 0) {
        (void)printf("%s has no ranges\n", plain(view->options->path));
        return;
    }
    (void)printf("%s", show_things(count, "range").text);
    if (view->groups && count > view->groups->count)
        (void)printf(", by name (--each shows them one by one)");
    if (outside)
        (void)printf("; %s %s in none", show_things(outside, "kernel").text, show_are(outside));
    (void)putchar('\n');
}

int ranges_show_text(const struct ranges_view *view)
{
    const struct ranges_options *options = view->options;
    size_t count = ranges_count_chosen(view);
    char absent[512];
    show_count_line(view, count);
    absent_say(&view->absent, absent, sizeof absent);
    if (absent[0])
        (void)printf("  %s, and in no range\n", absent);
    show_counting(view);
    counts_show_uncounted(view->uncounted, view->uncounted_count, stdout);
    counts_show_rangeless(&view->reading.counts, &view->info, stdout);
    size_t rows = !view->groups ? count : view->groups->count;
    if (rows > 0 && view->groups)
        ranges_show_groups(view);
    else if (rows > 0)
        show_table(view);
    if (options->top && rows > options->top)
        (void)printf("  and %s more (--top 0 shows all)\n", show_count(rows - options->top).text);
    if (view->left_out)
        (void)printf("  and %s (--metrics chooses, --json has all)\n",
                     show_things(view->left_out, "more metric").text);
    show_marks(view);
    show_parts(view);
    return EXIT_FINE;
}

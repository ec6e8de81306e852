/* rtl ranges: what each range of a trace cost the GPU. */
#include "analysis/metrics.h"
#include "analysis/ranges_read.h"
#include "common/command.h"
#include "common/open.h"
#include "common/parse.h"
#include "common/plain.h"
#include "common/say.h"
#include "common/show.h"
#include "common/table.h"
#include "common/trace_command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TOP_DEFAULT    40u
#define METRICS_SHOWN  10u /* as many as a table has columns for */
#define RECORDED_SHOWN 7u  /* the same, beside times */
#define OF_KERNELS     8u  /* the same, of a table of kernels */
/* Of a table, with its terminator. */
#define LAYOUT         (TABLE_MOST_COLUMNS + 1)
#define NAMES_SHOWN    10u /* of kernels, of one range */
#define DEEPEST_INDENT 16u

struct options {
    const char *path;
    const char *name; /* NULL: all */
    uint64_t id;      /* 0: all */
    unsigned top;
    bool json, kernels, list, all;
    struct metrics metrics;
};

struct view {
    const struct options *options;
    struct ranges_reading reading;
    bool recorded; /* metrics are those that the trace was made for, not chosen here */
    struct rtl_measure measures[METRICS_MOST];
    size_t measure_count;
    size_t left_out; /* recorded metrics for which a table has no columns */
    const rtl_trace_uncounted_t *uncounted;
    size_t uncounted_count;
};

static const char *name_of(const struct view *view, uint32_t number)
{
    return view->reading.texts.list[number];
}

static bool chosen(const struct view *view, const struct range_row *row)
{
    const struct options *options = view->options;
    return (!options->id || row->id == options->id) &&
           (!options->name || strcmp(name_of(view, row->name), options->name) == 0);
}

static size_t count_chosen(const struct view *view)
{
    size_t count = 0;
    for (size_t i = 0; i < view->reading.count; ++i)
        count += chosen(view, &view->reading.rows[i]);
    return count;
}

/* Of one that ended. */
static uint64_t wall_of(const struct range_row *row)
{
    return row->end > row->start ? row->end - row->start : 0;
}

/* Text. */

static void show_range_name(struct table *table, const struct view *view,
                            const struct range_row *row)
{
    unsigned indent = 2 * (row->depth < DEEPEST_INDENT ? row->depth : DEEPEST_INDENT);
    char cell[512];
    (void)snprintf(cell, sizeof cell, "%*s", (int)indent, "");
    (void)plain_text(name_of(view, row->name), cell + indent, sizeof cell - indent);
    table_cell(table, cell);
}

/* Of a range: "*" if it was counted together with other work, "~" if not all of its kernels were
 * counted. */
static const char *mark_of(const struct view *view, const struct range_row *row)
{
    const struct counts_process process = counts_process(&view->reading.counts, row->process);
    bool whole = !process.counting || !process.kernels ||
                 ranges_counted(&view->reading, row) >= row->time.kernels;
    return row->shared ? "*" : whole ? "" : "~";
}

static void show_id(struct table *table, const struct view *view, const struct range_row *row)
{
    char cell[32];
    (void)snprintf(cell, sizeof cell, "%" PRIu64 "%s", row->id,
                   view->measure_count ? mark_of(view, row) : "");
    table_cell(table, cell);
}

static void show_times(struct table *table, const struct view *view, const struct range_row *row)
{
    const struct rtl_range_time *time = &row->time;
    show_id(table, view, row);
    table_cell(table, row->end ? show_duration((double)wall_of(row)).text : "open");
    table_cell(table, show_duration((double)time->busy).text);
    if (!view->recorded)
        table_cell(table, row->end
                              ? show_duration((double)rtl_range_time_idle(time, wall_of(row))).text
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

static void show_metrics(struct table *table, const struct view *view, const struct range_row *row)
{
    for (size_t i = 0; i < view->measure_count; ++i) {
        struct rtl_value value;
        if (ranges_value(row, &view->measures[i], &value))
            show_value(table, &view->measures[i], &value);
        else
            table_cell(table, "-");
    }
}

static void show_metric_names(struct table *table, const struct view *view)
{
    for (size_t i = 0; i < view->measure_count; ++i)
        table_cell(table, view->measures[i].metric->name);
}

/* Metrics in the place of times and counts, or beside some of them. */
static struct table *begin_table(const struct view *view, char layout[LAYOUT])
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
    table_cell(table, "id");
    for (size_t i = 0; i < count; ++i)
        table_cell(table, heading[i]);
    show_metric_names(table, view);
    table_cell(table, "range");
    return table;
}

static void show_table(const struct view *view)
{
    unsigned left = view->options->top ? view->options->top : UINT32_MAX;
    char layout[LAYOUT] = {0};
    struct table *table = begin_table(view, layout);
    for (size_t i = 0; i < view->reading.count && left > 0; ++i) {
        const struct range_row *row = &view->reading.rows[i];
        if (!chosen(view, row))
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

static void show_names(const struct view *view, const struct range_row *row)
{
    static const char *const heading[] = {"calls", "total", "kernel"};
    struct table *table = table_new("rrn");
    for (size_t i = 0; i < sizeof heading / sizeof heading[0]; ++i)
        table_cell(table, heading[i]);
    for (size_t i = 0; i < row->name_count && i < NAMES_SHOWN; ++i) {
        char name[512];
        table_cell(table, show_count(row->names[i].kernels).text);
        table_cell(table, show_duration((double)row->names[i].total).text);
        table_cell(table, plain_text(name_of(view, row->names[i].name), name, sizeof name));
    }
    table_print(table, stdout);
    if (row->name_count > NAMES_SHOWN)
        (void)printf("  and %s\n", show_things(row->name_count - NAMES_SHOWN, "other name").text);
}

/* Whether a metric has a column in tables of kernels: it is of counters, and there is room. */
static bool is_of_kernels(const struct view *view, size_t index)
{
    unsigned before = 0;
    for (size_t i = 0; i < index; ++i)
        before += rtl_metric_is_counted(view->measures[i].metric);
    return before < OF_KERNELS && rtl_metric_is_counted(view->measures[index].metric);
}

static void show_kernel_metrics(struct table *table, const struct view *view,
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

static struct table *begin_kernels(const struct view *view, char layout[LAYOUT])
{
    static const char *const heading[] = {"duration", "queue", "packet"};
    size_t columns = sizeof heading / sizeof heading[0];
    for (size_t i = 0; i < view->measure_count; ++i)
        columns += is_of_kernels(view, i);
    memset(layout, 'r', columns);
    layout[columns] = 'n';
    struct table *table = table_new(layout);
    for (size_t i = 0; i < sizeof heading / sizeof heading[0]; ++i)
        table_cell(table, heading[i]);
    for (size_t i = 0; i < view->measure_count; ++i)
        if (is_of_kernels(view, i))
            table_cell(table, view->measures[i].metric->name);
    table_cell(table, "kernel");
    return table;
}

static void show_kernels(const struct view *view, size_t range)
{
    size_t count;
    const struct range_kernel *kernels = ranges_kernels(&view->reading, range, &count);
    char layout[LAYOUT] = {0};
    struct table *table = begin_kernels(view, layout);
    for (size_t i = 0; i < count; ++i) {
        char cell[512];
        uint64_t duration =
            kernels[i].end > kernels[i].start ? kernels[i].end - kernels[i].start : 0;
        table_cell(table, show_duration((double)duration).text);
        (void)snprintf(cell, sizeof cell, "%" PRIu32, kernels[i].queue);
        table_cell(table, cell);
        (void)snprintf(cell, sizeof cell, "%" PRIu64, kernels[i].packet);
        table_cell(table, cell);
        show_kernel_metrics(table, view, &kernels[i]);
        table_cell(table, plain_text(name_of(view, kernels[i].name), cell, sizeof cell));
    }
    table_print(table, stdout);
}

/* Of a range that was asked for, what it is made of as well. */
static void show_parts(const struct view *view)
{
    const struct ranges_reading *reading = &view->reading;
    for (size_t i = 0; i < reading->count; ++i) {
        char name[512];
        if (!chosen(view, &reading->rows[i]))
            continue;
        if (view->options->id && reading->rows[i].name_count) {
            (void)printf("kernels by name\n");
            show_names(view, &reading->rows[i]);
        }
        if (!view->options->kernels)
            continue;
        (void)printf("kernels of %s (%" PRIu64 "), in the order of their launches\n",
                     plain_text(name_of(view, reading->rows[i].name), name, sizeof name),
                     reading->rows[i].id);
        show_kernels(view, i);
    }
}

/* How counters were read, and what they lack. */
static void show_counting(const struct view *view)
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

static void show_marks(const struct view *view)
{
    bool shared = false;
    bool parts = false;
    for (size_t i = 0; view->measure_count && i < view->reading.count; ++i) {
        const char *mark = mark_of(view, &view->reading.rows[i]);
        bool shown = chosen(view, &view->reading.rows[i]);
        shared = shared || (shown && *mark == '*');
        parts = parts || (shown && *mark == '~');
    }
    if (shared)
        (void)printf("  * other work was on the GPU meanwhile, or may have been: it is counted, "
                     "too\n");
    if (parts)
        (void)printf("  ~ not all of its kernels were counted\n");
}

static int show_text(const struct view *view)
{
    const struct options *options = view->options;
    size_t count = count_chosen(view);
    if (view->reading.count == 0)
        (void)printf("%s has no ranges\n", plain(options->path));
    else
        (void)printf("%s; %s %s in none\n", show_things(count, "range").text,
                     show_things(view->reading.outside, "kernel").text,
                     show_are(view->reading.outside));
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

/* JSON. */

static void add(json_t *object, const char *key, json_t *value)
{
    (void)json_object_set_new(object, key, value);
}

static json_t *json_names(const struct view *view, const struct range_row *row)
{
    json_t *list = json_array();
    for (size_t i = 0; i < row->name_count; ++i) {
        json_t *object = json_object();
        add(object, "name", open_text(name_of(view, row->names[i].name)));
        add(object, "kernels", open_number(row->names[i].kernels));
        add(object, "total_ns", open_number(row->names[i].total));
        (void)json_array_append_new(list, object);
    }
    return list;
}

static json_t *json_value(bool known, const struct rtl_value *value)
{
    return !known         ? json_null()
           : value->whole ? open_number(value->exact)
                          : json_real(value->number);
}

/* What counters counted; those that were not read are left out. */
static json_t *json_counters(const struct view *view, const struct rtl_count *row)
{
    const struct counts *counts = &view->reading.counts;
    json_t *object = json_object();
    for (size_t i = 0; row && i < counts->count; ++i)
        if (row[i].samples)
            add(object, counts->names.list[i], open_number(row[i].sum));
    return object;
}

static json_t *json_kernel_metrics(const struct view *view, const struct range_kernel *kernel)
{
    json_t *object = json_object();
    for (size_t i = 0; i < view->measure_count; ++i) {
        struct rtl_value value;
        if (!rtl_metric_is_counted(view->measures[i].metric))
            continue;
        bool known = ranges_kernel_value(kernel, &view->measures[i], &value);
        add(object, view->measures[i].metric->name, json_value(known, &value));
    }
    return object;
}

static json_t *json_kernels(const struct view *view, size_t range)
{
    json_t *list = json_array();
    size_t count;
    const struct range_kernel *kernels = ranges_kernels(&view->reading, range, &count);
    for (size_t i = 0; i < count; ++i) {
        json_t *object = json_object();
        add(object, "id", open_number(kernels[i].id));
        add(object, "queue", open_id(kernels[i].queue));
        add(object, "packet", open_number(kernels[i].packet));
        add(object, "name", open_text(name_of(view, kernels[i].name)));
        add(object, "start_ns", open_number(kernels[i].start));
        add(object, "end_ns", open_number(kernels[i].end));
        if (view->reading.counts.of_kernels) {
            add(object, "counters", json_counters(view, kernels[i].counts));
            add(object, "metrics", json_kernel_metrics(view, &kernels[i]));
        }
        (void)json_array_append_new(list, object);
    }
    return list;
}

static json_t *json_metrics(const struct view *view, const struct range_row *row)
{
    json_t *object = json_object();
    for (size_t i = 0; i < view->measure_count; ++i) {
        struct rtl_value value;
        bool known = ranges_value(row, &view->measures[i], &value);
        add(object, view->measures[i].metric->name, json_value(known, &value));
    }
    return object;
}

static void add_counting(json_t *object, const struct view *view, const struct range_row *row)
{
    if (view->measure_count > 0)
        add(object, "metrics", json_metrics(view, row));
    if (view->reading.counts.passes == 0)
        return;
    add(object, "counters", json_counters(view, row->counts));
    add(object, "counted_kernels", open_number(ranges_counted(&view->reading, row)));
    add(object, "shared", json_boolean(row->shared));
}

static json_t *json_uncounted(const struct view *view)
{
    json_t *list = json_array();
    for (size_t i = 0; i < view->uncounted_count; ++i) {
        json_t *object = json_object();
        add(object, "process", open_id(view->uncounted[i].process));
        add(object, "agent", open_id(view->uncounted[i].agent));
        add(object, "why", open_text(view->uncounted[i].why));
        add(object, "count", open_number(view->uncounted[i].count));
        (void)json_array_append_new(list, object);
    }
    return list;
}

/* How counters were read; null where they were not. */
static json_t *json_counting(const struct view *view)
{
    const struct ranges_reading *reading = &view->reading;
    if (reading->counts.passes == 0)
        return json_null();
    json_t *object = json_object();
    add(object, "of_kernels", json_boolean(reading->counts.of_kernels));
    add(object, "of_ranges", json_boolean(reading->counts.of_ranges));
    add(object, "passes", json_integer(reading->counts.passes));
    add(object, "unmatched_kernels", open_number(reading->strange_kernels));
    add(object, "unmatched_ranges", open_number(reading->strange_ranges));
    add(object, "changed_ranges", open_number(reading->changed_ranges));
    add(object, "uncounted", json_uncounted(view));
    return object;
}

static json_t *or_null(bool known, uint64_t value)
{
    return known ? open_number(value) : json_null();
}

static json_t *json_row(const struct view *view, size_t range)
{
    const struct range_row *row = &view->reading.rows[range];
    const struct rtl_range_time *time = &row->time;
    bool ended = row->end != 0;
    bool worked = time->last != 0;
    json_t *object = json_object();
    add(object, "process", open_id(row->process));
    add(object, "id", open_number(row->id));
    add(object, "parent",
        row->parent == SIZE_MAX ? json_null() : open_number(view->reading.rows[row->parent].id));
    add(object, "depth", json_integer(row->depth));
    add(object, "thread", open_id(row->thread));
    add(object, "kind", open_text(row->kind));
    add(object, "name", json_string(""));
    if (*name_of(view, row->name))
        add(object, "name", open_text(name_of(view, row->name)));
    add(object, "start_ns", open_number(row->start));
    add(object, "end_ns", or_null(ended, row->end));
    add(object, "wall_ns", or_null(ended, wall_of(row)));
    add(object, "kernels", open_number(time->kernels));
    add(object, "kernel_ns", open_number(time->kernel_ns));
    add(object, "busy_ns", open_number(time->busy));
    add(object, "overlap_ns", open_number(time->overlap));
    add(object, "copies", open_number(time->copies));
    add(object, "copy_bytes", open_number(time->copy_bytes));
    add(object, "copy_ns", open_number(time->copy_ns));
    add(object, "copying_ns", open_number(time->copying));
    add(object, "copy_overlap_ns", open_number(rtl_range_time_copied_under(time)));
    add(object, "active_ns", open_number(time->active));
    add(object, "idle_ns", or_null(ended, rtl_range_time_idle(time, wall_of(row))));
    add(object, "first_ns", or_null(worked, time->first));
    add(object, "last_ns", or_null(worked, time->last));
    add(object, "graph_launches", open_number(row->launches));
    add(object, "names", json_names(view, row));
    add_counting(object, view, row);
    if (view->options->kernels)
        add(object, "launched", json_kernels(view, range));
    return object;
}

static int show_json(const struct view *view)
{
    json_t *list = json_array();
    json_t *object = json_object();
    for (size_t i = 0; i < view->reading.count; ++i)
        if (chosen(view, &view->reading.rows[i]))
            (void)json_array_append_new(list, json_row(view, i));
    add(object, "file", open_text(view->options->path));
    add(object, "range_count", open_number(json_array_size(list)));
    add(object, "kernels_outside", open_number(view->reading.outside));
    add(object, "counting", json_counting(view));
    add(object, "ranges", list);
    return open_print_json(object, EXIT_FINE);
}

/* Which metrics are shown. */

static int lacks_counter(const struct view *view, const struct rtl_metric *metric)
{
    const struct counts *counts = &view->reading.counts;
    char name[RTL_COUNTER_NAME] = "";
    for (size_t i = 0; rtl_metric_counter(metric, i, name); ++i) {
        size_t place = 0;
        while (place < counts->count && strcmp(counts->names.list[place], name) != 0)
            ++place;
        if (place == counts->count)
            break;
    }
    return say_fail(EXIT_USAGE, "%s has no counter %s, which the metric %s is made of",
                    view->options->path, name, metric->name);
}

/* All that needs no hardware counter, and what the counters of the trace make. */
static void take_all(struct view *view)
{
    size_t count;
    const struct rtl_metric *metrics = rtl_metrics(&count);
    for (size_t i = 0; i < count && view->measure_count < METRICS_MOST; ++i)
        if (counts_measure(&view->reading.counts, &metrics[i],
                           &view->measures[view->measure_count]))
            ++view->measure_count;
}

static void take_recorded(struct view *view, const struct metrics *recorded)
{
    view->recorded = recorded->count > 0;
    for (size_t i = 0; i < recorded->count; ++i) {
        if (!counts_measure(&view->reading.counts, recorded->list[i],
                            &view->measures[view->measure_count]))
            continue;
        if (view->options->json || view->measure_count < RECORDED_SHOWN)
            ++view->measure_count;
        else
            ++view->left_out;
    }
}

static int take_metrics(struct view *view, const struct metrics *recorded)
{
    const struct options *options = view->options;
    const struct metrics *metrics = &options->metrics;
    if (options->all)
        take_all(view);
    else if (metrics->count == 0)
        take_recorded(view, recorded);
    for (size_t i = 0; i < metrics->count; ++i)
        if (!counts_measure(&view->reading.counts, metrics->list[i],
                            &view->measures[view->measure_count++]))
            return lacks_counter(view, metrics->list[i]);
    return 0;
}

static int show_chosen(struct view *view)
{
    const struct options *options = view->options;
    size_t count = count_chosen(view);
    if (options->id && count == 0)
        return say_fail(EXIT_USAGE, "%s has no range %" PRIu64 "%s", options->path, options->id,
                        options->name ? " of that name" : "");
    if (options->name && count == 0)
        return say_fail(EXIT_USAGE, "%s has no range of the name that --name gives", options->path);
    return options->json ? show_json(view) : show_text(view);
}

static int show(rtl_trace_t *trace, const struct options *options)
{
    struct view view = {.options = options};
    struct metrics recorded = {0};
    if (ranges_read(trace, options->kernels, &view.reading) != RTL_OK ||
        counts_metrics(trace, &recorded) != RTL_OK ||
        rtlTraceUncounted(trace, &view.uncounted, &view.uncounted_count) != RTL_OK)
        return open_failed(trace, options->path);
    int status = take_metrics(&view, &recorded);
    if (status == 0)
        status = show_chosen(&view);
    ranges_free(&view.reading);
    return status;
}

/* Options. */

static int parse_metrics(const char *text, struct options *options)
{
    options->list = strcmp(text, "list") == 0;
    if (options->list)
        return 0;
    options->all = strcmp(text, "all") == 0;
    if (options->all)
        return 0;
    return metrics_parse(&options->metrics, text);
}

static const struct argp_option option_list[] = {
    {"top", 'n', "COUNT", 0, "how many ranges are shown, 40 by default, 0 for all; not in JSON", 0},
    {"range", 'r', "ID", 0, "this range alone, with its kernels by name", 0},
    {"name", 'N', "TEXT", 0, "ranges of this name alone", 0},
    {"kernels", 'k', NULL, 0, "the kernels of each range, one by one, in launch order", 0},
    {"metrics", 'm', "NAME,...", 0,
     "these metrics in the place of times and counts (those that were recorded are shown without); "
     "list tells which there are, all means all (with --json)",
     0},
    {"json", 'j', NULL, 0, "write JSON", 0},
    {0},
};

static int parse_id(const char *text, uint64_t *id)
{
    char *end;
    errno = 0;
    *id = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno || *id == 0)
        return say_fail(EINVAL, "'%s' is no id for --range: it is a number from 1 on", text);
    return 0;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'n':
        return parse_count("top", value, &options->top);
    case 'r':
        return parse_id(value, &options->id);
    case 'N':
        options->name = value;
        return 0;
    case 'm':
        return parse_metrics(value, options);
    case 'k':
        options->kernels = true;
        return 0;
    case 'j':
        options->json = true;
        return 0;
    case ARGP_KEY_ARG:
        return trace_command_take(value, &options->path);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int cmd_ranges(int argc, char **argv)
{
    static const char doc[] =
        "Shows what each range of a trace (rtlRangePush, roctxRangePush, …) cost the GPU: the "
        "kernels and copies that were submitted in it, or in a range within it, and the graphs "
        "that were launched."
        "\vwall: the range's own time. busy: a kernel of it ran, or more; that may be after its "
        "end. idle: of wall, when none of its kernels ran and none of its copies was made.\n\n"
        "Examples:\n"
        "  rtl ranges trace.db\n"
        "  rtl ranges trace.db --name decode --json\n"
        "  rtl ranges trace.db --range 17 --kernels\n"
        "  rtl ranges trace.db --metrics gpu_active,lane_use";
    static const struct argp argp = {option_list, parse_option, "FILE", doc, NULL, NULL, NULL};
    struct options options = {.top = TOP_DEFAULT};
    if (parse(&argp, argc, argv, 0, &options) != 0)
        return EXIT_USAGE;
    if (options.list)
        return metrics_show();
    if (trace_command_needs(options.path, "rtl ranges FILE"))
        return EXIT_USAGE;
    if ((options.metrics.count > METRICS_SHOWN || options.all) && !options.json)
        return say_fail(EXIT_USAGE, "a table has room for %u metrics: name fewer, or add --json",
                        METRICS_SHOWN);
    rtl_trace_t *trace = open_trace(options.path);
    if (!trace)
        return EXIT_USAGE;
    int status = show(trace, &options);
    rtlTraceClose(trace);
    return status;
}

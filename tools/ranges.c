/* rtl ranges: what each range of a trace cost the GPU. */
#include "command.h"
#include "common/open.h"
#include "common/parse.h"
#include "common/plain.h"
#include "common/say.h"
#include "common/show.h"
#include "common/table.h"
#include "metrics.h"
#include "ranges_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TOP_DEFAULT    40u
#define METRICS_SHOWN  10u /* as many as a table has columns for */
#define MOST_METRICS   64u
#define NAMES_SHOWN    10u /* of kernels, of one range */
#define DEEPEST_INDENT 16u

struct options {
    const char *path;
    const char *name; /* NULL: all */
    uint64_t id;      /* 0: all */
    unsigned top;
    bool json, kernels, list;
    struct metrics metrics;
};

struct view {
    const struct options *options;
    struct ranges_reading reading;
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

static void show_row(struct table *table, const struct view *view, const struct range_row *row)
{
    const struct rtl_range_time *time = &row->time;
    char cell[32];
    (void)snprintf(cell, sizeof cell, "%" PRIu64, row->id);
    table_cell(table, cell);
    table_cell(table, row->end ? show_duration((double)wall_of(row)).text : "open");
    table_cell(table, show_duration((double)time->busy).text);
    table_cell(table, row->end ? show_duration((double)rtl_range_time_idle(time, wall_of(row))).text
                               : "-");
    table_cell(table, show_count(time->kernels).text);
    table_cell(table, time->copies ? show_bytes(time->copy_bytes).text : "-");
    table_cell(table, row->launches ? show_count(row->launches).text : "-");
    show_range_name(table, view, row);
}

/* What was asked for in the place of times and counts. */
static void show_metrics(struct table *table, const struct view *view, const struct range_row *row)
{
    char cell[64];
    (void)snprintf(cell, sizeof cell, "%" PRIu64, row->id);
    table_cell(table, cell);
    for (size_t i = 0; i < view->options->metrics.count; ++i) {
        const struct rtl_metric *metric = view->options->metrics.list[i];
        double value;
        if (!rtl_metric_value(metric, &row->quantities, &value))
            table_cell(table, "-");
        else if (strcmp(metric->unit, "ns") == 0)
            table_cell(table, show_duration(value).text);
        else if (metric->rule != RTL_RULE_RATIO)
            table_cell(table, show_count((uint64_t)value).text);
        else {
            bool percent = strcmp(metric->unit, "%") == 0;
            (void)snprintf(cell, sizeof cell, percent ? "%.1f %%" : "%.2f", value);
            table_cell(table, cell);
        }
    }
}

static void show_metric_table(const struct view *view)
{
    const struct options *options = view->options;
    unsigned left = options->top ? options->top : UINT32_MAX;
    char layout[TABLE_MOST_COLUMNS + 1] = {0};
    memset(layout, 'r', options->metrics.count + 1);
    layout[options->metrics.count + 1] = 'n';
    struct table *table = table_new(layout);
    table_cell(table, "id");
    for (size_t i = 0; i < options->metrics.count; ++i)
        table_cell(table, options->metrics.list[i]->name);
    table_cell(table, "range");
    for (size_t i = 0; i < view->reading.count && left > 0; ++i) {
        if (!chosen(view, &view->reading.rows[i]))
            continue;
        show_metrics(table, view, &view->reading.rows[i]);
        show_range_name(table, view, &view->reading.rows[i]);
        --left;
    }
    table_print(table, stdout);
}

static void show_table(const struct view *view)
{
    static const char *const heading[] = {"id",      "wall",   "busy",     "idle",
                                          "kernels", "copied", "launches", "range"};
    unsigned left = view->options->top ? view->options->top : UINT32_MAX;
    struct table *table = table_new("rrrrrrrn");
    for (size_t i = 0; i < sizeof heading / sizeof heading[0]; ++i)
        table_cell(table, heading[i]);
    for (size_t i = 0; i < view->reading.count && left > 0; ++i) {
        if (!chosen(view, &view->reading.rows[i]))
            continue;
        show_row(table, view, &view->reading.rows[i]);
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
        (void)printf("  and %zu other names\n", row->name_count - NAMES_SHOWN);
}

static void show_kernels(const struct view *view, size_t range)
{
    static const char *const heading[] = {"duration", "queue", "packet", "kernel"};
    size_t count;
    const struct range_kernel *kernels = ranges_kernels(&view->reading, range, &count);
    struct table *table = table_new("rrrn");
    for (size_t i = 0; i < sizeof heading / sizeof heading[0]; ++i)
        table_cell(table, heading[i]);
    for (size_t i = 0; i < count; ++i) {
        char cell[512];
        uint64_t duration =
            kernels[i].end > kernels[i].start ? kernels[i].end - kernels[i].start : 0;
        table_cell(table, show_duration((double)duration).text);
        (void)snprintf(cell, sizeof cell, "%" PRIu32, kernels[i].queue);
        table_cell(table, cell);
        (void)snprintf(cell, sizeof cell, "%" PRIu64, kernels[i].packet);
        table_cell(table, cell);
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

static int show_text(const struct view *view)
{
    const struct options *options = view->options;
    size_t count = count_chosen(view);
    if (view->reading.count == 0)
        (void)printf("%s has no ranges\n", options->path);
    else
        (void)printf("%s %s; %s kernels are in none\n", show_count(count).text,
                     count == 1 ? "range" : "ranges", show_count(view->reading.outside).text);
    if (count > 0 && options->metrics.count > 0)
        show_metric_table(view);
    else if (count > 0)
        show_table(view);
    if (options->top && count > options->top)
        (void)printf("  and %s more (--top 0 shows all)\n", show_count(count - options->top).text);
    show_parts(view);
    return fflush(stdout) == 0 ? EXIT_FINE : EXIT_USAGE;
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
        (void)json_array_append_new(list, object);
    }
    return list;
}

static json_t *json_metrics(const struct view *view, const struct range_row *row)
{
    json_t *object = json_object();
    for (size_t i = 0; i < view->options->metrics.count; ++i) {
        const struct rtl_metric *metric = view->options->metrics.list[i];
        double value;
        if (!rtl_metric_value(metric, &row->quantities, &value))
            add(object, metric->name, json_null());
        else if (metric->rule == RTL_RULE_RATIO)
            add(object, metric->name, json_real(value));
        else
            add(object, metric->name, open_number(row->quantities.values[metric->numerator]));
    }
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
    if (view->options->metrics.count > 0)
        add(object, "metrics", json_metrics(view, row));
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
    add(object, "ranges", list);
    return open_print_json(object, EXIT_FINE);
}

static int show(rtl_trace_t *trace, const struct options *options)
{
    struct view view = {.options = options};
    if (ranges_read(trace, options->kernels, &view.reading) != RTL_OK)
        return open_failed(trace, options->path);
    int status = EXIT_USAGE;
    if (options->id && count_chosen(&view) == 0)
        (void)say_fail(EXIT_USAGE, "%s has no range %" PRIu64 "%s", options->path, options->id,
                       options->name ? " of that name" : "");
    else if (options->name && count_chosen(&view) == 0)
        (void)say_fail(EXIT_USAGE, "%s has no range of the name that --name gives", options->path);
    else
        status = options->json ? show_json(&view) : show_text(&view);
    ranges_free(&view.reading);
    return status;
}

/* Options. */

/* All that needs no hardware counter. */
static int add_all(struct metrics *chosen)
{
    size_t count;
    const struct rtl_metric *metrics = rtl_metrics(&count);
    int status = 0;
    for (size_t i = 0; i < count && status == 0; ++i)
        if (!rtl_metric_is_counted(&metrics[i]))
            status = metrics_add(chosen, &metrics[i]);
    return status;
}

static int parse_metrics(const char *text, struct options *options)
{
    options->list = strcmp(text, "list") == 0;
    if (options->list)
        return 0;
    if (strcmp(text, "all") == 0)
        return add_all(&options->metrics);
    return metrics_parse(&options->metrics, text);
}

static const struct argp_option option_list[] = {
    {"top", 'n', "COUNT", 0, "how many ranges are shown, 40 by default, 0 for all; not in JSON", 0},
    {"range", 'r', "ID", 0, "this range alone, with its kernels by name", 0},
    {"name", 'N', "TEXT", 0, "ranges of this name alone", 0},
    {"kernels", 'k', NULL, 0, "the kernels of each range, one by one, in launch order", 0},
    {"metrics", 'm', "NAME,...", 0,
     "these metrics in the place of times and counts; list tells which there are, all means all "
     "(with --json)",
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
        if (options->path)
            return say_fail(EINVAL, "one trace at a time: '%s' is a second one", value);
        options->path = value;
        return 0;
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
    if (!options.path)
        return say_fail(EXIT_USAGE, "no trace was named: rtl ranges FILE");
    if (options.metrics.count > METRICS_SHOWN && !options.json)
        return say_fail(EXIT_USAGE, "a table has room for %u metrics: name fewer, or add --json",
                        METRICS_SHOWN);
    rtl_trace_t *trace = open_trace(options.path);
    if (!trace)
        return EXIT_USAGE;
    int status = show(trace, &options);
    rtlTraceClose(trace);
    return status;
}

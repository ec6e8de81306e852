/* rtl ranges: what each range of a trace cost the GPU. */
#include "common/command.h"
#include "common/open.h"
#include "common/parse.h"
#include "common/say.h"
#include "common/trace_command.h"
#include "ranges/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TOP_DEFAULT 40u

size_t ranges_count_chosen(const struct ranges_view *view)
{
    size_t count = 0;
    for (size_t i = 0; i < view->reading.count; ++i)
        count += ranges_chosen(view, &view->reading.rows[i]);
    return count;
}

/* Which metrics are shown. */

static int lacks_counter(const struct ranges_view *view, const struct rtl_metric *metric)
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
static void take_all(struct ranges_view *view)
{
    size_t count;
    const struct rtl_metric *metrics = rtl_metrics(&count);
    for (size_t i = 0; i < count && view->measure_count < METRICS_MOST; ++i)
        if (counts_measure(&view->reading.counts, &metrics[i],
                           &view->measures[view->measure_count]))
            ++view->measure_count;
}

static void take_recorded(struct ranges_view *view, const struct metrics *recorded)
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

static int take_metrics(struct ranges_view *view, const struct metrics *recorded)
{
    const struct ranges_options *options = view->options;
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

static int show_chosen(struct ranges_view *view)
{
    const struct ranges_options *options = view->options;
    size_t count = ranges_count_chosen(view);
    if (options->id && count == 0)
        return say_fail(EXIT_USAGE, "%s has no range %" PRIu64 "%s", options->path, options->id,
                        options->name ? " of that name" : "");
    if (options->name && count == 0)
        return say_fail(EXIT_USAGE, "%s has no range of the name that --name gives", options->path);
    return options->json ? ranges_show_json(view) : ranges_show_text(view);
}

static int show(rtl_trace_t *trace, const struct ranges_options *options)
{
    struct ranges_view view = {.options = options};
    struct metrics recorded = {0};
    if (ranges_read(trace, options->kernels, &view.reading) != RTL_OK ||
        counts_metrics(trace, &recorded) != RTL_OK ||
        absent_read(trace, 0, RTL_TRACE_NONE, &view.absent) != RTL_OK ||
        rtlTraceUncounted(trace, &view.uncounted, &view.uncounted_count) != RTL_OK)
        return open_failed(trace, options->path);
    int status = take_metrics(&view, &recorded);
    if (status == 0)
        status = show_chosen(&view);
    ranges_free(&view.reading);
    return status;
}

/* Options. */

static int parse_metrics(const char *text, struct ranges_options *options)
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
    {"wide", 'w', NULL, 0, "show names whole, however narrow the terminal is", 0},
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
    struct ranges_options *options = state->input;
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
    case 'w':
        options->wide = true;
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
    struct ranges_options options = {.top = TOP_DEFAULT};
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

/* rtl ranges: what each range of a trace cost the GPU. */
#include "common/command.h"
#include "common/memory.h"
#include "common/open.h"
#include "common/parse.h"
#include "common/say.h"
#include "common/trace_command.h"
#include "ranges/groups.h"
#include "ranges/view.h"

#include <errno.h>
#include <fnmatch.h>
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

/* Which ranges are shown. */

/* A name that has the pattern's own letters is meant, too. */
static void choose_names(struct ranges_view *view)
{
    const struct ranges_reading *reading = &view->reading;
    const char *pattern = view->options->name;
    bool *asked = memory_new(reading->texts.count, sizeof *asked);
    view->named = memory_new(reading->texts.count, sizeof *view->named);
    for (size_t i = 0; i < reading->count; ++i) {
        uint32_t number = reading->rows[i].name;
        view->several = view->several || reading->rows[i].process != reading->rows[0].process;
        if (!pattern || asked[number])
            continue;
        const char *name = ranges_name(view, number);
        asked[number] = true;
        view->named[number] = strcmp(pattern, name) == 0 || fnmatch(pattern, name, 0) == 0;
    }
    free(asked);
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
    struct ranges_groups groups;
    if (options->process && count == 0)
        return say_fail(EXIT_USAGE, "%s has no range %" PRIu32 ":%" PRIu64 "%s", options->path,
                        options->process, options->id, options->name ? " of that name" : "");
    if (options->id && count == 0)
        return say_fail(EXIT_USAGE, "%s has no range %" PRIu64 "%s", options->path, options->id,
                        options->name ? " of that name" : "");
    if (options->name && count == 0)
        return say_fail(EXIT_USAGE, "%s has no range of the name that --name gives", options->path);
    if (!options->json && (options->each || options->id || options->kernels))
        return ranges_show_text(view);
    ranges_groups_make(view, &groups);
    view->groups = &groups;
    int status = options->json ? ranges_show_json(view) : ranges_show_text(view);
    ranges_groups_free(&groups);
    view->groups = NULL;
    return status;
}

static int show(rtl_trace_t *trace, const struct ranges_options *options)
{
    struct ranges_view view = {.options = options};
    struct metrics recorded = {0};
    if (rtlTraceInfo(trace, &view.info) != RTL_OK ||
        ranges_read(trace, options->kernels, &view.reading) != RTL_OK ||
        counts_metrics(trace, &recorded) != RTL_OK ||
        absent_read(trace, 0, RTL_TRACE_NONE, &view.absent) != RTL_OK ||
        rtlTraceUncounted(trace, &view.uncounted, &view.uncounted_count) != RTL_OK)
        return open_failed(trace, options->path);
    choose_names(&view);
    int status = take_metrics(&view, &recorded);
    if (status == 0)
        status = show_chosen(&view);
    free(view.named);
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
    {"top", 'n', "COUNT", 0, "how many lines are shown, 40 by default, 0 for all; not in JSON", 0},
    {"each", 'e', NULL, 0, "a line for each range, not for each name", 0},
    {"range", 'r', "[PROCESS:]ID", 0, "this range alone, with its kernels by name", 0},
    {"name", 'N', "PATTERN", 0, "ranges of this name alone, or whose names fit ('layer *')", 0},
    {"kernels", 'k', NULL, 0, "the kernels of each range, one by one, in launch order", 0},
    {"metrics", 'm', "NAME,...", 0,
     "these metrics in the place of times and counts (those that were recorded are shown without); "
     "list tells which there are, all means all (with --json)",
     0},
    {"wide", 'w', NULL, 0, "show names whole, however narrow the terminal is", 0},
    {"json", 'j', NULL, 0, "write JSON", 0},
    {0},
};

/* A number from 1 on, up to `behind`; NULL if it is none. */
static const char *take_number(const char *text, char behind, uint64_t most, uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    bool fits = text[0] >= '0' && text[0] <= '9' && errno == 0 && *number > 0 && *number <= most;
    return fits && *end == behind ? end : NULL;
}

static int parse_id(const char *text, struct ranges_options *options)
{
    uint64_t process = 0;
    const char *id = text;
    if (strchr(text, ':')) {
        const char *colon = take_number(text, ':', UINT32_MAX - 1, &process);
        id = colon ? colon + 1 : NULL;
    }
    if (!id || !take_number(id, '\0', UINT64_MAX, &options->id))
        return say_fail(EINVAL,
                        "'%s' is no id for --range: it is a number from 1 on, or PROCESS:ID", text);
    options->process = (uint32_t)process;
    return 0;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct ranges_options *options = state->input;
    switch (key) {
    case 'n':
        return parse_count("top", value, &options->top);
    case 'r':
        return parse_id(value, options);
    case 'N':
        options->name = value;
        return 0;
    case 'm':
        return parse_metrics(value, options);
    case 'e':
        options->each = true;
        return 0;
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
        "that were launched. Ranges of one name that lie in ranges of the same names are one "
        "line; --each has them one by one."
        "\vtotal, p50, p99: of the ranges' own times (wall). busy: a kernel of it ran, or more; "
        "that may be after its end. idle: of wall, when none of its kernels ran and none of its "
        "copies was made. By name these are sums.\n\n"
        "Examples:\n"
        "  rtl ranges trace.db\n"
        "  rtl ranges trace.db --each --name 'layer *'\n"
        "  rtl ranges trace.db --name decode --json\n"
        "  rtl ranges trace.db --range 17 --kernels\n"
        "  rtl ranges ranks.db --range 2:17                  of process 2\n"
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

/* rtl summary: where the time of a trace went. */
#include "common/command.h"
#include "common/moment.h"
#include "common/open.h"
#include "common/parse.h"
#include "common/say.h"
#include "common/trace_command.h"
#include "summary/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TOP_DEFAULT 20u

typedef int (*order)(const void *left, const void *right);

struct options {
    const char *path;
    unsigned top;
    bool wide, json;
    struct moment from, to;
    order order; /* of kernels, NULL: by total */
};

uint64_t summary_idle(const rtl_span_t *span)
{
    uint64_t length = span->last - span->first;
    return length > span->busy ? length - span->busy : 0;
}

size_t summary_rows(const struct summary *summary, size_t count)
{
    return summary->top && summary->top < count ? summary->top : count;
}

/* Orders of kernels. What is equal stays in the order of totals, which is that of the places. */

static const rtl_group_t *group_of(const void *item)
{
    return *(const rtl_group_t *const *)item;
}

static int by_place(const void *left, const void *right)
{
    const rtl_group_t *a = group_of(left);
    const rtl_group_t *b = group_of(right);
    return (a > b) - (a < b);
}

static int largest_first(uint64_t a, uint64_t b, const void *left, const void *right)
{
    return a == b ? by_place(left, right) : a < b ? 1 : -1;
}

static int by_calls(const void *left, const void *right)
{
    return largest_first(group_of(left)->count, group_of(right)->count, left, right);
}

static int by_mean(const void *left, const void *right)
{
    double a = group_of(left)->mean;
    double b = group_of(right)->mean;
    return a < b ? 1 : a > b ? -1 : by_place(left, right);
}

static int by_p50(const void *left, const void *right)
{
    return largest_first(group_of(left)->p50, group_of(right)->p50, left, right);
}

static int by_p99(const void *left, const void *right)
{
    return largest_first(group_of(left)->p99, group_of(right)->p99, left, right);
}

static int by_min(const void *left, const void *right)
{
    return largest_first(group_of(left)->min, group_of(right)->min, left, right);
}

static int by_max(const void *left, const void *right)
{
    return largest_first(group_of(left)->max, group_of(right)->max, left, right);
}

static int by_name(const void *left, const void *right)
{
    int result = strcmp(group_of(left)->name, group_of(right)->name);
    return result ? result : by_place(left, right);
}

static const struct {
    const char *name;
    order order;
} orders[] = {{"total", by_place}, {"calls", by_calls}, {"mean", by_mean}, {"p50", by_p50},
              {"p99", by_p99},     {"min", by_min},     {"max", by_max},   {"name", by_name}};

static bool sort_kernels(struct summary *summary, order order)
{
    size_t count = summary->tally.name_count;
    summary->kernels = calloc(count + 1, sizeof(const rtl_group_t *));
    if (!summary->kernels)
        return false;
    for (size_t i = 0; i < count; ++i)
        summary->kernels[i] = &summary->tally.names[i];
    if (order && count)
        qsort(summary->kernels, count, sizeof(const rtl_group_t *), order);
    return true;
}

/* Reading. */

static rtl_status_t read_summary(rtl_trace_t *trace, struct summary *summary, order order)
{
    uint64_t from = summary->from;
    uint64_t to = summary->to;
    rtl_status_t status = account_verdict(trace, &summary->verdict);
    if (status == RTL_OK)
        status = unseen_read(trace, &summary->unseen);
    if (status == RTL_OK)
        status = tally_copies_read(trace, from, to, &summary->copies);
    if (status == RTL_OK)
        status = tally_calls_read(trace, from, to, &summary->calls);
    if (status == RTL_OK)
        status = tally_ranges_read(trace, from, to, &summary->ranges);
    if (status == RTL_OK)
        status = tally_graphs_read(trace, from, to, &summary->graphs);
    if (status == RTL_OK)
        status = tally_counted_read(trace, from, to, &summary->counted);
    if (status == RTL_OK)
        status = tally_read(trace, from, to, &summary->tally);
    if (status == RTL_OK)
        status = tally_idle_read(trace, from, to, &summary->tally, &summary->idle);
    if (status == RTL_OK && !sort_kernels(summary, order))
        status = RTL_E_MEMORY;
    return status;
}

static int show(rtl_trace_t *trace, struct summary *summary, const struct options *options,
                FILE *out)
{
    uint64_t window[2];
    if (rtlTraceInfo(trace, &summary->info) != RTL_OK)
        return open_failed(trace, summary->path);
    if (moment_window(&summary->info, &options->from, &options->to, window) != 0)
        return EXIT_USAGE;
    summary->from = window[0];
    summary->to = window[1];
    if (read_summary(trace, summary, options->order) != RTL_OK)
        return open_failed(trace, summary->path);
    if (options->json)
        return open_print_json(summary_json(summary), EXIT_FINE);
    summary_text(summary, out);
    return EXIT_FINE;
}

static int with_summary(const struct options *options, FILE *out)
{
    rtl_trace_t *trace = open_trace(options->path);
    struct summary summary = {.path = options->path, .top = options->top, .wide = options->wide};
    if (!trace)
        return EXIT_USAGE;
    int status = show(trace, &summary, options, out);
    free(summary.kernels);
    unseen_free(&summary.unseen);
    tally_idle_free(&summary.tally, &summary.idle);
    tally_free(&summary.tally);
    tally_calls_free(&summary.calls);
    tally_ranges_free(&summary.ranges);
    tally_graphs_free(&summary.graphs);
    tally_counted_free(&summary.counted);
    rtlTraceClose(trace);
    return status;
}

int summary_show(const char *path, unsigned top, FILE *out)
{
    const struct options options = {.path = path, .top = top};
    return with_summary(&options, out);
}

/* Options. */

enum { KEY_FROM = 256, KEY_TO };

static const struct argp_option option_list[] = {
    {"top", 'n', "COUNT", 0,
     "how many kernels, host calls, ranges and graphs are shown, 20 by default, 0 for all", 0},
    {"sort", 's', "KEY", 0,
     "order of the kernels: total (default), calls, mean, p50, p99, min, max or name", 0},
    {"from", KEY_FROM, "TIME", 0,
     "leave out what ended before: 1.5s, 200ms, … after the recording began, or a plain number, "
     "ns on the trace's clock as in SQL",
     0},
    {"to", KEY_TO, "TIME", 0, "leave out what began then or later", 0},
    {"wide", 'w', NULL, 0, "show names whole, however narrow the terminal is", 0},
    {"json", 'j', NULL, 0, "write JSON", 0},
    {0},
};

static int parse_order(const char *text, order *order)
{
    for (size_t i = 0; i < sizeof orders / sizeof *orders; ++i)
        if (strcmp(orders[i].name, text) == 0) {
            *order = orders[i].order;
            return 0;
        }
    return say_fail(EINVAL,
                    "'%s' is no order for --sort: it is total, calls, mean, p50, p99, min, max or "
                    "name",
                    text);
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'n':
        return parse_count("top", value, &options->top);
    case 's':
        return parse_order(value, &options->order);
    case KEY_FROM:
        return moment_read("from", value, &options->from);
    case KEY_TO:
        return moment_read("to", value, &options->to);
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

int cmd_summary(int argc, char **argv)
{
    static const char doc[] =
        "Shows which kernels took the time of a trace, how busy each GPU and queue was, what "
        "was copied, what the program called and marked, which graphs it launched, and whether "
        "everything is there."
        "\vbusy: at least one kernel ran; idle: the rest between the first start and the last end. "
        "share: of the time of all kernels. p50, p99: half of the calls, 99 of 100, took no "
        "longer (within 0.8 %). The time of a graph launch is that from its first kernel's start "
        "to its last one's end. A terminal that is narrow shows fewer columns.\n\n"
        "Examples:\n"
        "  rtl summary trace.db\n"
        "  rtl summary trace.db --sort p99 --top 5\n"
        "  rtl summary trace.db --from 2s --to 2.5s --json";
    static const struct argp argp = {option_list, parse_option, "FILE", doc, NULL, NULL, NULL};
    struct options options = {.top = TOP_DEFAULT};
    if (parse(&argp, argc, argv, 0, &options) != 0)
        return EXIT_USAGE;
    if (trace_command_needs(options.path, "rtl summary FILE"))
        return EXIT_USAGE;
    return with_summary(&options, stdout);
}

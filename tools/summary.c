/* rtl summary: where the time of a trace went. */
#include "summary.h"

#include "command.h"
#include "common/account.h"
#include "common/open.h"
#include "common/parse.h"
#include "common/say.h"
#include "common/show.h"
#include "common/table.h"
#include "tally.h"
#include "tally_calls.h"
#include "tally_copies.h"
#include "tally_graphs.h"
#include "tally_ranges.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define TOP_DEFAULT 20u
#define MOST_QUEUES 16u

struct summary {
    const char *path;
    uint64_t from, to; /* on the trace's clock; to 0: no end */
    rtl_trace_info_t info;
    struct verdict verdict;
    struct tally tally;
    struct tally_copies copies;
    struct tally_calls calls;
    struct tally_ranges ranges;
    struct tally_graphs graphs;
};

static rtl_status_t read_summary(rtl_trace_t *trace, struct summary *summary)
{
    rtl_status_t status = rtlTraceInfo(trace, &summary->info);
    if (status == RTL_OK)
        status = account_verdict(trace, &summary->verdict);
    if (status == RTL_OK)
        status = tally_copies_read(trace, &summary->copies);
    if (status == RTL_OK)
        status = tally_calls_read(trace, &summary->calls);
    if (status == RTL_OK)
        status = tally_ranges_read(trace, &summary->ranges);
    if (status == RTL_OK)
        status = tally_graphs_read(trace, &summary->graphs);
    if (status == RTL_OK)
        status = tally_read(trace, summary->from, summary->to, &summary->tally);
    return status;
}

static uint64_t idle(const rtl_span_t *span)
{
    uint64_t length = span->last - span->first;
    return length > span->busy ? length - span->busy : 0;
}

static void show_exit(const rtl_trace_info_t *info, FILE *out)
{
    if (info->exit_status >= 256)
        (void)fprintf(out, ", died by signal %d", info->exit_status - 256);
    else if (info->exit_status >= 0)
        (void)fprintf(out, ", exit status %d", info->exit_status);
}

static void show_head(const struct summary *summary, FILE *out)
{
    const rtl_trace_info_t *info = &summary->info;
    char line[1024];
    (void)fprintf(out, "%s%s%s\n", summary->path, info->command[0] ? ": " : "", info->command);
    (void)fprintf(out, "  %s%s%s recorded, %s", info->mode, info->mode[0] ? " mode, " : "",
                  show_duration((double)(info->end - info->start)).text,
                  show_bytes(info->bytes).text);
    show_exit(info, out);
    (void)fputs("\n  ", out);
    account_line(&summary->verdict, line, sizeof line);
    show_styled(out, summary->verdict.complete ? SHOW_GOOD : SHOW_BAD, line);
    (void)fputc('\n', out);
}

static void show_gpus(const struct tally *tally, FILE *out)
{
    for (size_t i = 0; i < tally->gpu_count; ++i) {
        const rtl_device_time_t *gpu = &tally->gpus[i];
        const rtl_span_t *span = &gpu->span;
        (void)fprintf(out, "  GPU %zu %s%s%s%s: busy %s (%s), idle %s, %s kernels on %u queue%s\n",
                      i, gpu->agent->name, gpu->agent->product[0] ? " (" : "", gpu->agent->product,
                      gpu->agent->product[0] ? ")" : "", show_duration((double)span->busy).text,
                      show_share(span->busy, span->last - span->first).text,
                      show_duration((double)idle(span)).text, show_count(span->kernels).text,
                      gpu->queues, gpu->queues == 1 ? "" : "s");
    }
}

static void show_rest(size_t shown, size_t count, FILE *out)
{
    if (shown < count)
        (void)fprintf(out, "  and %zu more\n", count - shown);
}

static void show_kernels(const struct tally *tally, unsigned top, FILE *out)
{
    static const char *const heading[] = {"share", "calls", "total", "mean",
                                          "min",   "max",   "kernel"};
    size_t count = top && top < tally->name_count ? top : tally->name_count;
    if (count == 0)
        return;
    (void)fputc('\n', out);
    struct table *table = table_new("rrrrrrn");
    for (size_t i = 0; i < sizeof heading / sizeof heading[0]; ++i)
        table_cell(table, heading[i]);
    for (size_t i = 0; i < count; ++i) {
        const rtl_group_t *name = &tally->names[i];
        table_cell(table, show_share(name->total, tally->total).text);
        table_cell(table, show_count(name->count).text);
        table_cell(table, show_duration((double)name->total).text);
        table_cell(table, show_duration((double)name->total / (double)name->count).text);
        table_cell(table, show_duration((double)name->min).text);
        table_cell(table, show_duration((double)name->max).text);
        table_cell(table, name->name);
    }
    table_print(table, out);
    show_rest(count, tally->name_count, out);
}

static void show_copies(const struct tally_copies *copies, FILE *out)
{
    static const char *const heading[] = {"copies", "bytes", "total", "GB/s", "kind"};
    if (copies->count == 0)
        return;
    (void)fputc('\n', out);
    struct table *table = table_new("rrrrl");
    for (size_t i = 0; i < sizeof heading / sizeof heading[0]; ++i)
        table_cell(table, heading[i]);
    for (unsigned i = 0; i < copies->count; ++i) {
        const struct tally_kind *kind = &copies->kinds[i];
        char rate[32];
        (void)snprintf(rate, sizeof rate, "%.3f", tally_copies_rate(kind));
        table_cell(table, show_count(kind->copies).text);
        table_cell(table, show_bytes(kind->bytes).text);
        table_cell(table, kind->total ? show_duration((double)kind->total).text : "-");
        table_cell(table, kind->total ? rate : "-");
        table_cell(table, kind->kind);
    }
    table_print(table, out);
}

static void show_calls(const struct tally_calls *calls, unsigned top, FILE *out)
{
    static const char *const heading[] = {"calls", "total", "mean", "max", "failed", "host call"};
    size_t count = top && top < calls->count ? top : calls->count;
    if (count == 0)
        return;
    (void)fputc('\n', out);
    struct table *table = table_new("rrrrrn");
    for (size_t i = 0; i < sizeof heading / sizeof heading[0]; ++i)
        table_cell(table, heading[i]);
    for (size_t i = 0; i < count; ++i) {
        const struct tally_call *call = &calls->names[i];
        table_cell(table, show_count(call->calls).text);
        table_cell(table, show_duration((double)call->total).text);
        table_cell(table, show_duration((double)call->total / (double)call->calls).text);
        table_cell(table, show_duration((double)call->max).text);
        table_cell(table, call->failed ? show_count(call->failed).text : "-");
        table_cell(table, call->name);
    }
    table_print(table, out);
    show_rest(count, calls->count, out);
}

static void show_ranges(const struct tally_ranges *ranges, unsigned top, FILE *out)
{
    static const char *const heading[] = {"ranges",  "total",       "mean", "max",
                                          "kernels", "kernel time", "range"};
    size_t count = top && top < ranges->count ? top : ranges->count;
    if (count == 0)
        return;
    (void)fputc('\n', out);
    struct table *table = table_new("rrrrrrn");
    for (size_t i = 0; i < sizeof heading / sizeof heading[0]; ++i)
        table_cell(table, heading[i]);
    for (size_t i = 0; i < count; ++i) {
        const struct tally_range *range = &ranges->names[i];
        uint64_t ended = range->ranges - range->open;
        double mean = ended ? (double)range->total / (double)ended : 0;
        table_cell(table, show_count(range->ranges + range->marks).text);
        table_cell(table, ended ? show_duration((double)range->total).text : "-");
        table_cell(table, ended ? show_duration(mean).text : "-");
        table_cell(table, ended ? show_duration((double)range->max).text : "-");
        table_cell(table, show_count(range->kernels).text);
        table_cell(table, show_duration((double)range->kernel_ns).text);
        table_cell(table, range->name);
    }
    table_print(table, out);
    show_rest(count, ranges->count, out);
}

static void show_graphs(const struct tally_graphs *graphs, unsigned top, FILE *out)
{
    static const char *const heading[] = {"process",  "graph",   "known by", "generations", "nodes",
                                          "launches", "kernels", "total",    "mean",        "max"};
    size_t count = top && top < graphs->count ? top : graphs->count;
    if (count == 0)
        return;
    (void)fputc('\n', out);
    struct table *table = table_new("rrlrrrrrrr");
    for (size_t i = 0; i < sizeof heading / sizeof heading[0]; ++i)
        table_cell(table, heading[i]);
    for (size_t i = 0; i < count; ++i) {
        const struct tally_graph *graph = &graphs->graphs[i];
        double mean = graph->timed ? (double)graph->total / (double)graph->timed : 0;
        table_cell(table, show_count(graph->process).text);
        table_cell(table, show_count(graph->graph).text);
        table_cell(table, graph->source);
        table_cell(table, show_count(graph->generations).text);
        table_cell(table, graph->nodes == RTL_TRACE_NONE ? "-" : show_count(graph->nodes).text);
        table_cell(table, show_count(graph->launches).text);
        table_cell(table, show_count(graph->kernels).text);
        table_cell(table, graph->timed ? show_duration((double)graph->total).text : "-");
        table_cell(table, graph->timed ? show_duration(mean).text : "-");
        table_cell(table, graph->timed ? show_duration((double)graph->max).text : "-");
    }
    table_print(table, out);
    show_rest(count, graphs->count, out);
}

static void show_queues(const struct tally *tally, FILE *out)
{
    static const char *const heading[] = {"process", "queue", "gpu",
                                          "kernels", "busy",  "of its span"};
    if (tally->queue_count < 2)
        return;
    (void)fputc('\n', out);
    struct table *table = table_new("rrrrrr");
    for (size_t i = 0; i < sizeof heading / sizeof heading[0]; ++i)
        table_cell(table, heading[i]);
    for (size_t i = 0; i < tally->queue_count && i < MOST_QUEUES; ++i) {
        const rtl_queue_time_t *queue = &tally->queues[i];
        const rtl_span_t *span = &queue->span;
        table_cell(table, show_count(queue->queue->process).text);
        table_cell(table, show_count(queue->queue->queue).text);
        table_cell(table, queue->device == RTL_TRACE_NONE ? "-" : show_count(queue->device).text);
        table_cell(table, show_count(span->kernels).text);
        table_cell(table, show_duration((double)span->busy).text);
        table_cell(table, show_share(span->busy, span->last - span->first).text);
    }
    table_print(table, out);
    if (tally->queue_count > MOST_QUEUES)
        (void)fprintf(out, "  and %zu more queues\n", tally->queue_count - MOST_QUEUES);
}

static json_t *json_span(const rtl_span_t *span)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "kernels", open_number(span->kernels), "first_ns",
                     open_number(span->first), "last_ns", open_number(span->last), "busy_ns",
                     open_number(span->busy), "idle_ns", open_number(idle(span)));
}

static json_t *json_gpus(const struct tally *tally)
{
    json_t *list = json_array();
    for (size_t i = 0; i < tally->gpu_count; ++i) {
        const rtl_device_time_t *gpu = &tally->gpus[i];
        json_t *object = json_span(&gpu->span);
        (void)json_object_set_new(object, "gpu", json_integer((json_int_t)i));
        (void)json_object_set_new(object, "host", open_text(gpu->host));
        (void)json_object_set_new(object, "name", open_text(gpu->agent->name));
        (void)json_object_set_new(object, "product", open_text(gpu->agent->product));
        (void)json_object_set_new(object, "queues", json_integer(gpu->queues));
        (void)json_array_append_new(list, object);
    }
    return list;
}

static json_t *json_queues(const struct tally *tally)
{
    json_t *list = json_array();
    for (size_t i = 0; i < tally->queue_count; ++i) {
        const rtl_queue_time_t *queue = &tally->queues[i];
        json_t *object = json_span(&queue->span);
        (void)json_object_set_new(object, "process", open_id(queue->queue->process));
        (void)json_object_set_new(object, "queue", open_id(queue->queue->queue));
        (void)json_object_set_new(object, "gpu", open_id(queue->device));
        (void)json_array_append_new(list, object);
    }
    return list;
}

static json_t *json_kernels(const struct tally *tally, unsigned top)
{
    json_t *list = json_array();
    for (size_t i = 0; i < tally->name_count && (!top || i < top); ++i) {
        const rtl_group_t *name = &tally->names[i];
        json_t *object =
            json_pack("{s:o, s:o, s:o, s:o, s:o, s:f, s:f}", "name", open_text(name->name), "calls",
                      open_number(name->count), "total_ns", open_number(name->total), "min_ns",
                      open_number(name->min), "max_ns", open_number(name->max), "mean_ns",
                      (double)name->total / (double)name->count, "share",
                      tally->total ? (double)name->total / (double)tally->total : 0.0);
        (void)json_array_append_new(list, object);
    }
    return list;
}

static json_t *json_copies(const struct tally_copies *copies)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < copies->count; ++i) {
        const struct tally_kind *kind = &copies->kinds[i];
        json_t *object = json_pack("{s:o, s:o, s:o, s:o}", "kind", open_text(kind->kind), "copies",
                                   open_number(kind->copies), "bytes", open_number(kind->bytes),
                                   "total_ns", open_number(kind->total));
        (void)json_object_set_new(object, "gb_per_s",
                                  kind->total ? json_real(tally_copies_rate(kind)) : json_null());
        (void)json_array_append_new(list, object);
    }
    return list;
}

static json_t *json_calls(const struct tally_calls *calls, unsigned top)
{
    json_t *list = json_array();
    for (size_t i = 0; i < calls->count && (!top || i < top); ++i) {
        const struct tally_call *call = &calls->names[i];
        json_t *object =
            json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:f}", "name", open_text(call->name), "calls",
                      open_number(call->calls), "failed", open_number(call->failed), "total_ns",
                      open_number(call->total), "min_ns", open_number(call->min), "max_ns",
                      open_number(call->max), "mean_ns", (double)call->total / (double)call->calls);
        (void)json_array_append_new(list, object);
    }
    return list;
}

static json_t *json_ranges(const struct tally_ranges *ranges, unsigned top)
{
    json_t *list = json_array();
    for (size_t i = 0; i < ranges->count && (!top || i < top); ++i) {
        const struct tally_range *range = &ranges->names[i];
        json_t *object =
            json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", open_text(range->name),
                      "ranges", open_number(range->ranges), "marks", open_number(range->marks),
                      "open", open_number(range->open), "total_ns", open_number(range->total),
                      "max_ns", open_number(range->max), "kernels", open_number(range->kernels),
                      "kernel_ns", open_number(range->kernel_ns));
        (void)json_array_append_new(list, object);
    }
    return list;
}

static json_t *json_graphs(const struct tally_graphs *graphs, unsigned top)
{
    json_t *list = json_array();
    for (size_t i = 0; i < graphs->count && (!top || i < top); ++i) {
        const struct tally_graph *graph = &graphs->graphs[i];
        json_t *object = json_pack(
            "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "process", open_id(graph->process),
            "graph", open_id(graph->graph), "source", open_text(graph->source), "generations",
            open_number(graph->generations), "nodes", open_id(graph->nodes), "launches",
            open_number(graph->launches), "kernels", open_number(graph->kernels), "total_ns",
            open_number(graph->total), "max_ns", open_number(graph->max));
        (void)json_array_append_new(list, object);
    }
    return list;
}

/* What the program did on the host. */
static void add_host(json_t *object, const struct summary *summary, unsigned top)
{
    (void)json_object_set_new(object, "call_count", open_number(summary->calls.calls));
    (void)json_object_set_new(object, "call_ns", open_number(summary->calls.total));
    (void)json_object_set_new(object, "calls", json_calls(&summary->calls, top));
    (void)json_object_set_new(object, "range_count", open_number(summary->ranges.ranges));
    (void)json_object_set_new(object, "mark_count", open_number(summary->ranges.marks));
    (void)json_object_set_new(object, "ranges", json_ranges(&summary->ranges, top));
    (void)json_object_set_new(object, "graph_launch_count", open_number(summary->graphs.launches));
    (void)json_object_set_new(object, "graph_kernel_count", open_number(summary->graphs.kernels));
    (void)json_object_set_new(object, "graphs", json_graphs(&summary->graphs, top));
}

static json_t *json_summary(const struct summary *summary, unsigned top)
{
    const rtl_trace_info_t *info = &summary->info;
    const struct tally *tally = &summary->tally;
    char line[1024];
    account_line(&summary->verdict, line, sizeof line);
    json_t *object =
        json_pack("{s:o, s:o, s:o, s:i, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                  "file", open_text(summary->path), "command", open_text(info->command), "mode",
                  open_text(info->mode), "exit_status", info->exit_status, "complete",
                  (int)summary->verdict.complete, "completeness", open_text(line), "recorded_ns",
                  open_number(info->end - info->start), "kernel_count", open_number(tally->kernels),
                  "kernel_ns", open_number(tally->total), "gpus", json_gpus(tally), "queues",
                  json_queues(tally), "kernels", json_kernels(tally, top), "copy_count",
                  open_number(summary->copies.copies), "copy_bytes",
                  open_number(summary->copies.bytes), "copies", json_copies(&summary->copies));
    add_host(object, summary, top);
    return object;
}

static int with_summary(const char *path, unsigned top, FILE *out, bool json)
{
    rtl_trace_t *trace = open_trace(path);
    struct summary summary = {.path = path};
    int status = EXIT_FINE;
    if (!trace)
        return EXIT_USAGE;
    if (read_summary(trace, &summary) != RTL_OK) {
        status = open_failed(trace, path);
    } else if (json) {
        status = open_print_json(json_summary(&summary, top), EXIT_FINE);
    } else {
        show_head(&summary, out);
        show_gpus(&summary.tally, out);
        show_kernels(&summary.tally, top, out);
        show_copies(&summary.copies, out);
        show_calls(&summary.calls, top, out);
        show_ranges(&summary.ranges, top, out);
        show_graphs(&summary.graphs, top, out);
        show_queues(&summary.tally, out);
        status = fflush(out) == 0 ? EXIT_FINE : EXIT_USAGE;
    }
    tally_free(&summary.tally);
    tally_calls_free(&summary.calls);
    tally_ranges_free(&summary.ranges);
    tally_graphs_free(&summary.graphs);
    rtlTraceClose(trace);
    return status;
}

int summary_show(const char *path, unsigned top, FILE *out)
{
    return with_summary(path, top, out, false);
}

struct options {
    const char *path;
    unsigned top;
    bool json;
};

static const struct argp_option option_list[] = {
    {"top", 'n', "COUNT", 0,
     "how many kernels, host calls, ranges and graphs are shown, 20 by default, 0 for all", 0},
    {"json", 'j', NULL, 0, "write JSON", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    char *end;
    switch (key) {
    case 'n':
        options->top = (unsigned)strtoul(value, &end, 10);
        if (end == value || *end || value[0] == '-')
            return say_fail(EINVAL, "'%s' is no count for --top", value);
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

int cmd_summary(int argc, char **argv)
{
    static const char doc[] =
        "Shows which kernels took the time of a trace, how busy each GPU and queue was, what "
        "was copied, what the program called and marked, which graphs it launched, and whether "
        "everything is there."
        "\vbusy: at least one kernel ran; idle: the rest between the first start and the last end. "
        "share: of the time of all kernels. The time of a graph launch is that from its first "
        "kernel's start to its last one's end.\n\n"
        "Examples:\n"
        "  rtl summary trace.db\n"
        "  rtl summary trace.db --top 5 --json";
    static const struct argp argp = {option_list, parse_option, "FILE", doc, NULL, NULL, NULL};
    struct options options = {.top = TOP_DEFAULT};
    if (parse(&argp, argc, argv, 0, &options) != 0)
        return EXIT_USAGE;
    if (!options.path)
        return say_fail(EXIT_USAGE, "no trace was named: rtl summary FILE");
    return with_summary(options.path, options.top, stdout, options.json);
}

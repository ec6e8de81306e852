/* rtl idle: why nothing ran on a GPU. */
#include "analysis/idle_gpus.h"
#include "analysis/selection.h"
#include "common/command.h"
#include "common/memory.h"
#include "common/open.h"
#include "common/parse.h"
#include "common/say.h"
#include "common/show.h"
#include "common/table.h"
#include "common/trace_command.h"

#include <inttypes.h>
#include <stdlib.h>

#define TOP_DEFAULT 5u
#define TOP_MOST    1000u

struct options {
    const char *path;
    struct filter filter;
    unsigned top;
    bool json;
};

struct view {
    const struct options *options;
    rtl_trace_info_t info;
    struct selection selection;
    struct idle_gpus gpus;
    struct absent absent; /* of all that is selected */
};

static uint64_t whole(const struct idle_gpu *device)
{
    return device->of.last - device->of.first;
}

static void show_causes(const struct idle_gpu *device)
{
    const struct idle_times *idle = &device->of.idle;
    size_t *order = memory_new(idle->count, sizeof *order);
    size_t count = idle_order(idle, order);
    struct table *table = table_new("rrrrl");
    table_cell(table, "idle");
    table_cell(table, "of all");
    table_cell(table, "gaps");
    table_cell(table, "mean");
    table_cell(table, "what the submitting thread did");
    for (size_t i = 0; i < count; ++i) {
        const struct idle_time *time = &idle->by_cause[order[i]];
        table_cell(table, show_duration((double)time->ns).text);
        table_cell(table, show_share(time->ns, whole(device)).text);
        table_cell(table, show_count(time->gaps).text);
        table_cell(table, show_duration((double)time->ns / (double)time->gaps).text);
        table_cell(table, idle_label(&device->of.causes, order[i]));
    }
    table_print(table, stdout);
    free(order);
}

static void show_gaps(const struct view *view, const struct idle_gpu *device)
{
    if (device->gap_count == 0)
        return;
    (void)printf("\n  the longest\n");
    struct table *table = table_new("rrln");
    table_cell(table, "at");
    table_cell(table, "time");
    table_cell(table, "most of it");
    table_cell(table, "what ran then");
    for (size_t i = 0; i < device->gap_count; ++i) {
        const struct idle_gap *gap = &device->gaps[i];
        uint64_t at = gap->start > view->info.start ? gap->start - view->info.start : 0;
        table_cell(table, show_duration((double)at).text);
        table_cell(table, show_duration((double)gap->ns).text);
        table_cell(table, idle_label(&device->of.causes, gap->cause));
        table_cell(table, gap->next);
    }
    table_print(table, stdout);
}

static void show_absent(const struct absent *absent)
{
    char text[512];
    absent_say(absent, text, sizeof text);
    if (text[0])
        (void)printf("  %s\n    and may have run while the GPU seems idle\n", text);
}

static void show_device(const struct view *view, const struct idle_gpu *device)
{
    char text[64];
    (void)snprintf(text, sizeof text, "GPU %" PRIu32, device->of.gpu);
    show_styled(stdout, SHOW_BOLD, text);
    if (view->gpus.all > 1)
        (void)printf(" of process %" PRIu32, device->of.process);
    if (whole(device) == 0) {
        (void)printf(": no work in this window\n");
        return;
    }
    (void)printf(
        ": idle for %s%s of %s (%s), in %s", absent_any(&device->of.absent) ? "at most " : "",
        show_duration((double)device->of.idle.ns).text, show_duration((double)whole(device)).text,
        show_share(device->of.idle.ns, whole(device)).text,
        show_things(device->of.idle.gaps, "gap").text);
    (void)printf("\n  time: graphs %s, eager kernels %s, copies alone %s\n",
                 show_share(device->of.time[ACTIVITY_GRAPH], whole(device)).text,
                 show_share(device->of.time[ACTIVITY_EAGER], whole(device)).text,
                 show_share(device->of.time[ACTIVITY_COPY], whole(device)).text);
    show_absent(&device->of.absent);
    if (device->of.idle.gaps)
        show_causes(device);
    show_gaps(view, device);
}

/* Processes of which the trace has no kernel: their GPUs have nothing that could be shown. */
static int show_others(const struct view *view, rtl_trace_t *trace)
{
    const rtl_process_t *processes;
    size_t count;
    struct absent absent;
    char text[512];
    rtl_status_t status = rtlTraceProcesses(trace, &processes, &count);
    for (size_t i = 0; status == RTL_OK && i < count; ++i) {
        size_t gpu = 0;
        while (gpu < view->gpus.count && view->gpus.list[gpu].of.process != processes[i].process)
            ++gpu;
        if (gpu < view->gpus.count)
            continue;
        status = absent_read(trace, processes[i].process, RTL_TRACE_NONE, &absent);
        absent_say(&absent, text, sizeof text);
        if (status == RTL_OK && text[0])
            (void)printf("\nprocess %" PRIu32 ": %s\n", processes[i].process, text);
    }
    return status == RTL_OK ? EXIT_FINE : open_failed(trace, view->options->path);
}

static int fail_without(const struct view *view)
{
    char text[512];
    absent_say(&view->absent, text, sizeof text);
    return say_fail(EXIT_USAGE, "%s has no kernels%s%s", view->options->path, text[0] ? ": " : "",
                    text);
}

static int show_json(const struct view *view)
{
    json_t *devices = json_array();
    for (size_t i = 0; i < view->gpus.count; ++i)
        (void)json_array_append_new(devices, idle_gpu_json(&view->gpus.list[i]));
    return open_print_json(
        json_pack("{s:o, s:o, s:o, s:o}", "file", open_text(view->options->path), "filter",
                  selection_json(&view->selection, view->gpus.count, view->gpus.all, "GPU"), "gpus",
                  devices, "absent", absent_json(&view->absent)),
        EXIT_FINE);
}

static int show(const struct view *view, rtl_trace_t *trace)
{
    if (view->options->json)
        return show_json(view);
    selection_show(&view->selection, view->gpus.count, view->gpus.all, "GPU", stdout);
    for (size_t i = 0; i < view->gpus.count; ++i) {
        if (i > 0)
            (void)putchar('\n');
        show_device(view, &view->gpus.list[i]);
    }
    return show_others(view, trace);
}

static int look(struct view *view, rtl_trace_t *trace)
{
    const struct options *options = view->options;
    int status = selection_apply(trace, options->path, &options->filter, &view->selection);
    if (status != EXIT_FINE)
        return status;
    const uint64_t window[2] = {view->selection.from, view->selection.to};
    if (rtlTraceInfo(trace, &view->info) != RTL_OK)
        return open_failed(trace, options->path);
    if (absent_read(trace, 0, RTL_TRACE_NONE, &view->absent) != RTL_OK ||
        idle_gpus_read(trace, window, options->top, &view->gpus) != RTL_OK)
        return open_failed(trace, options->path);
    if (view->gpus.all == 0)
        return fail_without(view);
    return show(view, trace);
}

static const struct argp_option option_list[] = {
    {"top", 'n', "COUNT", 0, "how many of the longest gaps are shown, 5 by default, 1000 at most",
     0},
    {"json", 'j', NULL, 0, "write JSON", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'n':
        if (parse_count("top", value, &options->top) != 0)
            return EINVAL;
        return options->top <= TOP_MOST
                   ? 0
                   : say_fail(EINVAL, "--top is %u at most, not %u", TOP_MOST, options->top);
    case 'j':
        options->json = true;
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->filter;
        return 0;
    case ARGP_KEY_ARG:
        return trace_command_take(value, &options->path);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int with_trace(const struct options *options)
{
    rtl_trace_t *trace = open_trace(options->path);
    struct view view = {.options = options};
    if (!trace)
        return EXIT_USAGE;
    int status = look(&view, trace);
    idle_gpus_free(&view.gpus);
    selection_free(&view.selection);
    rtlTraceClose(trace);
    return status;
}

int cmd_idle(int argc, char **argv)
{
    static const char doc[] =
        "Shows why nothing ran on a GPU, from its first kernel or copy to the last: what the "
        "thread "
        "did that then submitted the next work."
        "\vA gap is a time in which no kernel of the process ran on the GPU, and the GPU made no "
        "copy. Up to the host call that submitted what ran next, it is given to the calls that "
        "the thread was in, or to none; then to that call; and behind its end the work was "
        "submitted and had not begun. Gaps between the kernels of one launch of a graph are told "
        "apart: the host has no part in them.\n\n"
        "Examples:\n"
        "  rtl idle trace.db\n"
        "  rtl idle --from 2s --to 3s trace.db\n"
        "  rtl idle --gpu 1 trace.db";
    const struct argp argp = {.options = option_list,
                              .parser = parse_option,
                              .args_doc = "FILE",
                              .doc = doc,
                              .children =
                                  filter_children(FILTER_PROCESSES | FILTER_GPU | FILTER_TIMES)};
    struct options options = {.top = TOP_DEFAULT};
    int status = EXIT_USAGE;
    if (parse(&argp, argc, argv, 0, &options) == 0 &&
        trace_command_needs(options.path, "rtl idle FILE") == 0)
        status = with_trace(&options);
    filter_free(&options.filter);
    return status;
}

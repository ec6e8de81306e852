#include "analysis/selection.h"

#include "analysis/selection_names.h"
#include "analysis/selection_phase.h"
#include "common/command.h"
#include "common/lower_bound.h"
#include "common/memory.h"
#include "common/open.h"
#include "common/plain.h"
#include "common/show.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define TEXT 1024u

static rtl_status_t read_lists(rtl_trace_t *trace, struct selection *selection)
{
    rtl_status_t status = rtlTraceInfo(trace, &selection->info);
    if (status == RTL_OK)
        status = rtlTraceProcesses(trace, &selection->process_list, &selection->process_count);
    if (status == RTL_OK)
        status = rtlTraceStreams(trace, &selection->stream_list, &selection->stream_count);
    return status;
}

int selection_make(rtl_trace_t *trace, const char *path, const struct filter *filter,
                   struct selection *selection)
{
    uint64_t window[2];
    *selection = (struct selection){.filter = filter};
    if (read_lists(trace, selection) != RTL_OK)
        return open_failed(trace, path);
    if (moment_window(&selection->info, &filter->from, &filter->to, window) != 0)
        return EXIT_USAGE;
    selection->from = window[0];
    selection->to = window[1];
    int status = selection_name_processes(path, selection);
    if (status == EXIT_FINE)
        status = selection_name_streams(path, selection);
    if (status == EXIT_FINE)
        status = selection_name_gpus(trace, path, selection);
    return status;
}

static bool kernel_passes(void *context, const char *name)
{
    return selection_has_kernel(context, name);
}

int selection_use(rtl_trace_t *trace, const char *path, const struct selection *selection)
{
    const struct rtl_selection part = {
        .processes = selection->processes,
        .streams = selection->streams,
        .gpus = selection->gpus,
        .gpu_count = selection->gpu_count,
        .kernel = selection->filter->kernel ? kernel_passes : NULL,
        .context = (void *)(uintptr_t)selection,
        .windows = selection->windows,
        .window_count = selection->window_count,
        .only_launches = selection->only_launches,
    };
    return rtl_trace_select(trace, &part) == RTL_OK ? EXIT_FINE : open_failed(trace, path);
}

/* Finds out all that the filter names. */
static int find(rtl_trace_t *trace, const char *path, const struct filter *filter,
                struct selection *selection)
{
    int status = selection_make(trace, path, filter, selection);
    if (status == EXIT_FINE &&
        filter->phase) { /* steps are those of the processes with all that they did */
        const struct rtl_selection processes = {.processes = selection->processes};
        if (rtl_trace_select(trace, &processes) != RTL_OK)
            return open_failed(trace, path);
        status = selection_name_phase(trace, path, selection);
    }
    return status;
}

int selection_apply(rtl_trace_t *trace, const char *path, const struct filter *filter,
                    struct selection *selection)
{
    int status = find(trace, path, filter, selection);
    return status == EXIT_FINE && selection_is(selection) ? selection_use(trace, path, selection)
                                                          : status;
}

/* Windows are those of the phase, or all time, as far as they lie between `from` and `to`. */
static void cut_windows(struct selection *selection)
{
    uint64_t from = selection->from;
    uint64_t to = selection->to ? selection->to : UINT64_MAX;
    size_t kept = 0;
    if (!selection->windows) {
        selection->windows = memory_new(1, sizeof *selection->windows);
        selection->windows[0] = (struct rtl_select_window){0, UINT64_MAX};
        selection->window_count = 1;
    }
    for (size_t i = 0; i < selection->window_count; ++i) {
        struct rtl_select_window window = selection->windows[i];
        window.from = window.from > from ? window.from : from;
        window.to = window.to < to ? window.to : to;
        if (window.from < window.to)
            selection->windows[kept++] = window;
    }
    selection->window_count = kept;
}

int selection_apply_launches(rtl_trace_t *trace, const char *path, const struct filter *filter,
                             bool whole, struct selection *selection)
{
    int status = find(trace, path, filter, selection);
    if (status != EXIT_FINE || !selection_is(selection))
        return status;
    if (filter_given(filter, FILTER_TIMES))
        cut_windows(selection);
    selection->only_launches = whole;
    return selection_use(trace, path, selection);
}

bool selection_is(const struct selection *selection)
{
    return selection->filter && selection->filter->count > 0;
}

bool selection_has_process(const struct selection *selection, uint32_t process)
{
    if (!selection->processes)
        return true;
    for (size_t i = 0; i < selection->process_count; ++i)
        if (selection->process_list[i].process == process)
            return selection->processes[i];
    return false;
}

uint32_t selection_process(const struct selection *selection)
{
    uint32_t process = 0;
    for (size_t i = 0; selection->processes && i < selection->process_count; ++i) {
        if (selection->processes[i] && process)
            return 0;
        if (selection->processes[i])
            process = selection->process_list[i].process;
    }
    return process;
}

bool selection_has_kernel(const struct selection *selection, const char *name)
{
    return !selection->filter->kernel ||
           regexec(&selection->filter->pattern, name, 0, NULL, 0) == 0;
}

bool selection_has_call(const struct selection *selection, uint64_t start)
{
    const struct rtl_select_window *windows = selection->windows;
    size_t at;
    if (start < selection->from || !windows)
        return start >= selection->from;
    RTL_LOWER_BOUND(at, selection->window_count, windows[at].to <= start);
    return at < selection->window_count && windows[at].from <= start;
}

uint64_t selection_time(const struct selection *selection)
{
    const rtl_trace_info_t *info = &selection->info;
    uint64_t from = selection->from > info->start ? selection->from : info->start;
    uint64_t to = selection->to && selection->to < info->end ? selection->to : info->end;
    uint64_t time = 0;
    if (!selection->windows)
        return to > from ? to - from : 0;
    for (size_t i = 0; i < selection->window_count; ++i) {
        const struct rtl_select_window *window = &selection->windows[i];
        uint64_t begin = window->from > selection->from ? window->from : selection->from;
        uint64_t end = selection->to && selection->to < window->to ? selection->to : window->to;
        time += end > begin ? end - begin : 0;
    }
    return time;
}

rtl_status_t selection_kernels(rtl_trace_t *trace, const struct selection *selection,
                               uint64_t *kernels)
{
    rtl_aggregate_request_t request = RTL_AGGREGATE_BY(0);
    rtl_aggregate_t *aggregate;
    const rtl_group_t *groups;
    size_t count;
    request.from = selection->from;
    request.to = selection->to;
    *kernels = 0;
    rtl_status_t status = rtlTraceAggregate(trace, &request, &aggregate);
    if (status != RTL_OK)
        return status;
    status = rtlAggregateGroups(aggregate, &groups, &count);
    for (size_t i = 0; i < count && status == RTL_OK; ++i)
        *kernels += groups[i].count;
    rtlAggregateFree(aggregate);
    return status;
}

/* Telling. */

struct line {
    char text[TEXT];
    bool any; /* part of it */
};

/* Adds to a line, which is cut off where it is full. */
static void __attribute__((format(printf, 2, 3))) put(struct line *line, const char *format, ...)
{
    size_t used = strlen(line->text);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line->text + used, sizeof line->text - used, format, arguments);
    va_end(arguments);
}

/* " of stream 3, 4" */
static void put_words(struct line *line, const struct filter *filter, enum filter_option option,
                      const char *thing)
{
    bool first = true;
    for (size_t i = 0; i < filter->count; ++i) {
        if (filter->words[i].option != option)
            continue;
        if (first)
            put(line, "%s of %s", line->any ? "," : "", thing);
        put(line, "%s %.100s", first ? "" : ",", filter->words[i].text);
        line->any = true;
        first = false;
    }
}

/* Since the recording began, or, before that, on the trace's clock. */
static void put_time(struct line *line, const struct selection *selection, const char *word,
                     uint64_t time)
{
    if (time >= selection->info.start)
        put(line, " %s %s", word, show_duration((double)(time - selection->info.start)).text);
    else
        put(line, " %s %" PRIu64, word, time);
}

const char *selection_text(const struct selection *selection)
{
    static struct line line;
    const struct filter *filter = selection->filter;
    line = (struct line){0};
    if (filter->kernel)
        put(&line, "only kernels /%.300s/", filter->kernel);
    else
        put(&line, "only the work");
    put_words(&line, filter, FILTER_STREAM, "stream");
    put_words(&line, filter, FILTER_GPU, "GPU");
    put_words(&line, filter, FILTER_PROCESS, "process");
    put_words(&line, filter, FILTER_RANK, "rank");
    if (filter->phase)
        put(&line, "%s of phase %" PRIu64 " (%s)", line.any ? "," : "", selection->phase_number,
            selection->phase);
    if (selection->from)
        put_time(&line, selection, "from", selection->from);
    if (selection->to)
        put_time(&line, selection, "to", selection->to);
    return line.text;
}

void selection_show(const struct selection *selection, uint64_t shown, uint64_t all,
                    const char *thing, FILE *out)
{
    if (!selection_is(selection))
        return;
    (void)fprintf(out, "  %s: %s of %s\n", plain(selection_text(selection)),
                  shown ? show_count(shown).text : "none", show_things(all, thing).text);
}

static json_t *json_words(const struct filter *filter, enum filter_option option)
{
    json_t *list = json_array();
    for (size_t i = 0; i < filter->count; ++i)
        if (filter->words[i].option == option)
            (void)json_array_append_new(list, option == FILTER_GPU
                                                  ? json_integer(filter->words[i].number)
                                                  : open_text(filter->words[i].text));
    return list;
}

json_t *selection_json(const struct selection *selection, uint64_t shown, uint64_t all,
                       const char *thing)
{
    static const enum filter_option lists[] = {FILTER_PROCESS, FILTER_RANK, FILTER_STREAM,
                                               FILTER_GPU};
    const struct filter *filter = selection->filter;
    if (!selection_is(selection))
        return json_null();
    json_t *object = json_pack("{s:o, s:s, s:o, s:o}", "text", open_text(selection_text(selection)),
                               "what", thing, "shown", open_number(shown), "all", open_number(all));
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)
        if (filter_given(filter, lists[i]))
            (void)json_object_set_new(object, filter_name(lists[i]), json_words(filter, lists[i]));
    if (filter->kernel)
        (void)json_object_set_new(object, "kernel", open_text(filter->kernel));
    if (filter->phase)
        (void)json_object_set_new(object, "phase",
                                  json_pack("{s:o, s:o}", "phase",
                                            open_number(selection->phase_number), "what",
                                            open_text(selection->phase)));
    if (selection->from)
        (void)json_object_set_new(object, "from_ns", open_number(selection->from));
    if (selection->to)
        (void)json_object_set_new(object, "to_ns", open_number(selection->to));
    return object;
}

void selection_free(struct selection *selection)
{
    free(selection->processes);
    free(selection->streams);
    free(selection->gpus);
    free(selection->windows);
    *selection = (struct selection){0};
}

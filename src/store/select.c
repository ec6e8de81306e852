/* A part of a trace that its iterators and sums give out. */
#include "store/select.h"

#include "common/lower_bound.h"
#include "store/tables.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of shapes are small; one far beyond their count goes the long way. */
#define SHAPES_BEYOND 64u

/* What is asked of a process. */
struct of_process {
    uint32_t process;
    bool chosen;
    unsigned char *shapes; /* by number, NULL: all pass */
    uint32_t shape_count;
    struct rtl_list correlations; /* uint64_t, sorted: host calls of the chosen streams */
};

struct rtl_select {
    const rtl_trace_t *trace;
    struct of_process *processes; /* in the order of the trace's */
    size_t count;
    bool *gpus; /* NULL: all */
    size_t gpu_count;
    bool by_name, by_stream;
    bool only_launches;
    unsigned char *shapes; /* with by_name: by place in the trace's, and behind them unknown ones */
    bool *streams;         /* with by_stream: by place in the trace's */
    struct rtl_select_window *windows; /* NULL: any time */
    size_t window_count;
};

static struct of_process *process_of(const struct rtl_select *select, uint32_t process)
{
    uint32_t place = rtl_index_get(&select->trace->process_index, process);
    return place < select->count ? &select->processes[place] : NULL;
}

static bool process_passes(const struct rtl_select *select, uint32_t process)
{
    const struct of_process *of = process_of(select, process);
    return of && of->chosen;
}

static bool stream_passes(const struct rtl_select *select, uint32_t process, uint32_t stream)
{
    const rtl_stream_t *streams = select->trace->streams.items;
    size_t count = select->trace->streams.count;
    size_t at;
    RTL_LOWER_BOUND(at, count,
                    streams[at].process < process ||
                        (streams[at].process == process && streams[at].stream < stream));
    return at < count && streams[at].process == process && streams[at].stream == stream &&
           select->streams[at];
}

/* Making it. */

static void *copy_of(const void *items, size_t count, size_t size)
{
    void *copy = malloc(count * size + 1);
    if (copy && count)
        memcpy(copy, items, count * size);
    return copy;
}

static bool choose_processes(struct rtl_select *select, const bool *chosen)
{
    const rtl_process_t *items = select->trace->processes.items;
    select->count = select->trace->processes.count;
    select->processes = calloc(select->count + 1, sizeof *select->processes);
    for (size_t i = 0; select->processes && i < select->count; i++)
        select->processes[i] =
            (struct of_process){.process = items[i].process, .chosen = !chosen || chosen[i]};
    return select->processes != NULL;
}

/* Room for the numbers of each process's shapes. */
static bool make_tables(struct rtl_select *select)
{
    const struct rtl_shape *shapes = select->trace->shapes.items;
    size_t count = select->trace->shapes.count;
    for (size_t i = 0; i < count; i++) {
        struct of_process *of = process_of(select, shapes[i].process);
        if (of)
            of->shape_count += 2;
    }
    for (size_t i = 0; i < select->count; i++) {
        struct of_process *of = &select->processes[i];
        of->shape_count += SHAPES_BEYOND;
        of->shapes = malloc(of->shape_count);
        if (!of->shapes)
            return false;
        memset(of->shapes, select->shapes[count], of->shape_count);
    }
    for (size_t i = 0; i < count; i++) {
        struct of_process *of = process_of(select, shapes[i].process);
        if (of && shapes[i].shape < of->shape_count)
            of->shapes[shapes[i].shape] = select->shapes[i];
    }
    return true;
}

/* Many shapes have a name: it is asked once for those that stand together. */
static bool choose_shapes(struct rtl_select *select, const struct rtl_selection *selection)
{
    const struct rtl_shape *shapes = select->trace->shapes.items;
    size_t count = select->trace->shapes.count;
    select->by_name = true;
    select->shapes = malloc(count + 1);
    if (!select->shapes)
        return false;
    for (size_t i = 0; i < count; i++)
        select->shapes[i] = i && shapes[i].name == shapes[i - 1].name
                                ? select->shapes[i - 1]
                                : selection->kernel(selection->context, shapes[i].name);
    select->shapes[count] = selection->kernel(selection->context, "unknown kernel");
    return make_tables(select);
}

static int by_number(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void sort_correlations(struct rtl_list *list)
{
    const uint64_t *items = list->items;
    bool sorted = true;
    for (size_t i = 1; i < list->count; i++)
        sorted = sorted && items[i - 1] <= items[i];
    if (!sorted)
        qsort(list->items, list->count, sizeof(uint64_t), by_number);
}

/* The host calls of the chosen streams: what they submitted has their correlations. */
static rtl_status_t read_calls(struct rtl_select *select, rtl_trace_t *trace)
{
    rtl_api_iter_t *iter = NULL;
    rtl_api_t call;
    rtl_status_t status = rtlTraceApi(trace, NULL, &iter);
    while (status == RTL_OK && (status = rtlApiNext(iter, &call)) == RTL_OK) {
        struct of_process *of = process_of(select, call.process);
        if (!of || !of->chosen || !stream_passes(select, call.process, call.stream))
            continue;
        uint64_t *correlation = rtl_list_append(&of->correlations, sizeof *correlation);
        if (correlation)
            *correlation = call.correlation;
        else
            status = rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    }
    rtlApiIterFree(iter);
    for (size_t i = 0; i < select->count; i++)
        sort_correlations(&select->processes[i].correlations);
    return status == RTL_END ? RTL_OK : status;
}

static rtl_status_t make(struct rtl_select *select, rtl_trace_t *trace,
                         const struct rtl_selection *selection)
{
    bool made = choose_processes(select, selection->processes);
    select->only_launches = selection->only_launches;
    if (made && selection->gpus) {
        select->gpu_count = selection->gpu_count;
        select->gpus = copy_of(selection->gpus, selection->gpu_count, sizeof *select->gpus);
        made = select->gpus != NULL;
    }
    if (made && selection->windows) {
        select->window_count = selection->window_count;
        select->windows =
            copy_of(selection->windows, selection->window_count, sizeof *select->windows);
        made = select->windows != NULL;
    }
    if (made && selection->kernel)
        made = choose_shapes(select, selection);
    if (made && selection->streams) {
        select->by_stream = true;
        select->streams = copy_of(selection->streams, trace->streams.count, sizeof(bool));
        made = select->streams != NULL;
    }
    if (!made)
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    return select->by_stream ? read_calls(select, trace) : RTL_OK;
}

rtl_status_t rtl_trace_select(rtl_trace_t *trace, const struct rtl_selection *selection)
{
    struct rtl_select *before = trace->select;
    struct rtl_select *select = NULL;
    rtl_status_t status = RTL_OK;
    trace->select = NULL;
    if (selection) {
        select = calloc(1, sizeof *select);
        if (select)
            select->trace = trace;
        status =
            select ? make(select, trace, selection) : rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    }
    if (status != RTL_OK) {
        rtl_select_free(select);
        trace->select = before;
        return status;
    }
    rtl_select_free(before);
    trace->select = select;
    rtl_trace_forget_launches(trace);
    return RTL_OK;
}

void rtl_trace_select_pause(rtl_trace_t *trace, bool paused)
{
    trace->select_paused = paused;
}

void rtl_select_free(struct rtl_select *select)
{
    if (!select)
        return;
    for (size_t i = 0; select->processes && i < select->count; i++) {
        free(select->processes[i].shapes);
        rtl_list_free(&select->processes[i].correlations);
    }
    free(select->processes);
    free(select->gpus);
    free(select->shapes);
    free(select->streams);
    free(select->windows);
    free(select);
}

/* Asking it. */

static bool gpu_passes(const struct rtl_select *select, uint32_t gpu)
{
    return !select->gpus || (gpu < select->gpu_count && select->gpus[gpu]);
}

bool rtl_select_may(const struct rtl_select *select, uint32_t process, uint32_t gpu)
{
    return !select || select->only_launches ||
           (process_passes(select, process) && gpu_passes(select, gpu));
}

bool rtl_trace_selects(const rtl_trace_t *trace, uint32_t process, uint32_t gpu)
{
    return rtl_select_may(trace->select, process, gpu);
}

bool rtl_select_begin(const struct rtl_select *select, uint32_t process,
                      struct rtl_select_look *look)
{
    *look = (struct rtl_select_look){.process = process, .select = select};
    const struct of_process *of = select ? process_of(select, process) : NULL;
    if (!of)
        return false;
    if (select->by_name) {
        look->shapes = of->shapes;
        look->shape_count = of->shape_count;
    }
    if (select->by_stream) {
        static const uint64_t none[1];
        look->correlations = of->correlations.count ? of->correlations.items : none;
        look->correlation_count = of->correlations.count;
    }
    look->windows = select->windows;
    look->window_count = select->window_count;
    return !select->only_launches && (select->by_name || select->by_stream || select->windows);
}

static bool shape_passes(const struct rtl_select_look *look, uint32_t shape)
{
    if (shape < look->shape_count)
        return look->shapes[shape];
    const rtl_trace_t *trace = look->select->trace;
    uint32_t place = rtl_index_get(&trace->shape_index, rtl_index_key(look->process, shape));
    return look->select->shapes[place == RTL_INDEX_MISSING ? trace->shapes.count : place];
}

/* Kernels come mostly in the order of their calls, many of one launch one behind the other: the
 * place of the last answer, or the next, is mostly that of this one. */
static bool correlation_passes(struct rtl_select_look *look, uint64_t correlation)
{
    const uint64_t *items = look->correlations;
    size_t count = look->correlation_count;
    size_t at = look->correlation;
    if (at < count && items[at] == correlation)
        return true;
    if (at + 1 < count && items[at] < correlation && correlation < items[at + 1])
        return false;
    RTL_LOWER_BOUND(at, count, items[at] <= correlation);
    look->correlation = at ? at - 1 : 0; /* the last that is not above it */
    return at > 0 && items[at - 1] == correlation;
}

/* The window that a time lies in, NULL: none. */
static const struct rtl_select_window *window_at(struct rtl_select_look *look, uint64_t time)
{
    const struct rtl_select_window *items = look->windows;
    size_t at = look->window;
    if (at >= look->window_count || items[at].from > time || items[at].to <= time)
        RTL_LOWER_BOUND(at, look->window_count, items[at].to <= time);
    look->window = at;
    return at < look->window_count && items[at].from <= time ? &items[at] : NULL;
}

bool rtl_select_kernel(struct rtl_select_look *look, uint32_t shape, uint64_t correlation,
                       uint64_t start)
{
    return (!look->shapes || shape_passes(look, shape)) &&
           (!look->correlations || correlation_passes(look, correlation)) &&
           (!look->windows || window_at(look, start));
}

uint64_t rtl_select_end(struct rtl_select_look *look, uint64_t start)
{
    const struct rtl_select_window *window = look->windows ? window_at(look, start) : NULL;
    return window ? window->to : UINT64_MAX;
}

/* Whether something of a process that begins at a time passes, by its host call if there is one
 * (`correlation` NULL: it is not asked). */
static bool passes(const struct rtl_select *select, uint32_t process, const uint64_t *correlation,
                   uint64_t start)
{
    struct rtl_select_look look;
    if (!process_passes(select, process))
        return false;
    (void)rtl_select_begin(select, process, &look);
    return (!correlation || !look.correlations || correlation_passes(&look, *correlation)) &&
           (!look.windows || window_at(&look, start));
}

bool rtl_select_copy(const struct rtl_select *select, const rtl_copy_t *copy)
{
    return !select || select->only_launches ||
           (!select->by_name && gpu_passes(select, copy->gpu) &&
            passes(select, copy->process, &copy->correlation, copy->start));
}

bool rtl_select_call(const struct rtl_select *select, const rtl_api_t *call)
{
    return !select || (passes(select, call->process, NULL, call->start) &&
                       (!select->by_stream || stream_passes(select, call->process, call->stream)));
}

bool rtl_select_range(const struct rtl_select *select, const rtl_range_t *range)
{
    return !select || process_passes(select, range->process);
}

bool rtl_select_launch(const struct rtl_select *select, const rtl_graph_launch_t *launch)
{
    return !select || passes(select, launch->process, &launch->correlation,
                             launch->start ? launch->start : launch->time);
}

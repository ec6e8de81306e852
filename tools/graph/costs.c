#include "graph/costs.h"

#include "analysis/activity.h"
#include "common/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Something that cost time, and the handles that tell whose it was. */
struct event {
    enum graph_cost kind;
    uint32_t process;
    uint64_t start, end;
    uint64_t exec, graph; /* hipGraphExec_t, hipGraph_t; 0: not told */
    uint64_t correlation;
    size_t line; /* SIZE_MAX: not known yet */
};

/* A capture that goes on. */
struct capture {
    uint32_t process;
    uint64_t stream, start;
};

/* A handle, or a correlation, that a graph had from a time on. */
struct handle {
    uint32_t process;
    uint64_t handle, time;
    uint32_t graph;
};

struct reader {
    rtl_trace_t *trace;
    struct graph_costs *costs;
    size_t sorted;                       /* of its lines: those of graphs, by process and graph */
    struct handle *execs, *correlations; /* of all generations, by handle and time */
    struct handle *hip_graphs;           /* of all that were made of a definition */
    size_t hip_graph_count;
    const rtl_graph_t *graphs;
    size_t graph_count;
    struct event *events;
    size_t count, room;
    struct capture *captures;
    size_t capture_count;
};

const char *graph_cost_name(enum graph_cost kind)
{
    static const char *const names[GRAPH_COSTS] = {"capture", "instantiate", "update", "upload",
                                                   "destroy"};
    return names[kind];
}

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* What a call costs, GRAPH_COSTS: nothing of this. Captures are put together from two calls. */
static enum graph_cost kind_of(const char *name)
{
    if (begins(name, "hipGraphInstantiate"))
        return GRAPH_COST_INSTANTIATE;
    if (begins(name, "hipGraphUpload"))
        return GRAPH_COST_UPLOAD;
    if (begins(name, "hipGraphExecDestroy") || strcmp(name, "hipGraphDestroy") == 0)
        return GRAPH_COST_DESTROY;
    if (strcmp(name, "hipGraphExecUpdate") == 0 ||
        (begins(name, "hipGraphExec") && strstr(name, "SetParams")))
        return GRAPH_COST_UPDATE;
    return begins(name, "hipGraphAdd") ? GRAPH_COST_CAPTURE : GRAPH_COSTS;
}

/* The first argument of this type, or of one that the call fills and has this name; 0 if none. */
static uint64_t argument_of(const rtl_api_t *call, char type, const char *filled)
{
    rtl_argument_t argument;
    for (size_t i = 0; rtlApiArgument(call, i, &argument) == RTL_OK; ++i)
        if (argument.parameter.type == type || (filled && argument.parameter.type == 'P' &&
                                                strcmp(argument.parameter.name, filled) == 0))
            return argument.words[0];
    return 0;
}

static void add(struct reader *reader, const struct event *event)
{
    if (reader->count == reader->room) {
        reader->room = reader->room ? 2 * reader->room : 64;
        reader->events = memory_grown(reader->events, reader->room, sizeof *reader->events);
    }
    reader->events[reader->count] = *event;
    reader->events[reader->count++].line = SIZE_MAX;
}

static void begin_capture(struct reader *reader, const rtl_api_t *call)
{
    reader->captures =
        memory_grown(reader->captures, reader->capture_count + 1, sizeof *reader->captures);
    reader->captures[reader->capture_count++] =
        (struct capture){call->process, argument_of(call, 's', NULL), call->start};
}

static void end_capture(struct reader *reader, const rtl_api_t *call)
{
    uint64_t stream = argument_of(call, 's', NULL);
    size_t at = reader->capture_count;
    while (at > 0 && (reader->captures[at - 1].process != call->process ||
                      reader->captures[at - 1].stream != stream))
        --at;
    const struct event event = {.kind = GRAPH_COST_CAPTURE,
                                .process = call->process,
                                .start = at ? reader->captures[at - 1].start : call->start,
                                .end = call->end,
                                .graph = argument_of(call, 'g', "pGraph")};
    add(reader, &event);
    if (at)
        reader->captures[at - 1] = reader->captures[--reader->capture_count];
}

static void take(struct reader *reader, const rtl_api_t *call)
{
    if (begins(call->name, "hipStreamBeginCapture")) {
        if (call->result == 0)
            begin_capture(reader, call);
    } else if (begins(call->name, "hipStreamEndCapture")) {
        end_capture(reader, call);
    } else if (kind_of(call->name) != GRAPH_COSTS) {
        const struct event event = {.kind = kind_of(call->name),
                                    .process = call->process,
                                    .start = call->start,
                                    .end = call->end,
                                    .exec = argument_of(call, 'x', "pGraphExec"),
                                    .graph = argument_of(call, 'g', NULL),
                                    .correlation = call->correlation};
        add(reader, &event);
    }
}

static rtl_status_t read_calls(struct reader *reader)
{
    rtl_api_iter_t *calls;
    rtl_api_t call;
    rtl_status_t status = rtlTraceApi(reader->trace, NULL, &calls);
    if (status != RTL_OK)
        return status;
    while ((status = rtlApiNext(calls, &call)) == RTL_OK)
        if (begins(call.name, "hipGraph") || begins(call.name, "hipStreamBeginCapture") ||
            begins(call.name, "hipStreamEndCapture"))
            take(reader, &call);
    rtlApiIterFree(calls);
    return status == RTL_END ? RTL_OK : status;
}

static int by_handle(const void *left, const void *right)
{
    const struct handle *a = left;
    const struct handle *b = right;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->handle != b->handle)
        return a->handle < b->handle ? -1 : 1;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->graph > b->graph) - (a->graph < b->graph);
}

/* Correlations stand in the place of times: each is that of one generation. */
static void index_graphs(struct reader *reader)
{
    size_t count = reader->graph_count;
    reader->execs = memory_new(count, sizeof *reader->execs);
    reader->correlations = memory_new(count, sizeof *reader->correlations);
    for (size_t i = 0; i < count; ++i) {
        const rtl_graph_t *graph = &reader->graphs[i];
        reader->execs[i] = (struct handle){graph->process, graph->exec, graph->time, graph->graph};
        reader->correlations[i] =
            (struct handle){graph->process, graph->correlation, 0, graph->graph};
    }
    if (count == 0)
        return;
    qsort(reader->execs, count, sizeof *reader->execs, by_handle);
    qsort(reader->correlations, count, sizeof *reader->correlations, by_handle);
}

/* The first that is not before the key. */
static size_t search(const struct handle *list, size_t count, const struct handle *key)
{
    size_t low = 0;
    while (low < count) {
        size_t middle = (low + count) / 2;
        if (by_handle(&list[middle], key) < 0)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

/* Of the graphs that had a handle the first from a time on, or the last up to it; RTL_TRACE_NONE:
 * none. */
static uint32_t holder(const struct handle *list, size_t count, uint32_t process, uint64_t handle,
                       uint64_t time, bool from)
{
    const struct handle key = {process, handle, from ? time : time + 1, 0};
    size_t at = search(list, count, &key);
    if (!from && at-- == 0)
        return RTL_TRACE_NONE;
    return at < count && list[at].process == process && list[at].handle == handle ? list[at].graph
                                                                                  : RTL_TRACE_NONE;
}

/* By the call that made or changed a graph, or by the handle of the executable one; else by that of
 * the definition. Handles come again: what is captured belongs to the first graph that is made of
 * it behind, all else to the last one before. */
static uint32_t graph_of(const struct reader *reader, const struct event *event)
{
    bool captures = event->kind == GRAPH_COST_CAPTURE;
    size_t count = reader->graph_count;
    uint32_t graph = RTL_TRACE_NONE;
    if (event->correlation)
        graph = holder(reader->correlations, count, event->process, event->correlation, 0, true);
    if (graph == RTL_TRACE_NONE && event->exec)
        graph = holder(reader->execs, count, event->process, event->exec, event->end, false);
    if (graph == RTL_TRACE_NONE && !event->exec && event->graph)
        graph = holder(reader->hip_graphs, reader->hip_graph_count, event->process, event->graph,
                       captures ? event->start : event->end, captures);
    return graph;
}

/* Which definition was made into which graph, and when. */
static void index_definitions(struct reader *reader)
{
    reader->hip_graphs = memory_new(reader->count, sizeof *reader->hip_graphs);
    for (size_t i = 0; i < reader->count; ++i) {
        const struct event *event = &reader->events[i];
        if (!event->exec || !event->graph)
            continue;
        uint32_t graph = graph_of(reader, event);
        if (graph != RTL_TRACE_NONE)
            reader->hip_graphs[reader->hip_graph_count++] =
                (struct handle){event->process, event->graph, event->start, graph};
    }
    if (reader->hip_graph_count)
        qsort(reader->hip_graphs, reader->hip_graph_count, sizeof *reader->hip_graphs, by_handle);
}

/* Those of graphs stand in order, those of none behind them. */
static struct graph_costs_line *line_of(struct reader *reader, uint32_t process, uint32_t graph)
{
    struct graph_costs *costs = reader->costs;
    size_t low = 0;
    size_t high = reader->sorted;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct graph_costs_line *line = &costs->lines[middle];
        if (line->process < process || (line->process == process && line->graph < graph))
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < costs->count; low = low < reader->sorted ? reader->sorted : low + 1)
        if (costs->lines[low].process == process && costs->lines[low].graph == graph)
            return &costs->lines[low];
    costs->lines = memory_grown(costs->lines, costs->count + 1, sizeof *costs->lines);
    costs->lines[costs->count] = (struct graph_costs_line){.process = process, .graph = graph};
    return &costs->lines[costs->count++];
}

static void add_lines(struct reader *reader)
{
    for (size_t i = 0; i < reader->graph_count; ++i) {
        const rtl_graph_t *graph = &reader->graphs[i];
        struct graph_costs_line *last = i ? &reader->costs->lines[reader->costs->count - 1] : NULL;
        if (!last || last->process != graph->process || last->graph != graph->graph)
            last = line_of(reader, graph->process, graph->graph);
        reader->sorted = reader->costs->count;
        ++last->generations;
        last->unused += graph->launches == 0;
    }
}

static int by_start(const void *left, const void *right)
{
    const struct event *a = left;
    const struct event *b = right;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->start > b->start) - (a->start < b->start);
}

static void add_sums(struct reader *reader)
{
    if (reader->count)
        qsort(reader->events, reader->count, sizeof *reader->events, by_start);
    for (size_t i = 0; i < reader->count; ++i) {
        struct event *event = &reader->events[i];
        struct graph_costs_line *line = line_of(reader, event->process, graph_of(reader, event));
        event->line = (size_t)(line - reader->costs->lines);
        ++line->sums[event->kind].count;
        line->sums[event->kind].ns += event->end - event->start;
        line->sums[event->kind].idle += event->end - event->start;
    }
}

/* The events of one process: what is left of their times when all that ran is taken away. */
struct idling {
    struct graph_costs *costs;
    const struct event *events;
    size_t count;
};

static rtl_status_t stretch(void *context, enum activity kind, uint64_t from, uint64_t to,
                            const struct activity_work *next)
{
    struct idling *idling = context;
    (void)next;
    if (kind == ACTIVITY_IDLE)
        return RTL_OK;
    while (idling->count && idling->events->end <= from) {
        ++idling->events;
        --idling->count;
    }
    for (size_t i = 0; i < idling->count && idling->events[i].start < to; ++i) {
        const struct event *event = &idling->events[i];
        uint64_t first = event->start > from ? event->start : from;
        uint64_t last = event->end < to ? event->end : to;
        if (last > first)
            idling->costs->lines[event->line].sums[event->kind].idle -= last - first;
    }
    return RTL_OK;
}

static rtl_status_t add_idle(struct reader *reader)
{
    rtl_status_t status = RTL_OK;
    for (size_t i = 0; i < reader->count && status == RTL_OK;) {
        struct idling idling = {reader->costs, &reader->events[i], 0};
        const struct activity_watcher watcher = {.context = &idling, .stretch = stretch};
        uint32_t process = reader->events[i].process;
        for (; i < reader->count && reader->events[i].process == process; ++i)
            ++idling.count;
        status = activity_walk(reader->trace, process, RTL_TRACE_NONE, &watcher);
    }
    return status;
}

rtl_status_t graph_costs_read(rtl_trace_t *trace, struct graph_costs *costs)
{
    struct reader reader = {.trace = trace, .costs = costs};
    *costs = (struct graph_costs){0};
    rtl_status_t status = rtlTraceGraphs(trace, &reader.graphs, &reader.graph_count);
    if (status == RTL_OK)
        status = read_calls(&reader);
    if (status == RTL_OK) {
        index_graphs(&reader);
        index_definitions(&reader);
        add_lines(&reader);
        add_sums(&reader);
        status = add_idle(&reader);
    }
    free(reader.execs);
    free(reader.hip_graphs);
    free(reader.correlations);
    free(reader.events);
    free(reader.captures);
    return status;
}

struct graph_cost_sum graph_costs_sum(const struct graph_costs_line *line)
{
    struct graph_cost_sum sum = {0};
    for (unsigned kind = 0; kind < GRAPH_COSTS; ++kind) {
        sum.count += line->sums[kind].count;
        sum.ns += line->sums[kind].ns;
        sum.idle += line->sums[kind].idle;
    }
    return sum;
}

void graph_costs_free(struct graph_costs *costs)
{
    free(costs->lines);
    *costs = (struct graph_costs){0};
}

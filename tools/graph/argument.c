#include "graph/argument.h"

#include "common/command.h"
#include "common/memory.h"
#include "common/open.h"
#include "common/say.h"

#include <errno.h>
#include <string.h>

int graph_argument_take(struct graph_argument *argument, const char *value)
{
    if (!argument->path) {
        argument->path = value;
        return 0;
    }
    if (argument->id_text)
        return say_fail(EINVAL, "one graph at a time: '%s' is a second one", value);
    argument->id_text = value;
    if (!graph_id_read(value, &argument->id))
        return say_fail(EINVAL, "'%s' names no graph: write 3, 3.2 or 1:3", value);
    return 0;
}

int graph_argument_needs(const struct graph_argument *argument, const char *name)
{
    if (!argument->path)
        return say_fail(EXIT_USAGE, "no trace was named: rtl graph %s FILE GRAPH", name);
    if (!argument->id_text)
        return say_fail(EXIT_USAGE,
                        "no graph was named: rtl graph %s FILE GRAPH "
                        "(rtl graph list %s shows them)",
                        name, argument->path);
    return 0;
}

/* Counts the launches that the reader gives out. */
static rtl_status_t count_launches(rtl_trace_t *trace, rtl_graph_t *generations, size_t count)
{
    rtl_launch_filter_t filter = RTL_LAUNCH_FILTER_ALL;
    rtl_launch_iter_t *iter = NULL;
    rtl_graph_launch_t launch;
    filter.process = generations->process;
    filter.graph = generations->graph;
    for (size_t i = 0; i < count; ++i)
        generations[i].launches = 0;
    rtl_status_t status = rtlTraceLaunches(trace, &filter, &iter);
    while (status == RTL_OK && (status = rtlLaunchNext(iter, &launch)) == RTL_OK)
        for (size_t i = 0; i < count; ++i)
            generations[i].launches += generations[i].generation == launch.generation;
    rtlLaunchIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

int graph_argument_find(rtl_trace_t *trace, const struct graph_argument *argument,
                        const struct selection *selection, struct graph_id *id,
                        rtl_graph_t **generations, size_t *count)
{
    const rtl_graph_t *found = NULL;
    *id = argument->id;
    *generations = NULL;
    if (id->process == 0)
        id->process = selection_process(selection);
    int status = graph_id_find(trace, argument->path, id, &found, count);
    if (status != EXIT_FINE)
        return status;
    *generations = memory_new(*count, sizeof **generations);
    memcpy(*generations, found, *count * sizeof **generations);
    if (selection_is(selection) && count_launches(trace, *generations, *count) != RTL_OK)
        return open_failed(trace, argument->path);
    return EXIT_FINE;
}

uint64_t graph_argument_launches(rtl_trace_t *trace, const struct graph_id *id)
{
    const rtl_graph_t *graphs;
    size_t count;
    uint64_t launches = 0;
    if (rtlTraceGraphs(trace, &graphs, &count) != RTL_OK)
        return 0;
    for (size_t i = 0; i < count; ++i)
        if (graphs[i].process == id->process && graphs[i].graph == id->graph &&
            (id->generation == 0 || graphs[i].generation == id->generation))
            launches += graphs[i].launches;
    return launches;
}

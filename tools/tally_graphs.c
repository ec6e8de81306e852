#include "tally_graphs.h"

#include <stdlib.h>

static int same(const struct tally_graph *a, uint32_t process, uint32_t graph)
{
    return a->process == process && a->graph == graph;
}

/* The reader lists graphs and launches by process and graph. */
static void add_launches(struct tally_graphs *tally, const rtl_graph_launch_t *launches,
                         size_t count)
{
    size_t at = 0;
    for (size_t i = 0; i < count; ++i) {
        const rtl_graph_launch_t *launch = &launches[i];
        while (at < tally->count && !same(&tally->graphs[at], launch->process, launch->graph))
            ++at;
        if (at == tally->count)
            return;
        struct tally_graph *graph = &tally->graphs[at];
        uint64_t time = launch->end - launch->start;
        ++graph->launches;
        graph->kernels += launch->kernels;
        graph->timed += launch->end != 0;
        graph->total += time;
        graph->max = time > graph->max ? time : graph->max;
        ++tally->launches;
        tally->kernels += launch->kernels;
    }
}

static int by_total(const void *left, const void *right)
{
    const struct tally_graph *a = left;
    const struct tally_graph *b = right;
    if (a->total != b->total)
        return a->total < b->total ? 1 : -1;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->graph > b->graph) - (a->graph < b->graph);
}

static void add_generation(struct tally_graphs *tally, const rtl_graph_t *generation)
{
    struct tally_graph *last = tally->count ? &tally->graphs[tally->count - 1] : NULL;
    if (!last || !same(last, generation->process, generation->graph)) {
        last = &tally->graphs[tally->count++];
        *last = (struct tally_graph){.process = generation->process,
                                     .graph = generation->graph,
                                     .source = generation->source};
    }
    ++last->generations;
    last->nodes = generation->nodes;
}

rtl_status_t tally_graphs_read(rtl_trace_t *trace, struct tally_graphs *tally)
{
    const rtl_graph_t *graphs;
    const rtl_graph_launch_t *launches;
    size_t graph_count;
    size_t launch_count;
    *tally = (struct tally_graphs){0};
    rtl_status_t status = rtlTraceGraphs(trace, &graphs, &graph_count);
    if (status == RTL_OK)
        status = rtlTraceGraphLaunches(trace, &launches, &launch_count);
    if (status != RTL_OK || graph_count == 0)
        return status;
    tally->graphs = calloc(graph_count, sizeof *tally->graphs);
    if (!tally->graphs)
        return RTL_E_MEMORY;
    for (size_t i = 0; i < graph_count; ++i)
        add_generation(tally, &graphs[i]);
    add_launches(tally, launches, launch_count);
    qsort(tally->graphs, tally->count, sizeof *tally->graphs, by_total);
    return RTL_OK;
}

void tally_graphs_free(struct tally_graphs *tally)
{
    free(tally->graphs);
    *tally = (struct tally_graphs){0};
}

#include "summary/tally_graphs.h"

#include <stdbool.h>
#include <stdlib.h>

static int same(const struct tally_graph *a, uint32_t process, uint32_t graph)
{
    return a->process == process && a->graph == graph;
}

static bool add_launch(struct tally_graphs *tally, struct tally_graph *graph,
                       const rtl_graph_launch_t *launch)
{
    ++graph->launches;
    graph->kernels += launch->kernels;
    ++tally->launches;
    tally->kernels += launch->kernels;
    if (partial_is(launch)) {
        ++graph->partial;
        ++tally->partial;
        return true;
    }
    return launch->end == 0 || rtl_stat_add(&graph->stat, launch->end - launch->start);
}

static int by_id(const void *left, const void *right)
{
    const struct tally_graph *a = left;
    const struct tally_graph *b = right;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->graph > b->graph) - (a->graph < b->graph);
}

/* Graphs are still in the order of process and graph, as the reader lists them. */
static rtl_status_t add_launches(rtl_trace_t *trace, uint64_t from, uint64_t to,
                                 struct tally_graphs *tally)
{
    const rtl_launch_filter_t filter = {.from = from, .to = to, .graph = RTL_TRACE_NONE};
    rtl_launch_iter_t *iter = NULL;
    rtl_graph_launch_t launch;
    rtl_status_t status = rtlTraceLaunches(trace, &filter, &iter);
    while (status == RTL_OK && (status = rtlLaunchNext(iter, &launch)) == RTL_OK) {
        const struct tally_graph key = {.process = launch.process, .graph = launch.graph};
        struct tally_graph *graph = bsearch(&key, tally->graphs, tally->count, sizeof key, by_id);
        if (graph && !add_launch(tally, graph, &launch))
            status = RTL_E_MEMORY;
    }
    rtlLaunchIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

void tally_graphs_launched(struct tally_graphs *tally)
{
    size_t kept = 0;
    for (size_t i = 0; i < tally->count; ++i)
        if (tally->graphs[i].launches)
            tally->graphs[kept++] = tally->graphs[i];
    tally->count = kept;
}

static int by_total(const void *left, const void *right)
{
    const struct tally_graph *a = left;
    const struct tally_graph *b = right;
    if (a->stat.total != b->stat.total)
        return a->stat.total < b->stat.total ? 1 : -1;
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

rtl_status_t tally_graphs_read(rtl_trace_t *trace, uint64_t from, uint64_t to,
                               struct tally_graphs *tally)
{
    const rtl_graph_t *graphs;
    size_t graph_count;
    *tally = (struct tally_graphs){0};
    rtl_status_t status = rtlTraceGraphs(trace, &graphs, &graph_count);
    if (status == RTL_OK)
        status = partial_read(trace, 0, &tally->why);
    if (status != RTL_OK || graph_count == 0)
        return status;
    tally->graphs = calloc(graph_count, sizeof *tally->graphs);
    if (!tally->graphs)
        return RTL_E_MEMORY;
    for (size_t i = 0; i < graph_count; ++i)
        add_generation(tally, &graphs[i]);
    status = add_launches(trace, from, to, tally);
    if (status != RTL_OK) {
        tally_graphs_free(tally);
        return status;
    }
    if (from || to)
        tally_graphs_launched(tally);
    qsort(tally->graphs, tally->count, sizeof *tally->graphs, by_total);
    return RTL_OK;
}

void tally_graphs_free(struct tally_graphs *tally)
{
    for (size_t i = 0; i < tally->count; ++i)
        rtl_stat_free(&tally->graphs[i].stat);
    free(tally->graphs);
    *tally = (struct tally_graphs){0};
}

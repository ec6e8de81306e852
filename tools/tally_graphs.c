#include "tally_graphs.h"

#include <stdbool.h>
#include <stdlib.h>

static int same(const struct tally_graph *a, uint32_t process, uint32_t graph)
{
    return a->process == process && a->graph == graph;
}

/* Launches without kernels are where their thread was. */
static bool overlaps(const rtl_graph_launch_t *launch, uint64_t from, uint64_t to)
{
    uint64_t start = launch->end ? launch->start : launch->time;
    uint64_t end = launch->end ? launch->end : launch->time;
    return (to == 0 || start < to) && (end > from || start >= from);
}

static bool add_launch(struct tally_graphs *tally, struct tally_graph *graph,
                       const rtl_graph_launch_t *launch)
{
    ++graph->launches;
    graph->kernels += launch->kernels;
    ++tally->launches;
    tally->kernels += launch->kernels;
    return launch->end == 0 || rtl_stat_add(&graph->stat, launch->end - launch->start);
}

/* The reader lists graphs and launches by process and graph. False when memory is short. */
static bool add_launches(struct tally_graphs *tally, const rtl_graph_launch_t *launches,
                         size_t count, uint64_t from, uint64_t to)
{
    size_t at = 0;
    for (size_t i = 0; i < count; ++i) {
        const rtl_graph_launch_t *launch = &launches[i];
        while (at < tally->count && !same(&tally->graphs[at], launch->process, launch->graph))
            ++at;
        if (at == tally->count)
            break;
        if (overlaps(launch, from, to) && !add_launch(tally, &tally->graphs[at], launch))
            return false;
    }
    return true;
}

static void drop_without_launches(struct tally_graphs *tally)
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
    if (!add_launches(tally, launches, launch_count, from, to)) {
        tally_graphs_free(tally);
        return RTL_E_MEMORY;
    }
    if (from || to)
        drop_without_launches(tally);
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

#include "diff/graphs.h"

#include "analysis/partial.h"
#include "common/lower_bound.h"
#include "common/memory.h"
#include "common/texts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A graph with the numbers of its kernels' names. */
struct made_of {
    const rtl_graph_t *graph; /* the latest generation */
    size_t *names;            /* in the order of the nodes */
    size_t *sorted;
    size_t count;
    size_t match; /* place in the other trace, SIZE_MAX: none */
    uint64_t launches;
    struct stats time;
};

struct side {
    struct made_of *graphs;
    size_t count;
};

static int by_number(const void *left, const void *right)
{
    size_t a = *(const size_t *)left;
    size_t b = *(const size_t *)right;
    return (a > b) - (a < b);
}

static rtl_status_t read_names(rtl_trace_t *trace, struct texts *texts, struct made_of *graph)
{
    const rtl_graph_node_t *nodes;
    size_t count;
    rtl_status_t status = rtlTraceGraphNodes(trace, graph->graph, &nodes, &count);
    if (status != RTL_OK)
        return status;
    graph->names = memory_new(count, sizeof *graph->names);
    graph->sorted = memory_new(count, sizeof *graph->sorted);
    for (size_t i = 0; i < count; ++i) {
        if (strcmp(nodes[i].type, "kernel") != 0)
            continue;
        size_t number = texts_number(texts, nodes[i].name);
        if (number == TEXTS_NONE)
            memory_is_short();
        graph->names[graph->count++] = number;
    }
    memcpy(graph->sorted, graph->names, graph->count * sizeof *graph->names);
    qsort(graph->sorted, graph->count, sizeof *graph->sorted, by_number);
    return RTL_OK;
}

static bool is_before(const rtl_graph_t *row, uint32_t process, uint32_t graph)
{
    return row->process < process || (row->process == process && row->graph < graph);
}

static struct made_of *find(const struct side *side, uint32_t process, uint32_t graph)
{
    size_t low;
    RTL_LOWER_BOUND(low, side->count, is_before(side->graphs[low].graph, process, graph));
    bool found = low < side->count && side->graphs[low].graph->process == process &&
                 side->graphs[low].graph->graph == graph;
    return found ? &side->graphs[low] : NULL;
}

static rtl_status_t add_launches(struct side *side, rtl_trace_t *trace)
{
    rtl_launch_iter_t *iter;
    rtl_graph_launch_t launch;
    rtl_status_t status = rtlTraceLaunches(trace, NULL, &iter);
    if (status != RTL_OK)
        return status;
    while ((status = rtlLaunchNext(iter, &launch)) == RTL_OK) {
        struct made_of *graph = find(side, launch.process, launch.graph);
        if (!graph)
            continue;
        ++graph->launches;
        if (launch.end && !partial_is(&launch))
            stats_add(&graph->time, launch.end - launch.start);
    }
    rtlLaunchIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

static rtl_status_t read_side(rtl_trace_t *trace, struct texts *texts, struct side *side)
{
    const rtl_graph_t *graphs;
    size_t count;
    rtl_status_t status = rtlTraceGraphs(trace, &graphs, &count);
    if (status != RTL_OK)
        return status;
    side->graphs = memory_new(count, sizeof *side->graphs);
    for (size_t i = 0; i < count; ++i) {
        bool last = i + 1 == count || graphs[i + 1].process != graphs[i].process ||
                    graphs[i + 1].graph != graphs[i].graph;
        if (last)
            side->graphs[side->count++] = (struct made_of){.graph = &graphs[i], .match = SIZE_MAX};
    }
    for (size_t i = 0; i < side->count && status == RTL_OK; ++i)
        status = read_names(trace, texts, &side->graphs[i]);
    return status == RTL_OK ? add_launches(side, trace) : status;
}

static size_t in_common(const struct made_of *a, const struct made_of *b)
{
    size_t common = 0;
    for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
        if (a->sorted[i] == b->sorted[j]) {
            ++common;
            ++i;
            ++j;
        } else if (a->sorted[i] < b->sorted[j]) {
            ++i;
        } else {
            ++j;
        }
    }
    return common;
}

static bool is_same(const struct made_of *a, const struct made_of *b)
{
    return a->count == b->count && memcmp(a->names, b->names, a->count * sizeof *a->names) == 0;
}

static void pair_up(struct side *sides, size_t a, size_t b)
{
    sides[0].graphs[a].match = b;
    sides[1].graphs[b].match = a;
}

static void match_same(struct side *sides)
{
    for (size_t i = 0; i < sides[0].count; ++i)
        for (size_t j = 0; j < sides[1].count; ++j)
            if (sides[1].graphs[j].match == SIZE_MAX &&
                is_same(&sides[0].graphs[i], &sides[1].graphs[j])) {
                pair_up(sides, i, j);
                break;
            }
}

static void match_alike(struct side *sides)
{
    for (size_t i = 0; i < sides[0].count; ++i) {
        const struct made_of *a = &sides[0].graphs[i];
        size_t best = SIZE_MAX;
        size_t most = 0;
        for (size_t j = 0; j < sides[1].count && a->match == SIZE_MAX; ++j) {
            const struct made_of *b = &sides[1].graphs[j];
            size_t larger = a->count > b->count ? a->count : b->count;
            size_t common = b->match == SIZE_MAX ? in_common(a, b) : 0;
            if (2 * common > larger && common > most) {
                most = common;
                best = j;
            }
        }
        if (best != SIZE_MAX)
            pair_up(sides, i, best);
    }
}

static void put(struct diff_graph *to, unsigned side, struct made_of *from)
{
    to->graph[side] = from->graph;
    to->launches[side] = from->launches;
    to->time[side] = from->time;
    from->time = (struct stats){0};
}

static void list_pairs(struct side *sides, struct diff_graphs *graphs)
{
    graphs->list = memory_new(sides[0].count + sides[1].count, sizeof *graphs->list);
    for (size_t i = 0; i < sides[0].count; ++i) {
        struct diff_graph *to = &graphs->list[graphs->count++];
        put(to, 0, &sides[0].graphs[i]);
        if (sides[0].graphs[i].match != SIZE_MAX)
            put(to, 1, &sides[1].graphs[sides[0].graphs[i].match]);
    }
    for (size_t i = 0; i < sides[1].count; ++i)
        if (sides[1].graphs[i].match == SIZE_MAX)
            put(&graphs->list[graphs->count++], 1, &sides[1].graphs[i]);
}

static void compare_all(struct diff_graphs *graphs)
{
    struct comparison **family = memory_new(graphs->count, sizeof(struct comparison *));
    size_t count = 0;
    for (size_t i = 0; i < graphs->count; ++i) {
        struct diff_graph *graph = &graphs->list[i];
        if (!graph->graph[0] || !graph->graph[1])
            continue;
        compare(&graph->time[0], &graph->time[1], &graph->comparison);
        family[count++] = &graph->comparison;
    }
    compare_family(family, count);
    free(family);
}

rtl_status_t diff_graphs_read(rtl_trace_t *const traces[2], struct diff_graphs *graphs)
{
    struct side sides[2] = {{0}};
    struct texts texts = {0};
    rtl_status_t status = RTL_OK;
    *graphs = (struct diff_graphs){0};
    for (unsigned i = 0; i < 2 && status == RTL_OK; ++i)
        status = read_side(traces[i], &texts, &sides[i]);
    if (status == RTL_OK) {
        match_same(sides);
        match_alike(sides);
        list_pairs(sides, graphs);
        compare_all(graphs);
    }
    for (unsigned i = 0; i < 2; ++i) {
        for (size_t j = 0; j < sides[i].count; ++j) {
            stats_free(&sides[i].graphs[j].time);
            free(sides[i].graphs[j].names);
            free(sides[i].graphs[j].sorted);
        }
        free(sides[i].graphs);
    }
    texts_free(&texts);
    return status;
}

void diff_graphs_free(struct diff_graphs *graphs)
{
    for (size_t i = 0; i < graphs->count; ++i) {
        stats_free(&graphs->list[i].time[0]);
        stats_free(&graphs->list[i].time[1]);
    }
    free(graphs->list);
    *graphs = (struct diff_graphs){0};
}

#include "diff/places.h"

#include "common/memory.h"

#include <stdlib.h>
#include <string.h>

/* All time of a graph's launches in the first side. */
static uint64_t time_of(const struct diff_runs *runs, const struct diff_graph *graph)
{
    uint64_t sum = 0;
    for (size_t run = 0; run < runs->begin[1]; ++run)
        sum += graph->time[run] ? graph->time[run]->total : 0;
    return sum;
}

/* The graph with most time that has none yet; NULL: none is left. */
static const struct diff_graph *next_graph(const struct diff_runs *runs,
                                           const struct diff_graphs *graphs,
                                           const struct diff_places *places)
{
    const struct diff_graph *best = NULL;
    for (size_t i = 0; i < graphs->count; ++i) {
        const struct diff_graph *graph = &graphs->list[i];
        bool had = false;
        for (size_t k = 0; k < places->count; ++k)
            had |= places->list[k].graph == graph;
        if (graph->timed && !had && (!best || time_of(runs, graph) > time_of(runs, best)))
            best = graph;
    }
    return best;
}

/* The generation that was launched most. */
static rtl_status_t choose(rtl_trace_t *trace, const rtl_graph_t *graph, const rtl_graph_t **chosen)
{
    const rtl_graph_t *graphs;
    size_t count;
    rtl_status_t status = rtlTraceGraphs(trace, &graphs, &count);
    *chosen = graph;
    for (size_t i = 0; i < count && status == RTL_OK; ++i)
        if (graphs[i].process == graph->process && graphs[i].graph == graph->graph &&
            graphs[i].launches > (*chosen)->launches)
            *chosen = &graphs[i];
    return status;
}

static bool has_same_layers(const struct diff_layers *of, size_t a, size_t b)
{
    const struct graph_layers *one = &of->layers[a];
    const struct graph_layers *other = &of->layers[b];
    bool same = other->found && one->period.length == other->period.length &&
                one->period.count == other->period.count;
    for (size_t i = 0; same && i < one->period.length; ++i)
        same = strcmp(of->readings[a].nodes[graph_layers_node(one, 0, i)].name,
                      of->readings[b].nodes[graph_layers_node(other, 0, i)].name) == 0;
    return same;
}

/* The side's runs, the first of which is the measure. */
static struct places_side side_of(const struct diff_runs *runs, struct diff_layers *of,
                                  unsigned side)
{
    struct places_side found = {0};
    size_t first = 0;
    of->runs[side] = memory_new(diff_runs_of(runs, side), sizeof(struct graph_layers *));
    found.runs = of->runs[side];
    for (size_t run = runs->begin[side]; run < runs->begin[side + 1]; ++run) {
        if (!of->read[run] || (found.layers && !has_same_layers(of, first, run)))
            continue;
        if (!found.layers) {
            first = run;
            found.layers = &of->layers[run];
            found.reading = &of->readings[run];
        }
        of->runs[side][found.count++] = &of->layers[run];
    }
    return found;
}

/* Nodes have a lot of durations, and names are enough. */
static void forget_times(struct graph_reading *reading)
{
    for (size_t i = 0; i < reading->node_count; ++i) {
        stats_free(&reading->nodes[i].time);
        stats_free(&reading->nodes[i].gap);
    }
}

static rtl_status_t read_graph(const struct diff_runs *runs, struct diff_layers *of)
{
    size_t all = diff_runs_all(runs);
    rtl_status_t status = RTL_OK;
    of->readings = memory_new(all, sizeof *of->readings);
    of->layers = memory_new(all, sizeof *of->layers);
    of->read = memory_new(all, sizeof *of->read);
    for (size_t run = 0; run < all && status == RTL_OK; ++run) {
        const rtl_graph_t *chosen;
        if (!of->graph->graph[run])
            continue;
        status = choose(runs->traces[run], of->graph->graph[run], &chosen);
        if (status == RTL_OK)
            status =
                graph_layers_read(runs->traces[run], chosen, &of->readings[run], &of->layers[run]);
        of->read[run] = status == RTL_OK;
        if (of->read[run]) {
            forget_times(&of->readings[run]);
            graph_layers_keep_work(&of->layers[run]);
        }
    }
    return status;
}

rtl_status_t diff_places_read(const struct diff_runs *runs, const struct diff_graphs *graphs,
                              struct family_rules *rules, struct diff_places *places)
{
    const struct diff_graph *graph;
    rtl_status_t status = RTL_OK;
    *places = (struct diff_places){.list = memory_new(DIFF_MOST_PLACES, sizeof *places->list)};
    while (status == RTL_OK && places->count < DIFF_MOST_PLACES &&
           (graph = next_graph(runs, graphs, places))) {
        struct diff_layers *of = &places->list[places->count++];
        of->graph = graph;
        status = read_graph(runs, of);
        if (status != RTL_OK)
            break;
        const struct places_side sides[] = {side_of(runs, of, 0), side_of(runs, of, 1)};
        places_diff_make(sides, rules, &of->places);
    }
    return status;
}

const struct places_diff *diff_places_of(const struct diff_places *places,
                                         const struct diff_graph *graph)
{
    for (size_t i = 0; i < places->count; ++i)
        if (places->list[i].graph == graph)
            return &places->list[i].places;
    return NULL;
}

static void free_layers(const struct diff_runs *runs, struct diff_layers *of)
{
    places_diff_free(&of->places);
    for (size_t run = 0; of->read && run < diff_runs_all(runs); ++run)
        if (of->read[run]) {
            graph_layers_free(&of->layers[run]);
            graph_reading_free(&of->readings[run]);
        }
    free(of->readings);
    free(of->layers);
    free(of->read);
    free(of->runs[0]);
    free(of->runs[1]);
}

void diff_places_free(const struct diff_runs *runs, struct diff_places *places)
{
    for (size_t i = 0; i < places->count; ++i)
        free_layers(runs, &places->list[i]);
    free(places->list);
    *places = (struct diff_places){0};
}

/* The layers of the graphs that ran longest. */
#include "report/parts.h"

#include "analysis/graph_alike.h"
#include "analysis/graph_layers_json.h"
#include "common/memory.h"
#include "common/open.h"

#include <stdlib.h>

#define MOST_GRAPHS 3u /* that are shown */
#define MOST_TRIED  6u /* that are read for it: a pass over the kernels each */

/* A generation, and the time of its launches. */
struct ran {
    const rtl_graph_t *graph;
    uint64_t ns, launches;
    uint64_t alike;
};

static int by_identity(const void *left, const void *right)
{
    const rtl_graph_t *a = ((const struct ran *)left)->graph;
    const rtl_graph_t *b = ((const struct ran *)right)->graph;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->graph != b->graph)
        return a->graph < b->graph ? -1 : 1;
    return (a->generation > b->generation) - (a->generation < b->generation);
}

static int by_time(const void *left, const void *right)
{
    const struct ran *a = left;
    const struct ran *b = right;
    if (a->ns != b->ns)
        return a->ns < b->ns ? 1 : -1;
    return by_identity(left, right);
}

/* Adds up the launches of each generation; the longest first. */
static struct ran *sum_up(const rtl_graph_t *graphs, size_t count,
                          const rtl_graph_launch_t *launches, size_t launch_count)
{
    struct ran *list = memory_new(count, sizeof *list);
    for (size_t i = 0; i < count; ++i)
        list[i].graph = &graphs[i];
    qsort(list, count, sizeof *list, by_identity);
    for (size_t i = 0; i < launch_count; ++i) {
        const rtl_graph_t identity = {.process = launches[i].process,
                                      .graph = launches[i].graph,
                                      .generation = launches[i].generation};
        const struct ran key = {.graph = &identity};
        struct ran *found = bsearch(&key, list, count, sizeof key, by_identity);
        if (!found || launches[i].end < launches[i].start)
            continue;
        found->ns += launches[i].end - launches[i].start;
        ++found->launches;
    }
    qsort(list, count, sizeof *list, by_time);
    return list;
}

/* The family of each place, beside its name. */
static void add_families(json_t *layers, const struct graph_layers *read,
                         const struct graph_reading *reading, struct family_rules *rules)
{
    json_t *places = json_object_get(layers, "places");
    for (size_t i = 0; i < read->period.length; ++i) {
        const struct graph_node *node = &reading->nodes[graph_layers_node(read, 0, i)];
        (void)json_object_set_new(json_array_get(places, i), "family",
                                  open_text(family_of(rules, node->name)));
    }
}

/* Appends the layers of a generation, if it has some. */
static rtl_status_t append(rtl_trace_t *trace, const struct ran *ran, struct family_rules *rules,
                           json_t *list)
{
    struct graph_reading reading;
    struct graph_layers layers;
    rtl_status_t status = graph_layers_read(trace, ran->graph, &reading, &layers);
    if (status != RTL_OK)
        return status;
    if (layers.found) {
        json_t *object = graph_layers_json(&layers, &reading);
        add_families(object, &layers, &reading, rules);
        (void)json_object_set_new(object, "process", open_id(ran->graph->process));
        (void)json_object_set_new(object, "graph", open_id(ran->graph->graph));
        (void)json_object_set_new(object, "generation", open_id(ran->graph->generation));
        (void)json_array_append_new(list, object);
    }
    graph_layers_free(&layers);
    graph_reading_free(&reading);
    return RTL_OK;
}

/* True if one before it does the same. */
static bool is_known(const struct ran *list, size_t at)
{
    for (size_t i = 0; i < at; ++i)
        if (list[i].alike == list[at].alike)
            return true;
    return false;
}

json_t *report_layers(rtl_trace_t *trace, struct family_rules *rules)
{
    const rtl_graph_t *graphs;
    const rtl_graph_launch_t *launches;
    size_t count;
    size_t launch_count;
    if (rtlTraceGraphs(trace, &graphs, &count) != RTL_OK ||
        rtlTraceGraphLaunches(trace, &launches, &launch_count) != RTL_OK)
        return NULL;
    struct ran *list = sum_up(graphs, count, launches, launch_count);
    json_t *array = json_array();
    rtl_status_t status = RTL_OK;
    size_t tried = 0;
    for (size_t i = 0; i < count && status == RTL_OK && list[i].launches && tried < MOST_TRIED &&
                       json_array_size(array) < MOST_GRAPHS;
         ++i) {
        status = graph_alike(trace, list[i].graph, &list[i].alike);
        if (status != RTL_OK || is_known(list, i))
            continue;
        ++tried;
        status = append(trace, &list[i], rules, array);
    }
    free(list);
    if (status == RTL_OK)
        return array;
    json_decref(array);
    return NULL;
}

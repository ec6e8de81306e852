#include "export/html_graphs.h"

#include "analysis/partial.h"
#include "common/lower_bound.h"
#include "common/open.h"
#include "export/html_time.h"
#include "export/lookup.h"

#include <stdlib.h>

/* A node with a greater number is no node. */
#define MOST_NODES 1048576u

/* What a launch takes of the page, about. */
#define LAUNCH_BYTES 12u

#define MOST_SHIFT 30u

static unsigned shift_for(size_t launches, uint64_t most)
{
    unsigned shift = 0;
    while (shift < MOST_SHIFT && launches >> shift > most / LAUNCH_BYTES)
        ++shift;
    return shift;
}

rtl_status_t html_graphs_begin(struct html_graphs *graphs, rtl_trace_t *trace, uint64_t most)
{
    rtl_status_t status = rtlTraceGraphs(trace, &graphs->rows, &graphs->graph_count);
    if (status == RTL_OK)
        status = rtlTraceGraphLaunches(trace, &graphs->launch_rows, &graphs->launch_count);
    if (status != RTL_OK)
        return status;
    graphs->shift = shift_for(graphs->launch_count, most);
    graphs->graphs = calloc(graphs->graph_count + 1, sizeof *graphs->graphs);
    graphs->launches = calloc(graphs->launch_count + 1, sizeof *graphs->launches);
    return graphs->graphs && graphs->launches ? RTL_OK : RTL_E_MEMORY;
}

static bool overlaps(const rtl_graph_launch_t *row, uint64_t from, uint64_t to)
{
    uint64_t start = row->start ? row->start : row->time;
    return start < to && (row->end > from || start >= from);
}

rtl_status_t html_graphs_choose(struct html_graphs *graphs, uint64_t from, uint64_t to,
                                uint64_t most)
{
    size_t count = 0;
    size_t place = 0;
    uint32_t number = 0;
    graphs->numbers = calloc(graphs->launch_count + 1, sizeof *graphs->numbers);
    if (!graphs->numbers)
        return RTL_E_MEMORY;
    for (size_t i = 0; i < graphs->launch_count; ++i)
        count += overlaps(&graphs->launch_rows[i], from, to);
    graphs->shift = shift_for(count, most);
    for (size_t i = 0; i < graphs->launch_count; ++i)
        if (overlaps(&graphs->launch_rows[i], from, to) && place++ % html_graphs_every(graphs) == 0)
            graphs->numbers[i] = ++number;
    return RTL_OK;
}

static bool is_launch(const rtl_graph_launch_t *row, const rtl_kernel_t *kernel)
{
    return row->process == kernel->process && row->graph == kernel->graph &&
           row->launch == kernel->launch;
}

static bool is_before(const rtl_graph_launch_t *row, const rtl_kernel_t *kernel)
{
    if (row->process != kernel->process)
        return row->process < kernel->process;
    return row->graph != kernel->graph ? row->graph < kernel->graph : row->launch < kernel->launch;
}

size_t html_graphs_launch(struct html_graphs *graphs, const rtl_kernel_t *kernel)
{
    if (kernel->launch == RTL_TRACE_NONE || kernel->graph == RTL_TRACE_NONE)
        return SIZE_MAX;
    size_t *last = &graphs->last[kernel->queue % HTML_GRAPHS_LAST];
    if (*last < graphs->launch_count && is_launch(&graphs->launch_rows[*last], kernel))
        return *last;
    size_t low;
    RTL_LOWER_BOUND(low, graphs->launch_count, is_before(&graphs->launch_rows[low], kernel));
    if (low == graphs->launch_count || !is_launch(&graphs->launch_rows[low], kernel))
        return SIZE_MAX;
    *last = low;
    return low;
}

uint32_t html_graphs_number(const struct html_graphs *graphs, size_t launch)
{
    size_t number = launch >> graphs->shift;
    if (graphs->numbers)
        return launch == SIZE_MAX ? 0 : graphs->numbers[launch];
    return launch == SIZE_MAX || number << graphs->shift != launch ? 0 : (uint32_t)number + 1;
}

static struct html_graph *find_graph(const struct html_graphs *graphs,
                                     const rtl_graph_launch_t *launch)
{
    size_t low;
    RTL_LOWER_BOUND(low, graphs->graph_count, lookup_is_before(&graphs->rows[low], launch));
    const rtl_graph_t *row = &graphs->rows[low];
    bool found = low < graphs->graph_count && row->process == launch->process &&
                 row->graph == launch->graph && row->generation == launch->generation;
    return found ? &graphs->graphs[low] : NULL;
}

static struct html_graph *graph_of(struct html_graphs *graphs, size_t launch)
{
    if (graphs->of != launch + 1)
        graphs->graph = find_graph(graphs, &graphs->launch_rows[launch]);
    graphs->of = launch + 1;
    return graphs->graph;
}

static bool has_node(struct html_graph *graph, uint32_t node)
{
    if (node < graph->count)
        return true;
    size_t count = graph->count ? 2 * graph->count : 16;
    while (count <= node)
        count *= 2;
    struct html_node *nodes = realloc(graph->nodes, count * sizeof *nodes);
    if (!nodes)
        return false;
    for (size_t i = graph->count; i < count; ++i)
        nodes[i] = (struct html_node){0};
    graph->nodes = nodes;
    graph->count = count;
    return true;
}

bool html_graphs_add(struct html_graphs *graphs, size_t launch, const rtl_kernel_t *kernel,
                     uint32_t name)
{
    const rtl_graph_launch_t *row = &graphs->launch_rows[launch];
    struct html_launch *sums = &graphs->launches[launch];
    struct html_graph *graph = graph_of(graphs, launch);
    uint64_t gap = sums->kernels && kernel->start > sums->end ? kernel->start - sums->end : 0;
    ++sums->kernels;
    sums->idle += gap;
    if (kernel->end > sums->end)
        sums->end = kernel->end;
    if (!graph)
        return true;
    if (kernel->node >= MOST_NODES) {
        ++graph->unknown;
        return true;
    }
    if (!has_node(graph, kernel->node))
        return false;
    struct html_node *node = &graph->nodes[kernel->node];
    if (node->duration.count == 0) {
        node->name = name;
        node->gpu = kernel->gpu;
        node->queue = kernel->queue;
    }
    if (partial_is(row)) /* as rtl graph show: times are of launches that are whole */
        return true;
    return spread_add(&node->duration, kernel->end - kernel->start) &&
           spread_add(&node->offset, kernel->start > row->start ? kernel->start - row->start : 0) &&
           spread_add(&node->gap, gap);
}

/* JSON. */

static json_int_t share(const struct spread *spread, double wanted)
{
    return (json_int_t)spread_quantile(spread, wanted);
}

/* least, p10, p25, p50, p75, p90, p99, most, mean, deviation */
static json_t *spread_json(const struct spread *spread)
{
    return json_pack("[I,I,I,I,I,I,I,I,f,f]", (json_int_t)spread->least, share(spread, 0.1),
                     share(spread, 0.25), share(spread, 0.5), share(spread, 0.75),
                     share(spread, 0.9), share(spread, 0.99), (json_int_t)spread->most,
                     spread_mean(spread), spread_deviation(spread));
}

static json_t *dependencies_json(const rtl_graph_node_t *row)
{
    json_t *list = json_array();
    for (uint32_t i = 0; row && i < row->dependency_count; ++i)
        (void)json_array_append_new(list, json_integer((json_int_t)row->dependencies[i]));
    return list;
}

static json_t *node_json(uint32_t number, const struct html_node *node, const rtl_graph_node_t *row,
                         uint32_t name)
{
    json_t *item = json_pack("{s:I,s:s,s:I,s:I,s:o,s:o,s:o,s:o,s:o,s:o}", "node",
                             (json_int_t)number, "type", row ? row->type : "kernel", "name",
                             (json_int_t)name, "count", (json_int_t)node->duration.count, "gpu",
                             open_id(node->gpu), "queue", open_id(node->queue), "waits",
                             dependencies_json(row), "duration", spread_json(&node->duration),
                             "offset", spread_json(&node->offset), "gap", spread_json(&node->gap));
    if (row && row->range)
        (void)json_object_set_new(item, "range", json_integer((json_int_t)row->range));
    return item;
}

static json_t *nodes_json(const struct html_graph *graph, const rtl_graph_node_t *rows,
                          size_t count, uint32_t (*number)(void *state, const char *text),
                          void *state)
{
    static const struct html_node none = {.gpu = RTL_TRACE_NONE, .queue = RTL_TRACE_NONE};
    json_t *list = json_array();
    size_t row = 0;
    uint64_t i = 0;
    while (i < graph->count || row < count) {
        if (i >= graph->count) /* none that ran */
            i = rows[row].node;
        const struct html_node *node = i < graph->count ? &graph->nodes[i] : &none;
        const rtl_graph_node_t *told = row < count && rows[row].node == i ? &rows[row] : NULL;
        bool ran = node->duration.count != 0;
        if (told || ran) {
            uint32_t name = ran || !told ? node->name : number(state, told->name);
            (void)json_array_append_new(list,
                                        node_json((uint32_t)i, ran ? node : &none, told, name));
        }
        while (row < count && rows[row].node <= i)
            ++row;
        ++i;
    }
    return list;
}

json_t *html_graphs_json(const struct html_graphs *graphs, const struct export *export,
                         uint32_t (*number)(void *state, const char *text), void *state)
{
    json_t *list = json_array();
    for (size_t i = 0; i < graphs->graph_count; ++i) {
        const rtl_graph_t *row = &graphs->rows[i];
        const rtl_graph_node_t *nodes = NULL;
        size_t count = 0;
        if (row->launches == 0 || !export_wants(export, row->process))
            continue;
        if (rtlTraceGraphNodes(export->trace, row, &nodes, &count) != RTL_OK) {
            json_decref(list);
            return NULL;
        }
        json_t *item = json_pack(
            "{s:I,s:I,s:I,s:o,s:o,s:I,s:I,s:I,s:I,s:o}", "process", (json_int_t)row->process,
            "graph", (json_int_t)row->graph, "generation", (json_int_t)row->generation, "source",
            open_text(row->source), "nodes", open_id(row->nodes), "launches",
            (json_int_t)row->launches, "kernels", (json_int_t)row->kernels, "expected",
            (json_int_t)row->expected, "unknown", (json_int_t)graphs->graphs[i].unknown, "rows",
            nodes_json(&graphs->graphs[i], nodes, count, number, state));
        (void)json_array_append_new(list, item);
    }
    return list;
}

void html_graphs_write(const struct html_graphs *graphs, uint64_t zero, struct bytes *bytes)
{
    size_t count = 0;
    for (size_t i = 0; i < graphs->launch_count; ++i)
        count += html_graphs_number(graphs, i) != 0;
    bytes_varint(bytes, count);
    for (size_t i = 0; i < graphs->launch_count; ++i) {
        const rtl_graph_launch_t *row = &graphs->launch_rows[i];
        if (html_graphs_number(graphs, i) == 0)
            continue;
        uint64_t start = row->start ? row->start : row->time;
        bytes_varint(bytes, row->process);
        bytes_varint(bytes, row->graph);
        bytes_varint(bytes, row->generation);
        bytes_varint(bytes, row->launch);
        bytes_signed(bytes, (int64_t)html_time(start, zero) - (int64_t)html_time(zero, start));
        bytes_varint(bytes, html_time(row->end, start));
        bytes_varint(bytes, graphs->launches[i].idle);
        bytes_varint(bytes, graphs->launches[i].kernels);
        bytes_varint(bytes, row->expected);
        bytes_varint(bytes, row->correlation);
        bytes_varint(bytes, row->thread);
        bytes_varint(bytes, partial_is(row));
    }
}

void html_graphs_free(struct html_graphs *graphs)
{
    for (size_t i = 0; i < graphs->graph_count && graphs->graphs; ++i) {
        for (size_t j = 0; j < graphs->graphs[i].count; ++j) {
            spread_free(&graphs->graphs[i].nodes[j].duration);
            spread_free(&graphs->graphs[i].nodes[j].offset);
            spread_free(&graphs->graphs[i].nodes[j].gap);
        }
        free(graphs->graphs[i].nodes);
    }
    free(graphs->graphs);
    free(graphs->launches);
    free(graphs->numbers);
    *graphs = (struct html_graphs){0};
}

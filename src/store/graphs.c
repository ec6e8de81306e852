/* Graphs, their nodes and plans, and which of them a kernel belongs to. Launches are in
 * launch_blocks.c. */
#include "common/lower_bound.h"
#include "store/checksum.h"
#include "store/graph_plan.h"
#include "store/launch_blocks.h"
#include "store/tables.h"

#include <stdlib.h>
#include <string.h>

/* Where the nodes of a generation lie. */
struct extent {
    size_t first, count;
    bool same; /* as those of the generation before */
};

#define NOWHERE SIZE_MAX

/* Steps of all plans together, beyond the number of kernels, which has them all: some 200 MB. A few
 * bytes of a damaged plan may claim millions. */
#define STEPS_MAX ((size_t)1 << 24)

/* Launches that run side by side, on streams of their own: what each is of is remembered. */
#define FOUND 8u

/* What a launch is of: that of a kernel before. No process is 0. */
struct found_launch {
    uint32_t process, launch;
    bool head; /* the kernel is of the packet before its first */
    const struct rtl_plan *plan;
    uint32_t graph, generation, number;
    size_t step; /* of the plan: that of the kernel before */
};

struct rtl_trace_graphs {
    struct rtl_list graphs;       /* rtl_graph_t, by process, graph and generation */
    struct rtl_list extents;      /* struct extent, in the order of `graphs` */
    struct rtl_list nodes;        /* rtl_graph_node_t */
    struct rtl_list dependencies; /* uint32_t, of all nodes */
    struct rtl_list names;        /* const char *[2]: name, mangled */
    struct rtl_index name_index;
    struct rtl_list plans; /* struct rtl_plan, by process and plan */
    size_t steps;          /* of all plans */
    struct rtl_launch_blocks *blocks;
    struct rtl_list given; /* rtl_graph_launch_t, once asked for */
    bool all_given;
    const rtl_graph_t *graph;         /* of the kernel before */
    struct found_launch found[FOUND]; /* by a hash */
};

static const char *const types[] = {"kernel", "memcpy", "memset",     "host",
                                    "graph",  "empty",  "wait-event", "event-record"};

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* The item of a sorted list for which `compare` gives 0; NOWHERE if there is none. */
static size_t find(const struct rtl_list *list, size_t size, const void *key,
                   int (*compare)(const void *key, const void *item))
{
    const char *found = list->count ? bsearch(key, list->items, list->count, size, compare) : NULL;
    return found ? (size_t)(found - (const char *)list->items) / size : NOWHERE;
}

/* Names. */

static int take_name(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    const char **name = item;
    name[0] = rtl_row_text(trace, row, 2);
    name[1] = rtl_row_mangled(trace, row, 3, name[0]);
    uint64_t key = rtl_index_key(rtl_row_u32(trace, row, 0), rtl_row_u32(trace, row, 1));
    return name[0] && name[1] ? rtl_index_put(&trace->graphs->name_index, key,
                                              rtl_list_last(&trace->graphs->names))
                              : -1;
}

/* Graphs and nodes. */

static int take_graph(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    rtl_graph_t *graph = item;
    graph->process = rtl_row_u32(trace, row, 0);
    graph->graph = rtl_row_u32(trace, row, 1);
    graph->generation = rtl_row_u32(trace, row, 2);
    graph->source = rtl_row_text(trace, row, 3);
    graph->nodes = rtl_row_id(trace, row, 4);
    graph->exec = rtl_row_u64(row, 5);
    graph->hip_graph = rtl_row_u64(row, 6);
    graph->correlation = rtl_row_u64(row, 7);
    graph->time = rtl_row_u64(row, 8);
    struct extent *extent = rtl_list_append(&trace->graphs->extents, sizeof *extent);
    if (!graph->source || !extent)
        return -1;
    extent->same = (rtl_row_u32(trace, row, 9) & RTL_GRAPH_SAME) != 0;
    return 0;
}

static int compare_graph(const void *key, const void *item)
{
    const rtl_graph_t *a = key;
    const rtl_graph_t *b = item;
    int order = compare_numbers(a->process, b->process);
    order = order ? order : compare_numbers(a->graph, b->graph);
    return order ? order : compare_numbers(a->generation, b->generation);
}

static size_t graph_place(const struct rtl_trace_graphs *graphs, uint32_t process, uint32_t graph,
                          uint32_t generation)
{
    const rtl_graph_t key = {.process = process, .graph = graph, .generation = generation};
    return find(&graphs->graphs, sizeof key, &key, compare_graph);
}

rtl_graph_t *rtl_trace_graph(const rtl_trace_t *trace, uint32_t process, uint32_t graph,
                             uint32_t generation)
{
    size_t place = graph_place(trace->graphs, process, graph, generation);
    return place == NOWHERE ? NULL : (rtl_graph_t *)trace->graphs->graphs.items + place;
}

/* The bytes are numbers of 32 bits, low byte first. */
static int take_dependencies(rtl_trace_t *trace, sqlite3_stmt *row, rtl_graph_node_t *node)
{
    const unsigned char *bytes = sqlite3_column_blob(row, 17);
    int size = sqlite3_column_bytes(row, 17);
    node->dependency_count = (uint32_t)(size / 4);
    for (int i = 0; i + 4 <= size; i += 4) {
        uint32_t *word = rtl_list_append(&trace->graphs->dependencies, sizeof *word);
        if (!word)
            return -1;
        *word = (uint32_t)bytes[i] | (uint32_t)bytes[i + 1] << 8 | (uint32_t)bytes[i + 2] << 16 |
                (uint32_t)bytes[i + 3] << 24;
    }
    return 0;
}

static int take_node(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    struct rtl_trace_graphs *graphs = trace->graphs;
    rtl_graph_node_t *node = item;
    node->process = rtl_row_u32(trace, row, 0);
    node->graph = rtl_row_u32(trace, row, 1);
    node->generation = rtl_row_u32(trace, row, 2);
    node->node = rtl_row_u32(trace, row, 3);
    uint32_t type = rtl_row_u32(trace, row, 4);
    node->type = type < sizeof types / sizeof *types ? types[type] : "other";
    uint64_t key = rtl_index_key(node->process, rtl_row_id(trace, row, 5));
    uint32_t name = rtl_index_get(&graphs->name_index, key);
    const char *const *names = graphs->names.items;
    node->name = name == RTL_INDEX_MISSING ? "" : names[(size_t)2 * name];
    node->mangled = name == RTL_INDEX_MISSING ? "" : names[(size_t)2 * name + 1];
    for (int i = 0; i < 3; i++) {
        node->grid[i] = rtl_row_u32(trace, row, 6 + i);
        node->block[i] = rtl_row_u32(trace, row, 9 + i);
    }
    node->group_size = rtl_row_u32(trace, row, 12);
    node->bytes = rtl_row_u64(row, 13);
    node->parent = rtl_row_id(trace, row, 14);
    node->enabled = sqlite3_column_int(row, 15);
    node->range = rtl_row_u64(row, 16);
    size_t graph = graph_place(graphs, node->process, node->graph, node->generation);
    if (graph != NOWHERE) {
        struct extent *extent = (struct extent *)graphs->extents.items + graph;
        extent->first = extent->count++ ? extent->first : graphs->nodes.count - 1;
    }
    return take_dependencies(trace, row, node);
}

/* The words do not move any more. */
static void place_dependencies(struct rtl_trace_graphs *graphs)
{
    rtl_graph_node_t *nodes = graphs->nodes.items;
    const uint32_t *next = graphs->dependencies.items;
    for (size_t i = 0; i < graphs->nodes.count; i++) {
        nodes[i].dependencies = next;
        if (nodes[i].dependency_count)
            next += nodes[i].dependency_count;
    }
}

/* Generations that have the nodes of the one before share them. */
static void share_nodes(struct rtl_trace_graphs *graphs)
{
    const rtl_graph_t *graph = graphs->graphs.items;
    struct extent *extents = graphs->extents.items;
    for (size_t i = 1; i < graphs->extents.count; i++)
        if (extents[i].same && extents[i].count == 0 && graph[i].process == graph[i - 1].process &&
            graph[i].graph == graph[i - 1].graph &&
            graph[i].generation == graph[i - 1].generation + 1) {
            extents[i].first = extents[i - 1].first;
            extents[i].count = extents[i - 1].count;
        }
}

/* Plans. */

static int take_plan(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    struct rtl_plan *plan = item;
    uint64_t fields[6];
    for (int i = 0; i < 6; i++)
        fields[i] = rtl_row_u32(trace, row, i);
    const unsigned char *data = sqlite3_column_blob(row, 7);
    size_t size = (size_t)sqlite3_column_bytes(row, 7);
    size_t count = rtl_graph_plan_count(data, size);
    if (rtl_row_u32(trace, row, 6) != rtl_checksum_row(fields, 6, data, size) ||
        count > STEPS_MAX + trace->info.kernels - trace->graphs->steps)
        trace->damaged = true;
    if (trace->damaged)
        return 0;
    trace->graphs->steps += count;
    *plan = (struct rtl_plan){.process = (uint32_t)fields[0],
                              .plan = (uint32_t)fields[1],
                              .graph = (uint32_t)fields[2],
                              .generation = (uint32_t)fields[3],
                              .begins = fields[4] != 0,
                              .kernels = (uint32_t)fields[5],
                              .certain = true,
                              .steps = malloc((count + 1) * sizeof *plan->steps),
                              .count = count};
    if (!plan->steps)
        return -1;
    rtl_graph_plan_unpack(data, size, plan->steps);
    for (size_t i = 0; i < count; i++)
        plan->certain = plan->certain && plan->steps[i].certain;
    return 0;
}

static int compare_plan(const void *key, const void *item)
{
    const struct rtl_plan *a = key;
    const struct rtl_plan *b = item;
    int order = compare_numbers(a->process, b->process);
    return order ? order : compare_numbers(a->plan, b->plan);
}

const struct rtl_plan *rtl_trace_plan(const rtl_trace_t *trace, uint32_t process, uint32_t plan)
{
    const struct rtl_trace_graphs *graphs = trace->graphs;
    const struct rtl_plan key = {.process = process, .plan = plan};
    size_t place = plan ? find(&graphs->plans, sizeof key, &key, compare_plan) : NOWHERE;
    return place == NOWHERE ? NULL : (const struct rtl_plan *)graphs->plans.items + place;
}

struct rtl_launch_blocks *rtl_trace_blocks(const rtl_trace_t *trace)
{
    return trace->graphs->blocks;
}

struct rtl_agent_clock *rtl_trace_queue_clock(const rtl_trace_t *trace, uint32_t process,
                                              uint32_t queue)
{
    uint32_t place = rtl_index_get(&trace->queue_index, rtl_index_key(process, queue));
    return place == RTL_INDEX_MISSING
               ? NULL
               : rtl_trace_clock(trace, process,
                                 ((const rtl_queue_t *)trace->queues.items)[place].agent);
}

/* All. */

rtl_status_t rtl_trace_look_for(rtl_trace_t *trace, const char *table)
{
    int result =
        sqlite3_table_column_metadata(trace->db, "main", table, NULL, NULL, NULL, NULL, NULL, NULL);
    if (result == SQLITE_OK)
        return RTL_OK;
    return result == SQLITE_ERROR ? RTL_END : rtl_trace_fail_sqlite(trace, result);
}

/* Not a list: the bounds go to their chunks. */
static int take_bounds(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    (void)item;
    struct rtl_chunk_row *rows = trace->chunks.items;
    int64_t number = sqlite3_column_int64(row, 0);
    size_t low;
    RTL_LOWER_BOUND(low, trace->chunks.count, rows[low].number < number);
    if (low == trace->chunks.count || rows[low].number != number)
        return 0;
    rows[low].bounded = true;
    rows[low].launch_min = rtl_row_id(trace, row, 1);
    rows[low].launch_max = rtl_row_id(trace, row, 2);
    return 0;
}

/* Of format 1.3. */
static rtl_status_t load_bounds(rtl_trace_t *trace)
{
    struct rtl_list none = {0};
    const struct rtl_table table = {
        "SELECT chunk, launch_min, launch_max FROM main.kernel_chunk_launches", 1, take_bounds,
        &none};
    rtl_status_t status = rtl_trace_look_for(trace, "kernel_chunk_launches");
    if (status == RTL_OK)
        status = rtl_table_load(trace, &table);
    rtl_list_free(&none);
    return status == RTL_END ? RTL_OK : status;
}

static rtl_status_t load(rtl_trace_t *trace)
{
    struct rtl_trace_graphs *graphs = trace->graphs;
    const struct rtl_table tables[] = {
        {"SELECT process, number, name, mangled FROM main.graph_names", 2 * sizeof(char *),
         take_name, &graphs->names},
        {"SELECT process, graph, generation, source, nodes, exec, hip_graph, correlation, time,"
         " flags FROM main.graph_rows ORDER BY process, graph, generation",
         sizeof(rtl_graph_t), take_graph, &graphs->graphs},
        {"SELECT process, graph, generation, node, type, name, grid_x, grid_y, grid_z, block_x,"
         " block_y, block_z, group_size, bytes, parent, enabled, range, dependencies"
         " FROM main.graph_node_rows ORDER BY process, graph, generation, node",
         sizeof(rtl_graph_node_t), take_node, &graphs->nodes},
        {"SELECT process, plan, graph, generation, begins, kernels, checksum, data"
         " FROM main.graph_plans ORDER BY process, plan",
         sizeof(struct rtl_plan), take_plan, &graphs->plans},
    };
    rtl_status_t status = RTL_OK;
    for (size_t i = 0; i < sizeof tables / sizeof *tables && status == RTL_OK; i++)
        status = rtl_table_load(trace, &tables[i]);
    place_dependencies(graphs);
    share_nodes(graphs);
    if (status == RTL_OK)
        status = load_bounds(trace);
    if (status == RTL_OK)
        status = rtl_blocks_load(trace);
    return status == RTL_OK ? rtl_blocks_tally(trace) : status;
}

rtl_status_t rtl_trace_load_graphs(rtl_trace_t *trace)
{
    if (trace->graphs)
        return RTL_OK;
    trace->graphs = calloc(1, sizeof *trace->graphs);
    if (!trace->graphs || !(trace->graphs->blocks = calloc(1, sizeof *trace->graphs->blocks))) {
        rtl_trace_unload_graphs(trace);
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    }
    rtl_status_t status = rtl_trace_look_for(trace, "graph_launch_rows");
    if (status == RTL_END)
        return RTL_OK;
    if (status == RTL_OK)
        status = load(trace);
    if (status != RTL_OK)
        rtl_trace_unload_graphs(trace);
    return status;
}

void rtl_trace_unload_graphs(rtl_trace_t *trace)
{
    struct rtl_trace_graphs *graphs = trace->graphs;
    if (!graphs)
        return;
    struct rtl_plan *plans = graphs->plans.items;
    rtl_blocks_free(graphs->blocks);
    for (size_t i = 0; i < graphs->plans.count; i++)
        free(plans[i].steps);
    struct rtl_list *lists[] = {&graphs->graphs,       &graphs->extents, &graphs->nodes,
                                &graphs->dependencies, &graphs->names,   &graphs->plans,
                                &graphs->given};
    for (size_t i = 0; i < sizeof lists / sizeof(struct rtl_list *); i++)
        rtl_list_free(lists[i]);
    rtl_index_free(&graphs->name_index);
    free(graphs);
    trace->graphs = NULL;
}

/* From a kernel to its node. */

static int compare_step(const void *key, const void *item)
{
    return compare_numbers(*(const uint32_t *)key, ((const struct rtl_graphs_step *)item)->ordinal);
}

/* Kernels mostly come in the order of their plan. */
static const struct rtl_graphs_step *step_of(struct found_launch *launch, uint32_t ordinal)
{
    const struct rtl_plan *plan = launch->plan;
    size_t guess = launch->step + 1 < plan->count ? launch->step + 1 : 0;
    if (guess >= plan->count || plan->steps[guess].ordinal != ordinal) {
        const struct rtl_graphs_step *found =
            plan->count
                ? bsearch(&ordinal, plan->steps, plan->count, sizeof *plan->steps, compare_step)
                : NULL;
        if (!found)
            return NULL;
        guess = (size_t)(found - plan->steps);
    }
    launch->step = guess;
    return &plan->steps[guess];
}

static void set_node(struct rtl_trace_graphs *graphs, const struct rtl_graphs_step *step,
                     rtl_kernel_t *kernel)
{
    kernel->node = step->node;
    kernel->certain = step->certain && step->node != RTL_TRACE_NONE;
    if (!graphs->graph)
        return;
    size_t graph = (size_t)(graphs->graph - (const rtl_graph_t *)graphs->graphs.items);
    const struct extent *extent = (const struct extent *)graphs->extents.items + graph;
    const rtl_graph_node_t *nodes = graphs->nodes.items;
    /* Nodes count from 0, unless the file lacks some. */
    if (step->node < extent->count && nodes[extent->first + step->node].node == step->node)
        kernel->node_range = nodes[extent->first + step->node].range;
}

/* The generation of the kernel at hand, mostly that of the kernel before. */
static void find_graph(rtl_trace_t *trace, const rtl_kernel_t *kernel)
{
    const rtl_graph_t *last = trace->graphs->graph;
    if (!last || last->process != kernel->process || last->graph != kernel->graph ||
        last->generation != kernel->generation)
        trace->graphs->graph =
            rtl_trace_graph(trace, kernel->process, kernel->graph, kernel->generation);
}

/* Leaves graph NONE where the launch is of none. */
static rtl_status_t find_launch(rtl_trace_t *trace, struct found_launch *found)
{
    struct rtl_launch_blocks *blocks = trace->graphs->blocks;
    const struct rtl_launch_loaded *loaded = NULL;
    uint32_t place = 0;
    rtl_status_t status = rtl_blocks_find(trace, found->process, found->launch, &loaded, &place);
    if (status == RTL_OK)
        status = rtl_blocks_number(trace, loaded, place);
    if (status != RTL_OK)
        return status == RTL_END ? RTL_OK : status;
    const struct rtl_launch_record *record = &loaded->records[place];
    if (record->counter == RTL_TRACE_NONE)
        return RTL_OK;
    const struct rtl_launch_counter *counters = blocks->counters.items;
    found->plan = found->head ? record->head : record->plan;
    found->graph = counters[record->counter].graph;
    found->generation = record->generation;
    found->number = record->number;
    return RTL_OK;
}

/* Mostly the launch of a kernel right before. */
static rtl_status_t set_launch(rtl_trace_t *trace, uint32_t launch, bool head, uint32_t ordinal,
                               rtl_kernel_t *kernel)
{
    struct found_launch *found = &trace->graphs->found[(launch ^ kernel->process) % FOUND];
    if (found->process != kernel->process || found->launch != launch || found->head != head) {
        *found = (struct found_launch){kernel->process, launch, head, .graph = RTL_TRACE_NONE,
                                       .step = SIZE_MAX};
        rtl_status_t status = find_launch(trace, found);
        if (status != RTL_OK) {
            found->process = 0;
            return status;
        }
    }
    if (found->graph == RTL_TRACE_NONE)
        return RTL_OK;
    const struct rtl_graphs_step *step = found->plan ? step_of(found, ordinal) : NULL;
    kernel->graph = found->graph;
    kernel->generation = found->generation;
    kernel->launch = found->number;
    find_graph(trace, kernel);
    if (step)
        set_node(trace->graphs, step, kernel);
    return RTL_OK;
}

rtl_status_t rtl_trace_resolve_node(rtl_trace_t *trace, uint32_t launch, uint32_t ordinal,
                                    rtl_kernel_t *kernel)
{
    kernel->graph = kernel->launch = kernel->node = RTL_TRACE_NONE;
    kernel->generation = 0;
    kernel->certain = 0;
    kernel->node_range = 0;
    if (launch != RTL_NONE)
        return set_launch(trace, launch, false, ordinal, kernel);
    const struct rtl_launch_head *head =
        rtl_blocks_head(trace->graphs->blocks, kernel->process, kernel->queue, kernel->packet);
    return head ? set_launch(trace, head->launch, true, 0, kernel) : RTL_OK;
}

/* Giving out. */

static rtl_status_t give(const struct rtl_list *list, const void **items, size_t *count)
{
    *items = list->items;
    *count = list->count;
    return RTL_OK;
}

rtl_status_t rtlTraceGraphs(rtl_trace_t *trace, const rtl_graph_t **items, size_t *count)
{
    if (!trace || !items || !count)
        return RTL_E_ARGUMENT;
    rtl_status_t status = rtl_trace_load_graphs(trace);
    return status == RTL_OK ? give(&trace->graphs->graphs, (const void **)items, count) : status;
}

static int by_graph(const void *left, const void *right)
{
    const rtl_graph_launch_t *a = left;
    const rtl_graph_launch_t *b = right;
    int order = compare_numbers(a->process, b->process);
    order = order ? order : compare_numbers(a->graph, b->graph);
    return order ? order : compare_numbers(a->launch, b->launch);
}

/* Puts all launches into a list. */
static rtl_status_t list_launches(rtl_trace_t *trace, struct rtl_list *list)
{
    const rtl_launch_filter_t all = RTL_LAUNCH_FILTER_ALL;
    rtl_launch_iter_t *iter = NULL;
    rtl_graph_launch_t launch;
    rtl_status_t status = rtlTraceLaunches(trace, &all, &iter);
    while (status == RTL_OK && (status = rtlLaunchNext(iter, &launch)) == RTL_OK) {
        rtl_graph_launch_t *item = rtl_list_append(list, sizeof *item);
        if (item)
            *item = launch;
        else
            status = rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    }
    rtlLaunchIterFree(iter);
    if (list->count)
        qsort(list->items, list->count, sizeof launch, by_graph);
    return status == RTL_END ? RTL_OK : status;
}

void rtl_trace_forget_launches(rtl_trace_t *trace)
{
    if (trace->graphs) {
        rtl_list_free(&trace->graphs->given);
        trace->graphs->all_given = false;
    }
}

rtl_status_t rtlTraceGraphLaunches(rtl_trace_t *trace, const rtl_graph_launch_t **items,
                                   size_t *count)
{
    if (!trace || !items || !count)
        return RTL_E_ARGUMENT;
    rtl_status_t status = rtl_trace_load_graphs(trace);
    if (status != RTL_OK)
        return status;
    struct rtl_trace_graphs *graphs = trace->graphs;
    if (!graphs->all_given) {
        rtl_list_free(&graphs->given);
        status = list_launches(trace, &graphs->given);
        graphs->all_given = status == RTL_OK;
    }
    return status == RTL_OK ? give(&graphs->given, (const void **)items, count) : status;
}

rtl_status_t rtlTraceGraphNodes(rtl_trace_t *trace, const rtl_graph_t *graph,
                                const rtl_graph_node_t **items, size_t *count)
{
    if (!trace || !items || !count)
        return RTL_E_ARGUMENT;
    rtl_status_t status = rtl_trace_load_graphs(trace);
    if (status != RTL_OK)
        return status;
    const struct rtl_trace_graphs *graphs = trace->graphs;
    struct extent extent = {.count = graphs->nodes.count};
    if (graph) {
        size_t place = graph_place(graphs, graph->process, graph->graph, graph->generation);
        extent = place == NOWHERE ? (struct extent){0}
                                  : ((const struct extent *)graphs->extents.items)[place];
    }
    *items = extent.count ? (const rtl_graph_node_t *)graphs->nodes.items + extent.first : NULL;
    *count = extent.count;
    return RTL_OK;
}

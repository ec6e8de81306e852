/* Graphs, their nodes and launches, and which of them a kernel belongs to.
 *
 * The file has launch records as the program made them. A launch of a graph is one of them, or,
 * where the graph was found by its packets, several in a row: those of a thread that follow plans
 * which do not begin. */
#include "store/checksum.h"
#include "store/graph_plan.h"
#include "store/tables.h"

#include <stdlib.h>
#include <string.h>

/* A row of graph_plans. */
struct plan {
    uint32_t process, plan, graph, generation;
    uint32_t kernels;
    bool begins, certain;
    struct rtl_graphs_step *steps; /* by ordinal */
    size_t count;
};

/* A launch record. */
struct record {
    uint32_t process, launch;
    const struct plan *plan; /* NULL: none */
    size_t belongs;          /* place of its launch, NOWHERE: none */
};

/* A kernel that names no launch, right before a record that it is the head of. */
struct head {
    uint32_t process, queue;
    uint64_t packet;
    const struct plan *plan;
    uint32_t launch; /* of its record */
};

/* A launch, and what the public struct has no place for. */
struct launch {
    rtl_graph_launch_t launch;
    size_t made;  /* how many were made before it */
    size_t graph; /* place, NOWHERE: none */
};

/* Where the nodes of a generation lie. */
struct extent {
    size_t first, count;
    bool same; /* as those of the generation before */
};

#define NOWHERE SIZE_MAX

struct rtl_trace_graphs {
    struct rtl_list graphs;       /* rtl_graph_t, by process, graph and generation */
    struct rtl_list extents;      /* struct extent, in the order of `graphs` */
    struct rtl_list nodes;        /* rtl_graph_node_t */
    struct rtl_list dependencies; /* uint32_t, of all nodes */
    struct rtl_list names;        /* const char *[2]: name, mangled */
    struct rtl_map name_index;
    struct rtl_list plans;    /* struct plan, by process and plan */
    struct rtl_list records;  /* struct record, by process and launch */
    struct rtl_list heads;    /* struct head, by process, queue and packet */
    struct rtl_list launches; /* struct launch, by process, graph and launch */
    struct rtl_list given;    /* rtl_graph_launch_t, the same */
    struct rtl_map counts;    /* launches of a graph, by process and graph: place in `counters` */
    struct rtl_list counters; /* uint32_t */
    struct rtl_map latest;    /* launch of a graph in a thread, by counter and thread */
    size_t record, step;      /* of the kernel before */
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
    name[1] = rtl_row_text(trace, row, 3);
    uint64_t key = rtl_map_key(rtl_row_u32(trace, row, 0), rtl_row_u32(trace, row, 1));
    return name[0] && name[1]
               ? rtl_map_put(&trace->graphs->name_index, key, rtl_list_last(&trace->graphs->names))
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
    uint64_t key = rtl_map_key(node->process, rtl_row_id(trace, row, 5));
    uint32_t name = rtl_map_get(&graphs->name_index, key);
    const char *const *names = graphs->names.items;
    node->name = name == RTL_MAP_MISSING ? "" : names[(size_t)2 * name];
    node->mangled = name == RTL_MAP_MISSING ? "" : names[(size_t)2 * name + 1];
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
    struct plan *plan = item;
    uint64_t fields[6];
    for (int i = 0; i < 6; i++)
        fields[i] = rtl_row_u32(trace, row, i);
    const unsigned char *data = sqlite3_column_blob(row, 7);
    size_t size = (size_t)sqlite3_column_bytes(row, 7);
    size_t count = rtl_graph_plan_count(data, size);
    if (rtl_row_u32(trace, row, 6) != rtl_checksum_row(fields, 6, data, size) || count == SIZE_MAX)
        trace->damaged = true;
    if (trace->damaged)
        return 0;
    *plan = (struct plan){.process = (uint32_t)fields[0],
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
    const struct plan *a = key;
    const struct plan *b = item;
    int order = compare_numbers(a->process, b->process);
    return order ? order : compare_numbers(a->plan, b->plan);
}

static const struct plan *plan_of(const struct rtl_trace_graphs *graphs, uint32_t process,
                                  uint32_t plan)
{
    const struct plan key = {.process = process, .plan = plan};
    size_t place =
        plan == RTL_TRACE_NONE ? NOWHERE : find(&graphs->plans, sizeof key, &key, compare_plan);
    return place == NOWHERE ? NULL : (const struct plan *)graphs->plans.items + place;
}

/* Launches. */

/* How many launches a graph has had: a place in `counters`, RTL_MAP_MISSING when memory is short.
 */
static uint32_t counter_of(struct rtl_trace_graphs *graphs, uint32_t process, uint32_t graph)
{
    uint32_t place = rtl_map_get(&graphs->counts, rtl_map_key(process, graph));
    if (place != RTL_MAP_MISSING)
        return place;
    if (!rtl_list_append(&graphs->counters, sizeof(uint32_t)) ||
        rtl_map_put(&graphs->counts, rtl_map_key(process, graph),
                    rtl_list_last(&graphs->counters)) != 0)
        return RTL_MAP_MISSING;
    return rtl_list_last(&graphs->counters);
}

/* The launch that a record of a graph belongs to: `begins`, or goes on with that of its thread. */
static struct launch *launch_of(struct rtl_trace_graphs *graphs, const rtl_graph_launch_t *like,
                                bool begins)
{
    uint32_t counter = counter_of(graphs, like->process, like->graph);
    if (counter == RTL_MAP_MISSING)
        return NULL;
    uint64_t key = rtl_map_key(counter, like->thread);
    uint32_t place = begins ? RTL_MAP_MISSING : rtl_map_get(&graphs->latest, key);
    if (place != RTL_MAP_MISSING)
        return (struct launch *)graphs->launches.items + place;
    struct launch *launch = rtl_list_append(&graphs->launches, sizeof *launch);
    if (!launch || rtl_map_put(&graphs->latest, key, rtl_list_last(&graphs->launches)) != 0)
        return NULL;
    launch->launch = *like;
    launch->launch.launch = ++((uint32_t *)graphs->counters.items)[counter];
    launch->launch.certain = 1;
    launch->made = graphs->launches.count - 1;
    launch->graph = graph_place(graphs, like->process, like->graph, like->generation);
    return launch;
}

static struct rtl_agent_clock *clock_of(const rtl_trace_t *trace, uint32_t process, uint32_t queue)
{
    uint32_t place = rtl_map_get(&trace->queue_index, rtl_map_key(process, queue));
    return place == RTL_MAP_MISSING
               ? NULL
               : rtl_trace_clock(trace, process,
                                 ((const rtl_queue_t *)trace->queues.items)[place].agent);
}

static void add_span(rtl_trace_t *trace, rtl_graph_launch_t *launch, uint32_t queue, uint64_t start,
                     uint64_t end)
{
    struct rtl_agent_clock *clock = clock_of(trace, launch->process, queue);
    uint64_t from = rtl_trace_ns(clock, start);
    uint64_t to = rtl_trace_ns(clock, end);
    bool first = launch->start == 0 && launch->end == 0;
    launch->start = first || from < launch->start ? from : launch->start;
    launch->end = first || to > launch->end ? to : launch->end;
}

static int add_head(struct rtl_trace_graphs *graphs, const struct record *record,
                    const struct plan *plan, uint32_t queue, uint64_t first)
{
    struct head *head = rtl_list_append(&graphs->heads, sizeof *head);
    if (!head)
        return -1;
    *head = (struct head){.process = record->process,
                          .queue = queue,
                          .packet = first - 1,
                          .plan = plan,
                          .launch = record->launch};
    return 0;
}

static int take_record(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    struct rtl_trace_graphs *graphs = trace->graphs;
    struct record *record = item;
    record->process = rtl_row_u32(trace, row, 0);
    record->launch = rtl_row_u32(trace, row, 1);
    record->belongs = NOWHERE;
    record->plan = plan_of(graphs, record->process, rtl_row_id(trace, row, 4));
    const struct plan *plan = record->plan;
    const struct plan *head = plan_of(graphs, record->process, rtl_row_id(trace, row, 5));
    if (head && (!plan || head->graph != plan->graph))
        head = NULL;
    bool named = sqlite3_column_type(row, 2) != SQLITE_NULL;
    if (!named && !plan)
        return 0;
    const rtl_graph_launch_t like = {
        .process = record->process,
        .graph = named ? rtl_row_u32(trace, row, 2) : plan->graph,
        .generation = named ? rtl_row_u32(trace, row, 3) : plan->generation,
        .time = rtl_row_u64(row, 6),
        .correlation = rtl_row_u64(row, 7),
        .range = rtl_row_u64(row, 8),
        .thread = rtl_row_u32(trace, row, 9),
    };
    struct launch *launch = launch_of(graphs, &like, named || plan->begins || head);
    if (!launch)
        return -1;
    uint64_t recorded = rtl_row_u64(row, 14);
    record->belongs = launch->made;
    launch->launch.expected += rtl_row_u64(row, 13) + (head != NULL);
    launch->launch.kernels += recorded + (head != NULL);
    launch->launch.unseen += rtl_row_u64(row, 15);
    if ((recorded && !plan) || (plan && !plan->certain))
        launch->launch.certain = 0;
    if (sqlite3_column_type(row, 16) != SQLITE_NULL)
        add_span(trace, &launch->launch, rtl_row_u32(trace, row, 16), rtl_row_u64(row, 17),
                 rtl_row_u64(row, 18));
    return head ? add_head(graphs, record, head, rtl_row_u32(trace, row, 10), rtl_row_u64(row, 11))
                : 0;
}

static int compare_record(const void *key, const void *item)
{
    const struct record *a = key;
    const struct record *b = item;
    int order = compare_numbers(a->process, b->process);
    return order ? order : compare_numbers(a->launch, b->launch);
}

static size_t record_place(const struct rtl_trace_graphs *graphs, uint32_t process, uint32_t launch)
{
    const struct record key = {.process = process, .launch = launch};
    return find(&graphs->records, sizeof key, &key, compare_record);
}

/* Not a list: the row's times go to its launch. */
static int take_span(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    (void)item;
    struct rtl_trace_graphs *graphs = trace->graphs;
    size_t place = record_place(graphs, rtl_row_u32(trace, row, 0), rtl_row_u32(trace, row, 1));
    if (place == NOWHERE)
        return 0;
    const struct record *record = (const struct record *)graphs->records.items + place;
    if (record->belongs == NOWHERE)
        return 0;
    struct launch *launch = (struct launch *)graphs->launches.items + record->belongs;
    add_span(trace, &launch->launch, rtl_row_u32(trace, row, 2), rtl_row_u64(row, 3),
             rtl_row_u64(row, 4));
    return 0;
}

static int by_graph(const void *left, const void *right)
{
    const rtl_graph_launch_t *a = &((const struct launch *)left)->launch;
    const rtl_graph_launch_t *b = &((const struct launch *)right)->launch;
    int order = compare_numbers(a->process, b->process);
    order = order ? order : compare_numbers(a->graph, b->graph);
    return order ? order : compare_numbers(a->launch, b->launch);
}

static int compare_head(const void *key, const void *item)
{
    const struct head *a = key;
    const struct head *b = item;
    int order = compare_numbers(a->process, b->process);
    order = order ? order : compare_numbers(a->queue, b->queue);
    return order ? order : compare_numbers(a->packet, b->packet);
}

static void sort(struct rtl_list *list, size_t size, int (*compare)(const void *, const void *))
{
    if (list->count)
        qsort(list->items, list->count, size, compare);
}

/* Puts the launches in the order in which they are given out, and counts those of each graph. */
static rtl_status_t arrange(rtl_trace_t *trace)
{
    struct rtl_trace_graphs *graphs = trace->graphs;
    size_t count = graphs->launches.count;
    size_t *moved = malloc((count + 1) * sizeof *moved);
    graphs->given.items = malloc((count + 1) * sizeof(rtl_graph_launch_t));
    if (!moved || !graphs->given.items) {
        free(moved);
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    }
    sort(&graphs->launches, sizeof(struct launch), by_graph);
    sort(&graphs->heads, sizeof(struct head), compare_head);
    rtl_graph_launch_t *given = graphs->given.items;
    const struct launch *launches = graphs->launches.items;
    graphs->given.count = count;
    for (size_t i = 0; i < count; i++) {
        moved[launches[i].made] = i;
        given[i] = launches[i].launch;
        if (launches[i].graph == NOWHERE)
            continue;
        rtl_graph_t *graph = (rtl_graph_t *)graphs->graphs.items + launches[i].graph;
        graph->launches++;
        graph->kernels += given[i].kernels;
        graph->expected += given[i].expected;
    }
    struct record *records = graphs->records.items;
    for (size_t i = 0; i < graphs->records.count; i++)
        if (records[i].belongs != NOWHERE)
            records[i].belongs = moved[records[i].belongs];
    free(moved);
    return RTL_OK;
}

/* All. Records come in the order in which their packets were reserved: a packet that was reserved
 * alone gets its launch when it is submitted, which may be after the launches of packets behind it.
 */

/* RTL_END: the file is of a version without them. */
static rtl_status_t look_for_graphs(rtl_trace_t *trace)
{
    int result = sqlite3_table_column_metadata(trace->db, "main", "graph_launch_rows", NULL, NULL,
                                               NULL, NULL, NULL, NULL);
    if (result == SQLITE_OK)
        return RTL_OK;
    return result == SQLITE_ERROR ? RTL_END : rtl_trace_fail_sqlite(trace, result);
}

static rtl_status_t load(rtl_trace_t *trace)
{
    struct rtl_trace_graphs *graphs = trace->graphs;
    struct rtl_list none = {0};
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
         sizeof(struct plan), take_plan, &graphs->plans},
        {"SELECT process, launch, graph, generation, plan, head_plan, time, correlation, range,"
         " thread, queue, first, packets, kernels, recorded, unseen, clock_queue, start_ticks,"
         " end_ticks FROM main.graph_launch_rows AS r ORDER BY process, coalesce("
         " CASE WHEN packets = 1 AND graph IS NULL THEN (SELECT min(n.launch) - 0.5"
         " FROM main.graph_launch_rows AS n WHERE n.process = r.process AND n.queue = r.queue"
         " AND n.graph IS NULL AND n.first > r.first"
         " AND n.launch BETWEEN r.launch - 64 AND r.launch) END, launch)",
         sizeof(struct record), take_record, &graphs->records},
        {"SELECT process, launch, queue, start_ticks, end_ticks FROM main.graph_launch_spans", 1,
         take_span, &none},
    };
    rtl_status_t status = RTL_OK;
    for (size_t i = 0; i < sizeof tables / sizeof *tables && status == RTL_OK; i++) {
        status = rtl_table_load(trace, &tables[i]);
        /* They came in the order in which they were reserved. */
        if (tables[i].list == &graphs->records)
            sort(&graphs->records, sizeof(struct record), compare_record);
    }
    free(none.items);
    place_dependencies(graphs);
    share_nodes(graphs);
    return status == RTL_OK ? arrange(trace) : status;
}

rtl_status_t rtl_trace_load_graphs(rtl_trace_t *trace)
{
    if (trace->graphs)
        return RTL_OK;
    trace->graphs = calloc(1, sizeof *trace->graphs);
    if (!trace->graphs)
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    rtl_status_t status = look_for_graphs(trace);
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
    struct plan *plans = graphs->plans.items;
    for (size_t i = 0; i < graphs->plans.count; i++)
        free(plans[i].steps);
    struct rtl_list *lists[] = {&graphs->graphs,       &graphs->extents, &graphs->nodes,
                                &graphs->dependencies, &graphs->names,   &graphs->plans,
                                &graphs->records,      &graphs->heads,   &graphs->launches,
                                &graphs->given,        &graphs->counters};
    for (size_t i = 0; i < sizeof lists / sizeof(struct rtl_list *); i++)
        rtl_list_free(lists[i]);
    rtl_map_clear(&graphs->name_index);
    rtl_map_clear(&graphs->counts);
    rtl_map_clear(&graphs->latest);
    free(graphs);
    trace->graphs = NULL;
}

/* From a kernel to its node. */

static int compare_step(const void *key, const void *item)
{
    return compare_numbers(*(const uint32_t *)key, ((const struct rtl_graphs_step *)item)->ordinal);
}

/* Kernels mostly come in the order of their plan. */
static const struct rtl_graphs_step *step_of(struct rtl_trace_graphs *graphs,
                                             const struct plan *plan, uint32_t ordinal)
{
    size_t guess = graphs->step + 1;
    if (guess >= plan->count || plan->steps[guess].ordinal != ordinal) {
        const struct rtl_graphs_step *found =
            plan->count
                ? bsearch(&ordinal, plan->steps, plan->count, sizeof *plan->steps, compare_step)
                : NULL;
        if (!found)
            return NULL;
        guess = (size_t)(found - plan->steps);
    }
    graphs->step = guess;
    return &plan->steps[guess];
}

static void set_node(struct rtl_trace_graphs *graphs, size_t graph,
                     const struct rtl_graphs_step *step, rtl_kernel_t *kernel)
{
    kernel->node = step->node;
    kernel->certain = step->certain && step->node != RTL_TRACE_NONE;
    if (graph == NOWHERE)
        return;
    const struct extent *extent = (const struct extent *)graphs->extents.items + graph;
    const rtl_graph_node_t *nodes = graphs->nodes.items;
    /* Nodes count from 0, unless the file lacks some. */
    if (step->node < extent->count && nodes[extent->first + step->node].node == step->node)
        kernel->node_range = nodes[extent->first + step->node].range;
}

static void set_launch(struct rtl_trace_graphs *graphs, const struct record *record,
                       const struct plan *plan, uint32_t ordinal, rtl_kernel_t *kernel)
{
    if (record->belongs == NOWHERE)
        return;
    const struct launch *launch = (const struct launch *)graphs->launches.items + record->belongs;
    const struct rtl_graphs_step *step = plan ? step_of(graphs, plan, ordinal) : NULL;
    kernel->graph = launch->launch.graph;
    kernel->generation = launch->launch.generation;
    kernel->launch = launch->launch.launch;
    if (step)
        set_node(graphs, launch->graph, step, kernel);
}

static void resolve_head(struct rtl_trace_graphs *graphs, rtl_kernel_t *kernel)
{
    const struct head key = {
        .process = kernel->process, .queue = kernel->queue, .packet = kernel->packet};
    size_t place = find(&graphs->heads, sizeof key, &key, compare_head);
    if (place == NOWHERE)
        return;
    const struct head *head = (const struct head *)graphs->heads.items + place;
    size_t record = record_place(graphs, head->process, head->launch);
    set_launch(graphs, (const struct record *)graphs->records.items + record, head->plan, 0,
               kernel);
}

void rtl_trace_resolve_node(rtl_trace_t *trace, uint32_t launch, uint32_t ordinal,
                            rtl_kernel_t *kernel)
{
    struct rtl_trace_graphs *graphs = trace->graphs;
    kernel->graph = kernel->launch = kernel->node = RTL_TRACE_NONE;
    kernel->generation = 0;
    kernel->certain = 0;
    kernel->node_range = 0;
    if (launch == RTL_NONE) {
        if (graphs->heads.count)
            resolve_head(graphs, kernel);
        return;
    }
    const struct record *records = graphs->records.items;
    const struct record key = {.process = kernel->process, .launch = launch};
    if (graphs->record >= graphs->records.count ||
        compare_record(&key, &records[graphs->record]) != 0) {
        size_t place = record_place(graphs, kernel->process, launch);
        if (place == NOWHERE)
            return;
        graphs->record = place;
        graphs->step = NOWHERE;
    }
    const struct record *record = &records[graphs->record];
    set_launch(graphs, record, record->plan, ordinal, kernel);
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

rtl_status_t rtlTraceGraphLaunches(rtl_trace_t *trace, const rtl_graph_launch_t **items,
                                   size_t *count)
{
    if (!trace || !items || !count)
        return RTL_E_ARGUMENT;
    rtl_status_t status = rtl_trace_load_graphs(trace);
    return status == RTL_OK ? give(&trace->graphs->given, (const void **)items, count) : status;
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

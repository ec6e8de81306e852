#include "analysis/graph_read.h"

#include "common/lower_bound.h"
#include "common/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More than any graph has that HIP could launch. */
#define NODES_MOST (1u << 20)

/* A launch whose kernels come, in the order of their starts. */
struct under_way {
    size_t launch; /* place among the launches of the graph */
    struct graph_kernel *items;
    size_t count, capacity;
};

/* How far a node's work, or that which it waits for, has come in a launch. */
struct progress {
    uint64_t start, end; /* of its kernels; end 0: it had none */
    uint64_t ready;      /* end of the kernels before a node that has none */
    uint32_t last;       /* the kernel node that ended last of those before it */
};

struct reader {
    rtl_trace_t *trace;
    const rtl_graph_t *generations;
    size_t generation_count;
    size_t launch_count;     /* of the rows of the reading */
    struct under_way **open; /* by launch */
    struct under_way *spare;
    struct progress *progress; /* by node */
    size_t progress_count;
    uint32_t nodes; /* kernels of a node beyond are of none that is known */
    struct graph_reading *reading;
    graph_watch watch; /* NULL: nobody does */
    void *context;
};

static bool has_generation(const struct reader *reader, uint32_t generation)
{
    for (size_t i = 0; i < reader->generation_count; ++i)
        if (reader->generations[i].generation == generation)
            return true;
    return false;
}

/* Numbers of launches go over all generations: those of others are left out here. */
static rtl_status_t read_launches(struct reader *reader)
{
    rtl_launch_filter_t filter = RTL_LAUNCH_FILTER_ALL;
    rtl_launch_iter_t *iter;
    rtl_graph_launch_t launch;
    size_t capacity = 0;
    filter.process = reader->generations->process;
    filter.graph = reader->generations->graph;
    rtl_status_t status = rtlTraceLaunches(reader->trace, &filter, &iter);
    if (status != RTL_OK)
        return status;
    while ((status = rtlLaunchNext(iter, &launch)) == RTL_OK) {
        if (!has_generation(reader, launch.generation))
            continue;
        if (reader->launch_count == capacity) {
            capacity = capacity ? 2 * capacity : 64;
            reader->reading->rows = memory_grown(reader->reading->rows, capacity, sizeof launch);
        }
        reader->reading->rows[reader->launch_count++] = launch;
    }
    rtlLaunchIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

/* Place of a launch, launch_count if it is not there. Most are where their number says. */
static size_t place_of(const struct reader *reader, uint32_t number)
{
    const rtl_graph_launch_t *rows = reader->reading->rows;
    size_t count = reader->launch_count;
    if (count && number >= rows[0].launch && number - rows[0].launch < count &&
        rows[number - rows[0].launch].launch == number)
        return number - rows[0].launch;
    size_t low;
    RTL_LOWER_BOUND(low, count, rows[low].launch < number);
    return low < count && rows[low].launch == number ? low : count;
}

static struct graph_node *node_at(struct graph_reading *reading, uint32_t number)
{
    if (number >= reading->node_count) {
        size_t count = (size_t)number + 1;
        reading->nodes = memory_grown(reading->nodes, count, sizeof *reading->nodes);
        memset(reading->nodes + reading->node_count, 0,
               (count - reading->node_count) * sizeof *reading->nodes);
        for (size_t i = reading->node_count; i < count; ++i)
            reading->nodes[i].name = "";
        reading->node_count = count;
    }
    return &reading->nodes[number];
}

static rtl_status_t read_nodes(struct reader *reader)
{
    struct graph_reading *reading = reader->reading;
    for (size_t i = 0; i < reader->generation_count; ++i) {
        const rtl_graph_node_t *nodes;
        size_t count;
        rtl_status_t status =
            rtlTraceGraphNodes(reader->trace, &reader->generations[i], &nodes, &count);
        if (status != RTL_OK)
            return status;
        for (size_t j = 0; j < count; ++j) {
            if (nodes[j].node >= NODES_MOST)
                continue;
            struct graph_node *node = node_at(reading, nodes[j].node);
            node->node = &nodes[j];
            node->name = nodes[j].name;
        }
    }
    return RTL_OK;
}

/* Whether a node or a beginning has several behind it, or a node several before it. */
static void look_for_branches(struct graph_reading *reading)
{
    bool *waited_for = memory_new(reading->node_count + 1, sizeof *waited_for);
    bool begun = false;
    for (size_t i = 0; i < reading->node_count; ++i) {
        const rtl_graph_node_t *node = reading->nodes[i].node;
        if (!node)
            continue;
        reading->ordered = reading->ordered || node->dependency_count > 0;
        reading->branches = reading->branches || node->dependency_count > 1;
        for (uint32_t j = 0; j < node->dependency_count; ++j) {
            uint32_t before = node->dependencies[j];
            if (before >= reading->node_count)
                continue;
            reading->branches = reading->branches || waited_for[before];
            waited_for[before] = true;
        }
        if (node->dependency_count == 0 && node->parent == RTL_TRACE_NONE) {
            reading->branches = reading->branches || begun;
            begun = true;
        }
    }
    reading->branches = reading->branches && reading->ordered;
    free(waited_for);
}

/* What a node waits for: its dependencies, or, of one within a child graph that has none there,
 * those of the node that holds it. */
static void wait_for(const struct reader *reader, const rtl_graph_node_t *node,
                     struct progress *progress)
{
    const struct graph_reading *reading = reader->reading;
    while (node->dependency_count == 0 && node->parent < reading->node_count &&
           node->parent < node->node && reading->nodes[node->parent].node)
        node = reading->nodes[node->parent].node;
    for (uint32_t i = 0; i < node->dependency_count; ++i) {
        uint32_t number = node->dependencies[i];
        if (number >= reading->node_count)
            continue;
        const struct progress *before = &reader->progress[number];
        uint64_t ready = before->end > before->ready ? before->end : before->ready;
        if (ready > progress->ready) {
            progress->ready = ready;
            progress->last = before->end >= before->ready ? number : before->last;
        }
    }
}

/* A node that holds others is done when they are. */
static void tell_holder(const struct reader *reader, const rtl_graph_node_t *node)
{
    const struct progress *progress = &reader->progress[node->node];
    uint64_t end = progress->end > progress->ready ? progress->end : progress->ready;
    if (node->parent >= reader->reading->node_count)
        return;
    struct progress *holder = &reader->progress[node->parent];
    if (end > holder->ready) {
        holder->ready = end;
        holder->last = progress->end >= progress->ready ? node->node : progress->last;
    }
}

/* A kernel also waits for the one before it in its queue, if that has ended when it starts. */
static void wait_in_queue(const struct reader *reader, const struct under_way *launch, size_t i)
{
    const struct graph_kernel *item = &launch->items[i];
    size_t j = i;
    while (j > 0 && launch->items[j - 1].queue != item->queue)
        --j;
    if (j == 0 || launch->items[j - 1].node == item->node)
        return;
    const struct graph_kernel *before = &launch->items[j - 1];
    struct progress *progress = &reader->progress[item->node];
    if (before->end <= item->start && before->end > progress->ready) {
        progress->ready = before->end;
        progress->last = before->node;
    }
}

/* The critical path of a launch: back from the kernel that ended last, each time to the one that
 * was waited for longest. Nodes stand in an order that dependencies allow. */
static void follow_path(struct reader *reader, const struct under_way *launch)
{
    struct graph_reading *reading = reader->reading;
    uint32_t at = RTL_TRACE_NONE;
    uint64_t total = 0;
    if (reader->progress_count < reading->node_count) {
        reader->progress_count = reading->node_count;
        reader->progress =
            memory_grown(reader->progress, reader->progress_count, sizeof *reader->progress);
    }
    for (size_t i = 0; i < reading->node_count; ++i)
        reader->progress[i] = (struct progress){.last = RTL_TRACE_NONE};
    for (size_t i = 0; i < launch->count; ++i) {
        const struct graph_kernel *item = &launch->items[i];
        if (item->node == RTL_TRACE_NONE)
            return;
        struct progress *progress = &reader->progress[item->node];
        progress->start = progress->end ? progress->start : item->start;
        progress->end = item->end > progress->end ? item->end : progress->end;
        if (at == RTL_TRACE_NONE || item->end >= reader->progress[at].end)
            at = item->node;
    }
    for (size_t i = 0; i < reading->node_count; ++i) {
        if (!reading->nodes[i].node)
            continue;
        wait_for(reader, reading->nodes[i].node, &reader->progress[i]);
        tell_holder(reader, reading->nodes[i].node);
    }
    for (size_t i = 0; i < launch->count; ++i)
        wait_in_queue(reader, launch, i);
    for (size_t steps = 0; at != RTL_TRACE_NONE && steps < reading->node_count; ++steps) {
        const struct progress *progress = &reader->progress[at];
        ++reading->nodes[at].critical;
        reading->nodes[at].critical_ns += progress->end - progress->start;
        total += progress->end - progress->start;
        at = progress->last;
    }
    stats_add(&reading->path, total);
}

static void finish(struct reader *reader, struct under_way *launch)
{
    struct graph_reading *reading = reader->reading;
    const rtl_graph_launch_t *row = &reading->rows[launch->launch];
    uint64_t idle = 0;
    uint64_t end = launch->items[0].start;
    for (size_t i = 0; i < launch->count; ++i) {
        struct graph_kernel *item = &launch->items[i];
        item->gap = item->start > end ? item->start - end : 0;
        idle += item->gap;
        if (item->node != RTL_TRACE_NONE) {
            struct graph_node *node = node_at(reading, item->node);
            stats_add(&node->time, item->end - item->start);
            if (i > 0)
                stats_add(&node->gap, item->gap);
        }
        end = item->end > end ? item->end : end;
    }
    if (reading->branches)
        follow_path(reader, launch);
    struct graph_replay *replay = &reading->replays[launch->launch];
    *replay = (struct graph_replay){.launch = row, .busy = end - launch->items[0].start - idle};
    stats_add(&reading->idle, idle);
    if (reader->watch)
        reader->watch(reader->context, reading, launch->items, launch->count);
}

/* A trace that is wrong must not make a table of four billion nodes. */
static uint32_t most_nodes(const struct reader *reader)
{
    uint32_t most = 0;
    for (size_t i = 0; i < reader->generation_count; ++i) {
        uint32_t nodes = reader->generations[i].nodes;
        nodes = nodes == RTL_TRACE_NONE ? NODES_MOST : nodes;
        most = nodes > most ? nodes : most;
    }
    return most > NODES_MOST ? NODES_MOST : most;
}

static void name_node(struct graph_node *node, const rtl_kernel_t *kernel)
{
    node->name = node->name[0] ? node->name : kernel->name;
    if (node->block[0])
        return;
    memcpy(node->grid, kernel->grid, sizeof node->grid);
    memcpy(node->block, kernel->block, sizeof node->block);
}

static void add_kernel(struct reader *reader, const rtl_kernel_t *kernel)
{
    struct graph_reading *reading = reader->reading;
    uint32_t number = kernel->node < reader->nodes ? kernel->node : RTL_TRACE_NONE;
    uint64_t end = kernel->end > kernel->start ? kernel->end : kernel->start;
    size_t place = place_of(reader, kernel->launch);
    if (place == reader->launch_count)
        return;
    const rtl_graph_launch_t *row = &reading->rows[place];
    reading->nowhere += number == RTL_TRACE_NONE;
    reading->unsure += number != RTL_TRACE_NONE && !kernel->certain;
    if (number != RTL_TRACE_NONE)
        name_node(node_at(reading, number), kernel);
    if (partial_is(row))
        return;
    struct under_way *launch = reader->open[place];
    if (!launch) {
        launch = reader->spare ? reader->spare : memory_new(1, sizeof *launch);
        reader->spare = NULL;
        launch->launch = place;
        launch->count = 0;
        reader->open[place] = launch;
    }
    if (launch->count == launch->capacity) {
        launch->capacity = launch->capacity ? 2 * launch->capacity : 64;
        launch->items = memory_grown(launch->items, launch->capacity, sizeof *launch->items);
    }
    launch->items[launch->count++] =
        (struct graph_kernel){number, kernel->queue, kernel->start, end, 0};
    if (launch->count < row->kernels)
        return;
    finish(reader, launch);
    reader->open[place] = NULL;
    if (reader->spare) {
        free(launch->items);
        free(launch);
    } else {
        reader->spare = launch;
    }
}

static rtl_status_t read_kernels(struct reader *reader)
{
    rtl_kernel_filter_t filter = RTL_KERNEL_FILTER_ALL;
    const rtl_graph_t *graph = reader->generations;
    rtl_kernel_iter_t *iter;
    rtl_kernel_t kernel;
    filter.process = graph->process;
    rtl_status_t status = rtlTraceKernels(reader->trace, &filter, &iter);
    if (status != RTL_OK)
        return status;
    while ((status = rtlKernelNext(iter, &kernel)) == RTL_OK)
        if (kernel.graph == graph->graph && has_generation(reader, kernel.generation))
            add_kernel(reader, &kernel);
    rtlKernelIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

/* Launches that are whole move together; then what is between them. */
static void close_ranks(struct reader *reader)
{
    struct graph_reading *reading = reader->reading;
    uint64_t end = 0;
    reading->launches = reader->launch_count;
    for (size_t i = 0; i < reader->launch_count; ++i) {
        struct graph_replay replay = reading->replays[i];
        if (!replay.launch)
            continue;
        uint64_t start = replay.launch->start;
        replay.before = end && start > end ? start - end : 0;
        stats_add(&reading->time, graph_replay_time(&replay));
        if (end)
            stats_add(&reading->before, replay.before);
        end = replay.launch->end > end ? replay.launch->end : end;
        reading->replays[reading->replay_count++] = replay;
    }
}

static void release(struct reader *reader)
{
    for (size_t i = 0; i < reader->launch_count; ++i) {
        if (reader->open[i])
            free(reader->open[i]->items);
        free(reader->open[i]);
    }
    if (reader->spare)
        free(reader->spare->items);
    free(reader->spare);
    free(reader->open);
    free(reader->progress);
}

rtl_status_t graph_read(rtl_trace_t *trace, const rtl_graph_t *generations, size_t count,
                        struct graph_reading *reading)
{
    return graph_read_watched(trace, generations, count, NULL, NULL, reading);
}

rtl_status_t graph_read_watched(rtl_trace_t *trace, const rtl_graph_t *generations, size_t count,
                                graph_watch watch, void *context, struct graph_reading *reading)
{
    struct reader reader = {.trace = trace,
                            .generations = generations,
                            .generation_count = count,
                            .reading = reading,
                            .watch = watch,
                            .context = context};
    *reading = (struct graph_reading){0};
    rtl_status_t status = partial_read(trace, generations->process, &reading->partial);
    if (status == RTL_OK)
        status = read_launches(&reader);
    if (status != RTL_OK) {
        graph_reading_free(reading);
        return status;
    }
    reader.nodes = most_nodes(&reader);
    reader.open = memory_new(reader.launch_count, sizeof(struct under_way *));
    reading->replays = memory_new(reader.launch_count, sizeof *reading->replays);
    status = read_nodes(&reader);
    look_for_branches(reading);
    if (status == RTL_OK && reader.launch_count)
        status = read_kernels(&reader);
    if (status == RTL_OK)
        close_ranks(&reader);
    release(&reader);
    if (status != RTL_OK)
        graph_reading_free(reading);
    return status;
}

void graph_reading_free(struct graph_reading *reading)
{
    for (size_t i = 0; i < reading->node_count; ++i) {
        stats_free(&reading->nodes[i].time);
        stats_free(&reading->nodes[i].gap);
    }
    free(reading->nodes);
    free(reading->replays);
    free(reading->rows);
    stats_free(&reading->time);
    stats_free(&reading->idle);
    stats_free(&reading->before);
    stats_free(&reading->before_idle);
    stats_free(&reading->path);
    *reading = (struct graph_reading){0};
}

static uint64_t partial_launches(const struct graph_reading *reading)
{
    return reading->launches - reading->replay_count;
}

void graph_reading_show_partial(const struct graph_reading *reading, FILE *out)
{
    partial_show(&reading->partial, partial_launches(reading), "what is shown", out);
}

json_t *graph_reading_partial_json(const struct graph_reading *reading)
{
    return partial_json(&reading->partial, partial_launches(reading));
}

uint64_t graph_replay_time(const struct graph_replay *replay)
{
    return replay->launch->end - replay->launch->start;
}

uint64_t graph_outlier_limit(struct graph_reading *reading)
{
    double middle = (double)stats_quantile(&reading->time, 500);
    double robust = 5 * 1.4826 * (double)stats_median_distance(&reading->time);
    return (uint64_t)(middle + fmax(robust, 0.05 * middle));
}

static void blame(struct graph_blame *blame, uint32_t node, bool gap, uint64_t took,
                  struct stats *usual)
{
    uint64_t middle = stats_quantile(usual, 500);
    if (took > middle && took - middle > blame->excess)
        *blame = (struct graph_blame){node, gap, took - middle};
}

rtl_status_t graph_blame(rtl_trace_t *trace, struct graph_reading *reading,
                         const rtl_graph_launch_t *launch, struct graph_blame *result)
{
    rtl_kernel_iter_t *iter;
    rtl_kernel_t kernel;
    uint64_t end = 0;
    *result = (struct graph_blame){.node = RTL_TRACE_NONE};
    rtl_status_t status =
        rtlTraceLaunchKernels(trace, launch->process, launch->graph, launch->launch, &iter);
    if (status != RTL_OK)
        return status;
    while ((status = rtlKernelNext(iter, &kernel)) == RTL_OK) {
        if (kernel.node < reading->node_count) {
            struct graph_node *node = &reading->nodes[kernel.node];
            blame(result, kernel.node, false,
                  kernel.end > kernel.start ? kernel.end - kernel.start : 0, &node->time);
            if (end && kernel.start > end)
                blame(result, kernel.node, true, kernel.start - end, &node->gap);
        }
        end = kernel.end > end ? kernel.end : end;
    }
    rtlKernelIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

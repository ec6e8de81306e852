#include "graph/graphs.h"

#include "graph/infer.h"
#include "graph/plans.h"
#include "graph/registry.h"

#include <stdlib.h>
#include <string.h>

/* A launch's room for kernels is kept for the next one up to this. */
#define ENTRIES_KEPT 4096u

/* What a launch in flight weighs beside its kernels, in kernels. */
#define LAUNCH_WEIGHT 16u

/* So many of the oldest launches are looked at for one that may be retired early. */
#define LOOKED_AT 64

/* Launches that were reported before they were complete are remembered, for kernels that come
 * later. */
#define INCOMPLETE_MAX (1u << 20)

struct rtl_graphs {
    struct rtl_registry registry;
    struct rtl_in_flight *slots;
    uint32_t slot_count; /* ever used; unused ones are in the list of free ones */
    uint32_t free_slot;
    uint32_t oldest, newest;
    uint32_t last;               /* slot of the launch of the kernel before */
    uint32_t weight;             /* of the launches in flight, in kernels */
    struct rtl_index by_launch;  /* slots */
    struct rtl_index incomplete; /* launches that were reported before they were complete */
    struct rtl_plans *plans;
    struct rtl_infer *infer;
};

struct rtl_graphs *rtl_graphs_new(const struct rtl_graphs_sink *sink)
{
    struct rtl_graphs *graphs = calloc(1, sizeof *graphs);
    if (!graphs)
        return NULL;
    graphs->registry.sink = *sink;
    graphs->free_slot = graphs->oldest = graphs->newest = graphs->last = RTL_NONE;
    graphs->plans = rtl_plans_new(&graphs->registry);
    graphs->infer = rtl_infer_new(&graphs->registry);
    if (graphs->plans && graphs->infer)
        return graphs;
    rtl_graphs_free(graphs);
    return NULL;
}

void rtl_graphs_free(struct rtl_graphs *graphs)
{
    if (!graphs)
        return;
    rtl_plans_free(graphs->plans);
    rtl_infer_free(graphs->infer);
    rtl_registry_free(&graphs->registry);
    for (uint32_t i = 0; i < graphs->slot_count; i++)
        free(graphs->slots[i].entries);
    free(graphs->slots);
    rtl_index_free(&graphs->by_launch);
    rtl_index_free(&graphs->incomplete);
    free(graphs);
}

uint64_t rtl_graphs_forgotten(const struct rtl_graphs *graphs)
{
    return graphs->registry.forgotten;
}

/* Definitions. */

void rtl_graphs_queue(struct rtl_graphs *graphs, const struct rtl_wire_queue *queue)
{
    rtl_registry_queue(&graphs->registry, queue);
}

void rtl_graphs_symbol(struct rtl_graphs *graphs, const struct rtl_wire_symbol *symbol,
                       const char *name)
{
    rtl_registry_symbol(&graphs->registry, symbol, name);
}

void rtl_graphs_shape(struct rtl_graphs *graphs, const struct rtl_wire_shape *shape)
{
    rtl_registry_shape(&graphs->registry, shape);
}

void rtl_graphs_graph(struct rtl_graphs *graphs, const struct rtl_wire_graph *graph)
{
    if (graph->graph != RTL_NONE && graph->graph > graphs->registry.last_graph)
        graphs->registry.last_graph = graph->graph;
    rtl_plans_graph(graphs->plans, graph);
}

void rtl_graphs_node(struct rtl_graphs *graphs, const struct rtl_wire_node *node, const void *rest)
{
    rtl_plans_node(graphs->plans, node, rest);
}

/* Launches in flight. */

static void link_in_flight(struct rtl_graphs *graphs, uint32_t place)
{
    struct rtl_in_flight *in_flight = &graphs->slots[place];
    in_flight->older = graphs->newest;
    in_flight->newer = RTL_NONE;
    if (graphs->newest != RTL_NONE)
        graphs->slots[graphs->newest].newer = place;
    else
        graphs->oldest = place;
    graphs->newest = place;
}

static void unlink_in_flight(struct rtl_graphs *graphs, const struct rtl_in_flight *in_flight)
{
    if (in_flight->older != RTL_NONE)
        graphs->slots[in_flight->older].newer = in_flight->newer;
    else
        graphs->oldest = in_flight->newer;
    if (in_flight->newer != RTL_NONE)
        graphs->slots[in_flight->newer].older = in_flight->older;
    else
        graphs->newest = in_flight->older;
}

static uint32_t new_in_flight(struct rtl_graphs *graphs)
{
    uint32_t place = graphs->free_slot;
    if (place != RTL_NONE) {
        graphs->free_slot = graphs->slots[place].newer;
        return place;
    }
    uint32_t capacity = graphs->slot_count;
    if (!rtl_registry_grow((void **)&graphs->slots, &capacity, graphs->slot_count + 1,
                           sizeof *graphs->slots))
        return RTL_NONE;
    /* The new ones but the first are free ones. */
    for (uint32_t i = graphs->slot_count + 1; i < capacity; i++) {
        graphs->slots[i].newer = graphs->free_slot;
        graphs->free_slot = i;
    }
    place = graphs->slot_count;
    graphs->slot_count = capacity;
    return place;
}

/* The launch, made when it is first seen; NULL when memory is short. */
static struct rtl_in_flight *in_flight_of(struct rtl_graphs *graphs, uint32_t launch)
{
    uint32_t place = rtl_index_get(&graphs->by_launch, launch);
    if (place == RTL_INDEX_MISSING) {
        place = new_in_flight(graphs);
        if (place == RTL_NONE || rtl_index_put(&graphs->by_launch, launch, place) != 0) {
            graphs->registry.forgotten++;
            return NULL;
        }
        struct rtl_in_flight *made = &graphs->slots[place];
        *made = (struct rtl_in_flight){.entries = made->entries,
                                       .capacity = made->capacity,
                                       .body.launch = launch,
                                       .class = RTL_NONE,
                                       .sorted = true};
        link_in_flight(graphs, place);
        graphs->weight += LAUNCH_WEIGHT;
    }
    graphs->last = place;
    return &graphs->slots[place];
}

static void drop_in_flight(struct rtl_graphs *graphs, struct rtl_in_flight *in_flight)
{
    uint32_t place = (uint32_t)(in_flight - graphs->slots);
    rtl_index_remove(&graphs->by_launch, in_flight->body.launch);
    unlink_in_flight(graphs, in_flight);
    graphs->weight -= in_flight->count + LAUNCH_WEIGHT;
    if (in_flight->capacity > ENTRIES_KEPT) {
        free(in_flight->entries);
        in_flight->entries = NULL;
        in_flight->capacity = 0;
    }
    in_flight->newer = graphs->free_slot;
    graphs->free_slot = place;
    if (graphs->last == place)
        graphs->last = RTL_NONE;
}

static int by_ordinal(const void *left, const void *right)
{
    const struct rtl_in_flight_kernel *a = left;
    const struct rtl_in_flight_kernel *b = right;
    return (a->ordinal > b->ordinal) - (a->ordinal < b->ordinal);
}

/* Kernels of a launch that was reported already. */
static void report_late(struct rtl_graphs *graphs, const struct rtl_in_flight *in_flight)
{
    const struct rtl_graphs_launch launch = {.body = &in_flight->body,
                                             .recorded = in_flight->count,
                                             .late = true,
                                             .spans = in_flight->spans,
                                             .span_count = in_flight->span_count};
    graphs->registry.sink.launch(graphs->registry.sink.context, &launch);
}

/* How many kernels will come of a launch that is submitted. */
static uint32_t to_come(const struct rtl_in_flight *in_flight)
{
    const struct rtl_wire_launch *body = &in_flight->body;
    return body->left_out < body->kernels ? body->kernels - body->left_out : 0;
}

static void retire(struct rtl_graphs *graphs, struct rtl_in_flight *in_flight)
{
    bool complete = in_flight->submitted && in_flight->count == to_come(in_flight);
    if (!in_flight->sorted && in_flight->count)
        qsort(in_flight->entries, in_flight->count, sizeof *in_flight->entries, by_ordinal);
    if (!in_flight->submitted) {
        if (rtl_index_get(&graphs->incomplete, in_flight->body.launch) != RTL_INDEX_MISSING)
            report_late(graphs, in_flight);
    } else if (in_flight->body.graph == RTL_NONE) {
        rtl_infer_retire(graphs->infer, in_flight);
    } else {
        rtl_registry_report(&graphs->registry, in_flight,
                            rtl_plans_of(graphs->plans, in_flight, complete), 0);
    }
    if (in_flight->submitted && !complete && graphs->incomplete.count < INCOMPLETE_MAX)
        graphs->registry.forgotten +=
            rtl_index_put(&graphs->incomplete, in_flight->body.launch, 0) != 0;
    drop_in_flight(graphs, in_flight);
}

/* Beyond the limit the oldest launch is reported as it is: most likely the rest of its kernels is
 * lost. One that was not reported yet would be reported too short; the one at hand is just growing.
 */
static void retire_oldest(struct rtl_graphs *graphs)
{
    uint32_t place = graphs->oldest;
    for (int i = 0; i < LOOKED_AT && place != RTL_NONE; i++) {
        if (graphs->slots[place].submitted && place != graphs->last)
            break;
        place = graphs->slots[place].newer;
    }
    if (place == RTL_NONE)
        place = graphs->oldest;
    graphs->registry.forgotten += !graphs->slots[place].submitted;
    retire(graphs, &graphs->slots[place]);
}

static void retire_if_complete(struct rtl_graphs *graphs, struct rtl_in_flight *in_flight)
{
    if (in_flight->submitted && in_flight->count >= to_come(in_flight))
        retire(graphs, in_flight);
}

void rtl_graphs_launch(struct rtl_graphs *graphs, const struct rtl_wire_launch *launch)
{
    struct rtl_in_flight *in_flight =
        launch->launch == RTL_NONE ? NULL : in_flight_of(graphs, launch->launch);
    if (!in_flight || in_flight->submitted)
        return;
    in_flight->body = *launch;
    in_flight->submitted = true;
    if (launch->graph == RTL_NONE)
        rtl_infer_submitted(graphs->infer, in_flight);
    retire_if_complete(graphs, in_flight);
    if (graphs->weight > RTL_GRAPHS_IN_FLIGHT)
        retire_oldest(graphs);
}

static void extend_span(struct rtl_graphs *graphs, struct rtl_in_flight *in_flight,
                        const struct rtl_wire_kernel *kernel)
{
    uint32_t queue = kernel->queue;
    uint32_t agent =
        queue < graphs->registry.queue_count ? graphs->registry.agents[queue] : RTL_NONE;
    uint32_t i = 0;
    while (i < in_flight->span_count && in_flight->agents[i] != agent)
        i++;
    if (i == RTL_GRAPHS_SPANS)
        return;
    struct rtl_graphs_span *span = &in_flight->spans[i];
    if (i == in_flight->span_count) {
        in_flight->agents[in_flight->span_count++] = agent;
        *span = (struct rtl_graphs_span){queue, kernel->start, kernel->end};
        return;
    }
    span->start = kernel->start < span->start ? kernel->start : span->start;
    span->end = kernel->end > span->end ? kernel->end : span->end;
}

static bool append(struct rtl_graphs *graphs, struct rtl_in_flight *in_flight,
                   const struct rtl_wire_kernel *kernel)
{
    if (in_flight->count == in_flight->capacity) {
        uint32_t capacity = in_flight->capacity ? in_flight->capacity * 2 : 16;
        struct rtl_in_flight_kernel *entries =
            realloc(in_flight->entries, capacity * sizeof *entries);
        if (!entries) {
            graphs->registry.forgotten++;
            return false;
        }
        in_flight->entries = entries;
        in_flight->capacity = capacity;
    }
    in_flight->sorted =
        in_flight->sorted && (in_flight->count == 0 ||
                              in_flight->entries[in_flight->count - 1].ordinal < kernel->ordinal);
    in_flight->entries[in_flight->count++] =
        (struct rtl_in_flight_kernel){kernel->ordinal, kernel->shape};
    graphs->weight++;
    return true;
}

void rtl_graphs_kernel(struct rtl_graphs *graphs, const struct rtl_wire_kernel *kernel)
{
    if (kernel->launch == RTL_NONE) {
        rtl_infer_single(graphs->infer, kernel);
        return;
    }
    struct rtl_in_flight *in_flight =
        graphs->last != RTL_NONE && graphs->slots[graphs->last].body.launch == kernel->launch
            ? &graphs->slots[graphs->last]
            : in_flight_of(graphs, kernel->launch);
    if (!in_flight || !append(graphs, in_flight, kernel))
        return;
    extend_span(graphs, in_flight, kernel);
    retire_if_complete(graphs, in_flight);
    if (graphs->weight > RTL_GRAPHS_IN_FLIGHT)
        retire_oldest(graphs);
}

void rtl_graphs_flush(struct rtl_graphs *graphs)
{
    rtl_plans_flush(graphs->plans, false);
}

void rtl_graphs_finish(struct rtl_graphs *graphs)
{
    rtl_plans_flush(graphs->plans, true);
    while (graphs->oldest != RTL_NONE)
        retire(graphs, &graphs->slots[graphs->oldest]);
    rtl_plans_flush(graphs->plans, true);
    rtl_infer_finish(graphs->infer);
}

#include "graph/graphs.h"

#include "graph/infer.h"
#include "graph/plans.h"
#include "graph/registry.h"

#include <stdlib.h>
#include <string.h>

/* A flight's room for kernels is kept for the next one up to this. */
#define ENTRIES_KEPT 4096u

/* What a flight weighs beside its kernels, in kernels. */
#define FLIGHT_WEIGHT 16u

/* So many of the oldest flights are looked at for one that may be retired early. */
#define LOOKED_AT 64

/* Launches that were reported before they were complete are remembered, for kernels that come
 * later. */
#define INCOMPLETE_MAX (1u << 20)

struct rtl_graphs {
    struct rtl_registry registry;
    struct rtl_flight *flights;
    uint32_t flight_count; /* ever made; unused ones are in the list of free ones */
    uint32_t free_flight;
    uint32_t oldest, newest;
    uint32_t last; /* flight of the kernel before */
    uint32_t in_flight;
    struct rtl_index by_launch;  /* flights */
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
    graphs->free_flight = graphs->oldest = graphs->newest = graphs->last = RTL_NONE;
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
    for (uint32_t i = 0; i < graphs->flight_count; i++)
        free(graphs->flights[i].entries);
    free(graphs->flights);
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

static void link_flight(struct rtl_graphs *graphs, uint32_t place)
{
    struct rtl_flight *flight = &graphs->flights[place];
    flight->older = graphs->newest;
    flight->newer = RTL_NONE;
    if (graphs->newest != RTL_NONE)
        graphs->flights[graphs->newest].newer = place;
    else
        graphs->oldest = place;
    graphs->newest = place;
}

static void unlink_flight(struct rtl_graphs *graphs, const struct rtl_flight *flight)
{
    if (flight->older != RTL_NONE)
        graphs->flights[flight->older].newer = flight->newer;
    else
        graphs->oldest = flight->newer;
    if (flight->newer != RTL_NONE)
        graphs->flights[flight->newer].older = flight->older;
    else
        graphs->newest = flight->older;
}

static uint32_t new_flight(struct rtl_graphs *graphs)
{
    uint32_t place = graphs->free_flight;
    if (place != RTL_NONE) {
        graphs->free_flight = graphs->flights[place].newer;
        return place;
    }
    uint32_t capacity = graphs->flight_count;
    if (!rtl_registry_grow((void **)&graphs->flights, &capacity, graphs->flight_count + 1,
                           sizeof *graphs->flights))
        return RTL_NONE;
    /* The new ones but the first are free ones. */
    for (uint32_t i = graphs->flight_count + 1; i < capacity; i++) {
        graphs->flights[i].newer = graphs->free_flight;
        graphs->free_flight = i;
    }
    place = graphs->flight_count;
    graphs->flight_count = capacity;
    return place;
}

/* The flight of a launch, made when it is first seen; NULL when memory is short. */
static struct rtl_flight *flight_of(struct rtl_graphs *graphs, uint32_t launch)
{
    uint32_t place = rtl_index_get(&graphs->by_launch, launch);
    if (place == RTL_INDEX_MISSING) {
        place = new_flight(graphs);
        if (place == RTL_NONE || rtl_index_put(&graphs->by_launch, launch, place) != 0) {
            graphs->registry.forgotten++;
            return NULL;
        }
        struct rtl_flight *made = &graphs->flights[place];
        *made = (struct rtl_flight){.entries = made->entries,
                                    .capacity = made->capacity,
                                    .body.launch = launch,
                                    .class = RTL_NONE,
                                    .sorted = true};
        link_flight(graphs, place);
        graphs->in_flight += FLIGHT_WEIGHT;
    }
    graphs->last = place;
    return &graphs->flights[place];
}

static void drop_flight(struct rtl_graphs *graphs, struct rtl_flight *flight)
{
    uint32_t place = (uint32_t)(flight - graphs->flights);
    rtl_index_remove(&graphs->by_launch, flight->body.launch);
    unlink_flight(graphs, flight);
    graphs->in_flight -= flight->count + FLIGHT_WEIGHT;
    if (flight->capacity > ENTRIES_KEPT) {
        free(flight->entries);
        flight->entries = NULL;
        flight->capacity = 0;
    }
    flight->newer = graphs->free_flight;
    graphs->free_flight = place;
    if (graphs->last == place)
        graphs->last = RTL_NONE;
}

static int by_ordinal(const void *left, const void *right)
{
    const struct rtl_flight_kernel *a = left;
    const struct rtl_flight_kernel *b = right;
    return (a->ordinal > b->ordinal) - (a->ordinal < b->ordinal);
}

/* Kernels of a launch that was reported already. */
static void report_late(struct rtl_graphs *graphs, const struct rtl_flight *flight)
{
    const struct rtl_graphs_launch launch = {.body = &flight->body,
                                             .recorded = flight->count,
                                             .late = true,
                                             .spans = flight->spans,
                                             .span_count = flight->span_count};
    graphs->registry.sink.launch(graphs->registry.sink.context, &launch);
}

static void retire(struct rtl_graphs *graphs, struct rtl_flight *flight)
{
    bool complete = flight->submitted && flight->count == flight->body.kernels;
    if (!flight->sorted && flight->count)
        qsort(flight->entries, flight->count, sizeof *flight->entries, by_ordinal);
    if (!flight->submitted) {
        if (rtl_index_get(&graphs->incomplete, flight->body.launch) != RTL_INDEX_MISSING)
            report_late(graphs, flight);
    } else if (flight->body.graph == RTL_NONE) {
        rtl_infer_retire(graphs->infer, flight);
    } else {
        rtl_registry_report(&graphs->registry, flight,
                            rtl_plans_of(graphs->plans, flight, complete), 0);
    }
    if (flight->submitted && !complete && graphs->incomplete.count < INCOMPLETE_MAX)
        graphs->registry.forgotten +=
            rtl_index_put(&graphs->incomplete, flight->body.launch, 0) != 0;
    drop_flight(graphs, flight);
}

/* Beyond the limit the oldest launch is reported as it is: most likely the rest of its kernels is
 * lost. One that was not reported yet would be reported too short; the one at hand is just growing.
 */
static void retire_oldest(struct rtl_graphs *graphs)
{
    uint32_t place = graphs->oldest;
    for (int i = 0; i < LOOKED_AT && place != RTL_NONE; i++) {
        if (graphs->flights[place].submitted && place != graphs->last)
            break;
        place = graphs->flights[place].newer;
    }
    if (place == RTL_NONE)
        place = graphs->oldest;
    graphs->registry.forgotten += !graphs->flights[place].submitted;
    retire(graphs, &graphs->flights[place]);
}

static void retire_if_complete(struct rtl_graphs *graphs, struct rtl_flight *flight)
{
    if (flight->submitted && flight->count >= flight->body.kernels)
        retire(graphs, flight);
}

void rtl_graphs_launch(struct rtl_graphs *graphs, const struct rtl_wire_launch *launch)
{
    struct rtl_flight *flight =
        launch->launch == RTL_NONE ? NULL : flight_of(graphs, launch->launch);
    if (!flight || flight->submitted)
        return;
    flight->body = *launch;
    flight->submitted = true;
    if (launch->graph == RTL_NONE)
        rtl_infer_submitted(graphs->infer, flight);
    retire_if_complete(graphs, flight);
    if (graphs->in_flight > RTL_GRAPHS_IN_FLIGHT)
        retire_oldest(graphs);
}

static void extend_span(struct rtl_graphs *graphs, struct rtl_flight *flight,
                        const struct rtl_wire_kernel *kernel)
{
    uint32_t queue = kernel->queue;
    uint32_t agent =
        queue < graphs->registry.queue_count ? graphs->registry.agents[queue] : RTL_NONE;
    uint32_t i = 0;
    while (i < flight->span_count && flight->agents[i] != agent)
        i++;
    if (i == RTL_GRAPHS_SPANS)
        return;
    struct rtl_graphs_span *span = &flight->spans[i];
    if (i == flight->span_count) {
        flight->agents[flight->span_count++] = agent;
        *span = (struct rtl_graphs_span){queue, kernel->start, kernel->end};
        return;
    }
    span->start = kernel->start < span->start ? kernel->start : span->start;
    span->end = kernel->end > span->end ? kernel->end : span->end;
}

static bool append(struct rtl_graphs *graphs, struct rtl_flight *flight,
                   const struct rtl_wire_kernel *kernel)
{
    if (flight->count == flight->capacity) {
        uint32_t capacity = flight->capacity ? flight->capacity * 2 : 16;
        struct rtl_flight_kernel *entries = realloc(flight->entries, capacity * sizeof *entries);
        if (!entries) {
            graphs->registry.forgotten++;
            return false;
        }
        flight->entries = entries;
        flight->capacity = capacity;
    }
    flight->sorted =
        flight->sorted &&
        (flight->count == 0 || flight->entries[flight->count - 1].ordinal < kernel->ordinal);
    flight->entries[flight->count++] = (struct rtl_flight_kernel){kernel->ordinal, kernel->shape};
    graphs->in_flight++;
    return true;
}

void rtl_graphs_kernel(struct rtl_graphs *graphs, const struct rtl_wire_kernel *kernel)
{
    if (kernel->launch == RTL_NONE) {
        rtl_infer_single(graphs->infer, kernel);
        return;
    }
    struct rtl_flight *flight =
        graphs->last != RTL_NONE && graphs->flights[graphs->last].body.launch == kernel->launch
            ? &graphs->flights[graphs->last]
            : flight_of(graphs, kernel->launch);
    if (!flight || !append(graphs, flight, kernel))
        return;
    extend_span(graphs, flight, kernel);
    retire_if_complete(graphs, flight);
    if (graphs->in_flight > RTL_GRAPHS_IN_FLIGHT)
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
        retire(graphs, &graphs->flights[graphs->oldest]);
    rtl_plans_flush(graphs->plans, true);
    rtl_infer_finish(graphs->infer);
}

#include "graph/registry.h"

#include <stdlib.h>
#include <string.h>

/* Ids of symbols, shapes and queues are places in arrays; one beyond this is nonsense. */
#define IDS_MAX (1u << 20)

/* Most items of any array here. */
#define ITEMS_MAX (1u << 24)

/* A flight's room for kernels is kept for the next one up to this. */
#define ENTRIES_KEPT 4096u

/* What a flight weighs beside its kernels, in kernels. */
#define FLIGHT_WEIGHT 16u

/* So many of the oldest flights are looked at for one that may be settled early. */
#define LOOKED_AT 64

/* Launches that were told before they were whole are remembered, for kernels that come later. */
#define SETTLED_MAX (1u << 20)

bool rtl_graphs_grow(void **items, uint32_t *capacity, uint32_t count, size_t size)
{
    if (count <= *capacity)
        return true;
    uint32_t wanted = *capacity ? *capacity * 2 : 16;
    while (wanted < count && wanted <= ITEMS_MAX)
        wanted *= 2;
    char *more = wanted <= ITEMS_MAX ? realloc(*items, wanted * size) : NULL;
    if (!more)
        return false;
    memset(more + *capacity * size, 0, (wanted - *capacity) * size);
    *items = more;
    *capacity = wanted;
    return true;
}

struct rtl_graphs *rtl_graphs_new(const struct rtl_graphs_sink *sink)
{
    struct rtl_graphs *graphs = calloc(1, sizeof *graphs);
    if (!graphs)
        return NULL;
    graphs->sink = *sink;
    graphs->free_flight = graphs->oldest = graphs->newest = graphs->last = RTL_NONE;
    graphs->plans = rtl_plans_new(graphs);
    graphs->found = rtl_found_new(graphs);
    if (graphs->plans && graphs->found)
        return graphs;
    rtl_graphs_free(graphs);
    return NULL;
}

void rtl_graphs_free(struct rtl_graphs *graphs)
{
    if (!graphs)
        return;
    rtl_plans_free(graphs->plans);
    rtl_found_free(graphs->found);
    for (uint32_t i = 0; i < graphs->symbol_count; i++)
        free(graphs->symbols[i].text);
    for (uint32_t i = 0; i < graphs->flight_count; i++)
        free(graphs->flights[i].entries);
    free(graphs->symbols);
    free(graphs->shapes);
    free(graphs->agents);
    free(graphs->flights);
    rtl_index_free(&graphs->by_launch);
    rtl_index_free(&graphs->settled);
    free(graphs);
}

uint64_t rtl_graphs_forgotten(const struct rtl_graphs *graphs)
{
    return graphs->forgotten;
}

/* Definitions. */

void rtl_graphs_queue(struct rtl_graphs *graphs, const struct rtl_wire_queue *queue)
{
    uint32_t before = graphs->queue_count;
    if (queue->queue >= IDS_MAX || !rtl_graphs_grow((void **)&graphs->agents, &graphs->queue_count,
                                                    queue->queue + 1, sizeof *graphs->agents)) {
        graphs->forgotten++;
        return;
    }
    for (uint32_t i = before; i < graphs->queue_count; i++)
        graphs->agents[i] = RTL_NONE;
    graphs->agents[queue->queue] = queue->agent;
}

void rtl_graphs_symbol(struct rtl_graphs *graphs, const struct rtl_wire_symbol *symbol,
                       const char *name)
{
    if (symbol->symbol >= IDS_MAX ||
        !rtl_graphs_grow((void **)&graphs->symbols, &graphs->symbol_count, symbol->symbol + 1,
                         sizeof *graphs->symbols)) {
        graphs->forgotten++;
        return;
    }
    struct rtl_known_symbol *known = &graphs->symbols[symbol->symbol];
    free(known->text);
    *known = (struct rtl_known_symbol){
        .known = true,
        .kind = (uint16_t)rtl_match_kind(name, symbol->name_length),
        .length = symbol->name_length,
        .group_size = symbol->group_size,
        .name = rtl_match_name(name, symbol->name_length),
        .text = malloc(symbol->name_length + (size_t)1),
    };
    if (known->text) {
        memcpy(known->text, name, symbol->name_length);
    } else {
        known->length = 0;
        graphs->forgotten++;
    }
}

void rtl_graphs_shape(struct rtl_graphs *graphs, const struct rtl_wire_shape *shape)
{
    if (shape->shape >= IDS_MAX || !rtl_graphs_grow((void **)&graphs->shapes, &graphs->shape_count,
                                                    shape->shape + 1, sizeof *graphs->shapes)) {
        graphs->forgotten++;
        return;
    }
    struct rtl_known_shape *known = &graphs->shapes[shape->shape];
    *known = (struct rtl_known_shape){
        .known = true, .symbol = shape->symbol, .group_size = shape->group_size};
    memcpy(known->kernel.grid, shape->grid, sizeof known->kernel.grid);
    memcpy(known->kernel.block, shape->block, sizeof known->kernel.block);
}

bool rtl_graphs_match_kernel(const struct rtl_graphs *graphs, uint32_t shape,
                             struct rtl_match_kernel *kernel)
{
    *kernel = (struct rtl_match_kernel){.group_size = RTL_NONE};
    if (shape >= graphs->shape_count || !graphs->shapes[shape].known)
        return false;
    const struct rtl_known_shape *known = &graphs->shapes[shape];
    *kernel = known->kernel;
    kernel->group_size = RTL_NONE;
    if (known->symbol == RTL_NONE)
        return true;
    if (known->symbol >= graphs->symbol_count || !graphs->symbols[known->symbol].known)
        return false;
    const struct rtl_known_symbol *symbol = &graphs->symbols[known->symbol];
    kernel->name = symbol->name;
    kernel->kind = symbol->kind;
    if (known->group_size >= symbol->group_size)
        kernel->group_size = known->group_size - symbol->group_size;
    return true;
}

void rtl_graphs_graph(struct rtl_graphs *graphs, const struct rtl_wire_graph *graph)
{
    if (graph->graph != RTL_NONE && graph->graph > graphs->last_graph)
        graphs->last_graph = graph->graph;
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
    if (!rtl_graphs_grow((void **)&graphs->flights, &capacity, graphs->flight_count + 1,
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
            graphs->forgotten++;
            return NULL;
        }
        struct rtl_flight *made = &graphs->flights[place];
        *made = (struct rtl_flight){.entries = made->entries,
                                    .capacity = made->capacity,
                                    .body.launch = launch,
                                    .part = RTL_NONE,
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
    const struct rtl_entry *a = left;
    const struct rtl_entry *b = right;
    return (a->ordinal > b->ordinal) - (a->ordinal < b->ordinal);
}

void rtl_graphs_tell(struct rtl_graphs *graphs, const struct rtl_flight *flight, uint32_t plan,
                     uint32_t head_plan)
{
    const struct rtl_graphs_launch launch = {.body = &flight->body,
                                             .plan = plan,
                                             .head_plan = head_plan,
                                             .recorded = flight->count,
                                             .spans = flight->spans,
                                             .span_count = flight->span_count};
    graphs->sink.launch(graphs->sink.context, &launch);
}

/* Kernels of a launch that was told already. */
static void tell_late(struct rtl_graphs *graphs, const struct rtl_flight *flight)
{
    const struct rtl_graphs_launch launch = {.body = &flight->body,
                                             .recorded = flight->count,
                                             .late = true,
                                             .spans = flight->spans,
                                             .span_count = flight->span_count};
    graphs->sink.launch(graphs->sink.context, &launch);
}

static void settle(struct rtl_graphs *graphs, struct rtl_flight *flight)
{
    bool whole = flight->submitted && flight->count == flight->body.kernels;
    if (!flight->sorted && flight->count)
        qsort(flight->entries, flight->count, sizeof *flight->entries, by_ordinal);
    if (!flight->submitted) {
        if (rtl_index_get(&graphs->settled, flight->body.launch) != RTL_INDEX_MISSING)
            tell_late(graphs, flight);
    } else if (flight->body.graph == RTL_NONE) {
        rtl_found_settle(graphs->found, flight);
    } else {
        rtl_graphs_tell(graphs, flight, rtl_plans_of(graphs->plans, flight, whole), 0);
    }
    if (flight->submitted && !whole && graphs->settled.count < SETTLED_MAX)
        graphs->forgotten += rtl_index_put(&graphs->settled, flight->body.launch, 0) != 0;
    drop_flight(graphs, flight);
}

/* Beyond the limit the oldest launch is told as it is: most likely the rest of its kernels is lost.
 * One that was not told yet would be told too short; the one at hand is just growing. */
static void settle_early(struct rtl_graphs *graphs)
{
    uint32_t place = graphs->oldest;
    for (int i = 0; i < LOOKED_AT && place != RTL_NONE; i++) {
        if (graphs->flights[place].submitted && place != graphs->last)
            break;
        place = graphs->flights[place].newer;
    }
    if (place == RTL_NONE)
        place = graphs->oldest;
    graphs->forgotten += !graphs->flights[place].submitted;
    settle(graphs, &graphs->flights[place]);
}

static void settle_if_whole(struct rtl_graphs *graphs, struct rtl_flight *flight)
{
    if (flight->submitted && flight->count >= flight->body.kernels)
        settle(graphs, flight);
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
        rtl_found_submitted(graphs->found, flight);
    settle_if_whole(graphs, flight);
    if (graphs->in_flight > RTL_GRAPHS_IN_FLIGHT)
        settle_early(graphs);
}

static void extend_span(struct rtl_graphs *graphs, struct rtl_flight *flight,
                        const struct rtl_wire_kernel *kernel)
{
    uint32_t queue = kernel->queue;
    uint32_t agent = queue < graphs->queue_count ? graphs->agents[queue] : RTL_NONE;
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
        struct rtl_entry *entries = realloc(flight->entries, capacity * sizeof *entries);
        if (!entries) {
            graphs->forgotten++;
            return false;
        }
        flight->entries = entries;
        flight->capacity = capacity;
    }
    flight->sorted =
        flight->sorted &&
        (flight->count == 0 || flight->entries[flight->count - 1].ordinal < kernel->ordinal);
    flight->entries[flight->count++] = (struct rtl_entry){kernel->ordinal, kernel->shape};
    graphs->in_flight++;
    return true;
}

void rtl_graphs_kernel(struct rtl_graphs *graphs, const struct rtl_wire_kernel *kernel)
{
    if (kernel->launch == RTL_NONE) {
        rtl_found_single(graphs->found, kernel);
        return;
    }
    struct rtl_flight *flight =
        graphs->last != RTL_NONE && graphs->flights[graphs->last].body.launch == kernel->launch
            ? &graphs->flights[graphs->last]
            : flight_of(graphs, kernel->launch);
    if (!flight || !append(graphs, flight, kernel))
        return;
    extend_span(graphs, flight, kernel);
    settle_if_whole(graphs, flight);
    if (graphs->in_flight > RTL_GRAPHS_IN_FLIGHT)
        settle_early(graphs);
}

void rtl_graphs_flush(struct rtl_graphs *graphs)
{
    rtl_plans_flush(graphs->plans, false);
}

void rtl_graphs_finish(struct rtl_graphs *graphs)
{
    rtl_plans_flush(graphs->plans, true);
    while (graphs->oldest != RTL_NONE)
        settle(graphs, &graphs->flights[graphs->oldest]);
    rtl_plans_flush(graphs->plans, true);
    rtl_found_finish(graphs->found);
}

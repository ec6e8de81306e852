/**
 * The inside of a registry, shared by its sources. Others use graph/graphs.h.
 */
#ifndef RTL_GRAPH_REGISTRY_H
#define RTL_GRAPH_REGISTRY_H

#include "graph/graphs.h"
#include "graph/index.h"
#include "graph/match.h"

/** A kernel of a launch: which packet, and what it ran. */
struct rtl_entry {
    uint32_t ordinal, shape;
};

/** A symbol or shape id is its place in its array. */
struct rtl_known_symbol {
    bool known;
    uint16_t kind; /**< enum rtl_match_kind */
    uint16_t length;
    uint32_t group_size;
    uint64_t name;
    char *text; /**< mangled, not terminated */
};

struct rtl_known_shape {
    bool known;
    uint32_t symbol;
    uint32_t group_size;
    struct rtl_match_kernel kernel; /**< but for what the symbol tells */
};

/** A launch whose kernels are still coming. */
struct rtl_flight {
    struct rtl_wire_launch body; /**< `launch` always, the rest if `submitted` */
    bool submitted;
    bool sorted;
    uint32_t older, newer;     /**< flights by age */
    uint32_t part, part_plan;  /**< found by its packets; see found.c */
    struct rtl_entry *entries; /**< by ordinal if `sorted` */
    uint32_t count, capacity;
    uint32_t span_count;
    uint32_t agents[RTL_GRAPHS_SPANS];
    struct rtl_graphs_span spans[RTL_GRAPHS_SPANS];
};

struct rtl_plans;
struct rtl_found;

struct rtl_graphs {
    struct rtl_graphs_sink sink;
    struct rtl_known_symbol *symbols;
    struct rtl_known_shape *shapes;
    uint32_t *agents; /**< by queue, RTL_NONE: not known */
    uint32_t symbol_count, shape_count, queue_count;
    struct rtl_flight *flights;
    uint32_t flight_count; /**< ever made; unused ones are in the list of free ones */
    uint32_t free_flight;
    uint32_t oldest, newest;
    uint32_t last; /**< flight of the kernel before */
    uint32_t in_flight;
    struct rtl_index by_launch; /**< flights */
    struct rtl_index settled;   /**< launches that were told before they were whole */
    struct rtl_plans *plans;
    struct rtl_found *found;
    uint32_t last_plan;
    uint32_t last_graph; /**< greatest id that HIP gave */
    uint64_t forgotten;
};

/** What a shape runs. False if a definition has not come yet; then `*kernel` holds what is known.
 */
bool rtl_graphs_match_kernel(const struct rtl_graphs *graphs, uint32_t shape,
                             struct rtl_match_kernel *kernel);

/** Grows an array to hold `count` items of `size` bytes, new ones zeroed. `*capacity` is in items.
 * False when memory is short or `count` is past what ids may be. */
bool rtl_graphs_grow(void **items, uint32_t *capacity, uint32_t count, size_t size);

/** Tells a launch. */
void rtl_graphs_tell(struct rtl_graphs *graphs, const struct rtl_flight *flight, uint32_t plan,
                     uint32_t head_plan);

/* plans.c: graphs that HIP names. */

struct rtl_plans *rtl_plans_new(struct rtl_graphs *graphs);
void rtl_plans_free(struct rtl_plans *plans);
void rtl_plans_graph(struct rtl_plans *plans, const struct rtl_wire_graph *graph);
void rtl_plans_node(struct rtl_plans *plans, const struct rtl_wire_node *node, const void *rest);

/** The plan of a launch; `whole`: all its kernels have come. 0: none. */
uint32_t rtl_plans_of(struct rtl_plans *plans, const struct rtl_flight *flight, bool whole);

/** Tells plans that had to wait for definitions; `all`: with what there is. */
void rtl_plans_flush(struct rtl_plans *plans, bool all);

/* found.c: graphs found by their packets. */

struct rtl_found *rtl_found_new(struct rtl_graphs *graphs);
void rtl_found_free(struct rtl_found *found);

/** A batch was submitted: in `flight`, whose kernels may not all have come. */
void rtl_found_submitted(struct rtl_found *found, struct rtl_flight *flight);

/** The kernels of a batch have come, or all that will. Tells the launch, now or when it is known
 * that it belongs to a graph. */
void rtl_found_settle(struct rtl_found *found, struct rtl_flight *flight);

/** A kernel that names no launch: it may be a head. */
void rtl_found_single(struct rtl_found *found, const struct rtl_wire_kernel *kernel);

/** Tells the graphs. */
void rtl_found_finish(struct rtl_found *found);

#endif

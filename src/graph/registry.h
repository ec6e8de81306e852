/**
 * What the parts of a registry stand on: for the sources of this folder, others use graph/graphs.h.
 * It knows neither launches in flight (graphs.c) nor plans nor inferred graphs.
 */
#ifndef RTL_GRAPH_REGISTRY_H
#define RTL_GRAPH_REGISTRY_H

#include "common/index.h"
#include "graph/graphs.h"
#include "graph/match.h"

/** A kernel of a launch: which packet, and what it ran. */
struct rtl_in_flight_kernel {
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
struct rtl_in_flight {
    struct rtl_wire_launch body; /**< `launch` always, the rest if `submitted` */
    bool submitted;
    bool sorted;
    uint32_t older, newer;                /**< slots by age */
    uint32_t class, class_plan;           /**< of the batch, where no graph is named; see infer.h */
    struct rtl_in_flight_kernel *entries; /**< by ordinal if `sorted` */
    uint32_t count, capacity;
    uint32_t span_count;
    uint32_t agents[RTL_GRAPHS_SPANS];
    struct rtl_graphs_span spans[RTL_GRAPHS_SPANS];
};

/** What the parts of a registry share: definitions, where findings go, and what is numbered across
 * the parts. */
struct rtl_registry {
    struct rtl_graphs_sink sink;
    struct rtl_known_symbol *symbols;
    struct rtl_known_shape *shapes;
    uint32_t *agents; /**< by queue, RTL_NONE: not known */
    uint32_t symbol_count, shape_count, queue_count;
    uint32_t last_plan;
    uint32_t last_graph; /**< greatest id that HIP gave */
    uint64_t forgotten;
};

void rtl_registry_free(struct rtl_registry *registry);

/** Definitions, as in graphs.h. */
void rtl_registry_queue(struct rtl_registry *registry, const struct rtl_wire_queue *queue);
void rtl_registry_symbol(struct rtl_registry *registry, const struct rtl_wire_symbol *symbol,
                         const char *name);
void rtl_registry_shape(struct rtl_registry *registry, const struct rtl_wire_shape *shape);

/** What a shape runs. False if a definition has not come yet; then `*kernel` holds what is known.
 */
bool rtl_registry_kernel(const struct rtl_registry *registry, uint32_t shape,
                         struct rtl_match_kernel *kernel);

/** Grows an array to hold `count` items of `size` bytes, new ones zeroed. `*capacity` is in items.
 * False when memory is short or `count` is past what ids may be. */
bool rtl_registry_grow(void **items, uint32_t *capacity, uint32_t count, size_t size);

/** Reports a launch. */
void rtl_registry_report(struct rtl_registry *registry, const struct rtl_in_flight *in_flight,
                         uint32_t plan, uint32_t head_plan);

#endif

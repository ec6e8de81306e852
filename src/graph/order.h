/**
 * What the dependencies of a graph say about the order of its nodes. Pure.
 */
#ifndef RTL_GRAPH_ORDER_H
#define RTL_GRAPH_ORDER_H

#include "ring/wire.h"

#include <stdbool.h>
#include <stddef.h>

/** A node as matching needs it. */
struct rtl_order_node {
    uint64_t name;    /**< hash of the kernel's mangled name, 0 if not known */
    uint32_t type;    /**< enum rtl_node_type */
    uint32_t grid[3]; /**< work-items */
    uint16_t block[3];
    uint16_t flags;      /**< enum rtl_node_flags */
    uint32_t group_size; /**< dynamic, bytes */
    uint32_t parent;     /**< node that holds the child graph it is in, RTL_NONE if none */
    uint32_t dependency; /**< place of its first one in the graph's list */
    uint32_t dependencies;
};

/** Nodes in an order that their dependencies allow: a node depends on none after it, nodes of a
 * child graph follow the one that holds it and come before those that depend on that. What does not
 * keep to this is passed over. */
struct rtl_order_graph {
    const struct rtl_order_node *nodes;
    uint32_t count;
    const uint32_t *dependencies; /**< of all nodes */
    size_t dependency_count;
};

/** Whether each of the `count` nodes `list` (rising) runs after the one before it in every order
 * that the dependencies allow. `scratch` has room for two numbers per node of the graph. */
bool rtl_order_total(const struct rtl_order_graph *graph, const uint32_t *list, uint32_t count,
                     uint32_t *scratch);

#endif

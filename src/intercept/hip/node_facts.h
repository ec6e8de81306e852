/**
 * What is remembered of the nodes of the program's graphs, from when they were made: what HIP does
 * not tell later.
 *
 * Handles are HIP's addresses. One may be of something new because a graph ended unseen: facts
 * count only together with the graph that they were set for, and a graph that is made anew begins
 * without any. Any thread; takes a lock.
 */
#ifndef RTL_INTERCEPT_HIP_NODE_FACTS_H
#define RTL_INTERCEPT_HIP_NODE_FACTS_H

#include <stdbool.h>
#include <stdint.h>

struct rtl_node_facts {
    uint64_t range; /**< innermost range that was open in the thread, 0 if none */
    uint64_t bytes; /**< of a memcpy or memset, 0 if not known */
};

/** Sets the facts of a node of a graph. Without memory the node stays without. */
void rtl_node_facts_set(uint64_t graph, uint64_t node, struct rtl_node_facts facts);

/** The facts of a node of a graph; false if it has none. */
bool rtl_node_facts_find(uint64_t graph, uint64_t node, struct rtl_node_facts *facts);

/** Changes `bytes` of a node that has facts. */
void rtl_node_facts_set_bytes(uint64_t node, uint64_t bytes);

/** The node is no more. */
void rtl_node_facts_forget(uint64_t node);

/** The graph is no more, or is new. With it go the facts of the graphs that were attached to it. */
void rtl_node_facts_forget_graph(uint64_t graph);

/** `child` is part of `graph` and ends with it. */
void rtl_node_facts_attach(uint64_t graph, uint64_t child);

#endif

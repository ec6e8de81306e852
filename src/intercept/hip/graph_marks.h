/**
 * What is remembered of the nodes of the program's graphs, from when they were made: what HIP does
 * not tell later.
 *
 * Handles are HIP's addresses. One may be of something new because a graph ended unseen: a mark
 * counts only together with the graph that it was set for, and a graph that is made anew begins
 * without marks. Any thread; takes a lock.
 */
#ifndef RTL_INTERCEPT_HIP_GRAPH_MARKS_H
#define RTL_INTERCEPT_HIP_GRAPH_MARKS_H

#include <stdbool.h>
#include <stdint.h>

struct rtl_graph_mark {
    uint64_t range; /**< innermost range that was open in the thread, 0 if none */
    uint64_t bytes; /**< of a memcpy or memset, 0 if not known */
};

/** Sets the mark of a node of a graph. Without memory the node stays without. */
void rtl_graph_marks_set(uint64_t graph, uint64_t node, struct rtl_graph_mark mark);

/** The mark of a node of a graph; false if it has none. */
bool rtl_graph_marks_find(uint64_t graph, uint64_t node, struct rtl_graph_mark *mark);

/** Changes `bytes` of a node that has a mark. */
void rtl_graph_marks_set_bytes(uint64_t node, uint64_t bytes);

/** The node is no more. */
void rtl_graph_marks_forget_node(uint64_t node);

/** The graph is no more, or is new. With it go the marks of the graphs that were attached to it. */
void rtl_graph_marks_forget(uint64_t graph);

/** `child` is part of `graph` and ends with it. */
void rtl_graph_marks_attach(uint64_t graph, uint64_t child);

#endif

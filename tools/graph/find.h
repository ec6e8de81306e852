/**
 * What stands out among the nodes of a graph. Each finding has its rule; nothing is said by
 * feeling.
 */
#ifndef RTL_TOOLS_GRAPH_FIND_H
#define RTL_TOOLS_GRAPH_FIND_H

#include "analysis/graph_read.h"

enum graph_finding_kind {
    /** Its p50 is more than 1.5 times the median of those of the others that run the same kernel
     * with the same grid, and there are two others at least. */
    GRAPH_SLOW,
    /** Its coefficient of variation is 25 % or more. */
    GRAPH_UNSTEADY,
    /** Before it nothing runs for (p50) 1 % or more of a launch (p50), and five times as long as
     * before the median node. */
    GRAPH_GAP
};

struct graph_finding {
    enum graph_finding_kind kind;
    uint32_t node;
    uint64_t weight;  /**< slow: p50 beyond the others'; unsteady: deviation; gap: its p50; ns */
    uint64_t usual;   /**< slow: p50 of the others, ns */
    uint32_t others;  /**< slow: how many others there are */
    double variation; /**< unsteady: coefficient of variation */
};

/** "slow", "unsteady", "gap" */
const char *graph_finding_name(enum graph_finding_kind kind);

/** The findings, those of a kind together and the weightiest first. The caller frees the list. */
struct graph_finding *graph_find(struct graph_reading *reading, size_t *count);

#endif

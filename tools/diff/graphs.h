/**
 * The graphs of two traces: which are the same, and how long their launches take.
 */
#ifndef RTL_TOOLS_DIFF_GRAPHS_H
#define RTL_TOOLS_DIFF_GRAPHS_H

#include "analysis/compare.h"

#include <rtl/rtl_trace.h>

/** A graph of each trace; NULL where it is only in the other. */
struct diff_graph {
    const rtl_graph_t *graph[2]; /**< latest generations */
    uint64_t launches[2];
    struct stats time[2]; /**< of launches that are whole, ns */
    struct comparison comparison;
};

struct diff_graphs {
    struct diff_graph *list; /**< in the order of the first trace, then those only in the second */
    size_t count;
};

/** Matches graphs: those with the same kernels in the same order, one by one; then, of the others,
 * those that have more than half of their kernels in common. The caller frees the list; on failure
 * rtlTraceError of one of the traces tells. */
rtl_status_t diff_graphs_read(rtl_trace_t *const traces[2], struct diff_graphs *graphs);

void diff_graphs_free(struct diff_graphs *graphs);

#endif

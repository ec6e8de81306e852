/**
 * Sums over the graphs of a trace and their launches.
 */
#ifndef RTL_TOOLS_TALLY_GRAPHS_H
#define RTL_TOOLS_TALLY_GRAPHS_H

#include "analysis/partial.h"
#include "store/stat.h"

#include <rtl/rtl_trace.h>

/** A graph over all its generations; times in ns. */
struct tally_graph {
    uint32_t process, graph;
    uint32_t generations;
    uint32_t nodes;     /**< of the latest generation, RTL_TRACE_NONE: not known */
    const char *source; /**< as in rtl_graph_t */
    uint64_t launches, kernels;
    uint64_t partial;     /**< launches that are not whole in the trace */
    struct rtl_stat stat; /**< of those that are: from their first kernel's start to their last
                             one's end */
};

struct tally_graphs {
    struct tally_graph *graphs; /**< the largest total first */
    size_t count;
    uint64_t launches, kernels;
    uint64_t partial;   /**< launches that are not whole in the trace */
    struct partial why; /**< why they are not */
};

/** Adds up the launches that overlap [from, to), to 0: no end; graphs without one are left out if
 * that restricts. On success the caller frees the tally; on failure rtlTraceError tells, or memory
 * was short. */
rtl_status_t tally_graphs_read(rtl_trace_t *trace, uint64_t from, uint64_t to,
                               struct tally_graphs *tally);

/** Drops graphs without launches. */
void tally_graphs_launched(struct tally_graphs *tally);

void tally_graphs_free(struct tally_graphs *tally);

#endif

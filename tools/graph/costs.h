/**
 * What the graphs of a trace cost the host: to capture, to instantiate, to update, to upload and to
 * destroy them; and how long the GPUs of their process were idle meanwhile.
 */
#ifndef RTL_TOOLS_GRAPH_COSTS_H
#define RTL_TOOLS_GRAPH_COSTS_H

#include <rtl/rtl_trace.h>

#include <stddef.h>

enum graph_cost {
    GRAPH_COST_CAPTURE,     /**< from hipStreamBeginCapture to hipStreamEndCapture, the program's
                               own time between them included; or calls that add nodes */
    GRAPH_COST_INSTANTIATE, /**< hipGraphInstantiate and its kind */
    GRAPH_COST_UPDATE,      /**< hipGraphExecUpdate, hipGraphExecKernelNodeSetParams … */
    GRAPH_COST_UPLOAD,      /**< hipGraphUpload */
    GRAPH_COST_DESTROY,     /**< hipGraphDestroy, hipGraphExecDestroy */
    GRAPH_COSTS
};

/** Calls of a kind; ns. */
struct graph_cost_sum {
    uint64_t count, ns;
    uint64_t idle; /**< of it, the GPUs of the process ran no kernel and made no copy */
};

/** A graph, or (graph RTL_TRACE_NONE) what belongs to none that was instantiated in the recording.
 */
struct graph_costs_line {
    uint32_t process, graph;
    uint32_t generations, unused; /**< unused: never launched */
    struct graph_cost_sum sums[GRAPH_COSTS];
};

struct graph_costs {
    struct graph_costs_line *lines; /**< by process and graph */
    size_t count;
};

/** Reads host calls, and kernels once for each process. The caller frees it, on failure as well;
 * then rtlTraceError tells. */
rtl_status_t graph_costs_read(rtl_trace_t *trace, struct graph_costs *costs);

/** "capture", "instantiate", "update", "upload", "destroy" */
const char *graph_cost_name(enum graph_cost kind);

/** All kinds together. */
struct graph_cost_sum graph_costs_sum(const struct graph_costs_line *line);

void graph_costs_free(struct graph_costs *costs);

#endif

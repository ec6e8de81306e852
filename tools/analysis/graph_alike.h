/**
 * Which generations of a graph do the same: the same kinds of nodes, kernels, grids and workgroups
 * in the same order. A change of parameters makes a generation that does the same; another batch
 * size one that does not.
 */
#ifndef RTL_TOOLS_GRAPH_ALIKE_H
#define RTL_TOOLS_GRAPH_ALIKE_H

#include <rtl/rtl_trace.h>

/** A number that is equal for generations that do the same, of whichever graph, and differs for all
 * others but for one in 2^64. One whose nodes are not known is like no other of its graph. On
 * failure rtlTraceError tells. */
rtl_status_t graph_alike(rtl_trace_t *trace, const rtl_graph_t *graph, uint64_t *number);

#endif

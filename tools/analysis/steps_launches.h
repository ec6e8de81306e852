/**
 * Steps by launches of graphs.
 *
 * The launches of a thread stand in the order in which they were begun. Two are the same item if
 * their graph is the same one and does the same: the kernels of its generation, their grids and
 * workgroups, in their order. So an update of parameters does not part a phase, and another batch
 * size does. Graphs that were launched once in all, as where each step makes its own, are the same
 * item if they do the same. A block of items that repeats three times or more is the step of a
 * phase (analysis/runs.h). Where recording was stopped a run ends.
 */
#ifndef RTL_TOOLS_STEPS_LAUNCHES_H
#define RTL_TOOLS_STEPS_LAUNCHES_H

#include "analysis/graph_id.h"
#include "analysis/steps.h"

/** Finds the steps of all threads. */
rtl_status_t steps_by_launches(rtl_trace_t *trace, struct steps *steps);

/** Steps that begin with each launch of this graph, in the threads that launched it. */
rtl_status_t steps_by_graph(rtl_trace_t *trace, const struct graph_id *id, struct steps *steps);

#endif

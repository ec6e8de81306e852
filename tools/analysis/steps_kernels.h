/**
 * Steps by eager kernels: an iteration whose kernels repeat.
 *
 * In each process the queue with the most eager kernels is looked at: those that no graph replayed,
 * in the order of their packets. Two are the same item if name, grid and workgroup are. A block of
 * them that repeats three times or more and holds half of them (analysis/period.h) is a step.
 */
#ifndef RTL_TOOLS_STEPS_KERNELS_H
#define RTL_TOOLS_STEPS_KERNELS_H

#include "analysis/steps.h"

/** Finds the steps of all processes that have none yet. Memory grows with the eager kernels of a
 * queue, 4 bytes each.
 */
rtl_status_t steps_by_kernels(rtl_trace_t *trace, struct steps *steps);

#endif

/**
 * What the steps of a trace took: one pass over the kernels and copies of each process, one over
 * the host calls of each of its threads with steps.
 */
#ifndef RTL_TOOLS_STEPS_MEASURE_H
#define RTL_TOOLS_STEPS_MEASURE_H

#include "analysis/steps.h"

/** Fills in all but what finding steps does (steps.h). */
rtl_status_t steps_measure(rtl_trace_t *trace, struct steps *steps);

#endif

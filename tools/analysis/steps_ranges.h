/**
 * Steps by ranges: one for each range of a name that has work on a GPU.
 */
#ifndef RTL_TOOLS_STEPS_RANGES_H
#define RTL_TOOLS_STEPS_RANGES_H

#include "analysis/steps.h"

/** A step begins with the first kernel of a range of this name, or of a range in it, and its own
 * work ends with the last one. `*found` is the number of such ranges. */
rtl_status_t steps_by_range(rtl_trace_t *trace, const char *name, struct steps *steps,
                            uint64_t *found);

#endif

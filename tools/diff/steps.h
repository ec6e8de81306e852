/**
 * The steps of two traces (analysis/steps.h): which phases are the same, and what their steps take.
 */
#ifndef RTL_TOOLS_DIFF_STEPS_H
#define RTL_TOOLS_DIFF_STEPS_H

#include "analysis/steps.h"

/** A phase of each trace; NULL where it is only in the other. */
struct diff_phase {
    struct phase *phase[2];
    const struct steps_thread *thread[2]; /**< theirs */
    bool other_kernels;     /**< they do not do the same, and were matched by their order */
    struct comparison step; /**< durations */
    struct comparison parts[ACTIVITIES];
};

struct diff_steps {
    struct steps steps[2];
    struct diff_phase *list; /**< in the order of the first trace, then those only in the second */
    size_t count;
};

/** Finds and matches phases: those that do the same, in their order; then, of the others, those
 * with as many launches a step, by time. On success the caller frees it; on failure as well, and
 * rtlTraceError of one of the traces tells. */
rtl_status_t diff_steps_read(rtl_trace_t *const traces[2], struct diff_steps *steps);

void diff_steps_free(struct diff_steps *steps);

#endif

/**
 * --by: what makes a step, as a user says it.
 */
#ifndef RTL_TOOLS_STEPS_BY_H
#define RTL_TOOLS_STEPS_BY_H

#include "analysis/graph_id.h"
#include "analysis/steps.h"

/** All zero: STEPS_BY_AUTO. */
struct steps_choice {
    enum steps_by by;
    const char *text; /**< as given, NULL: not */
    struct graph_id graph;
    const char *range;
};

/** Help for the option. */
#define STEPS_BY_HELP                                                                              \
    "what makes a step: launches (of graphs, that repeat), graph:NUMBER (each launch of this "     \
    "graph), range:NAME (each range of this name), kernels (eager ones, that repeat), or auto, "   \
    "the default: launches, and in processes where none repeat kernels"

/** Reads what --by was given, which must outlive the choice. 0, or EINVAL when a sentence has been
 * said. */
int steps_by_parse(const char *text, struct steps_choice *choice);

/** Finds the steps the way that was chosen. There may be none. Returns an exit status; what is not
 * EXIT_FINE has been said. The caller frees the steps in any case. */
int steps_by_find(rtl_trace_t *trace, const char *path, struct steps_choice *choice,
                  struct steps *steps);

/** Says why there are no steps, and returns an exit status. */
int steps_by_none(rtl_trace_t *trace, const char *path, const struct steps_choice *choice,
                  const struct steps *steps);

/** Ranges that may be the steps which somebody means: the name that took most time of those with
 * three ranges and more, and how many steps they make. NULL when there is none; the caller frees
 * it. */
rtl_status_t steps_by_ranges(rtl_trace_t *trace, char **name, uint64_t *count);

#endif

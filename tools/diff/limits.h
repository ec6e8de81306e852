/**
 * What --fail-if allows.
 */
#ifndef RTL_TOOLS_DIFF_LIMITS_H
#define RTL_TOOLS_DIFF_LIMITS_H

#include "diff/view.h"

enum diff_limited { LIMIT_STEPS, LIMIT_GRAPHS, LIMIT_KERNELS, LIMIT_FAMILY, LIMIT_PHASE };

struct diff_limit {
    enum diff_limited what;
    char *name; /**< of the phase (or its number) or family; else NULL */
    double percent;
};

/** Zeroed memory is empty. */
struct diff_limits {
    struct diff_limit *list;
    size_t count;
};

/** Adds "steps > 3%", "family:gemm > 3%" or "graph 2 > 3%". 0, or EINVAL when a sentence has been
 * said. */
int diff_limits_add(struct diff_limits *limits, const char *text);

/** EXIT_USAGE when a sentence has been said that the traces have nothing that a limit is about. */
int diff_limits_check(const struct diff_limits *limits, const struct diff *diff);

/** EXIT_DIFFERENT if something got slower by more than its limit, which is said. */
int diff_limits_judge(const struct diff_limits *limits, const struct diff *diff);

void diff_limits_free(struct diff_limits *limits);

#endif

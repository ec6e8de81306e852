/**
 * What --fail-if allows.
 */
#ifndef RTL_TOOLS_DIFF_LIMITS_H
#define RTL_TOOLS_DIFF_LIMITS_H

#include "diff/view.h"

enum diff_limited {
    LIMIT_STEPS,
    LIMIT_GRAPHS,
    LIMIT_KERNELS, /**< the time of a call */
    LIMIT_TOTAL,   /**< the time of all kernels of a run */
    LIMIT_COUNT,   /**< calls of a kernel, and of all */
    LIMIT_FAMILY,
    LIMIT_PHASE
};

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

/** What a limit is about, as it was written but for the prefix of a family, which is `*prefix`. */
const char *diff_limit_name(const struct diff_limit *limit, const char **prefix);

/** Whether a limit is about a phase; about a family. Both sides must have it. */
bool diff_limit_has_phase(const struct diff *diff, const struct diff_limit *limit,
                          const struct diff_phase *row);
bool diff_limit_has_family(const struct diff_limit *limit, const struct diff_family *family);

/** Whether the traces can be held to the limits. EXIT_USAGE when a sentence has been said why not:
 * one is not complete, they have nothing that a limit is about, or it cannot be told of so few runs
 * or durations whether that got slower. A limit that cannot be judged must not pass. */
int diff_limits_check(const struct diff_limits *limits, const struct diff *diff);

/** EXIT_DIFFERENT if something got slower, or is called more often, by more than its limit, which
 * is said. */
int diff_limits_judge(const struct diff_limits *limits, const struct diff *diff);

void diff_limits_free(struct diff_limits *limits);

#endif

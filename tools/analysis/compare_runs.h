/**
 * Whether durations differ between two groups of runs, and by how much.
 *
 * Two runs of the same program differ by more than their steps do: clocks, the machine, its other
 * users. So the value of a run is the median of its durations, and the test is Student's on these
 * values, with one spread for both groups (n_a + n_b - 2 degrees of freedom). The spread is never
 * taken for less than what the durations within the runs (COMPARE_LEAST and more) leave unsure of
 * their medians: a few runs may agree by chance.
 *
 * With one run in each group the spread between runs is not known. Of the time of a GPU's work the
 * durations are compared as compare.h does. Of times that depend on the host nothing is said: what
 * a run spends waiting is its own (where its threads ran, what else the machine did), and no spread
 * within it tells how far another run of the same program is from it.
 */
#ifndef RTL_TOOLS_COMPARE_RUNS_H
#define RTL_TOOLS_COMPARE_RUNS_H

#include "analysis/compare.h"

enum compare_of {
    COMPARE_WORK, /**< what the GPU worked */
    COMPARE_WALL  /**< what depends on the host as well: time that went by, idle time */
};

/** The durations of each run of a group. */
struct compare_group {
    struct stats *const *runs; /**< NULL, or without values: it has none */
    size_t count;
};

/** Compares two groups. `a` and `b` of the comparison are the means of the runs' medians. The
 * verdict is COMPARE_ALIKE, or COMPARE_TOO_FEW where a group has fewer than COMPARE_LEAST values in
 * all, where of several runs only one in each has any, or, of COMPARE_WALL, where each has one run.
 * compare_family makes it final. */
void compare_runs(const struct compare_group *a, const struct compare_group *b, enum compare_of of,
                  struct comparison *comparison);

/** A number for each run of a group. */
struct compare_numbers {
    const double *list;
    size_t count;  /**< 1 at least */
    double unsure; /**< variance of each by itself; 0: they are exact */
};

/** The same for one number a run, such as a sum; COMPARE_TOO_FEW where there are not more than two
 * runs. */
void compare_numbers(const struct compare_numbers *a, const struct compare_numbers *b,
                     struct comparison *comparison);

#endif

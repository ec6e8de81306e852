/**
 * The traces that are compared: one or several runs on each of two sides.
 */
#ifndef RTL_TOOLS_DIFF_RUNS_H
#define RTL_TOOLS_DIFF_RUNS_H

#include "analysis/compare_runs.h"

#include <rtl/rtl_trace.h>

#include <stdbool.h>

/** Runs of a side at most: each is an open file. */
#define DIFF_MOST_RUNS 100u

/** Runs of the first side, then those of the second. */
struct diff_runs {
    const char *paths[2 * DIFF_MOST_RUNS];
    rtl_trace_t *traces[2 * DIFF_MOST_RUNS];
    size_t begin[3]; /**< those of side s are begin[s] to begin[s + 1] - 1 */
};

/** Runs of a side; of both. */
size_t diff_runs_of(const struct diff_runs *runs, unsigned side);
size_t diff_runs_all(const struct diff_runs *runs);

/** Whether there is one on each side, so that the spread between runs is not known. */
bool diff_runs_single(const struct diff_runs *runs);

/** Opens all; false when a sentence has been said. diff_runs_close in any case. */
bool diff_runs_open(struct diff_runs *runs);
void diff_runs_close(struct diff_runs *runs);

/** Says which trace an error is of, and why. Returns EXIT_USAGE. */
int diff_runs_failed(const struct diff_runs *runs);

/** Compares durations, by run; NULL: the run has none. */
void diff_runs_compare(const struct diff_runs *runs, struct stats *const *time, enum compare_of of,
                       struct comparison *comparison);

/** Compares numbers, by run, NAN: the run has none; each side has one. `unsure` is the variance of
 * each by itself. */
void diff_runs_compare_numbers(const struct diff_runs *runs, const double *numbers, double unsure,
                               struct comparison *comparison);

/** Whether a run of the side has durations, and the mean of the runs' medians, 0 if none has. */
bool diff_runs_has(const struct diff_runs *runs, struct stats *const *time, unsigned side);
double diff_runs_median(const struct diff_runs *runs, struct stats *const *time, unsigned side);

/** How a change of `value` against `before` looks, in per cent; 0 where nothing was before. */
double diff_percent(double value, double before);

#endif

/**
 * The steps of all runs (analysis/steps.h): which phases are the same, and what their steps take.
 */
#ifndef RTL_TOOLS_DIFF_STEPS_H
#define RTL_TOOLS_DIFF_STEPS_H

#include "analysis/steps.h"
#include "analysis/steps_by.h"
#include "diff/runs.h"

/** What a step has more or less of. */
enum diff_count { DIFF_LAUNCHES, DIFF_IN_GRAPHS, DIFF_EAGER, DIFF_COPIES, DIFF_CALLS, DIFF_COUNTS };

/** A phase of each run; lists are by run. */
struct diff_phase {
    struct phase **phase;               /**< NULL: the run does not have it */
    const struct steps_thread **thread; /**< theirs */
    bool in[2];                         /**< a run of the side has it */
    size_t number;          /**< as `rtl steps` of the first run that has it shows it, from 1 */
    bool other_kernels;     /**< the sides do not do the same, and were matched by their time */
    struct comparison step; /**< durations */
    struct comparison parts[ACTIVITIES];
    struct comparison counts[DIFF_COUNTS]; /**< of a step, the mean of a run */
};

struct diff_steps {
    struct steps *steps;     /**< by run */
    struct diff_phase *list; /**< in the order of the first runs, then those only in the second */
    size_t count;
};

/** Finds and matches phases: those that do the same, in their order; then, of the others, those
 * with as many launches a step, by time. First those of a side's runs with each other, then the
 * sides. `choice` says what a step is, `rules` are those of families. Returns an exit status; what
 * is not EXIT_FINE has been said. The caller frees it in any case. */
int diff_steps_read(const struct diff_runs *runs, const struct steps_choice *choice,
                    struct family_rules *rules, struct diff_steps *steps);

/** The first phase of a side; one of its runs has it. */
struct phase *diff_phase_first(const struct diff_runs *runs, const struct diff_phase *row,
                               unsigned side);

/** The durations of a phase's steps, or of a part of them, by run: into `time`, which is as long as
 * there are runs. */
void diff_phase_times(const struct diff_runs *runs, const struct diff_phase *row,
                      struct stats **time);
void diff_phase_part(const struct diff_runs *runs, const struct diff_phase *row, enum activity kind,
                     struct stats **time);

/** Whether a step of the second side has more or fewer of something. */
bool diff_phase_other_count(const struct diff_runs *runs, const struct diff_phase *row,
                            enum diff_count what);

void diff_steps_free(const struct diff_runs *runs, struct diff_steps *steps);

#endif

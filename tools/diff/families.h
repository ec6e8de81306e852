/**
 * Where the kernels of all runs spend their time, by family (analysis/family.h): in the steps of
 * each phase, or, where no phase is on both sides, in the whole traces.
 */
#ifndef RTL_TOOLS_DIFF_FAMILIES_H
#define RTL_TOOLS_DIFF_FAMILIES_H

#include "diff/kernels.h"
#include "diff/steps.h"

struct diff_family {
    const char *family;             /**< the rules' */
    const struct diff_phase *phase; /**< NULL: of the whole traces */
    struct stats **time; /**< of a step, by run; NULL: the run has none, or not by steps */
    double *total;       /**< of the whole trace, or of all steps, by run, ns */
    bool in[2];          /**< a run of the side has it */
    double value[2];     /**< of a step the mean of the runs' medians; else the mean total, ns */
    struct comparison comparison;
};

struct diff_families {
    struct diff_family *list; /**< by phase, those with most time first */
    size_t count;
    bool by_steps;
};

/** Compares what the others have read, which must stay. The caller frees it. */
void diff_families_make(const struct diff_runs *runs, const struct diff_kernels *kernels,
                        const struct diff_steps *steps, struct family_rules *rules,
                        struct diff_families *families);

void diff_families_free(struct diff_families *families);

#endif

/**
 * The kernels of all runs, by name.
 */
#ifndef RTL_TOOLS_DIFF_KERNELS_H
#define RTL_TOOLS_DIFF_KERNELS_H

#include "common/texts.h"
#include "diff/runs.h"

/** The kernels of one name. */
struct diff_kernel {
    size_t name; /**< number of it */
    struct stats **time;
    double calls[2], total[2]; /**< a run; ns */
    bool in[2];                /**< a run of the side has it */
    struct comparison comparison;
    struct comparison count; /**< of calls */
};

struct diff_kernels {
    struct texts names;
    struct diff_kernel *list; /**< the largest change of the total first */
    size_t count, capacity;
    double total[2], calls[2];         /**< of all kernels, a run; ns */
    struct comparison compared_totals; /**< COMPARE_TOO_FEW: one run a side */
    struct comparison compared_counts; /**< of calls of all kernels; the same */
};

/** Reads and compares. The caller frees it, on failure as well; then diff_runs_failed tells. */
rtl_status_t diff_kernels_read(const struct diff_runs *runs, struct diff_kernels *kernels);

/** Whether both sides have it; is it called another number of times; does anything differ? */
bool diff_kernel_in_both(const struct diff_kernel *kernel);
bool diff_kernel_other_count(const struct diff_runs *runs, const struct diff_kernel *kernel);
bool diff_kernel_differs(const struct diff_runs *runs, const struct diff_kernel *kernel);

/** Of its total. */
double diff_kernel_change(const struct diff_kernel *kernel);

/** "gone", "new", or what compare_name says. */
const char *diff_kernel_verdict(const struct diff_kernel *kernel);

void diff_kernels_free(const struct diff_runs *runs, struct diff_kernels *kernels);

#endif

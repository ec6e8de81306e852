/**
 * All that was compared, and how `rtl diff` shows it.
 */
#ifndef RTL_TOOLS_DIFF_VIEW_H
#define RTL_TOOLS_DIFF_VIEW_H

#include "analysis/absent.h"
#include "diff/families.h"
#include "diff/graphs.h"
#include "diff/kernels.h"
#include "diff/places.h"
#include "diff/steps.h"
#include "diff/whole.h"

struct diff {
    struct diff_runs runs;
    struct absent absent[2 * DIFF_MOST_RUNS]; /**< of each run */
    struct diff_whole whole[2 * DIFF_MOST_RUNS];
    struct diff_kernels kernels;
    struct diff_graphs graphs;
    struct diff_places places;
    struct diff_steps steps;
    struct diff_families families;
    unsigned top; /**< rows that are shown, 0: all */
    bool all;     /**< kernels that do not differ, too */
    bool wide;    /**< names whole */
};

/** Text to stdout. */
int diff_show_text(const struct diff *diff);

/** JSON to stdout. */
int diff_show_json(const struct diff *diff);

#endif

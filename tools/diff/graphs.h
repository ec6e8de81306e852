/**
 * The graphs of all runs: which are the same, and how long their launches take.
 */
#ifndef RTL_TOOLS_DIFF_GRAPHS_H
#define RTL_TOOLS_DIFF_GRAPHS_H

#include "analysis/family.h"
#include "diff/runs.h"

/** A graph of each run; lists are by run. */
struct diff_graph {
    const rtl_graph_t **graph; /**< latest generations; NULL: the run does not have it */
    uint64_t *launches;
    struct stats **time; /**< of launches that are whole, ns; NULL as well */
    bool in[2];          /**< a run of the side has it */
    bool timed;          /**< both sides have launches that are whole */
    struct comparison comparison;
};

struct diff_graphs {
    struct diff_graph *list; /**< in the order of the first runs, then those only in the second */
    size_t count;
};

/** Matches graphs: those with the same kernels in the same order, one by one; then, of the others,
 * those that have more than half of their kernels in common, and then those with more than half of
 * the families of these. First those of a side's runs with each other, then the sides. The caller
 * frees the list; on failure diff_runs_failed tells. */
rtl_status_t diff_graphs_read(const struct diff_runs *runs, struct family_rules *rules,
                              struct diff_graphs *graphs);

/** The first run of a side that has the graph; one does. */
size_t diff_graph_run(const struct diff_runs *runs, const struct diff_graph *row, unsigned side);

void diff_graphs_free(const struct diff_runs *runs, struct diff_graphs *graphs);

#endif

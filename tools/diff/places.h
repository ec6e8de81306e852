/**
 * Places in the layers of the graphs that both sides have (analysis/graph_places_diff.h).
 */
#ifndef RTL_TOOLS_DIFF_PLACES_H
#define RTL_TOOLS_DIFF_PLACES_H

#include "analysis/graph_places_diff.h"
#include "diff/graphs.h"

/** Graphs that are looked at, those with most time first: each takes a pass over its kernels. */
#define DIFF_MOST_PLACES 4u

/** The layers of a graph in all runs. */
struct diff_layers {
    const struct diff_graph *graph;
    struct graph_reading *readings; /**< by run */
    struct graph_layers *layers;
    bool *read;                    /**< that those of a run are there */
    struct graph_layers **runs[2]; /**< of a side: those with the same layers as its first */
    struct places_diff places;
};

struct diff_places {
    struct diff_layers *list;
    size_t count;
};

/** Reads and compares. The caller frees it, on failure as well; then diff_runs_failed tells. */
rtl_status_t diff_places_read(const struct diff_runs *runs, const struct diff_graphs *graphs,
                              struct family_rules *rules, struct diff_places *places);

/** What was compared of a graph; NULL: nothing. */
const struct places_diff *diff_places_of(const struct diff_places *places,
                                         const struct diff_graph *graph);

void diff_places_free(const struct diff_runs *runs, struct diff_places *places);

#endif

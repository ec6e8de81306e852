/**
 * What is said of the layers of two graphs: by place in the layer, and which layers are outlying on
 * one side alone. Of one run a side, or of several, of which the graphs have the same layers.
 */
#ifndef RTL_TOOLS_GRAPH_PLACES_DIFF_H
#define RTL_TOOLS_GRAPH_PLACES_DIFF_H

#include "analysis/compare_runs.h"
#include "analysis/family.h"
#include "analysis/graph_layers.h"
#include "analysis/graph_places.h"

#include <jansson.h>

/** A side's; all of it lives longer than the comparison. */
struct places_side {
    struct graph_layers *layers;         /**< of the first run */
    const struct graph_reading *reading; /**< the same run's */
    struct graph_layers *const *runs;    /**< of all, the first among them */
    size_t count;
};

/** Places that are compared. */
struct places_row {
    struct comparison time; /**< of one kernel each; else the sums of the p50, too few to tell */
    bool told;              /**< it differs, in time or in what it is made of */
};

struct places_diff {
    struct places_side sides[2];
    struct family_rules *rules;
    struct graph_places places;
    struct places_row *rows; /**< of the groups of `places` */
    /** Of the p50 of the layers' kernels on a side, added up: what is between kernels, and the
     * machine's, is left out. */
    struct graph_usual usual[2];
    bool found; /**< both have layers; else all else is empty */
};

/** Compares two sides; `rules` stay the caller's. The caller frees it. */
void places_diff_make(const struct places_side sides[2], struct family_rules *rules,
                      struct places_diff *diff);

/** Whether anything differs: places, how many layers there are, or which are outlying. */
bool places_diff_told(const struct places_diff *diff);

/** Lines of text: layers, places that differ (`all`: each), layers that are outlying on one side.
 * Nothing where not both have layers. */
void places_diff_show(const struct places_diff *diff, bool all);

/** Null where not both have layers. A new reference. */
json_t *places_diff_json(const struct places_diff *diff);

/** Whether the layers that are compared have a node of a side. */
bool places_diff_has(const struct places_diff *diff, unsigned side, uint32_t node);

void places_diff_free(struct places_diff *diff);

#endif

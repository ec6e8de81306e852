/**
 * Durations as JSON has them.
 */
#ifndef RTL_TOOLS_GRAPH_STATS_JSON_H
#define RTL_TOOLS_GRAPH_STATS_JSON_H

#include "analysis/stats.h"

#include <jansson.h>

/** Count, total, extremes, percentiles, mean, cv; null without values. A new reference. */
json_t *graph_stats_json(struct stats *stats);

/** Three numbers, a grid or a block. A new reference. */
json_t *graph_sizes_json(const uint32_t sizes[3]);

#endif

/**
 * The layers of a graph as JSON.
 */
#ifndef RTL_TOOLS_GRAPH_LAYERS_JSON_H
#define RTL_TOOLS_GRAPH_LAYERS_JSON_H

#include "analysis/graph_layers.h"

#include <jansson.h>

/** All of it; where there are no layers `count` is 0 and `why` says so. A new reference. */
json_t *graph_layers_json(struct graph_layers *layers, struct graph_reading *reading);

#endif

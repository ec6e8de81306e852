/**
 * The layers of a graph as text.
 */
#ifndef RTL_TOOLS_GRAPH_LAYERS_SHOW_H
#define RTL_TOOLS_GRAPH_LAYERS_SHOW_H

#include "analysis/graph_layers.h"

/** Writes layers, places and what is outside to stdout, or one sentence where there are no layers.
 * `top`: how many layers, and how many nodes outside of them, 0: all; `wide`: names are shown
 * whole.
 */
void graph_layers_show(struct graph_layers *layers, struct graph_reading *reading,
                       unsigned layer_top, unsigned node_top, bool wide);

#endif

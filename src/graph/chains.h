/**
 * The end of inference: puts segments that belong together (rows.h) together to graphs, tells their
 * generations apart, and reports graphs, nodes and plans.
 */
#ifndef RTL_GRAPH_CHAINS_H
#define RTL_GRAPH_CHAINS_H

#include "graph/repeats.h"

/** Reports the graphs. Nothing may be added afterwards. */
void rtl_chains_report(struct rtl_repeats *repeats);

#endif

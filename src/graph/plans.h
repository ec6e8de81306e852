/**
 * Graphs that HIP names: their generations, and the plans that equal launches share. For graphs.c.
 */
#ifndef RTL_GRAPH_PLANS_H
#define RTL_GRAPH_PLANS_H

#include "graph/registry.h"

struct rtl_plans;

/** NULL when memory is short. */
struct rtl_plans *rtl_plans_new(struct rtl_registry *registry);

/** NULL is allowed. */
void rtl_plans_free(struct rtl_plans *plans);

/** Definitions; `rest` as in rtl_graphs_node. */
void rtl_plans_graph(struct rtl_plans *plans, const struct rtl_wire_graph *graph);
void rtl_plans_node(struct rtl_plans *plans, const struct rtl_wire_node *node, const void *rest);

/** The plan of a launch; `complete`: all its kernels have come. 0: none. */
uint32_t rtl_plans_of(struct rtl_plans *plans, const struct rtl_flight *flight, bool complete);

/** Reports plans that had to wait for definitions; `all`: with what there is. */
void rtl_plans_flush(struct rtl_plans *plans, bool all);

#endif

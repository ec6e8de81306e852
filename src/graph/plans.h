/**
 * Graphs that HIP names: their generations, and the plans that equal launches share. For graphs.c.
 *
 * A launch is complete when as many kernels have come as its record says. Its kernels, by ordinal,
 * with the packets that it reserved, are its plan: a launch with the same packets has the same
 * plan, and costs a look-up. For a new plan the kernels are matched with the nodes (match.h). An
 * ordinal counts every packet, and the number of barrier packets differs between replays: so nodes
 * are matched by the order of kernels alone, as far as the dependencies determine that order.
 * Kernels of the runtime (`__amd_rocclr_fill…`, `…copy…`) belong to memset and memcpy nodes; a
 * memset makes one or more, a memcpy maybe none, so that counts prove less.
 *
 * Definitions may come late: a plan is reported when all of its definitions are there, at the
 * latest at the end of the process.
 *
 * Of a launch of which kernels were lost, or left out, each kernel is put as early and as late as
 * the others, the packets and the order of submission allow; where both are one place it is
 * certain. The order is that of a complete launch of the same generation, or of the nodes if there
 * is but one. HIP fixes the order when it instantiates (CLR, hip_graph_internal.cpp: the
 * topological order of the executable graph); if complete launches show several, only kernels that
 * ran as often as there are nodes for them are matched.
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

/** The plan of a launch; `complete`: all its kernels have come that are not left out. 0: none. */
uint32_t rtl_plans_of(struct rtl_plans *plans, const struct rtl_in_flight *in_flight,
                      bool complete);

/** Reports plans that had to wait for definitions; `all`: with what there is. */
void rtl_plans_flush(struct rtl_plans *plans, bool all);

#endif

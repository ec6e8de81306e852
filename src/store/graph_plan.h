/**
 * Packing the plan of a graph launch (which node each of its kernels is) and back. Pure.
 * docs/format.md specifies every byte.
 */
#ifndef RTL_STORE_GRAPH_PLAN_H
#define RTL_STORE_GRAPH_PLAN_H

#include "graph/graphs.h"

/** Packs steps, by ordinal. Bytes that the caller frees, NULL when memory is short. */
unsigned char *rtl_graph_plan_pack(const struct rtl_graphs_step *steps, size_t count, size_t *size);

/** How many steps the bytes hold; SIZE_MAX if they are damaged. */
size_t rtl_graph_plan_count(const unsigned char *data, size_t size);

/** Unpacks rtl_graph_plan_count steps. */
void rtl_graph_plan_unpack(const unsigned char *data, size_t size, struct rtl_graphs_step *steps);

#endif

/**
 * Matching the kernels of a launch with the nodes of its graph. Pure.
 *
 * HIP submits the nodes in an order of its own, which the dependencies allow and which is not
 * reported. A kernel is known by what it runs: name, grid, block, shared memory. Where several
 * nodes run the same, the k-th kernel is the k-th node if they follow each other by dependency; if
 * not, that is assumed and said not to be certain.
 */
#ifndef RTL_GRAPH_MATCH_H
#define RTL_GRAPH_MATCH_H

#include "graph/order.h"

/** What kind of kernel it is, by its name. */
enum rtl_match_kind {
    RTL_MATCH_KERNEL = 0, /**< the program's: a kernel node */
    RTL_MATCH_FILL = 1,   /**< the runtime's, for a memset node */
    RTL_MATCH_COPY = 2,   /**< the runtime's, for a memcpy node */
    RTL_MATCH_OTHER = 3   /**< the runtime's, for none */
};

/** A kernel as matching needs it. */
struct rtl_match_kernel {
    uint64_t name;    /**< as of a node, 0 if not known */
    uint32_t grid[3]; /**< work-items */
    uint16_t block[3];
    uint16_t kind;       /**< enum rtl_match_kind */
    uint32_t group_size; /**< dynamic, bytes; RTL_NONE: not known */
};

/** Hash of a kernel's mangled name, never 0. */
uint64_t rtl_match_name(const char *name, size_t length);

/** Kind of a kernel by its mangled name (not terminated). The runtime's own are called
 * `__amd_rocclr_…` (CLR, blitcl.cpp). */
enum rtl_match_kind rtl_match_kind(const char *name, size_t length);

/** Matches the kernels of a complete launch, in the order of their packets. Sets, per kernel, its
 * node (RTL_NONE: none fits) and whether that is certain. 0, or -1 when memory is short. */
int rtl_match_whole(const struct rtl_order_graph *graph,
                    const struct rtl_match_kernel *const *kernels, uint32_t count, uint32_t *nodes,
                    bool *certain);

/** What is known of the order in which a graph's kernels are submitted: from a launch that was
 * complete, or from the nodes if their order is total. */
struct rtl_match_sequence {
    const struct rtl_match_kernel *const *kernels;
    const uint32_t *nodes;
    const bool *certain;
    uint32_t count;
};

/** Matches what is left of a launch of `packets` packets and sequence->count kernels, of which some
 * were lost. A kernel is certain if the packets and kernels around it leave it one place in the
 * sequence alone, and that is certain. */
void rtl_match_rest(const struct rtl_match_sequence *sequence, uint32_t packets,
                    const struct rtl_match_kernel *const *kernels, const uint32_t *ordinals,
                    uint32_t count, uint32_t *nodes, bool *certain);

/** Whether two kernels may be the same node's. */
bool rtl_match_same(const struct rtl_match_kernel *a, const struct rtl_match_kernel *b);

/** The sequence of a graph's kernel nodes if there is but one order for all that have kernels. The
 * caller gives room for graph->count kernels and nodes, and two numbers per node of scratch.
 * Returns the number of kernels, or RTL_NONE if there is more than one order. */
uint32_t rtl_match_nodes(const struct rtl_order_graph *graph, struct rtl_match_kernel *kernels,
                         uint32_t *nodes, uint32_t *scratch);

#endif

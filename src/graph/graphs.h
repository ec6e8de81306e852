/**
 * The graph registry of one process: which graph, generation, launch and node a kernel belongs to.
 *
 * Fed by the collector with the process's records, in the order of the ring. Of each launch it says
 * once which *plan* it follows: a list of nodes, one for each kernel by the ordinal of its packet.
 * Equal launches share a plan, so a replay costs a few bytes and not some per kernel. Launches of
 * graphs that HIP names are matched with the nodes that HIP reported (match.h); the others are
 * inferred from their packets (infer.h).
 *
 * Pure: memory and callbacks, no file, no clock. One thread at a time. Memory is bounded by the
 * launches in flight, the nodes of the graphs in use and the distinct plans of those, with limits
 * for each (RTL_GRAPHS_… below); where a limit strikes, knowledge is lost and said to be lost
 * (`node` RTL_NONE, `certain` 0), never made up.
 */
#ifndef RTL_GRAPH_GRAPHS_H
#define RTL_GRAPH_GRAPHS_H

#include "ring/wire.h"

#include <stdbool.h>
#include <stddef.h>

/** Kernels of launches that are not complete yet; beyond, the oldest launches are retired as they
 * are (8 bytes each). */
#define RTL_GRAPHS_IN_FLIGHT (1u << 20)

/** Nodes kept; beyond, generations that were launched longest ago are forgotten (80 bytes each). */
#define RTL_GRAPHS_NODES (1u << 19)

/** Kernels of plans kept; beyond, plans that were used longest ago are forgotten, and made again
 * when needed (12 bytes each). */
#define RTL_GRAPHS_PLANNED (1u << 20)

/** Batches inferred from their packets that were seen once; beyond, the oldest are taken to be no
 * part of a graph. */
#define RTL_GRAPHS_ONCE (1u << 13)

/** Agents that the kernels of one launch may run on and have their times told apart. */
#define RTL_GRAPHS_SPANS 8

/** Which node a kernel of a launch is. */
struct rtl_graphs_step {
    uint32_t ordinal; /**< of its packet in the launch */
    uint32_t node;    /**< RTL_NONE: not known, or none (a kernel that the runtime adds) */
    bool certain;
};

struct rtl_graphs_plan {
    uint32_t plan; /**< from 1 */
    uint32_t graph, generation;
    bool begins; /**< false: a launch that follows it goes on with that of its thread before it */
    uint32_t kernels; /**< that a launch of it submits; `count` of them are to be recorded */
    const struct rtl_graphs_step *steps; /**< by ordinal */
    size_t count;
};

/** From when to when the kernels on the queues of one agent ran, ticks. */
struct rtl_graphs_span {
    uint32_t queue; /**< one of the agent's */
    uint64_t start, end;
};

/** A launch; with `late`, kernels that came after their launch was reported: `recorded` and spans
 * are to be added to what was reported. */
struct rtl_graphs_launch {
    const struct rtl_wire_launch *body; /**< late: its field `launch` alone is set */
    uint32_t plan;                      /**< 0: it had no kernels, or none was recorded */
    uint32_t head_plan; /**< that of the packet before `first`, 0: not a part of it */
    uint32_t recorded;  /**< kernels that are in the trace, that of the head included */
    bool late;
    const struct rtl_graphs_span *spans;
    size_t span_count;
};

/** Where what was found out goes. Called from within the calls below; what is pointed to lives
 * until the callback returns. */
struct rtl_graphs_sink {
    void *context;
    /** A graph inferred from its packets, and its nodes; type, name and dependencies as on the
     * wire. */
    void (*graph)(void *context, const struct rtl_wire_graph *graph);
    void (*node)(void *context, const struct rtl_wire_node *node, const char *name);
    void (*plan)(void *context, const struct rtl_graphs_plan *plan);
    void (*launch)(void *context, const struct rtl_graphs_launch *launch);
};

struct rtl_graphs;

/** A registry. NULL when memory is short. */
struct rtl_graphs *rtl_graphs_new(const struct rtl_graphs_sink *sink);

/** NULL is allowed. */
void rtl_graphs_free(struct rtl_graphs *graphs);

/** Definitions; `name` is mangled and not terminated. A node's dependencies lie before its name. */
void rtl_graphs_queue(struct rtl_graphs *graphs, const struct rtl_wire_queue *queue);
void rtl_graphs_symbol(struct rtl_graphs *graphs, const struct rtl_wire_symbol *symbol,
                       const char *name);
void rtl_graphs_shape(struct rtl_graphs *graphs, const struct rtl_wire_shape *shape);
void rtl_graphs_graph(struct rtl_graphs *graphs, const struct rtl_wire_graph *graph);
void rtl_graphs_node(struct rtl_graphs *graphs, const struct rtl_wire_node *node, const void *rest);

/** A launch is submitted. */
void rtl_graphs_launch(struct rtl_graphs *graphs, const struct rtl_wire_launch *launch);

/** Every kernel that is recorded; nothing to do for most that belong to no launch. */
void rtl_graphs_kernel(struct rtl_graphs *graphs, const struct rtl_wire_kernel *kernel);

/** Reports plans that could not be reported when they were made, because a definition was late. */
void rtl_graphs_flush(struct rtl_graphs *graphs);

/** The process has ended, nothing more comes: retires what is in flight and reports the graphs
 * inferred from packets. */
void rtl_graphs_finish(struct rtl_graphs *graphs);

/** How often memory was short or a limit made the registry forget something that it may have needed
 * (then launches have no plan). */
uint64_t rtl_graphs_forgotten(const struct rtl_graphs *graphs);

#endif

/**
 * What the tests of the registry share: a process that makes records, and what the registry said of
 * its launches, looked up as a reader of the trace does.
 */
#ifndef RTL_TESTS_GRAPH_WORLD_H
#define RTL_TESTS_GRAPH_WORLD_H

#include "../common/check.h"
#include "graph/graphs.h"

struct world_plan {
    struct rtl_graphs_plan plan;
    struct rtl_graphs_step *steps;
};

struct world_launch {
    uint32_t launch, thread, plan, head_plan, recorded, kernels, queue;
    uint64_t first;
    struct rtl_graphs_span spans[RTL_GRAPHS_SPANS];
    size_t span_count;
    /* Made by world_finish. */
    uint32_t graph, generation, number; /* of the graph's launches, from 1; 0: none */
};

struct world_node {
    struct rtl_wire_node node;
    char name[64];
};

struct world {
    struct rtl_graphs *graphs;
    struct world_plan *plans; /* by id */
    size_t plan_count, plans_told;
    struct world_launch *launches; /* by id */
    size_t launch_count, launches_told;
    struct world_node *nodes;
    size_t node_count;
    struct rtl_wire_graph *inferred;
    size_t inferred_count;
    uint64_t contradictions; /* things told twice, or nonsense */
};

/** What a kernel is, as the registry has it. */
struct world_answer {
    uint32_t graph, generation, launch, node; /* RTL_NONE: not known */
    bool certain;
};

void world_open(struct world *world);
void world_close(struct world *world);

/** Defines symbol and shape `id`: kernel "k<name>", grid of `width` work-items. */
void world_shape(struct world *world, uint32_t id, uint32_t name, uint32_t width);

/** The same with a name of one's own. */
void world_named_shape(struct world *world, uint32_t id, const char *name, uint32_t width);

/** A graph of HIP's and its kernel nodes as world_shape has them: names[i], widths[i]; types NULL:
 * all kernels. Dependencies: counts[i] numbers each, one after the other. */
struct world_graph {
    uint32_t graph, generation, nodes;
    const uint32_t *names, *widths, *types, *counts, *dependencies, *flags, *parents;
};
void world_graph(struct world *world, const struct world_graph *graph);

/** A launch of HIP's: `packets` reserved, `kernels` of them kernels. */
void world_launch(struct world *world, uint32_t launch, uint32_t graph, uint32_t generation,
                  uint32_t packets, uint32_t kernels);

/** The same, of graph 1, generation 1, of whose kernels so many are left out. */
void world_launch_in_part(struct world *world, uint32_t launch, uint32_t packets, uint32_t kernels,
                          uint32_t left_out);

/** A kernel of a launch. */
void world_kernel(struct world *world, uint32_t launch, uint32_t ordinal, uint32_t shape);

/** Ends the process and numbers the launches. */
void world_finish(struct world *world);

/** What a kernel is, by launch and ordinal. */
struct world_answer world_ask(const struct world *world, uint32_t launch, uint32_t ordinal);

/** What the kernel at `packet` of a queue is, that names no launch. */
struct world_answer world_ask_head(const struct world *world, uint32_t queue, uint64_t packet);

/** Numbers that only depend on the seed (SplitMix64, Steele, Lea and Flood 2014). */
uint64_t world_random(uint64_t *state);

#endif

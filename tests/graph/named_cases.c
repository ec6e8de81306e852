/* Launches of graphs that HIP names. */
#include "world.h"

#include <string.h>

/* A chain of five nodes that all run the same. */
static const uint32_t same[] = {1, 1, 1, 1, 1};
static const uint32_t widths[] = {64, 64, 64, 64, 64};
static const uint32_t chain_counts[] = {0, 1, 1, 1, 1};
static const uint32_t chain[] = {0, 1, 2, 3};
static const struct world_graph same_chain = {.graph = 1,
                                              .generation = 1,
                                              .nodes = 5,
                                              .names = same,
                                              .widths = widths,
                                              .counts = chain_counts,
                                              .dependencies = chain};

static bool is(const struct world *world, uint32_t launch, uint32_t ordinal, uint32_t node,
               bool certain)
{
    struct world_answer answer = world_ask(world, launch, ordinal);
    return answer.node == node && answer.certain == certain;
}

/* Each launch has its barrier elsewhere. */
static const char *launch_with_barrier(struct world *world, uint32_t launch, uint32_t barrier)
{
    for (uint32_t i = 0; i < 5; i++)
        world_kernel(world, launch, i + (i >= barrier), 0);
    return NULL;
}

const char *Named_ChainIsCertainWhereverBarriersStand(void)
{
    struct world world;
    world_open(&world);
    world_shape(&world, 0, 1, 64);
    world_graph(&world, &same_chain);
    for (uint32_t launch = 1; launch <= 6; launch++) {
        world_launch(&world, launch, 1, 1, 6, 5);
        CHECK_DONE(launch_with_barrier(&world, launch, launch - 1));
    }
    world_finish(&world);
    for (uint32_t launch = 1; launch <= 6; launch++)
        for (uint32_t i = 0; i < 5; i++)
            CHECK(is(&world, launch, i + (i >= launch - 1), i, true));
    CHECK(world.launches[3].number == 3 && world.launches[3].graph == 1);
    CHECK(world.plans_told == 6 && world.contradictions == 0);
    world_close(&world);
    return NULL;
}

const char *Named_TwinsInParallelAreNotCertain(void)
{
    static const uint32_t names[] = {1, 2, 2, 3};
    static const uint32_t counts[] = {0, 1, 1, 2};
    static const uint32_t dependencies[] = {0, 0, 1, 2};
    const struct world_graph graph = {.graph = 1,
                                      .generation = 1,
                                      .nodes = 4,
                                      .names = names,
                                      .widths = widths,
                                      .counts = counts,
                                      .dependencies = dependencies};
    struct world world;
    world_open(&world);
    for (uint32_t i = 1; i <= 3; i++)
        world_shape(&world, i, i, 64);
    world_graph(&world, &graph);
    world_launch(&world, 1, 1, 1, 4, 4);
    for (uint32_t i = 0; i < 4; i++)
        world_kernel(&world, 1, i, names[i]);
    world_finish(&world);
    CHECK(is(&world, 1, 0, 0, true) && is(&world, 1, 3, 3, true));
    CHECK(is(&world, 1, 1, 1, false) && is(&world, 1, 2, 2, false));
    world_close(&world);
    return NULL;
}

const char *Named_NodesOfAChildGraphAreInOrder(void)
{
    /* 0, then a child graph of two that run the same as it in a chain, then one more. */
    static const uint32_t names[] = {1, 0, 1, 1, 1};
    static const uint32_t types[] = {RTL_NODE_KERNEL, RTL_NODE_GRAPH, RTL_NODE_KERNEL,
                                     RTL_NODE_KERNEL, RTL_NODE_KERNEL};
    static const uint32_t parents[] = {RTL_NONE, RTL_NONE, 1, 1, RTL_NONE};
    static const uint32_t counts[] = {0, 1, 0, 1, 1};
    static const uint32_t dependencies[] = {0, 2, 1};
    const struct world_graph graph = {.graph = 1,
                                      .generation = 1,
                                      .nodes = 5,
                                      .names = names,
                                      .widths = widths,
                                      .types = types,
                                      .parents = parents,
                                      .counts = counts,
                                      .dependencies = dependencies};
    struct world world;
    world_open(&world);
    world_shape(&world, 0, 1, 64);
    world_graph(&world, &graph);
    world_launch(&world, 1, 1, 1, 4, 4);
    for (uint32_t i = 0; i < 4; i++)
        world_kernel(&world, 1, i, 0);
    world_finish(&world);
    CHECK(is(&world, 1, 0, 0, true) && is(&world, 1, 1, 2, true));
    CHECK(is(&world, 1, 2, 3, true) && is(&world, 1, 3, 4, true));
    world_close(&world);
    return NULL;
}

const char *Named_DisabledNodesAreLeftOut(void)
{
    static const uint32_t flags[] = {0, 0, RTL_NODE_DISABLED, 0, 0};
    struct world_graph graph = same_chain;
    struct world world;
    graph.flags = flags;
    world_open(&world);
    world_shape(&world, 0, 1, 64);
    world_graph(&world, &graph);
    world_launch(&world, 1, 1, 1, 4, 4);
    for (uint32_t i = 0; i < 4; i++)
        world_kernel(&world, 1, i, 0);
    world_finish(&world);
    for (uint32_t i = 0; i < 4; i++)
        CHECK(is(&world, 1, i, i + (i >= 2), true));
    world_close(&world);
    return NULL;
}

const char *Named_KernelsOfTheRuntimeBelongToMemoryNodes(void)
{
    /* memset, kernel, memcpy, kernel, memset: a chain. The first memset makes three kernels. */
    static const uint32_t names[] = {0, 1, 0, 1, 0};
    static const uint32_t types[] = {RTL_NODE_MEMSET, RTL_NODE_KERNEL, RTL_NODE_MEMCPY,
                                     RTL_NODE_KERNEL, RTL_NODE_MEMSET};
    static const uint32_t shapes[] = {1, 1, 1, 0, 2, 0, 1, 3};
    static const uint32_t nodes[] = {0, 0, 0, 1, 2, 3, 4, RTL_NONE};
    struct world_graph graph = same_chain;
    struct world world;
    graph.names = names;
    graph.types = types;
    world_open(&world);
    world_shape(&world, 0, 1, 64);
    world_named_shape(&world, 1, "__amd_rocclr_fillBufferAligned", 512);
    world_named_shape(&world, 2, "__amd_rocclr_copyBuffer", 512);
    world_named_shape(&world, 3, "__amd_rocclr_initHeap", 1);
    world_graph(&world, &graph);
    world_launch(&world, 1, 1, 1, 8, 8);
    for (uint32_t i = 0; i < 8; i++)
        world_kernel(&world, 1, i, shapes[i]);
    world_finish(&world);
    for (uint32_t i = 0; i < 8; i++)
        CHECK(is(&world, 1, i, nodes[i], nodes[i] != RTL_NONE));
    world_close(&world);
    return NULL;
}

const char *Named_DefinitionsMayComeLate(void)
{
    struct world world;
    world_open(&world);
    world_kernel(&world, 1, 3, 0);
    world_kernel(&world, 1, 0, 0);
    world_launch(&world, 1, 1, 1, 5, 5);
    world_kernel(&world, 1, 1, 0);
    world_kernel(&world, 1, 4, 0);
    world_kernel(&world, 1, 2, 0);
    CHECK(world.launches_told == 1 && world.plans_told == 0);
    world_graph(&world, &same_chain);
    rtl_graphs_flush(world.graphs);
    CHECK(world.plans_told == 0);
    world_shape(&world, 0, 1, 64);
    rtl_graphs_flush(world.graphs);
    CHECK(world.plans_told == 1);
    world_finish(&world);
    for (uint32_t i = 0; i < 5; i++)
        CHECK(is(&world, 1, i, i, true));
    CHECK(world.plans_told == 1 && world.contradictions == 0);
    world_close(&world);
    return NULL;
}

const char *Named_EqualLaunchesShareAPlan(void)
{
    enum { NODES = 512, LAUNCHES = 10000 };
    static uint32_t names[NODES];
    static uint32_t wide[NODES];
    static uint32_t counts[NODES];
    static uint32_t dependencies[NODES];
    for (uint32_t i = 0; i < NODES; i++) {
        names[i] = i % 3;
        wide[i] = 64;
        counts[i] = i > 0;
        dependencies[i] = i;
    }
    const struct world_graph graph = {.graph = 7,
                                      .generation = 2,
                                      .nodes = NODES,
                                      .names = names,
                                      .widths = wide,
                                      .counts = counts,
                                      .dependencies = dependencies};
    struct world world;
    world_open(&world);
    for (uint32_t i = 0; i < 3; i++)
        world_shape(&world, i, i, 64);
    world_graph(&world, &graph);
    for (uint32_t launch = 1; launch <= LAUNCHES; launch++) {
        world_launch(&world, launch, 7, 2, NODES, NODES);
        for (uint32_t i = 0; i < NODES; i++)
            world_kernel(&world, launch, i, i % 3);
    }
    world_finish(&world);
    CHECK(world.plans_told == 1 && world.launches_told == LAUNCHES);
    for (uint32_t i = 0; i < NODES; i++)
        CHECK(is(&world, LAUNCHES, i, i, true));
    CHECK(world.launches[LAUNCHES].number == LAUNCHES);
    CHECK(world.launches[1].spans[0].start == 100 && world.launches[1].spans[0].end == 711);
    CHECK(rtl_graphs_forgotten(world.graphs) == 0);
    world_close(&world);
    return NULL;
}

/* Without barriers an ordinal is a place. */
const char *Named_LossLeavesTheRestCertain(void)
{
    struct world world;
    world_open(&world);
    world_shape(&world, 0, 1, 64);
    world_graph(&world, &same_chain);
    world_launch(&world, 1, 1, 1, 5, 5);
    world_kernel(&world, 1, 1, 0);
    world_kernel(&world, 1, 4, 0);
    world_finish(&world);
    CHECK(is(&world, 1, 1, 1, true) && is(&world, 1, 4, 4, true));
    CHECK(world.launches[1].recorded == 2 && world.launches[1].kernels == 5);
    world_close(&world);
    return NULL;
}

/* What is left out never comes: nobody waits for it. Launches of which the same is left out share a
 * plan, and what is there has its node; of a kernel that is lost besides, the rest has. */
const char *Named_WhatIsLeftOutIsMissing(void)
{
    struct world world;
    world_open(&world);
    world_shape(&world, 0, 1, 64);
    world_graph(&world, &same_chain);
    for (uint32_t launch = 1; launch <= 3; launch++) {
        world_launch_in_part(&world, launch, 5, 5, 3);
        world_kernel(&world, launch, 1, 0);
        if (launch < 3)
            world_kernel(&world, launch, 4, 0);
    }
    CHECK(world.launches_told == 2);
    world_finish(&world);
    for (uint32_t launch = 1; launch <= 3; launch++) {
        CHECK(is(&world, launch, 1, 1, true));
        CHECK(world.launches[launch].kernels == 5);
        CHECK(world.launches[launch].recorded == (launch < 3 ? 2 : 1));
    }
    CHECK(is(&world, 1, 4, 4, true) && is(&world, 2, 4, 4, true));
    CHECK(world.plans_told == 2 && world.launches[1].plan == world.launches[2].plan);
    CHECK(world.contradictions == 0);
    world_close(&world);
    return NULL;
}

/* A graph that HIP cannot be asked about is made of its first whole launch, not of a part of one.
 */
const char *Named_APartIsNoGraph(void)
{
    static const struct rtl_wire_graph unknown = {
        .graph = 1, .generation = 1, .flags = RTL_GRAPH_UNKNOWN};
    struct world world;
    world_open(&world);
    world_shape(&world, 0, 1, 64);
    rtl_graphs_graph(world.graphs, &unknown);
    world_launch_in_part(&world, 1, 3, 3, 2);
    world_kernel(&world, 1, 2, 0);
    world_launch(&world, 2, 1, 1, 3, 3);
    for (uint32_t i = 0; i < 3; i++)
        world_kernel(&world, 2, i, 0);
    world_finish(&world);
    CHECK(world.node_count == 3 && world_ask(&world, 1, 2).node == RTL_NONE);
    for (uint32_t i = 0; i < 3; i++)
        CHECK(is(&world, 2, i, i, true));
    world_close(&world);
    return NULL;
}

/* A packet that is missing may be a barrier or the lost kernel. */
const char *Named_LossBesideABarrierIsNotCertain(void)
{
    struct world world;
    world_open(&world);
    world_shape(&world, 0, 1, 64);
    world_graph(&world, &same_chain);
    world_launch(&world, 1, 1, 1, 6, 5);
    world_kernel(&world, 1, 0, 0);
    world_kernel(&world, 1, 2, 0);
    world_kernel(&world, 1, 4, 0);
    world_kernel(&world, 1, 5, 0);
    world_finish(&world);
    CHECK(is(&world, 1, 0, 0, true));
    CHECK(!world_ask(&world, 1, 2).certain);
    CHECK(is(&world, 1, 4, 3, true) && is(&world, 1, 5, 4, true));
    world_close(&world);
    return NULL;
}

const char *Named_GenerationsAreTheirOwn(void)
{
    static const uint32_t other[] = {1, 1, 2, 1, 1};
    struct world_graph second = same_chain;
    struct world world;
    second.generation = 2;
    second.names = other;
    world_open(&world);
    world_shape(&world, 0, 1, 64);
    world_shape(&world, 1, 2, 64);
    world_graph(&world, &same_chain);
    world_graph(&world, &second);
    for (uint32_t launch = 1; launch <= 4; launch++) {
        world_launch(&world, launch, 1, launch <= 2 ? 1 : 2, 5, 5);
        for (uint32_t i = 0; i < 5; i++)
            world_kernel(&world, launch, i, launch > 2 && i == 2);
    }
    world_finish(&world);
    for (uint32_t launch = 1; launch <= 4; launch++) {
        CHECK(world_ask(&world, launch, 2).generation == (launch <= 2 ? 1 : 2));
        CHECK(is(&world, launch, 2, 2, true));
        CHECK(world.launches[launch].number == launch);
    }
    world_close(&world);
    return NULL;
}

/* Changes that do not show in the nodes: those of the generation before, also where it has them
 * from the one before, and where launches are heard of first. */
const char *Named_GenerationsWithTheSameNodes(void)
{
    struct world world;
    world_open(&world);
    world_shape(&world, 0, 1, 64);
    world_shape(&world, 1, 2, 64);
    world_graph(&world, &same_chain);
    for (uint32_t generation = 1; generation <= 3; generation++) {
        const struct rtl_wire_graph same = {
            .graph = 1, .generation = generation, .nodes = 5, .flags = RTL_GRAPH_SAME};
        world_launch(&world, generation, 1, generation, 5, 5);
        if (generation > 1)
            rtl_graphs_graph(world.graphs, &same);
        for (uint32_t i = 0; i < 5; i++)
            world_kernel(&world, generation, i, 0);
    }
    /* The one before is not known: nor is this one. */
    const struct rtl_wire_graph alone = {
        .graph = 9, .generation = 7, .nodes = 5, .flags = RTL_GRAPH_SAME};
    rtl_graphs_graph(world.graphs, &alone);
    world_launch(&world, 4, 9, 7, 5, 5);
    for (uint32_t i = 0; i < 5; i++)
        world_kernel(&world, 4, i, i % 2);
    world_finish(&world);
    for (uint32_t launch = 1; launch <= 3; launch++) {
        CHECK(world_ask(&world, launch, 2).generation == launch);
        for (uint32_t i = 0; i < 5; i++)
            CHECK(is(&world, launch, i, i, true));
    }
    for (uint32_t i = 0; i < 5; i++)
        CHECK(!world_ask(&world, 4, i).certain);
    world_close(&world);
    return NULL;
}

/* A graph that HIP could not be asked about: its first launch tells. */
const char *Named_UnknownGraphIsDiscovered(void)
{
    const struct rtl_wire_graph graph = {.graph = 3, .generation = 1, .flags = RTL_GRAPH_UNKNOWN};
    struct world world;
    world_open(&world);
    rtl_graphs_graph(world.graphs, &graph);
    for (uint32_t i = 0; i < 3; i++)
        world_shape(&world, i, i, 64);
    for (uint32_t launch = 1; launch <= 3; launch++) {
        world_launch(&world, launch, 3, 1, 4, 3);
        for (uint32_t i = 0; i < 3; i++)
            world_kernel(&world, launch, i + (i >= launch), i);
    }
    world_finish(&world);
    CHECK(world.node_count == 3 && world.nodes[2].node.graph == 3 && world.nodes[2].node.node == 2);
    CHECK(strcmp(world.nodes[1].name, "k1") == 0 && world.nodes[1].node.grid[0] == 64);
    for (uint32_t launch = 1; launch <= 3; launch++)
        for (uint32_t i = 0; i < 3; i++)
            CHECK(is(&world, launch, i + (i >= launch), i, true));
    world_close(&world);
    return NULL;
}

/* Two of the same in a row, and one that runs beside them: submitted in two orders by whole
 * launches. After that no order is taken for granted where kernels are lost. */
const char *Named_OrdersThatVaryProveNothing(void)
{
    static const uint32_t names[] = {1, 2, 1};
    static const uint32_t counts[] = {0, 0, 1};
    static const uint32_t dependencies[] = {0};
    const struct world_graph graph = {.graph = 1,
                                      .generation = 1,
                                      .nodes = 3,
                                      .names = names,
                                      .widths = widths,
                                      .counts = counts,
                                      .dependencies = dependencies};
    struct world world;
    world_open(&world);
    world_shape(&world, 1, 1, 64);
    world_shape(&world, 2, 2, 64);
    world_graph(&world, &graph);
    world_launch(&world, 1, 1, 1, 3, 3);
    world_kernel(&world, 1, 0, 1);
    world_kernel(&world, 1, 1, 2);
    world_kernel(&world, 1, 2, 1);
    world_launch(&world, 2, 1, 1, 3, 3);
    world_kernel(&world, 2, 0, 2);
    world_kernel(&world, 2, 1, 1);
    world_kernel(&world, 2, 2, 1);
    /* A barrier, node 1, node 0; node 2 is lost. */
    world_launch(&world, 3, 1, 1, 4, 3);
    world_kernel(&world, 3, 1, 2);
    world_kernel(&world, 3, 2, 1);
    world_finish(&world);
    CHECK(is(&world, 1, 2, 2, true) && is(&world, 2, 2, 2, true) && is(&world, 2, 0, 1, true));
    CHECK(is(&world, 3, 1, 1, true) && !world_ask(&world, 3, 2).certain);
    world_close(&world);
    return NULL;
}

/* What a graph has become after an update that went wrong, nobody knows. */
const char *Named_UnknownUpdateHasNoNodes(void)
{
    const struct rtl_wire_graph update = {.graph = 1, .generation = 2, .flags = RTL_GRAPH_UNKNOWN};
    struct world world;
    world_open(&world);
    world_shape(&world, 0, 1, 64);
    world_graph(&world, &same_chain);
    rtl_graphs_graph(world.graphs, &update);
    for (uint32_t launch = 1; launch <= 2; launch++) {
        world_launch(&world, launch, 1, launch, 5, 5);
        for (uint32_t i = 0; i < 5; i++)
            world_kernel(&world, launch, i, 0);
    }
    world_finish(&world);
    for (uint32_t i = 0; i < 5; i++)
        CHECK(is(&world, 1, i, i, true) && is(&world, 2, i, RTL_NONE, false));
    CHECK(world.node_count == 0 && world_ask(&world, 2, 0).generation == 2);
    world_close(&world);
    return NULL;
}

/* Launches that never become whole are told when there are too many, and what comes later is added.
 */
const char *Named_MemoryIsBoundedByTheLimit(void)
{
    enum { LAUNCHES = 100000 };
    struct world world;
    world_open(&world);
    world_shape(&world, 0, 1, 64);
    world_graph(&world, &same_chain);
    for (uint32_t launch = 1; launch <= LAUNCHES; launch++) {
        world_launch(&world, launch, 1, 1, 5, 5);
        for (uint32_t i = 0; i < 4; i++)
            world_kernel(&world, launch, i, 0);
    }
    CHECK(world.launches_told > LAUNCHES - RTL_GRAPHS_IN_FLIGHT / 16);
    world_kernel(&world, 1, 4, 0);
    world_finish(&world);
    CHECK(world.launches_told == LAUNCHES);
    CHECK(world.launches[1].recorded == 5 && world.launches[2].recorded == 4);
    CHECK(is(&world, 2, 3, 3, true) && world.contradictions == 0);
    world_close(&world);
    return NULL;
}

const char *Named_KernelsOfTheProcessThatDied(void)
{
    struct world world;
    world_open(&world);
    world_shape(&world, 0, 1, 64);
    world_graph(&world, &same_chain);
    world_kernel(&world, 1, 0, 0);
    world_kernel(&world, RTL_NONE, RTL_NONE, 0);
    world_finish(&world);
    CHECK(world.launches_told == 0 && world.plans_told == 0);
    CHECK(world_ask(&world, 1, 0).graph == RTL_NONE);
    world_close(&world);
    return NULL;
}

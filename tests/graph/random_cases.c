/* Random graphs of HIP's, launched in random orders that their dependencies allow, with barriers
 * anywhere, launches interleaved and kernels lost: every node is right, or said not to be certain.
 */
#include "world.h"

#include <stdlib.h>
#include <string.h>

#define NODES    24
#define GRAPHS   4
#define LAUNCHES 60

struct random_graph {
    uint32_t nodes;
    uint32_t names[NODES], widths[NODES], counts[NODES], flags[NODES];
    uint32_t dependencies[NODES * NODES];
    bool needs[NODES][NODES];
    uint32_t order[NODES]; /* in which it is submitted */
};

struct random_launch {
    uint32_t graph, packets;
    uint32_t ordinals[NODES], count, next;
    uint32_t kernels[NODES]; /* nodes, in order */
};

struct tally {
    uint64_t kernels, certain, wrong;
};

static uint32_t pick(uint64_t *random, uint32_t below)
{
    return (uint32_t)(world_random(random) % below);
}

static void draw_graph(struct random_graph *graph, uint64_t *random)
{
    *graph = (struct random_graph){.nodes = 1 + pick(random, NODES)};
    uint32_t kinds = 1 + pick(random, 8);
    uint32_t density = 1 + pick(random, 6);
    bool chain = pick(random, 3) == 0;
    uint32_t *next = graph->dependencies;
    for (uint32_t i = 0; i < graph->nodes; i++) {
        graph->names[i] = pick(random, kinds);
        graph->widths[i] = 64 * (1 + pick(random, 2));
        graph->flags[i] = pick(random, 12) == 0 ? RTL_NODE_DISABLED : 0;
        for (uint32_t j = 0; j < i; j++) {
            if (chain ? j + 1 < i : pick(random, density + 1) > 0)
                continue;
            graph->needs[i][j] = true;
            *next++ = j;
            graph->counts[i]++;
        }
    }
}

/* An order that the dependencies allow: of the nodes that are ready any one is next. */
static void draw_order(struct random_graph *graph, uint64_t *random)
{
    bool done[NODES] = {false};
    for (uint32_t made = 0; made < graph->nodes;) {
        uint32_t node = pick(random, graph->nodes);
        bool ready = !done[node];
        for (uint32_t i = 0; i < graph->nodes && ready; i++)
            ready = !graph->needs[node][i] || done[i];
        if (!ready)
            continue;
        done[node] = true;
        graph->order[made++] = node;
    }
}

static void draw_launch(struct random_launch *launch, const struct random_graph *graph,
                        uint32_t number, uint64_t *random)
{
    *launch = (struct random_launch){.graph = number};
    for (uint32_t i = 0; i < graph->nodes; i++) {
        if (graph->flags[graph->order[i]] & RTL_NODE_DISABLED)
            continue;
        launch->packets += pick(random, 4) == 0;
        launch->kernels[launch->count] = graph->order[i];
        launch->ordinals[launch->count++] = launch->packets++;
    }
}

static void define(struct world *world, const struct random_graph *graphs)
{
    for (uint32_t name = 0; name < 8; name++)
        for (uint32_t width = 0; width < 2; width++)
            world_shape(world, name * 2 + width, name, 64 * (1 + width));
    for (uint32_t i = 0; i < GRAPHS; i++) {
        const struct world_graph graph = {.graph = i + 1,
                                          .generation = 1,
                                          .nodes = graphs[i].nodes,
                                          .names = graphs[i].names,
                                          .widths = graphs[i].widths,
                                          .counts = graphs[i].counts,
                                          .flags = graphs[i].flags,
                                          .dependencies = graphs[i].dependencies};
        world_graph(world, &graph);
    }
}

/* Gives the kernels of all launches, mixed; some are lost. */
static void run(struct world *world, const struct random_graph *graphs,
                struct random_launch *launches, uint32_t loss_of_64, uint64_t *random)
{
    uint32_t open = LAUNCHES;
    for (uint32_t first = 0; open;) {
        uint32_t i = first + pick(random, 4);
        struct random_launch *it = &launches[i < LAUNCHES ? i : LAUNCHES - 1];
        uint32_t launch = (uint32_t)(it - launches) + 1;
        if (it->next == 0)
            world_launch(world, launch, it->graph + 1, 1, it->packets, it->count);
        if (it->next < it->count) {
            uint32_t node = it->kernels[it->next];
            const struct random_graph *graph = &graphs[it->graph];
            if (pick(random, 64) >= loss_of_64)
                world_kernel(world, launch, it->ordinals[it->next],
                             graph->names[node] * 2 + graph->widths[node] / 64 - 1);
        }
        if (it->next <= it->count && it->next++ == it->count)
            open--;
        while (first < LAUNCHES && launches[first].next > launches[first].count)
            first++;
    }
}

static void compare(const struct world *world, const struct random_launch *launches,
                    struct tally *tally)
{
    for (uint32_t i = 0; i < LAUNCHES; i++)
        for (uint32_t k = 0; k < launches[i].count; k++) {
            struct world_answer answer = world_ask(world, i + 1, launches[i].ordinals[k]);
            tally->kernels++;
            tally->certain += answer.certain;
            tally->wrong += answer.certain && answer.node != launches[i].kernels[k];
        }
}

/* One drawn process. `new_orders`: each launch has an order of its own. */
static const char *one(uint64_t seed, bool new_orders, uint32_t loss_of_64, struct tally *tally)
{
    static struct random_graph graphs[GRAPHS];
    static struct random_launch launches[LAUNCHES];
    uint64_t random = seed;
    struct world world;
    world_open(&world);
    for (uint32_t i = 0; i < GRAPHS; i++) {
        draw_graph(&graphs[i], &random);
        draw_order(&graphs[i], &random);
    }
    define(&world, graphs);
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        uint32_t graph = pick(&random, GRAPHS);
        if (new_orders)
            draw_order(&graphs[graph], &random);
        draw_launch(&launches[i], &graphs[graph], graph, &random);
    }
    run(&world, graphs, launches, loss_of_64, &random);
    world_finish(&world);
    CHECK(world.contradictions == 0 && rtl_graphs_forgotten(world.graphs) == 0);
    compare(&world, launches, tally);
    for (uint32_t i = 0; i < LAUNCHES; i++)
        CHECK(world.launches[i + 1].graph == launches[i].graph + 1);
    world_close(&world);
    return NULL;
}

/* What HIP does: one order per graph. Of what is lost nothing is said. */
const char *Random_OneOrderAndLosses(void)
{
    struct tally tally = {0};
    for (uint64_t seed = 1; seed <= 400; seed++)
        CHECK_DONE(one(seed, false, (uint32_t)(seed % 8), &tally));
    CHECK(tally.wrong == 0);
    CHECK(tally.certain * 2 > tally.kernels);
    return NULL;
}

const char *Random_EveryOrder(void)
{
    struct tally tally = {0};
    for (uint64_t seed = 1; seed <= 400; seed++)
        CHECK_DONE(one(seed, true, 0, &tally));
    CHECK(tally.wrong == 0);
    CHECK(tally.certain * 2 > tally.kernels);
    return NULL;
}

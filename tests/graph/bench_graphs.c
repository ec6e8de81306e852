/*
 * What the registry costs the collector, per kernel: replays of a graph that HIP names, of one
 * inferred from its packets in one batch and in batches that grow, and eager batches that never
 * repeat.
 *
 *     bench_graphs [NODES [REPLAYS [SHAPE]]]      512 nodes, 10 000 replays
 *
 * SHAPE is `named`, `flat`, `growing` or `eager`: it alone then, as a line of JSON with the
 * thread's CPU clock per kernel, and how many kernels there were.
 *
 * Instructions per kernel:
 *     valgrind --tool=callgrind --toggle-collect=give_replays bench_graphs 512 100 named
 */
#include "world.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(clockid_t clock)
{
    struct timespec time;
    (void)clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

struct counts {
    uint64_t launches, plans, nodes;
};

static void take_graph(void *context, const struct rtl_wire_graph *graph)
{
    (void)context;
    (void)graph;
}

static void take_node(void *context, const struct rtl_wire_node *node, const char *name)
{
    (void)node;
    (void)name;
    ((struct counts *)context)->nodes++;
}

static void take_plan(void *context, const struct rtl_graphs_plan *plan)
{
    (void)plan;
    ((struct counts *)context)->plans++;
}

static void take_launch(void *context, const struct rtl_graphs_launch *launch)
{
    (void)launch;
    ((struct counts *)context)->launches++;
}

enum shape { NAMED, FLAT, GROWING, EAGER, SHAPES };
static const char *const names[SHAPES] = {"named by HIP", "inferred, one batch",
                                          "inferred, batches of 1 to 256", "eager batches"};
static const char *const words[SHAPES] = {"named", "flat", "growing", "eager"};

struct bench {
    struct rtl_graphs *graphs;
    enum shape shape;
    uint32_t nodes, launches;
    uint64_t packet;
};

static void give_batch(struct bench *bench, uint32_t first, uint32_t count)
{
    bool inferred = bench->shape != NAMED;
    const struct rtl_wire_launch launch = {
        .launch = ++bench->launches,
        .graph = inferred ? RTL_NONE : 1,
        .generation = inferred ? 0 : 1,
        .thread = 1,
        .first = bench->packet,
        .packets = count,
        .kernels = count,
        .fingerprint = bench->shape == EAGER ? bench->launches : first + 1,
    };
    rtl_graphs_launch(bench->graphs, &launch);
    for (uint32_t i = 0; i < count; i++) {
        const struct rtl_wire_kernel kernel = {.packet = bench->packet,
                                               .start = bench->packet * 10,
                                               .end = bench->packet * 10 + 5,
                                               .shape = (first + i) % 40,
                                               .launch = launch.launch,
                                               .ordinal = i};
        rtl_graphs_kernel(bench->graphs, &kernel);
        bench->packet++;
    }
}

static void give_replay(struct bench *bench)
{
    if (bench->shape != GROWING) {
        give_batch(bench, 0, bench->nodes);
        return;
    }
    for (uint32_t done = 0, batch = 1; done < bench->nodes; batch = batch < 256 ? batch * 2 : 256) {
        uint32_t count = batch < bench->nodes - done ? batch : bench->nodes - done;
        give_batch(bench, done, count);
        done += count;
    }
}

static void define(struct world *world, uint32_t nodes)
{
    uint32_t *columns = calloc((size_t)nodes * 4, sizeof *columns);
    if (!columns)
        abort();
    for (uint32_t i = 0; i < 40; i++)
        world_shape(world, i, i, 64);
    for (uint32_t i = 0; i < nodes; i++) {
        columns[i] = i % 40;
        columns[nodes + i] = 64;
        columns[2 * nodes + i] = i > 0;
        columns[3 * nodes + i] = i;
    }
    const struct world_graph graph = {.graph = 1,
                                      .generation = 1,
                                      .nodes = nodes,
                                      .names = columns,
                                      .widths = columns + nodes,
                                      .counts = columns + (size_t)2 * nodes,
                                      .dependencies = columns + (size_t)3 * nodes};
    world_graph(world, &graph);
    free(columns);
}

static __attribute__((noinline)) void give_replays(struct bench *bench, uint32_t replays)
{
    for (uint32_t i = 0; i < replays; i++)
        give_replay(bench);
    rtl_graphs_finish(bench->graphs);
}

static void print(const struct bench *bench, const struct counts *counts, double ns)
{
    (void)printf("%-28s %6.2f ns/kernel  %llu kernels, %llu launch rows, %llu plans\n",
                 names[bench->shape], ns, (unsigned long long)bench->packet,
                 (unsigned long long)counts->launches, (unsigned long long)counts->plans);
}

static void run(enum shape shape, uint32_t nodes, uint32_t replays, bool json)
{
    struct counts counts = {0};
    const struct rtl_graphs_sink sink = {&counts, take_graph, take_node, take_plan, take_launch};
    struct world world = {.graphs = rtl_graphs_new(&sink)};
    struct bench bench = {.graphs = world.graphs, .shape = shape, .nodes = nodes};
    if (!world.graphs)
        abort();
    define(&world, nodes);
    double begin = seconds(CLOCK_THREAD_CPUTIME_ID);
    give_replays(&bench, replays);
    double ns = (seconds(CLOCK_THREAD_CPUTIME_ID) - begin) * 1e9 / ((double)nodes * replays);
    if (json)
        (void)printf("{\"shape\": \"%s\", \"items\": %llu, \"cpu_ns\": %.2f}\n", words[shape],
                     (unsigned long long)bench.packet, ns);
    else
        print(&bench, &counts, ns);
    rtl_graphs_free(bench.graphs);
}

int main(int argc, char **argv)
{
    uint32_t nodes = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 512;
    uint32_t replays = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 10000;
    int only = NAMED;
    while (argc > 3 && only < SHAPES && strcmp(argv[3], words[only]) != 0)
        only++;
    if (nodes == 0 || replays == 0 || only == SHAPES) {
        (void)fprintf(stderr, "bench_graphs: usage: bench_graphs [NODES [REPLAYS "
                              "[named|flat|growing|eager]]]\n");
        return 2;
    }
    if (argc > 3)
        run((enum shape)only, nodes, replays, true);
    for (int shape = NAMED; argc <= 3 && shape < SHAPES; shape++)
        run((enum shape)shape, nodes, replays, false);
    return 0;
}

/* Layers of a made-up graph, worked out by hand: a slow layer, what is before and after them, what
 * does not count. */
#include "analysis/graph_layers.h"
#include "made.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD    UINT64_C(1)
#define LENGTH  UINT64_C(3)
#define LAYERS  UINT64_C(5)
#define TAIL    UINT64_C(2)
#define NODES   (HEAD + LENGTH * LAYERS + TAIL)
#define COUNTED UINT64_C(3) /* launches that are whole */
#define SLOW    2u          /* this layer */

/* What each node runs: 0 or 1, one of the made-up kernels. */
typedef unsigned (*kernel_of)(uint32_t node);

static unsigned layered(uint32_t node)
{
    if (node < HEAD || node >= NODES - TAIL)
        return node >= NODES - TAIL;
    return (node - HEAD) % LENGTH == LENGTH - 1;
}

/* The second layer has its kernels in another order. */
static unsigned odd(uint32_t node)
{
    return node == HEAD + LENGTH ? 1 : node == HEAD + 2 * LENGTH - 1 ? 0 : layered(node);
}

/* Each node in a place of its own. */
static unsigned unlike(uint32_t node)
{
    return node * node / 7 % 2;
}

static void push(struct rtl_ring *ring, enum rtl_wire_type type, const void *body, size_t size,
                 const void *rest, size_t rest_size)
{
    const struct rtl_piece pieces[] = {{body, size}, {rest, rest_size}};
    if (!rtl_ring_push(ring, type, pieces, 2))
        _exit(2);
}

static void graph(struct rtl_ring *ring, kernel_of kernel)
{
    const struct rtl_wire_graph body = {.exec = 0xe0, .graph = 1, .generation = 1, .nodes = NODES};
    push(ring, RTL_WIRE_GRAPH, &body, sizeof body, NULL, 0);
    for (uint32_t i = 0; i < NODES; ++i) {
        unsigned char rest[64] = {0};
        const char *name = made_names[kernel(i)];
        size_t list = i > 0 ? sizeof(uint32_t) : 0;
        const struct rtl_wire_node node = {.graph = 1,
                                           .generation = 1,
                                           .node = i,
                                           .parent = RTL_NONE,
                                           .grid = {64, 1, 1},
                                           .block = {64, 1, 1},
                                           .dependencies = i > 0,
                                           .name_length = (uint16_t)strlen(name)};
        uint32_t before = i - 1;
        memcpy(rest, &before, list);
        size_t length = strlen(name);
        memcpy(rest + list, name, length + 1);
        push(ring, RTL_WIRE_NODE, &node, sizeof node, rest, list + length);
    }
}

/* Ticks of a node's kernel: 10, 20 and 30 in a layer, which make 60; 12 more in the slow one; one
 * more for the first in each launch after the first. */
static uint64_t lasts(uint32_t node, uint32_t launch)
{
    if (node < HEAD || node >= NODES - TAIL)
        return 7;
    uint64_t place = (node - HEAD) % LENGTH;
    uint64_t layer = (node - HEAD) / LENGTH;
    return 10 * (place + 1) + (layer == SLOW && place == 1 ? 12 : 0) +
           (place == 0 ? launch - 1 : 0);
}

/* Kernels stand behind each other, with two ticks before each that begins a layer. */
static void launch(struct rtl_ring *ring, uint32_t id, kernel_of kernel, uint32_t recorded)
{
    const struct rtl_wire_launch body = {.time_ns = MADE_BEGIN_NS,
                                         .launch = id,
                                         .graph = 1,
                                         .generation = 1,
                                         .thread = 71,
                                         .packets = NODES,
                                         .kernels = NODES};
    uint64_t at = MADE_BEGIN + 1000 * (uint64_t)id;
    push(ring, RTL_WIRE_LAUNCH, &body, sizeof body, NULL, 0);
    for (uint32_t i = 0; i < recorded; ++i) {
        at += i >= HEAD && i < NODES - TAIL && (i - HEAD) % LENGTH == 0 ? 2 : 0;
        const struct rtl_wire_kernel record = {.packet = (uint64_t)id * NODES + i,
                                               .start = at,
                                               .end = at + lasts(i, id),
                                               .shape = kernel(i),
                                               .launch = id,
                                               .ordinal = i};
        push(ring, RTL_WIRE_KERNEL, &record, sizeof record, NULL, 0);
        at += lasts(i, id);
    }
}

static void record(struct rtl_ring *ring, kernel_of kernel)
{
    made_definitions(ring);
    made_queue(ring, 0, 0x1000, MADE_BEGIN_NS);
    graph(ring, kernel);
    for (uint32_t id = 1; id <= COUNTED; ++id)
        launch(ring, id, kernel, NODES);
    launch(ring, COUNTED + 1, kernel, NODES - 1); /* not whole */
    made_ledger(ring, 0, (COUNTED + 1) * NODES, (COUNTED + 1) * NODES - 1, 0);
    rtl_ring_close(ring);
}

static void record_layered(struct rtl_ring *ring)
{
    record(ring, layered);
}

static void record_odd(struct rtl_ring *ring)
{
    record(ring, odd);
}

static void record_unlike(struct rtl_ring *ring)
{
    record(ring, unlike);
}

struct world {
    struct made made;
    rtl_trace_t *trace;
    struct graph_reading reading;
    struct graph_layers layers;
};

static const char *begin(struct world *world, made_work work)
{
    char error[512] = "";
    const rtl_graph_t *graphs;
    size_t count;
    CHECK_DONE(made_begin(&world->made));
    (void)made_process(&world->made, work);
    CHECK_DONE(made_end(&world->made));
    CHECK(rtlTraceOpen(world->made.trace, &world->trace, error, sizeof error) == RTL_OK);
    CHECK(rtlTraceGraphs(world->trace, &graphs, &count) == RTL_OK && count == 1);
    CHECK(graph_layers_read(world->trace, graphs, &world->reading, &world->layers) == RTL_OK);
    return NULL;
}

static void end(struct world *world)
{
    graph_layers_free(&world->layers);
    graph_reading_free(&world->reading);
    rtlTraceClose(world->trace);
    made_clean(&world->made);
}

static bool took(const struct stats *stats, uint64_t count, uint64_t ticks)
{
    return stats->count == count && stats->total == ticks * MADE_TICK_NS;
}

const char *Layers_ASlowOne(void)
{
    struct world world;
    CHECK_DONE(begin(&world, record_layered));
    struct graph_layers *layers = &world.layers;
    CHECK(layers->found && layers->launches == COUNTED && layers->node_count == NODES);
    CHECK(layers->period.begin == HEAD && layers->period.length == LENGTH);
    CHECK(layers->period.count == LAYERS && graph_layers_end(layers) == NODES - TAIL);
    for (unsigned i = 0; i < LAYERS; ++i) {
        uint64_t ticks = i == SLOW ? 72 : 60;
        struct graph_section *section = &layers->layers[i].took;
        CHECK(took(&section->time, COUNTED, COUNTED * ticks + 0 + 1 + 2));
        CHECK(stats_quantile(&section->time, 500) == (ticks + 1) * MADE_TICK_NS);
        CHECK(stats_quantile(&section->time, 900) == (ticks + 2) * MADE_TICK_NS);
        CHECK(took(&section->gap, COUNTED, COUNTED * 2));
        CHECK(layers->layers[i].outlying == (i == SLOW));
        CHECK(graph_layers_node(layers, i, 2) == HEAD + i * LENGTH + 2);
    }
    CHECK(layers->usual == 61 * MADE_TICK_NS && layers->distance == 0 && layers->outlying == 1);
    CHECK(graph_layers_limit(layers) == 61 * MADE_TICK_NS / 20);
    end(&world);
    return NULL;
}

/* The median of an even number lies between two: half of the layers are not outlying. */
const char *Layers_HalfAreSlow(void)
{
    static const uint64_t took_ns[] = {1028500, 1027880, 2028380, 2028280};
    struct graph_layer four[4] = {0};
    struct graph_layers layers = {
        .found = true, .period = {.length = 1, .count = 4}, .layers = four};
    for (unsigned i = 0; i < 4; ++i)
        stats_add(&layers.layers[i].took.time, took_ns[i]);
    graph_layers_judge(&layers);
    CHECK(layers.usual == (1028500 + 2028280) / 2);
    CHECK(layers.distance == (499890 + 499990) / 2);
    CHECK(layers.outlying == 0 && !layers.layers[2].outlying && !layers.layers[3].outlying);
    for (unsigned i = 0; i < 4; ++i)
        stats_free(&four[i].took.time);
    return NULL;
}

const char *Layers_PlacesAndTheRest(void)
{
    struct world world;
    CHECK_DONE(begin(&world, record_layered));
    struct graph_layers *layers = &world.layers;
    CHECK(took(&layers->places[0].time, COUNTED * LAYERS,
               10 * COUNTED * LAYERS + (0 + 1 + 2) * LAYERS));
    CHECK(took(&layers->places[1].time, COUNTED * LAYERS, 20 * COUNTED * LAYERS + 12 * COUNTED));
    CHECK(took(&layers->places[2].time, COUNTED * LAYERS, 30 * COUNTED * LAYERS));
    CHECK(took(&layers->places[0].gap, COUNTED * LAYERS, 2 * COUNTED * LAYERS));
    CHECK(took(&layers->places[1].gap, COUNTED * LAYERS, 0));
    CHECK(took(&layers->before.time, COUNTED, COUNTED * 7) && layers->before.gap.count == 0);
    CHECK(took(&layers->after.time, COUNTED, COUNTED * 14) && took(&layers->after.gap, COUNTED, 0));
    end(&world);
    return NULL;
}

/* After one with its kernels in another order three are left, 9 of 18 nodes. */
const char *Layers_OneOdd(void)
{
    struct world world;
    CHECK_DONE(begin(&world, record_odd));
    CHECK(world.layers.found && world.layers.period.count == 3);
    CHECK(world.layers.period.begin == HEAD + 2 * LENGTH);
    CHECK(world.layers.outlying == 1 && world.layers.layers[0].outlying);
    end(&world);
    return NULL;
}

const char *Layers_None(void)
{
    struct world world;
    CHECK_DONE(begin(&world, record_unlike));
    CHECK(!world.layers.found && world.layers.launches == 3 && world.layers.node_count == NODES);
    CHECK(strstr(graph_layers_why(&world.layers), "no repeating block was found") != NULL);
    end(&world);
    return NULL;
}

const char *Layers_InTheTools(void)
{
    struct made made;
    char command[4096];
    CHECK_DONE(made_begin(&made));
    (void)made_process(&made, record_layered);
    CHECK_DONE(made_end(&made));
    (void)snprintf(
        command, sizeof command,
        "cd %s && set -e; rtl=%s; $rtl graph show trace.db 1 --layers >text;"
        "grep -q '^  5 layers of 3 nodes: nodes 1 to 15, 83.3 %% of the graph.s$' text;"
        "grep -q '^  before the first: 1 node, 70 ns (p50)$' text;"
        "grep -q '^  after the last: 2 nodes, 140 ns (p50)$' text;"
        "grep -Eq '^ +2 +7-9 +730 ns +730 ns +740 ns +20 ns +.19.7 %% +outlying$' text;"
        "grep -Eq '^ +4 +13-15 +610 ns +610 ns +620 ns +20 ns +.0.0 %% +usual$' text;"
        "test $(grep -c 'outlying$' text) = 1;"
        "grep -Eq '^ +1 +224 ns +0 ns +35.3 %%  add' text;"
        "test $($rtl graph show trace.db 1 --layers --top 2 | grep -c 'and 3 more (--top 0)') = 1;"
        "$rtl graph show trace.db 1 --layers --json | grep -q '\"distance_ns\": 0,';"
        "test $($rtl graph show trace.db 1 --json | grep -c '\"layers\"') = 0;"
        "status=0; $rtl graph show trace.db 1 --layers --sort gap 2>err || status=$?;"
        "test $status = 2; grep -q 'has its own order' err",
        made.folder, RTL_COMMAND);
    CHECK(made_shell(command) == 0);
    made_clean(&made);
    return NULL;
}

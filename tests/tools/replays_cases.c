/* Replays of graphs read into numbers, worked out by hand: gaps, critical paths, outliers. */
#include "analysis/graph_read.h"
#include "graph/find.h"
#include "made.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NODES 4u

/* Node 0, then 1 and 2 side by side, then 3, which waits for both. */
static const uint32_t waits[NODES][2] = {{0, 0}, {0, 0}, {0, 0}, {1, 2}};
static const uint16_t wait_counts[NODES] = {0, 1, 1, 2};
static const unsigned shapes[NODES] = {0, 1, 0, 1};

static void push(struct rtl_ring *ring, enum rtl_wire_type type, const void *body, size_t size,
                 const void *rest, size_t rest_size)
{
    const struct rtl_piece pieces[] = {{body, size}, {rest, rest_size}};
    if (!rtl_ring_push(ring, type, pieces, 2))
        _exit(2);
}

static void graph(struct rtl_ring *ring, uint32_t generation)
{
    const struct rtl_wire_graph body = {
        .exec = 0xe0, .graph = 1, .generation = generation, .nodes = NODES};
    push(ring, RTL_WIRE_GRAPH, &body, sizeof body, NULL, 0);
    for (uint32_t i = 0; i < NODES; ++i) {
        unsigned char rest[64] = {0};
        size_t length = strlen(made_names[shapes[i]]);
        size_t list = wait_counts[i] * sizeof(uint32_t);
        const struct rtl_wire_node node = {.graph = 1,
                                           .generation = generation,
                                           .node = i,
                                           .parent = RTL_NONE,
                                           .grid = {64, 1, 1},
                                           .block = {64, 1, 1},
                                           .dependencies = wait_counts[i],
                                           .name_length = (uint16_t)length};
        memcpy(rest, waits[i], list);
        memcpy(rest + list, made_names[shapes[i]], length);
        push(ring, RTL_WIRE_NODE, &node, sizeof node, rest, list + length);
    }
}

/* `times` are the start and end of each node, in ticks of the made-up world. */
static void launch(struct rtl_ring *ring, uint32_t generation, uint32_t id, uint64_t at,
                   const uint64_t times[][2], uint32_t recorded)
{
    const struct rtl_wire_launch body = {.time_ns = MADE_BEGIN_NS,
                                         .launch = id,
                                         .graph = 1,
                                         .generation = generation,
                                         .thread = 71,
                                         .packets = NODES,
                                         .kernels = NODES};
    push(ring, RTL_WIRE_LAUNCH, &body, sizeof body, NULL, 0);
    for (uint32_t i = 0; i < recorded; ++i) {
        const struct rtl_wire_kernel kernel = {.packet = (uint64_t)id * NODES + i,
                                               .start = MADE_BEGIN + at + times[i][0],
                                               .end = MADE_BEGIN + at + times[i][1],
                                               .shape = shapes[i],
                                               .launch = id,
                                               .ordinal = i};
        push(ring, RTL_WIRE_KERNEL, &kernel, sizeof kernel, NULL, 0);
    }
}

/* In the first launch node 3 waits for 1 the longest, in the second for 2; in the third 2 stands
 * behind 1 in their queue. The fourth is not whole. */
static const uint64_t first[NODES][2] = {{0, 10}, {10, 40}, {15, 30}, {45, 50}};
static const uint64_t second[NODES][2] = {{0, 10}, {10, 40}, {15, 60}, {70, 80}};
static const uint64_t third[NODES][2] = {{0, 10}, {10, 40}, {50, 70}, {80, 90}};

static void branching(struct rtl_ring *ring)
{
    made_definitions(ring);
    made_queue(ring, 0, 0x1000, MADE_BEGIN_NS);
    graph(ring, 1);
    launch(ring, 1, 1, 1000, first, NODES);
    launch(ring, 1, 2, 1100, second, NODES);
    launch(ring, 1, 3, 1300, third, NODES);
    launch(ring, 1, 4, 1500, third, NODES - 1);
    made_ledger(ring, 0, 16, 15, 0);
    rtl_ring_close(ring);
}

static const char *read_graph(struct made *made, made_work work, rtl_trace_t **trace,
                              struct graph_reading *reading)
{
    char error[512] = "";
    const rtl_graph_t *graphs;
    size_t count;
    CHECK_DONE(made_begin(made));
    (void)made_process(made, work);
    CHECK_DONE(made_end(made));
    CHECK(rtlTraceOpen(made->trace, trace, error, sizeof error) == RTL_OK);
    CHECK(rtlTraceGraphs(*trace, &graphs, &count) == RTL_OK && count == 1);
    CHECK(graph_read(*trace, graphs, 1, reading) == RTL_OK);
    return NULL;
}

static void done(struct made *made, rtl_trace_t *trace, struct graph_reading *reading)
{
    graph_reading_free(reading);
    rtlTraceClose(trace);
    made_clean(made);
}

const char *Replays_CriticalPath(void)
{
    static const uint64_t critical[NODES] = {3, 2, 2, 3};
    static const uint64_t ticks[NODES] = {30, 60, 45 + 20, 5 + 10 + 10};
    struct made made;
    struct graph_reading reading;
    rtl_trace_t *trace;
    CHECK_DONE(read_graph(&made, branching, &trace, &reading));
    CHECK(reading.node_count == NODES && reading.ordered && reading.branches);
    CHECK(reading.launches == 4 && reading.replay_count == 3 && reading.nowhere == 0);
    for (unsigned i = 0; i < NODES; ++i) {
        CHECK(reading.nodes[i].critical == critical[i]);
        CHECK(reading.nodes[i].critical_ns == ticks[i] * MADE_TICK_NS);
        CHECK(reading.nodes[i].time.count == 3);
    }
    CHECK(reading.path.count == 3 && reading.path.min == 45 * MADE_TICK_NS);
    CHECK(reading.path.max == 70 * MADE_TICK_NS);
    done(&made, trace, &reading);
    return NULL;
}

const char *Replays_Gaps(void)
{
    struct made made;
    struct graph_reading reading;
    rtl_trace_t *trace;
    CHECK_DONE(read_graph(&made, branching, &trace, &reading));
    CHECK(reading.nodes[0].gap.count == 0);
    CHECK(reading.nodes[1].gap.count == 3 && reading.nodes[1].gap.total == 0);
    CHECK(reading.nodes[2].gap.total == 10 * MADE_TICK_NS);
    CHECK(reading.nodes[3].gap.total == (5 + 10 + 10) * MADE_TICK_NS);
    CHECK(reading.idle.total == 35 * MADE_TICK_NS);
    CHECK(reading.time.total == (50 + 80 + 90) * MADE_TICK_NS);
    CHECK(reading.before.count == 2);
    CHECK(reading.before.total == (50 + 120) * MADE_TICK_NS);
    CHECK(reading.replays[2].before == 120 * MADE_TICK_NS);
    CHECK(reading.replays[2].busy == (90 - 20) * MADE_TICK_NS);
    done(&made, trace, &reading);
    return NULL;
}

/* Twenty launches alike; in the seventh the gap before node 3 is long, in the ninth its kernel. */
static void steady(struct rtl_ring *ring)
{
    made_definitions(ring);
    made_queue(ring, 0, 0x1000, MADE_BEGIN_NS);
    graph(ring, 1);
    for (uint32_t i = 1; i <= 20; ++i) {
        uint64_t times[NODES][2];
        memcpy(times, first, sizeof times);
        times[3][0] += i == 7 ? 200 : 0;
        times[3][1] += i == 7 ? 200 : i == 9 ? 300 : 0;
        launch(ring, 1, i, 1000 * (uint64_t)i, (const uint64_t(*)[2])times, NODES);
    }
    made_ledger(ring, 0, 80, 80, 0);
    rtl_ring_close(ring);
}

const char *Replays_Outliers(void)
{
    struct made made;
    struct graph_reading reading;
    struct graph_blame blame;
    rtl_trace_t *trace;
    CHECK_DONE(read_graph(&made, steady, &trace, &reading));
    CHECK(reading.replay_count == 20);
    /* All but two last 50 ticks, so the median distance is 0 and the limit 5 % above. */
    CHECK(graph_outlier_limit(&reading) == 50 * MADE_TICK_NS * 105 / 100);
    CHECK(graph_blame(trace, &reading, reading.replays[6].launch, &blame) == RTL_OK);
    CHECK(blame.node == 3 && blame.gap && blame.excess == 200 * MADE_TICK_NS);
    CHECK(graph_blame(trace, &reading, reading.replays[8].launch, &blame) == RTL_OK);
    CHECK(blame.node == 3 && !blame.gap && blame.excess == 300 * MADE_TICK_NS);
    CHECK(graph_blame(trace, &reading, reading.replays[9].launch, &blame) == RTL_OK);
    CHECK(blame.node == RTL_TRACE_NONE);
    done(&made, trace, &reading);
    return NULL;
}

/* Node 3 varies by its one long replay; its gap of 5 ticks is a tenth of a launch. */
const char *Replays_Findings(void)
{
    struct made made;
    struct graph_reading reading;
    rtl_trace_t *trace;
    size_t count;
    CHECK_DONE(read_graph(&made, steady, &trace, &reading));
    struct graph_finding *findings = graph_find(&reading, &count);
    CHECK(count == 2);
    CHECK(findings[0].kind == GRAPH_UNSTEADY && findings[0].node == 3);
    CHECK(findings[1].kind == GRAPH_GAP && findings[1].node == 3);
    CHECK(findings[1].weight == 5 * MADE_TICK_NS);
    free(findings);
    done(&made, trace, &reading);
    return NULL;
}

/* Ten launches of each generation; in the second, node 2 takes three ticks longer. */
static void generations(struct rtl_ring *ring)
{
    made_definitions(ring);
    made_queue(ring, 0, 0x1000, MADE_BEGIN_NS);
    for (uint32_t i = 1; i <= 20; ++i) {
        uint64_t times[NODES][2];
        memcpy(times, first, sizeof times);
        times[2][1] += i % 2 + (i > 10 ? 3 : 0);
        if (i % 10 == 1)
            graph(ring, i / 10 + 1);
        launch(ring, i / 11 + 1, i, 1000 * (uint64_t)i, (const uint64_t(*)[2])times, NODES);
    }
    made_ledger(ring, 0, 80, 80, 0);
    rtl_ring_close(ring);
}

const char *Replays_GenerationsInTheTools(void)
{
    struct made made;
    char command[8192];
    CHECK_DONE(made_begin(&made));
    (void)made_process(&made, generations);
    CHECK_DONE(made_end(&made));
    (void)snprintf(
        command, sizeof command,
        "cd %s && set -e;"
        "%s graph list trace.db | grep -Eq '^ +1 +4 +20 .* 2  hip$';"
        "test $(%s graph list trace.db -g | grep -Ec '^ +1\\.[12] +4 +10 ') = 2;"
        "%s graph show trace.db 1 | grep -q '^graph 1.2: 4 nodes, 10 launches';"
        "%s graph show trace.db 1.1 | grep -q '^graph 1.1: 4 nodes, 10 launches';"
        "%s graph launches trace.db 1 | grep -q '^graph 1: 20 launches';"
        "%s graph diff trace.db 1.1 1.2 >diff; grep -q '4 nodes match: 1 slower, 0 faster' diff;"
        "grep -Eq '^ +2 +2 +150 ns +180 ns +.20.0 %% ' diff;"
        "%s graph diff trace.db 1.2 1.1 | grep -q '4 nodes match: 0 slower, 1 faster'",
        made.folder, RTL_COMMAND, RTL_COMMAND, RTL_COMMAND, RTL_COMMAND, RTL_COMMAND, RTL_COMMAND,
        RTL_COMMAND);
    CHECK(made_shell(command) == 0);
    made_clean(&made);
    return NULL;
}

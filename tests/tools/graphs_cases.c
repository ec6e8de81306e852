/* Graphs from the ring to the tools' numbers and verdict, worked out by hand. */
#include "analysis/account.h"
#include "made.h"
#include "summary/tally_graphs.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static void push(struct rtl_ring *ring, enum rtl_wire_type type, const void *body, size_t size,
                 const void *rest, size_t rest_size)
{
    const struct rtl_piece pieces[] = {{body, size}, {rest, rest_size}};
    if (!rtl_ring_push(ring, type, pieces, 2))
        _exit(2);
}

static void graph(struct rtl_ring *ring, uint32_t number, uint32_t generation)
{
    const struct rtl_wire_graph body = {
        .exec = 0xe0, .graph = number, .generation = generation, .nodes = 2};
    push(ring, RTL_WIRE_GRAPH, &body, sizeof body, NULL, 0);
    for (uint32_t i = 0; i < 2; ++i) {
        unsigned char rest[64] = {0}; /* node 1 waits for node 0 */
        size_t length = strlen(made_names[i]);
        const struct rtl_wire_node node = {.graph = number,
                                           .generation = generation,
                                           .node = i,
                                           .parent = RTL_NONE,
                                           .grid = {64, 1, 1},
                                           .block = {64, 1, 1},
                                           .dependencies = (uint16_t)i,
                                           .name_length = (uint16_t)length};
        memcpy(rest + i * sizeof(uint32_t), made_names[i], length);
        push(ring, RTL_WIRE_NODE, &node, sizeof node, rest, i * sizeof(uint32_t) + length);
    }
}

/* A launch whose kernels begin at tick `at` of the made-up world, 100 ticks apart, 10 long. */
static void launch_of(struct rtl_ring *ring, uint32_t number, uint32_t id, uint32_t generation,
                      uint64_t at, uint32_t recorded, uint32_t left_out)
{
    const struct rtl_wire_launch body = {.time_ns = MADE_BEGIN_NS,
                                         .launch = id,
                                         .graph = number,
                                         .generation = generation,
                                         .thread = 71,
                                         .packets = 2,
                                         .kernels = 2,
                                         .left_out = left_out};
    push(ring, RTL_WIRE_LAUNCH, &body, sizeof body, NULL, 0);
    for (uint32_t i = 0; i < recorded; ++i) {
        const struct rtl_wire_kernel kernel = {.packet = (uint64_t)id * 2 + i,
                                               .start = MADE_BEGIN + at + (uint64_t)i * 100,
                                               .end = MADE_BEGIN + at + (uint64_t)i * 100 + 10,
                                               .shape = i,
                                               .launch = id,
                                               .ordinal = i};
        push(ring, RTL_WIRE_KERNEL, &kernel, sizeof kernel, NULL, 0);
    }
}

static void launch(struct rtl_ring *ring, uint32_t number, uint32_t id, uint32_t generation,
                   uint64_t at, uint32_t recorded)
{
    launch_of(ring, number, id, generation, at, recorded, 0);
}

/* Graph 1 launched twice, changed, launched again; graph 2 launched once; all whole. */
static void whole(struct rtl_ring *ring)
{
    made_definitions(ring);
    made_queue(ring, 0, 0x1000, MADE_BEGIN_NS);
    graph(ring, 1, 1);
    graph(ring, 2, 1);
    launch(ring, 1, 1, 1, 1000, 2);
    launch(ring, 1, 2, 1, 2000, 2);
    graph(ring, 1, 2);
    launch(ring, 1, 3, 2, 3000, 2);
    launch(ring, 2, 4, 1, 4000, 2);
    made_ledger(ring, 0, 8, 8, 0);
    rtl_ring_close(ring);
}

/* A kernel of a launch is missing, and the ledger knows of none. */
static void short_of_one(struct rtl_ring *ring)
{
    made_definitions(ring);
    made_queue(ring, 0, 0x1000, MADE_BEGIN_NS);
    graph(ring, 1, 1);
    launch(ring, 1, 1, 1, 1000, 1);
    made_ledger(ring, 0, 1, 1, 0);
    rtl_ring_close(ring);
}

/* The same, and the ledger has it. */
static void lost_one(struct rtl_ring *ring)
{
    made_definitions(ring);
    made_queue(ring, 0, 0x1000, MADE_BEGIN_NS);
    graph(ring, 1, 1);
    launch(ring, 1, 1, 1, 1000, 1);
    made_ledger(ring, 0, 2, 1, 0);
    atomic_store(&ring->header->ledger[0].lost[RTL_LOST_POOL], 1);
    rtl_ring_close(ring);
}

/* Two launches whose second kernels the mode leaves out; then one of which it leaves both. */
static void left_out(struct rtl_ring *ring)
{
    made_mode = RTL_MODE_LITE; /* of the process, which is another one */
    made_definitions(ring);
    made_queue(ring, 0, 0x1000, MADE_BEGIN_NS);
    graph(ring, 1, 1);
    for (uint32_t id = 1; id <= 3; ++id)
        launch_of(ring, 1, id, 1, id * UINT64_C(1000), id < 3, id < 3 ? 1 : 2);
    made_ledger(ring, 0, 6, 2, 4);
    rtl_ring_close(ring);
}

static const char *open_graphs(struct made *made, made_work work, rtl_trace_t **trace)
{
    char error[512] = "";
    CHECK_DONE(made_begin(made));
    (void)made_process(made, work);
    CHECK_DONE(made_end(made));
    CHECK(rtlTraceOpen(made->trace, trace, error, sizeof error) == RTL_OK);
    return NULL;
}

const char *Graphs_Numbers(void)
{
    struct made made;
    struct tally_graphs tally;
    struct verdict verdict;
    rtl_trace_t *trace;
    CHECK_DONE(open_graphs(&made, whole, &trace));
    CHECK(tally_graphs_read(trace, 0, 0, &tally) == RTL_OK);
    CHECK(tally.count == 2 && tally.launches == 4 && tally.kernels == 8);
    const struct tally_graph *first = &tally.graphs[0];
    CHECK(first->graph == 1 && first->generations == 2 && first->nodes == 2);
    CHECK(first->launches == 3 && first->stat.count == 3 && first->kernels == 6);
    CHECK(first->stat.total == 330 * MADE_TICK_NS && first->stat.max == 110 * MADE_TICK_NS);
    CHECK(tally.graphs[1].graph == 2 && tally.graphs[1].launches == 1);
    CHECK(account_verdict(trace, &verdict) == RTL_OK && verdict.complete);
    CHECK(verdict.graphs.launches == 4 && verdict.graphs.partial == 0);
    CHECK(verdict.graphs.uncertain == 0);
    tally_graphs_free(&tally);
    rtlTraceClose(trace);
    made_clean(&made);
    return NULL;
}

/* A launch is incomplete only by what the ledger does not explain; the ledger has its own verdict.
 */
const char *Graphs_Verdicts(void)
{
    struct made made;
    struct verdict verdict;
    char line[512];
    rtl_trace_t *trace;
    CHECK_DONE(open_graphs(&made, short_of_one, &trace));
    CHECK(account_verdict(trace, &verdict) == RTL_OK && !verdict.complete);
    CHECK(verdict.graphs.partial == 1 && verdict.graphs.missing == 1 && verdict.graphs.lost == 1);
    account_line(&verdict, line, sizeof line);
    CHECK(strstr(line, "1 of graph launches missing and not in the ledger") != NULL);
    rtlTraceClose(trace);
    made_clean(&made);

    CHECK_DONE(open_graphs(&made, lost_one, &trace));
    CHECK(account_verdict(trace, &verdict) == RTL_OK && !verdict.complete);
    CHECK(verdict.graphs.partial == 1 && verdict.graphs.missing == 1 && verdict.graphs.lost == 0);
    CHECK(verdict.total.lost_total == 1);
    rtlTraceClose(trace);
    made_clean(&made);
    return NULL;
}

const char *Graphs_InTheTools(void)
{
    struct made made;
    char command[8192];
    rtl_trace_t *trace;
    CHECK_DONE(open_graphs(&made, whole, &trace));
    rtlTraceClose(trace);
    (void)snprintf(command, sizeof command,
                   "%s summary %s | grep -Eq '^ +1 +1 +hip +2 +2 +3 +6 ' &&"
                   " %s info %s | grep -q 'graphs     2, launched 4 times' &&"
                   " %s check %s | grep -q 'graph launches: 4$' &&"
                   " %s check --json %s | grep -q '\"uncertain\": 0' &&"
                   " %s summary --json %s | grep -q '\"graph_launch_count\": 4'",
                   RTL_COMMAND, made.trace, RTL_COMMAND, made.trace, RTL_COMMAND, made.trace,
                   RTL_COMMAND, made.trace, RTL_COMMAND, made.trace);
    CHECK(made_shell(command) == 0);
    made_clean(&made);
    return NULL;
}

static const char left_out_line[] =
    "not whole in the trace, so not in .*: 3 launches: kernels of them were left out by the mode "
    "lite \\(rtl trace -m full records them\\)$";

/* What the mode leaves out of a launch is missing in it: the launch is in no numbers, and each
 * command says why. */
const char *Graphs_WhatTheModeLeavesOutIsSaid(void)
{
    static const char *const ways[] = {"summary", "graph list", "graph show", "graph launches"};
    struct made made;
    struct tally_graphs tally;
    struct verdict verdict;
    char command[4096];
    rtl_trace_t *trace;
    CHECK_DONE(open_graphs(&made, left_out, &trace));
    CHECK(tally_graphs_read(trace, 0, 0, &tally) == RTL_OK);
    CHECK(tally.count == 1 && tally.launches == 3 && tally.kernels == 2 && tally.partial == 3);
    CHECK(tally.graphs[0].stat.count == 0 && tally.why.by_mode == 4);
    CHECK(!tally.why.stopped && !tally.why.lost && strcmp(tally.why.mode, "lite") == 0);
    CHECK(account_verdict(trace, &verdict) == RTL_OK && verdict.complete);
    CHECK(verdict.graphs.partial == 3 && verdict.graphs.missing == 4 && verdict.graphs.lost == 0);
    tally_graphs_free(&tally);
    rtlTraceClose(trace);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i) {
        (void)snprintf(command, sizeof command, "%s %s %s %s | grep -Eq '%s'", RTL_COMMAND, ways[i],
                       made.trace, i < 2 ? "" : "1", left_out_line);
        CHECK(made_shell(command) == 0);
    }
    (void)snprintf(command, sizeof command,
                   "%s graph show %s 1 | grep -q '^graph 1.1: 2 nodes, 3 launches$' &&"
                   " ! %s graph show %s 1 | grep -q 'of a launch' &&"
                   " [ \"$(%s sql %s 'SELECT sum(kernels), sum(expected) FROM graph_launches')\""
                   " = '2|6' ] &&"
                   " %s timeline %s --launch 1:2 | grep -q '1 kernel of 2: the others are not' &&"
                   " %s graph list --json %s | jq -e '.partial_why == [\"mode\"]' >/dev/null",
                   RTL_COMMAND, made.trace, RTL_COMMAND, made.trace, RTL_COMMAND, made.trace,
                   RTL_COMMAND, made.trace, RTL_COMMAND, made.trace);
    CHECK(made_shell(command) == 0);
    made_clean(&made);
    return NULL;
}

/* Graphs inferred from their packets: a model of the runtime and of the library in the program
 * makes the records that replays in all shapes make, and knows what each kernel is. */
#include "world.h"

#include "graph/fingerprint.h"

#include <stdlib.h>
#include <string.h>

#define QUEUES    4
#define SEGMENTS  4
#define HEADS     64
#define PAGES     64
#define BATCH_MAX 256u

/* A graph, or a segment of one: `kernels` of consecutive kernargs on a queue. Eager work is graph
 * 0. */
struct segment {
    uint32_t queue, kernels;
    uint64_t kernarg; /* of its first kernel */
    bool flat;        /* reserved at once, not in batches */
    bool waits;       /* with a barrier before its first kernel and one behind its last */
    bool apart;       /* with a barrier before it and one behind it that are reserved alone */
};

struct graph {
    uint32_t tag; /* from 1 */
    uint32_t segments;
    struct segment segment[SEGMENTS];
};

/* A kernel, as it was submitted and as it is to be found. */
struct submitted {
    uint32_t launch, ordinal, queue;
    uint64_t packet;
    uint32_t tag, replay, node;
};

struct machine {
    struct world world;
    uint64_t random;
    uint32_t busy_of_8; /* how often the device is behind */
    uint32_t
        late_of_8; /* how often a packet that is reserved alone is submitted by another thread */
    uint32_t loss_of_64;
    uint64_t next[QUEUES]; /* packet */
    uint64_t single_at[QUEUES], single_key[QUEUES];
    uint64_t heads[HEADS];
    uint32_t head_count;
    bool unmarked; /* no marker is behind a replay */
    bool tells_arguments;
    uint64_t pages[PAGES]; /* of the arguments of what was reserved at once */
    uint32_t page_count;
    uint64_t full_until[QUEUES]; /* packet behind a full batch */
    uint32_t unknown;            /* kernels that no record tells to be of a replay */
    uint32_t launches;
    uint32_t thread;
    uint32_t replays[16]; /* by tag */
    uint64_t fresh;       /* kernarg of eager work */
    struct submitted *kernels;
    size_t count, capacity;
};

static void machine_open(struct machine *machine)
{
    *machine = (struct machine){.random = 1, .thread = 1, .fresh = UINT64_C(1) << 40};
    world_open(&machine->world);
    for (uint32_t i = 0; i < 8; i++)
        world_shape(&machine->world, i, i, 64 * (i + 1));
}

static void machine_close(struct machine *machine)
{
    world_close(&machine->world);
    free(machine->kernels);
}

/* What runs is a function of the kernarg. */
static uint32_t shape_of(uint64_t kernarg)
{
    return (uint32_t)(kernarg / 64 % 7);
}

static uint64_t add_kernel(uint64_t fingerprint, uint64_t kernarg)
{
    uint32_t shape = shape_of(kernarg);
    const uint32_t grid[3] = {64 * (shape + 1), 1, 1};
    const uint16_t block[3] = {64, 1, 1};
    return rtl_fingerprint(fingerprint, 0x1000 + shape, kernarg, grid, block);
}

static bool lost(struct machine *machine)
{
    return machine->loss_of_64 && world_random(&machine->random) % 64 < machine->loss_of_64;
}

static void submit(struct machine *machine, const struct submitted *kernel, uint64_t kernarg)
{
    if (machine->count == machine->capacity) {
        machine->capacity = machine->capacity ? machine->capacity * 2 : 1024;
        machine->kernels = realloc(machine->kernels, machine->capacity * sizeof *machine->kernels);
        if (!machine->kernels)
            abort();
    }
    if (lost(machine))
        return;
    machine->kernels[machine->count++] = *kernel;
    const struct rtl_wire_kernel wire = {.packet = kernel->packet,
                                         .start = kernel->packet * 10,
                                         .end = kernel->packet * 10 + 5,
                                         .queue = kernel->queue,
                                         .shape = shape_of(kernarg),
                                         .launch = kernel->launch,
                                         .ordinal = kernel->ordinal};
    rtl_graphs_kernel(machine->world.graphs, &wire);
}

static bool is_head(const struct machine *machine, uint64_t key)
{
    for (uint32_t i = 0; i < machine->head_count; i++)
        if (machine->heads[i] == key)
            return true;
    return false;
}

static bool has_page(const struct machine *machine, uint64_t kernarg)
{
    for (uint32_t i = 0; i < machine->page_count; i++)
        if (machine->pages[i] == kernarg / 4096)
            return true;
    return false;
}

/* What a launch record says of arguments. */
static void tell_arguments(struct machine *machine, struct rtl_wire_launch *wire, uint64_t kernarg)
{
    if (!machine->tells_arguments)
        return;
    wire->arguments[0] = kernarg;
    wire->arguments[1] = kernarg + 64 * ((uint64_t)wire->kernels - 1);
    for (int end = 0; end < 2 && wire->packets > 1; end++)
        if (!has_page(machine, wire->arguments[end]))
            machine->pages[machine->page_count++ % PAGES] = wire->arguments[end] / 4096;
}

/* Packets that are reserved at once, as the library makes records of them. */
static void reserve(struct machine *machine, const struct segment *segment, uint32_t from,
                    uint32_t kernels, const struct submitted *first)
{
    uint32_t queue = segment->queue;
    uint32_t packets = kernels + 2 * segment->waits;
    struct rtl_wire_launch wire = {.graph = RTL_NONE,
                                   .queue = queue,
                                   .thread = packets == 1 && machine->late_of_8 &&
                                                     world_random(&machine->random) % 8 <
                                                         machine->late_of_8
                                                 ? 999
                                                 : machine->thread,
                                   .first = machine->next[queue],
                                   .packets = packets,
                                   .kernels = kernels,
                                   .launch = RTL_NONE};
    for (uint32_t i = 0; i < kernels; i++)
        wire.fingerprint =
            add_kernel(wire.fingerprint, segment->kernarg + 64 * ((uint64_t)from + i));
    uint64_t kernarg = segment->kernarg + 64 * (uint64_t)from;
    tell_arguments(machine, &wire, kernarg);
    if (packets > 1 || is_head(machine, wire.fingerprint) || has_page(machine, kernarg))
        wire.launch = ++machine->launches;
    if (packets > 1 && machine->single_at[queue] == wire.first && wire.first) {
        wire.head = machine->single_key[queue];
        wire.flags = RTL_LAUNCH_HEADED;
        machine->heads[machine->head_count++ % HEADS] = wire.head;
    }
    if (packets == 1 && wire.launch == RTL_NONE && wire.first &&
        machine->full_until[queue] == wire.first) {
        machine->heads[machine->head_count++ % HEADS] = wire.fingerprint;
        machine->unknown += first->tag != 0;
    } else if (segment->kernels == 1 && wire.launch == RTL_NONE) {
        machine->unknown += first->tag != 0;
    }
    if (packets > 1 && packets <= BATCH_MAX && (packets & (packets - 1)) == 0)
        machine->full_until[queue] = wire.first + packets;
    if (packets == 1 && wire.launch == RTL_NONE) {
        machine->single_at[queue] = wire.first + 1;
        machine->single_key[queue] = wire.fingerprint;
    }
    if (wire.launch != RTL_NONE)
        rtl_graphs_launch(machine->world.graphs, &wire);
    for (uint32_t i = 0; i < kernels; i++) {
        struct submitted kernel = *first;
        kernel.launch = wire.launch;
        kernel.ordinal = wire.launch == RTL_NONE ? RTL_NONE : i + segment->waits;
        kernel.queue = queue;
        kernel.packet = wire.first + i + segment->waits;
        kernel.node += i;
        submit(machine, &kernel, segment->kernarg + 64 * (uint64_t)(from + i));
    }
    machine->next[queue] += packets;
}

/* As the runtime cuts packets up: 1, 2, 4, …, or 256 where the device is behind. */
static void replay_in_batches(struct machine *machine, const struct segment *segment,
                              struct submitted kernel)
{
    uint32_t batch = 1;
    uint32_t first = kernel.node;
    for (uint32_t done = 0; done < segment->kernels;) {
        if (world_random(&machine->random) % 8 < machine->busy_of_8)
            batch = BATCH_MAX;
        batch = batch < segment->kernels - done ? batch : segment->kernels - done;
        kernel.node = first + done;
        reserve(machine, segment, done, batch, &kernel);
        done += batch;
        batch = batch < BATCH_MAX ? batch * 2 : BATCH_MAX;
    }
}

static void replay(struct machine *machine, const struct graph *graph)
{
    struct submitted kernel = {.tag = graph->tag, .replay = ++machine->replays[graph->tag]};
    for (uint32_t i = 0; i < graph->segments; i++) {
        const struct segment *segment = &graph->segment[i];
        machine->next[segment->queue] += segment->apart;
        if (segment->flat)
            reserve(machine, segment, 0, segment->kernels, &kernel);
        else
            replay_in_batches(machine, segment, kernel);
        machine->next[segment->queue] += segment->apart;
        kernel.node += segment->kernels;
    }
    /* The marker at the end of a launch. */
    machine->next[graph->segment[0].queue] += !machine->unmarked;
}

/* Kernels with fresh kernargs, reserved at once. */
static void eager(struct machine *machine, uint32_t queue, uint32_t kernels)
{
    const struct segment segment = {.queue = queue, .kernels = kernels, .kernarg = machine->fresh};
    const struct submitted kernel = {0};
    machine->fresh += (uint64_t)64 * kernels;
    reserve(machine, &segment, 0, kernels, &kernel);
}

/* Compares what the registry says of each kernel with what it is. A graph of the registry is that
 * of one tag and generation; `wrong` says what is not so. */
static const char *verify(struct machine *machine, bool all_certain)
{
    uint32_t graphs[16] = {0};
    world_finish(&machine->world);
    CHECK(machine->world.contradictions == 0 && rtl_graphs_forgotten(machine->world.graphs) == 0);
    for (size_t i = 0; i < machine->count; i++) {
        const struct submitted *it = &machine->kernels[i];
        struct world_answer answer = it->launch == RTL_NONE
                                         ? world_ask_head(&machine->world, it->queue, it->packet)
                                         : world_ask(&machine->world, it->launch, it->ordinal);
        if (it->tag == 0) {
            CHECK(answer.graph == RTL_NONE);
            continue;
        }
        if (it->launch == RTL_NONE && answer.graph == RTL_NONE && machine->unknown) {
            machine->unknown--;
            continue;
        }
        CHECK(answer.graph != RTL_NONE && answer.graph != 0);
        if (graphs[it->tag] == 0)
            graphs[it->tag] = answer.graph;
        CHECK(answer.graph == graphs[it->tag]);
        CHECK(answer.launch == it->replay);
        CHECK(answer.certain || !all_certain);
        CHECK(!answer.certain || answer.node == it->node);
    }
    for (uint32_t a = 1; a < 16; a++)
        for (uint32_t b = 1; b < a; b++)
            CHECK(graphs[a] == 0 || graphs[a] != graphs[b]);
    return NULL;
}

static struct graph one_segment(uint32_t tag, uint32_t queue, uint32_t kernels, bool flat)
{
    return (struct graph){
        .tag = tag,
        .segments = 1,
        .segment =
            {{.queue = queue, .kernels = kernels, .kernarg = (uint64_t)tag << 20, .flat = flat}},
    };
}

const char *Found_FlatReplays(void)
{
    struct machine machine;
    const struct graph graph = one_segment(1, 0, 100, true);
    machine_open(&machine);
    for (int i = 0; i < 3; i++) {
        eager(&machine, 0, 1);
        replay(&machine, &graph);
        eager(&machine, 0, 5);
        eager(&machine, 1, 7);
    }
    CHECK_DONE(verify(&machine, true));
    CHECK(machine.world.inferred_count == 1 && machine.world.inferred[0].nodes == 100);
    CHECK(machine.world.node_count == 100 && machine.world.plans_told == 1);
    CHECK(strcmp(machine.world.nodes[9].name, "k6") == 0);
    CHECK(machine.world.launches_told == 3);
    machine_close(&machine);
    return NULL;
}

/* What was seen once is eager work. */
const char *Found_OnceIsNoGraph(void)
{
    struct machine machine;
    const struct graph graph = one_segment(1, 0, 100, true);
    machine_open(&machine);
    replay(&machine, &graph);
    for (uint32_t i = 2; i < 30; i++)
        eager(&machine, 0, i);
    world_finish(&machine.world);
    CHECK(machine.world.launches_told == 0 && machine.world.inferred_count == 0);
    machine_close(&machine);
    return NULL;
}

/* Batches of 1, 2, 4, … that begin with a kernel reserved alone. */
const char *Found_BatchesThatGrow(void)
{
    struct machine machine;
    const struct graph graph = one_segment(1, 0, 303, false);
    machine_open(&machine);
    for (int i = 0; i < 5; i++)
        replay(&machine, &graph);
    CHECK_DONE(verify(&machine, true));
    CHECK(machine.world.inferred_count == 1 && machine.world.inferred[0].nodes == 303);
    machine_close(&machine);
    return NULL;
}

/* The device is behind now and then: each replay is cut up in another way. */
const char *Found_BatchesThatDiffer(void)
{
    struct machine machine;
    const struct graph graph = one_segment(1, 0, 303, false);
    machine_open(&machine);
    machine.busy_of_8 = 2;
    for (int i = 0; i < 40; i++) {
        replay(&machine, &graph);
        eager(&machine, 0, 1);
    }
    CHECK_DONE(verify(&machine, true));
    CHECK(machine.world.inferred_count == 1 && machine.world.inferred[0].nodes == 303);
    machine_close(&machine);
    return NULL;
}

/* 1, 2, 4, and 1 that is left: alone. It is known from the second time on. */
const char *Found_LastPacketAlone(void)
{
    for (uint32_t kernels = 4; kernels <= 64; kernels *= 2) {
        struct machine machine;
        const struct graph graph = one_segment(1, 0, kernels, false);
        const struct graph other = one_segment(2, 0, 37, false);
        machine_open(&machine);
        machine.busy_of_8 = kernels % 3;
        machine.late_of_8 = kernels % 5;
        for (int i = 0; i < 60; i++) {
            replay(&machine, &graph);
            if (i % 3)
                replay(&machine, &other);
        }
        CHECK(machine.unknown <= 1);
        CHECK_DONE(verify(&machine, true));
        CHECK(machine.world.inferred_count == 2);
        CHECK(machine.world.inferred[0].nodes + machine.world.inferred[1].nodes == kernels + 37);
        machine_close(&machine);
    }
    return NULL;
}

/* An eager kernel right before each replay looks like the head of it. */
const char *Found_EagerKernelRightBefore(void)
{
    struct machine machine;
    const struct graph graph = one_segment(1, 0, 303, false);
    machine_open(&machine);
    machine.busy_of_8 = 8;
    for (int i = 0; i < 10; i++) {
        eager(&machine, 0, 1);
        replay(&machine, &graph);
    }
    CHECK_DONE(verify(&machine, true));
    CHECK(machine.world.inferred_count == 1 && machine.world.inferred[0].nodes == 303);
    machine_close(&machine);
    return NULL;
}

/* Also where the first ends in a full batch, behind which more could come. */
const char *Found_TwoGraphsInTurn(void)
{
    static const bool flat[] = {true, false, false};
    static const uint32_t kernels[] = {20, 20, 31};
    for (int kind = 0; kind < 3; kind++) {
        struct machine machine;
        const struct graph a = one_segment(1, 0, kernels[kind], flat[kind]);
        const struct graph b = one_segment(2, 0, 37, flat[kind]);
        machine_open(&machine);
        for (int i = 0; i < 10; i++) {
            replay(&machine, &a);
            replay(&machine, &b);
        }
        CHECK_DONE(verify(&machine, true));
        CHECK(machine.world.inferred_count == 2);
        machine_close(&machine);
    }
    return NULL;
}

const char *Found_TwoGraphsInAnyOrder(void)
{
    struct machine machine;
    const struct graph graphs[] = {one_segment(1, 0, 20, false), one_segment(2, 0, 37, false),
                                   one_segment(3, 1, 64, true), one_segment(4, 1, 2, true)};
    machine_open(&machine);
    for (int i = 0; i < 200; i++) {
        replay(&machine, &graphs[world_random(&machine.random) % 4]);
        if (world_random(&machine.random) % 3 == 0)
            eager(&machine, (uint32_t)(world_random(&machine.random) % QUEUES),
                  1 + (uint32_t)(world_random(&machine.random) % 3));
    }
    CHECK_DONE(verify(&machine, true));
    CHECK(machine.world.inferred_count == 4);
    machine_close(&machine);
    return NULL;
}

/* Segments on several queues that wait for each other. */
const char *Found_SegmentsOnSeveralQueues(void)
{
    struct machine machine;
    struct graph forked = one_segment(1, 0, 10, true);
    const struct graph plain = one_segment(2, 2, 12, true);
    machine_open(&machine);
    forked.segments = 4;
    for (uint32_t i = 0; i < 4; i++)
        forked.segment[i] = (struct segment){.queue = i % 3,
                                             .kernels = 10 + i,
                                             .kernarg = (UINT64_C(1) << 20) + UINT64_C(65536) * i,
                                             .flat = true,
                                             .waits = true};
    for (int i = 0; i < 20; i++) {
        replay(&machine, &forked);
        if (i % 3)
            replay(&machine, &plain);
        eager(&machine, 1, 1);
    }
    CHECK_DONE(verify(&machine, true));
    CHECK(machine.world.inferred_count == 2 && machine.world.inferred[0].nodes == 46);
    machine_close(&machine);
    return NULL;
}

/* A graph whose segments have lone barriers between them, each kernel's arguments behind those of
 * the one before. */
static struct graph forked_apart(uint32_t tag, const uint32_t kernels[SEGMENTS])
{
    struct graph graph = one_segment(tag, 0, 0, false);
    uint64_t kernarg = graph.segment[0].kernarg;
    graph.segments = SEGMENTS;
    for (uint32_t i = 0; i < SEGMENTS; i++) {
        graph.segment[i] = (struct segment){
            .queue = i % 3, .kernels = kernels[i], .kernarg = kernarg, .apart = true};
        kernarg += (uint64_t)64 * kernels[i];
    }
    return graph;
}

/* Kernels that are reserved alone among them, known by the memory of their arguments: the first one
 * from the second replay on, and some at the end of a page. Replays are right behind each other, or
 * behind another graph, or behind an eager kernel that has the same arguments each time. */
const char *Found_SegmentsJoinedByMemory(void)
{
    static const uint32_t kernels[][SEGMENTS] = {{12, 1, 30, 2}, {1, 12, 30, 2}, {40, 24, 30, 2}};
    for (uint32_t kind = 0; kind < 27; kind++) {
        struct machine machine;
        const struct graph graph = forked_apart(1, kernels[kind % 3]);
        const struct graph other = one_segment(2, 0, 20, true);
        machine_open(&machine);
        machine.tells_arguments = true;
        machine.busy_of_8 = kind / 3 % 3 * 4;
        for (int i = 0; i < 20; i++) {
            machine.fresh = UINT64_C(1) << 40;
            if (kind / 9 == 1)
                eager(&machine, 0, 1);
            replay(&machine, &graph);
            if (kind / 9 == 2 && i % 3 == 2)
                replay(&machine, &other);
        }
        CHECK(machine.unknown <= 1);
        CHECK_DONE(verify(&machine, true));
        CHECK(machine.world.inferred_count == 1 + kind / 18);
        machine_close(&machine);
    }
    return NULL;
}

/* A replay right behind another one on the same queue, which ends in a batch as large as could be.
 */
const char *Found_ReplaysWithoutMarker(void)
{
    struct machine machine;
    const struct graph graph = one_segment(1, 0, 7, false);
    machine_open(&machine);
    machine.tells_arguments = machine.unmarked = true;
    for (int i = 0; i < 20; i++)
        replay(&machine, &graph);
    CHECK_DONE(verify(&machine, true));
    CHECK(machine.world.inferred_count == 1 && machine.world.inferred[0].nodes == 7);
    machine_close(&machine);
    return NULL;
}

/* What always follows, and is of other memory, is another graph. */
const char *Found_ForkedGraphsInTurn(void)
{
    static const uint32_t kernels[2][SEGMENTS] = {{12, 1, 30, 1}, {7, 2, 1, 4}};
    for (uint32_t busy = 0; busy <= 8; busy += 4) {
        struct machine machine;
        const struct graph a = forked_apart(1, kernels[0]);
        const struct graph b = forked_apart(2, kernels[1]);
        machine_open(&machine);
        machine.tells_arguments = true;
        machine.busy_of_8 = busy;
        for (int i = 0; i < 20; i++) {
            replay(&machine, &a);
            replay(&machine, &b);
        }
        CHECK_DONE(verify(&machine, true));
        CHECK(machine.world.inferred_count == 2);
        machine_close(&machine);
    }
    return NULL;
}

/* Kernels of two replays are in no launch together, though that of which replays begin is never
 * seen: it is reserved alone, and its arguments are apart from the others. */
const char *Found_ReplaysWithoutBeginAreNotMixed(void)
{
    static const uint32_t kernels[] = {1, 9, 12, 8};
    struct machine machine;
    struct graph graph = forked_apart(1, kernels);
    uint32_t replays[SEGMENTS][32] = {{0}};
    graph.segment[1].kernarg += 8192 + 2048;
    graph.segment[2].kernarg += 8192;
    graph.segment[3].kernarg += 8192 + 64;
    machine_open(&machine);
    machine.tells_arguments = true;
    machine.busy_of_8 = 8;
    for (int i = 0; i < 20; i++)
        replay(&machine, &graph);
    world_finish(&machine.world);
    for (size_t i = 0; i < machine.count; i++) {
        const struct submitted *it = &machine.kernels[i];
        if (it->launch == RTL_NONE)
            continue;
        struct world_answer answer = world_ask(&machine.world, it->launch, it->ordinal);
        CHECK(answer.graph >= 1 && answer.graph <= SEGMENTS && answer.launch < 32);
        uint32_t *replay = &replays[answer.graph - 1][answer.launch];
        CHECK(*replay == 0 || *replay == it->replay);
        *replay = it->replay;
    }
    CHECK(machine.world.inferred_count == 3);
    machine_close(&machine);
    return NULL;
}

/* Two threads, one queue, their replays one after the other in any order. */
const char *Found_TwoThreadsOnOneQueue(void)
{
    struct machine machine;
    const struct graph a = one_segment(1, 0, 20, false);
    const struct graph b = one_segment(2, 0, 37, true);
    machine_open(&machine);
    for (int i = 0; i < 60; i++) {
        bool first = world_random(&machine.random) & 1;
        machine.thread = first ? 1 : 2;
        replay(&machine, first ? &a : &b);
    }
    CHECK_DONE(verify(&machine, true));
    CHECK(machine.world.inferred_count == 2);
    machine_close(&machine);
    return NULL;
}

/* A kernarg changes, as hipGraphExecKernelNodeSetParams and hipGraphExecUpdate make it. */
const char *Found_ChangedKernargIsAGeneration(void)
{
    struct machine machine;
    struct graph graph = one_segment(1, 0, 40, true);
    const struct graph other = one_segment(2, 0, 40, true);
    machine_open(&machine);
    for (int i = 0; i < 4; i++)
        replay(&machine, &graph);
    graph.segment[0].kernarg += UINT64_C(64) * 7;
    for (int i = 0; i < 4; i++)
        replay(&machine, &graph);
    CHECK_DONE(verify(&machine, true));
    CHECK(machine.world.inferred_count == 2);
    CHECK(machine.world.inferred[0].generation == 1 && machine.world.inferred[1].generation == 2);
    CHECK(machine.world.inferred[0].graph == machine.world.inferred[1].graph);
    CHECK(world_ask(&machine.world, machine.launches, 0).generation == 2);
    machine_close(&machine);

    /* Two graphs of which both go on are two. */
    machine_open(&machine);
    graph = one_segment(1, 0, 40, true);
    for (int i = 0; i < 4; i++) {
        replay(&machine, &graph);
        replay(&machine, &other);
    }
    CHECK_DONE(verify(&machine, true));
    CHECK(machine.world.inferred[1].generation == 1);
    machine_close(&machine);
    return NULL;
}

const char *Found_LossLeavesTheRestRight(void)
{
    struct machine machine;
    struct graph forked = one_segment(1, 0, 10, true);
    const struct graph plain = one_segment(2, 2, 300, true);
    machine_open(&machine);
    machine.loss_of_64 = 4;
    forked.segments = 2;
    for (uint32_t i = 0; i < 2; i++)
        forked.segment[i] = (struct segment){.queue = i,
                                             .kernels = 10 + i,
                                             .kernarg = (UINT64_C(1) << 20) + UINT64_C(65536) * i,
                                             .flat = true,
                                             .waits = true};
    for (int i = 0; i < 40; i++) {
        replay(&machine, &forked);
        replay(&machine, i % 3 ? &plain : &forked);
    }
    CHECK_DONE(verify(&machine, true));
    machine_close(&machine);
    return NULL;
}

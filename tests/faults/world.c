#include "world.h"

#include "../store/fixture.h"

#include <string.h>

#define KERNELS 20 /* eager ones of each queue in a part */
#define COPIES  4
#define CALLS   8
#define THREAD  71

static const char *const names[] = {"_Z3addPi", "_Z3mulPf", "plain"};
static const char *const call_names[] = {"hipLaunchKernel", "hipMemcpy"};
static const char *const call_arguments[] = {"function:f,grid:3", "dst:p,src:p,bytes:z"};

struct giver {
    world_take take;
    void *context;
    unsigned part;
};

static void give(const struct giver *to, enum rtl_wire_type type, const void *body, size_t size,
                 const char *text)
{
    to->take(to->context, type, body, size, text, strlen(text));
}

#define GIVE(to, type, body, text) give(to, type, &(body), sizeof(body), text)

/* Definitions. */

static void give_process(const struct giver *to)
{
    const struct rtl_wire_process process = {.time_ns = 1,
                                             .pid = 100,
                                             .mode = RTL_MODE_FULL,
                                             .interception = RTL_INTERPOSED,
                                             .command_length = 7,
                                             .host_length = 4,
                                             .library_length = 6,
                                             .rank_length = 1};
    const struct rtl_wire_agent agent = {.clock_hz = 100000000,
                                         .device_type = 1,
                                         .name_length = 6,
                                         .product_length = 4,
                                         .uuid_length = 5};
    const struct rtl_wire_clock_snapshot snapshot = {
        .system_ns = 5, .boottime_ns = 5, .width_ns = 3};
    GIVE(to, RTL_WIRE_PROCESS, process, "programhostlibrtl7");
    GIVE(to, RTL_WIRE_AGENT, agent, "gfx906cardGPU-1");
    GIVE(to, RTL_WIRE_CLOCK_SNAPSHOT, snapshot, "");
}

static void give_definitions(const struct giver *to)
{
    give_process(to);
    for (uint32_t i = 0; i < 3; i++) {
        const struct rtl_wire_queue queue = {
            .queue = i, .size = 64, .interception = i < 2 ? RTL_INTERPOSED : RTL_COPIES_ONLY};
        const struct rtl_wire_symbol symbol = {
            .symbol = i, .kernel_object = 64 + i, .name_length = (uint16_t)strlen(names[i])};
        const struct rtl_wire_shape shape = {.shape = i,
                                             .symbol = i,
                                             .kernel_object = 64 + i,
                                             .grid = {64 * (i + 1), 1, 1},
                                             .block = {64, 1, 1}};
        GIVE(to, RTL_WIRE_QUEUE, queue, "");
        GIVE(to, RTL_WIRE_SYMBOL, symbol, names[i]);
        GIVE(to, RTL_WIRE_SHAPE, shape, "");
    }
    for (uint32_t i = 0; i < 2; i++) {
        const struct rtl_wire_call call = {.call = i,
                                           .name_length = (uint16_t)strlen(call_names[i]),
                                           .arguments_length = (uint16_t)strlen(call_arguments[i])};
        char text[64];
        (void)snprintf(text, sizeof text, "%s%s", call_names[i], call_arguments[i]);
        GIVE(to, RTL_WIRE_CALL, call, text);
    }
}

/* Events. */

/* Two that nothing dispatches, but the second one later. */
static void give_idle(const struct giver *to)
{
    static const char *const idle[] = {"_Z4idleILi1EEvv", "_Z4lateILi2EEvv"};
    for (uint32_t i = 0; i < 2; i++) {
        const struct rtl_wire_symbol symbol = {
            .symbol = 3 + i, .kernel_object = 67 + i, .name_length = (uint16_t)strlen(idle[i])};
        GIVE(to, RTL_WIRE_SYMBOL, symbol, idle[i]);
    }
}

static void give_late(const struct giver *to)
{
    const struct rtl_wire_shape shape = {
        .shape = 3, .symbol = 4, .kernel_object = 68, .grid = {64, 1, 1}, .block = {64, 1, 1}};
    GIVE(to, RTL_WIRE_SHAPE, shape, "");
}

static void give_kernel(const struct giver *to, uint32_t queue, uint64_t packet, uint32_t shape,
                        uint32_t launch, uint32_t ordinal)
{
    const struct rtl_wire_kernel kernel = {.packet = packet,
                                           .start = 1000 + packet * 100 + queue,
                                           .end = 1050 + packet * 100 + packet % 7,
                                           .correlation = 1000 + packet,
                                           .queue = queue,
                                           .shape = shape,
                                           .launch = launch,
                                           .ordinal = ordinal};
    GIVE(to, RTL_WIRE_KERNEL, kernel, "");
}

static void give_calls(const struct giver *to)
{
    for (uint64_t i = 0; i < CALLS; i++) {
        uint64_t number = (uint64_t)to->part * CALLS + i;
        const uint64_t words[3] = {number, 7, 4096};
        const struct rtl_wire_api api = {.start_ns = 10000 + number * 100,
                                         .end_ns = 10050 + number * 100,
                                         .correlation = 1000 + number,
                                         .range = 10,
                                         .stream = 0x5000 + number % 3,
                                         .call = (uint32_t)(number % 2),
                                         .thread = THREAD + (uint32_t)(number % 2),
                                         .words = 3,
                                         .flags = RTL_API_STREAM};
        to->take(to->context, RTL_WIRE_API, &api, sizeof api, words, sizeof words);
    }
}

static void give_copies(const struct giver *to)
{
    for (uint64_t i = 0; i < COPIES; i++) {
        uint64_t number = (uint64_t)to->part * COPIES + i;
        const struct rtl_wire_copy copy = {.ordinal = number,
                                           .start = 1000 + number * 10,
                                           .end = 1005 + number * 10,
                                           .bytes = 4096,
                                           .correlation = 1000 + number,
                                           .queue = 2,
                                           .src = 0,
                                           .dst = RTL_NONE,
                                           .kind = RTL_COPY_DEVICE_TO_HOST,
                                           .engine = RTL_ENGINE_SDMA};
        GIVE(to, RTL_WIRE_COPY, copy, "");
    }
}

static void give_range(const struct giver *to, uint64_t id, uint64_t parent, const char *name)
{
    const struct rtl_wire_range range = {.id = id,
                                         .start_ns = 10 * id,
                                         .parent = parent,
                                         .thread = THREAD,
                                         .text_length = (uint16_t)strlen(name)};
    GIVE(to, RTL_WIRE_RANGE, range, name);
}

static void give_names(const struct giver *to)
{
    const struct rtl_wire_name thread = {
        .handle = THREAD, .kind = RTL_NAMED_THREAD, .text_length = 4};
    const struct rtl_wire_name stream = {
        .handle = 0x5001, .kind = RTL_NAMED_STREAM, .text_length = 4};
    const struct rtl_wire_range_end end = {.id = 10u + to->part, .end_ns = 100000};
    give_range(to, 10u + to->part, to->part ? 10 : 0, "a range");
    if (to->part == 2)
        GIVE(to, RTL_WIRE_RANGE_END, end, "");
    GIVE(to, RTL_WIRE_NAME, thread, "main");
    GIVE(to, RTL_WIRE_NAME, stream, "work");
}

/* Hardware counters. */

static void give_counters(const struct giver *to)
{
    static const char *const counters[] = {"WAVES", "CYCLES"};
    const struct rtl_wire_counting counting = {
        .mode = RTL_COUNTING_KERNEL, .passes = 1, .text_length = 12};
    GIVE(to, RTL_WIRE_COUNTING, counting, "WAVES,CYCLES");
    for (uint32_t i = 0; i < 2; i++) {
        const struct rtl_wire_counter counter = {.counter = i,
                                                 .block = 6,
                                                 .event = 4 + i,
                                                 .instances = 4,
                                                 .name_length = (uint16_t)strlen(counters[i])};
        GIVE(to, RTL_WIRE_COUNTER, counter, counters[i]);
    }
}

static void give_sample(const struct giver *to, uint32_t queue, uint64_t owner)
{
    const uint64_t values[] = {64 * (owner % 5), 1000 + owner * owner % 100};
    const struct rtl_wire_sample sample = {
        .owner = owner, .queue = queue, .values = 2, .flags = queue == RTL_NONE};
    to->take(to->context, RTL_WIRE_SAMPLE, &sample, sizeof sample, values, sizeof values);
}

/* Graphs. */

/* A generation of graph 1: three kernels after each other, the second wider than before. */
static void give_graph(const struct giver *to, uint32_t generation)
{
    const struct rtl_wire_graph graph = {.time_ns = 1000 + generation,
                                         .exec = 0xe0,
                                         .source = 0x50,
                                         .correlation = 30,
                                         .graph = 1,
                                         .generation = generation,
                                         .nodes = 3};
    GIVE(to, RTL_WIRE_GRAPH, graph, "");
    for (uint32_t i = 0; i < 3; i++) {
        unsigned char rest[32];
        const uint32_t dependency = i - 1;
        const struct rtl_wire_node node = {.range = 10,
                                           .graph = 1,
                                           .generation = generation,
                                           .node = i,
                                           .parent = RTL_NONE,
                                           .type = RTL_NODE_KERNEL,
                                           .grid = {64 * (i + 1), 1, 1},
                                           .block = {64, 1, 1},
                                           .flags = RTL_NODE_RANGED,
                                           .dependencies = i > 0,
                                           .name_length = (uint16_t)strlen(names[i])};
        size_t before = node.dependencies * sizeof dependency;
        memcpy(rest, &dependency, sizeof dependency);
        memcpy(rest + before, names[i], node.name_length);
        to->take(to->context, RTL_WIRE_NODE, &node, sizeof node, rest, before + node.name_length);
    }
}

static struct rtl_wire_launch launch_of(uint32_t launch, uint64_t first)
{
    return (struct rtl_wire_launch){.time_ns = 2000 + launch,
                                    .correlation = 1000 + launch,
                                    .range = 10,
                                    .first = first,
                                    .launch = launch,
                                    .queue = 0,
                                    .thread = THREAD,
                                    .packets = 3,
                                    .kernels = 3};
}

/* Two replays of graph 1, and two of one that nobody told of. Packets follow the eager ones. */
static void give_replays(const struct giver *to, uint64_t packet)
{
    give_graph(to, to->part + 1);
    for (uint32_t i = 0; i < 4; i++, packet += 3) {
        uint32_t launch = to->part * 4 + i + 1;
        struct rtl_wire_launch body = launch_of(launch, packet);
        bool told = i < 2;
        body.graph = told ? 1 : RTL_NONE;
        body.generation = told ? to->part + 1 : 0;
        body.fingerprint = told ? 0 : 4711;
        GIVE(to, RTL_WIRE_LAUNCH, body, "");
        for (uint32_t ordinal = 0; ordinal < 3; ordinal++)
            give_kernel(to, 0, packet + ordinal, ordinal, launch, ordinal);
    }
}

#define QUEUE_0 (KERNELS + 12) /* kernels of queue 0 in a part */

void world_give(unsigned part, world_take take, void *context)
{
    const struct giver to = {take, context, part};
    const struct rtl_wire_clock clock = {.ticks = 1000 + part * UINT64_C(100000),
                                         .system_ns = 10000 + part * UINT64_C(1000000)};
    const struct rtl_wire_note note = {.time_ns = 5, .queue = RTL_NONE, .text_length = 6};
    const struct rtl_wire_queue_end end = {.time_ns = 999999, .queue = 1};
    const struct rtl_wire_pause pause = {.time_ns = 400000 + part, .stopped = part == 1};
    const struct rtl_wire_uncounted uncounted = {.count = UINT64_C(12) * (part + 1)};
    const struct rtl_wire_hip_queue hip_queue = {
        .queue = 1, .calls = RTL_HIP_CALLS_PASSED_BY, .library_length = 11};
    if (part == 0) {
        give_definitions(&to);
        give_idle(&to);
        give_counters(&to);
    }
    if (part == 1)
        give_late(&to);
    GIVE(&to, RTL_WIRE_CLOCK, clock, "");
    give_names(&to);
    give_calls(&to);
    for (uint64_t i = 0; i < KERNELS; i++) {
        give_kernel(&to, 0, part * (uint64_t)QUEUE_0 + i, (uint32_t)i % 3, RTL_NONE, RTL_NONE);
        give_kernel(&to, 1, part * (uint64_t)KERNELS + i, (uint32_t)i % 2, RTL_NONE, RTL_NONE);
        give_sample(&to, 1, part * (uint64_t)KERNELS + i);
    }
    give_sample(&to, RTL_NONE, 10u + part);
    GIVE(&to, RTL_WIRE_UNCOUNTED, uncounted, "");
    GIVE(&to, RTL_WIRE_HIP_QUEUE, hip_queue, "/lib/hip.so");
    give_replays(&to, part * (uint64_t)QUEUE_0 + KERNELS);
    give_copies(&to);
    GIVE(&to, RTL_WIRE_NOTE, note, "a note");
    if (part > 0)
        GIVE(&to, RTL_WIRE_PAUSE, pause, "");
    if (part == WORLD_PARTS - 1)
        GIVE(&to, RTL_WIRE_QUEUE_END, end, "");
}

uint64_t world_events(unsigned parts)
{
    return parts * (uint64_t)(QUEUE_0 + KERNELS + COPIES + CALLS);
}

struct rtl_writer_account world_account(unsigned part, uint32_t queue)
{
    static const uint64_t of_part[] = {QUEUE_0, KERNELS, COPIES};
    uint64_t recorded = (part + 1) * of_part[queue];
    struct rtl_writer_account account = {
        .packets = recorded + 2, .seen = recorded + 1, .recorded = recorded};
    account.lost[RTL_LOST_POOL] = 1;
    return account;
}

void world_write(void *context, enum rtl_wire_type type, const void *body, size_t body_size,
                 const void *rest, size_t rest_size)
{
    struct world_writer *to = context;
    (void)body_size;
    (void)rest_size;
    switch (type) {
    case RTL_WIRE_PROCESS:
        to->process = rtl_writer_process(to->writer, body, rest);
        break;
    case RTL_WIRE_AGENT:
        rtl_writer_agent(to->writer, to->process, body, rest);
        break;
    case RTL_WIRE_QUEUE:
        rtl_writer_queue(to->writer, to->process, body);
        break;
    case RTL_WIRE_QUEUE_END:
        rtl_writer_queue_end(to->writer, to->process, body);
        break;
    case RTL_WIRE_SYMBOL:
        rtl_writer_symbol(to->writer, to->process, body, rest);
        break;
    case RTL_WIRE_SHAPE:
        rtl_writer_shape(to->writer, to->process, body);
        break;
    case RTL_WIRE_KERNEL:
        rtl_writer_kernel(to->writer, to->process, body);
        break;
    case RTL_WIRE_CLOCK:
        rtl_writer_clock(to->writer, to->process, body);
        break;
    case RTL_WIRE_CLOCK_SNAPSHOT:
        rtl_writer_clock_snapshot(to->writer, to->process, body);
        break;
    case RTL_WIRE_NOTE:
        rtl_writer_note(to->writer, to->process, body, rest);
        break;
    case RTL_WIRE_COPY:
        rtl_writer_copy(to->writer, to->process, body);
        break;
    case RTL_WIRE_CALL:
        rtl_writer_call(to->writer, to->process, body, rest);
        break;
    case RTL_WIRE_API:
        rtl_writer_api(to->writer, to->process, body, rest);
        break;
    case RTL_WIRE_RANGE:
        rtl_writer_range(to->writer, to->process, body, rest);
        break;
    case RTL_WIRE_RANGE_END:
        rtl_writer_range_end(to->writer, to->process, body);
        break;
    case RTL_WIRE_NAME:
        rtl_writer_name(to->writer, to->process, body, rest);
        break;
    case RTL_WIRE_STREAM:
        rtl_writer_stream(to->writer, to->process, body);
        break;
    case RTL_WIRE_GRAPH:
        rtl_writer_graph(to->writer, to->process, body);
        break;
    case RTL_WIRE_NODE:
        rtl_writer_node(to->writer, to->process, body, rest);
        break;
    case RTL_WIRE_LAUNCH:
        rtl_writer_launch(to->writer, to->process, body);
        break;
    case RTL_WIRE_PAUSE:
        rtl_writer_pause(to->writer, to->process, body);
        break;
    case RTL_WIRE_COUNTING:
        rtl_writer_counting(to->writer, to->process, body, rest);
        break;
    case RTL_WIRE_COUNTER:
        rtl_writer_counter(to->writer, to->process, body, rest);
        break;
    case RTL_WIRE_SAMPLE:
        rtl_writer_sample(to->writer, to->process, body, rest);
        break;
    case RTL_WIRE_UNCOUNTED:
        rtl_writer_uncounted(to->writer, to->process, body);
        break;
    case RTL_WIRE_HIP_QUEUE:
        rtl_writer_hip_queue(to->writer, to->process, body, rest);
        break;
    case RTL_WIRE_KERNELS:
    case RTL_WIRE_VOID:
    case RTL_WIRE_DRAFT_KERNEL:
    case RTL_WIRE_DRAFT_COPY:
    case RTL_WIRE_DRAFT_LAUNCH:
        break;
    }
}

bool world_trace(char *path)
{
    const struct rtl_writer_options options = {.command = "program"};
    char error[1024];
    struct world_writer to = {0};
    if (!fixture_path(path) || !(to.writer = rtl_writer_open(path, &options, error, sizeof error)))
        return false;
    for (unsigned part = 0; part < WORLD_PARTS; part++) {
        world_give(part, world_write, &to);
        for (uint32_t queue = 0; queue < 3; queue++) {
            const struct rtl_writer_account account = world_account(part, queue);
            rtl_writer_ledger(to.writer, to.process, queue, &account);
        }
        if (rtl_writer_checkpoint(to.writer) != 0)
            return false;
    }
    rtl_writer_process_end(to.writer, to.process, "closed", 5, 0);
    return rtl_writer_close(to.writer, 0, error, sizeof error) == 0;
}

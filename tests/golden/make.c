/*
 * Writes the golden trace FILE with the writer of the version that it is built with: everything
 * that the format of that version can say, once, and two long rows that are worth compressing.
 * README.md says how it is run; golden_cases.c and read_trace.py what must be read.
 *
 *     make FILE
 */
#include "store/schema.h"
#include "store/writer.h"
#if RTL_FORMAT_MINOR >= 7
#include "store/stats_make.h"
#endif

#include <stdio.h>
#include <string.h>

#define ALL_64 UINT64_MAX

static struct rtl_writer *writer;

static uint16_t length(const char *text)
{
    return (uint16_t)strlen(text);
}

/* Definitions. */

static uint32_t make_process(void)
{
    static const char texts[] = "./app --golden 'a b'"
                                "golden-host"
                                "/opt/rtl/librtl.so"
                                "3";
    const struct rtl_wire_process process = {.time_ns = 1000000,
                                             .pid = 4242,
                                             .ppid = 4200,
                                             .mode = RTL_MODE_FULL,
                                             .interception = RTL_INTERPOSED,
                                             .core_table = 1016,
                                             .ext_table = 464,
                                             .hsa_major = 1,
                                             .hsa_minor = 1,
                                             .command_length = 20,
                                             .host_length = 11,
                                             .library_length = 18,
                                             .rank_length = 1};
    return rtl_writer_process(writer, &process, texts);
}

static void make_agents(uint32_t process)
{
    const struct rtl_wire_agent cpu = {.handle = 0xc0,
                                       .clock_hz = 1000000000,
                                       .agent = 0,
                                       .device_type = 0,
                                       .gpu = RTL_NONE,
                                       .compute_units = 2,
                                       .name_length = 3};
    const struct rtl_wire_agent first = {.handle = 0xa1,
                                         .clock_hz = 100000000,
                                         .agent = 1,
                                         .device_type = 1,
                                         .gpu = 0,
                                         .node = 1,
                                         .bdf = 0x300,
                                         .compute_units = 60,
                                         .name_length = 6,
                                         .product_length = 6,
                                         .uuid_length = 8};
    struct rtl_wire_agent second = first;
    second.handle = 0xa2;
    second.clock_hz = 25000000;
    second.agent = second.node = 2;
    second.gpu = 1;
    rtl_writer_agent(writer, process, &cpu, "CPU");
    rtl_writer_agent(writer, process, &first, "gfx906Vega20GPU-0001");
    rtl_writer_agent(writer, process, &second, "gfx906Vega20GPU-0002");
}

/* Agent 1 ticks every 10 ns, then every 10.005; agent 2 has no points. The trace's clock is
 * 1000020 ns ahead of HSA's. */
static void make_clocks(uint32_t process)
{
    static const struct rtl_wire_clock points[] = {
        {.ticks = 1000, .system_ns = 5000000, .agent = 1},
        {101000, 6000000, 1},
        {201000, 7000500, 1}};
    static const struct rtl_wire_clock_snapshot snapshots[] = {
        {.system_ns = 5000000,
         .monotonic_ns = 5000000,
         .boottime_ns = 6000000,
         .realtime_ns = 1700000006000000,
         .width_ns = 50},
        {7000000, 7000000, 8000020, 1700000008000020, 40}};
    for (unsigned i = 0; i < 3; i++)
        rtl_writer_clock(writer, process, &points[i]);
    for (unsigned i = 0; i < 2; i++)
        rtl_writer_clock_snapshot(writer, process, &snapshots[i]);
}

static void make_queues(uint32_t process)
{
    static const struct rtl_wire_queue queues[] = {
        {.time_ns = 2000000,
         .address = 0x7f0000001000,
         .hsa_id = 17,
         .queue = 0,
         .agent = 1,
         .size = 16384,
         .hsa_type = 0,
         .interception = RTL_INTERPOSED},
        {2000001, 0x7f0000002000, 18, 1, 1, 64, 1, RTL_INTERCEPTED},
        {2000002, 0x7f0000003000, 19, 2, 2, 64, 0, RTL_INTERPOSED},
        {2000003, 0x7f0000004000, 20, 3, 1, 64, 0, RTL_INTERPOSED},
        {2000004, ALL_64, ALL_64, 4, 2, UINT32_MAX, 0, RTL_INTERPOSED},
        {2000005, 0x7f0000006000, 21, 5, 1, 64, 0, RTL_UNTRACKED},
    };
    const struct rtl_wire_queue_end end = {.time_ns = 9000000, .queue = 1};
    for (unsigned i = 0; i < sizeof queues / sizeof *queues; i++)
        rtl_writer_queue(writer, process, &queues[i]);
    rtl_writer_queue_end(writer, process, &end);
}

static void make_shapes(uint32_t process)
{
    static const char mangled[] = "_Z6kernelIfEvPT_i";
    const struct rtl_wire_symbol symbols[] = {{.kernel_object = 0x1000,
                                               .symbol = 0,
                                               .agent = 1,
                                               .kernarg_size = 16,
                                               .group_size = 512,
                                               .private_size = 8,
                                               .name_length = length(mangled)},
                                              {0x2000, 1, 1, 24, 0, 0, 4}};
    static const struct rtl_wire_shape shapes[] = {
        {.shape = 0,
         .symbol = 0,
         .grid = {1024, 1, 1},
         .block = {256, 1, 1},
         .group_size = 768,
         .private_size = 8,
         .kernel_object = 0x1000},
        {1, 1, {64, 32, 16}, {8, 4, 2}, 0, 0, 0, 0x2000},
        {2, RTL_NONE, {UINT32_MAX, 1, 1}, {UINT16_MAX, 1, 1}, 0, UINT32_MAX, 0, 0xdead00},
    };
    rtl_writer_symbol(writer, process, &symbols[0], mangled);
    rtl_writer_symbol(writer, process, &symbols[1], "fill");
    for (unsigned i = 0; i < 3; i++)
        rtl_writer_shape(writer, process, &shapes[i]);
}

#if RTL_FORMAT_MINOR >= 6
/* Symbols that nothing dispatches, and one that is stored before something does. */
static void make_idle(uint32_t process)
{
    static const struct {
        struct rtl_wire_symbol symbol;
        const char *mangled;
    } idle[] = {
        {{.kernel_object = 0x3000, .symbol = 2, .agent = 1, .kernarg_size = 8}, "_Z4idleILi1EEvPd"},
        {{.kernel_object = ALL_64, .symbol = 3, .agent = 2, .private_size = UINT32_MAX},
         "Cijk_\xc2\xb5"},
        {{.kernel_object = 0x2800, .symbol = 4, .agent = 1, .group_size = 300},
         "_Z4lateILi2EEvPfi"},
        {{.kernel_object = 0x2800, .symbol = 6, .agent = 1}, ""},
    };
    const struct rtl_wire_shape late = {
        .shape = 3, .symbol = 4, .grid = {1, 1, 1}, .block = {1, 1, 1}, .kernel_object = 0x2800};
    for (unsigned i = 0; i < sizeof idle / sizeof *idle; i++) {
        struct rtl_wire_symbol symbol = idle[i].symbol;
        symbol.name_length = length(idle[i].mangled);
        rtl_writer_symbol(writer, process, &symbol, idle[i].mangled);
    }
    (void)rtl_writer_checkpoint(writer);
    rtl_writer_shape(writer, process, &late);
}
#endif

/* Kernels: packet, start, end, correlation, queue, shape, launch and, called node before
 * version 1.2, ordinal. */

static void make_kernels(uint32_t process, const struct rtl_wire_kernel *kernels, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        rtl_writer_kernel(writer, process, &kernels[i]);
}

/* Of queue 0: in between the points of its clock, before them and after them; of a shape without a
 * symbol, and of one that was never defined. */
static void make_eager(uint32_t process)
{
    static const struct rtl_wire_kernel kernels[] = {
        {5, 1100, 1350, 2, 0, 0, RTL_NONE, RTL_NONE},
        {6, 101500, 102500, 3, 0, 1, RTL_NONE, RTL_NONE},
        {8, 500, 900, 0, 0, 2, RTL_NONE, RTL_NONE},
        {7, 301000, 301000, 7, 0, 9, RTL_NONE, RTL_NONE},
    };
    make_kernels(process, kernels, 4);
}

/* 600 of queue 4, whose agent ticks every 40 ns: each a little longer or shorter than the one
 * before. */
static void make_row(uint32_t process)
{
    for (uint32_t i = 0; i < 600; i++) {
        const uint64_t start = 200000 + 100 * (uint64_t)i;
        const struct rtl_wire_kernel kernel = {i + i / 100,
                                               start + i * i % 7,
                                               start + 50 + i * i % 11,
                                               1000 + i % 400,
                                               4,
                                               i % 3 ? 0 : 1,
                                               RTL_NONE,
                                               RTL_NONE};
        rtl_writer_kernel(writer, process, &kernel);
    }
}

/* A process that died, with a clock that stood still while the host slept, and a queue of an agent
 * that the trace lacks. */
static void make_dead(void)
{
    static const struct rtl_wire_clock_snapshot snapshots[] = {
        {.system_ns = 1000000,
         .monotonic_ns = 1000000,
         .boottime_ns = 1000000,
         .realtime_ns = 1700000001000000,
         .width_ns = 10},
        {2000000, 2000000, 52000000, 1700000052000000, 10}};
    static const struct rtl_wire_kernel kernels[] = {
        {0, 1500000, 1600000, 0, 0, 0, RTL_NONE, RTL_NONE},
        {1, 3000000, 3000001, 0, 0, 0, RTL_NONE, RTL_NONE},
        {ALL_64, ALL_64 - 15, ALL_64, ALL_64, 1, 0, RTL_NONE, RTL_NONE},
        {0, 20, 10, 0, 1, 0, RTL_NONE, RTL_NONE},
        {UINT64_C(1) << 63, UINT64_C(1) << 63, (UINT64_C(1) << 63) + 1, 1, 1, 0, RTL_NONE,
         RTL_NONE},
    };
    const struct rtl_wire_process process = {
        .time_ns = 3000000, .pid = 4243, .ppid = 4242, .mode = RTL_MODE_LITE};
    const struct rtl_wire_agent agent = {
        .clock_hz = 1000000000, .device_type = 1, .gpu = 0, .name_length = 7};
    const struct rtl_wire_queue queues[] = {
        {.queue = 0, .interception = RTL_INTERPOSED},
        {.queue = 1, .agent = 7, .interception = RTL_INTERPOSED}};
    const struct rtl_wire_note note = {.time_ns = 3500000, .queue = 1, .text_length = 15};
    const struct rtl_writer_account account = {.packets = 9,
                                               .seen = 8,
                                               .skipped = 1,
                                               .recorded = 3,
                                               .forwarded = 2,
                                               .borrowed = 1,
                                               .helped = 1,
                                               .lost = {1, 0, 0, 0, 0, 3, 0, 0}};
    uint32_t id = rtl_writer_process(writer, &process, "");
    rtl_writer_agent(writer, id, &agent, "gfx90a\xff");
    for (unsigned i = 0; i < 2; i++) {
        rtl_writer_clock_snapshot(writer, id, &snapshots[i]);
        rtl_writer_queue(writer, id, &queues[i]);
    }
    make_kernels(id, kernels, 5);
    rtl_writer_note(writer, id, &note, "something odd \xc3\xa9");
    rtl_writer_ledger(writer, id, 1, &account);
    rtl_writer_process_end(writer, id, "died", 4000000, 5);
}

#if RTL_FORMAT_MINOR >= 5
/* An image of a process whose place another one took. */
static void make_replaced(void)
{
    const struct rtl_wire_process process = {
        .time_ns = 4100000, .pid = 4244, .ppid = 4242, .mode = RTL_MODE_FULL};
    uint32_t id = rtl_writer_process(writer, &process, "");
    rtl_writer_process_end(writer, id, "replaced", 4200000, 0);
}
#endif

#if RTL_FORMAT_MINOR >= 1
static void make_copies(uint32_t process)
{
    static const struct rtl_wire_queue queue = {
        .queue = 9, .agent = 1, .interception = RTL_COPIES_ONLY};
    static const struct rtl_wire_copy copies[] = {
        {.ordinal = 0,
         .start = 2000,
         .end = 2100,
         .bytes = 4096,
         .correlation = 4,
         .queue = 9,
         .src = 0,
         .dst = 1,
         .kind = RTL_COPY_HOST_TO_DEVICE,
         .engine = RTL_ENGINE_SDMA},
        {1, 0, 0, ALL_64, 0, 9, 1, RTL_NONE, RTL_COPY_DEVICE_TO_HOST, RTL_ENGINE_HOST},
        {2, 1500, 1600, 0, 0, 9, 1, 2, RTL_COPY_PEER, RTL_ENGINE_KERNEL}};
    rtl_writer_queue(writer, process, &queue);
    for (unsigned i = 0; i < 3; i++)
        rtl_writer_copy(writer, process, &copies[i]);
}
#endif

#if RTL_FORMAT_MINOR >= 2

static void define_call(uint32_t process, uint32_t call, const char *name, const char *arguments)
{
    char texts[256];
    const struct rtl_wire_call body = {
        .call = call, .name_length = length(name), .arguments_length = length(arguments)};
    (void)snprintf(texts, sizeof texts, "%s%s", name, arguments);
    rtl_writer_call(writer, process, &body, texts);
}

static void make_calls(uint32_t process)
{
    static const uint64_t launch[] = {0x1000, (uint64_t)1 << 32 | 4, 1, (uint64_t)1 << 32 | 256, 1,
                                      0xabc};
    static const uint64_t copy[] = {0x7f0000400000, 4096, 1, 0xabc};
    static const uint64_t all[] = {0x1234, 0x3ff8000000000000, ALL_64, ALL_64, 1, 2, 3, 4, 0, 9};
    const struct rtl_wire_api calls[] = {
        {.start_ns = 6000000,
         .end_ns = 6000500,
         .correlation = 2,
         .range = 1,
         .stream = 0xabc,
         .call = 3,
         .thread = 100,
         .result = 0,
         .words = 6,
         .flags = RTL_API_STREAM},
        {6001000, 6001001, 3, 0, 0, 3, 100, 0, 6, RTL_API_STREAM},
        {5999999, 6002000, 4, 8, 0xabc, 4, 101, 719, 4, RTL_API_STREAM},
        {1, ALL_64, 5, 0, 0, 5, 101, -2147483647 - 1, 10, 0},
        {7000000, 7000000, 6, 0, 0, 77, UINT32_MAX - 1, 1, 2, 0},
    };
    const uint64_t *const words[] = {launch, launch, copy, all, all};
    define_call(process, 3, "hipLaunchKernel", "f:f,grid:3,block:3,stream:s");
    define_call(process, 4, "hipMemcpyAsync", "dst:p,bytes:z,kind:b[hipMemcpyKind],stream:s");
    define_call(process, 5, "hipEverything", "out:P,real:d,less:i,more:u,e:e,g:g,x:x,n:n,new:?");
    for (unsigned i = 0; i < 5; i++)
        rtl_writer_api(writer, process, &calls[i], words[i]);
    for (uint32_t i = 0; i < 400; i++) {
        const uint64_t word[] = {0x7f0000000000 + 64 * (uint64_t)(i % 5), i, 2, 0};
        const struct rtl_wire_api row = {.start_ns = 8000000 + 1000 * (uint64_t)i + i * i % 13,
                                         .end_ns = 8000500 + 1000 * (uint64_t)i + i * i % 17,
                                         .correlation = 1000 + i,
                                         .stream = 0xd00 + i % 2,
                                         .call = 4,
                                         .thread = 100 + i % 3,
                                         .words = 4,
                                         .flags = RTL_API_STREAM};
        rtl_writer_api(writer, process, &row, word);
    }
}

static void make_ranges(uint32_t process)
{
    static const struct {
        struct rtl_wire_range range;
        const char *name;
    } ranges[] = {
        {{.id = 1, .start_ns = 5900000, .thread = 100, .kind = RTL_RANGE_PUSH}, "step"},
        {{7, 5950000, 1, 100, RTL_RANGE_PUSH, 0, 0}, "half \"quoted\""},
        {{8, 5960000, 0, 101, RTL_RANGE_START, 0, 0}, "open"},
        {{9, 5970000, 7, 100, RTL_RANGE_MARK, 0, 0}, ""},
        {{21, 3000000, 0, 77, RTL_RANGE_PUSH, 0, 0}, "captured"},
        {{22, 3000001, 21, 77, RTL_RANGE_PUSH, 0, 0}, "deeper"},
    };
    static const struct rtl_wire_range_end ends[] = {
        {7, 6100000}, {1, 6500000}, {10, 6600000}, {22, 3000500}, {21, 3000600}};
    for (unsigned i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        struct rtl_wire_range range = ranges[i].range;
        range.text_length = length(ranges[i].name);
        rtl_writer_range(writer, process, &range, ranges[i].name);
    }
    for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++)
        rtl_writer_range_end(writer, process, &ends[i]);
}

static void make_names(uint32_t process)
{
    static const struct rtl_wire_name names[] = {{.handle = 100, .kind = RTL_NAMED_THREAD, 7},
                                                 {0xabc, RTL_NAMED_STREAM, 7},
                                                 {0, RTL_NAMED_DEVICE, 7},
                                                 {0xa1, RTL_NAMED_AGENT, 7},
                                                 {100, RTL_NAMED_THREAD, 6}};
    static const char *const texts[] = {"teacher", "compute", "the GPU", "agentic", "worker"};
    for (unsigned i = 0; i < 5; i++)
        rtl_writer_name(writer, process, &names[i], texts[i]);
}

/* Graphs. */

static void make_graph(uint32_t process, uint32_t generation, uint32_t nodes, uint32_t flags)
{
    const struct rtl_wire_graph graph = {.time_ns = 3001000 + generation,
                                         .exec = 0xe0,
                                         .source = 0x50,
                                         .correlation = 30 + generation,
                                         .graph = 1,
                                         .generation = generation,
                                         .nodes = nodes,
                                         .flags = flags};
    rtl_writer_graph(writer, process, &graph);
}

struct rest {
    uint32_t dependencies[2];
    const char *name;
};

static void make_node(uint32_t process, struct rtl_wire_node node, const struct rest *rest)
{
    unsigned char bytes[64];
    node.graph = 1;
    node.name_length = length(rest->name);
    memcpy(bytes, rest->dependencies, node.dependencies * sizeof(uint32_t));
    memcpy(bytes + node.dependencies * sizeof(uint32_t), rest->name, node.name_length);
    rtl_writer_node(writer, process, &node, bytes);
}

/* Two kernels, of which a third waits, in a child graph; and a memset. */
static void make_nodes(uint32_t process, uint32_t generation)
{
    static const struct {
        struct rtl_wire_node node;
        struct rest rest;
    } nodes[] = {
        {{.range = 21,
          .node = 0,
          .parent = RTL_NONE,
          .type = RTL_NODE_KERNEL,
          .grid = {1024, 1, 1},
          .block = {256, 1, 1},
          .flags = RTL_NODE_RANGED,
          .group_size = 768},
         {{0}, "_Z6kernelIfEvPT_i"}},
        {{.range = 22,
          .node = 1,
          .parent = RTL_NONE,
          .type = RTL_NODE_KERNEL,
          .grid = {64, 32, 16},
          .block = {8, 4, 2},
          .flags = RTL_NODE_RANGED},
         {{0}, "fill"}},
        {{.node = 2, .parent = RTL_NONE, .type = RTL_NODE_GRAPH, .dependencies = 2}, {{0, 1}, ""}},
        {{.node = 3,
          .parent = 2,
          .type = RTL_NODE_KERNEL,
          .grid = {1024, 1, 1},
          .block = {256, 1, 1},
          .group_size = 768},
         {{0}, "_Z6kernelIfEvPT_i"}},
        {{.bytes = 65536, .node = 4, .parent = 2, .type = RTL_NODE_MEMSET, .dependencies = 1},
         {{3}, ""}},
    };
    for (unsigned i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        struct rtl_wire_node node = nodes[i].node;
        node.generation = generation;
        /* The second generation leaves the second kernel out. */
        if (generation == 2 && i == 1)
            node.flags |= RTL_NODE_DISABLED;
        make_node(process, node, &nodes[i].rest);
    }
}

static void make_launch(uint32_t process, uint32_t launch, uint32_t generation, uint32_t kernels)
{
    const struct rtl_wire_launch body = {.time_ns = 3002000 + launch,
                                         .correlation = 40 + launch,
                                         .range = 8,
                                         .launch = launch,
                                         .graph = 1,
                                         .generation = generation,
                                         .queue = 1,
                                         .thread = 77,
                                         .packets = 5,
                                         .kernels = kernels};
    rtl_writer_launch(writer, process, &body);
}

/* Launch 1: all three kernels, the second on another GPU. 2: the last was lost. 3: the second
 * generation, 4: the third, which has the nodes of the second. 99: its record was lost. */
static void make_replays(uint32_t process)
{
    static const struct rtl_wire_kernel kernels[] = {
        {.packet = 0,
         .start = 2000,
         .end = 2100,
         .correlation = 41,
         .queue = 1,
         .shape = 0,
         .launch = 1,
         .ordinal = 0},
        {0, 130000, 130010, 41, 2, 1, 1, 1},
        {3, 2200, 2300, 41, 1, 0, 1, 3},
        {5, 3000, 3100, 42, 1, 0, 2, 0},
        {1, 131000, 131010, 42, 2, 1, 2, 1},
        {10, 4000, 4100, 43, 1, 0, 3, 0},
        {13, 4200, 4300, 43, 1, 0, 3, 3},
        {15, 5000, 5100, 44, 1, 0, 4, 0},
        {18, 5200, 5300, 44, 1, 0, 4, 3},
        {20, 6000, 6100, 0, 1, 0, 99, 0},
    };
    static const struct rtl_writer_account account = {
        .packets = 24, .seen = 9, .recorded = 8, .lost = {0, 0, 1, 0, 0, 0, 0, 0}};
    make_graph(process, 1, 5, 0);
    make_nodes(process, 1);
    make_launch(process, 1, 1, 3);
    make_launch(process, 2, 1, 3);
    make_kernels(process, kernels, 5);
    make_graph(process, 2, 5, 0);
    make_nodes(process, 2);
    make_launch(process, 3, 2, 2);
    make_graph(process, 3, 5, RTL_GRAPH_SAME);
    make_launch(process, 4, 3, 2);
    make_kernels(process, kernels + 5, 5);
    rtl_writer_ledger(writer, process, 1, &account);
}

/* A graph inferred from its packets, on queue 3: three replays of three kernels. The first kernel
 * of each was reserved alone; in the first replay nobody knew yet what it begins. */
static void make_found(uint32_t process)
{
    uint32_t launch = 200;
    for (uint32_t replay = 0; replay < 3; replay++) {
        uint64_t packet = (uint64_t)replay * 10;
        struct rtl_wire_launch body = {.time_ns = 3100000 + replay,
                                       .launch = ++launch,
                                       .graph = RTL_NONE,
                                       .queue = 3,
                                       .thread = 78,
                                       .first = packet,
                                       .packets = 1,
                                       .kernels = 1,
                                       .fingerprint = 111};
        if (replay > 0)
            rtl_writer_launch(writer, process, &body);
        const struct rtl_wire_kernel head = {.packet = packet,
                                             .start = 7000 + packet * 100,
                                             .end = 7050 + packet * 100,
                                             .queue = 3,
                                             .shape = 0,
                                             .launch = replay ? launch : RTL_NONE,
                                             .ordinal = replay ? 0 : RTL_NONE};
        make_kernels(process, &head, 1);
        body.launch = ++launch;
        body.first = packet + 1;
        body.packets = body.kernels = 2;
        body.fingerprint = 222;
        body.head = 111;
        body.flags = replay ? 0 : RTL_LAUNCH_HEADED;
        rtl_writer_launch(writer, process, &body);
        for (uint32_t i = 0; i < 2; i++) {
            const struct rtl_wire_kernel kernel = {.packet = packet + 1 + i,
                                                   .start = 7100 + packet * 100 + UINT64_C(100) * i,
                                                   .end = 7150 + packet * 100 + UINT64_C(100) * i,
                                                   .queue = 3,
                                                   .shape = 1,
                                                   .launch = launch,
                                                   .ordinal = i};
            make_kernels(process, &kernel, 1);
        }
    }
}
#endif

#if RTL_FORMAT_MINOR >= 5
static void make_unrecorded(void)
{
    static const char why[] = "process 301 loaded librtl and is not recorded: no room";
    const struct rtl_wire_process process = {
        .time_ns = 9600000, .pid = 301, .mode = RTL_MODE_LITE, .interception = RTL_UNTRACKED};
    const struct rtl_wire_note note = {
        .time_ns = 9600000, .queue = RTL_NONE, .text_length = (uint16_t)(sizeof why - 1)};
    uint32_t id = rtl_writer_process(writer, &process, "");
    rtl_writer_note(writer, id, &note, why);
    rtl_writer_process_end(writer, id, "unrecorded", 9600000, 0);
}
#endif

#if RTL_FORMAT_MINOR >= 3
static void make_pauses(uint32_t process)
{
    static const struct rtl_wire_pause pauses[] = {
        {.time_ns = 7500000, .stopped = 1, .why = RTL_PAUSE_CTL},
        {.time_ns = 7600000, .stopped = 0},
        {.time_ns = 9000000, .stopped = 1, .why = RTL_PAUSE_PROGRAM}};
    for (unsigned i = 0; i < 3; i++)
        rtl_writer_pause(writer, process, &pauses[i]);
}
#endif

#if RTL_FORMAT_MINOR >= 4
static void make_counter(uint32_t process, uint32_t number, uint32_t agent, uint16_t pass,
                         const char *name)
{
    const struct rtl_wire_counter counter = {.counter = number,
                                             .agent = agent,
                                             .block = 20 - number % 3,
                                             .event = 26 + number,
                                             .instances = (uint16_t)(1 + number),
                                             .pass = pass,
                                             .name_length = length(name)};
    rtl_writer_counter(writer, process, &counter, name);
}

/* Of agent 2 three in the pass that the process made and one in another; of agent 1 more than a
 * chunk has columns for. */
static void make_counters(uint32_t process)
{
    static const struct rtl_wire_counting counting = {RTL_COUNTING_KERNEL, 1, 3, 18};
    rtl_writer_counting(writer, process, &counting, "occupancy,SQ_WAVES");
    make_counter(process, 0, 2, 1, "SQ_WAVES");
    make_counter(process, 2, 2, 1, "TCC_HIT");
    make_counter(process, 1, 2, 0, "GRBM_COUNT");
    make_counter(process, 3, 2, 1, "SQ_BUSY_CYCLES");
    for (uint32_t i = 4; i < 22; i++) {
        const char name[] = {'C', (char)('0' + i / 10), (char)('0' + i % 10), '\0'};
        make_counter(process, i, 1, 1, name);
    }
}

static void make_sample(uint32_t process, uint32_t queue, uint32_t agent, uint64_t owner,
                        uint16_t flags, uint16_t count, const uint64_t *values)
{
    const struct rtl_wire_sample sample = {owner, queue, agent, count, flags};
    rtl_writer_sample(writer, process, &sample, values);
}

/* The kernels of make_row but for every fiftieth, and one that the trace lacks. */
static void make_kernel_samples(uint32_t process)
{
    static const uint64_t extremes[] = {ALL_64, 0, UINT64_C(1) << 63};
    for (uint32_t i = 0; i < 600; i++) {
        const uint64_t values[] = {i % 3 ? 1000 : 17, (i % 3 ? 50000 : 800) + i * i % 97, 12345};
        if (i % 50 != 49)
            make_sample(process, 4, 2, i + i / 100, 0, 3, values);
    }
    make_sample(process, 4, 2, 10000, 0, 3, extremes);
}

/* One on two agents, one that ends later and began before, one whose begin was lost, and one with
 * other counts than there are counters. */
static void make_range_samples(uint32_t process)
{
    static const uint64_t three[] = {1, 22, 333};
    uint64_t values[18];
    for (uint32_t i = 0; i < 18; i++)
        values[i] = (uint64_t)i * i * 1000;
    make_sample(process, RTL_NONE, 2, 7, RTL_SAMPLE_SHARED, 3, three);
    make_sample(process, RTL_NONE, 1, 7, 0, 18, values);
    make_sample(process, RTL_NONE, 1, 1, 0, 18, values);
    make_sample(process, RTL_NONE, 2, 10, 0, 3, three);
    make_sample(process, RTL_NONE, 1, 21, 0, 3, three);
}

static void make_uncounted(uint32_t process)
{
    static const struct rtl_wire_uncounted uncounted[] = {{4, 2, RTL_UNCOUNTED_GRAPH},
                                                          {6, 2, RTL_UNCOUNTED_GRAPH},
                                                          {ALL_64, 1, RTL_UNCOUNTED_STOPPED},
                                                          {1, RTL_NONE, RTL_UNCOUNTED_MEMORY}};
    static const struct rtl_wire_counting none = {RTL_COUNTING_RANGE, 0, 0, 0};
    for (unsigned i = 0; i < sizeof uncounted / sizeof *uncounted; i++)
        rtl_writer_uncounted(writer, process, &uncounted[i]);
    rtl_writer_counting(writer, 2, &none, "");
}
#endif

#if RTL_FORMAT_MINOR >= 5
/* The last one of a queue holds. */
static void make_hip_queues(uint32_t process)
{
    static const struct rtl_wire_hip_queue made[] = {{0, RTL_HIP_CALLS_PASSED_BY, 14},
                                                     {0, RTL_HIP_CALLS_FOLLOWED, 14},
                                                     {4, RTL_HIP_CALLS_STATIC, 0}};
    for (unsigned i = 0; i < sizeof made / sizeof *made; i++)
        rtl_writer_hip_queue(writer, process, &made[i], "/opt/libhip.so");
}
#endif

#if RTL_FORMAT_MINOR >= 7
/* With a host that was been up longer, and with one of no name. */
static void make_exchanges(void)
{
    static const struct rtl_exchange made[] = {
        {2000000, 2090000, 1000030000, 1000040000, "11111111-1111-4111-8111-111111111111", "head"},
        {7000000, 7100000, 500, UINT64_C(1) << 62, "", ""}};
    for (unsigned i = 0; i < sizeof made / sizeof *made; i++)
        rtl_writer_exchange(writer, &made[i]);
}
#endif

#if RTL_FORMAT_MINOR >= 5
/* A stream whose handle comes again, a thread whose tid does, and what the kernel calls threads. */
static void make_again(uint32_t process)
{
    static const struct rtl_wire_stream streams[] = {
        {9000000, 0, 0xe00}, {9100000, 9100900, 0xe00}, {9200000, 0, 0xe00}};
    static const struct {
        struct rtl_wire_name name;
        const char *text;
    } names[] = {{{0, RTL_NAMED_START, 3}, "app"},
                 {{0, RTL_NAMED_TITLE, 9}, "app: idle"},
                 {{100, RTL_NAMED_COMM, 4}, "pool"},
                 {{101, RTL_NAMED_COMM, 3}, "app"},
                 {{102, RTL_NAMED_COMM, 5}, "first"},
                 {{102 | 1 << RTL_TID_BITS, RTL_NAMED_COMM, 6}, "second"}};
    for (unsigned i = 0; i < sizeof streams / sizeof *streams; i++) {
        const struct rtl_wire_name name = {0xe00, RTL_NAMED_STREAM, 5};
        rtl_writer_stream(writer, process, &streams[i]);
        if (streams[i].done_ns == 0)
            rtl_writer_name(writer, process, &name, i ? "again" : "early");
    }
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        rtl_writer_name(writer, process, &names[i].name, names[i].text);
}
#endif

#if RTL_FORMAT_MINOR >= 5
/* A range that is in the file, one that is not, and what else a kind's account can say. */
static void make_kinds(uint32_t process)
{
    struct rtl_writer_kind kinds[RTL_KINDS] = {{0}};
    static const struct rtl_writer_account account = {
        .packets = ALL_64,
        .seen = 9,
        .skipped = 9,
        .stopped = 4,
        .withheld = 3,
        .opaque = {[RTL_OPAQUE_PM4] = ALL_64, [RTL_OPAQUE_VENDOR] = 2},
        .opaque_of_graphs = {[RTL_OPAQUE_PM4] = 1}};
    for (unsigned reason = 0; reason < RTL_LOST_REASONS; reason++)
        kinds[RTL_KIND_RANGES].lost[reason] = 10 + reason;
    kinds[RTL_KIND_CALLS].waiting = 1;
    kinds[RTL_KIND_MARKS].stopped = ALL_64;
    kinds[RTL_KIND_NAMES].withheld = 2;
    for (unsigned kind = 0; kind < RTL_KINDS; kind++)
        for (unsigned i = 0; i <= kind; i++)
            rtl_writer_recorded(writer, process, (enum rtl_kind)kind);
    rtl_writer_kinds(writer, process, kinds);
    rtl_writer_miss_processes(writer, 2);
    rtl_writer_ledger(writer, process, 5, &account);
}
#endif

static void make_trace(void)
{
    static const struct rtl_writer_account account = {
        .packets = 10, .seen = 4, .recorded = 4, .forwarded = 1, .borrowed = 2, .helped = 3};
    uint32_t process = make_process();
    make_agents(process);
    make_clocks(process);
    make_queues(process);
    make_shapes(process);
#if RTL_FORMAT_MINOR >= 6
    make_idle(process);
#endif
    make_eager(process);
    make_row(process);
    rtl_writer_ledger(writer, process, 0, &account);
#if RTL_FORMAT_MINOR >= 1
    make_copies(process);
#endif
#if RTL_FORMAT_MINOR >= 2
    make_calls(process);
    make_ranges(process);
    make_names(process);
    make_replays(process);
    make_found(process);
#endif
#if RTL_FORMAT_MINOR >= 3
    make_pauses(process);
#endif
#if RTL_FORMAT_MINOR >= 4
    make_counters(process);
    make_kernel_samples(process);
    make_range_samples(process);
    make_uncounted(process);
#endif
#if RTL_FORMAT_MINOR >= 5
    make_hip_queues(process);
    make_again(process);
    make_kinds(process);
#endif
#if RTL_FORMAT_MINOR >= 7
    make_exchanges();
#endif
    rtl_writer_process_end(writer, process, "closed", 9500000, 0);
    make_dead();
#if RTL_FORMAT_MINOR >= 5
    make_replaced();
    make_unrecorded();
#endif
}

int main(int argc, char **argv)
{
    char error[512] = "make FILE";
    const struct rtl_writer_options options = {.command = "./app --golden"};
    writer = argc == 2 ? rtl_writer_open(argv[1], &options, error, sizeof error) : NULL;
    if (writer)
        make_trace();
    if (!writer || rtl_writer_close(writer, 3, error, sizeof error) != 0) {
        (void)fprintf(stderr, "%s\n", error);
        return 1;
    }
#if RTL_FORMAT_MINOR >= 7
    struct rtl_stats_done done;
    if (rtl_stats_add(argv[1], &done, error, sizeof error) != RTL_OK || !done.graphs)
        return 1;
#endif
    return 0;
}

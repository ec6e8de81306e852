/* Writes a trace whose size is measured (sizes.sh):
 *
 *     write_sizes replay|eager KERNELS JITTER FILE
 *
 * `replay` is a graph of 512 kernel nodes that one thread launches again and again, `eager` the
 * same kernels launched one by one. Every hipGraphLaunch and hipLaunchKernel is there with its
 * arguments, and kernels have its correlation. Kernels last 2 to 20 us with 1 to 3 us between them,
 * by their node; each time has normal jitter of JITTER percent, and one kernel in a thousand takes
 * five times as long. Host calls have the same jitter.
 */
#include "store/writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES    512u
#define SHAPES   40u
#define OUTLIER  1000u
#define STREAM   0x55d0c0ffee00
#define THREAD   4243u
#define INTERVAL 200000u /* kernels between checkpoints */

enum call { LAUNCH_KERNEL, LAUNCH_GRAPH };

struct world {
    struct rtl_writer *writer;
    uint32_t process;
    double jitter;
    double durations[NODES], gaps[NODES]; /* ticks */
    uint32_t shapes[NODES];
    uint64_t ticks;   /* end of the last kernel */
    uint64_t host_ns; /* end of the last call */
    uint64_t correlation;
};

static uint32_t random32(void)
{
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 32);
}

/* Normal (Box and Muller) around `value`. */
static uint64_t jittered(double value, double jitter)
{
    double u = (random32() + 1.0) / 4294967297.0;
    double v = random32() / 4294967296.0;
    double result = value * (1 + jitter * sqrt(-2 * log(u)) * cos(6.283185307179586 * v));
    return result > 0 ? (uint64_t)result : 0;
}

static void define_call(struct world *world, enum call call, const char *name,
                        const char *arguments)
{
    char texts[256];
    const struct rtl_wire_call body = {.call = call,
                                       .name_length = (uint16_t)strlen(name),
                                       .arguments_length = (uint16_t)strlen(arguments)};
    (void)snprintf(texts, sizeof texts, "%s%s", name, arguments);
    rtl_writer_call(world->writer, world->process, &body, texts);
}

static void define(struct world *world)
{
    const struct rtl_wire_process process = {
        .pid = 4242, .mode = RTL_MODE_FULL, .interception = RTL_INTERPOSED, .command_length = 5};
    const struct rtl_wire_agent agent = {
        .clock_hz = 100000000, .device_type = 1, .gpu = 0, .compute_units = 104, .name_length = 6};
    const struct rtl_wire_clock point = {.ticks = 0, .system_ns = 0};
    const struct rtl_wire_queue queue = {.size = 16384, .interception = RTL_INTERPOSED};
    world->process = rtl_writer_process(world->writer, &process, "sizes");
    rtl_writer_agent(world->writer, world->process, &agent, "gfx90a");
    rtl_writer_clock(world->writer, world->process, &point);
    rtl_writer_queue(world->writer, world->process, &queue);
    for (uint32_t i = 0; i < SHAPES; i++) {
        char name[64];
        int length =
            snprintf(name, sizeof name, "_ZN4gemm9kernel_%02uILi%uEEEvPKfS2_Pfi", i, 64 + i);
        const struct rtl_wire_symbol symbol = {.symbol = i,
                                               .kernel_object = 0x7f0000000000 + 256 * (uint64_t)i,
                                               .name_length = (uint16_t)length};
        const struct rtl_wire_shape shape = {
            .shape = i, .symbol = i, .grid = {256 * (1 + i), 1, 1}, .block = {256, 1, 1}};
        rtl_writer_symbol(world->writer, world->process, &symbol, name);
        rtl_writer_shape(world->writer, world->process, &shape);
    }
    define_call(world, LAUNCH_KERNEL, "hipLaunchKernel",
                "f:f,grid:3,block:3,args:p,shared:z,stream:s");
    define_call(world, LAUNCH_GRAPH, "hipGraphLaunch", "exec:x,stream:s");
    for (uint32_t i = 0; i < NODES; i++) {
        world->durations[i] = 200 + random32() % 1800;
        world->gaps[i] = 100 + random32() % 200;
        world->shapes[i] = random32() % SHAPES;
    }
}

static void define_graph(struct world *world)
{
    const struct rtl_wire_graph graph = {
        .graph = 1, .generation = 1, .exec = 0x55d0c0de0000, .nodes = NODES};
    rtl_writer_graph(world->writer, world->process, &graph);
    for (uint32_t i = 0; i < NODES; i++) {
        uint32_t before = i - 1;
        const struct rtl_wire_node node = {.graph = 1,
                                           .generation = 1,
                                           .node = i,
                                           .parent = RTL_NONE,
                                           .grid = {256 * (1 + world->shapes[i]), 1, 1},
                                           .block = {256, 1, 1},
                                           .dependencies = i > 0};
        rtl_writer_node(world->writer, world->process, &node, &before);
    }
}

static void make_call(struct world *world, enum call call, double ns, const uint64_t *words,
                      uint16_t count)
{
    const uint64_t start = world->host_ns + jittered(ns / 2, world->jitter);
    world->host_ns = start + jittered(ns, world->jitter);
    const struct rtl_wire_api api = {.start_ns = start,
                                     .end_ns = world->host_ns,
                                     .correlation = ++world->correlation,
                                     .stream = STREAM,
                                     .call = call,
                                     .thread = THREAD,
                                     .words = count,
                                     .flags = RTL_API_STREAM};
    rtl_writer_api(world->writer, world->process, &api, words);
}

static void make_kernel(struct world *world, uint64_t packet, uint32_t node, uint32_t launch)
{
    double outlier = random32() % OUTLIER ? 1 : 5;
    struct rtl_wire_kernel kernel = {.packet = packet,
                                     .start =
                                         world->ticks + jittered(world->gaps[node], world->jitter),
                                     .correlation = world->correlation,
                                     .shape = world->shapes[node],
                                     .launch = launch,
                                     .ordinal = launch == RTL_NONE ? RTL_NONE : node};
    kernel.end = kernel.start + jittered(world->durations[node] * outlier, world->jitter);
    /* A kernel begins after its call. */
    if (kernel.start < world->host_ns / 10) {
        kernel.end += world->host_ns / 10 - kernel.start;
        kernel.start = world->host_ns / 10;
    }
    world->ticks = kernel.end;
    rtl_writer_kernel(world->writer, world->process, &kernel);
}

static void launch_graph(struct world *world, uint32_t launch)
{
    const uint64_t words[] = {0x55d0c0de0000, STREAM};
    make_call(world, LAUNCH_GRAPH, 50000, words, 2);
    const struct rtl_wire_launch body = {.time_ns = world->host_ns,
                                         .correlation = world->correlation,
                                         .launch = launch,
                                         .graph = 1,
                                         .generation = 1,
                                         .thread = THREAD,
                                         .packets = NODES,
                                         .kernels = NODES};
    rtl_writer_launch(world->writer, world->process, &body);
}

static void launch_kernel(struct world *world, uint32_t node)
{
    uint32_t shape = world->shapes[node];
    const uint64_t words[] = {0x400000 + 64 * (uint64_t)shape,
                              (1 + shape) | UINT64_C(1) << 32,
                              1,
                              256 | UINT64_C(1) << 32,
                              1,
                              0x7ffd00001000 + 16 * (uint64_t)(random32() % 4),
                              0,
                              STREAM};
    make_call(world, LAUNCH_KERNEL, 4000, words, 8);
}

static int write_trace(struct world *world, bool replay, uint64_t kernels)
{
    define(world);
    if (replay)
        define_graph(world);
    for (uint64_t i = 0; i < kernels; i++) {
        uint32_t node = (uint32_t)(i % NODES);
        uint32_t launch = replay ? (uint32_t)(i / NODES) + 1 : RTL_NONE;
        if (replay && node == 0)
            launch_graph(world, launch);
        if (!replay)
            launch_kernel(world, node);
        make_kernel(world, i, node, launch);
        if (i % INTERVAL == INTERVAL - 1 && rtl_writer_checkpoint(world->writer) != 0)
            return -1;
    }
    rtl_writer_process_end(world->writer, world->process, "closed", world->ticks * 10, 0);
    return 0;
}

int main(int argc, char **argv)
{
    char error[512] = "write_sizes replay|eager KERNELS JITTER FILE";
    struct world world = {0};
    if (argc == 5)
        world.writer = rtl_writer_open(argv[4], NULL, error, sizeof error);
    bool done = world.writer != NULL;
    if (done) {
        world.jitter = strtod(argv[3], NULL) / 100;
        done =
            write_trace(&world, strcmp(argv[1], "replay") == 0, strtoull(argv[2], NULL, 10)) == 0;
        done = rtl_writer_close(world.writer, 0, error, sizeof error) == 0 && done;
    }
    if (!done)
        (void)fprintf(stderr, "%s\n", error);
    return done ? 0 : 1;
}

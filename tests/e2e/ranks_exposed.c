/*
 * ranks_exposed FILE SEED RANKS HOSTS [GPUS]: writes the trace of a job, and prints what its
 * collectives cost: a row for each rank and collective, with how long it ran since the one before
 * had ended, and for how much of that nothing that computes ran on its GPU.
 *
 * Each rank has GPUS (2, or 1) with four queues together. Kernels begin and end at random, beside
 * and over each other. What is printed is counted nanosecond by nanosecond.
 */
#include "store/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEGIN       UINT64_C(100000000000)
#define LENGTH      60000u /* ns */
#define COLLECTIVES 150u
#define OTHERS      400u
#define GPUS        2u
#define QUEUES      4u

static const char *const names[] = {"compute", "ncclDevKernel_AllReduce_Sum_f32",
                                    "ncclDevKernel_Broadcast"};
enum { COMPUTE, ALL_REDUCE, BROADCAST, NAMES };

struct kernel {
    uint32_t start, end, gpu, queue, shape;
};

static struct rtl_writer *writer;
static uint64_t state;
static uint32_t gpus = GPUS;

/* SplitMix64 (Steele, Lea and Flood 2014), below `most`. */
static uint32_t below(uint32_t most)
{
    uint64_t z = (state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (uint32_t)((z ^ (z >> 31)) % most);
}

static uint32_t define(uint32_t rank, uint32_t host)
{
    char text[64];
    char host_name[16];
    char rank_name[16];
    int host_length = snprintf(host_name, sizeof host_name, "host%" PRIu32, host);
    int rank_length = snprintf(rank_name, sizeof rank_name, "%" PRIu32, rank);
    (void)snprintf(text, sizeof text, "job%s%s", host_name, rank_name);
    const struct rtl_wire_process body = {.time_ns = BEGIN,
                                          .pid = 1000 + rank,
                                          .mode = RTL_MODE_FULL,
                                          .interception = RTL_INTERPOSED,
                                          .command_length = 3,
                                          .host_length = (uint16_t)host_length,
                                          .rank_length = (uint16_t)rank_length};
    uint32_t process = rtl_writer_process(writer, &body, text);
    for (uint32_t gpu = 0; gpu < gpus; gpu++) {
        const struct rtl_wire_agent agent = {.agent = gpu,
                                             .gpu = gpu,
                                             .clock_hz = 1000000000,
                                             .device_type = 1,
                                             .node = 1 + gpu,
                                             .name_length = 6};
        rtl_writer_agent(writer, process, &agent, "gfx942");
        for (uint64_t point = 0; point < 2; point++) {
            const struct rtl_wire_clock clock = {
                .agent = gpu, .ticks = point << 50, .system_ns = point << 50};
            rtl_writer_clock(writer, process, &clock);
        }
    }
    for (uint32_t i = 0; i < QUEUES; i++) {
        const struct rtl_wire_queue queue = {
            .queue = i, .agent = i % gpus, .size = 1024, .interception = RTL_INTERPOSED};
        rtl_writer_queue(writer, process, &queue);
    }
    for (uint32_t i = 0; i < NAMES; i++) {
        const struct rtl_wire_symbol symbol = {.symbol = i,
                                               .name_length = (uint16_t)strlen(names[i])};
        const struct rtl_wire_shape shape = {
            .shape = i, .symbol = i, .grid = {64, 1, 1}, .block = {64, 1, 1}};
        rtl_writer_symbol(writer, process, &symbol, names[i]);
        rtl_writer_shape(writer, process, &shape);
    }
    return process;
}

static void put(uint32_t process, uint64_t packet, const struct kernel *kernel)
{
    const struct rtl_wire_kernel record = {.packet = packet,
                                           .queue = kernel->queue,
                                           .start = BEGIN + kernel->start,
                                           .end = BEGIN + kernel->end,
                                           .shape = kernel->shape,
                                           .launch = RTL_NONE,
                                           .ordinal = RTL_NONE};
    rtl_writer_kernel(writer, process, &record);
}

/* One collective begins at each place of a raster; how long it takes is random. */
static struct kernel next(uint32_t number)
{
    struct kernel kernel = {.queue = below(QUEUES), .shape = ALL_REDUCE};
    if (number < COLLECTIVES) {
        kernel.start = 100 + number * ((LENGTH - 2000) / COLLECTIVES) + below(200);
        kernel.end = kernel.start + below(800);
    } else {
        kernel.shape = below(8) ? COMPUTE : BROADCAST;
        kernel.start = below(LENGTH - 1000);
        kernel.end = kernel.start + below(below(8) ? 200 : 900);
    }
    kernel.gpu = kernel.queue % gpus;
    return kernel;
}

static void run(uint32_t rank, uint32_t process)
{
    static bool computes[GPUS][LENGTH];
    static struct kernel kernels[COLLECTIVES + OTHERS];
    uint32_t until = 0;
    memset(computes, 0, sizeof computes);
    for (uint32_t i = 0; i < COLLECTIVES + OTHERS; i++) {
        kernels[i] = next(i);
        put(process, i, &kernels[i]);
        for (uint32_t time = kernels[i].start; kernels[i].shape == COMPUTE && time < kernels[i].end;
             time++)
            computes[kernels[i].gpu][time] = true;
    }
    for (uint32_t i = 0; i < COLLECTIVES; i++) {
        const struct kernel *kernel = &kernels[i];
        uint32_t exposed = 0;
        uint32_t from = kernel->start > until ? kernel->start : until;
        for (uint32_t time = from; time < kernel->end; time++)
            exposed += !computes[kernel->gpu][time];
        (void)printf("%" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", rank, i,
                     kernel->end > from ? kernel->end - from : 0, exposed);
        until = kernel->end > until ? kernel->end : until;
    }
    rtl_writer_process_end(writer, process, "closed", BEGIN + LENGTH, 0);
}

int main(int argc, char **argv)
{
    char error[512] = "";
    if (argc < 5 || argc > 6) {
        (void)fprintf(stderr, "usage: ranks_exposed FILE SEED RANKS HOSTS [GPUS]\n");
        return 2;
    }
    uint32_t ranks = (uint32_t)strtoul(argv[3], NULL, 10);
    uint32_t hosts = (uint32_t)strtoul(argv[4], NULL, 10);
    gpus = argc > 5 && strcmp(argv[5], "1") == 0 ? 1 : GPUS;
    const struct rtl_writer_options options = {.command = "job", .replace = true};
    state = strtoull(argv[2], NULL, 10);
    writer = rtl_writer_open(argv[1], &options, error, sizeof error);
    for (uint32_t rank = 0; writer && rank < ranks; rank++)
        run(rank, define(rank, rank * hosts / ranks));
    if (writer && rtl_writer_close(writer, 0, error, sizeof error) == 0)
        return 0;
    (void)fprintf(stderr, "ranks_exposed: %s\n", error);
    return 1;
}

/*
 * ranks_made FILE SEED HOSTS HOST RANKS COLLECTIVES OFFSET DRIFT: writes the trace of a host of a
 * job, as its own clock has it.
 *
 * The job has HOSTS hosts with RANKS ranks each. Each rank computes and then runs an all-reduce,
 * some 10 ms from one to the next, which no rank leaves before all have begun it. When, follows
 * from SEED alone. The clock of HOST shows OFFSET ns less than the true time when the job begins,
 * and DRIFT ns less with each second. Broadcasts in between wait for nobody.
 */
#include "store/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEGIN   UINT64_C(100000000000)
#define MOST    64u
#define TICK_NS 1u

static const char *const names[] = {"compute", "ncclDevKernel_AllReduce_Sum_f32",
                                    "ncclDevKernel_Broadcast"};
enum { COMPUTE, ALL_REDUCE, BROADCAST, NAMES };

static struct rtl_writer *writer;
static uint64_t state;
static int64_t offset, drift;

/* SplitMix64 (Steele, Lea and Flood 2014), below `most`. */
static uint64_t below(uint64_t most)
{
    uint64_t z = (state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (z ^ (z >> 31)) % most;
}

/* What the host's clock shows. */
static uint64_t shown(uint64_t time)
{
    return time - (uint64_t)(offset + drift * (int64_t)((time - BEGIN) / 1000) / 1000000);
}

static uint32_t define(uint32_t rank, uint32_t host)
{
    char text[64];
    char host_name[16];
    char rank_name[16];
    int host_length = snprintf(host_name, sizeof host_name, "host%" PRIu32, host);
    int rank_length = snprintf(rank_name, sizeof rank_name, "%" PRIu32, rank);
    (void)snprintf(text, sizeof text, "job%s%s", host_name, rank_name);
    const struct rtl_wire_process body = {.time_ns = shown(BEGIN),
                                          .pid = 1000 + rank,
                                          .mode = RTL_MODE_FULL,
                                          .interception = RTL_INTERPOSED,
                                          .command_length = 3,
                                          .host_length = (uint16_t)host_length,
                                          .rank_length = (uint16_t)rank_length};
    const struct rtl_wire_agent agent = {
        .clock_hz = 1000000000, .device_type = 1, .node = 1, .name_length = 6};
    const struct rtl_wire_queue queue = {.size = 1024, .interception = RTL_INTERPOSED};
    uint32_t process = rtl_writer_process(writer, &body, text);
    rtl_writer_agent(writer, process, &agent, "gfx942");
    for (uint64_t point = 0; point < 2; point++) {
        const struct rtl_wire_clock clock = {.ticks = point << 50, .system_ns = point << 50};
        rtl_writer_clock(writer, process, &clock);
    }
    rtl_writer_queue(writer, process, &queue);
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

static void put(uint32_t process, uint64_t packet, uint32_t shape, uint64_t start, uint64_t end)
{
    const struct rtl_wire_kernel kernel = {.packet = packet,
                                           .start = shown(start),
                                           .end = shown(end),
                                           .shape = shape,
                                           .launch = RTL_NONE,
                                           .ordinal = RTL_NONE};
    rtl_writer_kernel(writer, process, &kernel);
}

static void run(uint32_t hosts, uint32_t host, uint32_t ranks, uint64_t collectives)
{
    uint32_t processes[MOST];
    uint64_t begin[MOST];
    uint32_t all = hosts * ranks;
    uint64_t time = BEGIN;
    for (uint32_t i = 0; i < ranks; i++)
        processes[i] = define(host * ranks + i, host);
    for (uint32_t i = 0; i < all; i++)
        begin[i] = BEGIN;
    for (uint64_t k = 0; k < collectives; k++) {
        uint64_t come[MOST];
        uint64_t last = 0;
        for (uint32_t i = 0; i < all; i++) {
            come[i] = time + 1000000 + below(2000000);
            last = come[i] > last ? come[i] : last;
        }
        for (uint32_t i = 0; i < all; i++) {
            uint64_t end = last + 5000 + below(10000);
            uint64_t broadcast = below(200000);
            if (i / ranks == host) {
                uint32_t process = processes[i % ranks];
                put(process, 3 * k, COMPUTE, begin[i] + 1000, come[i] - 1000);
                put(process, 3 * k + 1, ALL_REDUCE, come[i], end);
                put(process, 3 * k + 2, BROADCAST, end + 1000, end + 2000 + broadcast);
            }
            begin[i] = end + 3000 + broadcast;
        }
        time += 10000000;
    }
    for (uint32_t i = 0; i < ranks; i++)
        rtl_writer_process_end(writer, processes[i], "closed", shown(time), 0);
}

int main(int argc, char **argv)
{
    char error[512];
    uint64_t numbers[7];
    if (argc != 9) {
        (void)fprintf(stderr, "usage: ranks_made FILE SEED HOSTS HOST RANKS COLLECTIVES OFFSET "
                              "DRIFT\n");
        return 2;
    }
    for (int i = 0; i < 7; i++)
        numbers[i] = (uint64_t)strtoll(argv[i + 2], NULL, 10);
    state = numbers[0];
    offset = (int64_t)numbers[5];
    drift = (int64_t)numbers[6];
    const struct rtl_writer_options options = {.command = "job", .replace = true};
    writer = rtl_writer_open(argv[1], &options, error, sizeof error);
    if (writer && numbers[1] * numbers[3] <= MOST) {
        run((uint32_t)numbers[1], (uint32_t)numbers[2], (uint32_t)numbers[3], numbers[4]);
        if (rtl_writer_close(writer, 0, error, sizeof error) == 0)
            return 0;
    }
    (void)fprintf(stderr, "ranks_made: %s\n", error);
    return 1;
}

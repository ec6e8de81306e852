/*
 * counted FILE KERNELS: writes a trace with hardware counters, with a process for each way in which
 * they are read.
 *
 *   1, 2   each kernel, in two passes of one program: 24 queues on two GPUs in turn, some of whose
 * kernels run in another order than that of their packets; some kernels were not counted, and some
 * samples have no kernel 3      ranges, nested, on both GPUs, by two threads 4      nothing
 *
 * Ranges are pushed around every 8 kernels, and around every 4 of these.
 */
#include "store/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUEUES 24u
#define GPUS   2u

enum { TICK_NS = 10, STEP = 400, INNER = 4, OUTER = 8 };

static const struct {
    const char *name;
    uint32_t block, event;
    uint16_t pass;
} counters[] = {{"SQ_WAVES", 6, 4, 0},  {"GRBM_COUNT", 3, 0, 0}, {"GRBM_GUI_ACTIVE", 3, 2, 0},
                {"TCC_HIT", 12, 17, 1}, {"TCC_MISS", 12, 19, 1}, {"<b>&\"odd", 40, 7, 1}};

enum { COUNTERS = sizeof counters / sizeof counters[0], IN_A_PASS = 3 };

static struct rtl_writer *writer;
static uint64_t correlations;

/* Any numbers: small ones, none, and some that need 48 bits. */
static uint64_t number(uint64_t a, uint64_t b)
{
    uint64_t hash = (a * 31 + b + 1) * UINT64_C(0x9E3779B97F4A7C15);
    hash ^= hash >> 29;
    return hash % 5 == 0 ? 0 : hash % 7 == 0 ? hash >> 16 : hash % 100000;
}

static uint32_t define(const char *command, uint32_t pid)
{
    const struct rtl_wire_process body = {.time_ns = 1,
                                          .pid = pid,
                                          .mode = RTL_MODE_FULL,
                                          .interception = RTL_INTERCEPTED,
                                          .command_length = (uint16_t)strlen(command)};
    uint32_t process = rtl_writer_process(writer, &body, command);
    for (uint32_t gpu = 0; gpu < GPUS; gpu++) {
        const struct rtl_wire_agent agent = {.clock_hz = 100000000,
                                             .agent = gpu,
                                             .device_type = 1,
                                             .gpu = gpu,
                                             .node = gpu + 1,
                                             .name_length = 6};
        rtl_writer_agent(writer, process, &agent, gpu ? "gfx90a" : "gfx906");
        for (uint64_t point = 0; point < 2; point++) {
            const struct rtl_wire_clock clock = {
                .ticks = point << 40, .system_ns = (point << 40) * TICK_NS, .agent = gpu};
            rtl_writer_clock(writer, process, &clock);
        }
    }
    for (uint32_t i = 0; i < QUEUES; i++) {
        const struct rtl_wire_queue queue = {
            .queue = i, .agent = i % GPUS, .size = 1024, .interception = RTL_INTERCEPTED};
        rtl_writer_queue(writer, process, &queue);
    }
    for (uint32_t i = 0; i < 3; i++) {
        static const char *const names[] = {"first", "second", "third <i>"};
        const struct rtl_wire_symbol symbol = {.symbol = i,
                                               .name_length = (uint16_t)strlen(names[i])};
        const struct rtl_wire_shape shape = {.shape = i,
                                             .symbol = i,
                                             .grid = {64 * (i + 1), 1 + i, 1},
                                             .block = {64, 1, 1},
                                             .group_size = 100 * i};
        rtl_writer_symbol(writer, process, &symbol, names[i]);
        rtl_writer_shape(writer, process, &shape);
    }
    return process;
}

static void define_counters(uint32_t process, uint32_t mode, uint16_t pass, uint16_t passes)
{
    static const char metrics[] = "waves,gpu_busy,l2_hit";
    const struct rtl_wire_counting counting = {
        .mode = mode, .pass = pass, .passes = passes, .text_length = sizeof metrics - 1};
    rtl_writer_counting(writer, process, &counting, metrics);
    for (uint32_t i = 0; i < GPUS * COUNTERS; i++) {
        const uint32_t which = i % COUNTERS;
        const struct rtl_wire_counter counter = {.counter = i,
                                                 .agent = i / COUNTERS,
                                                 .block = counters[which].block,
                                                 .event = counters[which].event,
                                                 .instances = 1,
                                                 .pass = passes == 1 ? 0 : counters[which].pass,
                                                 .name_length =
                                                     (uint16_t)strlen(counters[which].name)};
        rtl_writer_counter(writer, process, &counter, counters[which].name);
    }
}

static void sample(uint32_t process, uint32_t queue, uint32_t agent, uint64_t owner, uint16_t count,
                   uint16_t flags)
{
    uint64_t values[COUNTERS];
    const struct rtl_wire_sample body = {
        .owner = owner, .queue = queue, .agent = agent, .values = count, .flags = flags};
    for (uint16_t i = 0; i < count; i++)
        values[i] = number(owner * 64 + agent, i + (uint64_t)process);
    rtl_writer_sample(writer, process, &body, values);
}

static uint64_t push(uint32_t process, uint64_t time, uint64_t parent, uint32_t thread,
                     const char *text)
{
    const struct rtl_wire_range range = {.id = ++correlations,
                                         .start_ns = time,
                                         .parent = parent,
                                         .thread = thread,
                                         .kind = RTL_RANGE_PUSH,
                                         .text_length = (uint16_t)strlen(text)};
    rtl_writer_range(writer, process, &range, text);
    return range.id;
}

static void pop(uint32_t process, uint64_t id, uint64_t time)
{
    const struct rtl_wire_range_end end = {.id = id, .end_ns = time};
    rtl_writer_range_end(writer, process, &end);
}

/* Kernel i begins as the i-th, on queue i % QUEUES, alone on its GPU. Of queue 5 every second pair
 * of packets runs in the other order. */
static void kernel(uint32_t process, uint64_t i, uint64_t range, bool counted)
{
    const uint32_t queue = (uint32_t)(i % QUEUES);
    uint64_t packet = i / QUEUES;
    if (queue == 5)
        packet ^= packet >> 1 & 1;
    const struct rtl_wire_kernel body = {.packet = packet,
                                         .start = STEP * (i + 1),
                                         .end = STEP * (i + 1) + 700 + i % 13,
                                         .correlation = range,
                                         .queue = queue,
                                         .shape = (uint32_t)(i % 3),
                                         .launch = RTL_NONE,
                                         .ordinal = RTL_NONE};
    rtl_writer_kernel(writer, process, &body);
    if (counted && i % 11 != 3)
        sample(process, queue, queue % GPUS, packet, IN_A_PASS, 0);
}

/* A range around it counts what its kernels and those within have: of each GPU, if it had any. */
static void count_range(uint32_t process, uint64_t range, uint64_t kernels, uint16_t flags)
{
    for (uint32_t gpu = 0; gpu < GPUS && gpu < kernels; gpu++)
        sample(process, RTL_NONE, gpu, range, COUNTERS, flags);
}

static void fill(uint32_t process, uint64_t kernels, bool of_kernels, bool of_ranges)
{
    uint64_t outer = 0;
    uint64_t inner = 0;
    correlations = 0;
    for (uint64_t i = 0; i < kernels; i++) {
        const uint64_t time = (uint64_t)STEP * TICK_NS * (i + 1) - 50;
        const uint32_t thread = (uint32_t)(500 + i / OUTER % 2);
        char name[32];
        (void)snprintf(name, sizeof name, "layer %u", (unsigned)(i / INNER % 2));
        if (i % OUTER == 0)
            outer = push(process, time, 0, thread, "step & co");
        if (i % INNER == 0)
            inner = push(process, time + 1, outer, thread, name);
        kernel(process, i, inner, of_kernels);
        if (i % INNER == INNER - 1 || i + 1 == kernels) {
            pop(process, inner, time + 2000);
            if (of_ranges)
                count_range(process, inner, i % INNER + 1, i % 3 == 0);
        }
        if (i % OUTER == OUTER - 1 && i % 5 != 2) {
            pop(process, outer, time + 2001);
            if (of_ranges)
                count_range(process, outer, OUTER, 0);
        }
        if (i % 5000 == 4999)
            (void)rtl_writer_checkpoint(writer);
    }
    if (of_kernels)
        sample(process, 3, 1, kernels + 1000, IN_A_PASS, 0);
    rtl_writer_process_end(writer, process, "closed", (uint64_t)STEP * TICK_NS * (kernels + 2), 0);
}

int main(int argc, char **argv)
{
    char error[512] = "";
    const uint64_t kernels = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
    if (kernels == 0) {
        (void)fputs("usage: counted FILE KERNELS\n", stderr);
        return 2;
    }
    writer = rtl_writer_open(argv[1], NULL, error, sizeof error);
    if (writer) {
        for (uint16_t pass = 0; pass < 2; pass++) {
            uint32_t process = define("./counted kernels", 101 + pass);
            define_counters(process, RTL_COUNTING_KERNEL, pass, 2);
            fill(process, kernels, true, false);
        }
        uint32_t process = define("./counted ranges", 103);
        define_counters(process, RTL_COUNTING_RANGE, 0, 1);
        fill(process, kernels, false, true);
        fill(define("./counted nothing", 104), 20, false, false);
    }
    if (!writer || rtl_writer_close(writer, 0, error, sizeof error) != 0) {
        (void)fprintf(stderr, "counted: %s\n", error);
        return 1;
    }
    return 0;
}

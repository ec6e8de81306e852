/*
 * bench_collect KIND [KERNELS] [RATE] [FILE]: from a ring to the disk. A process writes records of
 * kernels into a ring as librtl does, another is the collector and makes a trace of them; a line of
 * JSON tells what that cost. KIND is
 *
 *     replay  a graph of 512 nodes that HIP launches: a host call and a launch before 512 kernels
 *     eager   a host call with eight words of arguments before each kernel
 *     batch   kernels of a program that uses no HIP, 64 at a time, each batch a launch
 *
 * RATE is in kernels a second: what finds no room is dropped then, and counted. Without (or 0) the
 * process waits for room, so that the collector is never short of work. Durations and gaps have 2 %
 * jitter, some kernels last five times as long.
 */
#include "collect/collect.h"
#include "jitter.h"
#include "ring/ring.h"
#include "timing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define NODES  512u
#define BATCH  64u
#define SHAPES 40u
#define RING   (16u << 20) /* librtl's */
#define TIMES  65536u      /* made beforehand; a power of two */

enum kind { REPLAY, EAGER, BATCHES, KINDS };

static const char *const kinds[KINDS] = {"replay", "eager", "batch"};

struct bench {
    enum kind kind;
    uint64_t kernels, rate;
    const char *path;
    char session[256];
};

/* What the process has in hand. */
struct producer {
    const struct bench *bench;
    struct rtl_ring ring;
    uint32_t gaps[TIMES], durations[TIMES]; /* ticks */
    uint64_t clock, made, dropped, correlation;
    uint64_t call_clock; /* ns */
    uint32_t launch;
};

static void prepare(struct producer *producer)
{
    double durations[NODES];
    double gaps[NODES];
    for (uint32_t i = 0; i < NODES; i++) {
        durations[i] = 200 + random32() % 1800;
        gaps[i] = 100 + random32() % 200;
    }
    for (uint32_t i = 0; i < TIMES; i++) {
        producer->gaps[i] = jittered(gaps[i % NODES]);
        producer->durations[i] = jittered(durations[i % NODES] * (random32() % 1000 ? 1 : 5));
    }
}

/* Writes a record, when there is room; at a rate it is dropped if there is none. */
static bool push(struct producer *producer, enum rtl_wire_type type, const void *body, size_t size,
                 const void *rest, size_t rest_size)
{
    const struct rtl_piece pieces[] = {{body, size}, {rest, rest_size}};
    while (!rtl_ring_push(&producer->ring, type, pieces, 2)) {
        if (producer->bench->rate)
            return false;
        (void)usleep(50);
    }
    return true;
}

static void define(struct producer *producer)
{
    static const char name[] = "_Z6kernelPfPi";
    const struct rtl_wire_process process = {.pid = (uint32_t)getpid(), .mode = RTL_MODE_FULL};
    const struct rtl_wire_agent agent = {.clock_hz = 100000000, .device_type = 1};
    const struct rtl_wire_queue queue = {.size = 16384, .interception = RTL_INTERPOSED};
    const struct rtl_wire_clock point = {.ticks = 0};
    const struct rtl_wire_call call = {.name_length = 15, .arguments_length = 3};
    push(producer, RTL_WIRE_PROCESS, &process, sizeof process, "", 0);
    push(producer, RTL_WIRE_AGENT, &agent, sizeof agent, "", 0);
    push(producer, RTL_WIRE_QUEUE, &queue, sizeof queue, "", 0);
    push(producer, RTL_WIRE_CLOCK, &point, sizeof point, "", 0);
    push(producer, RTL_WIRE_CALL, &call, sizeof call, "hipLaunchKernela:u", 18);
    for (uint32_t i = 0; i < SHAPES; i++) {
        const struct rtl_wire_symbol symbol = {.symbol = i, .name_length = sizeof name - 1};
        const struct rtl_wire_shape shape = {.shape = i, .symbol = i, .grid = {64, 1, 1}};
        push(producer, RTL_WIRE_SYMBOL, &symbol, sizeof symbol, name, sizeof name - 1);
        push(producer, RTL_WIRE_SHAPE, &shape, sizeof shape, "", 0);
    }
    const struct rtl_wire_graph graph = {.graph = 1, .generation = 1, .nodes = NODES};
    if (producer->bench->kind == REPLAY)
        push(producer, RTL_WIRE_GRAPH, &graph, sizeof graph, "", 0);
    for (uint32_t i = 0; producer->bench->kind == REPLAY && i < NODES; i++) {
        uint32_t before = i - 1;
        char rest[sizeof before + sizeof name];
        size_t skip = i > 0 ? sizeof before : 0;
        const struct rtl_wire_node node = {.graph = 1,
                                           .generation = 1,
                                           .node = i,
                                           .parent = RTL_NONE,
                                           .grid = {64, 1, 1},
                                           .dependencies = i > 0,
                                           .name_length = sizeof name - 1};
        memcpy(rest, &before, sizeof before);
        memcpy(rest + skip, name, sizeof name - 1);
        push(producer, RTL_WIRE_NODE, &node, sizeof node, rest, skip + sizeof name - 1);
    }
}

static void push_call(struct producer *producer, uint16_t words)
{
    uint64_t place = ++producer->correlation * 7 % TIMES;
    uint64_t kernel = producer->made % NODES % SHAPES;
    const uint64_t arguments[8] = {
        0x555500001000 + 64 * kernel,      64 + 64 * kernel, UINT64_C(1) << 32 | 1, 256, 1, 0,
        0x7ffd00001000 + 16 * (place % 5), 0x7f0000400000};
    uint64_t start = producer->call_clock + 200 + producer->gaps[place];
    producer->call_clock = start + 300 + producer->durations[place] / 4;
    const struct rtl_wire_api api = {.start_ns = start,
                                     .end_ns = producer->call_clock,
                                     .correlation = producer->correlation,
                                     .thread = 100,
                                     .words = words,
                                     .flags = RTL_API_STREAM};
    push(producer, RTL_WIRE_API, &api, sizeof api, arguments, words * sizeof *arguments);
}

static void push_launch(struct producer *producer, uint32_t kernels)
{
    bool replay = producer->bench->kind == REPLAY;
    const struct rtl_wire_launch launch = {.launch = ++producer->launch,
                                           .graph = replay ? 1 : RTL_NONE,
                                           .generation = replay,
                                           .first = producer->made,
                                           .fingerprint = replay ? 0 : producer->made + 1,
                                           .packets = kernels,
                                           .kernels = kernels,
                                           .thread = 100,
                                           .correlation = producer->correlation};
    push(producer, RTL_WIRE_LAUNCH, &launch, sizeof launch, "", 0);
}

static void push_kernels(struct producer *producer, uint32_t count)
{
    struct rtl_wire_kernel kernels[BATCH];
    bool eager = producer->bench->kind == EAGER;
    for (uint32_t at = 0; at < count; at += BATCH) {
        uint32_t some = count - at < BATCH ? count - at : BATCH;
        for (uint32_t i = 0; i < some; i++) {
            uint32_t place = (uint32_t)producer->made % TIMES;
            uint64_t start = producer->clock + producer->gaps[place];
            producer->clock = start + producer->durations[place];
            kernels[i] = (struct rtl_wire_kernel){.packet = producer->made++,
                                                  .start = start,
                                                  .end = producer->clock,
                                                  .correlation = producer->correlation,
                                                  .shape = place % NODES % SHAPES,
                                                  .launch = eager ? RTL_NONE : producer->launch,
                                                  .ordinal = eager ? RTL_NONE : at + i};
        }
        unsigned done = rtl_ring_push_kernels(&producer->ring, kernels, some);
        while (done < some && !producer->bench->rate) {
            (void)usleep(50);
            done += rtl_ring_push_kernels(&producer->ring, kernels + done, some - done);
        }
        producer->dropped += some - done;
    }
}

static void push_group(struct producer *producer)
{
    switch (producer->bench->kind) {
    case REPLAY:
        push_call(producer, 2);
        push_launch(producer, NODES);
        push_kernels(producer, NODES);
        break;
    case EAGER:
        push_call(producer, 8);
        push_kernels(producer, 1);
        break;
    case BATCHES:
    case KINDS:
        push_launch(producer, BATCH);
        push_kernels(producer, BATCH);
        break;
    }
}

/* Sleeps until as many kernels are due as have been made. */
static void keep_rate(const struct producer *producer, double begin)
{
    double due = begin + (double)producer->made * 1e9 / (double)producer->bench->rate;
    double early = due - now_ns(CLOCK_MONOTONIC);
    if (early > 100000)
        (void)usleep((useconds_t)(early / 1000));
}

static int produce(const struct bench *bench)
{
    static struct producer producer;
    producer.bench = bench;
    prepare(&producer);
    if (rtl_ring_create(&producer.ring, bench->session, RING) != 0)
        return 1;
    (void)rtl_ring_reserve_piece(&producer.ring, SIZE_MAX);
    define(&producer);
    struct rtl_wire_ledger *ledger = &producer.ring.header->ledger[0];
    atomic_store(&producer.ring.header->queues, 1);
    double begin = now_ns(CLOCK_MONOTONIC);
    while (producer.made < bench->kernels) {
        push_group(&producer);
        atomic_store(&ledger->lost[RTL_LOST_RING], producer.dropped);
        atomic_store(&ledger->recorded, producer.made - producer.dropped);
        atomic_store(&ledger->seen, producer.made);
        if (bench->rate)
            keep_rate(&producer, begin);
    }
    rtl_ring_close(&producer.ring);
    return 0;
}

static long resident_kb(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* Collects until the process has ended; returns the longest time between two rounds, ns. */
static double collect(struct rtl_collector *collector, struct rtl_collector_status *status)
{
    double longest = 0;
    double before = now_ns(CLOCK_MONOTONIC);
    do {
        unsigned wait_ms = rtl_collector_round(collector);
        if (wait_ms)
            (void)usleep(1000 * wait_ms);
        rtl_collector_status(collector, status);
        double now = now_ns(CLOCK_MONOTONIC);
        longest = now - before > longest ? now - before : longest;
        before = now;
    } while (status->processes == 0 || status->open > 0);
    return longest;
}

static int run(const struct bench *bench)
{
    char error[512] = "";
    const struct rtl_writer_options options = {.command = "bench_collect", .replace = true};
    struct rtl_collector_status status = {0};
    pid_t child = fork();
    if (child == 0)
        _exit(produce(bench));
    struct rtl_writer *writer = rtl_writer_open(bench->path, &options, error, sizeof error);
    struct rtl_collector *collector =
        writer ? rtl_collector_new(bench->session, writer, NULL, NULL) : NULL;
    if (!collector) {
        (void)fprintf(stderr, "bench_collect: %s\n", error);
        return 1;
    }
    double begin = now_ns(CLOCK_MONOTONIC);
    double cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    double longest = collect(collector, &status);
    rtl_collector_end(collector);
    if (rtl_writer_close(writer, 0, error, sizeof error) != 0) {
        (void)fprintf(stderr, "bench_collect: %s\n", error);
        return 1;
    }
    cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    double wall = now_ns(CLOCK_MONOTONIC) - begin;
    struct stat file;
    double kernels = (double)status.kernels;
    (void)waitpid(child, NULL, 0);
    (void)printf("{\"kind\": \"%s\", \"kernels\": %" PRIu64 ", \"dropped\": %" PRIu64
                 ", \"cpu_ns\": %.1f, \"per_cpu_second\": %.0f, \"per_second\": %.0f"
                 ", \"longest_ms\": %.1f, \"bytes\": %.2f, \"resident_mb\": %.1f}\n",
                 kinds[bench->kind], status.kernels, status.lost, cpu / kernels,
                 kernels * 1e9 / cpu, kernels * 1e9 / wall, longest / 1e6,
                 stat(bench->path, &file) == 0 ? (double)file.st_size / kernels : 0,
                 (double)resident_kb() / 1024);
    return 0;
}

// NOLINTBEGIN(concurrency-mt-unsafe): there is one thread
int main(int argc, char **argv)
{
    struct bench bench = {.kind = KINDS,
                          .kernels = argc > 2 ? strtoull(argv[2], NULL, 10) : 10000000,
                          .rate = argc > 3 ? strtoull(argv[3], NULL, 10) : 0,
                          .path = argc > 4 ? argv[4] : "/tmp/bench_collect.db"};
    for (unsigned i = 0; i < KINDS && argc > 1; i++)
        if (strcmp(argv[1], kinds[i]) == 0)
            bench.kind = (enum kind)i;
    if (bench.kind == KINDS || bench.kernels == 0) {
        (void)fprintf(stderr, "bench_collect replay|eager|batch [KERNELS] [RATE] [FILE]\n");
        return 2;
    }
    if (rtl_ring_dir_create(bench.session, sizeof bench.session) != 0)
        return 1;
    int status = run(&bench);
    rtl_ring_dir_remove(bench.session);
    if (argc <= 4)
        (void)unlink(bench.path);
    return status;
}
// NOLINTEND(concurrency-mt-unsafe)

/* How fast traces are written and read, and how large they are.
 *
 *     bench_store [--kernels N] [--jitter PERCENT] [--file PATH]
 *     bench_store --write replay|eager [--queues N] [--shapes N] …
 *                                                        only writes the trace, and leaves it
 *
 * One thread. `replay` is a graph of 512 nodes launched again and again, `eager` the same kernels
 * launched one by one with correlation ids; durations and gaps have normal jitter of the given
 * standard deviation, and one kernel in a thousand takes five times as long. A line each: name,
 * kernels, bytes per kernel, kernels per second written, read by queue, read by time. `calls` is as
 * many host calls with eight words of arguments; they are read by start, and found by correlation.
 * `samples` are as many samples of eight hardware counters, of which four count the same each time
 * a kernel runs and four have noise: of kernels in the order of a replay, and of kernels in any
 * order whose problems vary in size, so that all counts do. They are read by packet, and found by
 * it.
 */
#include "store/writer.h"

#include <math.h>
#include <rtl/rtl_trace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NODES  512u
#define SHAPES 40u    /* unless --shapes says something else */
#define CALLS  65521u /* times of calls, made beforehand as well */
#define PREPARED                                                                                   \
    ((size_t)NODES * 256)  /* kernels made beforehand, so that making them is not measured */
#define CHECKPOINT 250000u /* as many kernels as come in a tenth of a second or so */
#define OUTLIER    1000u
#define QUEUES_MAX 64u

struct bench {
    uint64_t kernels;
    double jitter;
    const char *path;
    const char *write; /* kind of the trace that is left, NULL: measure */
    uint32_t queues;
    uint32_t shapes;
};

static double seconds(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static uint32_t random32(void)
{
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 32);
}

/* Normal with deviation 1 (Box and Muller). */
static double normal(void)
{
    double u = (random32() + 1.0) / 4294967297.0;
    double v = random32() / 4294967296.0;
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

static uint64_t jittered(double value, double jitter)
{
    double result = value * (1 + jitter * normal());
    return result > 0 ? (uint64_t)result : 0;
}

/* Kernels whose times are relative: start holds the gap to the kernel before. */
static struct rtl_wire_kernel *prepare(const struct bench *bench)
{
    struct rtl_wire_kernel *kernels = calloc(PREPARED, sizeof *kernels);
    double durations[NODES];
    double gaps[NODES];
    uint32_t shapes[NODES];
    if (!kernels)
        exit(1); /* NOLINT(concurrency-mt-unsafe): one thread */
    for (uint32_t i = 0; i < NODES; i++) {
        durations[i] = 200 + random32() % 1800;
        gaps[i] = 100 + random32() % 200;
        shapes[i] = random32() % bench->shapes;
    }
    for (size_t i = 0; i < PREPARED; i++) {
        uint32_t node = (uint32_t)(i % NODES);
        double duration = durations[node] * (random32() % OUTLIER ? 1 : 5);
        kernels[i].start = jittered(gaps[node], bench->jitter);
        kernels[i].end = jittered(duration, bench->jitter);
        kernels[i].shape = shapes[node];
        if (bench->shapes > NODES) /* any of them, at any place */
            kernels[i].shape = random32() % bench->shapes;
        kernels[i].ordinal = node;
    }
    return kernels;
}

static void define_shapes(struct rtl_writer *writer, uint32_t process, uint32_t shapes)
{
    for (uint32_t i = 0; i < shapes; i++) {
        char name[32];
        int length = snprintf(name, sizeof name, "_Z8kernel%02uPfPi", i);
        const struct rtl_wire_symbol symbol = {.symbol = i, .name_length = (uint16_t)length};
        const struct rtl_wire_shape shape = {.shape = i, .symbol = i, .grid = {64, 1, 1}};
        rtl_writer_symbol(writer, process, &symbol, name);
        rtl_writer_shape(writer, process, &shape);
    }
}

static uint32_t define(struct rtl_writer *writer, uint32_t queues, uint32_t shapes)
{
    const struct rtl_wire_process process = {.pid = (uint32_t)getpid()};
    const struct rtl_wire_agent agent = {.clock_hz = 100000000, .device_type = 1};
    const struct rtl_wire_clock point = {.ticks = 0, .system_ns = 0};
    uint32_t id = rtl_writer_process(writer, &process, "");
    rtl_writer_agent(writer, id, &agent, "");
    rtl_writer_clock(writer, id, &point);
    for (uint32_t i = 0; i < queues; i++) {
        const struct rtl_wire_queue queue = {
            .queue = i, .size = 16384, .interception = RTL_INTERPOSED};
        rtl_writer_queue(writer, id, &queue);
    }
    define_shapes(writer, id, shapes);
    return id;
}

/* A graph of NODES kernels, one after the other, as HIP tells it. */
static void define_graph(struct rtl_writer *writer, uint32_t process)
{
    static const char name[13] = {'_', 'Z', '6', 'k', 'e', 'r', 'n', 'e', 'l', 'P', 'f', 'P', 'i'};
    const struct rtl_wire_graph graph = {.graph = 1, .generation = 1, .nodes = NODES};
    rtl_writer_graph(writer, process, &graph);
    for (uint32_t i = 0; i < NODES; i++) {
        uint32_t before = i - 1;
        char rest[sizeof before + 13];
        const struct rtl_wire_node node = {.graph = 1,
                                           .generation = 1,
                                           .node = i,
                                           .parent = RTL_NONE,
                                           .grid = {64, 1, 1},
                                           .dependencies = i > 0,
                                           .name_length = 13};
        memcpy(rest, &before, sizeof before);
        memcpy(rest + (i > 0 ? sizeof before : 0), name, sizeof name);
        rtl_writer_node(writer, process, &node, rest);
    }
}

static void write_launch(struct rtl_writer *writer, uint32_t process, uint32_t number)
{
    const struct rtl_wire_launch launch = {.launch = number,
                                           .graph = 1,
                                           .generation = 1,
                                           .packets = NODES,
                                           .kernels = NODES,
                                           .correlation = 1 + number};
    rtl_writer_launch(writer, process, &launch);
}

/* With several queues each has a launch in turn; they run at the same time. */
static void write_kernels(struct rtl_writer *writer, uint32_t process, const struct bench *bench,
                          const struct rtl_wire_kernel *prepared, bool replay)
{
    uint64_t times[QUEUES_MAX];
    uint64_t packets[QUEUES_MAX] = {0};
    for (uint32_t i = 0; i < QUEUES_MAX; i++)
        times[i] = UINT64_C(123456789012);
    if (replay)
        define_graph(writer, process);
    for (uint64_t i = 0; i < bench->kernels; i++) {
        struct rtl_wire_kernel kernel = prepared[i % PREPARED];
        kernel.queue = (uint32_t)(i / NODES % bench->queues);
        kernel.packet = packets[kernel.queue]++;
        kernel.start += times[kernel.queue];
        kernel.end += kernel.start;
        times[kernel.queue] = kernel.end;
        kernel.correlation = replay ? 1 + i / NODES : 1 + i;
        kernel.launch = replay ? (uint32_t)(i / NODES) : RTL_NONE;
        kernel.ordinal = replay ? kernel.ordinal : RTL_NONE;
        if (replay && i % NODES == 0)
            write_launch(writer, process, kernel.launch);
        rtl_writer_kernel(writer, process, &kernel);
        if (i % CHECKPOINT == CHECKPOINT - 1)
            (void)rtl_writer_checkpoint(writer);
    }
}

static double read_kernels(rtl_trace_t *trace, uint64_t expected, int by_queue)
{
    rtl_kernel_filter_t filter = RTL_KERNEL_FILTER_ALL;
    rtl_kernel_iter_t *iter = NULL;
    rtl_kernel_t kernel;
    uint64_t count = 0;
    double begin = seconds();
    filter.by_queue = by_queue;
    if (rtlTraceKernels(trace, &filter, &iter) == RTL_OK)
        while (rtlKernelNext(iter, &kernel) == RTL_OK)
            count++;
    rtlKernelIterFree(iter);
    if (count != expected) {
        (void)fprintf(stderr, "bench_store: %llu kernels came back of %llu\n",
                      (unsigned long long)count, (unsigned long long)expected);
        exit(1); /* NOLINT(concurrency-mt-unsafe): one thread */
    }
    return (double)count / (seconds() - begin);
}

static void check_error(const char *error)
{
    if (!error[0])
        return;
    (void)fprintf(stderr, "bench_store: %s\n", error);
    exit(1); /* NOLINT(concurrency-mt-unsafe): one thread */
}

/* Writes a trace; kernels per second. */
static double write_trace(const struct bench *bench, const struct rtl_wire_kernel *prepared,
                          bool replay)
{
    char error[512] = "";
    const struct rtl_writer_options options = {.command = "bench_store", .replace = true};
    double begin = seconds();
    struct rtl_writer *writer = rtl_writer_open(bench->path, &options, error, sizeof error);
    if (writer) {
        write_kernels(writer, define(writer, bench->queues, bench->shapes), bench, prepared,
                      replay);
        (void)rtl_writer_close(writer, 0, error, sizeof error);
    }
    check_error(error);
    return (double)bench->kernels / (seconds() - begin);
}

static void run(const struct bench *bench, const struct rtl_wire_kernel *prepared, bool replay)
{
    char error[512] = "";
    rtl_trace_t *trace = NULL;
    rtl_trace_info_t info;
    double written = write_trace(bench, prepared, replay);
    if (rtlTraceOpen(bench->path, &trace, error, sizeof error) != RTL_OK)
        check_error(error);
    (void)rtlTraceInfo(trace, &info);
    double by_queue = read_kernels(trace, bench->kernels, 1);
    double by_time = read_kernels(trace, bench->kernels, 0);
    (void)printf(
        "%-6s %llu kernels  %.2f B/kernel  write %.2f M/s  read by queue %.2f M/s  by time "
        "%.2f M/s\n",
        replay ? "replay" : "eager", (unsigned long long)bench->kernels,
        (double)info.bytes / (double)bench->kernels, written / 1e6, by_queue / 1e6, by_time / 1e6);
    rtlTraceClose(trace);
    (void)unlink(bench->path);
}

/* Host calls: launches with eight words of arguments, with times that jitter. */
static void write_calls(struct rtl_writer *writer, uint32_t process, const struct bench *bench)
{
    static uint64_t lengths[CALLS];
    static uint64_t gaps[CALLS];
    uint64_t time = UINT64_C(123456789012);
    for (size_t i = 0; i < CALLS; i++) {
        lengths[i] = jittered(1500, bench->jitter);
        gaps[i] = jittered(500, bench->jitter);
    }
    for (uint64_t i = 0; i < bench->kernels; i++) {
        const uint64_t words[] = {0x400000 + 64 * (i % SHAPES), 64, 1,     256, 1,
                                  0x7ffc00001000 + i % 16,      0,  0x5000};
        struct rtl_wire_api api = {.start_ns = time,
                                   .end_ns = time + lengths[i % CALLS],
                                   .correlation = i + 1,
                                   .range = i / 100,
                                   .stream = 0x5000,
                                   .thread = 4711,
                                   .words = 8,
                                   .flags = RTL_API_STREAM};
        rtl_writer_api(writer, process, &api, words);
        time = api.end_ns + gaps[i % CALLS];
        if (i % CHECKPOINT == CHECKPOINT - 1)
            (void)rtl_writer_checkpoint(writer);
    }
}

static double read_calls(rtl_trace_t *trace, uint64_t expected)
{
    rtl_api_iter_t *iter = NULL;
    rtl_api_t api;
    uint64_t count = 0;
    double begin = seconds();
    if (rtlTraceApi(trace, NULL, &iter) == RTL_OK)
        while (rtlApiNext(iter, &api) == RTL_OK)
            count++;
    rtlApiIterFree(iter);
    if (count != expected)
        exit(1); /* NOLINT(concurrency-mt-unsafe): one thread */
    return (double)count / (seconds() - begin);
}

/* In the order of the calls, as kernels mostly are. */
static double look_up_calls(rtl_trace_t *trace, uint64_t count)
{
    rtl_trace_origin_t origin = {0};
    double begin = seconds();
    for (uint64_t i = 1; i <= count; i++)
        if (rtlTraceOrigin(trace, 1, i, &origin) != RTL_OK || origin.call != i)
            exit(1); /* NOLINT(concurrency-mt-unsafe): one thread */
    return (double)count / (seconds() - begin);
}

static void run_calls(const struct bench *bench)
{
    char error[512] = "";
    const struct rtl_writer_options options = {.command = "bench_store", .replace = true};
    rtl_trace_t *trace = NULL;
    rtl_trace_info_t info;
    double begin = seconds();
    struct rtl_writer *writer = rtl_writer_open(bench->path, &options, error, sizeof error);
    if (writer) {
        write_calls(writer, define(writer, 1, SHAPES), bench);
        (void)rtl_writer_close(writer, 0, error, sizeof error);
    }
    double written = (double)bench->kernels / (seconds() - begin);
    if (error[0] || rtlTraceOpen(bench->path, &trace, error, sizeof error) != RTL_OK) {
        (void)fprintf(stderr, "bench_store: %s\n", error);
        exit(1); /* NOLINT(concurrency-mt-unsafe): one thread */
    }
    (void)rtlTraceInfo(trace, &info);
    double read = read_calls(trace, bench->kernels);
    double found = look_up_calls(trace, bench->kernels);
    (void)printf("calls  %llu calls  %.2f B/call  write %.2f M/s  read %.2f M/s  find %.2f M/s\n",
                 (unsigned long long)bench->kernels, (double)info.bytes / (double)bench->kernels,
                 written / 1e6, read / 1e6, found / 1e6);
    rtlTraceClose(trace);
    (void)unlink(bench->path);
}

/* Samples of hardware counters. */

/* Waves, instructions of three kinds, cycles of two, hits and misses: the first four are the same
 * each time a kernel runs. */
#define COUNTERS 8u

static double count_of(uint32_t shape, uint32_t counter, double size)
{
    static const double noises[COUNTERS] = {0, 0, 0, 0, 0.02, 0.02, 0.005, 0.05};
    static const double parts[COUNTERS] = {1, 400, 60, 7, 9, 8.7, 30, 5};
    double waves = (double)(64u << shape % 10) * (1 + shape % 7);
    double result = waves * parts[counter] * (1 + shape % 3) * size;
    return counter == 0 ? waves * size : result * (1 + noises[counter] * normal());
}

/* Counts of kernels beforehand; `varied`: in no order, and of any size. */
static uint64_t *prepare_counts(bool varied)
{
    uint64_t *counts = calloc(PREPARED, COUNTERS * sizeof *counts);
    uint32_t shapes[NODES];
    if (!counts)
        exit(1); /* NOLINT(concurrency-mt-unsafe): one thread */
    for (uint32_t i = 0; i < NODES; i++)
        shapes[i] = random32() % SHAPES;
    for (size_t i = 0; i < PREPARED; i++) {
        uint32_t shape = varied ? random32() % SHAPES : shapes[i % NODES];
        double size = varied ? exp(normal()) : 1;
        for (uint32_t k = 0; k < COUNTERS; k++)
            counts[i * COUNTERS + k] = (uint64_t)count_of(shape, k, size);
    }
    return counts;
}

static void write_samples(struct rtl_writer *writer, uint32_t process, const struct bench *bench,
                          const uint64_t *counts)
{
    const struct rtl_wire_counting counting = {.mode = RTL_COUNTING_KERNEL, .passes = 1};
    rtl_writer_counting(writer, process, &counting, "");
    for (uint32_t i = 0; i < COUNTERS; i++) {
        const char name[] = {'C', (char)('0' + i), '\0'};
        const struct rtl_wire_counter counter = {.counter = i, .name_length = 2};
        rtl_writer_counter(writer, process, &counter, name);
    }
    for (uint64_t i = 0; i < bench->kernels; i++) {
        const struct rtl_wire_sample sample = {.owner = i, .values = COUNTERS};
        rtl_writer_sample(writer, process, &sample, counts + i % PREPARED * COUNTERS);
        if (i % CHECKPOINT == CHECKPOINT - 1)
            (void)rtl_writer_checkpoint(writer);
    }
}

static double read_samples(rtl_trace_t *trace, uint64_t expected)
{
    rtl_sample_iter_t *iter = NULL;
    rtl_trace_sample_t sample;
    uint64_t count = 0;
    double begin = seconds();
    if (rtlTraceKernelSamples(trace, NULL, &iter) == RTL_OK)
        while (rtlSampleNext(iter, &sample) == RTL_OK && sample.count == COUNTERS)
            count++;
    rtlSampleIterFree(iter);
    if (count != expected)
        exit(1); /* NOLINT(concurrency-mt-unsafe): one thread */
    return (double)count / (seconds() - begin);
}

static double look_up_samples(rtl_trace_t *trace, uint64_t count)
{
    rtl_trace_sample_t sample;
    double begin = seconds();
    for (uint64_t i = 0; i < count; i++)
        if (rtlTraceKernelSample(trace, 1, 0, i, &sample) != RTL_OK || sample.owner != i)
            exit(1); /* NOLINT(concurrency-mt-unsafe): one thread */
    return (double)count / (seconds() - begin);
}

static void run_samples(const struct bench *bench, bool varied)
{
    char error[512] = "";
    const struct rtl_writer_options options = {.command = "bench_store", .replace = true};
    rtl_trace_t *trace = NULL;
    rtl_trace_info_t info;
    uint64_t *counts = prepare_counts(varied);
    double begin = seconds();
    struct rtl_writer *writer = rtl_writer_open(bench->path, &options, error, sizeof error);
    if (writer) {
        write_samples(writer, define(writer, 1, SHAPES), bench, counts);
        (void)rtl_writer_close(writer, 0, error, sizeof error);
    }
    double written = (double)bench->kernels / (seconds() - begin);
    check_error(error);
    if (rtlTraceOpen(bench->path, &trace, error, sizeof error) != RTL_OK)
        check_error(error);
    (void)rtlTraceInfo(trace, &info);
    double read = read_samples(trace, bench->kernels);
    double found = look_up_samples(trace, bench->kernels);
    (void)printf("samples %s  %llu samples of %u  %.2f B/sample  write %.2f M/s  read %.2f M/s  "
                 "find %.2f M/s\n",
                 varied ? "varied" : "replay", (unsigned long long)bench->kernels, COUNTERS,
                 (double)info.bytes / (double)bench->kernels, written / 1e6, read / 1e6,
                 found / 1e6);
    rtlTraceClose(trace);
    (void)unlink(bench->path);
    free(counts);
}

/* False if the option is not one of this program's, or its value is none. */
static bool take_option(struct bench *bench, const char *option, const char *value)
{
    if (strcmp(option, "--kernels") == 0)
        return (bench->kernels = strtoull(value, NULL, 10)) > 0;
    if (strcmp(option, "--jitter") == 0) {
        bench->jitter = strtod(value, NULL) / 100;
        return *value != '\0';
    }
    if (strcmp(option, "--file") == 0)
        return *(bench->path = value) != '\0';
    if (strcmp(option, "--write") == 0) {
        bench->write = value;
        return strcmp(value, "replay") == 0 || strcmp(value, "eager") == 0;
    }
    if (strcmp(option, "--shapes") == 0)
        return (bench->shapes = (uint32_t)strtoul(value, NULL, 10)) > 0;
    if (strcmp(option, "--queues") != 0)
        return false;
    bench->queues = (uint32_t)strtoul(value, NULL, 10);
    return bench->queues > 0 && bench->queues <= QUEUES_MAX;
}

int main(int count, char **arguments)
{
    struct bench bench = {.kernels = 4000000,
                          .jitter = 0.02,
                          .path = "/tmp/rtl-bench-store.db",
                          .queues = 1,
                          .shapes = SHAPES};
    for (int i = 1; i < count; i += 2) {
        if (take_option(&bench, arguments[i], i + 1 < count ? arguments[i + 1] : ""))
            continue;
        (void)fprintf(stderr, "usage: bench_store [--kernels N] [--jitter PERCENT] [--file PATH] "
                              "[--write replay|eager] [--queues N] [--shapes N]\n");
        return 2;
    }
    struct rtl_wire_kernel *prepared = prepare(&bench);
    if (bench.write) {
        (void)write_trace(&bench, prepared, strcmp(bench.write, "replay") == 0);
    } else {
        run(&bench, prepared, true);
        run(&bench, prepared, false);
        run_calls(&bench);
        run_samples(&bench, false);
        run_samples(&bench, true);
    }
    free(prepared);
    return 0;
}

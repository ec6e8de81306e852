/* What graph launches cost in a trace, and how fast one is found.
 *
 *     bench_launches [--launches N] [--nodes M] [--tries T] [--file PATH]
 *
 * A graph of M kernels is launched N times; times have normal jitter of 2 %. One line of JSON:
 *
 *   write_ns    processor time to take a launch and store it; which node each kernel is, is found
 *               out elsewhere (bench_graphs)
 *   bytes       of a launch in the file, without its kernels
 *   show_ms     one launch of those in the middle, with all its kernels, from rtlTraceOpen on, in a
 *               process that has read nothing before; median of T. The file is in the page cache
 *   show_cpu_ms processor time of that, median: what it takes on a machine with nothing else to do
 *   node_ms     the kernels of one node in all launches, the same way
 *   list_ns     a launch, when all are listed
 */
#include "store/launches.h"
#include "store/schema.h"
#include "store/writer.h"

#include <math.h>
#include <rtl/rtl_trace.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECKPOINT 500000u /* kernels */
#define PREPARED   65521u  /* times, made beforehand */
#define TRIES_MAX  101

struct bench {
    uint32_t launches, nodes;
    int tries;
    const char *path;
    uint32_t gaps[PREPARED], durations[PREPARED];
};

static double seconds(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Of this process: what others do besides does not count. */
static double cpu_seconds(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void fail(const char *sentence)
{
    (void)fprintf(stderr, "bench_launches: %s\n", sentence);
    exit(1); /* NOLINT(concurrency-mt-unsafe): one thread */
}

static uint32_t random32(void)
{
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 32);
}

/* Normal around `value` with a deviation of 2 % (Box and Muller). */
static uint32_t jittered(double value)
{
    double u = (random32() + 1.0) / 4294967297.0;
    double v = random32() / 4294967296.0;
    return (uint32_t)(value * (1 + 0.02 * sqrt(-2 * log(u)) * cos(6.283185307179586 * v)));
}

static uint32_t define(struct rtl_writer *writer, const struct bench *bench)
{
    const struct rtl_wire_process process = {.pid = 1};
    const struct rtl_wire_agent agent = {.clock_hz = 100000000, .device_type = 1};
    const struct rtl_wire_queue queue = {.size = 16384, .interception = RTL_INTERPOSED};
    const struct rtl_wire_clock point = {.ticks = 0, .system_ns = 0};
    const struct rtl_wire_symbol symbol = {.name_length = 6};
    const struct rtl_wire_shape shape = {.grid = {64, 1, 1}};
    const struct rtl_wire_graph graph = {.graph = 1, .generation = 1, .nodes = bench->nodes};
    uint32_t id = rtl_writer_process(writer, &process, "");
    rtl_writer_agent(writer, id, &agent, "");
    rtl_writer_queue(writer, id, &queue);
    rtl_writer_clock(writer, id, &point);
    rtl_writer_symbol(writer, id, &symbol, "kernel");
    rtl_writer_shape(writer, id, &shape);
    rtl_writer_graph(writer, id, &graph);
    for (uint32_t i = 0; i < bench->nodes; i++) {
        uint32_t before = i - 1;
        const char name[] = {'k', 'e', 'r', 'n', 'e', 'l'};
        char rest[sizeof before + sizeof name];
        const struct rtl_wire_node node = {.graph = 1,
                                           .generation = 1,
                                           .node = i,
                                           .parent = RTL_NONE,
                                           .grid = {64, 1, 1},
                                           .dependencies = i > 0,
                                           .name_length = sizeof name};
        memcpy(rest, &before, sizeof before);
        memcpy(rest + (i > 0 ? sizeof before : 0), name, sizeof name);
        rtl_writer_node(writer, id, &node, rest);
    }
    return id;
}

static void write_one(struct rtl_writer *writer, uint32_t process, const struct bench *bench,
                      uint32_t number, uint64_t *time)
{
    for (uint32_t i = 0; i < bench->nodes; i++) {
        uint64_t at = (uint64_t)number * bench->nodes + i;
        struct rtl_wire_kernel kernel = {.packet = at,
                                         .start = *time + bench->gaps[at % PREPARED],
                                         .correlation = number,
                                         .launch = number,
                                         .ordinal = i};
        kernel.end = *time = kernel.start + bench->durations[at % PREPARED];
        rtl_writer_kernel(writer, process, &kernel);
        if (at % CHECKPOINT == CHECKPOINT - 1)
            (void)rtl_writer_checkpoint(writer);
    }
}

static struct rtl_wire_launch launch_of(const struct bench *bench, uint32_t number, uint64_t ticks)
{
    return (struct rtl_wire_launch){.launch = number,
                                    .graph = 1,
                                    .generation = 1,
                                    .time_ns = ticks * 10 - 5000 - bench->gaps[number % PREPARED],
                                    .correlation = number,
                                    .thread = 4711,
                                    .packets = bench->nodes,
                                    .kernels = bench->nodes};
}

static void write_trace(const struct bench *bench)
{
    char error[512] = "";
    const struct rtl_writer_options options = {.command = "bench_launches", .replace = true};
    uint64_t time = UINT64_C(123456789012);
    struct rtl_writer *writer = rtl_writer_open(bench->path, &options, error, sizeof error);
    if (!writer)
        fail(error);
    uint32_t process = define(writer, bench);
    for (uint32_t i = 1; i <= bench->launches; i++) {
        const struct rtl_wire_launch launch = launch_of(bench, i, time);
        rtl_writer_launch(writer, process, &launch);
        write_one(writer, process, bench, i, &time);
    }
    rtl_writer_process_end(writer, process, "closed", 1, 0);
    if (rtl_writer_close(writer, 0, error, sizeof error) != 0)
        fail(error);
}

static void commit(sqlite3 *db, struct rtl_launches *launches, struct rtl_rows *rows, bool end)
{
    if (sqlite3_exec(db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK ||
        rtl_launches_store(launches, rows) != SQLITE_OK ||
        sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        fail("the launches could not be stored");
    rtl_launches_stored(launches, end);
}

/* The launches alone, as the writer stores them. */
static double write_launches(const struct bench *bench)
{
    sqlite3 *db = NULL;
    struct rtl_launches launches = {0};
    uint64_t time = UINT64_C(123456789012);
    (void)unlink(bench->path);
    if (sqlite3_open(bench->path, &db) != SQLITE_OK ||
        sqlite3_exec(db, rtl_schema_graphs, NULL, NULL, NULL) != SQLITE_OK)
        fail("there is no place for a file");
    struct rtl_rows rows = {.db = db};
    double begin = cpu_seconds();
    for (uint32_t i = 1; i <= bench->launches; i++) {
        uint64_t start = time + bench->gaps[i % PREPARED];
        time = start + (uint64_t)bench->nodes * bench->durations[i % PREPARED];
        const struct rtl_graph_launch_item launch = {.body = launch_of(bench, i, start),
                                                     .plan = 1,
                                                     .recorded = bench->nodes,
                                                     .span_count = 1};
        const struct rtl_graphs_span span = {0, start, time};
        if (rtl_launches_add(&launches, 1, &launch, &span) == RTL_LAUNCHES_FULL)
            commit(db, &launches, &rows, false);
    }
    commit(db, &launches, &rows, true);
    double result = cpu_seconds() - begin;
    rtl_launches_free(&launches);
    rtl_rows_close(&rows);
    (void)sqlite3_close(db);
    (void)unlink(bench->path);
    return result / bench->launches;
}

static double bytes_of_launches(const struct bench *bench)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    double bytes = 0;
    if (sqlite3_open_v2(bench->path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db,
                           "SELECT total(length(data) + length(summary)) + 100 * count(*),"
                           " (SELECT count(*) FROM graph_launch_rows) FROM launch_chunks",
                           -1, &row, NULL) != SQLITE_OK ||
        sqlite3_step(row) != SQLITE_ROW || sqlite3_column_int64(row, 1) != 0)
        fail("the launches are not in chunks");
    bytes = sqlite3_column_double(row, 0);
    (void)sqlite3_finalize(row);
    (void)sqlite3_close(db);
    return bytes / bench->launches;
}

static rtl_trace_t *open_trace(const struct bench *bench)
{
    char error[512] = "";
    rtl_trace_t *trace = NULL;
    if (rtlTraceOpen(bench->path, &trace, error, sizeof error) != RTL_OK)
        fail(error);
    return trace;
}

static uint64_t count_kernels(rtl_kernel_iter_t *iter)
{
    rtl_kernel_t kernel;
    uint64_t count = 0;
    while (rtlKernelNext(iter, &kernel) == RTL_OK)
        count++;
    rtlKernelIterFree(iter);
    return count;
}

static double show(const struct bench *bench, uint32_t number)
{
    double begin = seconds();
    rtl_graph_launch_t launch;
    rtl_kernel_iter_t *iter = NULL;
    rtl_trace_t *trace = open_trace(bench);
    if (rtlTraceLaunch(trace, 1, 1, number, &launch) != RTL_OK || launch.launch != number ||
        rtlTraceLaunchKernels(trace, 1, 1, number, &iter) != RTL_OK ||
        count_kernels(iter) != bench->nodes)
        fail("a launch was not found");
    double result = seconds() - begin;
    rtlTraceClose(trace);
    return result;
}

static double show_node(const struct bench *bench, uint32_t node)
{
    double begin = seconds();
    rtl_kernel_iter_t *iter = NULL;
    rtl_trace_t *trace = open_trace(bench);
    if (rtlTraceNodeKernels(trace, 1, 1, 0, node, &iter) != RTL_OK ||
        count_kernels(iter) != bench->launches)
        fail("the kernels of a node were not found");
    double result = seconds() - begin;
    rtlTraceClose(trace);
    return result;
}

struct times {
    double wall, cpu; /* seconds */
};

/* In a process of its own. */
static struct times alone(const struct bench *bench,
                          double (*measured)(const struct bench *, uint32_t), uint32_t argument)
{
    int ends[2];
    int status = 0;
    struct times result = {0};
    if (pipe(ends) != 0)
        fail("no pipe");
    (void)fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        result.cpu = -cpu_seconds();
        result.wall = measured(bench, argument);
        result.cpu += cpu_seconds();
        _exit(write(ends[1], &result, sizeof result) != sizeof result);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0 ||
        read(ends[0], &result, sizeof result) != sizeof result)
        fail("a measurement failed");
    (void)close(ends[0]);
    (void)close(ends[1]);
    return result;
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

static double list_launches(const struct bench *bench)
{
    rtl_launch_iter_t *iter = NULL;
    rtl_graph_launch_t launch;
    rtl_trace_t *trace = open_trace(bench);
    uint64_t count = 0;
    double begin = seconds();
    if (rtlTraceLaunches(trace, NULL, &iter) == RTL_OK)
        while (rtlLaunchNext(iter, &launch) == RTL_OK)
            count++;
    double result = seconds() - begin;
    rtlLaunchIterFree(iter);
    rtlTraceClose(trace);
    if (count != bench->launches)
        fail("launches are missing");
    return result / (double)count;
}

static void run(const struct bench *bench)
{
    double walls[TRIES_MAX];
    double cpus[TRIES_MAX];
    double written = write_launches(bench);
    write_trace(bench);
    for (int i = 0; i < bench->tries; i++) {
        struct times one = alone(bench, show, 1 + random32() % bench->launches);
        walls[i] = one.wall;
        cpus[i] = one.cpu;
    }
    qsort(walls, (size_t)bench->tries, sizeof *walls, by_value);
    qsort(cpus, (size_t)bench->tries, sizeof *cpus, by_value);
    (void)printf("{\"launches\": %u, \"nodes\": %u, \"write_ns\": %.0f, \"bytes\": %.2f, "
                 "\"show_ms\": %.1f, \"show_cpu_ms\": %.1f, \"node_ms\": %.0f, "
                 "\"list_ns\": %.0f}\n",
                 bench->launches, bench->nodes, written * 1e9, bytes_of_launches(bench),
                 walls[bench->tries / 2] * 1e3, cpus[bench->tries / 2] * 1e3,
                 alone(bench, show_node, bench->nodes / 2).wall * 1e3, list_launches(bench) * 1e9);
    (void)unlink(bench->path);
}

int main(int count, char **arguments)
{
    static struct bench bench = {
        .launches = 1000000, .nodes = 8, .tries = 11, .path = "/tmp/rtl-bench-launches.db"};
    for (int i = 1; i < count; i += 2) {
        const char *value = i + 1 < count ? arguments[i + 1] : "";
        unsigned long number = strtoul(value, NULL, 10);
        if (strcmp(arguments[i], "--launches") == 0 && number > 0) {
            bench.launches = (uint32_t)number;
        } else if (strcmp(arguments[i], "--nodes") == 0 && number > 0) {
            bench.nodes = (uint32_t)number;
        } else if (strcmp(arguments[i], "--tries") == 0 && number > 0 && number <= TRIES_MAX) {
            bench.tries = (int)number;
        } else if (strcmp(arguments[i], "--file") == 0 && *value) {
            bench.path = value;
        } else {
            (void)fprintf(stderr, "usage: bench_launches [--launches N] [--nodes M] [--tries T] "
                                  "[--file PATH]\n");
            return 2;
        }
    }
    for (uint32_t i = 0; i < PREPARED; i++) {
        bench.gaps[i] = jittered(200);
        bench.durations[i] = jittered(500);
    }
    run(&bench);
    return 0;
}

/*
 * What single parts cost a kernel, one thread alone, without a runtime:
 *
 *     bench_parts PART [ROUNDS]
 *
 * PART is `pool` (a signal is taken and given back, 64 at a time), `push` (into the ring, 64
 * kernels at a time as the worker does), `record` (a host call's record with eight words, one by
 * one), `read` (out of the ring), `encode` and `decode` (a chunk of kernels), `reader` (the kernels
 * of a trace, queue by queue) or `reader-time` (in the order of time, of four queues that overlap).
 * Kernels are those of replays of a graph of 512 nodes with 2 % jitter. Prints one line of JSON: ns
 * of the thread's CPU clock per item, median over the rounds, and how many items there were, those
 * of rounds for warming up included.
 *
 * Instructions per item:
 *     valgrind --tool=callgrind --toggle-collect=measured bench_parts push 10
 */
#include "jitter.h"
#include "pool/pool.h"
#include "ring/ring.h"
#include "store/codec.h"
#include "store/writer.h"
#include "timing.h"

#include <inttypes.h>
#include <rtl/rtl_trace.h>
#include <stdio.h>
#include <string.h>

#define NODES   512u
#define SHAPES  40u
#define QUEUES  4u
#define BATCH   64u
#define WARM_UP 4u
#define ROUND   RTL_CHUNK_KERNELS /* items of a round, where a part does not say otherwise */
#define RING    ((size_t)8 << 20) /* a round of host calls fits, and it wraps every other round */

struct part {
    const char *name;
    void (*begin)(void);
    void (*ready)(void); /* before each round, not measured */
    void (*run)(void);
    void (*end)(void);
    uint32_t items; /* of a round */
};

static struct rtl_wire_kernel kernels[ROUND];
static struct rtl_pool pool;
static struct rtl_ring ring;
static struct rtl_codec *codec;
static struct rtl_chunk chunk;
static const unsigned char *packed;
static size_t packed_size;
static char trace_path[] = "/tmp/bench_parts.XXXXXX";
static rtl_trace_t *trace;
static const struct part *part;
static uint32_t handed; /* records out of the ring */
static uint64_t seen;   /* keeps what was read from being optimised away */

static _Noreturn void fail(const char *what)
{
    (void)fprintf(stderr, "bench_parts: %s\n", what);
    exit(1); // NOLINT(concurrency-mt-unsafe): there is one thread
}

static void make_kernels(void)
{
    double durations[NODES];
    double gaps[NODES];
    uint64_t clock = UINT64_C(123456789012);
    for (uint32_t i = 0; i < NODES; i++) {
        durations[i] = 200 + random32() % 1800;
        gaps[i] = 100 + random32() % 200;
    }
    for (uint32_t i = 0; i < ROUND; i++) {
        uint64_t start = clock + jittered(gaps[i % NODES]);
        clock = start + jittered(durations[i % NODES] * (random32() % 1000 ? 1 : 5));
        kernels[i] = (struct rtl_wire_kernel){.packet = i,
                                              .start = start,
                                              .end = clock,
                                              .correlation = 1 + i / NODES,
                                              .shape = i % NODES % SHAPES,
                                              .launch = i / NODES,
                                              .ordinal = i % NODES};
    }
}

static void nothing(void)
{
}

/* The pool. */

static bool create(void *context, uint64_t *handle)
{
    *handle = ++*(uint64_t *)context;
    return true;
}

static void destroy(void *context, uint64_t handle)
{
    (void)context;
    (void)handle;
}

static void begin_pool(void)
{
    static uint64_t made;
    const struct rtl_pool_backend backend = {create, destroy, &made};
    if (!rtl_pool_init(&pool, 4096, backend) || rtl_pool_grow(&pool, 4096) != 4096)
        fail("no pool");
}

static void run_pool(void)
{
    uint32_t ids[BATCH];
    for (uint32_t i = 0; i < ROUND; i += BATCH) {
        unsigned taken = rtl_pool_take(&pool, ids, BATCH);
        if (taken != BATCH)
            fail("the pool is empty");
        rtl_pool_give(&pool, ids, taken);
    }
}

static void end_pool(void)
{
    (void)rtl_pool_end(&pool);
}

/* The ring. */

static void begin_ring(void)
{
    if (rtl_ring_create_private(&ring, RING) != 0)
        fail("no ring");
}

static void count(void *context, enum rtl_wire_type type, const void *body, size_t size)
{
    (void)context;
    (void)size;
    handed++;
    if (type == RTL_WIRE_KERNEL)
        seen += ((const struct rtl_wire_kernel *)body)->ordinal;
}

static void empty_ring(void)
{
    uint64_t torn = 0;
    while (rtl_ring_read(&ring, UINT32_MAX, false, count, NULL, &torn) > 0)
        ;
}

static void push(void)
{
    for (uint32_t i = 0; i < ROUND; i += BATCH)
        if (rtl_ring_push_kernels(&ring, kernels + i, BATCH) != BATCH)
            fail("the ring is full");
}

static void push_calls(void)
{
    static const uint64_t words[8] = {
        0x555500001000, 64, UINT64_C(1) << 32 | 1, 256, 1, 0, 0x7ffd00001000, 0x7f0000400000};
    for (uint32_t i = 0; i < ROUND; i++) {
        const struct rtl_wire_api api = {
            .start_ns = i, .end_ns = i + 1, .correlation = i, .thread = 100, .words = 8};
        const struct rtl_piece pieces[] = {{&api, sizeof api}, {words, sizeof words}};
        if (!rtl_ring_push(&ring, RTL_WIRE_API, pieces, 2))
            fail("the ring is full");
    }
}

static void read_ring(void)
{
    handed = 0;
    empty_ring();
    if (handed != ROUND)
        fail("not all kernels came out of the ring");
}

static void end_ring(void)
{
    empty_ring();
    rtl_ring_unmap(&ring);
}

/* The codec. */

static void encode(void)
{
    if (rtl_codec_encode(codec, kernels, ROUND, &chunk, &packed, &packed_size) != 0)
        fail("no memory to pack a chunk");
}

static void begin_codec(void)
{
    codec = rtl_codec_new();
    if (codec == NULL)
        fail("no memory");
    encode();
}

static void decode(void)
{
    struct rtl_codec_block block;
    if (rtl_codec_open(codec, &chunk, packed, packed_size, true) != 0)
        fail("the chunk is damaged");
    do {
        if (rtl_codec_next(codec, &block) != 0)
            fail("the chunk is damaged");
        seen += block.count;
    } while (block.count > 0);
}

static void end_codec(void)
{
    rtl_codec_free(codec);
}

/* The reader, on a trace with the kernels on each of four queues. */

static void define(struct rtl_writer *writer, uint32_t *process)
{
    static const char name[] = "_Z6kernelPfPi";
    const struct rtl_wire_process started = {.pid = 1};
    const struct rtl_wire_agent agent = {.clock_hz = 100000000, .device_type = 1};
    const struct rtl_wire_clock point = {.ticks = 0};
    *process = rtl_writer_process(writer, &started, "");
    rtl_writer_agent(writer, *process, &agent, "");
    rtl_writer_clock(writer, *process, &point);
    for (uint32_t i = 0; i < QUEUES; i++) {
        const struct rtl_wire_queue queue = {
            .queue = i, .size = 16384, .interception = RTL_INTERPOSED};
        rtl_writer_queue(writer, *process, &queue);
    }
    for (uint32_t i = 0; i < SHAPES; i++) {
        const struct rtl_wire_symbol symbol = {.symbol = i, .name_length = sizeof name - 1};
        const struct rtl_wire_shape shape = {.shape = i, .symbol = i, .grid = {64, 1, 1}};
        rtl_writer_symbol(writer, *process, &symbol, name);
        rtl_writer_shape(writer, *process, &shape);
    }
}

static void begin_reader(void)
{
    char error[512] = "";
    const struct rtl_writer_options options = {.command = "bench_parts", .replace = true};
    uint32_t process = 0;
    int file = mkstemp(trace_path);
    if (file < 0)
        fail("no file in /tmp");
    (void)close(file);
    struct rtl_writer *writer = rtl_writer_open(trace_path, &options, error, sizeof error);
    if (writer == NULL)
        fail(error);
    define(writer, &process);
    for (uint32_t i = 0; i < ROUND * QUEUES; i++) {
        struct rtl_wire_kernel kernel = kernels[i / QUEUES];
        kernel.queue = i % QUEUES;
        kernel.launch = kernel.ordinal = RTL_NONE;
        rtl_writer_kernel(writer, process, &kernel);
    }
    if (rtl_writer_close(writer, 0, error, sizeof error) != 0 ||
        rtlTraceOpen(trace_path, &trace, error, sizeof error) != RTL_OK)
        fail(error);
}

static void read_trace(int by_queue)
{
    rtl_kernel_filter_t filter = RTL_KERNEL_FILTER_ALL;
    rtl_kernel_iter_t *iter = NULL;
    rtl_kernel_t kernel;
    uint32_t got = 0;
    filter.by_queue = by_queue;
    if (rtlTraceKernels(trace, &filter, &iter) == RTL_OK)
        while (rtlKernelNext(iter, &kernel) == RTL_OK)
            got++;
    rtlKernelIterFree(iter);
    if (got != ROUND * QUEUES)
        fail("not all kernels came back");
}

static void read_by_queue(void)
{
    read_trace(1);
}

static void read_by_time(void)
{
    read_trace(0);
}

static void end_reader(void)
{
    rtlTraceClose(trace);
    (void)unlink(trace_path);
}

static const struct part parts[] = {
    {"pool", begin_pool, nothing, run_pool, end_pool, ROUND},
    {"push", begin_ring, empty_ring, push, end_ring, ROUND},
    {"record", begin_ring, empty_ring, push_calls, end_ring, ROUND},
    {"read", begin_ring, push, read_ring, end_ring, ROUND},
    {"encode", begin_codec, nothing, encode, end_codec, ROUND},
    {"decode", begin_codec, nothing, decode, end_codec, ROUND},
    {"reader", begin_reader, nothing, read_by_queue, end_reader, ROUND *QUEUES},
    {"reader-time", begin_reader, nothing, read_by_time, end_reader, ROUND *QUEUES},
};

/* What callgrind is told to count: a function of its own, with something to do after the call. */
static __attribute__((noinline)) void measured(void)
{
    part->run();
    seen++;
}

static double one_round(void)
{
    part->ready();
    double begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
    measured();
    return (now_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / part->items;
}

int main(int argc, char **argv)
{
    size_t rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 50;
    for (size_t i = 0; argc > 1 && i < sizeof parts / sizeof *parts; i++)
        if (strcmp(argv[1], parts[i].name) == 0)
            part = &parts[i];
    double *costs = calloc(rounds + 1, sizeof *costs);
    if (part == NULL || rounds == 0 || costs == NULL) {
        (void)fprintf(stderr, "usage: bench_parts pool|push|record|read|encode|decode|reader|"
                              "reader-time [ROUNDS]\n");
        free(costs);
        return 2;
    }
    make_kernels();
    part->begin();
    for (size_t i = 0; i < WARM_UP; i++)
        (void)one_round();
    for (size_t i = 0; i < rounds; i++)
        costs[i] = one_round();
    part->end();
    (void)printf("{\"part\": \"%s\", \"items\": %zu, \"cpu_ns\": %.2f}\n", part->name,
                 (rounds + WARM_UP) * part->items, quantile(costs, rounds, 0.5));
    free(costs);
    return 0;
}

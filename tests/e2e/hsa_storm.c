/*
 * Many dispatches at HSA level, in every pattern a producer may use, with checks of its own: each
 * kernel ran as often as it was dispatched, each completion signal was decremented exactly once.
 *
 * Says what it did in one line on stdout, the same from run to run; a failed check ends it with
 * status 1.
 */
#include "gpu.h"

#include <argp.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Signals of its own that a producer has in flight; each is waited for before it is armed again. */
#define SIGNALS 64

#define MAX_THREADS 64
#define MAX_QUEUES  64

struct options {
    uint64_t dispatches; /* in all */
    uint64_t batch;      /* dispatches per doorbell */
    uint64_t queues, threads, queue_size;
    uint64_t signal_every;   /* every k-th dispatch of a thread has a signal of its own, 0: none */
    uint64_t counting_every; /* every k-th dispatch has the thread's counting signal, 0: none */
    uint64_t barrier_every;  /* a barrier packet after every m-th dispatch, 0: none */
    uint64_t bit_every;      /* the barrier bit on every m-th dispatch, 0: none */
    bool time;
};

static struct options options = {
    .dispatches = 1000000, .batch = 1, .queues = 1, .threads = 1, .queue_size = 4096};

struct producer {
    pthread_t thread;
    struct gpu *gpu;
    hsa_queue_t *queue;
    hsa_signal_t own[SIGNALS];
    bool armed[SIGNALS];
    hsa_signal_t counting;
    uint64_t count;            /* dispatches to make */
    uint64_t made, signalled;  /* dispatches made, signals of its own used */
    uint64_t counted;          /* dispatches with the counting signal */
    uint64_t barriers;         /* barrier packets made */
    uint64_t ran[GPU_KERNELS]; /* dispatches per kernel */
    uint64_t errors;
};

enum { KEY_SIGNAL = 's', KEY_COUNTING = 'c', KEY_BARRIER = 'b', KEY_BIT = 'B' };

static const struct argp_option option_table[] = {
    {"dispatches", 'n', "N", 0, "dispatches in all (1000000)", 0},
    {"batch", 'g', "N", 0, "dispatches per doorbell (1)", 0},
    {"queues", 'q', "N", 0, "queues (1)", 0},
    {"threads", 't', "N", 0, "producer threads, spread over the queues (1)", 0},
    {"queue-size", 'z', "N", 0, "packets of a queue, a power of two (4096)", 0},
    {"signal-every", KEY_SIGNAL, "K", 0, "own completion signal on every K-th dispatch", 0},
    {"counting-every", KEY_COUNTING, "K", 0, "one counting signal on every K-th dispatch", 0},
    {"barrier-every", KEY_BARRIER, "M", 0, "barrier packet after every M-th dispatch", 0},
    {"bit-every", KEY_BIT, "M", 0, "barrier bit on every M-th dispatch", 0},
    {"time", 'T', NULL, 0, "say on stderr how long it took", 0},
    {0}};

// NOLINTBEGIN(concurrency-mt-unsafe): argp runs before there are threads
static uint64_t number(const char *text, struct argp_state *state)
{
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (errno || end == text || *end)
        argp_error(state, "'%s' is not a number", text);
    return value;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    switch (key) {
    case 'n':
        options.dispatches = number(arg, state);
        return 0;
    case 'g':
        options.batch = number(arg, state);
        return 0;
    case 'q':
        options.queues = number(arg, state);
        return 0;
    case 't':
        options.threads = number(arg, state);
        return 0;
    case 'z':
        options.queue_size = number(arg, state);
        return 0;
    case KEY_SIGNAL:
        options.signal_every = number(arg, state);
        return 0;
    case KEY_COUNTING:
        options.counting_every = number(arg, state);
        return 0;
    case KEY_BARRIER:
        options.barrier_every = number(arg, state);
        return 0;
    case KEY_BIT:
        options.bit_every = number(arg, state);
        return 0;
    case 'T':
        options.time = true;
        return 0;
    case ARGP_KEY_END:
        if (!options.batch || !options.queues || options.queues > MAX_QUEUES || !options.threads ||
            options.threads > MAX_THREADS)
            argp_error(state, "batch, queues and threads are at least 1, the latter two at most %d",
                       MAX_QUEUES);
        /* A batch carries at most as many barriers as dispatches, and must fit into the queue. */
        if (options.batch * 2 > options.queue_size)
            argp_error(state, "a batch takes at most half of the queue");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}
// NOLINTEND(concurrency-mt-unsafe)

static void complain(struct producer *producer, const char *what, long long value)
{
    producer->errors++;
    (void)fprintf(stderr, "hsa_storm: %s is %lld\n", what, value);
}

/* Waits for the kernel that used this signal last; its value must be 0 then. */
static void settle_signal(struct producer *producer, uint64_t slot)
{
    hsa_signal_t signal = producer->own[slot];
    if (!producer->armed[slot])
        return;
    while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                     HSA_WAIT_STATE_BLOCKED) >= 1)
        ;
    hsa_signal_value_t value = hsa_signal_load_scacquire(signal);
    if (value != 0)
        complain(producer, "a signal decremented once from 1", value);
    producer->armed[slot] = false;
}

static hsa_signal_t arm_signal(struct producer *producer)
{
    uint64_t slot = producer->signalled++ % SIGNALS;
    settle_signal(producer, slot);
    hsa_signal_store_relaxed(producer->own[slot], 1);
    producer->armed[slot] = true;
    return producer->own[slot];
}

static bool each(uint64_t every, uint64_t ordinal)
{
    return every && ordinal % every == every - 1;
}

/* The next dispatch of the producer. */
static struct gpu_packet next_dispatch(struct producer *producer)
{
    uint64_t ordinal = producer->made++;
    struct gpu_packet packet = {{0}, (uint32_t)(ordinal % GPU_KERNELS), false};
    producer->ran[packet.kernel]++;
    packet.barrier = each(options.bit_every, ordinal);
    if (each(options.signal_every, ordinal)) {
        packet.signal = arm_signal(producer);
    } else if (each(options.counting_every, ordinal)) {
        packet.signal = producer->counting;
        producer->counted++;
    }
    return packet;
}

/* The wait of arm_signal must not be for a packet of the same unpublished batch. */
static uint64_t batch_limit(void)
{
    uint64_t limit = options.batch;
    if (options.signal_every && limit > options.signal_every * SIGNALS)
        limit = options.signal_every * SIGNALS;
    return limit;
}

static void *produce(void *argument)
{
    struct producer *producer = argument;
    uint64_t limit = batch_limit();
    struct gpu_packet *packets = calloc(limit * 2, sizeof *packets);
    if (!packets) {
        complain(producer, "memory for a batch in packets", (long long)limit);
        return NULL;
    }
    while (producer->made < producer->count) {
        uint32_t filled = 0;
        for (uint64_t i = 0; i < limit && producer->made < producer->count; i++) {
            bool barrier = each(options.barrier_every, producer->made);
            packets[filled++] = next_dispatch(producer);
            if (barrier) {
                packets[filled++] = (struct gpu_packet){{0}, GPU_BARRIER, true};
                producer->barriers++;
            }
        }
        gpu_submit(producer->gpu, producer->queue, packets, filled);
    }
    free(packets);
    return NULL;
}

/* A counting signal starts high and loses one per kernel: its start value does not depend on how
 * many dispatches will use it. */
static const hsa_signal_value_t counting_start = (hsa_signal_value_t)1 << 40;

static void open_producer(struct producer *producer, struct gpu *gpu, hsa_queue_t *queue,
                          uint64_t count)
{
    producer->gpu = gpu;
    producer->queue = queue;
    producer->count = count;
    producer->counting = gpu_signal(counting_start);
    for (int i = 0; i < SIGNALS; i++)
        producer->own[i] = gpu_signal(0);
}

/* When the queues are drained: every signal of the producer must have its final value. */
static void close_producer(struct producer *producer)
{
    for (uint64_t i = 0; i < SIGNALS; i++) {
        settle_signal(producer, i);
        gpu_must(hsa_signal_destroy(producer->own[i]), "own signal");
    }
    /* A profiler may forward a signal a moment after the kernels are done. */
    hsa_signal_value_t goal = counting_start - (hsa_signal_value_t)producer->counted;
    while (hsa_signal_wait_scacquire(producer->counting, HSA_SIGNAL_CONDITION_LT, goal + 1,
                                     UINT64_MAX, HSA_WAIT_STATE_BLOCKED) > goal)
        ;
    hsa_signal_value_t value = hsa_signal_load_scacquire(producer->counting);
    if (value != goal)
        complain(producer, "a counting signal's excess", (long long)(value - goal));
    gpu_must(hsa_signal_destroy(producer->counting), "counting signal");
}

static double seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void run_producers(struct producer *producers, hsa_queue_t **queues, const struct gpu *gpu)
{
    double begin = seconds();
    for (uint64_t i = 0; i < options.threads; i++) {
        if (pthread_create(&producers[i].thread, NULL, produce, &producers[i]) != 0)
            complain(&producers[i], "thread that could not start", (long long)i);
    }
    for (uint64_t i = 0; i < options.threads; i++)
        (void)pthread_join(producers[i].thread, NULL);
    double made = seconds();
    for (uint64_t i = 0; i < options.queues; i++)
        gpu_drain(gpu, queues[i]);
    double done = seconds();
    if (options.time)
        (void)fprintf(stderr, "submitted in %.6f s, done in %.6f s, %.0f dispatches/s\n",
                      made - begin, done - begin, (double)options.dispatches / (done - begin));
}

int main(int argc, char **argv)
{
    static const struct argp argp = {.options = option_table,
                                     .parser = parse,
                                     .doc = "Dispatches many small kernels at HSA level."};
    static struct producer producers[MAX_THREADS];
    hsa_queue_t *queues[MAX_QUEUES];
    struct gpu gpu;
    uint64_t errors = 0, barriers = 0, signalled = 0, counted = 0, ran[GPU_KERNELS] = {0};

    // NOLINTNEXTLINE(concurrency-mt-unsafe): before there are threads
    (void)argp_parse(&argp, argc, argv, 0, NULL, NULL);
    gpu_open(&gpu);
    for (uint64_t i = 0; i < options.queues; i++)
        queues[i] = gpu_queue(&gpu, (uint32_t)options.queue_size);
    for (uint64_t i = 0; i < options.threads; i++) {
        uint64_t share = options.dispatches / options.threads +
                         (i < options.dispatches % options.threads ? 1 : 0);
        open_producer(&producers[i], &gpu, queues[i % options.queues], share);
    }
    run_producers(producers, queues, &gpu);
    for (uint64_t i = 0; i < options.threads; i++) {
        close_producer(&producers[i]);
        errors += producers[i].errors;
        barriers += producers[i].barriers;
        signalled += producers[i].signalled;
        counted += producers[i].counted;
        for (int k = 0; k < GPU_KERNELS; k++)
            ran[k] += producers[i].ran[k];
    }
    for (int k = 0; k < GPU_KERNELS; k++) {
        uint64_t got = atomic_load(&gpu.counters[k]);
        if (got != ran[k]) {
            (void)fprintf(stderr,
                          "hsa_storm: kernel %d ran %llu times, was dispatched %llu times\n", k,
                          (unsigned long long)got, (unsigned long long)ran[k]);
            errors++;
        }
    }
    for (uint64_t i = 0; i < options.queues; i++)
        gpu_must(hsa_queue_destroy(queues[i]), "queue");
    gpu_close(&gpu);
    gpu_must(hsa_shut_down(), "hsa_shut_down");
    if (errors)
        return 1;
    (void)printf("dispatched %llu, barriers %llu, own signals %llu, counted %llu: all right\n",
                 (unsigned long long)options.dispatches, (unsigned long long)barriers,
                 (unsigned long long)signalled, (unsigned long long)counted);
    return 0;
}

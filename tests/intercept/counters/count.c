/*
 * count WAY: kernels, each of a size that the program knows, in ranges that it knows.
 *
 *   queues     four threads with a queue each, all kernels of different sizes
 *   waits      two queues whose barrier packets wait for each other's kernels, to and fro
 *   fair       two queues that are full before anything can run
 *   shared     one queue that four threads write to, in batches
 *   nest       eight ranges in each other, and kernels before, between and behind
 *   idle       ranges whose work is done before they end, one by one
 *   threads    a range that four threads are in at once, a queue each
 *   churn      queues that come and go, in ranges and out of them
 *   small      a queue of 64 packets that is always full
 *   many N     N kernels in one queue, the last in a range
 *   pairs N    N ranges, a kernel in each
 *   full N     the same, in a queue of 64 packets
 *   endless    a kernel that does not end before others have run
 *   left       ends with kernels and ranges on their way
 *   fork       a child that submits nothing, and ends
 *   twice      the runtime is shut down and opened again
 *   stop       some kernels while recording is stopped
 *
 * COUNT_EXPECTED: what the program knows. A line for each kernel, "kernel QUEUE PACKET WAVES" with
 * queues as they were made, and one for each range, "range NAME WAVES", with what was submitted in
 * ranges within it.
 */
#include "common/tsan.h"
#include "gpu.h"

#include <hsa/hsa_ext_amd.h>
#include <rtl/rtl.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4u
#define LANES   64u
#define HEADER(type, barrier)                                                                      \
    ((type) << HSA_PACKET_HEADER_TYPE | (barrier) << HSA_PACKET_HEADER_BARRIER |                   \
     HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |                           \
     HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE)

struct queue {
    hsa_queue_t *queue;
    unsigned ordinal;
};

static struct gpu gpu;
static FILE *expected;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic unsigned queues;

static struct queue make_queue(uint32_t size)
{
    return (struct queue){gpu_queue(&gpu, size), atomic_fetch_add(&queues, 1)};
}

static void end_queue(struct queue queue)
{
    gpu_must(hsa_queue_destroy(queue.queue), "queue");
}

/* ---- packets ---- */

static uint64_t reserve(hsa_queue_t *queue, uint64_t count)
{
    uint64_t first = hsa_queue_add_write_index_relaxed(queue, count);
    while (first + count - hsa_queue_load_read_index_scacquire(queue) > queue->size)
        (void)usleep(20);
    rtl_tsan_acquire(queue->base_address); /* the device has done with the slots */
    return first;
}

static void publish(hsa_queue_t *queue, uint64_t index, void *packet, uint16_t header)
{
    unsigned char *slot = (unsigned char *)queue->base_address + (index & (queue->size - 1)) * 64;
    memcpy(slot + sizeof header, (unsigned char *)packet + sizeof header, 64 - sizeof header);
    atomic_store_explicit((_Atomic uint16_t *)(void *)slot, header, memory_order_release);
}

static void ring(hsa_queue_t *queue, uint64_t last)
{
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)last);
}

static void write_kernel(hsa_queue_t *queue, uint64_t index, unsigned kernel, unsigned waves,
                         bool barrier, hsa_signal_t signal)
{
    hsa_kernel_dispatch_packet_t packet = {.setup = 1
                                                    << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS,
                                           .workgroup_size_x = LANES,
                                           .workgroup_size_y = 1,
                                           .workgroup_size_z = 1,
                                           .grid_size_x = LANES * waves,
                                           .grid_size_y = 1,
                                           .grid_size_z = 1,
                                           .kernel_object = gpu.kernels[kernel].object,
                                           .kernarg_address = gpu.kernargs[kernel],
                                           .completion_signal = signal};
    publish(queue, index, &packet, HEADER(HSA_PACKET_TYPE_KERNEL_DISPATCH, barrier));
}

static void expect_kernel(struct queue queue, uint64_t packet, unsigned waves)
{
    pthread_mutex_lock(&lock);
    if (expected != NULL)
        (void)fprintf(expected, "kernel %u %" PRIu64 " %u\n", queue.ordinal, packet, waves);
    pthread_mutex_unlock(&lock);
}

static void expect_range(const char *name, uint64_t waves)
{
    pthread_mutex_lock(&lock);
    if (expected != NULL)
        (void)fprintf(expected, "range %s %" PRIu64 "\n", name, waves);
    pthread_mutex_unlock(&lock);
}

static void submit_with(struct queue queue, unsigned waves, hsa_signal_t signal)
{
    uint64_t index = reserve(queue.queue, 1);
    write_kernel(queue.queue, index, waves % GPU_KERNELS, waves, false, signal);
    ring(queue.queue, index);
    expect_kernel(queue, index, waves);
}

static void submit(struct queue queue, unsigned waves)
{
    submit_with(queue, waves, (hsa_signal_t){0});
}

static void submit_barrier(struct queue queue, hsa_signal_t dependency, hsa_signal_t signal)
{
    hsa_barrier_and_packet_t packet = {.dep_signal = {dependency}, .completion_signal = signal};
    uint64_t index = reserve(queue.queue, 1);
    publish(queue.queue, index, &packet, HEADER(HSA_PACKET_TYPE_BARRIER_AND, 1));
    ring(queue.queue, index);
}

/* ---- the ways ---- */

static struct queue of_threads[THREADS];

static void *fill_queue(void *number)
{
    unsigned thread = (unsigned)(uintptr_t)number;
    for (unsigned i = 0; i < 200; i++)
        submit(of_threads[thread], 1 + thread + THREADS * (i % 50));
    gpu_drain(&gpu, of_threads[thread].queue);
    return NULL;
}

static void run_threads(void *(*run)(void *))
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, run, (void *)i) != 0)
            exit(3); // NOLINT(concurrency-mt-unsafe): no thread was made
    for (unsigned i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
}

static void way_queues(void)
{
    for (unsigned i = 0; i < THREADS; i++)
        of_threads[i] = make_queue(1024);
    run_threads(fill_queue);
    for (unsigned i = 0; i < THREADS; i++)
        end_queue(of_threads[i]);
}

/* Each queue's next kernel waits for the other's last one, and both are filled before anything
 * can run. */
static void way_waits(void)
{
    enum { STEPS = 40 };
    struct queue queue[2] = {make_queue(1024), make_queue(1024)};
    hsa_signal_t done[2][STEPS];
    hsa_signal_t begin = gpu_signal(1);
    for (unsigned i = 0; i < STEPS; i++)
        for (unsigned j = 0; j < 2; j++)
            done[j][i] = gpu_signal(1);
    submit_barrier(queue[0], begin, (hsa_signal_t){0});
    for (unsigned j = 0; j < 2; j++)
        for (unsigned i = 0; i < STEPS; i++) {
            if (j == 1)
                submit_barrier(queue[1], done[0][i], (hsa_signal_t){0});
            else if (i > 0)
                submit_barrier(queue[0], done[1][i - 1], (hsa_signal_t){0});
            submit_with(queue[j], 1 + i + STEPS * j, done[j][i]);
        }
    hsa_signal_store_screlease(begin, 0);
    for (unsigned j = 0; j < 2; j++)
        gpu_drain(&gpu, queue[j].queue);
    for (unsigned j = 0; j < 2; j++)
        end_queue(queue[j]);
}

/* Two queues that are full before anything can run: none is kept waiting by the other. */
static void way_fair(void)
{
    enum { KERNELS = 100 };
    struct queue queue[2] = {make_queue(1024), make_queue(1024)};
    hsa_signal_t begin = gpu_signal(1);
    for (unsigned j = 0; j < 2; j++) {
        submit_barrier(queue[j], begin, (hsa_signal_t){0});
        for (unsigned i = 0; i < KERNELS; i++)
            submit(queue[j], 1 + i + KERNELS * j);
    }
    hsa_signal_store_screlease(begin, 0);
    for (unsigned j = 0; j < 2; j++)
        gpu_drain(&gpu, queue[j].queue);
    for (unsigned j = 0; j < 2; j++)
        end_queue(queue[j]);
}

static void *share_queue(void *number)
{
    enum { BATCH = 5 };
    unsigned thread = (unsigned)(uintptr_t)number;
    struct queue queue = of_threads[0];
    for (unsigned i = 0; i < 40; i++) {
        uint64_t first = reserve(queue.queue, BATCH);
        for (unsigned j = 0; j < BATCH; j++) {
            unsigned waves = 1 + thread + THREADS * j;
            write_kernel(queue.queue, first + j, j % GPU_KERNELS, waves, j % 2, (hsa_signal_t){0});
            expect_kernel(queue, first + j, waves);
        }
        ring(queue.queue, first + BATCH - 1);
    }
    return NULL;
}

static void way_shared(void)
{
    of_threads[0] = make_queue(256);
    run_threads(share_queue);
    gpu_drain(&gpu, of_threads[0].queue);
    end_queue(of_threads[0]);
}

static void nest(struct queue queue, unsigned level, uint64_t *waves)
{
    char name[16];
    uint64_t inside = 0;
    (void)snprintf(name, sizeof name, "level%u", level);
    (void)rtlRangePush(name);
    for (unsigned i = 0; i < 3; i++) {
        submit(queue, 1 + level);
        inside += 1 + level;
    }
    if (level < 8)
        nest(queue, level + 1, &inside);
    submit(queue, 20 + level);
    inside += 20 + level;
    (void)rtlRangePop(NULL);
    expect_range(name, inside);
    *waves += inside;
}

static void way_nest(void)
{
    struct queue queue = make_queue(1024);
    uint64_t all = 0;
    submit(queue, 7);
    nest(queue, 1, &all);
    submit(queue, 9);
    gpu_drain(&gpu, queue.queue);
    end_queue(queue);
}

static void way_idle(void)
{
    struct queue queue = make_queue(1024);
    for (unsigned i = 0; i < 20; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "idle%u", i);
        (void)rtlRangePush(name);
        submit(queue, 1 + i);
        submit(queue, 2);
        gpu_drain(&gpu, queue.queue);
        (void)rtlRangePop(NULL);
        expect_range(name, 3 + i);
        if (i % 2)
            submit(queue, 100);
        if (i % 4 == 3)
            gpu_drain(&gpu, queue.queue);
    }
    gpu_drain(&gpu, queue.queue);
    end_queue(queue);
}

static uint64_t together;
static _Atomic uint64_t together_waves;

static void *be_in_range(void *number)
{
    unsigned thread = (unsigned)(uintptr_t)number;
    (void)rtlRangeEnter(together);
    for (unsigned i = 0; i < 50; i++) {
        submit(of_threads[thread], 1 + thread);
        atomic_fetch_add(&together_waves, 1 + thread);
    }
    (void)rtlRangePop(NULL);
    return NULL;
}

static void way_threads(void)
{
    for (unsigned i = 0; i < THREADS; i++)
        of_threads[i] = make_queue(1024);
    together = rtlRangeStart("together");
    run_threads(be_in_range);
    (void)rtlRangeStop(together);
    expect_range("together", together_waves);
    for (unsigned i = 0; i < THREADS; i++) {
        gpu_drain(&gpu, of_threads[i].queue);
        end_queue(of_threads[i]);
    }
}

static void way_churn(void)
{
    (void)rtlRangePush("around");
    uint64_t all = 0;
    for (unsigned i = 0; i < 30; i++) {
        char name[16];
        struct queue queue = make_queue(64u << i % 3);
        (void)snprintf(name, sizeof name, "churn%u", i);
        submit(queue, 3);
        (void)rtlRangePush(name);
        submit(queue, 1 + i);
        all += 4 + i;
        if (i % 3 == 0) {
            (void)rtlRangePop(NULL);
            submit(queue, 50);
            all += 50;
        }
        gpu_drain(&gpu, queue.queue);
        if (i % 3 == 1)
            (void)rtlRangePop(NULL);
        end_queue(queue);
        if (i % 3 == 2)
            (void)rtlRangePop(NULL);
        expect_range(name, 1 + i);
    }
    (void)rtlRangePop(NULL);
    expect_range("around", all);
}

static void way_small(void)
{
    struct queue queue = make_queue(64);
    for (unsigned i = 0; i < 2000; i++)
        submit(queue, 1 + i % 60);
    gpu_drain(&gpu, queue.queue);
    end_queue(queue);
}

static void way_many(unsigned count)
{
    struct queue queue = make_queue(16384);
    for (unsigned i = 0; i < count; i++) {
        if (i + 1 == count)
            (void)rtlRangePush("last");
        submit(queue, 1 + i % 100);
    }
    (void)rtlRangePop(NULL);
    expect_range("last", 1 + (count - 1) % 100);
    gpu_drain(&gpu, queue.queue);
    end_queue(queue);
}

static void pairs(unsigned count, uint32_t size)
{
    struct queue queue = make_queue(size);
    for (unsigned i = 0; i < count; i++) {
        char name[24];
        (void)snprintf(name, sizeof name, "pair%u", i);
        (void)rtlRangePush(name);
        submit(queue, 1 + i % 100);
        (void)rtlRangePop(NULL);
        expect_range(name, 1 + i % 100);
    }
    gpu_drain(&gpu, queue.queue);
    end_queue(queue);
}

static void way_pairs(unsigned count)
{
    pairs(count, 4096);
}

static void way_full(unsigned count)
{
    pairs(count, 64);
}

/* The test makes storm_endless run for seconds. */
static void way_endless(void)
{
    struct queue slow = make_queue(64);
    struct queue quick = make_queue(64);
    uint64_t index = reserve(slow.queue, 1);
    write_kernel(slow.queue, index, GPU_ENDLESS, 1, false, (hsa_signal_t){0});
    ring(slow.queue, index);
    for (unsigned i = 0; i < 10; i++)
        submit(quick, 5);
    gpu_drain(&gpu, quick.queue);
    gpu_drain(&gpu, slow.queue);
    submit(quick, 6);
    gpu_drain(&gpu, quick.queue);
}

static void way_left(void)
{
    struct queue queue = make_queue(64);
    uint64_t index = reserve(queue.queue, 1);
    (void)rtlRangePush("left");
    write_kernel(queue.queue, index, GPU_ENDLESS, 1, false, (hsa_signal_t){0});
    ring(queue.queue, index);
    submit(queue, 5);
    (void)rtlRangePop(NULL);
    (void)rtlRangePush("open");
    submit(queue, 5);
}

static void way_fork(void)
{
    struct queue queue = make_queue(1024);
    submit(queue, 5);
    (void)rtlRangePush("parent");
    submit(queue, 6);
    pid_t child = fork();
    if (child == 0) {
        (void)rtlRangePop(NULL);
        (void)rtlRangePush("child");
        (void)rtlRangePop(NULL);
        _exit(0);
    }
    int status = 1;
    if (waitpid(child, &status, 0) != child || status != 0)
        exit(4); // NOLINT(concurrency-mt-unsafe): there is one thread
    submit(queue, 7);
    (void)rtlRangePop(NULL);
    expect_range("parent", 13);
    gpu_drain(&gpu, queue.queue);
    end_queue(queue);
}

static void once(const char *name, unsigned waves)
{
    struct queue queue = make_queue(1024);
    (void)rtlRangePush(name);
    submit(queue, waves);
    (void)rtlRangePop(NULL);
    expect_range(name, waves);
    gpu_drain(&gpu, queue.queue);
    end_queue(queue);
}

static void way_twice(void)
{
    once("first", 11);
    gpu_close(&gpu);
    gpu_must(hsa_shut_down(), "hsa_shut_down");
    gpu_open(&gpu);
    once("second", 12);
}

static void way_stop(void)
{
    struct queue queue = make_queue(1024);
    submit(queue, 5);
    gpu_drain(&gpu, queue.queue);
    (void)rtlStop();
    for (unsigned i = 0; i < 3; i++) {
        uint64_t index = reserve(queue.queue, 1);
        write_kernel(queue.queue, index, 0, 50, false, (hsa_signal_t){0});
        ring(queue.queue, index);
    }
    gpu_drain(&gpu, queue.queue);
    (void)rtlStart();
    (void)rtlRangePush("after");
    submit(queue, 6);
    (void)rtlRangePop(NULL);
    expect_range("after", 6);
    gpu_drain(&gpu, queue.queue);
    end_queue(queue);
}

int main(int count, char **words)
{
    static const struct {
        const char *name;
        void (*run)(void);
        void (*run_with)(unsigned);
    } ways[] = {
        {"queues", way_queues, NULL},   {"waits", way_waits, NULL}, {"fair", way_fair, NULL},
        {"shared", way_shared, NULL},   {"nest", way_nest, NULL},   {"idle", way_idle, NULL},
        {"threads", way_threads, NULL}, {"churn", way_churn, NULL}, {"small", way_small, NULL},
        {"many", NULL, way_many},       {"pairs", NULL, way_pairs}, {"full", NULL, way_full},
        {"endless", way_endless, NULL}, {"left", way_left, NULL},   {"fork", way_fork, NULL},
        {"twice", way_twice, NULL},     {"stop", way_stop, NULL}};
    // NOLINTNEXTLINE(concurrency-mt-unsafe): before there are threads
    const char *path = getenv("COUNT_EXPECTED");
    expected = path != NULL ? fopen(path, "w") : NULL;
    for (size_t i = 0; count > 1 && i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(words[1], ways[i].name) != 0)
            continue;
        struct timespec begin;
        struct timespec end;
        gpu_open(&gpu);
        (void)clock_gettime(CLOCK_MONOTONIC, &begin);
        if (ways[i].run != NULL)
            ways[i].run();
        else
            ways[i].run_with(count > 2 ? (unsigned)strtoul(words[2], NULL, 10) : 1000);
        (void)clock_gettime(CLOCK_MONOTONIC, &end);
        (void)printf("%.6f s\n", (double)(end.tv_sec - begin.tv_sec) +
                                     (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
        if (expected != NULL)
            (void)fclose(expected);
        return 0;
    }
    (void)fprintf(stderr, "usage: count WAY\n");
    return 2;
}

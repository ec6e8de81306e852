/*
 * Whether a packet's cost stays what it is when there are many: kernels in turn on many queues, in
 * batches that repeat many graphs' packets, and the cost of the packets from a tenth of so many to
 * so many.
 *
 *     bench_growth KERNELS QUEUES GRAPHS [RATE [BATCH [FROM TO]]]
 *
 * A batch has 16 packets, as a segment of a graph, or BATCH; a graph's kernels have arguments of
 * their own. The first batch of each queue warms up, before the KERNELS: memory that nobody has
 * written to yet is paid for there.
 * With a RATE, at most so many packets are submitted in a second: the thread spins between batches,
 * as a program that does something else, and that is in its CPU clock. 0: as fast as can be.
 * With FROM and TO, the time-stamp counter's figures are those of the groups before and after which
 * it took FROM to TO ns to read a line that the device had just written. A host may move a
 * virtual machine's processors about, many times a second: some of the time two share a cache, some
 * of the time they do not, and what goes from one to the other takes two to four times as long. A
 * median over both tells which there was more of.
 * Prints one line of JSON: for each power of ten up to KERNELS from 10 000, ns per packet of the
 * submitting thread's CPU clock, of the time-stamp counter (median over groups of batches), and of
 * the CPU time of rtl-worker, which is 0 without RTL; how many groups the median is of, with FROM
 * and TO; and how many packets there were, those for warming up included.
 */
#include "gpu.h"
#include "threads.h"
#include "timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE_SIZE   4096u
#define MOST_BATCH   256u
#define IN_FLIGHT    2048u
#define GROUP        512u /* packets between two looks at the clocks */
#define ARGUMENTS    256u
#define MOST_GRAPHS  4096u
#define MOST_QUEUES  64u
#define FIRST_FIGURE UINT64_C(10000)
#define MOST_SAMPLES 65536u
#define PACKET       64u
#define SETTLE_NS    10000 /* in which the device takes a few batches */

static struct gpu gpu;
static hsa_queue_t *queues[MOST_QUEUES];
static uint64_t *arguments[MOST_GRAPHS][GPU_KERNELS];
static unsigned queue_count, graph_count, batch_size = 16;
static double samples[MOST_SAMPLES];
static double scale;
static double ticks_per_batch;   /* 0: as fast as can be */
static double nearest, farthest; /* ns, FROM and TO */

/* The arguments of each graph's kernels: the same numbers at another address. */
static void make_arguments(void)
{
    char *memory = gpu_memory(&gpu, (size_t)graph_count * GPU_KERNELS * ARGUMENTS);
    for (unsigned i = 0; i < graph_count * GPU_KERNELS; i++) {
        uint64_t *own = (uint64_t *)(void *)(memory + (size_t)i * ARGUMENTS);
        own[0] = gpu.kernargs[i % GPU_KERNELS][0];
        arguments[i / GPU_KERNELS][i % GPU_KERNELS] = own;
    }
}

static uint64_t in_flight(void)
{
    uint64_t packets = 0;
    for (unsigned i = 0; i < queue_count; i++)
        packets += hsa_queue_load_write_index_relaxed(queues[i]) -
                   hsa_queue_load_read_index_scacquire(queues[i]);
    return packets;
}

/* As many packets are in flight with one queue as with all of them: it is the queues' number that
 * is to make a difference, not how far the device is behind. */
static void wait_for_room(void)
{
    while (in_flight() > IN_FLIGHT + batch_size)
        (void)usleep(20);
}

static void submit(struct gpu *view, uint64_t batch)
{
    struct gpu_packet packets[MOST_BATCH];
    for (unsigned i = 0; i < batch_size; i++)
        packets[i] = (struct gpu_packet){.kernel = i % GPU_KERNELS};
    memcpy(view->kernargs, arguments[batch % graph_count], sizeof arguments[0]);
    gpu_submit(view, queues[batch % queue_count], packets, batch_size);
}

/* ns that it takes to read the last header that the device has written in a queue's ring. */
static double reach(const hsa_queue_t *queue)
{
    unsigned processor;
    double end = now_ns(CLOCK_MONOTONIC) + SETTLE_NS;
    while (now_ns(CLOCK_MONOTONIC) < end)
        ;
    uint64_t last = hsa_queue_load_read_index_scacquire(queue) - 1;
    const unsigned char *slot =
        (const unsigned char *)queue->base_address + last % queue->size * PACKET;
    _mm_lfence();
    uint64_t begin = __rdtscp(&processor);
    _mm_lfence();
    (void)__atomic_load_n((const uint16_t *)(const void *)slot, __ATOMIC_RELAXED);
    _mm_lfence();
    return (double)(__rdtscp(&processor) - begin) / scale;
}

static bool is_in_reach(const hsa_queue_t *queue)
{
    if (farthest == 0)
        return true;
    double ns = reach(queue);
    return ns >= nearest && ns <= farthest;
}

/* Ticks that the batches from `begin` to `end` take to be submitted, each not before its turn. */
static uint64_t submit_group(struct gpu *view, uint64_t begin, uint64_t end)
{
    static double turn;
    uint64_t ticks = 0;
    if (ticks_per_batch == 0) {
        ticks = __rdtsc();
        for (uint64_t batch = begin; batch < end; batch++)
            submit(view, batch);
        return __rdtsc() - ticks;
    }
    for (uint64_t batch = begin; batch < end; batch++) {
        uint64_t now = __rdtsc();
        turn = turn + ticks_per_batch > (double)now ? turn + ticks_per_batch : (double)now;
        while ((double)(now = __rdtsc()) < turn)
            ;
        submit(view, batch);
        ticks += __rdtsc() - now;
    }
    return ticks;
}

struct figures {
    double cpu, median, worker; /* ns per packet; the median is 0 without groups */
    size_t groups;
};

/* Submits the batches from `begin` to `end`. */
static struct figures measure(uint64_t begin, uint64_t end)
{
    struct gpu view = gpu;
    double cpu = 0;
    size_t count = 0;
    bool was = is_in_reach(queues[0]);
    double worker = thread_cpu_ns("rtl-worker");
    for (uint64_t batch = begin; batch < end;) {
        wait_for_room();
        uint64_t until = batch + GROUP / batch_size < end ? batch + GROUP / batch_size : end;
        double packets = (double)((until - batch) * batch_size);
        double cpu_begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
        uint64_t ticks = submit_group(&view, batch, until);
        batch = until;
        cpu += now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_begin;
        bool is = is_in_reach(queues[(until - 1) % queue_count]);
        if (was && is)
            samples[count++ % MOST_SAMPLES] = (double)ticks / scale / packets;
        was = is;
    }
    for (unsigned i = 0; i < queue_count; i++)
        gpu_drain(&gpu, queues[i]);
    worker = thread_cpu_ns("rtl-worker") - worker;
    double packets = (double)((end - begin) * batch_size);
    size_t kept = count < MOST_SAMPLES ? count : MOST_SAMPLES;
    return (struct figures){cpu / packets, kept > 0 ? quantile(samples, kept, 0.5) : 0,
                            worker / packets, count};
}

int main(int argc, char **argv)
{
    bool enough = (argc >= 4 && argc <= 6) || argc == 8;
    uint64_t kernels = enough ? strtoull(argv[1], NULL, 10) : 0;
    queue_count = enough ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    graph_count = enough ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
    double rate = argc > 4 ? strtod(argv[4], NULL) : 0;
    if (argc > 5)
        batch_size = (unsigned)strtoul(argv[5], NULL, 10);
    nearest = argc == 8 ? strtod(argv[6], NULL) : 0;
    farthest = argc == 8 ? strtod(argv[7], NULL) : 0;
    if (kernels < FIRST_FIGURE || queue_count == 0 || queue_count > MOST_QUEUES ||
        graph_count == 0 || graph_count > MOST_GRAPHS || batch_size == 0 ||
        batch_size > MOST_BATCH || (argc == 8 && farthest <= nearest)) {
        (void)fprintf(
            stderr,
            "usage: bench_growth KERNELS QUEUES GRAPHS [RATE [BATCH [FROM TO]]], at least "
            "%u kernels, at most %u queues, %u graphs and %u packets, FROM below TO\n",
            (unsigned)FIRST_FIGURE, MOST_QUEUES, MOST_GRAPHS, MOST_BATCH);
        return 2;
    }
    gpu_open(&gpu);
    make_arguments();
    for (unsigned i = 0; i < queue_count; i++)
        queues[i] = gpu_queue(&gpu, QUEUE_SIZE);
    scale = ticks_per_ns();
    ticks_per_batch = rate > 0 ? batch_size * 1e9 / rate * scale : 0;
    (void)printf("{\"queues\": %u, \"graphs\": %u", queue_count, graph_count);
    uint64_t warm_up = queue_count;
    uint64_t done = warm_up + FIRST_FIGURE / 10 / batch_size;
    (void)measure(0, done);
    for (uint64_t upto = FIRST_FIGURE; upto <= kernels; upto *= 10) {
        struct figures figures = measure(done, warm_up + upto / batch_size);
        done = warm_up + upto / batch_size;
        (void)printf(", \"cpu_ns_%llu\": %.1f, \"median_ns_%llu\": %.1f, \"worker_ns_%llu\": %.1f",
                     (unsigned long long)upto, figures.cpu, (unsigned long long)upto,
                     figures.median, (unsigned long long)upto, figures.worker);
        if (farthest > 0)
            (void)printf(", \"groups_%llu\": %zu", (unsigned long long)upto, figures.groups);
    }
    uint64_t packets = done * batch_size;
    (void)printf(", \"items\": %llu}\n", (unsigned long long)packets);
    for (unsigned i = 0; i < queue_count; i++)
        gpu_must(hsa_queue_destroy(queues[i]), "queue destroy");
    gpu_must(hsa_memory_free(arguments[0][0]), "freeing arguments");
    gpu_close(&gpu);
    gpu_must(hsa_shut_down(), "shut down");
    return 0;
}

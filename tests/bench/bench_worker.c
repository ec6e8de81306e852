/*
 * What the completion worker costs: kernels at a rate for some time, and what the thread rtl-worker
 * has taken of the processors by then, as the kernel accounts for it.
 *
 *     bench_worker BATCH RATE SECONDS      RATE in kernels per second, 0: as many as there is room
 * for
 *
 * Prints one line of JSON: kernels, the rate that was reached, and the CPU time of the worker and
 * of the submitting thread in ns per kernel; the worker's is 0 without RTL. What the worker did not
 * record itself (lost, or helped with by the submitting thread) stands in the trace's ledger.
 */
#include "gpu.h"
#include "threads.h"
#include "timing.h"

#include <stdio.h>
#include <stdlib.h>

#define QUEUE_SIZE 16384u
#define WARM_UP_NS 1e8
#define LEAD_NS    50000. /* shorter pauses are made up for by the next one */

/* Sleeps until `due`, if that is worth it. */
static void pace(double due)
{
    double ahead = due - now_ns(CLOCK_MONOTONIC);
    if (ahead > LEAD_NS)
        (void)usleep((useconds_t)(ahead / 1000));
}

/* Submits for so long; the number of kernels. */
static uint64_t offer(const struct gpu *gpu, hsa_queue_t *queue, const struct gpu_packet *packets,
                      uint32_t batch, double rate, double length_ns)
{
    double begin = now_ns(CLOCK_MONOTONIC);
    uint64_t kernels = 0;
    while (now_ns(CLOCK_MONOTONIC) - begin < length_ns) {
        gpu_submit(gpu, queue, packets, batch);
        kernels += batch;
        if (rate > 0)
            pace(begin + (double)kernels / rate * 1e9);
    }
    return kernels;
}

int main(int argc, char **argv)
{
    uint32_t batch = argc == 4 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
    double rate = argc == 4 ? strtod(argv[2], NULL) : -1;
    double seconds = argc == 4 ? strtod(argv[3], NULL) : 0;
    if (batch == 0 || batch > QUEUE_SIZE / 2 || rate < 0 || seconds <= 0) {
        (void)fprintf(stderr,
                      "usage: bench_worker BATCH RATE SECONDS, BATCH from 1 to %u, RATE 0 for as "
                      "fast as possible\n",
                      QUEUE_SIZE / 2);
        return 2;
    }
    struct gpu gpu;
    gpu_open(&gpu);
    hsa_queue_t *queue = gpu_queue(&gpu, QUEUE_SIZE);
    struct gpu_packet *packets = calloc(batch, sizeof *packets);
    if (packets == NULL)
        return 3;
    (void)offer(&gpu, queue, packets, batch, rate, WARM_UP_NS);
    gpu_drain(&gpu, queue);
    double worker = thread_cpu_ns("rtl-worker");
    double submitter = now_ns(CLOCK_THREAD_CPUTIME_ID);
    double begin = now_ns(CLOCK_MONOTONIC);
    uint64_t kernels = offer(&gpu, queue, packets, batch, rate, seconds * 1e9);
    double end = now_ns(CLOCK_MONOTONIC);
    submitter = now_ns(CLOCK_THREAD_CPUTIME_ID) - submitter;
    gpu_drain(&gpu, queue);
    (void)usleep(20000); /* the worker reads what is left */
    worker = thread_cpu_ns("rtl-worker") - worker;
    (void)printf("{\"batch\": %u, \"kernels\": %llu, \"rate\": %.0f, \"worker_ns\": %.1f, "
                 "\"submitter_ns\": %.1f}\n",
                 batch, (unsigned long long)kernels, (double)kernels / (end - begin) * 1e9,
                 worker / (double)kernels, submitter / (double)kernels);
    free(packets);
    gpu_must(hsa_queue_destroy(queue), "queue destroy");
    gpu_close(&gpu);
    gpu_must(hsa_shut_down(), "shut down");
    return 0;
}

/*
 * What a submission costs the thread that makes it: time-stamp counter and thread CPU clock around
 * reserve, write and doorbell, per packet, for one batch size. Waiting for room in the queue is
 * outside of it.
 *
 *     bench_submit BATCH BATCHES
 *
 * Prints one line of JSON: the median and the mean over the batches, in ns per packet.
 */
#include "gpu.h"
#include "timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE_SIZE 16384u
#define WARM_UP    64u

static void wait_for_room(hsa_queue_t *queue, uint64_t next, uint32_t count)
{
    while (next + count - hsa_queue_load_read_index_scacquire(queue) > queue->size)
        (void)usleep(20);
}

int main(int argc, char **argv)
{
    uint32_t batch = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
    uint32_t batches = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    if (batch == 0 || batch > QUEUE_SIZE / 2 || batches == 0) {
        (void)fprintf(stderr,
                      "bench_submit: usage: bench_submit BATCH BATCHES, BATCH from 1 to %u\n",
                      QUEUE_SIZE / 2);
        return 2;
    }
    struct gpu gpu;
    gpu_open(&gpu);
    hsa_queue_t *queue = gpu_queue(&gpu, QUEUE_SIZE);
    struct gpu_packet *packets = calloc(batch, sizeof *packets);
    double *costs = calloc(batches, sizeof *costs);
    if (packets == NULL || costs == NULL) {
        free(costs);
        free(packets);
        return 3;
    }
    double scale = ticks_per_ns();
    double cpu = 0;
    for (uint64_t i = 0; i < WARM_UP + batches; i++) {
        wait_for_room(queue, i * batch, batch);
        double cpu_begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
        uint64_t begin = __rdtsc();
        gpu_submit(&gpu, queue, packets, batch);
        uint64_t end = __rdtsc();
        if (i < WARM_UP)
            continue;
        cpu += now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_begin;
        costs[i - WARM_UP] = (double)(end - begin) / scale / batch;
    }
    gpu_drain(&gpu, queue);
    double sum = 0;
    for (uint32_t i = 0; i < batches; i++)
        sum += costs[i];
    (void)printf("{\"batch\": %u, \"batches\": %u, \"median_ns\": %.1f, \"mean_ns\": %.1f, "
                 "\"cpu_ns\": %.1f}\n",
                 batch, batches, quantile(costs, batches, 0.5), sum / batches,
                 cpu / batches / batch);
    free(costs);
    free(packets);
    gpu_must(hsa_queue_destroy(queue), "queue destroy");
    gpu_close(&gpu);
    gpu_must(hsa_shut_down(), "shut down");
    return 0;
}

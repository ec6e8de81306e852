/*
 * What a submission costs the thread that makes it: time-stamp counter and thread CPU clock around
 * reserve, write and doorbell, per packet, for one batch size. Waiting for room in the queue is
 * outside of it.
 *
 *     bench_submit BATCH BATCHES [floor|paced]
 *
 * With `floor`, and without RTL, the program does itself the least that a profiler does: before the
 * doorbell it reads and writes each packet's 64 bytes in the ring once, with a completion signal in
 * it that was made before. A device that reads ahead of the doorbell could take the packet first,
 * so that is for the software GPU alone. `paced` leaves 5 ms after each batch, in which the device
 * and RTL's worker catch up: the thread has nothing of theirs to do.
 *
 * Prints one line of JSON: the median and the mean over the batches, in ns per packet, and how many
 * packets there were, those for warming up included.
 *
 * Instructions per packet:
 *     valgrind --tool=callgrind --toggle-collect=gpu_submit bench_submit 256 40 paced
 */
#include "gpu.h"
#include "timing.h"

#include <hsa/hsa_ext_amd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE_SIZE 16384u
#define WARM_UP    64u
#define PACE_US    5000
#define WORDS      (sizeof(hsa_kernel_dispatch_packet_t) / sizeof(uint64_t)) /* the signal is last */

/* One for each packet of the ring, of the kind that RTL's pool has: nobody is woken by it. */
static hsa_signal_t *make_signals(void)
{
    hsa_signal_t *signals = calloc(QUEUE_SIZE, sizeof *signals);
    for (uint32_t i = 0; signals != NULL && i < QUEUE_SIZE; i++)
        gpu_must(hsa_amd_signal_create(1, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &signals[i]),
                 "signal");
    return signals;
}

static void destroy_signals(hsa_signal_t *signals)
{
    for (uint32_t i = 0; signals != NULL && i < QUEUE_SIZE; i++)
        gpu_must(hsa_signal_destroy(signals[i]), "destroying a signal");
    free(signals);
}

/* Volatile, so that every word of the packet is read and written. */
static void give_signal(hsa_queue_t *queue, uint64_t index, hsa_signal_t signal)
{
    volatile uint64_t *words = (volatile uint64_t *)queue->base_address + index * WORDS;
    for (unsigned i = 0; i + 1 < WORDS; i++)
        words[i] = words[i];
    words[WORDS - 1] = signal.handle;
}

static void wait_for_room(hsa_queue_t *queue, uint64_t next, uint32_t count)
{
    while (next + count - hsa_queue_load_read_index_scacquire(queue) > queue->size)
        (void)usleep(20);
}

/* As gpu_submit, with a signal for each packet. */
static void submit_signalled(const struct gpu *gpu, hsa_queue_t *queue,
                             const struct gpu_packet *packets, uint32_t count,
                             const hsa_signal_t *signals)
{
    uint64_t first = hsa_queue_add_write_index_relaxed(queue, count);
    uint64_t mask = queue->size - 1;
    wait_for_room(queue, first, count);
    for (uint32_t i = 0; i < count; i++) {
        /* A device that is busy may read a packet before the doorbell is rung for it. */
        struct gpu_packet packet = packets[i];
        packet.signal = signals[(first + i) & mask];
        gpu_write(gpu, queue, first + i, &packet);
    }
    for (uint32_t i = 0; i < count; i++)
        give_signal(queue, (first + i) & mask, signals[(first + i) & mask]);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)(first + count - 1));
}

static void submit(const struct gpu *gpu, hsa_queue_t *queue, const struct gpu_packet *packets,
                   uint32_t count, const hsa_signal_t *signals)
{
    if (signals != NULL)
        submit_signalled(gpu, queue, packets, count, signals);
    else
        gpu_submit(gpu, queue, packets, count);
}

int main(int argc, char **argv)
{
    uint32_t batch = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
    uint32_t batches = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    bool least = argc > 3 && strcmp(argv[3], "floor") == 0;
    bool paced = argc > 3 && strcmp(argv[3], "paced") == 0;
    if (batch == 0 || batch > QUEUE_SIZE / 2 || batches == 0 || (argc > 3 && !least && !paced)) {
        (void)fprintf(
            stderr,
            "bench_submit: usage: bench_submit BATCH BATCHES [floor|paced], BATCH from 1 to %u\n",
            QUEUE_SIZE / 2);
        return 2;
    }
    struct gpu gpu;
    gpu_open(&gpu);
    hsa_queue_t *queue = gpu_queue(&gpu, QUEUE_SIZE);
    struct gpu_packet *packets = calloc(batch, sizeof *packets);
    double *costs = calloc(batches, sizeof *costs);
    hsa_signal_t *signals = least ? make_signals() : NULL;
    if (packets == NULL || costs == NULL || (least && signals == NULL)) {
        free(costs);
        free(packets);
        return 3;
    }
    double scale = ticks_per_ns();
    double cpu = 0;
    for (uint64_t i = 0; i < WARM_UP + batches; i++) {
        wait_for_room(queue, i * batch, batch);
        if (paced)
            (void)usleep(PACE_US);
        double cpu_begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
        uint64_t begin = __rdtsc();
        submit(&gpu, queue, packets, batch, signals);
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
    (void)printf("{\"batch\": %u, \"batches\": %u, \"items\": %u, \"median_ns\": %.1f, "
                 "\"mean_ns\": %.1f, \"cpu_ns\": %.1f}\n",
                 batch, batches, (WARM_UP + batches) * batch, quantile(costs, batches, 0.5),
                 sum / batches, cpu / batches / batch);
    free(costs);
    free(packets);
    gpu_must(hsa_queue_destroy(queue), "queue destroy");
    destroy_signals(signals);
    gpu_close(&gpu);
    gpu_must(hsa_shut_down(), "shut down");
    return 0;
}

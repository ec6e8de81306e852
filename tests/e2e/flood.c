/*
 * flood RANGES [kill]: that many ranges, one after the other, a tenth as many marks, and a
 * hundredth as many ranges while it has stopped the recording of its thread. Between them kernels
 * in batches. Prints what it did. `kill`: it ends by SIGKILL.
 */
#include "gpu.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void roctxMarkA(const char *message);
int roctxRangePushA(const char *message);
int roctxRangePop(void);
int roctxProfilerPause(uint64_t tid);
int roctxProfilerResume(uint64_t tid);

#define BATCH   16u
#define BATCHES 50u
#define QUEUE   1024u

static void run_batches(const struct gpu *gpu, hsa_queue_t *queue)
{
    struct gpu_packet packets[BATCH];
    for (unsigned i = 0; i < BATCH; i++)
        packets[i] = (struct gpu_packet){.kernel = i % GPU_KERNELS};
    for (unsigned i = 0; i < BATCHES; i++)
        gpu_submit(gpu, queue, packets, BATCH);
    gpu_drain(gpu, queue);
}

static void run_ranges(unsigned long count)
{
    for (unsigned long i = 0; i < count; i++) {
        (void)roctxRangePushA("a range of the flood, with a text that takes a slot of its own");
        (void)roctxRangePop();
    }
}

int main(int argc, char **argv)
{
    struct gpu gpu;
    unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    gpu_open(&gpu);
    hsa_queue_t *queue = gpu_queue(&gpu, QUEUE);
    run_batches(&gpu, queue);
    run_ranges(count);
    for (unsigned long i = 0; i < count / 10; i++)
        roctxMarkA("a mark");
    (void)roctxProfilerPause((uint64_t)gettid());
    run_ranges(count / 100);
    (void)roctxProfilerResume((uint64_t)gettid());
    run_batches(&gpu, queue);
    (void)printf("ranges %lu marks %lu withheld %lu kernels %u batches %u\n", count, count / 10,
                 count / 100, 2 * BATCH * BATCHES, 2 * BATCHES);
    (void)fflush(stdout);
    if (argc > 2 && strcmp(argv[2], "kill") == 0)
        (void)raise(SIGKILL);
    (void)hsa_queue_destroy(queue);
    gpu_close(&gpu);
    return 0;
}

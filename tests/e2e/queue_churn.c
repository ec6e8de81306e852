/*
 * Queues that live shortly: makes a queue, dispatches ten kernels, waits for them, destroys it; N
 * times over.
 *
 *     queue_churn N
 */
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>

#define KERNELS 10u

int main(int argc, char **argv)
{
    unsigned long queues = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    if (queues == 0) {
        (void)fprintf(stderr, "queue_churn: usage: queue_churn N\n");
        return 2;
    }
    static struct gpu gpu;
    static struct gpu_packet packets[KERNELS];
    gpu_open(&gpu);
    for (unsigned long i = 0; i < queues; i++) {
        hsa_queue_t *queue = gpu_queue(&gpu, 64);
        gpu_submit(&gpu, queue, packets, KERNELS);
        gpu_drain(&gpu, queue);
        gpu_must(hsa_queue_destroy(queue), "queue destroy");
    }
    gpu_close(&gpu);
    gpu_must(hsa_shut_down(), "shut down");
    (void)printf("%lu queues, %lu kernels\n", queues, queues * KERNELS);
    return 0;
}

/*
 * ctl: dispatches as many kernels as it is told, a number a line on stdin, and says `ran N` when
 * they are done. Its first queue is made for the first number.
 */
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    static const struct gpu_packet kernel = {.kernel = 0};
    static struct gpu gpu;
    hsa_queue_t *queue = NULL;
    char line[32];
    gpu_open(&gpu);
    (void)setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    (void)puts("ready");
    while (fgets(line, sizeof line, stdin) != NULL) {
        unsigned long count = strtoul(line, NULL, 10);
        if (queue == NULL)
            queue = gpu_queue(&gpu, 1024);
        for (unsigned long i = 0; i < count; i++)
            gpu_submit(&gpu, queue, &kernel, 1);
        gpu_drain(&gpu, queue);
        (void)printf("ran %lu\n", count);
    }
    if (queue != NULL)
        gpu_must(hsa_queue_destroy(queue), "queue destroy");
    gpu_close(&gpu);
    gpu_must(hsa_shut_down(), "shut down");
    return 0;
}

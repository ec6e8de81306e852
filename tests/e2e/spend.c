/*
 * spend KIB: starts the GPU runtime, runs kernels, then takes so many KiB of memory, private and
 * writable, in one piece, and runs kernels again. Says on stdout what became of it, the same with
 * and without RTL; on stderr how many KiB its limit of address space or data left it when the
 * runtime was up, and before it took them. Status 1 if there was no memory.
 */
#include "common/allowance.h"
#include "gpu.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define KERNELS 400u
#define BATCH   20u

static void run(const struct gpu *gpu, hsa_queue_t *queue)
{
    struct gpu_packet packets[BATCH] = {0};
    for (uint32_t i = 0; i < BATCH; i++)
        packets[i].kernel = i % GPU_KERNELS;
    for (uint32_t i = 0; i < KERNELS / BATCH; i++)
        gpu_submit(gpu, queue, packets, BATCH);
    gpu_drain(gpu, queue);
}

int main(int argc, char **argv)
{
    struct gpu gpu;
    size_t size = argc > 1 ? strtoull(argv[1], NULL, 10) << 10 : 0;
    gpu_must(hsa_init(), "hsa_init");
    uint64_t at_start = rtl_allowance_least().left;
    gpu_open(&gpu);
    hsa_queue_t *queue = gpu_queue(&gpu, 1024);
    run(&gpu, queue);
    (void)fprintf(stderr, "left %" PRIu64 " %" PRIu64 "\n", at_start >> 10,
                  rtl_allowance_least().left >> 10);
    if (size > 0 && mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
                        MAP_FAILED) {
        (void)puts("no memory");
        return 1;
    }
    run(&gpu, queue);
    (void)puts("spent");
    return 0;
}

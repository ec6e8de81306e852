/* A module that uses the GPU and gives all of it back, the runtime included. */
#include "gpu.h"

__attribute__((visibility("default"))) int e2e_module_run(void);

int e2e_module_run(void)
{
    enum { kernels = 50 };
    struct gpu gpu;
    struct gpu_packet packets[kernels] = {0};
    gpu_open(&gpu);
    hsa_queue_t *queue = gpu_queue(&gpu, 256);
    gpu_submit(&gpu, queue, packets, kernels);
    gpu_drain(&gpu, queue);
    gpu_must(hsa_queue_destroy(queue), "queue");
    gpu_close(&gpu);
    gpu_must(hsa_shut_down(), "hsa_shut_down");
    return kernels;
}

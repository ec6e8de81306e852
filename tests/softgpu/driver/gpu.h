/**
 * HSA for the tests of the software GPU: agents, pools, kernels, packets.
 *
 * A failure of HSA itself ends the program with a sentence; what a test is about it checks itself.
 */
#ifndef TESTS_SOFTGPU_GPU_H
#define TESTS_SOFTGPU_GPU_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GPU_LIMIT = 16 };

/** The machine as HSA shows it; filled by gpu_open. */
typedef struct gpu_machine {
    hsa_agent_t cpu;
    hsa_agent_t gpu[GPU_LIMIT];
    unsigned gpus;
    hsa_amd_memory_pool_t host;            /**< fine-grained system memory */
    hsa_amd_memory_pool_t kernarg;         /**< kernarg segment */
    hsa_amd_memory_pool_t vram[GPU_LIMIT]; /**< frame buffer of each GPU */
} gpu_machine_t;

/** Kernel objects of kernels.cl, loaded by gpu_load on the first GPU. */
typedef struct gpu_kernels {
    hsa_executable_t executable;
    uint64_t quick, slow, append;
} gpu_kernels_t;

/** hsa_init, and a look around. */
void gpu_open(gpu_machine_t *machine);
/** hsa_shut_down. */
void gpu_close(void);
/** Loads the code object in `file`. */
void gpu_load(const gpu_machine_t *machine, const char *file, gpu_kernels_t *kernels);
/** Unloads it. */
void gpu_unload(const gpu_kernels_t *kernels);

/** A queue without profiling and without error callback; the caller destroys it. */
hsa_queue_t *gpu_queue(hsa_agent_t agent, uint32_t size);
/** A signal with this value; the caller destroys it. */
hsa_signal_t gpu_signal(hsa_signal_value_t value);
/** Memory of a pool that every GPU may use. Free with hsa_amd_memory_pool_free. */
void *gpu_memory(const gpu_machine_t *machine, hsa_amd_memory_pool_t pool, size_t size);

/** A dispatch of one workgroup of 64. */
hsa_kernel_dispatch_packet_t gpu_dispatch(uint64_t kernel, void *kernarg, hsa_signal_t completion);
/** Header of a packet type with system fences. */
uint16_t gpu_header(hsa_packet_type_t type, bool barrier);
/** Writes any 64-byte packet into the next slot (waits for a free one) and publishes its header,
 * without a doorbell. Returns its index. */
uint64_t gpu_put(hsa_queue_t *queue, const void *packet, uint16_t header);
/** Rings for the packet with this index. */
void gpu_ring(hsa_queue_t *queue, uint64_t index);
/** gpu_put and gpu_ring. */
uint64_t gpu_submit(hsa_queue_t *queue, const void *packet, uint16_t header);
/** Waits until the signal is below 1, at most 120 s; false if that did not come. */
bool gpu_wait(hsa_signal_t signal);
/** Submits a barrier packet at the end of the queue and waits for it. */
bool gpu_drain(hsa_queue_t *queue);

#ifdef __cplusplus
}
#endif
#endif

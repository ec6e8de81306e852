/**
 * What the end-to-end programs share: a GPU opened through plain HSA calls, kernels of kernels.cl,
 * and packets written as a correct producer writes them.
 *
 * A call that HSA refuses ends the program with one sentence on stderr and status 3: nothing of
 * what a test wants to know could follow.
 */
#ifndef E2E_GPU_H
#define E2E_GPU_H

#include <hsa/hsa.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Number of kernels in kernels.cl that a program uses in turn, and one more that a test may make
 * as long as it likes (SOFTGPU_DURATION=storm_endless=…). */
#define GPU_KERNELS 3
#define GPU_ENDLESS 3

/** One kernel, as the loader describes it. */
struct gpu_kernel {
    uint64_t object;
    uint32_t group_size, private_size; /**< bytes */
};

/** The first GPU with the kernels loaded. Counters and kernargs are in memory that host and device
 * share. */
struct gpu {
    hsa_agent_t agent;
    hsa_executable_t executable;
    struct gpu_kernel kernels[GPU_ENDLESS + 1];
    /** One kernarg segment per kernel, used by all its dispatches: it never changes. */
    uint64_t *kernargs[GPU_ENDLESS + 1];
    _Atomic uint64_t *counters; /**< how often each kernel ran */
};

/** A dispatch or barrier of a batch. */
struct gpu_packet {
    hsa_signal_t signal; /**< completion signal, handle 0 for none */
    uint32_t kernel;     /**< index in gpu.kernels, GPU_BARRIER for a barrier-AND packet */
    bool barrier;        /**< the AQL barrier bit */
};

#define GPU_BARRIER UINT32_MAX

/** hsa_init, first GPU, kernels of the code object E2E_KERNELS (environment, else beside the
 * program). */
void gpu_open(struct gpu *gpu);

/** Gives everything back but the runtime itself: hsa_shut_down is the program's to call or not. */
void gpu_close(struct gpu *gpu);

/** Ends the program with a sentence if `status` is an error of the call `what`. */
void gpu_must(hsa_status_t status, const char *what);

/** The kernel `symbol` (with .kd) of the code object. */
struct gpu_kernel gpu_kernel(const struct gpu *gpu, const char *symbol);

/** Memory that host and device share, zeroed; for hsa_memory_free. */
void *gpu_memory(const struct gpu *gpu, size_t size);

/** Makes a queue of `size` packets that several threads may write to. */
hsa_queue_t *gpu_queue(const struct gpu *gpu, uint32_t size);

/** Writes the packet `index` of the queue, its header last. */
void gpu_write(const struct gpu *gpu, hsa_queue_t *queue, uint64_t index,
               const struct gpu_packet *packet);

/**
 * Reserves room for `count` packets, waits until the queue has it, writes the packets and rings
 * once. Any thread; `count` is at most the queue's size.
 */
void gpu_submit(const struct gpu *gpu, hsa_queue_t *queue, const struct gpu_packet *packets,
                uint32_t count);

/** Submits a barrier packet and waits until everything before it in the queue is done. */
void gpu_drain(const struct gpu *gpu, hsa_queue_t *queue);

/** Makes a signal with this initial value that anybody may wait for. */
hsa_signal_t gpu_signal(hsa_signal_value_t value);

#endif

/**
 * What the programs of things that go wrong share (faults.c and its parts): packets of every kind,
 * written by hand, so that they can be wrong; and the table of ways.
 */
#ifndef E2E_FAULT_H
#define E2E_FAULT_H

#include "gpu.h"

#include <hsa/hsa_ext_amd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Any AQL packet of 64 bytes; the header's place holds the packet's header. */
union fault_packet {
    uint16_t header;
    hsa_kernel_dispatch_packet_t kernel;
    hsa_barrier_and_packet_t barrier;
    struct fault_extended {
        uint16_t header;
        uint8_t format, dimensions;
        uint16_t workgroup[3];
        uint16_t reserved;
        uint32_t count_x;
        uint16_t count_y, count_z;
        uint8_t cluster[3];
        uint8_t hint;
        uint32_t private_size, group_size;
        uint64_t kernel;
        void *kernarg;
        hsa_signal_t dependency, signal;
    } extended; /**< HSA_AMD_PACKET_TYPE_EXT_KERNEL_DISPATCH of ROCm 7's hsa_ext_amd.h */
};

/** A dispatch of gpu->kernels[kernel], with system fences. */
union fault_packet fault_kernel(const struct gpu *gpu, uint32_t kernel, hsa_signal_t signal,
                                bool barrier);

/** The same as AMD's extended dispatch; `dependency` must be 0 before it starts, handle 0: none. */
union fault_packet fault_extended(const struct gpu *gpu, uint32_t kernel, hsa_signal_t signal,
                                  hsa_signal_t dependency);

/** A barrier-AND packet that waits for one signal. */
union fault_packet fault_barrier(hsa_signal_t dependency, hsa_signal_t signal);

/** Writes a packet into the slot of this index, its header last. */
void fault_write(hsa_queue_t *queue, uint64_t index, const union fault_packet *packet);

/** Reserves, waits for room, writes, rings once. Returns the index of the first. */
uint64_t fault_submit(hsa_queue_t *queue, const union fault_packet *packets, uint32_t count);

/** Submits one kernel. */
void fault_dispatch(const struct gpu *gpu, hsa_queue_t *queue, uint32_t kernel,
                    hsa_signal_t signal);

/** Waits until the signal is below 1. */
void fault_wait(hsa_signal_t signal);

/** Waits until the signal has this very value. */
void fault_wait_for(hsa_signal_t signal, hsa_signal_value_t value);

/** Marks that there is no signal. */
static inline hsa_signal_t fault_none(void)
{
    hsa_signal_t none = {0};
    return none;
}

/** A way to go wrong: what it prints is the same from run to run. */
struct fault_way {
    const char *name;
    void (*run)(struct gpu *gpu);
};

/** The ways of the parts, ended by one without a name. */
extern const struct fault_way fault_queue_ways[], fault_signal_ways[], fault_call_ways[];

#endif

/*
 * faults WAY: does things that go wrong, or that are legal and odd, and prints what came of it: the
 * same without a profiler and with one.
 */
#include "fault.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HEADER(type)                                                                               \
    ((type) << HSA_PACKET_HEADER_TYPE |                                                            \
     (uint32_t)HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |                 \
     (uint32_t)HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE)

union fault_packet fault_kernel(const struct gpu *gpu, uint32_t kernel, hsa_signal_t signal,
                                bool barrier)
{
    union fault_packet packet;
    memset(&packet, 0, sizeof packet);
    packet.kernel.header = (uint16_t)(HEADER(HSA_PACKET_TYPE_KERNEL_DISPATCH) |
                                      (barrier ? 1u : 0u) << HSA_PACKET_HEADER_BARRIER);
    packet.kernel.setup = 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS;
    packet.kernel.workgroup_size_x = 64;
    packet.kernel.workgroup_size_y = packet.kernel.workgroup_size_z = 1;
    packet.kernel.grid_size_x = 128;
    packet.kernel.grid_size_y = packet.kernel.grid_size_z = 1;
    packet.kernel.kernel_object = gpu->kernels[kernel].object;
    packet.kernel.kernarg_address = gpu->kernargs[kernel];
    packet.kernel.completion_signal = signal;
    return packet;
}

union fault_packet fault_extended(const struct gpu *gpu, uint32_t kernel, hsa_signal_t signal,
                                  hsa_signal_t dependency)
{
    union fault_packet packet;
    memset(&packet, 0, sizeof packet);
    packet.extended = (struct fault_extended){
        .header = (uint16_t)HEADER(HSA_PACKET_TYPE_VENDOR_SPECIFIC),
        .format = 3,
        .dimensions = 2,
        .workgroup = {32, 2, 1},
        .count_x = 4,
        .count_y = 3,
        .count_z = 1,
        .cluster = {2, 1, 1},
        .kernel = gpu->kernels[kernel].object,
        .kernarg = gpu->kernargs[kernel],
        .dependency = dependency,
        .signal = signal,
    };
    return packet;
}

union fault_packet fault_barrier(hsa_signal_t dependency, hsa_signal_t signal)
{
    union fault_packet packet;
    memset(&packet, 0, sizeof packet);
    packet.barrier.header = (uint16_t)HEADER(HSA_PACKET_TYPE_BARRIER_AND);
    packet.barrier.dep_signal[0] = dependency;
    packet.barrier.completion_signal = signal;
    return packet;
}

void fault_write(hsa_queue_t *queue, uint64_t index, const union fault_packet *packet)
{
    char *slot = (char *)queue->base_address + (index & (queue->size - 1)) * sizeof *packet;
    memcpy(slot + sizeof packet->header, (const char *)packet + sizeof packet->header,
           sizeof *packet - sizeof packet->header);
    atomic_store_explicit((_Atomic uint16_t *)(void *)slot, packet->header, memory_order_release);
}

uint64_t fault_submit(hsa_queue_t *queue, const union fault_packet *packets, uint32_t count)
{
    uint64_t first = hsa_queue_add_write_index_relaxed(queue, count);
    while (first + count - hsa_queue_load_read_index_scacquire(queue) > queue->size)
        (void)usleep(20);
    for (uint32_t i = 0; i < count; i++)
        fault_write(queue, first + i, &packets[i]);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)(first + count - 1));
    return first;
}

void fault_dispatch(const struct gpu *gpu, hsa_queue_t *queue, uint32_t kernel, hsa_signal_t signal)
{
    union fault_packet packet = fault_kernel(gpu, kernel, signal, false);
    (void)fault_submit(queue, &packet, 1);
}

void fault_wait(hsa_signal_t signal)
{
    while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                     HSA_WAIT_STATE_BLOCKED) >= 1)
        ;
}

void fault_wait_for(hsa_signal_t signal, hsa_signal_value_t value)
{
    while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_EQ, value, UINT64_MAX,
                                     HSA_WAIT_STATE_BLOCKED) != value)
        ;
}

static const struct fault_way *find(const char *name)
{
    enum { PARTS = 3 };
    const struct fault_way *const parts[PARTS] = {fault_queue_ways, fault_signal_ways,
                                                  fault_call_ways};
    for (size_t i = 0; i < PARTS; i++)
        for (const struct fault_way *way = parts[i]; way->name != NULL; way++)
            if (strcmp(way->name, name) == 0)
                return way;
    return NULL;
}

int main(int argc, char **argv)
{
    static struct gpu gpu;
    const struct fault_way *way = argc == 2 ? find(argv[1]) : NULL;
    if (way == NULL) {
        (void)fprintf(stderr, "faults WAY: there is no such way\n");
        return 2;
    }
    gpu_open(&gpu);
    way->run(&gpu);
    for (int i = 0; i < GPU_KERNELS; i++)
        (void)printf("kernel %d ran %llu times\n", i,
                     (unsigned long long)atomic_load(&gpu.counters[i]));
    gpu_close(&gpu);
    gpu_must(hsa_shut_down(), "shut down");
    return 0;
}

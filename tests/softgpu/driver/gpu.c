#include "gpu.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check(hsa_status_t status, const char *what)
{
    if (status == HSA_STATUS_SUCCESS || status == HSA_STATUS_INFO_BREAK)
        return;
    (void)fprintf(stderr, "%s failed with status 0x%x\n", what, (unsigned)status);
    exit(99); // NOLINT(concurrency-mt-unsafe): the test is over
}

static hsa_status_t add_agent(hsa_agent_t agent, void *data)
{
    gpu_machine_t *machine = data;
    hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;
    check(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type), "HSA_AGENT_INFO_DEVICE");
    if (type == HSA_DEVICE_TYPE_CPU)
        machine->cpu = agent;
    else if (type == HSA_DEVICE_TYPE_GPU && machine->gpus < GPU_LIMIT)
        machine->gpu[machine->gpus++] = agent;
    return HSA_STATUS_SUCCESS;
}

static uint32_t global_flags(hsa_amd_memory_pool_t pool)
{
    hsa_amd_segment_t segment = HSA_AMD_SEGMENT_GROUP;
    uint32_t flags = 0;
    check(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment),
          "pool info");
    if (segment == HSA_AMD_SEGMENT_GLOBAL)
        check(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags),
              "pool flags");
    return flags;
}

static hsa_status_t add_host_pool(hsa_amd_memory_pool_t pool, void *data)
{
    gpu_machine_t *machine = data;
    uint32_t flags = global_flags(pool);
    if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)
        machine->kernarg = pool;
    else if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED)
        machine->host = pool;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t add_gpu_pool(hsa_amd_memory_pool_t pool, void *data)
{
    if (global_flags(pool) & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED)
        *(hsa_amd_memory_pool_t *)data = pool;
    return HSA_STATUS_SUCCESS;
}

void gpu_open(gpu_machine_t *machine)
{
    memset(machine, 0, sizeof(*machine));
    check(hsa_init(), "hsa_init");
    check(hsa_iterate_agents(add_agent, machine), "hsa_iterate_agents");
    check(hsa_amd_agent_iterate_memory_pools(machine->cpu, add_host_pool, machine), "host pools");
    for (unsigned i = 0; i < machine->gpus; i++)
        check(hsa_amd_agent_iterate_memory_pools(machine->gpu[i], add_gpu_pool, &machine->vram[i]),
              "GPU pools");
}

void gpu_close(void)
{
    check(hsa_shut_down(), "hsa_shut_down");
}

static uint64_t kernel_object(hsa_executable_t executable, hsa_agent_t agent, const char *name)
{
    hsa_executable_symbol_t symbol;
    uint64_t object = 0;
    check(hsa_executable_get_symbol_by_name(executable, name, &agent, &symbol), name);
    check(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object),
          name);
    return object;
}

void gpu_load(const gpu_machine_t *machine, const char *path, gpu_kernels_t *kernels)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        perror(path);
        exit(99); // NOLINT(concurrency-mt-unsafe): the test is over
    }
    hsa_code_object_reader_t reader;
    check(hsa_code_object_reader_create_from_file(file, &reader), "code object reader");
    check(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR, NULL,
                                    &kernels->executable),
          "executable");
    check(hsa_executable_load_agent_code_object(kernels->executable, machine->gpu[0], reader, NULL,
                                                NULL),
          "load");
    check(hsa_executable_freeze(kernels->executable, NULL), "freeze");
    check(hsa_code_object_reader_destroy(reader), "reader's end");
    (void)close(file);
    kernels->quick = kernel_object(kernels->executable, machine->gpu[0], "quick.kd");
    kernels->slow = kernel_object(kernels->executable, machine->gpu[0], "slow.kd");
    kernels->append = kernel_object(kernels->executable, machine->gpu[0], "append.kd");
}

void gpu_unload(const gpu_kernels_t *kernels)
{
    check(hsa_executable_destroy(kernels->executable), "hsa_executable_destroy");
}

hsa_queue_t *gpu_queue(hsa_agent_t agent, uint32_t size)
{
    hsa_queue_t *queue = NULL;
    check(hsa_queue_create(agent, size, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX,
                           &queue),
          "hsa_queue_create");
    return queue;
}

hsa_signal_t gpu_signal(hsa_signal_value_t value)
{
    hsa_signal_t signal;
    check(hsa_signal_create(value, 0, NULL, &signal), "hsa_signal_create");
    return signal;
}

void *gpu_memory(const gpu_machine_t *machine, hsa_amd_memory_pool_t pool, size_t size)
{
    void *memory = NULL;
    check(hsa_amd_memory_pool_allocate(pool, size, 0, &memory), "hsa_amd_memory_pool_allocate");
    check(hsa_amd_agents_allow_access(machine->gpus, machine->gpu, NULL, memory), "allow access");
    return memory;
}

hsa_kernel_dispatch_packet_t gpu_dispatch(uint64_t kernel, void *kernarg, hsa_signal_t completion)
{
    hsa_kernel_dispatch_packet_t packet;
    memset(&packet, 0, sizeof(packet));
    packet.setup = 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS;
    packet.workgroup_size_x = 64;
    packet.workgroup_size_y = 1;
    packet.workgroup_size_z = 1;
    packet.grid_size_x = 64;
    packet.grid_size_y = 1;
    packet.grid_size_z = 1;
    packet.kernel_object = kernel;
    packet.kernarg_address = kernarg;
    packet.completion_signal = completion;
    return packet;
}

uint16_t gpu_header(hsa_packet_type_t type, bool barrier)
{
    unsigned header = (unsigned)type << HSA_PACKET_HEADER_TYPE;
    header |= (barrier ? 1U : 0U) << HSA_PACKET_HEADER_BARRIER;
    header |= (unsigned)HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE;
    header |= (unsigned)HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
    return (uint16_t)header;
}

uint64_t gpu_put(hsa_queue_t *queue, const void *packet, uint16_t header)
{
    uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);
    while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size)
        (void)usleep(1);
    char *slot = (char *)queue->base_address + (index & (queue->size - 1)) * 64;
    memcpy(slot + 2, (const char *)packet + 2, 62);
    atomic_store_explicit((_Atomic uint16_t *)(void *)slot, header, memory_order_release);
    return index;
}

void gpu_ring(hsa_queue_t *queue, uint64_t index)
{
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

uint64_t gpu_submit(hsa_queue_t *queue, const void *packet, uint16_t header)
{
    uint64_t index = gpu_put(queue, packet, header);
    gpu_ring(queue, index);
    return index;
}

bool gpu_wait(hsa_signal_t signal)
{
    uint64_t frequency = 0;
    check(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency),
          "timestamp frequency");
    return hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, 120 * frequency,
                                     HSA_WAIT_STATE_BLOCKED) < 1;
}

bool gpu_drain(hsa_queue_t *queue)
{
    hsa_barrier_and_packet_t packet;
    memset(&packet, 0, sizeof(packet));
    packet.completion_signal = gpu_signal(1);
    (void)gpu_submit(queue, &packet, gpu_header(HSA_PACKET_TYPE_BARRIER_AND, true));
    bool done = gpu_wait(packet.completion_signal);
    if (done)
        (void)hsa_signal_destroy(packet.completion_signal);
    return done;
}

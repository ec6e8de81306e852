#include "gpu.h"

#include "common/tsan.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* HSA 1.2, 2.9.6: a packet's header is published after its body, with release. */
#define HEADER(type, barrier)                                                                      \
    ((uint16_t)((type) << HSA_PACKET_HEADER_TYPE |                                                 \
                ((barrier) ? 1u : 0u) << HSA_PACKET_HEADER_BARRIER |                               \
                (uint32_t)HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |      \
                (uint32_t)HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE))

static const char *const kernel_names[GPU_ENDLESS + 1] = {"storm_first.kd", "storm_second.kd",
                                                          "storm_third.kd", "storm_endless.kd"};

static _Noreturn void fail(const char *what, const char *why)
{
    (void)fprintf(stderr, "e2e: %s: %s\n", what, why);
    exit(3); // NOLINT(concurrency-mt-unsafe): no exit handler of ours exists
}

void gpu_must(hsa_status_t status, const char *what)
{
    const char *why = "unknown error";
    if (status == HSA_STATUS_SUCCESS || status == HSA_STATUS_INFO_BREAK)
        return;
    (void)hsa_status_string(status, &why);
    fail(what, why);
}

static hsa_status_t take_gpu(hsa_agent_t agent, void *data)
{
    hsa_device_type_t type;
    gpu_must(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type), "agent's type");
    if (type != HSA_DEVICE_TYPE_GPU)
        return HSA_STATUS_SUCCESS;
    *(hsa_agent_t *)data = agent;
    return HSA_STATUS_INFO_BREAK;
}

static hsa_status_t take_kernarg_region(hsa_region_t region, void *data)
{
    hsa_region_segment_t segment;
    uint32_t flags = 0;
    gpu_must(hsa_region_get_info(region, HSA_REGION_INFO_SEGMENT, &segment), "region's segment");
    if (segment != HSA_REGION_SEGMENT_GLOBAL)
        return HSA_STATUS_SUCCESS;
    gpu_must(hsa_region_get_info(region, HSA_REGION_INFO_GLOBAL_FLAGS, &flags), "region's flags");
    if (!(flags & HSA_REGION_GLOBAL_FLAG_KERNARG))
        return HSA_STATUS_SUCCESS;
    *(hsa_region_t *)data = region;
    return HSA_STATUS_INFO_BREAK;
}

/* The code object lies beside the program unless the environment names another. */
static void code_object_path(char *path, size_t size)
{
    const char *named = getenv("E2E_KERNELS"); // NOLINT(concurrency-mt-unsafe): nobody sets it
    if (named) {
        if ((size_t)snprintf(path, size, "%s", named) >= size)
            fail("E2E_KERNELS", "name too long");
        return;
    }
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length < 0)
        fail("/proc/self/exe", "cannot be read");
    path[length] = '\0';
    char *base = strrchr(path, '/') + 1;
    size_t room = size - (size_t)(base - path);
    if ((size_t)snprintf(base, room, "e2e_kernels.co") >= room)
        fail("e2e_kernels.co", "name too long");
}

struct gpu_kernel gpu_kernel(const struct gpu *gpu, const char *symbol)
{
    hsa_executable_symbol_t found;
    struct gpu_kernel kernel;
    gpu_must(hsa_executable_get_symbol_by_name(gpu->executable, symbol, &gpu->agent, &found),
             symbol);
    gpu_must(hsa_executable_symbol_get_info(found, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
                                            &kernel.object),
             symbol);
    gpu_must(hsa_executable_symbol_get_info(
                 found, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &kernel.group_size),
             symbol);
    gpu_must(hsa_executable_symbol_get_info(found,
                                            HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE,
                                            &kernel.private_size),
             symbol);
    return kernel;
}

static void load_kernels(struct gpu *gpu)
{
    char path[4096];
    hsa_code_object_reader_t reader;
    code_object_path(path, sizeof path);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        fail(path, "cannot be opened");
    gpu_must(hsa_code_object_reader_create_from_file(file, &reader), path);
    gpu_must(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
                                       NULL, &gpu->executable),
             "executable");
    gpu_must(hsa_executable_load_agent_code_object(gpu->executable, gpu->agent, reader, NULL, NULL),
             "loading the code object");
    gpu_must(hsa_executable_freeze(gpu->executable, NULL), "freezing the executable");
    gpu_must(hsa_code_object_reader_destroy(reader), "code object reader");
    (void)close(file);
    for (int i = 0; i <= GPU_ENDLESS; i++)
        gpu->kernels[i] = gpu_kernel(gpu, kernel_names[i]);
}

void *gpu_memory(const struct gpu *gpu, size_t size)
{
    hsa_region_t region = {0};
    void *memory = NULL;
    gpu_must(hsa_agent_iterate_regions(gpu->agent, take_kernarg_region, &region), "regions");
    if (!region.handle)
        fail("regions", "none for kernel arguments");
    gpu_must(hsa_memory_allocate(region, size, &memory), "memory");
    memset(memory, 0, size);
    return memory;
}

static void allocate_memory(struct gpu *gpu)
{
    enum { counters_size = 4096, kernarg_size = 256 };
    gpu->counters = gpu_memory(gpu, counters_size);
    for (int i = 0; i <= GPU_ENDLESS; i++) {
        gpu->kernargs[i] = gpu_memory(gpu, kernarg_size);
        gpu->kernargs[i][0] = (uint64_t)(uintptr_t)&gpu->counters[i];
    }
}

void gpu_open(struct gpu *gpu)
{
    memset(gpu, 0, sizeof *gpu);
    gpu_must(hsa_init(), "hsa_init");
    gpu_must(hsa_iterate_agents(take_gpu, &gpu->agent), "agents");
    if (!gpu->agent.handle)
        fail("agents", "no GPU");
    load_kernels(gpu);
    allocate_memory(gpu);
}

void gpu_close(struct gpu *gpu)
{
    for (int i = 0; i <= GPU_ENDLESS; i++)
        gpu_must(hsa_memory_free(gpu->kernargs[i]), "freeing arguments");
    gpu_must(hsa_memory_free((void *)gpu->counters), "freeing counters");
    gpu_must(hsa_executable_destroy(gpu->executable), "executable");
}

hsa_queue_t *gpu_queue(const struct gpu *gpu, uint32_t size)
{
    hsa_queue_t *queue;
    gpu_must(hsa_queue_create(gpu->agent, size, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX,
                              UINT32_MAX, &queue),
             "queue");
    return queue;
}

void gpu_write(const struct gpu *gpu, hsa_queue_t *queue, uint64_t index,
               const struct gpu_packet *packet)
{
    void *slot = (char *)queue->base_address + (index & (queue->size - 1)) * 64;
    uint16_t header;
    if (packet->kernel == GPU_BARRIER) {
        hsa_barrier_and_packet_t body = {0};
        body.header = HSA_PACKET_TYPE_INVALID;
        body.completion_signal = packet->signal;
        memcpy(slot, &body, sizeof body);
        header = HEADER(HSA_PACKET_TYPE_BARRIER_AND, packet->barrier);
    } else {
        const struct gpu_kernel *kernel = &gpu->kernels[packet->kernel];
        hsa_kernel_dispatch_packet_t body = {0};
        body.header = HSA_PACKET_TYPE_INVALID;
        body.setup = 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS;
        body.workgroup_size_x = (uint16_t)(64 * (packet->kernel + 1));
        body.workgroup_size_y = 1;
        body.workgroup_size_z = 1;
        body.grid_size_x = body.workgroup_size_x * 2u;
        body.grid_size_y = 1;
        body.grid_size_z = 1;
        body.group_segment_size = kernel->group_size;
        body.private_segment_size = kernel->private_size;
        body.kernel_object = kernel->object;
        body.kernarg_address = gpu->kernargs[packet->kernel];
        body.completion_signal = packet->signal;
        memcpy(slot, &body, sizeof body);
        header = HEADER(HSA_PACKET_TYPE_KERNEL_DISPATCH, packet->barrier);
    }
    atomic_store_explicit((_Atomic uint16_t *)slot, header, memory_order_release);
}

void gpu_submit(const struct gpu *gpu, hsa_queue_t *queue, const struct gpu_packet *packets,
                uint32_t count)
{
    uint64_t first = hsa_queue_add_write_index_relaxed(queue, count);
    /* A sleep, not a spin: the device of the software GPU needs a core too. */
    while (first + count - hsa_queue_load_read_index_scacquire(queue) > queue->size)
        (void)usleep(20);
    rtl_tsan_acquire(queue->base_address); /* the device has done with the slots */
    for (uint32_t i = 0; i < count; i++)
        gpu_write(gpu, queue, first + i, &packets[i]);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)(first + count - 1));
}

void gpu_drain(const struct gpu *gpu, hsa_queue_t *queue)
{
    struct gpu_packet last = {gpu_signal(1), GPU_BARRIER, true};
    gpu_submit(gpu, queue, &last, 1);
    while (hsa_signal_wait_scacquire(last.signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                     HSA_WAIT_STATE_BLOCKED) >= 1)
        ;
    gpu_must(hsa_signal_destroy(last.signal), "signal");
}

hsa_signal_t gpu_signal(hsa_signal_value_t value)
{
    hsa_signal_t signal;
    gpu_must(hsa_signal_create(value, 0, NULL, &signal), "signal");
    return signal;
}

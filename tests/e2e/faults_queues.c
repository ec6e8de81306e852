/* Queues that fail, fill, come and go. */
#include "fault.h"

#include <hsa/hsa_ext_amd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- malformed packets ---- */

struct errors {
    _Atomic int calls;
    _Atomic int status;
    _Atomic uintptr_t queue;
};

static void on_error(hsa_status_t status, hsa_queue_t *queue, void *data)
{
    struct errors *errors = data;
    atomic_store(&errors->status, (int)status);
    atomic_store(&errors->queue, (uintptr_t)queue);
    atomic_fetch_add(&errors->calls, 1);
}

static hsa_queue_t *queue_with_callback(const struct gpu *gpu, struct errors *errors)
{
    hsa_queue_t *queue;
    gpu_must(hsa_queue_create(gpu->agent, 64, HSA_QUEUE_TYPE_MULTI, on_error, errors, UINT32_MAX,
                              UINT32_MAX, &queue),
             "queue");
    return queue;
}

/* Without it the packet would be looked at, and the queue stopped, while the kernels before it run.
 */
#define BARRIER_BIT (1u << HSA_PACKET_HEADER_BARRIER)

static void no_grid(union fault_packet *packet)
{
    packet->kernel.grid_size_x = 0;
}

static void no_kernel(union fault_packet *packet)
{
    packet->kernel.kernel_object = 0;
}

static void huge_workgroup(union fault_packet *packet)
{
    packet->kernel.workgroup_size_x = 2048;
    packet->kernel.grid_size_x = 2048;
}

static void unknown_type(union fault_packet *packet)
{
    packet->header = 77 | BARRIER_BIT;
}

static void unknown_vendor_format(union fault_packet *packet)
{
    packet->header = HSA_PACKET_TYPE_VENDOR_SPECIFIC | BARRIER_BIT;
    packet->extended.format = 200;
}

static void bad_extended(union fault_packet *packet)
{
    packet->header = HSA_PACKET_TYPE_VENDOR_SPECIFIC | BARRIER_BIT;
    packet->extended.format = 3;
    packet->extended.dimensions = 0;
}

static const struct {
    const char *name;
    void (*spoil)(union fault_packet *packet);
} spoilers[] = {{"no grid", no_grid},
                {"no kernel", no_kernel},
                {"huge workgroup", huge_workgroup},
                {"unknown type", unknown_type},
                {"unknown vendor format", unknown_vendor_format},
                {"extended dispatch without dimensions", bad_extended}};

#define SPOILERS (sizeof spoilers / sizeof *spoilers)

/* Three good kernels, the malformed packet, two more; all with the barrier bit, in one batch. */
static void spoil_queue(const struct gpu *gpu, size_t spoiler, const union fault_packet *also)
{
    struct errors errors = {0};
    hsa_queue_t *queue = queue_with_callback(gpu, &errors);
    hsa_signal_t before = gpu_signal(1);
    hsa_signal_t after = gpu_signal(1);
    union fault_packet packets[7];
    for (int i = 0; i < 6; i++)
        packets[i] = fault_kernel(gpu, 1, i == 2 ? before : i == 5 ? after : fault_none(), true);
    spoilers[spoiler].spoil(&packets[3]);
    packets[6] = *also;
    (void)fault_submit(queue, packets, 7);
    fault_wait(before);
    while (atomic_load(&errors.calls) == 0)
        (void)usleep(1000);
    const char *text = "";
    (void)hsa_status_string((hsa_status_t)atomic_load(&errors.status), &text);
    (void)printf("%s: callback %d times, %s queue, %s; read index %llu, behind it %lld\n",
                 spoilers[spoiler].name, atomic_load(&errors.calls),
                 atomic_load(&errors.queue) == (uintptr_t)queue ? "its" : "another", text,
                 (unsigned long long)hsa_queue_load_read_index_scacquire(queue),
                 (long long)hsa_signal_load_scacquire(after));
    gpu_must(hsa_queue_destroy(queue), "destroying a queue that failed");
    gpu_must(hsa_signal_destroy(before), "signal");
    gpu_must(hsa_signal_destroy(after), "signal");
}

/* One queue after another fails; another one goes on all the time. */
static void malformed(struct gpu *gpu)
{
    hsa_queue_t *healthy = gpu_queue(gpu, 256);
    union fault_packet last = fault_kernel(gpu, 1, fault_none(), false);
    for (size_t i = 0; i < SPOILERS; i++) {
        for (int k = 0; k < 50; k++)
            fault_dispatch(gpu, healthy, 0, fault_none());
        spoil_queue(gpu, i, &last);
    }
    gpu_drain(gpu, healthy);
    gpu_must(hsa_queue_destroy(healthy), "queue");
}

/* Packets of a queue that is inactive are never looked at. */
static void inactivate(struct gpu *gpu)
{
    hsa_queue_t *queue = gpu_queue(gpu, 64);
    union fault_packet packets[5];
    for (int i = 0; i < 5; i++)
        packets[i] = fault_kernel(gpu, 0, fault_none(), false);
    (void)fault_submit(queue, packets, 5);
    gpu_drain(gpu, queue);
    gpu_must(hsa_queue_inactivate(queue), "hsa_queue_inactivate");
    (void)fault_submit(queue, packets, 5);
    (void)printf("inactive: write index %llu, read index %llu\n",
                 (unsigned long long)hsa_queue_load_write_index_scacquire(queue),
                 (unsigned long long)hsa_queue_load_read_index_scacquire(queue));
    gpu_must(hsa_queue_destroy(queue), "destroying an inactive queue");
}

/* ---- sizes and numbers ---- */

static void brim(struct gpu *gpu)
{
    enum { SIZE = 16384 };
    static union fault_packet packets[SIZE];
    hsa_queue_t *queue = gpu_queue(gpu, SIZE);
    for (int round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < SIZE; i++)
            packets[i] = fault_kernel(gpu, i % GPU_KERNELS, fault_none(), false);
        (void)fault_submit(queue, packets, SIZE);
    }
    gpu_drain(gpu, queue);
    gpu_must(hsa_queue_destroy(queue), "queue");
}

static void minimal(struct gpu *gpu)
{
    uint32_t size = 0;
    gpu_must(hsa_agent_get_info(gpu->agent, HSA_AGENT_INFO_QUEUE_MIN_SIZE, &size), "minimal size");
    hsa_queue_t *queue = gpu_queue(gpu, size);
    (void)printf("a queue of %u packets\n", queue->size);
    hsa_signal_t signal = gpu_signal(0);
    union fault_packet *packets = calloc(queue->size, sizeof *packets);
    for (int round = 0; packets != NULL && round < 100; round++) {
        hsa_signal_store_relaxed(signal, 1);
        for (uint32_t i = 0; i < queue->size; i++)
            packets[i] = fault_kernel(gpu, i % GPU_KERNELS,
                                      i + 1 == queue->size ? signal : fault_none(), i % 3 == 0);
        (void)fault_submit(queue, packets, queue->size);
        fault_wait(signal);
    }
    free(packets);
    gpu_drain(gpu, queue);
    gpu_must(hsa_signal_destroy(signal), "signal");
    gpu_must(hsa_queue_destroy(queue), "queue");
}

/* As many queues as the runtime gives, all at work. */
static void crowd(struct gpu *gpu)
{
    /* Where one cannot be made ROCr 7.2 fails an assertion of its own: fewer than there may be. */
    enum { MOST = HSA_AMD_INTERFACE_VERSION_MINOR < 15 ? 1100 : 1000 };
    static hsa_queue_t *queues[MOST];
    int count = 0;
    while (count < MOST &&
           hsa_queue_create(gpu->agent, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX,
                            UINT32_MAX, &queues[count]) == HSA_STATUS_SUCCESS)
        count++;
    (void)printf("%d queues\n", count);
    for (int round = 0; round < 5; round++)
        for (int i = 0; i < count; i++)
            fault_dispatch(gpu, queues[i], (uint32_t)round % GPU_KERNELS, fault_none());
    for (int i = 0; i < count; i++) {
        gpu_drain(gpu, queues[i]);
        gpu_must(hsa_queue_destroy(queues[i]), "queue");
    }
}

/* ---- destruction under load ---- */

#define DESTROYERS 3
#define DESTROYED  60 /* queues of each thread */
#define SUBMITTERS 2
#define BATCHES    400 /* of each submitter */

struct load {
    pthread_t thread;
    struct gpu *gpu;
    hsa_queue_t *queue; /* that lives on */
};

/* Destroys queues with kernels before, in and behind their flight. */
static void *destroy_queues(void *context)
{
    const struct load *load = context;
    struct gpu_packet packets[48] = {0};
    for (int i = 0; i < 48; i++)
        packets[i].kernel = 1;
    for (int i = 0; i < DESTROYED; i++) {
        hsa_queue_t *queue = gpu_queue(load->gpu, 64);
        gpu_submit(load->gpu, queue, packets, 48);
        if (i % 3 == 1)
            (void)usleep((useconds_t)(i % 7) * 30);
        gpu_must(hsa_queue_destroy(queue), "destroying a busy queue");
    }
    return NULL;
}

static void *submit_batches(void *context)
{
    const struct load *load = context;
    struct gpu_packet packets[20] = {0};
    packets[7].signal = gpu_signal(BATCHES);
    for (int i = 0; i < BATCHES; i++)
        gpu_submit(load->gpu, load->queue, packets, 20);
    fault_wait(packets[7].signal);
    gpu_must(hsa_signal_destroy(packets[7].signal), "signal");
    return NULL;
}

static void start(struct load *load, void *(*run)(void *))
{
    if (pthread_create(&load->thread, NULL, run, load) != 0)
        exit(3); // NOLINT(concurrency-mt-unsafe): no exit handler of ours exists
}

static void destroy_under_load(struct gpu *gpu)
{
    struct load loads[DESTROYERS + SUBMITTERS];
    hsa_queue_t *queue = gpu_queue(gpu, 1024);
    for (int i = 0; i < DESTROYERS + SUBMITTERS; i++) {
        loads[i] = (struct load){.gpu = gpu, .queue = queue};
        start(&loads[i], i < DESTROYERS ? destroy_queues : submit_batches);
    }
    for (int i = 0; i < DESTROYERS + SUBMITTERS; i++)
        (void)pthread_join(loads[i].thread, NULL);
    gpu_drain(gpu, queue);
    gpu_must(hsa_queue_destroy(queue), "queue");
    /* How much of a destroyed queue ran is chance. */
    (void)printf("queues destroyed while kernel 1 ran: %s\n",
                 atomic_load(&gpu->counters[1]) <= (uint64_t)DESTROYERS * DESTROYED * 48 ? "fine"
                                                                                         : "no");
    atomic_store(&gpu->counters[1], 0);
}

/* ---- queues without a device ---- */

static hsa_status_t take_host(hsa_region_t region, void *data)
{
    hsa_region_segment_t segment;
    gpu_must(hsa_region_get_info(region, HSA_REGION_INFO_SEGMENT, &segment), "segment");
    if (segment != HSA_REGION_SEGMENT_GLOBAL)
        return HSA_STATUS_SUCCESS;
    *(hsa_region_t *)data = region;
    return HSA_STATUS_INFO_BREAK;
}

static hsa_status_t take_cpu(hsa_agent_t agent, void *data)
{
    hsa_device_type_t type;
    gpu_must(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type), "agent's type");
    if (type != HSA_DEVICE_TYPE_CPU)
        return HSA_STATUS_SUCCESS;
    *(hsa_agent_t *)data = agent;
    return HSA_STATUS_INFO_BREAK;
}

/* A soft queue is memory that the program serves itself: it must find there what it wrote. */
static void soft(struct gpu *gpu)
{
    enum { SIZE = 16, PACKETS = 200 };
    hsa_agent_t cpu = {0};
    hsa_region_t region = {0};
    hsa_queue_t *queue;
    hsa_queue_t *real = gpu_queue(gpu, 64);
    hsa_signal_t bell = gpu_signal(0);
    hsa_signal_t own = gpu_signal(1);
    gpu_must(hsa_iterate_agents(take_cpu, &cpu), "agents");
    gpu_must(hsa_agent_iterate_regions(cpu, take_host, &region), "regions");
    gpu_must(hsa_soft_queue_create(region, SIZE, HSA_QUEUE_TYPE_MULTI,
                                   HSA_QUEUE_FEATURE_AGENT_DISPATCH, bell, &queue),
             "soft queue");
    unsigned same = 0;
    for (uint64_t i = 0; i < PACKETS; i++) {
        union fault_packet packet = fault_kernel(gpu, 0, i % 2 == 0 ? own : fault_none(), true);
        uint64_t index = fault_submit(queue, &packet, 1);
        const char *slot = (const char *)queue->base_address + (index & (SIZE - 1)) * sizeof packet;
        same += index == i && hsa_signal_load_scacquire(bell) == (hsa_signal_value_t)i &&
                hsa_queue_load_write_index_scacquire(queue) == i + 1 &&
                // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): its bytes are meant
                memcmp(slot, &packet, sizeof packet) == 0;
        hsa_queue_store_read_index_screlease(queue, i + 1);
        fault_dispatch(gpu, real, 1, fault_none());
    }
    (void)printf("%u of %u packets as they were written, signal %lld\n", same, (unsigned)PACKETS,
                 (long long)hsa_signal_load_scacquire(own));
    gpu_drain(gpu, real);
    gpu_must(hsa_queue_destroy(queue), "soft queue");
    gpu_must(hsa_queue_destroy(real), "queue");
    gpu_must(hsa_signal_destroy(bell), "signal");
    gpu_must(hsa_signal_destroy(own), "signal");
}

const struct fault_way fault_queue_ways[] = {
    {"malformed", malformed}, {"inactivate", inactivate},
    {"brim", brim},           {"minimal", minimal},
    {"crowd", crowd},         {"destroy-under-load", destroy_under_load},
    {"soft", soft},           {NULL, NULL}};

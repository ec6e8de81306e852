#include "softgpu/kfd_queues.h"

#include "softgpu/device.h"
#include "softgpu/kfd_memory.h"
#include "softgpu/queue.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    DOORBELLS_PER_LINE = 8,
    MAX_QUEUES = 4096,
    AQL_PACKET = 64,
    /* A type of newer drivers: an SDMA queue on an engine of choice. */
    QUEUE_TYPE_SDMA_BY_ENGINE = 4,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sg_queue_t *queues[MAX_QUEUES]; /* by queue id less one */
static bool doorbell_used[SG_MAX_GPUS][SG_DOORBELLS];
static uint32_t created;

/* Neighbouring queues get doorbells on different cache lines while there are enough. */
static int take_doorbell(uint32_t gpu)
{
    const int lines = SG_DOORBELLS / DOORBELLS_PER_LINE;
    for (int i = 0; i < SG_DOORBELLS; i++) {
        int slot = i % lines * DOORBELLS_PER_LINE + i / lines;
        if (doorbell_used[gpu][slot])
            continue;
        doorbell_used[gpu][slot] = true;
        return slot;
    }
    return -1;
}

static int take_id(sg_queue_t *queue)
{
    for (int i = 0; i < MAX_QUEUES; i++) {
        if (queues[i])
            continue;
        queues[i] = queue;
        return i + 1;
    }
    return 0;
}

/* Gives the queue its place in the tables; 0 when they are full. */
static int enrol(sg_queue_t *queue, _Atomic uint64_t *doorbells, int *slot)
{
    (void)pthread_mutex_lock(&lock);
    int id = 0;
    *slot = take_doorbell(queue->gpu);
    if (*slot >= 0) {
        queue->doorbell = &doorbells[*slot];
        id = take_id(queue);
        if (id == 0)
            doorbell_used[queue->gpu][*slot] = false;
    }
    if (id != 0)
        queue->ordinal = created++;
    (void)pthread_mutex_unlock(&lock);
    queue->delays = sg_settings()->delay_seed * UINT64_C(0x100000001) + queue->ordinal;
    return id;
}

static void release(uint32_t id)
{
    uint64_t offset = 0;
    (void)pthread_mutex_lock(&lock);
    sg_queue_t *queue = queues[id - 1];
    queues[id - 1] = NULL;
    doorbell_used[queue->gpu][queue->doorbell - sg_kfd_doorbells(queue->gpu, &offset)] = false;
    (void)pthread_mutex_unlock(&lock);
    free(queue);
}

static bool power_of_two(uint64_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

/* The driver is told where the read index lies, which is a member of ROCr's queue. */
static void set_up_aql(sg_queue_t *queue, const struct kfd_ioctl_create_queue_args *args)
{
    queue->aql.queue = (amd_queue_t *)(uintptr_t)(args->read_pointer_address -
                                                  offsetof(amd_queue_t, read_dispatch_id));
    queue->aql.slots = queue->ring_bytes / AQL_PACKET;
    queue->aql.next = queue->aql.queue->read_dispatch_id;
    queue->aql.limit = queue->aql.next;
    atomic_store(queue->doorbell, SG_DOORBELL_SILENT);
}

static void set_up_sdma(sg_queue_t *queue, const struct kfd_ioctl_create_queue_args *args)
{
    queue->sdma.read_pointer = (_Atomic uint64_t *)(uintptr_t)args->read_pointer_address;
    queue->sdma.write_pointer = (_Atomic uint64_t *)(uintptr_t)args->write_pointer_address;
    atomic_store(queue->doorbell, 0);
}

static bool is_sdma(uint32_t type)
{
    return type == KFD_IOC_QUEUE_TYPE_SDMA || type == KFD_IOC_QUEUE_TYPE_SDMA_XGMI ||
           type == QUEUE_TYPE_SDMA_BY_ENGINE;
}

static bool is_good(const struct kfd_ioctl_create_queue_args *args)
{
    return (args->queue_type == KFD_IOC_QUEUE_TYPE_COMPUTE_AQL || is_sdma(args->queue_type)) &&
           args->ring_base_address != 0 && args->read_pointer_address != 0 &&
           args->write_pointer_address != 0 && power_of_two(args->ring_size) &&
           args->ring_size >= KFD_MIN_QUEUE_RING_SIZE;
}

static sg_queue_t *new_queue(uint32_t gpu, const struct kfd_ioctl_create_queue_args *args)
{
    sg_queue_t *queue = calloc(1, sizeof(*queue));
    if (!queue)
        return NULL;
    queue->gpu = gpu;
    queue->pid = (uint32_t)getpid();
    queue->is_sdma = is_sdma(args->queue_type);
    queue->ring = (void *)(uintptr_t)args->ring_base_address;
    queue->ring_bytes = args->ring_size;
    queue->save_area = (const void *)(uintptr_t)args->ctx_save_restore_address;
    queue->wake = SG_NEVER;
    atomic_store(&queue->suspended, args->queue_percentage == 0);
    return queue;
}

int sg_kfd_create_queue(struct kfd_ioctl_create_queue_args *args)
{
    int gpu = sg_kfd_gpu_of(args->gpu_id);
    if (gpu < 0 || !is_good(args))
        return EINVAL;
    uint64_t page = 0;
    _Atomic uint64_t *doorbells = sg_kfd_doorbells((uint32_t)gpu, &page);
    sg_queue_t *queue = doorbells ? new_queue((uint32_t)gpu, args) : NULL;
    if (!queue)
        return ENOMEM;
    int slot = 0;
    int id = enrol(queue, doorbells, &slot);
    if (id == 0) {
        free(queue);
        return ENOMEM;
    }
    if (queue->is_sdma)
        set_up_sdma(queue, args);
    else
        set_up_aql(queue, args);
    if (!sg_device_add(queue)) {
        release((uint32_t)id);
        return ENOMEM;
    }
    args->queue_id = (uint32_t)id;
    args->doorbell_offset = page + (uint64_t)slot * sizeof(uint64_t);
    sg_debug("queue %u created: %s, GPU %u, %llu bytes", queue->ordinal,
             queue->is_sdma ? "SDMA" : "AQL", queue->gpu, (unsigned long long)queue->ring_bytes);
    return 0;
}

/* NULL if there is no such queue. Its owner alone ends it. */
static sg_queue_t *queue_of(uint32_t id)
{
    if (id == 0 || id > MAX_QUEUES)
        return NULL;
    (void)pthread_mutex_lock(&lock);
    sg_queue_t *queue = queues[id - 1];
    (void)pthread_mutex_unlock(&lock);
    return queue;
}

bool sg_kfd_has_queue(uint32_t id)
{
    return queue_of(id) != NULL;
}

bool sg_kfd_has_queues(void)
{
    for (uint32_t id = 1; id <= MAX_QUEUES; id++)
        if (queue_of(id))
            return true;
    return false;
}

int sg_kfd_destroy_queue(const struct kfd_ioctl_destroy_queue_args *args)
{
    sg_queue_t *queue = queue_of(args->queue_id);
    if (!queue)
        return EINVAL;
    sg_device_remove(queue);
    sg_debug("queue %u destroyed", queue->ordinal);
    release(args->queue_id);
    return 0;
}

/* ROCr suspends a queue (0 percent) after an error and to change its priority. */
int sg_kfd_update_queue(const struct kfd_ioctl_update_queue_args *args)
{
    sg_queue_t *queue = queue_of(args->queue_id);
    if (!queue)
        return EINVAL;
    atomic_store(&queue->suspended, args->queue_percentage == 0);
    return 0;
}

void sg_kfd_queues_clear(void)
{
    for (uint32_t id = 1; id <= MAX_QUEUES; id++)
        if (queue_of(id))
            release(id);
}

void sg_kfd_queues_forget(void)
{
    pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    lock = fresh;
    memset(queues, 0, sizeof(queues));
    memset(doorbell_used, 0, sizeof(doorbell_used));
    created = 0;
}

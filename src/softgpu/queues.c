/* Queues as the program makes and ends them; doorbells. */
#include "softgpu/queues.h"
#include "softgpu/device.h"
#include "softgpu/memory.h"
#include "softgpu/process.h"
#include "softgpu/queue.h"

#include <hsakmt.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    DOORBELLS = 1024, /* per GPU; ROCr takes a doorbell's index from its address in an 8 KB page */
    DOORBELL_BYTES = DOORBELLS * 8,
    DOORBELLS_PER_LINE = 8,
    MAX_QUEUES = 4096,
    AQL_PACKET = 64,
};

typedef _Atomic(sg_queue_t *) sg_queue_slot_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sg_queue_slot_t queues[MAX_QUEUES]; /* by queue id less one */
static _Atomic uint64_t *doorbells[SG_MAX_GPUS];
static bool doorbell_used[SG_MAX_GPUS][DOORBELLS];
static uint32_t created;

/* The pointers that an SDMA queue shares with the program, on cache lines of their own. */
typedef struct sg_pointers {
    _Alignas(64) _Atomic uint64_t read;
    _Alignas(64) _Atomic uint64_t write;
} sg_pointers_t;

static sg_queue_t *queue_by_id(HSA_QUEUEID id)
{
    return id == 0 || id > MAX_QUEUES ? NULL : atomic_load(&queues[id - 1]);
}

/* Neighbouring queues get doorbells on different cache lines while there are enough. */
static _Atomic uint64_t *take_doorbell(uint32_t gpu)
{
    if (!doorbells[gpu])
        doorbells[gpu] = sg_memory_map(DOORBELL_BYTES, DOORBELL_BYTES);
    if (!doorbells[gpu])
        return NULL;
    const uint32_t lines = DOORBELLS / DOORBELLS_PER_LINE;
    for (uint32_t i = 0; i < DOORBELLS; i++) {
        uint32_t slot = i % lines * DOORBELLS_PER_LINE + i / lines;
        if (doorbell_used[gpu][slot])
            continue;
        doorbell_used[gpu][slot] = true;
        return &doorbells[gpu][slot];
    }
    return NULL;
}

static HSA_QUEUEID take_id(sg_queue_t *queue)
{
    for (uint32_t i = 0; i < MAX_QUEUES; i++) {
        if (atomic_load(&queues[i]))
            continue;
        atomic_store(&queues[i], queue);
        return i + 1;
    }
    return 0;
}

static void release(HSA_QUEUEID id, sg_queue_t *queue)
{
    (void)pthread_mutex_lock(&lock);
    if (id != 0)
        atomic_store(&queues[id - 1], NULL);
    if (queue->doorbell)
        doorbell_used[queue->gpu][queue->doorbell - doorbells[queue->gpu]] = false;
    (void)pthread_mutex_unlock(&lock);
    if (queue->is_sdma)
        free(queue->sdma.read_pointer); /* the first member of its sg_pointers_t */
    free(queue);
}

static bool power_of_two(uint64_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

static bool set_up_aql(sg_queue_t *queue, const HsaQueueResource *resource)
{
    if (!resource->Queue_read_ptr_aql || queue->ring_bytes < AQL_PACKET)
        return false;
    queue->aql.queue = (amd_queue_t *)(void *)((char *)resource->Queue_read_ptr_aql -
                                               offsetof(amd_queue_t, read_dispatch_id));
    queue->aql.slots = queue->ring_bytes / AQL_PACKET;
    queue->aql.next = queue->aql.queue->read_dispatch_id;
    queue->aql.limit = queue->aql.next;
    atomic_store(queue->doorbell, SG_DOORBELL_SILENT);
    return true;
}

static bool set_up_sdma(sg_queue_t *queue, HsaQueueResource *resource)
{
    sg_pointers_t *pointers = aligned_alloc(_Alignof(sg_pointers_t), sizeof(*pointers));
    if (!pointers)
        return false;
    memset(pointers, 0, sizeof(*pointers));
    queue->sdma.read_pointer = &pointers->read;
    queue->sdma.write_pointer = &pointers->write;
    resource->Queue_read_ptr_aql = (HSAuint64 *)(uintptr_t)&pointers->read;
    resource->Queue_write_ptr_aql = (HSAuint64 *)(uintptr_t)&pointers->write;
    atomic_store(queue->doorbell, 0);
    return true;
}

static sg_queue_t *new_queue(uint32_t gpu, bool is_sdma, void *ring, uint64_t bytes)
{
    sg_queue_t *queue = calloc(1, sizeof(*queue));
    if (!queue)
        return NULL;
    queue->gpu = gpu;
    queue->pid = (uint32_t)getpid();
    queue->is_sdma = is_sdma;
    queue->ring = ring;
    queue->ring_bytes = bytes;
    queue->wake = SG_NEVER;
    return queue;
}

/* Gives the queue its place in the tables; 0 when they are full. */
static HSA_QUEUEID enrol(sg_queue_t *queue)
{
    (void)pthread_mutex_lock(&lock);
    HSA_QUEUEID id = 0;
    queue->doorbell = take_doorbell(queue->gpu);
    if (queue->doorbell)
        id = take_id(queue);
    if (id != 0)
        queue->ordinal = created++;
    (void)pthread_mutex_unlock(&lock);
    queue->delays = sg_settings()->delay_seed * UINT64_C(0x100000001) + queue->ordinal;
    return id;
}

HSAKMT_STATUS hsaKmtCreateQueue(HSAuint32 NodeId, HSA_QUEUE_TYPE Type, HSAuint32 QueuePercentage,
                                HSA_QUEUE_PRIORITY Priority, void *QueueAddress,
                                HSAuint64 QueueSizeInBytes, HsaEvent *Event,
                                HsaQueueResource *QueueResource)
{
    (void)Priority;
    (void)Event;
    if (!sg_process_is_open())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    if (NodeId == 0 || NodeId > sg_settings()->gpus)
        return HSAKMT_STATUS_INVALID_NODE_UNIT;
    bool is_sdma = Type == HSA_QUEUE_SDMA || Type == HSA_QUEUE_SDMA_XGMI;
    if (!is_sdma && Type != HSA_QUEUE_COMPUTE_AQL)
        return HSAKMT_STATUS_NOT_SUPPORTED;
    if (!QueueResource || !QueueAddress || !power_of_two(QueueSizeInBytes))
        return HSAKMT_STATUS_INVALID_PARAMETER;

    sg_queue_t *queue = new_queue(NodeId - 1, is_sdma, QueueAddress, QueueSizeInBytes);
    if (!queue)
        return HSAKMT_STATUS_NO_MEMORY;
    atomic_store(&queue->suspended, QueuePercentage == 0);
    HSA_QUEUEID id = enrol(queue);
    if (id == 0) {
        release(id, queue);
        return HSAKMT_STATUS_OUT_OF_RESOURCES;
    }
    if (!(is_sdma ? set_up_sdma(queue, QueueResource) : set_up_aql(queue, QueueResource))) {
        release(id, queue);
        return HSAKMT_STATUS_INVALID_PARAMETER;
    }
    QueueResource->QueueId = id;
    QueueResource->Queue_DoorBell_aql = (HSAuint64 *)(uintptr_t)queue->doorbell;
    if (!sg_device_add(queue)) {
        release(id, queue);
        return HSAKMT_STATUS_NO_MEMORY;
    }
    sg_debug("queue %u created: %s, GPU %u, %llu bytes", queue->ordinal, is_sdma ? "SDMA" : "AQL",
             queue->gpu, (unsigned long long)QueueSizeInBytes);
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtDestroyQueue(HSA_QUEUEID QueueId)
{
    if (sg_process_is_orphan())
        return HSAKMT_STATUS_SUCCESS;
    if (!sg_process_is_open())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    sg_queue_t *queue = queue_by_id(QueueId);
    if (!queue)
        return HSAKMT_STATUS_INVALID_HANDLE;
    sg_device_remove(queue);
    sg_debug("queue %u destroyed", queue->ordinal);
    release(QueueId, queue);
    return HSAKMT_STATUS_SUCCESS;
}

/* ROCr suspends a queue (0 percent) after an error and to change its priority. */
HSAKMT_STATUS hsaKmtUpdateQueue(HSA_QUEUEID QueueId, HSAuint32 QueuePercentage,
                                HSA_QUEUE_PRIORITY Priority, void *QueueAddress,
                                HSAuint64 QueueSize, HsaEvent *Event)
{
    (void)Priority;
    (void)QueueAddress;
    (void)QueueSize;
    (void)Event;
    if (!sg_process_is_open())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    sg_queue_t *queue = queue_by_id(QueueId);
    if (!queue)
        return HSAKMT_STATUS_INVALID_HANDLE;
    atomic_store(&queue->suspended, QueuePercentage == 0);
    return HSAKMT_STATUS_SUCCESS;
}

/* The duration model knows no compute units, so a mask changes nothing. */
HSAKMT_STATUS hsaKmtSetQueueCUMask(HSA_QUEUEID QueueId, HSAuint32 CUMaskCount,
                                   HSAuint32 *QueueCUMask)
{
    if (!sg_process_is_open())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    if (CUMaskCount == 0 || CUMaskCount % 32 != 0 || !QueueCUMask)
        return HSAKMT_STATUS_INVALID_PARAMETER;
    return queue_by_id(QueueId) ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_HANDLE;
}

bool sg_queues_ring(uint64_t id)
{
    sg_queue_t *queue = queue_by_id(id);
    if (!queue)
        return false;
    atomic_store_explicit(&queue->rung, true, memory_order_release);
    return true;
}

void sg_queues_close(void)
{
    for (uint32_t i = 0; i < MAX_QUEUES; i++) {
        sg_queue_t *queue = atomic_load(&queues[i]);
        if (queue)
            release(i + 1, queue);
    }
    for (uint32_t gpu = 0; gpu < SG_MAX_GPUS; gpu++) {
        if (doorbells[gpu])
            (void)munmap((void *)(uintptr_t)doorbells[gpu], DOORBELL_BYTES);
        doorbells[gpu] = NULL;
    }
}

void sg_queues_forget(void)
{
    pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    lock = fresh;
    for (uint32_t i = 0; i < MAX_QUEUES; i++)
        atomic_store(&queues[i], NULL);
    memset(doorbell_used, 0, sizeof(doorbell_used));
    memset(doorbells, 0, sizeof(doorbells));
    created = 0;
}

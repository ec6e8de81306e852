#include "model.h"

#include "intercept/base/queue_map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STAGING_OF_G2 256u

static struct rtl_queue_map by_address, by_doorbell;
static pthread_mutex_t map_lock = PTHREAD_MUTEX_INITIALIZER;

struct model_queue *model_queue_at(const hsa_queue_t *queue)
{
    return rtl_queue_map_find(&by_address, (uint64_t)(uintptr_t)queue);
}

struct model_queue *model_queue_of_doorbell(hsa_signal_t signal)
{
    return rtl_queue_map_find(&by_doorbell, signal.handle);
}

/* ---- life ---- */

/* An error of the lower queue is the shown queue's to the program. */
static void report_error(hsa_status_t status, hsa_queue_t *lower, void *data)
{
    struct model_queue *queue = data;
    (void)lower;
    if (queue->callback != NULL)
        queue->callback(status, &queue->shown.hsa_queue, queue->data);
}

/* A ring of invalid packets whose end is the end of what can be read. */
static bool make_ring(struct model_queue *queue, uint64_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t bytes = size * sizeof *queue->ring;
    size_t whole = (bytes + page - 1) / page * page;
    void *mapping =
        mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED)
        return false;
    queue->mapping = mapping;
    queue->mapped = whole + page;
    queue->ring = (void *)((unsigned char *)mapping + whole - bytes);
    for (uint64_t i = 0; i < size; i++)
        queue->ring[i].header = HSA_PACKET_TYPE_INVALID << HSA_PACKET_HEADER_TYPE;
    return mprotect((unsigned char *)mapping + whole, page, PROT_NONE) == 0;
}

static bool make_buffers(struct model_queue *queue, uint64_t size)
{
    if (model_generation == MODEL_G2)
        queue->staging_size = STAGING_OF_G2;
    if (model_generation == MODEL_G3)
        queue->staging_size = size;
    if (queue->staging_size != 0)
        queue->staging = malloc(queue->staging_size * sizeof *queue->staging);
    queue->input = size > 0 ? malloc(size * sizeof *queue->input) : NULL;
    return make_ring(queue, size) && queue->input != NULL &&
           (queue->staging != NULL || queue->staging_size == 0);
}

/* A doorbell of an intercept queue looks like a signal of the program (its kind is USER): the
 * runtime copies the block of such a signal into it. */
static bool make_signals(struct model_queue *queue)
{
    hsa_signal_t *doorbell = &queue->shown.hsa_queue.doorbell_signal;
    doorbell->handle = 0;
    return rtl_api.hsa_amd_signal_create(1, 0, NULL, 0, &queue->retry) == HSA_STATUS_SUCCESS &&
           rtl_api.hsa_amd_signal_create(0, 0, NULL, 0, doorbell) == HSA_STATUS_SUCCESS;
}

static void give_back(struct model_queue *queue)
{
    hsa_signal_t doorbell = queue->shown.hsa_queue.doorbell_signal;
    if (queue->retry.handle != 0)
        (void)rtl_api.hsa_signal_destroy(queue->retry);
    if (doorbell.handle != 0)
        (void)rtl_api.hsa_signal_destroy(doorbell);
    if (queue->mapping != NULL)
        (void)munmap(queue->mapping, queue->mapped);
    free(queue->staging);
    free(queue->overflow);
    free(queue->input);
    (void)pthread_mutex_destroy(&queue->lock);
    free(queue);
}

/* The queue that the program sees: as the lower one, but for the ring, the doorbell and the
 * indexes. */
static bool make_shown(struct model_queue *queue)
{
    memcpy(&queue->shown, queue->lower, sizeof queue->shown);
    queue->shown.write_dispatch_id = 0;
    queue->shown.read_dispatch_id = 0;
    if (!make_signals(queue) || !make_buffers(queue, queue->lower->size))
        return false;
    queue->shown.hsa_queue.base_address = queue->ring;
    return true;
}

static bool enter(struct model_queue *queue)
{
    uint64_t address = (uint64_t)(uintptr_t)queue;
    pthread_mutex_lock(&map_lock);
    bool entered = rtl_queue_map_put(&by_address, address, queue);
    if (entered &&
        !rtl_queue_map_put(&by_doorbell, queue->shown.hsa_queue.doorbell_signal.handle, queue)) {
        rtl_queue_map_remove(&by_address, address);
        entered = false;
    }
    pthread_mutex_unlock(&map_lock);
    return entered;
}

static void leave(struct model_queue *queue)
{
    pthread_mutex_lock(&map_lock);
    rtl_queue_map_remove(&by_address, (uint64_t)(uintptr_t)queue);
    rtl_queue_map_remove(&by_doorbell, queue->shown.hsa_queue.doorbell_signal.handle);
    pthread_mutex_unlock(&map_lock);
}

static struct model_queue *new_queue(void)
{
    struct model_queue *queue = NULL;
    if (posix_memalign((void **)&queue, AMD_QUEUE_ALIGN_BYTES, sizeof *queue) != 0)
        return NULL;
    memset(queue, 0, sizeof *queue);
    (void)pthread_mutex_init(&queue->lock, NULL);
    atomic_store(&queue->active, true);
    return queue;
}

static hsa_status_t create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                           void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
                           uint32_t private_size, uint32_t group_size, hsa_queue_t **out)
{
    struct model_queue *queue = new_queue();
    if (out == NULL || queue == NULL) {
        free(queue);
        return out == NULL ? HSA_STATUS_ERROR_INVALID_ARGUMENT : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    queue->callback = callback;
    queue->data = data;
    hsa_status_t status = rtl_api.hsa_queue_create(agent, size, type, report_error, queue,
                                                   private_size, group_size, &queue->lower);
    if (status != HSA_STATUS_SUCCESS) {
        give_back(queue);
        return status;
    }
    if (!make_shown(queue) || !enter(queue) || !model_retry_watch(queue)) {
        leave(queue);
        (void)rtl_api.hsa_queue_destroy(queue->lower);
        give_back(queue);
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    atomic_fetch_add(&model_counts.queues, 1);
    *out = &queue->shown.hsa_queue;
    return HSA_STATUS_SUCCESS;
}

/* The handler that is registered last is called first. */
static hsa_status_t add_interceptor(hsa_queue_t *shown, rtl_intercept_handler_t handler, void *data)
{
    struct model_queue *queue = model_queue_at(shown);
    if (queue == NULL)
        return HSA_STATUS_ERROR_INVALID_QUEUE;
    if (handler == NULL || queue->interceptor_count == MODEL_INTERCEPTORS)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    pthread_mutex_lock(&queue->lock);
    queue->interceptors[queue->interceptor_count++] = (struct model_interceptor){handler, data};
    pthread_mutex_unlock(&queue->lock);
    return HSA_STATUS_SUCCESS;
}

/* Waits for a callback that is under way; packets that it has not seen are dropped, as those in the
 * overflow list are. */
static void deactivate(struct model_queue *queue)
{
    atomic_store(&queue->active, false);
    model_retry_forget(queue);
    pthread_mutex_lock(&queue->lock);
    pthread_mutex_unlock(&queue->lock);
}

static hsa_status_t destroy(hsa_queue_t *shown)
{
    struct model_queue *queue = model_queue_at(shown);
    if (queue == NULL)
        return rtl_api.hsa_queue_destroy(shown);
    deactivate(queue);
    leave(queue);
    hsa_status_t status = rtl_api.hsa_queue_destroy(queue->lower);
    give_back(queue);
    return status;
}

/* ---- what the lower queue answers for ---- */

static hsa_queue_t *lower(hsa_queue_t *shown)
{
    struct model_queue *queue = model_queue_at(shown);
    return queue != NULL ? queue->lower : shown;
}

static hsa_status_t inactivate(hsa_queue_t *shown)
{
    struct model_queue *queue = model_queue_at(shown);
    if (queue != NULL)
        atomic_store(&queue->active, false);
    return rtl_api.hsa_queue_inactivate(lower(shown));
}

static hsa_status_t set_profiler_enabled(hsa_queue_t *shown, int enable)
{
    return rtl_api.hsa_amd_profiling_set_profiler_enabled(lower(shown), enable);
}

static hsa_status_t set_priority(hsa_queue_t *shown, hsa_amd_queue_priority_t priority)
{
    return rtl_api.hsa_amd_queue_set_priority(lower(shown), priority);
}

static hsa_status_t set_mask(const hsa_queue_t *shown, uint32_t count, const uint32_t *mask)
{
    struct model_queue *queue = model_queue_at(shown);
    return rtl_api.hsa_amd_queue_cu_set_mask(queue != NULL ? queue->lower : shown, count, mask);
}

/* ---- indexes ---- */

#define LOAD(which, field, name, order)                                                            \
    static uint64_t load_##which##_##name(const hsa_queue_t *shown)                                \
    {                                                                                              \
        const struct model_queue *queue = model_queue_at(shown);                                   \
        return queue != NULL ? __atomic_load_n(&queue->shown.field, order)                         \
                             : rtl_api.hsa_queue_load_##which##_index_##name(shown);               \
    }

#define STORE(name, order)                                                                         \
    static void store_##name(const hsa_queue_t *shown, uint64_t value)                             \
    {                                                                                              \
        struct model_queue *queue = model_queue_at(shown);                                         \
        if (queue != NULL)                                                                         \
            __atomic_store_n(&queue->shown.write_dispatch_id, value, order);                       \
        else                                                                                       \
            rtl_api.hsa_queue_store_write_index_##name(shown, value);                              \
    }

#define CAS(name, order, failure)                                                                  \
    static uint64_t cas_##name(const hsa_queue_t *shown, uint64_t expected, uint64_t value)        \
    {                                                                                              \
        struct model_queue *queue = model_queue_at(shown);                                         \
        if (queue == NULL)                                                                         \
            return rtl_api.hsa_queue_cas_write_index_##name(shown, expected, value);               \
        (void)__atomic_compare_exchange_n(&queue->shown.write_dispatch_id, &expected, value,       \
                                          false, order, failure);                                  \
        return expected;                                                                           \
    }

#define ADD(name, order)                                                                           \
    static uint64_t add_##name(const hsa_queue_t *shown, uint64_t value)                           \
    {                                                                                              \
        struct model_queue *queue = model_queue_at(shown);                                         \
        return queue != NULL ? __atomic_fetch_add(&queue->shown.write_dispatch_id, value, order)   \
                             : rtl_api.hsa_queue_add_write_index_##name(shown, value);             \
    }

LOAD(read, read_dispatch_id, scacquire, __ATOMIC_ACQUIRE)
LOAD(read, read_dispatch_id, relaxed, __ATOMIC_RELAXED)
LOAD(write, write_dispatch_id, scacquire, __ATOMIC_ACQUIRE)
LOAD(write, write_dispatch_id, relaxed, __ATOMIC_RELAXED)
STORE(relaxed, __ATOMIC_RELAXED)
STORE(screlease, __ATOMIC_RELEASE)
CAS(scacq_screl, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)
CAS(scacquire, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)
CAS(relaxed, __ATOMIC_RELAXED, __ATOMIC_RELAXED)
CAS(screlease, __ATOMIC_RELEASE, __ATOMIC_RELAXED)
ADD(scacq_screl, __ATOMIC_ACQ_REL)
ADD(scacquire, __ATOMIC_ACQUIRE)
ADD(relaxed, __ATOMIC_RELAXED)
ADD(screlease, __ATOMIC_RELEASE)

#define HOOK(entry, function) rtl_api_hook(RTL_ENTRY_##entry, (void (*)(void))(function))

static void hook_indexes(void)
{
    HOOK(hsa_queue_load_read_index_scacquire, load_read_scacquire);
    HOOK(hsa_queue_load_read_index_relaxed, load_read_relaxed);
    HOOK(hsa_queue_load_write_index_scacquire, load_write_scacquire);
    HOOK(hsa_queue_load_write_index_relaxed, load_write_relaxed);
    HOOK(hsa_queue_store_write_index_relaxed, store_relaxed);
    HOOK(hsa_queue_store_write_index_screlease, store_screlease);
    HOOK(hsa_queue_cas_write_index_scacq_screl, cas_scacq_screl);
    HOOK(hsa_queue_cas_write_index_scacquire, cas_scacquire);
    HOOK(hsa_queue_cas_write_index_relaxed, cas_relaxed);
    HOOK(hsa_queue_cas_write_index_screlease, cas_screlease);
    HOOK(hsa_queue_add_write_index_scacq_screl, add_scacq_screl);
    HOOK(hsa_queue_add_write_index_scacquire, add_scacquire);
    HOOK(hsa_queue_add_write_index_relaxed, add_relaxed);
    HOOK(hsa_queue_add_write_index_screlease, add_screlease);
}

void model_queues_hook(void)
{
    hook_indexes();
    HOOK(hsa_amd_queue_intercept_create, create);
    HOOK(hsa_amd_queue_intercept_register, add_interceptor);
    HOOK(hsa_queue_destroy, destroy);
    HOOK(hsa_queue_inactivate, inactivate);
    HOOK(hsa_amd_profiling_set_profiler_enabled, set_profiler_enabled);
    HOOK(hsa_amd_queue_set_priority, set_priority);
    HOOK(hsa_amd_queue_cu_set_mask, set_mask);
}

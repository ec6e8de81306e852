/*
 * A tool of the HSA runtime (HSA_TOOLS_LIB) that counts how a program gives its packets to the
 * device: by how many rings of doorbells, and at most how many packets by one. Told on stderr at
 * the end. Without librtl.so, which rings in the program's place.
 *
 * A ring tells the index of the last packet that is valid. Packets that ROCr itself submits pass no
 * tool.
 */
#include "intercept/base/api.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#define EXPORT __attribute__((visibility("default")))

enum { MOST_QUEUES = 64 };

EXPORT bool OnLoad(void *table, uint64_t version, uint64_t failed, const char *const *names);
EXPORT void OnUnload(void);

static struct queue {
    _Atomic uint64_t doorbell; /* signal handle */
    _Atomic uint64_t given;    /* packets before it were announced */
} queues[MOST_QUEUES];
static atomic_uint queue_count;
static _Atomic uint64_t packets, rings, largest;
static bool is_loaded;

static struct queue *queue_of(uint64_t doorbell)
{
    unsigned count = atomic_load(&queue_count);
    for (unsigned i = 0; i < count && i < MOST_QUEUES; i++)
        if (atomic_load(&queues[i].doorbell) == doorbell)
            return &queues[i];
    return NULL;
}

static hsa_status_t create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                           void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
                           uint32_t private_bytes, uint32_t group_bytes, hsa_queue_t **queue)
{
    hsa_status_t status = rtl_api.hsa_queue_create(agent, size, type, callback, data, private_bytes,
                                                   group_bytes, queue);
    if (status != HSA_STATUS_SUCCESS)
        return status;
    struct queue *known = queue_of((*queue)->doorbell_signal.handle);
    unsigned next = known ? 0 : atomic_fetch_add(&queue_count, 1);
    if (!known && next < MOST_QUEUES)
        known = &queues[next];
    if (known) {
        atomic_store(&known->given, 0);
        atomic_store(&known->doorbell, (*queue)->doorbell_signal.handle);
    }
    return status;
}

static void raise_to(_Atomic uint64_t *value, uint64_t at_least)
{
    uint64_t now = atomic_load(value);
    while (now < at_least && !atomic_compare_exchange_weak(value, &now, at_least))
        ;
}

static void note(hsa_signal_t signal, hsa_signal_value_t value)
{
    struct queue *queue = queue_of(signal.handle);
    if (!queue)
        return;
    uint64_t before = atomic_load(&queue->given);
    uint64_t after = (uint64_t)value + 1;
    raise_to(&queue->given, after);
    atomic_fetch_add(&rings, 1);
    if (after <= before)
        return;
    atomic_fetch_add(&packets, after - before);
    raise_to(&largest, after - before);
}

#define STORE(name)                                                                                \
    static void name(hsa_signal_t signal, hsa_signal_value_t value)                                \
    {                                                                                              \
        note(signal, value);                                                                       \
        rtl_api.hsa_signal_##name(signal, value);                                                  \
    }

STORE(store_relaxed)
STORE(store_screlease)
STORE(silent_store_relaxed)
STORE(silent_store_screlease)

bool OnLoad(void *table, uint64_t version, uint64_t failed, const char *const *names)
{
    (void)version;
    (void)failed;
    (void)names;
    const char *missing = NULL;
    if (!rtl_api_take(table, &missing)) {
        (void)fprintf(stderr, "doorbells: the runtime has no %s\n", missing);
        return true;
    }
    RTL_HOOK(hsa_queue_create, create);
    RTL_HOOK(hsa_signal_store_relaxed, store_relaxed);
    RTL_HOOK(hsa_signal_store_screlease, store_screlease);
    RTL_HOOK(hsa_signal_silent_store_relaxed, silent_store_relaxed);
    RTL_HOOK(hsa_signal_silent_store_screlease, silent_store_screlease);
    is_loaded = true;
    return true;
}

void OnUnload(void)
{
}

/* HIP leaves the runtime as it is when the program ends. */
__attribute__((destructor)) static void tell(void)
{
    uint64_t rung = atomic_load(&rings);
    if (!is_loaded || rung == 0)
        return;
    (void)fprintf(stderr,
                  "%" PRIu64 " packets by %" PRIu64 " doorbells: %.1f a doorbell, at most %" PRIu64
                  "\n",
                  atomic_load(&packets), rung, (double)atomic_load(&packets) / (double)rung,
                  atomic_load(&largest));
}

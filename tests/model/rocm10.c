/*
 * A model of what ROCm 10 has beside ROCr's older entries, over the runtime that is there: a tool
 * that is loaded before librtl.so.
 *
 *     HSA_TOOLS_LIB="…/rocm10.so …/librtl.so" MODEL_TABLE=744 PROGRAM
 *
 * MODEL_TABLE: the bytes of the extension table. One of 744 has the layout of August 2026 (step
 * 0x12, hsa_ext_amd.h 1.26), with the new entries at the offsets below; in one of another size they
 * are not where those would be.
 * MODEL_HIDE=1: hsa_queue_create, too, makes its queues by the new entry, as HIP 7.15 does.
 * MODEL_EARLY=1: a queue is made before librtl.so is loaded (model10_early).
 *
 * The program finds the exported functions of the runtime by their names: this library exports the
 * new ones, which go through the table as ROCr's do, and hsa_amd_queue_get_info and
 * hsa_amd_pointer_info, which know of its queues.
 *
 * A ring in device memory stays where it is; hsa_amd_pointer_info says that it is the GPU's.
 * Several handles of a hardware queue are copies of what programs see of it, which is all that they
 * are in ROCr: the write-index entries know them.
 *
 * Queues of the engines SDMA and AIE take no AQL packets. What they are here are a few bytes whose
 * features say so.
 */
#include "rocm10.h"

#include "intercept/base/api.h"

#include <dlfcn.h>
#include <hsa/hsa_ext_amd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT        __attribute__((visibility("default")))
#define MOST          64u
#define ROOM          1024u /* bytes that the largest table has */
#define AUGUST_2026   744u
#define STEP_2026     0x12u
#define HEAD          16u /* of a table: its version */
#define LAYOUT_OF_5_6 456u

/* Offsets in the table of August 2026. */
enum { GET_INFO = 560, ACQUIRE = 624, RELEASE = 632, CREATE = 704 };

EXPORT bool OnLoad(void *table, uint64_t version, uint64_t failed, const char *const *names);
EXPORT void OnUnload(void);
/* Newer headers declare these, with types of their own. */
EXPORT hsa_status_t export_create(hsa_agent_t agent, struct model10_desc *descs,
                                  uint32_t count) __asm__("hsa_amd_queue_create");
EXPORT hsa_status_t export_acquire(hsa_agent_t agent, uint32_t type, int priority,
                                   void (*callback)(hsa_status_t, hsa_queue_t *, void *),
                                   void *data, uint64_t flags,
                                   hsa_queue_t **queue) __asm__("hsa_amd_counted_queue_acquire");
EXPORT hsa_status_t export_release(hsa_queue_t *queue) __asm__("hsa_amd_counted_queue_release");
EXPORT hsa_status_t export_get_info(hsa_queue_t *queue, int attribute,
                                    void *value) __asm__("hsa_amd_queue_get_info");
EXPORT hsa_queue_t *model10_early(void);
EXPORT unsigned model10_in_device_memory(void);
EXPORT uint64_t model10_add_write_index(const hsa_queue_t *queue, uint64_t value);
EXPORT void model10_before_doorbells(void (*call)(hsa_signal_t doorbell));

typedef hsa_status_t create_entry(hsa_agent_t, struct model10_desc *, uint32_t);
typedef hsa_status_t acquire_entry(hsa_agent_t, uint32_t, int,
                                   void (*)(hsa_status_t, hsa_queue_t *, void *), void *, uint64_t,
                                   hsa_queue_t **);
typedef hsa_status_t release_entry(hsa_queue_t *);

/* A handle that this library gave out. */
struct given {
    hsa_queue_t *handle, *real;
    hsa_agent_t agent;
    bool in_device_memory, copied;
};

static struct given all[MOST];
static unsigned given_count, in_device_memory;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char *real_ext;
static size_t real_size, size;
static _Alignas(16) unsigned char ext[ROOM];
static hsa_queue_t *early;

static void add(hsa_queue_t *handle, hsa_queue_t *real, hsa_agent_t agent, bool device)
{
    pthread_mutex_lock(&lock);
    if (given_count == MOST)
        abort();
    in_device_memory += device;
    all[given_count++] = (struct given){handle, real, agent, device, handle != real};
    pthread_mutex_unlock(&lock);
}

/* Of the handle that was given last, if there were others at its place. */
static struct given *find(const hsa_queue_t *handle)
{
    for (unsigned i = given_count; i-- > 0;)
        if (all[i].handle == handle)
            return &all[i];
    return NULL;
}

static const hsa_queue_t *real_of(const hsa_queue_t *handle)
{
    pthread_mutex_lock(&lock);
    const struct given *given = find(handle);
    const hsa_queue_t *real = given != NULL ? given->real : handle;
    pthread_mutex_unlock(&lock);
    return real;
}

/* ---- the new entries ---- */

static hsa_status_t make_one(hsa_agent_t agent, struct model10_desc *desc)
{
    if (desc->engine != MODEL10_COMPUTE) {
        desc->queue = calloc(1, sizeof(hsa_queue_t));
        if (desc->queue == NULL)
            return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
        desc->queue->features = HSA_QUEUE_FEATURE_AGENT_DISPATCH;
        return HSA_STATUS_SUCCESS;
    }
    hsa_status_t status =
        rtl_api.hsa_queue_create(agent, desc->bytes / 64, desc->compute.type, desc->callback,
                                 desc->data, desc->compute.private_size, UINT32_MAX, &desc->queue);
    if (status == HSA_STATUS_SUCCESS)
        add(desc->queue, desc->queue, agent, (desc->flags & MODEL10_RING_IN_DEVICE_MEMORY) != 0);
    return status;
}

static hsa_status_t create(hsa_agent_t agent, struct model10_desc *descs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        hsa_status_t status = make_one(agent, &descs[i]);
        if (status != HSA_STATUS_SUCCESS)
            return status;
    }
    return HSA_STATUS_SUCCESS;
}

/* Two hardware queues, in turn. */
static hsa_status_t acquire(hsa_agent_t agent, uint32_t type, int priority,
                            void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
                            uint64_t flags, hsa_queue_t **queue)
{
    static hsa_queue_t *hardware[2];
    static unsigned turn;
    (void)priority;
    (void)flags;
    unsigned which = turn++ % 2;
    hsa_status_t status = HSA_STATUS_SUCCESS;
    if (hardware[which] == NULL)
        status = rtl_api.hsa_queue_create(agent, 4096, type, callback, data, UINT32_MAX, UINT32_MAX,
                                          &hardware[which]);
    *queue = status == HSA_STATUS_SUCCESS ? malloc(sizeof **queue) : NULL;
    if (*queue == NULL)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    **queue = *hardware[which];
    add(*queue, hardware[which], agent, false);
    return HSA_STATUS_SUCCESS;
}

/* The next handle may be at the same place. */
static hsa_status_t release(hsa_queue_t *queue)
{
    free(queue);
    return HSA_STATUS_SUCCESS;
}

/* ---- what knows handles ---- */

#define LOAD(name)                                                                                 \
    static uint64_t name(const hsa_queue_t *queue)                                                 \
    {                                                                                              \
        return rtl_api.hsa_queue_##name(real_of(queue));                                           \
    }
#define STORE(name)                                                                                \
    static void name(const hsa_queue_t *queue, uint64_t value)                                     \
    {                                                                                              \
        rtl_api.hsa_queue_##name(real_of(queue), value);                                           \
    }
#define CAS(name)                                                                                  \
    static uint64_t name(const hsa_queue_t *queue, uint64_t expected, uint64_t value)              \
    {                                                                                              \
        return rtl_api.hsa_queue_##name(real_of(queue), expected, value);                          \
    }
#define ADD(name)                                                                                  \
    static uint64_t name(const hsa_queue_t *queue, uint64_t value)                                 \
    {                                                                                              \
        return rtl_api.hsa_queue_##name(real_of(queue), value);                                    \
    }
#define INDICES(L, S, C, A)                                                                        \
    L(load_read_index_scacquire)                                                                   \
    L(load_read_index_relaxed)                                                                     \
    L(load_write_index_scacquire)                                                                  \
    L(load_write_index_relaxed)                                                                    \
    S(store_write_index_relaxed)                                                                   \
    S(store_write_index_screlease)                                                                 \
    C(cas_write_index_scacq_screl)                                                                 \
    C(cas_write_index_scacquire)                                                                   \
    C(cas_write_index_relaxed)                                                                     \
    C(cas_write_index_screlease)                                                                   \
    A(add_write_index_scacq_screl)                                                                 \
    A(add_write_index_scacquire)                                                                   \
    A(add_write_index_relaxed)                                                                     \
    A(add_write_index_screlease)

INDICES(LOAD, STORE, CAS, ADD)

static hsa_status_t set_profiler_enabled(hsa_queue_t *queue, int enable)
{
    return rtl_api.hsa_amd_profiling_set_profiler_enabled((hsa_queue_t *)(uintptr_t)real_of(queue),
                                                          enable);
}

static hsa_status_t destroy(hsa_queue_t *queue)
{
    pthread_mutex_lock(&lock);
    struct given *given = find(queue);
    if (given != NULL)
        given->handle = NULL;
    pthread_mutex_unlock(&lock);
    return rtl_api.hsa_queue_destroy(queue);
}

hsa_status_t export_get_info(hsa_queue_t *queue, int attribute, void *value)
{
    pthread_mutex_lock(&lock);
    const struct given *given = find(queue);
    if (given != NULL && attribute == 0)
        memcpy(value, &given->agent, sizeof given->agent);
    pthread_mutex_unlock(&lock);
    return given != NULL && attribute == 0 ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

/* A ring in device memory is the GPU's. */
static void move_ring(const void *address, hsa_amd_pointer_info_t *info)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < given_count; i++)
        if (all[i].handle != NULL && all[i].in_device_memory &&
            all[i].real->base_address == address)
            info->agentOwner = all[i].agent;
    pthread_mutex_unlock(&lock);
}

EXPORT hsa_status_t hsa_amd_pointer_info(const void *address, hsa_amd_pointer_info_t *info,
                                         void *(*allocate)(size_t), uint32_t *count,
                                         hsa_agent_t **agents)
{
    hsa_status_t (*next)(const void *, hsa_amd_pointer_info_t *, void *(*)(size_t), uint32_t *,
                         hsa_agent_t **);
    *(void **)&next = dlsym(RTLD_NEXT, "hsa_amd_pointer_info");
    if (next == NULL) /* this library is not preloaded */
        *(void **)&next = dlsym(RTLD_DEFAULT, "hsa_amd_pointer_info");
    hsa_status_t status = next(address, info, allocate, count, agents);
    if (status == HSA_STATUS_SUCCESS)
        move_ring(address, info);
    return status;
}

/* ---- tables ---- */

static void put(unsigned char *table, size_t offset, void (*function)(void))
{
    memcpy(table + offset, &function, sizeof function);
}

static void *entry(size_t offset)
{
    void *function;
    memcpy(&function, ext + offset, sizeof function);
    return function;
}

static bool has_new_entries(void)
{
    return size == AUGUST_2026;
}

hsa_status_t export_create(hsa_agent_t agent, struct model10_desc *descs, uint32_t count)
{
    create_entry *function = create;
    if (has_new_entries())
        *(void **)&function = entry(CREATE);
    return function(agent, descs, count);
}

hsa_status_t export_acquire(hsa_agent_t agent, uint32_t type, int priority,
                            void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
                            uint64_t flags, hsa_queue_t **queue)
{
    acquire_entry *function = acquire;
    if (has_new_entries())
        *(void **)&function = entry(ACQUIRE);
    return function(agent, type, priority, callback, data, flags, queue);
}

hsa_status_t export_release(hsa_queue_t *queue)
{
    release_entry *function = release;
    if (has_new_entries())
        *(void **)&function = entry(RELEASE);
    return function(queue);
}

hsa_queue_t *model10_early(void)
{
    return early;
}

unsigned model10_in_device_memory(void)
{
    return in_device_memory;
}

/* Called when librtl.so has passed a store on, and the device does not know of it yet. */
static void (*_Atomic before_doorbell)(hsa_signal_t doorbell);

void model10_before_doorbells(void (*call)(hsa_signal_t doorbell))
{
    atomic_store(&before_doorbell, call);
}

#define SIGNAL_STORE(name)                                                                         \
    static void name(hsa_signal_t signal, hsa_signal_value_t value)                                \
    {                                                                                              \
        void (*call)(hsa_signal_t) = atomic_load(&before_doorbell);                                \
        if (call != NULL)                                                                          \
            call(signal);                                                                          \
        rtl_api.hsa_signal_##name(signal, value);                                                  \
    }

SIGNAL_STORE(store_relaxed)
SIGNAL_STORE(store_screlease)

/* Below librtl.so. */
uint64_t model10_add_write_index(const hsa_queue_t *queue, uint64_t value)
{
    return rtl_api.hsa_queue_add_write_index_relaxed(queue, value);
}

/* As HIP 7.15 does, by the exported function. */
static hsa_status_t create_hidden(hsa_agent_t agent, uint32_t packets, hsa_queue_type32_t type,
                                  void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
                                  uint32_t private_size, uint32_t group_size, hsa_queue_t **queue)
{
    struct model10_desc desc = {.version = 1,
                                .bytes = packets * 64,
                                .callback = callback,
                                .data = data,
                                .compute = {.type = type, .private_size = private_size}};
    (void)group_size;
    hsa_status_t status = export_create(agent, &desc, 1);
    *queue = desc.queue;
    return status;
}

static bool is_set(const char *name)
{
    const char *value = getenv(name); // NOLINT(concurrency-mt-unsafe)
    return value != NULL && strcmp(value, "1") == 0;
}

/* Between the runtime's table and the one that is shown. Before ROCm 5.6 two entries less were in
 * the middle: what tools use is moved to its place since. */
static void carry(bool back)
{
    if (real_size >= LAYOUT_OF_5_6) {
        size_t both = real_size < size ? real_size : size;
        memcpy((back ? real_ext : ext) + HEAD, (back ? ext : real_ext) + HEAD, both - HEAD);
        return;
    }
    for (unsigned i = RTL_ENTRY_hsa_amd_profiling_set_profiler_enabled; i < RTL_ENTRIES; i++) {
        uint32_t there = rtl_api_offset((enum rtl_entry)i, (uint32_t)real_size, 0);
        uint32_t here = rtl_api_offset((enum rtl_entry)i, (uint32_t)size, 0);
        if (there != 0 && here != 0)
            memcpy(back ? real_ext + there : ext + here, back ? ext + here : real_ext + there,
                   sizeof(void *));
    }
}

/* The program asks for agents when all tools are loaded: what they have put into the table that
 * they were shown becomes the runtime's. */
static hsa_status_t iterate_agents(hsa_status_t (*callback)(hsa_agent_t, void *), void *data)
{
    carry(true);
    if (is_set("MODEL_HIDE"))
        rtl_api_hook(RTL_ENTRY_hsa_queue_create, (void (*)(void))create_hidden);
    return rtl_api.hsa_iterate_agents(callback, data);
}

struct table_version {
    uint32_t major, minor, step, reserved;
};

static void show_larger_table(unsigned char *root)
{
    struct table_version version;
    void *shown = ext;
    memcpy(&real_ext, root + 24, sizeof real_ext);
    memcpy(&version, real_ext, sizeof version);
    real_size = version.minor;
    carry(false);
    version.minor = (uint32_t)size;
    version.step = has_new_entries() ? STEP_2026 : STEP_2026 + 1;
    memcpy(ext, &version, sizeof version);
    if (has_new_entries()) {
        put(ext, CREATE, (void (*)(void))create);
        put(ext, ACQUIRE, (void (*)(void))acquire);
        put(ext, RELEASE, (void (*)(void))release);
        put(ext, GET_INFO, (void (*)(void))export_get_info);
    }
    memcpy(root + 24, &shown, sizeof shown);
}

static hsa_status_t take_gpu(hsa_agent_t agent, void *gpu)
{
    hsa_device_type_t type;
    if (rtl_api.hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type) != HSA_STATUS_SUCCESS ||
        type != HSA_DEVICE_TYPE_GPU)
        return HSA_STATUS_SUCCESS;
    memcpy(gpu, &agent, sizeof agent);
    return HSA_STATUS_INFO_BREAK;
}

static void make_early(void)
{
    hsa_agent_t gpu = {0};
    (void)rtl_api.hsa_iterate_agents(take_gpu, &gpu);
    if (rtl_api.hsa_queue_create(gpu, 1024, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX,
                                 UINT32_MAX, &early) == HSA_STATUS_SUCCESS)
        add(early, early, gpu, false);
}

bool OnLoad(void *table, uint64_t version, uint64_t failed, const char *const *names)
{
    (void)version;
    (void)failed;
    (void)names;
    const char *missing;
    const char *wanted = getenv("MODEL_TABLE"); // NOLINT(concurrency-mt-unsafe)
    size = wanted != NULL ? strtoul(wanted, NULL, 10) : AUGUST_2026;
    if (size > ROOM || !rtl_api_take(table, &missing))
        return false;
#define HOOK(name) RTL_HOOK(hsa_queue_##name, name);
    INDICES(HOOK, HOOK, HOOK, HOOK)
    RTL_HOOK(hsa_queue_destroy, destroy);
    RTL_HOOK(hsa_signal_store_relaxed, store_relaxed);
    RTL_HOOK(hsa_signal_store_screlease, store_screlease);
    RTL_HOOK(hsa_iterate_agents, iterate_agents);
    RTL_HOOK(hsa_amd_profiling_set_profiler_enabled, set_profiler_enabled);
    if (is_set("MODEL_EARLY"))
        make_early();
    show_larger_table(table);
    return true;
}

void OnUnload(void)
{
}

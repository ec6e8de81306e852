/*
 * The vendor's side of PrivateUse1TracingApi.h for a simple backend: hooks that the device calls,
 * the host's buffers, the stack of external ids, and the functions of the table.
 */
#include "hooks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST_IDS         1024u
#define FLUSH_PATIENCE_S 10u

/* Everything about the session; nobody calls out under another lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pu1BufferRequestFn request;
static pu1BufferCompleteFn complete;
static uint8_t *buffer; /* the host's, NULL: none */
static size_t size, used;
static size_t texts; /* the metadata of the buffer's records goes from here to its end */

static _Atomic uint32_t enabled; /* a bit for each kind; changed under the lock */
static _Atomic uint32_t session; /* counts; changed under the lock */
static _Atomic uint64_t correlations;
static _Atomic uint64_t dropped;

static _Thread_local struct {
    uint64_t ids[MOST_IDS];
    unsigned depth;
} stack;
static _Thread_local const char *reason;
static _Thread_local bool calling; /* the thread is in one of the host's functions */

static pu1Result fail(pu1Result result, const char *why)
{
    reason = why;
    return result;
}

static bool is_enabled(pu1ActivityKind kind)
{
    return (atomic_load(&enabled) >> kind & 1) != 0;
}

/* ---- buffers, under the lock ---- */

static void hand_back(size_t valid)
{
    uint8_t *whole = buffer;
    buffer = NULL;
    used = 0;
    calling = true;
    complete(whole, size, valid);
    calling = false;
}

/* A buffer with room for a record, or none. */
static bool ask(void)
{
    if (request == NULL)
        return false;
    size = 0;
    calling = true;
    request(&buffer, &size);
    calling = false;
    texts = size;
    if (buffer == NULL)
        return false;
    if (size >= sizeof(pu1ActivityRecord) && (uintptr_t)buffer % PU1_BUFFER_ALIGNMENT == 0)
        return true;
    hand_back(0);
    return false;
}

static bool has_room(size_t bytes)
{
    return buffer != NULL && texts - used >= bytes;
}

/* The name of device work dies with it, so it goes into the buffer, too, as the metadata does. */
static const char *copy_text(const char *text)
{
    size_t bytes = strlen(text) + 1;
    if (*text == '\0' || !has_room(sizeof(pu1ActivityRecord) + bytes))
        return NULL;
    texts -= bytes;
    return memcpy(buffer + texts, text, bytes);
}

static void put(pu1ActivityRecord *record, const char *metadata)
{
    if (buffer != NULL && !has_room(sizeof *record + strlen(record->name) + strlen(metadata) + 2))
        hand_back(used);
    if (buffer == NULL && !ask()) {
        atomic_fetch_add(&dropped, 1);
        return;
    }
    record->name = copy_text(record->name);
    record->metadata = copy_text(metadata);
    if (record->name == NULL)
        record->name = "?"; /* there was no room for more */
    memcpy(buffer + used, record, sizeof *record);
    used += sizeof *record;
}

/* What was launched in an earlier session is nobody's. */
static void put_if_current(pu1ActivityRecord *record, const char *metadata, uint32_t of)
{
    pthread_mutex_lock(&lock);
    if (of == atomic_load(&session))
        put(record, metadata);
    pthread_mutex_unlock(&lock);
}

/* ---- hooks ---- */

uint64_t trace_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

void trace_call_begin(struct trace_call *call, const char *name)
{
    *call = (struct trace_call){.name = name};
    if (atomic_load_explicit(&enabled, memory_order_relaxed) == 0)
        return;
    call->session = atomic_load(&session);
    call->wanted = is_enabled(PRIVATEUSE1_RUNTIME);
    call->correlation = atomic_fetch_add(&correlations, 1) + 1;
    call->start = trace_now();
}

void trace_call_end(const struct trace_call *call)
{
    if (!call->wanted)
        return;
    pu1ActivityRecord record = {
        .struct_size = sizeof record,
        .kind = PRIVATEUSE1_RUNTIME,
        .start_time = call->start,
        .end_time = trace_now(),
        .device_id = PU1_NO_DEVICE,
        .correlation_id = call->correlation,
        .external_id = stack.depth > 0 ? stack.ids[stack.depth - 1] : 0,
        .process_id = (uint32_t)getpid(),
        .thread_id = (uint32_t)gettid(),
        .name = call->name,
    };
    put_if_current(&record, "", call->session);
}

struct trace_origin trace_launch(const struct trace_call *call, pu1ActivityKind kind)
{
    return (struct trace_origin){
        .correlation = call->correlation,
        .external = stack.depth > 0 ? stack.ids[stack.depth - 1] : 0,
        .session = call->session,
        .wanted = call->correlation != 0 && is_enabled(kind),
    };
}

void trace_work(const struct trace_origin *origin, pu1ActivityKind kind, const char *name,
                uint64_t stream, uint64_t start, size_t bytes)
{
    char metadata[64] = "";
    if (!origin->wanted)
        return;
    if (kind != CONCURRENT_KERNEL)
        (void)snprintf(metadata, sizeof metadata, "{\"bytes\": %zu}", bytes);
    pu1ActivityRecord record = {
        .struct_size = sizeof record,
        .kind = (uint32_t)kind,
        .start_time = start,
        .end_time = trace_now(),
        .stream_id = stream,
        .correlation_id = origin->correlation,
        .external_id = origin->external,
        .process_id = (uint32_t)getpid(),
        .name = name,
    };
    put_if_current(&record, metadata, origin->session);
}

/* ---- the functions of the table: static, so that they are ours whoever else has such names ----
 */

static uint32_t get_version(void)
{
    return PU1_VERSION;
}

static pu1Result look_at(pu1ActivityKind kind)
{
    if ((unsigned)kind < 1)
        return fail(PU1_ERROR_INVALID_ARGUMENT, "there is no such kind of activity");
    if ((unsigned)kind > PU1_LAST_KIND || kind == PRIVATEUSE1_DRIVER)
        return fail(PU1_ERROR_NOT_SUPPORTED, "OpenReg has no records of this kind");
    if (calling)
        return fail(PU1_ERROR_BUSY, "called by a function that has to do with buffers");
    return PU1_SUCCESS;
}

/* The first kind begins a session: what an earlier one has left is nobody's. */
static pu1Result enable(pu1ActivityKind kind)
{
    pu1Result result = look_at(kind);
    if (result != PU1_SUCCESS)
        return result;
    pthread_mutex_lock(&lock);
    if (atomic_load(&enabled) == 0) {
        atomic_fetch_add(&session, 1);
        if (buffer != NULL)
            hand_back(0);
    }
    atomic_fetch_or(&enabled, 1u << kind);
    pthread_mutex_unlock(&lock);
    return PU1_SUCCESS;
}

static pu1Result disable(pu1ActivityKind kind)
{
    pu1Result result = look_at(kind);
    if (result != PU1_SUCCESS)
        return result;
    pthread_mutex_lock(&lock);
    atomic_fetch_and(&enabled, ~(1u << kind));
    pthread_mutex_unlock(&lock);
    return PU1_SUCCESS;
}

static pu1Result set_callbacks(pu1BufferRequestFn new_request, pu1BufferCompleteFn new_complete)
{
    if (new_request == NULL || new_complete == NULL)
        return fail(PU1_ERROR_INVALID_ARGUMENT, "a function is missing");
    if (calling)
        return fail(PU1_ERROR_BUSY, "called by a function that has to do with buffers");
    pthread_mutex_lock(&lock);
    if (buffer != NULL)
        hand_back(used);
    request = new_request;
    complete = new_complete;
    pthread_mutex_unlock(&lock);
    return PU1_SUCCESS;
}

static pu1Result push(uint64_t id)
{
    if (stack.depth == MOST_IDS)
        return fail(PU1_ERROR_OUT_OF_MEMORY, "the stack of external ids is full");
    stack.ids[stack.depth++] = id;
    return PU1_SUCCESS;
}

static pu1Result pop(uint64_t *last)
{
    if (stack.depth == 0)
        return fail(PU1_ERROR_STACK_EMPTY, "this thread has no external id to pop");
    stack.depth--;
    if (last != NULL)
        *last = stack.ids[stack.depth];
    return PU1_SUCCESS;
}

/* Work is written to the buffer before it counts as done: once the device has nothing more to do,
 * all of it is there. */
static pu1Result flush_all(void)
{
    if (calling)
        return fail(PU1_ERROR_BUSY, "called by a function that has to do with buffers");
    bool done = device_wait(FLUSH_PATIENCE_S);
    pthread_mutex_lock(&lock);
    if (buffer != NULL)
        hand_back(used);
    pthread_mutex_unlock(&lock);
    if (done)
        return PU1_SUCCESS;
    return fail(PU1_ERROR_TIMEOUT, "something that was launched before the flush is not done");
}

static pu1Result get_next(uint8_t *whole, size_t valid, pu1ActivityRecord **record)
{
    if (record == NULL || (whole == NULL && valid > 0))
        return fail(PU1_ERROR_INVALID_ARGUMENT, "a pointer is missing");
    size_t at = 0;
    if (*record != NULL) {
        uintptr_t distance = (uintptr_t)*record - (uintptr_t)whole;
        if (distance >= valid || valid - distance < sizeof **record)
            return fail(PU1_ERROR_INVALID_ARGUMENT, "the record is not of this buffer");
        at = distance + (*record)->struct_size;
    }
    *record = NULL;
    if (at >= valid)
        return fail(PU1_ERROR_END_OF_BUFFER, "there is no further record");
    pu1ActivityRecord *next = (pu1ActivityRecord *)(void *)(whole + at);
    if (valid - at < sizeof *next || next->struct_size < sizeof *next ||
        next->struct_size > valid - at || next->struct_size % PU1_BUFFER_ALIGNMENT != 0)
        return fail(PU1_ERROR_MALFORMED, "the buffer holds no records, or not whole ones");
    *record = next;
    return PU1_SUCCESS;
}

static const char *get_last_error(void)
{
    return reason != NULL ? reason : "";
}

static uint64_t get_dropped(void)
{
    return atomic_load(&dropped);
}

/* The device is the machine's processor. */
static pu1Result get_device(uint32_t device, pu1DeviceProperties *properties)
{
    if (device != 0 || properties == NULL || properties->struct_size < sizeof(size_t))
        return fail(PU1_ERROR_INVALID_ARGUMENT, "OpenReg has one device, which is 0");
    long pages = sysconf(_SC_PHYS_PAGES);
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    pu1DeviceProperties all = {
        .struct_size = properties->struct_size < sizeof all ? properties->struct_size : sizeof all,
        .name = "OpenReg",
        .memory_bytes = pages > 0 ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0,
        .compute_units = processors > 0 ? (uint32_t)processors : 0,
        .wave_size = 1,
    };
    memcpy(properties, &all, all.struct_size);
    return PU1_SUCCESS;
}

int kineto_register_privateuse1_plugin(pu1TracingApiTable *table)
{
    static const pu1TracingApiTable ours = {
        .struct_size = sizeof ours,
        .vendor = "OpenReg",
        .getVersion = get_version,
        .tracingEnable = enable,
        .tracingDisable = disable,
        .tracingSetCallbacks = set_callbacks,
        .pushExternalCorrelationId = push,
        .popExternalCorrelationId = pop,
        .flushAll = flush_all,
        .getNextRecord = get_next,
        .getLastError = get_last_error,
        .getDroppedRecords = get_dropped,
        .getDeviceProperties = get_device,
    };
    if (table == NULL || table->struct_size < sizeof table->struct_size)
        return PU1_ERROR_INVALID_ARGUMENT;
    size_t bytes = table->struct_size < sizeof ours ? table->struct_size : sizeof ours;
    memcpy(table, &ours, bytes);
    table->struct_size = bytes;
    return 0;
}

/* The same under their own names. The table has static functions: what is linked by such a name may
 * be another library's, which is found before this one. */

uint32_t pu1GetVersion(void)
{
    return get_version();
}

pu1Result pu1TracingEnable(pu1ActivityKind kind)
{
    return enable(kind);
}

pu1Result pu1TracingDisable(pu1ActivityKind kind)
{
    return disable(kind);
}

pu1Result pu1TracingSetCallbacks(pu1BufferRequestFn request_fn, pu1BufferCompleteFn complete_fn)
{
    return set_callbacks(request_fn, complete_fn);
}

pu1Result pu1PushExternalCorrelationId(uint64_t id)
{
    return push(id);
}

pu1Result pu1PopExternalCorrelationId(uint64_t *last)
{
    return pop(last);
}

pu1Result pu1FlushAll(void)
{
    return flush_all();
}

pu1Result pu1GetNextRecord(uint8_t *whole, size_t valid, pu1ActivityRecord **record)
{
    return get_next(whole, valid, record);
}

const char *pu1GetLastError(void)
{
    return get_last_error();
}

uint64_t pu1GetDroppedRecords(void)
{
    return get_dropped();
}

pu1Result pu1GetDeviceProperties(uint32_t device, pu1DeviceProperties *properties)
{
    return get_device(device, properties);
}

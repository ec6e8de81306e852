#include "kineto/vendor_records.h"

#include "common/clock.h"
#include "common/pages.h"
#include "intercept/callbacks/external.h"
#include "kineto/vendor_buffer.h"
#include "kineto/vendor_marks.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MOST_STREAMS 4096u
#define ROW_OF_QUEUE                                                                               \
    10000u                    /* stream_id of a kernel whose stream is not known: this + the queue \
                               */
#define CLOCK_WAS_SET 1000000 /* ns: less is how well two clocks can be read together */
#define METADATA      512u

/* When a kind is wanted, and what was submitted by then. */
struct window {
    bool used, open;
    uint64_t since, until; /* ns of CLOCK_BOOTTIME */
    struct rtl_marks first, last;
};

/* Most programs have no profiler that wants any: they have no memory for it. */
struct wanted {
    struct window windows[PU1_LAST_KIND + 1];
    uint64_t streams[MOST_STREAMS]; /* handles; stream_id is the place + 1 */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct wanted *wanted; /* NULL before the first kind; under the lock, as all that follows */
static int64_t realtime_offset;
static bool has_offset;
static uint32_t stream_count;

static _Atomic uint64_t lost;

/* ---- what is wanted ---- */

/* NULL if it never was. */
static struct window *window_of(pu1ActivityKind kind)
{
    return wanted != NULL && wanted->windows[kind].used ? &wanted->windows[kind] : NULL;
}

static bool is_open(pu1ActivityKind kind)
{
    const struct window *window = window_of(kind);
    return window != NULL && window->open;
}

static void open_window(struct window *window)
{
    window->used = window->open = true;
    window->since = rtl_now();
    rtl_marks_take(&window->first);
}

bool rtl_records_open(pu1ActivityKind kind)
{
    pthread_mutex_lock(&lock);
    if (wanted == NULL)
        wanted = rtl_pages(sizeof *wanted);
    bool has_memory = wanted != NULL;
    if (has_memory && !is_open(kind))
        open_window(&wanted->windows[kind]);
    pthread_mutex_unlock(&lock);
    return has_memory;
}

void rtl_records_close(pu1ActivityKind kind)
{
    pthread_mutex_lock(&lock);
    if (is_open(kind)) {
        struct window *window = window_of(kind);
        window->open = false;
        window->until = rtl_now();
        rtl_marks_take(&window->last);
    }
    pthread_mutex_unlock(&lock);
}

bool rtl_records_any_open(void)
{
    bool any = false;
    pthread_mutex_lock(&lock);
    for (unsigned kind = 1; kind <= PU1_LAST_KIND; kind++)
        any = any || is_open(kind);
    pthread_mutex_unlock(&lock);
    return any;
}

void rtl_records_forget(void)
{
    pthread_mutex_lock(&lock);
    for (unsigned kind = 1; wanted != NULL && kind <= PU1_LAST_KIND; kind++)
        wanted->windows[kind].used = wanted->windows[kind].open = false;
    has_offset = false;
    pthread_mutex_unlock(&lock);
}

uint64_t rtl_records_lost(void)
{
    return atomic_load_explicit(&lost, memory_order_relaxed);
}

void rtl_records_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    if (wanted != NULL)
        memset(wanted->windows, 0, sizeof wanted->windows);
}

static bool wants_kernel(pu1ActivityKind kind, const rtl_kernel_event_t *event)
{
    const struct window *window = window_of(kind);
    return window != NULL &&
           rtl_marks_precede_kernel(&window->first, event->queue_id, event->packet) &&
           (window->open ||
            !rtl_marks_precede_kernel(&window->last, event->queue_id, event->packet));
}

static bool wants_copy(const rtl_copy_event_t *event)
{
    const struct window *window = window_of(GPU_MEMCPY);
    return window != NULL &&
           rtl_marks_precede_copy(&window->first, event->device, event->ordinal) &&
           (window->open || !rtl_marks_precede_copy(&window->last, event->device, event->ordinal));
}

static bool wants_call(const rtl_call_event_t *event)
{
    const struct window *window = window_of(PRIVATEUSE1_RUNTIME);
    return window != NULL && event->start >= window->since &&
           (window->open || event->start < window->until);
}

/* ---- what all records have ---- */

/* One offset for all of a session, so that no event comes before its cause because the clocks were
 * read a little apart. */
static void look_at_batch(const rtl_batch_t *batch)
{
    int64_t change = batch->realtime_offset - realtime_offset;
    if (!has_offset || change > CLOCK_WAS_SET || change < -CLOCK_WAS_SET)
        realtime_offset = batch->realtime_offset;
    has_offset = true;
    atomic_store_explicit(&lost, batch->lost, memory_order_relaxed);
}

static pu1ActivityRecord make(pu1ActivityKind kind, uint64_t start, uint64_t end,
                              uint64_t correlation)
{
    return (pu1ActivityRecord){
        .struct_size = sizeof(pu1ActivityRecord),
        .kind = (uint32_t)kind,
        .start_time = start + (uint64_t)realtime_offset,
        .end_time = (end > start ? end : start) + (uint64_t)realtime_offset,
        .device_id = PU1_NO_DEVICE,
        .correlation_id = correlation,
        .external_id = rtl_external_of(correlation),
        .process_id = (uint32_t)getpid(),
    };
}

static uint64_t row_of_stream(uint64_t handle)
{
    if (handle == 0 || wanted == NULL)
        return 0;
    for (uint32_t i = 0; i < stream_count; i++)
        if (wanted->streams[i] == handle)
            return i + 1;
    if (stream_count == MOST_STREAMS)
        return MOST_STREAMS;
    wanted->streams[stream_count] = handle;
    return ++stream_count;
}

/* ---- kernels and sets ---- */

/* HIP fills and copies memory by kernels of its own (CLR, blitcl.cpp). */
static pu1ActivityKind kind_of(const char *name)
{
    if (name != NULL && strncmp(name, "__amd_rocclr_fill", 17) == 0)
        return GPU_MEMSET;
    if (name != NULL && strncmp(name, "__amd_rocclr_copy", 17) == 0)
        return GPU_MEMCPY;
    return CONCURRENT_KERNEL;
}

static const char *name_of(pu1ActivityKind kind, const char *name)
{
    if (kind == GPU_MEMSET)
        return "Memset (Device)";
    if (kind == GPU_MEMCPY)
        return "Memcpy (by a kernel)";
    return name != NULL ? name : "unknown kernel";
}

static uint32_t groups(const rtl_kernel_event_t *event, unsigned axis)
{
    uint32_t block = event->block[axis] > 0 ? event->block[axis] : 1;
    return event->grid[axis] / block + (event->grid[axis] % block != 0);
}

/* In the words of Kineto; a grid is a number of workgroups there. */
static void describe_kernel(const rtl_kernel_event_t *event, char *text)
{
    int used = snprintf(text, METADATA,
                        "{\"hsa_queue\": %" PRIu32 ", \"grid\": [%" PRIu32 ", %" PRIu32 ", %" PRIu32
                        "], \"block\": [%" PRIu32 ", %" PRIu32 ", %" PRIu32
                        "], \"shared memory\": %" PRIu32,
                        event->queue_id, groups(event, 0), groups(event, 1), groups(event, 2),
                        event->block[0], event->block[1], event->block[2], event->group_size);
    if (event->launch != RTL_EVENT_NONE)
        used += snprintf(text + used, METADATA - (size_t)used,
                         ", \"graph launch\": %" PRIu32 ", \"graph packet\": %" PRIu32,
                         event->launch, event->ordinal);
    (void)snprintf(text + used, METADATA - (size_t)used, "}");
}

/* Without times there is nothing to show. */
static bool has_times(uint64_t start, uint64_t end)
{
    if (start != 0 && end != 0)
        return true;
    rtl_buffer_drop(1);
    return false;
}

static void put_kernel(const rtl_kernel_event_t *event)
{
    char metadata[METADATA];
    pu1ActivityKind kind = kind_of(event->name);
    if (!wants_kernel(kind, event) || !has_times(event->start, event->end))
        return;
    pu1ActivityRecord record = make(kind, event->start, event->end, event->correlation);
    record.device_id = event->device;
    record.stream_id =
        event->has_stream ? row_of_stream(event->stream) : ROW_OF_QUEUE + event->queue_id;
    record.name = name_of(kind, event->name);
    describe_kernel(event, metadata);
    rtl_buffer_put(&record, metadata);
}

static void take_kernels(void *context, const rtl_batch_t *batch, const rtl_kernel_event_t *events,
                         size_t count)
{
    (void)context;
    pthread_mutex_lock(&lock);
    look_at_batch(batch);
    for (size_t i = 0; i < count; i++)
        put_kernel(&events[i]);
    pthread_mutex_unlock(&lock);
}

/* ---- copies ---- */

static const char *copy_name(uint32_t kind)
{
    switch (kind) {
    case RTL_EVENT_HOST_TO_HOST:
        return "Memcpy HtoH (Host -> Host)";
    case RTL_EVENT_HOST_TO_DEVICE:
        return "Memcpy HtoD (Host -> Device)";
    case RTL_EVENT_DEVICE_TO_HOST:
        return "Memcpy DtoH (Device -> Host)";
    case RTL_EVENT_DEVICE_TO_DEVICE:
        return "Memcpy DtoD (Device -> Device)";
    case RTL_EVENT_PEER:
        return "Memcpy PtoP (Device -> Device)";
    default:
        return "Memcpy";
    }
}

static void put_copy(const rtl_copy_event_t *event)
{
    char metadata[METADATA];
    if (!wants_copy(event) || !has_times(event->start, event->end))
        return;
    uint64_t length = event->end > event->start ? event->end - event->start : 0;
    pu1ActivityRecord record = make(GPU_MEMCPY, event->start, event->end, event->correlation);
    record.device_id = event->device;
    record.stream_id = event->has_stream ? row_of_stream(event->stream) : ROW_OF_QUEUE - 1;
    record.name = copy_name(event->kind);
    int used = snprintf(metadata, sizeof metadata, "{\"bytes\": %" PRIu64, event->bytes);
    if (length > 0)
        used += snprintf(metadata + used, sizeof metadata - (size_t)used,
                         ", \"memory bandwidth (GB/s)\": %" PRIu64 ".%02" PRIu64,
                         event->bytes / length, event->bytes * 100 / length % 100);
    (void)snprintf(metadata + used, sizeof metadata - (size_t)used, "}");
    rtl_buffer_put(&record, metadata);
}

static void take_copies(void *context, const rtl_batch_t *batch, const rtl_copy_event_t *events,
                        size_t count)
{
    (void)context;
    pthread_mutex_lock(&lock);
    look_at_batch(batch);
    for (size_t i = 0; i < count; i++)
        put_copy(&events[i]);
    pthread_mutex_unlock(&lock);
}

/* ---- host calls ---- */

static void put_call(const rtl_call_event_t *event)
{
    char metadata[METADATA];
    if (!wants_call(event))
        return;
    pu1ActivityRecord record =
        make(PRIVATEUSE1_RUNTIME, event->start, event->end, event->correlation);
    record.thread_id = event->thread;
    record.name = event->name != NULL ? event->name : "unknown call";
    (void)snprintf(metadata, sizeof metadata, "{\"result\": %" PRId32 "}", event->result);
    rtl_buffer_put(&record, metadata);
}

static void take_calls(void *context, const rtl_batch_t *batch, const rtl_call_event_t *events,
                       size_t count)
{
    (void)context;
    pthread_mutex_lock(&lock);
    look_at_batch(batch);
    for (size_t i = 0; i < count; i++)
        put_call(&events[i]);
    pthread_mutex_unlock(&lock);
}

const rtl_callbacks_t rtl_records_callbacks = {
    .size = sizeof rtl_records_callbacks,
    .kernels = take_kernels,
    .copies = take_copies,
    .calls = take_calls,
};

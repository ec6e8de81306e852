/* From RTL's events to records and buffers, with made-up events and marks. */
#include "../common/check.h"
#include "intercept/base/thread_context.h"
#include "intercept/callbacks/external.h"
#include "kineto/vendor_buffer.h"
#include "kineto/vendor_marks.h"
#include "kineto/vendor_records.h"

#include "common/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OFFSET INT64_C(1000000000000)
#define ROUNDS 2000u
#define MOST   64u

/* ---- marks: a queue and the copies of a GPU stand where the case says ---- */

static _Atomic uint64_t next_packet, next_copy;

void rtl_marks_take(struct rtl_marks *marks)
{
    marks->newest = 1;
    marks->count = 1;
    marks->queues[0].id = 0;
    marks->queues[0].next = next_packet;
    marks->copies[0] = next_copy;
}

bool rtl_marks_precede_kernel(const struct rtl_marks *marks, uint32_t queue, uint64_t packet)
{
    return queue >= marks->newest || packet >= marks->queues[0].next;
}

bool rtl_marks_precede_copy(const struct rtl_marks *marks, uint32_t device, uint64_t ordinal)
{
    return device > 0 || ordinal >= marks->copies[0];
}

/* ---- the host ---- */

static struct {
    pu1ActivityRecord records[MOST];
    char names[MOST][64], metadata[MOST][256];
    unsigned count;
    size_t size;
    _Atomic unsigned given, back;
    _Atomic uint64_t total;
} host;

static void request(uint8_t **buffer, size_t *size)
{
    *buffer = malloc(host.size);
    *size = host.size;
    host.given++;
}

static void take(const pu1ActivityRecord *record)
{
    host.total++;
    if (host.count == MOST)
        return;
    host.records[host.count] = *record;
    (void)snprintf(host.names[host.count], 64, "%s", record->name);
    (void)snprintf(host.metadata[host.count], 256, "%s",
                   record->metadata != NULL ? record->metadata : "none");
    host.count++;
}

static void complete(uint8_t *buffer, size_t size, size_t valid)
{
    (void)size;
    for (size_t at = 0; at < valid; at += sizeof(pu1ActivityRecord))
        take((const pu1ActivityRecord *)(const void *)(buffer + at));
    free(buffer);
    host.back++;
}

static void begin(size_t size)
{
    rtl_records_forget();
    rtl_buffer_complete(false);
    memset(&host, 0, sizeof host);
    host.size = size;
    rtl_buffer_use(request, complete);
    next_packet = next_copy = 0;
}

static void finish(void)
{
    rtl_buffer_complete(true);
    for (pu1ActivityKind kind = PRIVATEUSE1_RUNTIME; kind <= GPU_MEMSET; kind++)
        rtl_records_close(kind);
}

static rtl_kernel_event_t kernel(uint64_t packet)
{
    return (rtl_kernel_event_t){
        .name = "_Z1kv",
        .start = 1000 + packet,
        .end = 2000 + packet,
        .correlation = 50 + packet,
        .packet = packet,
        .stream = 0xabc000,
        .has_stream = 1,
        .launch = RTL_EVENT_NONE,
        .ordinal = RTL_EVENT_NONE,
        .grid = {100, 4, 1},
        .block = {64, 4, 1},
        .group_size = 128,
    };
}

static void give_kernel(const rtl_kernel_event_t *event)
{
    const rtl_batch_t batch = {.realtime_offset = OFFSET, .lost = 3};
    rtl_records_callbacks.kernels(NULL, &batch, event, 1);
}

static void give_copy(uint64_t ordinal, uint32_t kind)
{
    const rtl_batch_t batch = {.realtime_offset = OFFSET};
    const rtl_copy_event_t event = {.start = 5000,
                                    .end = 6000,
                                    .bytes = 1234,
                                    .kind = kind,
                                    .ordinal = ordinal,
                                    .correlation = 9};
    rtl_records_callbacks.copies(NULL, &batch, &event, 1);
}

static void give_call(uint64_t start, const char *name)
{
    const rtl_batch_t batch = {.realtime_offset = OFFSET};
    const rtl_call_event_t event = {.name = name,
                                    .start = start,
                                    .end = start + 7,
                                    .correlation = 60,
                                    .thread = 77,
                                    .result = -1};
    rtl_records_callbacks.calls(NULL, &batch, &event, 1);
}

/* ---- cases ---- */

const char *Records_SayWhatEventsSay(void);
const char *Records_SayWhatEventsSay(void)
{
    begin(4096);
    rtl_external_watch();
    CHECK(rtl_external_push(4711));
    rtl_records_open(CONCURRENT_KERNEL);
    rtl_kernel_event_t event = kernel(7);
    event.correlation = rtl_thread_context_correlation();
    give_kernel(&event);
    CHECK(rtl_external_pop(NULL));
    event = kernel(8);
    event.queue_id = 3;
    event.has_stream = 0;
    event.name = NULL;
    event.launch = 12;
    event.ordinal = 5;
    event.device = RTL_EVENT_NONE;
    give_kernel(&event);
    finish();
    CHECK(host.count == 2 && rtl_records_lost() == 3);
    const pu1ActivityRecord *record = &host.records[0];
    CHECK(record->struct_size == sizeof *record && record->kind == CONCURRENT_KERNEL);
    CHECK(record->start_time == 1007 + OFFSET && record->end_time == 2007 + OFFSET);
    CHECK(record->external_id == 4711 && record->process_id == (uint32_t)getpid());
    CHECK(record->device_id == 0 && record->thread_id == 0 && record->stream_id > 0);
    CHECK(strcmp(host.names[0], "_Z1kv") == 0);
    CHECK(strcmp(host.metadata[0], "{\"hsa_queue\": 0, \"grid\": [2, 1, 1], \"block\": [64, 4, 1], "
                                   "\"shared memory\": 128}") == 0);
    record = &host.records[1];
    CHECK(record->external_id == 0 && record->device_id == PU1_NO_DEVICE);
    CHECK(record->stream_id == 10003 && strcmp(host.names[1], "unknown kernel") == 0);
    CHECK(strstr(host.metadata[1], ", \"graph launch\": 12, \"graph packet\": 5}") != NULL);
    return NULL;
}

const char *Records_HaveRowsForStreams(void);
const char *Records_HaveRowsForStreams(void)
{
    begin(4096);
    rtl_records_open(CONCURRENT_KERNEL);
    for (uint64_t i = 0; i < 6; i++) {
        rtl_kernel_event_t event = kernel(i);
        event.stream = i % 3 == 0 ? 0 : 0x1000 * (i % 3);
        give_kernel(&event);
    }
    finish();
    CHECK(host.count == 6);
    for (unsigned i = 0; i < 3; i++)
        CHECK(host.records[i].stream_id == host.records[i + 3].stream_id);
    CHECK(host.records[0].stream_id == 0 && host.records[1].stream_id != 0);
    CHECK(host.records[1].stream_id != host.records[2].stream_id);
    return NULL;
}

const char *Records_TellSetsAndCopies(void);
const char *Records_TellSetsAndCopies(void)
{
    begin(4096);
    rtl_records_open(GPU_MEMSET);
    rtl_records_open(GPU_MEMCPY);
    rtl_kernel_event_t event = kernel(0);
    give_kernel(&event); /* kernels are not asked for */
    event.name = "__amd_rocclr_fillBufferAligned";
    give_kernel(&event);
    event.name = "__amd_rocclr_copyBuffer";
    give_kernel(&event);
    give_copy(0, RTL_EVENT_DEVICE_TO_HOST);
    give_call(rtl_now(), "hipMemcpy");
    finish();
    CHECK(host.count == 3 && host.records[0].kind == GPU_MEMSET);
    CHECK(host.records[1].kind == GPU_MEMCPY && host.records[2].kind == GPU_MEMCPY);
    CHECK(strcmp(host.names[0], "Memset (Device)") == 0);
    CHECK(strcmp(host.names[2], "Memcpy DtoH (Device -> Host)") == 0);
    CHECK(strcmp(host.metadata[2], "{\"bytes\": 1234, \"memory bandwidth (GB/s)\": 1.23}") == 0);
    return NULL;
}

/* What was submitted between the opening and the closing, whenever it comes. */
const char *Records_AreThoseOfTheWindow(void);
const char *Records_AreThoseOfTheWindow(void)
{
    begin(4096);
    next_packet = 10;
    next_copy = 3;
    uint64_t before = rtl_now() - 1;
    rtl_records_open(CONCURRENT_KERNEL);
    rtl_records_open(GPU_MEMCPY);
    rtl_records_open(PRIVATEUSE1_RUNTIME);
    CHECK(rtl_records_any_open());
    uint64_t within = rtl_now();
    next_packet = 20;
    next_copy = 5;
    rtl_records_close(CONCURRENT_KERNEL);
    rtl_records_close(GPU_MEMCPY);
    CHECK(rtl_records_any_open());
    rtl_records_close(PRIVATEUSE1_RUNTIME);
    CHECK(!rtl_records_any_open());
    for (uint64_t packet = 0; packet < 30; packet++) {
        rtl_kernel_event_t event = kernel(packet);
        give_kernel(&event);
    }
    rtl_kernel_event_t event = kernel(0); /* of a queue that is newer than the window's end */
    event.queue_id = 1;
    give_kernel(&event);
    for (uint64_t ordinal = 0; ordinal < 10; ordinal++)
        give_copy(ordinal, RTL_EVENT_HOST_TO_DEVICE);
    give_call(before, "before");
    give_call(within, "within");
    give_call(rtl_now() + 1000000000, "behind");
    finish();
    CHECK(host.count == 10 + 2 + 1);
    for (unsigned i = 0; i < 10; i++)
        CHECK(host.records[i].correlation_id == 60 + i);
    CHECK(strcmp(host.names[12], "within") == 0 && host.records[12].thread_id == 77);
    CHECK(strcmp(host.metadata[12], "{\"result\": -1}") == 0);
    rtl_records_forget();
    event = kernel(15);
    give_kernel(&event);
    rtl_buffer_complete(true);
    CHECK(host.count == 13);
    return NULL;
}

const char *Records_WithoutTimesAreDropped(void);
const char *Records_WithoutTimesAreDropped(void)
{
    begin(4096);
    uint64_t dropped = rtl_buffer_dropped();
    rtl_records_open(CONCURRENT_KERNEL);
    rtl_kernel_event_t event = kernel(0);
    event.start = event.end = 0;
    give_kernel(&event);
    CHECK(rtl_buffer_dropped() == dropped + 1);
    event.start = 500;
    event.end = 400; /* the clocks' doing */
    give_kernel(&event);
    finish();
    CHECK(host.count == 1 && host.records[0].start_time == host.records[0].end_time);
    return NULL;
}

const char *Records_KeepTheSessionsClock(void);
const char *Records_KeepTheSessionsClock(void)
{
    static const int64_t offsets[] = {OFFSET, OFFSET + 900, OFFSET - 900000, OFFSET + 5000000000,
                                      OFFSET + 5000000100};
    static const int64_t wanted[] = {OFFSET, OFFSET, OFFSET, OFFSET + 5000000000,
                                     OFFSET + 5000000000};
    begin(4096);
    rtl_records_open(CONCURRENT_KERNEL);
    for (unsigned i = 0; i < 5; i++) {
        const rtl_batch_t batch = {.realtime_offset = offsets[i]};
        rtl_kernel_event_t event = kernel(0);
        rtl_records_callbacks.kernels(NULL, &batch, &event, 1);
    }
    finish();
    for (unsigned i = 0; i < 5; i++)
        CHECK(host.records[i].start_time == 1000 + (uint64_t)wanted[i]);
    return NULL;
}

/* A buffer that has room for the record and not for its metadata. */
const char *Buffers_LeaveMetadataOutFirst(void);
const char *Buffers_LeaveMetadataOutFirst(void)
{
    begin(sizeof(pu1ActivityRecord) + 8);
    rtl_records_open(CONCURRENT_KERNEL);
    for (uint64_t i = 0; i < 3; i++) {
        rtl_kernel_event_t event = kernel(i);
        give_kernel(&event);
    }
    finish();
    CHECK(host.count == 3 && host.given == 3 && host.back == 3);
    for (unsigned i = 0; i < 3; i++)
        CHECK(strcmp(host.metadata[i], "none") == 0);
    return NULL;
}

static void *deliver(void *unused)
{
    (void)unused;
    for (uint64_t i = 0; i < ROUNDS; i++) {
        rtl_kernel_event_t event = kernel(i);
        give_kernel(&event);
        give_call(rtl_now(), "call");
    }
    return NULL;
}

/* Two threads that deliver, where RTL has one, while the host opens, closes and flushes. */
const char *Buffers_AreCompletedOnce(void);
const char *Buffers_AreCompletedOnce(void)
{
    pthread_t threads[2];
    begin(1000);
    uint64_t dropped = rtl_buffer_dropped();
    rtl_records_open(CONCURRENT_KERNEL);
    for (unsigned i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, deliver, NULL) == 0);
    for (unsigned i = 0; i < 200; i++) {
        rtl_records_open(PRIVATEUSE1_RUNTIME);
        rtl_buffer_complete(true);
        rtl_records_close(PRIVATEUSE1_RUNTIME);
        rtl_buffer_use(request, complete);
    }
    for (unsigned i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    finish();
    CHECK(host.given == host.back && host.given > 0);
    CHECK(host.total >= (uint64_t)2 * ROUNDS && host.total <= (uint64_t)4 * ROUNDS);
    CHECK(rtl_buffer_dropped() == dropped);
    return NULL;
}

/*
 * contract CASE: what PrivateUse1TracingApi.h promises, with whatever device is linked (backend.h)
 * and the vendor of it that KINETO_PLUGIN_PATH names. What is wrong is said on stderr; the status
 * is then 1.
 */
#include "backend.h"

#include "kineto/loader.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_RECORDS 20000u
#define MOST_BUFFERS 20000u
#define THREADS      4u
#define OF_A_THREAD  25u

struct taken {
    pu1ActivityRecord record;
    char name[64];
};

struct given {
    uint8_t *memory;
    unsigned completed;
};

/* What the host has given and got; callbacks are called one at a time. */
static struct {
    struct taken records[MOST_RECORDS];
    unsigned count;
    struct given buffers[MOST_BUFFERS];
    unsigned buffer_count;
    size_t size;            /* of the next buffers */
    bool null;              /* give none */
    bool odd;               /* give some that are not aligned */
    bool tries;             /* call the vendor from within */
    unsigned valid_in_tiny; /* bytes that were valid in a buffer with no room */
    unsigned most_in_one;
} host;

static _Alignas(8) uint8_t odd[1024];
static const pu1TracingApiTable *api;
static struct backend backend;
static unsigned wrong;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void)fprintf(stderr, "contract: line %d: not true: %s\n", __LINE__, #condition);      \
            wrong++;                                                                               \
        }                                                                                          \
    } while (0)

/* ---- the host's functions ---- */

static void request(uint8_t **buffer, size_t *size)
{
    *buffer = NULL;
    *size = host.size;
    if (host.null || host.buffer_count == MOST_BUFFERS)
        return;
    if (host.odd)
        *size = host.size = sizeof odd - 1;
    *buffer = host.odd ? odd + 1 : malloc(host.size);
    host.buffers[host.buffer_count++].memory = *buffer;
}

static void take(const pu1ActivityRecord *record)
{
    struct taken *taken = &host.records[host.count];
    if (host.count == MOST_RECORDS)
        return;
    taken->record = *record;
    CHECK(record->name != NULL);
    (void)snprintf(taken->name, sizeof taken->name, "%s", record->name);
    CHECK(record->metadata == NULL || record->metadata[0] == '{');
    host.count++;
}

static void try_within(void)
{
    CHECK(api->flushAll() == PU1_ERROR_BUSY);
    CHECK(api->tracingEnable(CONCURRENT_KERNEL) == PU1_ERROR_BUSY);
    CHECK(api->tracingDisable(CONCURRENT_KERNEL) == PU1_ERROR_BUSY);
    CHECK(api->pushExternalCorrelationId(1) == PU1_SUCCESS);
    CHECK(api->popExternalCorrelationId(NULL) == PU1_SUCCESS);
}

static void complete(uint8_t *buffer, size_t size, size_t valid)
{
    pu1ActivityRecord *record = NULL;
    unsigned found = 0;
    unsigned in_it = 0;
    pu1Result result;
    for (unsigned i = host.odd ? host.buffer_count - 1 : 0; i < host.buffer_count; i++)
        if (host.buffers[i].memory == buffer) {
            CHECK(host.buffers[i].completed == 0);
            host.buffers[i].completed++;
            found++;
        }
    CHECK(found == 1 && size == host.size && valid <= size);
    if (size < sizeof *record)
        host.valid_in_tiny += (unsigned)valid;
    while ((result = api->getNextRecord(buffer, valid, &record)) == PU1_SUCCESS) {
        take(record);
        in_it++;
    }
    CHECK(result == PU1_ERROR_END_OF_BUFFER && record == NULL);
    if (in_it > host.most_in_one)
        host.most_in_one = in_it;
    if (host.tries)
        try_within();
    /* The address must stay unlike those of later buffers. */
    memset(buffer, 0xdb, size);
}

static void expect_all_completed(void)
{
    for (unsigned i = 0; i < host.buffer_count; i++)
        CHECK(host.buffers[i].completed == 1);
}

/* ---- sessions ---- */

static const pu1ActivityKind kinds[] = {PRIVATEUSE1_RUNTIME, CONCURRENT_KERNEL, GPU_MEMCPY,
                                        GPU_MEMSET};

static void enable_all(void)
{
    for (unsigned i = 0; i < 4; i++)
        CHECK(api->tracingEnable(kinds[i]) == PU1_SUCCESS);
}

static void disable_all(void)
{
    for (unsigned i = 0; i < 4; i++)
        CHECK(api->tracingDisable(kinds[i]) == PU1_SUCCESS);
}

static unsigned count(pu1ActivityKind kind)
{
    unsigned number = 0;
    for (unsigned i = 0; i < host.count; i++)
        number += host.records[i].record.kind == (uint32_t)kind;
    return number;
}

/* Says what else there is if it is another number. */
static void expect_kernels(unsigned number)
{
    unsigned found = count(CONCURRENT_KERNEL);
    if (found == number)
        return;
    (void)fprintf(stderr, "contract: %u kernels, not %u; %u host calls, %llu records dropped\n",
                  found, number, count(PRIVATEUSE1_RUNTIME),
                  (unsigned long long)api->getDroppedRecords());
    wrong++;
}

static unsigned count_with(pu1ActivityKind kind, uint64_t external)
{
    unsigned number = 0;
    for (unsigned i = 0; i < host.count; i++)
        number += host.records[i].record.kind == (uint32_t)kind &&
                  host.records[i].record.external_id == external;
    return number;
}

static unsigned count_calls(const char *name)
{
    unsigned number = 0;
    for (unsigned i = 0; i < host.count; i++)
        number += host.records[i].record.kind == PRIVATEUSE1_RUNTIME &&
                  strcmp(host.records[i].name, name) == 0;
    return number;
}

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* ---- cases ---- */

static void *look_at_own_stack(void *unused)
{
    uint64_t last = 77;
    (void)unused;
    CHECK(api->popExternalCorrelationId(&last) == PU1_ERROR_STACK_EMPTY);
    CHECK(last == 77);
    CHECK(api->pushExternalCorrelationId(500) == PU1_SUCCESS);
    CHECK(api->popExternalCorrelationId(&last) == PU1_SUCCESS && last == 500);
    return NULL;
}

static void run_stack(void)
{
    pthread_t thread;
    uint64_t last = 0;
    CHECK(api->popExternalCorrelationId(NULL) == PU1_ERROR_STACK_EMPTY);
    CHECK(strlen(api->getLastError()) > 0);
    for (uint64_t id = 1; id <= 100; id++)
        CHECK(api->pushExternalCorrelationId(id) == PU1_SUCCESS);
    CHECK(pthread_create(&thread, NULL, look_at_own_stack, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    for (uint64_t id = 100; id > 1; id--)
        CHECK(api->popExternalCorrelationId(&last) == PU1_SUCCESS && last == id);
    CHECK(api->popExternalCorrelationId(NULL) == PU1_SUCCESS);
    CHECK(api->popExternalCorrelationId(&last) == PU1_ERROR_STACK_EMPTY);
}

static void run_nesting(void)
{
    enable_all();
    backend.kernels(1, 100);
    CHECK(api->pushExternalCorrelationId(10) == PU1_SUCCESS);
    backend.kernels(2, 100);
    CHECK(api->pushExternalCorrelationId(20) == PU1_SUCCESS);
    backend.kernels(3, 100);
    backend.copies(1);
    backend.sets(1);
    CHECK(api->popExternalCorrelationId(NULL) == PU1_SUCCESS);
    backend.kernels(4, 100); /* runs when nothing is pushed any more */
    CHECK(api->popExternalCorrelationId(NULL) == PU1_SUCCESS);
    backend.kernels(5, 100);
    disable_all();
    CHECK(api->flushAll() == PU1_SUCCESS);
    CHECK(count_with(CONCURRENT_KERNEL, 0) == 6);
    CHECK(count_with(CONCURRENT_KERNEL, 10) == 6);
    CHECK(count_with(CONCURRENT_KERNEL, 20) == 3);
    CHECK(count_with(GPU_MEMCPY, 20) == 1 && count(GPU_MEMCPY) == 1);
    CHECK(count_with(GPU_MEMSET, 20) == 1 && count(GPU_MEMSET) == 1);
}

static void *launch_with_ids(void *first)
{
    uint64_t base = (uint64_t)(uintptr_t)first;
    for (unsigned i = 0; i < OF_A_THREAD; i++) {
        CHECK(api->pushExternalCorrelationId(base + i) == PU1_SUCCESS);
        backend.kernels(2, 10);
        CHECK(api->popExternalCorrelationId(NULL) == PU1_SUCCESS);
    }
    return NULL;
}

static void run_threads(void)
{
    pthread_t threads[THREADS];
    enable_all();
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, launch_with_ids,
                             (void *)(uintptr_t)(1000 * (i + 1))) == 0);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    disable_all();
    CHECK(api->flushAll() == PU1_SUCCESS);
    expect_kernels(2 * THREADS * OF_A_THREAD);
    for (unsigned i = 0; i < THREADS; i++)
        for (unsigned k = 0; k < OF_A_THREAD; k++)
            CHECK(count_with(CONCURRENT_KERNEL, 1000 * (i + 1) + k) == 2);
}

/* Each kernel has one call, of the right name, in this thread, before it; and no two the same. */
static void run_correlation(void)
{
    enable_all();
    uint64_t before = now();
    backend.kernels(20, 50);
    backend.copies(3);
    backend.sets(4);
    backend.wait();
    uint64_t after = now();
    disable_all();
    CHECK(api->flushAll() == PU1_SUCCESS);
    expect_kernels(20);
    CHECK(count(GPU_MEMCPY) == 3 && count(GPU_MEMSET) == 4);
    CHECK(count_calls(backend.kernel_call) == 20 && count_calls(backend.copy_call) == 3 &&
          count_calls(backend.set_call) == 4);
    for (unsigned i = 0; i < host.count; i++) {
        const pu1ActivityRecord *record = &host.records[i].record;
        unsigned calls = 0;
        unsigned work = 0;
        CHECK(record->start_time <= record->end_time && record->start_time >= before &&
              record->end_time <= after);
        CHECK(record->correlation_id != 0 && record->process_id == (uint32_t)getpid());
        CHECK(record->struct_size >= sizeof *record && record->struct_size % 8 == 0);
        for (unsigned k = 0; k < host.count; k++) {
            const pu1ActivityRecord *other = &host.records[k].record;
            if (other->correlation_id != record->correlation_id)
                continue;
            if (other->kind == PRIVATEUSE1_RUNTIME)
                calls++;
            else
                work++;
            CHECK(other->kind == PRIVATEUSE1_RUNTIME || record->kind != PRIVATEUSE1_RUNTIME ||
                  record->start_time <= other->start_time);
        }
        CHECK(calls == 1 && work <= 1);
        if (record->kind == PRIVATEUSE1_RUNTIME)
            CHECK(record->thread_id == (uint32_t)gettid() && record->device_id == PU1_NO_DEVICE);
        else
            CHECK(record->device_id == 0 && work == 1);
    }
}

static void run_buffers(void)
{
    host.size = 4 * sizeof(pu1ActivityRecord);
    CHECK(api->tracingEnable(CONCURRENT_KERNEL) == PU1_SUCCESS);
    backend.kernels(200, 5);
    CHECK(api->tracingDisable(CONCURRENT_KERNEL) == PU1_SUCCESS);
    CHECK(api->flushAll() == PU1_SUCCESS);
    expect_kernels(200);
    CHECK(host.count == 200);
    CHECK(host.buffer_count >= 50 && host.most_in_one <= 4 && host.most_in_one >= 1);
    expect_all_completed();
    unsigned asked = host.buffer_count;
    CHECK(api->flushAll() == PU1_SUCCESS); /* with nothing to flush */
    CHECK(host.buffer_count == asked && host.count == 200);
}

/* Buffers that are none: too small, not aligned, NULL. */
static void run_tiny(void)
{
    uint64_t before = api->getDroppedRecords();
    host.size = sizeof(pu1ActivityRecord) - 1;
    CHECK(api->tracingEnable(CONCURRENT_KERNEL) == PU1_SUCCESS);
    backend.kernels(10, 5);
    CHECK(api->flushAll() == PU1_SUCCESS);
    CHECK(host.count == 0 && host.valid_in_tiny == 0 && host.buffer_count >= 1);
    CHECK(api->getDroppedRecords() - before == 10);
    expect_all_completed();
    host.null = true;
    backend.kernels(7, 5);
    CHECK(api->flushAll() == PU1_SUCCESS);
    CHECK(host.count == 0 && api->getDroppedRecords() - before == 17);
    host.null = false;
    host.odd = true;
    backend.kernels(5, 5);
    CHECK(api->flushAll() == PU1_SUCCESS);
    CHECK(host.count == 0 && api->getDroppedRecords() - before == 22);
    host.odd = false;
    host.size = 1 << 16;
    backend.kernels(3, 5);
    CHECK(api->tracingDisable(CONCURRENT_KERNEL) == PU1_SUCCESS);
    CHECK(api->flushAll() == PU1_SUCCESS);
    CHECK(host.count == 3 && api->getDroppedRecords() - before == 22);
    expect_all_completed();
}

/* Records of one size, one behind the other, as a vendor of another version may write them. */
static void fill(uint8_t *buffer, uint32_t stride, unsigned number)
{
    for (unsigned i = 0; i < number; i++) {
        pu1ActivityRecord record = {
            .struct_size = stride, .kind = CONCURRENT_KERNEL, .correlation_id = i + 1, .name = "x"};
        memcpy(buffer + (size_t)i * stride, &record, sizeof record);
    }
}

static unsigned walk(uint8_t *buffer, size_t valid, pu1Result *last)
{
    pu1ActivityRecord *record = NULL;
    unsigned number = 0;
    while ((*last = api->getNextRecord(buffer, valid, &record)) == PU1_SUCCESS && number < 100) {
        CHECK(record->correlation_id == number + 1);
        number++;
    }
    CHECK(record == NULL);
    return number;
}

static void run_iterator(void)
{
    static _Alignas(8) uint8_t buffer[1024];
    const uint32_t size = sizeof(pu1ActivityRecord);
    pu1ActivityRecord *record = NULL;
    pu1Result last;
    CHECK(walk(buffer, 0, &last) == 0 && last == PU1_ERROR_END_OF_BUFFER);
    CHECK(api->getNextRecord(NULL, 0, &record) == PU1_ERROR_END_OF_BUFFER);
    CHECK(api->getNextRecord(buffer, size, NULL) == PU1_ERROR_INVALID_ARGUMENT);
    CHECK(api->getNextRecord(NULL, size, &record) == PU1_ERROR_INVALID_ARGUMENT);
    fill(buffer, size, 5);
    CHECK(walk(buffer, 5 * (size_t)size, &last) == 5 && last == PU1_ERROR_END_OF_BUFFER);
    CHECK(walk(buffer, 3 * (size_t)size, &last) == 3 && last == PU1_ERROR_END_OF_BUFFER);
    /* Cut off at every byte: whole records are found, and nothing behind the end is read. */
    for (size_t valid = 0; valid <= 5 * (size_t)size; valid++) {
        uint8_t *exact = malloc(valid > 0 ? valid : 1);
        memcpy(exact, buffer, valid);
        CHECK(walk(exact, valid, &last) == valid / size);
        CHECK(last == (valid % size == 0 ? PU1_ERROR_END_OF_BUFFER : PU1_ERROR_MALFORMED));
        free(exact);
    }
    fill(buffer, size + 40, 5); /* a newer vendor's */
    CHECK(walk(buffer, 5 * ((size_t)size + 40), &last) == 5 && last == PU1_ERROR_END_OF_BUFFER);
    fill(buffer, size - 8, 1); /* smaller than any version's */
    CHECK(walk(buffer, sizeof buffer, &last) == 0 && last == PU1_ERROR_MALFORMED);
    fill(buffer, 0, 1);
    CHECK(walk(buffer, sizeof buffer, &last) == 0 && last == PU1_ERROR_MALFORMED);
    fill(buffer, size + 4, 1);
    CHECK(walk(buffer, sizeof buffer, &last) == 0 && last == PU1_ERROR_MALFORMED);
    fill(buffer, UINT32_MAX - 7, 1);
    CHECK(walk(buffer, sizeof buffer, &last) == 0 && last == PU1_ERROR_MALFORMED);
    record = (pu1ActivityRecord *)(void *)(buffer + sizeof buffer);
    CHECK(api->getNextRecord(buffer, sizeof buffer - size, &record) == PU1_ERROR_INVALID_ARGUMENT);
}

static void run_filters(void)
{
    for (unsigned i = 0; i < 4; i++) {
        host.count = 0;
        CHECK(api->tracingEnable(kinds[i]) == PU1_SUCCESS);
        backend.kernels(5, 5);
        backend.copies(2);
        backend.sets(3);
        CHECK(api->tracingDisable(kinds[i]) == PU1_SUCCESS);
        backend.kernels(4, 5);
        backend.copies(4);
        backend.sets(4);
        CHECK(api->flushAll() == PU1_SUCCESS);
        CHECK(count(kinds[i]) == host.count);
        static const unsigned wanted[] = {0, 5, 2, 3};
        CHECK(kinds[i] == PRIVATEUSE1_RUNTIME || host.count == wanted[i]);
        if (kinds[i] == PRIVATEUSE1_RUNTIME)
            CHECK(count_calls(backend.kernel_call) == 5 && count_calls(backend.copy_call) == 2 &&
                  count_calls(backend.set_call) == 3);
    }
    /* One goes while the other stays. */
    host.count = 0;
    CHECK(api->tracingEnable(CONCURRENT_KERNEL) == PU1_SUCCESS);
    CHECK(api->tracingEnable(GPU_MEMSET) == PU1_SUCCESS);
    backend.kernels(6, 500);
    backend.sets(1);
    CHECK(api->tracingDisable(CONCURRENT_KERNEL) == PU1_SUCCESS);
    backend.kernels(5, 5);
    backend.sets(2);
    CHECK(api->tracingDisable(GPU_MEMSET) == PU1_SUCCESS);
    CHECK(api->flushAll() == PU1_SUCCESS);
    expect_kernels(6);
    CHECK(count(GPU_MEMSET) == 3 && host.count == 9);
}

static void run_silent(void)
{
    backend.kernels(50, 5);
    backend.wait();
    CHECK(api->flushAll() == PU1_SUCCESS);
    CHECK(host.buffer_count == 0 && host.count == 0);
    enable_all();
    disable_all();
    backend.kernels(50, 5);
    backend.wait();
    CHECK(api->flushAll() == PU1_SUCCESS);
    CHECK(host.buffer_count == 0 && host.count == 0);
    CHECK(api->getDroppedRecords() == 0);
}

static void run_sessions(void)
{
    /* One that is flushed, and what is launched between the two. */
    enable_all();
    CHECK(api->pushExternalCorrelationId(1) == PU1_SUCCESS);
    backend.kernels(5, 5);
    CHECK(api->popExternalCorrelationId(NULL) == PU1_SUCCESS);
    disable_all();
    CHECK(api->flushAll() == PU1_SUCCESS);
    expect_kernels(5);
    CHECK(count_with(CONCURRENT_KERNEL, 1) == 5);
    backend.kernels(9, 5);
    host.count = 0;
    /* One that nobody flushes: its kernels may still run when the next begins. */
    enable_all();
    CHECK(api->pushExternalCorrelationId(2) == PU1_SUCCESS);
    backend.kernels(20, 3000);
    CHECK(api->popExternalCorrelationId(NULL) == PU1_SUCCESS);
    disable_all();
    CHECK(count_with(CONCURRENT_KERNEL, 2) <= 20);
    host.count = 0;
    enable_all();
    host.count = 0;
    CHECK(api->pushExternalCorrelationId(3) == PU1_SUCCESS);
    backend.kernels(7, 5);
    backend.copies(1);
    CHECK(api->popExternalCorrelationId(NULL) == PU1_SUCCESS);
    disable_all();
    CHECK(api->flushAll() == PU1_SUCCESS);
    expect_kernels(7);
    CHECK(count_with(CONCURRENT_KERNEL, 3) == 7);
    CHECK(count(GPU_MEMCPY) == 1 && count_calls(backend.kernel_call) == 7);
    expect_all_completed();
}

static void other_complete(uint8_t *buffer, size_t size, size_t valid)
{
    (void)buffer;
    (void)size;
    (void)valid;
    CHECK(!"a buffer goes back to who gave it");
}

static void run_callbacks(void)
{
    CHECK(api->tracingSetCallbacks(NULL, complete) == PU1_ERROR_INVALID_ARGUMENT);
    CHECK(api->tracingSetCallbacks(request, NULL) == PU1_ERROR_INVALID_ARGUMENT);
    host.tries = true;
    enable_all();
    backend.kernels(5, 5);
    disable_all();
    CHECK(api->flushAll() == PU1_SUCCESS);
    expect_kernels(5);
    host.tries = false;
    /* In the middle of a buffer. */
    enable_all();
    backend.kernels(1, 5);
    CHECK(api->flushAll() == PU1_SUCCESS);
    backend.kernels(5, 5);
    backend.wait();
    disable_all();
    CHECK(api->tracingSetCallbacks(request, complete) == PU1_SUCCESS);
    CHECK(api->flushAll() == PU1_SUCCESS);
    expect_kernels(11);
    expect_all_completed();
    CHECK(api->tracingSetCallbacks(request, other_complete) == PU1_SUCCESS);
    CHECK(api->flushAll() == PU1_SUCCESS);
}

static void run_flush(void)
{
    enable_all();
    for (unsigned i = 1; i <= 5; i++) {
        backend.kernels(20, 2000);
        CHECK(api->flushAll() == PU1_SUCCESS);
        expect_kernels(20 * i);
    }
    disable_all();
}

static void run_devices(void)
{
    struct {
        pu1DeviceProperties properties;
        uint64_t behind;
    } place = {.behind = 42};
    CHECK(api->getDeviceProperties != NULL);
    if (api->getDeviceProperties == NULL)
        return;
    for (uint32_t device = 0; device < backend.devices; device++) {
        place.properties = (pu1DeviceProperties){.struct_size = sizeof place};
        CHECK(api->getDeviceProperties(device, &place.properties) == PU1_SUCCESS);
        CHECK(place.properties.struct_size == sizeof place.properties && place.behind == 42);
        CHECK(place.properties.name != NULL && place.properties.name[0] != '\0');
    }
    place.properties = (pu1DeviceProperties){.struct_size = sizeof place.properties};
    CHECK(api->getDeviceProperties(0, &place.properties) == PU1_SUCCESS);
    CHECK(place.properties.compute_units == backend.compute_units);
    CHECK(place.properties.wave_size == backend.wave_size);
    CHECK(place.properties.memory_bytes == backend.memory_bytes);
    /* An older host, which knows of a name and no more. */
    place.properties = (pu1DeviceProperties){
        .struct_size = offsetof(pu1DeviceProperties, memory_bytes), .memory_bytes = 42};
    CHECK(api->getDeviceProperties(0, &place.properties) == PU1_SUCCESS);
    CHECK(place.properties.name != NULL && place.properties.memory_bytes == 42);
    CHECK(place.properties.struct_size == offsetof(pu1DeviceProperties, memory_bytes));
    CHECK(api->getDeviceProperties(backend.devices, &place.properties) ==
          PU1_ERROR_INVALID_ARGUMENT);
    CHECK(api->getDeviceProperties(PU1_NO_DEVICE, &place.properties) == PU1_ERROR_INVALID_ARGUMENT);
    CHECK(api->getDeviceProperties(0, NULL) == PU1_ERROR_INVALID_ARGUMENT);
    CHECK(api->getLastError()[0] != '\0');
}

static void run_errors(void)
{
    CHECK(PU1_MAJOR_OF(api->getVersion()) == PU1_VERSION_MAJOR);
    CHECK(api->tracingEnable((pu1ActivityKind)0) == PU1_ERROR_INVALID_ARGUMENT);
    CHECK(api->tracingEnable((pu1ActivityKind)99) == PU1_ERROR_NOT_SUPPORTED);
    CHECK(api->tracingEnable(PRIVATEUSE1_DRIVER) == PU1_ERROR_NOT_SUPPORTED);
    CHECK(api->tracingDisable((pu1ActivityKind)0) == PU1_ERROR_INVALID_ARGUMENT);
    CHECK(api->tracingDisable(CONCURRENT_KERNEL) == PU1_SUCCESS); /* is not enabled */
    CHECK(strlen(api->getLastError()) > 0);
    CHECK(host.buffer_count == 0);
}

/* In the middle of a session. The child has none, and does not disturb its parent's. */
static void run_fork(void)
{
    int status = 0;
    enable_all();
    backend.kernels(5, 2000);
    pid_t child = fork();
    if (child == 0) {
        unsigned given = host.buffer_count;
        CHECK(api->tracingEnable(CONCURRENT_KERNEL) == PU1_ERROR_NOT_INITIALIZED);
        CHECK(strstr(api->getLastError(), "forked") != NULL);
        CHECK(api->pushExternalCorrelationId(1) == PU1_SUCCESS);
        CHECK(api->popExternalCorrelationId(NULL) == PU1_SUCCESS);
        CHECK(api->tracingDisable(CONCURRENT_KERNEL) == PU1_SUCCESS);
        CHECK(api->flushAll() == PU1_SUCCESS);
        CHECK(host.buffer_count == given && host.count == 0);
        _exit(wrong > 0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    backend.kernels(3, 5);
    disable_all();
    CHECK(api->flushAll() == PU1_SUCCESS);
    expect_kernels(8);
    expect_all_completed();
}

/* The device was there before anybody asked the vendor, who cannot see it now. */
static void run_late(void)
{
    for (unsigned i = 0; i < 4; i++) {
        CHECK(api->tracingEnable(kinds[i]) == PU1_ERROR_NOT_INITIALIZED);
        CHECK(strstr(api->getLastError(), "RTL_KINETO=1") != NULL);
    }
    backend.kernels(5, 5);
    disable_all();
    CHECK(api->flushAll() == PU1_SUCCESS);
    CHECK(host.buffer_count == 0 && api->getDroppedRecords() == 0);
}

/* Somebody else has what RTL sees. */
static void run_taken(void)
{
    CHECK(api->tracingEnable(CONCURRENT_KERNEL) == PU1_ERROR_BUSY);
    CHECK(strstr(api->getLastError(), "rtl trace") != NULL);
    CHECK(api->pushExternalCorrelationId(5) == PU1_SUCCESS);
    backend.kernels(5, 5);
    CHECK(api->popExternalCorrelationId(NULL) == PU1_SUCCESS);
    CHECK(host.buffer_count == 0);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"stack", run_stack},         {"nesting", run_nesting},
    {"threads", run_threads},     {"correlation", run_correlation},
    {"buffers", run_buffers},     {"tiny", run_tiny},
    {"iterator", run_iterator},   {"filters", run_filters},
    {"silent", run_silent},       {"sessions", run_sessions},
    {"callbacks", run_callbacks}, {"flush", run_flush},
    {"devices", run_devices},     {"errors", run_errors},
    {"late", run_late},           {"fork", run_fork},
    {"taken", run_taken},
};

static void say(void *context, pu1_severity_t severity, const char *sentence)
{
    (void)context;
    if (severity != PU1_INFO)
        (void)fprintf(stderr, "contract: %s\n", sentence);
}

int main(int argc, char **argv)
{
    bool late = argc == 2 && strcmp(argv[1], "late") == 0;
    if (late)
        backend = backend_open();
    const pu1_vendors_t *vendors = pu1_load(say, NULL);
    unsigned ran = 0;
    if (!late)
        backend = backend_open();
    if (vendors->count != 1 || strcmp(vendors->items[0].api.vendor, backend.vendor) != 0) {
        (void)fprintf(stderr, "contract: the vendor %s is not there\n", backend.vendor);
        return 2;
    }
    api = &vendors->items[0].api;
    for (unsigned i = 0; argc == 2 && i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(argv[1], cases[i].name) != 0)
            continue;
        host.size = 1 << 16;
        CHECK(api->tracingSetCallbacks(request, complete) == PU1_SUCCESS);
        cases[i].run();
        ran++;
    }
    for (unsigned i = 0; i < host.buffer_count; i++)
        if (host.buffers[i].memory != odd + 1)
            free(host.buffers[i].memory);
    return ran != 1 ? 2 : wrong > 0;
}

/*
 * RTL as a vendor of PrivateUse1 tracing (PrivateUse1TracingApi.h), on the callbacks
 * (rtl_callbacks.h). Who registers it, or enables a kind, subscribes for it; the HSA runtime then
 * loads RTL when it comes up, stopped, and sessions start and stop recording. That has to happen
 * before hsa_init. Where the host comes later, RTL_KINETO=1 with librtl.so preloaded subscribes
 * when the process begins.
 */
#include "common/clock.h"
#include "common/log.h"
#include "intercept/base/control.h"
#include "intercept/callbacks/external.h"
#include "kineto/vendor_buffer.h"
#include "kineto/vendor_devices.h"
#include "kineto/vendor_marks.h"
#include "kineto/vendor_records.h"

#include <PrivateUse1TracingApi.h>
#include <rtl/rtl_callbacks.h>

#include <dlfcn.h>
#include <errno.h>
#include <hsa/hsa.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FLUSH_PATIENCE_MS 10000u /* for what runs on the device */
#define HAND_OVER_MS      2000u  /* for what has run */
#define NS_PER_MS         UINT64_C(1000000)

/* Held by whoever changes the session; callbacks do not take it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool attached; /* we have subscribed; changed under the lock */
static bool forked;           /* from a process that had; under the lock */

static _Thread_local const char *reason __attribute__((tls_model("initial-exec")));

static pu1Result fail(pu1Result result, const char *why)
{
    reason = why;
    return result;
}

/* ---- whether RTL sees the device ---- */

/* Whether the HSA runtime is in the process and has been initialised. */
static bool runtime_is_up(void)
{
    typedef hsa_status_t get_info_fn(hsa_system_info_t, void *);
    void *library = dlopen("libhsa-runtime64.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL)
        return false;
    uint16_t major = 0;
    get_info_fn *get_info = (get_info_fn *)(uintptr_t)dlsym(library, "hsa_system_get_info");
    bool up =
        get_info != NULL && get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major) == HSA_STATUS_SUCCESS;
    (void)dlclose(library);
    return up;
}

static void in_child(void)
{
    pthread_mutex_init(&lock, NULL);
    attached = false;
    forked = true;
    rtl_records_forked();
    rtl_buffer_forked();
}

/* Under the lock. */
static pu1Result subscribe(void)
{
    if (forked)
        return fail(PU1_ERROR_NOT_INITIALIZED,
                    "RTL records no process that was forked from one that it records");
    if (!rtlRecording() && runtime_is_up())
        return fail(PU1_ERROR_NOT_INITIALIZED,
                    "RTL was not loaded with this process: the HSA runtime came up before anybody "
                    "asked for RTL; start the program with LD_PRELOAD=librtl.so RTL_KINETO=1, or "
                    "register the plugin before the first HIP call");
    if (rtlSubscribe(&rtl_records_callbacks, NULL) == 0) {
        rtl_control_request(RTL_CONTROL_STOP); /* sessions start and stop it */
        rtl_external_watch();
        (void)pthread_atfork(NULL, NULL, in_child);
        attached = true;
        return PU1_SUCCESS;
    }
    if (errno == EBUSY)
        return fail(PU1_ERROR_BUSY, "what this process does is recorded by RTL for somebody else: "
                                    "a trace (rtl trace), or another subscriber");
    if (errno == ENOMEM)
        return fail(PU1_ERROR_OUT_OF_MEMORY, "no memory to subscribe to RTL's events");
    return fail(PU1_ERROR_NOT_INITIALIZED,
                "RTL cannot record this process: the HSA runtime has loaded it without a "
                "subscriber");
}

/* Under the lock. */
static pu1Result attach(void)
{
    pu1Result result = attached ? PU1_SUCCESS : subscribe();
    if (result == PU1_SUCCESS && !rtlRecording() && runtime_is_up())
        return fail(PU1_ERROR_NOT_INITIALIZED,
                    "the HSA runtime has come up without loading RTL, though HSA_TOOLS_LIB was "
                    "set: something has changed it, or recording could not begin");
    return result;
}

static bool is_set(const char *value)
{
    return value != NULL && *value != '\0' && strcmp(value, "0") != 0;
}

/* Behind the constructor of hip/calls.c, which looks whether host calls may be wanted: files are in
 * that order in librtl.so. */
__attribute__((constructor)) static void at_load(void)
{
    if (!is_set(secure_getenv("RTL_KINETO")))
        return;
    pthread_mutex_lock(&lock);
    if (attach() != PU1_SUCCESS)
        rtl_debug("RTL_KINETO is set, but %s", reason);
    pthread_mutex_unlock(&lock);
}

/* ---- the functions of the table ---- */

static uint32_t get_version(void)
{
    return PU1_VERSION;
}

static const char *get_last_error(void)
{
    return reason != NULL ? reason : "";
}

static uint64_t get_dropped(void)
{
    return rtl_buffer_dropped() + rtl_records_lost();
}

/* Whether the call may be made. */
static pu1Result look_at(pu1ActivityKind kind)
{
    if ((unsigned)kind < 1)
        return fail(PU1_ERROR_INVALID_ARGUMENT, "there is no such kind of activity");
    if ((unsigned)kind > PU1_LAST_KIND || kind == PRIVATEUSE1_DRIVER)
        return fail(PU1_ERROR_NOT_SUPPORTED, "RTL has no records of this kind");
    if (rtl_buffer_is_calling())
        return fail(PU1_ERROR_BUSY, "called by a function that has to do with buffers");
    return PU1_SUCCESS;
}

/* Under the lock. What an earlier session has left is nobody's. */
static void begin_session(void)
{
    rtl_records_forget();
    rtl_buffer_complete(false);
}

static pu1Result enable(pu1ActivityKind kind)
{
    pu1Result result = look_at(kind);
    if (result != PU1_SUCCESS)
        return result;
    pthread_mutex_lock(&lock);
    result = attach();
    if (result == PU1_SUCCESS) {
        bool first = !rtl_records_any_open();
        if (first)
            begin_session();
        if (!rtl_records_open(kind))
            result = fail(PU1_ERROR_OUT_OF_MEMORY, "no memory for what is wanted");
        else if (first)
            rtl_control_request(RTL_CONTROL_START);
    }
    pthread_mutex_unlock(&lock);
    return result;
}

static pu1Result disable(pu1ActivityKind kind)
{
    pu1Result result = look_at(kind);
    if (result != PU1_SUCCESS)
        return result;
    pthread_mutex_lock(&lock);
    bool any = rtl_records_any_open();
    rtl_records_close(kind);
    if (any && !rtl_records_any_open() && attached)
        rtl_control_request(RTL_CONTROL_STOP);
    pthread_mutex_unlock(&lock);
    return PU1_SUCCESS;
}

static pu1Result set_callbacks(pu1BufferRequestFn request, pu1BufferCompleteFn complete)
{
    if (request == NULL || complete == NULL)
        return fail(PU1_ERROR_INVALID_ARGUMENT, "a function is missing");
    if (rtl_buffer_is_calling())
        return fail(PU1_ERROR_BUSY, "called by a function that has to do with buffers");
    pthread_mutex_lock(&lock);
    rtl_buffer_use(request, complete);
    pthread_mutex_unlock(&lock);
    return PU1_SUCCESS;
}

static pu1Result push(uint64_t id)
{
    if (rtl_external_push(id))
        return PU1_SUCCESS;
    return fail(PU1_ERROR_OUT_OF_MEMORY, "no memory for the stack of external ids");
}

static pu1Result pop(uint64_t *last)
{
    if (rtl_external_pop(last))
        return PU1_SUCCESS;
    return fail(PU1_ERROR_STACK_EMPTY, "this thread has no external id to pop");
}

/* Under the lock. Before hsa_init there is nothing to wait for, and at the exit of the process RTL
 * has handed everything over by itself (ESRCH both). */
static bool drain(void)
{
    uint64_t deadline = rtl_clock_ns(CLOCK_MONOTONIC) + FLUSH_PATIENCE_MS * NS_PER_MS;
    if (rtlFlush(0) != 0 && errno == ESRCH)
        return true;
    bool done = rtl_marks_wait(deadline);
    return (rtlFlush(HAND_OVER_MS) == 0 || errno == ESRCH) && done;
}

static pu1Result flush_all(void)
{
    if (rtl_buffer_is_calling())
        return fail(PU1_ERROR_BUSY, "called by a function that has to do with buffers");
    pthread_mutex_lock(&lock);
    bool done = !attached || drain();
    rtl_buffer_complete(true);
    pthread_mutex_unlock(&lock);
    if (done)
        return PU1_SUCCESS;
    return fail(PU1_ERROR_TIMEOUT, "something that was launched before the flush is not done");
}

static pu1Result get_next(uint8_t *buffer, size_t valid, pu1ActivityRecord **record)
{
    if (record == NULL || (buffer == NULL && valid > 0))
        return fail(PU1_ERROR_INVALID_ARGUMENT, "a pointer is missing");
    size_t at = 0;
    if (*record != NULL) {
        uintptr_t distance = (uintptr_t)*record - (uintptr_t)buffer;
        if (distance >= valid || valid - distance < sizeof **record)
            return fail(PU1_ERROR_INVALID_ARGUMENT, "the record is not of this buffer");
        at = distance + (*record)->struct_size;
    }
    *record = NULL;
    if (at >= valid)
        return fail(PU1_ERROR_END_OF_BUFFER, "there is no further record");
    pu1ActivityRecord *next = (pu1ActivityRecord *)(void *)(buffer + at);
    if (valid - at < sizeof *next || next->struct_size < sizeof *next ||
        next->struct_size > valid - at || next->struct_size % PU1_BUFFER_ALIGNMENT != 0)
        return fail(PU1_ERROR_MALFORMED, "the buffer holds no records, or not whole ones");
    *record = next;
    return PU1_SUCCESS;
}

static pu1Result get_device(uint32_t device, pu1DeviceProperties *properties)
{
    pu1DeviceProperties all = {.struct_size = sizeof all};
    if (properties == NULL || properties->struct_size < sizeof properties->struct_size)
        return fail(PU1_ERROR_INVALID_ARGUMENT, "there is no place for properties");
    if (rtl_devices_count() == 0)
        return fail(PU1_ERROR_NOT_INITIALIZED, "the HSA runtime has not told RTL of its devices");
    if (!rtl_devices_get(device, &all))
        return fail(PU1_ERROR_INVALID_ARGUMENT, "there is no such device");
    if (properties->struct_size < all.struct_size)
        all.struct_size = properties->struct_size;
    memcpy(properties, &all, all.struct_size);
    return PU1_SUCCESS;
}

int kineto_register_privateuse1_plugin(pu1TracingApiTable *table)
{
    static const pu1TracingApiTable ours = {
        .struct_size = sizeof ours,
        .vendor = "RTL",
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
    size_t size = table->struct_size < sizeof ours ? table->struct_size : sizeof ours;
    memcpy(table, &ours, size);
    table->struct_size = size;
    pthread_mutex_lock(&lock);
    if (attach() != PU1_SUCCESS) /* enabling will say it */
        rtl_debug("registered as a PrivateUse1 plugin, but %s", reason);
    pthread_mutex_unlock(&lock);
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

pu1Result pu1TracingSetCallbacks(pu1BufferRequestFn request, pu1BufferCompleteFn complete)
{
    return set_callbacks(request, complete);
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

pu1Result pu1GetNextRecord(uint8_t *buffer, size_t valid, pu1ActivityRecord **record)
{
    return get_next(buffer, valid, record);
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

/*
 * The ways by which a program tells ranges: roctx, and the functions of rtl.h.
 *
 * rtlRoctx names functions of this file, not those it exports: another library's may stand before
 * them in the process.
 */
#include "intercept/ranges/roctx.h"

#include "intercept/base/control.h"
#include "intercept/base/objects.h"
#include "intercept/base/thread_context.h"
#include "intercept/ranges/ranges.h"

#include <rtl/rtl.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static _Atomic rtl_roctx_tracer_t tracer;

static void report(enum rtl_roctx_operation operation, const char *message, uint64_t id)
{
    rtl_roctx_tracer_t call = atomic_load_explicit(&tracer, memory_order_acquire);
    if (call == NULL)
        return;
    struct rtl_roctx_data data = {message, id};
    (void)call(RTL_ROCTX_DOMAIN, (uint32_t)operation, &data);
}

static void mark(const char *message)
{
    report(RTL_ROCTX_MARK, message, 0);
    rtl_range_mark(message);
}

static int push(const char *message)
{
    report(RTL_ROCTX_PUSH, message, 0);
    return rtl_range_push(message, RTL_RANGE_BY_ROCTX);
}

static int pop(void)
{
    report(RTL_ROCTX_POP, NULL, 0);
    return rtl_range_pop(NULL);
}

static uint64_t start(const char *message)
{
    uint64_t id = rtl_range_start(message);
    report(RTL_ROCTX_START, message, id);
    return id;
}

static void stop(uint64_t id)
{
    report(RTL_ROCTX_STOP, NULL, id);
    rtl_range_stop(id);
}

/* Of a thread, only that thread itself can say so. */
static int change(uint64_t thread, enum rtl_control_request request)
{
    if (thread == 0)
        rtl_control_request(request);
    else if (thread == (uint64_t)gettid())
        rtl_range_pause(request == RTL_CONTROL_STOP);
    else
        return rtlRecording() ? -1 : 0;
    return 0;
}

static int pause_recording(uint64_t thread)
{
    return change(thread, RTL_CONTROL_STOP);
}

static int resume_recording(uint64_t thread)
{
    return change(thread, RTL_CONTROL_START);
}

static int name_thread(const char *name)
{
    rtl_range_name(RTL_NAMED_THREAD, rtl_thread_context_thread(), name);
    return 0;
}

static int name_agent(const char *name, const struct hsa_agent_s *agent)
{
    if (agent == NULL)
        return -1;
    rtl_range_name(RTL_NAMED_AGENT, *(const uint64_t *)(const void *)agent, name);
    return 0;
}

static int name_device(const char *name, int device)
{
    rtl_range_name(RTL_NAMED_DEVICE, (uint64_t)(unsigned)device, name);
    return 0;
}

static int name_stream(const char *name, const struct ihipStream_t *stream)
{
    rtl_range_name(RTL_NAMED_STREAM, (uint64_t)(uintptr_t)stream, name);
    return 0;
}

int roctxGetThreadId(uint64_t *thread)
{
    if (thread == NULL)
        return -1;
    *thread = (uint64_t)gettid();
    return 0;
}

static void set_tracer(rtl_roctx_tracer_t function)
{
    atomic_store_explicit(&tracer, function, memory_order_release);
}

uint32_t roctx_version_major(void)
{
    return RTL_ROCTX_MAJOR;
}

uint32_t roctx_version_minor(void)
{
    return RTL_ROCTX_MINOR;
}

const struct rtl_roctx rtlRoctx = {
    .size = sizeof rtlRoctx,
    .mark = mark,
    .push = push,
    .pop = pop,
    .start = start,
    .stop = stop,
    .pause = pause_recording,
    .resume = resume_recording,
    .name_thread = name_thread,
    .name_agent = name_agent,
    .name_device = name_device,
    .name_stream = name_stream,
    .set_tracer = set_tracer,
};

void roctxMarkA(const char *message)
{
    mark(message);
}

int roctxRangePushA(const char *message)
{
    return push(message);
}

int roctxRangePop(void)
{
    return pop();
}

uint64_t roctxRangeStartA(const char *message)
{
    return start(message);
}

void roctxRangeStop(uint64_t id)
{
    stop(id);
}

int roctxProfilerPause(uint64_t thread)
{
    return pause_recording(thread);
}

int roctxProfilerResume(uint64_t thread)
{
    return resume_recording(thread);
}

int roctxNameOsThread(const char *name)
{
    return name_thread(name);
}

int roctxNameHsaAgent(const char *name, const struct hsa_agent_s *agent)
{
    return name_agent(name, agent);
}

int roctxNameHipDevice(const char *name, int device)
{
    return name_device(name, device);
}

int roctxNameHipStream(const char *name, const struct ihipStream_t *stream)
{
    return name_stream(name, stream);
}

void roctxRegisterTracerCallback(rtl_roctx_tracer_t function)
{
    set_tracer(function);
}

/* ---- for programs that ask for functions by name ---- */

typedef void (*function)(void);

static const struct {
    const char *name;
    function function;
} functions[] = {
    {"roctxMarkA", (function)mark},
    {"roctxRangePushA", (function)push},
    {"roctxRangePop", (function)pop},
    {"roctxRangeStartA", (function)start},
    {"roctxRangeStop", (function)stop},
    {"roctxProfilerPause", (function)pause_recording},
    {"roctxProfilerResume", (function)resume_recording},
    {"roctxNameOsThread", (function)name_thread},
    {"roctxNameHsaAgent", (function)name_agent},
    {"roctxNameHipDevice", (function)name_device},
    {"roctxNameHipStream", (function)name_stream},
    {"roctxRegisterTracerCallback", (function)set_tracer},
};

static bool is_roctx(const char *path)
{
    static const char *const names[] = {"libroctx64", "librocprofiler-sdk-roctx"};
    const char *base = rtl_object_base_name(path);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(base, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    return !rtl_object_has(info, (uintptr_t)data) ? 0 : is_roctx(info->dlpi_name) ? 2 : 1;
}

void *rtl_roctx_instead_of(const char *name, void *found)
{
    void *ours = found;
    if (found == NULL || dl_iterate_phdr(look_at_object, found) != 2)
        return found;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(name, functions[i].name) == 0)
            memcpy(&ours, &functions[i].function, sizeof ours);
    return ours;
}

int rtlRangePush(const char *text)
{
    return rtl_range_push(text, RTL_RANGE_BY_RTL);
}

void rtlMark(const char *text)
{
    rtl_range_mark(text);
}

uint64_t rtlRangeCurrent(void)
{
    return rtl_thread_context.range;
}

uint64_t rtlRangeStart(const char *text)
{
    return rtl_range_open(text);
}

int rtlRangeEnter(uint64_t id)
{
    return rtl_range_enter(id);
}

int rtlRangeStop(uint64_t id)
{
    return rtl_range_close(id);
}

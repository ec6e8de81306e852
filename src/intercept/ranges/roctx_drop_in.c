/*
 * libroctx64.so.4 and librocprofiler-sdk-roctx.so.1 as they come with RTL: they lead to librtl.so
 * where it is in the process, or will be because HSA_TOOLS_LIB names it. Elsewhere they do what the
 * libraries of the same names do without a profiler: count levels and numbers.
 *
 * Which it is, the first call finds out, for good: levels would not fit together otherwise.
 */
#include "intercept/ranges/roctx.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct rtl_roctx nobody = {.size = sizeof nobody};
static const struct rtl_roctx *_Atomic found; /* `nobody` if librtl.so is not there */

static _Atomic rtl_roctx_tracer_t tracer;
static _Atomic uint64_t last_number;
static _Thread_local int depth;

/* Opens the word of HSA_TOOLS_LIB that is a librtl.so, as the HSA runtime is going to. */
static void *open_tool(void)
{
    char path[4096];
    const char *at = secure_getenv("HSA_TOOLS_LIB");
    while (at != NULL && *at != '\0') {
        size_t length = strcspn(at, " ");
        (void)snprintf(path, sizeof path, "%.*s", (int)length, at);
        const char *slash = strrchr(path, '/');
        const char *name = slash != NULL ? slash + 1 : path;
        if (strncmp(name, "librtl.so", strlen("librtl.so")) == 0)
            return dlopen(path, RTLD_LAZY | RTLD_LOCAL);
        at += length + (at[length] == ' ');
    }
    return NULL;
}

static const struct rtl_roctx *look(void)
{
    int saved = errno;
    const struct rtl_roctx *functions = dlsym(RTLD_DEFAULT, "rtlRoctx");
    if (functions == NULL) {
        void *librtl = dlopen("librtl.so", RTLD_LAZY | RTLD_NOLOAD);
        if (librtl == NULL)
            librtl = open_tool();
        if (librtl != NULL)
            functions = dlsym(librtl, "rtlRoctx");
    }
    if (functions == NULL || functions->size < sizeof *functions)
        functions = &nobody;
    /* Who comes second takes what the first has found. */
    const struct rtl_roctx *first = NULL;
    if (!atomic_compare_exchange_strong(&found, &first, functions))
        functions = first;
    errno = saved;
    return functions;
}

/* librtl.so's functions, NULL if it is not there. */
static const struct rtl_roctx *rtl(void)
{
    const struct rtl_roctx *functions = atomic_load_explicit(&found, memory_order_acquire);
    if (functions == NULL)
        functions = look();
    return functions != &nobody ? functions : NULL;
}

static void report(enum rtl_roctx_operation operation, const char *message, uint64_t id)
{
    rtl_roctx_tracer_t call = atomic_load_explicit(&tracer, memory_order_acquire);
    if (call == NULL)
        return;
    struct rtl_roctx_data data = {message, id};
    (void)call(RTL_ROCTX_DOMAIN, (uint32_t)operation, &data);
}

void roctxMarkA(const char *message)
{
    const struct rtl_roctx *to = rtl();
    if (to != NULL)
        to->mark(message);
    else
        report(RTL_ROCTX_MARK, message, 0);
}

int roctxRangePushA(const char *message)
{
    const struct rtl_roctx *to = rtl();
    if (to != NULL)
        return to->push(message);
    report(RTL_ROCTX_PUSH, message, 0);
    return depth++;
}

int roctxRangePop(void)
{
    const struct rtl_roctx *to = rtl();
    if (to != NULL)
        return to->pop();
    report(RTL_ROCTX_POP, NULL, 0);
    return depth > 0 ? --depth : -1;
}

uint64_t roctxRangeStartA(const char *message)
{
    const struct rtl_roctx *to = rtl();
    if (to != NULL)
        return to->start(message);
    uint64_t id = atomic_fetch_add_explicit(&last_number, 1, memory_order_relaxed) + 1;
    report(RTL_ROCTX_START, message, id);
    return id;
}

void roctxRangeStop(uint64_t id)
{
    const struct rtl_roctx *to = rtl();
    if (to != NULL)
        to->stop(id);
    else
        report(RTL_ROCTX_STOP, NULL, id);
}

int roctxProfilerPause(uint64_t thread)
{
    const struct rtl_roctx *to = rtl();
    return to != NULL ? to->pause(thread) : 0;
}

int roctxProfilerResume(uint64_t thread)
{
    const struct rtl_roctx *to = rtl();
    return to != NULL ? to->resume(thread) : 0;
}

int roctxNameOsThread(const char *name)
{
    const struct rtl_roctx *to = rtl();
    return to != NULL ? to->name_thread(name) : 0;
}

int roctxNameHsaAgent(const char *name, const struct hsa_agent_s *agent)
{
    const struct rtl_roctx *to = rtl();
    return to != NULL ? to->name_agent(name, agent) : 0;
}

int roctxNameHipDevice(const char *name, int device)
{
    const struct rtl_roctx *to = rtl();
    return to != NULL ? to->name_device(name, device) : 0;
}

int roctxNameHipStream(const char *name, const struct ihipStream_t *stream)
{
    const struct rtl_roctx *to = rtl();
    return to != NULL ? to->name_stream(name, stream) : 0;
}

int roctxGetThreadId(uint64_t *thread)
{
    if (thread == NULL)
        return -1;
    *thread = (uint64_t)gettid();
    return 0;
}

void roctxRegisterTracerCallback(rtl_roctx_tracer_t function)
{
    const struct rtl_roctx *to = rtl();
    if (to != NULL)
        to->set_tracer(function);
    else
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

/*
 * The runtime loads its tools when it starts. What has lost HSA_TOOLS_LIB runs as without RTL, and
 * nothing of it reaches OnLoad; but as long as librtl.so is preloaded, programs and HIP find its
 * hsa_init first. It does what the runtime's does, and knows what came of it. Who finds the
 * runtime's all the same (by a handle, say) is noticed by HIP's first call.
 */
#include "intercept/hip/starts.h"

#include "common/log.h"
#include "intercept/base/objects.h"
#include "intercept/base/refuse.h"
#include "intercept/hip/libc.h"
#include "ring/process.h"
#include "ring/ring.h"

#include <dlfcn.h>
#include <errno.h>
#include <hsa/hsa.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

typedef hsa_status_t init_function(void);
typedef hsa_status_t info_function(hsa_system_info_t attribute, void *value);

static _Atomic bool is_attached;
static _Atomic unsigned under_way; /* calls of hsa_init: tools may make some within one */
static _Atomic bool judged;        /* that the runtime is up without librtl.so */

void rtl_starts_attached(bool attached)
{
    atomic_store(&is_attached, attached);
}

struct wanted {
    const char *name;
    uintptr_t ours, found;
};

static int look_at_object(struct dl_phdr_info *info, size_t size, void *data)
{
    struct wanted *wanted = data;
    struct rtl_object object;
    (void)size;
    if (!rtl_object_read(info, &object))
        return 0;
    uintptr_t function = rtl_object_function(&object, wanted->name);
    if (function == wanted->ours)
        return 0;
    wanted->found = function;
    return function != 0;
}

/* A function of a runtime that is loaded, whoever can find it. */
static rtl_hip_function loaded(const char *name)
{
    struct wanted wanted = {.name = name, .ours = (uintptr_t)hsa_init};
    (void)dl_iterate_phdr(look_at_object, &wanted);
    return (rtl_hip_function)wanted.found;
}

/* What the caller would have found: in the global scope, or among what it was linked with. */
static init_function *real_init(const void *caller)
{
    rtl_hip_function ours = (rtl_hip_function)hsa_init;
    rtl_hip_function found = rtl_hip_as_function(rtl_dlsym(RTLD_NEXT, "hsa_init"));
    if (found == NULL)
        found = rtl_hip_own_symbol(caller, "hsa_init");
    (void)dlerror(); // NOLINT(concurrency-mt-unsafe): glibc's is of the thread
    if (found == NULL || found == ours)
        found = loaded("hsa_init");
    return (init_function *)found;
}

void *rtl_starts_instead_of(void *found)
{
    void *ours = rtl_hip_as_symbol((rtl_hip_function)hsa_init);
    void *next = rtl_dlsym(RTLD_NEXT, "hsa_init");
    if (found == NULL || found == ours)
        return next != NULL ? found : NULL;
    bool leads_there =
        next == found || (next == NULL && rtl_hip_as_symbol(loaded("hsa_init")) == found);
    return leads_there ? ours : found;
}

/* Who preloads librtl.so for other things (ranges, PrivateUse1) sets none of these. */
static bool is_asked_for(void)
{
    return secure_getenv("RTL_MODE") != NULL || secure_getenv("RTL_OUTPUT") != NULL;
}

/* Another copy of librtl.so may be the tool. Whose environment has lost the session may still be a
 * process that is recorded: rtl is told, or finds what is shown; nobody else is. */
static void judge(void)
{
    const char *session = rtl_refuse_session();
    if (atomic_load(&is_attached) || atomic_exchange(&judged, true))
        return;
    if (session == NULL && !rtl_refuse(RTL_REFUSED_TOOL, 0, 0) && is_asked_for())
        rtl_complain("the GPU runtime has not loaded librtl.so, which HSA_TOOLS_LIB does not name: "
                     "nothing is recorded");
    else if (session != NULL && !rtl_ring_is_here(session))
        (void)rtl_refuse(RTL_REFUSED_TOOL, 0, 0);
}

static void leave_start(const char *session, hsa_status_t status)
{
    if (session == NULL)
        return;
    if (status == HSA_STATUS_SUCCESS)
        rtl_start_take_back(session);
    else
        rtl_start_leave(session, (uint32_t)status);
}

__attribute__((visibility("default"))) hsa_status_t hsa_init(void)
{
    int saved = errno;
    init_function *init = real_init(__builtin_return_address(0));
    if (init == NULL)
        return HSA_STATUS_ERROR;
    const char *session = rtl_refuse_session();
    if (atomic_fetch_add(&under_way, 1) == 0 && session != NULL && !atomic_load(&is_attached))
        rtl_start_leave(session, RTL_START_UNDER_WAY);
    errno = saved;
    hsa_status_t status = init();
    saved = errno;
    if (atomic_fetch_sub(&under_way, 1) == 1) {
        leave_start(session, status);
        if (status == HSA_STATUS_SUCCESS)
            judge();
    }
    errno = saved;
    return status;
}

static bool is_up(void)
{
    static _Atomic(rtl_hip_function) known;
    uint16_t major;
    rtl_hip_function function = atomic_load_explicit(&known, memory_order_relaxed);
    if (function == NULL) {
        function = loaded("hsa_system_get_info");
        atomic_store_explicit(&known, function, memory_order_relaxed);
    }
    info_function *info = (info_function *)function;
    return info != NULL && info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major) == HSA_STATUS_SUCCESS;
}

void rtl_starts_look(void)
{
    if (atomic_load_explicit(&judged, memory_order_relaxed) ||
        atomic_load_explicit(&is_attached, memory_order_relaxed) ||
        atomic_load_explicit(&under_way, memory_order_relaxed) != 0)
        return;
    int saved = errno;
    if (is_up())
        judge();
    errno = saved;
}

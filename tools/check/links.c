#include "check/links.h"

#include "common/owned.h"

#include <stdlib.h>
#include <string.h>

/* The queues of a trace that were made by a HIP whose host calls are followed. */
struct hips {
    const rtl_trace_hip_queue_t *list;
    size_t count;
    uint32_t process, queue; /* looked for last */
    bool followed;
};

static int compare(const void *a, const void *b)
{
    const rtl_trace_hip_queue_t *left = a;
    const rtl_trace_hip_queue_t *right = b;
    if (left->process != right->process)
        return left->process < right->process ? -1 : 1;
    return (left->queue > right->queue) - (left->queue < right->queue);
}

static bool is_followed(struct hips *hips, const rtl_kernel_t *kernel)
{
    if (hips->count == 0)
        return false;
    if (hips->process != kernel->process || hips->queue != kernel->queue) {
        const rtl_trace_hip_queue_t key = {.process = kernel->process, .queue = kernel->queue};
        const rtl_trace_hip_queue_t *found =
            bsearch(&key, hips->list, hips->count, sizeof key, compare);
        hips->process = kernel->process;
        hips->queue = kernel->queue;
        hips->followed = found && strcmp(found->calls, "followed") == 0;
    }
    return hips->followed;
}

/* HIP runs these by itself: copies and fills, and what the compiler makes of global objects. */
static bool is_its_own(const char *name)
{
    return strncmp(name, "__amd_", 6) == 0 || strncmp(name, "amdgcn.device.", 14) == 0;
}

/* Adds 1 if a correlation names nothing. `call`: whether it names a host call, or what is not
 * known. */
static rtl_status_t look(rtl_trace_t *trace, uint32_t process, uint64_t correlation,
                         uint64_t *unknown, bool *call)
{
    rtl_trace_origin_t origin;
    *call = false;
    if (correlation == 0)
        return RTL_OK;
    rtl_status_t status = rtlTraceOrigin(trace, process, correlation, &origin);
    *unknown += status == RTL_OK && origin.call == 0 && origin.range == 0;
    *call = origin.call != 0 || origin.range == 0;
    return status;
}

static void add_past(rtl_trace_t *trace, uint32_t process, struct links *links)
{
    const rtl_pause_t *pauses;
    size_t count;
    ++links->past;
    if (rtlTracePauses(trace, &pauses, &count) != RTL_OK)
        return;
    size_t own;
    links->stopped |= owned_by(process, pauses, count, sizeof *pauses, &own) != NULL;
}

static rtl_status_t read_kernels(rtl_trace_t *trace, struct links *links)
{
    rtl_kernel_filter_t all = RTL_KERNEL_FILTER_ALL;
    rtl_kernel_iter_t *iter = NULL;
    rtl_kernel_t kernel;
    struct hips hips = {.process = RTL_TRACE_NONE};
    bool call;
    all.by_queue = 1;
    rtl_status_t status = rtlTraceHipQueues(trace, &hips.list, &hips.count);
    if (status == RTL_OK)
        status = rtlTraceKernels(trace, &all, &iter);
    while (status == RTL_OK && (status = rtlKernelNext(iter, &kernel)) == RTL_OK) {
        status = look(trace, kernel.process, kernel.correlation, &links->kernels, &call);
        if (!call && is_followed(&hips, &kernel) && !is_its_own(kernel.name))
            add_past(trace, kernel.process, links);
    }
    rtlKernelIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

static rtl_status_t read_copies(rtl_trace_t *trace, struct links *links)
{
    rtl_copy_iter_t *iter = NULL;
    rtl_copy_t copy;
    bool call;
    rtl_status_t status = rtlTraceCopies(trace, NULL, &iter);
    while (status == RTL_OK && (status = rtlCopyNext(iter, &copy)) == RTL_OK)
        status = look(trace, copy.process, copy.correlation, &links->copies, &call);
    rtlCopyIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

static rtl_status_t read_calls(rtl_trace_t *trace, struct links *links)
{
    rtl_api_iter_t *iter = NULL;
    rtl_api_t api;
    rtl_status_t status = rtlTraceApi(trace, NULL, &iter);
    while (status == RTL_OK && (status = rtlApiNext(iter, &api)) == RTL_OK)
        ++links->calls;
    rtlApiIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

rtl_status_t links_read(rtl_trace_t *trace, struct links *links)
{
    memset(links, 0, sizeof *links);
    rtl_status_t status = read_kernels(trace, links);
    if (status == RTL_OK)
        status = read_copies(trace, links);
    if (status == RTL_OK)
        status = read_calls(trace, links);
    return status;
}

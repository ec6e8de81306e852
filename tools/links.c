#include "links.h"

#include <stdbool.h>
#include <string.h>

/* Adds 1 if a correlation names nothing. */
static rtl_status_t look(rtl_trace_t *trace, uint32_t process, uint64_t correlation,
                         uint64_t *unknown)
{
    rtl_trace_origin_t origin;
    if (correlation == 0)
        return RTL_OK;
    rtl_status_t status = rtlTraceOrigin(trace, process, correlation, &origin);
    *unknown += status == RTL_OK && origin.call == 0 && origin.range == 0;
    return status;
}

static rtl_status_t read_kernels(rtl_trace_t *trace, struct links *links)
{
    rtl_kernel_filter_t all = RTL_KERNEL_FILTER_ALL;
    rtl_kernel_iter_t *iter = NULL;
    rtl_kernel_t kernel;
    all.by_queue = 1;
    rtl_status_t status = rtlTraceKernels(trace, &all, &iter);
    while (status == RTL_OK && (status = rtlKernelNext(iter, &kernel)) == RTL_OK)
        status = look(trace, kernel.process, kernel.correlation, &links->kernels);
    rtlKernelIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

static rtl_status_t read_copies(rtl_trace_t *trace, struct links *links)
{
    rtl_copy_iter_t *iter = NULL;
    rtl_copy_t copy;
    rtl_status_t status = rtlTraceCopies(trace, NULL, &iter);
    while (status == RTL_OK && (status = rtlCopyNext(iter, &copy)) == RTL_OK)
        status = look(trace, copy.process, copy.correlation, &links->copies);
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

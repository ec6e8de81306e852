#include "analysis/activity_work.h"

static bool is_chosen(const struct activity_works *works, uint32_t gpu)
{
    return works->gpu == RTL_TRACE_NONE || gpu == works->gpu;
}

static rtl_status_t next_kernel(struct activity_works *works)
{
    rtl_status_t status;
    do
        status = rtlKernelNext(works->kernels, &works->kernel);
    while (status == RTL_OK && !is_chosen(works, works->kernel.gpu));
    works->has_kernel = status == RTL_OK;
    return status == RTL_END ? RTL_OK : status;
}

static rtl_status_t next_copy(struct activity_works *works)
{
    rtl_status_t status;
    do
        status = rtlCopyNext(works->copies, &works->copy);
    while (status == RTL_OK && (works->copy.start == 0 || !is_chosen(works, works->copy.gpu)));
    works->has_copy = status == RTL_OK;
    return status == RTL_END ? RTL_OK : status;
}

rtl_status_t activity_works_open(rtl_trace_t *trace, uint32_t process, uint32_t gpu,
                                 struct activity_works *works)
{
    rtl_kernel_filter_t kernels = RTL_KERNEL_FILTER_ALL;
    const rtl_copy_filter_t copies = {.process = process};
    *works = (struct activity_works){.gpu = gpu, .given_kernel = true, .given_copy = true};
    kernels.process = process;
    rtl_status_t status = rtlTraceKernels(trace, &kernels, &works->kernels);
    return status == RTL_OK ? rtlTraceCopies(trace, &copies, &works->copies) : status;
}

static void take_copy(const rtl_copy_t *copy, struct activity_work *work)
{
    *work = (struct activity_work){
        .kind = ACTIVITY_COPY,
        .start = copy->start,
        .end = copy->end > copy->start ? copy->end : copy->start,
        .gpu = copy->gpu,
        .graph = RTL_TRACE_NONE,
        .launch = RTL_TRACE_NONE,
        .correlation = copy->correlation,
    };
}

static void take_kernel(const rtl_kernel_t *kernel, struct activity_work *work)
{
    *work = (struct activity_work){
        .kind = kernel->graph == RTL_TRACE_NONE ? ACTIVITY_EAGER : ACTIVITY_GRAPH,
        .start = kernel->start,
        .end = kernel->end > kernel->start ? kernel->end : kernel->start,
        .gpu = kernel->gpu,
        .graph = kernel->graph,
        .launch = kernel->launch,
        .correlation = kernel->correlation,
        .kernel = kernel,
    };
}

rtl_status_t activity_works_next(struct activity_works *works, struct activity_work *work)
{
    rtl_status_t status = works->given_kernel ? next_kernel(works) : RTL_OK;
    if (status == RTL_OK && works->given_copy)
        status = next_copy(works);
    works->given_kernel = works->given_copy = false;
    if (status != RTL_OK)
        return status;
    if (!works->has_kernel && !works->has_copy)
        return RTL_END;
    works->given_copy =
        works->has_copy && (!works->has_kernel || works->copy.start <= works->kernel.start);
    works->given_kernel = !works->given_copy;
    if (works->given_copy)
        take_copy(&works->copy, work);
    else
        take_kernel(&works->kernel, work);
    return RTL_OK;
}

void activity_works_close(struct activity_works *works)
{
    rtlCopyIterFree(works->copies);
    rtlKernelIterFree(works->kernels);
    *works = (struct activity_works){0};
}

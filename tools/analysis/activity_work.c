#include "analysis/activity_work.h"

#include "common/memory.h"

#include <stdlib.h>

static bool is_chosen(const struct activity_works *works, uint32_t gpu)
{
    return works->gpu == RTL_TRACE_NONE || gpu == works->gpu;
}

static rtl_status_t next_kernel(struct activity_works *works)
{
    rtl_status_t status = RTL_OK;
    if (++works->next >= works->run.count) {
        do
            status = rtl_runs_next(works->kernels, UINT64_MAX, &works->run);
        while (status == RTL_OK && !is_chosen(works, works->run.gpu));
        works->next = 0;
    }
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
    return activity_works_open_at(trace, process, gpu, 0, works);
}

rtl_status_t activity_works_open_at(rtl_trace_t *trace, uint32_t process, uint32_t gpu,
                                    uint64_t from, struct activity_works *works)
{
    rtl_kernel_filter_t kernels = RTL_KERNEL_FILTER_ALL;
    const rtl_copy_filter_t copies = {.process = process, .from = from};
    *works = (struct activity_works){
        .gpu = gpu, .record = RTL_TRACE_NONE, .given_kernel = true, .given_copy = true};
    kernels.process = process;
    kernels.from = from;
    rtl_status_t status = rtl_runs_new(trace, &kernels, &works->kernels);
    if (status != RTL_OK)
        return status;
    works->names = memory_new(rtl_runs_shapes(works->kernels) + 1, sizeof *works->names);
    return rtlTraceCopies(trace, &copies, &works->copies);
}

void activity_work_of_copy(const rtl_copy_t *copy, struct activity_work *work)
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

static const char *name_of(struct activity_works *works, uint32_t shape)
{
    rtl_kernel_t kernel;
    if (!works->names[shape]) {
        rtl_runs_shape(works->kernels, shape, &kernel);
        works->names[shape] = kernel.name;
    }
    return works->names[shape];
}

/* Kernels that name the same launch of a process are of the same launch of a graph. */
static rtl_status_t find_launch(struct activity_works *works, const struct rtl_run_kernel *kernel)
{
    if (kernel->launch != RTL_TRACE_NONE && kernel->launch == works->record &&
        works->run.process == works->of_process)
        return RTL_OK;
    works->record = kernel->launch;
    works->of_process = works->run.process;
    return rtl_runs_node(works->kernels, &works->run, kernel, &works->kernel);
}

static rtl_status_t take_kernel(struct activity_works *works, struct activity_work *work)
{
    const struct rtl_run_kernel *kernel = &works->run.kernels[works->next];
    rtl_status_t status = find_launch(works, kernel);
    *work = (struct activity_work){
        .kind = works->kernel.graph == RTL_TRACE_NONE ? ACTIVITY_EAGER : ACTIVITY_GRAPH,
        .start = kernel->start,
        .end = kernel->end,
        .gpu = works->run.gpu,
        .graph = works->kernel.graph,
        .launch = works->kernel.launch,
        .correlation = kernel->correlation,
        .name = name_of(works, kernel->shape),
    };
    return status;
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
        works->has_copy &&
        (!works->has_kernel || works->copy.start <= works->run.kernels[works->next].start);
    works->given_kernel = !works->given_copy;
    if (works->given_kernel)
        return take_kernel(works, work);
    activity_work_of_copy(&works->copy, work);
    return RTL_OK;
}

void activity_works_close(struct activity_works *works)
{
    rtlCopyIterFree(works->copies);
    rtl_runs_free(works->kernels);
    free(works->names);
    *works = (struct activity_works){0};
}

/* Rows of what was on the GPUs. */
#include "fleet/rows.h"

#include "analysis/collectives.h"
#include "analysis/family.h"
#include "fleet/busy.h"
#include "fleet/minutes.h"

#include <stdlib.h>

/* Of 16 bits; a GPU that is not known is the last one. */
static uint32_t gpu_of(const rtl_kernel_t *kernel)
{
    return kernel->gpu < UINT16_MAX ? kernel->gpu : UINT16_MAX;
}

/* Whole launches are kept or left out; kernels of no graph one by one. */
static bool is_sampled(const struct run *run, const rtl_kernel_t *kernel)
{
    if (run->sample <= 1)
        return true;
    if (kernel->launch == RTL_TRACE_NONE)
        return kernel->packet % run->sample == 0;
    return kernel->launch % run->sample == 0;
}

static rtl_status_t put_kernel(struct run *run, struct fill *fill, const rtl_kernel_t *kernel,
                               size_t place, uint32_t name)
{
    rtl_trace_origin_t origin = {.stream = RTL_TRACE_NONE};
    rtl_status_t status = RTL_OK;
    if (kernel->correlation)
        status = rtlTraceOrigin(run->trace, kernel->process, kernel->correlation, &origin);
    uint64_t start = run_time(run, kernel->start);
    struct block *block = status == RTL_OK ? run_row(run, fill, start, place) : NULL;
    if (!block)
        return status;
    bool replayed = kernel->launch != RTL_TRACE_NONE;
    block_number(block, KERNELS_GPU, gpu_of(kernel));
    block_number(block, KERNELS_QUEUE, kernel->queue);
    block_number(block, KERNELS_STREAM, origin.stream);
    fill_text(fill, KERNELS_NAME, name);
    block_number(block, KERNELS_START, start);
    block_number(block, KERNELS_DURATION,
                 kernel->end > kernel->start ? kernel->end - kernel->start : 0);
    block_number(block, KERNELS_GRAPH, replayed ? kernel->graph : 0);
    block_number(block, KERNELS_GENERATION, replayed ? kernel->generation : 0);
    block_number(block, KERNELS_LAUNCH, replayed ? kernel->launch : 0);
    block_number(block, KERNELS_NODE, kernel->node);
    block_number(block, KERNELS_CALL, origin.call);
    return RTL_OK;
}

struct adding {
    struct run *run;
    struct fill *fills;
    struct minutes *stats;
    struct busy *busy;
};

static rtl_status_t add_kernel(struct adding *adding, const rtl_kernel_t *kernel)
{
    struct run *run = adding->run;
    size_t place = run_place(run, kernel->process);
    uint32_t name = text_names_id(&run->names, kernel->name);
    uint64_t duration = kernel->end > kernel->start ? kernel->end - kernel->start : 0;
    const struct minutes_gpu gpu = {gpu_of(kernel),
                                    busy_device(adding->busy, kernel->process, kernel->gpu)};
    if (place != SIZE_MAX)
        minutes_add(adding->stats, place, &gpu, name, run_time(run, kernel->start), duration);
    busy_add(adding->busy, kernel->process, kernel->gpu, kernel->start, kernel->end);
    return is_sampled(run, kernel)
               ? put_kernel(run, &adding->fills[TABLE_KERNELS], kernel, place, name)
               : RTL_OK;
}

static bool is_failed(const struct fill *fills)
{
    return fills[TABLE_KERNELS].failed || fills[TABLE_STATS].failed;
}

static rtl_status_t add_all(struct adding *adding)
{
    const rtl_kernel_filter_t all = RTL_KERNEL_FILTER_ALL;
    rtl_kernel_iter_t *iter = NULL;
    rtl_kernel_t kernel;
    rtl_status_t status = rtlTraceKernels(adding->run->trace, &all, &iter);
    while (status == RTL_OK && !is_failed(adding->fills)) {
        status = rtlKernelNext(iter, &kernel);
        if (status == RTL_OK)
            status = add_kernel(adding, &kernel);
    }
    rtlKernelIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

rtl_status_t rows_kernels(struct run *run, struct fill *fills)
{
    rtl_status_t status = RTL_OK;
    struct adding adding = {.run = run, .fills = fills, .busy = busy_new(run, &status)};
    adding.stats = minutes_new(run, &fills[TABLE_STATS]);
    if (status == RTL_OK)
        status = add_all(&adding);
    if (status == RTL_OK) {
        minutes_flush(adding.stats);
        busy_put(adding.busy, &fills[TABLE_GPUS]);
    }
    minutes_free(adding.stats);
    busy_free(adding.busy);
    return status;
}

static void put_launch(struct run *run, struct fill *fill, const rtl_graph_launch_t *launch)
{
    uint64_t begun = launch->time ? launch->time : launch->start;
    struct block *block = run_row(run, fill, run_time(run, begun), run_place(run, launch->process));
    if (!block)
        return;
    block_number(block, LAUNCHES_GRAPH, launch->graph);
    block_number(block, LAUNCHES_GENERATION, launch->generation);
    block_number(block, LAUNCHES_LAUNCH, launch->launch);
    block_number(block, LAUNCHES_THREAD, launch->thread);
    block_number(block, LAUNCHES_TIME, launch->time ? run_time(run, launch->time) : 0);
    block_number(block, LAUNCHES_START, launch->start ? run_time(run, launch->start) : 0);
    block_number(block, LAUNCHES_END, launch->end ? run_time(run, launch->end) : 0);
    block_number(block, LAUNCHES_KERNELS, launch->kernels);
    block_number(block, LAUNCHES_EXPECTED, launch->expected);
    block_number(block, LAUNCHES_UNSEEN, launch->unseen);
}

rtl_status_t rows_launches(struct run *run, struct fill *fill)
{
    rtl_launch_iter_t *iter = NULL;
    rtl_graph_launch_t launch;
    rtl_status_t status = rtlTraceLaunches(run->trace, NULL, &iter);
    while (status == RTL_OK && !fill->failed) {
        status = rtlLaunchNext(iter, &launch);
        if (status == RTL_OK)
            put_launch(run, fill, &launch);
    }
    rtlLaunchIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

rtl_status_t rows_collectives(struct run *run, struct fill *fill)
{
    struct family_rules *rules = family_rules_read(NULL);
    const struct collectives_wanted wanted = {collectives_wait, rules};
    struct collective *list = NULL;
    size_t count = 0;
    rtl_status_t status = collectives_read(run->trace, &wanted, &list, &count);
    uint32_t number = 0;
    for (size_t i = 0; status == RTL_OK && i < count; ++i) {
        const struct collective *one = &list[i];
        number = i && one->process == list[i - 1].process ? number + 1 : 1;
        struct block *block =
            run_row(run, fill, run_time(run, one->start), run_place(run, one->process));
        if (!block)
            break;
        block_number(block, COLLECTIVES_NUMBER, number);
        fill_text(fill, COLLECTIVES_NAME, text_names_id(&run->names, one->name));
        block_number(block, COLLECTIVES_START, run_time(run, one->start));
        block_number(block, COLLECTIVES_DURATION,
                     one->end > one->start ? one->end - one->start : 0);
    }
    free(list);
    family_rules_free(rules);
    return status;
}

#include "export/html_kernels.h"

#include "common/command.h"
#include "common/memory.h"
#include "common/open.h"
#include "common/say.h"
#include "export/html_put.h"
#include "export/html_time.h"
#include "export/lookup.h"

#include <stdlib.h>

/* Bins of a GPU at most. */
#define GPU_BINS 8192u

static size_t gpu_place(struct html_page *page, uint32_t process, uint32_t gpu)
{
    for (size_t i = 0; i < page->gpu_count; ++i)
        if (page->gpus[i].process == process && page->gpus[i].gpu == gpu)
            return i;
    page->gpus = memory_grown(page->gpus, page->gpu_count + 1, sizeof *page->gpus);
    page->gpus[page->gpu_count] = (struct html_gpu){.process = process, .gpu = gpu};
    return page->gpu_count++;
}

int html_kernels_begin(struct html_page *page, const struct rtl_runs *runs,
                       const struct rtl_run *run)
{
    if (!page->shapes) {
        page->shape_count = rtl_runs_shapes(runs) + 1;
        page->shapes = memory_new(page->shape_count, sizeof *page->shapes);
        page->samples = (struct samples){.of_kernels = page->export->info.kernel_samples != 0};
    }
    page->gpu = gpu_place(page, run->process, run->gpu);
    return EXIT_FINE;
}

/* Its name and its number among the items. */
static const struct html_shape *shape_of(struct html_page *page, const struct rtl_runs *runs,
                                         uint32_t number)
{
    struct html_shape *shape = &page->shapes[number];
    rtl_kernel_t kernel;
    if (shape->known)
        return shape;
    rtl_runs_shape(runs, number, &kernel);
    shape->name = html_number(page, kernel.name);
    const struct html_item item = {{shape->name, html_number(page, kernel.mangled), kernel.grid[0],
                                    kernel.grid[1], kernel.grid[2], kernel.block[0],
                                    kernel.block[1], kernel.block[2], kernel.group_size,
                                    kernel.private_size}};
    shape->item = html_items_number(&page->kernels, &item);
    shape->known = shape->name != UINT32_MAX && shape->item != UINT32_MAX;
    return shape->known ? shape : NULL;
}

/* What of a kernel the GPU was not busy with already, in the window. */
static bool add_busy(struct html_page *page, const rtl_kernel_t *kernel, uint32_t name)
{
    struct html_gpu *gpu = &page->gpus[page->gpu];
    uint64_t from = html_time(page->export->from, page->zero);
    uint64_t to = html_time(page->export->to ? page->export->to : UINT64_MAX, page->zero);
    uint64_t start = html_time(kernel->start, page->zero);
    uint64_t end = html_time(kernel->end, page->zero);
    if (gpu->last == 0)
        gpu->first = start;
    if (end > gpu->last)
        gpu->last = end;
    start = start > from ? start : from;
    end = end < to ? end : to;
    if (start < gpu->until)
        start = gpu->until;
    if (end <= start)
        return true;
    gpu->until = end;
    gpu->busy += end - start;
    return bins_add(&gpu->bins, start, end, name, GPU_BINS);
}

/* Sets the sample of a kernel that was counted. */
static rtl_status_t take_sample(struct html_page *page, const rtl_kernel_t *kernel, uint32_t name,
                                struct html_slice *slice)
{
    const rtl_trace_sample_t *sample = NULL;
    rtl_status_t status = samples_kernel(&page->samples, page->export->trace, kernel, &sample);
    if (status != RTL_OK || !sample)
        return status;
    html_counts_add(&page->counts, name, kernel, sample);
    slice->sample = html_segments_sample(&page->segments);
    bool kept = slice->sample != 0;
    for (uint32_t i = 0; i < sample->count && kept; ++i)
        kept = html_segments_count(&page->segments,
                                   lookup_counter_place(page->export, sample->counters[i]),
                                   sample->values[i]);
    return kept ? RTL_OK : RTL_E_MEMORY;
}

/* What the host has to do with it: its call, range and stream. A replay's kernels have that in
 * common. */
static rtl_status_t find_origin(struct html_page *page, const rtl_kernel_t *kernel)
{
    if (page->origin_process == kernel->process && page->origin_correlation == kernel->correlation)
        return RTL_OK;
    page->origin_process = kernel->process;
    page->origin_correlation = kernel->correlation;
    return rtlTraceOrigin(page->export->trace, kernel->process, kernel->correlation, &page->origin);
}

static rtl_status_t add(struct html_page *page, const rtl_kernel_t *kernel,
                        const struct html_shape *shape)
{
    size_t launch = html_graphs_launch(&page->graphs, kernel);
    struct html_place place = {html_no_key, HTML_KERNELS, shape->name};
    struct html_slice slice = {.item = shape->item,
                               .id = kernel->id,
                               .launch = html_graphs_number(&page->graphs, launch),
                               .node = kernel->node + 1};
    rtl_status_t status = find_origin(page, kernel);
    slice.correlation = page->origin.call;
    slice.range = page->origin.range;
    place.key.stream = page->origin.stream;
    if (status == RTL_OK && page->samples.of_kernels)
        status = take_sample(page, kernel, shape->name, &slice);
    if (status != RTL_OK)
        return status;
    place.key.kind = HTML_QUEUE;
    place.key.process = kernel->process;
    place.key.gpu = kernel->gpu;
    place.key.queue = kernel->queue;
    const struct activity_work work = {.kind = kernel->graph == RTL_TRACE_NONE ? ACTIVITY_EAGER
                                                                               : ACTIVITY_GRAPH,
                                       .start = kernel->start,
                                       .end = kernel->end,
                                       .gpu = kernel->gpu,
                                       .graph = kernel->graph,
                                       .launch = kernel->launch,
                                       .correlation = kernel->correlation,
                                       .name = page->texts.list[shape->name]};
    status = html_idle_take(page, kernel->process, &work);
    if (status != RTL_OK)
        return status;
    bool added = add_busy(page, kernel, shape->name);
    if (added && launch != SIZE_MAX)
        added = html_graphs_add(&page->graphs, launch, kernel, shape->name);
    return added && html_put(page, &place, &slice, kernel->start, kernel->end) ? RTL_OK
                                                                               : RTL_E_MEMORY;
}

int html_kernels_add(struct html_page *page, struct rtl_runs *runs, const struct rtl_run *run,
                     const struct rtl_run_kernel *from)
{
    rtl_kernel_t kernel;
    kernel.id = run->id + from->place;
    kernel.gpu = run->gpu;
    kernel.start = from->start;
    kernel.end = from->end;
    kernel.correlation = from->correlation;
    const struct html_shape *shape = shape_of(page, runs, from->shape);
    rtl_status_t status = shape ? rtl_runs_node(runs, run, from, &kernel) : RTL_E_MEMORY;
    if (status == RTL_OK)
        status = add(page, &kernel, shape);
    if (status == RTL_E_MEMORY)
        return say_fail(EXIT_USAGE, "there is not enough memory");
    return status == RTL_OK ? EXIT_FINE : open_failed(page->export->trace, page->export->path);
}

void html_kernels_free(struct html_page *page)
{
    for (size_t i = 0; i < page->gpu_count; ++i)
        bins_free(&page->gpus[i].bins);
    free(page->gpus);
    free(page->shapes);
    samples_free(&page->samples);
}

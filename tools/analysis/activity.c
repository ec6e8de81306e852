#include "analysis/activity.h"

#include <stdbool.h>
#include <stddef.h>

/* Two iterators, each with the item that is next of it. */
struct walk {
    uint32_t gpu;
    const struct activity_watcher *watcher;
    rtl_kernel_iter_t *kernels;
    rtl_copy_iter_t *copies;
    rtl_kernel_t kernel;
    rtl_copy_t copy;
    bool has_kernel, has_copy, begun;
    uint64_t at;                    /* told up to here */
    uint64_t until[ACTIVITIES - 1]; /* the last end of each kind so far */
};

const char *activity_label(enum activity kind)
{
    static const char *const labels[ACTIVITIES] = {"graphs", "eager kernels", "copies", "idle"};
    return labels[kind];
}

static bool is_chosen(const struct walk *walk, uint32_t gpu)
{
    return walk->gpu == RTL_TRACE_NONE || gpu == walk->gpu;
}

static rtl_status_t next_kernel(struct walk *walk)
{
    rtl_status_t status;
    do
        status = rtlKernelNext(walk->kernels, &walk->kernel);
    while (status == RTL_OK && !is_chosen(walk, walk->kernel.gpu));
    walk->has_kernel = status == RTL_OK;
    return status == RTL_END ? RTL_OK : status;
}

static rtl_status_t next_copy(struct walk *walk)
{
    rtl_status_t status;
    do
        status = rtlCopyNext(walk->copies, &walk->copy);
    while (status == RTL_OK && (walk->copy.start == 0 || !is_chosen(walk, walk->copy.gpu)));
    walk->has_copy = status == RTL_OK;
    return status == RTL_END ? RTL_OK : status;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* What is next of both, false: nothing. */
static bool take(const struct walk *walk, struct activity_work *work)
{
    bool copies = walk->has_copy && (!walk->has_kernel || walk->copy.start <= walk->kernel.start);
    if (copies) {
        *work = (struct activity_work){
            .kind = ACTIVITY_COPY,
            .start = walk->copy.start,
            .end = later(walk->copy.start, walk->copy.end),
            .graph = RTL_TRACE_NONE,
            .launch = RTL_TRACE_NONE,
            .correlation = walk->copy.correlation,
        };
    } else if (walk->has_kernel) {
        const rtl_kernel_t *kernel = &walk->kernel;
        *work = (struct activity_work){
            .kind = kernel->graph == RTL_TRACE_NONE ? ACTIVITY_EAGER : ACTIVITY_GRAPH,
            .start = kernel->start,
            .end = later(kernel->start, kernel->end),
            .graph = kernel->graph,
            .launch = kernel->launch,
            .correlation = kernel->correlation,
            .kernel = kernel,
        };
    }
    return copies || walk->has_kernel;
}

/* Tells what ran up to `to`. All that runs began before, so a kind whose last end has passed does
 * not come back before `to`. */
static rtl_status_t tell(struct walk *walk, uint64_t to, const struct activity_work *next)
{
    rtl_status_t status = RTL_OK;
    for (enum activity kind = ACTIVITY_GRAPH; kind < ACTIVITIES && status == RTL_OK; ++kind) {
        uint64_t end = kind == ACTIVITY_IDLE || walk->until[kind] > to ? to : walk->until[kind];
        if (end <= walk->at)
            continue;
        if (walk->watcher->stretch)
            status = walk->watcher->stretch(walk->watcher->context, kind, walk->at, end, next);
        walk->at = end;
    }
    return status;
}

static rtl_status_t pass(struct walk *walk, const struct activity_work *work)
{
    const struct activity_watcher *watcher = walk->watcher;
    rtl_status_t status = RTL_OK;
    if (watcher->coming)
        status = watcher->coming(watcher->context, work);
    if (!walk->begun)
        walk->at = work->start;
    walk->begun = true;
    if (status == RTL_OK)
        status = tell(walk, work->start, work);
    if (status == RTL_OK && watcher->begun)
        status = watcher->begun(watcher->context, work);
    walk->until[work->kind] = later(walk->until[work->kind], work->end);
    return status;
}

static rtl_status_t finish(struct walk *walk)
{
    const struct activity_watcher *watcher = walk->watcher;
    uint64_t last = walk->at;
    for (unsigned kind = 0; kind < ACTIVITY_IDLE; ++kind)
        last = later(last, walk->until[kind]);
    rtl_status_t status = watcher->coming ? watcher->coming(watcher->context, NULL) : RTL_OK;
    return status == RTL_OK ? tell(walk, last, NULL) : status;
}

static rtl_status_t walk_all(struct walk *walk)
{
    struct activity_work work;
    rtl_status_t status = next_kernel(walk);
    if (status == RTL_OK)
        status = next_copy(walk);
    while (status == RTL_OK && take(walk, &work)) {
        status = pass(walk, &work);
        if (status == RTL_OK)
            status = work.kernel ? next_kernel(walk) : next_copy(walk);
    }
    return status == RTL_OK ? finish(walk) : status;
}

rtl_status_t activity_walk(rtl_trace_t *trace, uint32_t process, uint32_t gpu,
                           const struct activity_watcher *watcher)
{
    struct walk walk = {.gpu = gpu, .watcher = watcher};
    rtl_kernel_filter_t kernels = RTL_KERNEL_FILTER_ALL;
    rtl_copy_filter_t copies = {.process = process};
    kernels.process = process;
    rtl_status_t status = rtlTraceKernels(trace, &kernels, &walk.kernels);
    if (status != RTL_OK)
        return status;
    status = rtlTraceCopies(trace, &copies, &walk.copies);
    if (status == RTL_OK) {
        status = walk_all(&walk);
        rtlCopyIterFree(walk.copies);
    }
    rtlKernelIterFree(walk.kernels);
    return status;
}

#include "analysis/steps_ranges.h"

#include "common/index.h"
#include "common/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A range of the name, and the work of it and of those in it. */
struct named {
    uint32_t process, thread;
    uint64_t start, end; /* of its kernels; start 0: none yet */
};

struct finder {
    rtl_trace_t *trace;
    struct named *named;
    size_t count, room;
    struct rtl_index outer; /* by range: the place in `named` that it is, or is in */
};

static uint64_t key_of(uint32_t process, uint64_t range)
{
    return rtl_index_mix(process, range);
}

/* Ranges come by start, an outer one before those in it. */
static void take(struct finder *finder, const rtl_range_t *range, const char *name)
{
    uint32_t at = range->parent
                      ? rtl_index_get(&finder->outer, key_of(range->process, range->parent))
                      : RTL_INDEX_MISSING;
    if (at == RTL_INDEX_MISSING && strcmp(range->name, name) == 0 &&
        strcmp(range->kind, "mark") != 0) {
        if (finder->count == finder->room) {
            finder->room = finder->room ? 2 * finder->room : 64;
            finder->named = memory_grown(finder->named, finder->room, sizeof *finder->named);
        }
        at = (uint32_t)finder->count;
        finder->named[finder->count++] =
            (struct named){.process = range->process, .thread = range->thread};
    }
    if (at != RTL_INDEX_MISSING &&
        rtl_index_put(&finder->outer, key_of(range->process, range->id), at) != 0)
        memory_is_short();
}

static rtl_status_t read_ranges(struct finder *finder, const char *name)
{
    rtl_range_iter_t *ranges;
    rtl_range_t range;
    rtl_status_t status = rtlTraceRanges(finder->trace, NULL, &ranges);
    if (status != RTL_OK)
        return status;
    while ((status = rtlRangeNext(ranges, &range)) == RTL_OK)
        take(finder, &range, name);
    rtlRangeIterFree(ranges);
    return status == RTL_END ? RTL_OK : status;
}

static void widen(struct finder *finder, uint64_t range, const rtl_kernel_t *kernel)
{
    uint32_t at =
        range ? rtl_index_get(&finder->outer, key_of(kernel->process, range)) : RTL_INDEX_MISSING;
    if (at == RTL_INDEX_MISSING)
        return;
    struct named *named = &finder->named[at];
    if (named->start == 0 || kernel->start < named->start)
        named->start = kernel->start;
    if (kernel->end > named->end)
        named->end = kernel->end;
}

static rtl_status_t read_kernels(struct finder *finder)
{
    rtl_kernel_filter_t filter = RTL_KERNEL_FILTER_ALL;
    rtl_kernel_iter_t *kernels;
    rtl_kernel_t kernel;
    rtl_trace_origin_t origin;
    rtl_status_t status = rtlTraceKernels(finder->trace, &filter, &kernels);
    if (status != RTL_OK)
        return status;
    while ((status = rtlKernelNext(kernels, &kernel)) == RTL_OK) {
        if (kernel.correlation == 0)
            continue;
        /* That of its launch, not that which a graph's node was captured in. */
        status = rtlTraceOrigin(finder->trace, kernel.process, kernel.correlation, &origin);
        if (status != RTL_OK)
            break;
        widen(finder, origin.range, &kernel);
    }
    rtlKernelIterFree(kernels);
    return status == RTL_END ? RTL_OK : status;
}

static int by_begin(const void *left, const void *right)
{
    const struct named *a = left;
    const struct named *b = right;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->start > b->start) - (a->start < b->start);
}

static void add_steps(struct finder *finder, const char *name, struct steps *steps)
{
    qsort(finder->named, finder->count, sizeof *finder->named, by_begin);
    for (size_t i = 0; i < finder->count; ++i) {
        const struct named *named = &finder->named[i];
        if (named->start == 0) {
            ++steps->without_work;
            continue;
        }
        struct steps_thread *thread = steps_thread(steps, named->process, named->thread);
        struct step step = {.begin = named->start,
                            .own_end = named->end,
                            .phase = thread->phase_count ? 0 : steps_phase(thread, name),
                            .first = thread->count == 0,
                            .closed = true};
        steps_add(thread, &step);
    }
    for (size_t i = 0; i < steps->count; ++i)
        steps->threads[i].steps[steps->threads[i].count - 1].last = true;
}

rtl_status_t steps_by_range(rtl_trace_t *trace, const char *name, struct steps *steps,
                            uint64_t *found)
{
    struct finder finder = {.trace = trace};
    rtl_status_t status = read_ranges(&finder, name);
    steps->by = STEPS_BY_RANGE;
    *found = finder.count;
    if (status == RTL_OK && finder.count)
        status = read_kernels(&finder);
    if (status == RTL_OK && finder.count) {
        size_t size = strlen(name) + sizeof "range ";
        char *text = memory_new(size, 1);
        (void)snprintf(text, size, "range %s", name);
        add_steps(&finder, text, steps);
        free(text);
    }
    rtl_index_free(&finder.outer);
    free(finder.named);
    return status;
}

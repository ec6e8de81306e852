#include "summary/tally_counted.h"

#include "common/memory.h"

#include <stdlib.h>
#include <string.h>

static struct tally_counted_name *name_of(struct tally_counted *tally, const char *name)
{
    size_t number = texts_number(&tally->texts, name);
    if (number == TEXTS_NONE)
        memory_is_short();
    if (number >= tally->capacity) {
        tally->capacity = tally->capacity ? 2 * tally->capacity : 64;
        tally->names = memory_grown(tally->names, tally->capacity, sizeof *tally->names);
    }
    for (; tally->count <= number; ++tally->count)
        tally->names[tally->count] = (struct tally_counted_name){0};
    return &tally->names[number];
}

/* Each counter belongs to one pass, so that sums over all passes have it once. */
static void add_kernel(struct tally_counted *tally, const rtl_kernel_t *kernel,
                       const rtl_trace_sample_t *sample)
{
    struct tally_counted_name *name = name_of(tally, kernel->name);
    counts_add(&tally->counts, sample, &name->counts);
    if (counts_process(&tally->counts, kernel->process).first != kernel->process)
        return;
    ++name->kernels;
    name->kernel_ns += kernel->end > kernel->start ? kernel->end - kernel->start : 0;
}

static rtl_status_t read_kernels(rtl_trace_t *trace, uint64_t from, uint64_t to,
                                 struct tally_counted *tally)
{
    const rtl_kernel_filter_t filter = {
        .from = from, .to = to, .queue = RTL_TRACE_NONE, .by_queue = 1};
    rtl_kernel_iter_t *iter = NULL;
    rtl_kernel_t kernel;
    rtl_trace_sample_t sample;
    rtl_status_t status = rtlTraceKernels(trace, &filter, &iter);
    while (status == RTL_OK && (status = rtlKernelNext(iter, &kernel)) == RTL_OK) {
        status = rtlTraceKernelSample(trace, kernel.process, kernel.queue, kernel.packet, &sample);
        if (status == RTL_OK)
            add_kernel(tally, &kernel, &sample);
        if (status == RTL_END)
            status = RTL_OK;
    }
    rtlKernelIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

static rtl_status_t read_measures(rtl_trace_t *trace, struct tally_counted *tally)
{
    struct metrics metrics = {0};
    rtl_status_t status = counts_metrics(trace, &metrics);
    for (size_t i = 0; status == RTL_OK && i < metrics.count; ++i)
        if (rtl_metric_is_counted(metrics.list[i]) &&
            counts_measure(&tally->counts, metrics.list[i], &tally->measures[tally->measure_count]))
            ++tally->measure_count;
    return status;
}

rtl_status_t tally_counted_read(rtl_trace_t *trace, uint64_t from, uint64_t to,
                                struct tally_counted *tally)
{
    memset(tally, 0, sizeof *tally);
    rtl_status_t status = counts_read(trace, &tally->counts);
    if (status == RTL_OK)
        status = rtlTraceUncounted(trace, &tally->uncounted, &tally->uncounted_count);
    if (status == RTL_OK)
        status = read_measures(trace, tally);
    if (status == RTL_OK && tally->counts.of_kernels)
        status = read_kernels(trace, from, to, tally);
    return status;
}

const struct tally_counted_name *tally_counted_find(struct tally_counted *tally, const char *name)
{
    const struct tally_counted_name *found = name_of(tally, name);
    return found->counts ? found : NULL;
}

bool tally_counted_value(const struct rtl_measure *measure, const struct rtl_count *counts,
                         uint64_t busy_ns, struct rtl_value *value)
{
    const struct rtl_quantities quantities = {.values[RTL_QUANTITY_BUSY_NS] = busy_ns};
    return counts && rtl_measure_value(measure, &quantities, counts, value);
}

void tally_counted_free(struct tally_counted *tally)
{
    for (size_t i = 0; i < tally->count; ++i)
        free(tally->names[i].counts);
    free(tally->names);
    texts_free(&tally->texts);
    counts_free(&tally->counts);
    memset(tally, 0, sizeof *tally);
}

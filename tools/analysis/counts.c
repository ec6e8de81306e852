#include "analysis/counts.h"

#include "common/memory.h"
#include "common/show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- processes ---- */

static const rtl_trace_counting_t *counting_of(const rtl_trace_counting_t *list, size_t count,
                                               uint32_t process)
{
    for (size_t i = 0; i < count; ++i)
        if (list[i].process == process)
            return &list[i];
    return NULL;
}

static bool alike(const rtl_process_t *a, const rtl_process_t *b)
{
    return strcmp(a->command, b->command) == 0 && strcmp(a->rank, b->rank) == 0 &&
           strcmp(a->host, b->host) == 0;
}

/* How many of its kind came before a process in its pass. */
static size_t ordinal_of(const struct counts *counts, const rtl_process_t *list, size_t index)
{
    size_t ordinal = 0;
    for (size_t i = 0; i < index; ++i)
        ordinal += counts->processes[i].counting &&
                   counts->processes[i].pass == counts->processes[index].pass &&
                   alike(&list[i], &list[index]);
    return ordinal;
}

/* In the earliest pass that has a process of that kind and place. */
static void find_first(struct counts *counts, const rtl_process_t *list, size_t index)
{
    struct counts_process *processes = counts->processes;
    size_t ordinal = ordinal_of(counts, list, index);
    size_t first = index;
    for (size_t i = 0; i < counts->process_count; ++i)
        if (processes[i].counting && processes[i].pass < processes[first].pass &&
            processes[i].kernels == processes[index].kernels && alike(&list[i], &list[index]) &&
            ordinal_of(counts, list, i) == ordinal)
            first = i;
    processes[index].first = processes[first].process;
}

static rtl_status_t read_processes(rtl_trace_t *trace, struct counts *counts)
{
    const rtl_process_t *list;
    const rtl_trace_counting_t *counting;
    size_t counting_count;
    rtl_status_t status = rtlTraceProcesses(trace, &list, &counts->process_count);
    if (status == RTL_OK)
        status = rtlTraceCounting(trace, &counting, &counting_count);
    if (status != RTL_OK)
        return status;
    counts->processes = memory_new(counts->process_count, sizeof *counts->processes);
    for (size_t i = 0; i < counts->process_count; ++i) {
        const rtl_trace_counting_t *how = counting_of(counting, counting_count, list[i].process);
        struct counts_process *process = &counts->processes[i];
        *process = (struct counts_process){.process = list[i].process, .first = list[i].process};
        if (!how || how->passes == 0)
            continue;
        process->pass = how->pass;
        process->counting = true;
        process->kernels = strcmp(how->mode, "kernel") == 0;
        counts->passes = how->passes > counts->passes ? how->passes : counts->passes;
        counts->of_kernels = counts->of_kernels || process->kernels;
        counts->of_ranges = counts->of_ranges || !process->kernels;
    }
    for (size_t i = 0; counts->passes > 1 && i < counts->process_count; ++i)
        if (counts->processes[i].counting)
            find_first(counts, list, i);
    return RTL_OK;
}

struct counts_process counts_process(const struct counts *counts, uint32_t process)
{
    for (size_t i = 0; i < counts->process_count; ++i)
        if (counts->processes[i].process == process)
            return counts->processes[i];
    return (struct counts_process){.process = process, .first = process};
}

/* ---- counters ---- */

static size_t place_of(struct counts *counts, const char *name)
{
    size_t place = texts_number(&counts->names, name);
    if (place == TEXTS_NONE)
        memory_is_short();
    return place;
}

rtl_status_t counts_read(rtl_trace_t *trace, struct counts *counts)
{
    const rtl_trace_counter_t *counters;
    size_t count;
    memset(counts, 0, sizeof *counts);
    rtl_status_t status = read_processes(trace, counts);
    if (status == RTL_OK)
        status = rtlTraceCounters(trace, &counters, &count);
    for (size_t i = 0; status == RTL_OK && i < count; ++i)
        (void)place_of(counts, counters[i].name);
    counts->count = counts->names.count;
    return status;
}

void counts_free(struct counts *counts)
{
    texts_free(&counts->names);
    free(counts->processes);
    memset(counts, 0, sizeof *counts);
}

/* Adds those of a list with commas; what this rtl does not know is left out. */
static void add_metrics(struct metrics *metrics, const char *text)
{
    while (*text != '\0' && metrics->count < METRICS_MOST) {
        char name[128];
        size_t length = strcspn(text, ",");
        (void)snprintf(name, sizeof name, "%.*s", (int)length, text);
        text += length + (text[length] == ',');
        const struct rtl_metric *metric = rtl_metric_find(name);
        if (metric)
            (void)metrics_add(metrics, metric);
    }
}

rtl_status_t counts_metrics(rtl_trace_t *trace, struct metrics *metrics)
{
    const rtl_trace_counting_t *list;
    size_t count;
    rtl_status_t status = rtlTraceCounting(trace, &list, &count);
    for (size_t i = 0; status == RTL_OK && i < count; ++i)
        add_metrics(metrics, list[i].metrics);
    return status;
}

void counts_add(struct counts *counts, const rtl_trace_sample_t *sample, struct rtl_count **row)
{
    bool of_range = sample->queue == RTL_TRACE_NONE;
    for (uint32_t i = 0; i < sample->count; ++i) {
        size_t place = place_of(counts, sample->counters[i]->name);
        if (place >= counts->count) /* its definition came while the trace was read */
            continue;
        if (!*row)
            *row = memory_new(counts->count, sizeof **row);
        rtl_count_add(&(*row)[place], sample->values[i], of_range);
    }
}

bool counts_measure(const struct counts *counts, const struct rtl_metric *metric,
                    struct rtl_measure *measure)
{
    return rtl_measure_make(measure, metric, (const char *const *)counts->names.list,
                            counts->count);
}

/* ---- kernels ---- */

/* Kernels of a queue, in the order of their packets. */
struct strand {
    rtl_kernel_iter_t *iter;
    rtl_kernel_t kernel;
    rtl_status_t status;
};

static rtl_status_t begin(rtl_trace_t *trace, uint32_t process, uint32_t queue,
                          struct strand *strand)
{
    const rtl_kernel_filter_t filter = {.process = process, .queue = queue, .by_queue = 1};
    memset(strand, 0, sizeof *strand);
    strand->status = rtlTraceKernels(trace, &filter, &strand->iter);
    if (strand->status == RTL_OK)
        strand->status = rtlKernelNext(strand->iter, &strand->kernel);
    return strand->status == RTL_END ? RTL_OK : strand->status;
}

/* Whether the strand has the packet, which is not before those that were asked for so far. */
static bool reach(struct strand *strand, uint64_t packet)
{
    while (strand->status == RTL_OK && strand->kernel.packet < packet)
        strand->status = rtlKernelNext(strand->iter, &strand->kernel);
    return strand->status == RTL_OK && strand->kernel.packet == packet;
}

struct join {
    rtl_trace_t *trace;
    counts_take take;
    void *context;
    uint64_t *strangers;
};

static bool failed(const struct strand *strand)
{
    return strand->status != RTL_OK && strand->status != RTL_END;
}

/* Samples of a queue with their kernels, and with those of the first pass. */
static rtl_status_t join_strands(const struct join *join, rtl_sample_iter_t *samples,
                                 struct strand *own, struct strand *first)
{
    rtl_trace_sample_t sample;
    rtl_status_t status;
    while ((status = rtlSampleNext(samples, &sample)) == RTL_OK) {
        bool known = reach(own, sample.owner);
        if (known && first)
            known = reach(first, sample.owner) && strcmp(own->kernel.name, first->kernel.name) == 0;
        if (failed(own) || (first && failed(first)))
            return failed(own) ? own->status : first->status;
        if (known)
            join->take(join->context, first ? &first->kernel : &own->kernel, &sample);
        else
            ++*join->strangers;
    }
    return status == RTL_END ? RTL_OK : status;
}

/* `first`: the queue of the first pass, NULL if this is it. One that is not there has no kernels.
 */
static rtl_status_t join_queue(const struct join *join, const rtl_queue_t *queue, bool is_first,
                               const rtl_queue_t *first)
{
    const rtl_sample_filter_t filter = {.process = queue->process, .queue = queue->queue};
    rtl_sample_iter_t *samples = NULL;
    struct strand own = {.status = RTL_END};
    struct strand other = {.status = RTL_END};
    rtl_status_t status = rtlTraceKernelSamples(join->trace, &filter, &samples);
    if (status == RTL_OK)
        status = begin(join->trace, queue->process, queue->queue, &own);
    if (status == RTL_OK && first)
        status = begin(join->trace, first->process, first->queue, &other);
    if (status == RTL_OK)
        status = join_strands(join, samples, &own, is_first ? NULL : &other);
    rtlKernelIterFree(own.iter);
    rtlKernelIterFree(other.iter);
    rtlSampleIterFree(samples);
    return status;
}

static bool has_kernels(const rtl_queue_t *queue)
{
    return strcmp(queue->way, "copies") != 0;
}

/* The queue that has the same place in another process. */
static const rtl_queue_t *partner_of(const rtl_queue_t *queues, size_t count, size_t index,
                                     uint32_t process)
{
    size_t place = 0;
    for (size_t i = 0; i < index; ++i)
        place += queues[i].process == queues[index].process && has_kernels(&queues[i]);
    for (size_t i = 0; i < count; ++i)
        if (queues[i].process == process && has_kernels(&queues[i]) && place-- == 0)
            return &queues[i];
    return NULL;
}

rtl_status_t counts_kernels(rtl_trace_t *trace, const struct counts *counts, counts_take take,
                            void *context, uint64_t *strangers)
{
    const struct join join = {trace, take, context, strangers};
    const rtl_queue_t *queues;
    size_t count;
    rtl_status_t status = counts->of_kernels ? rtlTraceQueues(trace, &queues, &count) : RTL_END;
    for (size_t i = 0; status == RTL_OK && i < count; ++i) {
        struct counts_process process = counts_process(counts, queues[i].process);
        bool is_first = process.first == process.process;
        if (!process.counting || !process.kernels || !has_kernels(&queues[i]))
            continue;
        const rtl_queue_t *first = is_first ? NULL : partner_of(queues, count, i, process.first);
        status = join_queue(&join, &queues[i], is_first, first);
    }
    return status == RTL_END ? RTL_OK : status;
}

/* ---- what was not counted ---- */

/* Keys as in the trace, and what they mean to a user. */
static const char *const reasons[][2] = {
    {"graph", "in replays of graphs"},
    {"queue", "in queues that take no packets of RTL"},
    {"memory", "no buffer was free"},
    {"shutdown", "not finished at the end"},
    {"device", "the device or its library cannot"},
    {"ring", "the ring was full"},
    {"stopped", "recording was stopped, or the mode leaves them out"},
    {"name", "not asked for by --kernel"},
};

void counts_show_uncounted(const rtl_trace_uncounted_t *list, size_t count, FILE *out)
{
    const char *before = "not counted: ";
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; ++i) {
        uint64_t sum = 0;
        for (size_t k = 0; k < count; ++k)
            if (strcmp(list[k].why, reasons[i][0]) == 0)
                sum += list[k].count;
        if (sum == 0)
            continue;
        (void)fprintf(out, "%s%s (%s)", before, show_count(sum).text, reasons[i][1]);
        before = ", ";
    }
    if (before[0] == ',')
        (void)fputc('\n', out);
}

void counts_show_rangeless(const struct counts *counts, const rtl_trace_info_t *info, FILE *out)
{
    if (!counts->of_ranges || info->range_samples > 0)
        return;
    (void)fprintf(
        out,
        "  no number: counters are read where a range begins and ends, and %s\n"
        "    what to do: mark ranges around kernels (rtlRangePush, roctxRangePush, ...), or "
        "record with --counting kernel, which counts each kernel but those of graph "
        "replays\n",
        info->ranges ? "no range here ended with work on a GPU in it" : "there is no range here");
}

#include "analysis/steps_kernels.h"

#include "analysis/period.h"
#include "common/index.h"
#include "common/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct queue {
    uint32_t process, queue;
    uint64_t eager;
};

/* The kernels of one queue. */
struct sequence {
    uint32_t *items;
    size_t count, room;
    struct rtl_index numbers;
    uint32_t next;
};

/* Calls `each` for all eager kernels of a queue, or of a process, in the order of packets. */
static rtl_status_t walk(rtl_trace_t *trace, uint32_t process, uint32_t queue,
                         void (*each)(void *context, const rtl_kernel_t *kernel), void *context)
{
    rtl_kernel_filter_t filter = {.process = process, .queue = queue, .by_queue = 1};
    rtl_kernel_iter_t *kernels;
    rtl_kernel_t kernel;
    rtl_status_t status = rtlTraceKernels(trace, &filter, &kernels);
    if (status != RTL_OK)
        return status;
    while ((status = rtlKernelNext(kernels, &kernel)) == RTL_OK)
        if (kernel.graph == RTL_TRACE_NONE)
            each(context, &kernel);
    rtlKernelIterFree(kernels);
    return status == RTL_END ? RTL_OK : status;
}

static void add_item(void *context, const rtl_kernel_t *kernel)
{
    struct sequence *sequence = context;
    uint64_t hash = kernel->symbol;
    for (unsigned axis = 0; axis < 3; ++axis) {
        hash = rtl_index_mix(hash, kernel->grid[axis]);
        hash = rtl_index_mix(hash, kernel->block[axis]);
    }
    uint32_t number = rtl_index_get(&sequence->numbers, hash);
    if (number == RTL_INDEX_MISSING) {
        number = sequence->next++;
        if (rtl_index_put(&sequence->numbers, hash, number) != 0)
            memory_is_short();
    }
    if (sequence->count == sequence->room) {
        sequence->room = sequence->room ? 2 * sequence->room : 1024;
        sequence->items = memory_grown(sequence->items, sequence->room, sizeof *sequence->items);
    }
    sequence->items[sequence->count++] = number;
}

static uint64_t mix_kernel(uint64_t hash, const rtl_kernel_t *kernel)
{
    for (const char *name = kernel->name; *name; ++name)
        hash = rtl_index_mix(hash, (unsigned char)*name);
    for (unsigned axis = 0; axis < 3; ++axis)
        hash = rtl_index_mix(rtl_index_mix(hash, kernel->grid[axis]), kernel->block[axis]);
    return hash;
}

/* Makes the blocks that were found to steps. */
struct blocks {
    const struct period *period;
    struct steps_thread *thread;
    struct step step;
    size_t at;
    uint64_t key; /* of the kernels in the first block */
};

static void add_block(void *context, const rtl_kernel_t *kernel)
{
    struct blocks *blocks = context;
    const struct period *period = blocks->period;
    size_t at = blocks->at++;
    if (at < period->begin || at >= period->begin + period->length * period->count)
        return;
    size_t block = (at - period->begin) / period->length;
    size_t place = (at - period->begin) % period->length;
    if (place == 0)
        blocks->step = (struct step){
            .begin = kernel->start, .first = block == 0, .last = block + 1 == period->count};
    if (block == 0)
        blocks->key = mix_kernel(blocks->key, kernel);
    if (kernel->end > blocks->step.own_end)
        blocks->step.own_end = kernel->end;
    if (place + 1 == period->length)
        steps_add(blocks->thread, &blocks->step);
}

static rtl_status_t find_in(rtl_trace_t *trace, const struct queue *queue, struct steps *steps)
{
    struct sequence sequence = {0};
    struct period period = {0};
    rtl_status_t status = walk(trace, queue->process, queue->queue, add_item, &sequence);
    if (status == RTL_OK && period_find(sequence.items, sequence.count, &period)) {
        char name[64];
        struct blocks blocks = {.period = &period,
                                .thread = steps_thread(steps, queue->process, 0)};
        (void)snprintf(name, sizeof name, "block of %zu eager %s", period.length,
                       period.length == 1 ? "kernel" : "kernels");
        (void)steps_phase(blocks.thread, name);
        status = walk(trace, queue->process, queue->queue, add_block, &blocks);
        steps_thread(steps, queue->process, 0)->phases[0].key = blocks.key;
        steps->kernels += sequence.count;
        steps->kernels_in_blocks += period.length * period.count;
    }
    free(sequence.items);
    rtl_index_free(&sequence.numbers);
    return status;
}

struct counter {
    struct queue *queues;
    size_t count;
};

static void count(void *context, const rtl_kernel_t *kernel)
{
    struct counter *counter = context;
    struct queue *last = counter->count ? &counter->queues[counter->count - 1] : NULL;
    if (!last || last->process != kernel->process || last->queue != kernel->queue) {
        counter->queues =
            memory_grown(counter->queues, counter->count + 1, sizeof *counter->queues);
        last = &counter->queues[counter->count++];
        *last = (struct queue){kernel->process, kernel->queue, 0};
    }
    ++last->eager;
}

static rtl_status_t find_in_process(rtl_trace_t *trace, uint32_t process, struct steps *steps)
{
    struct counter counter = {0};
    rtl_status_t status = walk(trace, process, RTL_TRACE_NONE, count, &counter);
    const struct queue *most = counter.queues;
    for (size_t i = 1; i < counter.count; ++i)
        if (counter.queues[i].eager > most->eager)
            most = &counter.queues[i];
    if (status == RTL_OK && most)
        status = find_in(trace, most, steps);
    free(counter.queues);
    return status;
}

/* Whether one of the first threads is of the process. */
static bool has_steps(const struct steps *steps, size_t threads, uint32_t process)
{
    for (size_t i = 0; i < threads; ++i)
        if (steps->threads[i].process == process)
            return true;
    return false;
}

rtl_status_t steps_by_kernels(rtl_trace_t *trace, struct steps *steps)
{
    const rtl_process_t *processes;
    size_t count;
    size_t threads = steps->count;
    rtl_status_t status = rtlTraceProcesses(trace, &processes, &count);
    steps->by = STEPS_BY_KERNELS;
    for (size_t i = 0; status == RTL_OK && i < count; ++i)
        if (!has_steps(steps, threads, processes[i].process))
            status = find_in_process(trace, processes[i].process, steps);
    return status;
}

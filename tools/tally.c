#include "tally.h"

#include "common/texts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The kernels of a trace repeat few names. The reader gives equal kernels the same string, so a
 * small cache keyed by the pointer answers nearly always; what is behind it compares texts. */
#define CACHE 256u

struct cached {
    const char *name;
    size_t index;
};

struct reading {
    struct tally *tally;
    size_t name_capacity;
    struct texts texts; /* as numbered in names */
    struct cached cache[CACHE];
    struct tally_queue *last_queue;
};

static bool add_name(struct reading *reading, const char *name)
{
    struct tally *tally = reading->tally;
    if (tally->name_count == reading->name_capacity) {
        size_t capacity = reading->name_capacity ? 2 * reading->name_capacity : 128;
        struct tally_name *names = realloc(tally->names, capacity * sizeof *names);
        if (!names)
            return false;
        tally->names = names;
        reading->name_capacity = capacity;
    }
    tally->names[tally->name_count++] = (struct tally_name){.name = name, .min = UINT64_MAX};
    return true;
}

static struct tally_name *find_name(struct reading *reading, const char *name)
{
    struct tally *tally = reading->tally;
    struct cached *cached = &reading->cache[((uintptr_t)name >> 4) % CACHE];
    if (cached->name == name)
        return &tally->names[cached->index];
    size_t number = texts_number(&reading->texts, name);
    if (number == TEXTS_NONE || (number == tally->name_count && !add_name(reading, name)))
        return NULL;
    *cached = (struct cached){name, number};
    return &tally->names[cached->index];
}

/* Kernels come by their start, so the union of intervals needs no more than its end so far. */
static void add_to_span(struct tally_span *span, uint64_t start, uint64_t end)
{
    if (span->kernels++ == 0) {
        span->first = start;
        span->last = start;
    }
    if (end <= span->last)
        return;
    span->busy += end - (start > span->last ? start : span->last);
    span->last = end;
}

static int compare_queue_ids(const rtl_queue_t *a, uint32_t process, uint32_t queue)
{
    if (a->process != process)
        return a->process < process ? -1 : 1;
    if (a->queue != queue)
        return a->queue < queue ? -1 : 1;
    return 0;
}

static int compare_queues(const void *a, const void *b)
{
    const struct tally_queue *right = b;
    return compare_queue_ids(((const struct tally_queue *)a)->queue, right->queue->process,
                             right->queue->queue);
}

static struct tally_queue *find_queue(struct reading *reading, uint32_t process, uint32_t queue)
{
    struct tally *tally = reading->tally;
    size_t low = 0;
    size_t high = tally->queue_count;
    if (reading->last_queue && compare_queue_ids(reading->last_queue->queue, process, queue) == 0)
        return reading->last_queue;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_queue_ids(tally->queues[middle].queue, process, queue);
        if (order == 0)
            return reading->last_queue = &tally->queues[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static bool add_kernel(struct reading *reading, const rtl_kernel_t *kernel)
{
    struct tally *tally = reading->tally;
    uint64_t end = kernel->end > kernel->start ? kernel->end : kernel->start;
    uint64_t duration = end - kernel->start;
    struct tally_name *name = find_name(reading, kernel->name);
    if (!name)
        return false;
    ++name->calls;
    name->total += duration;
    if (duration < name->min)
        name->min = duration;
    if (duration > name->max)
        name->max = duration;
    ++tally->kernels;
    tally->total += duration;
    struct tally_queue *queue = find_queue(reading, kernel->process, kernel->queue);
    if (!queue)
        return true;
    add_to_span(&queue->span, kernel->start, end);
    if (queue->gpu != RTL_TRACE_NONE)
        add_to_span(&tally->gpus[queue->gpu].span, kernel->start, end);
    return true;
}

static const char *host_of(const rtl_process_t *processes, size_t count, uint32_t process)
{
    for (size_t i = 0; i < count; ++i)
        if (processes[i].process == process)
            return processes[i].host;
    return "";
}

/* ROCr writes "GPU-XX" where the hardware has no identity of its own. */
static bool same_device(const struct tally_gpu *gpu, const rtl_agent_t *agent, const char *host)
{
    // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): device_of sets all of them
    if (strcmp(gpu->host, host) != 0 || strcmp(gpu->agent->uuid, agent->uuid) != 0)
        return false;
    bool identified = agent->uuid[0] && strcmp(agent->uuid, "GPU-XX") != 0;
    return identified || (gpu->agent->bdf == agent->bdf && gpu->agent->node == agent->node);
}

static uint32_t device_of(struct tally *tally, const rtl_agent_t *agent, const char *host)
{
    for (size_t i = 0; i < tally->gpu_count; ++i)
        if (same_device(&tally->gpus[i], agent, host))
            return (uint32_t)i;
    tally->gpus[tally->gpu_count] = (struct tally_gpu){.agent = agent, .host = host};
    return (uint32_t)tally->gpu_count++;
}

static const rtl_agent_t *agent_of(const rtl_agent_t *agents, size_t count,
                                   const rtl_queue_t *queue)
{
    for (size_t i = 0; i < count; ++i)
        if (agents[i].process == queue->process && agents[i].agent == queue->agent)
            return &agents[i];
    return NULL;
}

/* Lists the queues and the devices that they are on, with nothing counted yet. */
static rtl_status_t list_queues(rtl_trace_t *trace, struct tally *tally)
{
    const rtl_process_t *processes;
    const rtl_agent_t *agents;
    const rtl_queue_t *queues;
    size_t process_count;
    size_t agent_count;
    size_t queue_count;
    rtl_status_t status = rtlTraceProcesses(trace, &processes, &process_count);
    if (status == RTL_OK)
        status = rtlTraceAgents(trace, &agents, &agent_count);
    if (status == RTL_OK)
        status = rtlTraceQueues(trace, &queues, &queue_count);
    if (status != RTL_OK)
        return status;
    tally->queues = calloc(queue_count + 1, sizeof *tally->queues);
    tally->gpus = calloc(agent_count + 1, sizeof *tally->gpus);
    if (!tally->queues || !tally->gpus)
        return RTL_E_MEMORY;
    for (size_t i = 0; i < queue_count; ++i) {
        if (strcmp(queues[i].way, "copies") == 0)
            continue;
        struct tally_queue *queue = &tally->queues[tally->queue_count++];
        const rtl_agent_t *agent = agent_of(agents, agent_count, &queues[i]);
        queue->queue = &queues[i];
        queue->gpu = RTL_TRACE_NONE;
        if (!agent || agent->gpu == RTL_TRACE_NONE)
            continue;
        queue->gpu = device_of(tally, agent, host_of(processes, process_count, queues[i].process));
        ++tally->gpus[queue->gpu].queues;
    }
    qsort(tally->queues, tally->queue_count, sizeof *tally->queues, compare_queues);
    return RTL_OK;
}

static rtl_status_t read_kernels(rtl_trace_t *trace, struct reading *reading)
{
    rtl_kernel_filter_t all = RTL_KERNEL_FILTER_ALL;
    rtl_kernel_iter_t *iter = NULL;
    rtl_kernel_t kernel;
    rtl_status_t status = rtlTraceKernels(trace, &all, &iter);
    if (status != RTL_OK)
        return status;
    while ((status = rtlKernelNext(iter, &kernel)) == RTL_OK) {
        if (!add_kernel(reading, &kernel)) {
            status = RTL_E_MEMORY;
            break;
        }
    }
    rtlKernelIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

static int compare_names(const void *a, const void *b)
{
    const struct tally_name *left = a;
    const struct tally_name *right = b;
    if (left->total != right->total)
        return left->total > right->total ? -1 : 1;
    return strcmp(left->name, right->name);
}

rtl_status_t tally_read(rtl_trace_t *trace, struct tally *tally)
{
    memset(tally, 0, sizeof *tally);
    struct reading *reading = calloc(1, sizeof *reading);
    if (!reading)
        return RTL_E_MEMORY;
    reading->tally = tally;
    rtl_status_t status = list_queues(trace, tally);
    if (status == RTL_OK)
        status = read_kernels(trace, reading);
    texts_free(&reading->texts);
    free(reading);
    if (status != RTL_OK)
        tally_free(tally);
    else if (tally->name_count > 0)
        qsort(tally->names, tally->name_count, sizeof *tally->names, compare_names);
    return status;
}

void tally_free(struct tally *tally)
{
    free(tally->names);
    free(tally->queues);
    free(tally->gpus);
    memset(tally, 0, sizeof *tally);
}

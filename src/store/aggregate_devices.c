#include "common/lower_bound.h"
#include "store/aggregate.h"
#include "store/tables.h"

#include <stdlib.h>
#include <string.h>

static const char *host_of(const rtl_trace_t *trace, uint32_t process)
{
    uint32_t place = rtl_index_get(&trace->process_index, process);
    return place == RTL_INDEX_MISSING ? ""
                                      : ((const rtl_process_t *)trace->processes.items)[place].host;
}

/* ROCr writes "GPU-XX" where the hardware has no identity of its own. */
static bool same_device(const rtl_device_time_t *device, const rtl_agent_t *agent, const char *host)
{
    const rtl_agent_t *known = device->agent;
    // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): device_of sets all of them
    if (strcmp(device->host, host) != 0 || strcmp(known->uuid, agent->uuid) != 0)
        return false;
    bool identified = agent->uuid[0] && !strstr(agent->uuid, "XX");
    return identified || (known->bdf == agent->bdf && known->node == agent->node);
}

static uint32_t device_of(struct rtl_aggregate_devices *devices, const rtl_agent_t *agent,
                          const char *host)
{
    for (size_t i = 0; i < devices->device_count; i++)
        if (same_device(&devices->devices[i], agent, host))
            return (uint32_t)i;
    devices->devices[devices->device_count] = (rtl_device_time_t){.agent = agent, .host = host};
    return (uint32_t)devices->device_count++;
}

static bool only_copies(const rtl_queue_t *queue)
{
    return strcmp(queue->way, "copies") == 0;
}

static void place_queue(struct rtl_aggregate_devices *devices, const rtl_trace_t *trace,
                        rtl_queue_time_t *time)
{
    const rtl_queue_t *queue = time->queue;
    uint32_t place =
        rtl_index_get(&trace->agent_index, rtl_index_key(queue->process, queue->agent));
    if (place == RTL_INDEX_MISSING)
        return;
    const rtl_agent_t *agent = (const rtl_agent_t *)trace->agents.items + place;
    if (agent->gpu == RTL_TRACE_NONE)
        return;
    time->device = device_of(devices, agent, host_of(trace, queue->process));
    devices->devices[time->device].queues += !only_copies(queue);
}

/* Devices that only copied come last. */
static void list_queues(struct rtl_aggregate_devices *devices, const rtl_trace_t *trace)
{
    const rtl_queue_t *queues = trace->queues.items;
    devices->queue_count = devices->sweep_count = trace->queues.count;
    for (size_t i = 0; i < devices->queue_count; i++) {
        devices->queues[i] = (rtl_queue_time_t){.queue = &queues[i], .device = RTL_TRACE_NONE};
        if (!only_copies(&queues[i]))
            place_queue(devices, trace, &devices->queues[i]);
    }
    for (size_t i = 0; i < devices->queue_count; i++)
        if (only_copies(&queues[i]))
            place_queue(devices, trace, &devices->queues[i]);
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static rtl_status_t add_copy(struct rtl_aggregate_devices *devices, const rtl_trace_t *trace,
                             const rtl_aggregate_request_t *request, const rtl_copy_t *copy)
{
    uint32_t place = rtl_index_get(&trace->queue_index, rtl_index_key(copy->process, copy->queue));
    uint32_t device = place == RTL_INDEX_MISSING ? RTL_TRACE_NONE : devices->queues[place].device;
    if (device == RTL_TRACE_NONE || (copy->start == 0 && copy->end == 0))
        return RTL_OK;
    struct rtl_interval *interval = rtl_list_append(&devices->copies[device], sizeof *interval);
    if (!interval)
        return RTL_E_MEMORY;
    interval->start = later(copy->start, request->from);
    interval->end = later(copy->end, interval->start);
    if (request->to && interval->end > request->to)
        interval->end = request->to;
    devices->devices[device].copies++;
    return RTL_OK;
}

static rtl_status_t read_copies(struct rtl_aggregate_devices *devices, rtl_trace_t *trace,
                                const rtl_aggregate_request_t *request)
{
    const rtl_copy_filter_t filter = {request->from, request->to, request->process};
    rtl_copy_iter_t *iter = NULL;
    rtl_copy_t copy;
    rtl_status_t status = rtlTraceCopies(trace, &filter, &iter);
    while (status == RTL_OK && (status = rtlCopyNext(iter, &copy)) == RTL_OK)
        status = add_copy(devices, trace, request, &copy);
    rtlCopyIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

static void join_copies(struct rtl_aggregate_devices *devices, uint32_t device)
{
    struct rtl_list *list = &devices->copies[device];
    struct rtl_interval *intervals = list->items;
    rtl_intervals_sort(intervals, list->count);
    list->count = rtl_intervals_join(intervals, list->count);
    for (size_t i = 0; intervals && i < list->count; i++)
        devices->devices[device].copying += intervals[i].end - intervals[i].start;
    devices->device_sweeps[device].others = intervals;
    devices->device_sweeps[device].other_count = list->count;
}

rtl_status_t rtl_aggregate_devices_make(struct rtl_aggregate_devices *devices, rtl_trace_t *trace,
                                        const rtl_aggregate_request_t *request)
{
    size_t queue_count = trace->queues.count;
    size_t most = trace->agents.count + 1;
    devices->devices = calloc(most, sizeof *devices->devices);
    devices->copies = calloc(most, sizeof *devices->copies);
    devices->device_sweeps = calloc(most, sizeof *devices->device_sweeps);
    devices->queues = calloc(queue_count + 1, sizeof *devices->queues);
    devices->queue_sweeps = calloc(queue_count + 1, sizeof *devices->queue_sweeps);
    if (!devices->devices || !devices->copies || !devices->device_sweeps || !devices->queues ||
        !devices->queue_sweeps)
        return RTL_E_MEMORY;
    list_queues(devices, trace);
    rtl_status_t status = read_copies(devices, trace, request);
    for (uint32_t i = 0; i < devices->device_count; i++)
        join_copies(devices, i);
    return status;
}

bool rtl_aggregate_devices_copied(const struct rtl_aggregate_devices *devices, uint32_t device,
                                  uint64_t from, uint64_t to)
{
    const struct rtl_list *list = &devices->copies[device];
    const struct rtl_interval *intervals = list->items;
    size_t low; /* the first that ends behind `from` */
    RTL_LOWER_BOUND(low, list->count, intervals[low].end <= from);
    return low < list->count && intervals[low].start < to;
}

static rtl_span_t span_of(const struct rtl_depth *depth)
{
    return (rtl_span_t){depth->count, depth->first, depth->last, depth->busy, depth->overlap};
}

void rtl_aggregate_devices_finish(struct rtl_aggregate_devices *devices)
{
    size_t kept = 0;
    for (size_t i = 0; i < devices->device_count; i++) {
        devices->devices[i].span = span_of(&devices->device_sweeps[i].depth);
        devices->devices[i].copied_under = devices->device_sweeps[i].shared;
    }
    for (size_t i = 0; i < devices->queue_count; i++) {
        devices->queues[i].span = span_of(&devices->queue_sweeps[i].depth);
        if (!only_copies(devices->queues[i].queue))
            devices->queues[kept++] = devices->queues[i];
    }
    devices->queue_count = kept;
}

void rtl_aggregate_devices_free(struct rtl_aggregate_devices *devices)
{
    for (size_t i = 0; i < devices->device_count; i++) {
        rtl_sweep_free(&devices->device_sweeps[i]);
        rtl_list_free(&devices->copies[i]);
    }
    for (size_t i = 0; i < devices->sweep_count; i++)
        rtl_sweep_free(&devices->queue_sweeps[i]);
    free(devices->devices);
    free(devices->copies);
    free(devices->device_sweeps);
    free(devices->queues);
    free(devices->queue_sweeps);
}

/* Sums over all kernels of which a trace has statistics. */
#include "store/aggregate.h"
#include "store/stats_read.h"
#include "store/tables.h"

/* A GPU that several processes used is told of with all of them. */
static bool is_shared(const struct rtl_aggregate_devices *devices, uint32_t device,
                      uint32_t process)
{
    bool own = false;
    bool others = false;
    for (size_t i = 0; i < devices->queue_count; i++) {
        if (devices->queues[i].device != device)
            continue;
        own |= devices->queues[i].queue->process == process;
        others |= devices->queues[i].queue->process != process;
    }
    return own && others;
}

bool rtl_aggregate_has_stats(rtl_trace_t *trace, const rtl_aggregate_request_t *request,
                             const struct rtl_aggregate_devices *devices)
{
    if (request->from || request->to || request->queue != RTL_TRACE_NONE || trace->select ||
        !rtl_stats_usable(trace, (request->by & RTL_AGGREGATE_GRAPHS) != 0))
        return false;
    for (uint32_t i = 0; request->process && i < devices->device_count; i++)
        if (is_shared(devices, i, request->process))
            return false;
    return true;
}

/* Where what is read goes. */
struct target {
    const rtl_trace_t *trace;
    unsigned by;
    const struct rtl_aggregate_shapes *shapes;
    const struct rtl_aggregate_devices *devices;
    struct rtl_aggregate_groups *groups;
};

static uint32_t device_of(const struct target *target, uint32_t process, uint32_t queue)
{
    uint32_t place = rtl_index_get(&target->trace->queue_index, rtl_index_key(process, queue));
    return place == RTL_INDEX_MISSING ? RTL_TRACE_NONE : target->devices->queues[place].device;
}

static int take_group(void *context, uint32_t process, const struct rtl_stat_group *from,
                      const struct rtl_stat *stat)
{
    const struct target *target = context;
    struct rtl_aggregate_key key = rtl_aggregate_key_of(
        target->by, process, device_of(target, process, from->queue), from->queue);
    if (target->by & RTL_AGGREGATE_GRAPHS) {
        key.graph = from->graph;
        key.generation = target->by & RTL_BY_GENERATION ? from->generation : 0;
        key.node = target->by & RTL_BY_NODE ? from->node : RTL_TRACE_NONE;
    }
    uint32_t shape = rtl_aggregate_shapes_find(target->shapes, process, from->shape);
    struct rtl_aggregate_group *group = rtl_aggregate_group_of(target->groups, &key, shape);
    return group && rtl_stat_merge(&group->stat, stat) ? 0 : -1;
}

static void take_span(const struct rtl_aggregate_devices *devices, const rtl_trace_t *trace,
                      const struct rtl_stats_span *span)
{
    const struct rtl_depth depth = {.count = span->kernels,
                                    .first = span->start,
                                    .last = span->end,
                                    .busy = span->busy,
                                    .overlap = span->overlap};
    if (span->queue != RTL_TRACE_NONE) {
        uint32_t place =
            rtl_index_get(&trace->queue_index, rtl_index_key(span->process, span->queue));
        if (place != RTL_INDEX_MISSING)
            devices->queue_sweeps[place].depth = depth;
        return;
    }
    for (size_t i = 0; i < devices->device_count; i++) {
        const rtl_agent_t *agent = devices->devices[i].agent;
        if (agent->process != span->process || agent->agent != span->agent)
            continue;
        devices->device_sweeps[i].depth = depth;
        devices->device_sweeps[i].shared = span->copied;
    }
}

static rtl_status_t take_spans(rtl_trace_t *trace, uint32_t process,
                               const struct rtl_aggregate_devices *devices)
{
    struct rtl_list spans = {0};
    rtl_status_t status = rtl_stats_read_spans(trace, &spans);
    const struct rtl_stats_span *span = spans.items;
    for (size_t i = 0; i < spans.count && status == RTL_OK; i++)
        if (process == 0 || span[i].process == process)
            take_span(devices, trace, &span[i]);
    rtl_list_free(&spans);
    return status;
}

rtl_status_t rtl_aggregate_take_stats(rtl_trace_t *trace, const rtl_aggregate_request_t *request,
                                      const struct rtl_aggregate_shapes *shapes,
                                      const struct rtl_aggregate_devices *devices,
                                      struct rtl_aggregate_groups *groups)
{
    struct target target = {trace, request->by, shapes, devices, groups};
    rtl_status_t status = rtl_stats_read(trace, request->process, take_group, &target);
    return status == RTL_OK ? take_spans(trace, request->process, devices) : status;
}

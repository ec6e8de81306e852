#include "analysis/idle_device.h"

#include "common/memory.h"

#include <stdlib.h>

static rtl_status_t stretch(void *context, enum activity kind, uint64_t from, uint64_t to,
                            const struct activity_work *next)
{
    struct idle_device *device = context;
    rtl_status_t status = RTL_OK;
    if (from < device->window[0])
        from = device->window[0];
    if (device->window[1] && to > device->window[1])
        to = device->window[1];
    if (from >= to)
        return RTL_OK;
    if (device->first == device->last)
        device->first = from;
    device->last = to;
    device->time[kind] += to - from;
    if (kind == ACTIVITY_IDLE && device->outside && idle_in_graph(&device->causes, next))
        return RTL_OK;
    if (kind == ACTIVITY_IDLE)
        status = idle_attribute(&device->causes, from, to, next, &device->idle);
    if (kind == ACTIVITY_IDLE && status == RTL_OK && device->gap)
        device->gap(device->context, from, to, next);
    return status;
}

static rtl_status_t begun(void *context, const struct activity_work *work)
{
    struct idle_device *device = context;
    idle_begun(&device->causes, work);
    return RTL_OK;
}

rtl_status_t idle_device_open(rtl_trace_t *trace, struct idle_device *device)
{
    device->watcher = (struct activity_watcher){device, NULL, stretch, begun};
    device->sweep = (struct activity_sweep){.watcher = &device->watcher};
    device->causes.trace = trace;
    device->causes.process = device->process;
    rtl_status_t status = absent_read(trace, device->process, device->gpu, &device->absent);
    if (status == RTL_OK)
        status = idle_others_open(trace, device->process, device->gpu, device->window[0],
                                  &device->causes.others);
    return status;
}

rtl_status_t idle_device_take(struct idle_device *device, const struct activity_work *work)
{
    return activity_take(&device->sweep, work);
}

rtl_status_t idle_device_finish(struct idle_device *device)
{
    return activity_finish(&device->sweep);
}

rtl_status_t idle_device_read(rtl_trace_t *trace, struct idle_device *device)
{
    rtl_status_t status = idle_device_open(trace, device);
    return status == RTL_OK ? activity_walk(trace, device->process, device->gpu, &device->watcher)
                            : status;
}

json_t *idle_device_json(const struct idle_device *device)
{
    size_t *order = memory_new(device->idle.count, sizeof *order);
    size_t count = idle_order(&device->idle, order);
    json_t *array = json_array();
    for (size_t i = 0; i < count; ++i)
        (void)json_array_append_new(array, idle_json(&device->causes, &device->idle, order[i]));
    free(order);
    return array;
}

void idle_device_free(struct idle_device *device)
{
    idle_causes_free(&device->causes);
    idle_times_free(&device->idle);
}

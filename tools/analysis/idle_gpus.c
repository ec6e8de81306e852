#include "analysis/idle_gpus.h"

#include "common/memory.h"
#include "common/open.h"
#include "store/select.h"

#include <stdlib.h>
#include <string.h>

/* Keeps a gap if it is among the longest. */
static void keep(void *context, uint64_t from, uint64_t to, const struct activity_work *next)
{
    struct idle_gpu *gpu = context;
    if (gpu->gap_room == 0 ||
        (gpu->gap_count == gpu->gap_room && to - from <= gpu->gaps[gpu->gap_count - 1].ns))
        return;
    if (gpu->gap_count == gpu->gap_room)
        free(gpu->gaps[--gpu->gap_count].next);
    size_t at = gpu->gap_count++;
    for (; at > 0 && gpu->gaps[at - 1].ns < to - from; --at)
        gpu->gaps[at] = gpu->gaps[at - 1];
    char *name = strdup(next->name ? next->name : "a copy");
    if (!name)
        memory_is_short();
    gpu->gaps[at] = (struct idle_gap){from, to - from, gpu->of.idle.last, name};
}

static bool has(const struct idle_gpus *gpus, const rtl_queue_t *queue)
{
    for (size_t i = 0; i < gpus->count; ++i)
        if (gpus->list[i].of.process == queue->process && gpus->list[i].of.gpu == queue->gpu)
            return true;
    return false;
}

/* Whether a queue before has kernels on the same GPU of the same process. */
static bool has_before(const rtl_queue_t *queues, size_t at)
{
    for (size_t i = 0; i < at; ++i)
        if (queues[i].kernels && queues[i].process == queues[at].process &&
            queues[i].gpu == queues[at].gpu)
            return true;
    return false;
}

static rtl_status_t find(rtl_trace_t *trace, size_t top, struct idle_gpus *gpus)
{
    const rtl_queue_t *queues;
    size_t count;
    size_t left_out = 0;
    rtl_status_t status = rtlTraceQueues(trace, &queues, &count);
    if (status != RTL_OK)
        return status;
    gpus->list = memory_new(count, sizeof *gpus->list);
    for (size_t i = 0; i < count; ++i) {
        if (queues[i].gpu == RTL_TRACE_NONE || queues[i].kernels == 0 || has(gpus, &queues[i]))
            continue;
        if (!rtl_trace_selects(trace, queues[i].process, queues[i].gpu)) {
            left_out += !has_before(queues, i);
            continue;
        }
        struct idle_gpu *gpu = &gpus->list[gpus->count++];
        *gpu = (struct idle_gpu){
            .of = {.process = queues[i].process, .gpu = queues[i].gpu, .gap = keep, .context = gpu},
            .gaps = memory_new(top + 1, sizeof *gpu->gaps),
            .gap_room = top};
    }
    gpus->all = gpus->count + left_out;
    return RTL_OK;
}

rtl_status_t idle_gpus_read(rtl_trace_t *trace, const uint64_t window[2], size_t top,
                            struct idle_gpus *gpus)
{
    *gpus = (struct idle_gpus){0};
    rtl_status_t status = find(trace, top, gpus);
    for (size_t i = 0; i < gpus->count && status == RTL_OK; ++i) {
        memcpy(gpus->list[i].of.window, window, sizeof gpus->list[i].of.window);
        status = idle_device_read(trace, &gpus->list[i].of);
    }
    return status;
}

json_t *idle_gpu_json(const struct idle_gpu *gpu)
{
    json_t *gaps = json_array();
    for (size_t i = 0; i < gpu->gap_count; ++i) {
        const struct idle_gap *gap = &gpu->gaps[i];
        (void)json_array_append_new(
            gaps, json_pack("{s:o, s:o, s:o, s:o}", "start_ns", open_number(gap->start), "ns",
                            open_number(gap->ns), "cause",
                            open_text(idle_name(&gpu->of.causes, gap->cause)), "next",
                            open_text(gap->next)));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "process",
                     open_id(gpu->of.process), "gpu", open_id(gpu->of.gpu), "first_ns",
                     open_number(gpu->of.first), "last_ns", open_number(gpu->of.last), "graphs_ns",
                     open_number(gpu->of.time[ACTIVITY_GRAPH]), "eager_ns",
                     open_number(gpu->of.time[ACTIVITY_EAGER]), "copies_ns",
                     open_number(gpu->of.time[ACTIVITY_COPY]), "idle_ns",
                     open_number(gpu->of.idle.ns), "gaps", open_number(gpu->of.idle.gaps), "causes",
                     idle_device_json(&gpu->of), "longest", gaps, "absent",
                     absent_json(&gpu->of.absent));
}

void idle_gpus_free(struct idle_gpus *gpus)
{
    for (size_t i = 0; i < gpus->count; ++i) {
        struct idle_gpu *gpu = &gpus->list[i];
        for (size_t k = 0; k < gpu->gap_count; ++k)
            free(gpu->gaps[k].next);
        free(gpu->gaps);
        idle_device_free(&gpu->of);
    }
    free(gpus->list);
    *gpus = (struct idle_gpus){0};
}

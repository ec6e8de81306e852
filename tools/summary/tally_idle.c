#include "summary/tally_idle.h"

#include "common/memory.h"

#include <stdbool.h>
#include <stdlib.h>

static bool is_one_process(const struct tally *tally)
{
    uint32_t process = 0;
    for (size_t i = 0; i < tally->queue_count; ++i) {
        const rtl_queue_time_t *queue = &tally->queues[i];
        if (queue->span.kernels == 0)
            continue;
        if (process && queue->queue->process != process)
            return false;
        process = queue->queue->process;
    }
    return process != 0;
}

rtl_status_t tally_idle_read(rtl_trace_t *trace, uint64_t from, uint64_t to,
                             const struct tally *tally, struct tally_idle *idle)
{
    rtl_status_t status = RTL_OK;
    if (tally->kernels > TALLY_IDLE_MOST || !is_one_process(tally))
        return RTL_OK;
    idle->devices = memory_new(tally->gpu_count, sizeof *idle->devices);
    for (size_t i = 0; i < tally->gpu_count && status == RTL_OK; ++i) {
        const rtl_device_time_t *gpu = &tally->gpus[i];
        if (gpu->span.kernels == 0)
            continue;
        idle->devices[i] = (struct idle_device){
            .process = gpu->agent->process, .gpu = gpu->agent->gpu, .window = {from, to}};
        status = idle_device_read(trace, &idle->devices[i]);
    }
    return status;
}

void tally_idle_free(const struct tally *tally, struct tally_idle *idle)
{
    for (size_t i = 0; idle->devices && i < tally->gpu_count; ++i)
        idle_device_free(&idle->devices[i]);
    free(idle->devices);
    idle->devices = NULL;
}

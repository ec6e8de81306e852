/* Why the GPUs were idle. */
#include "report/parts.h"

#include "analysis/idle_gpus.h"

#define GAPS      10u
#define MOST_GPUS 64u

json_t *report_idle(rtl_trace_t *trace)
{
    static const uint64_t always[2] = {0, 0};
    struct idle_gpus gpus;
    json_t *list = NULL;
    if (idle_gpus_read(trace, always, GAPS, &gpus) == RTL_OK)
        list = json_array();
    for (size_t i = 0; list && i < gpus.count && i < MOST_GPUS; ++i)
        (void)json_array_append_new(list, idle_gpu_json(&gpus.list[i]));
    idle_gpus_free(&gpus);
    return list;
}

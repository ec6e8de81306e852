#include "summary/tally.h"

#include <string.h>

static void add_up(struct tally *tally)
{
    for (size_t i = 0; i < tally->name_count; ++i) {
        tally->kernels += tally->names[i].count;
        tally->total += tally->names[i].total;
    }
}

rtl_status_t tally_read(rtl_trace_t *trace, uint64_t from, uint64_t to, struct tally *tally)
{
    rtl_aggregate_request_t request = RTL_AGGREGATE_BY(RTL_BY_NAME);
    request.from = from;
    request.to = to;
    memset(tally, 0, sizeof *tally);
    rtl_status_t status = rtlTraceAggregate(trace, &request, &tally->kept);
    if (status == RTL_OK)
        status = rtlAggregateGroups(tally->kept, &tally->names, &tally->name_count);
    if (status == RTL_OK)
        status = rtlAggregateQueues(tally->kept, &tally->queues, &tally->queue_count);
    if (status == RTL_OK)
        status = rtlAggregateDevices(tally->kept, &tally->gpus, &tally->gpu_count);
    if (status == RTL_OK)
        add_up(tally);
    return status;
}

void tally_free(struct tally *tally)
{
    rtlAggregateFree(tally->kept);
    memset(tally, 0, sizeof *tally);
}

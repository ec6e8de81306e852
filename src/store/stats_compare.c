/* Whether the statistics of a trace are what its kernels add up to. */
#include "store/stats_make.h"

#include "store/aggregate.h"
#include "store/stats_read.h"

static bool same_stat(const struct rtl_stat *a, const struct rtl_stat *b)
{
    uint32_t left = 0;
    uint32_t right = 0;
    for (uint64_t count = 1; count; left++, right++) {
        count = rtl_stat_next_bin(a, &left);
        if (rtl_stat_next_bin(b, &right) != count || (count && left != right))
            return false;
    }
    return a->count == b->count && a->total == b->total && a->squares == b->squares &&
           a->max == b->max && rtl_stat_min(a) == rtl_stat_min(b);
}

static bool same_group(const struct rtl_aggregate_group *a, const struct rtl_aggregate_group *b)
{
    return a->shape_group == b->shape_group && a->key.process == b->key.process &&
           a->key.queue == b->key.queue && a->key.graph == b->key.graph &&
           a->key.generation == b->key.generation && a->key.node == b->key.node &&
           same_stat(&a->stat, &b->stat);
}

/* Both have the order of rtl_aggregate_groups_finish. */
static bool same_groups(const rtl_aggregate_t *a, const rtl_aggregate_t *b)
{
    size_t count = 0;
    size_t others = 0;
    const struct rtl_aggregate_group *left = rtl_aggregate_all(a, &count);
    const struct rtl_aggregate_group *right = rtl_aggregate_all(b, &others);
    bool same = count == others;
    for (size_t i = 0; i < count && same; i++)
        same = same_group(&left[i], &right[i]);
    return same;
}

static bool same_span(const rtl_span_t *a, const rtl_span_t *b)
{
    return a->kernels == b->kernels && a->first == b->first && a->last == b->last &&
           a->busy == b->busy && a->overlap == b->overlap;
}

/* Of one trace, so the same queues and GPUs. */
static bool same_times(const rtl_aggregate_t *a, const rtl_aggregate_t *b)
{
    const rtl_queue_time_t *queues[2];
    const rtl_device_time_t *devices[2];
    size_t queue_count = 0;
    size_t device_count = 0;
    bool same = true;
    (void)rtlAggregateQueues(a, &queues[0], &queue_count);
    (void)rtlAggregateQueues(b, &queues[1], &queue_count);
    (void)rtlAggregateDevices(a, &devices[0], &device_count);
    (void)rtlAggregateDevices(b, &devices[1], &device_count);
    for (size_t i = 0; i < queue_count && same; i++)
        same = same_span(&queues[0][i].span, &queues[1][i].span);
    for (size_t i = 0; i < device_count && same; i++)
        same = same_span(&devices[0][i].span, &devices[1][i].span) &&
               devices[0][i].copied_under == devices[1][i].copied_under;
    return same;
}

/* What is told of chunks, beside what they are found to have. */
struct comparing {
    struct rtl_chunk_stats *stats; /* NULL: nothing is told */
    bool same;
};

static rtl_status_t compare_chunk(void *context, int64_t number, uint32_t kernels,
                                  const struct rtl_chunk_stat *found)
{
    struct comparing *comparing = context;
    struct rtl_chunk_stat told;
    if (!comparing->stats)
        return RTL_OK;
    rtl_status_t status = rtl_chunk_stats_get(comparing->stats, number, kernels, &told);
    if (status != RTL_OK)
        return status == RTL_END ? RTL_OK : status;
    bool same = told.busy == found->busy && told.count == found->count;
    for (uint32_t i = 0; i < told.count && same; i++)
        same = told.shares[i].shape == found->shares[i].shape &&
               told.shares[i].kernels == found->shares[i].kernels &&
               told.shares[i].total == found->shares[i].total;
    comparing->same &= same;
    return RTL_OK;
}

rtl_status_t rtl_stats_compare(rtl_trace_t *trace, rtl_digest_tell tell, void *context)
{
    const bool graphs = rtl_stats_usable(trace, true);
    const rtl_aggregate_request_t request =
        RTL_AGGREGATE_BY(RTL_STATS_BY_QUEUE | (graphs ? RTL_STATS_BY_GRAPH : 0));
    rtl_aggregate_t *told = NULL;
    rtl_aggregate_t *found = NULL;
    struct comparing comparing = {.same = true};
    const struct rtl_aggregate_watch watch = {.context = &comparing, .chunk = compare_chunk};
    bool many;
    if (!rtl_stats_usable(trace, false))
        return RTL_OK;
    rtl_status_t status = rtlTraceAggregate(trace, &request, &told);
    if (status == RTL_OK)
        status = rtl_chunk_stats_open(trace, &comparing.stats);
    if (status == RTL_OK)
        status = rtl_aggregate_kernels(trace, &request, 0, &watch, &many, &found);
    if (status == RTL_OK &&
        !(comparing.same && same_groups(told, found) && same_times(told, found)))
        tell(context, "the statistics are not what the kernels add up to");
    rtlAggregateFree(told);
    rtlAggregateFree(found);
    rtl_chunk_stats_free(comparing.stats);
    /* What is damaged is told by whoever looks at checksums, and unpacks. */
    return status == RTL_E_DAMAGED ? RTL_OK : status;
}

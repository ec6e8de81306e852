/* What a chunk has of each shape. */
#include "store/aggregate.h"

#include <stdlib.h>

bool rtl_aggregate_shares_begin(struct rtl_aggregate_worker *worker)
{
    if (!worker->shares)
        worker->shares = calloc(worker->groups, sizeof *worker->shares);
    if (!worker->shared)
        worker->shared = calloc(worker->groups, sizeof *worker->shared);
    if (!worker->shares || !worker->shared)
        return false;
    for (uint32_t i = 0; i < worker->shared_count; i++) /* of a chunk that was damaged */
        worker->shares[worker->shared[i]] = (struct rtl_chunk_share){0};
    worker->shared_count = 0;
    return true;
}

static bool make_room(struct rtl_aggregate_job *job, uint32_t count)
{
    if (count <= job->share_capacity)
        return true;
    free(job->shares);
    job->shares = malloc(count * sizeof *job->shares);
    job->share_capacity = job->shares ? count : 0;
    return job->shares != NULL;
}

bool rtl_aggregate_shares_end(struct rtl_aggregate_worker *worker, struct rtl_aggregate_job *job)
{
    job->share_count = 0;
    if (!make_room(job, worker->shared_count))
        return false;
    for (uint32_t i = 0; i < worker->shared_count; i++) {
        uint32_t group = worker->shared[i];
        job->shares[i] = worker->shares[group];
        job->shares[i].shape = group;
        worker->shares[group] = (struct rtl_chunk_share){0};
    }
    job->share_count = worker->shared_count;
    worker->shared_count = 0;
    return true;
}

static int by_shape(const void *left, const void *right)
{
    const struct rtl_chunk_share *a = left;
    const struct rtl_chunk_share *b = right;
    return (a->shape > b->shape) - (a->shape < b->shape);
}

void rtl_aggregate_shares_name(const struct rtl_aggregate_shapes *shapes,
                               struct rtl_aggregate_job *job)
{
    for (uint32_t i = 0; i < job->share_count; i++) {
        const struct rtl_shape *shape = rtl_aggregate_shapes_sample(shapes, job->shares[i].shape);
        /* No process is 0: nobody knows the shape. */
        job->shares[i].shape = shape->process ? shape->shape : RTL_NONE;
    }
    if (job->share_count)
        qsort(job->shares, job->share_count, sizeof *job->shares, by_shape);
}

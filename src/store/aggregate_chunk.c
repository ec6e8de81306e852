/* A chunk, unpacked and added up by one thread. */
#include "store/aggregate.h"

#include <stdlib.h>

/* What a block's kernels are looked at by. */
struct block {
    struct rtl_aggregate_worker *worker;
    struct rtl_aggregate_job *job;
    const struct rtl_aggregate_table *table;
    struct rtl_stat **stats; /* of the job's context */
    struct rtl_codec_block *kernels;
    uint64_t last; /* start of the kernel before */
    bool sorted;
    bool add_up;  /* false: only intervals are wanted */
    bool selects; /* some kernels may not pass */
    struct rtl_select_look look;
};

static uint32_t group_of(const struct block *block, uint32_t shape)
{
    return shape < block->table->count
               ? block->table->groups[shape]
               : rtl_aggregate_shapes_find(block->job->shapes, block->job->row->chunk.process,
                                           shape);
}

static struct rtl_stat **stats_of(struct rtl_aggregate_worker *worker, uint32_t context)
{
    struct rtl_stat ***stats = &worker->stats[context];
    if (!*stats)
        *stats = calloc(worker->groups, sizeof(struct rtl_stat *));
    return *stats;
}

struct rtl_stat *rtl_aggregate_stat(struct rtl_aggregate_worker *worker, uint32_t context,
                                    uint32_t group)
{
    struct rtl_stat **stats = stats_of(worker, context);
    if (stats && !stats[group])
        stats[group] = calloc(1, sizeof **stats);
    return stats ? stats[group] : NULL;
}

static bool passes(struct block *block, uint32_t place)
{
    const struct rtl_codec_block *kernels = block->kernels;
    struct rtl_select_look *look = &block->look;
    uint64_t correlation = look->correlations ? kernels->correlation[place] : 0;
    return (!block->job->cut || rtl_trace_time_passes(block->job->filter, kernels->start[place],
                                                      kernels->end[place])) &&
           (!block->selects ||
            rtl_select_kernel(look, kernels->shape[place], correlation, kernels->start[place]));
}

/* Drops kernels that do not pass. */
static void filter(struct block *block)
{
    struct rtl_codec_block *kernels = block->kernels;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < kernels->count; i++) {
        if (!passes(block, i))
            continue;
        kernels->start[kept] = kernels->start[i];
        kernels->end[kept] = kernels->end[i];
        kernels->shape[kept] = kernels->shape[i];
        if (block->job->by_graph) {
            kernels->packet[kept] = kernels->packet[i];
            kernels->launch[kept] = kernels->launch[i];
            kernels->ordinal[kept] = kernels->ordinal[i];
        }
        kept++;
    }
    kernels->count = kept;
}

static inline bool add_duration(struct block *block, uint32_t place)
{
    const struct rtl_codec_block *kernels = block->kernels;
    uint32_t group = group_of(block, kernels->shape[place]);
    struct rtl_stat *stat = block->stats[group];
    if (!stat && !(stat = rtl_aggregate_stat(block->worker, block->job->context, group)))
        return false;
    return rtl_stat_add(stat, kernels->end[place] - kernels->start[place]);
}

static bool add_durations(struct block *block)
{
    for (uint32_t i = 0; i < block->kernels->count; i++)
        if (!add_duration(block, i))
            return false;
    return true;
}

/* Keeps those of which somebody else finds the node. */
static bool keep_kernels(struct block *block)
{
    const struct rtl_codec_block *kernels = block->kernels;
    struct rtl_aggregate_job *job = block->job;
    for (uint32_t i = 0; i < kernels->count; i++) {
        if (kernels->launch[i] != RTL_NONE || job->any_graph)
            job->kernels[job->kept++] = (struct rtl_aggregate_kernel){
                .packet = kernels->packet[i],
                .duration = kernels->end[i] - kernels->start[i],
                .launch = kernels->launch[i],
                .ordinal = kernels->ordinal[i],
                .shape_group = group_of(block, kernels->shape[i]),
            };
        else if (!add_duration(block, i))
            return false;
    }
    return true;
}

/* Cuts off what lies outside of the filter. */
static void cut(struct block *block)
{
    const rtl_kernel_filter_t *filter = block->job->filter;
    struct rtl_codec_block *kernels = block->kernels;
    for (uint32_t i = 0; i < kernels->count; i++) {
        if (kernels->start[i] < filter->from)
            kernels->start[i] = filter->from;
        if (kernels->end[i] < kernels->start[i])
            kernels->end[i] = kernels->start[i];
        if (filter->to && kernels->end[i] > filter->to)
            kernels->end[i] = filter->to;
    }
    for (uint32_t i = 0; block->look.windows && i < kernels->count; i++) {
        uint64_t end = rtl_select_end(&block->look, kernels->start[i]);
        kernels->end[i] = kernels->end[i] < end ? kernels->end[i] : end;
    }
}

static void check_order(struct block *block)
{
    const struct rtl_codec_block *kernels = block->kernels;
    bool sorted = true;
    uint64_t last = block->last;
    for (uint32_t i = 0; i < kernels->count; i++) {
        sorted &= kernels->start[i] >= last;
        last = kernels->start[i];
    }
    block->last = last;
    block->sorted &= sorted;
}

static void keep_intervals(struct block *block)
{
    const struct rtl_codec_block *kernels = block->kernels;
    struct rtl_interval *to = block->job->intervals + block->job->count;
    for (uint32_t i = 0; i < kernels->count; i++)
        to[i] = (struct rtl_interval){kernels->start[i], kernels->end[i]};
}

static void add_depth(const struct rtl_codec_block *kernels, struct rtl_depth *depth)
{
    for (uint32_t i = 0; i < kernels->count; i++)
        rtl_depth_add(depth, kernels->start[i], kernels->end[i]);
}

/* Apart from durations: so the loop of those stays as it is where nobody wants shares. */
static void add_shares(const struct block *block)
{
    const struct rtl_codec_block *kernels = block->kernels;
    for (uint32_t i = 0; i < kernels->count; i++)
        rtl_aggregate_share(block->worker, group_of(block, kernels->shape[i]),
                            kernels->end[i] - kernels->start[i]);
}

static bool add_block(struct block *block)
{
    struct rtl_aggregate_job *job = block->job;
    rtl_translate_block(&block->worker->translator, block->kernels);
    if (job->cut || block->selects)
        filter(block);
    if (block->add_up && !(job->by_graph ? keep_kernels(block) : add_durations(block)))
        return false;
    if (block->add_up && job->share)
        add_shares(block);
    if (job->cut || block->look.windows)
        cut(block);
    check_order(block);
    if (job->intervals)
        keep_intervals(block);
    else if (block->sorted)
        add_depth(block->kernels, &job->depth);
    job->count += block->kernels->count;
    return true;
}

static rtl_status_t unpack(struct block *block)
{
    struct rtl_aggregate_worker *worker = block->worker;
    struct rtl_aggregate_job *job = block->job;
    job->count = 0;
    block->selects = rtl_select_begin(job->select, job->row->chunk.process, &block->look);
    int opened = rtl_codec_open(worker->codec, &job->row->chunk, job->data, job->size,
                                job->by_graph || block->look.correlations);
    if (opened != 0)
        return opened == -2 ? RTL_E_MEMORY : RTL_E_DAMAGED;
    for (;;) {
        if (rtl_codec_next(worker->codec, block->kernels) != 0)
            return RTL_E_DAMAGED;
        if (block->kernels->count == 0)
            return RTL_OK;
        if (!add_block(block))
            return RTL_E_MEMORY;
    }
}

static bool make_intervals(struct rtl_aggregate_job *job)
{
    job->intervals = malloc(job->row->chunk.kernels * sizeof *job->intervals);
    return job->intervals != NULL;
}

static void finish_intervals(struct rtl_aggregate_job *job, bool sorted)
{
    if (!sorted)
        rtl_intervals_sort(job->intervals, job->count);
    job->depth = (struct rtl_depth){0};
    for (uint32_t i = 0; i < job->count; i++)
        // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): the blocks have filled as many
        rtl_depth_add(&job->depth, job->intervals[i].start, job->intervals[i].end);
}

static rtl_status_t add_chunk(struct block *block)
{
    struct rtl_aggregate_job *job = block->job;
    if ((job->keep && !make_intervals(job)) ||
        (job->share && !rtl_aggregate_shares_begin(block->worker)))
        return RTL_E_MEMORY;
    rtl_status_t status = unpack(block);
    if (status == RTL_OK && job->share && !rtl_aggregate_shares_end(block->worker, job))
        status = RTL_E_MEMORY;
    /* Kernels of a chunk are mostly in order; where they are not, once more, for the intervals. */
    if (status == RTL_OK && !block->sorted && !job->intervals) {
        block->add_up = false;
        status = make_intervals(job) ? unpack(block) : RTL_E_MEMORY;
    }
    if (status == RTL_OK && job->intervals)
        finish_intervals(job, block->sorted);
    return status;
}

void rtl_aggregate_chunk(void *worker_pointer, void *job_pointer)
{
    struct rtl_aggregate_worker *worker = worker_pointer;
    struct rtl_aggregate_job *job = job_pointer;
    struct block block = {.worker = worker,
                          .job = job,
                          .kernels = &worker->block,
                          .stats = stats_of(worker, job->context),
                          .table = rtl_aggregate_shapes_table(job->shapes, job->row->chunk.process),
                          .sorted = true,
                          .add_up = true};
    job->depth = (struct rtl_depth){0};
    job->intervals = NULL;
    job->kept = 0;
    if (!block.stats) {
        job->status = RTL_E_MEMORY;
        return;
    }
    rtl_translator_begin(&worker->translator, job->row->clock);
    job->status = add_chunk(&block);
}

struct rtl_aggregate_worker *rtl_aggregate_worker_new(uint32_t contexts, uint32_t groups)
{
    struct rtl_aggregate_worker *worker = calloc(1, sizeof *worker);
    if (!worker)
        return NULL;
    worker->contexts = contexts;
    worker->groups = groups;
    worker->codec = rtl_codec_new();
    worker->stats = calloc(contexts, sizeof *worker->stats);
    if (worker->codec && worker->stats)
        return worker;
    rtl_aggregate_worker_free(worker);
    return NULL;
}

static void free_stats(struct rtl_stat **stats, uint32_t count)
{
    for (uint32_t i = 0; stats && i < count; i++) {
        if (stats[i])
            rtl_stat_free(stats[i]);
        free(stats[i]);
    }
    free(stats);
}

void rtl_aggregate_worker_free(struct rtl_aggregate_worker *worker)
{
    if (!worker)
        return;
    for (uint32_t i = 0; worker->stats && i < worker->contexts; i++)
        free_stats(worker->stats[i], worker->groups);
    free(worker->stats);
    free(worker->shares);
    free(worker->shared);
    rtl_codec_free(worker->codec);
    free(worker);
}

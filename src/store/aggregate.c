#include "store/aggregate.h"

#include "store/launch_blocks.h"
#include "store/tables.h"
#include "store/thread_pool.h"

#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 64u

/* Groups that kernels of graphs were in lately, by a hash. */
#define RECENT 4096u

/* A chunk that may have kernels, and where those of others may lie around it. */
struct chosen {
    const struct rtl_chunk_row *row;
    uint32_t device, queue, context;     /* places, RTL_TRACE_NONE: none */
    uint64_t device_before, device_next; /* last end before it, first start after it */
    uint64_t queue_before, queue_next;
};

struct recent {
    struct rtl_aggregate_key key;
    uint32_t shape_group, group;
    bool used;
};

struct rtl_aggregate {
    rtl_trace_t *trace;
    rtl_aggregate_request_t request;
    rtl_kernel_filter_t filter;
    const struct rtl_aggregate_watch *watch;
    struct rtl_aggregate_shapes shapes;
    struct rtl_aggregate_devices devices;
    struct rtl_aggregate_groups groups;
    struct rtl_aggregate_parts parts; /* instead, where groups are wanted by process */
    struct rtl_list chosen;           /* struct chosen, by device and time */
    struct rtl_list contexts;         /* struct rtl_aggregate_key */
    struct rtl_index queue_contexts;
    void *workers[THREADS_MAX]; /* struct rtl_aggregate_worker */
    unsigned threads;
    struct rtl_thread_pool *pool;
    sqlite3_stmt *data;
    size_t next; /* chunk whose result comes next */
    struct recent *recent;
};

static bool in_parts(const struct rtl_aggregate *aggregate)
{
    return aggregate->watch && aggregate->watch->groups;
}

/* Choosing chunks. */

static bool same_key(const struct rtl_aggregate_key *a, const struct rtl_aggregate_key *b)
{
    return a->process == b->process && a->device == b->device && a->queue == b->queue &&
           a->graph == b->graph && a->generation == b->generation && a->node == b->node;
}

/* What kernels of a chunk are told apart by, besides their shapes; RTL_TRACE_NONE when memory is
 * short. */
static uint32_t context_of(struct rtl_aggregate *aggregate, const struct chosen *chosen)
{
    const struct rtl_chunk *chunk = &chosen->row->chunk;
    const struct rtl_aggregate_key key =
        rtl_aggregate_key_of(aggregate->request.by, chunk->process, chosen->device, chunk->queue);
    uint64_t queue = rtl_index_key(chunk->process, chunk->queue);
    uint32_t known = rtl_index_get(&aggregate->queue_contexts, queue);
    if (known != RTL_INDEX_MISSING)
        return known;
    struct rtl_aggregate_key *keys = aggregate->contexts.items;
    uint32_t place = 0;
    while (place < aggregate->contexts.count && !same_key(&keys[place], &key))
        place++;
    if (place == aggregate->contexts.count) {
        struct rtl_aggregate_key *added = rtl_list_append(&aggregate->contexts, sizeof key);
        if (!added)
            return RTL_TRACE_NONE;
        *added = key;
    }
    return rtl_index_put(&aggregate->queue_contexts, queue, place) == 0 ? place : RTL_TRACE_NONE;
}

static rtl_status_t choose(struct rtl_aggregate *aggregate, const struct rtl_chunk_row *row)
{
    const rtl_trace_t *trace = aggregate->trace;
    if (!rtl_trace_chunk_passes(&aggregate->filter, row) ||
        !rtl_select_may(trace->select, row->chunk.process, row->gpu))
        return RTL_OK;
    /* Before memory is asked for: a damaged row may claim anything. */
    if (row->chunk.kernels == 0 || row->chunk.kernels > RTL_CHUNK_KERNELS_MAX)
        return rtl_trace_fail_chunk(aggregate->trace, row);
    struct chosen *chosen = rtl_list_append(&aggregate->chosen, sizeof *chosen);
    if (!chosen)
        return RTL_E_MEMORY;
    uint32_t queue =
        rtl_index_get(&trace->queue_index, rtl_index_key(row->chunk.process, row->chunk.queue));
    *chosen = (struct chosen){.row = row, .device = RTL_TRACE_NONE, .queue = RTL_TRACE_NONE};
    if (queue != RTL_INDEX_MISSING) {
        chosen->queue = queue;
        chosen->device = aggregate->devices.queues[queue].device;
    }
    chosen->context = context_of(aggregate, chosen);
    if (in_parts(aggregate) &&
        !rtl_aggregate_parts_expect(&aggregate->parts, row->chunk.process, aggregate->groups.most))
        return RTL_E_MEMORY;
    return chosen->context == RTL_TRACE_NONE ? RTL_E_MEMORY : RTL_OK;
}

static int by_time(const void *left, const void *right)
{
    const struct chosen *a = left;
    const struct chosen *b = right;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->row->from != b->row->from)
        return a->row->from < b->row->from ? -1 : 1;
    return (a->row->number > b->row->number) - (a->row->number < b->row->number);
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* What lies around each chunk on its queue; `times` has room for each queue. */
static void look_along_queues(struct chosen *chosen, size_t count, uint64_t *times, size_t queues)
{
    for (size_t i = 0; i < queues; i++)
        times[i] = 0;
    for (size_t i = 0; i < count; i++) {
        if (chosen[i].queue == RTL_TRACE_NONE)
            continue;
        uint64_t *last = &times[chosen[i].queue];
        chosen[i].queue_before = *last;
        *last = later(*last, chosen[i].row->to);
    }
    for (size_t i = 0; i < queues; i++)
        times[i] = UINT64_MAX;
    for (size_t i = count; i-- > 0;) {
        if (chosen[i].queue == RTL_TRACE_NONE)
            continue;
        chosen[i].queue_next = times[chosen[i].queue];
        times[chosen[i].queue] = chosen[i].row->from;
    }
}

static void look_along_devices(struct chosen *chosen, size_t count)
{
    uint64_t last = 0;
    for (size_t i = 0; i < count; i++) {
        last = i && chosen[i - 1].device == chosen[i].device ? last : 0;
        chosen[i].device_before = last;
        last = later(last, chosen[i].row->to);
        bool more = i + 1 < count && chosen[i + 1].device == chosen[i].device;
        chosen[i].device_next = more ? chosen[i + 1].row->from : UINT64_MAX;
    }
}

static rtl_status_t choose_chunks(struct rtl_aggregate *aggregate)
{
    const struct rtl_chunk_row *rows = aggregate->trace->chunks.items;
    size_t queues = aggregate->devices.queue_count;
    rtl_status_t status = RTL_OK;
    for (size_t i = 0; i < aggregate->trace->chunks.count && status == RTL_OK; i++)
        status = choose(aggregate, &rows[i]);
    if (status != RTL_OK || aggregate->chosen.count == 0)
        return status;
    uint64_t *times = calloc(queues + 1, sizeof *times);
    if (!times)
        return RTL_E_MEMORY;
    struct chosen *chosen = aggregate->chosen.items;
    qsort(chosen, aggregate->chosen.count, sizeof *chosen, by_time);
    look_along_queues(chosen, aggregate->chosen.count, times, queues);
    look_along_devices(chosen, aggregate->chosen.count);
    free(times);
    return RTL_OK;
}

/* Giving chunks to the pool. */

static bool alone_on_device(const struct rtl_aggregate *aggregate, const struct chosen *chosen)
{
    const struct rtl_chunk_row *row = chosen->row;
    if (chosen->device == RTL_TRACE_NONE)
        return true;
    return chosen->device_before <= row->from && row->to <= chosen->device_next &&
           !rtl_aggregate_devices_copied(&aggregate->devices, chosen->device, row->from, row->to);
}

static bool alone_on_queue(const struct chosen *chosen)
{
    const struct rtl_chunk_row *row = chosen->row;
    return chosen->queue == RTL_TRACE_NONE ||
           (chosen->queue_before <= row->from && row->to <= chosen->queue_next);
}

static bool make_room(struct rtl_aggregate_job *job)
{
    if (job->capacity < job->size) {
        free(job->data);
        job->data = malloc(job->size);
        job->capacity = job->data ? job->size : 0;
    }
    if (job->by_graph && !job->kernels)
        job->kernels = malloc(RTL_CHUNK_KERNELS_MAX * sizeof *job->kernels);
    return (job->data || job->size == 0) && (job->kernels || !job->by_graph);
}

static rtl_status_t fill_job(struct rtl_aggregate *aggregate, const struct chosen *chosen,
                             struct rtl_aggregate_job *job)
{
    const struct rtl_chunk_row *row = chosen->row;
    const rtl_kernel_filter_t *filter = &aggregate->filter;
    const unsigned char *data = NULL;
    job->row = row;
    job->filter = filter;
    job->select = aggregate->trace->select;
    job->shapes = &aggregate->shapes;
    job->context = chosen->context;
    job->cut = row->from < filter->from || (filter->to && row->to >= filter->to);
    job->keep = !alone_on_device(aggregate, chosen) || !alone_on_queue(chosen);
    job->by_graph = (aggregate->request.by & RTL_AGGREGATE_GRAPHS) != 0;
    job->share = aggregate->watch != NULL;
    job->any_graph = job->by_graph && rtl_trace_blocks(aggregate->trace)->heads.count > 0;
    rtl_status_t status =
        rtl_trace_chunk_data(aggregate->trace, aggregate->data, row, &data, &job->size);
    if (status == RTL_OK && !make_room(job))
        status = RTL_E_MEMORY;
    if (status == RTL_OK)
        memcpy(job->data, data, job->size);
    (void)sqlite3_reset(aggregate->data);
    return status;
}

/* Taking results. */

static uint32_t hash_of(const struct rtl_aggregate_key *key, uint32_t shape_group)
{
    uint32_t hash = key->process * 0x9E3779B1u ^ key->graph * 0x85EBCA77u ^ key->node * 0xC2B2AE3Du;
    hash ^= (key->generation ^ key->queue ^ key->device) * 0x27D4EB2Fu ^ shape_group * 0x165667B1u;
    return (hash ^ hash >> 15) % RECENT;
}

static struct rtl_aggregate_groups *groups_of(struct rtl_aggregate *aggregate, uint32_t process)
{
    struct rtl_aggregate_part *part =
        in_parts(aggregate) ? rtl_aggregate_parts_of(&aggregate->parts, process) : NULL;
    return part ? &part->groups : &aggregate->groups;
}

static struct rtl_stat *stat_of(struct rtl_aggregate *aggregate,
                                const struct rtl_aggregate_key *key, uint32_t shape_group)
{
    struct recent *recent = &aggregate->recent[hash_of(key, shape_group)];
    struct rtl_aggregate_groups *groups = groups_of(aggregate, key->process);
    struct rtl_aggregate_group *items = groups->list.items;
    if (recent->used && recent->shape_group == shape_group && same_key(&recent->key, key))
        return &items[recent->group].stat;
    struct rtl_aggregate_group *group = rtl_aggregate_group_of(groups, key, shape_group);
    if (!group)
        return NULL;
    items = groups->list.items;
    *recent = (struct recent){*key, shape_group, (uint32_t)(group - items), true};
    return &group->stat;
}

/* Adds kernels up by graph and node, which one thread finds. */
static rtl_status_t add_kernels(struct rtl_aggregate *aggregate,
                                const struct rtl_aggregate_job *job)
{
    unsigned by = aggregate->request.by;
    rtl_kernel_t kernel = {.process = job->row->chunk.process, .queue = job->row->chunk.queue};
    struct rtl_aggregate_key key =
        ((const struct rtl_aggregate_key *)aggregate->contexts.items)[job->context];
    for (uint32_t i = 0; i < job->kept; i++) {
        const struct rtl_aggregate_kernel *from = &job->kernels[i];
        kernel.packet = from->packet;
        rtl_status_t status =
            rtl_trace_resolve_node(aggregate->trace, from->launch, from->ordinal, &kernel);
        if (status != RTL_OK)
            return status;
        key.graph = kernel.graph;
        key.generation = by & RTL_BY_GENERATION ? kernel.generation : 0;
        key.node = by & RTL_BY_NODE ? kernel.node : RTL_TRACE_NONE;
        struct rtl_stat *stat = stat_of(aggregate, &key, from->shape_group);
        if (!stat || !rtl_stat_add(stat, from->duration))
            return RTL_E_MEMORY;
    }
    return RTL_OK;
}

/* Takes the job's intervals, or a copy where they are wanted again. */
static struct rtl_interval *take_intervals(struct rtl_aggregate_job *job, bool again)
{
    struct rtl_interval *intervals = job->intervals;
    if (!again) {
        job->intervals = NULL;
        return intervals;
    }
    intervals = malloc(job->row->chunk.kernels * sizeof *intervals);
    if (intervals)
        memcpy(intervals, job->intervals, job->count * sizeof *intervals);
    return intervals;
}

static rtl_status_t add_times(struct rtl_sweep *sweep, struct rtl_aggregate_job *job, bool alone,
                              bool again, uint64_t next)
{
    if (alone) {
        bool swept = rtl_sweep_until(sweep, job->row->from);
        rtl_sweep_add_depth(sweep, &job->depth);
        return swept ? RTL_OK : RTL_E_MEMORY;
    }
    struct rtl_interval *intervals = take_intervals(job, again);
    if (!intervals || !rtl_sweep_add(sweep, intervals, job->count) || !rtl_sweep_until(sweep, next))
        return RTL_E_MEMORY;
    return RTL_OK;
}

static rtl_status_t give_shares(const struct rtl_aggregate *aggregate,
                                struct rtl_aggregate_job *job)
{
    const struct rtl_aggregate_watch *watch = aggregate->watch;
    rtl_aggregate_shares_name(&aggregate->shapes, job);
    const struct rtl_chunk_stat stat = {job->depth.busy, job->shares, job->share_count};
    return watch->chunk(watch->context, job->row->number, job->row->chunk.kernels, &stat);
}

/* After the last chunk of a process. */
static rtl_status_t give_groups(struct rtl_aggregate *aggregate, struct rtl_aggregate_part *part)
{
    struct rtl_aggregate_groups *groups = &part->groups;
    bool joined = rtl_aggregate_parts_join(part, &aggregate->contexts, aggregate->workers,
                                           aggregate->threads);
    aggregate->groups.many |= groups->many;
    if (!joined)
        return RTL_E_MEMORY;
    rtl_status_t status = aggregate->watch->groups(aggregate->watch->context, aggregate,
                                                   groups->list.items, groups->list.count);
    rtl_aggregate_groups_free(groups);
    return status;
}

static rtl_status_t end_chunk(struct rtl_aggregate *aggregate, const struct chosen *chosen)
{
    struct rtl_aggregate_part *part =
        in_parts(aggregate) ? rtl_aggregate_parts_of(&aggregate->parts, chosen->row->chunk.process)
                            : NULL;
    return part && --part->chunks == 0 ? give_groups(aggregate, part) : RTL_OK;
}

static rtl_status_t take_job(struct rtl_aggregate *aggregate, struct rtl_aggregate_job *job)
{
    const struct chosen *chosen =
        (const struct chosen *)aggregate->chosen.items + aggregate->next++;
    const struct rtl_aggregate_devices *devices = &aggregate->devices;
    rtl_status_t status = job->status;
    bool alone = alone_on_queue(chosen);
    if (status == RTL_E_DAMAGED)
        return rtl_trace_fail_chunk(aggregate->trace, job->row);
    if (status == RTL_OK && job->share)
        status = give_shares(aggregate, job);
    if (status == RTL_OK && job->by_graph)
        status = add_kernels(aggregate, job);
    if (status == RTL_OK && chosen->device != RTL_TRACE_NONE)
        status = add_times(&devices->device_sweeps[chosen->device], job,
                           alone_on_device(aggregate, chosen), !alone, chosen->device_next);
    if (status == RTL_OK && chosen->queue != RTL_TRACE_NONE)
        status =
            add_times(&devices->queue_sweeps[chosen->queue], job, alone, false, chosen->queue_next);
    free(job->intervals);
    job->intervals = NULL;
    return status == RTL_OK ? end_chunk(aggregate, chosen) : status;
}

/* Gives all chunks and takes all results, in the same order. */
static rtl_status_t work(struct rtl_aggregate *aggregate)
{
    const struct chosen *chosen = aggregate->chosen.items;
    size_t given = 0;
    rtl_status_t status = RTL_OK;
    while (status == RTL_OK && aggregate->next < aggregate->chosen.count) {
        struct rtl_aggregate_job *job =
            given < aggregate->chosen.count ? rtl_thread_pool_job(aggregate->pool) : NULL;
        if (job) {
            status = fill_job(aggregate, &chosen[given++], job);
            if (status == RTL_OK)
                rtl_thread_pool_give(aggregate->pool);
        } else {
            status = take_job(aggregate, rtl_thread_pool_take(aggregate->pool));
        }
    }
    return status;
}

static void release_job(void *pointer)
{
    struct rtl_aggregate_job *job = pointer;
    free(job->data);
    free(job->intervals);
    free(job->kernels);
    free(job->shares);
}

/* What the threads have added up becomes groups. */
static bool merge_workers(struct rtl_aggregate *aggregate)
{
    const struct rtl_aggregate_key *keys = aggregate->contexts.items;
    for (unsigned i = 0; i < aggregate->threads; i++) {
        struct rtl_aggregate_worker *worker = aggregate->workers[i];
        for (uint32_t context = 0; context < worker->contexts; context++)
            if (!rtl_aggregate_join(&aggregate->groups, &keys[context], worker, context))
                return false;
    }
    return true;
}

/* The end of all sweeps. */
static bool finish_sweeps(struct rtl_aggregate_devices *devices)
{
    bool swept = true;
    for (size_t i = 0; i < devices->device_count; i++)
        swept = rtl_sweep_until(&devices->device_sweeps[i], UINT64_MAX) && swept;
    for (size_t i = 0; i < devices->sweep_count; i++)
        swept = rtl_sweep_until(&devices->queue_sweeps[i], UINT64_MAX) && swept;
    return swept;
}

/* Begin and end. */

static rtl_status_t make_pool(struct rtl_aggregate *aggregate)
{
    size_t chunks = aggregate->chosen.count;
    unsigned threads = aggregate->request.threads;
    threads = threads ? threads : rtl_thread_pool_processors();
    threads = threads > THREADS_MAX ? THREADS_MAX : threads;
    threads = threads > chunks ? (unsigned)(chunks ? chunks : 1) : threads;
    uint32_t contexts = (uint32_t)aggregate->contexts.count;
    for (aggregate->threads = 0; aggregate->threads < threads; aggregate->threads++) {
        struct rtl_aggregate_worker *worker =
            rtl_aggregate_worker_new(contexts, aggregate->shapes.count);
        if (!worker)
            return RTL_E_MEMORY;
        aggregate->workers[aggregate->threads] = worker;
    }
    aggregate->pool = rtl_thread_pool_new(rtl_aggregate_chunk, aggregate->workers, threads,
                                          2 * threads + 1, sizeof(struct rtl_aggregate_job));
    return aggregate->pool ? RTL_OK : RTL_E_MEMORY;
}

static rtl_status_t prepare(struct rtl_aggregate *aggregate)
{
    rtl_trace_t *trace = aggregate->trace;
    if (!rtl_aggregate_shapes_make(&aggregate->shapes, trace, aggregate->request.by))
        return RTL_E_MEMORY;
    return rtl_aggregate_devices_make(&aggregate->devices, trace, &aggregate->request);
}

static rtl_status_t prepare_kernels(struct rtl_aggregate *aggregate)
{
    rtl_trace_t *trace = aggregate->trace;
    rtl_status_t status = RTL_OK;
    if (aggregate->request.by & RTL_AGGREGATE_GRAPHS) {
        status = rtl_trace_load_graphs(trace);
        aggregate->recent = calloc(RECENT, sizeof *aggregate->recent);
        if (status == RTL_OK && !aggregate->recent)
            status = RTL_E_MEMORY;
    }
    if (status == RTL_OK)
        status = choose_chunks(aggregate);
    if (status == RTL_OK)
        status = rtl_trace_prepare_data(trace, &aggregate->data);
    return status == RTL_OK ? make_pool(aggregate) : status;
}

/* What is not needed any more once all kernels are added up. */
static void dismiss(struct rtl_aggregate *aggregate)
{
    rtl_thread_pool_free(aggregate->pool, release_job);
    for (unsigned i = 0; i < aggregate->threads; i++)
        rtl_aggregate_worker_free(aggregate->workers[i]);
    (void)sqlite3_finalize(aggregate->data);
    rtl_list_free(&aggregate->chosen);
    rtl_list_free(&aggregate->contexts);
    rtl_index_free(&aggregate->queue_contexts);
    free(aggregate->recent);
    aggregate->pool = NULL;
    aggregate->threads = 0;
    aggregate->data = NULL;
    aggregate->recent = NULL;
}

static rtl_status_t finish(struct rtl_aggregate *aggregate)
{
    if (!merge_workers(aggregate) || !finish_sweeps(&aggregate->devices) ||
        !rtl_aggregate_groups_finish(&aggregate->groups, &aggregate->shapes, aggregate->request.by))
        return RTL_E_MEMORY;
    rtl_aggregate_devices_finish(&aggregate->devices);
    return RTL_OK;
}

/* Without unpacking a kernel, where the trace has statistics and `kernels` does not forbid it. */
static rtl_status_t add_up(struct rtl_aggregate *aggregate, bool kernels)
{
    rtl_status_t status = prepare(aggregate);
    if (status != RTL_OK)
        return status;
    if (!kernels &&
        rtl_aggregate_has_stats(aggregate->trace, &aggregate->request, &aggregate->devices))
        return rtl_aggregate_take_stats(aggregate->trace, &aggregate->request, &aggregate->shapes,
                                        &aggregate->devices, &aggregate->groups);
    status = prepare_kernels(aggregate);
    return status == RTL_OK ? work(aggregate) : status;
}

static rtl_status_t make(rtl_trace_t *trace, const rtl_aggregate_request_t *request, bool kernels,
                         struct rtl_aggregate *made)
{
    made->trace = trace;
    made->request = *request;
    made->filter =
        (rtl_kernel_filter_t){request->from, request->to, request->process, request->queue, 0};
    rtl_status_t status = add_up(made, kernels);
    if (status == RTL_OK)
        status = finish(made);
    dismiss(made);
    return status == RTL_E_MEMORY ? rtl_trace_fail_sqlite(trace, SQLITE_NOMEM) : status;
}

rtl_status_t rtl_aggregate_kernels(rtl_trace_t *trace, const rtl_aggregate_request_t *request,
                                   uint32_t most, const struct rtl_aggregate_watch *watch,
                                   bool *many, rtl_aggregate_t **aggregate)
{
    struct rtl_aggregate *made = calloc(1, sizeof *made);
    *aggregate = NULL;
    *many = false;
    if (!made)
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    made->groups.most = most;
    made->watch = watch;
    rtl_status_t status = make(trace, request, true, made);
    *many = made->groups.many;
    for (size_t i = 0; i < made->parts.list.count; i++)
        *many |= ((const struct rtl_aggregate_part *)made->parts.list.items)[i].groups.many;
    if (status == RTL_OK)
        *aggregate = made;
    else
        rtlAggregateFree(made);
    return status;
}

rtl_status_t rtlTraceAggregate(rtl_trace_t *trace, const rtl_aggregate_request_t *request,
                               rtl_aggregate_t **aggregate)
{
    if (!trace || !request || !aggregate)
        return RTL_E_ARGUMENT;
    *aggregate = NULL;
    struct rtl_aggregate *made = calloc(1, sizeof *made);
    if (!made)
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    rtl_status_t status = make(trace, request, false, made);
    if (status == RTL_OK)
        *aggregate = made;
    else
        rtlAggregateFree(made);
    return status;
}

/* Giving out. */

const struct rtl_aggregate_group *rtl_aggregate_all(const rtl_aggregate_t *aggregate, size_t *count)
{
    *count = aggregate->groups.list.count;
    return aggregate->groups.list.items;
}

const struct rtl_shape *rtl_aggregate_shape(const rtl_aggregate_t *aggregate, uint32_t group)
{
    return rtl_aggregate_shapes_sample(&aggregate->shapes, group);
}

rtl_status_t rtlAggregateGroups(const rtl_aggregate_t *aggregate, const rtl_group_t **items,
                                size_t *count)
{
    if (!aggregate || !items || !count)
        return RTL_E_ARGUMENT;
    *items = aggregate->groups.given;
    *count = aggregate->groups.list.count;
    return RTL_OK;
}

uint64_t rtlAggregatePercentile(const rtl_aggregate_t *aggregate, size_t group, double fraction)
{
    if (!aggregate || group >= aggregate->groups.list.count)
        return 0;
    const struct rtl_aggregate_group *groups = aggregate->groups.list.items;
    return rtl_stat_percentile(&groups[group].stat, fraction);
}

rtl_status_t rtlAggregateQueues(const rtl_aggregate_t *aggregate, const rtl_queue_time_t **items,
                                size_t *count)
{
    if (!aggregate || !items || !count)
        return RTL_E_ARGUMENT;
    *items = aggregate->devices.queues;
    *count = aggregate->devices.queue_count;
    return RTL_OK;
}

rtl_status_t rtlAggregateDevices(const rtl_aggregate_t *aggregate, const rtl_device_time_t **items,
                                 size_t *count)
{
    if (!aggregate || !items || !count)
        return RTL_E_ARGUMENT;
    *items = aggregate->devices.devices;
    *count = aggregate->devices.device_count;
    return RTL_OK;
}

void rtlAggregateFree(rtl_aggregate_t *aggregate)
{
    if (!aggregate)
        return;
    rtl_aggregate_shapes_free(&aggregate->shapes);
    rtl_aggregate_devices_free(&aggregate->devices);
    rtl_aggregate_groups_free(&aggregate->groups);
    rtl_aggregate_parts_free(&aggregate->parts);
    free(aggregate);
}

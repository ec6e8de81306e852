/* Unpacking chunks of samples, keeping them, and finding the sample of a kernel. */
#include "store/samples_read.h"

#include "common/lower_bound.h"

#include <stdlib.h>
#include <string.h>

/* Chunks that are kept beyond their use. */
#define KEPT 8u

/* A chunk in the order of process, queue and least owner. */
struct ordered {
    struct rtl_sample_row *row;
    uint64_t most; /* greatest owner of this chunk and those of its queue before it */
};

struct rtl_sample_cache {
    struct rtl_sample_codec *codec;
    struct ordered *ordered;           /* all chunks */
    struct rtl_sample_set *sets[KEPT]; /* the one that was used last first */
    uint32_t count;
};

static rtl_status_t fail_memory(rtl_trace_t *trace)
{
    return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
}

static rtl_status_t fail_chunk(rtl_trace_t *trace, const struct rtl_sample_row *row)
{
    return rtl_trace_fail(trace, RTL_E_DAMAGED,
                          "the trace %s is damaged: sample chunk %lld does not match its checksum "
                          "or its format",
                          trace->path, (long long)row->number);
}

void rtl_sample_set_leave(struct rtl_sample_set *set)
{
    if (!set || --set->users > 0)
        return;
    set->row->set = NULL;
    free(set->samples);
    free(set->counts);
    free(set->places);
    free(set);
}

void rtl_trace_forget_samples(rtl_trace_t *trace)
{
    struct rtl_sample_cache *cache = trace->sample_cache;
    if (!cache)
        return;
    for (uint32_t i = 0; i < cache->count; i++)
        rtl_sample_set_leave(cache->sets[i]);
    rtl_sample_codec_free(cache->codec);
    free(cache->ordered);
    free(cache);
    trace->sample_cache = NULL;
}

static int compare_queues(const struct rtl_sample_chunk *chunk, uint32_t process, uint32_t queue)
{
    if (chunk->process != process)
        return chunk->process < process ? -1 : 1;
    return (chunk->queue > queue) - (chunk->queue < queue);
}

static int by_owner(const void *left, const void *right)
{
    const struct rtl_sample_row *a = ((const struct ordered *)left)->row;
    const struct rtl_sample_row *b = ((const struct ordered *)right)->row;
    int order = compare_queues(&a->chunk, b->chunk.process, b->chunk.queue);
    if (order != 0)
        return order;
    if (a->chunk.owner_min != b->chunk.owner_min)
        return a->chunk.owner_min < b->chunk.owner_min ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static struct ordered *put_chunks_in_order(const struct rtl_list *rows)
{
    struct ordered *ordered = calloc(rows->count + 1, sizeof *ordered);
    if (!ordered)
        return NULL;
    for (size_t i = 0; i < rows->count; i++)
        ordered[i].row = (struct rtl_sample_row *)rows->items + i;
    qsort(ordered, rows->count, sizeof *ordered, by_owner);
    for (size_t i = 0; i < rows->count; i++) {
        const struct rtl_sample_chunk *chunk = &ordered[i].row->chunk;
        ordered[i].most = chunk->owner_max;
        if (i > 0 && ordered[i - 1].most > chunk->owner_max &&
            compare_queues(&ordered[i - 1].row->chunk, chunk->process, chunk->queue) == 0)
            ordered[i].most = ordered[i - 1].most;
    }
    return ordered;
}

static rtl_status_t make_cache(rtl_trace_t *trace)
{
    if (trace->sample_cache)
        return RTL_OK;
    struct rtl_sample_cache *cache = calloc(1, sizeof *cache);
    trace->sample_cache = cache;
    if (!cache || !(cache->codec = rtl_sample_codec_new()) ||
        !(cache->ordered = put_chunks_in_order(&trace->sample_rows))) {
        rtl_trace_forget_samples(trace);
        return fail_memory(trace);
    }
    return RTL_OK;
}

static struct rtl_sample_set *new_set(struct rtl_sample_row *row)
{
    struct rtl_sample_set *set = calloc(1, sizeof *set);
    if (!set)
        return NULL;
    set->row = row;
    set->users = 1;
    set->samples = calloc(row->chunk.samples, sizeof *set->samples);
    set->counts = calloc((size_t)row->chunk.counts + 1, sizeof *set->counts);
    set->places = calloc(row->chunk.samples, sizeof *set->places);
    if (set->samples && set->counts && set->places)
        return set;
    rtl_sample_set_leave(set);
    return NULL;
}

static int compare(const void *left, const void *right)
{
    const struct rtl_sample_place *a = left;
    const struct rtl_sample_place *b = right;
    if (a->owner != b->owner)
        return a->owner < b->owner ? -1 : 1;
    if (a->agent != b->agent)
        return a->agent < b->agent ? -1 : 1;
    return (a->sample > b->sample) - (a->sample < b->sample);
}

/* They mostly are in order. */
static void put_in_order(struct rtl_sample_set *set)
{
    bool sorted = true;
    uint32_t count = set->row->chunk.samples;
    for (uint32_t i = 0; i < count; i++) {
        const struct rtl_sample *sample = &set->samples[i];
        set->places[i] = (struct rtl_sample_place){sample->owner, sample->agent, i};
        sorted = sorted && (i == 0 || compare(&set->places[i - 1], &set->places[i]) < 0);
    }
    if (!sorted)
        qsort(set->places, count, sizeof *set->places, compare);
}

/* NULL, with the status, if it cannot be had; so of the next one. */
static struct rtl_sample_set *decode(rtl_trace_t *trace, struct rtl_sample_row *row,
                                     const unsigned char *data, size_t size, rtl_status_t *status)
{
    /* Before memory is asked for: a damaged row may claim anything. */
    if (!data || !rtl_sample_intact(&row->chunk, data, size)) {
        bool short_of_memory = !data && sqlite3_errcode(trace->db) == SQLITE_NOMEM;
        *status = short_of_memory ? fail_memory(trace) : fail_chunk(trace, row);
        return NULL;
    }
    struct rtl_sample_set *set = new_set(row);
    if (!set) {
        *status = fail_memory(trace);
        return NULL;
    }
    int decoded = rtl_sample_decode(trace->sample_cache->codec, &row->chunk, data, size,
                                    set->samples, set->counts);
    if (decoded != 0) {
        rtl_sample_set_leave(set);
        *status = decoded == -2 ? fail_memory(trace) : fail_chunk(trace, row);
        return NULL;
    }
    put_in_order(set);
    row->set = set;
    return set;
}

/* With a statement that is not kept: the connection may be another's, who closes it before the
 * trace. */
static struct rtl_sample_set *unpack(rtl_trace_t *trace, struct rtl_sample_row *row,
                                     rtl_status_t *status)
{
    struct rtl_sample_set *set = NULL;
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(
        trace->db, "SELECT data FROM main.sample_chunks WHERE chunk = ?", -1, &statement, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_bind_int64(statement, 1, row->number);
    if (result == SQLITE_OK)
        result = sqlite3_step(statement);
    if (result == SQLITE_ROW)
        set = decode(trace, row, sqlite3_column_blob(statement, 0),
                     (size_t)sqlite3_column_bytes(statement, 0), status);
    else
        *status =
            result == SQLITE_DONE ? fail_chunk(trace, row) : rtl_trace_fail_sqlite(trace, result);
    (void)sqlite3_finalize(statement);
    return set;
}

/* Keeps a set as the one that was used last, and not the one that was used longest ago. */
static void keep(struct rtl_sample_cache *cache, struct rtl_sample_set *set)
{
    uint32_t place = 0;
    while (place < cache->count && cache->sets[place] != set)
        place++;
    if (place == cache->count) {
        set->users++;
        if (cache->count == KEPT)
            rtl_sample_set_leave(cache->sets[--place]);
        else
            cache->count++;
    }
    memmove(&cache->sets[1], &cache->sets[0], place * sizeof(struct rtl_sample_set *));
    cache->sets[0] = set;
}

rtl_status_t rtl_trace_sample_set(rtl_trace_t *trace, struct rtl_sample_row *row,
                                  struct rtl_sample_set **set)
{
    rtl_status_t status = make_cache(trace);
    if (status != RTL_OK)
        return status;
    struct rtl_sample_set *found = row->set;
    if (found)
        found->users++;
    else
        found = unpack(trace, row, &status);
    if (!found)
        return status;
    keep(trace->sample_cache, found);
    *set = found;
    return RTL_OK;
}

uint32_t rtl_sample_set_find(const struct rtl_sample_set *set, uint64_t owner)
{
    uint32_t low;
    RTL_LOWER_BOUND(low, set->row->chunk.samples, set->places[low].owner < owner);
    return low;
}

void rtl_trace_describe_sample(const rtl_trace_t *trace, const struct rtl_sample_set *set,
                               uint32_t place, rtl_trace_sample_t *sample)
{
    const struct rtl_sample_chunk *chunk = &set->row->chunk;
    const struct rtl_sample *stored = &set->samples[set->places[place].sample];
    *sample = (rtl_trace_sample_t){
        .process = chunk->process,
        .agent = stored->agent,
        .queue = chunk->queue,
        .owner = stored->owner,
        .shared = (stored->flags & RTL_SAMPLE_SHARED) != 0,
        .counters = rtl_trace_counters_of(trace, chunk->process, stored->agent, stored->counts),
        .values = set->counts + stored->first,
    };
    sample->count = sample->counters ? stored->counts : 0;
}

/* Finds the sample of a packet in one chunk; RTL_END if it is not there. */
static rtl_status_t find_in(rtl_trace_t *trace, struct rtl_sample_row *row, uint64_t packet,
                            rtl_trace_sample_t *sample)
{
    struct rtl_sample_set *set = NULL;
    rtl_status_t status = rtl_trace_sample_set(trace, row, &set);
    if (!set)
        return status;
    uint32_t place = rtl_sample_set_find(set, packet);
    bool found = place < row->chunk.samples && set->places[place].owner == packet;
    if (found)
        rtl_trace_describe_sample(trace, set, place, sample);
    rtl_sample_set_leave(set); /* it is kept as the latest */
    return found ? RTL_OK : RTL_END;
}

static bool begins_by(const struct rtl_sample_chunk *chunk, uint32_t process, uint32_t queue,
                      uint64_t packet)
{
    int order = compare_queues(chunk, process, queue);
    return order < 0 || (order == 0 && chunk->owner_min <= packet);
}

/* How many chunks, in their order, do not begin behind a packet. */
static size_t count_before(const rtl_trace_t *trace, uint32_t process, uint32_t queue,
                           uint64_t packet)
{
    size_t low;
    RTL_LOWER_BOUND(
        low, trace->sample_rows.count,
        begins_by(&trace->sample_cache->ordered[low].row->chunk, process, queue, packet));
    return low;
}

rtl_status_t rtlTraceKernelSample(rtl_trace_t *trace, uint32_t process, uint32_t queue,
                                  uint64_t packet, rtl_trace_sample_t *sample)
{
    if (!trace || !sample)
        return RTL_E_ARGUMENT;
    if (process == 0 || queue == RTL_TRACE_NONE)
        return RTL_END;
    rtl_status_t status = make_cache(trace);
    if (status != RTL_OK)
        return status;
    const struct ordered *ordered = trace->sample_cache->ordered;
    status = RTL_END;
    for (size_t i = count_before(trace, process, queue, packet); i > 0 && status == RTL_END; i--) {
        struct rtl_sample_row *row = ordered[i - 1].row;
        if (compare_queues(&row->chunk, process, queue) != 0 || ordered[i - 1].most < packet)
            break;
        if (row->chunk.owner_max >= packet)
            status = find_in(trace, row, packet, sample);
    }
    return status;
}

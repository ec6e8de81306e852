/* Iterating over samples of hardware counters: a merge of the chunks that a filter leaves, by
 * queue and packet, or by range. A chunk is unpacked when the merge reaches it. */
#include "store/heap.h"
#include "store/samples_read.h"

#include <stdlib.h>

/* A chunk that is being read; it may have to be unpacked again, so that memory stays bounded
 * however many overlap. */
struct cursor {
    struct rtl_sample_row *row;
    uint32_t next;
};

/* A chunk that is not open yet. */
struct waiting {
    struct rtl_key key; /* not above any of its samples */
    struct rtl_sample_row *row;
};

struct rtl_sample_iter {
    rtl_trace_t *trace;
    rtl_sample_filter_t filter; /* `last` is what it says, also if it is 0 */
    rtl_status_t failed;        /* once an error, always that */
    struct waiting *waiting;
    size_t waiting_count, waiting_next;
    struct rtl_heap heap;       /* of open chunks */
    struct rtl_sample_set *set; /* of the sample that was given out last */
    /* The chunk that came before that one. Who goes through a queue by time looks up what ran out
     * of order, and finds it unpacked. */
    struct rtl_sample_set *before;
};

static rtl_status_t fail(rtl_sample_iter_t *iter, rtl_status_t status)
{
    iter->failed = status;
    return status;
}

static rtl_status_t fail_memory(rtl_sample_iter_t *iter)
{
    return fail(iter, rtl_trace_fail_sqlite(iter->trace, SQLITE_NOMEM));
}

static struct rtl_key key_of(const struct rtl_sample_chunk *chunk, uint64_t owner)
{
    return (struct rtl_key){rtl_index_key(chunk->process, chunk->queue), owner};
}

static bool passes(const rtl_sample_filter_t *filter, bool ranges,
                   const struct rtl_sample_chunk *chunk)
{
    return (chunk->queue == RTL_TRACE_NONE) == ranges &&
           (filter->process == 0 || chunk->process == filter->process) &&
           (filter->queue == RTL_TRACE_NONE || chunk->queue == filter->queue) &&
           chunk->owner_min <= filter->last && chunk->owner_max >= filter->first;
}

static int by_key(const void *left, const void *right)
{
    const struct waiting *a = left;
    const struct waiting *b = right;
    int order = rtl_key_compare(&a->key, &b->key);
    return order ? order : (a->row > b->row) - (a->row < b->row);
}

static rtl_status_t choose_chunks(rtl_sample_iter_t *iter, bool ranges)
{
    const struct rtl_list *list = &iter->trace->sample_rows;
    struct rtl_sample_row *rows = list->items;
    iter->waiting = calloc(list->count + 1, sizeof *iter->waiting);
    if (!iter->waiting)
        return fail_memory(iter);
    for (size_t i = 0; i < list->count; i++)
        if (passes(&iter->filter, ranges, &rows[i].chunk))
            iter->waiting[iter->waiting_count++] =
                (struct waiting){key_of(&rows[i].chunk, rows[i].chunk.owner_min), &rows[i]};
    qsort(iter->waiting, iter->waiting_count, sizeof *iter->waiting, by_key);
    return RTL_OK;
}

/* The key of a chunk's next sample; false if it has none that passes. */
static bool next_key(const rtl_sample_iter_t *iter, const struct rtl_sample_set *set,
                     const struct cursor *cursor, struct rtl_key *key)
{
    const struct rtl_sample_chunk *chunk = &set->row->chunk;
    if (cursor->next == chunk->samples || set->places[cursor->next].owner > iter->filter.last)
        return false;
    *key = key_of(chunk, set->places[cursor->next].owner);
    return true;
}

static rtl_status_t add_cursor(rtl_sample_iter_t *iter, const struct rtl_sample_set *set)
{
    struct rtl_key key;
    struct cursor found = {set->row, rtl_sample_set_find(set, iter->filter.first)};
    if (!next_key(iter, set, &found, &key))
        return RTL_OK;
    struct cursor *cursor = malloc(sizeof *cursor);
    if (!cursor)
        return fail_memory(iter);
    *cursor = found;
    if (rtl_heap_push(&iter->heap, (struct rtl_heap_item){key, set->row, cursor}))
        return RTL_OK;
    free(cursor);
    return fail_memory(iter);
}

static rtl_status_t open_next(rtl_sample_iter_t *iter)
{
    struct rtl_sample_set *set = NULL;
    rtl_status_t status =
        rtl_trace_sample_set(iter->trace, iter->waiting[iter->waiting_next++].row, &set);
    if (status != RTL_OK)
        return fail(iter, status);
    status = add_cursor(iter, set);
    rtl_sample_set_leave(set);
    return status;
}

/* True if a chunk that is not open may hold the next sample. */
static bool must_open(const rtl_sample_iter_t *iter)
{
    if (iter->waiting_next == iter->waiting_count)
        return false;
    if (iter->heap.count == 0)
        return true;
    return rtl_key_compare(&iter->waiting[iter->waiting_next].key, &iter->heap.items[0].key) <= 0;
}

/* Holds the chunk that is given out from, and the one before. */
static void take(rtl_sample_iter_t *iter, struct rtl_sample_set *set)
{
    if (iter->set == set) {
        rtl_sample_set_leave(set); /* held already */
        return;
    }
    rtl_sample_set_leave(iter->before);
    iter->before = iter->set;
    iter->set = set;
}

/* Gives out the next sample of a chunk, whose values stay until the next one is. */
static rtl_status_t give(rtl_sample_iter_t *iter, struct cursor *cursor, rtl_trace_sample_t *sample)
{
    struct rtl_key key;
    struct rtl_sample_set *set = NULL;
    rtl_status_t status = rtl_trace_sample_set(iter->trace, cursor->row, &set);
    if (status != RTL_OK)
        return fail(iter, status);
    take(iter, set);
    rtl_trace_describe_sample(iter->trace, set, cursor->next++, sample);
    if (next_key(iter, set, cursor, &key)) {
        rtl_heap_advance(&iter->heap, key);
    } else {
        rtl_heap_pop(&iter->heap);
        free(cursor);
    }
    return RTL_OK;
}

rtl_status_t rtlSampleNext(rtl_sample_iter_t *iter, rtl_trace_sample_t *sample)
{
    if (!iter || !sample)
        return RTL_E_ARGUMENT;
    if (iter->failed != RTL_OK)
        return iter->failed;
    while (must_open(iter)) {
        rtl_status_t status = open_next(iter);
        if (status != RTL_OK)
            return status;
    }
    return iter->heap.count ? give(iter, iter->heap.items[0].cursor, sample) : RTL_END;
}

rtl_status_t rtl_trace_samples(rtl_trace_t *trace, bool ranges, const rtl_sample_filter_t *filter,
                               rtl_sample_iter_t **made)
{
    rtl_sample_iter_t *iter = calloc(1, sizeof *iter);
    if (!iter)
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    iter->trace = trace;
    iter->filter = *filter;
    rtl_status_t status = choose_chunks(iter, ranges);
    if (status == RTL_OK)
        *made = iter;
    else
        rtlSampleIterFree(iter);
    return status;
}

/* As programs ask: no filter is all, and a last owner of 0 no end. */
static rtl_status_t start(rtl_trace_t *trace, bool ranges, const rtl_sample_filter_t *given,
                          rtl_sample_iter_t **iter)
{
    rtl_sample_filter_t filter = RTL_SAMPLE_FILTER_ALL;
    if (!trace || !iter)
        return RTL_E_ARGUMENT;
    *iter = NULL;
    if (given)
        filter = *given;
    if (ranges)
        filter.queue = RTL_TRACE_NONE;
    if (filter.last == 0)
        filter.last = UINT64_MAX;
    return rtl_trace_samples(trace, ranges, &filter, iter);
}

rtl_status_t rtlTraceKernelSamples(rtl_trace_t *trace, const rtl_sample_filter_t *filter,
                                   rtl_sample_iter_t **iter)
{
    return start(trace, false, filter, iter);
}

rtl_status_t rtlTraceRangeSamples(rtl_trace_t *trace, const rtl_sample_filter_t *filter,
                                  rtl_sample_iter_t **iter)
{
    return start(trace, true, filter, iter);
}

void rtlSampleIterFree(rtl_sample_iter_t *iter)
{
    if (!iter)
        return;
    for (size_t i = 0; i < iter->heap.count; i++)
        free(iter->heap.items[i].cursor);
    rtl_sample_set_leave(iter->set);
    rtl_sample_set_leave(iter->before);
    rtl_heap_free(&iter->heap);
    free(iter->waiting);
    free(iter);
}

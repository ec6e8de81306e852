/* Iterating over host calls: a merge of the chunks that a filter leaves, by start; or, by
 * correlation, a look-up in each process. */
#include "store/heap.h"
#include "store/select.h"
#include "store/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A call of an open chunk with its key. */
struct place {
    struct rtl_key key;
    uint32_t call;
};

/* A chunk that is being read. */
struct cursor {
    const struct rtl_api_row *row;
    struct rtl_call *calls;
    uint64_t *words;
    struct place *places; /* of the calls that pass the filter, in order */
    uint32_t count, next;
};

struct rtl_api_iter {
    rtl_trace_t *trace;
    rtl_api_filter_t filter;
    rtl_status_t failed; /* once an error, always that */
    struct rtl_api_codec *codec;
    const struct rtl_api_row **waiting; /* by start; those from `next` on are not open yet */
    size_t count, next;
    struct rtl_heap heap;   /* of open chunks */
    struct cursor *current; /* the one that the last call came from, if it is used up */
    uint64_t *words;        /* of the last call that was looked up */
};

static rtl_status_t fail(rtl_api_iter_t *iter, rtl_status_t status)
{
    iter->failed = status;
    return status;
}

static rtl_status_t fail_memory(rtl_api_iter_t *iter)
{
    return fail(iter, rtl_trace_fail_sqlite(iter->trace, SQLITE_NOMEM));
}

/* Unpacking. */

static rtl_status_t damaged(rtl_trace_t *trace, const struct rtl_api_row *row)
{
    return rtl_trace_fail(trace, RTL_E_DAMAGED,
                          "the trace %s is damaged: chunk %lld of host calls does not match its "
                          "checksum or its format",
                          trace->path, (long long)row->number);
}

static rtl_status_t unpack(rtl_trace_t *trace, struct rtl_api_codec *codec,
                           const struct rtl_api_row *row, sqlite3_stmt *data,
                           struct rtl_call **calls, uint64_t **words)
{
    const struct rtl_api_chunk *chunk = &row->chunk;
    const unsigned char *bytes = sqlite3_column_blob(data, 0);
    size_t size = (size_t)sqlite3_column_bytes(data, 0);
    if (sqlite3_errcode(trace->db) == SQLITE_NOMEM)
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    if (!bytes || !rtl_api_intact(chunk, bytes, size))
        return damaged(trace, row);
    *calls = calloc(chunk->calls, sizeof **calls);
    *words = calloc((size_t)chunk->words + 1, sizeof **words);
    if (!*calls || !*words)
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    int decoded = rtl_api_decode(codec, chunk, bytes, size, *calls, *words);
    if (decoded == -2)
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    return decoded == 0 && rtl_api_within(chunk, *calls) ? RTL_OK : damaged(trace, row);
}

rtl_status_t rtl_trace_unpack_calls(rtl_trace_t *trace, struct rtl_api_codec *codec,
                                    const struct rtl_api_row *row, struct rtl_call **calls,
                                    uint64_t **words)
{
    static const char query[] = "SELECT data FROM main.api_chunks WHERE chunk = ?";
    sqlite3_stmt *data = NULL;
    rtl_status_t status = RTL_OK;
    *calls = NULL;
    *words = NULL;
    int result = sqlite3_prepare_v2(trace->db, query, -1, &data, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_bind_int64(data, 1, row->number);
    if (result == SQLITE_OK)
        result = sqlite3_step(data);
    if (result == SQLITE_ROW)
        status = unpack(trace, codec, row, data, calls, words);
    else
        status = result == SQLITE_DONE ? damaged(trace, row) : rtl_trace_fail_sqlite(trace, result);
    (void)sqlite3_finalize(data);
    if (status == RTL_OK)
        return RTL_OK;
    free(*calls);
    free(*words);
    *calls = NULL;
    *words = NULL;
    return status;
}

/* Chunks. */

static bool chunk_passes(const rtl_api_filter_t *filter, const struct rtl_api_chunk *chunk)
{
    return (filter->process == 0 || chunk->process == filter->process) &&
           (filter->to == 0 || chunk->start_min < filter->to) && chunk->end_max >= filter->from;
}

static bool call_passes(const rtl_api_filter_t *filter, const struct rtl_call *call)
{
    return (filter->thread == 0 || call->thread == filter->thread) &&
           (filter->to == 0 || call->start < filter->to) &&
           (call->end > filter->from || call->start >= filter->from);
}

static void free_cursor(struct cursor *cursor)
{
    if (!cursor)
        return;
    free(cursor->calls);
    free(cursor->words);
    free(cursor->places);
    free(cursor);
}

static int place_by_key(const void *left, const void *right)
{
    const struct place *a = left;
    const struct place *b = right;
    int order = rtl_key_compare(&a->key, &b->key);
    return order ? order : (a->call > b->call) - (a->call < b->call);
}

/* Puts the calls that pass in order; of those that start together the outer one, whose id is less,
 * comes first. */
static void order(const rtl_api_filter_t *filter, struct cursor *cursor)
{
    bool sorted = true;
    struct rtl_key last = {0, 0};
    for (uint32_t i = 0; i < cursor->row->chunk.calls; i++) {
        const struct rtl_call *call = &cursor->calls[i];
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a failure is never RTL_OK */
        struct rtl_key key = {call->start, call->correlation};
        if (!call_passes(filter, call))
            continue;
        sorted = sorted && rtl_key_compare(&last, &key) <= 0;
        last = key;
        cursor->places[cursor->count++] = (struct place){key, i};
    }
    if (!sorted)
        qsort(cursor->places, cursor->count, sizeof *cursor->places, place_by_key);
}

static rtl_status_t open_chunk(rtl_api_iter_t *iter, const struct rtl_api_row *row,
                               struct cursor *cursor)
{
    cursor->row = row;
    rtl_status_t status =
        rtl_trace_unpack_calls(iter->trace, iter->codec, row, &cursor->calls, &cursor->words);
    if (status != RTL_OK)
        return fail(iter, status);
    cursor->places = calloc(row->chunk.calls, sizeof *cursor->places);
    if (!cursor->places)
        return fail_memory(iter);
    order(&iter->filter, cursor);
    return RTL_OK;
}

static rtl_status_t open_next(rtl_api_iter_t *iter)
{
    const struct rtl_api_row *row = iter->waiting[iter->next++];
    struct cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor)
        return fail_memory(iter);
    rtl_status_t status = open_chunk(iter, row, cursor);
    if (status != RTL_OK || cursor->count == 0) {
        free_cursor(cursor);
        return status;
    }
    if (rtl_heap_push(&iter->heap, (struct rtl_heap_item){cursor->places[0].key, row, cursor}))
        return RTL_OK;
    free_cursor(cursor);
    return fail_memory(iter);
}

/* True if a chunk that is not open may hold the next call. */
static bool must_open(const rtl_api_iter_t *iter)
{
    if (iter->next == iter->count)
        return false;
    return iter->heap.count == 0 ||
           iter->waiting[iter->next]->chunk.start_min <= iter->heap.items[0].key.major;
}

static int by_start(const void *left, const void *right)
{
    const struct rtl_api_row *a = *(const struct rtl_api_row *const *)left;
    const struct rtl_api_row *b = *(const struct rtl_api_row *const *)right;
    if (a->chunk.start_min != b->chunk.start_min)
        return a->chunk.start_min < b->chunk.start_min ? -1 : 1;
    return (a > b) - (a < b);
}

static rtl_status_t choose_chunks(rtl_api_iter_t *iter, int64_t chunk)
{
    const struct rtl_list *list = &iter->trace->api_rows;
    const struct rtl_api_row *rows = list->items;
    iter->waiting = calloc(list->count + 1, sizeof(const struct rtl_api_row *));
    if (!iter->waiting)
        return fail_memory(iter);
    for (size_t i = 0; i < list->count; i++)
        if ((chunk == 0 || rows[i].number == chunk) && chunk_passes(&iter->filter, &rows[i].chunk))
            iter->waiting[iter->count++] = &rows[i];
    qsort(iter->waiting, iter->count, sizeof(const struct rtl_api_row *), by_start);
    return RTL_OK;
}

/* Giving out. */

/* The name of a call whose definition never came. */
static const char *lost_name(rtl_trace_t *trace, uint32_t call)
{
    uint32_t place = rtl_index_get(&trace->lost_index, call);
    if (place != RTL_INDEX_MISSING)
        return ((const char *const *)trace->lost_names.items)[place];
    char text[24];
    (void)snprintf(text, sizeof text, "call %u", call);
    const char *name = rtl_trace_string(trace, text);
    const char **added = name ? rtl_list_append(&trace->lost_names, sizeof name) : NULL;
    if (!added)
        return name ? name : "";
    *added = name;
    (void)rtl_index_put(&trace->lost_index, call, rtl_list_last(&trace->lost_names));
    return name;
}

static void fill(rtl_trace_t *trace, const struct rtl_found_call *found, rtl_api_t *api)
{
    const struct rtl_call *call = found->call;
    uint32_t process = found->row->chunk.process;
    uint32_t place = rtl_index_get(&trace->call_index, rtl_index_key(process, call->call));
    const rtl_call_definition_t *definition =
        place == RTL_INDEX_MISSING ? NULL
                                   : (const rtl_call_definition_t *)trace->calls.items + place;
    *api = (rtl_api_t){
        .id = (uint64_t)found->row->number * RTL_CHUNK_CALLS_MAX + found->place,
        .process = process,
        .thread = call->thread,
        .name = definition ? definition->name : lost_name(trace, call->call),
        .start = call->start,
        .end = call->end,
        .correlation = call->correlation,
        .range = call->range,
        .stream = call->stream,
        .result = call->result,
        .definition = definition,
        .words = found->words,
        .word_count = call->words,
    };
}

static rtl_status_t next_of_merge(rtl_api_iter_t *iter, rtl_api_t *api)
{
    free_cursor(iter->current);
    iter->current = NULL;
    while (must_open(iter)) {
        rtl_status_t status = open_next(iter);
        if (status != RTL_OK)
            return status;
    }
    if (iter->heap.count == 0)
        return RTL_END;
    struct cursor *least = iter->heap.items[0].cursor;
    uint32_t place = least->places[least->next].call;
    const struct rtl_call *call = &least->calls[place];
    const struct rtl_found_call found = {least->row, place, call, least->words + call->first};
    fill(iter->trace, &found, api);
    if (++least->next < least->count) {
        rtl_heap_advance(&iter->heap, least->places[least->next].key);
    } else {
        rtl_heap_pop(&iter->heap);
        iter->current = least;
    }
    return RTL_OK;
}

/* The call with the filter's correlation in the next process that has one. The chunk it is in may
 * be forgotten by the next look-up, so its words are copied. */
static rtl_status_t next_of_processes(rtl_api_iter_t *iter, rtl_api_t *api)
{
    rtl_trace_t *trace = iter->trace;
    const rtl_process_t *processes = trace->processes.items;
    while (iter->next < trace->processes.count) {
        uint32_t process = processes[iter->next++].process;
        struct rtl_found_call found;
        if (iter->filter.process && iter->filter.process != process)
            continue;
        rtl_status_t status = rtl_trace_find_call(trace, process, iter->filter.correlation, &found);
        if (status != RTL_OK && status != RTL_END)
            return fail(iter, status);
        if (status == RTL_END || !call_passes(&iter->filter, found.call))
            continue;
        size_t size = found.call->words * sizeof *iter->words;
        uint64_t *words = realloc(iter->words, size + 1);
        if (!words)
            return fail_memory(iter);
        iter->words = size ? memcpy(words, found.words, size) : words;
        found.words = iter->words;
        fill(trace, &found, api);
        return RTL_OK;
    }
    return RTL_END;
}

rtl_status_t rtlApiNext(rtl_api_iter_t *iter, rtl_api_t *api)
{
    if (!iter || !api)
        return RTL_E_ARGUMENT;
    if (iter->failed != RTL_OK)
        return iter->failed;
    rtl_status_t status;
    do
        status = iter->filter.correlation ? next_of_processes(iter, api) : next_of_merge(iter, api);
    while (status == RTL_OK && !rtl_select_call(iter->trace->select, api));
    return status;
}

rtl_status_t rtl_trace_api(rtl_trace_t *trace, const rtl_api_filter_t *filter, int64_t chunk,
                           rtl_api_iter_t **iter)
{
    rtl_status_t status = RTL_OK;
    rtl_api_iter_t *made = calloc(1, sizeof *made);
    if (!made)
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    made->trace = trace;
    if (filter)
        made->filter = *filter;
    if (made->filter.correlation == 0) {
        made->codec = rtl_api_codec_new();
        status = made->codec ? choose_chunks(made, chunk) : fail_memory(made);
    }
    if (status == RTL_OK)
        *iter = made;
    else
        rtlApiIterFree(made);
    return status;
}

rtl_status_t rtlTraceApi(rtl_trace_t *trace, const rtl_api_filter_t *filter, rtl_api_iter_t **iter)
{
    if (!trace || !iter)
        return RTL_E_ARGUMENT;
    *iter = NULL;
    return rtl_trace_api(trace, filter, 0, iter);
}

void rtlApiIterFree(rtl_api_iter_t *iter)
{
    if (!iter)
        return;
    for (size_t i = 0; i < iter->heap.count; i++)
        free_cursor(iter->heap.items[i].cursor);
    free_cursor(iter->current);
    rtl_heap_free(&iter->heap);
    rtl_api_codec_free(iter->codec);
    free(iter->waiting);
    free(iter->words);
    free(iter);
}

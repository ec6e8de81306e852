#include "store/callers.h"

#include "common/index.h"
#include "store/streams.h"

#include <stdlib.h>
#include <string.h>

/* Room for calls and words over all processes. */
#define ROOM_MAX ((uint64_t)24 << 20)

/* At a checkpoint a chunk of fewer calls stays open, as one of kernels does. */
#define SEAL_AT 4096u

/* Numbers in the order in which they came; the place of each by its value. */
struct numbered {
    struct rtl_index places;
    uint64_t *values;
    uint32_t count, capacity;
    uint32_t stored; /* of `count` */
};

struct rtl_caller {
    uint32_t process;
    struct rtl_call *calls;
    uint64_t *words;
    uint32_t count, capacity;
    uint32_t word_count, word_capacity;
    uint32_t stored; /* of `count`, as last stored under `chunk` */
    int64_t chunk;
    struct rtl_streams streams;
    struct numbered threads;
};

/* The place of a value, which is added if it is new; RTL_NONE when memory is short. */
static uint32_t number_of(struct numbered *numbered, uint64_t value)
{
    uint32_t place = rtl_index_get(&numbered->places, value);
    if (place != RTL_INDEX_MISSING)
        return place;
    if (numbered->count == numbered->capacity) {
        uint32_t capacity = numbered->capacity ? 2 * numbered->capacity : 16;
        uint64_t *values = realloc(numbered->values, capacity * sizeof *values);
        if (!values)
            return RTL_NONE;
        numbered->values = values;
        numbered->capacity = capacity;
    }
    if (rtl_index_put(&numbered->places, value, numbered->count) != 0)
        return RTL_NONE;
    numbered->values[numbered->count] = value;
    return numbered->count++;
}

static void numbered_free(struct numbered *numbered)
{
    rtl_index_free(&numbered->places);
    free(numbered->values);
}

static void caller_free(struct rtl_caller *caller)
{
    free(caller->calls);
    free(caller->words);
    rtl_streams_free(&caller->streams);
    numbered_free(&caller->threads);
    free(caller);
}

void rtl_callers_free(struct rtl_callers *callers)
{
    for (size_t i = 0; i < callers->count; i++)
        caller_free(callers->list[i]);
    free(callers->list);
    rtl_api_codec_free(callers->codec);
    *callers = (struct rtl_callers){0};
}

static struct rtl_caller *add_caller(struct rtl_callers *callers, uint32_t process)
{
    if (!callers->codec && !(callers->codec = rtl_api_codec_new()))
        return NULL;
    if (callers->count == callers->capacity) {
        size_t capacity = callers->capacity ? 2 * callers->capacity : 16;
        struct rtl_caller **list = realloc(callers->list, capacity * sizeof(struct rtl_caller *));
        if (!list)
            return NULL;
        callers->list = list;
        callers->capacity = capacity;
    }
    struct rtl_caller *caller = calloc(1, sizeof *caller);
    if (!caller)
        return NULL;
    caller->process = process;
    callers->list[callers->count++] = caller;
    return caller;
}

struct rtl_caller *rtl_callers_get(struct rtl_callers *callers, uint32_t process)
{
    if (callers->last && callers->last->process == process)
        return callers->last;
    for (size_t i = 0; i < callers->count; i++)
        if (callers->list[i]->process == process)
            return callers->last = callers->list[i];
    struct rtl_caller *added = add_caller(callers, process);
    if (added)
        callers->last = added;
    return added;
}

/* The chunk has calls that began at `time` or later and were taken for the stream before. */
static void put_right(struct rtl_caller *caller, uint64_t time, uint32_t before, uint32_t stream)
{
    for (uint32_t i = 0; i < caller->count; i++) {
        struct rtl_call *call = &caller->calls[i];
        if (call->stream != before || call->start + RTL_STREAM_SLACK_NS < time)
            continue;
        call->stream = stream;
        caller->stored = 0; /* it is stored again */
    }
}

int rtl_caller_stream(struct rtl_caller *caller, const struct rtl_wire_stream *wire)
{
    uint32_t before = RTL_NONE;
    if (wire->done_ns)
        return rtl_streams_end(&caller->streams, wire->handle, wire->time_ns, wire->done_ns);
    uint32_t stream = rtl_streams_begin(&caller->streams, wire->handle, wire->time_ns, &before);
    if (stream != RTL_NONE && before != RTL_NONE)
        put_right(caller, wire->time_ns, before, stream);
    return stream == RTL_NONE ? -1 : 0;
}

int rtl_caller_name_stream(struct rtl_caller *caller, uint64_t handle, const char *text,
                           size_t length)
{
    return rtl_streams_name(&caller->streams, handle, text, length);
}

int rtl_caller_thread(struct rtl_caller *caller, uint32_t thread)
{
    return number_of(&caller->threads, thread) == RTL_NONE ? -1 : 0;
}

static enum rtl_append make_room(struct rtl_callers *callers, struct rtl_caller *caller,
                                 uint32_t words)
{
    enum rtl_append result = RTL_APPEND_ADDED;
    if (caller->count == RTL_CHUNK_CALLS || words > RTL_CHUNK_WORDS - caller->word_count)
        return RTL_APPEND_FULL;
    if (caller->count == caller->capacity) {
        void *calls = caller->calls;
        result = rtl_append_grow(&calls, sizeof *caller->calls, &caller->capacity, 0,
                                 &callers->room, ROOM_MAX);
        caller->calls = calls;
    }
    if (result == RTL_APPEND_ADDED && words > caller->word_capacity - caller->word_count) {
        void *all = caller->words;
        result = rtl_append_grow(&all, sizeof *caller->words, &caller->word_capacity,
                                 caller->word_count + words, &callers->room, ROOM_MAX);
        caller->words = all;
    }
    return result;
}

enum rtl_append rtl_caller_add(struct rtl_callers *callers, struct rtl_caller *caller,
                               const struct rtl_wire_api *api, const void *words)
{
    uint32_t stream = RTL_NONE;
    enum rtl_append result = make_room(callers, caller, api->words);
    if (result != RTL_APPEND_ADDED)
        return result;
    if (api->flags & RTL_API_STREAM &&
        (stream = rtl_streams_of(&caller->streams, api->stream, api->start_ns, api->result == 0)) ==
            RTL_NONE)
        return RTL_APPEND_NO_MEMORY;
    if (rtl_caller_thread(caller, api->thread) != 0)
        return RTL_APPEND_NO_MEMORY;
    caller->calls[caller->count++] = (struct rtl_call){.start = api->start_ns,
                                                       .end = api->end_ns,
                                                       .correlation = api->correlation,
                                                       .range = api->range,
                                                       .stream = stream,
                                                       .call = api->call,
                                                       .thread = api->thread,
                                                       .result = api->result,
                                                       .words = api->words};
    if (api->words)
        memcpy(caller->words + caller->word_count, words, api->words * sizeof *caller->words);
    caller->word_count += api->words;
    return RTL_APPEND_ADDED;
}

/* Storing. */

static int store_chunk(struct rtl_callers *callers, struct rtl_caller *caller,
                       struct rtl_rows *rows)
{
    struct rtl_api_chunk chunk = {.process = caller->process};
    const unsigned char *data = NULL;
    size_t size = 0;
    if (caller->count == caller->stored)
        return SQLITE_OK;
    if (rtl_api_encode(callers->codec, caller->calls, caller->count, caller->words, &chunk, &data,
                       &size) != 0)
        return SQLITE_NOMEM;
    if (caller->chunk == 0)
        caller->chunk = ++callers->last_chunk;
    return rtl_rows_api_chunk(rows, caller->chunk, &chunk, data, size);
}

int rtl_caller_store(struct rtl_callers *callers, struct rtl_caller *caller, struct rtl_rows *rows)
{
    int result = store_chunk(callers, caller, rows);
    if (result == SQLITE_OK)
        result = rtl_streams_store(&caller->streams, caller->process, rows);
    const struct numbered *threads = &caller->threads;
    for (uint32_t i = threads->stored; i < threads->count && result == SQLITE_OK; i++)
        result = rtl_rows_thread(rows, caller->process, (uint32_t)threads->values[i]);
    return result;
}

int rtl_callers_store(struct rtl_callers *callers, struct rtl_rows *rows)
{
    int result = SQLITE_OK;
    for (size_t i = 0; i < callers->count && result == SQLITE_OK; i++)
        result = rtl_caller_store(callers, callers->list[i], rows);
    return result;
}

void rtl_caller_stored(struct rtl_caller *caller, bool seal)
{
    rtl_streams_stored(&caller->streams);
    caller->threads.stored = caller->threads.count;
    caller->stored = caller->count;
    if (!seal && caller->count < SEAL_AT)
        return;
    caller->count = caller->stored = caller->word_count = 0;
    caller->chunk = 0;
}

static void give_back(struct rtl_callers *callers, struct rtl_caller *caller)
{
    callers->room -= caller->capacity * sizeof *caller->calls;
    callers->room -= caller->word_capacity * sizeof *caller->words;
    free(caller->calls);
    free(caller->words);
    caller->calls = NULL;
    caller->words = NULL;
    caller->capacity = caller->word_capacity = 0;
}

void rtl_callers_stored(struct rtl_callers *callers, bool seal)
{
    for (size_t i = 0; i < callers->count; i++) {
        rtl_caller_stored(callers->list[i], seal);
        if (seal)
            give_back(callers, callers->list[i]);
    }
}

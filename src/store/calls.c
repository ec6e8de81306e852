/* Reading what is known of host calls into memory: everything but the calls themselves. */
#include "store/tables.h"
#include "store/thread_names.h"

#include <stdlib.h>
#include <string.h>

/* Takes "name:type" or "name:b[enumeration]" from `*text`, which is cut up. */
static rtl_parameter_t take_parameter(char **text)
{
    rtl_parameter_t parameter = {.name = "", .type = 'u', .enumeration = ""};
    char *name = *text;
    char *comma = strchr(name, ',');
    if (comma)
        *comma = '\0';
    *text = comma ? comma + 1 : name + strlen(name);
    parameter.name = name;
    char *colon = strchr(name, ':');
    if (!colon || !colon[1])
        return parameter;
    *colon = '\0';
    parameter.type = colon[1];
    if (colon[1] != 'b' || colon[2] != '[')
        return parameter;
    parameter.enumeration = colon + 3;
    colon[3 + strcspn(colon + 3, "]")] = '\0';
    return parameter;
}

/* 0, or -1 when memory is short. */
static int take_parameters(rtl_call_definition_t *call, const char *arguments)
{
    size_t length = strlen(arguments);
    size_t count = length > 0;
    for (const char *c = arguments; *c; c++)
        count += *c == ',';
    if (count == 0)
        return 0;
    /* The texts stand behind the list. */
    rtl_parameter_t *parameters = malloc(count * sizeof *parameters + length + 1);
    if (!parameters)
        return -1;
    char *text = memcpy(parameters + count, arguments, length + 1);
    for (size_t i = 0; i < count; i++)
        parameters[i] = take_parameter(&text);
    call->parameters = parameters;
    call->parameter_count = count;
    return 0;
}

static int take_call(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    rtl_call_definition_t *call = item;
    const char *arguments = (const char *)sqlite3_column_text(row, 3);
    call->process = rtl_row_u32(trace, row, 0);
    call->call = rtl_row_u32(trace, row, 1);
    call->name = rtl_row_text(trace, row, 2);
    if (!call->name || (arguments && take_parameters(call, arguments) != 0))
        return -1;
    return rtl_index_put(&trace->call_index, rtl_index_key(call->process, call->call),
                         rtl_list_last(&trace->calls));
}

static int take_chunk(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    struct rtl_api_row *chunk = item;
    chunk->number = sqlite3_column_int64(row, 0);
    chunk->chunk = (struct rtl_api_chunk){
        .process = rtl_row_u32(trace, row, 1),
        .calls = rtl_row_u32(trace, row, 2),
        .words = rtl_row_u32(trace, row, 3),
        .start_min = rtl_row_u64(row, 4),
        .end_max = rtl_row_u64(row, 5),
        .correlation_min = rtl_row_u64(row, 6),
        .correlation_max = rtl_row_u64(row, 7),
        .checksum = rtl_row_u32(trace, row, 8),
    };
    trace->info.calls += chunk->chunk.calls;
    return 0;
}

static int take_stream(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    rtl_stream_t *stream = item;
    stream->process = rtl_row_u32(trace, row, 0);
    stream->stream = rtl_row_u32(trace, row, 1);
    stream->handle = rtl_row_u64(row, 2);
    stream->name = rtl_row_text(trace, row, 3);
    stream->generation = rtl_row_u32(trace, row, 4);
    stream->created = rtl_row_u64(row, 5);
    stream->destroyed = rtl_row_u64(row, 6);
    return stream->name ? 0 : -1;
}

static int take_thread(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    rtl_thread_t *thread = item;
    thread->process = rtl_row_u32(trace, row, 0);
    thread->thread = rtl_row_u32(trace, row, 1);
    thread->name = rtl_row_text(trace, row, 2);
    thread->tid = rtl_row_u32(trace, row, 3);
    thread->generation = rtl_row_u32(trace, row, 4);
    thread->comm = rtl_row_text(trace, row, 5);
    return thread->name && thread->comm ? 0 : -1;
}

static int take_name(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    rtl_name_t *name = item;
    name->process = rtl_row_u32(trace, row, 0);
    name->kind = rtl_row_text(trace, row, 1);
    name->handle = rtl_row_u64(row, 2);
    name->name = rtl_row_text(trace, row, 3);
    return name->kind && name->name ? 0 : -1;
}

static int by_process_and_correlation(const void *left, const void *right)
{
    const struct rtl_api_chunk *a = &((const struct rtl_api_place *)left)->row->chunk;
    const struct rtl_api_chunk *b = &((const struct rtl_api_place *)right)->row->chunk;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->correlation_min > b->correlation_min) - (a->correlation_min < b->correlation_min);
}

/* Puts the chunks in the order in which correlations are looked up. */
static rtl_status_t order_chunks(rtl_trace_t *trace)
{
    const struct rtl_api_row *rows = trace->api_rows.items;
    for (size_t i = 0; i < trace->api_rows.count; i++) {
        struct rtl_api_place *place = rtl_list_append(&trace->api_places, sizeof *place);
        if (!place)
            return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
        place->row = &rows[i];
    }
    struct rtl_api_place *places = trace->api_places.items;
    size_t count = trace->api_places.count;
    if (count)
        qsort(places, count, sizeof *places, by_process_and_correlation);
    for (size_t i = 0; i < count; i++) {
        places[i].most = places[i].row->chunk.correlation_max;
        if (i && places[i - 1].row->chunk.process == places[i].row->chunk.process &&
            places[i - 1].most > places[i].most)
            places[i].most = places[i - 1].most;
    }
    return RTL_OK;
}

/* Before format 1.5 a handle or thread id that came again was the same stream or thread. */
static const char streams_before_5[] =
    "SELECT s.process, s.stream, s.handle, n.name, 1, NULL, NULL FROM main.streams s"
    " LEFT JOIN main.names n ON n.process = s.process AND n.kind = 'stream'"
    " AND n.handle = s.handle ORDER BY s.process, s.stream";
static const char threads_before_5[] =
    "SELECT t.process, t.thread, n.name, t.thread, 1, NULL FROM main.threads t"
    " LEFT JOIN main.names n ON n.process = t.process AND n.kind = 'thread'"
    " AND n.handle = t.thread ORDER BY t.process, t.thread";
/* A merged trace may have rows from before. */
static const char streams[] =
    "SELECT s.process, s.stream, s.handle, CASE WHEN s.generation IS NULL THEN n.name"
    " ELSE s.name END, coalesce(s.generation, 1), s.created, s.destroyed FROM main.streams s"
    " LEFT JOIN main.names n ON s.generation IS NULL AND n.process = s.process"
    " AND n.kind = 'stream' AND n.handle = s.handle ORDER BY s.process, s.stream";
static const char threads[] = "SELECT t.process, t.thread, " RTL_SQL_THREAD_NAME(
    "main.threads") ", coalesce(t.tid,"
                    " t.thread), coalesce(t.generation, 1), t.comm FROM main.threads t"
                    " LEFT JOIN main.processes p ON p.process = t.process"
                    " LEFT JOIN main.names n ON n.process = t.process AND n.kind = 'thread'"
                    " AND n.handle = t.thread ORDER BY t.process, t.thread";

rtl_status_t rtl_trace_load_calls(rtl_trace_t *trace)
{
    bool named = rtl_trace_has_generations(trace);
    const struct rtl_table tables[] = {
        {"SELECT process, call, name, arguments FROM main.calls ORDER BY process, call",
         sizeof(rtl_call_definition_t), take_call, &trace->calls},
        {"SELECT chunk, process, calls, words, start_min, end_max, correlation_min,"
         " correlation_max, checksum FROM main.api_chunks ORDER BY chunk",
         sizeof(struct rtl_api_row), take_chunk, &trace->api_rows},
        {named ? streams : streams_before_5, sizeof(rtl_stream_t), take_stream, &trace->streams},
        {named ? threads : threads_before_5, sizeof(rtl_thread_t), take_thread, &trace->threads},
        {"SELECT process, kind, handle, name FROM main.names ORDER BY process, kind, handle",
         sizeof(rtl_name_t), take_name, &trace->names},
    };
    rtl_status_t status = RTL_OK;
    for (size_t i = 0; i < sizeof tables / sizeof *tables && status == RTL_OK; i++)
        status = rtl_table_load(trace, &tables[i]);
    return status == RTL_OK ? order_chunks(trace) : status;
}

void rtl_trace_unload_calls(rtl_trace_t *trace)
{
    rtl_call_definition_t *calls = trace->calls.items;
    for (size_t i = 0; i < trace->calls.count; i++)
        free((void *)calls[i].parameters);
    rtl_list_free(&trace->calls);
    rtl_list_free(&trace->api_rows);
    rtl_list_free(&trace->api_places);
    rtl_list_free(&trace->streams);
    rtl_list_free(&trace->threads);
    rtl_list_free(&trace->names);
    rtl_list_free(&trace->lost_names);
    rtl_index_free(&trace->call_index);
    rtl_index_free(&trace->lost_index);
}

#include "store/rows.h"

#include "rtl/rtl_trace.h"
#include "store/text.h"

#include <stdlib.h>

enum statement {
    INSERT_PROCESS,
    INSERT_AGENT,
    INSERT_QUEUE,
    END_QUEUE,
    INSERT_SYMBOL,
    INSERT_SYMBOL_BLOCK,
    INSERT_SHAPE,
    INSERT_CLOCK,
    INSERT_CLOCK_SNAPSHOT,
    INSERT_NOTE,
    INSERT_CHUNK,
    INSERT_COPY,
    INSERT_CALL,
    BEGIN_RANGE,
    END_RANGE,
    INSERT_NAME,
    INSERT_API_CHUNK,
    INSERT_LAUNCH_CHUNK,
    INSERT_CHUNK_LAUNCHES,
    INSERT_STREAM,
    INSERT_THREAD,
    NAME_THREAD,
    NAME_PROCESS,
    TITLE_PROCESS,
    BEGIN_PAUSE,
    END_PAUSE,
    INSERT_COUNTING,
    INSERT_COUNTER,
    INSERT_SAMPLE_CHUNK,
    CLEAR_UNCOUNTED,
    INSERT_UNCOUNTED,
    INSERT_HIP_QUEUE,
    INSERT_EXCHANGE,
    INSERT_ACCOUNT,
    CLEAR_LOSSES,
    INSERT_LOSS,
    INSERT_LEFT_OUT,
    INSERT_OPAQUE,
    INSERT_KIND,
    CLEAR_KIND_LOSSES,
    INSERT_KIND_LOSS,
    END_PROCESS,
    INSERT_META
};

/* "INSERT OR REPLACE" where a key could come twice from a ring that lost records: the later one is
 * taken, and nothing else of the trace is. */
static const char *const sources[] = {
    [INSERT_PROCESS] =
        ("INSERT INTO processes VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, 'running', 0,"
         " NULL, NULL)"
         " ON CONFLICT(process) DO UPDATE SET way = excluded.way"),
    [INSERT_AGENT] = "INSERT OR REPLACE INTO agents VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    /* One that is followed from later on is described again: it was there before. */
    [INSERT_QUEUE] = ("INSERT INTO queues VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)"
                      " ON CONFLICT DO UPDATE SET agent = excluded.agent, way = excluded.way"),
    [END_QUEUE] = "UPDATE queues SET end = ? WHERE process = ? AND queue = ?",
    /* Names that are the same stand there once. */
    [INSERT_SYMBOL] = ("INSERT OR REPLACE INTO symbols"
                       " VALUES(?1, ?2, ?3, ?4, ?5, nullif(?6, ?5), ?7, ?8, ?9)"),
    [INSERT_SYMBOL_BLOCK] = "INSERT INTO symbol_blocks VALUES(NULL, ?, ?, ?, ?, ?, ?, ?)",
    [INSERT_SHAPE] = "INSERT OR REPLACE INTO shapes VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [INSERT_CLOCK] = "INSERT OR REPLACE INTO clock_points VALUES(?, ?, ?, ?)",
    [INSERT_CLOCK_SNAPSHOT] = "INSERT OR REPLACE INTO clock_brackets VALUES(?, ?, ?, ?, ?, ?)",
    [INSERT_NOTE] = "INSERT INTO notes(process, queue, time, text) VALUES(?, ?, ?, ?)",
    [INSERT_CHUNK] = "INSERT OR REPLACE INTO kernel_chunks VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [INSERT_COPY] = "INSERT INTO copies VALUES(NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [INSERT_CALL] = "INSERT OR REPLACE INTO calls VALUES(?, ?, ?, ?)",
    /* Begin and end of a range may come in either order. */
    [BEGIN_RANGE] = ("INSERT INTO ranges(process, id, thread, kind, name, start, end, parent)"
                     " VALUES(?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(process, id) DO UPDATE SET"
                     " (thread, kind, name, start, parent) = (excluded.thread, excluded.kind,"
                     " excluded.name, excluded.start, excluded.parent)"),
    [END_RANGE] = ("INSERT INTO ranges(process, id, end) VALUES(?, ?, ?)"
                   " ON CONFLICT(process, id) DO UPDATE SET end = excluded.end"),
    [INSERT_NAME] = "INSERT OR REPLACE INTO names VALUES(?, ?, ?, ?)",
    [INSERT_API_CHUNK] = "INSERT OR REPLACE INTO api_chunks VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [INSERT_LAUNCH_CHUNK] = ("INSERT OR REPLACE INTO launch_chunks"
                             " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
    [INSERT_CHUNK_LAUNCHES] = "INSERT OR REPLACE INTO kernel_chunk_launches VALUES(?, ?, ?)",
    [INSERT_STREAM] = "INSERT OR REPLACE INTO streams VALUES(?, ?, ?, ?, ?, ?, ?)",
    /* A thread may be known by its name before it is by what it does. */
    [INSERT_THREAD] = ("INSERT INTO threads VALUES(?, ?, ?, ?, NULL)"
                       " ON CONFLICT(process, thread) DO NOTHING"),
    [NAME_THREAD] = ("INSERT INTO threads VALUES(?, ?, ?, ?, ?)"
                     " ON CONFLICT(process, thread) DO UPDATE SET comm = excluded.comm"),
    [NAME_PROCESS] = "UPDATE processes SET comm = ? WHERE process = ?",
    [TITLE_PROCESS] = "UPDATE processes SET title = nullif(?, command) WHERE process = ?",
    [BEGIN_PAUSE] = "INSERT OR REPLACE INTO pauses VALUES(?, ?, NULL, ?)",
    [END_PAUSE] = "UPDATE pauses SET end = ? WHERE process = ? AND end IS NULL",
    [INSERT_COUNTING] = "INSERT OR REPLACE INTO counting VALUES(?, ?, ?, ?, ?)",
    [INSERT_COUNTER] = "INSERT OR REPLACE INTO counters VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
    [INSERT_SAMPLE_CHUNK] =
        "INSERT OR REPLACE INTO sample_chunks VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [CLEAR_UNCOUNTED] = "DELETE FROM uncounted WHERE process = ? AND agent IS ? AND why = ?",
    [INSERT_UNCOUNTED] = "INSERT INTO uncounted VALUES(?, ?, ?, ?)",
    [INSERT_HIP_QUEUE] = "INSERT OR REPLACE INTO hip_queues VALUES(?, ?, ?, ?)",
    [INSERT_EXCHANGE] = ("INSERT INTO clock_exchanges VALUES("
                         "(SELECT value FROM meta WHERE key = 'host'),"
                         " (SELECT value FROM meta WHERE key = 'boot'), ?, ?, ?, ?, ?, ?)"),
    [INSERT_ACCOUNT] = "INSERT OR REPLACE INTO ledger_rows VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [CLEAR_LOSSES] = "DELETE FROM ledger_losses WHERE process = ? AND queue = ?",
    [INSERT_LOSS] = "INSERT INTO ledger_losses VALUES(?, ?, ?, ?)",
    [INSERT_LEFT_OUT] = "INSERT OR REPLACE INTO ledger_left_out VALUES(?, ?, ?, ?)",
    [INSERT_OPAQUE] = "INSERT OR REPLACE INTO ledger_opaque VALUES(?, ?, ?, ?, ?)",
    [INSERT_KIND] = "INSERT OR REPLACE INTO ledger_kind_rows VALUES(?, ?, ?, ?, ?, ?, ?)",
    [CLEAR_KIND_LOSSES] = "DELETE FROM ledger_kind_losses WHERE process = ? AND kind = ?",
    [INSERT_KIND_LOSS] = "INSERT INTO ledger_kind_losses VALUES(?, ?, ?, ?)",
    [END_PROCESS] = "UPDATE processes SET end = ?, state = ?, torn = ? WHERE process = ?",
    [INSERT_META] = "INSERT OR REPLACE INTO meta VALUES(?, ?)",
};

_Static_assert(sizeof sources / sizeof *sources <= RTL_ROWS_STATEMENTS, "room for the statements");

/* A value to bind. */
struct value {
    enum { NUMBER, ID, TEXT, BLOB } kind;
    uint64_t number; /* or the size of a blob */
    const void *bytes;
};

static struct value number(uint64_t value)
{
    return (struct value){.kind = NUMBER, .number = value};
}

/* An id that may be RTL_NONE, which is stored as NULL. */
static struct value id(uint32_t value)
{
    return (struct value){.kind = ID, .number = value};
}

static struct value text(const char *value)
{
    return (struct value){.kind = TEXT, .bytes = value};
}

static int bind(sqlite3_stmt *statement, int place, const struct value *value)
{
    switch (value->kind) {
    case TEXT: /* no text is one that could not be made */
        if (!value->bytes)
            return SQLITE_NOMEM;
        return sqlite3_bind_text(statement, place, value->bytes, -1, SQLITE_STATIC);
    case BLOB:
        return sqlite3_bind_blob64(statement, place, value->bytes, value->number, SQLITE_STATIC);
    case ID:
        if (value->number == RTL_NONE)
            return sqlite3_bind_null(statement, place);
        break;
    case NUMBER:
        break;
    }
    return sqlite3_bind_int64(statement, place, (sqlite3_int64)value->number);
}

static int run(struct rtl_rows *rows, enum statement which, const struct value *values, int count)
{
    sqlite3_stmt **statement = &rows->statements[which];
    int result = SQLITE_OK;
    if (!*statement)
        result = sqlite3_prepare_v3(rows->db, sources[which], -1, SQLITE_PREPARE_PERSISTENT,
                                    statement, NULL);
    for (int i = 0; i < count && result == SQLITE_OK; i++)
        result = bind(*statement, i + 1, &values[i]);
    if (result != SQLITE_OK)
        return result;
    (void)sqlite3_step(*statement);
    result = sqlite3_reset(*statement);
    (void)sqlite3_clear_bindings(*statement);
    return result;
}

#define RUN(rows, which, values) run(rows, which, values, (int)(sizeof(values) / sizeof *(values)))

/* Takes the next text of `length` bytes. */
static char *take(const char **texts, size_t length)
{
    char *copy = rtl_text_copy(*texts, length);
    *texts += length;
    return copy;
}

static int insert_process(struct rtl_rows *rows, uint32_t process,
                          const struct rtl_wire_process *body, const char *texts)
{
    char *command = take(&texts, body->command_length);
    char *host = take(&texts, body->host_length);
    char *library = take(&texts, body->library_length);
    char *rank = take(&texts, body->rank_length);
    char *hsa = sqlite3_mprintf("%d.%d", body->hsa_major, body->hsa_minor);
    const struct value values[] = {number(process),
                                   number(body->pid),
                                   number(body->ppid),
                                   text(command),
                                   text(host),
                                   text(rank),
                                   text(rtl_text_mode(body->mode)),
                                   text(rtl_text_interception(body->interception)),
                                   text(library),
                                   text(hsa),
                                   number(body->core_table),
                                   number(body->ext_table),
                                   number(body->time_ns)};
    int result = RUN(rows, INSERT_PROCESS, values);
    free(command);
    free(host);
    free(library);
    free(rank);
    sqlite3_free(hsa);
    return result;
}

static int insert_agent(struct rtl_rows *rows, uint32_t process, const struct rtl_wire_agent *body,
                        const char *texts)
{
    char *name = take(&texts, body->name_length);
    char *product = take(&texts, body->product_length);
    char *uuid = take(&texts, body->uuid_length);
    const struct value values[] = {number(process),
                                   number(body->agent),
                                   id(body->gpu),
                                   text(rtl_text_device(body->device_type)),
                                   text(name),
                                   text(product),
                                   text(uuid),
                                   number(body->node),
                                   number(body->bdf),
                                   number(body->compute_units),
                                   number(body->clock_hz),
                                   number(body->handle)};
    int result = RUN(rows, INSERT_AGENT, values);
    free(name);
    free(product);
    free(uuid);
    return result;
}

static int insert_queue(struct rtl_rows *rows, uint32_t process, const struct rtl_wire_queue *body)
{
    const struct value values[] = {
        number(process),        number(body->queue),
        number(body->agent),    number(body->address),
        number(body->hsa_id),   number(body->size),
        number(body->hsa_type), text(rtl_text_interception(body->interception)),
        number(body->time_ns)};
    return RUN(rows, INSERT_QUEUE, values);
}

static int end_queue(struct rtl_rows *rows, uint32_t process, const struct rtl_wire_queue_end *body)
{
    const struct value values[] = {number(body->time_ns), number(process), number(body->queue)};
    return RUN(rows, END_QUEUE, values);
}

int rtl_rows_symbol(struct rtl_rows *rows, uint32_t process, const struct rtl_packed_symbol *symbol)
{
    const struct value values[] = {number(process),
                                   number(symbol->symbol),
                                   number(symbol->agent),
                                   number(symbol->kernel_object),
                                   text(symbol->name),
                                   text(symbol->mangled),
                                   number(symbol->kernarg_size),
                                   number(symbol->group_size),
                                   number(symbol->private_size)};
    return RUN(rows, INSERT_SYMBOL, values);
}

int rtl_rows_symbol_block(struct rtl_rows *rows, const struct rtl_symbol_block *block,
                          const void *data, size_t size)
{
    const struct value values[] = {number(block->process),
                                   number(block->symbols),
                                   number(block->bytes),
                                   number(block->symbol_min),
                                   number(block->symbol_max),
                                   number(block->checksum),
                                   {.kind = BLOB, .bytes = data, .number = size}};
    return RUN(rows, INSERT_SYMBOL_BLOCK, values);
}

static int insert_shape(struct rtl_rows *rows, uint32_t process, const struct rtl_wire_shape *body)
{
    const struct value values[] = {number(process),          number(body->shape),
                                   id(body->symbol),         number(body->kernel_object),
                                   number(body->grid[0]),    number(body->grid[1]),
                                   number(body->grid[2]),    number(body->block[0]),
                                   number(body->block[1]),   number(body->block[2]),
                                   number(body->group_size), number(body->private_size)};
    return RUN(rows, INSERT_SHAPE, values);
}

static int insert_clock(struct rtl_rows *rows, uint32_t process, const struct rtl_wire_clock *body)
{
    const struct value values[] = {number(process), number(body->agent), number(body->ticks),
                                   number(body->system_ns)};
    return RUN(rows, INSERT_CLOCK, values);
}

static int insert_clock_snapshot(struct rtl_rows *rows, uint32_t process,
                                 const struct rtl_wire_clock_snapshot *body)
{
    const struct value values[] = {
        number(process),           number(body->system_ns),   number(body->monotonic_ns),
        number(body->boottime_ns), number(body->realtime_ns), number(body->width_ns)};
    return RUN(rows, INSERT_CLOCK_SNAPSHOT, values);
}

static int insert_note(struct rtl_rows *rows, uint32_t process, const struct rtl_wire_note *body,
                       const char *texts)
{
    char *sentence = take(&texts, body->text_length);
    const struct value values[] = {number(process), id(body->queue), number(body->time_ns),
                                   text(sentence)};
    int result = RUN(rows, INSERT_NOTE, values);
    free(sentence);
    return result;
}

/* A number that 0 says nothing about, which is stored as NULL. */
static struct value known(uint64_t value)
{
    return value ? number(value) : id(RTL_NONE);
}

static int insert_copy(struct rtl_rows *rows, uint32_t process, const struct rtl_wire_copy *body)
{
    const struct value values[] = {number(process),
                                   number(body->queue),
                                   number(body->ordinal),
                                   known(body->start),
                                   known(body->end),
                                   number(body->bytes),
                                   text(rtl_text_copy_kind(body->kind)),
                                   text(rtl_text_copy_engine(body->engine)),
                                   id(body->src),
                                   id(body->dst),
                                   known(body->correlation)};
    return RUN(rows, INSERT_COPY, values);
}

static int insert_call(struct rtl_rows *rows, uint32_t process, const struct rtl_wire_call *body,
                       const char *texts)
{
    char *name = take(&texts, body->name_length);
    char *arguments = take(&texts, body->arguments_length);
    const struct value values[] = {number(process), number(body->call), text(name),
                                   text(arguments)};
    int result = RUN(rows, INSERT_CALL, values);
    free(name);
    free(arguments);
    return result;
}

/* A mark ends as it begins. */
static int begin_range(struct rtl_rows *rows, uint32_t process, const struct rtl_wire_range *body,
                       const char *texts)
{
    char *name = take(&texts, body->text_length);
    const struct value end = body->kind == RTL_RANGE_MARK ? number(body->start_ns) : id(RTL_NONE);
    const struct value values[] = {number(process),
                                   number(body->id),
                                   number(body->thread),
                                   text(rtl_text_range_kind(body->kind)),
                                   text(name),
                                   number(body->start_ns),
                                   end,
                                   known(body->parent)};
    int result = RUN(rows, BEGIN_RANGE, values);
    free(name);
    return result;
}

static int end_range(struct rtl_rows *rows, uint32_t process, const struct rtl_wire_range_end *body)
{
    const struct value values[] = {number(process), number(body->id), number(body->end_ns)};
    return RUN(rows, END_RANGE, values);
}

/* What Linux calls a thread or process. */
static int store_comm(struct rtl_rows *rows, uint32_t process, const struct rtl_wire_name *body,
                      const char *name)
{
    const struct value of_process[] = {text(name), number(process)};
    uint32_t thread = (uint32_t)body->handle;
    const struct value of_thread[] = {number(process), number(thread),
                                      number(rtl_thread_tid(thread)),
                                      number(rtl_thread_generation(thread)), text(name)};
    if (body->kind == RTL_NAMED_COMM)
        return RUN(rows, NAME_THREAD, of_thread);
    return run(rows, body->kind == RTL_NAMED_TITLE ? TITLE_PROCESS : NAME_PROCESS, of_process, 2);
}

static int insert_name(struct rtl_rows *rows, uint32_t process, const struct rtl_wire_name *body,
                       const char *texts)
{
    char *name = take(&texts, body->text_length);
    const struct value values[] = {number(process), text(rtl_text_named(body->kind)),
                                   number(body->handle), text(name)};
    int result = body->kind >= RTL_NAMED_COMM ? store_comm(rows, process, body, name)
                                              : RUN(rows, INSERT_NAME, values);
    free(name);
    return result;
}

static int store_pause(struct rtl_rows *rows, uint32_t process, const struct rtl_wire_pause *body)
{
    const struct value begin[] = {number(process), number(body->time_ns),
                                  text(rtl_text_pause(body->why))};
    const struct value end[] = {number(body->time_ns), number(process)};
    return body->stopped ? RUN(rows, BEGIN_PAUSE, begin) : RUN(rows, END_PAUSE, end);
}

static int insert_counting(struct rtl_rows *rows, uint32_t process,
                           const struct rtl_wire_counting *body, const char *texts)
{
    char *metrics = take(&texts, body->text_length);
    const struct value values[] = {number(process), text(rtl_text_counting(body->mode)),
                                   number(body->pass), number(body->passes), text(metrics)};
    int result = RUN(rows, INSERT_COUNTING, values);
    free(metrics);
    return result;
}

static int insert_counter(struct rtl_rows *rows, uint32_t process,
                          const struct rtl_wire_counter *body, const char *texts)
{
    char *name = take(&texts, body->name_length);
    const struct value values[] = {
        number(process),     number(body->counter), number(body->agent),     text(name),
        number(body->block), number(body->event),   number(body->instances), number(body->pass)};
    int result = RUN(rows, INSERT_COUNTER, values);
    free(name);
    return result;
}

static int store_uncounted(struct rtl_rows *rows, uint32_t process,
                           const struct rtl_wire_uncounted *body)
{
    const struct value values[] = {number(process), id(body->agent),
                                   text(rtl_text_uncounted(body->why)), number(body->count)};
    int result = run(rows, CLEAR_UNCOUNTED, values, 3);
    return result == SQLITE_OK ? RUN(rows, INSERT_UNCOUNTED, values) : result;
}

static int insert_hip_queue(struct rtl_rows *rows, uint32_t process,
                            const struct rtl_wire_hip_queue *body, const char *texts)
{
    char *library = take(&texts, body->library_length);
    const struct value values[] = {number(process), number(body->queue), text(library),
                                   text(rtl_text_hip_calls(body->calls))};
    int result = RUN(rows, INSERT_HIP_QUEUE, values);
    free(library);
    return result;
}

int rtl_rows_definition(struct rtl_rows *rows, enum rtl_wire_type type, uint32_t process,
                        const void *body, const char *texts)
{
    switch (type) {
    case RTL_WIRE_PROCESS:
        return insert_process(rows, process, body, texts);
    case RTL_WIRE_AGENT:
        return insert_agent(rows, process, body, texts);
    case RTL_WIRE_QUEUE:
        return insert_queue(rows, process, body);
    case RTL_WIRE_QUEUE_END:
        return end_queue(rows, process, body);
    case RTL_WIRE_SHAPE:
        return insert_shape(rows, process, body);
    case RTL_WIRE_CLOCK:
        return insert_clock(rows, process, body);
    case RTL_WIRE_CLOCK_SNAPSHOT:
        return insert_clock_snapshot(rows, process, body);
    case RTL_WIRE_NOTE:
        return insert_note(rows, process, body, texts);
    case RTL_WIRE_COPY:
        return insert_copy(rows, process, body);
    case RTL_WIRE_CALL:
        return insert_call(rows, process, body, texts);
    case RTL_WIRE_RANGE:
        return begin_range(rows, process, body, texts);
    case RTL_WIRE_RANGE_END:
        return end_range(rows, process, body);
    case RTL_WIRE_NAME:
        return insert_name(rows, process, body, texts);
    case RTL_WIRE_PAUSE:
        return store_pause(rows, process, body);
    case RTL_WIRE_COUNTING:
        return insert_counting(rows, process, body, texts);
    case RTL_WIRE_COUNTER:
        return insert_counter(rows, process, body, texts);
    case RTL_WIRE_UNCOUNTED:
        return store_uncounted(rows, process, body);
    case RTL_WIRE_HIP_QUEUE:
        return insert_hip_queue(rows, process, body, texts);
    case RTL_WIRE_SYMBOL: /* symbols.c */
    case RTL_WIRE_STREAM:
    case RTL_WIRE_GRAPH:
    case RTL_WIRE_NODE:
    case RTL_WIRE_LAUNCH:
    case RTL_WIRE_API:
    case RTL_WIRE_KERNEL:
    case RTL_WIRE_KERNELS:
    case RTL_WIRE_VOID:
    case RTL_WIRE_DRAFT_KERNEL:
    case RTL_WIRE_DRAFT_COPY:
    case RTL_WIRE_DRAFT_LAUNCH:
    case RTL_WIRE_SAMPLE:
        break;
    }
    return SQLITE_MISUSE;
}

int rtl_rows_chunk(struct rtl_rows *rows, int64_t chunk_number, const struct rtl_chunk *chunk,
                   const void *data, size_t size)
{
    const struct value values[] = {
        number((uint64_t)chunk_number), number(chunk->process),
        number(chunk->queue),           number(chunk->kernels),
        number(chunk->packet_min),      number(chunk->packet_max),
        number(chunk->start_min),       number(chunk->end_max),
        number(chunk->checksum),        {.kind = BLOB, .bytes = data, .number = size}};
    return RUN(rows, INSERT_CHUNK, values);
}

int rtl_rows_api_chunk(struct rtl_rows *rows, int64_t chunk_number,
                       const struct rtl_api_chunk *chunk, const void *data, size_t size)
{
    const struct value values[] = {
        number((uint64_t)chunk_number), number(chunk->process),
        number(chunk->calls),           number(chunk->words),
        number(chunk->start_min),       number(chunk->end_max),
        number(chunk->correlation_min), number(chunk->correlation_max),
        number(chunk->checksum),        {.kind = BLOB, .bytes = data, .number = size}};
    return RUN(rows, INSERT_API_CHUNK, values);
}

int rtl_rows_launch_chunk(struct rtl_rows *rows, int64_t chunk_number,
                          const struct rtl_launch_chunk *chunk,
                          const struct rtl_launch_packed *packed)
{
    const struct value values[] = {
        number((uint64_t)chunk_number),
        number(chunk->process),
        number(chunk->launches),
        number(chunk->spans),
        number(chunk->headed),
        number(chunk->launch_min),
        number(chunk->launch_max),
        number(chunk->time_min),
        number(chunk->time_max),
        number(chunk->correlation_min),
        number(chunk->correlation_max),
        number(chunk->summary_checksum),
        {.kind = BLOB, .bytes = packed->summary, .number = packed->summary_size},
        number(chunk->checksum),
        {.kind = BLOB, .bytes = packed->data, .number = packed->size}};
    return RUN(rows, INSERT_LAUNCH_CHUNK, values);
}

int rtl_rows_sample_chunk(struct rtl_rows *rows, int64_t chunk_number,
                          const struct rtl_sample_chunk *chunk, const void *data, size_t size)
{
    const struct value values[] = {number((uint64_t)chunk_number),
                                   number(chunk->process),
                                   id(chunk->queue),
                                   number(chunk->samples),
                                   number(chunk->counts),
                                   number(chunk->owner_min),
                                   number(chunk->owner_max),
                                   number(chunk->checksum),
                                   {.kind = BLOB, .bytes = data, .number = size}};
    return RUN(rows, INSERT_SAMPLE_CHUNK, values);
}

int rtl_rows_chunk_launches(struct rtl_rows *rows, int64_t chunk_number, uint32_t launch_min,
                            uint32_t launch_max)
{
    const struct value values[] = {number((uint64_t)chunk_number), id(launch_min), id(launch_max)};
    return RUN(rows, INSERT_CHUNK_LAUNCHES, values);
}

int rtl_rows_stream(struct rtl_rows *rows, const struct rtl_row_stream *row)
{
    const struct value none = id(RTL_NONE);
    const struct value values[] = {
        number(row->process),
        number(row->stream),
        number(row->handle),
        number(row->generation),
        row->name ? text(row->name) : none,
        known(row->created),
        known(row->destroyed),
    };
    return RUN(rows, INSERT_STREAM, values);
}

int rtl_rows_thread(struct rtl_rows *rows, uint32_t process, uint32_t thread)
{
    const struct value values[] = {number(process), number(thread), number(rtl_thread_tid(thread)),
                                   number(rtl_thread_generation(thread))};
    return RUN(rows, INSERT_THREAD, values);
}

static int store_left_out(struct rtl_rows *rows, uint32_t process, uint32_t queue,
                          const struct rtl_writer_account *account)
{
    const struct value values[] = {number(process), number(queue), number(account->stopped),
                                   number(account->withheld)};
    bool any = account->stopped != 0 || account->withheld != 0;
    return any ? RUN(rows, INSERT_LEFT_OUT, values) : SQLITE_OK;
}

static int store_opaque(struct rtl_rows *rows, uint32_t process, uint32_t queue,
                        const struct rtl_writer_account *account)
{
    int result = SQLITE_OK;
    for (int what = 0; what < RTL_OPAQUE_KINDS && result == SQLITE_OK; what++) {
        if (account->opaque[what] == 0)
            continue;
        const struct value values[] = {
            number(process), number(queue), text(rtlOpaqueName((rtl_opaque_t)what)),
            number(account->opaque[what]), number(account->opaque_of_graphs[what])};
        result = RUN(rows, INSERT_OPAQUE, values);
    }
    return result;
}

int rtl_rows_account(struct rtl_rows *rows, uint32_t process, uint32_t queue,
                     const struct rtl_writer_account *account)
{
    const struct value values[] = {number(process),
                                   number(queue),
                                   number(account->packets),
                                   number(account->seen),
                                   number(account->skipped),
                                   number(account->recorded),
                                   number(account->forwarded),
                                   number(account->borrowed),
                                   number(account->helped)};
    const struct value key[] = {number(process), number(queue)};
    int result = RUN(rows, INSERT_ACCOUNT, values);
    if (result == SQLITE_OK)
        result = RUN(rows, CLEAR_LOSSES, key);
    for (int reason = 0; reason < RTL_LOST_REASONS && result == SQLITE_OK; reason++) {
        if (account->lost[reason] == 0)
            continue;
        const struct value loss[] = {number(process), number(queue),
                                     text(rtlLossName((rtl_loss_t)reason)),
                                     number(account->lost[reason])};
        result = RUN(rows, INSERT_LOSS, loss);
    }
    if (result == SQLITE_OK)
        result = store_left_out(rows, process, queue, account);
    return result == SQLITE_OK ? store_opaque(rows, process, queue, account) : result;
}

int rtl_rows_kind(struct rtl_rows *rows, uint32_t process, enum rtl_kind kind,
                  const struct rtl_kind_account *account)
{
    const char *name = rtl_text_kind(kind);
    const struct value values[] = {number(process),
                                   text(name),
                                   number(account->recorded),
                                   number(account->dropped),
                                   number(account->rest.waiting),
                                   number(account->rest.stopped),
                                   number(account->rest.withheld)};
    const struct value key[] = {number(process), text(name)};
    int result = RUN(rows, INSERT_KIND, values);
    if (result == SQLITE_OK)
        result = RUN(rows, CLEAR_KIND_LOSSES, key);
    for (int reason = 0; reason < RTL_LOST_REASONS && result == SQLITE_OK; reason++) {
        if (account->rest.lost[reason] == 0)
            continue;
        const struct value loss[] = {number(process), text(name),
                                     text(rtlLossName((rtl_loss_t)reason)),
                                     number(account->rest.lost[reason])};
        result = RUN(rows, INSERT_KIND_LOSS, loss);
    }
    return result;
}

int rtl_rows_process_end(struct rtl_rows *rows, uint32_t process, const char *state, uint64_t time,
                         uint64_t torn)
{
    const struct value end = time ? number(time) : id(RTL_NONE);
    const struct value values[] = {end, text(state), number(torn), number(process)};
    return RUN(rows, END_PROCESS, values);
}

int rtl_rows_exchange(struct rtl_rows *rows, const struct rtl_exchange *exchange)
{
    const struct value values[] = {text(exchange->peer_host),  text(exchange->peer_boot),
                                   number(exchange->sent),     number(exchange->received),
                                   number(exchange->answered), number(exchange->returned)};
    return RUN(rows, INSERT_EXCHANGE, values);
}

int rtl_rows_meta_number(struct rtl_rows *rows, const char *key, int64_t value)
{
    const struct value values[] = {text(key), number((uint64_t)value)};
    return RUN(rows, INSERT_META, values);
}

int rtl_rows_meta_text(struct rtl_rows *rows, const char *key, const char *value)
{
    const struct value values[] = {text(key), text(value)};
    return RUN(rows, INSERT_META, values);
}

void rtl_rows_close(struct rtl_rows *rows)
{
    for (int i = 0; i < RTL_ROWS_STATEMENTS; i++) {
        (void)sqlite3_finalize(rows->statements[i]);
        rows->statements[i] = NULL;
    }
}

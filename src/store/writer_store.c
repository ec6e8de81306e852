/* The way of a writer's records into the file: transactions, and what becomes of failures. */
#include "store/writer_state.h"

#include "store/reserve.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* At a checkpoint a chunk of fewer kernels stays open and is written again, longer, at the next:
 * programs that launch slowly get full chunks too, and the file is complete all the same. */
#define SEAL_AT 8192u

#define PENDING_MOST (1u << 20) /* bytes of definitions that wait for a checkpoint */
#define RETRY_NS     UINT64_C(200000000)

void rtl_writer_fail(struct rtl_writer *writer, const char *format, ...)
{
    if (writer->error[0])
        return;
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang-tidy 14 misses va_start here */
    (void)vsnprintf(writer->error, sizeof writer->error, format, arguments);
    va_end(arguments);
}

void rtl_writer_fail_sqlite(struct rtl_writer *writer, int result)
{
    char text[RTL_FILE_REASON];
    rtl_writer_fail(writer, "cannot write the trace %s: %s", writer->path,
                    rtl_file_reason(writer->db, result, writer->path, text, sizeof text));
}

void rtl_writer_give_reserve(struct rtl_writer *writer)
{
    if (writer->reserve >= 0)
        (void)close(writer->reserve);
    writer->reserve = -1;
}

static int store_definition(struct rtl_writer *writer, const struct rtl_deferred_item *item)
{
    const struct rtl_wire_shape *shape = item->body;
    if ((uint32_t)item->type >= RTL_GRAPH_TOLD)
        return rtl_graph_feed_store(&writer->graphs, item);
    if (item->type == RTL_WIRE_SYMBOL)
        return rtl_symbols_add(&writer->symbols, item->process, item->body, item->texts);
    int result =
        rtl_rows_definition(&writer->rows, item->type, item->process, item->body, item->texts);
    return result == SQLITE_OK && item->type == RTL_WIRE_SHAPE
               ? rtl_symbols_shape(&writer->symbols, item->process, shape->symbol)
               : result;
}

static int store_definitions(struct rtl_writer *writer)
{
    struct rtl_deferred_item item;
    int result = SQLITE_OK;
    rtl_symbols_begin(&writer->symbols);
    for (size_t at = 0; result == SQLITE_OK && rtl_deferred_next(&writer->pending, &at, &item);)
        result = store_definition(writer, &item);
    return result == SQLITE_OK ? rtl_symbols_end(&writer->symbols, &writer->rows) : result;
}

/* Which launches the kernels of a chunk are of: RTL_NONE is above all of them. */
static int store_bounds(struct rtl_writer *writer, const struct rtl_queue_chunk *queue)
{
    uint32_t least = RTL_NONE;
    uint32_t most = 0;
    for (uint32_t i = 0; i < queue->count; i++) {
        uint32_t launch = queue->kernels[i].launch;
        least = launch < least ? launch : least;
        most = launch != RTL_NONE && launch > most ? launch : most;
    }
    return rtl_rows_chunk_launches(&writer->rows, queue->chunk, least,
                                   least == RTL_NONE ? RTL_NONE : most);
}

static int store_chunk(struct rtl_writer *writer, struct rtl_queue_chunk *queue)
{
    if (queue->count == queue->stored)
        return SQLITE_OK;
    struct rtl_chunk chunk = {.process = queue->process};
    const unsigned char *data = NULL;
    size_t size = 0;
    if (rtl_codec_encode(writer->codec, queue->kernels, queue->count, &chunk, &data, &size) != 0)
        return SQLITE_NOMEM;
    if (queue->chunk == 0)
        queue->chunk = writer->next_chunk++;
    int result = rtl_rows_chunk(&writer->rows, queue->chunk, &chunk, data, size);
    return result == SQLITE_OK ? store_bounds(writer, queue) : result;
}

/* The accounts of what is stored: with `only`, of its queue and of all copies, which are stored as
 * definitions are. */
static int store_accounts(struct rtl_writer *writer, const struct rtl_writer_part *only)
{
    int result = SQLITE_OK;
    for (uint32_t i = 0; i < writer->queue_count && result == SQLITE_OK; i++) {
        struct rtl_queue_chunk *queue = &writer->queues[i];
        if (only && !queue->copied && queue != only->queue)
            continue;
        if (writer->ask &&
            writer->ask(writer->ask_context, queue->process, queue->queue, &queue->account))
            queue->account_new = true;
        if (queue->account_new)
            result = rtl_rows_account(&writer->rows, queue->process, queue->queue, &queue->account);
    }
    return result == SQLITE_OK ? rtl_kinds_store(&writer->kinds, &writer->rows) : result;
}

static int store_ends(struct rtl_writer *writer)
{
    int result = SQLITE_OK;
    for (size_t i = 0; i < writer->end_count && result == SQLITE_OK; i++) {
        const struct rtl_process_end *end = &writer->ends[i];
        result =
            rtl_rows_process_end(&writer->rows, end->process, end->state, end->time, end->torn);
    }
    return result;
}

static int store_exchanges(struct rtl_writer *writer)
{
    int result = SQLITE_OK;
    for (size_t i = 0; i < writer->exchange_count && result == SQLITE_OK; i++)
        result = rtl_rows_exchange(&writer->rows, &writer->exchanges[i]);
    return result;
}

static int store_part(struct rtl_writer *writer, const struct rtl_writer_part *only)
{
    if (only->queue)
        return store_chunk(writer, only->queue);
    if (only->launches)
        return rtl_launches_store(&writer->launches, &writer->rows);
    if (only->sampler)
        return rtl_sampler_store(&writer->samples, only->sampler, &writer->rows);
    return only->caller ? rtl_caller_store(&writer->callers, only->caller, &writer->rows)
                        : SQLITE_OK;
}

bool rtl_writer_has_dropped(const struct rtl_writer *writer)
{
    for (int what = 0; what < RTL_DROPPED_KINDS; what++)
        if (writer->dropped[what] > 0)
            return true;
    return false;
}

/* What could not be written for a time, and now is. What found no room meanwhile stays missing, for
 * that reason. */
static int store_recovered(struct rtl_writer *writer)
{
    if (writer->why[0] && rtl_writer_has_dropped(writer))
        return rtl_rows_meta_text(&writer->rows, "failure", writer->why);
    return writer->reported ? rtl_rows_meta_text(&writer->rows, "failure", "") : SQLITE_OK;
}

/* All that is new; with `only`, no other chunks. */
static int store_content(struct rtl_writer *writer, const struct rtl_writer_part *only)
{
    int result = store_definitions(writer);
    if (result == SQLITE_OK && only)
        result = store_part(writer, only);
    if (result == SQLITE_OK && only)
        return store_accounts(writer, only);
    for (uint32_t i = 0; i < writer->queue_count && result == SQLITE_OK; i++)
        result = store_chunk(writer, &writer->queues[i]);
    if (result == SQLITE_OK)
        result = rtl_callers_store(&writer->callers, &writer->rows);
    if (result == SQLITE_OK)
        result = rtl_launches_store(&writer->launches, &writer->rows);
    if (result == SQLITE_OK)
        result = rtl_samples_store(&writer->samples, &writer->rows);
    if (result == SQLITE_OK)
        result = store_accounts(writer, NULL);
    if (result == SQLITE_OK)
        result = store_ends(writer);
    if (result == SQLITE_OK)
        result = store_exchanges(writer);
    if (result == SQLITE_OK)
        result = store_recovered(writer);
    if (result == SQLITE_OK)
        result =
            rtl_rows_meta_number(&writer->rows, "end", (int64_t)rtl_writer_now(CLOCK_BOOTTIME));
    return result;
}

/* Ends a queue's chunk: what comes next goes into another. */
static void seal(struct rtl_writer *writer, struct rtl_queue_chunk *queue, bool keep_room)
{
    queue->count = queue->stored = 0;
    queue->chunk = 0;
    if (keep_room)
        return;
    writer->room -= queue->capacity;
    free(queue->kernels);
    queue->kernels = NULL;
    queue->capacity = 0;
}

static void mark_part(struct rtl_writer *writer, const struct rtl_writer_part *only)
{
    if (only->queue)
        seal(writer, only->queue, true);
    else if (only->launches)
        rtl_launches_stored(&writer->launches, false);
    else if (only->sampler)
        rtl_sampler_stored(only->sampler, true);
    else if (only->caller)
        rtl_caller_stored(only->caller, true);
}

static void mark_stored(struct rtl_writer *writer, const struct rtl_writer_part *only,
                        bool seal_all)
{
    rtl_deferred_clear(&writer->pending);
    rtl_kinds_stored(&writer->kinds);
    for (uint32_t i = 0; i < writer->queue_count; i++)
        writer->queues[i].copied = false;
    if (only) {
        mark_part(writer, only);
        return;
    }
    writer->end_count = 0;
    writer->exchange_count = 0;
    rtl_callers_stored(&writer->callers, seal_all);
    rtl_launches_stored(&writer->launches, seal_all);
    rtl_samples_stored(&writer->samples, seal_all);
    for (uint32_t i = 0; i < writer->queue_count; i++) {
        struct rtl_queue_chunk *queue = &writer->queues[i];
        queue->account_new = false;
        queue->stored = queue->count;
        if (seal_all)
            seal(writer, queue, false);
        else if (queue->count >= SEAL_AT)
            seal(writer, queue, true);
    }
}

void rtl_writer_roll_back(struct rtl_writer *writer)
{
    if (!sqlite3_get_autocommit(writer->db))
        (void)sqlite3_exec(writer->db, "ROLLBACK", NULL, NULL, NULL);
}

/* True if the file is no longer there under its name: what is written now is lost. */
static bool was_moved(const struct rtl_writer *writer)
{
    int moved = 0;
    (void)sqlite3_file_control(writer->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    return moved != 0;
}

/* Of the definitions that wait, what all rows of an account are about. */
static int store_processes(struct rtl_writer *writer)
{
    struct rtl_deferred_item item;
    int result = SQLITE_OK;
    for (size_t at = 0; result == SQLITE_OK && rtl_deferred_next(&writer->pending, &at, &item);)
        if (item.type == RTL_WIRE_PROCESS)
            result =
                rtl_rows_definition(&writer->rows, item.type, item.process, item.body, item.texts);
    return result;
}

/* That the file could not be written, and why: what is left to a reader who finds it so, whatever
 * becomes of this process. With `accounts` what was seen until now is told, too. */
static int store_failure(struct rtl_writer *writer, const char *why, bool accounts)
{
    int result = sqlite3_exec(writer->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (result == SQLITE_OK)
        result = rtl_rows_meta_text(&writer->rows, "failure", why);
    if (result == SQLITE_OK)
        result = rtl_rows_meta_number(&writer->rows, "accounted", accounts);
    if (result == SQLITE_OK && accounts)
        result = store_processes(writer);
    if (result == SQLITE_OK && accounts)
        result = store_accounts(writer, NULL);
    if (result == SQLITE_OK && accounts)
        result = store_ends(writer);
    if (result == SQLITE_OK && accounts)
        result =
            rtl_rows_meta_number(&writer->rows, "end", (int64_t)rtl_writer_now(CLOCK_BOOTTIME));
    if (result == SQLITE_OK)
        result = sqlite3_exec(writer->db, "COMMIT", NULL, NULL, NULL);
    if (result != SQLITE_OK)
        rtl_writer_roll_back(writer);
    return result;
}

/* Another program that has the file is none: it will be stored later, or not be whole. */
static bool is_failure(int result)
{
    int kind = result & 0xff;
    return kind == SQLITE_FULL || (kind == SQLITE_IOERR && result != SQLITE_IOERR_NOMEM);
}

void rtl_writer_report_failure(struct rtl_writer *writer, int result, bool last)
{
    char text[RTL_FILE_REASON];
    if (!is_failure(result))
        return;
    const char *why = rtl_file_is_full(writer->db, result)
                          ? "the disk was full"
                          : rtl_file_reason(writer->db, result, writer->path, text, sizeof text);
    (void)snprintf(writer->why, sizeof writer->why, "%s", why);
    if (writer->reported && !last)
        return;
    rtl_writer_give_reserve(writer);
    writer->reported = (last && store_failure(writer, why, true) == SQLITE_OK) ||
                       store_failure(writer, why, false) == SQLITE_OK || writer->reported;
    if (!last) /* what it has left is for the last word, not for what comes next */
        writer->reserve = rtl_reserve(writer->path);
}

int rtl_writer_store(struct rtl_writer *writer, const struct rtl_writer_part *only, bool seal_all)
{
    rtl_writer_roll_back(writer); /* if that failed the last time */
    int result = was_moved(writer) ? SQLITE_READONLY_DBMOVED
                                   : sqlite3_exec(writer->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (result == SQLITE_OK)
        result = store_content(writer, only);
    if (result == SQLITE_OK)
        result = sqlite3_exec(writer->db, "COMMIT", NULL, NULL, NULL);
    writer->locked = (result & 0xff) == SQLITE_BUSY;
    if (result == SQLITE_OK) {
        mark_stored(writer, only, seal_all);
        writer->reported = writer->reported && only != NULL;
        if (only == NULL && !rtl_writer_has_dropped(writer))
            writer->why[0] = '\0';
        writer->retry_at = 0;
        return SQLITE_OK;
    }
    if (!writer->locked)
        rtl_writer_fail_sqlite(writer, result);
    rtl_writer_roll_back(writer);
    rtl_writer_report_failure(writer, result, false);
    writer->retry_at = rtl_writer_now(CLOCK_MONOTONIC) + RETRY_NS;
    return result;
}

bool rtl_writer_may_store(const struct rtl_writer *writer)
{
    return writer->retry_at == 0 || rtl_writer_now(CLOCK_MONOTONIC) >= writer->retry_at;
}

int rtl_writer_checkpoint(struct rtl_writer *writer)
{
    rtl_graph_feed_flush(&writer->graphs);
    int result = rtl_writer_store(writer, NULL, false);
    if (result == SQLITE_OK && writer->reserve < 0)
        writer->reserve = rtl_reserve(writer->path);
    return result == SQLITE_OK || (result & 0xff) == SQLITE_BUSY ? 0 : -1;
}

void rtl_writer_relieve(struct rtl_writer *writer)
{
    static const struct rtl_writer_part definitions = {.queue = NULL};
    if (writer->pending.size > PENDING_MOST && rtl_writer_may_store(writer))
        (void)rtl_writer_store(writer, &definitions, false);
}

/* Iterating over copies by time: a merge of the queues, each read in the order of its own clock. */
#include "store/reader.h"
#include "store/select.h"

#include <stdlib.h>
#include <string.h>

/* A queue with copies. */
struct cursor {
    const rtl_queue_t *queue;
    struct rtl_agent_clock *clock;
    sqlite3_stmt *rows;
    rtl_copy_t copy; /* the next one; its texts belong to `rows` */
    bool end;
};

struct rtl_copy_iter {
    rtl_trace_t *trace;
    rtl_copy_filter_t filter;
    struct cursor *cursors;
    size_t count;
    rtl_status_t failed; /* once an error, always that */
    bool all;            /* also what is not selected */
};

static rtl_status_t fail(rtl_copy_iter_t *iter, int result)
{
    iter->failed = rtl_trace_fail_sqlite(iter->trace, result);
    return iter->failed;
}

static uint32_t id_of(sqlite3_stmt *row, int column)
{
    return sqlite3_column_type(row, column) == SQLITE_NULL
               ? RTL_TRACE_NONE
               : (uint32_t)sqlite3_column_int64(row, column);
}

static uint64_t number_of(sqlite3_stmt *row, int column)
{
    return (uint64_t)sqlite3_column_int64(row, column);
}

/* The text of a kind or engine, which must outlive the row. False when memory is short. */
static bool take_text(rtl_trace_t *trace, sqlite3_stmt *row, int column, const char **last)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    if (*last && text && strcmp(*last, text) == 0)
        return true;
    *last = rtl_trace_string(trace, text);
    return *last != NULL;
}

static bool take_row(rtl_copy_iter_t *iter, struct cursor *cursor)
{
    sqlite3_stmt *row = cursor->rows;
    rtl_copy_t *copy = &cursor->copy;
    copy->id = number_of(row, 0);
    copy->ordinal = number_of(row, 1);
    copy->start_ticks = number_of(row, 2);
    copy->end_ticks = number_of(row, 3);
    copy->bytes = number_of(row, 4);
    copy->src = id_of(row, 7);
    copy->dst = id_of(row, 8);
    copy->correlation = number_of(row, 9);
    bool timed = sqlite3_column_type(row, 2) != SQLITE_NULL;
    copy->start = timed ? rtl_trace_ns(cursor->clock, copy->start_ticks) : 0;
    copy->end = timed ? rtl_trace_ns(cursor->clock, copy->end_ticks) : 0;
    return take_text(iter->trace, row, 5, &copy->kind) &&
           take_text(iter->trace, row, 6, &copy->engine);
}

static rtl_status_t advance(rtl_copy_iter_t *iter, struct cursor *cursor)
{
    int result = sqlite3_step(cursor->rows);
    cursor->end = result == SQLITE_DONE;
    if (cursor->end)
        return RTL_OK;
    if (result != SQLITE_ROW)
        return fail(iter, result);
    return take_row(iter, cursor) ? RTL_OK : fail(iter, SQLITE_NOMEM);
}

static rtl_status_t open_cursor(rtl_copy_iter_t *iter, const rtl_queue_t *queue)
{
    struct cursor *cursor = &iter->cursors[iter->count++];
    *cursor = (struct cursor){
        .queue = queue,
        .clock = rtl_trace_clock(iter->trace, queue->process, queue->agent),
        .copy = {.process = queue->process, .gpu = queue->gpu, .queue = queue->queue},
    };
    int result = sqlite3_prepare_v2(
        iter->trace->db,
        "SELECT id, ordinal, start_ticks, end_ticks, bytes, kind, engine, src, dst, correlation"
        " FROM main.copies WHERE process = ? AND queue = ? ORDER BY start_ticks, id",
        -1, &cursor->rows, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_bind_int64(cursor->rows, 1, queue->process);
    if (result == SQLITE_OK)
        result = sqlite3_bind_int64(cursor->rows, 2, queue->queue);
    return result == SQLITE_OK ? advance(iter, cursor) : fail(iter, result);
}

static rtl_status_t open_cursors(rtl_copy_iter_t *iter)
{
    const rtl_queue_t *queues = iter->trace->queues.items;
    size_t count = iter->trace->queues.count;
    rtl_status_t status = RTL_OK;
    iter->cursors = calloc(count + 1, sizeof *iter->cursors);
    if (!iter->cursors)
        return fail(iter, SQLITE_NOMEM);
    for (size_t i = 0; i < count && status == RTL_OK; i++)
        if (queues[i].copies > 0 &&
            (iter->filter.process == 0 || iter->filter.process == queues[i].process))
            status = open_cursor(iter, &queues[i]);
    return status;
}

rtl_status_t rtlTraceCopies(rtl_trace_t *trace, const rtl_copy_filter_t *filter,
                            rtl_copy_iter_t **made)
{
    if (!trace || !made)
        return RTL_E_ARGUMENT;
    *made = NULL;
    rtl_copy_iter_t *iter = calloc(1, sizeof *iter);
    if (!iter)
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    iter->trace = trace;
    iter->all = trace->select_paused;
    if (filter)
        iter->filter = *filter;
    rtl_status_t status = open_cursors(iter);
    if (status == RTL_OK)
        *made = iter;
    else
        rtlCopyIterFree(iter);
    return status;
}

static struct cursor *earliest(rtl_copy_iter_t *iter)
{
    struct cursor *best = NULL;
    for (size_t i = 0; i < iter->count; i++) {
        struct cursor *cursor = &iter->cursors[i];
        if (!cursor->end && (!best || cursor->copy.start < best->copy.start))
            best = cursor;
    }
    return best;
}

static bool passes(const rtl_copy_filter_t *filter, const rtl_copy_t *copy)
{
    return (filter->to == 0 || copy->start < filter->to) &&
           (copy->end > filter->from || copy->start >= filter->from);
}

rtl_status_t rtlCopyNext(rtl_copy_iter_t *iter, rtl_copy_t *copy)
{
    if (!iter || !copy)
        return RTL_E_ARGUMENT;
    for (;;) {
        if (iter->failed != RTL_OK)
            return iter->failed;
        struct cursor *cursor = earliest(iter);
        if (!cursor)
            return RTL_END;
        *copy = cursor->copy;
        (void)advance(iter, cursor); /* a failure is told at the next call */
        if (passes(&iter->filter, copy) &&
            rtl_select_copy(iter->all ? NULL : iter->trace->select, copy))
            return RTL_OK;
    }
}

void rtlCopyIterFree(rtl_copy_iter_t *iter)
{
    if (!iter)
        return;
    for (size_t i = 0; i < iter->count; i++)
        (void)sqlite3_finalize(iter->cursors[i].rows);
    free(iter->cursors);
    free(iter);
}

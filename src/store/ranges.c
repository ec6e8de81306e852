/* Iterating over ranges by their start, and finding one. */
#include "store/select.h"
#include "store/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rtl_range_iter {
    rtl_trace_t *trace;
    rtl_range_filter_t filter;
    sqlite3_stmt *row;   /* NULL: a file without ranges */
    rtl_status_t failed; /* once an error, always that */
};

static rtl_status_t fail(rtl_range_iter_t *iter, rtl_status_t status)
{
    iter->failed = status;
    return status;
}

static const char *kind_of(sqlite3_stmt *row)
{
    static const char *const kinds[] = {"push", "start", "mark"};
    const char *text = (const char *)sqlite3_column_text(row, 4);
    for (size_t i = 0; text && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i], text) == 0)
            return kinds[i];
    return "unknown";
}

static void take(rtl_trace_t *trace, sqlite3_stmt *row, rtl_range_t *range)
{
    const char *name = (const char *)sqlite3_column_text(row, 3);
    range->process = rtl_row_u32(trace, row, 0);
    range->id = rtl_row_u64(row, 1);
    range->thread = rtl_row_u32(trace, row, 2);
    range->name = name ? name : "";
    range->kind = kind_of(row);
    range->start = rtl_row_u64(row, 5);
    range->end = rtl_row_u64(row, 6);
    range->parent = rtl_row_u64(row, 7);
}

static bool passes(const rtl_range_filter_t *filter, const rtl_range_t *range)
{
    return (filter->to == 0 || range->start < filter->to) &&
           (filter->thread == 0 || range->thread == filter->thread) &&
           (range->end == 0 || range->end > filter->from || range->start >= filter->from);
}

static rtl_status_t prepare(rtl_range_iter_t *iter)
{
    static const char query[] =
        "SELECT process, id, thread, name, kind, start, end, parent FROM main.ranges"
        " WHERE start IS NOT NULL AND (?1 = 0 OR process = ?1) ORDER BY start, process, id";
    int result = sqlite3_prepare_v2(iter->trace->db, query, -1, &iter->row, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_bind_int64(iter->row, 1, iter->filter.process);
    return result == SQLITE_OK ? RTL_OK : rtl_trace_fail_sqlite(iter->trace, result);
}

rtl_status_t rtlTraceRanges(rtl_trace_t *trace, const rtl_range_filter_t *filter,
                            rtl_range_iter_t **made)
{
    if (!trace || !made)
        return RTL_E_ARGUMENT;
    *made = NULL;
    rtl_range_iter_t *iter = calloc(1, sizeof *iter);
    if (!iter)
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    iter->trace = trace;
    if (filter)
        iter->filter = *filter;
    rtl_status_t status = rtl_trace_has_calls(trace) ? prepare(iter) : RTL_OK;
    if (status == RTL_OK)
        *made = iter;
    else
        rtlRangeIterFree(iter);
    return status;
}

rtl_status_t rtlRangeNext(rtl_range_iter_t *iter, rtl_range_t *range)
{
    if (!iter || !range)
        return RTL_E_ARGUMENT;
    if (iter->failed != RTL_OK || !iter->row)
        return iter->row ? iter->failed : RTL_END;
    for (;;) {
        int result = sqlite3_step(iter->row);
        if (result != SQLITE_ROW)
            return fail(iter, result == SQLITE_DONE ? RTL_END
                                                    : rtl_trace_fail_sqlite(iter->trace, result));
        take(iter->trace, iter->row, range);
        if (iter->trace->damaged)
            return fail(iter, rtl_trace_fail(iter->trace, RTL_E_DAMAGED,
                                             "the trace %s is damaged: a number is out of range in "
                                             "its ranges",
                                             iter->trace->path));
        if (passes(&iter->filter, range) && rtl_select_range(iter->trace->select, range))
            return RTL_OK;
    }
}

void rtlRangeIterFree(rtl_range_iter_t *iter)
{
    if (!iter)
        return;
    (void)sqlite3_finalize(iter->row);
    free(iter);
}

static rtl_status_t take_one(rtl_trace_t *trace, sqlite3_stmt *row, rtl_range_t *range, char *name,
                             size_t size)
{
    int result = sqlite3_step(row);
    if (result != SQLITE_ROW)
        return result == SQLITE_DONE ? RTL_END : rtl_trace_fail_sqlite(trace, result);
    take(trace, row, range);
    (void)snprintf(name, size, "%s", range->name);
    range->name = name;
    if (!trace->damaged)
        return RTL_OK;
    return rtl_trace_fail(trace, RTL_E_DAMAGED,
                          "the trace %s is damaged: a number is out of range in its ranges",
                          trace->path);
}

rtl_status_t rtlTraceRange(rtl_trace_t *trace, uint32_t process, uint64_t id, rtl_range_t *range,
                           char *name, size_t size)
{
    static const char query[] =
        "SELECT process, id, thread, name, kind, start, end, parent FROM main.ranges"
        " WHERE start IS NOT NULL AND process = ?1 AND id = ?2";
    sqlite3_stmt *row = NULL;
    if (!trace || !range || !name || size == 0)
        return RTL_E_ARGUMENT;
    if (!rtl_trace_has_calls(trace))
        return RTL_END;
    int result = sqlite3_prepare_v2(trace->db, query, -1, &row, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_bind_int64(row, 1, process);
    if (result == SQLITE_OK)
        result = sqlite3_bind_int64(row, 2, (int64_t)id);
    rtl_status_t status = result == SQLITE_OK ? take_one(trace, row, range, name, size)
                                              : rtl_trace_fail_sqlite(trace, result);
    (void)sqlite3_finalize(row);
    return status;
}

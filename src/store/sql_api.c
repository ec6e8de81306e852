#include "store/sql_api.h"

#include "store/sql_plan.h"

#include <stdlib.h>

enum column {
    COLUMN_ID,
    COLUMN_PROCESS,
    COLUMN_THREAD,
    COLUMN_NAME,
    COLUMN_START,
    COLUMN_END,
    COLUMN_CORRELATION,
    COLUMN_DURATION,
    COLUMN_STREAM,
    COLUMN_RANGE,
    COLUMN_RESULT,
    COLUMN_ERROR,
    COLUMN_ARGS
};

static const char declaration[] =
    "CREATE TABLE api(id INTEGER, process INTEGER, thread INTEGER, name TEXT, start INTEGER,"
    " end INTEGER, correlation INTEGER, duration INTEGER, stream INTEGER, range INTEGER,"
    " result INTEGER, error TEXT, args TEXT)";

static const struct rtl_sql_rule rules[] = {
    {-1, RTL_SQL_EQUAL, RTL_SQL_ID, 0.0001},
    {COLUMN_ID, RTL_SQL_EQUAL, RTL_SQL_ID, 0.0001},
    {COLUMN_CORRELATION, RTL_SQL_EQUAL, RTL_SQL_CORRELATION, 0.000001},
    {COLUMN_PROCESS, RTL_SQL_EQUAL, RTL_SQL_PROCESS, 0.25},
    {COLUMN_THREAD, RTL_SQL_EQUAL, RTL_SQL_THREAD, 0.25},
    {COLUMN_START, RTL_SQL_EQUAL, RTL_SQL_STARTS_AT, 0.001},
    {COLUMN_START, RTL_SQL_ABOVE, RTL_SQL_STARTS_FROM, 0.25},
    {COLUMN_START, RTL_SQL_BELOW, RTL_SQL_STARTS_TO, 0.25},
    {COLUMN_END, RTL_SQL_ABOVE, RTL_SQL_ENDS_FROM, 0.25},
};

struct table {
    sqlite3_vtab base;
    struct rtl_sql_trace *shared;
};

struct cursor {
    sqlite3_vtab_cursor base;
    rtl_trace_t *trace; /* held */
    rtl_api_iter_t *iter;
    rtl_api_t api;
    bool end;
};

static int fail(struct table *table, const char *sentence)
{
    sqlite3_free(table->base.zErrMsg);
    table->base.zErrMsg = sqlite3_mprintf("%s", sentence);
    return SQLITE_ERROR;
}

static int connect(sqlite3 *db, void *context, int count, const char *const *arguments,
                   sqlite3_vtab **made, char **error)
{
    (void)count;
    (void)arguments;
    (void)error;
    int result = sqlite3_declare_vtab(db, declaration);
    if (result != SQLITE_OK)
        return result;
    struct table *table = sqlite3_malloc(sizeof *table);
    if (!table)
        return SQLITE_NOMEM;
    *table = (struct table){.shared = rtl_sql_trace_keep(context)};
    *made = &table->base;
    return sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
}

static int disconnect(sqlite3_vtab *base)
{
    struct table *table = (struct table *)base;
    rtl_sql_trace_drop(table->shared);
    sqlite3_free(table);
    return SQLITE_OK;
}

/* Calls come by their start, whatever the query wants. */
static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    (void)base;
    if (rtl_sql_ordered_by(info, COLUMN_START))
        info->orderByConsumed = 1;
    return rtl_sql_plan(info, rules, sizeof rules / sizeof *rules);
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **made)
{
    struct table *table = (struct table *)base;
    char error[512] = "";
    rtl_trace_t *trace = rtl_sql_trace_hold(table->shared, error, sizeof error);
    if (!trace)
        return fail(table, error);
    struct cursor *cursor = sqlite3_malloc(sizeof *cursor);
    if (!cursor) {
        rtl_sql_trace_release(table->shared);
        return SQLITE_NOMEM;
    }
    *cursor = (struct cursor){.trace = trace, .end = true};
    *made = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    rtlApiIterFree(cursor->iter);
    rtl_sql_trace_release(((struct table *)base->pVtab)->shared);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static void restrict_by(int restriction, uint64_t value, rtl_api_filter_t *filter, int64_t *chunk)
{
    if (rtl_sql_narrow(restriction, value, &filter->from, &filter->to))
        return;
    if (restriction == RTL_SQL_ID)
        *chunk = (int64_t)(value / RTL_CHUNK_CALLS_MAX);
    else if (restriction == RTL_SQL_CORRELATION)
        filter->correlation = value;
    else if (restriction == RTL_SQL_PROCESS && value < UINT32_MAX)
        filter->process = (uint32_t)value;
    else if (restriction == RTL_SQL_THREAD && value < UINT32_MAX)
        filter->thread = (uint32_t)value;
}

static int next(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    rtl_status_t status = rtlApiNext(cursor->iter, &cursor->api);
    cursor->end = status != RTL_OK;
    return status == RTL_OK || status == RTL_END
               ? SQLITE_OK
               : fail((struct table *)base->pVtab, rtlTraceError(cursor->trace));
}

static int filter(sqlite3_vtab_cursor *base, int unused, const char *plan, int count,
                  sqlite3_value **values)
{
    struct cursor *cursor = (struct cursor *)base;
    rtl_api_filter_t calls = {0};
    int64_t chunk = 0;
    (void)unused;
    for (int i = 0; i < count; i++) {
        uint64_t value = 0;
        if (rtl_sql_number(values[i], &value))
            restrict_by(plan[i], value, &calls, &chunk);
    }
    rtlApiIterFree(cursor->iter);
    cursor->iter = NULL;
    cursor->end = true;
    if (rtl_sql_any_null(values, count))
        return SQLITE_OK;
    if (rtl_trace_api(cursor->trace, &calls, chunk, &cursor->iter) != RTL_OK)
        return fail((struct table *)base->pVtab, rtlTraceError(cursor->trace));
    return next(base);
}

static int at_end(sqlite3_vtab_cursor *base)
{
    return ((struct cursor *)base)->end;
}

static void result_number(sqlite3_context *result, uint64_t value)
{
    sqlite3_result_int64(result, (sqlite3_int64)value);
}

static void result_text(sqlite3_context *result, const char *text)
{
    sqlite3_result_text(result, text, -1, SQLITE_TRANSIENT);
}

static void result_arguments(sqlite3_context *result, const rtl_api_t *api)
{
    char text[512];
    size_t length = rtlApiArguments(api, text, sizeof text);
    if (length < sizeof text) {
        result_text(result, text);
        return;
    }
    char *longer = sqlite3_malloc64(length + 1);
    if (!longer) {
        sqlite3_result_error_nomem(result);
        return;
    }
    (void)rtlApiArguments(api, longer, length + 1);
    sqlite3_result_text(result, longer, (int)length, sqlite3_free);
}

/* What was given, and what came back. */
static void result_outcome(sqlite3_context *result, const rtl_api_t *api, int column)
{
    if (column == COLUMN_RESULT)
        sqlite3_result_int64(result, api->result);
    else if (column == COLUMN_ARGS)
        result_arguments(result, api);
    else if (column == COLUMN_ERROR && api->result != 0 && rtlApiResultName(api->result))
        result_text(result, rtlApiResultName(api->result));
}

/* Without a result a column is NULL. */
static int column(sqlite3_vtab_cursor *base, sqlite3_context *result, int which)
{
    const rtl_api_t *api = &((struct cursor *)base)->api;
    switch (which) {
    case COLUMN_ID:
        result_number(result, api->id);
        break;
    case COLUMN_PROCESS:
        result_number(result, api->process);
        break;
    case COLUMN_THREAD:
        result_number(result, api->thread);
        break;
    case COLUMN_NAME:
        result_text(result, api->name);
        break;
    case COLUMN_START:
        result_number(result, api->start);
        break;
    case COLUMN_END:
        result_number(result, api->end);
        break;
    case COLUMN_CORRELATION:
        result_number(result, api->correlation);
        break;
    case COLUMN_DURATION:
        result_number(result, api->end - api->start);
        break;
    case COLUMN_STREAM:
        if (api->stream != RTL_TRACE_NONE)
            result_number(result, api->stream);
        break;
    case COLUMN_RANGE:
        if (api->range)
            result_number(result, api->range);
        break;
    default:
        result_outcome(result, api, which);
        break;
    }
    return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
    *id = (sqlite3_int64)((struct cursor *)base)->api.id;
    return SQLITE_OK;
}

int rtl_sql_register_api(sqlite3 *db, struct rtl_sql_trace *shared)
{
    /* Without xCreate the table is there by its name alone, as `kernels` is. */
    static const sqlite3_module module = {
        .iVersion = 1,
        .xConnect = connect,
        .xBestIndex = best_index,
        .xDisconnect = disconnect,
        .xOpen = open_cursor,
        .xClose = close_cursor,
        .xFilter = filter,
        .xNext = next,
        .xEof = at_end,
        .xColumn = column,
        .xRowid = row_id,
    };
    return sqlite3_create_module_v2(db, "api", &module, rtl_sql_trace_keep(shared),
                                    rtl_sql_trace_drop);
}

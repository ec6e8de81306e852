#include "store/sql_api.h"

#include "store/sql_plan.h"
#include "store/sql_table.h"

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

struct cursor {
    struct rtl_sql_cursor base;
    rtl_api_iter_t *iter;
    rtl_api_t api;
};

/* Calls come by their start, whatever the query wants. */
static int plan(sqlite3_index_info *info)
{
    if (rtl_sql_ordered_by(info, COLUMN_START))
        info->orderByConsumed = 1;
    return rtl_sql_plan(info, rules, sizeof rules / sizeof *rules);
}

static void close_cursor(struct rtl_sql_cursor *base)
{
    rtlApiIterFree(((struct cursor *)base)->iter);
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

static rtl_status_t start(struct rtl_sql_cursor *base, const struct rtl_sql_choice *choice)
{
    struct cursor *cursor = (struct cursor *)base;
    rtl_api_filter_t calls = {0};
    int64_t chunk = 0;
    for (int i = 0; i < choice->count; i++) {
        uint64_t value = 0;
        if (rtl_sql_number(choice->values[i], &value))
            restrict_by(choice->restrictions[i], value, &calls, &chunk);
    }
    rtlApiIterFree(cursor->iter);
    cursor->iter = NULL;
    return rtl_trace_api(base->trace, &calls, chunk, &cursor->iter);
}

static rtl_status_t next(struct rtl_sql_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    rtl_status_t status = rtlApiNext(cursor->iter, &cursor->api);
    if (status == RTL_OK)
        base->row = (sqlite3_int64)cursor->api.id;
    return status;
}

static void result_arguments(sqlite3_context *result, const rtl_api_t *api)
{
    char text[512];
    size_t length = rtlApiArguments(api, text, sizeof text);
    if (length < sizeof text) {
        rtl_sql_result_text(result, text);
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
        rtl_sql_result_text(result, rtlApiResultName(api->result));
}

static rtl_status_t column(struct rtl_sql_cursor *base, sqlite3_context *result, int which)
{
    const rtl_api_t *api = &((struct cursor *)base)->api;
    switch (which) {
    case COLUMN_ID:
        rtl_sql_result(result, api->id);
        break;
    case COLUMN_PROCESS:
        rtl_sql_result(result, api->process);
        break;
    case COLUMN_THREAD:
        rtl_sql_result(result, api->thread);
        break;
    case COLUMN_NAME:
        rtl_sql_result_text(result, api->name);
        break;
    case COLUMN_START:
        rtl_sql_result(result, api->start);
        break;
    case COLUMN_END:
        rtl_sql_result(result, api->end);
        break;
    case COLUMN_CORRELATION:
        rtl_sql_result(result, api->correlation);
        break;
    case COLUMN_DURATION:
        rtl_sql_result(result, api->end - api->start);
        break;
    case COLUMN_STREAM:
        rtl_sql_result_id(result, api->stream);
        break;
    case COLUMN_RANGE:
        rtl_sql_result_known(result, api->range);
        break;
    default:
        result_outcome(result, api, which);
        break;
    }
    return RTL_OK;
}

int rtl_sql_register_api(sqlite3 *db, struct rtl_sql_trace *shared)
{
    static const struct rtl_sql_kind kind = {
        .declaration = declaration,
        .cursor_size = sizeof(struct cursor),
        .plan = plan,
        .start = start,
        .next = next,
        .column = column,
        .close = close_cursor,
    };
    return rtl_sql_add_table(db, "api", &kind, shared);
}

#include "store/sql_table.h"

#include "common/index.h"
#include "store/sql_plan.h"

#include <string.h>

/* What a module is registered with. */
struct context {
    const struct rtl_sql_kind *kind;
    struct rtl_sql_trace *shared;
};

struct table {
    sqlite3_vtab base;
    const struct rtl_sql_kind *kind;
    struct rtl_sql_trace *shared;
};

static struct table *table_of(const struct rtl_sql_cursor *cursor)
{
    return (struct table *)cursor->base.pVtab;
}

static int fail(struct table *table, const char *sentence)
{
    sqlite3_free(table->base.zErrMsg);
    table->base.zErrMsg = sqlite3_mprintf("%s", sentence);
    return SQLITE_ERROR;
}

static int outcome(struct rtl_sql_cursor *cursor, rtl_status_t status)
{
    return status == RTL_OK ? SQLITE_OK : fail(table_of(cursor), rtlTraceError(cursor->trace));
}

static int connect(sqlite3 *db, void *given, int count, const char *const *arguments,
                   sqlite3_vtab **made, char **error)
{
    const struct context *context = given;
    (void)count;
    (void)arguments;
    (void)error;
    int result = sqlite3_declare_vtab(db, context->kind->declaration);
    if (result != SQLITE_OK)
        return result;
    struct table *table = sqlite3_malloc(sizeof *table);
    if (!table)
        return SQLITE_NOMEM;
    *table = (struct table){.kind = context->kind, .shared = rtl_sql_trace_keep(context->shared)};
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

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    return ((struct table *)base)->kind->plan(info);
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **made)
{
    struct table *table = (struct table *)base;
    char error[512] = "";
    rtl_trace_t *trace = rtl_sql_trace_hold(table->shared, error, sizeof error);
    if (!trace)
        return fail(table, error);
    struct rtl_sql_cursor *cursor = sqlite3_malloc64(table->kind->cursor_size);
    if (!cursor) {
        rtl_sql_trace_release(table->shared);
        return SQLITE_NOMEM;
    }
    memset(cursor, 0, table->kind->cursor_size);
    cursor->kind = table->kind;
    cursor->trace = trace;
    cursor->end = true;
    *made = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    struct rtl_sql_cursor *cursor = (struct rtl_sql_cursor *)base;
    if (cursor->kind->close)
        cursor->kind->close(cursor);
    rtl_sql_trace_release(table_of(cursor)->shared);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *base)
{
    struct rtl_sql_cursor *cursor = (struct rtl_sql_cursor *)base;
    rtl_status_t status = cursor->kind->next(cursor);
    cursor->end = status != RTL_OK;
    return outcome(cursor, status == RTL_END ? RTL_OK : status);
}

static int filter(sqlite3_vtab_cursor *base, int order, const char *plan, int count,
                  sqlite3_value **values)
{
    struct rtl_sql_cursor *cursor = (struct rtl_sql_cursor *)base;
    const struct rtl_sql_choice choice = {order, plan, values, count};
    cursor->end = true;
    if (rtl_sql_any_null(values, count))
        return SQLITE_OK;
    rtl_status_t status = cursor->kind->start(cursor, &choice);
    return status == RTL_OK ? next(base) : outcome(cursor, status);
}

static int at_end(sqlite3_vtab_cursor *base)
{
    return ((struct rtl_sql_cursor *)base)->end;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *result, int which)
{
    struct rtl_sql_cursor *cursor = (struct rtl_sql_cursor *)base;
    return outcome(cursor, cursor->kind->column(cursor, result, which));
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
    *id = ((struct rtl_sql_cursor *)base)->row;
    return SQLITE_OK;
}

static void drop_context(void *given)
{
    struct context *context = given;
    rtl_sql_trace_drop(context->shared);
    sqlite3_free(context);
}

int rtl_sql_add_table(sqlite3 *db, const char *name, const struct rtl_sql_kind *kind,
                      struct rtl_sql_trace *shared)
{
    /* Without xCreate a table is there by its name alone, with no CREATE
     * (https://www.sqlite.org/vtab.html, 2.1.2). */
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
    struct context *context = sqlite3_malloc(sizeof *context);
    if (!context)
        return SQLITE_NOMEM;
    *context = (struct context){kind, rtl_sql_trace_keep(shared)};
    return sqlite3_create_module_v2(db, name, &module, context, drop_context);
}

sqlite3_int64 rtl_sql_row(const uint64_t *numbers, size_t count)
{
    uint64_t row = 0;
    for (size_t i = 0; i < count; i++)
        row = rtl_index_mix(row, numbers[i]);
    return (sqlite3_int64)row;
}

void rtl_sql_result(sqlite3_context *result, uint64_t value)
{
    sqlite3_result_int64(result, (sqlite3_int64)value);
}

void rtl_sql_result_id(sqlite3_context *result, uint32_t value)
{
    if (value != RTL_TRACE_NONE)
        rtl_sql_result(result, value);
}

void rtl_sql_result_known(sqlite3_context *result, uint64_t value)
{
    if (value)
        rtl_sql_result(result, value);
}

void rtl_sql_result_text(sqlite3_context *result, const char *text)
{
    sqlite3_result_text(result, text, -1, SQLITE_TRANSIENT);
}

void rtl_sql_result_known_text(sqlite3_context *result, const char *text)
{
    if (text[0])
        rtl_sql_result_text(result, text);
}

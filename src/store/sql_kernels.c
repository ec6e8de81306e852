#include "store/sql_kernels.h"

#include "store/sql_plan.h"
#include "store/sql_trace.h"

enum column {
    COLUMN_ID,
    COLUMN_PROCESS,
    COLUMN_GPU,
    COLUMN_QUEUE,
    COLUMN_STREAM,
    COLUMN_NAME,
    COLUMN_START,
    COLUMN_END,
    COLUMN_DURATION,
    COLUMN_GRID,
    COLUMN_BLOCK = COLUMN_GRID + 3,
    COLUMN_CORRELATION = COLUMN_BLOCK + 3,
    COLUMN_GRAPH,
    COLUMN_GENERATION,
    COLUMN_LAUNCH,
    COLUMN_NODE,
    COLUMN_RANGE,
    COLUMN_PACKET,
    COLUMN_SYMBOL,
    COLUMN_MANGLED,
    COLUMN_GROUP_SIZE,
    COLUMN_PRIVATE_SIZE,
    COLUMN_START_TICKS,
    COLUMN_END_TICKS,
    COLUMN_CERTAIN
};

static const char declaration[] =
    "CREATE TABLE kernels(id INTEGER, process INTEGER, gpu INTEGER, queue INTEGER,"
    " stream INTEGER, name TEXT, start INTEGER, end INTEGER, duration INTEGER, grid_x INTEGER,"
    " grid_y INTEGER, grid_z INTEGER, block_x INTEGER, block_y INTEGER, block_z INTEGER,"
    " correlation INTEGER, graph INTEGER, generation INTEGER, launch INTEGER, node INTEGER,"
    " range INTEGER, packet INTEGER, symbol INTEGER, mangled TEXT, group_size INTEGER,"
    " private_size INTEGER, start_ticks INTEGER, end_ticks INTEGER, certain INTEGER)";

static const struct rtl_sql_rule rules[] = {
    {-1, RTL_SQL_EQUAL, RTL_SQL_ID, 0.0001},
    {COLUMN_ID, RTL_SQL_EQUAL, RTL_SQL_ID, 0.0001},
    {COLUMN_PROCESS, RTL_SQL_EQUAL, RTL_SQL_PROCESS, 0.25},
    {COLUMN_QUEUE, RTL_SQL_EQUAL, RTL_SQL_QUEUE, 0.125},
    {COLUMN_START, RTL_SQL_EQUAL, RTL_SQL_STARTS_AT, 0.001},
    {COLUMN_START, RTL_SQL_ABOVE, RTL_SQL_STARTS_FROM, 0.25},
    {COLUMN_START, RTL_SQL_BELOW, RTL_SQL_STARTS_TO, 0.25},
    {COLUMN_END, RTL_SQL_ABOVE, RTL_SQL_ENDS_FROM, 0.25},
};

/* idxNum: in which order. */
enum { ORDER_QUEUE = 0, ORDER_TIME = 1 };

struct table {
    sqlite3_vtab base;
    struct rtl_sql_trace *shared;
};

struct cursor {
    sqlite3_vtab_cursor base;
    rtl_trace_t *trace; /* held */
    rtl_kernel_iter_t *iter;
    rtl_kernel_t kernel;
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

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    (void)base;
    info->idxNum = ORDER_QUEUE;
    if (rtl_sql_ordered_by(info, COLUMN_START)) {
        info->idxNum = ORDER_TIME;
        info->orderByConsumed = 1;
    }
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
    rtlKernelIterFree(cursor->iter);
    rtl_sql_trace_release(((struct table *)base->pVtab)->shared);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static void restrict_by(int restriction, uint64_t value, rtl_kernel_filter_t *filter,
                        int64_t *chunk)
{
    if (rtl_sql_narrow(restriction, value, &filter->from, &filter->to))
        return;
    if (restriction == RTL_SQL_ID)
        *chunk = (int64_t)(value / RTL_CHUNK_KERNELS_MAX);
    else if (restriction == RTL_SQL_PROCESS && value < UINT32_MAX)
        filter->process = (uint32_t)value;
    else if (restriction == RTL_SQL_QUEUE && value < UINT32_MAX)
        filter->queue = (uint32_t)value;
}

static int next(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    struct table *table = (struct table *)base->pVtab;
    rtl_status_t status = rtlKernelNext(cursor->iter, &cursor->kernel);
    cursor->end = status != RTL_OK;
    return status == RTL_OK || status == RTL_END ? SQLITE_OK
                                                 : fail(table, rtlTraceError(cursor->trace));
}

static int filter(sqlite3_vtab_cursor *base, int order, const char *plan, int count,
                  sqlite3_value **values)
{
    struct cursor *cursor = (struct cursor *)base;
    struct table *table = (struct table *)base->pVtab;
    rtl_kernel_filter_t kernels = RTL_KERNEL_FILTER_ALL;
    int64_t chunk = 0;
    kernels.by_queue = order == ORDER_QUEUE;
    for (int i = 0; i < count; i++) {
        uint64_t value = 0;
        if (rtl_sql_number(values[i], &value))
            restrict_by(plan[i], value, &kernels, &chunk);
    }
    rtlKernelIterFree(cursor->iter);
    cursor->iter = NULL;
    if (rtl_sql_any_null(values, count)) {
        cursor->end = true;
        return SQLITE_OK;
    }
    if (rtl_trace_kernels(cursor->trace, &kernels, chunk, &cursor->iter) != RTL_OK)
        return fail(table, rtlTraceError(cursor->trace));
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

/* Leaves NULL, which is what a result is without a call. */
static void result_id(sqlite3_context *result, uint32_t value)
{
    if (value != RTL_TRACE_NONE)
        result_number(result, value);
}

static void result_identity(const rtl_kernel_t *kernel, sqlite3_context *result, int column)
{
    switch (column) {
    case COLUMN_ID:
        result_number(result, kernel->id);
        break;
    case COLUMN_PROCESS:
        result_number(result, kernel->process);
        break;
    case COLUMN_GPU:
        result_id(result, kernel->gpu);
        break;
    case COLUMN_QUEUE:
        result_number(result, kernel->queue);
        break;
    case COLUMN_NAME:
        sqlite3_result_text(result, kernel->name, -1, SQLITE_TRANSIENT);
        break;
    case COLUMN_START:
        result_number(result, kernel->start);
        break;
    case COLUMN_END:
        result_number(result, kernel->end);
        break;
    case COLUMN_DURATION:
        result_number(result, kernel->end - kernel->start);
        break;
    default:
        break;
    }
}

static void result_rest(const rtl_kernel_t *kernel, sqlite3_context *result, int column)
{
    switch (column) {
    case COLUMN_GRAPH:
        result_id(result, kernel->graph);
        break;
    case COLUMN_GENERATION:
        if (kernel->graph != RTL_TRACE_NONE)
            result_number(result, kernel->generation);
        break;
    case COLUMN_LAUNCH:
        result_id(result, kernel->launch);
        break;
    case COLUMN_NODE:
        result_id(result, kernel->node);
        break;
    case COLUMN_PACKET:
        result_number(result, kernel->packet);
        break;
    case COLUMN_SYMBOL:
        result_id(result, kernel->symbol);
        break;
    case COLUMN_MANGLED:
        if (kernel->mangled[0])
            sqlite3_result_text(result, kernel->mangled, -1, SQLITE_TRANSIENT);
        break;
    case COLUMN_GROUP_SIZE:
        result_number(result, kernel->group_size);
        break;
    case COLUMN_PRIVATE_SIZE:
        result_number(result, kernel->private_size);
        break;
    case COLUMN_START_TICKS:
        result_number(result, kernel->start_ticks);
        break;
    case COLUMN_END_TICKS:
        result_number(result, kernel->end_ticks);
        break;
    case COLUMN_CERTAIN:
        if (kernel->graph != RTL_TRACE_NONE)
            result_number(result, (uint64_t)kernel->certain);
        break;
    default:
        break;
    }
}

static bool is_origin(int column)
{
    return column == COLUMN_STREAM || column == COLUMN_CORRELATION;
}

/* Stream and host call, by the kernel's correlation. */
static int result_origin(struct cursor *cursor, sqlite3_context *result, int column)
{
    const rtl_kernel_t *kernel = &cursor->kernel;
    rtl_trace_origin_t origin;
    if (rtlTraceOrigin(cursor->trace, kernel->process, kernel->correlation, &origin) != RTL_OK)
        return fail((struct table *)cursor->base.pVtab, rtlTraceError(cursor->trace));
    if (column == COLUMN_STREAM)
        result_id(result, origin.stream);
    else if (column == COLUMN_CORRELATION && origin.call)
        result_number(result, origin.call);
    return SQLITE_OK;
}

static int result_range(struct cursor *cursor, sqlite3_context *result)
{
    uint64_t range = 0;
    if (rtlTraceKernelRange(cursor->trace, &cursor->kernel, &range) != RTL_OK)
        return fail((struct table *)cursor->base.pVtab, rtlTraceError(cursor->trace));
    if (range)
        result_number(result, range);
    return SQLITE_OK;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *result, int which)
{
    struct cursor *cursor = (struct cursor *)base;
    const rtl_kernel_t *kernel = &cursor->kernel;
    if (is_origin(which))
        return result_origin(cursor, result, which);
    if (which == COLUMN_RANGE)
        return result_range(cursor, result);
    if (which < COLUMN_GRID)
        result_identity(kernel, result, which);
    else if (which < COLUMN_BLOCK)
        result_number(result, kernel->grid[which - COLUMN_GRID]);
    else if (which < COLUMN_CORRELATION)
        result_number(result, kernel->block[which - COLUMN_BLOCK]);
    else
        result_rest(kernel, result, which);
    return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
    *id = (sqlite3_int64)((struct cursor *)base)->kernel.id;
    return SQLITE_OK;
}

int rtl_sql_register_kernels(sqlite3 *db, struct rtl_sql_trace *shared)
{
    /* Without xCreate the table is there by its name alone, with no CREATE
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
    return sqlite3_create_module_v2(db, "kernels", &module, rtl_sql_trace_keep(shared),
                                    rtl_sql_trace_drop);
}

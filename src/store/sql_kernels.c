/* What a query says about id, process, queue, start and end chooses the chunks that are unpacked;
 * SQLite then checks every row itself, so a choice only has to be wide enough. */
#include "store/sql_kernels.h"

#include "store/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    COLUMN_END_TICKS
};

static const char declaration[] =
    "CREATE TABLE kernels(id INTEGER, process INTEGER, gpu INTEGER, queue INTEGER,"
    " stream INTEGER, name TEXT, start INTEGER, end INTEGER, duration INTEGER, grid_x INTEGER,"
    " grid_y INTEGER, grid_z INTEGER, block_x INTEGER, block_y INTEGER, block_z INTEGER,"
    " correlation INTEGER, graph INTEGER, generation INTEGER, launch INTEGER, node INTEGER,"
    " range INTEGER, packet INTEGER, symbol INTEGER, mangled TEXT, group_size INTEGER,"
    " private_size INTEGER, start_ticks INTEGER, end_ticks INTEGER)";

/* How a value of the query restricts the iteration; one letter of idxStr each. */
enum restriction {
    BY_ID = 'i',
    BY_PROCESS = 'p',
    BY_QUEUE = 'q',
    STARTS_FROM = 's', /* start > or >= value */
    ENDS_FROM = 'e',   /* end > or >= value */
    STARTS_TO = 't',   /* start < or <= value */
    STARTS_AT = 'a'    /* start = value */
};

/* idxNum: in which order. */
enum { ORDER_QUEUE = 0, ORDER_TIME = 1 };

struct table {
    sqlite3_vtab base;
    sqlite3 *db;
    rtl_trace_t *trace;
    int version; /* data_version that `trace` was read at */
    int cursors;
};

struct cursor {
    sqlite3_vtab_cursor base;
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
    (void)context;
    (void)count;
    (void)arguments;
    (void)error;
    int result = sqlite3_declare_vtab(db, declaration);
    if (result != SQLITE_OK)
        return result;
    struct table *table = sqlite3_malloc(sizeof *table);
    if (!table)
        return SQLITE_NOMEM;
    *table = (struct table){.db = db};
    *made = &table->base;
    return sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
}

static int disconnect(sqlite3_vtab *base)
{
    struct table *table = (struct table *)base;
    rtlTraceClose(table->trace);
    sqlite3_free(table);
    return SQLITE_OK;
}

/* What a constraint is good for; 0 if nothing. */
static int restriction_of(const struct sqlite3_index_constraint *constraint)
{
    bool equal = constraint->op == SQLITE_INDEX_CONSTRAINT_EQ;
    bool above = constraint->op == SQLITE_INDEX_CONSTRAINT_GT ||
                 constraint->op == SQLITE_INDEX_CONSTRAINT_GE;
    bool below = constraint->op == SQLITE_INDEX_CONSTRAINT_LT ||
                 constraint->op == SQLITE_INDEX_CONSTRAINT_LE;
    switch (constraint->iColumn) {
    case -1:
    case COLUMN_ID:
        return equal ? BY_ID : 0;
    case COLUMN_PROCESS:
        return equal ? BY_PROCESS : 0;
    case COLUMN_QUEUE:
        return equal ? BY_QUEUE : 0;
    case COLUMN_START:
        return equal ? STARTS_AT : above ? STARTS_FROM : below ? STARTS_TO : 0;
    case COLUMN_END:
        return above ? ENDS_FROM : 0;
    default:
        return 0;
    }
}

/* Guesses of how much a restriction leaves: enough to make SQLite use them. */
static double share_of(int restriction)
{
    switch (restriction) {
    case BY_ID:
        return 0.0001;
    case STARTS_AT:
        return 0.001;
    case BY_PROCESS:
        return 0.25;
    case BY_QUEUE:
        return 0.125;
    default:
        return 0.25;
    }
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    (void)base;
    double share = 1;
    int used = 0;
    char *plan = sqlite3_malloc(info->nConstraint + 1);
    if (!plan)
        return SQLITE_NOMEM;
    for (int i = 0; i < info->nConstraint; i++) {
        int restriction = info->aConstraint[i].usable ? restriction_of(&info->aConstraint[i]) : 0;
        if (!restriction)
            continue;
        plan[used++] = (char)restriction;
        info->aConstraintUsage[i].argvIndex = used;
        share *= share_of(restriction);
    }
    plan[used] = '\0';
    info->idxStr = plan;
    info->needToFreeIdxStr = 1;
    info->idxNum = ORDER_QUEUE;
    if (info->nOrderBy == 1 && info->aOrderBy[0].iColumn == COLUMN_START &&
        !info->aOrderBy[0].desc) {
        info->idxNum = ORDER_TIME;
        info->orderByConsumed = 1;
    }
    info->estimatedCost = 1e7 * share;
    info->estimatedRows = (sqlite3_int64)(1e6 * share) + 1;
    return SQLITE_OK;
}

static int data_version(sqlite3 *db)
{
    sqlite3_stmt *statement = NULL;
    int version = 0;
    if (sqlite3_prepare_v2(db, "PRAGMA main.data_version", -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        version = sqlite3_column_int(statement, 0);
    (void)sqlite3_finalize(statement);
    return version;
}

/* Reads the definitions when first needed, and again after a recorder has written. */
static int load(struct table *table)
{
    int version = data_version(table->db);
    if (table->trace && (version == table->version || table->cursors))
        return SQLITE_OK;
    rtlTraceClose(table->trace);
    char error[512];
    rtl_status_t status = RTL_OK;
    const char *path = sqlite3_db_filename(table->db, "main");
    table->trace = rtl_trace_over(table->db, path ? path : "", &status, error, sizeof error);
    table->version = version;
    return table->trace ? SQLITE_OK : fail(table, error);
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **made)
{
    struct table *table = (struct table *)base;
    int result = load(table);
    if (result != SQLITE_OK)
        return result;
    struct cursor *cursor = sqlite3_malloc(sizeof *cursor);
    if (!cursor)
        return SQLITE_NOMEM;
    *cursor = (struct cursor){.end = true};
    table->cursors++;
    *made = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    ((struct table *)base->pVtab)->cursors--;
    rtlKernelIterFree(cursor->iter);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

/* The number at or below a value, within 0 and INT64_MAX; false if it is no number. */
static bool number_of(sqlite3_value *value, uint64_t *number)
{
    double real = 0;
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        *number = sqlite3_value_int64(value) < 0 ? 0 : (uint64_t)sqlite3_value_int64(value);
        return true;
    case SQLITE_FLOAT:
        real = floor(sqlite3_value_double(value));
        *number = real < 0 ? 0 : real >= 0x1p63 ? INT64_MAX : (uint64_t)real;
        return true;
    default:
        return false;
    }
}

static void restrict_from(rtl_kernel_filter_t *filter, uint64_t from)
{
    if (from > filter->from)
        filter->from = from;
}

static void restrict_to(rtl_kernel_filter_t *filter, uint64_t to)
{
    if (filter->to == 0 || to < filter->to)
        filter->to = to;
}

static void restrict_by(int restriction, uint64_t value, rtl_kernel_filter_t *filter,
                        int64_t *chunk)
{
    switch (restriction) {
    case BY_ID:
        *chunk = (int64_t)(value / RTL_CHUNK_KERNELS_MAX);
        break;
    case BY_PROCESS:
        if (value < UINT32_MAX)
            filter->process = (uint32_t)value;
        break;
    case BY_QUEUE:
        if (value < UINT32_MAX)
            filter->queue = (uint32_t)value;
        break;
    case STARTS_FROM:
        restrict_from(filter, value);
        break;
    case ENDS_FROM:
        restrict_from(filter, value ? value - 1 : 0);
        break;
    case STARTS_AT:
        restrict_from(filter, value);
        restrict_to(filter, value + 1);
        break;
    case STARTS_TO:
        restrict_to(filter, value + 1);
        break;
    default:
        break;
    }
}

static int next(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    struct table *table = (struct table *)base->pVtab;
    rtl_status_t status = rtlKernelNext(cursor->iter, &cursor->kernel);
    cursor->end = status != RTL_OK;
    return status == RTL_OK || status == RTL_END ? SQLITE_OK
                                                 : fail(table, rtlTraceError(table->trace));
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
        if (number_of(values[i], &value))
            restrict_by(plan[i], value, &kernels, &chunk);
    }
    rtlKernelIterFree(cursor->iter);
    cursor->iter = NULL;
    if (rtl_trace_kernels(table->trace, &kernels, chunk, &cursor->iter) != RTL_OK)
        return fail(table, rtlTraceError(table->trace));
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
    default: /* stream: not known yet */
        break;
    }
}

static void result_rest(const rtl_kernel_t *kernel, sqlite3_context *result, int column)
{
    switch (column) {
    case COLUMN_CORRELATION:
        if (kernel->correlation)
            result_number(result, kernel->correlation);
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
    default: /* graph, generation, range: not known yet */
        break;
    }
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *result, int which)
{
    const rtl_kernel_t *kernel = &((struct cursor *)base)->kernel;
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

int rtl_sql_register_kernels(sqlite3 *db)
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
    return sqlite3_create_module(db, "kernels", &module, NULL);
}

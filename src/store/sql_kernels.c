#include "store/sql_kernels.h"

#include "store/sql_plan.h"
#include "store/sql_table.h"

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
    COLUMN_END_TICKS,
    COLUMN_CERTAIN,
    COLUMN_CAPTURE_RANGE
};

static const char declaration[] =
    "CREATE TABLE kernels(id INTEGER, process INTEGER, gpu INTEGER, queue INTEGER,"
    " stream INTEGER, name TEXT, start INTEGER, end INTEGER, duration INTEGER, grid_x INTEGER,"
    " grid_y INTEGER, grid_z INTEGER, block_x INTEGER, block_y INTEGER, block_z INTEGER,"
    " correlation INTEGER, graph INTEGER, generation INTEGER, launch INTEGER, node INTEGER,"
    " range INTEGER, packet INTEGER, symbol INTEGER, mangled TEXT, group_size INTEGER,"
    " private_size INTEGER, start_ticks INTEGER, end_ticks INTEGER, certain INTEGER,"
    " capture_range INTEGER)";

static const struct rtl_sql_rule rules[] = {
    {-1, RTL_SQL_EQUAL, RTL_SQL_ID, 0.0001},
    {COLUMN_ID, RTL_SQL_EQUAL, RTL_SQL_ID, 0.0001},
    {COLUMN_PROCESS, RTL_SQL_EQUAL, RTL_SQL_PROCESS, 0.25},
    {COLUMN_QUEUE, RTL_SQL_EQUAL, RTL_SQL_QUEUE, 0.125},
    {COLUMN_START, RTL_SQL_EQUAL, RTL_SQL_STARTS_AT, 0.001},
    {COLUMN_START, RTL_SQL_ABOVE, RTL_SQL_STARTS_FROM, 0.25},
    {COLUMN_START, RTL_SQL_BELOW, RTL_SQL_STARTS_TO, 0.25},
    {COLUMN_END, RTL_SQL_ABOVE, RTL_SQL_ENDS_FROM, 0.25},
    {COLUMN_GRAPH, RTL_SQL_EQUAL, RTL_SQL_GRAPH, 0.5},
    {COLUMN_GENERATION, RTL_SQL_EQUAL, RTL_SQL_GENERATION, 0.9},
    {COLUMN_LAUNCH, RTL_SQL_EQUAL, RTL_SQL_LAUNCH, 0.1},
    {COLUMN_NODE, RTL_SQL_EQUAL, RTL_SQL_NODE, 0.5},
};

/* idxNum: in which order. */
enum { ORDER_QUEUE = 0, ORDER_TIME = 1 };

struct cursor {
    struct rtl_sql_cursor base;
    rtl_kernel_iter_t *iter;
    rtl_kernel_t kernel;
    char *name;       /* of the kernels that are wanted; NULL: any */
    const char *is;   /* the last name that was found to be it, */
    const char *isnt; /* and the last one that was not: kernels of a shape share theirs */
};

static int plan(sqlite3_index_info *info)
{
    info->idxNum = ORDER_QUEUE;
    if (rtl_sql_ordered_by(info, COLUMN_START)) {
        info->idxNum = ORDER_TIME;
        info->orderByConsumed = 1;
    }
    int result = rtl_sql_plan(info, rules, sizeof rules / sizeof *rules);
    if (result == SQLITE_OK)
        rtl_sql_plan_text(info, COLUMN_NAME, RTL_SQL_NAME);
    return result;
}

static void close_cursor(struct rtl_sql_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    rtlKernelIterFree(cursor->iter);
    sqlite3_free(cursor->name);
}

/* SQLite compares all of a text, and behind a zero there is none in a name. */
static bool choose_name(struct cursor *cursor, const struct rtl_sql_choice *choice)
{
    sqlite3_free(cursor->name);
    cursor->name = NULL;
    cursor->is = cursor->isnt = NULL;
    for (int i = 0; i < choice->count; i++) {
        if (choice->restrictions[i] != RTL_SQL_NAME)
            continue;
        const unsigned char *text = sqlite3_value_text(choice->values[i]);
        cursor->name = text ? sqlite3_mprintf("%s", text) : NULL;
        return cursor->name != NULL;
    }
    return true;
}

static bool has_name(struct cursor *cursor, const char *name)
{
    if (!cursor->name || name == cursor->is)
        return true;
    if (name == cursor->isnt)
        return false;
    bool is = strcmp(name, cursor->name) == 0;
    *(is ? &cursor->is : &cursor->isnt) = name;
    return is;
}

/* What a query restricts kernels by. */
struct restricted {
    rtl_kernel_filter_t filter;
    struct rtl_graph_choice choice;
    bool chosen; /* only those of graphs */
    int64_t chunk;
};

static void restrict_graph(int restriction, uint32_t value, struct restricted *to)
{
    if (restriction == RTL_SQL_GRAPH)
        to->choice.graph = value;
    else if (restriction == RTL_SQL_GENERATION)
        to->choice.generation = value;
    else if (restriction == RTL_SQL_LAUNCH)
        to->choice.launch = value;
    else
        to->choice.node = value;
    to->chosen = true;
}

static void restrict_by(int restriction, uint64_t value, struct restricted *to)
{
    if (rtl_sql_narrow(restriction, value, &to->filter.from, &to->filter.to))
        return;
    if (restriction == RTL_SQL_ID)
        to->chunk = (int64_t)(value / RTL_CHUNK_KERNELS_MAX);
    else if (value >= UINT32_MAX)
        return;
    else if (restriction == RTL_SQL_PROCESS)
        to->filter.process = to->choice.process = (uint32_t)value;
    else if (restriction == RTL_SQL_QUEUE)
        to->filter.queue = (uint32_t)value;
    else
        restrict_graph(restriction, (uint32_t)value, to);
}

static rtl_status_t start(struct rtl_sql_cursor *base, const struct rtl_sql_choice *choice)
{
    struct cursor *cursor = (struct cursor *)base;
    struct restricted all = {.filter = RTL_KERNEL_FILTER_ALL, .choice = RTL_GRAPH_CHOICE_ALL};
    all.filter.by_queue = choice->order == ORDER_QUEUE;
    for (int i = 0; i < choice->count; i++) {
        uint64_t value = 0;
        if (choice->restrictions[i] != RTL_SQL_NAME && rtl_sql_number(choice->values[i], &value))
            restrict_by(choice->restrictions[i], value, &all);
    }
    rtlKernelIterFree(cursor->iter);
    cursor->iter = NULL;
    if (!choose_name(cursor, choice))
        return rtl_trace_fail_sqlite(base->trace, SQLITE_NOMEM);
    return rtl_trace_kernels(base->trace, &all.filter, all.chunk, all.chosen ? &all.choice : NULL,
                             &cursor->iter);
}

static rtl_status_t next(struct rtl_sql_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    rtl_status_t status;
    do
        status = rtlKernelNext(cursor->iter, &cursor->kernel);
    while (status == RTL_OK && !has_name(cursor, cursor->kernel.name));
    if (status == RTL_OK)
        base->row = (sqlite3_int64)cursor->kernel.id;
    return status;
}

static void result_identity(const rtl_kernel_t *kernel, sqlite3_context *result, int column)
{
    switch (column) {
    case COLUMN_ID:
        rtl_sql_result(result, kernel->id);
        break;
    case COLUMN_PROCESS:
        rtl_sql_result(result, kernel->process);
        break;
    case COLUMN_GPU:
        rtl_sql_result_id(result, kernel->gpu);
        break;
    case COLUMN_QUEUE:
        rtl_sql_result(result, kernel->queue);
        break;
    case COLUMN_NAME:
        rtl_sql_result_text(result, kernel->name);
        break;
    case COLUMN_START:
        rtl_sql_result(result, kernel->start);
        break;
    case COLUMN_END:
        rtl_sql_result(result, kernel->end);
        break;
    case COLUMN_DURATION:
        rtl_sql_result(result, kernel->end - kernel->start);
        break;
    default:
        break;
    }
}

static void result_rest(const rtl_kernel_t *kernel, sqlite3_context *result, int column)
{
    switch (column) {
    case COLUMN_GRAPH:
        rtl_sql_result_id(result, kernel->graph);
        break;
    case COLUMN_GENERATION:
        if (kernel->graph != RTL_TRACE_NONE)
            rtl_sql_result(result, kernel->generation);
        break;
    case COLUMN_LAUNCH:
        rtl_sql_result_id(result, kernel->launch);
        break;
    case COLUMN_NODE:
        rtl_sql_result_id(result, kernel->node);
        break;
    case COLUMN_PACKET:
        rtl_sql_result(result, kernel->packet);
        break;
    case COLUMN_SYMBOL:
        rtl_sql_result_id(result, kernel->symbol);
        break;
    case COLUMN_MANGLED:
        rtl_sql_result_known_text(result, kernel->mangled);
        break;
    case COLUMN_GROUP_SIZE:
        rtl_sql_result(result, kernel->group_size);
        break;
    case COLUMN_PRIVATE_SIZE:
        rtl_sql_result(result, kernel->private_size);
        break;
    case COLUMN_START_TICKS:
        rtl_sql_result(result, kernel->start_ticks);
        break;
    case COLUMN_END_TICKS:
        rtl_sql_result(result, kernel->end_ticks);
        break;
    case COLUMN_CERTAIN:
        if (kernel->graph != RTL_TRACE_NONE)
            rtl_sql_result(result, (uint64_t)kernel->certain);
        break;
    case COLUMN_CAPTURE_RANGE:
        rtl_sql_result_known(result, kernel->node_range);
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
static rtl_status_t result_origin(struct cursor *cursor, sqlite3_context *result, int column)
{
    const rtl_kernel_t *kernel = &cursor->kernel;
    rtl_trace_origin_t origin;
    rtl_status_t status =
        rtlTraceOrigin(cursor->base.trace, kernel->process, kernel->correlation, &origin);
    if (status != RTL_OK)
        return status;
    if (column == COLUMN_STREAM)
        rtl_sql_result_id(result, origin.stream);
    else
        rtl_sql_result_known(result, origin.call);
    return RTL_OK;
}

static rtl_status_t result_range(struct cursor *cursor, sqlite3_context *result)
{
    uint64_t range = 0;
    rtl_status_t status = rtlTraceKernelRange(cursor->base.trace, &cursor->kernel, &range);
    if (status == RTL_OK)
        rtl_sql_result_known(result, range);
    return status;
}

static rtl_status_t column(struct rtl_sql_cursor *base, sqlite3_context *result, int which)
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
        rtl_sql_result(result, kernel->grid[which - COLUMN_GRID]);
    else if (which < COLUMN_CORRELATION)
        rtl_sql_result(result, kernel->block[which - COLUMN_BLOCK]);
    else
        result_rest(kernel, result, which);
    return RTL_OK;
}

int rtl_sql_register_kernels(sqlite3 *db, struct rtl_sql_trace *shared)
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
    return rtl_sql_add_table(db, "kernels", &kind, shared);
}

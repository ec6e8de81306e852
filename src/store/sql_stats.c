/* Kernels are told apart by the columns that a query names, which SQLite tells: one that names none
 * has one row. So nothing is added up that the query adds up again, and groups are few. */
#include "store/sql_stats.h"

#include "store/sql_plan.h"
#include "store/sql_table.h"

enum column {
    COLUMN_PROCESS,
    COLUMN_GPU,
    COLUMN_QUEUE,
    COLUMN_NAME,
    COLUMN_GRAPH,
    COLUMN_GENERATION,
    COLUMN_NODE,
    COLUMN_KERNELS,
    COLUMN_DURATION,
    COLUMN_MIN,
    COLUMN_MAX,
    COLUMN_MEAN,
    COLUMN_P50,
    COLUMN_P90,
    COLUMN_P99,
    COLUMN_SINCE,
    COLUMN_UNTIL
};

static const char declaration[] =
    "CREATE TABLE kernel_stats(process INTEGER, gpu INTEGER, queue INTEGER, name TEXT,"
    " graph INTEGER, generation INTEGER, node INTEGER, kernels INTEGER, duration INTEGER,"
    " min INTEGER, max INTEGER, mean REAL, p50 INTEGER, p90 INTEGER, p99 INTEGER,"
    " since INTEGER HIDDEN, until INTEGER HIDDEN)";

static const unsigned told_apart[COLUMN_NODE + 1] = {
    [COLUMN_PROCESS] = RTL_BY_PROCESS, [COLUMN_GPU] = RTL_BY_PROCESS | RTL_BY_DEVICE,
    [COLUMN_QUEUE] = RTL_BY_QUEUE,     [COLUMN_NAME] = RTL_BY_NAME,
    [COLUMN_GRAPH] = RTL_BY_GRAPH,     [COLUMN_GENERATION] = RTL_BY_GENERATION,
    [COLUMN_NODE] = RTL_BY_NODE,
};

static const struct rtl_sql_rule rules[] = {
    {COLUMN_PROCESS, RTL_SQL_EQUAL, RTL_SQL_PROCESS, 0.25},
    {COLUMN_QUEUE, RTL_SQL_EQUAL, RTL_SQL_QUEUE, 0.125},
    {COLUMN_SINCE, RTL_SQL_EQUAL, RTL_SQL_BEGUN_FROM, 0.25},
    {COLUMN_UNTIL, RTL_SQL_EQUAL, RTL_SQL_BEGUN_TO, 0.25},
};

struct cursor {
    struct rtl_sql_cursor base;
    rtl_aggregate_t *aggregate;
    const rtl_group_t *groups;
    size_t count;
};

static unsigned by_of(const sqlite3_index_info *info)
{
    unsigned by = 0;
    for (unsigned column = 0; column <= COLUMN_NODE; column++)
        if (info->colUsed >> column & 1)
            by |= told_apart[column];
    return by;
}

/* Arguments are no columns that SQLite could check. */
static int plan(sqlite3_index_info *info)
{
    info->idxNum = (int)by_of(info);
    int result = rtl_sql_plan(info, rules, sizeof rules / sizeof *rules);
    for (int i = 0; i < info->nConstraint && result == SQLITE_OK; i++) {
        if (info->aConstraint[i].iColumn < COLUMN_SINCE)
            continue;
        if (!info->aConstraint[i].usable)
            result = SQLITE_CONSTRAINT;
        info->aConstraintUsage[i].omit = info->aConstraintUsage[i].argvIndex > 0;
    }
    return result;
}

static void close_cursor(struct rtl_sql_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    rtlAggregateFree(cursor->aggregate);
    cursor->aggregate = NULL;
}

static void restrict_by(int restriction, uint64_t value, rtl_aggregate_request_t *request)
{
    if (restriction == RTL_SQL_BEGUN_FROM)
        request->from = value;
    else if (restriction == RTL_SQL_BEGUN_TO)
        request->to = value;
    else if (value >= UINT32_MAX)
        return;
    else if (restriction == RTL_SQL_PROCESS)
        request->process = (uint32_t)value;
    else
        request->queue = (uint32_t)value;
}

static rtl_status_t start(struct rtl_sql_cursor *base, const struct rtl_sql_choice *choice)
{
    struct cursor *cursor = (struct cursor *)base;
    rtl_aggregate_request_t request = RTL_AGGREGATE_BY((unsigned)choice->order);
    for (int i = 0; i < choice->count; i++) {
        uint64_t value = 0;
        if (rtl_sql_number(choice->values[i], &value))
            restrict_by(choice->restrictions[i], value, &request);
    }
    close_cursor(base);
    base->row = 0;
    rtl_status_t status = rtlTraceAggregate(base->trace, &request, &cursor->aggregate);
    if (status == RTL_OK)
        status = rtlAggregateGroups(cursor->aggregate, &cursor->groups, &cursor->count);
    return status;
}

static rtl_status_t next(struct rtl_sql_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    return (size_t)base->row++ < cursor->count ? RTL_OK : RTL_END;
}

/* What a group's process calls its GPU. */
static uint32_t gpu_of(const struct cursor *cursor, const rtl_group_t *group)
{
    const rtl_queue_time_t *queues = NULL;
    size_t count = 0;
    (void)rtlAggregateQueues(cursor->aggregate, &queues, &count);
    for (size_t i = 0; i < count; i++)
        if (queues[i].queue->process == group->process && queues[i].device == group->device)
            return queues[i].queue->gpu;
    return RTL_TRACE_NONE;
}

static void result_identity(const struct cursor *cursor, const rtl_group_t *group,
                            sqlite3_context *result, int column)
{
    switch (column) {
    case COLUMN_PROCESS:
        rtl_sql_result(result, group->process);
        break;
    case COLUMN_GPU:
        rtl_sql_result_id(result, gpu_of(cursor, group));
        break;
    case COLUMN_QUEUE:
        rtl_sql_result_id(result, group->queue);
        break;
    case COLUMN_NAME:
        rtl_sql_result_text(result, group->name);
        break;
    case COLUMN_GRAPH:
        rtl_sql_result_id(result, group->graph);
        break;
    case COLUMN_GENERATION:
        if (group->graph != RTL_TRACE_NONE)
            rtl_sql_result(result, group->generation);
        break;
    case COLUMN_NODE:
        rtl_sql_result_id(result, group->node);
        break;
    default:
        break;
    }
}

static void result_sum(const rtl_group_t *group, sqlite3_context *result, int column)
{
    switch (column) {
    case COLUMN_KERNELS:
        rtl_sql_result(result, group->count);
        break;
    case COLUMN_DURATION:
        rtl_sql_result(result, group->total);
        break;
    case COLUMN_MIN:
        rtl_sql_result(result, group->min);
        break;
    case COLUMN_MAX:
        rtl_sql_result(result, group->max);
        break;
    case COLUMN_MEAN:
        sqlite3_result_double(result, group->mean);
        break;
    case COLUMN_P50:
        rtl_sql_result(result, group->p50);
        break;
    case COLUMN_P90:
        rtl_sql_result(result, group->p90);
        break;
    case COLUMN_P99:
        rtl_sql_result(result, group->p99);
        break;
    default:
        break;
    }
}

static rtl_status_t column(struct rtl_sql_cursor *base, sqlite3_context *result, int which)
{
    const struct cursor *cursor = (struct cursor *)base;
    const rtl_group_t *group = &cursor->groups[base->row - 1];
    if (which <= COLUMN_NODE)
        result_identity(cursor, group, result, which);
    else
        result_sum(group, result, which);
    return RTL_OK;
}

int rtl_sql_register_stats(sqlite3 *db, struct rtl_sql_trace *shared)
{
    static const struct rtl_sql_kind kind = {.declaration = declaration,
                                             .cursor_size = sizeof(struct cursor),
                                             .plan = plan,
                                             .start = start,
                                             .next = next,
                                             .column = column,
                                             .close = close_cursor};
    return rtl_sql_add_table(db, "kernel_stats", &kind, shared);
}

/* What kernels are told apart by is an argument, not the columns that a query names: SQLite's
 * planner moves queries into each other, so that which columns those are is no more than its guess,
 * and rows would come and go with it. */
#include "store/sql_stats.h"

#include "common/index.h"
#include "store/reader.h"
#include "store/sql_plan.h"
#include "store/sql_table.h"

#include <string.h>

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
    COLUMN_BY,
    COLUMN_SINCE,
    COLUMN_UNTIL
};

static const char declaration[] =
    "CREATE TABLE kernel_stats(process INTEGER, gpu INTEGER, queue INTEGER, name TEXT,"
    " graph INTEGER, generation INTEGER, node INTEGER, kernels INTEGER, duration INTEGER,"
    " min INTEGER, max INTEGER, mean REAL, p50 INTEGER, p90 INTEGER, p99 INTEGER,"
    " by TEXT HIDDEN, since INTEGER HIDDEN, until INTEGER HIDDEN)";

/* Numbers of GPUs, queues and graphs count within their process, generations and nodes within their
 * graph. */
static const struct {
    const char *name;
    unsigned by;
} told_apart[COLUMN_NODE + 1] = {
    [COLUMN_PROCESS] = {"process", RTL_BY_PROCESS},
    [COLUMN_GPU] = {"gpu", RTL_BY_PROCESS | RTL_BY_DEVICE},
    [COLUMN_QUEUE] = {"queue", RTL_BY_PROCESS | RTL_BY_DEVICE | RTL_BY_QUEUE},
    [COLUMN_NAME] = {"name", RTL_BY_NAME},
    [COLUMN_GRAPH] = {"graph", RTL_BY_PROCESS | RTL_BY_GRAPH},
    [COLUMN_GENERATION] = {"generation", RTL_BY_PROCESS | RTL_BY_GRAPH | RTL_BY_GENERATION},
    [COLUMN_NODE] = {"node", RTL_BY_PROCESS | RTL_BY_GRAPH | RTL_BY_NODE},
};

static const struct rtl_sql_rule rules[] = {
    {COLUMN_PROCESS, RTL_SQL_EQUAL, RTL_SQL_PROCESS, 0.25},
    {COLUMN_QUEUE, RTL_SQL_EQUAL, RTL_SQL_QUEUE, 0.125},
    {COLUMN_BY, RTL_SQL_EQUAL, RTL_SQL_BY, 0.25},
    {COLUMN_SINCE, RTL_SQL_EQUAL, RTL_SQL_BEGUN_FROM, 0.25},
    {COLUMN_UNTIL, RTL_SQL_EQUAL, RTL_SQL_BEGUN_TO, 0.25},
};

struct cursor {
    struct rtl_sql_cursor base;
    rtl_aggregate_t *aggregate;
    const rtl_group_t *groups;
    size_t count, next;
    rtl_aggregate_request_t request;
};

/* What a query asks for. */
struct asked {
    rtl_aggregate_request_t request;
    bool none; /* it ends before it begins */
};

/* Arguments are no columns that SQLite could check. */
static int plan(sqlite3_index_info *info)
{
    int result = rtl_sql_plan(info, rules, sizeof rules / sizeof *rules);
    for (int i = 0; i < info->nConstraint && result == SQLITE_OK; i++) {
        if (info->aConstraint[i].iColumn < COLUMN_BY)
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

/* A list of columns, "all" or "" for all of them, or "none". */
static rtl_status_t read_by(rtl_trace_t *trace, const char *text, unsigned *by)
{
    const char *word = text + strspn(text, ", ");
    *by = 0;
    if (strcmp(word, "none") == 0)
        return RTL_OK;
    bool all = *word == '\0' || strcmp(word, "all") == 0;
    for (unsigned column = 0; all && column <= COLUMN_NODE; column++)
        *by |= told_apart[column].by;
    for (; !all && *word; word += strspn(word, ", ")) {
        size_t length = strcspn(word, ", ");
        unsigned column = 0;
        while (column <= COLUMN_NODE && (strlen(told_apart[column].name) != length ||
                                         strncmp(told_apart[column].name, word, length) != 0))
            column++;
        if (column > COLUMN_NODE)
            return rtl_trace_fail(trace, RTL_E_ARGUMENT,
                                  "kernel_stats: it tells kernels apart by process, gpu, queue, "
                                  "name, graph, generation, node, or all or none, not by '%.*s'",
                                  (int)length, word);
        *by |= told_apart[column].by;
        word += length;
    }
    return RTL_OK;
}

/* Texts that are numbers count as such, as they do beside a column of numbers. */
static rtl_status_t read_time(rtl_trace_t *trace, sqlite3_value *value, uint64_t *time)
{
    (void)sqlite3_value_numeric_type(value);
    return rtl_sql_number(value, time)
               ? RTL_OK
               : rtl_trace_fail(trace, RTL_E_ARGUMENT, "kernel_stats: '%s' is no time in ns",
                                (const char *)sqlite3_value_text(value));
}

static rtl_status_t restrict_by(rtl_trace_t *trace, int restriction, sqlite3_value *value,
                                struct asked *asked)
{
    rtl_aggregate_request_t *request = &asked->request;
    uint64_t number = 0;
    if (restriction == RTL_SQL_BY)
        return read_by(trace, (const char *)sqlite3_value_text(value), &request->by);
    if (restriction == RTL_SQL_BEGUN_FROM)
        return read_time(trace, value, &request->from);
    if (restriction == RTL_SQL_BEGUN_TO) {
        rtl_status_t status = read_time(trace, value, &request->to);
        asked->none = status == RTL_OK && request->to == 0;
        return status;
    }
    if (rtl_sql_number(value, &number) && number < UINT32_MAX)
        *(restriction == RTL_SQL_PROCESS ? &request->process : &request->queue) = (uint32_t)number;
    return RTL_OK;
}

static rtl_status_t start(struct rtl_sql_cursor *base, const struct rtl_sql_choice *choice)
{
    struct cursor *cursor = (struct cursor *)base;
    struct asked asked = {.request = RTL_AGGREGATE_BY(0)};
    rtl_status_t status = read_by(base->trace, "all", &asked.request.by);
    for (int i = 0; i < choice->count && status == RTL_OK; i++)
        status = restrict_by(base->trace, choice->restrictions[i], choice->values[i], &asked);
    close_cursor(base);
    cursor->request = asked.request;
    cursor->count = cursor->next = 0;
    if (status != RTL_OK || asked.none ||
        (asked.request.to && asked.request.to <= asked.request.from))
        return status;
    status = rtlTraceAggregate(base->trace, &asked.request, &cursor->aggregate);
    if (status == RTL_OK)
        status = rtlAggregateGroups(cursor->aggregate, &cursor->groups, &cursor->count);
    return status;
}

static uint64_t text_hash(const char *text)
{
    uint64_t hash = 0;
    for (; *text; text++)
        hash = rtl_index_mix(hash, (unsigned char)*text);
    return hash;
}

static rtl_status_t next(struct rtl_sql_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    if (cursor->next == cursor->count)
        return RTL_END;
    const rtl_group_t *group = &cursor->groups[cursor->next++];
    const uint64_t key[] = {group->process, group->device,     group->queue, text_hash(group->name),
                            group->graph,   group->generation, group->node};
    base->row = rtl_sql_row(key, sizeof key / sizeof *key);
    return RTL_OK;
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

/* Not told apart, and yet the same of all: the query asks for it alone. */
static void result_asked(const rtl_aggregate_request_t *request, sqlite3_context *result,
                         int column)
{
    if (column == COLUMN_PROCESS)
        rtl_sql_result_known(result, request->process);
    else if (column == COLUMN_QUEUE)
        rtl_sql_result_id(result, request->queue);
}

static void result_identity(const struct cursor *cursor, const rtl_group_t *group,
                            sqlite3_context *result, int column)
{
    if ((cursor->request.by & told_apart[column].by) != told_apart[column].by) {
        result_asked(&cursor->request, result, column);
        return;
    }
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
    const rtl_group_t *group = &cursor->groups[cursor->next - 1];
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

#include "store/sql_launches.h"

#include "store/reader.h"
#include "store/sql_plan.h"
#include "store/sql_table.h"

enum column {
    COLUMN_GRAPH,
    COLUMN_GENERATION,
    COLUMN_LAUNCH,
    COLUMN_START,
    COLUMN_END,
    COLUMN_KERNELS,
    COLUMN_CORRELATION,
    COLUMN_PROCESS,
    COLUMN_EXPECTED,
    COLUMN_CERTAIN,
    COLUMN_RANGE,
    COLUMN_THREAD,
    COLUMN_TIME,
    COLUMN_UNSEEN
};

static const struct rtl_sql_rule rules[] = {
    {COLUMN_PROCESS, RTL_SQL_EQUAL, RTL_SQL_PROCESS, 0.25},
    {COLUMN_GRAPH, RTL_SQL_EQUAL, RTL_SQL_GRAPH, 0.1},
    {COLUMN_GENERATION, RTL_SQL_EQUAL, RTL_SQL_GENERATION, 0.5},
    {COLUMN_LAUNCH, RTL_SQL_EQUAL, RTL_SQL_LAUNCH, 0.01},
    {COLUMN_LAUNCH, RTL_SQL_ABOVE, RTL_SQL_LAUNCH_FROM, 0.25},
    {COLUMN_LAUNCH, RTL_SQL_BELOW, RTL_SQL_LAUNCH_TO, 0.25},
    {COLUMN_CORRELATION, RTL_SQL_EQUAL, RTL_SQL_CORRELATION, 0.01},
    {COLUMN_START, RTL_SQL_EQUAL, RTL_SQL_STARTS_AT, 0.01},
    {COLUMN_START, RTL_SQL_ABOVE, RTL_SQL_STARTS_FROM, 0.25},
    {COLUMN_START, RTL_SQL_BELOW, RTL_SQL_STARTS_TO, 0.25},
    {COLUMN_END, RTL_SQL_ABOVE, RTL_SQL_ENDS_FROM, 0.25},
    {COLUMN_TIME, RTL_SQL_EQUAL, RTL_SQL_BEGUN_AT, 0.01},
    {COLUMN_TIME, RTL_SQL_ABOVE, RTL_SQL_BEGUN_FROM, 0.25},
    {COLUMN_TIME, RTL_SQL_BELOW, RTL_SQL_BEGUN_TO, 0.25},
};

/* There are fewer launches than kernels. */
#define SHARE_OF_KERNELS 0.01

struct cursor {
    struct rtl_sql_cursor base;
    rtl_launch_iter_t *iter;
    rtl_graph_launch_t launch;
};

/* What a query restricts launches by. */
struct restricted {
    rtl_launch_filter_t filter;
    uint64_t time_from, time_to;
};

static int plan(sqlite3_index_info *info)
{
    int result = rtl_sql_plan(info, rules, sizeof rules / sizeof *rules);
    info->estimatedCost *= SHARE_OF_KERNELS;
    info->estimatedRows = (sqlite3_int64)((double)info->estimatedRows * SHARE_OF_KERNELS) + 1;
    return result;
}

static void close_cursor(struct rtl_sql_cursor *base)
{
    rtlLaunchIterFree(((struct cursor *)base)->iter);
}

/* The restriction of a start that is the same for when the thread began; 0 if it is none. */
static int as_start(int restriction)
{
    switch (restriction) {
    case RTL_SQL_BEGUN_AT:
        return RTL_SQL_STARTS_AT;
    case RTL_SQL_BEGUN_FROM:
        return RTL_SQL_STARTS_FROM;
    case RTL_SQL_BEGUN_TO:
        return RTL_SQL_STARTS_TO;
    default:
        return 0;
    }
}

static void restrict_number(int restriction, uint32_t value, rtl_launch_filter_t *filter)
{
    bool from = restriction == RTL_SQL_LAUNCH || restriction == RTL_SQL_LAUNCH_FROM;
    bool to = restriction == RTL_SQL_LAUNCH || restriction == RTL_SQL_LAUNCH_TO;
    if (from && value > filter->first)
        filter->first = value;
    if (to && (filter->last == 0 || value < filter->last))
        filter->last = value;
}

static void restrict_by(int restriction, uint64_t value, struct restricted *to)
{
    if (rtl_sql_narrow(restriction, value, &to->filter.from, &to->filter.to) ||
        rtl_sql_narrow(as_start(restriction), value, &to->time_from, &to->time_to))
        return;
    if (restriction == RTL_SQL_CORRELATION)
        to->filter.correlation = value;
    if (value >= UINT32_MAX)
        return;
    if (restriction == RTL_SQL_PROCESS)
        to->filter.process = (uint32_t)value;
    else if (restriction == RTL_SQL_GRAPH)
        to->filter.graph = (uint32_t)value;
    else if (restriction == RTL_SQL_GENERATION)
        to->filter.generation = (uint32_t)value;
    else
        restrict_number(restriction, (uint32_t)value, &to->filter);
}

static rtl_status_t start(struct rtl_sql_cursor *base, const struct rtl_sql_choice *choice)
{
    struct cursor *cursor = (struct cursor *)base;
    struct restricted all = {.filter = RTL_LAUNCH_FILTER_ALL};
    for (int i = 0; i < choice->count; i++) {
        uint64_t value = 0;
        if (rtl_sql_number(choice->values[i], &value))
            restrict_by(choice->restrictions[i], value, &all);
    }
    rtlLaunchIterFree(cursor->iter);
    cursor->iter = NULL;
    return rtl_trace_launches(base->trace, &all.filter, all.time_from, all.time_to, &cursor->iter);
}

static rtl_status_t next(struct rtl_sql_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    rtl_status_t status = rtlLaunchNext(cursor->iter, &cursor->launch);
    const uint64_t key[] = {cursor->launch.process, cursor->launch.graph, cursor->launch.launch};
    if (status == RTL_OK)
        base->row = rtl_sql_row(key, sizeof key / sizeof *key);
    return status;
}

static rtl_status_t column(struct rtl_sql_cursor *base, sqlite3_context *result, int which)
{
    const rtl_graph_launch_t *launch = &((struct cursor *)base)->launch;
    switch ((enum column)which) {
    case COLUMN_GRAPH:
        rtl_sql_result(result, launch->graph);
        break;
    case COLUMN_GENERATION:
        rtl_sql_result(result, launch->generation);
        break;
    case COLUMN_LAUNCH:
        rtl_sql_result(result, launch->launch);
        break;
    case COLUMN_START:
        rtl_sql_result_known(result, launch->start);
        break;
    case COLUMN_END:
        rtl_sql_result_known(result, launch->end);
        break;
    case COLUMN_KERNELS:
        rtl_sql_result(result, launch->kernels);
        break;
    case COLUMN_CORRELATION:
        rtl_sql_result_known(result, launch->correlation);
        break;
    case COLUMN_PROCESS:
        rtl_sql_result(result, launch->process);
        break;
    case COLUMN_EXPECTED:
        rtl_sql_result(result, launch->expected);
        break;
    case COLUMN_CERTAIN:
        rtl_sql_result(result, (uint64_t)launch->certain);
        break;
    case COLUMN_RANGE:
        rtl_sql_result_known(result, launch->range);
        break;
    case COLUMN_THREAD:
        rtl_sql_result(result, launch->thread);
        break;
    case COLUMN_TIME:
        rtl_sql_result(result, launch->time);
        break;
    case COLUMN_UNSEEN:
        rtl_sql_result(result, launch->unseen);
        break;
    }
    return RTL_OK;
}

int rtl_sql_register_launches(sqlite3 *db, struct rtl_sql_trace *shared)
{
    static const struct rtl_sql_kind kind = {
        .declaration =
            "CREATE TABLE graph_launches(graph INTEGER, generation INTEGER, launch INTEGER,"
            " start INTEGER, end INTEGER, kernels INTEGER, correlation INTEGER, process INTEGER,"
            " expected INTEGER, certain INTEGER, range INTEGER, thread INTEGER, time INTEGER,"
            " unseen INTEGER)",
        .cursor_size = sizeof(struct cursor),
        .plan = plan,
        .start = start,
        .next = next,
        .column = column,
        .close = close_cursor,
    };
    return rtl_sql_add_table(db, "graph_launches", &kind, shared);
}

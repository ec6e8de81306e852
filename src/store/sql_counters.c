#include "store/sql_counters.h"

#include "store/samples_read.h"
#include "store/sql_plan.h"
#include "store/sql_table.h"

/* Of kernel_counters, and of range_counters. */
enum kernel_column {
    KERNEL_PROCESS,
    KERNEL_QUEUE,
    KERNEL_PACKET,
    KERNEL_KERNEL,
    KERNEL_NAME,
    KERNEL_VALUE,
    KERNEL_COUNTER,
    KERNEL_AGENT
};

enum range_column {
    RANGE_PROCESS,
    RANGE_RANGE,
    RANGE_AGENT,
    RANGE_NAME,
    RANGE_VALUE,
    RANGE_SHARED,
    RANGE_COUNTER
};

static const char kernel_declaration[] =
    "CREATE TABLE kernel_counters(process INTEGER, queue INTEGER, packet INTEGER, kernel INTEGER,"
    " name TEXT, value INTEGER, counter INTEGER, agent INTEGER)";

static const char range_declaration[] =
    "CREATE TABLE range_counters(process INTEGER, range INTEGER, agent INTEGER, name TEXT,"
    " value INTEGER, shared INTEGER, counter INTEGER)";

static const struct rtl_sql_rule kernel_rules[] = {
    {KERNEL_KERNEL, RTL_SQL_EQUAL, RTL_SQL_KERNEL, 0.000001},
    {KERNEL_PROCESS, RTL_SQL_EQUAL, RTL_SQL_PROCESS, 0.25},
    {KERNEL_QUEUE, RTL_SQL_EQUAL, RTL_SQL_QUEUE, 0.125},
    {KERNEL_PACKET, RTL_SQL_EQUAL, RTL_SQL_OWNER, 0.0001},
    {KERNEL_PACKET, RTL_SQL_ABOVE, RTL_SQL_OWNER_FROM, 0.25},
    {KERNEL_PACKET, RTL_SQL_BELOW, RTL_SQL_OWNER_TO, 0.25},
};

static const struct rtl_sql_rule range_rules[] = {
    {RANGE_PROCESS, RTL_SQL_EQUAL, RTL_SQL_PROCESS, 0.25},
    {RANGE_RANGE, RTL_SQL_EQUAL, RTL_SQL_OWNER, 0.0001},
    {RANGE_RANGE, RTL_SQL_ABOVE, RTL_SQL_OWNER_FROM, 0.25},
    {RANGE_RANGE, RTL_SQL_BELOW, RTL_SQL_OWNER_TO, 0.25},
};

struct cursor {
    struct rtl_sql_cursor base;
    rtl_sample_iter_t *iter; /* NULL: no sample fulfils the conditions */
    rtl_trace_sample_t sample;
    uint32_t which;          /* of its counters */
    uint64_t kernel;         /* id of the sample's kernel once it has been looked for */
    rtl_status_t looked_for; /* RTL_OK: `kernel` is it; RTL_END: it is not there */
    bool looked;
};

static int plan_kernels(sqlite3_index_info *info)
{
    return rtl_sql_plan(info, kernel_rules, sizeof kernel_rules / sizeof *kernel_rules);
}

static int plan_ranges(sqlite3_index_info *info)
{
    return rtl_sql_plan(info, range_rules, sizeof range_rules / sizeof *range_rules);
}

static void close_cursor(struct rtl_sql_cursor *base)
{
    rtlSampleIterFree(((struct cursor *)base)->iter);
}

/* SQL sees owners from 2^63 on as negative numbers, below all others. */
static bool has_large_owners(const rtl_trace_t *trace)
{
    const struct rtl_sample_row *rows = trace->sample_rows.items;
    for (size_t i = 0; i < trace->sample_rows.count; i++)
        if (rows[i].chunk.owner_max > INT64_MAX)
            return true;
    return false;
}

static void restrict_owner(const rtl_trace_t *trace, int restriction, sqlite3_value *value,
                           uint64_t number, rtl_sample_filter_t *filter)
{
    if (restriction == RTL_SQL_OWNER && sqlite3_value_type(value) == SQLITE_INTEGER)
        filter->first = filter->last = (uint64_t)sqlite3_value_int64(value);
    else if (restriction == RTL_SQL_OWNER_FROM && number > filter->first)
        filter->first = number;
    else if (restriction == RTL_SQL_OWNER_TO && number < filter->last && !has_large_owners(trace))
        filter->last = number;
}

/* The kernel says all. RTL_END if there is none. */
static rtl_status_t restrict_kernel(rtl_trace_t *trace, uint64_t id, rtl_sample_filter_t *filter)
{
    rtl_kernel_t kernel;
    rtl_status_t status = rtl_trace_kernel_by_id(trace, id, &kernel);
    if (status == RTL_OK)
        *filter = (rtl_sample_filter_t){kernel.process, kernel.queue, kernel.packet, kernel.packet};
    return status;
}

static rtl_status_t restrict_by(rtl_trace_t *trace, int restriction, sqlite3_value *value,
                                rtl_sample_filter_t *filter)
{
    uint64_t number = 0;
    if (!rtl_sql_number(value, &number))
        return RTL_OK;
    if (restriction == RTL_SQL_KERNEL)
        return restrict_kernel(trace, number, filter);
    if (restriction == RTL_SQL_PROCESS && number < UINT32_MAX)
        filter->process = (uint32_t)number;
    else if (restriction == RTL_SQL_QUEUE && number < UINT32_MAX)
        filter->queue = (uint32_t)number;
    else
        restrict_owner(trace, restriction, value, number, filter);
    return RTL_OK;
}

static rtl_status_t start(struct rtl_sql_cursor *base, const struct rtl_sql_choice *choice,
                          bool ranges)
{
    struct cursor *cursor = (struct cursor *)base;
    rtl_sample_filter_t filter = {0, RTL_TRACE_NONE, 0, UINT64_MAX};
    rtl_status_t status = RTL_OK;
    rtlSampleIterFree(cursor->iter);
    cursor->iter = NULL;
    cursor->sample.count = cursor->which = 0;
    for (int i = 0; i < choice->count && status == RTL_OK; i++)
        status = restrict_by(base->trace, choice->restrictions[i], choice->values[i], &filter);
    if (status != RTL_OK)
        return status == RTL_END ? RTL_OK : status;
    return rtl_trace_samples(base->trace, ranges, &filter, &cursor->iter);
}

static rtl_status_t start_kernels(struct rtl_sql_cursor *base, const struct rtl_sql_choice *choice)
{
    return start(base, choice, false);
}

static rtl_status_t start_ranges(struct rtl_sql_cursor *base, const struct rtl_sql_choice *choice)
{
    return start(base, choice, true);
}

static rtl_status_t next(struct rtl_sql_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    cursor->which++;
    while (cursor->which >= cursor->sample.count) {
        rtl_status_t status = cursor->iter ? rtlSampleNext(cursor->iter, &cursor->sample) : RTL_END;
        if (status != RTL_OK)
            return status;
        cursor->which = 0;
        cursor->looked = false;
    }
    const rtl_trace_sample_t *sample = &cursor->sample;
    const uint64_t key[] = {sample->process, sample->queue, sample->agent, sample->owner,
                            cursor->which};
    base->row = rtl_sql_row(key, sizeof key / sizeof *key);
    return RTL_OK;
}

/* The id of the sample's kernel; NULL if the trace has only the sample. */
static rtl_status_t result_kernel(struct cursor *cursor, sqlite3_context *result)
{
    const rtl_trace_sample_t *sample = &cursor->sample;
    if (!cursor->looked) {
        rtl_kernel_t kernel = {0};
        cursor->looked_for = rtlTraceKernelAt(cursor->base.trace, sample->process, sample->queue,
                                              sample->owner, &kernel);
        cursor->kernel = kernel.id;
        cursor->looked = true;
    }
    if (cursor->looked_for == RTL_OK)
        rtl_sql_result(result, cursor->kernel);
    return cursor->looked_for == RTL_END ? RTL_OK : cursor->looked_for;
}

static rtl_status_t column_of_kernel(struct rtl_sql_cursor *base, sqlite3_context *result,
                                     int which)
{
    struct cursor *cursor = (struct cursor *)base;
    const rtl_trace_sample_t *sample = &cursor->sample;
    switch (which) {
    case KERNEL_PROCESS:
        rtl_sql_result(result, sample->process);
        break;
    case KERNEL_QUEUE:
        rtl_sql_result(result, sample->queue);
        break;
    case KERNEL_PACKET:
        rtl_sql_result(result, sample->owner);
        break;
    case KERNEL_KERNEL:
        return result_kernel(cursor, result);
    case KERNEL_NAME:
        rtl_sql_result_text(result, sample->counters[cursor->which]->name);
        break;
    case KERNEL_VALUE:
        rtl_sql_result(result, sample->values[cursor->which]);
        break;
    case KERNEL_COUNTER:
        rtl_sql_result(result, sample->counters[cursor->which]->counter);
        break;
    case KERNEL_AGENT:
        rtl_sql_result(result, sample->agent);
        break;
    default:
        break;
    }
    return RTL_OK;
}

static rtl_status_t column_of_range(struct rtl_sql_cursor *base, sqlite3_context *result, int which)
{
    const struct cursor *cursor = (struct cursor *)base;
    const rtl_trace_sample_t *sample = &cursor->sample;
    switch (which) {
    case RANGE_PROCESS:
        rtl_sql_result(result, sample->process);
        break;
    case RANGE_RANGE:
        rtl_sql_result(result, sample->owner);
        break;
    case RANGE_AGENT:
        rtl_sql_result(result, sample->agent);
        break;
    case RANGE_NAME:
        rtl_sql_result_text(result, sample->counters[cursor->which]->name);
        break;
    case RANGE_VALUE:
        rtl_sql_result(result, sample->values[cursor->which]);
        break;
    case RANGE_SHARED:
        rtl_sql_result(result, (uint64_t)sample->shared);
        break;
    case RANGE_COUNTER:
        rtl_sql_result(result, sample->counters[cursor->which]->counter);
        break;
    default:
        break;
    }
    return RTL_OK;
}

int rtl_sql_register_counters(sqlite3 *db, struct rtl_sql_trace *shared)
{
    static const struct rtl_sql_kind kernels = {
        .declaration = kernel_declaration,
        .cursor_size = sizeof(struct cursor),
        .plan = plan_kernels,
        .start = start_kernels,
        .next = next,
        .column = column_of_kernel,
        .close = close_cursor,
    };
    static const struct rtl_sql_kind ranges = {
        .declaration = range_declaration,
        .cursor_size = sizeof(struct cursor),
        .plan = plan_ranges,
        .start = start_ranges,
        .next = next,
        .column = column_of_range,
        .close = close_cursor,
    };
    int result = rtl_sql_add_table(db, "kernel_counters", &kernels, shared);
    return result == SQLITE_OK ? rtl_sql_add_table(db, "range_counters", &ranges, shared) : result;
}

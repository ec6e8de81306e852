#include "store/sql_functions.h"

#include "store/sql_quantiles.h"
#include "store/sql_regexp.h"

/* Times, and what correlations name: for views over tables that hold ticks and correlations. */

static void time_of(sqlite3_context *result, int count, sqlite3_value **values)
{
    (void)count;
    char error[512] = "";
    if (sqlite3_value_type(values[2]) == SQLITE_NULL)
        return;
    rtl_trace_t *trace = rtl_sql_trace_get(sqlite3_user_data(result), error, sizeof error);
    if (!trace) {
        sqlite3_result_error(result, error, -1);
        return;
    }
    uint32_t process = (uint32_t)sqlite3_value_int64(values[0]);
    uint32_t queue = (uint32_t)sqlite3_value_int64(values[1]);
    uint32_t place = rtl_index_get(&trace->queue_index, rtl_index_key(process, queue));
    if (place == RTL_INDEX_MISSING)
        return;
    uint32_t agent = ((const rtl_queue_t *)trace->queues.items)[place].agent;
    uint64_t ticks = (uint64_t)sqlite3_value_int64(values[2]);
    uint64_t ns = rtl_trace_ns(rtl_trace_clock(trace, process, agent), ticks);
    sqlite3_result_int64(result, (sqlite3_int64)ns);
}

/* The origin of (process, correlation); false if it cannot be told, and the result says why. */
static bool origin_of(sqlite3_context *result, sqlite3_value **values, rtl_trace_origin_t *origin)
{
    char error[512] = "";
    *origin = (rtl_trace_origin_t){.stream = RTL_TRACE_NONE};
    if (sqlite3_value_type(values[1]) == SQLITE_NULL)
        return true;
    rtl_trace_t *trace = rtl_sql_trace_get(sqlite3_user_data(result), error, sizeof error);
    if (!trace) {
        sqlite3_result_error(result, error, -1);
        return false;
    }
    uint32_t process = (uint32_t)sqlite3_value_int64(values[0]);
    uint64_t correlation = (uint64_t)sqlite3_value_int64(values[1]);
    if (rtlTraceOrigin(trace, process, correlation, origin) == RTL_OK)
        return true;
    sqlite3_result_error(result, rtlTraceError(trace), -1);
    return false;
}

static void call_of(sqlite3_context *result, int count, sqlite3_value **values)
{
    rtl_trace_origin_t origin;
    (void)count;
    if (origin_of(result, values, &origin) && origin.call)
        sqlite3_result_int64(result, (sqlite3_int64)origin.call);
}

static void stream_of(sqlite3_context *result, int count, sqlite3_value **values)
{
    rtl_trace_origin_t origin;
    (void)count;
    if (origin_of(result, values, &origin) && origin.stream != RTL_TRACE_NONE)
        sqlite3_result_int64(result, origin.stream);
}

static void range_of(sqlite3_context *result, int count, sqlite3_value **values)
{
    rtl_trace_origin_t origin;
    (void)count;
    if (origin_of(result, values, &origin) && origin.range)
        sqlite3_result_int64(result, (sqlite3_int64)origin.range);
}

/* Whether the connection can call it already: a newer SQLite has it, or the program. */
static bool knows(sqlite3 *db, const char *query)
{
    sqlite3_stmt *statement = NULL;
    bool known = sqlite3_prepare_v2(db, query, -1, &statement, NULL) == SQLITE_OK;
    (void)sqlite3_finalize(statement);
    return known;
}

/* What knows nothing of traces. What is there stays. */
static int add_general(sqlite3 *db)
{
    static const struct {
        const char *name, *query;
        int arguments;
        void (*function)(sqlite3_context *, int, sqlite3_value **);
        void (*step)(sqlite3_context *, int, sqlite3_value **);
        void (*final)(sqlite3_context *);
    } functions[] = {
        {"regexp", "SELECT regexp('', '')", 2, rtl_sql_regexp, NULL, NULL},
        {"median", "SELECT median(1)", 1, NULL, rtl_sql_median_step, rtl_sql_quantile_final},
        {"percentile", "SELECT percentile(1, 50)", 2, NULL, rtl_sql_percentile_step,
         rtl_sql_quantile_final},
    };
    int result = SQLITE_OK;
    for (size_t i = 0; i < sizeof functions / sizeof *functions && result == SQLITE_OK; i++)
        if (!knows(db, functions[i].query))
            result = sqlite3_create_function_v2(
                db, functions[i].name, functions[i].arguments, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                NULL, functions[i].function, functions[i].step, functions[i].final, NULL);
    return result;
}

int rtl_sql_register_functions(sqlite3 *db, struct rtl_sql_trace *shared)
{
    static const struct {
        const char *name;
        int arguments;
        void (*function)(sqlite3_context *, int, sqlite3_value **);
    } functions[] = {
        {"rtl_time", 3, time_of},
        {"rtl_call", 2, call_of},
        {"rtl_stream", 2, stream_of},
        {"rtl_range", 2, range_of},
    };
    int result = SQLITE_OK;
    for (size_t i = 0; i < sizeof functions / sizeof *functions && result == SQLITE_OK; i++)
        result = sqlite3_create_function_v2(
            db, functions[i].name, functions[i].arguments, SQLITE_UTF8 | SQLITE_INNOCUOUS,
            rtl_sql_trace_keep(shared), functions[i].function, NULL, NULL, rtl_sql_trace_drop);
    return result == SQLITE_OK ? add_general(db) : result;
}

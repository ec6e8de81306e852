#include "store/sql_time.h"

#include "store/reader.h"

#include <stdlib.h>

/* The clocks of a connection's trace. */
struct clocks {
    rtl_trace_t *trace;
    unsigned version; /* of the data that `trace` was read from */
};

/* Reads the clocks when first needed, and again after a recorder has written. */
static rtl_trace_t *load(sqlite3 *db, struct clocks *clocks, char *error, size_t error_size)
{
    unsigned version = 0;
    (void)sqlite3_file_control(db, "main", SQLITE_FCNTL_DATA_VERSION, &version);
    if (clocks->trace && version == clocks->version)
        return clocks->trace;
    rtlTraceClose(clocks->trace);
    rtl_status_t status = RTL_OK;
    const char *path = sqlite3_db_filename(db, "main");
    clocks->trace = rtl_trace_over(db, path ? path : "", &status, error, error_size);
    clocks->version = version;
    return clocks->trace;
}

static void time_of(sqlite3_context *result, int count, sqlite3_value **values)
{
    (void)count;
    char error[512] = "";
    if (sqlite3_value_type(values[2]) == SQLITE_NULL)
        return;
    rtl_trace_t *trace =
        load(sqlite3_context_db_handle(result), sqlite3_user_data(result), error, sizeof error);
    if (!trace) {
        sqlite3_result_error(result, error, -1);
        return;
    }
    uint32_t process = (uint32_t)sqlite3_value_int64(values[0]);
    uint32_t queue = (uint32_t)sqlite3_value_int64(values[1]);
    uint32_t place = rtl_map_get(&trace->queue_index, rtl_map_key(process, queue));
    if (place == RTL_MAP_MISSING)
        return;
    uint32_t agent = ((const rtl_queue_t *)trace->queues.items)[place].agent;
    uint64_t ticks = (uint64_t)sqlite3_value_int64(values[2]);
    uint64_t ns = rtl_trace_ns(rtl_trace_clock(trace, process, agent), ticks);
    sqlite3_result_int64(result, (sqlite3_int64)ns);
}

static void forget(void *context)
{
    struct clocks *clocks = context;
    rtlTraceClose(clocks->trace);
    free(clocks);
}

int rtl_sql_register_time(sqlite3 *db)
{
    struct clocks *clocks = calloc(1, sizeof *clocks);
    if (!clocks)
        return SQLITE_NOMEM;
    return sqlite3_create_function_v2(db, "rtl_time", 3, SQLITE_UTF8 | SQLITE_INNOCUOUS, clocks,
                                      time_of, NULL, NULL, forget);
}

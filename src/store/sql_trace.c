#include "store/sql_trace.h"

#include <stdlib.h>

struct rtl_sql_trace {
    sqlite3 *db;
    rtl_trace_t *trace;
    unsigned version; /* of the data that `trace` was read from */
    unsigned owners, holders;
};

struct rtl_sql_trace *rtl_sql_trace_new(sqlite3 *db)
{
    struct rtl_sql_trace *shared = calloc(1, sizeof *shared);
    if (shared)
        *shared = (struct rtl_sql_trace){.db = db, .owners = 1};
    return shared;
}

struct rtl_sql_trace *rtl_sql_trace_keep(struct rtl_sql_trace *shared)
{
    shared->owners++;
    return shared;
}

void rtl_sql_trace_drop(void *owned)
{
    struct rtl_sql_trace *shared = owned;
    if (--shared->owners > 0)
        return;
    rtlTraceClose(shared->trace);
    free(shared);
}

rtl_trace_t *rtl_sql_trace_get(struct rtl_sql_trace *shared, char *error, size_t error_size)
{
    unsigned version = 0;
    (void)sqlite3_file_control(shared->db, "main", SQLITE_FCNTL_DATA_VERSION, &version);
    if (shared->trace && (version == shared->version || shared->holders > 0))
        return shared->trace;
    rtlTraceClose(shared->trace);
    rtl_status_t status = RTL_OK;
    const char *path = sqlite3_db_filename(shared->db, "main");
    shared->trace = rtl_trace_over(shared->db, path ? path : "", &status, error, error_size);
    shared->version = version;
    return shared->trace;
}

rtl_trace_t *rtl_sql_trace_hold(struct rtl_sql_trace *shared, char *error, size_t error_size)
{
    /* A statement that reads nothing but virtual tables has not looked at the file yet. */
    (void)sqlite3_exec(shared->db, "PRAGMA main.data_version", NULL, NULL, NULL);
    rtl_trace_t *trace = rtl_sql_trace_get(shared, error, error_size);
    shared->holders += trace != NULL;
    return trace;
}

void rtl_sql_trace_release(struct rtl_sql_trace *shared)
{
    shared->holders--;
}

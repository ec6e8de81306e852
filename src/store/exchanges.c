#include "store/exchanges.h"

#include "store/tables.h"

#include <stdio.h>

static int take_text(rtl_trace_t *trace, sqlite3_stmt *row, int column, char *text, size_t size)
{
    const char *value = rtl_row_text(trace, row, column);
    if (!value)
        return -1;
    (void)snprintf(text, size, "%s", value);
    return 0;
}

static int take(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    struct rtl_exchange *exchange = item;
    exchange->sent = rtl_row_u64(row, 0);
    exchange->received = rtl_row_u64(row, 1);
    exchange->answered = rtl_row_u64(row, 2);
    exchange->returned = rtl_row_u64(row, 3);
    if (take_text(trace, row, 4, exchange->peer_boot, sizeof exchange->peer_boot) != 0)
        return -1;
    return take_text(trace, row, 5, exchange->peer_host, sizeof exchange->peer_host);
}

/* Traces of version 1.7 have the table or not. */
static bool has_table(const rtl_trace_t *trace)
{
    return sqlite3_table_column_metadata(trace->db, "main", "clock_exchanges", "sent", NULL, NULL,
                                         NULL, NULL, NULL) == SQLITE_OK;
}

rtl_status_t rtl_exchanges_read(rtl_trace_t *trace, struct rtl_exchange **list, size_t *count)
{
    struct rtl_list rows = {0};
    const struct rtl_table table = {
        "SELECT sent, received, answered, returned, peer_boot, peer_host FROM main.clock_exchanges"
        " WHERE boot = (SELECT value FROM main.meta WHERE key = 'boot') ORDER BY sent < 0, sent",
        sizeof(struct rtl_exchange), take, &rows};
    rtl_status_t status = has_table(trace) ? rtl_table_load(trace, &table) : RTL_OK;
    if (status != RTL_OK)
        rtl_list_free(&rows);
    *list = rows.items;
    *count = rows.count;
    return status;
}

int64_t rtl_hosts_error(rtl_trace_t *trace)
{
    static const char query[] = "SELECT value FROM main.meta WHERE key = 'hosts_error' AND"
                                " typeof(value) = 'integer' AND value >= -1";
    sqlite3_stmt *statement = NULL;
    int64_t error = RTL_HOSTS_ERROR_MISSING;
    if (sqlite3_prepare_v2(trace->db, query, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        error = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    return error;
}

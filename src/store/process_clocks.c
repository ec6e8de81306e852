#include "store/process_clocks.h"

#include "store/tables.h"

char *rtl_process_clocks_query(sqlite3 *db, const char *schema)
{
    if (sqlite3_table_column_metadata(db, schema, "process_clocks", "boot", NULL, NULL, NULL, NULL,
                                      NULL) == SQLITE_OK)
        return sqlite3_mprintf("SELECT process, boot, start FROM \"%w\".process_clocks", schema);
    /* A merged trace has no writer, and one boot for all of its hosts. */
    return sqlite3_mprintf(
        "SELECT p.process, m.value AS boot, p.start FROM \"%w\".processes p JOIN \"%w\".meta m ON"
        " m.key = 'boot' WHERE p.start IS NOT NULL AND NOT EXISTS(SELECT 1 FROM \"%w\".meta w"
        " WHERE w.key = 'writer_pid' AND w.value = 0)",
        schema, schema, schema);
}

static int take(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    struct rtl_process_clock *clock = item;
    clock->boot = rtl_row_text(trace, row, 0);
    clock->start = rtl_row_u64(row, 1);
    return clock->boot ? 0 : -1;
}

rtl_status_t rtl_process_clocks_read(rtl_trace_t *trace, struct rtl_process_clock **list,
                                     size_t *count)
{
    struct rtl_list rows = {0};
    char *known = rtl_process_clocks_query(trace->db, "main");
    char *query = known ? sqlite3_mprintf("SELECT c.boot, c.start FROM main.processes p LEFT JOIN"
                                          " (%s) c USING(process) ORDER BY p.process",
                                          known)
                        : NULL;
    const struct rtl_table table = {query, sizeof(struct rtl_process_clock), take, &rows};
    rtl_status_t status =
        query ? rtl_table_load(trace, &table) : rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    sqlite3_free(known);
    sqlite3_free(query);
    if (status != RTL_OK)
        rtl_list_free(&rows);
    *list = rows.items;
    *count = rows.count;
    return status;
}

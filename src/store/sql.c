#include "store/sql.h"

#include "store/reader.h"
#include "store/sql_kernels.h"
#include "store/sql_time.h"

#include <stdio.h>

/* In the temporary schema of the connection: the file holds nothing but data, and what a view says
 * moves with the program. A view that has no data yet has its columns and no rows.
 *
 * The numbers of `ledger` add up: a queue has one row with its account (reason NULL, lost 0), and
 * one more for each reason, which holds nothing but what was lost. 1023 is the ledger row that
 * takes all further queues of a process. */
static const char views[] =
    "CREATE TEMP VIEW copies(id, process, gpu, queue, start, end, duration, bytes, kind, src, dst,"
    " correlation, engine, ordinal, start_ticks, end_ticks) AS"
    " WITH timed AS (SELECT *, rtl_time(process, queue, start_ticks) AS start,"
    "  rtl_time(process, queue, end_ticks) AS end FROM stored_copies)"
    " SELECT c.id, c.process, a.gpu, c.queue, c.start, c.end, c.end - c.start, c.bytes, c.kind,"
    "  c.src, c.dst, c.correlation, c.engine, c.ordinal, c.start_ticks, c.end_ticks"
    "  FROM timed c LEFT JOIN main.queues q USING(process, queue)"
    "  LEFT JOIN main.agents a USING(process, agent);"

    "CREATE TEMP VIEW api(id, process, thread, name, start, end, correlation) AS"
    " SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL WHERE 0;"

    "CREATE TEMP VIEW graphs(graph, generation, nodes, launches) AS"
    " SELECT NULL, NULL, NULL, NULL WHERE 0;"

    "CREATE TEMP VIEW graph_nodes(graph, generation, node, name) AS"
    " SELECT NULL, NULL, NULL, NULL WHERE 0;"

    "CREATE TEMP VIEW graph_launches(graph, generation, launch, start, end, kernels, correlation)"
    " AS SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL WHERE 0;"

    "CREATE TEMP VIEW ranges(id, process, thread, name, start, end, parent) AS"
    " SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL WHERE 0;"

    "CREATE TEMP VIEW queues AS SELECT q.process, q.queue, q.agent, a.gpu, q.address, q.hsa_id,"
    " q.size, q.type, q.way, q.start, q.end, (SELECT coalesce(sum(c.kernels), 0)"
    " FROM main.kernel_chunks c WHERE c.process = q.process AND c.queue = q.queue) AS kernels,"
    " (SELECT count(*) FROM stored_copies c WHERE c.process = q.process AND c.queue = q.queue)"
    " AS copies FROM main.queues q LEFT JOIN main.agents a USING(process, agent);"

    "CREATE TEMP VIEW ledger(process, queue, seen, recorded, lost, reason, packets, skipped, "
    "stored,"
    " forwarded, borrowed, helped, what) AS"
    " WITH parts AS (SELECT process, queue, kernels FROM main.kernel_chunks"
    "  UNION ALL SELECT process, queue, count(*) FROM stored_copies GROUP BY 1, 2),"
    " whats AS (SELECT process, queue, 'copies' AS what FROM main.queues WHERE way = 'copies'),"
    " chunks AS (SELECT process, min(queue, 1023) AS queue, sum(kernels) AS stored"
    "  FROM parts GROUP BY 1, 2)"
    " SELECT r.process, r.queue, seen, recorded, 0, NULL, packets, skipped, coalesce(stored, 0),"
    "  forwarded, borrowed, helped, coalesce(w.what, 'kernels')"
    "  FROM main.ledger_rows r LEFT JOIN chunks c ON c.process = r.process AND c.queue = r.queue"
    "  LEFT JOIN whats w ON w.process = r.process AND w.queue = r.queue"
    " UNION ALL SELECT l.process, l.queue, 0, 0, lost, reason, 0, 0, 0, 0, 0, 0,"
    "  coalesce(w.what, 'kernels') FROM main.ledger_losses l"
    "  LEFT JOIN whats w ON w.process = l.process AND w.queue = l.queue WHERE lost > 0;";

/* A file of format 1.0 has no copies. */
static const char copies_table[] = "CREATE TEMP VIEW stored_copies AS SELECT * FROM main.copies";
static const char no_copies_table[] =
    "CREATE TEMP VIEW stored_copies(id, process, queue, ordinal, start_ticks, end_ticks, bytes,"
    " kind, engine, src, dst, correlation) AS SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL,"
    " NULL, NULL, NULL, NULL, NULL WHERE 0";

int rtl_sql_register(sqlite3 *db)
{
    bool copies = sqlite3_table_column_metadata(db, "main", "copies", NULL, NULL, NULL, NULL, NULL,
                                                NULL) == SQLITE_OK;
    int result = rtl_sql_register_kernels(db);
    if (result == SQLITE_OK)
        result = rtl_sql_register_time(db);
    if (result == SQLITE_OK)
        result = sqlite3_exec(db, "PRAGMA temp_store=MEMORY", NULL, NULL, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_exec(db, copies ? copies_table : no_copies_table, NULL, NULL, NULL);
    return result == SQLITE_OK ? sqlite3_exec(db, views, NULL, NULL, NULL) : result;
}

/* Fails if it is not a trace that we can read. */
static rtl_status_t check(sqlite3 *db, const char *path, char *error, size_t error_size)
{
    rtl_status_t status = RTL_OK;
    rtlTraceClose(rtl_trace_over(db, path, &status, error, error_size));
    return status;
}

rtl_status_t rtl_sql_open(const char *path, sqlite3 **db, char *error, size_t error_size)
{
    rtl_status_t status = rtl_trace_connect(path, db, error, error_size);
    if (status != RTL_OK)
        return status;
    status = check(*db, path, error, error_size);
    if (status == RTL_OK && (rtl_sql_register(*db) != SQLITE_OK ||
                             sqlite3_exec(*db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)) {
        (void)snprintf(error, error_size, "cannot open the trace %s: %s", path,
                       sqlite3_errmsg(*db));
        status = RTL_E_IO;
    }
    if (status != RTL_OK) {
        (void)sqlite3_close(*db);
        *db = NULL;
    }
    return status;
}

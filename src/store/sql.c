#include "store/sql.h"

#include "store/reader.h"
#include "store/sql_api.h"
#include "store/sql_counters.h"
#include "store/sql_functions.h"
#include "store/sql_graphs.h"
#include "store/sql_kernels.h"
#include "store/sql_launches.h"
#include "store/sql_rpd.h"
#include "store/sql_stats.h"
#include "store/sql_symbols.h"
#include "store/sql_trace.h"
#include "store/thread_names.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* In the temporary schema of the connection: the file holds nothing but data, and what a view says
 * moves with the program. A view that has no data yet has its columns and no rows.
 *
 * The numbers of `ledger` add up: a queue has one row with its account (reason NULL, lost 0), and
 * one more for each reason, which holds nothing but what was lost. 1023 is the ledger row that
 * takes all further queues of a process. */
static const char views[] =
    "CREATE TEMP VIEW copies(id, process, gpu, queue, start, end, duration, bytes, kind, src, dst,"
    " correlation, engine, ordinal, start_ticks, end_ticks, stream, range) AS"
    " WITH timed AS (SELECT *, rtl_time(process, queue, start_ticks) AS start,"
    "  rtl_time(process, queue, end_ticks) AS end FROM stored_copies)"
    " SELECT c.id, c.process, a.gpu, c.queue, c.start, c.end, c.end - c.start, c.bytes, c.kind,"
    "  c.src, c.dst, rtl_call(c.process, c.correlation), c.engine, c.ordinal, c.start_ticks,"
    "  c.end_ticks, rtl_stream(c.process, c.correlation), rtl_range(c.process, c.correlation)"
    "  FROM timed c LEFT JOIN main.queues q USING(process, queue)"
    "  LEFT JOIN main.agents a USING(process, agent);"

    /* An end whose begin was lost is no range. The depth is the number of ranges around it; UNION
     * ends at a circle, which only a damaged file has. */
    "CREATE TEMP VIEW ranges(id, process, thread, name, start, end, parent, kind, depth, duration)"
    " AS SELECT r.id, r.process, r.thread, r.name, r.start, r.end, r.parent, r.kind,"
    " (WITH RECURSIVE up(id) AS (SELECT r.parent UNION SELECT q.parent FROM up"
    "  CROSS JOIN stored_ranges q ON q.process = r.process AND q.id = up.id)"
    "  SELECT count(id) FROM up), r.end - r.start"
    " FROM stored_ranges r WHERE r.start IS NOT NULL;"

    /* What was captured in a range, and in those around it, in each replay. */
    "CREATE TEMP VIEW graph_ranges(process, graph, generation, launch, range, start, end, kernels)"
    " AS WITH RECURSIVE captured(process, graph, generation, node, range) AS"
    " (SELECT process, graph, generation, node, range FROM graph_nodes WHERE range IS NOT NULL"
    "  UNION SELECT c.process, c.graph, c.generation, c.node, r.parent FROM captured c"
    "  CROSS JOIN stored_ranges r ON r.process = c.process AND r.id = c.range"
    "  WHERE r.parent IS NOT NULL)"
    " SELECT k.process, k.graph, k.generation, k.launch, c.range, min(k.start), max(k.end),"
    "  count(*) FROM kernels k CROSS JOIN captured c ON c.process = k.process AND c.graph = k.graph"
    "  AND c.generation = k.generation AND c.node = k.node WHERE k.graph IS NOT NULL"
    "  GROUP BY 1, 2, 3, 4, 5;"

    "CREATE TEMP VIEW pauses(process, start, end, why, duration) AS"
    " SELECT process, start, end, why, end - start FROM stored_pauses;"

    "CREATE TEMP VIEW queues AS SELECT q.process, q.queue, q.agent, a.gpu, q.address, q.hsa_id,"
    " q.size, q.type, q.way, q.start, q.end, (SELECT coalesce(sum(c.kernels), 0)"
    " FROM main.kernel_chunks c WHERE c.process = q.process AND c.queue = q.queue) AS kernels,"
    " (SELECT count(*) FROM stored_copies c WHERE c.process = q.process AND c.queue = q.queue)"
    " AS copies FROM main.queues q LEFT JOIN main.agents a USING(process, agent);"

    "CREATE TEMP VIEW ledger(process, queue, seen, recorded, lost, reason, packets, skipped, "
    "stored,"
    " forwarded, borrowed, helped, what, stopped, withheld) AS"
    " WITH parts AS (SELECT process, queue, kernels FROM main.kernel_chunks"
    "  UNION ALL SELECT process, queue, count(*) FROM stored_copies GROUP BY 1, 2),"
    " whats AS (SELECT process, queue, 'copies' AS what FROM main.queues WHERE way = 'copies'),"
    " chunks AS (SELECT process, min(queue, 1023) AS queue, sum(kernels) AS stored"
    "  FROM parts GROUP BY 1, 2)"
    " SELECT r.process, r.queue, seen, recorded, 0, NULL, packets, skipped, coalesce(stored, 0),"
    "  forwarded, borrowed, helped, coalesce(w.what, 'kernels'), coalesce(o.stopped, 0),"
    "  coalesce(o.withheld, 0)"
    "  FROM main.ledger_rows r LEFT JOIN chunks c ON c.process = r.process AND c.queue = r.queue"
    "  LEFT JOIN whats w ON w.process = r.process AND w.queue = r.queue"
    "  LEFT JOIN stored_ledger_left_out o ON o.process = r.process AND o.queue = r.queue"
    " UNION ALL SELECT l.process, l.queue, 0, 0, lost, reason, 0, 0, 0, 0, 0, 0,"
    "  coalesce(w.what, 'kernels'), 0, 0 FROM main.ledger_losses l"
    "  LEFT JOIN whats w ON w.process = l.process AND w.queue = l.queue WHERE lost > 0;";

/* Apart, because a string literal has its limits (C11 5.2.4.1). */
static const char name_views[] =
    "CREATE TEMP VIEW names(process, kind, handle, name) AS SELECT * FROM stored_names;"

    "CREATE TEMP VIEW calls(process, call, name, arguments) AS SELECT * FROM stored_calls;"

    /* Rows and blocks; the file's own table has the former alone. */
    "CREATE TEMP VIEW symbols(process, symbol, agent, kernel_object, name, mangled, kernarg_size,"
    " group_size, private_size) AS SELECT * FROM all_symbols;"

    /* Before format 1.5 all generations of a handle were one stream. */
    "CREATE TEMP VIEW streams(process, stream, handle, name, generation, created, destroyed) AS"
    " SELECT s.process, s.stream, s.handle, CASE WHEN s.generation IS NULL THEN n.name"
    " ELSE s.name END, coalesce(s.generation, 1), s.created, s.destroyed FROM stored_streams s"
    " LEFT JOIN stored_names n ON s.generation IS NULL AND n.process = s.process"
    " AND n.kind = 'stream' AND n.handle = s.handle;"

    "CREATE TEMP VIEW threads(process, thread, name, tid, generation, comm) AS"
    " SELECT t.process, t.thread, " RTL_SQL_THREAD_NAME(
        "stored_threads") ", coalesce(t.tid,"
                          " t.thread), coalesce(t.generation, 1), t.comm FROM stored_threads t"
                          " LEFT JOIN stored_processes p ON p.process = t.process"
                          " LEFT JOIN stored_names n ON n.process = t.process AND n.kind = 'thread'"
                          " AND n.handle = t.thread;"

                          "CREATE TEMP VIEW processes AS SELECT * FROM stored_processes;";

/* As `ledger`: a kind of a process has one row with its account, and one more for each reason.
 * Apart, because a string literal has its limits (C11 5.2.4.1). */
static const char kind_views[] =
    "CREATE TEMP VIEW ledger_kinds(process, kind, seen, recorded, stored, waiting, stopped,"
    " withheld, lost, reason) AS"
    " WITH counts(process, kind, stored) AS"
    " (SELECT process, 'calls', sum(calls) FROM stored_api_chunks GROUP BY process"
    "  UNION ALL SELECT process, 'samples', sum(samples) FROM stored_sample_chunks"
    "   GROUP BY process"
    "  UNION ALL SELECT process, CASE kind WHEN 'mark' THEN 'marks' ELSE 'ranges' END, count(*)"
    "   FROM stored_ranges WHERE start IS NOT NULL GROUP BY 1, 2"
    "  UNION ALL SELECT process, 'range_ends', count(*) FROM stored_ranges"
    "   WHERE end IS NOT NULL AND kind IS NOT 'mark' GROUP BY process"
    "  UNION ALL SELECT process, 'launches', sum(launches) FROM graphs WHERE source = 'hip'"
    "   GROUP BY process)"
    " SELECT r.process, r.kind, r.recorded + r.waiting + r.stopped + r.withheld"
    "  + (SELECT coalesce(sum(l.lost), 0) FROM stored_ledger_kind_losses l"
    "     WHERE l.process = r.process AND l.kind = r.kind),"
    "  r.recorded, CASE WHEN r.kind IN ('calls', 'samples', 'marks', 'ranges', 'range_ends',"
    "  'launches') THEN coalesce(c.stored, 0) ELSE r.recorded - r.dropped END,"
    "  r.waiting, r.stopped, r.withheld, 0, NULL"
    "  FROM stored_ledger_kind_rows r LEFT JOIN counts c USING(process, kind)"
    " UNION ALL SELECT process, kind, 0, 0, 0, 0, 0, 0, lost, reason"
    "  FROM stored_ledger_kind_losses;";

/* Apart for the same reason. */
static const char counter_views[] =
    "CREATE TEMP VIEW counting(process, mode, pass, passes, metrics) AS"
    " SELECT * FROM stored_counting;"

    "CREATE TEMP VIEW counters(process, counter, agent, name, block, event, instances, pass) AS"
    " SELECT * FROM stored_counters;"

    "CREATE TEMP VIEW uncounted(process, agent, why, count) AS SELECT * FROM stored_uncounted;"

    "CREATE TEMP VIEW hip_queues(process, queue, library, calls) AS"
    " SELECT * FROM stored_hip_queues;"

    "CREATE TEMP VIEW ledger_opaque(process, queue, what, packets, of_graphs) AS"
    " SELECT * FROM stored_ledger_opaque;";

/* A clock of the peer's minus the trace's is from `least` to `most`. */
static const char clock_views[] =
    "CREATE TEMP VIEW clock_exchanges(host, boot, peer_host, peer_boot, sent, received, answered,"
    " returned, least, most) AS SELECT *, answered - returned, received - sent"
    " FROM stored_clock_exchanges;";

/* Tables, or columns of theirs, that older files do not have. The views read `stored_TABLE`, which
 * is the table, or empty. */
static const struct stored {
    const char *table, *columns;
} stored_tables[] = {
    {"processes", "process, pid, ppid, command, host, rank, mode, way, library, hsa, core_table,"
                  " ext_table, start, end, state, torn, title, comm"},
    /* Of format 1.1. */
    {"copies", "id, process, queue, ordinal, start_ticks, end_ticks, bytes, kind, engine, src, dst,"
               " correlation"},
    /* Of format 1.2. */
    {"streams", "process, stream, handle, generation, name, created, destroyed"},
    {"threads", "process, thread, tid, generation, comm"},
    {"names", "process, kind, handle, name"},
    {"calls", "process, call, name, arguments"},
    {"ranges", "process, id, thread, kind, name, start, end, parent"},
    {"api_chunks", "process, calls"},
    /* Of format 1.3. */
    {"pauses", "process, start, end, why"},
    /* Of format 1.4. */
    {"counting", "process, mode, pass, passes, metrics"},
    {"counters", "process, counter, agent, name, block, event, instances, pass"},
    {"uncounted", "process, agent, why, count"},
    /* Of format 1.5. */
    {"hip_queues", "process, queue, library, calls"},
    {"sample_chunks", "process, samples"},
    /* Of format 1.5. */
    {"ledger_left_out", "process, queue, stopped, withheld"},
    {"ledger_opaque", "process, queue, what, packets, of_graphs"},
    {"ledger_kind_rows", "process, kind, recorded, dropped, waiting, stopped, withheld"},
    {"ledger_kind_losses", "process, kind, reason, lost"},
    /* Of format 1.7. */
    {"clock_exchanges", "host, boot, peer_host, peer_boot, sent, received, answered, returned"},
};

/* 1 if the table has the column (NULL: if it is there at all), 0 if not, -1 if nobody can say. */
static int is_there(sqlite3 *db, const char *table, const char *column)
{
    int result =
        sqlite3_table_column_metadata(db, "main", table, column, NULL, NULL, NULL, NULL, NULL);
    return result == SQLITE_OK ? 1 : result == SQLITE_ERROR ? 0 : -1;
}

static int add_stored(sqlite3 *db, const struct stored *stored)
{
    int there = is_there(db, stored->table, NULL);
    sqlite3_str *text = sqlite3_str_new(db);
    sqlite3_str_appendf(text, "CREATE TEMP VIEW stored_%s(%s) AS SELECT", stored->table,
                        stored->columns);
    for (const char *at = stored->columns; *at && there >= 0;) {
        char column[32];
        size_t length = strcspn(at, ",");
        (void)snprintf(column, sizeof column, "%.*s", (int)length, at);
        int has = there ? is_there(db, stored->table, column) : 0;
        sqlite3_str_appendf(text, at == stored->columns ? " %s" : ", %s", has ? column : "NULL");
        at += length + strspn(at + length, ", ");
        there = has < 0 ? has : there;
    }
    if (there > 0)
        sqlite3_str_appendf(text, " FROM main.%s", stored->table);
    else
        sqlite3_str_appendall(text, " WHERE 0");
    char *statement = sqlite3_str_finish(text);
    int result = there < 0 ? sqlite3_errcode(db) : SQLITE_NOMEM;
    if (statement && there >= 0)
        result = sqlite3_exec(db, statement, NULL, NULL, NULL);
    sqlite3_free(statement);
    return result;
}

int rtl_sql_register(sqlite3 *db)
{
    static const char *const parts[] = {views, name_views, kind_views, counter_views, clock_views};
    struct rtl_sql_trace *shared = rtl_sql_trace_new(db);
    if (!shared)
        return SQLITE_NOMEM;
    int result = rtl_sql_register_kernels(db, shared);
    if (result == SQLITE_OK)
        result = rtl_sql_register_api(db, shared);
    if (result == SQLITE_OK)
        result = rtl_sql_register_graphs(db, shared);
    if (result == SQLITE_OK)
        result = rtl_sql_register_launches(db, shared);
    if (result == SQLITE_OK)
        result = rtl_sql_register_stats(db, shared);
    if (result == SQLITE_OK)
        result = rtl_sql_register_counters(db, shared);
    if (result == SQLITE_OK)
        result = rtl_sql_register_symbols(db, shared);
    if (result == SQLITE_OK)
        result = rtl_sql_register_functions(db, shared);
    rtl_sql_trace_drop(shared);
    for (size_t i = 0; i < sizeof stored_tables / sizeof *stored_tables && result == SQLITE_OK; i++)
        result = add_stored(db, &stored_tables[i]);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && result == SQLITE_OK; i++)
        result = sqlite3_exec(db, parts[i], NULL, NULL, NULL);
    return result == SQLITE_OK ? rtl_sql_register_rpd(db) : result;
}

/* Fails if it is not a trace that we can read. */
static rtl_status_t check(sqlite3 *db, const char *path, char *error, size_t error_size)
{
    rtl_status_t status = RTL_OK;
    rtlTraceClose(rtl_trace_over(db, path, &status, error, error_size));
    return status;
}

static bool is_attached(sqlite3 *db)
{
    sqlite3_stmt *row = NULL;
    bool there = sqlite3_prepare_v2(db, "SELECT 1 FROM sqlite_temp_master WHERE name = 'rocpd_op'",
                                    -1, &row, NULL) == SQLITE_OK &&
                 sqlite3_step(row) == SQLITE_ROW;
    (void)sqlite3_finalize(row);
    return there;
}

rtl_status_t rtl_sql_attach(sqlite3 *db, const char *path, char *error, size_t error_size)
{
    rtl_status_t status = check(db, path, error, error_size);
    if (status != RTL_OK || is_attached(db))
        return status;
    if (rtl_sql_register(db) == SQLITE_OK)
        return RTL_OK;
    (void)snprintf(error, error_size, "cannot open the trace %s: %s", path, sqlite3_errmsg(db));
    return RTL_E_IO;
}

rtl_status_t rtl_sql_open(const char *path, sqlite3 **db, char *error, size_t error_size)
{
    uint64_t behind;
    rtl_status_t status = rtl_trace_connect(path, db, error, error_size);
    if (status != RTL_OK)
        return status;
    (void)sqlite3_exec(*db, "PRAGMA temp_store=MEMORY", NULL, NULL, NULL);
    status = rtl_sql_attach(*db, path, error, error_size);
    if (status == RTL_OK)
        status = rtl_trace_begin(*db, path, &behind, error, error_size);
    if (status != RTL_OK) {
        (void)sqlite3_close(*db);
        *db = NULL;
    }
    return status;
}

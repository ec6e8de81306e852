#include "fixture.h"
#include "store/sql.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The first column of the first row as a number; INT64_MIN on any error. */
static int64_t number(sqlite3 *db, const char *query)
{
    sqlite3_stmt *statement = NULL;
    int64_t value = INT64_MIN;
    if (sqlite3_prepare_v2(db, query, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        value = sqlite3_column_int64(statement, 0);
    if (sqlite3_finalize(statement) != SQLITE_OK) {
        (void)fprintf(stderr, "%s: %s\n", query, sqlite3_errmsg(db));
        return INT64_MIN;
    }
    return value;
}

static const char *open_sql(const char *path, sqlite3 **db)
{
    char error[512] = "";
    rtl_status_t status = rtl_sql_open(path, db, error, sizeof error);
    if (status != RTL_OK)
        return check_failed(path, (int)status, error);
    return NULL;
}

/* The lists of design.md, "What scripts rely on". */
const char *Sql_HasTheColumnsThatScriptsRelyOn(void)
{
    /* NOLINTBEGIN(bugprone-suspicious-missing-comma): long ones take two lines */
    static const char *const queries[] = {
        ("SELECT id, process, gpu, queue, stream, name, start, end, duration, grid_x, grid_y,"
         " grid_z,"
         " block_x, block_y, block_z, correlation, graph, generation, launch, node, range,"
         " capture_range FROM kernels"),
        ("SELECT id, process, gpu, queue, start, end, duration, bytes, kind, src, dst, correlation"
         " FROM copies"),
        ("SELECT id, process, thread, name, start, end, correlation, duration, stream, range, "
         "result,"
         " error, args FROM api"),
        "SELECT process, stream, handle, name FROM streams",
        "SELECT process, thread, name FROM threads",
        ("SELECT graph, generation, nodes, launches, process, source, kernels, expected, exec,"
         " hip_graph, correlation, time FROM graphs"),
        ("SELECT graph, generation, node, name, process, type, grid_x, grid_y, grid_z, block_x,"
         " block_y, block_z, group_size, bytes, parent, dependencies, range, enabled, mangled"
         " FROM graph_nodes"),
        ("SELECT graph, generation, launch, start, end, kernels, correlation, process, expected,"
         " certain, range, thread, time, unseen FROM graph_launches"),
        ("SELECT process, graph, generation, launch, range, start, end, kernels FROM graph_ranges"),
        "SELECT id, process, thread, name, start, end, parent, kind, depth, duration FROM ranges",
        "SELECT process, queue, seen, recorded, lost, reason FROM ledger",
        "SELECT process, pid, command, mode, state FROM processes",
        "SELECT process, queue, agent, gpu, way, kernels FROM queues",
        "SELECT process, agent, gpu, type, name FROM agents",
        "SELECT process, symbol, name, mangled FROM symbols",
        "SELECT process, queue, time, text FROM notes",
    };
    /* NOLINTEND(bugprone-suspicious-missing-comma) */
    char path[FIXTURE_PATH];
    sqlite3 *db = NULL;
    CHECK(fixture_path(path));
    CHECK(fixture_trace(path, 10));
    CHECK_DONE(open_sql(path, &db));
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        sqlite3_stmt *statement = NULL;
        CHECK(sqlite3_prepare_v2(db, queries[i], -1, &statement, NULL) == SQLITE_OK);
        int result = sqlite3_step(statement);
        CHECK(result == SQLITE_ROW || result == SQLITE_DONE);
        CHECK(sqlite3_finalize(statement) == SQLITE_OK);
    }
    CHECK(sqlite3_close(db) == SQLITE_OK);
    fixture_remove(path);
    return NULL;
}

static bool same_row(sqlite3_stmt *row, const rtl_kernel_t *kernel)
{
    const int64_t want[] = {(int64_t)kernel->id,
                            kernel->process,
                            kernel->gpu,
                            kernel->queue,
                            (int64_t)kernel->start,
                            (int64_t)kernel->end,
                            (int64_t)(kernel->end - kernel->start),
                            kernel->grid[0],
                            kernel->grid[1],
                            kernel->grid[2],
                            kernel->block[0],
                            kernel->block[1],
                            kernel->block[2],
                            (int64_t)kernel->packet,
                            kernel->symbol,
                            (int64_t)kernel->start_ticks,
                            (int64_t)kernel->end_ticks};
    int columns = (int)(sizeof want / sizeof *want);
    for (int i = 0; i < columns; i++)
        if (sqlite3_column_int64(row, i) != want[i])
            return false;
    return strcmp((const char *)sqlite3_column_text(row, columns), kernel->name) == 0;
}

const char *Sql_KernelsAreThoseOfTheReader(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    rtl_trace_t *trace = NULL;
    const rtl_kernel_filter_t all = RTL_KERNEL_FILTER_ALL;
    size_t count = 0;
    rtl_status_t status = RTL_OK;
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    CHECK(fixture_path(path));
    CHECK(fixture_trace(path, 40000));
    CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
    rtl_kernel_t *kernels = fixture_read(trace, &all, &count, &status);
    CHECK(kernels && count == 80000);
    CHECK_DONE(open_sql(path, &db));
    CHECK(sqlite3_prepare_v2(db,
                             "SELECT id, process, gpu, queue, start, end, duration, grid_x, grid_y,"
                             " grid_z, block_x, block_y, block_z, packet, symbol,"
                             " start_ticks, end_ticks, name FROM kernels ORDER BY start",
                             -1, &row, NULL) == SQLITE_OK);
    for (size_t i = 0; i < count; i++)
        CHECK(sqlite3_step(row) == SQLITE_ROW && same_row(row, &kernels[i]));
    CHECK(sqlite3_step(row) == SQLITE_DONE && sqlite3_finalize(row) == SQLITE_OK);
    free(kernels);
    rtlTraceClose(trace);
    CHECK(sqlite3_close(db) == SQLITE_OK);
    fixture_remove(path);
    return NULL;
}

/* Count, sum of ids, first start and last end of the kernels that a condition leaves, in words; ""
 * on an error. */
static void answer_of(sqlite3 *db, const char *condition, char *answer, size_t size)
{
    char query[384];
    sqlite3_stmt *row = NULL;
    (void)snprintf(query, sizeof query,
                   "SELECT printf('%%d %%d %%d %%d', count(*), sum(id), min(start), max(end))"
                   " FROM kernels WHERE %s",
                   condition);
    answer[0] = '\0';
    if (sqlite3_prepare_v2(db, query, -1, &row, NULL) == SQLITE_OK &&
        sqlite3_step(row) == SQLITE_ROW)
        (void)snprintf(answer, size, "%s", (const char *)sqlite3_column_text(row, 0));
    (void)sqlite3_finalize(row);
}

/* The unary plus keeps SQLite from giving a condition to the table: the same question, answered by
 * SQLite alone. */
const char *Sql_ConditionsLeaveWhatTheySay(void)
{
    static const struct {
        const char *given, *kept;
    } conditions[] = {
        {"start > 20050010", "+start > 20050010"},
        {"start >= 20050010", "+start >= 20050010"},
        {"start < 20050010", "+start < 20050010"},
        {"start <= 20050010", "+start <= 20050010"},
        {"start = 20050010", "+start = 20050010"},
        {"end > 20060000", "+end > 20060000"},
        {"end >= 20060000", "+end >= 20060000"},
        {"end < 20060000", "+end < 20060000"},
        {"start BETWEEN 20050000 AND 20090000", "+start BETWEEN 20050000 AND 20090000"},
        {"start > 20050009.5 AND start < 20090010.5",
         "+start > 20050009.5 AND +start < 20090010.5"},
        {"start < -5", "+start < -5"},
        {"start > -5", "+start > -5"},
        {"start > 'text'", "+start > 'text'"},
        {"start < NULL", "+start < NULL"},
        {"start < 1e30", "+start < 1e30"},
        {"start > 9223372036854775807", "+start > 9223372036854775807"},
        {"queue = 1", "+queue = 1"},
        {"queue = 7", "+queue = 7"},
        {"queue = -1", "+queue = -1"},
        {"queue IN (0, 1, 5) AND start < 90000", "+queue IN (0, 1, 5) AND +start < 90000"},
        {"process = 1 AND queue = 0", "+process = 1 AND +queue = 0"},
        {"process = 0", "+process = 0"},
        {"process = 2", "+process = 2"},
        {"id = 65536", "+id = 65536"},
        {"rowid = 65540", "+id = 65540"},
        {"id = 5", "+id = 5"},
        {"id IN (65537, 131073, 1)", "+id IN (65537, 131073, 1)"},
        {"name = 'a'", "+name = 'a'"},
        {"'a' = name AND start < 90000", "+name = 'a' AND +start < 90000"},
        {"name = 'a' OR queue = 1", "+name = 'a' OR +queue = 1"},
        {"name = 'none of these'", "+name = 'none of these'"},
        {"name = upper('a') COLLATE NOCASE", "+name = upper('a') COLLATE NOCASE"},
        {"name COLLATE NOCASE = 'A'", "+name COLLATE NOCASE = 'A'"},
        {"name = 'a' || char(0) || 'more'", "+name = 'a' || char(0) || 'more'"},
        {"name IN ('a', 'other')", "+name IN ('a', 'other')"},
        {"name = (SELECT name FROM symbols LIMIT 1)", "+name = (SELECT name FROM symbols LIMIT 1)"},
        {"name = 5", "+name = 5"},
        {"name = NULL", "+name = NULL"},
        {"name = x'61'", "+name = x'61'"},
        {"start > 20050000 AND end < 20900000 AND queue = 0",
         "+start > 20050000 AND +end < 20900000 AND +queue = 0"},
    };
    char path[FIXTURE_PATH];
    sqlite3 *db = NULL;
    int found = 0;
    CHECK(fixture_path(path));
    CHECK(fixture_trace(path, 40000));
    CHECK_DONE(open_sql(path, &db));
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        char given[256];
        char kept[256];
        answer_of(db, conditions[i].given, given, sizeof given);
        answer_of(db, conditions[i].kept, kept, sizeof kept);
        if (given[0] == '\0' || strcmp(given, kept) != 0)
            return check_failed(__FILE__, __LINE__, conditions[i].given);
        found += strncmp(given, "0 ", 2) != 0 && strncmp(given, "80000 ", 6) != 0;
    }
    CHECK(found > 10); /* the conditions do ask for something */
    CHECK(number(db,
                 "SELECT count(*) FROM kernels a JOIN kernels b USING(id) WHERE a.start < 90000") ==
          number(db, "SELECT count(*) FROM kernels WHERE start < 90000"));
    CHECK(sqlite3_close(db) == SQLITE_OK);
    fixture_remove(path);
    return NULL;
}

/* The answer of a query when every chunk of a table but one is damaged: right only if no other is
 * unpacked. */
static const char *needs_only(const char *path, const char *table, int chunk, const char *query,
                              int64_t want)
{
    char sql[128];
    (void)snprintf(sql, sizeof sql, "UPDATE %s SET checksum = checksum - 1 WHERE chunk <> %d",
                   table, chunk);
    CHECK(fixture_sql(path, sql));
    int64_t answer = fixture_number(path, query);
    (void)snprintf(sql, sizeof sql, "UPDATE %s SET checksum = checksum + 1 WHERE chunk <> %d",
                   table, chunk);
    CHECK(fixture_sql(path, sql));
    if (answer != want)
        return check_failed(query, chunk, "another chunk is unpacked, or the answer is wrong");
    return NULL;
}

/* Two queues of 40000 kernels, every 2000 ticks of 10 ns from 5000 on: of each queue chunk 1 or 2
 * has the first 32768, 3 or 4 the rest. */
const char *Sql_ConditionsUnpackOnlyTheirChunks(void)
{
    static const struct {
        int chunk;
        const char *query;
        int64_t want;
    } questions[] = {
        {1, "SELECT count(*) FROM kernels WHERE id = 65536", 1},
        {1, "SELECT count(*) FROM kernels WHERE rowid IN (65536, 65537, 98303)", 3},
        {4, "SELECT count(*) FROM kernels WHERE id = 4 * 65536 + 9", 1},
        {1, "SELECT count(*) FROM kernels WHERE queue = 0 AND start <= 60050000", 3001},
        {1, "SELECT count(*) FROM kernels WHERE queue = 0 AND start BETWEEN 20050000 AND 40050000",
         1001},
        {1, "SELECT count(*) FROM kernels WHERE process = 1 AND queue = 0 AND start = 20050000", 1},
        {1,
         "SELECT count(*) FROM (SELECT 1 FROM kernels WHERE queue = 0 AND start < 655000000"
         " ORDER BY start)",
         32748},
        {1, "SELECT count(*) FROM rocpd_op WHERE id = 65540", 1},
        {1, "SELECT count(*) FROM op WHERE queueId = 0 AND start <= 60050000", 3001},
        {1, "SELECT count(*) FROM rocpd_op WHERE queueId = 0 AND start <= 60050000", 3001},
    };
    char path[FIXTURE_PATH];
    CHECK(fixture_path(path));
    CHECK(fixture_trace(path, 40000));
    CHECK(fixture_number(path, "SELECT count(*) FROM kernel_chunks") == 4);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        CHECK_DONE(needs_only(path, "kernel_chunks", questions[i].chunk, questions[i].query,
                              questions[i].want));
    CHECK_DONE(needs_only(path, "kernel_chunks", 1, "SELECT count(*) FROM kernels", INT64_MIN));
    CHECK_DONE(needs_only(path, "kernel_chunks", 9,
                          "SELECT count(*) FROM kernels WHERE start < 49990", 0));
    CHECK_DONE(needs_only(path, "kernel_chunks", 9,
                          "SELECT count(*) FROM kernels WHERE end > 900000000", 0));
    CHECK_DONE(needs_only(path, "kernel_chunks", 9,
                          "SELECT count(*) FROM kernels WHERE process = 2 OR queue = 7", 0));
    fixture_remove(path);
    return NULL;
}

/* 40000 calls, call n from 1000 n to 1000 n + 500 ns, in chunks of 16384. */
const char *Sql_ConditionsUnpackOnlyTheirCalls(void)
{
    static const struct {
        int chunk;
        const char *query;
        int64_t want;
    } questions[] = {
        {1, "SELECT start FROM api WHERE correlation = 16384", 16384000},
        {2, "SELECT start FROM api WHERE process = 1 AND correlation = 16385", 16385000},
        {3, "SELECT count(*) FROM api WHERE start > 32768501", 7232},
        {3, "SELECT count(*) FROM api WHERE end >= 32769000 AND thread = 100", 7232},
        {2, "SELECT count(*) FROM api WHERE start BETWEEN 20000000 AND 20999999", 1000},
        {2, "SELECT correlation FROM api WHERE id = 2 * 65536 + 1", 16386},
        {2, "SELECT count(*) FROM rocpd_api WHERE id = 2 * 65536 + 1", 1},
        {2, "SELECT count(*) FROM rocpd_api WHERE start BETWEEN 20000000 AND 20999999", 1000},
        {9, "SELECT count(*) FROM api WHERE start > 50000000", 0},
        {9, "SELECT count(*) FROM api WHERE correlation = 50000", 0},
        {9, "SELECT count(*) FROM api WHERE process = 2", 0},
        {1, "SELECT count(*) FROM api", INT64_MIN},
    };
    char path[FIXTURE_PATH];
    char error[512];
    CHECK(fixture_path(path));
    struct rtl_writer *writer = fixture_open(path);
    uint32_t process = fixture_define(writer, 1, 1);
    for (uint64_t i = 1; i <= 40000; i++)
        fixture_call(writer, process, i);
    CHECK(rtl_writer_close(writer, 0, error, sizeof error) == 0);
    CHECK(fixture_number(path, "SELECT count(*) FROM api_chunks") == 3);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        CHECK_DONE(needs_only(path, "api_chunks", questions[i].chunk, questions[i].query,
                              questions[i].want));
    fixture_remove(path);
    return NULL;
}

const char *Sql_UnknownIsNull(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    sqlite3 *db = NULL;
    CHECK(fixture_path(path));
    struct rtl_writer *writer = fixture_open(path);
    uint32_t process = fixture_define(writer, 1, 1);
    const struct rtl_wire_shape shape = {.shape = 1, .symbol = RTL_NONE, .kernel_object = 0x10};
    const struct rtl_wire_kernel kernels[] = {
        {.packet = 0, .shape = 1, .launch = RTL_NONE, .ordinal = RTL_NONE},
        {.packet = 1, .shape = 0, .correlation = 5, .launch = 6, .ordinal = 7}};
    rtl_writer_shape(writer, process, &shape);
    rtl_writer_kernel(writer, process, &kernels[0]);
    rtl_writer_kernel(writer, process, &kernels[1]);
    fixture_call(writer, process, 5);
    CHECK(rtl_writer_close(writer, 0, error, sizeof error) == 0);
    CHECK_DONE(open_sql(path, &db));
    CHECK(number(db,
                 "SELECT count(*) FROM kernels WHERE packet = 0 AND correlation IS NULL AND"
                 " launch IS NULL AND node IS NULL AND symbol IS NULL AND mangled IS NULL AND"
                 " graph IS NULL AND stream IS NULL AND range IS NULL AND generation IS NULL AND"
                 " capture_range IS NULL AND name = 'kernel object 0x10' AND gpu = 0") == 1);
    CHECK(number(db, "SELECT count(*) FROM kernels WHERE packet = 1 AND correlation = 5 AND"
                     " launch IS NULL AND node IS NULL AND certain IS NULL AND symbol = 0 AND"
                     " mangled = 'a'") == 1);
    CHECK(sqlite3_close(db) == SQLITE_OK);
    fixture_remove(path);
    return NULL;
}

const char *Sql_LedgerAddsUp(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    sqlite3 *db = NULL;
    const struct rtl_writer_account first = {.seen = 10,
                                             .recorded = 4,
                                             .skipped = 1,
                                             .lost = {[RTL_LOST_POOL] = 2, [RTL_LOST_RING] = 3}};
    const struct rtl_writer_account second = {.seen = 6, .recorded = 6};
    CHECK(fixture_path(path));
    struct rtl_writer *writer = fixture_open(path);
    uint32_t process = fixture_define(writer, 2, 2);
    fixture_kernels(writer, process, 0, 0, 4);
    fixture_kernels(writer, process, 1, 0, 6);
    rtl_writer_ledger(writer, process, 0, &first);
    rtl_writer_ledger(writer, process, 1, &second);
    CHECK(rtl_writer_close(writer, 0, error, sizeof error) == 0);
    CHECK_DONE(open_sql(path, &db));
    CHECK(number(db, "SELECT count(*) FROM ledger") == 4);
    CHECK(number(db, "SELECT count(*) FROM ledger WHERE reason IS NULL") == 2);
    CHECK(number(db, "SELECT sum(seen) FROM ledger") == 16);
    CHECK(number(db, "SELECT sum(recorded) FROM ledger") == 10);
    CHECK(number(db, "SELECT sum(stored) FROM ledger") == 10);
    CHECK(number(db, "SELECT sum(lost) FROM ledger") == 5);
    CHECK(number(db, "SELECT sum(seen) - sum(recorded) - sum(skipped) - sum(lost) FROM ledger") ==
          0);
    CHECK(number(db, "SELECT lost FROM ledger WHERE queue = 0 AND reason = 'ring'") == 3);
    CHECK(number(db, "SELECT lost FROM ledger WHERE queue = 0 AND reason = 'pool'") == 2);
    CHECK(sqlite3_close(db) == SQLITE_OK);
    fixture_remove(path);
    return NULL;
}

const char *Sql_DamageIsAnError(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    CHECK(fixture_path(path));
    CHECK(fixture_trace(path, 10));
    CHECK(fixture_sql(path, "UPDATE kernel_chunks SET checksum = 1 WHERE chunk = 1"));
    CHECK_DONE(open_sql(path, &db));
    CHECK(sqlite3_prepare_v2(db, "SELECT count(*) FROM kernels", -1, &row, NULL) == SQLITE_OK);
    CHECK(sqlite3_step(row) == SQLITE_ERROR);
    CHECK(strstr(sqlite3_errmsg(db), "chunk 1") != NULL);
    (void)sqlite3_finalize(row);
    CHECK(sqlite3_close(db) == SQLITE_OK);
    CHECK(rtl_sql_open("/nowhere/trace.db", &db, error, sizeof error) == RTL_E_IO);
    CHECK(db == NULL && strstr(error, "/nowhere/trace.db") != NULL);
    fixture_remove(path);
    return NULL;
}

/* On a connection of the caller's own, which holds no transaction. */
const char *Sql_SeesWhatARecorderAdds(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    sqlite3 *db = NULL;
    CHECK(fixture_path(path));
    struct rtl_writer *writer = fixture_open(path);
    uint32_t process = fixture_define(writer, 1, 2);
    CHECK(rtl_writer_checkpoint(writer) == 0);
    CHECK(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK);
    CHECK(rtl_sql_register(db) == SQLITE_OK);
    CHECK(number(db, "SELECT count(*) FROM kernels") == 0);
    fixture_kernels(writer, process, 0, 0, 30);
    CHECK(rtl_writer_checkpoint(writer) == 0);
    CHECK(number(db, "SELECT count(*) FROM kernels") == 30);
    CHECK(number(db, "SELECT kernels FROM queues") == 30);
    CHECK(sqlite3_close(db) == SQLITE_OK);
    CHECK(rtl_writer_close(writer, 0, error, sizeof error) == 0);
    fixture_remove(path);
    return NULL;
}

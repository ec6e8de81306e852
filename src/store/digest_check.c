/* All that a file can be asked without knowing what was recorded. */
#include "store/checksum.h"
#include "store/digest.h"
#include "store/reader.h"
#include "store/schema.h"
#include "store/sums.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct search {
    rtl_trace_t *trace;
    rtl_digest_tell tell;
    void *context;
};

static void tell(const struct search *search, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void tell(const struct search *search, const char *format, ...)
{
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang-tidy 14 misses va_start here */
    (void)vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    search->tell(search->context, what);
}

static int prepare(const struct search *search, char *sql, sqlite3_stmt **statement)
{
    int result =
        sql ? sqlite3_prepare_v2(search->trace->db, sql, -1, statement, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return result;
}

/* Ends a query. Damage is what is looked for; all else is a failure. */
static rtl_status_t end(const struct search *search, sqlite3_stmt *statement, int result)
{
    int kind = result & 0xff;
    rtl_status_t status = RTL_OK;
    if (kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB)
        tell(search, "SQLite finds it damaged: %s", sqlite3_errmsg(search->trace->db));
    else if (result != SQLITE_OK && result != SQLITE_DONE)
        status = rtl_trace_fail_sqlite(search->trace, result);
    (void)sqlite3_finalize(statement);
    return status;
}

static bool has_table(const struct search *search, const char *table)
{
    return sqlite3_table_column_metadata(search->trace->db, "main", table, NULL, NULL, NULL, NULL,
                                         NULL, NULL) == SQLITE_OK;
}

static bool has_column(const struct search *search, const char *table, const char *column)
{
    return sqlite3_table_column_metadata(search->trace->db, "main", table, column, NULL, NULL, NULL,
                                         NULL, NULL) == SQLITE_OK;
}

/* What it has found, behind a line that names the database; NULL: memory was short for that. */
static const char *finding(const char *says)
{
    if (says && strncmp(says, "*** in database ", 16) == 0) {
        says += strcspn(says, "\n");
        says += *says == '\n';
    }
    return says && *says ? says : NULL;
}

/* "unable to get the page. error code=N" may mean that the page could not be read, or that memory
 * was short for it: that is no damage. SQLITE_OK: it is something else. */
static int failure(const char *says)
{
    const char *code = strstr(says, "error code=");
    int result = code ? (int)strtol(code + strlen("error code="), NULL, 10) : SQLITE_OK;
    return (result & 0xff) == SQLITE_CORRUPT ? SQLITE_OK : result;
}

/* SQLite's own look at its structures; it says "ok", or the first thing that it finds. */
static rtl_status_t look_at_pages(const struct search *search, const char *pragma)
{
    sqlite3_stmt *row = NULL;
    int result = prepare(search, sqlite3_mprintf("PRAGMA main.%s", pragma), &row);
    if (result == SQLITE_OK && (result = sqlite3_step(row)) == SQLITE_ROW) {
        const char *says = finding((const char *)sqlite3_column_text(row, 0));
        result = says ? failure(says) : SQLITE_NOMEM;
        if (result == SQLITE_OK && strcmp(says, "ok") != 0)
            tell(search, "SQLite finds it damaged: %.*s", (int)strcspn(says, "\n"), says);
    }
    return end(search, row, result);
}

/* The quick look leaves out whether indexes have what their tables have. */
static rtl_status_t look_at_structure(const struct search *search)
{
    static const struct {
        const char *table, *pragma;
    } indexed[] = {{"copies", "integrity_check(copies)"},
                   {"uncounted", "integrity_check(uncounted)"},
                   {"symbols", "integrity_check(symbols)"},
                   {"graph_names", "integrity_check(graph_names)"}};
    rtl_status_t status = look_at_pages(search, "quick_check(1)");
    for (size_t i = 0; i < sizeof indexed / sizeof *indexed && status == RTL_OK; i++)
        if (has_table(search, indexed[i].table))
            status = look_at_pages(search, indexed[i].pragma);
    return status;
}

/* The row of a checksum: the checksum, the data, the key, and the fields. */
static bool is_right(sqlite3_stmt *row)
{
    uint64_t fields[RTL_SUM_FIELDS];
    int count = sqlite3_column_count(row) - 3;
    for (int i = 0; i < count && i < RTL_SUM_FIELDS; i++)
        fields[i] = rtl_sum_field(sqlite3_column_value(row, 3 + i));
    const unsigned char *data = sqlite3_column_blob(row, 1);
    size_t size = (size_t)sqlite3_column_bytes(row, 1);
    return (uint64_t)sqlite3_column_int64(row, 0) ==
           rtl_checksum_row(fields, (size_t)count, data, size);
}

static rtl_status_t look_at_sum(const struct search *search, const struct rtl_sum *sum)
{
    sqlite3_stmt *row = NULL;
    if (!has_column(search, sum->table, sum->blob))
        return RTL_OK;
    int result = prepare(search,
                         sqlite3_mprintf("SELECT %s, %s, %s, %s FROM main.%s", sum->checksum,
                                         sum->blob, sum->key, sum->columns, sum->table),
                         &row);
    while (result == SQLITE_OK && (result = sqlite3_step(row)) == SQLITE_ROW) {
        if (!is_right(row))
            tell(search, "the checksum of %s %lld in %s is wrong", sum->key,
                 (long long)sqlite3_column_int64(row, 2), sum->table);
        result = SQLITE_OK;
    }
    return end(search, row, result);
}

/* What no row of a table may be. Other versions may know other words. */
static const struct rule {
    const char *table, *column, *wrong, *what;
    bool words;
} rules[] = {
#define OF_PROCESS(table)                                                                          \
    {                                                                                              \
        table, "process",                                                                          \
            "process IS NULL OR process NOT IN (SELECT process FROM main.processes)",              \
            "of no process", false                                                                 \
    }
    OF_PROCESS("agents"),
    OF_PROCESS("queues"),
    OF_PROCESS("symbols"),
    OF_PROCESS("symbol_blocks"),
    OF_PROCESS("shapes"),
    OF_PROCESS("clock_points"),
    OF_PROCESS("clock_brackets"),
    OF_PROCESS("kernel_chunks"),
    OF_PROCESS("copies"),
    OF_PROCESS("calls"),
    OF_PROCESS("api_chunks"),
    OF_PROCESS("streams"),
    OF_PROCESS("threads"),
    OF_PROCESS("names"),
    OF_PROCESS("ranges"),
    OF_PROCESS("ledger_rows"),
    OF_PROCESS("ledger_losses"),
    OF_PROCESS("ledger_opaque"),
    OF_PROCESS("pauses"),
    OF_PROCESS("graph_rows"),
    OF_PROCESS("launch_chunks"),
    OF_PROCESS("sample_chunks"),
    OF_PROCESS("process_clocks"),
#undef OF_PROCESS
#define ENDS_LATER(table)                                                                          \
    {                                                                                              \
        table, "end", "start >= 0 AND end >= 0 AND start - end > 1000000",                         \
            "that end before they "                                                                \
            "begin",                                                                               \
            false                                                                                  \
    }
    /* Clocks of two threads may differ; not by a millisecond. */
    ENDS_LATER("processes"),
    ENDS_LATER("queues"),
    ENDS_LATER("ranges"),
    ENDS_LATER("pauses"),
#undef ENDS_LATER
    {"clock_exchanges", "returned", "returned < sent OR answered < received",
     "that came back before they were sent", false},
#define WORDS(table, column, list)                                                                 \
    {                                                                                              \
        table, column, column " NOT IN (" list ")", "with an unknown " column, true                \
    }
    WORDS("processes", "state",
          "'running', 'closed', 'exited', 'died', 'refused', 'replaced', 'imported', 'unrecorded', "
          "'not_started'"),
    WORDS("processes", "mode", "'lite', 'standard', 'hip', 'full'"),
    WORDS("agents", "type", "'CPU', 'GPU', 'DSP', 'other'"),
    WORDS("ranges", "kind", "'push', 'start', 'mark'"),
    WORDS("names", "kind", "'thread', 'stream', 'device', 'agent'"),
    WORDS("copies", "kind",
          "'host-to-device', 'device-to-host', 'device-to-device', 'peer', 'host-to-host'"),
    WORDS("copies", "engine", "'sdma', 'kernel', 'host', 'unknown'"),
    WORDS("ledger_opaque", "what", "'pm4', 'indirect', 'vendor', 'direct'"),
    WORDS("graph_rows", "source", "'hip', 'packets'"),
#undef WORDS
};

static rtl_status_t look_at_rule(const struct search *search, const struct rule *rule)
{
    sqlite3_stmt *row = NULL;
    if (!has_column(search, rule->table, rule->column))
        return RTL_OK;
    int result = prepare(
        search, sqlite3_mprintf("SELECT count(*) FROM main.%s WHERE %s", rule->table, rule->wrong),
        &row);
    if (result == SQLITE_OK && (result = sqlite3_step(row)) == SQLITE_ROW) {
        long long count = sqlite3_column_int64(row, 0);
        if (count)
            tell(search, "the table %s has %lld %s %s", rule->table, count,
                 count == 1 ? "row" : "rows", rule->what);
        result = SQLITE_OK;
    }
    return end(search, row, result);
}

rtl_status_t rtl_digest_check(rtl_trace_t *trace, bool *known, rtl_digest_tell tell_of,
                              void *context)
{
    const struct search search = {trace, tell_of, context};
    *known = false;
    rtl_status_t status = look_at_structure(&search);
    if (status == RTL_OK) {
        int result = rtl_digest_compare(trace->db, "main", known, tell_of, context);
        status = result == SQLITE_OK ? RTL_OK : rtl_trace_fail_sqlite(trace, result);
    }
    for (int i = 0; i < RTL_SUMS && status == RTL_OK; i++)
        status = look_at_sum(&search, &rtl_sums[i]);
    for (size_t i = 0; i < sizeof rules / sizeof *rules && status == RTL_OK; i++)
        if (!rules[i].words || trace->info.format_minor <= RTL_FORMAT_MINOR)
            status = look_at_rule(&search, &rules[i]);
    return status;
}

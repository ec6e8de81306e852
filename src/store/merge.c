/* Rows are copied by SQL, column by column: a column's name says whether it has to be moved. A
 * chunk's checksum covers the process, so it is made anew, but only where the old one was right:
 * damage must not be sealed. */
#include "store/merge.h"

#include "common/why.h"
#include "store/beside.h"
#include "store/checksum.h"
#include "store/digest.h"
#include "store/file.h"
#include "store/merge_state.h"
#include "store/process_clocks.h"
#include "store/schema.h"
#include "store/sqlite_path.h"
#include "store/stats_make.h"
#include "store/sums.h"

#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is done with the values of a column. */
enum action { KEEP, PROCESS, NUMBER, TIME, MANGLED };

struct rule {
    const char *table, *column; /* table NULL: of all tables */
    enum action action;
};

static const struct rule rules[] = {
    {NULL, "process", PROCESS},
    {"symbols", "mangled", MANGLED},
    {"graph_names", "mangled", MANGLED},
    {"processes", "start", TIME},
    {"processes", "end", TIME},
    {"queues", "start", TIME},
    {"queues", "end", TIME},
    {"clock_brackets", "boottime", TIME},
    {"api_chunks", "start_min", TIME},
    {"api_chunks", "end_max", TIME},
    {"launch_chunks", "time_min", TIME},
    {"launch_chunks", "time_max", TIME},
    {"ranges", "start", TIME},
    {"ranges", "end", TIME},
    {"notes", "time", TIME},
    {"streams", "created", TIME},
    {"streams", "destroyed", TIME},
    {"pauses", "start", TIME},
    {"pauses", "end", TIME},
    {"graph_rows", "time", TIME},
    {"graph_launch_rows", "time", TIME},
    {"clock_exchanges", "sent", TIME},
    {"clock_exchanges", "returned", TIME},
};

/* Numbers of which a trace has one row; what else names one follows them. */
static const struct numbered {
    const char *table, *column, *of;
} numbered[] = {
    {"kernel_chunks", "chunk", "kernel_chunks"},
    {"kernel_chunk_launches", "chunk", "kernel_chunks"},
    {"api_chunks", "chunk", "api_chunks"},
    {"launch_chunks", "chunk", "launch_chunks"},
    {"sample_chunks", "chunk", "sample_chunks"},
    {"symbol_blocks", "block", "symbol_blocks"},
    {"copies", "id", "copies"},
    {"notes", "id", "notes"},
};

#define NUMBERED (sizeof numbered / sizeof *numbered)

struct merge {
    sqlite3 *db;
    const char *path;
    char *error;
    size_t error_size;
    bool failed;
    bool outside;                  /* what failed was the file system, or memory */
    struct rtl_merge_input *input; /* the one that is copied */
    size_t place;                  /* of it */
    uint32_t processes;            /* in the new trace so far */
    int64_t last[NUMBERED];        /* numbers of the new trace before this input */
};

static int fail(struct merge *merge, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int fail(struct merge *merge, const char *format, ...)
{
    va_list arguments;
    if (merge->failed)
        return -1;
    merge->failed = true;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang-tidy 14 misses va_start here */
    (void)vsnprintf(merge->error, merge->error_size, format, arguments);
    va_end(arguments);
    return -1;
}

/* Whether an SQLite result code is none of what the inputs hold. */
static bool is_outside(int result)
{
    switch (result & 0xff) {
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_NOMEM:
    case SQLITE_BUSY:
    case SQLITE_INTERRUPT:
        return true;
    default:
        return false;
    }
}

static int fail_sql(struct merge *merge)
{
    int code = sqlite3_errcode(merge->db);
    merge->outside |= !merge->failed && is_outside(code);
    if (!merge->input)
        return fail(merge, "cannot write the merged trace: %s", sqlite3_errmsg(merge->db));
    return fail(merge, "cannot merge %s: %s", merge->input->path, sqlite3_errmsg(merge->db));
}

/* Takes the statement, which sqlite3_mprintf has made. */
static int run(struct merge *merge, char *sql)
{
    int result = sql ? sqlite3_exec(merge->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return result == SQLITE_OK ? 0 : fail_sql(merge);
}

/* The first value of the first row, `absent` if there is none. */
static int64_t ask(struct merge *merge, int64_t absent, char *sql)
{
    sqlite3_stmt *statement = NULL;
    int64_t value = absent;
    int result = sql ? sqlite3_prepare_v2(merge->db, sql, -1, &statement, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    if (result == SQLITE_OK && (result = sqlite3_step(statement)) == SQLITE_ROW) {
        if (sqlite3_column_type(statement, 0) != SQLITE_NULL)
            value = sqlite3_column_int64(statement, 0);
        result = SQLITE_DONE;
    }
    if (result != SQLITE_DONE)
        (void)fail_sql(merge);
    (void)sqlite3_finalize(statement);
    return value;
}

static void ask_text(struct merge *merge, char *text, size_t size, char *sql)
{
    sqlite3_stmt *statement = NULL;
    const unsigned char *value = NULL;
    text[0] = '\0';
    if (sql && sqlite3_prepare_v2(merge->db, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        value = sqlite3_column_text(statement, 0);
    if (value)
        (void)snprintf(text, size, "%s", (const char *)value);
    (void)sqlite3_finalize(statement);
    sqlite3_free(sql);
}

/* rtl_shift(value, by): SQL's own + makes a floating-point number of what overflows. */
static void shift(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    if (sqlite3_value_type(values[0]) == SQLITE_NULL)
        return;
    uint64_t sum =
        (uint64_t)sqlite3_value_int64(values[0]) + (uint64_t)sqlite3_value_int64(values[1]);
    sqlite3_result_int64(context, (int64_t)sum);
}

/* rtl_sum(checksum, data, old fields…, new fields…): the checksum with the new ones. */
static void sum(sqlite3_context *context, int count, sqlite3_value **values)
{
    uint64_t fields[RTL_SUM_FIELDS];
    int half = (count - 2) / 2;
    const unsigned char *data = sqlite3_value_blob(values[1]);
    size_t size = (size_t)sqlite3_value_bytes(values[1]);
    if (half > RTL_SUM_FIELDS) {
        sqlite3_result_error(context, "too many fields", -1);
        return;
    }
    for (int i = 0; i < half; ++i)
        fields[i] = rtl_sum_field(values[2 + i]);
    if (rtl_checksum_row(fields, (size_t)half, data, size) !=
        (uint64_t)sqlite3_value_int64(values[0])) {
        sqlite3_result_error(context, "its data is damaged", -1);
        return;
    }
    for (int i = 0; i < half; ++i)
        fields[i] = rtl_sum_field(values[2 + half + i]);
    sqlite3_result_int64(context, rtl_checksum_row(fields, (size_t)half, data, size));
}

static const struct numbered *numbered_of(const char *table, const char *column)
{
    for (size_t i = 0; i < NUMBERED; ++i)
        if (strcmp(numbered[i].table, table) == 0 && strcmp(numbered[i].column, column) == 0)
            return &numbered[i];
    return NULL;
}

static enum action action_of(const char *table, const char *column)
{
    if (numbered_of(table, column))
        return NUMBER;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; ++i)
        if ((!rules[i].table || strcmp(rules[i].table, table) == 0) &&
            strcmp(rules[i].column, column) == 0)
            return rules[i].action;
    return KEEP;
}

/* The new value of a column as an expression; NULL when memory is short. */
static char *moved(const struct merge *merge, const char *table, const char *column)
{
    switch (action_of(table, column)) {
    case PROCESS:
        return sqlite3_mprintf("\"%w\" + %u", column, merge->processes);
    case NUMBER:
        return sqlite3_mprintf("\"%w\" + %lld", column,
                               (long long)merge->last[numbered_of(table, column) - numbered]);
    case TIME:
        return sqlite3_mprintf("rtl_shift(\"%w\", %lld)", column, (long long)merge->input->shift);
    case MANGLED: /* before format 1.6 it was there twice where both names are the same */
        return sqlite3_mprintf("nullif(\"%w\", name)", column);
    default:
        return sqlite3_mprintf("\"%w\"", column);
    }
}

static void append_sum(const struct merge *merge, sqlite3_str *sql, const struct rtl_sum *sum)
{
    char list[160];
    char *rest = NULL;
    sqlite3_str_appendf(sql, "rtl_sum(%s, %s, %s", sum->checksum, sum->blob, sum->columns);
    (void)snprintf(list, sizeof list, "%s", sum->columns);
    for (char *field = strtok_r(list, ",", &rest); field; field = strtok_r(NULL, ",", &rest)) {
        char *value = moved(merge, sum->table, field);
        sqlite3_str_appendf(sql, ", %s", value);
        sqlite3_free(value);
    }
    sqlite3_str_appendall(sql, ")");
}

static void append_column(const struct merge *merge, sqlite3_str *sql, const char *table,
                          const char *column)
{
    const struct rtl_sum *sum = rtl_sum_by_checksum(table, column);
    if (sum) {
        append_sum(merge, sql, sum);
        return;
    }
    char *value = moved(merge, table, column);
    sqlite3_str_appendf(sql, "%s", value);
    sqlite3_free(value);
}

/* Copies the columns of a table that both traces have. */
static int copy_table(struct merge *merge, const char *table)
{
    sqlite3_stmt *columns = NULL;
    sqlite3_str *into = sqlite3_str_new(merge->db);
    sqlite3_str *from = sqlite3_str_new(merge->db);
    int count = 0;
    char *sql = sqlite3_mprintf("SELECT a.name FROM pragma_table_info(%Q, 'main') a JOIN"
                                " pragma_table_info(%Q, 'source') b USING (name) ORDER BY a.cid",
                                table, table);
    int result = sql ? sqlite3_prepare_v2(merge->db, sql, -1, &columns, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    while (result == SQLITE_OK && sqlite3_step(columns) == SQLITE_ROW) {
        const char *column = (const char *)sqlite3_column_text(columns, 0);
        sqlite3_str_appendf(into, "%s\"%w\"", count ? ", " : "", column);
        sqlite3_str_appendall(from, count++ ? ", " : "");
        append_column(merge, from, table, column);
    }
    (void)sqlite3_finalize(columns);
    char *names = sqlite3_str_finish(into);
    char *values = sqlite3_str_finish(from);
    if (result != SQLITE_OK)
        (void)fail_sql(merge);
    else if (count && names && values)
        (void)run(merge, sqlite3_mprintf("INSERT INTO main.\"%w\"(%s) SELECT %s FROM source.\"%w\"",
                                         table, names, values, table));
    sqlite3_free(names);
    sqlite3_free(values);
    return merge->failed ? -1 : 0;
}

static void find_last(struct merge *merge)
{
    for (size_t i = 0; i < NUMBERED; ++i)
        merge->last[i] = ask(merge, 0,
                             sqlite3_mprintf("SELECT max(\"%w\") FROM main.\"%w\"",
                                             numbered[i].column, numbered[i].of));
}

static int copy_tables(struct merge *merge)
{
    sqlite3_stmt *tables = NULL;
    int result = sqlite3_prepare_v2(merge->db,
                                    "SELECT name FROM main.sqlite_master WHERE type = 'table'"
                                    " AND name NOT IN ('meta', 'digests', 'stat_blocks',"
                                    " 'stat_spans', 'stat_chunks', 'process_clocks',"
                                    " 'unfinished_merge', 'unfinished_inputs') ORDER BY rowid",
                                    -1, &tables, NULL);
    while (result == SQLITE_OK && !merge->failed && sqlite3_step(tables) == SQLITE_ROW)
        (void)copy_table(merge, (const char *)sqlite3_column_text(tables, 0));
    (void)sqlite3_finalize(tables);
    return result == SQLITE_OK ? (merge->failed ? -1 : 0) : fail_sql(merge);
}

/* Clocks. */

/* One clock and no snapshots that differ from it by more than their width: then a reader takes
 * ticks' system time as it is. Moved, that has to be told exactly, and by a snapshot for each
 * process. */
static int move_clock_snapshots(struct merge *merge)
{
    long long by = (long long)merge->input->shift;
    unsigned process = merge->processes;
    if (by == 0)
        return 0;
    static const char one_clock[] =
        "(SELECT process FROM main.processes p WHERE process > %u AND NOT EXISTS(SELECT 1 FROM"
        " main.clock_brackets b WHERE b.process = p.process AND"
        " abs(boottime - (%lld) - system) > width))";
    char *which = sqlite3_mprintf(one_clock, process, by);
    if (!which)
        return fail(merge, "cannot merge %s: memory is short", merge->input->path);
    (void)run(merge,
              sqlite3_mprintf("CREATE TEMP TABLE one_clock AS SELECT process FROM %s", which));
    sqlite3_free(which);
    if (!merge->failed)
        (void)run(merge, sqlite3_mprintf(
                             "UPDATE main.clock_brackets SET boottime = system + (%lld), width = 0"
                             " WHERE process IN (SELECT process FROM one_clock);"
                             "INSERT INTO main.clock_brackets(process, system, boottime, width)"
                             " SELECT process, start - (%lld), start, 0 FROM main.processes WHERE"
                             " process IN (SELECT process FROM one_clock) AND process NOT IN"
                             " (SELECT process FROM main.clock_brackets);"
                             "DROP TABLE one_clock",
                             by, by));
    return merge->failed ? -1 : 0;
}

static int64_t meta(struct merge *merge, const char *database, const char *key, int64_t absent)
{
    return ask(merge, absent,
               sqlite3_mprintf("SELECT value FROM %s.meta WHERE key = %Q", database, key));
}

static void meta_text(struct merge *merge, const char *database, const char *key, char *text,
                      size_t size)
{
    ask_text(merge, text, size,
             sqlite3_mprintf("SELECT value FROM %s.meta WHERE key = %Q", database, key));
}

static void find_unknown(struct merge *merge)
{
    ask_text(
        merge, merge->input->left_out, sizeof merge->input->left_out,
        sqlite3_mprintf("SELECT group_concat(name, ', ') FROM source.sqlite_master WHERE type ="
                        " 'table' AND name NOT LIKE 'sqlite%%' AND name NOT IN (SELECT name"
                        " FROM main.sqlite_master)"));
}

static int look_at(struct merge *merge)
{
    struct rtl_merge_input *input = merge->input;
    input->offset = meta(merge, "source", "realtime_offset", 0);
    meta_text(merge, "source", "host", input->host, sizeof input->host);
    meta_text(merge, "source", "boot", input->boot, sizeof input->boot);
    input->apart = meta(merge, "source", "hosts_error", 0);
    input->drift =
        (uint64_t)ask(merge, 0,
                      sqlite3_mprintf("SELECT max(realtime - boottime) - min(realtime - boottime)"
                                      " FROM source.clock_brackets"));
    input->processes =
        (uint32_t)ask(merge, 0, sqlite3_mprintf("SELECT max(process) FROM source.processes"));
    find_unknown(merge);
    if (!merge->failed && rtl_merge_identify(merge->db, input) != SQLITE_OK)
        (void)fail_sql(merge);
    return merge->failed ? -1 : 0;
}

/* Whether two traces have one clock, and how that is known. */
static bool one_clock(const struct rtl_merge_input *a, const struct rtl_merge_input *b,
                      enum rtl_merge_clock *how)
{
    int64_t apart = a->offset > b->offset ? a->offset - b->offset : b->offset - a->offset;
    bool boots = a->boot[0] && b->boot[0];
    *how = boots ? RTL_MERGE_SAME_BOOT : RTL_MERGE_SAME_HOST;
    return boots ? strcmp(a->boot, b->boot) == 0
                 : strcmp(a->host, b->host) == 0 && apart < RTL_MERGE_NEAR;
}

/* Those of one clock are moved by the same, which is that of the first of them. */
static void choose_clocks(struct rtl_merge_input *inputs, size_t count)
{
    const struct rtl_merge_input *reference = &inputs[0];
    for (size_t i = 1; i < count; ++i)
        if (inputs[i].offset < reference->offset)
            reference = &inputs[i];
    for (size_t i = 0; i < count; ++i) {
        struct rtl_merge_input *input = &inputs[i];
        enum rtl_merge_clock how;
        size_t first = 0;
        if (input == reference || one_clock(input, reference, &how)) {
            input->clock = input == reference ? RTL_MERGE_REFERENCE : how;
            input->shift = 0;
            continue;
        }
        while (!one_clock(&inputs[first], input, &how))
            ++first;
        input->clock = RTL_MERGE_TIME_OF_DAY;
        input->shift = inputs[first].offset - reference->offset;
    }
}

/* Facts about the whole. */

static int add_facts(struct merge *merge)
{
    long long by = (long long)merge->input->shift;
    if (merge->processes == 0 && meta(merge, "main", "start", -1) == -1)
        return run(merge, sqlite3_mprintf(
                              "INSERT INTO main.meta SELECT key, CASE WHEN key IN ('start', 'end')"
                              " THEN rtl_shift(value, %lld) ELSE value END FROM source.meta"
                              " WHERE key IN ('start', 'end', 'finished', 'exit_status')",
                              by));
    return run(
        merge,
        sqlite3_mprintf(
            "UPDATE main.meta SET value = min(value, rtl_shift((SELECT value FROM source.meta WHERE"
            " key = 'start'), %lld)) WHERE key = 'start';"
            "UPDATE main.meta SET value = max(value, rtl_shift((SELECT value FROM source.meta WHERE"
            " key = 'end'), %lld)) WHERE key = 'end';"
            "UPDATE main.meta SET value = min(value, (SELECT value FROM source.meta WHERE"
            " key = 'finished')) WHERE key = 'finished';"
            "UPDATE main.meta SET value = (SELECT value FROM source.meta WHERE key = 'exit_status')"
            " WHERE key = 'exit_status' AND value = 0",
            by, by));
}

bool rtl_merge_goes_beyond(const struct rtl_merge_input *input, uint64_t at[2])
{
    at[0] = input->before > input->after / 10 ? input->before : 0;
    at[1] = input->after > input->before / 10 ? input->after : 0;
    return (at[0] || at[1]) && input->error / 2 > input->error_between;
}

/* NULL when memory is short. */
static char *beyond_note(const struct rtl_merge_input *input)
{
    uint64_t at[2];
    if (!rtl_merge_goes_beyond(input, at))
        return sqlite3_mprintf("");
    char *before = at[0] ? sqlite3_mprintf(" begins %llu ns before the first of them",
                                           (unsigned long long)at[0])
                         : sqlite3_mprintf("");
    char *after = at[1] ? sqlite3_mprintf(" goes on for %llu ns after the last of them",
                                          (unsigned long long)at[1])
                        : sqlite3_mprintf("");
    char *text = before && after ? sqlite3_mprintf(" (most of that because its recording%s%s%s)",
                                                   before, at[0] && at[1] ? " and" : "", after)
                                 : NULL;
    sqlite3_free(before);
    sqlite3_free(after);
    return text;
}

/* NULL when memory is short. */
static char *aligned_note(const struct rtl_merge_input *input)
{
    static const char *const by[] = {
        [RTL_MERGE_COLLECTIVES] = "%llu collectives fit that both ran",
        [RTL_MERGE_EXCHANGES] = "%llu exchanges of messages fit",
        [RTL_MERGE_BOTH] = "%llu collectives fit that both ran and %llu exchanges of messages"};
    bool first = input->clock == RTL_MERGE_EXCHANGES;
    char *what = sqlite3_mprintf(
        by[input->clock], (unsigned long long)(first ? input->exchanges : input->collectives),
        (unsigned long long)input->exchanges);
    char *beyond = beyond_note(input);
    char *text =
        what && beyond
            ? sqlite3_mprintf("merged from %s (host %s): another host, times moved by %lld ns so "
                              "that %s; as long as this host recorded that is right within %llu "
                              "ns%s, and the clocks drift apart by %.3f ppm%s; the times "
                              "of day were wrong by %lld ns%s%s",
                              input->path, input->host, (long long)input->shift, what,
                              (unsigned long long)input->error, beyond, input->clock_drift / 1000,
                              input->changes ? ", which changed meanwhile" : "",
                              (long long)input->corrected, input->unaligned ? "; but " : "",
                              input->unaligned ? input->unaligned : "")
            : NULL;
    sqlite3_free(what);
    sqlite3_free(beyond);
    return text;
}

static char *clock_note(const struct rtl_merge_input *input)
{
    switch (input->clock) {
    case RTL_MERGE_REFERENCE:
        return sqlite3_mprintf("merged from %s (host %s), whose clock is that of this trace",
                               input->path, input->host);
    case RTL_MERGE_SAME_BOOT:
        return sqlite3_mprintf("merged from %s (host %s): one host and start of it, so one clock: "
                               "exact",
                               input->path, input->host);
    case RTL_MERGE_SAME_HOST:
        return sqlite3_mprintf("merged from %s (host %s): taken for the same host by its name and "
                               "its time of day, so one clock",
                               input->path, input->host);
    case RTL_MERGE_COLLECTIVES:
    case RTL_MERGE_EXCHANGES:
    case RTL_MERGE_BOTH:
        return aligned_note(input);
    default:
        return sqlite3_mprintf("merged from %s (host %s): another host, times moved by %lld ns so "
                               "that the times of day agree, as well as the hosts' clocks did; its "
                               "time of day moved by %llu ns meanwhile",
                               input->path, input->host, (long long)input->shift,
                               (unsigned long long)input->drift);
    }
}

static int note_clock(struct merge *merge)
{
    char *text = clock_note(merge->input);
    int result = run(merge, sqlite3_mprintf("INSERT INTO main.notes(process, time, text) SELECT %u,"
                                            " value, %Q FROM main.meta WHERE key = 'start'",
                                            merge->input->process, text));
    sqlite3_free(text);
    return result;
}

/* Attaching. */

static bool try_attach(struct merge *merge, const char *how)
{
    char *uri = rtl_sqlite_uri(merge->input->path, how);
    char *sql = uri ? sqlite3_mprintf("ATTACH %Q AS source", uri) : NULL;
    bool done = sql && sqlite3_exec(merge->db, sql, NULL, NULL, NULL) == SQLITE_OK &&
                sqlite3_exec(merge->db, "SELECT count(*) FROM source.sqlite_master", NULL, NULL,
                             NULL) == SQLITE_OK;
    if (!done)
        (void)sqlite3_exec(merge->db, "DETACH source", NULL, NULL, NULL);
    sqlite3_free(sql);
    sqlite3_free(uri);
    return done;
}

/* Where no log can be made beside a trace that was not closed in order, the file is all there is.
 */
static int attach(struct merge *merge)
{
    char why[RTL_BESIDE_WHY];
    if (!rtl_beside_is_own(merge->input->path, why, sizeof why))
        return fail(merge, "cannot read the trace %s: %s", merge->input->path, why);
    if (try_attach(merge, "mode=ro") || try_attach(merge, "immutable=1"))
        return 0;
    merge->outside = true;
    return fail(merge, "cannot read the trace %s", merge->input->path);
}

static void refuse_damaged(void *context, const char *what)
{
    struct merge *merge = context;
    (void)fail(merge, "cannot merge %s: %s: it is damaged, or was edited", merge->input->path,
               what);
}

/* Rows without a checksum of their own. */
static int check_digests(struct merge *merge)
{
    bool known;
    if (rtl_digest_compare(merge->db, "source", &known, refuse_damaged, merge) != SQLITE_OK)
        return fail_sql(merge);
    return merge->failed ? -1 : 0;
}

/* The same process twice: its kernels would count twice. It is one by its host and pid and by when
 * it began on the clock of that start of the host. Where an older version has merged it, that is
 * not known: then times may have been moved by other amounts before, and no pid is used again
 * within a second. A pid of 0 is that of a process that nobody knows. */
static int refuse_twice(struct merge *merge)
{
    static const char query[] =
        "SELECT m.pid FROM source.processes s JOIN main.processes m ON s.pid = m.pid AND"
        " s.host IS m.host LEFT JOIN (%s) c ON c.process = s.process LEFT JOIN"
        " main.process_clocks d ON d.process = m.process WHERE s.pid <> 0 AND CASE WHEN c.boot IS"
        " NULL OR d.boot IS NULL THEN abs(rtl_shift(s.start, %lld) - m.start) < 1000000000"
        " ELSE c.boot = d.boot AND c.start = d.start END LIMIT 1";
    char *clocks = rtl_process_clocks_query(merge->db, "source");
    char *sql = clocks ? sqlite3_mprintf(query, clocks, (long long)merge->input->shift) : NULL;
    sqlite3_free(clocks);
    int64_t pid = ask(merge, 0, sql);
    if (merge->failed || pid == 0)
        return merge->failed ? -1 : 0;
    return fail(merge, "cannot merge %s: process %lld is in another one of the traces already",
                merge->input->path, (long long)pid);
}

/* By what their processes are known in other traces. */
static int keep_clocks(struct merge *merge)
{
    char *clocks = rtl_process_clocks_query(merge->db, "source");
    char *sql = clocks ? sqlite3_mprintf("INSERT INTO main.process_clocks SELECT process + %u,"
                                         " boot, start FROM (%s)",
                                         merge->processes, clocks)
                       : NULL;
    sqlite3_free(clocks);
    return run(merge, sql);
}

static int take_in(struct merge *merge)
{
    struct rtl_merge_input *input = merge->input;
    if (check_digests(merge) != 0 || refuse_twice(merge) != 0)
        return -1;
    find_unknown(merge);
    find_last(merge);
    input->process = merge->processes + 1;
    input->processes =
        (uint32_t)ask(merge, 0, sqlite3_mprintf("SELECT max(process) FROM source.processes"));
    if (merge->failed || copy_tables(merge) != 0 || keep_clocks(merge) != 0 ||
        move_clock_snapshots(merge) != 0)
        return -1;
    if (add_facts(merge) != 0 || (input->processes && note_clock(merge) != 0))
        return -1;
    if (rtl_merge_state_take(merge->db, merge->place, input) != SQLITE_OK)
        return fail_sql(merge);
    merge->processes += input->processes;
    return 0;
}

/* One step with an input, of one moment. */
static int with_input(struct merge *merge, struct rtl_merge_input *input,
                      int (*step)(struct merge *))
{
    merge->input = input;
    if (attach(merge) != 0)
        return -1;
    if (run(merge, sqlite3_mprintf("BEGIN")) == 0 && step(merge) == 0)
        (void)run(merge, sqlite3_mprintf("COMMIT"));
    if (merge->failed)
        (void)sqlite3_exec(merge->db, "ROLLBACK", NULL, NULL, NULL);
    (void)sqlite3_exec(merge->db, "DETACH source", NULL, NULL, NULL);
    return merge->failed ? -1 : 0;
}

/* The journal that every transaction makes anew would be anybody's in a folder of many: one of ours
 * stays until the end. What a merge that was killed has left is taken, since SQLite undoes by it
 * what was half done. */
static int keep_journal(struct merge *merge)
{
    char journal[PATH_MAX];
    char why[RTL_BESIDE_WHY];
    struct stat status;
    (void)snprintf(journal, sizeof journal, "%s-journal", merge->path);
    if (!rtl_beside_is_own(merge->path, why, sizeof why))
        return fail(merge, "cannot write %s: %s", merge->path, why);
    if (lstat(journal, &status) == 0 || rtl_beside_make(merge->path, "-journal") == 0)
        return 0;
    return fail(merge, "cannot write %s: %s", journal, rtl_why(errno, why));
}

static int open_output(struct merge *merge)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
    int deterministic = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    if (keep_journal(merge) != 0)
        return -1;
    if (rtl_sqlite_open(merge->path, &merge->db, flags) != SQLITE_OK ||
        sqlite3_create_function(merge->db, "rtl_shift", 2, deterministic, NULL, shift, NULL,
                                NULL) != SQLITE_OK ||
        sqlite3_create_function(merge->db, "rtl_sum", -1, deterministic, NULL, sum, NULL, NULL) !=
            SQLITE_OK)
        return fail_sql(merge);
    return run(merge, sqlite3_mprintf("PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON;"
                                      "PRAGMA journal_mode=TRUNCATE; PRAGMA synchronous=NORMAL"));
}

/* How wrong the times of an input may be, within it or to the reference's; -1: nobody knows. */
static int64_t wrong_by(const struct rtl_merge_input *input)
{
    bool exact = input->clock != RTL_MERGE_TIME_OF_DAY && input->clock < RTL_MERGE_COLLECTIVES;
    if (input->apart < 0 || input->clock == RTL_MERGE_TIME_OF_DAY)
        return -1;
    uint64_t sum = (exact ? 0 : input->error) + (uint64_t)input->apart;
    return sum < INT64_MAX ? (int64_t)sum : INT64_MAX;
}

/* How far times of two hosts may be off each other at most: those of one host are not at all, and
 * those of two others may both be wrong. -1: nobody knows. */
static int64_t hosts_error(const struct rtl_merge_input *inputs, size_t count)
{
    const struct rtl_merge_input *first = &inputs[0];
    int64_t second = 0;
    for (size_t i = 0; i < count; ++i) {
        if (wrong_by(&inputs[i]) < 0)
            return -1;
        first = wrong_by(&inputs[i]) > wrong_by(first) ? &inputs[i] : first;
    }
    for (size_t i = 0; i < count; ++i)
        if (inputs[i].shift != first->shift || strcmp(inputs[i].boot, first->boot) != 0)
            second = wrong_by(&inputs[i]) > second ? wrong_by(&inputs[i]) : second;
    return second < INT64_MAX - wrong_by(first) ? wrong_by(first) + second : INT64_MAX;
}

/* The processes' rows tell their hosts. */
static int end_facts(struct merge *merge, const struct rtl_merge *plan)
{
    char fingerprint[RTL_MERGE_FINGERPRINT];
    const struct rtl_merge_input *inputs = plan->inputs;
    rtl_merge_fingerprint(plan->options, inputs, plan->count, fingerprint);
    (void)run(merge, sqlite3_mprintf("INSERT INTO main.meta VALUES('hosts_error', %lld)",
                                     (long long)hosts_error(inputs, plan->count)));
    while (inputs->clock != RTL_MERGE_REFERENCE)
        ++inputs;
    (void)run(merge,
              sqlite3_mprintf("INSERT INTO main.meta VALUES('creator', 'rtl " RTL_VERSION
                              "'), ('command', %Q), ('writer_pid', 0), ('writer_start', 0),"
                              " ('host', %Q), ('realtime_offset', %lld), ('merged', %Q)",
                              plan->command, inputs->host, (long long)inputs->offset, fingerprint));
    if (inputs->boot[0])
        (void)run(merge, sqlite3_mprintf("INSERT INTO main.meta VALUES('boot', %Q)", inputs->boot));
    return merge->failed ? -1 : 0;
}

static int close_trace(struct merge *merge)
{
    struct rtl_stats_done done;
    char error[512];
    if (rtl_merge_state_end(merge->db) != SQLITE_OK)
        return fail_sql(merge);
    rtl_status_t status =
        rtl_stats_close(merge->db, merge->path, RTL_STATS_KERNELS, &done, error, sizeof error);
    merge->outside |= status == RTL_E_IO || status == RTL_E_MEMORY;
    if (status != RTL_OK)
        return fail(merge, "cannot write the merged trace: %s", error);
    return run(merge, sqlite3_mprintf("COMMIT"));
}

int rtl_merge_create(const char *path, char *error, size_t error_size)
{
    static const struct rtl_file_filler unfinished = {rtl_merge_state_make, NULL};
    char *made = rtl_file_create(path, true, NULL, &unfinished, error, error_size);
    free(made);
    return made ? 0 : -1;
}

/* It was ended when all was done but the file's name. */
static int begin_whole(struct merge *merge, struct rtl_merge *plan)
{
    char wanted[RTL_MERGE_FINGERPRINT];
    char found[RTL_MERGE_FINGERPRINT];
    rtl_merge_fingerprint(plan->options, plan->inputs, plan->count, wanted);
    meta_text(merge, "main", "merged", found, sizeof found);
    if (strcmp(wanted, found) != 0)
        return fail(merge, "cannot go on with %s: it is a whole trace, and not of these",
                    plan->path);
    for (size_t i = 0; i < plan->count; ++i) {
        plan->inputs[i].process = merge->processes + 1;
        merge->processes += plan->inputs[i].processes;
    }
    plan->before = plan->taken = plan->count;
    return 0;
}

/* What there is to be merged, as far as it has not been. */
static int begin(struct merge *merge, struct rtl_merge *plan)
{
    char why[1024];
    merge->input = NULL;
    if (ask(merge, 0, sqlite3_mprintf("PRAGMA main.application_id")) == RTL_APPLICATION_ID)
        return begin_whole(merge, plan);
    int64_t begun = ask(merge, 0, sqlite3_mprintf("SELECT count(*) FROM main.unfinished_merge"));
    if (merge->failed)
        return -1;
    if (begun == 0) /* also where the last one was ended before this */
        return rtl_merge_state_begin(merge->db, plan->options, plan->inputs, plan->count) ==
                       SQLITE_OK
                   ? 0
                   : fail_sql(merge);
    if (!rtl_merge_state_fits(merge->db, plan->options, plan->inputs, plan->count, &plan->taken,
                              why, sizeof why))
        return fail(merge, "cannot go on with %s: %s", plan->path, why);
    plan->before = plan->taken;
    for (size_t i = 0; i < plan->taken; ++i)
        merge->processes += plan->inputs[i].processes;
    return 0;
}

static void tell_progress(const struct rtl_merge *plan)
{
    if (plan->progress)
        plan->progress(plan->context, plan->taken, plan->count + 1);
}

static int take_all(struct merge *merge, struct rtl_merge *plan)
{
    tell_progress(plan);
    for (merge->place = plan->taken; merge->place < plan->count; ++merge->place) {
        if (with_input(merge, &plan->inputs[merge->place], take_in) != 0)
            return -1;
        ++plan->taken;
        tell_progress(plan);
    }
    merge->input = NULL;
    return 0;
}

static int end(struct merge *merge, const struct rtl_merge *plan)
{
    if (ask(merge, 0, sqlite3_mprintf("PRAGMA main.application_id")) == RTL_APPLICATION_ID)
        return 0;
    if (run(merge, sqlite3_mprintf("BEGIN")) != 0 || end_facts(merge, plan) != 0 ||
        close_trace(merge) != 0)
        return -1;
    return run(merge, sqlite3_mprintf("PRAGMA synchronous=FULL; PRAGMA journal_mode=DELETE"));
}

int rtl_merge(struct rtl_merge *plan, char *error, size_t error_size)
{
    struct merge merge = {.path = plan->path, .error = error, .error_size = error_size};
    char why[RTL_WHY_SIZE];
    int lock = rtl_merge_lock(plan->path);
    if (lock < 0)
        return fail(&merge, "cannot write %s: %s", plan->path,
                    errno == EWOULDBLOCK ? "another rtl merge is writing it" : rtl_why(errno, why));
    int result = open_output(&merge);
    for (size_t i = 0; i < plan->count && result == 0; ++i)
        result = with_input(&merge, &plan->inputs[i], look_at);
    if (result == 0)
        choose_clocks(plan->inputs, plan->count);
    if (result == 0 && plan->align)
        result = plan->align(plan->context, plan->inputs, plan->count, error, error_size);
    if (result == 0)
        result = begin(&merge, plan);
    if (result == 0)
        result = take_all(&merge, plan);
    if (result == 0)
        result = end(&merge, plan);
    plan->can_go_on = merge.outside;
    (void)sqlite3_close(merge.db);
    rtl_beside_remove_empty(plan->path, "-journal");
    (void)close(lock);
    return result;
}

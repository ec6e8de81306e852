/* What a trace holds, as lines; and what two traces differ in. */
#include "world.h"

#include <rtl/rtl_trace.h>

#include <inttypes.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static bool add(struct world_lines *lines, const char *format,
                                                      ...)
{
    char *line = NULL;
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang-tidy 14 misses va_start here */
    int length = vasprintf(&line, format, arguments);
    va_end(arguments);
    if (length < 0)
        return false;
    if (lines->count == lines->capacity) {
        lines->capacity = lines->capacity ? 2 * lines->capacity : 1024;
        char **more = realloc(lines->lines, lines->capacity * sizeof(char *));
        if (!more)
            abort();
        lines->lines = more;
    }
    lines->lines[lines->count++] = line;
    return true;
}

static int by_text(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

void world_free(struct world_lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        free(lines->lines[i]);
    free(lines->lines);
    *lines = (struct world_lines){0};
}

/* By the tables. What the clock of the recorder says is left out, and numbers that only count rows.
 */
static const struct {
    const char *name, *query;
} tables[] = {
    /* Without their numbers: a ring that cannot be read at once comes behind those that can. All
     * processes of a world give the same. */
    {"processes", "SELECT ppid, command, host, rank, mode, way, library, hsa, core_table,"
                  " ext_table, start, state, torn FROM processes"},
    {"agents", "SELECT * FROM agents"},
    {"queues", "SELECT * FROM queues"},
    {"shapes", "SELECT * FROM shapes"},
    {"clock_points", "SELECT * FROM clock_points"},
    {"clock_brackets", "SELECT * FROM clock_brackets"},
    {"copies", "SELECT process, queue, ordinal, start_ticks, end_ticks, bytes, kind, engine, src,"
               " dst, correlation FROM copies"},
    {"calls", "SELECT * FROM calls"},
    {"streams", "SELECT * FROM streams"},
    {"threads", "SELECT * FROM threads"},
    {"names", "SELECT * FROM names"},
    {"ranges", "SELECT * FROM ranges"},
    {"graph_rows", "SELECT * FROM graph_rows"},
    {"graph_names", "SELECT * FROM graph_names"},
    {"graph_node_rows", "SELECT * FROM graph_node_rows"},
    {"graph_plans",
     "SELECT DISTINCT process, graph, generation, begins, kernels, data FROM graph_plans"},
    {"pauses", "SELECT * FROM pauses"},
    {"counting", "SELECT * FROM counting"},
    {"counters", "SELECT * FROM counters"},
    {"uncounted", "SELECT * FROM uncounted"},
    {"ledger_rows", "SELECT * FROM ledger_rows"},
    {"ledger_losses", "SELECT * FROM ledger_losses"},
    {"notes", "SELECT process, queue, text FROM notes"},
};

static void add_row(struct world_lines *lines, const char *table, sqlite3_stmt *row)
{
    char text[2048];
    size_t used = 0;
    for (int i = 0; i < sqlite3_column_count(row) && used < sizeof text; i++) {
        if (sqlite3_column_type(row, i) == SQLITE_BLOB) {
            const unsigned char *bytes = sqlite3_column_blob(row, i);
            for (int byte = 0; byte < sqlite3_column_bytes(row, i) && used < sizeof text; byte++)
                used += (size_t)snprintf(text + used, sizeof text - used, "%02x", bytes[byte]);
        } else {
            const char *value = (const char *)sqlite3_column_text(row, i);
            used +=
                (size_t)snprintf(text + used, sizeof text - used, "|%s", value ? value : "NULL");
        }
    }
    (void)add(lines, "%s%s", table, text);
}

static const char *read_tables(sqlite3 *db, struct world_lines *lines)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        sqlite3_stmt *row = NULL;
        int result = sqlite3_prepare_v2(db, tables[i].query, -1, &row, NULL);
        while (result == SQLITE_OK && (result = sqlite3_step(row)) == SQLITE_ROW) {
            add_row(lines, tables[i].name, row);
            lines->events += strcmp(tables[i].name, "copies") == 0;
            result = SQLITE_OK;
        }
        CHECK(sqlite3_finalize(row) == SQLITE_OK && result == SQLITE_DONE);
    }
    return NULL;
}

static const char *number(sqlite3 *db, const char *query, int64_t *value)
{
    sqlite3_stmt *row = NULL;
    CHECK(sqlite3_prepare_v2(db, query, -1, &row, NULL) == SQLITE_OK);
    CHECK(sqlite3_step(row) == SQLITE_ROW);
    *value = sqlite3_column_int64(row, 0);
    CHECK(sqlite3_finalize(row) == SQLITE_OK);
    return NULL;
}

static const char *whole(sqlite3 *db)
{
    sqlite3_stmt *row = NULL;
    CHECK(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &row, NULL) == SQLITE_OK);
    CHECK(sqlite3_step(row) == SQLITE_ROW);
    CHECK(strcmp((const char *)sqlite3_column_text(row, 0), "ok") == 0);
    CHECK(sqlite3_finalize(row) == SQLITE_OK);
    return NULL;
}

/* By the reader. */

/* They may lie in a row or in a block; one that a shape names lies in a row. */
static const char *read_symbols(rtl_trace_t *trace, struct world_lines *lines)
{
    const rtl_symbol_t *symbols = NULL;
    size_t count = 0;
    CHECK(rtlTraceSymbols(trace, &symbols, &count) == RTL_OK);
    for (size_t i = 0; i < count; i++)
        (void)add(lines, "symbols|%u|%u|%u|%" PRIu64 "|%s|%s|%u|%u|%u", symbols[i].process,
                  symbols[i].symbol, symbols[i].agent, symbols[i].kernel_object, symbols[i].name,
                  symbols[i].mangled, symbols[i].kernarg_size, symbols[i].group_size,
                  symbols[i].private_size);
    return NULL;
}

static const char *read_kernels(rtl_trace_t *trace, struct world_lines *lines)
{
    const rtl_kernel_filter_t all = RTL_KERNEL_FILTER_ALL;
    rtl_kernel_iter_t *iter = NULL;
    rtl_kernel_t k;
    CHECK(rtlTraceKernels(trace, &all, &iter) == RTL_OK);
    rtl_status_t status = RTL_OK;
    while ((status = rtlKernelNext(iter, &k)) == RTL_OK) {
        (void)add(lines,
                  "kernel|%u|%u|%" PRIu64 "|%" PRIu64 "|%" PRIu64 "|%" PRIu64 "|%" PRIu32
                  "|%" PRIu32,
                  k.process, k.queue, k.packet, k.start_ticks, k.end_ticks, k.correlation,
                  k.launch_record, k.ordinal);
        (void)add(lines,
                  "kernel_as|%u|%u|%" PRIu64 "|%s|%s|%u|%" PRIu64 "|%" PRIu64 "|%" PRIu32
                  "|%" PRIu32 "|%" PRIu32 "|%d",
                  k.process, k.queue, k.packet, k.name, k.mangled, k.grid[0], k.start, k.end,
                  k.graph, k.launch, k.node, k.certain);
        lines->events++;
    }
    rtlKernelIterFree(iter);
    CHECK(status == RTL_END);
    return NULL;
}

static const char *read_calls(rtl_trace_t *trace, struct world_lines *lines)
{
    rtl_api_iter_t *iter = NULL;
    rtl_api_t call;
    char text[256];
    CHECK(rtlTraceApi(trace, NULL, &iter) == RTL_OK);
    rtl_status_t status = RTL_OK;
    while ((status = rtlApiNext(iter, &call)) == RTL_OK) {
        (void)add(lines,
                  "call|%u|%u|%" PRIu64 "|%" PRIu64 "|%" PRIu64 "|%" PRIu64 "|%" PRIu32 "|%" PRIu64,
                  call.process, call.thread, call.correlation, call.start, call.end, call.range,
                  call.word_count, call.words[0]);
        (void)rtlApiArguments(&call, text, sizeof text);
        (void)add(lines, "call_as|%" PRIu64 "|%s|%s|%" PRIu32, call.correlation, call.name, text,
                  call.stream);
        lines->events++;
    }
    rtlApiIterFree(iter);
    CHECK(status == RTL_END);
    return NULL;
}

/* They may lie in a chunk or in a row. */
static const char *read_launches(rtl_trace_t *trace, struct world_lines *lines)
{
    rtl_launch_iter_t *iter = NULL;
    rtl_graph_launch_t l;
    CHECK(rtlTraceLaunches(trace, NULL, &iter) == RTL_OK);
    rtl_status_t status = RTL_OK;
    while ((status = rtlLaunchNext(iter, &l)) == RTL_OK)
        (void)add(lines,
                  "graph_launch|%u|%" PRIu32 "|%" PRIu32 "|%" PRIu32 "|%" PRIu64 "|%" PRIu64
                  "|%" PRIu64 "|%" PRIu64 "|%" PRIu64 "|%" PRIu64 "|%" PRIu64 "|%" PRIu64
                  "|%" PRIu32,
                  l.process, l.graph, l.generation, l.launch, l.time, l.start, l.end, l.kernels,
                  l.expected, l.unseen, l.correlation, l.range, l.thread);
    rtlLaunchIterFree(iter);
    CHECK(status == RTL_END);
    return NULL;
}

static const char *add_samples(rtl_sample_iter_t *iter, struct world_lines *lines)
{
    rtl_trace_sample_t s;
    rtl_status_t status = RTL_OK;
    while ((status = rtlSampleNext(iter, &s)) == RTL_OK) {
        (void)add(lines, "sample|%u|%" PRIu32 "|%u|%" PRIu64 "|%d", s.process, s.queue, s.agent,
                  s.owner, s.shared);
        for (uint32_t i = 0; i < s.count; i++)
            (void)add(lines, "sample_as|%u|%" PRIu32 "|%" PRIu64 "|%s|%" PRIu64, s.process, s.queue,
                      s.owner, s.counters[i]->name, s.values[i]);
    }
    rtlSampleIterFree(iter);
    CHECK(status == RTL_END);
    return NULL;
}

static const char *read_samples(rtl_trace_t *trace, struct world_lines *lines)
{
    rtl_sample_iter_t *iter = NULL;
    CHECK(rtlTraceKernelSamples(trace, NULL, &iter) == RTL_OK);
    CHECK_DONE(add_samples(iter, lines));
    CHECK(rtlTraceRangeSamples(trace, NULL, &iter) == RTL_OK);
    return add_samples(iter, lines);
}

static const char *read_by_reader(const char *path, struct world_lines *lines)
{
    char error[1024] = "";
    rtl_trace_t *trace = NULL;
    if (rtlTraceOpen(path, &trace, error, sizeof error) != RTL_OK)
        (void)fprintf(stderr, "%s\n", error);
    CHECK(trace != NULL);
    const char *failed = read_symbols(trace, lines);
    if (!failed)
        failed = read_kernels(trace, lines);
    if (!failed)
        failed = read_calls(trace, lines);
    if (!failed)
        failed = read_launches(trace, lines);
    if (!failed)
        failed = read_samples(trace, lines);
    if (failed)
        (void)fprintf(stderr, "%s\n", rtlTraceError(trace));
    rtlTraceClose(trace);
    return failed;
}

const char *world_read(const char *path, struct world_lines *lines)
{
    sqlite3 *db = NULL;
    int64_t finished = 0;
    *lines = (struct world_lines){0};
    CHECK_DONE(read_by_reader(path, lines));
    CHECK(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK);
    CHECK_DONE(whole(db));
    CHECK_DONE(read_tables(db, lines));
    int64_t lost = 0;
    CHECK_DONE(number(db,
                      "SELECT count(*) FROM shapes h JOIN symbol_blocks b ON b.process = h.process"
                      " AND h.symbol BETWEEN b.symbol_min AND b.symbol_max WHERE (h.process,"
                      " h.symbol) NOT IN (SELECT process, symbol FROM symbols)",
                      &lost));
    CHECK(lost == 0);
    CHECK_DONE(
        number(db, "SELECT coalesce(max(value), 0) FROM meta WHERE key = 'finished'", &finished));
    CHECK(sqlite3_close(db) == SQLITE_OK);
    lines->finished = finished == 1;
    if (lines->count)
        qsort(lines->lines, lines->count, sizeof *lines->lines, by_text);
    return NULL;
}

const char *world_stored(const char *path, uint64_t *events)
{
    sqlite3 *db = NULL;
    int64_t stored = 0;
    CHECK(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK);
    CHECK_DONE(number(db,
                      "SELECT (SELECT coalesce(sum(kernels), 0) FROM kernel_chunks) +"
                      " (SELECT coalesce(sum(calls), 0) FROM api_chunks) +"
                      " (SELECT count(*) FROM copies)",
                      &stored));
    CHECK(sqlite3_close(db) == SQLITE_OK);
    *events = (uint64_t)stored;
    return NULL;
}

/* Comparing. */

/* What is lost is told by number; the others say what is known so far, and may say less. */
enum group { KERNELS, COPIES, CALLS, SAMPLES, RANGES, DEFINITIONS, KNOWN, NOTES, GROUPS };

static const struct {
    const char *prefix;
    enum group group;
} groups[] = {
    {"kernel|", KERNELS},      {"copies|", COPIES},         {"call|", CALLS},
    {"ranges|", RANGES},       {"notes|", NOTES},           {"kernel_as|", KNOWN},
    {"call_as|", KNOWN},       {"processes|", KNOWN},       {"queues|", KNOWN},
    {"ledger_rows|", KNOWN},   {"graph_rows|", KNOWN},      {"graph_plans|", KNOWN},
    {"graph_launch|", KNOWN},  {"graph_node_rows|", KNOWN}, {"graph_names|", KNOWN},
    {"ledger_losses|", KNOWN}, {"streams|", KNOWN},         {"pauses|", KNOWN},
    {"sample|", SAMPLES},      {"sample_as|", KNOWN},       {"uncounted|", KNOWN},
};

static enum group group_of(const char *line)
{
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (strncmp(line, groups[i].prefix, strlen(groups[i].prefix)) == 0)
            return groups[i].group;
    return DEFINITIONS;
}

struct difference {
    uint64_t missing[GROUPS], extra[GROUPS];
    uint64_t told[GROUPS]; /* by notes: "N kernels could not be stored" */
    uint64_t missing_all;
};

static void take_note(struct difference *difference, const char *line)
{
    static const char *const whats[] = {[KERNELS] = " kernels could",
                                        [COPIES] = " copies could",
                                        [CALLS] = " host calls could",
                                        [SAMPLES] = " samples of hardware counters could"};
    const char *text = strrchr(line, '|') + 1;
    char *end;
    uint64_t count = strtoull(text, &end, 10);
    for (size_t i = 0; i < sizeof whats / sizeof *whats; i++)
        if (strncmp(end, whats[i], strlen(whats[i])) == 0)
            difference->told[i] += count;
}

static void differ(struct difference *difference, const char *line, bool missing)
{
    enum group group = group_of(line);
    if (missing)
        difference->missing[group]++;
    else
        difference->extra[group]++;
    difference->missing_all += missing;
    if (group == NOTES && !missing)
        take_note(difference, line);
}

static void find_difference(const struct world_lines *want, const struct world_lines *got,
                            struct difference *difference, bool show)
{
    size_t i = 0;
    size_t j = 0;
    while (i < want->count || j < got->count) {
        int order = i == want->count  ? 1
                    : j == got->count ? -1
                                      : strcmp(want->lines[i], got->lines[j]);
        if (order != 0 && show)
            (void)fprintf(stderr, "%s %s\n", order < 0 ? "missing" : "extra",
                          order < 0 ? want->lines[i] : got->lines[j]);
        if (order != 0)
            differ(difference, order < 0 ? want->lines[i] : got->lines[j], order < 0);
        i += order <= 0;
        j += order >= 0;
    }
}

/* Nothing that was given may have become something else. */
static const char *judge(const struct difference *d, bool finished, bool told)
{
    bool noted = d->extra[NOTES] > 0;
    for (int group = KERNELS; group <= DEFINITIONS; group++) {
        CHECK(told || (d->missing[group] == 0 && d->extra[group] == 0));
        CHECK(group == RANGES || d->extra[group] == 0);
    }
    for (int group = KERNELS; group <= SAMPLES; group++)
        CHECK(!finished || d->missing[group] == d->told[group]);
    CHECK(noted || (told && !finished) || (d->missing_all == 0 && d->extra[KNOWN] == 0));
    return NULL;
}

const char *world_compare(const struct world_lines *want, const struct world_lines *got, bool told)
{
    struct difference difference = {0};
    find_difference(want, got, &difference, false);
    const char *failed = judge(&difference, got->finished, told);
    if (failed)
        find_difference(want, got, &difference, true);
    return failed;
}

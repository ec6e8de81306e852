#include "store/reader.h"

#include "common/why.h"
#include "store/beside.h"
#include "store/extent.h"
#include "store/genuine.h"
#include "store/schema.h"
#include "store/sqlite_path.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUSY_MS 2000

#define PARTIAL           ".partial" /* what a merge is called until it is whole */
#define APPLICATION_ID_AT 68         /* in the file, https://www.sqlite.org/fileformat2.html */

rtl_status_t rtl_trace_fail(rtl_trace_t *trace, rtl_status_t status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang-tidy 14 misses va_start here */
    (void)vsnprintf(trace->error, sizeof trace->error, format, arguments);
    va_end(arguments);
    return status;
}

rtl_status_t rtl_trace_fail_sqlite(rtl_trace_t *trace, int result)
{
    switch (result & 0xff) {
    case SQLITE_NOTADB:
        return rtl_trace_fail(trace, RTL_E_NOT_TRACE, "%s is not an RTL trace", trace->path);
    case SQLITE_NOMEM:
        return rtl_trace_fail(trace, RTL_E_MEMORY, "cannot read the trace %s: memory is short",
                              trace->path);
    case SQLITE_CORRUPT:
    case SQLITE_ERROR: /* a table or column is missing */
    case SQLITE_FORMAT:
        return rtl_trace_fail(trace, RTL_E_DAMAGED, "the trace %s is damaged: %s", trace->path,
                              sqlite3_errmsg(trace->db));
    default:
        return rtl_trace_fail(trace, RTL_E_IO, "cannot read the trace %s: %s", trace->path,
                              sqlite3_errcode(trace->db) == SQLITE_OK ? sqlite3_errstr(result)
                                                                      : sqlite3_errmsg(trace->db));
    }
}

/* Opening. */

struct opening {
    const char *path;
    char *error;
    size_t error_size;
};

static rtl_status_t refuse(const struct opening *opening, rtl_status_t status, const char *why)
{
    if (opening->error && opening->error_size)
        (void)snprintf(opening->error, opening->error_size, "cannot open the trace %s: %s",
                       opening->path, why);
    return status;
}

static rtl_status_t refuse_cut(const struct opening *opening, uint64_t missing)
{
    char why[96];
    (void)snprintf(why, sizeof why, "it is damaged: the last %" PRIu64 " %s of it %s missing",
                   missing, missing == 1 ? "byte" : "bytes", missing == 1 ? "is" : "are");
    return refuse(opening, RTL_E_DAMAGED, why);
}

static bool has_beside(const char *path, const char *suffix)
{
    struct stat status;
    char *name = sqlite3_mprintf("%s%s", path, suffix);
    bool found = name && stat(name, &status) == 0 && status.st_size > 0;
    sqlite3_free(name);
    return found;
}

static int try_open(const char *name, int flags, sqlite3 **db)
{
    int result =
        (flags & SQLITE_OPEN_URI) != 0
            ? sqlite3_open_v2(name, db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | flags, NULL)
            : rtl_sqlite_open(name, db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | flags);
    if (result == SQLITE_OK) {
        (void)sqlite3_busy_timeout(*db, BUSY_MS);
        /* The first statement that really opens the file; the file is not trusted. */
        result = sqlite3_exec(*db,
                              "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON;"
                              "PRAGMA schema_version;",
                              NULL, NULL, NULL);
    }
    if (result != SQLITE_OK) {
        (void)sqlite3_close(*db);
        *db = NULL;
    }
    return result;
}

/* A trace that was not closed in order has SQLite's log mode in its head, and reading that makes a
 * file beside it. Where the folder cannot be written and no log is left, the file is all there is:
 * nobody writes to it, so no lock and no shared memory is needed. */
static int open_in_closed_folder(const char *path, sqlite3 **db)
{
    char *name = rtl_sqlite_uri(path, "immutable=1");
    int result = name ? try_open(name, SQLITE_OPEN_URI, db) : SQLITE_NOMEM;
    sqlite3_free(name);
    return result;
}

static bool is_finished(sqlite3 *db)
{
    sqlite3_stmt *statement = NULL;
    bool finished = rtl_genuine_is_table(db, "meta") &&
                    sqlite3_prepare_v2(db, "SELECT value = 1 FROM meta WHERE key = 'finished'", -1,
                                       &statement, NULL) == SQLITE_OK &&
                    sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int(statement, 0) == 1;
    (void)sqlite3_finalize(statement);
    return finished;
}

/* A finished trace is one file and stays as it is. Where others may make a log beside it at any
 * time, none is looked for. */
static bool open_alone(const char *path, sqlite3 **db)
{
    if (!rtl_beside_may_come(path) || open_in_closed_folder(path, db) != SQLITE_OK)
        return false;
    if (is_finished(*db))
        return true;
    (void)sqlite3_close(*db);
    *db = NULL;
    return false;
}

static int pragma(sqlite3 *db, const char *text, int *value)
{
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(db, text, -1, &statement, NULL);
    if (result == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
        *value = sqlite3_column_int(statement, 0);
    int end = sqlite3_finalize(statement);
    return result == SQLITE_OK ? end : result;
}

/* A merge that was killed leaves its journal, and a file that may be half of anything: SQLite may
 * not read even its head, and when it was about to become whole that may say so already. */
static bool is_half_merge(const char *path)
{
    unsigned char id[4] = {0};
    size_t length = strlen(path);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool read = fd >= 0 && pread(fd, id, sizeof id, APPLICATION_ID_AT) == sizeof id;
    if (fd >= 0)
        (void)close(fd);
    if (!has_beside(path, "-journal"))
        return false;
    if (length > strlen(PARTIAL) && strcmp(path + length - strlen(PARTIAL), PARTIAL) == 0)
        return true;
    return read && ((uint32_t)id[0] << 24 | id[1] << 16 | id[2] << 8 | id[3]) ==
                       (uint32_t)RTL_APPLICATION_ID_MERGE;
}

rtl_status_t rtl_trace_connect(const char *path, sqlite3 **db, char *error, size_t error_size)
{
    const struct opening opening = {path, error, error_size};
    char text[RTL_BESIDE_WHY];
    char limit[RTL_WHY_SIZE];
    *db = NULL;
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return refuse(&opening, RTL_E_IO, rtl_why(errno, limit));
    bool regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    (void)close(fd);
    if (!regular)
        return refuse(&opening, RTL_E_NOT_TRACE, "it is not a regular file");
    if (!rtl_beside_is_own(path, text, sizeof text))
        return refuse(&opening, RTL_E_IO, text);
    if (open_alone(path, db))
        return RTL_OK;

    int result = try_open(path, 0, db);
    int kind = result & 0xff;
    if (kind == SQLITE_CANTOPEN || kind == SQLITE_READONLY) {
        if (has_beside(path, "-wal"))
            return refuse(&opening, RTL_E_IO,
                          "it was not closed in order and its folder cannot be written; copy it "
                          "with its -wal file to another folder");
        if (is_half_merge(path))
            return refuse(&opening, RTL_E_NOT_TRACE,
                          "it is a merge that has not ended; 'rtl merge --resume' goes on with it");
        result = open_in_closed_folder(path, db);
    }
    if (result == SQLITE_OK)
        return RTL_OK;
    if ((result & 0xff) == SQLITE_NOTADB)
        return refuse(&opening, RTL_E_NOT_TRACE, "it is not an RTL trace");
    if ((result & 0xff) != SQLITE_CORRUPT)
        return refuse(&opening, RTL_E_IO, sqlite3_errstr(result));
    struct rtl_extent extent;
    rtl_extent_guess(path, &extent);
    return extent.missing ? refuse_cut(&opening, extent.missing)
                          : refuse(&opening, RTL_E_DAMAGED, sqlite3_errstr(result));
}

rtl_status_t rtl_trace_begin(sqlite3 *db, const char *path, uint64_t *behind, char *error,
                             size_t error_size)
{
    const struct opening opening = {path, error, error_size};
    struct rtl_extent extent = {0};
    int result = sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
    if (result == SQLITE_OK)
        result = rtl_extent_read(db, path, &extent);
    *behind = extent.behind;
    if (result != SQLITE_OK)
        return refuse(&opening, (result & 0xff) == SQLITE_CORRUPT ? RTL_E_DAMAGED : RTL_E_IO,
                      sqlite3_errstr(result));
    return extent.missing ? refuse_cut(&opening, extent.missing) : RTL_OK;
}

static rtl_status_t check_version(rtl_trace_t *trace)
{
    int id = 0;
    int version = 0;
    int result = pragma(trace->db, "PRAGMA application_id", &id);
    if (result == SQLITE_OK)
        result = pragma(trace->db, "PRAGMA user_version", &version);
    if (result != SQLITE_OK)
        return rtl_trace_fail_sqlite(trace, result);
    if (id == RTL_APPLICATION_ID_MERGE)
        return rtl_trace_fail(trace, RTL_E_NOT_TRACE,
                              "cannot open %s: it is a merge that has not ended; 'rtl merge "
                              "--resume' goes on with it",
                              trace->path);
    if (id != RTL_APPLICATION_ID)
        return rtl_trace_fail(trace, RTL_E_NOT_TRACE,
                              "cannot open the trace %s: it is not an RTL trace", trace->path);
    int major = version / RTL_FORMAT_SCALE;
    int minor = version % RTL_FORMAT_SCALE;
    if (major > RTL_FORMAT_MAJOR)
        return rtl_trace_fail(trace, RTL_E_VERSION,
                              "cannot open the trace %s: its format is version %d.%d and this "
                              "program reads up to version %d; use a newer rtl",
                              trace->path, major, minor, RTL_FORMAT_MAJOR);
    if (major < 1 || minor < 0)
        return rtl_trace_fail(trace, RTL_E_DAMAGED,
                              "the trace %s is damaged: its format version is %d", trace->path,
                              version);
    trace->info.format_major = (uint32_t)major;
    trace->info.format_minor = (uint32_t)minor;
    return RTL_OK;
}

static rtl_status_t check_tables(rtl_trace_t *trace)
{
    char name[64];
    int result = rtl_genuine_find_other(trace->db, name, sizeof name);
    if (result != SQLITE_OK)
        return rtl_trace_fail_sqlite(trace, result);
    return name[0]
               ? rtl_trace_fail(trace, RTL_E_DAMAGED, "the trace %s is damaged: its %s is no table",
                                trace->path, name)
               : RTL_OK;
}

rtl_trace_t *rtl_trace_over(sqlite3 *db, const char *path, rtl_status_t *status, char *error,
                            size_t error_size)
{
    const struct opening opening = {path, error, error_size};
    rtl_trace_t *trace = calloc(1, sizeof *trace);
    if (!trace || !(trace->path = strdup(path))) {
        free(trace);
        *status = refuse(&opening, RTL_E_MEMORY, "memory is short");
        return NULL;
    }
    trace->db = db;
    *status = check_version(trace);
    if (*status == RTL_OK)
        *status = check_tables(trace);
    if (*status == RTL_OK)
        *status = rtl_trace_load(trace);
    if (*status == RTL_OK)
        return trace;
    if (error && error_size)
        (void)snprintf(error, error_size, "%s", trace->error);
    rtlTraceClose(trace);
    return NULL;
}

rtl_status_t rtlTraceOpen(const char *path, rtl_trace_t **trace, char *error, size_t error_size)
{
    if (error && error_size)
        error[0] = '\0';
    if (!trace)
        return RTL_E_ARGUMENT;
    *trace = NULL;
    if (!path)
        return RTL_E_ARGUMENT;
    sqlite3 *db = NULL;
    rtl_status_t status = rtl_trace_connect(path, &db, error, error_size);
    if (status != RTL_OK)
        return status;
    /* One read transaction for the life of the handle: all that is read is of one moment, however
     * far the recording goes on. */
    uint64_t behind;
    status = rtl_trace_begin(db, path, &behind, error, error_size);
    if (status == RTL_OK)
        *trace = rtl_trace_over(db, path, &status, error, error_size);
    if (!*trace) {
        (void)sqlite3_close(db);
        return status;
    }
    (*trace)->owned = true;
    (*trace)->info.bytes_behind = behind;
    return status;
}

void rtlTraceClose(rtl_trace_t *trace)
{
    if (!trace)
        return;
    rtl_trace_unload(trace);
    if (trace->owned)
        (void)sqlite3_close(trace->db);
    free(trace->path);
    free(trace);
}

const char *rtlTraceError(const rtl_trace_t *trace)
{
    return trace ? trace->error : "";
}

/* Giving out what was loaded. */

static rtl_status_t give(const struct rtl_list *list, const void **items, size_t *count)
{
    if (!items || !count)
        return RTL_E_ARGUMENT;
    *items = list->items;
    *count = list->count;
    return RTL_OK;
}

/* Counted when first asked for: it takes a look at every range. */
static rtl_status_t count_ranges(rtl_trace_t *trace)
{
    sqlite3_stmt *row = NULL;
    if (trace->ranges_counted || !rtl_trace_has_calls(trace))
        return RTL_OK;
    int result = sqlite3_prepare_v2(
        trace->db, "SELECT count(*) FROM main.ranges WHERE start IS NOT NULL", -1, &row, NULL);
    if (result == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW)
        trace->info.ranges = (uint64_t)sqlite3_column_int64(row, 0);
    int end = sqlite3_finalize(row);
    result = result == SQLITE_OK ? end : result;
    trace->ranges_counted = result == SQLITE_OK;
    return result == SQLITE_OK ? RTL_OK : rtl_trace_fail_sqlite(trace, result);
}

rtl_status_t rtlTraceInfo(rtl_trace_t *trace, rtl_trace_info_t *info)
{
    if (!trace || !info)
        return RTL_E_ARGUMENT;
    rtl_status_t status = count_ranges(trace);
    *info = trace->info;
    return status;
}

rtl_status_t rtlTraceProcesses(rtl_trace_t *trace, const rtl_process_t **items, size_t *count)
{
    return trace ? give(&trace->processes, (const void **)items, count) : RTL_E_ARGUMENT;
}

rtl_status_t rtlTraceAgents(rtl_trace_t *trace, const rtl_agent_t **items, size_t *count)
{
    return trace ? give(&trace->agents, (const void **)items, count) : RTL_E_ARGUMENT;
}

rtl_status_t rtlTraceQueues(rtl_trace_t *trace, const rtl_queue_t **items, size_t *count)
{
    return trace ? give(&trace->queues, (const void **)items, count) : RTL_E_ARGUMENT;
}

rtl_status_t rtlTraceLedger(rtl_trace_t *trace, const rtl_ledger_t **items, size_t *count)
{
    return trace ? give(&trace->ledger, (const void **)items, count) : RTL_E_ARGUMENT;
}

rtl_status_t rtlTraceNotes(rtl_trace_t *trace, const rtl_note_t **items, size_t *count)
{
    return trace ? give(&trace->notes, (const void **)items, count) : RTL_E_ARGUMENT;
}

rtl_status_t rtlTracePauses(rtl_trace_t *trace, const rtl_pause_t **items, size_t *count)
{
    return trace ? give(&trace->pauses, (const void **)items, count) : RTL_E_ARGUMENT;
}

rtl_status_t rtlTraceCallDefinitions(rtl_trace_t *trace, const rtl_call_definition_t **items,
                                     size_t *count)
{
    return trace ? give(&trace->calls, (const void **)items, count) : RTL_E_ARGUMENT;
}

rtl_status_t rtlTraceStreams(rtl_trace_t *trace, const rtl_stream_t **items, size_t *count)
{
    return trace ? give(&trace->streams, (const void **)items, count) : RTL_E_ARGUMENT;
}

rtl_status_t rtlTraceThreads(rtl_trace_t *trace, const rtl_thread_t **items, size_t *count)
{
    return trace ? give(&trace->threads, (const void **)items, count) : RTL_E_ARGUMENT;
}

rtl_status_t rtlTraceNames(rtl_trace_t *trace, const rtl_name_t **items, size_t *count)
{
    return trace ? give(&trace->names, (const void **)items, count) : RTL_E_ARGUMENT;
}

uint64_t rtl_trace_ns(struct rtl_agent_clock *clock, uint64_t ticks)
{
    if (!clock)
        return ticks;
    uint64_t system = rtl_line_at(&clock->ticks, ticks);
    return clock->system ? rtl_line_at(clock->system, system) : system;
}

struct rtl_agent_clock *rtl_trace_clock(const rtl_trace_t *trace, uint32_t process, uint32_t agent)
{
    uint32_t place = rtl_index_get(&trace->agent_index, rtl_index_key(process, agent));
    return place == RTL_INDEX_MISSING ? NULL
                                      : (struct rtl_agent_clock *)trace->clocks.items + place;
}

bool rtl_trace_has_copies(const rtl_trace_t *trace)
{
    return trace->info.format_major > 1 || trace->info.format_minor >= 1;
}

bool rtl_trace_has_calls(const rtl_trace_t *trace)
{
    return trace->info.format_major > 1 || trace->info.format_minor >= 2;
}

bool rtl_trace_has_pauses(const rtl_trace_t *trace)
{
    return trace->info.format_major > 1 || trace->info.format_minor >= 3;
}

rtl_status_t rtlTraceTicksToNs(rtl_trace_t *trace, uint32_t process, uint32_t agent, uint64_t ticks,
                               uint64_t *ns)
{
    if (!trace || !ns)
        return RTL_E_ARGUMENT;
    uint32_t place = rtl_index_get(&trace->agent_index, rtl_index_key(process, agent));
    if (place == RTL_INDEX_MISSING)
        return rtl_trace_fail(trace, RTL_E_ARGUMENT, "process %u has no agent %u", process, agent);
    *ns = rtl_trace_ns((struct rtl_agent_clock *)trace->clocks.items + place, ticks);
    return RTL_OK;
}

bool rtl_trace_has_symbol_blocks(const rtl_trace_t *trace)
{
    return trace->info.format_major > 1 || trace->info.format_minor >= 6;
}

bool rtl_trace_has_generations(const rtl_trace_t *trace)
{
    return trace->info.format_major > 1 || trace->info.format_minor >= 5;
}

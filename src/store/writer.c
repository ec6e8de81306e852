/* Opens and closes the file of a trace. */
#include "store/writer_state.h"

#include "common/boot.h"
#include "common/why.h"
#include "store/beside.h"
#include "store/digest.h"
#include "store/network.h"
#include "store/reserve.h"
#include "store/sqlite_path.h"
#include "store/stats_make.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUSY_MS       100  /* a checkpoint that finds the file locked is tried again later */
#define BUSY_CLOSE_MS 3000 /* the last one waits for the reader */

/* Pages of the write-ahead log before SQLite moves them into the file: 16 MB. */
#define LOG_PAGES 4000

/* Opening. */

static int store_facts(struct rtl_rows *rows, const char *command)
{
    char host[256] = "";
    char boot[64];
    uint64_t start = rtl_writer_now(CLOCK_BOOTTIME);
    uint64_t realtime = rtl_writer_now(CLOCK_REALTIME); /* at once: they are compared */
    unsigned long long own = rtl_file_process_start(getpid());
    const struct {
        const char *key;
        int64_t value;
    } numbers[] = {
        {"start", (int64_t)start},
        {"end", (int64_t)start},
        {"realtime_offset", (int64_t)(realtime - start)},
        {"finished", 0},
        {"exit_status", -1},
        {"writer_pid", getpid()},
        {"writer_start", own == RTL_FILE_START_UNKNOWN ? 0 : (int64_t)own},
    };
    (void)gethostname(host, sizeof host - 1);
    int result = SQLITE_OK;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && result == SQLITE_OK; i++)
        result = rtl_rows_meta_number(rows, numbers[i].key, numbers[i].value);
    if (result == SQLITE_OK)
        result = rtl_rows_meta_text(rows, "creator", "rtl " RTL_VERSION);
    if (result == SQLITE_OK)
        result = rtl_rows_meta_text(rows, "host", host);
    if (result == SQLITE_OK && rtl_boot(boot, sizeof boot)[0])
        result = rtl_rows_meta_text(rows, "boot", boot);
    return result == SQLITE_OK ? rtl_rows_meta_text(rows, "command", command) : result;
}

/* What a new file holds; `context` is the command line, NULL if it is not known. */
static int fill(const void *context, sqlite3 *db)
{
    struct rtl_rows rows = {.db = db};
    int result = store_facts(&rows, context ? context : "");
    rtl_rows_close(&rows);
    return result;
}

/* Where there is no log, the journal that every transaction makes anew would be anybody's: one of
 * ours stays until the end. */
static int keep_journal(struct rtl_writer *writer)
{
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(writer->db, "PRAGMA journal_mode", -1, &statement, NULL);
    bool logs = result == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW &&
                strcmp((const char *)sqlite3_column_text(statement, 0), "wal") == 0;
    (void)sqlite3_finalize(statement);
    if (result != SQLITE_OK || logs)
        return result;
    rtl_beside_remove(writer->path);
    if (rtl_beside_make(writer->path, "-journal") != 0)
        return SQLITE_CANTOPEN;
    return sqlite3_exec(writer->db, "PRAGMA journal_mode=TRUNCATE", NULL, NULL, NULL);
}

/* The write-ahead log lets readers look at the trace while it is written. Where the file system
 * cannot have one, SQLite keeps its rollback journal, and readers wait a little; so where other
 * hosts see the file, whose readers would not see the log's shared memory
 * (https://www.sqlite.org/wal.html). Nothing is synced before the end: what is written survives the
 * death of any process, and a busy disk may take longer for a sync than a ring takes to run full.
 */
static int open_database(struct rtl_writer *writer)
{
    char pragmas[160];
    char type[RTL_NETWORK_TYPE];
    (void)snprintf(pragmas, sizeof pragmas,
                   "%sPRAGMA synchronous=OFF;"
                   "PRAGMA wal_autocheckpoint=%d; PRAGMA temp_store=MEMORY;",
                   rtl_network_type(writer->path, type) ? "" : "PRAGMA journal_mode=WAL; ",
                   LOG_PAGES);
    int result =
        rtl_sqlite_open(writer->path, &writer->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX);
    if (result != SQLITE_OK)
        return result;
    (void)sqlite3_busy_timeout(writer->db, BUSY_MS);
    result = sqlite3_exec(writer->db, pragmas, NULL, NULL, NULL);
    if (result == SQLITE_OK)
        result = keep_journal(writer);
    if (result != SQLITE_OK)
        return result;
    writer->rows.db = writer->db;
    writer->graphs.db = writer->db;
    writer->graphs.give = rtl_writer_graph_item;
    writer->graphs.context = writer;
    return SQLITE_OK;
}

static void release(struct rtl_writer *writer)
{
    rtl_writer_give_reserve(writer);
    rtl_rows_close(&writer->rows);
    rtl_graph_feed_close(&writer->graphs);
    (void)sqlite3_close(writer->db);
    rtl_codec_free(writer->codec);
    rtl_deferred_free(&writer->pending);
    rtl_symbols_free(&writer->symbols);
    rtl_callers_free(&writer->callers);
    rtl_launches_free(&writer->launches);
    rtl_samples_free(&writer->samples);
    rtl_kinds_free(&writer->kinds);
    rtl_index_free(&writer->index);
    for (uint32_t i = 0; i < writer->queue_count; i++)
        free(writer->queues[i].kernels);
    free(writer->queues);
    free(writer->ends);
    free(writer->exchanges);
    free(writer->path);
    free(writer);
}

/* Where little space is left, that for telling of a failure is taken before anything else; without
 * any there is no use in a trace. */
static bool can_tell(struct rtl_writer *writer)
{
    if (!rtl_reserve_is_short(writer->path))
        return true;
    errno = 0;
    writer->reserve = rtl_reserve(writer->path);
    return writer->reserve >= 0 || (errno != ENOSPC && errno != EDQUOT);
}

static void note(struct rtl_writer *writer, const char *sentence)
{
    const struct rtl_wire_note body = {.time_ns = rtl_writer_now(CLOCK_BOOTTIME),
                                       .queue = RTL_NONE,
                                       .text_length = (uint16_t)strlen(sentence)};
    rtl_writer_note(writer, 1, &body, sentence);
}

static void note_network(struct rtl_writer *writer)
{
    char type[RTL_NETWORK_TYPE];
    char sentence[320];
    if (!rtl_network_type(writer->path, type))
        return;
    (void)snprintf(sentence, sizeof sentence,
                   "the trace lies on %s, which other hosts see: it is recorded with SQLite's "
                   "rollback journal and no write-ahead log, whose shared memory they do not see; "
                   "who reads it meanwhile, and the recorder, may wait for each other",
                   type);
    note(writer, sentence);
}

static bool open_log(struct rtl_writer *writer)
{
    int result = open_database(writer);
    if (result == SQLITE_OK && !can_tell(writer))
        result = SQLITE_FULL;
    if (result != SQLITE_OK)
        rtl_writer_fail_sqlite(writer, result);
    return result == SQLITE_OK;
}

struct rtl_writer *rtl_writer_open(const char *path, const struct rtl_writer_options *options,
                                   char *error, size_t error_size)
{
    struct rtl_writer *writer = calloc(1, sizeof *writer);
    if (!writer || !(writer->codec = rtl_codec_new())) {
        (void)snprintf(error, error_size, "cannot write the trace %s: memory is short", path);
        free(writer);
        return NULL;
    }
    writer->next_chunk = 1;
    writer->reserve = -1;
    const struct rtl_file_filler filler = {fill, options ? options->command : NULL};
    writer->path = rtl_file_create(path, options && options->replace,
                                   options && options->keep ? &writer->kept : NULL, &filler, error,
                                   error_size);
    if (!writer->path) {
        release(writer);
        return NULL;
    }
    if (open_log(writer)) {
        note_network(writer);
        return writer;
    }
    (void)snprintf(error, error_size, "%s", writer->error);
    (void)sqlite3_close(writer->db);
    writer->db = NULL;
    (void)rtl_file_restore(&writer->kept, writer->path);
    release(writer);
    return NULL;
}

void rtl_writer_begun(struct rtl_writer *writer)
{
    rtl_file_forget(&writer->kept);
}

int rtl_writer_discard(struct rtl_writer *writer, char *error, size_t error_size)
{
    char *kept = writer->kept.path ? strdup(writer->kept.path) : NULL;
    rtl_rows_close(&writer->rows);
    rtl_graph_feed_close(&writer->graphs);
    (void)sqlite3_close(writer->db);
    writer->db = NULL;
    int result = rtl_file_restore(&writer->kept, writer->path);
    if (result != 0) {
        char text[RTL_WHY_SIZE];
        const char *why = rtl_why(errno, text);
        (void)snprintf(error, error_size, kept ? "%s is called %s now: %s" : "%s%s stays: %s",
                       writer->path, kept ? kept : "", why);
    }
    free(kept);
    release(writer);
    return result;
}
uint64_t rtl_writer_kernels(const struct rtl_writer *writer)
{
    return writer->kernels;
}

const char *rtl_writer_error(const struct rtl_writer *writer)
{
    return writer->error;
}

/* Closing. */

static void note_dropped(struct rtl_writer *writer)
{
    static const char *const whats[] = {[RTL_DROPPED_KERNELS] = "kernels",
                                        [RTL_DROPPED_COPIES] = "copies",
                                        [RTL_DROPPED_CALLS] = "host calls",
                                        [RTL_DROPPED_RANGES] = "ranges",
                                        [RTL_DROPPED_GRAPHS] = "rows about graphs",
                                        [RTL_DROPPED_SAMPLES] = "samples of hardware counters",
                                        [RTL_DROPPED_DEFINITIONS] = "definitions"};
    char sentence[1152];
    for (int what = 0; what < RTL_DROPPED_KINDS; what++) {
        if (writer->dropped[what] == 0)
            continue;
        (void)snprintf(sentence, sizeof sentence, "%llu %s could not be stored: %s",
                       (unsigned long long)writer->dropped[what], whats[what], writer->error);
        note(writer, sentence);
    }
}

static void note_forgotten(struct rtl_writer *writer)
{
    char sentence[256];
    if (writer->graphs_forgotten == 0)
        return;
    (void)snprintf(
        sentence, sizeof sentence,
        "of some kernels it is not known which graph, launch or node they belong to: %llu %s "
        "memory was short, a limit was reached or a definition was missing",
        (unsigned long long)writer->graphs_forgotten,
        writer->graphs_forgotten == 1 ? "time" : "times");
    note(writer, sentence);
}

/* There is no later checkpoint that could make up for what fails only once. */
static int store_last(struct rtl_writer *writer)
{
    int result = rtl_writer_store(writer, NULL, true);
    return result == SQLITE_OK || writer->locked ? result : rtl_writer_store(writer, NULL, true);
}

static int store_finish(struct rtl_writer *writer, int exit_status)
{
    int result = sqlite3_exec(writer->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (result == SQLITE_OK)
        result = rtl_rows_meta_number(&writer->rows, "finished", 1);
    if (result == SQLITE_OK)
        result = rtl_rows_meta_number(&writer->rows, "exit_status", exit_status);
    if (result == SQLITE_OK)
        result = rtl_digest_store(writer->db);
    if (result == SQLITE_OK)
        result = sqlite3_exec(writer->db, "COMMIT", NULL, NULL, NULL);
    return result;
}

/* All that there is to be told is stored: the space for telling of a failure is there for the end.
 */
static int finish(struct rtl_writer *writer, int exit_status)
{
    int result = store_finish(writer, exit_status);
    if (result == SQLITE_OK || writer->reserve < 0)
        return result;
    rtl_writer_roll_back(writer);
    rtl_writer_give_reserve(writer);
    return store_finish(writer, exit_status);
}

static int store_stats(struct rtl_writer *writer, const struct rtl_stats_made *made)
{
    int result = sqlite3_exec(writer->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (result == SQLITE_OK)
        result = rtl_stats_store(writer->db, made);
    if (result == SQLITE_OK)
        result = rtl_digest_store(writer->db);
    if (result == SQLITE_OK)
        result = rtl_stats_seal(writer->db, made);
    return result == SQLITE_OK ? sqlite3_exec(writer->db, "COMMIT", NULL, NULL, NULL) : result;
}

/* Of a trace that is complete: who is killed meanwhile, or finds no memory or space for it, leaves
 * one without. */
static void add_stats(struct rtl_writer *writer)
{
    struct rtl_stats_made made = {0};
    rtl_trace_t *trace = NULL;
    if (writer->kernels < RTL_STATS_KERNELS ||
        rtlTraceOpen(writer->path, &trace, NULL, 0) != RTL_OK)
        return;
    bool fits = rtl_stats_make(trace, &made) == RTL_OK && made.made;
    rtlTraceClose(trace);
    if (fits && store_stats(writer, &made) != SQLITE_OK)
        rtl_writer_roll_back(writer);
    rtl_stats_free(&made);
}

/* Makes the trace one file. A try that failed half way leaves a journal, which the next one takes
 * back first. SQLite's result, of the first one if none succeeds: the next one only finds what that
 * has left. */
static int leave_log(struct rtl_writer *writer)
{
    bool logs = rtl_file_has_log(writer->path);
    if (logs && rtl_beside_make(writer->path, "-journal") != 0)
        return SQLITE_OK;
    int first = SQLITE_OK;
    int result = SQLITE_IOERR;
    for (int i = 0; i < 2 && (result & 0xff) == SQLITE_IOERR; i++) {
        result = sqlite3_exec(writer->db, "PRAGMA synchronous=FULL; PRAGMA journal_mode=DELETE",
                              NULL, NULL, NULL);
        first = i == 0 ? result : first;
    }
    if (logs)
        rtl_beside_remove_empty(writer->path, "-journal");
    return result == SQLITE_OK ? SQLITE_OK : first;
}

/* The trace is whole, and not in one file. */
static void say_log(const struct rtl_writer *writer, int result, char *error, size_t error_size)
{
    char text[RTL_FILE_REASON];
    (void)snprintf(error, error_size,
                   "the trace %s is whole only with %s-wal beside it, which could not be put into "
                   "it: %s",
                   writer->path, writer->path,
                   rtl_file_reason(writer->db, result, writer->path, text, sizeof text));
}

int rtl_writer_close(struct rtl_writer *writer, int exit_status, char *error, size_t error_size)
{
    (void)sqlite3_busy_timeout(writer->db, BUSY_CLOSE_MS);
    rtl_writer_end_graphs(writer, 0);
    note_dropped(writer);
    note_forgotten(writer);
    int result = store_last(writer);
    if (result == SQLITE_OK)
        result = finish(writer, exit_status);
    if (result != SQLITE_OK) {
        rtl_writer_fail_sqlite(writer, result);
        rtl_writer_roll_back(writer);
        rtl_writer_report_failure(writer, result, true);
    }
    rtl_writer_give_reserve(writer);
    if (result == SQLITE_OK)
        add_stats(writer);
    /* A reader that looks at the trace now keeps the log in place: then the trace is complete with
     * it, and stays so. */
    rtl_rows_close(&writer->rows);
    rtl_graph_feed_close(&writer->graphs);
    bool whole = result == SQLITE_OK && !rtl_writer_has_dropped(writer);
    int left = result == SQLITE_OK ? leave_log(writer) : SQLITE_OK;
    if (!whole)
        (void)snprintf(error, error_size, "%s", writer->error);
    else if (left != SQLITE_OK && (left & 0xff) != SQLITE_BUSY && (left & 0xff) != SQLITE_LOCKED)
        say_log(writer, left, error, error_size);
    rtl_file_forget(&writer->kept);
    release(writer);
    return whole ? 0 : -1;
}

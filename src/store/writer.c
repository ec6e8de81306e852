#include "store/writer.h"

#include "ring/kinds.h"
#include "store/beside.h"
#include "store/callers.h"
#include "store/codec.h"
#include "store/deferred.h"
#include "store/file.h"
#include "store/graph_feed.h"
#include "store/kinds.h"
#include "store/launches.h"
#include "store/map.h"
#include "store/reserve.h"
#include "store/rows.h"
#include "store/samples.h"
#include "store/stored.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Room for kernels over all queues: 56 bytes each, so 29 MB at most. */
#define ROOM_MAX   524288u
#define ROOM_FIRST 64u

/* At a checkpoint a chunk of fewer kernels stays open and is written again, longer, at the next:
 * programs that launch slowly get full chunks too, and the file is complete all the same. */
#define SEAL_AT 8192u

/* Definitions that wait: stored early beyond the first, left out beyond the second. */
#define PENDING_SOON ((size_t)1 << 20)
#define PENDING_MAX  ((size_t)16 << 20)

#define PENDING_MOST  (1u << 20) /* bytes of definitions that wait for a checkpoint */
#define BUSY_MS       100        /* a checkpoint that finds the file locked is tried again later */
#define BUSY_CLOSE_MS 3000       /* the last one waits for the reader */
#define RETRY_NS      UINT64_C(200000000)

/* Pages of the write-ahead log before SQLite moves them into the file: 16 MB. */
#define LOG_PAGES 4000

/* A queue with the chunk that is being filled. */
struct queue {
    uint32_t process, queue;
    struct rtl_wire_kernel *kernels;
    uint32_t count, capacity;
    uint32_t stored; /* of `count`, as last stored under `chunk` */
    int64_t chunk;
    bool account_new;
    bool copied; /* it is one of copies, and has some that are not stored */
    struct rtl_writer_account account;
};

/* A queue or process whose full chunk is stored alone, or the graph launches: one of all. */
struct part {
    struct queue *queue;
    struct rtl_caller *caller;
    struct rtl_sampler *sampler;
    bool launches;
};

struct process_end {
    uint32_t process;
    const char *state;
    uint64_t time, torn;
};

/* What may be left out. */
enum dropped {
    DROPPED_KERNELS,
    DROPPED_COPIES,
    DROPPED_CALLS,
    DROPPED_RANGES,
    DROPPED_GRAPHS,  /* rows about graphs and their launches */
    DROPPED_SAMPLES, /* of hardware counters */
    DROPPED_DEFINITIONS,
    DROPPED_KINDS
};

struct rtl_writer {
    sqlite3 *db;
    char *path;
    struct rtl_file_kept kept; /* what the file has replaced */
    struct rtl_rows rows;
    struct rtl_codec *codec;
    struct rtl_deferred pending;
    struct rtl_callers callers;
    struct rtl_graph_feed graphs;
    struct rtl_launches launches;
    struct rtl_samples samples;
    struct rtl_kinds kinds;
    struct rtl_map index; /* (process, queue) to place in `queues` */
    struct queue *queues;
    uint32_t queue_count, queue_capacity;
    uint32_t last; /* place of the queue that was used last */
    uint32_t processes;
    struct process_end *ends;
    size_t end_count;
    rtl_writer_ask ask; /* NULL: nobody */
    void *ask_context;
    uint32_t room; /* of all queues, kernels */
    int64_t next_chunk;
    uint64_t kernels;
    uint64_t dropped[DROPPED_KINDS]; /* what found no room */
    uint64_t graphs_forgotten;
    bool locked;       /* the last transaction could not begin: another program has the file */
    uint64_t retry_at; /* after a failure: nothing is tried before */
    int reserve;       /* space for telling of a failure: a descriptor, -1: none */
    bool told;         /* the file says that there was one */
    char why[RTL_FILE_REASON]; /* of the last failure since which something is missing, or "" */
    char error[1024];
};

static uint64_t now(clockid_t clock)
{
    struct timespec time = {0};
    (void)clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

__attribute__((format(printf, 2, 3))) static void set_error(struct rtl_writer *writer,
                                                            const char *format, ...)
{
    if (writer->error[0])
        return;
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang-tidy 14 misses va_start here */
    (void)vsnprintf(writer->error, sizeof writer->error, format, arguments);
    va_end(arguments);
}

/* Something found no room: none is left, or what waits for a locked file has taken it. */
static void drop(struct rtl_writer *writer, enum dropped what)
{
    writer->dropped[what]++;
    set_error(writer, "cannot write the trace %s: %s", writer->path,
              writer->locked ? "another program has locked it" : "memory is short");
}

/* One of a kind whose rows do not tell how many there should be. */
static void drop_row(struct rtl_writer *writer, enum dropped what, uint32_t process,
                     enum rtl_kind kind)
{
    struct rtl_kinds_of *of = rtl_kinds_get(&writer->kinds, process);
    drop(writer, what);
    if (!of)
        return;
    of->accounts[kind].dropped++;
    of->is_new = true;
}

static void drop_definition(struct rtl_writer *writer, uint32_t process)
{
    drop_row(writer, DROPPED_DEFINITIONS, process, RTL_KIND_DEFINITIONS);
}

static void set_sqlite_error(struct rtl_writer *writer, int result)
{
    char text[RTL_FILE_REASON];
    set_error(writer, "cannot write the trace %s: %s", writer->path,
              rtl_file_reason(writer->db, result, writer->path, text, sizeof text));
}

/* Opening. */

static int store_facts(struct rtl_rows *rows, const char *command)
{
    char host[256] = "";
    char boot[64];
    uint64_t start = now(CLOCK_BOOTTIME);
    unsigned long long own = rtl_file_process_start(getpid());
    const struct {
        const char *key;
        int64_t value;
    } numbers[] = {
        {"start", (int64_t)start},
        {"end", (int64_t)start},
        {"realtime_offset", (int64_t)(now(CLOCK_REALTIME) - start)},
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
    if (result == SQLITE_OK && rtl_file_boot(boot, sizeof boot)[0])
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

static void give_graph_item(void *context, enum rtl_graph_item type, uint32_t process,
                            const void *body, size_t body_size, const void *rest, size_t rest_size);

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
 * cannot have one, SQLite keeps its rollback journal, and readers wait a little. Nothing is synced
 * before the end: what is written survives the death of any process, and a busy disk may take
 * longer for a sync than a ring takes to run full. */
static int open_database(struct rtl_writer *writer)
{
    char pragmas[160];
    (void)snprintf(pragmas, sizeof pragmas,
                   "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"
                   "PRAGMA wal_autocheckpoint=%d; PRAGMA temp_store=MEMORY;",
                   LOG_PAGES);
    int result = sqlite3_open_v2(writer->path, &writer->db,
                                 SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
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
    writer->graphs.give = give_graph_item;
    writer->graphs.context = writer;
    return SQLITE_OK;
}

static void give_reserve(struct rtl_writer *writer)
{
    if (writer->reserve >= 0)
        (void)close(writer->reserve);
    writer->reserve = -1;
}

static void release(struct rtl_writer *writer)
{
    give_reserve(writer);
    rtl_rows_close(&writer->rows);
    rtl_graph_feed_close(&writer->graphs);
    (void)sqlite3_close(writer->db);
    rtl_codec_free(writer->codec);
    rtl_deferred_free(&writer->pending);
    rtl_callers_free(&writer->callers);
    rtl_launches_free(&writer->launches);
    rtl_samples_free(&writer->samples);
    rtl_kinds_free(&writer->kinds);
    rtl_map_clear(&writer->index);
    for (uint32_t i = 0; i < writer->queue_count; i++)
        free(writer->queues[i].kernels);
    free(writer->queues);
    free(writer->ends);
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

static bool open_log(struct rtl_writer *writer)
{
    int result = open_database(writer);
    if (result == SQLITE_OK && !can_tell(writer))
        result = SQLITE_FULL;
    if (result != SQLITE_OK)
        set_sqlite_error(writer, result);
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
    if (open_log(writer))
        return writer;
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
        char text[128];
        const char *why = strerror_r(errno, text, sizeof text);
        (void)snprintf(error, error_size, kept ? "%s is called %s now: %s" : "%s%s stays: %s",
                       writer->path, kept ? kept : "", why);
    }
    free(kept);
    release(writer);
    return result;
}

/* Storing. */

static int store_definitions(struct rtl_writer *writer)
{
    struct rtl_deferred_item item;
    int result = SQLITE_OK;
    for (size_t at = 0; result == SQLITE_OK && rtl_deferred_next(&writer->pending, &at, &item);)
        result = (uint32_t)item.type >= RTL_GRAPH_TOLD
                     ? rtl_graph_feed_store(&writer->graphs, &item)
                     : rtl_rows_definition(&writer->rows, item.type, item.process, item.body,
                                           item.texts);
    return result;
}

/* Which launches the kernels of a chunk are of: RTL_NONE is above all of them. */
static int store_bounds(struct rtl_writer *writer, const struct queue *queue)
{
    uint32_t least = RTL_NONE;
    uint32_t most = 0;
    for (uint32_t i = 0; i < queue->count; i++) {
        uint32_t launch = queue->kernels[i].launch;
        least = launch < least ? launch : least;
        most = launch != RTL_NONE && launch > most ? launch : most;
    }
    return rtl_rows_chunk_launches(&writer->rows, queue->chunk, least,
                                   least == RTL_NONE ? RTL_NONE : most);
}

static int store_chunk(struct rtl_writer *writer, struct queue *queue)
{
    if (queue->count == queue->stored)
        return SQLITE_OK;
    struct rtl_chunk chunk = {.process = queue->process};
    const unsigned char *data = NULL;
    size_t size = 0;
    if (rtl_codec_encode(writer->codec, queue->kernels, queue->count, &chunk, &data, &size) != 0)
        return SQLITE_NOMEM;
    if (queue->chunk == 0)
        queue->chunk = writer->next_chunk++;
    int result = rtl_rows_chunk(&writer->rows, queue->chunk, &chunk, data, size);
    return result == SQLITE_OK ? store_bounds(writer, queue) : result;
}

/* The accounts of what is stored: with `only`, of its queue and of all copies, which are stored as
 * definitions are. */
static int store_accounts(struct rtl_writer *writer, const struct part *only)
{
    int result = SQLITE_OK;
    for (uint32_t i = 0; i < writer->queue_count && result == SQLITE_OK; i++) {
        struct queue *queue = &writer->queues[i];
        if (only && queue != only->queue && !queue->copied)
            continue;
        if (writer->ask &&
            writer->ask(writer->ask_context, queue->process, queue->queue, &queue->account))
            queue->account_new = true;
        if (queue->account_new)
            result = rtl_rows_account(&writer->rows, queue->process, queue->queue, &queue->account);
    }
    return result == SQLITE_OK ? rtl_kinds_store(&writer->kinds, &writer->rows) : result;
}

static int store_ends(struct rtl_writer *writer)
{
    int result = SQLITE_OK;
    for (size_t i = 0; i < writer->end_count && result == SQLITE_OK; i++) {
        const struct process_end *end = &writer->ends[i];
        result =
            rtl_rows_process_end(&writer->rows, end->process, end->state, end->time, end->torn);
    }
    return result;
}

static int store_part(struct rtl_writer *writer, const struct part *only)
{
    if (only->queue)
        return store_chunk(writer, only->queue);
    if (only->launches)
        return rtl_launches_store(&writer->launches, &writer->rows);
    if (only->sampler)
        return rtl_sampler_store(&writer->samples, only->sampler, &writer->rows);
    return only->caller ? rtl_caller_store(&writer->callers, only->caller, &writer->rows)
                        : SQLITE_OK;
}

static bool has_dropped(const struct rtl_writer *writer)
{
    for (int what = 0; what < DROPPED_KINDS; what++)
        if (writer->dropped[what] > 0)
            return true;
    return false;
}

/* What could not be written for a time, and now is. What found no room meanwhile stays missing, for
 * that reason. */
static int store_recovered(struct rtl_writer *writer)
{
    if (writer->why[0] && has_dropped(writer))
        return rtl_rows_meta_text(&writer->rows, "failure", writer->why);
    return writer->told ? rtl_rows_meta_text(&writer->rows, "failure", "") : SQLITE_OK;
}

/* All that is new; with `only`, no other chunks. */
static int store_content(struct rtl_writer *writer, const struct part *only)
{
    int result = store_definitions(writer);
    if (result == SQLITE_OK && only)
        result = store_part(writer, only);
    if (result == SQLITE_OK && only)
        return store_accounts(writer, only);
    for (uint32_t i = 0; i < writer->queue_count && result == SQLITE_OK; i++)
        result = store_chunk(writer, &writer->queues[i]);
    if (result == SQLITE_OK)
        result = rtl_callers_store(&writer->callers, &writer->rows);
    if (result == SQLITE_OK)
        result = rtl_launches_store(&writer->launches, &writer->rows);
    if (result == SQLITE_OK)
        result = rtl_samples_store(&writer->samples, &writer->rows);
    if (result == SQLITE_OK)
        result = store_accounts(writer, NULL);
    if (result == SQLITE_OK)
        result = store_ends(writer);
    if (result == SQLITE_OK)
        result = store_recovered(writer);
    if (result == SQLITE_OK)
        result = rtl_rows_meta_number(&writer->rows, "end", (int64_t)now(CLOCK_BOOTTIME));
    return result;
}

/* Ends a queue's chunk: what comes next goes into another. */
static void seal(struct rtl_writer *writer, struct queue *queue, bool keep_room)
{
    queue->count = queue->stored = 0;
    queue->chunk = 0;
    if (keep_room)
        return;
    writer->room -= queue->capacity;
    free(queue->kernels);
    queue->kernels = NULL;
    queue->capacity = 0;
}

static void mark_part(struct rtl_writer *writer, const struct part *only)
{
    if (only->queue)
        seal(writer, only->queue, true);
    else if (only->launches)
        rtl_launches_stored(&writer->launches, false);
    else if (only->sampler)
        rtl_sampler_stored(only->sampler, true);
    else if (only->caller)
        rtl_caller_stored(only->caller, true);
}

static void mark_stored(struct rtl_writer *writer, const struct part *only, bool seal_all)
{
    rtl_deferred_clear(&writer->pending);
    rtl_kinds_stored(&writer->kinds);
    for (uint32_t i = 0; i < writer->queue_count; i++)
        writer->queues[i].copied = false;
    if (only) {
        mark_part(writer, only);
        return;
    }
    writer->end_count = 0;
    rtl_callers_stored(&writer->callers, seal_all);
    rtl_launches_stored(&writer->launches, seal_all);
    rtl_samples_stored(&writer->samples, seal_all);
    for (uint32_t i = 0; i < writer->queue_count; i++) {
        struct queue *queue = &writer->queues[i];
        queue->account_new = false;
        queue->stored = queue->count;
        if (seal_all)
            seal(writer, queue, false);
        else if (queue->count >= SEAL_AT)
            seal(writer, queue, true);
    }
}

static void roll_back(struct rtl_writer *writer)
{
    if (!sqlite3_get_autocommit(writer->db))
        (void)sqlite3_exec(writer->db, "ROLLBACK", NULL, NULL, NULL);
}

/* True if the file is no longer there under its name: what is written now is lost. */
static bool was_moved(const struct rtl_writer *writer)
{
    int moved = 0;
    (void)sqlite3_file_control(writer->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    return moved != 0;
}

/* That the file could not be written, and why: what is left to a reader who finds it so, whatever
 * becomes of this process. With `accounts` what was seen until now is told, too. */
static int store_failure(struct rtl_writer *writer, const char *why, bool accounts)
{
    int result = sqlite3_exec(writer->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (result == SQLITE_OK)
        result = rtl_rows_meta_text(&writer->rows, "failure", why);
    if (result == SQLITE_OK)
        result = rtl_rows_meta_number(&writer->rows, "accounted", accounts);
    if (result == SQLITE_OK && accounts)
        result = store_accounts(writer, NULL);
    if (result == SQLITE_OK && accounts)
        result = store_ends(writer);
    if (result == SQLITE_OK && accounts)
        result = rtl_rows_meta_number(&writer->rows, "end", (int64_t)now(CLOCK_BOOTTIME));
    if (result == SQLITE_OK)
        result = sqlite3_exec(writer->db, "COMMIT", NULL, NULL, NULL);
    if (result != SQLITE_OK)
        roll_back(writer);
    return result;
}

/* Another program that has the file is none: it will be stored later, or not be whole. */
static bool is_failure(int result)
{
    int kind = result & 0xff;
    return kind == SQLITE_FULL || (kind == SQLITE_IOERR && result != SQLITE_IOERR_NOMEM);
}

static void tell_failure(struct rtl_writer *writer, int result, bool last)
{
    char text[RTL_FILE_REASON];
    if (!is_failure(result))
        return;
    const char *why = rtl_file_is_full(writer->db, result)
                          ? "the disk was full"
                          : rtl_file_reason(writer->db, result, writer->path, text, sizeof text);
    (void)snprintf(writer->why, sizeof writer->why, "%s", why);
    if (writer->told && !last)
        return;
    give_reserve(writer);
    writer->told = (last && store_failure(writer, why, true) == SQLITE_OK) ||
                   store_failure(writer, why, false) == SQLITE_OK || writer->told;
    if (!last) /* what it has left is for the last word, not for what comes next */
        writer->reserve = rtl_reserve(writer->path);
}

/* One transaction. An SQLite result code; unless it is SQLITE_OK all is kept for another try. */
static int store(struct rtl_writer *writer, const struct part *only, bool seal_all)
{
    roll_back(writer); /* if that failed the last time */
    int result = was_moved(writer) ? SQLITE_READONLY_DBMOVED
                                   : sqlite3_exec(writer->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (result == SQLITE_OK)
        result = store_content(writer, only);
    if (result == SQLITE_OK)
        result = sqlite3_exec(writer->db, "COMMIT", NULL, NULL, NULL);
    writer->locked = (result & 0xff) == SQLITE_BUSY;
    if (result == SQLITE_OK) {
        mark_stored(writer, only, seal_all);
        writer->told = writer->told && only != NULL;
        if (only == NULL && !has_dropped(writer))
            writer->why[0] = '\0';
        writer->retry_at = 0;
        return SQLITE_OK;
    }
    if (!writer->locked)
        set_sqlite_error(writer, result);
    roll_back(writer);
    tell_failure(writer, result, false);
    writer->retry_at = now(CLOCK_MONOTONIC) + RETRY_NS;
    return result;
}

/* False shortly after a failure: trying costs time that the ring needs. */
static bool may_store(const struct rtl_writer *writer)
{
    return writer->retry_at == 0 || now(CLOCK_MONOTONIC) >= writer->retry_at;
}

int rtl_writer_checkpoint(struct rtl_writer *writer)
{
    rtl_graph_feed_flush(&writer->graphs);
    int result = store(writer, NULL, false);
    if (result == SQLITE_OK && writer->reserve < 0)
        writer->reserve = rtl_reserve(writer->path);
    return result == SQLITE_OK || (result & 0xff) == SQLITE_BUSY ? 0 : -1;
}

void rtl_writer_relieve(struct rtl_writer *writer)
{
    static const struct part definitions = {.queue = NULL};
    if (writer->pending.size > PENDING_MOST && may_store(writer))
        (void)store(writer, &definitions, false);
}

/* Queues. */

static struct queue *add_queue(struct rtl_writer *writer, uint32_t process, uint32_t queue)
{
    if (writer->queue_count == writer->queue_capacity) {
        uint32_t capacity = writer->queue_capacity ? writer->queue_capacity * 2 : 16;
        struct queue *queues = realloc(writer->queues, capacity * sizeof *queues);
        if (!queues)
            return NULL;
        writer->queues = queues;
        writer->queue_capacity = capacity;
    }
    uint32_t place = writer->queue_count;
    if (rtl_map_put(&writer->index, rtl_map_key(process, queue), place) != 0)
        return NULL;
    writer->queues[place] = (struct queue){.process = process, .queue = queue};
    writer->queue_count++;
    return &writer->queues[place];
}

/* The queue, made when it is first seen; NULL when memory is short. */
static struct queue *find_queue(struct rtl_writer *writer, uint32_t process, uint32_t queue)
{
    if (writer->last < writer->queue_count) {
        struct queue *last = &writer->queues[writer->last];
        if (last->queue == queue && last->process == process)
            return last;
    }
    uint32_t place = rtl_map_get(&writer->index, rtl_map_key(process, queue));
    struct queue *found =
        place != RTL_MAP_MISSING ? &writer->queues[place] : add_queue(writer, process, queue);
    if (found)
        writer->last = (uint32_t)(found - writer->queues);
    return found;
}

static bool grow(struct rtl_writer *writer, struct queue *queue)
{
    uint32_t capacity = queue->capacity ? queue->capacity * 2 : ROOM_FIRST;
    if (writer->room + capacity - queue->capacity > ROOM_MAX) {
        if (!may_store(writer) || store(writer, NULL, true) != SQLITE_OK)
            return false;
        capacity = ROOM_FIRST;
    }
    struct rtl_wire_kernel *kernels = realloc(queue->kernels, capacity * sizeof *kernels);
    if (!kernels)
        return false;
    writer->room += capacity - queue->capacity;
    queue->kernels = kernels;
    queue->capacity = capacity;
    return true;
}

static bool make_room(struct rtl_writer *writer, struct queue *queue)
{
    if (queue->capacity < RTL_CHUNK_KERNELS)
        return grow(writer, queue);
    const struct part only = {.queue = queue};
    return may_store(writer) && store(writer, &only, false) == SQLITE_OK;
}

void rtl_writer_kernel(struct rtl_writer *writer, uint32_t process,
                       const struct rtl_wire_kernel *kernel)
{
    writer->kernels++;
    struct queue *queue = find_queue(writer, process, kernel->queue);
    if (!queue || (queue->count == queue->capacity && !make_room(writer, queue))) {
        drop(writer, DROPPED_KERNELS);
        return;
    }
    queue->kernels[queue->count++] = *kernel;
    struct rtl_graphs *graphs = rtl_graph_feed_registry(&writer->graphs, process);
    if (graphs)
        rtl_graphs_kernel(graphs, kernel);
}

void rtl_writer_ledger(struct rtl_writer *writer, uint32_t process, uint32_t queue,
                       const struct rtl_writer_account *account)
{
    struct queue *found = find_queue(writer, process, queue);
    if (!found) {
        drop_definition(writer, process);
        return;
    }
    found->account_new = true;
    found->account = *account;
}

void rtl_writer_recorded(struct rtl_writer *writer, uint32_t process, enum rtl_kind kind)
{
    struct rtl_kinds_of *of = rtl_kinds_get(&writer->kinds, process);
    if (!of)
        return;
    of->accounts[kind].recorded++;
    of->is_new = true;
}

uint64_t rtl_writer_recorded_so_far(const struct rtl_writer *writer, uint32_t process,
                                    enum rtl_kind kind)
{
    const struct rtl_kinds *kinds = &writer->kinds;
    return process - 1 < kinds->count ? kinds->processes[process - 1].accounts[kind].recorded : 0;
}

void rtl_writer_kinds(struct rtl_writer *writer, uint32_t process,
                      const struct rtl_writer_kind kinds[RTL_KINDS])
{
    struct rtl_kinds_of *of = rtl_kinds_get(&writer->kinds, process);
    if (!of) {
        drop(writer, DROPPED_DEFINITIONS);
        return;
    }
    for (uint32_t kind = 0; kind < RTL_KINDS; kind++)
        of->accounts[kind].rest = kinds[kind];
    of->known = true;
    of->is_new = true;
}

void rtl_writer_miss_processes(struct rtl_writer *writer, uint64_t count)
{
    struct rtl_kinds_of *of = writer->processes ? rtl_kinds_get(&writer->kinds, 1) : NULL;
    if (!of)
        return;
    of->accounts[RTL_KIND_PROCESSES].recorded += count;
    of->accounts[RTL_KIND_PROCESSES].dropped += count;
    of->is_new = true;
}

void rtl_writer_ask_for_accounts(struct rtl_writer *writer, rtl_writer_ask ask, void *context)
{
    writer->ask = ask;
    writer->ask_context = context;
}

/* Definitions. */

static enum dropped dropped_as(enum rtl_wire_type type)
{
    if ((uint32_t)type >= RTL_GRAPH_TOLD)
        return DROPPED_GRAPHS;
    if (type == RTL_WIRE_COPY)
        return DROPPED_COPIES;
    return type == RTL_WIRE_RANGE || type == RTL_WIRE_RANGE_END ? DROPPED_RANGES
                                                                : DROPPED_DEFINITIONS;
}

static void drop_record(struct rtl_writer *writer, enum rtl_wire_type type, uint32_t process,
                        const void *body)
{
    enum dropped what = dropped_as(type);
    bool told = (uint32_t)type < RTL_GRAPH_TOLD;
    enum rtl_kind kind = told ? rtl_kind_of(type, body) : RTL_KIND_GRAPHS;
    if (kind == RTL_KIND_NAMES || kind == RTL_KIND_DEFINITIONS || kind == RTL_KIND_GRAPHS)
        drop_row(writer, what, process, kind);
    else
        drop(writer, what);
}

static void add(struct rtl_writer *writer, enum rtl_wire_type type, uint32_t process,
                const void *body, size_t body_size, const char *texts, size_t texts_size)
{
    if (writer->pending.size > PENDING_SOON && may_store(writer))
        (void)store(writer, NULL, false);
    if (writer->pending.size > PENDING_MAX ||
        rtl_deferred_add(&writer->pending, type, process, body, body_size, texts, texts_size) != 0)
        drop_record(writer, type, process, body);
}

uint32_t rtl_writer_process(struct rtl_writer *writer, const struct rtl_wire_process *process,
                            const char *texts)
{
    uint32_t number = ++writer->processes;
    struct rtl_kinds_of *of = rtl_kinds_get(&writer->kinds, number);
    if (of)
        of->calls = process->mode == RTL_MODE_HIP || process->mode == RTL_MODE_FULL;
    rtl_writer_process_again(writer, number, process, texts);
    return number;
}

void rtl_writer_process_again(struct rtl_writer *writer, uint32_t process,
                              const struct rtl_wire_process *body, const char *texts)
{
    size_t size =
        (size_t)body->command_length + body->host_length + body->library_length + body->rank_length;
    add(writer, RTL_WIRE_PROCESS, process, body, sizeof *body, texts, size);
}

void rtl_writer_agent(struct rtl_writer *writer, uint32_t process,
                      const struct rtl_wire_agent *agent, const char *texts)
{
    size_t size = (size_t)agent->name_length + agent->product_length + agent->uuid_length;
    add(writer, RTL_WIRE_AGENT, process, agent, sizeof *agent, texts, size);
}

void rtl_writer_queue(struct rtl_writer *writer, uint32_t process,
                      const struct rtl_wire_queue *queue)
{
    struct rtl_graphs *graphs = rtl_graph_feed_registry(&writer->graphs, process);
    add(writer, RTL_WIRE_QUEUE, process, queue, sizeof *queue, NULL, 0);
    if (graphs)
        rtl_graphs_queue(graphs, queue);
}

void rtl_writer_queue_end(struct rtl_writer *writer, uint32_t process,
                          const struct rtl_wire_queue_end *end)
{
    add(writer, RTL_WIRE_QUEUE_END, process, end, sizeof *end, NULL, 0);
}

void rtl_writer_symbol(struct rtl_writer *writer, uint32_t process,
                       const struct rtl_wire_symbol *symbol, const char *texts)
{
    struct rtl_graphs *graphs = rtl_graph_feed_registry(&writer->graphs, process);
    add(writer, RTL_WIRE_SYMBOL, process, symbol, sizeof *symbol, texts, symbol->name_length);
    if (graphs)
        rtl_graphs_symbol(graphs, symbol, texts);
}

void rtl_writer_shape(struct rtl_writer *writer, uint32_t process,
                      const struct rtl_wire_shape *shape)
{
    struct rtl_graphs *graphs = rtl_graph_feed_registry(&writer->graphs, process);
    add(writer, RTL_WIRE_SHAPE, process, shape, sizeof *shape, NULL, 0);
    if (graphs)
        rtl_graphs_shape(graphs, shape);
}

void rtl_writer_clock(struct rtl_writer *writer, uint32_t process,
                      const struct rtl_wire_clock *clock)
{
    add(writer, RTL_WIRE_CLOCK, process, clock, sizeof *clock, NULL, 0);
}

void rtl_writer_bracket(struct rtl_writer *writer, uint32_t process,
                        const struct rtl_wire_bracket *bracket)
{
    add(writer, RTL_WIRE_BRACKET, process, bracket, sizeof *bracket, NULL, 0);
}

void rtl_writer_note(struct rtl_writer *writer, uint32_t process, const struct rtl_wire_note *note,
                     const char *texts)
{
    add(writer, RTL_WIRE_NOTE, process, note, sizeof *note, texts, note->text_length);
}

void rtl_writer_copy(struct rtl_writer *writer, uint32_t process, const struct rtl_wire_copy *copy)
{
    struct queue *queue = find_queue(writer, process, copy->queue);
    if (queue)
        queue->copied = true;
    add(writer, RTL_WIRE_COPY, process, copy, sizeof *copy, NULL, 0);
}

bool rtl_writer_has_kernel(struct rtl_writer *writer, uint32_t process, uint32_t queue,
                           uint64_t packet)
{
    const struct queue *found = find_queue(writer, process, queue);
    for (uint32_t i = 0; found && i < found->count; i++)
        if (found->kernels[i].packet == packet)
            return true;
    return rtl_stored_kernel(writer->db, writer->codec, process, queue, packet);
}

bool rtl_writer_has_copy(struct rtl_writer *writer, uint32_t process, uint32_t queue,
                         uint64_t ordinal)
{
    struct rtl_deferred_item item;
    for (size_t at = 0; rtl_deferred_next(&writer->pending, &at, &item);) {
        const struct rtl_wire_copy *copy = item.body;
        if (item.type == RTL_WIRE_COPY && item.process == process && copy->queue == queue &&
            copy->ordinal == ordinal)
            return true;
    }
    return rtl_stored_copy(writer->db, process, queue, ordinal);
}

void rtl_writer_call(struct rtl_writer *writer, uint32_t process, const struct rtl_wire_call *call,
                     const char *texts)
{
    size_t size = (size_t)call->name_length + call->arguments_length;
    add(writer, RTL_WIRE_CALL, process, call, sizeof *call, texts, size);
}

/* Host calls. */

/* Stores what stands in the way of another call: the caller's full chunk, or all chunks. */
static bool clear_way(struct rtl_writer *writer, struct rtl_caller *caller, bool all)
{
    const struct part only = {.caller = caller};
    return may_store(writer) && store(writer, all ? NULL : &only, all) == SQLITE_OK;
}

static bool add_api(struct rtl_writer *writer, uint32_t process, const struct rtl_wire_api *api,
                    const void *words)
{
    struct rtl_caller *caller = rtl_callers_get(&writer->callers, process);
    enum rtl_caller_result result = RTL_CALLER_NO_MEMORY;
    if (caller)
        result = rtl_caller_add(&writer->callers, caller, api, words);
    if ((result == RTL_CALLER_FULL || result == RTL_CALLER_CROWDED) &&
        clear_way(writer, caller, result == RTL_CALLER_CROWDED))
        result = rtl_caller_add(&writer->callers, caller, api, words);
    return result == RTL_CALLER_ADDED;
}

void rtl_writer_api(struct rtl_writer *writer, uint32_t process, const struct rtl_wire_api *api,
                    const void *words)
{
    if (!add_api(writer, process, api, words))
        drop(writer, DROPPED_CALLS);
}

/* Threads are known by whatever names them. */
static void know_thread(struct rtl_writer *writer, uint32_t process, uint32_t thread)
{
    struct rtl_caller *caller = rtl_callers_get(&writer->callers, process);
    if (!caller || rtl_caller_thread(caller, thread) != 0)
        drop_definition(writer, process);
}

static void name_stream(struct rtl_writer *writer, uint32_t process,
                        const struct rtl_wire_name *name, const char *text)
{
    struct rtl_caller *caller = rtl_callers_get(&writer->callers, process);
    if (!caller || rtl_caller_name_stream(caller, name->handle, text, name->text_length) != 0)
        drop_definition(writer, process);
}

void rtl_writer_stream(struct rtl_writer *writer, uint32_t process,
                       const struct rtl_wire_stream *stream)
{
    struct rtl_caller *caller = rtl_callers_get(&writer->callers, process);
    if (!caller || rtl_caller_stream(caller, stream) != 0)
        drop_definition(writer, process);
}

void rtl_writer_range(struct rtl_writer *writer, uint32_t process,
                      const struct rtl_wire_range *range, const char *texts)
{
    know_thread(writer, process, range->thread);
    add(writer, RTL_WIRE_RANGE, process, range, sizeof *range, texts, range->text_length);
}

void rtl_writer_range_end(struct rtl_writer *writer, uint32_t process,
                          const struct rtl_wire_range_end *end)
{
    add(writer, RTL_WIRE_RANGE_END, process, end, sizeof *end, NULL, 0);
}

void rtl_writer_name(struct rtl_writer *writer, uint32_t process, const struct rtl_wire_name *name,
                     const char *texts)
{
    if (name->kind == RTL_NAMED_THREAD || name->kind == RTL_NAMED_COMM)
        know_thread(writer, process, (uint32_t)name->handle);
    else if (name->kind == RTL_NAMED_STREAM)
        name_stream(writer, process, name, texts);
    add(writer, RTL_WIRE_NAME, process, name, sizeof *name, texts, name->text_length);
}

void rtl_writer_hip_queue(struct rtl_writer *writer, uint32_t process,
                          const struct rtl_wire_hip_queue *made, const char *texts)
{
    add(writer, RTL_WIRE_HIP_QUEUE, process, made, sizeof *made, texts, made->library_length);
}

/* Graphs. */

/* A launch on its way into a chunk; false if it belongs into a row. */
static bool add_launch(struct rtl_writer *writer, uint32_t process,
                       const struct rtl_graph_launch_item *launch, const void *spans)
{
    static const struct part launches = {.launches = true};
    enum rtl_launches_result result = rtl_launches_add(&writer->launches, process, launch, spans);
    if (result == RTL_LAUNCHES_CROWDED && may_store(writer) &&
        store(writer, NULL, true) == SQLITE_OK)
        result = rtl_launches_add(&writer->launches, process, launch, spans);
    if (result == RTL_LAUNCHES_FULL && may_store(writer))
        (void)store(writer, &launches, false);
    return result == RTL_LAUNCHES_ADDED || result == RTL_LAUNCHES_FULL;
}

static void give_graph_item(void *context, enum rtl_graph_item type, uint32_t process,
                            const void *body, size_t body_size, const void *rest, size_t rest_size)
{
    struct rtl_writer *writer = context;
    if (type != RTL_GRAPH_LAUNCH || !add_launch(writer, process, body, rest))
        add(writer, (enum rtl_wire_type)type, process, body, body_size, rest, rest_size);
}

void rtl_writer_graph(struct rtl_writer *writer, uint32_t process,
                      const struct rtl_wire_graph *graph)
{
    rtl_graph_feed_graph(&writer->graphs, process, graph);
}

void rtl_writer_node(struct rtl_writer *writer, uint32_t process, const struct rtl_wire_node *node,
                     const void *rest)
{
    rtl_graph_feed_node(&writer->graphs, process, node, rest);
}

void rtl_writer_launch(struct rtl_writer *writer, uint32_t process,
                       const struct rtl_wire_launch *launch)
{
    struct rtl_graphs *graphs = rtl_graph_feed_registry(&writer->graphs, process);
    if (graphs)
        rtl_graphs_launch(graphs, launch);
}

void rtl_writer_pause(struct rtl_writer *writer, uint32_t process,
                      const struct rtl_wire_pause *pause)
{
    add(writer, RTL_WIRE_PAUSE, process, pause, sizeof *pause, NULL, 0);
}

/* Hardware counters. */

void rtl_writer_counting(struct rtl_writer *writer, uint32_t process,
                         const struct rtl_wire_counting *counting, const char *texts)
{
    add(writer, RTL_WIRE_COUNTING, process, counting, sizeof *counting, texts,
        counting->text_length);
}

void rtl_writer_counter(struct rtl_writer *writer, uint32_t process,
                        const struct rtl_wire_counter *counter, const char *texts)
{
    add(writer, RTL_WIRE_COUNTER, process, counter, sizeof *counter, texts, counter->name_length);
}

void rtl_writer_uncounted(struct rtl_writer *writer, uint32_t process,
                          const struct rtl_wire_uncounted *uncounted)
{
    add(writer, RTL_WIRE_UNCOUNTED, process, uncounted, sizeof *uncounted, NULL, 0);
}

static bool add_sample(struct rtl_writer *writer, struct rtl_sampler *sampler,
                       const struct rtl_wire_sample *sample, const void *values)
{
    const struct part only = {.sampler = sampler};
    enum rtl_sampler_result result = rtl_sampler_add(&writer->samples, sampler, sample, values);
    bool all = result == RTL_SAMPLER_CROWDED;
    if ((result == RTL_SAMPLER_FULL || all) && may_store(writer) &&
        store(writer, all ? NULL : &only, all) == SQLITE_OK)
        result = rtl_sampler_add(&writer->samples, sampler, sample, values);
    return result == RTL_SAMPLER_ADDED;
}

void rtl_writer_sample(struct rtl_writer *writer, uint32_t process,
                       const struct rtl_wire_sample *sample, const void *values)
{
    struct rtl_sampler *sampler = rtl_samples_get(&writer->samples, process, sample->queue);
    if (!sampler || !add_sample(writer, sampler, sample, values))
        drop(writer, DROPPED_SAMPLES);
}

/* The graphs of a process, or of all (0), are told. */
static void end_graphs(struct rtl_writer *writer, uint32_t process)
{
    writer->graphs_forgotten += rtl_graph_feed_end(&writer->graphs, process);
}

void rtl_writer_process_end(struct rtl_writer *writer, uint32_t process, const char *state,
                            uint64_t time, uint64_t torn)
{
    end_graphs(writer, process);
    rtl_launches_end(&writer->launches, process);
    struct process_end *ends =
        realloc(writer->ends, (writer->end_count + 1) * sizeof *writer->ends);
    if (!ends) {
        drop_definition(writer, process);
        return;
    }
    writer->ends = ends;
    /* The states that a caller may name; the text may not outlive the call. */
    const char *known = strcmp(state, "closed") == 0        ? "closed"
                        : strcmp(state, "replaced") == 0    ? "replaced"
                        : strcmp(state, "refused") == 0     ? "refused"
                        : strcmp(state, "unrecorded") == 0  ? "unrecorded"
                        : strcmp(state, "not_started") == 0 ? "not_started"
                                                            : "died";
    ends[writer->end_count++] = (struct process_end){process, known, time, torn};
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

static void note(struct rtl_writer *writer, const char *sentence)
{
    const struct rtl_wire_note body = {.time_ns = now(CLOCK_BOOTTIME),
                                       .queue = RTL_NONE,
                                       .text_length = (uint16_t)strlen(sentence)};
    rtl_writer_note(writer, 1, &body, sentence);
}

static void note_dropped(struct rtl_writer *writer)
{
    static const char *const whats[] = {
        [DROPPED_KERNELS] = "kernels",          [DROPPED_COPIES] = "copies",
        [DROPPED_CALLS] = "host calls",         [DROPPED_RANGES] = "ranges",
        [DROPPED_GRAPHS] = "rows about graphs", [DROPPED_SAMPLES] = "samples of hardware counters",
        [DROPPED_DEFINITIONS] = "definitions"};
    char sentence[1152];
    for (int what = 0; what < DROPPED_KINDS; what++) {
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
    int result = store(writer, NULL, true);
    return result == SQLITE_OK || writer->locked ? result : store(writer, NULL, true);
}

static int store_finish(struct rtl_writer *writer, int exit_status)
{
    int result = sqlite3_exec(writer->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (result == SQLITE_OK)
        result = rtl_rows_meta_number(&writer->rows, "finished", 1);
    if (result == SQLITE_OK)
        result = rtl_rows_meta_number(&writer->rows, "exit_status", exit_status);
    if (result == SQLITE_OK)
        result = sqlite3_exec(writer->db, "COMMIT", NULL, NULL, NULL);
    return result;
}

/* Makes the trace one file. A try that failed half way leaves a journal, which the next one takes
 * back first. */
static void leave_log(struct rtl_writer *writer)
{
    bool logs = rtl_file_has_log(writer->path);
    if (logs && rtl_beside_make(writer->path, "-journal") != 0)
        return;
    int result = SQLITE_IOERR;
    for (int i = 0; i < 2 && (result & 0xff) == SQLITE_IOERR; i++)
        result = sqlite3_exec(writer->db, "PRAGMA synchronous=FULL; PRAGMA journal_mode=DELETE",
                              NULL, NULL, NULL);
    if (logs)
        rtl_beside_remove_empty(writer->path, "-journal");
}

int rtl_writer_close(struct rtl_writer *writer, int exit_status, char *error, size_t error_size)
{
    (void)sqlite3_busy_timeout(writer->db, BUSY_CLOSE_MS);
    end_graphs(writer, 0);
    note_dropped(writer);
    note_forgotten(writer);
    int result = store_last(writer);
    if (result == SQLITE_OK)
        result = store_finish(writer, exit_status);
    if (result != SQLITE_OK) {
        set_sqlite_error(writer, result);
        roll_back(writer);
        tell_failure(writer, result, true);
    }
    give_reserve(writer);
    /* A reader that looks at the trace now keeps the log in place: then the trace is complete with
     * it, and stays so. */
    rtl_rows_close(&writer->rows);
    rtl_graph_feed_close(&writer->graphs);
    if (result == SQLITE_OK)
        leave_log(writer);
    if (writer->error[0])
        (void)snprintf(error, error_size, "%s", writer->error);
    rtl_file_forget(&writer->kept);
    bool whole = result == SQLITE_OK && !has_dropped(writer);
    release(writer);
    return whole ? 0 : -1;
}

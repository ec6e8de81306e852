#include "store/merge_state.h"

#include "store/checksum.h"
#include "store/schema.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The bytes of an SQLite file up to its application id. */
#define HEAD_SIZE 72u

/* Tables of which each row has a checksum of its data. */
static const char *const summed[] = {"kernel_chunks", "api_chunks", "launch_chunks",
                                     "sample_chunks", "symbol_blocks"};

static const char tables[] =
    "CREATE TABLE unfinished_merge(version TEXT, options TEXT, inputs INTEGER);"
    "CREATE TABLE unfinished_inputs(input INTEGER PRIMARY KEY, path TEXT, identity TEXT,"
    " shift INTEGER, processes INTEGER, left_out TEXT);";

/* Files. */

enum rtl_merge_file rtl_merge_file_at(const char *path)
{
    unsigned char head[HEAD_SIZE];
    struct stat status;
    if (lstat(path, &status) != 0)
        return RTL_MERGE_FILE_NONE;
    if (!S_ISREG(status.st_mode) || status.st_uid != geteuid())
        return RTL_MERGE_FILE_OTHER;
    if (status.st_size == 0)
        return RTL_MERGE_FILE_NONE;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t size = fd >= 0 ? pread(fd, head, sizeof head, 0) : -1;
    if (fd >= 0)
        (void)close(fd);
    if (size != (ssize_t)sizeof head || memcmp(head, "SQLite format 3", 16) != 0)
        return RTL_MERGE_FILE_OTHER;
    uint32_t id = (uint32_t)head[68] << 24 | (uint32_t)head[69] << 16 | (uint32_t)head[70] << 8 |
                  (uint32_t)head[71];
    if (id == RTL_APPLICATION_ID_MERGE)
        return RTL_MERGE_FILE_UNFINISHED;
    return id == RTL_APPLICATION_ID ? RTL_MERGE_FILE_TRACE : RTL_MERGE_FILE_OTHER;
}

int rtl_merge_lock(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    int error = errno;
    (void)close(fd);
    errno = error;
    return -1;
}

static int set_application_id(sqlite3 *db, int id, const char *more)
{
    char sql[1024];
    (void)snprintf(sql, sizeof sql, "PRAGMA main.application_id = %d; %s", id, more);
    return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

int rtl_merge_state_make(const void *context, sqlite3 *db)
{
    (void)context;
    int result = sqlite3_exec(db, rtl_schema_merged, NULL, NULL, NULL);
    return result == SQLITE_OK ? set_application_id(db, RTL_APPLICATION_ID_MERGE, tables) : result;
}

int rtl_merge_state_end(sqlite3 *db)
{
    return set_application_id(db, RTL_APPLICATION_ID,
                              "DROP TABLE IF EXISTS main.unfinished_merge;"
                              "DROP TABLE IF EXISTS main.unfinished_inputs");
}

/* Identity. */

/* What a query gives, into the identity: its numbers' and texts' checksum. */
static int add_rows(sqlite3 *db, const char *sql, uint32_t *crc)
{
    sqlite3_stmt *rows = NULL;
    int result = sqlite3_prepare_v2(db, sql, -1, &rows, NULL);
    while (result == SQLITE_OK && (result = sqlite3_step(rows)) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(rows); i++) {
            const unsigned char *text = sqlite3_column_text(rows, i);
            /* With the 0 at its end. */
            *crc = text ? rtl_crc32c(*crc, text, (size_t)sqlite3_column_bytes(rows, i) + 1)
                        : rtl_crc32c(*crc, "-", 1);
        }
        result = SQLITE_OK;
    }
    (void)sqlite3_finalize(rows);
    return result == SQLITE_DONE ? SQLITE_OK : result;
}

static bool has_table(sqlite3 *db, const char *name)
{
    return sqlite3_table_column_metadata(db, "source", name, NULL, NULL, NULL, NULL, NULL, NULL) ==
           SQLITE_OK;
}

static int add_chunks(sqlite3 *db, uint32_t *crc)
{
    int result = SQLITE_OK;
    for (size_t i = 0; i < sizeof summed / sizeof *summed && result == SQLITE_OK; i++) {
        char sql[128];
        if (!has_table(db, summed[i]))
            continue;
        (void)snprintf(sql, sizeof sql, "SELECT count(*), sum(checksum) FROM source.%s", summed[i]);
        result = add_rows(db, sql, crc);
    }
    return result;
}

int rtl_merge_identify(sqlite3 *db, struct rtl_merge_input *input)
{
    uint32_t definitions = 0;
    uint32_t chunks = 0;
    int result = add_rows(db, "SELECT host, pid, start FROM source.processes ORDER BY process",
                          &definitions);
    if (result == SQLITE_OK && has_table(db, "digests"))
        result = add_rows(db, "SELECT * FROM source.digests ORDER BY 1", &definitions);
    if (result == SQLITE_OK)
        result = add_rows(db, "PRAGMA source.page_count", &chunks);
    if (result == SQLITE_OK)
        result = add_chunks(db, &chunks);
    (void)snprintf(input->identity, sizeof input->identity, "%08" PRIx32 "%08" PRIx32, definitions,
                   chunks);
    return result;
}

void rtl_merge_fingerprint(const char *options, const struct rtl_merge_input *inputs, size_t count,
                           char *text)
{
    uint32_t crc = rtl_crc32c(0, options, strlen(options) + 1);
    for (size_t i = 0; i < count; i++)
        crc = rtl_crc32c(crc, inputs[i].identity, strlen(inputs[i].identity) + 1);
    (void)snprintf(text, RTL_MERGE_FINGERPRINT, "%zu:%08" PRIx32, count, crc);
}

/* The state. */

/* Takes what sqlite3_mprintf has made. */
static int run(sqlite3 *db, char *sql)
{
    int result = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return result;
}

int rtl_merge_state_begin(sqlite3 *db, const char *options, const struct rtl_merge_input *inputs,
                          size_t count)
{
    int result = run(db, sqlite3_mprintf("BEGIN; INSERT INTO main.unfinished_merge VALUES(%Q, %Q,"
                                         " %lld)",
                                         RTL_VERSION, options, (long long)count));
    for (size_t i = 0; i < count && result == SQLITE_OK; i++)
        result = run(db, sqlite3_mprintf("INSERT INTO main.unfinished_inputs VALUES(%lld, %Q, %Q,"
                                         " %lld, NULL, NULL)",
                                         (long long)i, inputs[i].path, inputs[i].identity,
                                         (long long)inputs[i].shift));
    return result == SQLITE_OK ? run(db, sqlite3_mprintf("COMMIT")) : result;
}

int rtl_merge_state_take(sqlite3 *db, size_t place, const struct rtl_merge_input *input)
{
    return run(db, sqlite3_mprintf("UPDATE main.unfinished_inputs SET processes = %u, left_out = %Q"
                                   " WHERE input = %lld",
                                   input->processes, input->left_out, (long long)place));
}

struct answer {
    char *why;
    size_t size;
};

static bool differ(const struct answer *answer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool differ(const struct answer *answer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang-tidy 14 misses va_start here */
    (void)vsnprintf(answer->why, answer->size, format, arguments);
    va_end(arguments);
    return false;
}

static const char *text_of(sqlite3_stmt *row, int column)
{
    const unsigned char *text = sqlite3_column_text(row, column);
    return text ? (const char *)text : "";
}

static bool same_whole(sqlite3_stmt *row, const char *options, size_t count,
                       const struct answer *answer)
{
    if (sqlite3_step(row) != SQLITE_ROW)
        return differ(answer, "it does not say what is merged there");
    if (strcmp(text_of(row, 0), RTL_VERSION) != 0)
        return differ(answer, "it was begun by rtl %s, and this one is %s", text_of(row, 0),
                      RTL_VERSION);
    if (strcmp(text_of(row, 1), options) != 0)
        return differ(answer, "it was begun with %s, not %s", text_of(row, 1), options);
    if (sqlite3_column_int64(row, 2) != (sqlite3_int64)count)
        return differ(answer, "it is of %lld traces, not of %zu",
                      (long long)sqlite3_column_int64(row, 2), count);
    return true;
}

/* What an input has become, if it is the one that was to be merged. */
static bool same_input(sqlite3_stmt *row, struct rtl_merge_input *input, size_t *taken,
                       const struct answer *answer)
{
    if (strcmp(text_of(row, 1), input->identity) != 0)
        return differ(answer, "%s is not, or not any more, the trace that was %s there",
                      input->path, text_of(row, 0));
    if (sqlite3_column_int64(row, 2) != input->shift)
        return differ(answer, "the times of %s would be moved by another amount now", input->path);
    if (sqlite3_column_type(row, 3) == SQLITE_NULL) {
        input->processes = 0;
        return true;
    }
    input->processes = (uint32_t)sqlite3_column_int64(row, 3);
    (void)snprintf(input->left_out, sizeof input->left_out, "%s", text_of(row, 4));
    ++*taken;
    return true;
}

bool rtl_merge_state_fits(sqlite3 *db, const char *options, struct rtl_merge_input *inputs,
                          size_t count, size_t *taken, char *why, size_t size)
{
    const struct answer answer = {why, size};
    sqlite3_stmt *row = NULL;
    uint32_t processes = 0;
    *taken = 0;
    bool fits = sqlite3_prepare_v2(db, "SELECT version, options, inputs FROM main.unfinished_merge",
                                   -1, &row, NULL) == SQLITE_OK
                    ? same_whole(row, options, count, &answer)
                    : differ(&answer, "%s", sqlite3_errmsg(db));
    (void)sqlite3_finalize(row);
    if (!fits)
        return false;
    if (sqlite3_prepare_v2(db,
                           "SELECT path, identity, shift, processes, left_out FROM"
                           " main.unfinished_inputs ORDER BY input",
                           -1, &row, NULL) != SQLITE_OK)
        return differ(&answer, "%s", sqlite3_errmsg(db));
    for (size_t i = 0; i < count && fits; i++) {
        fits = sqlite3_step(row) == SQLITE_ROW
                   ? same_input(row, &inputs[i], taken, &answer)
                   : differ(&answer, "it does not say what %s is", inputs[i].path);
        inputs[i].process = processes + 1;
        processes += inputs[i].processes;
    }
    (void)sqlite3_finalize(row);
    return fits;
}

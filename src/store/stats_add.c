/* Statistics for a trace that is there, or has just been made of others. */
#include "store/stats_make.h"

#include "store/file.h"
#include "store/schema.h"
#include "store/sqlite_path.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct adding {
    const char *path;
    char *error;
    size_t error_size;
    bool optional; /* a trace whose kernels cannot be added up goes without */
    rtl_status_t status;
};

static rtl_status_t fail(struct adding *adding, rtl_status_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The first failure counts. */
static rtl_status_t fail(struct adding *adding, rtl_status_t status, const char *format, ...)
{
    va_list arguments;
    if (adding->status != RTL_OK)
        return adding->status;
    adding->status = status;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang-tidy 14 misses va_start here */
    (void)vsnprintf(adding->error, adding->error_size, format, arguments);
    va_end(arguments);
    return status;
}

static rtl_status_t fail_sqlite(struct adding *adding, sqlite3 *db, int result)
{
    char text[RTL_FILE_REASON];
    return fail(adding, (result & 0xff) == SQLITE_NOMEM ? RTL_E_MEMORY : RTL_E_IO,
                "cannot write statistics into the trace %s: %s", adding->path,
                rtl_file_reason(db, result, adding->path, text, sizeof text));
}

/* Closing. */

static uint64_t count_groups(const struct rtl_stats_made *made, uint64_t *bytes)
{
    uint64_t groups = 0;
    *bytes = 0;
    for (size_t i = 0; i < made->blocks.count; i++)
        groups += rtl_stats_block(made, i, bytes);
    return groups;
}

static rtl_status_t make(struct adding *adding, sqlite3 *db, uint64_t least,
                         struct rtl_stats_made *made, struct rtl_stats_done *done)
{
    rtl_status_t status = RTL_OK;
    rtl_trace_t *trace =
        rtl_trace_over(db, adding->path, &status, adding->error, adding->error_size);
    if (!trace)
        return adding->status = status;
    done->kernels = trace->info.kernels;
    if (done->kernels >= least && (status = rtl_stats_make(trace, made)) != RTL_OK) {
        rtl_stats_free(made);
        if (!adding->optional)
            (void)fail(adding, status, "%s", rtlTraceError(trace));
    }
    rtlTraceClose(trace);
    done->made = made->made;
    done->graphs = made->graphs;
    done->groups = count_groups(made, &done->bytes);
    done->bytes += rtl_stats_chunk_bytes(made);
    return adding->status;
}

static rtl_status_t close_trace(struct adding *adding, sqlite3 *db, uint64_t least,
                                struct rtl_stats_done *done)
{
    struct rtl_stats_made made = {0};
    *done = (struct rtl_stats_done){0};
    if (make(adding, db, least, &made, done) == RTL_OK) {
        int result = rtl_stats_store(db, &made);
        if (result == SQLITE_OK)
            result = rtl_digest_store(db);
        if (result == SQLITE_OK)
            result = rtl_stats_seal(db, &made);
        if (result != SQLITE_OK)
            (void)fail_sqlite(adding, db, result);
    }
    rtl_stats_free(&made);
    return adding->status;
}

rtl_status_t rtl_stats_close(sqlite3 *db, const char *path, uint64_t least,
                             struct rtl_stats_done *done, char *error, size_t error_size)
{
    struct adding adding = {path, error, error_size, true, RTL_OK};
    return close_trace(&adding, db, least, done);
}

/* Adding. */

static void tell_damage(void *context, const char *what)
{
    struct adding *adding = context;
    (void)fail(adding, RTL_E_DAMAGED, "the trace %s is damaged: %s", adding->path, what);
}

/* New digests would be right for rows that are not. */
static rtl_status_t look_through(struct adding *adding)
{
    rtl_trace_t *trace = NULL;
    bool known;
    rtl_status_t status = rtlTraceOpen(adding->path, &trace, adding->error, adding->error_size);
    if (status != RTL_OK)
        return adding->status = status;
    if (rtl_file_recorder(adding->path))
        (void)fail(adding, RTL_E_IO, "the trace %s is being recorded", adding->path);
    else if (!trace->info.finished && !rtl_file_is_merge(adding->path))
        (void)fail(adding, RTL_E_IO,
                   "the trace %s was not closed in order; 'rtl merge NEW %s' makes one that is",
                   adding->path, adding->path);
    else if ((status = rtl_digest_check(trace, &known, tell_damage, adding)) != RTL_OK)
        (void)fail(adding, status, "%s", rtlTraceError(trace));
    rtlTraceClose(trace);
    return adding->status;
}

static int begin(sqlite3 *db)
{
    int result = sqlite3_exec(db,
                              "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON;"
                              "BEGIN IMMEDIATE",
                              NULL, NULL, NULL);
    return result == SQLITE_OK ? sqlite3_exec(db, rtl_schema_digests, NULL, NULL, NULL) : result;
}

rtl_status_t rtl_stats_add(const char *path, struct rtl_stats_done *done, char *error,
                           size_t error_size)
{
    struct adding adding = {path, error, error_size, false, RTL_OK};
    sqlite3 *db = NULL;
    if (look_through(&adding) != RTL_OK)
        return adding.status;
    int result = rtl_sqlite_open(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX);
    if (result == SQLITE_OK)
        result = begin(db);
    if (result == SQLITE_OK && close_trace(&adding, db, 0, done) == RTL_OK)
        result = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    if (result != SQLITE_OK)
        (void)fail_sqlite(&adding, db, result);
    if (adding.status != RTL_OK)
        (void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    (void)sqlite3_close(db);
    return adding.status;
}

/* Files that are no traces, newer ones, and damaged ones: a sentence, never a crash. */
#include "fixture.h"
#include "store/api_codec.h"
#include "store/checksum.h"
#include "store/genuine.h"
#include "store/reader.h"
#include "store/sql.h"
#include "store/varint.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool write_bytes(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "w");
    return file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0;
}

/* Opening fails with `want` and a sentence that names the file and has `why` in it. */
static const char *fails(const char *path, rtl_status_t want, const char *why)
{
    char error[512] = "";
    rtl_trace_t *trace = (rtl_trace_t *)&error;
    CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == want);
    CHECK(trace == NULL);
    if (!strstr(error, path) || !strstr(error, why))
        return check_failed(path, 0, error);
    return NULL;
}

const char *Damage_NotATrace(void)
{
    char path[FIXTURE_PATH];
    CHECK(fixture_path(path));
    CHECK_DONE(fails(path, RTL_E_IO, "No such file"));
    CHECK(write_bytes(path, "", 0));
    CHECK_DONE(fails(path, RTL_E_NOT_TRACE, "not an RTL trace"));
    CHECK(write_bytes(path, "just a text that is long enough to look like something", 50));
    CHECK_DONE(fails(path, RTL_E_NOT_TRACE, "not an RTL trace"));
    CHECK(unlink(path) == 0);
    char *slash = strrchr(path, '/');
    *slash = '\0';
    CHECK_DONE(fails(path, RTL_E_NOT_TRACE, "not a regular file"));
    *slash = '/';
    sqlite3 *db = NULL;
    CHECK(sqlite3_open(path, &db) == SQLITE_OK);
    CHECK(sqlite3_exec(db, "CREATE TABLE other(x)", NULL, NULL, NULL) == SQLITE_OK);
    CHECK(sqlite3_close(db) == SQLITE_OK);
    CHECK_DONE(fails(path, RTL_E_NOT_TRACE, "not an RTL trace"));
    CHECK(rtlTraceOpen(path, NULL, NULL, 0) == RTL_E_ARGUMENT);
    rtl_trace_t *trace = NULL;
    CHECK(rtlTraceOpen(NULL, &trace, NULL, 0) == RTL_E_ARGUMENT);
    CHECK(rtlTraceOpen(path, &trace, NULL, 0) == RTL_E_NOT_TRACE);
    rtlTraceClose(NULL);
    rtlKernelIterFree(NULL);
    fixture_remove(path);
    return NULL;
}

const char *Damage_NewerVersions(void)
{
    char path[FIXTURE_PATH];
    CHECK(fixture_path(path));
    CHECK(fixture_trace(path, 100));
    CHECK(fixture_sql(path, "CREATE TABLE future(x); ALTER TABLE kernel_chunks ADD COLUMN y;"
                            "ALTER TABLE queues ADD COLUMN z; INSERT INTO meta VALUES('new', 1);"
                            "PRAGMA user_version=1099"));
    CHECK(fixture_count(path) == 200);
    CHECK(fixture_sql(path, "PRAGMA user_version=2000"));
    CHECK_DONE(fails(path, RTL_E_VERSION, "version 2.0"));
    CHECK(fixture_sql(path, "PRAGMA user_version=-5"));
    CHECK_DONE(fails(path, RTL_E_DAMAGED, "damaged"));
    fixture_remove(path);
    return NULL;
}

/* Opening would never end if it read the view. */
static const char *refuses_view(const char *table)
{
    char path[FIXTURE_PATH];
    char text[512];
    CHECK(fixture_path(path));
    CHECK(fixture_trace(path, 10));
    CHECK(rtl_genuine_is_known(table));
    (void)snprintf(text, sizeof text,
                   "ALTER TABLE %s RENAME TO was; CREATE VIEW %s AS WITH RECURSIVE r(x) AS"
                   " (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT was.* FROM was, r",
                   table, table);
    CHECK(fixture_sql(path, text));
    (void)snprintf(text, sizeof text, "its %s is no table", table);
    CHECK_DONE(fails(path, RTL_E_DAMAGED, text));
    fixture_remove(path);
    return NULL;
}

const char *Damage_ViewsForTables(void)
{
    char path[FIXTURE_PATH];
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    int tables = 0;
    CHECK(fixture_path(path));
    CHECK(fixture_trace(path, 10));
    CHECK(sqlite3_open(path, &db) == SQLITE_OK);
    CHECK(sqlite3_prepare_v2(db, "SELECT name FROM sqlite_master WHERE type = 'table'", -1, &row,
                             NULL) == SQLITE_OK);
    for (; sqlite3_step(row) == SQLITE_ROW; tables++)
        CHECK_DONE(refuses_view((const char *)sqlite3_column_text(row, 0)));
    CHECK(sqlite3_finalize(row) == SQLITE_OK && sqlite3_close(db) == SQLITE_OK);
    CHECK(tables > 30);
    CHECK(fixture_sql(path, "CREATE VIEW mine AS SELECT * FROM meta"));
    CHECK(fixture_count(path) == 20);
    fixture_remove(path);
    return NULL;
}

/* Iterating a trace after `sql` has changed it fails as damaged, in either order. */
static const char *iteration_fails(const char *sql)
{
    char path[FIXTURE_PATH];
    char error[512];
    rtl_trace_t *trace = NULL;
    CHECK(fixture_path(path));
    CHECK(fixture_trace(path, 40000));
    CHECK(fixture_count(path) == 80000);
    CHECK(fixture_sql(path, sql));
    CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
    for (int by_queue = 0; by_queue < 2; by_queue++) {
        rtl_kernel_filter_t filter = RTL_KERNEL_FILTER_ALL;
        size_t count = 0;
        rtl_status_t status = RTL_OK;
        filter.by_queue = by_queue;
        CHECK(fixture_read(trace, &filter, &count, &status) == NULL);
        CHECK(status == RTL_E_DAMAGED && strstr(rtlTraceError(trace), "chunk 2") != NULL);
    }
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}

const char *Damage_ChunkIsTold(void)
{
    CHECK_DONE(iteration_fails("UPDATE kernel_chunks SET checksum = checksum - 1 WHERE chunk = 2"));
    CHECK_DONE(iteration_fails("UPDATE kernel_chunks SET data = x'00' WHERE chunk = 2"));
    CHECK_DONE(iteration_fails("UPDATE kernel_chunks SET data = NULL WHERE chunk = 2"));
    CHECK_DONE(iteration_fails("UPDATE kernel_chunks SET data = 'text' WHERE chunk = 2"));
    CHECK_DONE(iteration_fails("UPDATE kernel_chunks SET kernels = 4000000000 WHERE chunk = 2"));
    CHECK_DONE(iteration_fails("UPDATE kernel_chunks SET kernels = 0 WHERE chunk = 2"));
    CHECK_DONE(iteration_fails("UPDATE kernel_chunks SET start_min = 0 WHERE chunk = 2"));
    CHECK_DONE(iteration_fails("UPDATE kernel_chunks SET queue = 0 WHERE chunk = 2"));
    return NULL;
}

/* Reads until something else than RTL_OK comes, `most` kernels at most; what came, and how many. */
static rtl_status_t read_on(rtl_kernel_iter_t *iter, uint64_t most, uint64_t *count)
{
    rtl_kernel_t kernel;
    rtl_status_t status = RTL_OK;
    for (*count = 0; *count < most && status == RTL_OK; *count += status == RTL_OK)
        status = rtlKernelNext(iter, &kernel);
    return status;
}

/* Chunks are unpacked ahead of who reads; that one is damaged is told when it is its turn. */
const char *Damage_IsToldInItsPlace(void)
{
    enum { BEFORE = 5 * RTL_CHUNK_KERNELS };
    char path[FIXTURE_PATH];
    char error[512];
    char sql[128];
    rtl_trace_t *trace = NULL;
    rtl_kernel_iter_t *iter = NULL;
    rtl_kernel_filter_t filter = RTL_KERNEL_FILTER_ALL;
    uint64_t count = 0;
    filter.queue = 0;
    filter.by_queue = 1;
    (void)snprintf(sql, sizeof sql,
                   "UPDATE kernel_chunks SET checksum = checksum - 1 WHERE queue = 0 AND packet_min"
                   " = %d",
                   BEFORE);
    CHECK(fixture_path(path));
    CHECK(fixture_trace(path, BEFORE + 2 * (uint64_t)RTL_CHUNK_KERNELS));
    CHECK(fixture_sql(path, sql));
    CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
    CHECK(rtlTraceKernels(trace, &filter, &iter) == RTL_OK);
    CHECK(read_on(iter, UINT64_MAX, &count) == RTL_E_DAMAGED && count == BEFORE);
    CHECK(read_on(iter, UINT64_MAX, &count) == RTL_E_DAMAGED && count == 0);
    rtlKernelIterFree(iter);
    /* Who stops early leaves chunks that nobody took. */
    CHECK(rtlTraceKernels(trace, &filter, &iter) == RTL_OK);
    CHECK(read_on(iter, BEFORE - 1, &count) == RTL_OK && count == BEFORE - 1);
    rtlKernelIterFree(iter);
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}

static const char *opening_fails(const char *sql)
{
    char path[FIXTURE_PATH];
    CHECK(fixture_path(path));
    CHECK(fixture_trace(path, 10));
    CHECK(fixture_sql(path, sql));
    CHECK_DONE(fails(path, RTL_E_DAMAGED, "damaged"));
    fixture_remove(path);
    return NULL;
}

const char *Damage_RowsAreTold(void)
{
    CHECK_DONE(opening_fails("DROP TABLE queues"));
    CHECK_DONE(opening_fails("UPDATE shapes SET grid_x = -1"));
    CHECK_DONE(opening_fails("UPDATE kernel_chunks SET kernels = 5000000000"));
    CHECK_DONE(opening_fails("UPDATE processes SET pid = 1 << 40"));
    return NULL;
}

/* Adds a plan of one run that claims `count` kernels, under a checksum that is right. */
static bool add_plan(const char *path, uint32_t number, uint32_t count)
{
    const uint64_t fields[] = {1, number, 1, 1, 1, count};
    unsigned char data[5 * RTL_VARINT_MAX];
    unsigned char *end = rtl_varint_put(data, (uint64_t)count << 1 | 1);
    char hex[2 * sizeof data + 1] = "";
    char sql[512];
    for (int i = 0; i < 4; i++)
        end = rtl_varint_put(end, 2);
    for (unsigned char *c = data; c < end; c++)
        (void)snprintf(hex + 2 * (c - data), 3, "%02x", *c);
    (void)snprintf(sql, sizeof sql, "INSERT INTO graph_plans VALUES(1, %u, 1, 1, 1, %u, %u, x'%s')",
                   number, count, rtl_checksum_row(fields, 6, data, (size_t)(end - data)), hex);
    return fixture_sql(path, sql);
}

/* A few bytes may ask for any amount of memory. */
const char *Damage_PlansOfTooMany(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    rtl_trace_t *trace = NULL;
    const rtl_graph_t *graphs = NULL;
    size_t count = 0;
    CHECK(fixture_path(path));
    CHECK(fixture_trace(path, 10));
    CHECK(add_plan(path, 1, 1000));
    CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
    CHECK(rtlTraceGraphs(trace, &graphs, &count) == RTL_OK);
    rtlTraceClose(trace);
    CHECK(add_plan(path, 2, 1 << 24));
    CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
    CHECK(rtlTraceGraphs(trace, &graphs, &count) == RTL_E_DAMAGED);
    CHECK(strstr(rtlTraceError(trace), "graph_plans") != NULL);
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}

static int give_up(void *context)
{
    (void)context;
    return 1;
}

/* Reading launches of a process that `value` stands for fails as damaged, in some thousand steps of
 * SQLite. */
static const char *process_fails(const char *value)
{
    char path[FIXTURE_PATH];
    char text[512];
    sqlite3 *db = NULL;
    rtl_status_t status = RTL_OK;
    const rtl_graph_t *graphs = NULL;
    size_t count = 0;
    CHECK(fixture_path(path));
    CHECK(fixture_trace(path, 10));
    (void)snprintf(text, sizeof text,
                   "INSERT INTO graph_launch_rows(process, launch) VALUES(%s, 1)", value);
    CHECK(fixture_sql(path, text));
    CHECK(sqlite3_open(path, &db) == SQLITE_OK);
    rtl_trace_t *trace = rtl_trace_over(db, path, &status, text, sizeof text);
    CHECK(trace != NULL);
    sqlite3_progress_handler(db, 100000, give_up, NULL);
    status = rtlTraceGraphs(trace, &graphs, &count);
    if (status != RTL_E_DAMAGED || !strstr(rtlTraceError(trace), "graph_launch_rows"))
        return check_failed(value, (int)status, rtlTraceError(trace));
    rtlTraceClose(trace);
    CHECK(sqlite3_close(db) == SQLITE_OK);
    fixture_remove(path);
    return NULL;
}

const char *Damage_ProcessesThatAreNone(void)
{
    CHECK_DONE(process_fails("'text'"));
    CHECK_DONE(process_fails("x'0102'"));
    CHECK_DONE(process_fails("1.5"));
    CHECK_DONE(process_fails("0.5"));
    CHECK_DONE(process_fails("(1 << 32) + 1"));
    CHECK_DONE(process_fails("9e99"));
    return NULL;
}

/* A host call with a million words, which no writer makes and a chunk can hold: its arguments as
 * text take no more time than they have to. */
const char *Damage_CallOfAMillionWords(void)
{
    static const char hex[] = "0123456789abcdef";
    const struct rtl_call call = {.correlation = 1, .words = RTL_CHUNK_WORDS_MAX};
    static const uint64_t words[RTL_CHUNK_WORDS_MAX];
    struct rtl_api_codec *codec = rtl_api_codec_new();
    struct rtl_api_chunk chunk = {.process = 1};
    const unsigned char *data = NULL;
    size_t size = 0;
    char sql[1024];
    char text[64];
    char path[FIXTURE_PATH];
    rtl_trace_t *trace = NULL;
    rtl_api_iter_t *iter = NULL;
    rtl_api_t api;
    CHECK(codec && fixture_path(path) && fixture_trace(path, 10));
    CHECK(rtl_api_encode(codec, &call, 1, words, &chunk, &data, &size) == 0 && size < 200);
    int length =
        snprintf(sql, sizeof sql, "INSERT INTO api_chunks VALUES(1, 1, 1, %u, 0, 0, 1, 1, %u, x'",
                 RTL_CHUNK_WORDS_MAX, chunk.checksum);
    for (size_t i = 0; i < size; i++) {
        sql[length++] = hex[data[i] >> 4];
        sql[length++] = hex[data[i] & 15];
    }
    (void)snprintf(sql + length, sizeof sql - (size_t)length, "')");
    CHECK(fixture_sql(path, sql));
    CHECK(rtlTraceOpen(path, &trace, text, sizeof text) == RTL_OK);
    CHECK(rtlTraceApi(trace, NULL, &iter) == RTL_OK && rtlApiNext(iter, &api) == RTL_OK);
    CHECK(api.word_count == RTL_CHUNK_WORDS_MAX);
    CHECK(rtlApiArguments(&api, text, sizeof text) == RTL_CHUNK_WORDS_MAX * strlen("NULL, ") - 2);
    CHECK(strncmp(text, "NULL, NULL, ", 12) == 0 && strlen(text) == sizeof text - 1);
    rtlApiIterFree(iter);
    rtlTraceClose(trace);
    rtl_api_codec_free(codec);
    fixture_remove(path);
    return NULL;
}

/* Reads all that can be read; what it says does not matter. */
static void read_everything(const char *path)
{
    char error[512];
    rtl_trace_t *trace = NULL;
    if (rtlTraceOpen(path, &trace, error, sizeof error) != RTL_OK)
        return;
    const rtl_kernel_filter_t all = RTL_KERNEL_FILTER_ALL;
    rtl_kernel_iter_t *iter = NULL;
    rtl_kernel_t kernel;
    if (rtlTraceKernels(trace, &all, &iter) == RTL_OK)
        while (rtlKernelNext(iter, &kernel) == RTL_OK)
            continue;
    rtlKernelIterFree(iter);
    rtlTraceClose(trace);
}

/* A whole file; its size, 0 if it cannot be read or does not fit. */
static size_t read_bytes(const char *path, unsigned char *bytes, size_t room)
{
    FILE *file = fopen(path, "r");
    size_t size = file ? fread(bytes, 1, room, file) : 0;
    if (file)
        (void)fclose(file);
    return size < room ? size : 0;
}

const char *Damage_AnyByteOfTheFile(void)
{
    char path[FIXTURE_PATH];
    static unsigned char bytes[1 << 20];
    static unsigned char damaged[sizeof bytes];
    uint64_t seed = 12;
    CHECK(fixture_path(path));
    CHECK(fixture_trace(path, 200));
    size_t size = read_bytes(path, bytes, sizeof bytes);
    CHECK(size > 4096);
    for (int round = 0; round < 400; round++) {
        size_t cut = round % 10 ? size : fixture_random(&seed) % size;
        memcpy(damaged, bytes, size);
        for (int i = 0; i <= round % 4; i++)
            damaged[fixture_random(&seed) % size] = (unsigned char)fixture_random(&seed);
        CHECK(write_bytes(path, damaged, cut));
        read_everything(path);
    }
    CHECK(write_bytes(path, bytes, size) && fixture_count(path) == 400);
    fixture_remove(path);
    return NULL;
}

/* Whatever is cut off is told; what is put behind is told and in nobody's way. */
const char *Damage_CutOrGoneOn(void)
{
    static unsigned char bytes[1 << 20];
    static const size_t some[] = {1, 100, 4095, 4096, 4097, 20000};
    char path[FIXTURE_PATH];
    char error[512];
    CHECK(fixture_path(path) && fixture_trace(path, 200));
    size_t size = read_bytes(path, bytes, sizeof bytes / 2);
    CHECK(size > 40000);
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        sqlite3 *db = NULL;
        CHECK(write_bytes(path, bytes, size - some[i]));
        (void)snprintf(error, sizeof error, "the last %zu byte", some[i]);
        CHECK_DONE(fails(path, RTL_E_DAMAGED, error));
        CHECK(rtl_sql_open(path, &db, error, sizeof error) == RTL_E_DAMAGED && !db);
    }
    for (size_t i = 0; i <= sizeof some / sizeof *some; i++) {
        size_t more = i > 0 ? some[i - 1] : 0;
        rtl_trace_t *trace = NULL;
        rtl_trace_info_t info;
        CHECK(write_bytes(path, bytes, size + more));
        CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
        CHECK(rtlTraceInfo(trace, &info) == RTL_OK && info.bytes_behind == more);
        rtlTraceClose(trace);
        CHECK(fixture_count(path) == 400);
    }
    fixture_remove(path);
    return NULL;
}

static bool copy(const char *from, const char *to, const char *suffix, size_t cut)
{
    static unsigned char bytes[4 << 20];
    char name[FIXTURE_PATH + 8];
    (void)snprintf(name, sizeof name, "%s%s", from, suffix);
    size_t size = read_bytes(name, bytes, sizeof bytes);
    (void)snprintf(name, sizeof name, "%s%s", to, suffix);
    return size > cut && write_bytes(name, bytes, size - cut);
}

/* The file of a trace that is being written, or whose recorder was killed, is shorter than it says
 * as long as the log has the rest. */
const char *Damage_CutBesideALog(void)
{
    char path[FIXTURE_PATH];
    char other[FIXTURE_PATH];
    sqlite3 *db = NULL;
    CHECK(fixture_path(path) && fixture_path(other) && fixture_trace(path, 200));
    CHECK(sqlite3_open(path, &db) == SQLITE_OK);
    CHECK(sqlite3_exec(db,
                       "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;"
                       "CREATE TABLE more(x); INSERT INTO more VALUES(zeroblob(300000));"
                       "INSERT INTO more VALUES(zeroblob(300000));",
                       NULL, NULL, NULL) == SQLITE_OK);
    CHECK(fixture_count(path) == 400);
    CHECK(copy(path, other, "", 0) && copy(path, other, "-wal", 0) && fixture_count(other) == 400);
    CHECK(copy(path, other, "", 1));
    CHECK_DONE(fails(other, RTL_E_DAMAGED, "bytes of it are missing"));
    CHECK(copy(path, other, "", 4097));
    CHECK_DONE(fails(other, RTL_E_DAMAGED, "bytes of it are missing"));
    /* Of the second row a part is in the log alone, of the first all is in the file. */
    CHECK(sqlite3_exec(db, "PRAGMA wal_checkpoint; INSERT INTO more VALUES(zeroblob(300000))", NULL,
                       NULL, NULL) == SQLITE_OK);
    CHECK(copy(path, other, "", 0) && copy(path, other, "-wal", 0) && fixture_count(other) == 400);
    CHECK(copy(path, other, "", 4097));
    CHECK_DONE(fails(other, RTL_E_DAMAGED, "missing"));
    CHECK(sqlite3_close(db) == SQLITE_OK);
    CHECK(fixture_count(path) == 400);
    fixture_remove(other);
    fixture_remove(path);
    return NULL;
}

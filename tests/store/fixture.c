#include "fixture.h"
#include "store/checksum.h"
#include "store/sql.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint64_t fixture_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* A test that is killed removes nothing: the next one does. */
static void sweep(const char *folder)
{
    DIR *entries = opendir(folder);
    struct dirent *entry = NULL;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours */
    while (entries && (entry = readdir(entries))) {
        char path[FIXTURE_PATH];
        int pid = 0;
        if (sscanf(entry->d_name, "rtl-store-%d-", &pid) != 1 || pid <= 0 || kill(pid, 0) == 0 ||
            errno != ESRCH)
            continue;
        if ((size_t)snprintf(path, FIXTURE_PATH, "%s/%s/", folder, entry->d_name) < FIXTURE_PATH)
            fixture_remove(path);
    }
    if (entries)
        (void)closedir(entries);
}

bool fixture_path(char *path)
{
    static bool swept;
    const char *folder = getenv("TMPDIR"); /* NOLINT(concurrency-mt-unsafe): nobody sets it */
    folder = folder ? folder : "/tmp";
    if (!swept)
        sweep(folder);
    swept = true;
    (void)snprintf(path, FIXTURE_PATH, "%s/rtl-store-%d-XXXXXX", folder, (int)getpid());
    if (!mkdtemp(path))
        return false;
    (void)strncat(path, "/trace.db", FIXTURE_PATH - strlen(path) - 1);
    return true;
}

void fixture_remove(const char *path)
{
    char folder[FIXTURE_PATH];
    (void)snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    *slash = '\0';
    DIR *entries = opendir(folder);
    struct dirent *entry = NULL;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours */
    while (entries && (entry = readdir(entries)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            (void)unlinkat(dirfd(entries), entry->d_name, 0);
    if (entries)
        (void)closedir(entries);
    (void)rmdir(folder);
}

struct rtl_writer *fixture_open(const char *path)
{
    char error[512] = "";
    struct rtl_writer *writer = rtl_writer_open(path, NULL, error, sizeof error);
    if (!writer)
        (void)fprintf(stderr, "%s\n", error);
    return writer;
}

uint32_t fixture_define(struct rtl_writer *writer, uint32_t queues, uint32_t shapes)
{
    const struct rtl_wire_process process = {
        .time_ns = 1, .pid = 100, .mode = RTL_MODE_FULL, .interception = RTL_INTERPOSED};
    const struct rtl_wire_agent agent = {
        .clock_hz = 100000000, .device_type = 1, .gpu = 0, .name_length = 6};
    const struct rtl_wire_clock clocks[] = {{.ticks = 0, .system_ns = 0},
                                            {.ticks = 1000000000, .system_ns = 10000000000}};
    uint32_t id = rtl_writer_process(writer, &process, "");
    rtl_writer_agent(writer, id, &agent, "gfx906");
    rtl_writer_clock(writer, id, &clocks[0]);
    rtl_writer_clock(writer, id, &clocks[1]);
    for (uint32_t i = 0; i < queues; i++) {
        const struct rtl_wire_queue queue = {
            .queue = i, .size = 1024, .interception = RTL_INTERPOSED};
        rtl_writer_queue(writer, id, &queue);
    }
    for (uint32_t i = 0; i < shapes; i++) {
        const struct rtl_wire_symbol symbol = {.symbol = i, .name_length = 1};
        const struct rtl_wire_shape shape = {
            .shape = i, .symbol = i, .grid = {64 * (i + 1), 1, 1}, .block = {64, 1, 1}};
        rtl_writer_symbol(writer, id, &symbol, i % 2 ? "b" : "a");
        rtl_writer_shape(writer, id, &shape);
    }
    return id;
}

struct rtl_wire_kernel fixture_kernel(uint32_t queue, uint64_t i)
{
    return (struct rtl_wire_kernel){.packet = i,
                                    .start = 5000 + i * 2000 + queue,
                                    .end = 6000 + i * 2000 + queue,
                                    .correlation = i + 1,
                                    .queue = queue,
                                    .shape = (uint32_t)(i % 2),
                                    .launch = RTL_NONE,
                                    .ordinal = RTL_NONE};
}

void fixture_kernels(struct rtl_writer *writer, uint32_t process, uint32_t queue, uint64_t from,
                     uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        const struct rtl_wire_kernel kernel = fixture_kernel(queue, i);
        rtl_writer_kernel(writer, process, &kernel);
    }
}

bool fixture_trace(const char *path, uint64_t count)
{
    char error[512];
    struct rtl_writer *writer = fixture_open(path);
    if (!writer)
        return false;
    uint32_t process = fixture_define(writer, 2, 2);
    fixture_kernels(writer, process, 0, 0, count);
    fixture_kernels(writer, process, 1, 0, count);
    rtl_writer_process_end(writer, process, "closed", 1, 0);
    return rtl_writer_close(writer, 0, error, sizeof error) == 0;
}

rtl_kernel_t *fixture_read(rtl_trace_t *trace, const rtl_kernel_filter_t *filter, size_t *count,
                           rtl_status_t *status)
{
    size_t capacity = 1024;
    rtl_kernel_iter_t *iter = NULL;
    rtl_kernel_t *kernels = malloc(capacity * sizeof *kernels);
    *count = 0;
    *status = kernels ? rtlTraceKernels(trace, filter, &iter) : RTL_E_MEMORY;
    while (*status == RTL_OK) {
        if (*count == capacity) {
            rtl_kernel_t *more = realloc(kernels, (capacity *= 2) * sizeof *kernels);
            if (!more)
                abort();
            kernels = more;
        }
        *status = rtlKernelNext(iter, &kernels[*count]);
        *count += *status == RTL_OK;
    }
    rtlKernelIterFree(iter);
    if (*status == RTL_END)
        return kernels;
    free(kernels);
    return NULL;
}

int64_t fixture_count(const char *path)
{
    const rtl_kernel_filter_t all = RTL_KERNEL_FILTER_ALL;
    char error[512];
    rtl_trace_t *trace = NULL;
    rtl_status_t status = RTL_OK;
    size_t count = 0;
    if (rtlTraceOpen(path, &trace, error, sizeof error) != RTL_OK) {
        (void)fprintf(stderr, "%s\n", error);
        return -1;
    }
    rtl_kernel_t *kernels = fixture_read(trace, &all, &count, &status);
    bool done = kernels != NULL;
    if (!done)
        (void)fprintf(stderr, "%s\n", rtlTraceError(trace));
    free(kernels);
    rtlTraceClose(trace);
    return done ? (int64_t)count : -1;
}

void fixture_call(struct rtl_writer *writer, uint32_t process, uint64_t correlation)
{
    const struct rtl_wire_api api = {.start_ns = 1000 * correlation,
                                     .end_ns = 1000 * correlation + 500,
                                     .correlation = correlation,
                                     .thread = 100};
    rtl_writer_api(writer, process, &api, NULL);
}

int64_t fixture_number(const char *path, const char *query)
{
    char error[512];
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    int64_t value = INT64_MIN;
    if (rtl_sql_open(path, &db, error, sizeof error) != RTL_OK)
        return value;
    if (sqlite3_prepare_v2(db, query, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        value = sqlite3_column_int64(statement, 0);
    if (sqlite3_finalize(statement) != SQLITE_OK) {
        (void)fprintf(stderr, "%s: %s\n", query, sqlite3_errmsg(db));
        value = INT64_MIN;
    }
    (void)sqlite3_close(db);
    return value;
}

uint32_t fixture_checksum(const uint64_t *fields, size_t count, const unsigned char *data,
                          size_t size)
{
    uint32_t crc = 0;
    for (size_t i = 0; i < count; i++)
        for (unsigned shift = 0; shift < 64; shift += 8) {
            unsigned char byte = (unsigned char)(fields[i] >> shift);
            crc = rtl_crc32c(crc, &byte, 1);
        }
    return rtl_crc32c(crc, data, size);
}

bool fixture_sql(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    bool done = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
                sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
    if (!done)
        (void)fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
    (void)sqlite3_close(db);
    return done;
}

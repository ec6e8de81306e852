/* Chunks of any table, unpacked in threads. */
#include "store/scan.h"

#include "store/reader.h"
#include "store/thread_pool.h"

#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 64u

/* A chunk in the pool. */
struct job {
    const struct rtl_scan *scan;
    const void *row;
    unsigned char *data;
    size_t size, capacity;
    void *result;
    int worked;
};

struct run {
    rtl_trace_t *trace;
    const struct rtl_scan *scan;
    const struct rtl_scan_item *items;
    size_t count;
    sqlite3_stmt *statement;
    void *workers[THREADS_MAX];
    unsigned threads;
    struct rtl_thread_pool *pool;
};

static struct rtl_scan_data data_of(const struct job *job)
{
    return (struct rtl_scan_data){job->row, job->data, job->size};
}

static void work(void *worker, void *pointer)
{
    struct job *job = pointer;
    const struct rtl_scan_data data = data_of(job);
    job->worked = job->scan->work(job->scan->context, worker, &data, job->result);
}

static bool make_room(struct job *job, size_t size)
{
    if (job->capacity < size) {
        free(job->data);
        job->data = malloc(size);
        job->capacity = job->data ? size : 0;
    }
    if (!job->result)
        job->result = calloc(1, job->scan->result_size + 1);
    return job->capacity >= size && job->result;
}

/* Takes the data of the row at hand; where there are none, the codec finds that damaged. */
static rtl_status_t copy(struct run *run, struct job *job)
{
    const void *bytes = sqlite3_column_blob(run->statement, 0);
    job->size = (size_t)sqlite3_column_bytes(run->statement, 0);
    if ((!bytes && sqlite3_errcode(run->trace->db) == SQLITE_NOMEM) || !make_room(job, job->size))
        return RTL_E_MEMORY;
    if (bytes)
        memcpy(job->data, bytes, job->size);
    else
        job->size = 0;
    return RTL_OK;
}

static rtl_status_t fill(struct run *run, const struct rtl_scan_item *item, struct job *job)
{
    rtl_status_t status = RTL_OK;
    job->scan = run->scan;
    job->row = item->row;
    int result = sqlite3_bind_int64(run->statement, 1, item->number);
    if (result == SQLITE_OK)
        result = sqlite3_step(run->statement);
    if (result == SQLITE_ROW || result == SQLITE_DONE)
        status = copy(run, job);
    else
        status = rtl_trace_fail_sqlite(run->trace, result);
    (void)sqlite3_reset(run->statement);
    return status;
}

static rtl_status_t take(const struct run *run, struct job *job)
{
    static const rtl_status_t statuses[] = {RTL_OK, RTL_E_DAMAGED, RTL_E_MEMORY};
    const struct rtl_scan_data data = data_of(job);
    return run->scan->done(run->scan->context, &data, statuses[-job->worked], job->result);
}

static rtl_status_t go(struct run *run)
{
    size_t given = 0;
    size_t taken = 0;
    rtl_status_t status = RTL_OK;
    while (status == RTL_OK && taken < run->count) {
        struct job *job = given < run->count ? rtl_thread_pool_job(run->pool) : NULL;
        if (!job) {
            status = take(run, rtl_thread_pool_take(run->pool));
            taken++;
            continue;
        }
        status = fill(run, &run->items[given++], job);
        if (status == RTL_OK)
            rtl_thread_pool_give(run->pool);
    }
    return status;
}

static rtl_status_t make_pool(struct run *run)
{
    unsigned threads = run->scan->threads ? run->scan->threads : rtl_thread_pool_processors();
    threads = threads > THREADS_MAX ? THREADS_MAX : threads;
    threads = threads > run->count ? (unsigned)(run->count ? run->count : 1) : threads;
    for (run->threads = 0; run->threads < threads; run->threads++) {
        run->workers[run->threads] = calloc(1, run->scan->worker_size + 1);
        if (!run->workers[run->threads])
            return RTL_E_MEMORY;
    }
    run->pool =
        rtl_thread_pool_new(work, run->workers, threads, 2 * threads + 1, sizeof(struct job));
    return run->pool ? RTL_OK : RTL_E_MEMORY;
}

static void release(void *pointer)
{
    struct job *job = pointer;
    if (job->result && job->scan->result_free)
        job->scan->result_free(job->result);
    free(job->result);
    free(job->data);
}

static void dismiss(struct run *run)
{
    rtl_thread_pool_free(run->pool, release);
    for (unsigned i = 0; i < run->threads; i++) {
        if (run->scan->worker_free)
            run->scan->worker_free(run->workers[i]);
        free(run->workers[i]);
    }
    (void)sqlite3_finalize(run->statement);
}

rtl_status_t rtl_scan(rtl_trace_t *trace, const struct rtl_scan *scan,
                      const struct rtl_scan_item *items, size_t count)
{
    struct run run = {.trace = trace, .scan = scan, .items = items, .count = count};
    if (count == 0)
        return RTL_OK;
    int result = sqlite3_prepare_v2(trace->db, scan->query, -1, &run.statement, NULL);
    rtl_status_t status =
        result == SQLITE_OK ? make_pool(&run) : rtl_trace_fail_sqlite(trace, result);
    if (status == RTL_OK)
        status = go(&run);
    dismiss(&run);
    return status == RTL_E_MEMORY ? rtl_trace_fail_sqlite(trace, SQLITE_NOMEM) : status;
}

#include "store/runs.h"

#include "store/heap.h"
#include "store/reader.h"
#include "store/select.h"
#include "store/thread_pool.h"
#include "store/translate.h"

#include <stdlib.h>
#include <string.h>

/* More unpack faster than one thread reads. */
#define THREADS_MAX 8u

/* Shapes that a thread has looked up before. */
#define SHAPES_KEPT 1024u

/* A chunk that waits, or is being unpacked. */
struct waiting {
    uint64_t from; /* not above any start in it */
    const struct rtl_chunk_row *row;
};

struct job {
    const struct rtl_runs *runs;
    const struct rtl_chunk_row *row;
    /* Copies, because lines remember where they were looked at last. */
    struct rtl_agent_clock clock;
    struct rtl_line system;
    unsigned char *data; /* packed */
    size_t size, capacity;
    struct rtl_run_kernel *kernels; /* that pass the filter, by start */
    uint32_t count, room;
    rtl_status_t status;
};

struct worker {
    struct rtl_codec *codec;
    struct rtl_codec_block block;
    struct rtl_translator translator;
    uint64_t keys[SHAPES_KEPT]; /* + 1, 0: none */
    uint32_t shapes[SHAPES_KEPT];
};

/* An open chunk. */
struct cursor {
    const struct rtl_chunk_row *row;
    struct rtl_run_kernel *kernels;
    uint32_t count, next, room;
};

struct rtl_runs {
    rtl_trace_t *trace;
    rtl_kernel_filter_t filter;
    const struct rtl_select *select; /* NULL: all */
    sqlite3_stmt *data;
    struct rtl_thread_pool *pool;
    struct worker *workers[THREADS_MAX];
    struct waiting *waiting;
    size_t waiting_count;
    size_t given, next; /* of `waiting`: to the pool, to the heap */
    struct rtl_heap heap;
    struct cursor *spare; /* closed ones, for their memory */
    size_t spare_count, spare_capacity;
    bool given_out; /* the run is of the first of the heap */
    rtl_status_t failed;
};

/* Unpacking, by any thread. */

static uint32_t shape_of(struct worker *worker, const struct job *job, uint32_t shape)
{
    const rtl_trace_t *trace = job->runs->trace;
    uint64_t key = rtl_index_key(job->row->chunk.process, shape);
    uint32_t at = shape % SHAPES_KEPT;
    if (worker->keys[at] != key + 1) {
        uint32_t found = rtl_index_get(&trace->shape_index, key);
        worker->keys[at] = key + 1;
        worker->shapes[at] = found == RTL_INDEX_MISSING ? (uint32_t)trace->shapes.count : found;
    }
    return worker->shapes[at];
}

static void add_block(struct worker *worker, struct job *job, struct rtl_select_look *look,
                      uint32_t first)
{
    const struct rtl_codec_block *block = &worker->block;
    const rtl_kernel_filter_t *filter = &job->runs->filter;
    bool cut = filter->from || filter->to;
    for (uint32_t i = 0; i < block->count; i++) {
        uint64_t start = block->start[i];
        if ((look && !rtl_select_kernel(look, block->shape[i], block->correlation[i], start)) ||
            (cut && !rtl_trace_time_passes(filter, start, block->end[i])))
            continue;
        job->kernels[job->count++] = (struct rtl_run_kernel){
            .start = start,
            .end = block->end[i],
            .packet = block->packet[i],
            .correlation = block->correlation[i],
            .shape = shape_of(worker, job, block->shape[i]),
            .launch = block->launch[i],
            .ordinal = block->ordinal[i],
            .place = first + i,
        };
    }
}

static int by_start(const void *left, const void *right)
{
    const struct rtl_run_kernel *a = left;
    const struct rtl_run_kernel *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

/* Kernels of a chunk mostly are in order. */
static void order(struct job *job)
{
    bool sorted = true;
    for (uint32_t i = 1; i < job->count && sorted; i++)
        sorted = job->kernels[i - 1].start <= job->kernels[i].start;
    if (!sorted)
        qsort(job->kernels, job->count, sizeof *job->kernels, by_start);
}

static void unpack(void *worker_pointer, void *job_pointer)
{
    struct worker *worker = worker_pointer;
    struct job *job = job_pointer;
    const struct rtl_chunk *chunk = &job->row->chunk;
    struct rtl_select_look look;
    bool selects = rtl_select_begin(job->runs->select, chunk->process, &look);
    int result = rtl_codec_open(worker->codec, chunk, job->data, job->size, true);
    job->count = 0;
    rtl_translator_begin(&worker->translator, job->row->clock ? &job->clock : NULL);
    for (uint32_t first = 0; result == 0; first += worker->block.count) {
        result = rtl_codec_next(worker->codec, &worker->block);
        if (result != 0 || worker->block.count == 0)
            break;
        rtl_translate_block(&worker->translator, &worker->block);
        add_block(worker, job, selects ? &look : NULL, first);
    }
    order(job);
    job->status = result == 0 ? RTL_OK : result == -2 ? RTL_E_MEMORY : RTL_E_DAMAGED;
}

/* Giving chunks to the pool. */

static bool make_room(struct rtl_runs *runs, struct job *job)
{
    uint32_t count = job->row->chunk.kernels;
    if (job->capacity < job->size) {
        free(job->data);
        job->data = malloc(job->size);
        job->capacity = job->data ? job->size : 0;
    }
    if (!job->kernels && runs->spare_count) {
        const struct cursor *spare = &runs->spare[--runs->spare_count];
        job->kernels = spare->kernels;
        job->room = spare->room;
    }
    if (job->room < count) {
        free(job->kernels);
        job->kernels = malloc(count * sizeof *job->kernels);
        job->room = job->kernels ? count : 0;
    }
    return (job->data || job->size == 0) && job->kernels;
}

static void copy_clock(struct job *job)
{
    if (!job->row->clock)
        return;
    job->clock = *job->row->clock;
    if (!job->clock.system)
        return;
    job->system = *job->clock.system;
    job->clock.system = &job->system;
}

static rtl_status_t fill(struct rtl_runs *runs, const struct rtl_chunk_row *row, struct job *job)
{
    const unsigned char *data = NULL;
    /* Before memory is asked for: a damaged row may claim anything. */
    if (row->chunk.kernels == 0 || row->chunk.kernels > RTL_CHUNK_KERNELS_MAX)
        return rtl_trace_fail_chunk(runs->trace, row);
    job->runs = runs;
    job->row = row;
    copy_clock(job);
    rtl_status_t status = rtl_trace_chunk_data(runs->trace, runs->data, row, &data, &job->size);
    if (status == RTL_OK && !make_room(runs, job))
        status = rtl_trace_fail_sqlite(runs->trace, SQLITE_NOMEM);
    if (status == RTL_OK)
        memcpy(job->data, data, job->size);
    (void)sqlite3_reset(runs->data);
    return status;
}

/* As many as the pool has room for. */
static rtl_status_t give(struct rtl_runs *runs)
{
    struct job *job;
    while (runs->given < runs->waiting_count && (job = rtl_thread_pool_job(runs->pool)) != NULL) {
        rtl_status_t status = fill(runs, runs->waiting[runs->given].row, job);
        /* It fails when its turn comes, as without threads. */
        if (status != RTL_OK)
            return runs->given == runs->next ? status : RTL_OK;
        rtl_thread_pool_give(runs->pool);
        runs->given++;
    }
    return RTL_OK;
}

/* Open chunks. */

static bool close_cursor(struct rtl_runs *runs, struct cursor *cursor)
{
    if (runs->spare_count == runs->spare_capacity) {
        size_t capacity = runs->spare_capacity ? 2 * runs->spare_capacity : 8;
        struct cursor *spare = realloc(runs->spare, capacity * sizeof *spare);
        if (!spare)
            return false;
        runs->spare = spare;
        runs->spare_capacity = capacity;
    }
    runs->spare[runs->spare_count++] = *cursor;
    free(cursor);
    return true;
}

static rtl_status_t open_job(struct rtl_runs *runs, struct job *job)
{
    struct cursor *cursor = malloc(sizeof *cursor);
    if (!cursor)
        return rtl_trace_fail_sqlite(runs->trace, SQLITE_NOMEM);
    *cursor = (struct cursor){job->row, job->kernels, job->count, 0, job->room};
    job->kernels = NULL;
    job->room = 0;
    bool kept = cursor->count
                    ? rtl_heap_push(&runs->heap,
                                    (struct rtl_heap_item){
                                        {cursor->kernels[0].start, 0}, cursor->row, cursor})
                    : close_cursor(runs, cursor);
    if (kept)
        return RTL_OK;
    free(cursor->kernels);
    free(cursor);
    return rtl_trace_fail_sqlite(runs->trace, SQLITE_NOMEM);
}

static rtl_status_t open_next(struct rtl_runs *runs)
{
    rtl_status_t status = give(runs);
    if (status != RTL_OK)
        return status;
    struct job *job = rtl_thread_pool_take(runs->pool);
    runs->next++;
    if (job->status == RTL_E_DAMAGED)
        return rtl_trace_fail_chunk(runs->trace, job->row);
    return job->status == RTL_OK ? open_job(runs, job)
                                 : rtl_trace_fail_sqlite(runs->trace, SQLITE_NOMEM);
}

/* True if a chunk that is not open may hold the next kernel. */
static bool must_open(const struct rtl_runs *runs)
{
    return runs->next < runs->waiting_count &&
           (runs->heap.count == 0 ||
            runs->waiting[runs->next].from <= runs->heap.items[0].key.major);
}

/* Goes on behind the run that was given out. */
static rtl_status_t go_on(struct rtl_runs *runs)
{
    if (!runs->given_out)
        return RTL_OK;
    struct cursor *cursor = runs->heap.items[0].cursor;
    runs->given_out = false;
    if (cursor->next < cursor->count) {
        rtl_heap_advance(&runs->heap, (struct rtl_key){cursor->kernels[cursor->next].start, 0});
        return RTL_OK;
    }
    rtl_heap_pop(&runs->heap);
    if (close_cursor(runs, cursor))
        return RTL_OK;
    free(cursor->kernels);
    free(cursor);
    return rtl_trace_fail_sqlite(runs->trace, SQLITE_NOMEM);
}

/* The start from which on kernels of the first chunk come behind one of another chunk. */
static uint64_t bound_of(const struct rtl_runs *runs, uint64_t until)
{
    const struct rtl_heap_item *items = runs->heap.items;
    uint64_t bound = until;
    if (runs->next < runs->waiting_count && runs->waiting[runs->next].from < bound)
        bound = runs->waiting[runs->next].from;
    for (size_t i = 1; i < 3 && i < runs->heap.count; i++) {
        /* Of equal starts that of the earlier row comes first. */
        bool ours = items[0].tie < items[i].tie && items[i].key.major < UINT64_MAX;
        uint64_t start = items[i].key.major + ours;
        bound = start < bound ? start : bound;
    }
    return bound;
}

static rtl_status_t next_run(struct rtl_runs *runs, uint64_t until, struct rtl_run *run)
{
    rtl_status_t status = go_on(runs);
    while (status == RTL_OK && must_open(runs))
        status = open_next(runs);
    if (status != RTL_OK)
        return status;
    if (runs->heap.count == 0 || (until != UINT64_MAX && runs->heap.items[0].key.major >= until))
        return RTL_END;
    struct cursor *cursor = runs->heap.items[0].cursor;
    uint64_t bound = bound_of(runs, until);
    uint32_t first = cursor->next++;
    while (cursor->next < cursor->count && cursor->kernels[cursor->next].start < bound)
        cursor->next++;
    runs->given_out = true;
    *run = (struct rtl_run){.process = cursor->row->chunk.process,
                            .gpu = cursor->row->gpu,
                            .queue = cursor->row->chunk.queue,
                            .count = cursor->next - first,
                            .kernels = &cursor->kernels[first],
                            .id = (uint64_t)cursor->row->number * RTL_CHUNK_KERNELS_MAX};
    return RTL_OK;
}

rtl_status_t rtl_runs_next(struct rtl_runs *runs, uint64_t until, struct rtl_run *run)
{
    if (runs->failed != RTL_OK)
        return runs->failed;
    rtl_status_t status = next_run(runs, until, run);
    if (status != RTL_END)
        runs->failed = status;
    return status;
}

size_t rtl_runs_shapes(const struct rtl_runs *runs)
{
    return runs->trace->shapes.count;
}

void rtl_runs_shape(const struct rtl_runs *runs, uint32_t shape, rtl_kernel_t *kernel)
{
    static const struct rtl_shape unknown = {
        .symbol = RTL_TRACE_NONE, .name = "unknown kernel", .mangled = ""};
    const struct rtl_shape *from = shape < runs->trace->shapes.count
                                       ? (const struct rtl_shape *)runs->trace->shapes.items + shape
                                       : &unknown;
    kernel->name = from->name;
    kernel->mangled = from->mangled;
    kernel->symbol = from->symbol;
    memcpy(kernel->grid, from->grid, sizeof kernel->grid);
    memcpy(kernel->block, from->block, sizeof kernel->block);
    kernel->group_size = from->group_size;
    kernel->private_size = from->private_size;
}

rtl_status_t rtl_runs_node(struct rtl_runs *runs, const struct rtl_run *run,
                           const struct rtl_run_kernel *from, rtl_kernel_t *kernel)
{
    kernel->process = run->process;
    kernel->queue = run->queue;
    kernel->packet = from->packet;
    return rtl_trace_resolve_node(runs->trace, from->launch, from->ordinal, kernel);
}

/* Begin and end. */

static int by_from(const void *left, const void *right)
{
    const struct waiting *a = left;
    const struct waiting *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static rtl_status_t choose_chunks(struct rtl_runs *runs)
{
    const struct rtl_list *chunks = &runs->trace->chunks;
    const struct rtl_chunk_row *rows = chunks->items;
    runs->waiting = calloc(chunks->count + 1, sizeof *runs->waiting);
    if (!runs->waiting)
        return rtl_trace_fail_sqlite(runs->trace, SQLITE_NOMEM);
    for (size_t i = 0; i < chunks->count; i++)
        if (rtl_trace_chunk_passes(&runs->filter, &rows[i]) &&
            rtl_select_may(runs->select, rows[i].chunk.process, rows[i].gpu))
            runs->waiting[runs->waiting_count++] = (struct waiting){rows[i].from, &rows[i]};
    qsort(runs->waiting, runs->waiting_count, sizeof *runs->waiting, by_from);
    return RTL_OK;
}

static void free_worker(struct worker *worker)
{
    if (worker)
        rtl_codec_free(worker->codec);
    free(worker);
}

static rtl_status_t make_pool(struct rtl_runs *runs)
{
    unsigned threads = rtl_thread_pool_processors();
    threads = threads > THREADS_MAX ? THREADS_MAX : threads;
    threads = threads > runs->waiting_count ? (unsigned)runs->waiting_count : threads;
    threads = threads ? threads : 1;
    for (unsigned i = 0; i < threads; i++) {
        runs->workers[i] = calloc(1, sizeof *runs->workers[i]);
        if (!runs->workers[i] || !(runs->workers[i]->codec = rtl_codec_new()))
            return rtl_trace_fail_sqlite(runs->trace, SQLITE_NOMEM);
    }
    runs->pool = rtl_thread_pool_new(unpack, (void **)runs->workers, threads, 2 * threads,
                                     sizeof(struct job));
    return runs->pool ? RTL_OK : rtl_trace_fail_sqlite(runs->trace, SQLITE_NOMEM);
}

rtl_status_t rtl_runs_new(rtl_trace_t *trace, const rtl_kernel_filter_t *filter,
                          struct rtl_runs **runs)
{
    struct rtl_runs *made = calloc(1, sizeof *made);
    if (!made)
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    made->trace = trace;
    made->filter = *filter;
    made->select = trace->select_paused ? NULL : trace->select;
    rtl_status_t status = rtl_trace_load_graphs(trace);
    if (status == RTL_OK)
        status = choose_chunks(made);
    if (status == RTL_OK)
        status = rtl_trace_prepare_data(trace, &made->data);
    if (status == RTL_OK)
        status = make_pool(made);
    if (status == RTL_OK)
        *runs = made;
    else
        rtl_runs_free(made);
    return status;
}

static void release_job(void *pointer)
{
    struct job *job = pointer;
    free(job->data);
    free(job->kernels);
}

void rtl_runs_free(struct rtl_runs *runs)
{
    if (!runs)
        return;
    rtl_thread_pool_free(runs->pool, release_job);
    for (unsigned i = 0; i < THREADS_MAX; i++)
        free_worker(runs->workers[i]);
    (void)sqlite3_finalize(runs->data);
    for (size_t i = 0; i < runs->heap.count; i++) {
        struct cursor *cursor = runs->heap.items[i].cursor;
        free(cursor->kernels);
        free(cursor);
    }
    rtl_heap_free(&runs->heap);
    for (size_t i = 0; i < runs->spare_count; i++)
        free(runs->spare[i].kernels);
    free(runs->spare);
    free(runs->waiting);
    free(runs);
}

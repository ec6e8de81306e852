/* Iterating over kernels: a merge of the chunks that a filter leaves, by time or by packet.
 *
 * The chunks stand in the order of the earliest kernel that each may hold. One is opened when the
 * merge reaches that; so as many are open at once as overlap, which is one per queue as long as the
 * kernels of a queue come about in order. Whoever reads on has the next ones unpacked meanwhile, by
 * a thread. */
#include "store/heap.h"
#include "store/reader.h"
#include "store/select.h"
#include "store/thread_pool.h"
#include "store/translate.h"

#include <stdlib.h>
#include <string.h>

/* A kernel of an open chunk with its key. */
struct place {
    struct rtl_key key;
    uint32_t kernel;
};

/* Chunks that are opened before a thread helps, and that it is ahead. */
#define OPENED_ALONE 2u
#define AHEAD        2u

/* A chunk that is unpacked. */
struct unpacked {
    const struct rtl_chunk_row *row;
    unsigned char *data; /* packed */
    size_t size, data_capacity;
    struct rtl_wire_kernel *kernels;
    uint64_t *starts, *ends; /* ns on the trace's clock */
    uint32_t capacity;       /* of the three */
    int read;                /* what SQLite said when its data were read */
    int decoded;             /* as rtl_codec_decode */
};

/* What a thread unpacks with. */
struct unpacker {
    struct rtl_codec *codec;
    struct rtl_codec_block block;
    struct rtl_translator translator;
};

/* A chunk that is being read. */
struct cursor {
    struct unpacked chunk;
    struct place *places; /* of the kernels that pass the filter, in order */
    uint32_t count, next;
    uint32_t capacity;
};

/* Shapes that kernels had lately, by their number. */
#define KNOWN_SHAPES 256u

struct known_shape {
    uint64_t key;
    const struct rtl_shape *shape; /* NULL: none */
};

/* A chunk that is not open yet. */
struct waiting {
    struct rtl_key key; /* not above any of its kernels */
    const struct rtl_chunk_row *row;
};

struct rtl_kernel_iter {
    rtl_trace_t *trace;
    rtl_kernel_filter_t filter;
    struct rtl_chosen *chosen; /* NULL: not only those of a graph */
    rtl_status_t failed;       /* once an error, always that */
    sqlite3_stmt *data;
    void *unpackers[2]; /* struct unpacker: of the calling thread, and of that which helps */
    struct rtl_thread_pool *pool; /* NULL: nobody helps */
    struct unpacked own;          /* unpacked by the calling thread while nobody does */
    struct waiting *waiting;
    size_t waiting_count, waiting_next, given;
    struct rtl_heap heap; /* of open chunks */
    struct cursor *spare; /* a closed one, for its memory */
    bool all;             /* also what is not selected */
    struct known_shape shapes[KNOWN_SHAPES];
};

static const struct rtl_select *select_of(const struct rtl_kernel_iter *iter)
{
    return iter->all ? NULL : iter->trace->select;
}

static struct rtl_key chunk_key(const rtl_kernel_filter_t *filter, const struct rtl_chunk_row *row)
{
    if (filter->by_queue)
        return (struct rtl_key){rtl_index_key(row->chunk.process, row->chunk.queue),
                                row->chunk.packet_min};
    return (struct rtl_key){row->from, 0};
}

bool rtl_trace_chunk_passes(const rtl_kernel_filter_t *filter, const struct rtl_chunk_row *row)
{
    return (filter->process == 0 || row->chunk.process == filter->process) &&
           (filter->queue == RTL_TRACE_NONE || row->chunk.queue == filter->queue) &&
           (filter->to == 0 || row->from < filter->to) && row->to >= filter->from;
}

static int by_key(const void *left, const void *right)
{
    const struct waiting *a = left;
    const struct waiting *b = right;
    int order = rtl_key_compare(&a->key, &b->key);
    return order ? order : (a->row > b->row) - (a->row < b->row);
}

static int place_by_key(const void *left, const void *right)
{
    const struct place *a = left;
    const struct place *b = right;
    int order = rtl_key_compare(&a->key, &b->key);
    return order ? order : (a->kernel > b->kernel) - (a->kernel < b->kernel);
}

static rtl_status_t fail(rtl_kernel_iter_t *iter, rtl_status_t status)
{
    iter->failed = status;
    return status;
}

static rtl_status_t fail_memory(rtl_kernel_iter_t *iter)
{
    return fail(iter, rtl_trace_fail_sqlite(iter->trace, SQLITE_NOMEM));
}

rtl_status_t rtl_trace_fail_chunk(rtl_trace_t *trace, const struct rtl_chunk_row *row)
{
    return rtl_trace_fail(trace, RTL_E_DAMAGED,
                          "the trace %s is damaged: kernel chunk %lld does not match its checksum "
                          "or its format",
                          trace->path, (long long)row->number);
}

static void free_unpacked(void *pointer)
{
    struct unpacked *unpacked = pointer;
    free(unpacked->data);
    free(unpacked->kernels);
    free(unpacked->starts);
    free(unpacked->ends);
}

static void free_cursor(struct cursor *cursor)
{
    if (!cursor)
        return;
    free_unpacked(&cursor->chunk);
    free(cursor->places);
    free(cursor);
}

static struct cursor *new_cursor(rtl_kernel_iter_t *iter, uint32_t count)
{
    struct cursor *cursor = iter->spare ? iter->spare : calloc(1, sizeof *cursor);
    iter->spare = NULL;
    if (!cursor)
        return NULL;
    if (cursor->capacity < count) {
        free(cursor->places);
        cursor->places = calloc(count, sizeof *cursor->places);
        cursor->capacity = cursor->places ? count : 0;
    }
    if (!cursor->places) {
        free_cursor(cursor);
        return NULL;
    }
    cursor->count = cursor->next = 0;
    return cursor;
}

/* Puts the kernels that pass in order. They mostly are. */
static void order(const rtl_kernel_iter_t *iter, struct cursor *cursor)
{
    const struct rtl_chunk_row *row = cursor->chunk.row;
    const rtl_kernel_filter_t *filter = &iter->filter;
    bool all = filter->from == 0 && filter->to == 0;
    struct rtl_select_look look;
    bool selects = rtl_select_begin(select_of(iter), row->chunk.process, &look);
    bool sorted = true;
    struct rtl_key last = {0, 0};
    uint64_t queue = rtl_index_key(row->chunk.process, row->chunk.queue);
    for (uint32_t i = 0; i < row->chunk.kernels; i++) {
        const struct rtl_wire_kernel *kernel = &cursor->chunk.kernels[i];
        struct rtl_key key = {queue, kernel->packet};
        uint64_t start = cursor->chunk.starts[i];
        if (selects && !rtl_select_kernel(&look, kernel->shape, kernel->correlation, start))
            continue;
        if (!all && !rtl_trace_time_passes(filter, start, cursor->chunk.ends[i]))
            continue;
        if (iter->chosen && !rtl_chosen_wire(iter->chosen, row, kernel))
            continue;
        if (!filter->by_queue)
            key = (struct rtl_key){start, 0};
        sorted = sorted && rtl_key_compare(&last, &key) <= 0;
        last = key;
        cursor->places[cursor->count++] = (struct place){key, i};
    }
    if (!sorted)
        qsort(cursor->places, cursor->count, sizeof *cursor->places, place_by_key);
}

rtl_status_t rtl_trace_prepare_data(rtl_trace_t *trace, sqlite3_stmt **statement)
{
    int result = sqlite3_prepare_v2(
        trace->db, "SELECT data FROM main.kernel_chunks WHERE chunk = ?", -1, statement, NULL);
    return result == SQLITE_OK ? RTL_OK : rtl_trace_fail_sqlite(trace, result);
}

rtl_status_t rtl_trace_chunk_data(rtl_trace_t *trace, sqlite3_stmt *statement,
                                  const struct rtl_chunk_row *row, const unsigned char **data,
                                  size_t *size)
{
    int result = sqlite3_bind_int64(statement, 1, row->number);
    if (result == SQLITE_OK)
        result = sqlite3_step(statement);
    if (result != SQLITE_ROW)
        return result == SQLITE_DONE ? rtl_trace_fail_chunk(trace, row)
                                     : rtl_trace_fail_sqlite(trace, result);
    *data = sqlite3_column_blob(statement, 0);
    *size = (size_t)sqlite3_column_bytes(statement, 0);
    if (*data)
        return RTL_OK;
    return sqlite3_errcode(trace->db) == SQLITE_NOMEM ? rtl_trace_fail_sqlite(trace, SQLITE_NOMEM)
                                                      : rtl_trace_fail_chunk(trace, row);
}

/* Unpacking. */

static bool make_room(struct unpacked *unpacked)
{
    uint32_t count = unpacked->row->chunk.kernels;
    if (unpacked->capacity >= count)
        return true;
    free(unpacked->kernels);
    free(unpacked->starts);
    free(unpacked->ends);
    unpacked->kernels = malloc(count * sizeof *unpacked->kernels);
    unpacked->starts = malloc(count * sizeof *unpacked->starts);
    unpacked->ends = malloc(count * sizeof *unpacked->ends);
    bool made = unpacked->kernels && unpacked->starts && unpacked->ends;
    unpacked->capacity = made ? count : 0;
    return made;
}

/* Copies a block's kernels from place `at` on, with their times in ns. */
static void take_block(struct unpacker *unpacker, struct unpacked *unpacked, uint32_t at)
{
    const struct rtl_codec_block *block = &unpacker->block;
    uint64_t low = UINT64_MAX;
    uint64_t high = 0;
    rtl_codec_give(block, unpacked->row->chunk.queue, unpacked->kernels + at);
    for (uint32_t i = 0; i < block->count; i++) {
        uint64_t start = block->start[i];
        uint64_t end = block->end[i];
        uint64_t least = start < end ? start : end;
        uint64_t most = start < end ? end : start;
        unpacked->starts[at + i] = start;
        unpacked->ends[at + i] = end;
        low = least < low ? least : low;
        high = most > high ? most : high;
    }
    rtl_translate(&unpacker->translator, unpacked->starts + at, block->count, low, high);
    rtl_translate(&unpacker->translator, unpacked->ends + at, block->count, low, high);
}

static int decode(struct unpacker *unpacker, struct unpacked *unpacked)
{
    const struct rtl_chunk *chunk = &unpacked->row->chunk;
    int opened = rtl_codec_open(unpacker->codec, chunk, unpacked->data, unpacked->size, true);
    if (opened != 0)
        return opened;
    if (!make_room(unpacked))
        return -2;
    rtl_translator_begin(&unpacker->translator, unpacked->row->clock);
    for (uint32_t at = 0;; at += unpacker->block.count) {
        if (rtl_codec_next(unpacker->codec, &unpacker->block) != 0)
            return -1;
        if (unpacker->block.count == 0)
            return 0;
        take_block(unpacker, unpacked, at);
    }
}

/* In either thread. */
static void unpack(void *worker, void *job)
{
    struct unpacked *unpacked = job;
    if (unpacked->read == SQLITE_OK)
        unpacked->decoded = decode(worker, unpacked);
}

/* Reads the data of a chunk; where there are none, unpacking finds that. */
static void read_data(rtl_kernel_iter_t *iter, const struct rtl_chunk_row *row,
                      struct unpacked *unpacked)
{
    const void *bytes = NULL;
    unpacked->row = row;
    unpacked->size = 0;
    int result = sqlite3_bind_int64(iter->data, 1, row->number);
    if (result == SQLITE_OK)
        result = sqlite3_step(iter->data);
    if (result == SQLITE_ROW && !(bytes = sqlite3_column_blob(iter->data, 0)) &&
        sqlite3_errcode(iter->trace->db) == SQLITE_NOMEM)
        result = SQLITE_NOMEM;
    size_t size = bytes ? (size_t)sqlite3_column_bytes(iter->data, 0) : 0;
    if (size && (!unpacked->data || unpacked->data_capacity < size)) {
        free(unpacked->data);
        unpacked->data = malloc(size);
        unpacked->data_capacity = unpacked->data ? size : 0;
    }
    if (size && !unpacked->data)
        result = SQLITE_NOMEM;
    else if (size)
        memcpy(unpacked->data, bytes, unpacked->size = size);
    unpacked->read = result == SQLITE_ROW || result == SQLITE_DONE ? SQLITE_OK : result;
    (void)sqlite3_reset(iter->data);
}

static void *new_unpacker(void)
{
    struct unpacker *unpacker = calloc(1, sizeof *unpacker);
    if (unpacker && (unpacker->codec = rtl_codec_new()))
        return unpacker;
    free(unpacker);
    return NULL;
}

static void free_unpacker(void *pointer)
{
    struct unpacker *unpacker = pointer;
    if (unpacker)
        rtl_codec_free(unpacker->codec);
    free(unpacker);
}

/* Has a thread help whoever reads many chunks; where memory is short for that, nobody does. */
static void get_help(rtl_kernel_iter_t *iter)
{
    if (iter->pool || iter->waiting_next < OPENED_ALONE || rtl_thread_pool_processors() < 2 ||
        iter->waiting_count - iter->waiting_next <= AHEAD)
        return;
    if (!iter->unpackers[1] && !(iter->unpackers[1] = new_unpacker()))
        return;
    iter->pool =
        rtl_thread_pool_new(unpack, iter->unpackers, 2, AHEAD + 1, sizeof(struct unpacked));
    iter->given = iter->waiting_next;
}

/* The next chunk, unpacked; it lives until the next call. */
static struct unpacked *next_unpacked(rtl_kernel_iter_t *iter)
{
    struct unpacked *job;
    get_help(iter);
    if (!iter->pool) {
        read_data(iter, iter->waiting[iter->waiting_next++].row, &iter->own);
        unpack(iter->unpackers[0], &iter->own);
        return &iter->own;
    }
    while (iter->given < iter->waiting_count && (job = rtl_thread_pool_job(iter->pool))) {
        read_data(iter, iter->waiting[iter->given++].row, job);
        rtl_thread_pool_give(iter->pool);
    }
    iter->waiting_next++;
    return rtl_thread_pool_take(iter->pool);
}

static rtl_status_t status_of(rtl_kernel_iter_t *iter, const struct unpacked *unpacked)
{
    if (unpacked->read != SQLITE_OK)
        return fail(iter, rtl_trace_fail_sqlite(iter->trace, unpacked->read));
    if (unpacked->decoded == -2)
        return fail_memory(iter);
    return unpacked->decoded == 0 ? RTL_OK
                                  : fail(iter, rtl_trace_fail_chunk(iter->trace, unpacked->row));
}

static void retire(rtl_kernel_iter_t *iter, struct cursor *cursor)
{
    free_cursor(iter->spare);
    iter->spare = cursor;
}

static rtl_status_t open_next(rtl_kernel_iter_t *iter)
{
    struct unpacked *unpacked = next_unpacked(iter);
    rtl_status_t status = status_of(iter, unpacked);
    if (status != RTL_OK)
        return status;
    struct cursor *cursor = new_cursor(iter, unpacked->row->chunk.kernels);
    if (!cursor)
        return fail_memory(iter);
    /* Memory changes places, too. */
    struct unpacked before = cursor->chunk;
    cursor->chunk = *unpacked;
    *unpacked = before;
    order(iter, cursor);
    if (cursor->count == 0) {
        retire(iter, cursor);
        return RTL_OK;
    }
    if (rtl_heap_push(&iter->heap,
                      (struct rtl_heap_item){cursor->places[0].key, cursor->chunk.row, cursor}))
        return RTL_OK;
    free_cursor(cursor);
    return fail_memory(iter);
}

/* True if a chunk that is not open may hold the next kernel. */
static bool must_open(const rtl_kernel_iter_t *iter)
{
    if (iter->waiting_next == iter->waiting_count)
        return false;
    if (iter->heap.count == 0)
        return true;
    return rtl_key_compare(&iter->waiting[iter->waiting_next].key, &iter->heap.items[0].key) <= 0;
}

/* The shape of kernels; there always is one. */
static const struct rtl_shape *shape_of(const rtl_trace_t *trace, uint64_t key)
{
    /* Only a process that died while it defined a shape leaves kernels without one. */
    static const struct rtl_shape unknown = {
        .symbol = RTL_TRACE_NONE, .name = "unknown kernel", .mangled = ""};
    uint32_t found = rtl_index_get(&trace->shape_index, key);
    return found == RTL_INDEX_MISSING ? &unknown
                                      : (const struct rtl_shape *)trace->shapes.items + found;
}

/* All of a kernel but for its times on the trace's clock. */
static rtl_status_t describe(rtl_trace_t *trace, const struct rtl_chunk_row *row, uint32_t place,
                             const struct rtl_wire_kernel *wire, const struct rtl_shape *shape,
                             rtl_kernel_t *kernel)
{
    kernel->id = (uint64_t)row->number * RTL_CHUNK_KERNELS_MAX + place;
    kernel->process = row->chunk.process;
    kernel->gpu = row->gpu;
    kernel->queue = row->chunk.queue;
    kernel->packet = wire->packet;
    kernel->name = shape->name;
    kernel->mangled = shape->mangled;
    kernel->symbol = shape->symbol;
    kernel->start_ticks = wire->start;
    kernel->end_ticks = wire->end;
    memcpy(kernel->grid, shape->grid, sizeof kernel->grid);
    memcpy(kernel->block, shape->block, sizeof kernel->block);
    kernel->group_size = shape->group_size;
    kernel->private_size = shape->private_size;
    kernel->correlation = wire->correlation;
    kernel->launch_record = wire->launch;
    kernel->ordinal = wire->ordinal;
    return rtl_trace_resolve_node(trace, wire->launch, wire->ordinal, kernel);
}

rtl_status_t rtl_trace_describe_kernel(rtl_trace_t *trace, const struct rtl_chunk_row *row,
                                       uint32_t place, const struct rtl_wire_kernel *wire,
                                       rtl_kernel_t *kernel)
{
    uint64_t key = rtl_index_key(row->chunk.process, wire->shape);
    kernel->start = rtl_trace_ns(row->clock, wire->start);
    kernel->end = rtl_trace_ns(row->clock, wire->end);
    return describe(trace, row, place, wire, shape_of(trace, key), kernel);
}

static rtl_status_t fill(rtl_kernel_iter_t *iter, const struct cursor *cursor, rtl_kernel_t *kernel)
{
    const struct unpacked *chunk = &cursor->chunk;
    uint32_t place = cursor->places[cursor->next].kernel;
    const struct rtl_wire_kernel *wire = &chunk->kernels[place];
    struct known_shape *known = &iter->shapes[wire->shape % KNOWN_SHAPES];
    uint64_t key = rtl_index_key(chunk->row->chunk.process, wire->shape);
    if (!known->shape || known->key != key)
        *known = (struct known_shape){key, shape_of(iter->trace, key)};
    kernel->start = chunk->starts[place];
    kernel->end = chunk->ends[place];
    return describe(iter->trace, chunk->row, place, wire, known->shape, kernel);
}

static rtl_status_t next(rtl_kernel_iter_t *iter, rtl_kernel_t *kernel)
{
    while (must_open(iter)) {
        rtl_status_t status = open_next(iter);
        if (status != RTL_OK)
            return status;
    }
    if (iter->heap.count == 0)
        return RTL_END;
    struct cursor *least = iter->heap.items[0].cursor;
    rtl_status_t status = fill(iter, least, kernel);
    if (status != RTL_OK)
        return fail(iter, status);
    if (++least->next < least->count) {
        rtl_heap_advance(&iter->heap, least->places[least->next].key);
    } else {
        rtl_heap_pop(&iter->heap);
        retire(iter, least);
    }
    return RTL_OK;
}

rtl_status_t rtlKernelNext(rtl_kernel_iter_t *iter, rtl_kernel_t *kernel)
{
    rtl_status_t status = RTL_OK;
    if (!iter || !kernel)
        return RTL_E_ARGUMENT;
    if (iter->failed != RTL_OK)
        return iter->failed;
    do
        status = next(iter, kernel);
    while (status == RTL_OK && iter->chosen && !rtl_chosen_kernel(iter->chosen, kernel));
    return status;
}

static rtl_status_t choose_chunks(rtl_kernel_iter_t *iter, int64_t chunk)
{
    const struct rtl_list *chunks = &iter->trace->chunks;
    const struct rtl_chunk_row *rows = chunks->items;
    iter->waiting = calloc(chunks->count + 1, sizeof *iter->waiting);
    if (!iter->waiting)
        return fail_memory(iter);
    for (size_t i = 0; i < chunks->count; i++)
        if ((chunk == 0 || rows[i].number == chunk) &&
            rtl_trace_chunk_passes(&iter->filter, &rows[i]) &&
            rtl_select_may(select_of(iter), rows[i].chunk.process, rows[i].gpu) &&
            (!iter->chosen || rtl_chosen_chunk(iter->chosen, &rows[i])))
            iter->waiting[iter->waiting_count++] =
                (struct waiting){chunk_key(&iter->filter, &rows[i]), &rows[i]};
    qsort(iter->waiting, iter->waiting_count, sizeof *iter->waiting, by_key);
    return RTL_OK;
}

rtl_status_t rtl_trace_kernels(rtl_trace_t *trace, const rtl_kernel_filter_t *filter, int64_t chunk,
                               const struct rtl_graph_choice *choice, rtl_kernel_iter_t **iter)
{
    rtl_kernel_iter_t *made = calloc(1, sizeof *made);
    if (!made)
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    made->trace = trace;
    made->filter = *filter;
    made->all = trace->select_paused;
    made->unpackers[0] = new_unpacker();
    rtl_status_t status = made->unpackers[0] ? rtl_trace_load_graphs(trace) : fail_memory(made);
    if (status == RTL_OK && choice)
        status = rtl_chosen_new(trace, choice, &made->chosen);
    if (status == RTL_OK)
        status = choose_chunks(made, chunk);
    if (status == RTL_OK)
        status = rtl_trace_prepare_data(trace, &made->data);
    if (status == RTL_OK)
        *iter = made;
    else
        rtlKernelIterFree(made);
    return status;
}

rtl_status_t rtlTraceKernels(rtl_trace_t *trace, const rtl_kernel_filter_t *filter,
                             rtl_kernel_iter_t **iter)
{
    if (!trace || !filter || !iter)
        return RTL_E_ARGUMENT;
    *iter = NULL;
    return rtl_trace_kernels(trace, filter, 0, NULL, iter);
}

void rtlKernelIterFree(rtl_kernel_iter_t *iter)
{
    if (!iter)
        return;
    (void)sqlite3_finalize(iter->data);
    rtl_thread_pool_free(iter->pool, free_unpacked);
    free_unpacker(iter->unpackers[0]);
    free_unpacker(iter->unpackers[1]);
    free_unpacked(&iter->own);
    rtl_chosen_free(iter->chosen);
    for (size_t i = 0; i < iter->heap.count; i++)
        free_cursor(iter->heap.items[i].cursor);
    free_cursor(iter->spare);
    rtl_heap_free(&iter->heap);
    free(iter->waiting);
    free(iter);
}

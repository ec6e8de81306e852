/* Iterating over kernels: a merge of the chunks that a filter leaves, by time or by packet.
 *
 * The chunks stand in the order of the earliest kernel that each may hold. One is unpacked when the
 * merge reaches that; so as many are open at once as overlap, which is one per queue as long as the
 * kernels of a queue come about in order. */
#include "store/heap.h"
#include "store/reader.h"
#include "store/select.h"

#include <stdlib.h>
#include <string.h>

/* A kernel of an open chunk with its key. */
struct place {
    struct rtl_key key;
    uint32_t kernel;
};

/* A chunk that is being read. */
struct cursor {
    const struct rtl_chunk_row *row;
    struct rtl_wire_kernel *kernels;
    struct place *places; /* of the kernels that pass the filter, in order */
    uint32_t count, next;
    uint32_t capacity; /* of both arrays */
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
    struct rtl_codec *codec;
    struct waiting *waiting;
    size_t waiting_count, waiting_next;
    struct rtl_heap heap; /* of open chunks */
    struct cursor *spare; /* a closed one, for its memory */
    bool all;             /* also what is not selected */
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

static void free_cursor(struct cursor *cursor)
{
    if (!cursor)
        return;
    free(cursor->kernels);
    free(cursor->places);
    free(cursor);
}

static struct cursor *new_cursor(rtl_kernel_iter_t *iter, const struct rtl_chunk_row *row)
{
    struct cursor *cursor = iter->spare ? iter->spare : calloc(1, sizeof *cursor);
    iter->spare = NULL;
    if (!cursor)
        return NULL;
    uint32_t count = row->chunk.kernels;
    if (cursor->capacity < count) {
        free(cursor->kernels);
        free(cursor->places);
        cursor->kernels = calloc(count, sizeof *cursor->kernels);
        cursor->places = calloc(count, sizeof *cursor->places);
        cursor->capacity = count;
    }
    if (!cursor->kernels || !cursor->places) {
        free_cursor(cursor);
        return NULL;
    }
    cursor->row = row;
    cursor->count = cursor->next = 0;
    return cursor;
}

/* Puts the kernels that pass in order. They mostly are. */
static void order(const rtl_kernel_iter_t *iter, struct cursor *cursor)
{
    const struct rtl_chunk_row *row = cursor->row;
    const rtl_kernel_filter_t *filter = &iter->filter;
    bool all = filter->from == 0 && filter->to == 0;
    struct rtl_select_look look;
    bool selects = rtl_select_begin(select_of(iter), row->chunk.process, &look);
    bool sorted = true;
    struct rtl_key last = {0, 0};
    uint64_t queue = rtl_index_key(row->chunk.process, row->chunk.queue);
    for (uint32_t i = 0; i < row->chunk.kernels; i++) {
        const struct rtl_wire_kernel *kernel = &cursor->kernels[i];
        struct rtl_key key = {queue, kernel->packet};
        bool timed = !filter->by_queue || !all || look.windows;
        uint64_t start = timed ? rtl_trace_ns(row->clock, kernel->start) : 0;
        if (selects && !rtl_select_kernel(&look, kernel->shape, kernel->correlation, start))
            continue;
        if (!all && !rtl_trace_time_passes(filter, start, rtl_trace_ns(row->clock, kernel->end)))
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

static rtl_status_t unpack(rtl_kernel_iter_t *iter, struct cursor *cursor)
{
    const struct rtl_chunk_row *row = cursor->row;
    const unsigned char *data = NULL;
    size_t size = 0;
    rtl_status_t status = rtl_trace_chunk_data(iter->trace, iter->data, row, &data, &size);
    int decoded = status == RTL_OK
                      ? rtl_codec_decode(iter->codec, &row->chunk, data, size, cursor->kernels)
                      : 0;
    if (decoded == -2)
        status = rtl_trace_fail_sqlite(iter->trace, SQLITE_NOMEM);
    else if (decoded != 0)
        status = rtl_trace_fail_chunk(iter->trace, row);
    (void)sqlite3_reset(iter->data);
    return status == RTL_OK ? RTL_OK : fail(iter, status);
}

static void retire(rtl_kernel_iter_t *iter, struct cursor *cursor)
{
    free_cursor(iter->spare);
    iter->spare = cursor;
}

static rtl_status_t open_next(rtl_kernel_iter_t *iter)
{
    const struct rtl_chunk_row *row = iter->waiting[iter->waiting_next++].row;
    /* Before memory is asked for: a damaged row may claim anything. */
    if (row->chunk.kernels == 0 || row->chunk.kernels > RTL_CHUNK_KERNELS_MAX)
        return fail(iter, rtl_trace_fail_chunk(iter->trace, row));
    struct cursor *cursor = new_cursor(iter, row);
    if (!cursor)
        return fail_memory(iter);
    rtl_status_t status = unpack(iter, cursor);
    if (status == RTL_OK)
        order(iter, cursor);
    if (status != RTL_OK || cursor->count == 0) {
        retire(iter, cursor);
        return status;
    }
    if (rtl_heap_push(&iter->heap,
                      (struct rtl_heap_item){cursor->places[0].key, cursor->row, cursor}))
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

/* All of a kernel but for its start on the trace's clock. */
static rtl_status_t describe(rtl_trace_t *trace, const struct rtl_chunk_row *row, uint32_t place,
                             const struct rtl_wire_kernel *wire, rtl_kernel_t *kernel)
{
    /* Only a process that died while it defined a shape leaves kernels without one. */
    static const struct rtl_shape unknown = {
        .symbol = RTL_TRACE_NONE, .name = "unknown kernel", .mangled = ""};
    uint32_t found =
        rtl_index_get(&trace->shape_index, rtl_index_key(row->chunk.process, wire->shape));
    const struct rtl_shape *shape = found == RTL_INDEX_MISSING
                                        ? &unknown
                                        : (const struct rtl_shape *)trace->shapes.items + found;
    kernel->id = (uint64_t)row->number * RTL_CHUNK_KERNELS_MAX + place;
    kernel->process = row->chunk.process;
    kernel->gpu = row->gpu;
    kernel->queue = row->chunk.queue;
    kernel->packet = wire->packet;
    kernel->name = shape->name;
    kernel->mangled = shape->mangled;
    kernel->symbol = shape->symbol;
    kernel->end = rtl_trace_ns(row->clock, wire->end);
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
    kernel->start = rtl_trace_ns(row->clock, wire->start);
    return describe(trace, row, place, wire, kernel);
}

static rtl_status_t fill(const rtl_kernel_iter_t *iter, const struct cursor *cursor,
                         rtl_kernel_t *kernel)
{
    const struct place *place = &cursor->places[cursor->next];
    const struct rtl_wire_kernel *wire = &cursor->kernels[place->kernel];
    if (iter->filter.by_queue)
        return rtl_trace_describe_kernel(iter->trace, cursor->row, place->kernel, wire, kernel);
    kernel->start = place->key.major;
    return describe(iter->trace, cursor->row, place->kernel, wire, kernel);
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
    made->codec = rtl_codec_new();
    rtl_status_t status = made->codec ? rtl_trace_load_graphs(trace) : fail_memory(made);
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
    rtl_codec_free(iter->codec);
    rtl_chosen_free(iter->chosen);
    for (size_t i = 0; i < iter->heap.count; i++)
        free_cursor(iter->heap.items[i].cursor);
    free_cursor(iter->spare);
    rtl_heap_free(&iter->heap);
    free(iter->waiting);
    free(iter);
}

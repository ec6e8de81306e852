#include "store/stats_make.h"

#include "store/aggregate.h"
#include "store/reader.h"
#include "store/schema.h"
#include "store/stats_read.h"
#include "store/tables.h"

#include <stdlib.h>
#include <string.h>

/* So many groups are read in a tenth of a second, and take some 50 MB while they are made. Fewer,
 * where there are few kernels: statistics should not be as large as what they are of. */
#define GROUPS_MOST     262144u
#define GROUPS_ALWAYS   4096u
#define KERNELS_A_GROUP 8u

struct rtl_stats_packed {
    struct rtl_stat_block block;
    unsigned char *data;
    size_t size;
    size_t place; /* among all */
};

struct rtl_stats_chunk {
    struct rtl_chunk_stat_row row;
    unsigned char *data;
    size_t size;
};

/* Statistics in the making. */
struct packing {
    struct rtl_chunk_stat_codec *codec;
    struct rtl_list *chunks;
    struct rtl_list *blocks;
};

/* A group on its way into a block. */
struct placed {
    uint32_t process;
    struct rtl_stat_group group;
    const struct rtl_stat *stat;
};

static uint32_t most_of(const rtl_trace_t *trace)
{
    uint64_t most = GROUPS_ALWAYS + trace->info.kernels / KERNELS_A_GROUP;
    return most < GROUPS_MOST ? (uint32_t)most : GROUPS_MOST;
}

/* Chunks. */

static rtl_status_t pack_chunk(void *context, int64_t number, uint32_t kernels,
                               const struct rtl_chunk_stat *stat)
{
    const struct packing *packing = context;
    struct rtl_chunk_stat_row row = {.chunk = number};
    const unsigned char *data = NULL;
    size_t size = 0;
    if ((uint64_t)stat->count * RTL_CHUNK_STAT_KERNELS > kernels)
        return RTL_OK;
    struct rtl_stats_chunk *chunk = rtl_list_append(packing->chunks, sizeof *chunk);
    if (!chunk || rtl_chunk_stat_pack(packing->codec, stat, &row, &data, &size) != 0 ||
        !(chunk->data = malloc(size)))
        return RTL_E_MEMORY;
    memcpy(chunk->data, data, size);
    chunk->row = row;
    chunk->size = size;
    return RTL_OK;
}

static void free_chunks(struct rtl_list *chunks)
{
    const struct rtl_stats_chunk *chunk = chunks->items;
    for (size_t i = 0; i < chunks->count; i++)
        free(chunk[i].data);
    rtl_list_free(chunks);
}

/* Groups. */

static int compare_u32(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

/* What lies next to each other is alike. */
static int compare(const void *left, const void *right)
{
    const struct placed *a = left;
    const struct placed *b = right;
    int order = compare_u32(a->process, b->process);
    order = order ? order : compare_u32(a->group.queue, b->group.queue);
    order = order ? order : compare_u32(a->group.graph, b->group.graph);
    order = order ? order : compare_u32(a->group.generation, b->group.generation);
    order = order ? order : compare_u32(a->group.node, b->group.node);
    return order ? order : compare_u32(a->group.shape, b->group.shape);
}

static struct placed *place_groups(const rtl_aggregate_t *aggregate,
                                   const struct rtl_aggregate_group *groups, size_t count)
{
    struct placed *placed = malloc((count + 1) * sizeof *placed);
    for (size_t i = 0; placed && i < count; i++) {
        const struct rtl_aggregate_key *key = &groups[i].key;
        const struct rtl_shape *shape = rtl_aggregate_shape(aggregate, groups[i].shape_group);
        /* No process is 0: nobody knows the shape. */
        uint32_t number = shape->process ? shape->shape : RTL_NONE;
        placed[i] =
            (struct placed){.process = key->process,
                            .group = {key->queue, number, key->graph, key->generation, key->node},
                            .stat = &groups[i].stat};
    }
    if (placed && count)
        qsort(placed, count, sizeof *placed, compare);
    return placed;
}

static bool end_block(struct rtl_stat_codec *codec, uint32_t process, struct rtl_list *blocks)
{
    struct rtl_stat_block block = {.process = process};
    const unsigned char *data = NULL;
    size_t size = 0;
    if (rtl_stat_is_empty(codec))
        return true;
    struct rtl_stats_packed *packed = rtl_list_append(blocks, sizeof *packed);
    if (!packed || rtl_stat_pack(codec, &block, &data, &size) != 0 ||
        !(packed->data = malloc(size)))
        return false;
    memcpy(packed->data, data, size);
    packed->block = block;
    packed->size = size;
    rtl_stat_begin(codec);
    return true;
}

static bool pack(struct rtl_stat_codec *codec, const struct placed *placed, size_t count,
                 struct rtl_list *blocks)
{
    for (size_t i = 0; i < count; i++) {
        if (i && (rtl_stat_is_full(codec) || placed[i].process != placed[i - 1].process) &&
            !end_block(codec, placed[i - 1].process, blocks))
            return false;
        rtl_stat_put(codec, &placed[i].group, placed[i].stat);
    }
    return count == 0 || end_block(codec, placed[count - 1].process, blocks);
}

static void free_blocks(struct rtl_list *blocks)
{
    const struct rtl_stats_packed *packed = blocks->items;
    for (size_t i = 0; i < blocks->count; i++)
        free(packed[i].data);
    rtl_list_free(blocks);
}

/* The groups of a process. */
static rtl_status_t pack_groups(void *context, const rtl_aggregate_t *aggregate,
                                const struct rtl_aggregate_group *groups, size_t count)
{
    const struct packing *packing = context;
    struct placed *placed = place_groups(aggregate, groups, count);
    struct rtl_stat_codec *codec = rtl_stat_codec_new();
    bool packed = placed && codec && pack(codec, placed, count, packing->blocks);
    rtl_stat_codec_free(codec);
    free(placed);
    return packed ? RTL_OK : RTL_E_MEMORY;
}

/* Blocks of one process lie as they were made. */
static int compare_blocks(const void *left, const void *right)
{
    const struct rtl_stats_packed *a = left;
    const struct rtl_stats_packed *b = right;
    int order = compare_u32(a->block.process, b->block.process);
    return order ? order : (a->place > b->place) - (a->place < b->place);
}

static void sort_blocks(struct rtl_list *blocks)
{
    struct rtl_stats_packed *packed = blocks->items;
    for (size_t i = 0; i < blocks->count; i++)
        packed[i].place = i;
    if (blocks->count)
        qsort(packed, blocks->count, sizeof *packed, compare_blocks);
}

static rtl_status_t add_up_by(rtl_trace_t *trace, unsigned by, struct rtl_stats_made *made,
                              bool *many, rtl_aggregate_t **aggregate)
{
    const rtl_aggregate_request_t request = RTL_AGGREGATE_BY(by);
    struct packing packing = {rtl_chunk_stat_codec_new(), &made->chunks, &made->blocks};
    const struct rtl_aggregate_watch watch = {&packing, pack_groups, pack_chunk};
    free_chunks(&made->chunks);
    free_blocks(&made->blocks);
    rtl_status_t status = packing.codec ? rtl_aggregate_kernels(trace, &request, most_of(trace),
                                                                &watch, many, aggregate)
                                        : rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    rtl_chunk_stat_codec_free(packing.codec);
    return status;
}

static rtl_status_t add_up(rtl_trace_t *trace, struct rtl_stats_made *made,
                           rtl_aggregate_t **aggregate)
{
    bool many = false;
    rtl_status_t status =
        add_up_by(trace, RTL_STATS_BY_QUEUE | RTL_STATS_BY_GRAPH, made, &many, aggregate);
    made->graphs = status == RTL_OK;
    if (many)
        status = add_up_by(trace, RTL_STATS_BY_QUEUE, made, &many, aggregate);
    return many ? RTL_OK : status;
}

static bool add_span(struct rtl_list *spans, const rtl_span_t *span, struct rtl_stats_span id)
{
    struct rtl_stats_span *added =
        span->kernels ? rtl_list_append(spans, sizeof *added) : (struct rtl_stats_span *)&id;
    if (!added)
        return false;
    id.kernels = span->kernels;
    id.start = span->first;
    id.end = span->last;
    id.busy = span->busy;
    id.overlap = span->overlap;
    *added = id;
    return true;
}

static rtl_status_t make_spans(const rtl_aggregate_t *aggregate, struct rtl_list *spans)
{
    const rtl_queue_time_t *queues = NULL;
    const rtl_device_time_t *devices = NULL;
    size_t queue_count = 0;
    size_t device_count = 0;
    bool made = true;
    (void)rtlAggregateQueues(aggregate, &queues, &queue_count);
    (void)rtlAggregateDevices(aggregate, &devices, &device_count);
    for (size_t i = 0; i < device_count && made; i++)
        made = add_span(spans, &devices[i].span,
                        (struct rtl_stats_span){.process = devices[i].agent->process,
                                                .agent = devices[i].agent->agent,
                                                .queue = RTL_TRACE_NONE,
                                                .copied = devices[i].copied_under});
    for (size_t i = 0; i < queue_count && made; i++)
        made = add_span(spans, &queues[i].span,
                        (struct rtl_stats_span){.process = queues[i].queue->process,
                                                .agent = RTL_TRACE_NONE,
                                                .queue = queues[i].queue->queue});
    return made ? RTL_OK : RTL_E_MEMORY;
}

rtl_status_t rtl_stats_make(rtl_trace_t *trace, struct rtl_stats_made *made)
{
    rtl_aggregate_t *aggregate = NULL;
    *made = (struct rtl_stats_made){0};
    trace->by_process = true;
    rtl_status_t status = add_up(trace, made, &aggregate);
    if (status != RTL_OK || !aggregate) {
        rtl_stats_free(made); /* there may be some of the first processes */
        return status;
    }
    sort_blocks(&made->blocks);
    status = make_spans(aggregate, &made->spans);
    made->made = status == RTL_OK;
    rtlAggregateFree(aggregate);
    return status == RTL_OK ? RTL_OK : rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
}

void rtl_stats_free(struct rtl_stats_made *made)
{
    free_chunks(&made->chunks);
    free_blocks(&made->blocks);
    rtl_list_free(&made->spans);
    *made = (struct rtl_stats_made){0};
}

uint32_t rtl_stats_block(const struct rtl_stats_made *made, size_t block, uint64_t *bytes)
{
    const struct rtl_stats_packed *packed =
        (const struct rtl_stats_packed *)made->blocks.items + block;
    *bytes += packed->size;
    return packed->block.groups;
}

uint64_t rtl_stats_chunk_bytes(const struct rtl_stats_made *made)
{
    const struct rtl_stats_chunk *chunk = made->chunks.items;
    uint64_t bytes = 0;
    for (size_t i = 0; i < made->chunks.count; i++)
        bytes += chunk[i].size;
    return bytes;
}

/* Storing. */

static int run(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

static int step(sqlite3_stmt *statement)
{
    (void)sqlite3_step(statement);
    return sqlite3_reset(statement);
}

static int store_blocks(sqlite3 *db, const struct rtl_list *blocks)
{
    const struct rtl_stats_packed *packed = blocks->items;
    sqlite3_stmt *insert = NULL;
    int result = sqlite3_prepare_v2(
        db, "INSERT INTO main.stat_blocks VALUES(NULL, ?, ?, ?, ?, ?, ?)", -1, &insert, NULL);
    for (size_t i = 0; i < blocks->count && result == SQLITE_OK; i++) {
        const struct rtl_stat_block *block = &packed[i].block;
        (void)sqlite3_bind_int64(insert, 1, block->process);
        (void)sqlite3_bind_int64(insert, 2, block->groups);
        (void)sqlite3_bind_int64(insert, 3, block->bins);
        (void)sqlite3_bind_int64(insert, 4, (int64_t)block->kernels);
        (void)sqlite3_bind_int64(insert, 5, block->checksum);
        (void)sqlite3_bind_blob64(insert, 6, packed[i].data, packed[i].size, SQLITE_STATIC);
        result = step(insert);
    }
    (void)sqlite3_finalize(insert);
    return result;
}

static void bind_id(sqlite3_stmt *statement, int place, uint32_t id)
{
    if (id == RTL_TRACE_NONE)
        (void)sqlite3_bind_null(statement, place);
    else
        (void)sqlite3_bind_int64(statement, place, id);
}

static int store_spans(sqlite3 *db, const struct rtl_list *spans)
{
    const struct rtl_stats_span *span = spans->items;
    sqlite3_stmt *insert = NULL;
    int result = sqlite3_prepare_v2(
        db, "INSERT INTO main.stat_spans VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)", -1, &insert, NULL);
    for (size_t i = 0; i < spans->count && result == SQLITE_OK; i++) {
        const uint64_t numbers[] = {span[i].kernels, span[i].start,   span[i].end,
                                    span[i].busy,    span[i].overlap, span[i].copied};
        (void)sqlite3_bind_int64(insert, 1, span[i].process);
        bind_id(insert, 2, span[i].agent);
        bind_id(insert, 3, span[i].queue);
        for (int k = 0; k < 6; k++)
            (void)sqlite3_bind_int64(insert, 4 + k, (int64_t)numbers[k]);
        result = step(insert);
    }
    (void)sqlite3_finalize(insert);
    return result;
}

static int store_chunks(sqlite3 *db, const struct rtl_list *chunks)
{
    const struct rtl_stats_chunk *chunk = chunks->items;
    sqlite3_stmt *insert = NULL;
    int result = sqlite3_prepare_v2(db, "INSERT INTO main.stat_chunks VALUES(?, ?, ?, ?, ?)", -1,
                                    &insert, NULL);
    for (size_t i = 0; i < chunks->count && result == SQLITE_OK; i++) {
        (void)sqlite3_bind_int64(insert, 1, chunk[i].row.chunk);
        (void)sqlite3_bind_int64(insert, 2, chunk[i].row.shapes);
        (void)sqlite3_bind_int64(insert, 3, (int64_t)chunk[i].row.busy);
        (void)sqlite3_bind_int64(insert, 4, chunk[i].row.checksum);
        (void)sqlite3_bind_blob64(insert, 5, chunk[i].data, chunk[i].size, SQLITE_STATIC);
        result = step(insert);
    }
    (void)sqlite3_finalize(insert);
    return result;
}

int rtl_stats_store(sqlite3 *db, const struct rtl_stats_made *made)
{
    int result = run(db, rtl_schema_stats);
    if (result == SQLITE_OK)
        result = run(db, "DELETE FROM main.stat_blocks; DELETE FROM main.stat_spans;"
                         "DELETE FROM main.stat_chunks;"
                         "DELETE FROM main.meta WHERE key IN ('stats', 'stats_graphs')");
    if (result == SQLITE_OK)
        result = store_blocks(db, &made->blocks);
    if (result == SQLITE_OK)
        result = store_spans(db, &made->spans);
    return result == SQLITE_OK ? store_chunks(db, &made->chunks) : result;
}

int rtl_stats_seal(sqlite3 *db, const struct rtl_stats_made *made)
{
    uint32_t basis;
    sqlite3_stmt *insert = NULL;
    if (!made->made)
        return SQLITE_OK;
    if (!rtl_stats_basis(db, &basis))
        return SQLITE_ERROR;
    int result = sqlite3_prepare_v2(
        db, "INSERT OR REPLACE INTO main.meta VALUES('stats', ?), ('stats_graphs', ?)", -1, &insert,
        NULL);
    if (result == SQLITE_OK) {
        (void)sqlite3_bind_int64(insert, 1, basis);
        (void)sqlite3_bind_int(insert, 2, made->graphs);
        result = step(insert);
    }
    (void)sqlite3_finalize(insert);
    return result == SQLITE_OK ? rtl_digest_renew(db, "meta") : result;
}

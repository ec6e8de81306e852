/* Which blocks of launches a trace has, and which of them are in memory. */
#include "store/launch_blocks.h"

#include "common/lower_bound.h"
#include "store/tables.h"

#include <stdlib.h>

/* Blocks that are kept, at least; some 1.2 MB each. */
#define KEEP_LEAST 8u

rtl_status_t rtl_blocks_damaged(rtl_trace_t *trace, const struct rtl_launch_block *block)
{
    return rtl_trace_fail(trace, RTL_E_DAMAGED,
                          "the trace %s is damaged: chunk %lld of graph launches does not match "
                          "its checksum or its format",
                          trace->path, (long long)block->number);
}

static int take_block(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    struct rtl_launch_block *block = item;
    struct rtl_launch_chunk *chunk = &block->chunk;
    uint32_t *const small[] = {&chunk->process, &chunk->launches,   &chunk->spans,
                               &chunk->headed,  &chunk->launch_min, &chunk->launch_max};
    for (int i = 0; i < 6; i++)
        *small[i] = rtl_row_u32(trace, row, 1 + i);
    block->number = sqlite3_column_int64(row, 0);
    chunk->time_min = rtl_row_u64(row, 7);
    chunk->time_max = rtl_row_u64(row, 8);
    chunk->correlation_min = rtl_row_u64(row, 9);
    chunk->correlation_max = rtl_row_u64(row, 10);
    chunk->summary_checksum = rtl_row_u32(trace, row, 11);
    chunk->checksum = rtl_row_u32(trace, row, 12);
    block->process = chunk->process;
    block->to = chunk->launch_max;
    block->end = UINT64_MAX;
    return 0;
}

static rtl_status_t add_stray_of(rtl_trace_t *trace, struct rtl_launch_blocks *blocks,
                                 size_t chunks, uint32_t process)
{
    for (size_t i = 0; i < chunks; i++)
        if (rtl_blocks_at(blocks, i)->process == process)
            return RTL_OK;
    struct rtl_launch_block *block = rtl_list_append(&blocks->blocks, sizeof *block);
    if (!block)
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    *block = (struct rtl_launch_block){.process = process, .end = UINT64_MAX};
    return RTL_OK;
}

/* Processes that have rows and no chunks get a block each. */
static rtl_status_t add_stray(rtl_trace_t *trace, struct rtl_launch_blocks *blocks)
{
    sqlite3_stmt *row = NULL;
    rtl_status_t status = RTL_OK;
    size_t chunks = blocks->blocks.count;
    int result = sqlite3_prepare_v2(
        trace->db, "SELECT min(process) FROM main.graph_launch_rows WHERE process > ?", -1, &row,
        NULL);
    for (uint32_t process = 0; result == SQLITE_OK && status == RTL_OK;) {
        uint32_t last = process;
        result = sqlite3_bind_int64(row, 1, last);
        if (result != SQLITE_OK || sqlite3_step(row) != SQLITE_ROW ||
            sqlite3_column_type(row, 0) == SQLITE_NULL) {
            result = result == SQLITE_OK ? sqlite3_reset(row) : result;
            break;
        }
        process = rtl_row_u32(trace, row, 0);
        /* What is no whole number, and so above itself, would come for ever. */
        status = process > last && !trace->damaged
                     ? add_stray_of(trace, blocks, chunks, process)
                     : rtl_trace_fail(trace, RTL_E_DAMAGED,
                                      "the trace %s is damaged: graph_launch_rows has a row of a "
                                      "process that is no number of one",
                                      trace->path);
        result = sqlite3_reset(row);
    }
    if (status == RTL_OK && result != SQLITE_OK)
        status = rtl_trace_fail_sqlite(trace, result);
    (void)sqlite3_finalize(row);
    return status;
}

static int by_process(const void *left, const void *right)
{
    const struct rtl_launch_block *a = left;
    const struct rtl_launch_block *b = right;
    int order = rtl_blocks_compare(a->process, b->process);
    order = order ? order : rtl_blocks_compare(a->chunk.launch_min, b->chunk.launch_min);
    return order ? order : rtl_blocks_compare((uint64_t)a->number, (uint64_t)b->number);
}

/* Blocks of a process follow each other, and leave no launch out. */
static rtl_status_t join(rtl_trace_t *trace, struct rtl_launch_blocks *blocks)
{
    size_t count = blocks->blocks.count;
    if (count)
        qsort(blocks->blocks.items, count, sizeof(struct rtl_launch_block), by_process);
    for (size_t i = 0; i < count; i++) {
        struct rtl_launch_block *block = rtl_blocks_at(blocks, i);
        const struct rtl_launch_block *before = i ? rtl_blocks_at(blocks, i - 1) : NULL;
        bool first = !before || before->process != block->process;
        bool last = i + 1 == count || rtl_blocks_at(blocks, i + 1)->process != block->process;
        if (block->number && (block->chunk.launch_min > block->chunk.launch_max ||
                              (!first && block->chunk.launch_min <= before->chunk.launch_max)))
            return rtl_blocks_damaged(trace, block);
        block->from = first ? 0 : before->to + 1;
        block->to = last ? UINT32_MAX : block->to;
    }
    return RTL_OK;
}

static bool ends_before(const struct rtl_launch_block *block, uint32_t process, uint32_t launch)
{
    return block->process < process || (block->process == process && block->to < launch);
}

size_t rtl_blocks_of(const struct rtl_launch_blocks *blocks, uint32_t process, uint32_t launch)
{
    size_t low;
    RTL_LOWER_BOUND(low, blocks->blocks.count,
                    ends_before(rtl_blocks_at(blocks, low), process, launch));
    return low < blocks->blocks.count && rtl_blocks_at(blocks, low)->process == process
               ? low
               : blocks->blocks.count;
}

/* Not a list: the block of each row is marked. */
static int take_loose(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    (void)item;
    struct rtl_launch_blocks *blocks = rtl_trace_blocks(trace);
    size_t block = rtl_blocks_of(blocks, rtl_row_u32(trace, row, 0), rtl_row_u32(trace, row, 1));
    if (block < blocks->blocks.count)
        rtl_blocks_at(blocks, block)->loose = true;
    return 0;
}

static rtl_status_t mark_loose(rtl_trace_t *trace, const char *query)
{
    struct rtl_list none = {0};
    rtl_status_t status = rtl_table_load(trace, &(struct rtl_table){query, 1, take_loose, &none});
    rtl_list_free(&none);
    return status;
}

rtl_status_t rtl_blocks_load(rtl_trace_t *trace)
{
    struct rtl_launch_blocks *blocks = rtl_trace_blocks(trace);
    const struct rtl_table chunks = {
        "SELECT chunk, process, launches, spans, headed, launch_min, launch_max, time_min,"
        " time_max, correlation_min, correlation_max, summary_checksum, checksum"
        " FROM main.launch_chunks",
        sizeof(struct rtl_launch_block), take_block, &blocks->blocks};
    blocks->keep = trace->by_process ? 0 : 2 * trace->processes.count;
    if (blocks->keep < KEEP_LEAST)
        blocks->keep = KEEP_LEAST;
    blocks->codec = rtl_launch_codec_new();
    if (!blocks->codec)
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    rtl_status_t status = rtl_trace_look_for(trace, "launch_chunks");
    blocks->chunked = status == RTL_OK;
    if (blocks->chunked)
        status = rtl_table_load(trace, &chunks);
    if (status == RTL_OK || status == RTL_END)
        status = add_stray(trace, blocks);
    if (status == RTL_OK)
        status = join(trace, blocks);
    if (status == RTL_OK)
        status = mark_loose(trace, "SELECT process, launch FROM main.graph_launch_rows");
    if (status == RTL_OK && blocks->chunked)
        status = mark_loose(trace, "SELECT process, launch FROM main.graph_launch_late");
    return status;
}

static void free_loaded(struct rtl_launch_loaded *loaded)
{
    if (!loaded)
        return;
    free(loaded->rows);
    free(loaded->records);
    free(loaded->order);
    free(loaded->spans);
    rtl_list_free(&loaded->more);
    free(loaded);
}

void rtl_blocks_free(struct rtl_launch_blocks *blocks)
{
    if (!blocks)
        return;
    struct rtl_launch_loaded **kept = blocks->kept.items;
    for (size_t i = 0; i < blocks->kept.count; i++)
        free_loaded(kept[i]);
    struct rtl_launch_counter *counters = blocks->counters.items;
    for (size_t i = 0; i < blocks->counters.count; i++)
        rtl_list_free(&counters[i].places);
    struct rtl_launch_lane *lanes = blocks->lanes.items;
    for (size_t i = 0; i < blocks->lanes.count; i++)
        rtl_list_free(&lanes[i].stretches);
    struct rtl_list *const lists[] = {&blocks->blocks, &blocks->counters, &blocks->lanes,
                                      &blocks->heads,  &blocks->kept,     &blocks->spans};
    for (size_t i = 0; i < sizeof lists / sizeof(struct rtl_list *); i++)
        rtl_list_free(lists[i]);
    rtl_index_free(&blocks->by_graph);
    rtl_index_free(&blocks->by_thread);
    rtl_launch_codec_free(blocks->codec);
    free(blocks);
}

bool rtl_blocks_begins(const struct rtl_launch_row *row, const struct rtl_launch_record *record)
{
    return row->graph != RTL_TRACE_NONE || record->plan->begins ||
           (record->head && record->head->begins);
}

struct rtl_launch_counter *rtl_blocks_counter(const struct rtl_launch_blocks *blocks,
                                              uint32_t process, uint32_t graph)
{
    uint32_t place = rtl_index_get(&blocks->by_graph, rtl_index_key(process, graph));
    return place == RTL_INDEX_MISSING ? NULL
                                      : (struct rtl_launch_counter *)blocks->counters.items + place;
}

struct rtl_launch_lane *rtl_blocks_lane(const struct rtl_launch_blocks *blocks, uint32_t counter,
                                        uint32_t thread)
{
    uint32_t place = rtl_index_get(&blocks->by_thread, rtl_index_key(counter, thread));
    return place == RTL_INDEX_MISSING ? NULL
                                      : (struct rtl_launch_lane *)blocks->lanes.items + place;
}

/* Throws out the block that was not used for longest, if there are enough. */
static void make_room(struct rtl_launch_blocks *blocks)
{
    struct rtl_launch_loaded **kept = blocks->kept.items;
    size_t oldest = 0;
    if (blocks->kept.count < blocks->keep)
        return;
    for (size_t i = 1; i < blocks->kept.count; i++)
        if (kept[i]->used < kept[oldest]->used)
            oldest = i;
    rtl_blocks_at(blocks, kept[oldest]->block)->loaded = NULL;
    if (blocks->found == kept[oldest])
        blocks->found = NULL;
    free_loaded(kept[oldest]);
    kept[oldest] = kept[--blocks->kept.count];
}

static rtl_status_t load_block(rtl_trace_t *trace, size_t place)
{
    struct rtl_launch_blocks *blocks = rtl_trace_blocks(trace);
    struct rtl_launch_loaded *loaded = calloc(1, sizeof *loaded);
    make_room(blocks);
    struct rtl_launch_loaded **kept =
        loaded ? rtl_list_append(&blocks->kept, sizeof(struct rtl_launch_loaded *)) : NULL;
    if (!kept) {
        free(loaded);
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    }
    loaded->block = place;
    rtl_status_t status = rtl_blocks_read(trace, rtl_blocks_at(blocks, place), loaded);
    if (status != RTL_OK) {
        free_loaded(loaded);
        blocks->kept.count--;
        return status;
    }
    *kept = loaded;
    rtl_blocks_at(blocks, place)->loaded = loaded;
    return RTL_OK;
}

rtl_status_t rtl_blocks_fetch_raw(rtl_trace_t *trace, size_t block,
                                  const struct rtl_launch_loaded **loaded)
{
    struct rtl_launch_blocks *blocks = rtl_trace_blocks(trace);
    struct rtl_launch_block *it = rtl_blocks_at(blocks, block);
    rtl_status_t status = it->loaded ? RTL_OK : load_block(trace, block);
    if (status != RTL_OK)
        return status;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): load_block has set it */
    it->loaded->used = ++blocks->clock;
    *loaded = it->loaded;
    return RTL_OK;
}

#include "store/launch_blocks.h"

#include "store/tables.h"

#include <stdlib.h>
#include <string.h>

/* Blocks that are kept, at least; some 1.2 MB each. */
#define KEEP_LEAST 8u

static struct rtl_launch_block *block_at(const struct rtl_launch_blocks *blocks, size_t block)
{
    return (struct rtl_launch_block *)blocks->blocks.items + block;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

rtl_status_t rtl_blocks_damaged(rtl_trace_t *trace, const struct rtl_launch_block *block)
{
    return rtl_trace_fail(trace, RTL_E_DAMAGED,
                          "the trace %s is damaged: chunk %lld of graph launches does not match "
                          "its checksum or its format",
                          trace->path, (long long)block->number);
}

/* All blocks. */

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
        if (block_at(blocks, i)->process == process)
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
    int order = compare_numbers(a->process, b->process);
    order = order ? order : compare_numbers(a->chunk.launch_min, b->chunk.launch_min);
    return order ? order : compare_numbers((uint64_t)a->number, (uint64_t)b->number);
}

/* Blocks of a process follow each other, and leave no launch out. */
static rtl_status_t join(rtl_trace_t *trace, struct rtl_launch_blocks *blocks)
{
    size_t count = blocks->blocks.count;
    if (count)
        qsort(blocks->blocks.items, count, sizeof(struct rtl_launch_block), by_process);
    for (size_t i = 0; i < count; i++) {
        struct rtl_launch_block *block = block_at(blocks, i);
        const struct rtl_launch_block *before = i ? block_at(blocks, i - 1) : NULL;
        bool first = !before || before->process != block->process;
        bool last = i + 1 == count || block_at(blocks, i + 1)->process != block->process;
        if (block->number && (block->chunk.launch_min > block->chunk.launch_max ||
                              (!first && block->chunk.launch_min <= before->chunk.launch_max)))
            return rtl_blocks_damaged(trace, block);
        block->from = first ? 0 : before->to + 1;
        block->to = last ? UINT32_MAX : block->to;
    }
    return RTL_OK;
}

/* The block that a launch is in, or would be; `count` of them: none. */
static size_t block_of(const struct rtl_launch_blocks *blocks, uint32_t process, uint32_t launch)
{
    size_t low = 0;
    for (size_t high = blocks->blocks.count; low < high;) {
        size_t middle = low + (high - low) / 2;
        const struct rtl_launch_block *block = block_at(blocks, middle);
        if (block->process < process || (block->process == process && block->to < launch))
            low = middle + 1;
        else
            high = middle;
    }
    return low < blocks->blocks.count && block_at(blocks, low)->process == process
               ? low
               : blocks->blocks.count;
}

/* Not a list: the block of each row is marked. */
static int take_loose(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    (void)item;
    struct rtl_launch_blocks *blocks = rtl_trace_blocks(trace);
    size_t block = block_of(blocks, rtl_row_u32(trace, row, 0), rtl_row_u32(trace, row, 1));
    if (block < blocks->blocks.count)
        block_at(blocks, block)->loose = true;
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
    blocks->keep = 2 * trace->processes.count;
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
    return status == RTL_OK ? rtl_blocks_tally(trace) : status;
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
    rtl_map_clear(&blocks->by_graph);
    rtl_map_clear(&blocks->by_thread);
    rtl_launch_codec_free(blocks->codec);
    free(blocks);
}

/* One block. */

static rtl_status_t unpack(rtl_trace_t *trace, const struct rtl_launch_block *block,
                           struct rtl_launch_loaded *loaded, sqlite3_stmt *row)
{
    const unsigned char *data = sqlite3_column_blob(row, 0);
    size_t size = (size_t)sqlite3_column_bytes(row, 0);
    if (!data && sqlite3_errcode(trace->db) == SQLITE_NOMEM)
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    if (!data || !rtl_launch_intact(&block->chunk, data, size))
        return rtl_blocks_damaged(trace, block);
    loaded->rows = malloc(block->chunk.launches * sizeof *loaded->rows);
    loaded->spans = malloc((block->chunk.spans + (size_t)1) * sizeof *loaded->spans);
    if (!loaded->rows || !loaded->spans)
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    loaded->count = block->chunk.launches;
    int decoded = rtl_launch_decode(rtl_trace_blocks(trace)->codec, &block->chunk, data, size,
                                    loaded->rows, loaded->spans);
    if (decoded == -2)
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    return decoded == 0 ? RTL_OK : rtl_blocks_damaged(trace, block);
}

static rtl_status_t read_chunk(rtl_trace_t *trace, const struct rtl_launch_block *block,
                               struct rtl_launch_loaded *loaded)
{
    sqlite3_stmt *row = NULL;
    rtl_status_t status = RTL_OK;
    int result = sqlite3_prepare_v2(
        trace->db, "SELECT data FROM main.launch_chunks WHERE chunk = ?", -1, &row, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_bind_int64(row, 1, block->number);
    if (result == SQLITE_OK)
        result = sqlite3_step(row);
    if (result == SQLITE_ROW)
        status = unpack(trace, block, loaded, row);
    else
        status = result == SQLITE_DONE ? rtl_blocks_damaged(trace, block)
                                       : rtl_trace_fail_sqlite(trace, result);
    (void)sqlite3_finalize(row);
    return status;
}

/* Rows of a block. */

static int take_row(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    struct rtl_list *spans = &rtl_trace_blocks(trace)->spans;
    struct rtl_launch_row *it = item;
    it->launch = rtl_row_u32(trace, row, 0);
    it->graph = rtl_row_id(trace, row, 1);
    it->generation = it->graph == RTL_TRACE_NONE ? 0 : rtl_row_u32(trace, row, 2);
    it->plan = rtl_row_u32(trace, row, 3);
    it->head_plan = rtl_row_u32(trace, row, 4);
    it->time = rtl_row_u64(row, 5);
    it->correlation = rtl_row_u64(row, 6);
    it->range = rtl_row_u64(row, 7);
    it->thread = rtl_row_u32(trace, row, 8);
    it->queue = rtl_row_id(trace, row, 9);
    it->first = rtl_row_u64(row, 10);
    it->packets = rtl_row_u32(trace, row, 11);
    it->kernels = rtl_row_u32(trace, row, 12);
    it->recorded = rtl_row_u32(trace, row, 13);
    it->unseen = rtl_row_u32(trace, row, 14);
    it->span = (uint32_t)spans->count;
    if (sqlite3_column_type(row, 15) == SQLITE_NULL)
        return 0;
    struct rtl_graphs_span *span = rtl_list_append(spans, sizeof *span);
    if (!span)
        return -1;
    it->span_count = 1;
    *span = (struct rtl_graphs_span){rtl_row_u32(trace, row, 15), rtl_row_u64(row, 16),
                                     rtl_row_u64(row, 17)};
    return 0;
}

static int take_more(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    struct rtl_launch_more *more = item;
    more->launch = rtl_row_u32(trace, row, 0);
    more->span = (struct rtl_graphs_span){rtl_row_u32(trace, row, 1), rtl_row_u64(row, 2),
                                          rtl_row_u64(row, 3)};
    return 0;
}

/* Kernels that came late to a launch. */
struct late {
    uint32_t launch;
    uint32_t recorded;
};

static int take_late(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    struct late *late = item;
    late->launch = rtl_row_u32(trace, row, 0);
    late->recorded = rtl_row_u32(trace, row, 1);
    return 0;
}

/* The rows of a table that belong to a block, by launch. */
static rtl_status_t read_table(rtl_trace_t *trace, const struct rtl_launch_block *block,
                               const char *columns, const char *from, struct rtl_table table)
{
    char *query = sqlite3_mprintf("SELECT %s FROM main.%s WHERE process = %u"
                                  " AND launch BETWEEN %u AND %u ORDER BY launch",
                                  columns, from, block->process, block->from, block->to);
    table.query = query;
    rtl_status_t status =
        query ? rtl_table_load(trace, &table) : rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    sqlite3_free(query);
    return status;
}

static int by_launch(const void *left, const void *right)
{
    const struct rtl_launch_row *a = left;
    const struct rtl_launch_row *b = right;
    int order = compare_numbers(a->launch, b->launch);
    return order ? order : compare_numbers(a->span, b->span);
}

/* Puts rows among those of the chunk. */
static rtl_status_t merge(rtl_trace_t *trace, const struct rtl_launch_block *block,
                          struct rtl_launch_loaded *loaded, const struct rtl_list *rows,
                          const struct rtl_list *spans)
{
    size_t old = block->number ? block->chunk.spans : 0;
    size_t count = loaded->count + rows->count;
    if (count > UINT32_MAX / 2)
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    struct rtl_launch_row *all = realloc(loaded->rows, (count + 1) * sizeof *all);
    if (all)
        loaded->rows = all;
    struct rtl_graphs_span *more = realloc(loaded->spans, (old + spans->count + 1) * sizeof *more);
    if (more)
        loaded->spans = more;
    if (!all || !more)
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    if (spans->count)
        memcpy(more + old, spans->items, spans->count * sizeof *more);
    for (size_t i = 0; i < rows->count; i++) {
        all[loaded->count] = ((const struct rtl_launch_row *)rows->items)[i];
        all[loaded->count++].span += (uint32_t)old;
    }
    if (block->number && rows->count)
        qsort(all, count, sizeof *all, by_launch);
    return RTL_OK;
}

static rtl_status_t read_rows(rtl_trace_t *trace, const struct rtl_launch_block *block,
                              struct rtl_launch_loaded *loaded)
{
    struct rtl_list rows = {0};
    struct rtl_list *spans = &rtl_trace_blocks(trace)->spans;
    spans->count = 0;
    rtl_status_t status = read_table(
        trace, block,
        "launch, graph, generation, plan, head_plan, time, correlation, range, thread, queue,"
        " first, packets, kernels, recorded, unseen, clock_queue, start_ticks, end_ticks",
        "graph_launch_rows",
        (struct rtl_table){.size = sizeof(struct rtl_launch_row), .take = take_row, .list = &rows});
    if (status == RTL_OK)
        status = merge(trace, block, loaded, &rows, spans);
    rtl_list_free(&rows);
    rtl_list_free(spans);
    return status;
}

/* The place of a launch, or of the first behind it. */
static uint32_t place_of(const struct rtl_launch_loaded *loaded, uint32_t launch)
{
    uint32_t low = 0;
    for (uint32_t high = loaded->count; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (loaded->rows[middle].launch < launch)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static rtl_status_t read_late(rtl_trace_t *trace, const struct rtl_launch_block *block,
                              struct rtl_launch_loaded *loaded)
{
    struct rtl_list list = {0};
    rtl_status_t status = read_table(
        trace, block, "launch, recorded", "graph_launch_late",
        (struct rtl_table){.size = sizeof(struct late), .take = take_late, .list = &list});
    const struct late *late = list.items;
    for (size_t i = 0; i < list.count && status == RTL_OK; i++) {
        uint32_t place = place_of(loaded, late[i].launch);
        if (place < loaded->count && loaded->rows[place].launch == late[i].launch)
            loaded->rows[place].recorded += late[i].recorded;
    }
    rtl_list_free(&list);
    return status;
}

static rtl_status_t read_loose(rtl_trace_t *trace, const struct rtl_launch_block *block,
                               struct rtl_launch_loaded *loaded)
{
    rtl_status_t status = read_rows(trace, block, loaded);
    if (status == RTL_OK && rtl_trace_blocks(trace)->chunked)
        status = read_late(trace, block, loaded);
    if (status == RTL_OK)
        status = read_table(
            trace, block, "launch, queue, start_ticks, end_ticks", "graph_launch_spans",
            (struct rtl_table){
                .size = sizeof(struct rtl_launch_more), .take = take_more, .list = &loaded->more});
    return status;
}

bool rtl_blocks_begins(const struct rtl_launch_row *row, const struct rtl_launch_record *record)
{
    return row->graph != RTL_TRACE_NONE || record->plan->begins || record->head;
}

struct rtl_launch_counter *rtl_blocks_counter(const struct rtl_launch_blocks *blocks,
                                              uint32_t process, uint32_t graph)
{
    uint32_t place = rtl_map_get(&blocks->by_graph, rtl_map_key(process, graph));
    return place == RTL_MAP_MISSING ? NULL
                                    : (struct rtl_launch_counter *)blocks->counters.items + place;
}

struct rtl_launch_lane *rtl_blocks_lane(const struct rtl_launch_blocks *blocks, uint32_t counter,
                                        uint32_t thread)
{
    uint32_t place = rtl_map_get(&blocks->by_thread, rtl_map_key(counter, thread));
    return place == RTL_MAP_MISSING ? NULL : (struct rtl_launch_lane *)blocks->lanes.items + place;
}

/* What each record says by itself. */
static rtl_status_t make_records(rtl_trace_t *trace, const struct rtl_launch_block *block,
                                 struct rtl_launch_loaded *loaded)
{
    loaded->records = calloc(loaded->count + (size_t)1, sizeof *loaded->records);
    loaded->order = malloc((loaded->count + (size_t)1) * sizeof *loaded->order);
    if (!loaded->records || !loaded->order ||
        rtl_launch_order(loaded->rows, loaded->count, loaded->order) != 0)
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    for (uint32_t i = 0; i < loaded->count; i++) {
        const struct rtl_launch_row *row = &loaded->rows[i];
        struct rtl_launch_record *record = &loaded->records[i];
        const struct rtl_launch_record *before = i ? record - 1 : NULL;
        bool same = before && row->plan == row[-1].plan;
        record->plan = same ? before->plan : rtl_trace_plan(trace, block->process, row->plan);
        record->head = rtl_trace_plan(trace, block->process, row->head_plan);
        if (record->head && (!record->plan || record->head->graph != record->plan->graph))
            record->head = NULL;
        record->counter = record->next = RTL_TRACE_NONE;
    }
    return RTL_OK;
}

static rtl_status_t read_block(rtl_trace_t *trace, const struct rtl_launch_block *block,
                               struct rtl_launch_loaded *loaded)
{
    rtl_status_t status = block->number ? read_chunk(trace, block, loaded) : RTL_OK;
    if (status == RTL_OK && block->loose)
        status = read_loose(trace, block, loaded);
    return status == RTL_OK ? make_records(trace, block, loaded) : status;
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
    block_at(blocks, kept[oldest]->block)->loaded = NULL;
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
    rtl_status_t status = read_block(trace, block_at(blocks, place), loaded);
    if (status != RTL_OK) {
        free_loaded(loaded);
        blocks->kept.count--;
        return status;
    }
    *kept = loaded;
    block_at(blocks, place)->loaded = loaded;
    return RTL_OK;
}

rtl_status_t rtl_blocks_fetch_raw(rtl_trace_t *trace, size_t block,
                                  const struct rtl_launch_loaded **loaded)
{
    struct rtl_launch_blocks *blocks = rtl_trace_blocks(trace);
    struct rtl_launch_block *it = block_at(blocks, block);
    rtl_status_t status = it->loaded ? RTL_OK : load_block(trace, block);
    if (status != RTL_OK)
        return status;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): load_block has set it */
    it->loaded->used = ++blocks->clock;
    *loaded = it->loaded;
    return RTL_OK;
}

/* Numbers. */

uint32_t rtl_blocks_before(const struct rtl_launch_counter *counter, size_t block)
{
    const struct rtl_launch_place *places = counter->places.items;
    size_t low = 0;
    for (size_t high = counter->places.count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (places[middle].block < block)
            low = middle + 1;
        else
            high = middle;
    }
    return low < counter->places.count ? places[low].before : counter->launches;
}

/* What a block has of a lane, NULL if nothing. */
static const struct rtl_launch_stretch *stretch_of(const struct rtl_launch_lane *lane, size_t block)
{
    const struct rtl_launch_stretch *stretches = lane->stretches.items;
    size_t low = 0;
    for (size_t high = lane->stretches.count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (stretches[middle].block < block)
            low = middle + 1;
        else
            high = middle;
    }
    return low < lane->stretches.count && stretches[low].block == block ? &stretches[low] : NULL;
}

static void begin_launch(struct rtl_launch_loaded *loaded, struct rtl_launch_counter *counter,
                         uint32_t place, uint32_t generation)
{
    struct rtl_launch_record *record = &loaded->records[place];
    if (counter->block != loaded->block + 1) {
        counter->block = loaded->block + 1;
        counter->current = rtl_blocks_before(counter, loaded->block);
    }
    record->begins = true;
    record->number = ++counter->current;
    record->generation = generation;
}

/* A record of a graph that was inferred from its packets. */
static void number_found(struct rtl_launch_loaded *loaded, struct rtl_launch_counter *counter,
                         struct rtl_launch_lane *lane, uint32_t place)
{
    struct rtl_launch_record *record = &loaded->records[place];
    if (lane->block != loaded->block + 1) {
        lane->block = loaded->block + 1;
        lane->latest = lane->tail = RTL_TRACE_NONE;
    }
    bool begins = rtl_blocks_begins(&loaded->rows[place], record);
    if (!begins && lane->latest == RTL_TRACE_NONE) {
        const struct rtl_launch_stretch *stretch = stretch_of(lane, loaded->block);
        if (stretch && stretch->leads)
            return;
        begins = true;
    }
    if (!begins) {
        record->number = loaded->records[lane->latest].number;
        record->generation = loaded->records[lane->latest].generation;
        loaded->records[lane->tail].next = place;
        lane->tail = place;
        return;
    }
    begin_launch(loaded, counter, place, record->plan->generation);
    if (lane->latest != RTL_TRACE_NONE)
        loaded->records[lane->latest].last = false;
    record->last = true;
    lane->latest = lane->tail = place;
}

/* The order is that in which launches count; what is numbered does not depend on other blocks being
 * in memory. */
static void number_block(rtl_trace_t *trace, struct rtl_launch_loaded *loaded)
{
    struct rtl_launch_blocks *blocks = rtl_trace_blocks(trace);
    uint32_t process = block_at(blocks, loaded->block)->process;
    struct rtl_launch_counter *counters = blocks->counters.items;
    struct rtl_launch_counter *counter = NULL;
    for (uint32_t i = 0; i < loaded->count; i++) {
        uint32_t place = loaded->order[i];
        const struct rtl_launch_row *row = &loaded->rows[place];
        struct rtl_launch_record *record = &loaded->records[place];
        bool named = row->graph != RTL_TRACE_NONE;
        if (!named && !record->plan)
            continue;
        uint32_t graph = named ? row->graph : record->plan->graph;
        if (!counter || counter->graph != graph)
            counter = rtl_blocks_counter(blocks, process, graph);
        if (!counter)
            continue;
        record->counter = (uint32_t)(counter - counters);
        if (named) {
            begin_launch(loaded, counter, place, row->generation);
            continue;
        }
        struct rtl_launch_lane *lane = rtl_blocks_lane(blocks, record->counter, row->thread);
        if (lane)
            number_found(loaded, counter, lane, place);
    }
    /* Whoever counts next starts again. */
    for (size_t i = 0; counters && i < blocks->counters.count; i++)
        counters[i].block = 0;
    struct rtl_launch_lane *lanes = blocks->lanes.items;
    for (size_t i = 0; lanes && i < blocks->lanes.count; i++)
        lanes[i].block = 0;
    loaded->numbered = true;
}

rtl_status_t rtl_blocks_fetch(rtl_trace_t *trace, size_t block,
                              const struct rtl_launch_loaded **loaded)
{
    rtl_status_t status = rtl_blocks_fetch_raw(trace, block, loaded);
    struct rtl_launch_blocks *blocks = rtl_trace_blocks(trace);
    if (status == RTL_OK && !(*loaded)->numbered)
        number_block(trace, block_at(blocks, block)->loaded);
    return status;
}

/* Finding. */

/* True if the record at `place` of the block in which one was found last is the launch. */
static bool is_found(const struct rtl_launch_blocks *blocks, uint32_t process, uint32_t launch,
                     uint32_t place)
{
    return blocks->found && place < blocks->found->count &&
           blocks->found->rows[place].launch == launch &&
           block_at(blocks, blocks->found->block)->process == process;
}

rtl_status_t rtl_blocks_find(rtl_trace_t *trace, uint32_t process, uint32_t launch,
                             const struct rtl_launch_loaded **loaded, uint32_t *place)
{
    struct rtl_launch_blocks *blocks = rtl_trace_blocks(trace);
    /* Kernels mostly come launch by launch. */
    for (uint32_t i = 0; i < 2; i++) {
        if (!is_found(blocks, process, launch, blocks->place + i))
            continue;
        *loaded = blocks->found;
        *place = blocks->place += i;
        return RTL_OK;
    }
    size_t block = block_of(blocks, process, launch);
    if (block == blocks->blocks.count)
        return RTL_END;
    rtl_status_t status = rtl_blocks_fetch(trace, block, loaded);
    if (status != RTL_OK)
        return status;
    *place = place_of(*loaded, launch);
    if (*place == (*loaded)->count || (*loaded)->rows[*place].launch != launch)
        return RTL_END;
    blocks->found = *loaded;
    blocks->place = *place;
    return RTL_OK;
}

rtl_status_t rtl_blocks_begin(rtl_trace_t *trace, const struct rtl_launch_counter *counter,
                              uint32_t number, size_t *block, uint32_t *place)
{
    const struct rtl_launch_place *places = counter->places.items;
    const struct rtl_launch_loaded *loaded = NULL;
    size_t low = 0;
    if (number == 0 || number > counter->launches)
        return RTL_END;
    for (size_t high = counter->places.count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (places[middle].before < number)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return RTL_END;
    *block = places[low - 1].block;
    rtl_status_t status = rtl_blocks_fetch(trace, *block, &loaded);
    if (status != RTL_OK)
        return status;
    uint32_t own =
        (uint32_t)(counter -
                   (const struct rtl_launch_counter *)rtl_trace_blocks(trace)->counters.items);
    for (*place = 0; *place < loaded->count; ++*place) {
        const struct rtl_launch_record *record = &loaded->records[*place];
        if (record->begins && record->counter == own && record->number == number)
            return RTL_OK;
    }
    return RTL_END;
}

/* The launch that the first records of a lane in a block go on with. */
static rtl_status_t find_earlier(rtl_trace_t *trace, const struct rtl_launch_loaded *loaded,
                                 struct rtl_launch_record *record, uint32_t thread)
{
    const struct rtl_launch_lane *lane =
        rtl_blocks_lane(rtl_trace_blocks(trace), record->counter, thread);
    const struct rtl_launch_stretch *stretches = lane ? lane->stretches.items : NULL;
    const struct rtl_launch_loaded *earlier = NULL;
    size_t i = lane ? lane->stretches.count : 0;
    while (i > 0 && (stretches[i - 1].block >= loaded->block || !stretches[i - 1].begins))
        i--;
    if (i == 0)
        return RTL_OK;
    rtl_status_t status = rtl_blocks_fetch(trace, stretches[i - 1].block, &earlier);
    for (uint32_t j = status == RTL_OK ? earlier->count : 0; j > 0; j--) {
        uint32_t place = earlier->order[j - 1];
        const struct rtl_launch_record *it = &earlier->records[place];
        if (it->counter != record->counter || !it->begins || earlier->rows[place].thread != thread)
            continue;
        record->number = it->number;
        record->generation = it->generation;
        break;
    }
    return status;
}

rtl_status_t rtl_blocks_number(rtl_trace_t *trace, const struct rtl_launch_loaded *loaded,
                               uint32_t place)
{
    struct rtl_launch_record *record = &loaded->records[place];
    return record->number || record->counter == RTL_TRACE_NONE
               ? RTL_OK
               : find_earlier(trace, loaded, record, loaded->rows[place].thread);
}

/* Launches. */

static int compare_head(const void *key, const void *item)
{
    const struct rtl_launch_head *a = key;
    const struct rtl_launch_head *b = item;
    int order = compare_numbers(a->process, b->process);
    order = order ? order : compare_numbers(a->queue, b->queue);
    return order ? order : compare_numbers(a->packet, b->packet);
}

const struct rtl_launch_head *rtl_blocks_head(const struct rtl_launch_blocks *blocks,
                                              uint32_t process, uint32_t queue, uint64_t packet)
{
    const struct rtl_launch_head key = {.process = process, .queue = queue, .packet = packet};
    return blocks->heads.count
               ? bsearch(&key, blocks->heads.items, blocks->heads.count, sizeof key, compare_head)
               : NULL;
}

static void widen(rtl_graph_launch_t *launch, uint64_t start, uint64_t end)
{
    bool first = launch->start == 0 && launch->end == 0;
    launch->start = first || start < launch->start ? start : launch->start;
    launch->end = first || end > launch->end ? end : launch->end;
}

static void add_span(const rtl_trace_t *trace, rtl_graph_launch_t *launch,
                     const struct rtl_graphs_span *span)
{
    struct rtl_agent_clock *clock = rtl_trace_queue_clock(trace, launch->process, span->queue);
    widen(launch, rtl_trace_ns(clock, span->start), rtl_trace_ns(clock, span->end));
}

static void add_more(const rtl_trace_t *trace, const struct rtl_launch_loaded *loaded,
                     uint32_t number, rtl_graph_launch_t *launch)
{
    const struct rtl_launch_more *more = loaded->more.items;
    size_t low = 0;
    for (size_t high = loaded->more.count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (more[middle].launch < number)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < loaded->more.count && more[low].launch == number; low++)
        add_span(trace, launch, &more[low].span);
}

static void add_record(const rtl_trace_t *trace, const struct rtl_launch_loaded *loaded,
                       uint32_t place, rtl_graph_launch_t *launch)
{
    const struct rtl_launch_row *row = &loaded->rows[place];
    const struct rtl_launch_record *record = &loaded->records[place];
    launch->expected += row->kernels;
    launch->kernels += row->recorded;
    launch->unseen += row->unseen;
    if ((row->recorded && !record->plan) || (record->plan && !record->plan->certain))
        launch->certain = 0;
    for (uint32_t i = 0; i < row->span_count; i++)
        add_span(trace, launch, &loaded->spans[row->span + i]);
    add_more(trace, loaded, row->launch, launch);
    if (!record->head)
        return;
    const struct rtl_launch_head *head =
        rtl_blocks_head(rtl_trace_blocks(trace), launch->process, row->queue, row->first - 1);
    launch->expected++;
    if (!head || !head->there)
        return;
    launch->kernels++;
    widen(launch, head->start, head->end);
}

/* The least and the greatest record. */
struct bounds {
    uint32_t least, most;
};

static void add_bound(struct bounds *bounds, uint32_t launch)
{
    bounds->least = launch < bounds->least ? launch : bounds->least;
    bounds->most = launch > bounds->most ? launch : bounds->most;
}

/* Records of later blocks that go on with the last launch of a lane. */
static rtl_status_t add_later(rtl_trace_t *trace, size_t block, uint32_t counter,
                              rtl_graph_launch_t *launch, struct bounds *bounds)
{
    const struct rtl_launch_lane *lane =
        rtl_blocks_lane(rtl_trace_blocks(trace), counter, launch->thread);
    const struct rtl_launch_stretch *stretches = lane ? lane->stretches.items : NULL;
    const struct rtl_launch_loaded *loaded = NULL;
    size_t i = 0;
    rtl_status_t status = RTL_OK;
    while (lane && i < lane->stretches.count && stretches[i].block <= block)
        i++;
    for (; lane && i < lane->stretches.count && stretches[i].leads && status == RTL_OK; i++) {
        status = rtl_blocks_fetch(trace, stretches[i].block, &loaded);
        for (uint32_t j = 0; status == RTL_OK && j < loaded->count; j++) {
            uint32_t place = loaded->order[j];
            const struct rtl_launch_record *record = &loaded->records[place];
            if (record->counter != counter || loaded->rows[place].thread != launch->thread)
                continue;
            if (record->begins)
                break;
            add_record(trace, loaded, place, launch);
            add_bound(bounds, loaded->rows[place].launch);
        }
        if (stretches[i].begins)
            break;
    }
    return status;
}

rtl_status_t rtl_blocks_launch(rtl_trace_t *trace, size_t block, uint32_t place,
                               rtl_graph_launch_t *launch, uint32_t *least, uint32_t *most)
{
    const struct rtl_launch_loaded *loaded = NULL;
    rtl_status_t status = rtl_blocks_fetch(trace, block, &loaded);
    if (status != RTL_OK)
        return status;
    const struct rtl_launch_blocks *blocks = rtl_trace_blocks(trace);
    const struct rtl_launch_row *row = &loaded->rows[place];
    const struct rtl_launch_record *record = &loaded->records[place];
    struct bounds bounds = {row->launch, row->launch};
    *launch = (rtl_graph_launch_t){
        .process = block_at(blocks, block)->process,
        .graph = ((const struct rtl_launch_counter *)blocks->counters.items)[record->counter].graph,
        .generation = record->generation,
        .launch = record->number,
        .thread = row->thread,
        .time = row->time,
        .correlation = row->correlation,
        .range = row->range,
        .certain = 1};
    for (uint32_t i = place; i != RTL_TRACE_NONE; i = loaded->records[i].next) {
        add_record(trace, loaded, i, launch);
        add_bound(&bounds, loaded->rows[i].launch);
    }
    if (record->last)
        status = add_later(trace, block, record->counter, launch, &bounds);
    if (least)
        *least = bounds.least;
    if (most)
        *most = bounds.most;
    return status;
}

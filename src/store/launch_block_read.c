/* One block of launches, from its chunk and rows. */
#include "store/launch_blocks.h"

#include "common/lower_bound.h"
#include "store/tables.h"

#include <stdlib.h>
#include <string.h>

static rtl_status_t unpack(rtl_trace_t *trace, const struct rtl_launch_block *block,
                           struct rtl_launch_loaded *loaded, sqlite3_stmt *row)
{
    const unsigned char *data = sqlite3_column_blob(row, 0);
    size_t size = (size_t)sqlite3_column_bytes(row, 0);
    if (!data && sqlite3_errcode(trace->db) == SQLITE_NOMEM)
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    if (!data || !rtl_launch_intact(&block->chunk, data, size))
        return rtl_blocks_damaged(trace, block);
    loaded->rows = calloc(block->chunk.launches + (size_t)1, sizeof *loaded->rows);
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
    int order = rtl_blocks_compare(a->launch, b->launch);
    return order ? order : rtl_blocks_compare(a->span, b->span);
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

uint32_t rtl_blocks_place(const struct rtl_launch_loaded *loaded, uint32_t launch)
{
    uint32_t low;
    RTL_LOWER_BOUND(low, loaded->count, loaded->rows[low].launch < launch);
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
        uint32_t place = rtl_blocks_place(loaded, late[i].launch);
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

rtl_status_t rtl_blocks_read(rtl_trace_t *trace, const struct rtl_launch_block *block,
                             struct rtl_launch_loaded *loaded)
{
    rtl_status_t status = block->number ? read_chunk(trace, block, loaded) : RTL_OK;
    if (status == RTL_OK && block->loose)
        status = read_loose(trace, block, loaded);
    return status == RTL_OK ? make_records(trace, block, loaded) : status;
}

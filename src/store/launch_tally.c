/* Counting the launches of all blocks when a trace's graphs are read: by the summary of each block,
 * and record by record only where rows came late, or a launch has a head. */
#include "store/launch_blocks.h"
#include "store/tables.h"

#include <stdlib.h>
#include <string.h>

/* Blocks being counted. */
struct tally {
    rtl_trace_t *trace;
    struct rtl_launch_blocks *blocks;
    size_t block;
    uint32_t process;
    struct rtl_list counters; /* uint32_t: places of those that the block at hand has records of */
    struct rtl_list lanes;    /* the same */
    rtl_graph_t *graph;       /* that was found last */
    bool found;               /* the block has launches inferred from their packets */
};

/* The place of the counter of a graph, made when it is first seen; RTL_TRACE_NONE when memory is
 * short. It is noted as one of the block. */
static uint32_t counter_of(struct tally *tally, uint32_t graph)
{
    struct rtl_launch_blocks *blocks = tally->blocks;
    uint64_t key = rtl_index_key(tally->process, graph);
    uint32_t place = rtl_index_get(&blocks->by_graph, key);
    if (place == RTL_INDEX_MISSING) {
        struct rtl_launch_counter *made = rtl_list_append(&blocks->counters, sizeof *made);
        if (!made)
            return RTL_TRACE_NONE;
        made->process = tally->process;
        made->graph = graph;
        place = rtl_list_last(&blocks->counters);
        if (rtl_index_put(&blocks->by_graph, key, place) != 0)
            return RTL_TRACE_NONE;
    }
    struct rtl_launch_counter *counter =
        (struct rtl_launch_counter *)blocks->counters.items + place;
    if (counter->block == tally->block + 1)
        return place;
    uint32_t *noted = rtl_list_append(&tally->counters, sizeof *noted);
    if (!noted)
        return RTL_TRACE_NONE;
    *noted = place;
    counter->block = tally->block + 1;
    counter->current = 0;
    return place;
}

static struct rtl_launch_lane *lane_of(struct tally *tally, uint32_t counter, uint32_t thread)
{
    struct rtl_launch_blocks *blocks = tally->blocks;
    uint64_t key = rtl_index_key(counter, thread);
    uint32_t place = rtl_index_get(&blocks->by_thread, key);
    if (place == RTL_INDEX_MISSING) {
        if (!rtl_list_append(&blocks->lanes, sizeof(struct rtl_launch_lane)) ||
            rtl_index_put(&blocks->by_thread, key, rtl_list_last(&blocks->lanes)) != 0)
            return NULL;
        place = rtl_list_last(&blocks->lanes);
    }
    struct rtl_launch_lane *lane = (struct rtl_launch_lane *)blocks->lanes.items + place;
    if (lane->block == tally->block + 1)
        return lane;
    uint32_t *noted = rtl_list_append(&tally->lanes, 2 * sizeof *noted);
    if (!noted)
        return NULL;
    noted[0] = place;
    noted[1] = counter;
    lane->block = tally->block + 1;
    lane->begun = 0;
    lane->first_begun = lane->first_other = RTL_TRACE_NONE;
    return lane;
}

static rtl_graph_t *graph_of(struct tally *tally, uint32_t graph, uint32_t generation)
{
    rtl_graph_t *last = tally->graph;
    if (!last || last->process != tally->process || last->graph != graph ||
        last->generation != generation)
        tally->graph = rtl_trace_graph(tally->trace, tally->process, graph, generation);
    return tally->graph;
}

/* Launches that are alike; `first` is the place of the first in the block's order. */
static int count(struct tally *tally, const struct rtl_launch_group *group,
                 const struct rtl_plan *plan, bool begins)
{
    bool named = group->graph != RTL_TRACE_NONE;
    uint32_t number = named ? group->graph : plan->graph;
    uint32_t place = counter_of(tally, number);
    if (place == RTL_TRACE_NONE)
        return -1;
    rtl_graph_t *graph = graph_of(tally, number, named ? group->generation : plan->generation);
    if (graph) {
        graph->launches += begins ? group->launches : 0;
        graph->kernels += group->recorded;
        graph->expected += group->kernels;
    }
    if (begins)
        ((struct rtl_launch_counter *)tally->blocks->counters.items)[place].current +=
            group->launches;
    if (named)
        return 0;
    tally->found = true;
    struct rtl_launch_lane *lane = lane_of(tally, place, group->thread);
    if (!lane)
        return -1;
    if (begins) {
        lane->begun += group->launches;
        lane->first_begun = group->first < lane->first_begun ? group->first : lane->first_begun;
    } else if (group->first < lane->first_other) {
        lane->first_other = group->first;
        lane->other = graph;
    }
    return 0;
}

/* What comes first in a thread begins a launch, whatever its plan. */
static int end_lane(struct tally *tally, uint32_t place, uint32_t counter)
{
    struct rtl_launch_lane *lane = (struct rtl_launch_lane *)tally->blocks->lanes.items + place;
    bool leads = lane->first_other < lane->first_begun;
    if (leads && lane->stretches.count == 0) {
        leads = false;
        lane->begun++;
        ((struct rtl_launch_counter *)tally->blocks->counters.items)[counter].current++;
        if (lane->other)
            lane->other->launches++;
    }
    struct rtl_launch_stretch *stretch = rtl_list_append(&lane->stretches, sizeof *stretch);
    if (!stretch)
        return -1;
    *stretch = (struct rtl_launch_stretch){tally->block, leads, lane->begun > 0};
    lane->block = 0;
    return 0;
}

static int end_block(struct tally *tally)
{
    const uint32_t(*lanes)[2] = tally->lanes.items;
    for (size_t i = 0; i < tally->lanes.count; i++)
        if (end_lane(tally, lanes[i][0], lanes[i][1]) != 0)
            return -1;
    const uint32_t *counters = tally->counters.items;
    for (size_t i = 0; i < tally->counters.count; i++) {
        struct rtl_launch_counter *counter =
            (struct rtl_launch_counter *)tally->blocks->counters.items + counters[i];
        struct rtl_launch_place *place = rtl_list_append(&counter->places, sizeof *place);
        if (!place)
            return -1;
        *place = (struct rtl_launch_place){tally->block, counter->launches};
        counter->launches += counter->current;
        counter->block = 0;
    }
    tally->lanes.count = tally->counters.count = 0;
    return 0;
}

/* A block record by record. */

static int add_head(struct tally *tally, const struct rtl_launch_row *row)
{
    struct rtl_launch_head *head = rtl_list_append(&tally->blocks->heads, sizeof *head);
    if (!head)
        return -1;
    *head = (struct rtl_launch_head){.process = tally->process,
                                     .queue = row->queue,
                                     .packet = row->first - 1,
                                     .launch = row->launch};
    return 0;
}

static int count_record(struct tally *tally, const struct rtl_launch_loaded *loaded, uint32_t order)
{
    uint32_t place = loaded->order[order];
    const struct rtl_launch_row *row = &loaded->rows[place];
    const struct rtl_launch_record *record = &loaded->records[place];
    bool named = row->graph != RTL_TRACE_NONE;
    if (!named && !record->plan)
        return 0;
    const struct rtl_launch_group group = {.graph = row->graph,
                                           .generation = row->generation,
                                           .thread = row->thread,
                                           .launches = 1,
                                           .first = order,
                                           .kernels = row->kernels + (record->head != NULL),
                                           .recorded = row->recorded};
    if (count(tally, &group, record->plan, rtl_blocks_begins(row, record)) != 0)
        return -1;
    return record->head ? add_head(tally, row) : 0;
}

static rtl_status_t count_records(struct tally *tally)
{
    const struct rtl_launch_loaded *loaded = NULL;
    rtl_status_t status = rtl_blocks_fetch_raw(tally->trace, tally->block, &loaded);
    for (uint32_t i = 0; status == RTL_OK && i < loaded->count; i++)
        if (count_record(tally, loaded, i) != 0)
            status = rtl_trace_fail_sqlite(tally->trace, SQLITE_NOMEM);
    return status;
}

/* A block by its summary. */

static int count_groups(struct tally *tally, const struct rtl_launch_summary *summary)
{
    for (size_t i = 0; i < summary->group_count; i++) {
        const struct rtl_launch_group *group = &summary->groups[i];
        const struct rtl_plan *plan =
            group->graph == RTL_TRACE_NONE
                ? rtl_trace_plan(tally->trace, tally->process, group->plan)
                : NULL;
        if (group->graph == RTL_TRACE_NONE && !plan)
            continue;
        if (count(tally, group, plan, !plan || plan->begins) != 0)
            return -1;
    }
    return 0;
}

/* A launch inferred from its packets may go on in later blocks. */
static void set_times(const struct tally *tally, struct rtl_launch_block *block,
                      const struct rtl_launch_summary *summary)
{
    if (tally->found)
        return;
    block->start = block->chunk.time_min;
    block->end = block->chunk.time_max;
    for (size_t i = 0; i < summary->extent_count; i++) {
        const struct rtl_launch_extent *extent = &summary->extents[i];
        struct rtl_agent_clock *clock =
            rtl_trace_queue_clock(tally->trace, block->process, extent->queue);
        uint64_t start = rtl_trace_ns(clock, extent->start);
        uint64_t end = rtl_trace_ns(clock, extent->end);
        block->start = start < block->start ? start : block->start;
        block->end = end > block->end ? end : block->end;
    }
}

static rtl_status_t count_summary(struct tally *tally, struct rtl_launch_block *block,
                                  sqlite3_stmt *row, struct rtl_launch_summary *summary)
{
    const unsigned char *bytes = sqlite3_column_blob(row, 0);
    size_t size = (size_t)sqlite3_column_bytes(row, 0);
    if (!bytes && sqlite3_errcode(tally->trace->db) == SQLITE_NOMEM)
        return rtl_trace_fail_sqlite(tally->trace, SQLITE_NOMEM);
    if (!bytes || !rtl_launch_summary_intact(&block->chunk, bytes, size))
        return rtl_blocks_damaged(tally->trace, block);
    int result = rtl_launch_summary_decode(bytes, size, summary);
    if (result == -1)
        return rtl_blocks_damaged(tally->trace, block);
    if (result != 0 || count_groups(tally, summary) != 0)
        return rtl_trace_fail_sqlite(tally->trace, SQLITE_NOMEM);
    set_times(tally, block, summary);
    return RTL_OK;
}

static rtl_status_t read_summary(struct tally *tally, struct rtl_launch_block *block,
                                 sqlite3_stmt *row, struct rtl_launch_summary *summary)
{
    rtl_status_t status = RTL_OK;
    if (!row) /* no chunk has a number */
        return rtl_blocks_damaged(tally->trace, block);
    int result = sqlite3_bind_int64(row, 1, block->number);
    if (result == SQLITE_OK)
        result = sqlite3_step(row);
    if (result == SQLITE_ROW)
        status = count_summary(tally, block, row, summary);
    else
        status = result == SQLITE_DONE ? rtl_blocks_damaged(tally->trace, block)
                                       : rtl_trace_fail_sqlite(tally->trace, result);
    (void)sqlite3_reset(row);
    return status;
}

static rtl_status_t tally_blocks(struct tally *tally, sqlite3_stmt *row)
{
    struct rtl_launch_summary summary = {0};
    rtl_status_t status = RTL_OK;
    for (size_t i = 0; i < tally->blocks->blocks.count && status == RTL_OK; i++) {
        struct rtl_launch_block *block = (struct rtl_launch_block *)tally->blocks->blocks.items + i;
        tally->block = i;
        tally->process = block->process;
        tally->found = false;
        status = block->loose || block->chunk.headed ? count_records(tally)
                                                     : read_summary(tally, block, row, &summary);
        if (status == RTL_OK && end_block(tally) != 0)
            status = rtl_trace_fail_sqlite(tally->trace, SQLITE_NOMEM);
    }
    rtl_launch_summary_free(&summary);
    return status;
}

/* Heads. */

static int by_packet(const void *left, const void *right)
{
    const struct rtl_launch_head *a = left;
    const struct rtl_launch_head *b = right;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->queue != b->queue)
        return a->queue < b->queue ? -1 : 1;
    if (a->packet != b->packet)
        return a->packet < b->packet ? -1 : 1;
    return (a->launch > b->launch) - (a->launch < b->launch);
}

/* Looks for the heads among the kernels of a chunk. */
static void look_for(const struct rtl_chunk_row *row, const struct rtl_wire_kernel *kernels,
                     struct rtl_launch_head *heads, size_t head_count)
{
    for (uint32_t i = 0; i < row->chunk.kernels; i++) {
        const struct rtl_wire_kernel *kernel = &kernels[i];
        if (kernel->launch != RTL_TRACE_NONE)
            continue;
        for (size_t low = 0, high = head_count; low < high;) {
            size_t middle = low + (high - low) / 2;
            if (heads[middle].packet == kernel->packet) {
                heads[middle].there = true;
                heads[middle].start = rtl_trace_ns(row->clock, kernel->start);
                heads[middle].end = rtl_trace_ns(row->clock, kernel->end);
                break;
            }
            if (heads[middle].packet < kernel->packet)
                low = middle + 1;
            else
                high = middle;
        }
    }
}

static rtl_status_t fail_kernels(rtl_trace_t *trace, const struct rtl_chunk_row *row)
{
    return rtl_trace_fail(trace, RTL_E_DAMAGED,
                          "the trace %s is damaged: kernel chunk %lld does not match its checksum "
                          "or its format",
                          trace->path, (long long)row->number);
}

static rtl_status_t decode_kernels(rtl_trace_t *trace, const struct rtl_chunk_row *row,
                                   sqlite3_stmt *data, struct rtl_wire_kernel *kernels)
{
    struct rtl_codec *codec = rtl_codec_new();
    rtl_status_t status = RTL_OK;
    int decoded = -1;
    int result = codec ? sqlite3_bind_int64(data, 1, row->number) : SQLITE_NOMEM;
    if (result == SQLITE_OK)
        result = sqlite3_step(data);
    const unsigned char *bytes = result == SQLITE_ROW ? sqlite3_column_blob(data, 0) : NULL;
    if (bytes)
        decoded = rtl_codec_decode(codec, &row->chunk, bytes, (size_t)sqlite3_column_bytes(data, 0),
                                   kernels);
    if (result != SQLITE_ROW && result != SQLITE_DONE)
        status = rtl_trace_fail_sqlite(trace, result);
    else if (decoded == -2 || sqlite3_errcode(trace->db) == SQLITE_NOMEM)
        status = rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    else if (decoded != 0)
        status = fail_kernels(trace, row);
    rtl_codec_free(codec);
    return status;
}

/* Unpacks a chunk into kernels that the caller frees. */
static rtl_status_t unpack_kernels(rtl_trace_t *trace, const struct rtl_chunk_row *row,
                                   struct rtl_wire_kernel **kernels)
{
    sqlite3_stmt *data = NULL;
    /* Before memory is asked for: a damaged row may claim anything. */
    if (row->chunk.kernels > RTL_CHUNK_KERNELS_MAX)
        return fail_kernels(trace, row);
    *kernels = calloc(row->chunk.kernels + (size_t)1, sizeof **kernels);
    if (!*kernels)
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    int result = sqlite3_prepare_v2(
        trace->db, "SELECT data FROM main.kernel_chunks WHERE chunk = ?", -1, &data, NULL);
    rtl_status_t status = result == SQLITE_OK ? decode_kernels(trace, row, data, *kernels)
                                              : rtl_trace_fail_sqlite(trace, result);
    (void)sqlite3_finalize(data);
    return status;
}

/* The heads of a queue, `head_count` of them, in its chunks. */
static rtl_status_t find_in_queue(rtl_trace_t *trace, struct rtl_launch_head *heads,
                                  size_t head_count)
{
    const struct rtl_chunk_row *rows = trace->chunks.items;
    rtl_status_t status = RTL_OK;
    for (size_t i = 0; i < trace->chunks.count && status == RTL_OK; i++) {
        const struct rtl_chunk *chunk = &rows[i].chunk;
        struct rtl_wire_kernel *kernels = NULL;
        size_t first = 0;
        if (chunk->process != heads->process || chunk->queue != heads->queue)
            continue;
        while (first < head_count && heads[first].packet < chunk->packet_min)
            first++;
        if (first == head_count || heads[first].packet > chunk->packet_max)
            continue;
        status = unpack_kernels(trace, &rows[i], &kernels);
        if (status == RTL_OK && kernels)
            look_for(&rows[i], kernels, heads, head_count);
        free(kernels);
    }
    return status;
}

/* The kernels of heads name no launch; whether they are in the trace, and when they ran, must be
 * looked up. */
static rtl_status_t find_heads(struct tally *tally)
{
    struct rtl_list *list = &tally->blocks->heads;
    struct rtl_launch_head *heads = list->items;
    rtl_status_t status = RTL_OK;
    if (list->count)
        qsort(heads, list->count, sizeof *heads, by_packet);
    for (size_t i = 0; i < list->count && status == RTL_OK;) {
        size_t end = i + 1;
        while (end < list->count && heads[end].process == heads[i].process &&
               heads[end].queue == heads[i].queue)
            end++;
        status = find_in_queue(tally->trace, &heads[i], end - i);
        i = end;
    }
    return status;
}

/* Heads are kernels of their graphs, too. */
static rtl_status_t count_heads(struct tally *tally)
{
    const struct rtl_launch_head *heads = tally->blocks->heads.items;
    rtl_status_t status = find_heads(tally);
    for (size_t i = 0; i < tally->blocks->heads.count && status == RTL_OK; i++) {
        const struct rtl_launch_loaded *loaded = NULL;
        uint32_t place = 0;
        if (!heads[i].there)
            continue;
        status = rtl_blocks_find(tally->trace, heads[i].process, heads[i].launch, &loaded, &place);
        if (status != RTL_OK)
            continue;
        const struct rtl_plan *plan = loaded->records[place].plan;
        tally->process = heads[i].process;
        rtl_graph_t *graph = graph_of(tally, plan->graph, plan->generation);
        if (graph)
            graph->kernels++;
    }
    return status == RTL_END ? RTL_OK : status;
}

rtl_status_t rtl_blocks_tally(rtl_trace_t *trace)
{
    struct tally tally = {.trace = trace, .blocks = rtl_trace_blocks(trace)};
    sqlite3_stmt *row = NULL;
    int result = SQLITE_OK;
    bool chunks = false;
    for (size_t i = 0; i < tally.blocks->blocks.count; i++)
        chunks = chunks || ((struct rtl_launch_block *)tally.blocks->blocks.items)[i].number;
    if (chunks)
        result = sqlite3_prepare_v2(
            trace->db, "SELECT summary FROM main.launch_chunks WHERE chunk = ?", -1, &row, NULL);
    rtl_status_t status =
        result == SQLITE_OK ? tally_blocks(&tally, row) : rtl_trace_fail_sqlite(trace, result);
    (void)sqlite3_finalize(row);
    if (status == RTL_OK)
        status = count_heads(&tally);
    rtl_list_free(&tally.counters);
    rtl_list_free(&tally.lanes);
    return status;
}

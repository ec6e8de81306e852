#include "store/launch_codec.h"

#include "store/checksum.h"
#include "store/columns.h"

#include <stdlib.h>
#include <string.h>

enum column {
    COLUMN_LAUNCH,
    COLUMN_GRAPH,
    COLUMN_GENERATION,
    COLUMN_PLAN,
    COLUMN_HEAD_PLAN,
    COLUMN_THREAD,
    COLUMN_QUEUE,
    COLUMN_PACKETS,
    COLUMN_KERNELS,
    COLUMN_RECORDED,
    COLUMN_UNSEEN,
    COLUMN_TIME,
    COLUMN_CORRELATION,
    COLUMN_RANGE,
    COLUMN_SPANS,
    COLUMN_ALWAYS, /* those before have a number for each launch */
    COLUMN_FIRST = COLUMN_ALWAYS,
    COLUMN_SPAN_QUEUE,
    COLUMN_SPAN_START,
    COLUMN_SPAN_END,
    COLUMNS
};

#define PLACES 256u

/* What the last launch of the same plan was like, and which came after it. */
struct habit {
    uint64_t gap;            /* since the launch before, ns */
    uint64_t wait, duration; /* of a span, ticks */
    uint32_t packets, kernels, next_plan;
};

/* What the queues of a place did last. */
struct lane {
    uint64_t next; /* packet behind the last launch inferred from its packets */
    uint64_t end;  /* of the last span, ticks */
};

/* What is known when a launch is predicted: the same on both sides. */
struct history {
    struct rtl_launch_row last;
    uint32_t span_queue;
    struct habit habits[PLACES];
    struct lane lanes[PLACES];
};

struct rtl_launch_codec {
    struct history history;
    struct rtl_columns columns;
    struct rtl_column column[COLUMNS];
    struct rtl_launch_summary summary;
    struct rtl_index_of_groups {
        uint32_t *places; /* of groups, by hash; UINT32_MAX: free */
        size_t capacity;
    } groups;
    unsigned char *bytes; /* of the summary, packed */
    size_t capacity;
    uint32_t *order;
    size_t order_capacity;
};

struct rtl_launch_codec *rtl_launch_codec_new(void)
{
    struct rtl_launch_codec *codec = calloc(1, sizeof *codec);
    if (codec)
        codec->columns = (struct rtl_columns){.columns = codec->column, .count = COLUMNS};
    return codec;
}

void rtl_launch_summary_free(struct rtl_launch_summary *summary)
{
    free(summary->groups);
    free(summary->extents);
    *summary = (struct rtl_launch_summary){0};
}

void rtl_launch_codec_free(struct rtl_launch_codec *codec)
{
    if (!codec)
        return;
    rtl_columns_free(&codec->columns);
    rtl_launch_summary_free(&codec->summary);
    free(codec->groups.places);
    free(codec->bytes);
    free(codec->order);
    free(codec);
}

/* Predicting. */

static void history_begin(struct history *history, const struct rtl_launch_chunk *chunk)
{
    memset(history, 0, sizeof *history);
    history->last.launch = chunk->launch_min - 1;
    history->last.time = chunk->time_min;
    history->last.correlation = chunk->correlation_min;
}

static struct habit *habit_of(struct history *history, uint32_t graph, uint32_t plan, uint32_t span)
{
    uint32_t hash = (plan * 0x9E3779B1u) ^ (graph * 0x85EBCA77u) ^ (span * 0xC2B2AE3Du);
    return &history->habits[hash >> 24];
}

static struct lane *lane_of(struct history *history, uint32_t queue)
{
    return &history->lanes[(queue * 0x9E3779B1u) >> 24];
}

_Static_assert(PLACES == 1u << (32 - 24), "the hashes pick one of all places");

/* The plan that followed the last one before, and then what follows it now. */
static uint32_t *next_plan_of(struct history *history)
{
    return &habit_of(history, history->last.graph, history->last.plan, 0)->next_plan;
}

/* Packing. */

static void put32(struct rtl_launch_codec *codec, enum column column, uint32_t now, uint32_t before)
{
    rtl_columns_put(&codec->columns, column, rtl_zigzag32(now - before));
}

static void put64(struct rtl_launch_codec *codec, enum column column, uint64_t now, uint64_t before)
{
    rtl_columns_put(&codec->columns, column, rtl_zigzag(now - before));
}

static void put_spans(struct rtl_launch_codec *codec, const struct rtl_launch_row *row,
                      const struct rtl_graphs_span *spans)
{
    struct history *history = &codec->history;
    for (uint32_t i = 0; i < row->span_count; i++) {
        const struct rtl_graphs_span *span = &spans[row->span + i];
        struct habit *habit = habit_of(history, row->graph, row->plan, i);
        struct lane *lane = lane_of(history, span->queue);
        put32(codec, COLUMN_SPAN_QUEUE, span->queue, history->span_queue);
        put64(codec, COLUMN_SPAN_START, span->start - lane->end, habit->wait);
        put64(codec, COLUMN_SPAN_END, span->end - span->start, habit->duration);
        rtl_learn(&habit->wait, span->start - lane->end - habit->wait);
        rtl_learn(&habit->duration, span->end - span->start - habit->duration);
        lane->end = span->end;
        history->span_queue = span->queue;
    }
}

static void put_row(struct rtl_launch_codec *codec, const struct rtl_launch_row *row,
                    const struct rtl_graphs_span *spans)
{
    struct history *history = &codec->history;
    const struct rtl_launch_row *last = &history->last;
    uint32_t *next_plan = next_plan_of(history);
    struct habit *habit = habit_of(history, row->graph, row->plan, 0);
    put32(codec, COLUMN_LAUNCH, row->launch, last->launch + 1);
    put32(codec, COLUMN_GRAPH, row->graph, last->graph);
    put32(codec, COLUMN_GENERATION, row->generation, last->generation);
    put32(codec, COLUMN_PLAN, row->plan, *next_plan);
    put32(codec, COLUMN_HEAD_PLAN, row->head_plan, last->head_plan);
    put32(codec, COLUMN_THREAD, row->thread, last->thread);
    put32(codec, COLUMN_QUEUE, row->queue, last->queue);
    put32(codec, COLUMN_PACKETS, row->packets, habit->packets);
    put32(codec, COLUMN_KERNELS, row->kernels, habit->kernels);
    put32(codec, COLUMN_RECORDED, row->recorded, row->kernels);
    rtl_columns_put(&codec->columns, COLUMN_UNSEEN, row->unseen);
    put64(codec, COLUMN_TIME, row->time - last->time, habit->gap);
    put64(codec, COLUMN_CORRELATION, row->correlation, last->correlation);
    put64(codec, COLUMN_RANGE, row->range, last->range);
    rtl_columns_put(&codec->columns, COLUMN_SPANS, row->span_count);
    if (row->graph == RTL_NONE) {
        struct lane *lane = lane_of(history, row->queue);
        put64(codec, COLUMN_FIRST, row->first, lane->next);
        lane->next = row->first + row->packets;
    }
    *next_plan = row->plan;
    habit->packets = row->packets;
    habit->kernels = row->kernels;
    rtl_learn(&habit->gap, row->time - last->time - habit->gap);
    put_spans(codec, row, spans);
    history->last = *row;
}

/* The summary. */

static bool same_group(const struct rtl_launch_group *a, const struct rtl_launch_group *b)
{
    return a->graph == b->graph && a->generation == b->generation && a->plan == b->plan &&
           a->thread == b->thread;
}

static uint32_t hash_of(const struct rtl_launch_group *group)
{
    uint64_t key = (uint64_t)group->graph << 32 | group->generation;
    key = (key ^ ((uint64_t)group->plan << 32 | group->thread) * UINT64_C(0xC2B2AE3D27D4EB4F)) *
          UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(key >> 32);
}

/* At most half of the places are used. */
static bool begin_groups(struct rtl_launch_codec *codec, uint32_t count)
{
    struct rtl_index_of_groups *groups = &codec->groups;
    size_t capacity = 64;
    while (capacity < (size_t)2 * count)
        capacity *= 2;
    if (groups->capacity < capacity) {
        uint32_t *places = realloc(groups->places, capacity * sizeof *places);
        if (!places)
            return false;
        groups->places = places;
        groups->capacity = capacity;
    }
    memset(groups->places, 0xff, groups->capacity * sizeof *groups->places);
    codec->summary.group_count = codec->summary.extent_count = 0;
    return true;
}

static struct rtl_launch_group *append_group(struct rtl_launch_summary *summary)
{
    if (summary->group_count == summary->group_capacity) {
        size_t capacity = summary->group_capacity ? 2 * summary->group_capacity : 16;
        struct rtl_launch_group *groups = realloc(summary->groups, capacity * sizeof *groups);
        if (!groups)
            return NULL;
        summary->groups = groups;
        summary->group_capacity = capacity;
    }
    return &summary->groups[summary->group_count++];
}

static struct rtl_launch_extent *append_extent(struct rtl_launch_summary *summary)
{
    if (summary->extent_count == summary->extent_capacity) {
        size_t capacity = summary->extent_capacity ? 2 * summary->extent_capacity : 4;
        struct rtl_launch_extent *extents = realloc(summary->extents, capacity * sizeof *extents);
        if (!extents)
            return NULL;
        summary->extents = extents;
        summary->extent_capacity = capacity;
    }
    return &summary->extents[summary->extent_count++];
}

/* The group of a launch, made when it is first seen; NULL when memory is short. */
static struct rtl_launch_group *group_of(struct rtl_launch_codec *codec,
                                         const struct rtl_launch_row *row, uint32_t place)
{
    bool found = row->graph == RTL_NONE;
    const struct rtl_launch_group key = {.graph = row->graph,
                                         .generation = row->generation,
                                         .plan = found ? row->plan : 0,
                                         .thread = found ? row->thread : 0,
                                         .first = place};
    struct rtl_launch_summary *summary = &codec->summary;
    size_t mask = codec->groups.capacity - 1;
    size_t slot = hash_of(&key) & mask;
    while (codec->groups.places[slot] != UINT32_MAX) {
        struct rtl_launch_group *group = &summary->groups[codec->groups.places[slot]];
        if (same_group(group, &key))
            return group;
        slot = (slot + 1) & mask;
    }
    struct rtl_launch_group *made = append_group(summary);
    if (!made)
        return NULL;
    *made = key;
    codec->groups.places[slot] = (uint32_t)(summary->group_count - 1);
    return made;
}

static bool add_extent(struct rtl_launch_summary *summary, const struct rtl_graphs_span *span)
{
    uint64_t last = span->end > span->start ? span->end : span->start;
    for (size_t i = 0; i < summary->extent_count; i++) {
        struct rtl_launch_extent *extent = &summary->extents[i];
        if (extent->queue != span->queue)
            continue;
        extent->start = span->start < extent->start ? span->start : extent->start;
        extent->end = last > extent->end ? last : extent->end;
        return true;
    }
    struct rtl_launch_extent *made = append_extent(summary);
    if (made)
        *made = (struct rtl_launch_extent){span->queue, span->start, last};
    return made != NULL;
}

static bool summarize(struct rtl_launch_codec *codec, const struct rtl_launch_row *rows,
                      uint32_t count, const struct rtl_graphs_span *spans)
{
    if (codec->order_capacity < count) {
        uint32_t *order = realloc(codec->order, count * sizeof *order);
        if (!order)
            return false;
        codec->order = order;
        codec->order_capacity = count;
    }
    if (!begin_groups(codec, count) || rtl_launch_order(rows, count, codec->order) != 0)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct rtl_launch_row *row = &rows[codec->order[i]];
        struct rtl_launch_group *group = group_of(codec, row, i);
        if (!group)
            return false;
        group->launches++;
        group->kernels += row->kernels;
        group->recorded += row->recorded;
        for (uint32_t j = 0; j < row->span_count; j++)
            if (!add_extent(&codec->summary, &spans[row->span + j]))
                return false;
    }
    return true;
}

static bool pack_summary(struct rtl_launch_codec *codec, size_t *size)
{
    const struct rtl_launch_summary *summary = &codec->summary;
    size_t most = (8 * summary->group_count + 3 * summary->extent_count + 2) * RTL_VARINT_MAX;
    if (codec->capacity < most) {
        unsigned char *bytes = realloc(codec->bytes, most);
        if (!bytes)
            return false;
        codec->bytes = bytes;
        codec->capacity = most;
    }
    unsigned char *to = rtl_varint_put(codec->bytes, summary->group_count);
    for (size_t i = 0; i < summary->group_count; i++) {
        const struct rtl_launch_group *group = &summary->groups[i];
        const uint64_t numbers[] = {(uint32_t)(group->graph + 1),
                                    group->generation,
                                    group->plan,
                                    group->thread,
                                    group->launches,
                                    group->first,
                                    group->kernels,
                                    group->recorded};
        for (size_t j = 0; j < sizeof numbers / sizeof *numbers; j++)
            to = rtl_varint_put(to, numbers[j]);
    }
    to = rtl_varint_put(to, summary->extent_count);
    for (size_t i = 0; i < summary->extent_count; i++) {
        to = rtl_varint_put(to, summary->extents[i].queue);
        to = rtl_varint_put(to, summary->extents[i].start);
        to = rtl_varint_put(to, summary->extents[i].end);
    }
    *size = (size_t)(to - codec->bytes);
    return true;
}

/* Takes `count` numbers, of 32 bits but for the last `wide`. */
static const unsigned char *get_numbers(const unsigned char *from, const unsigned char *end,
                                        uint64_t *numbers, int count, int wide)
{
    for (int i = 0; i < count && from; i++) {
        from = rtl_varint_get(from, end, &numbers[i]);
        if (i < count - wide && from && numbers[i] > UINT32_MAX)
            return NULL;
    }
    return from;
}

int rtl_launch_summary_decode(const unsigned char *bytes, size_t size,
                              struct rtl_launch_summary *summary)
{
    const unsigned char *end = bytes + size;
    uint64_t count = 0;
    uint64_t in[8];
    summary->group_count = summary->extent_count = 0;
    const unsigned char *from = rtl_varint_get(bytes, end, &count);
    for (; count && (from = get_numbers(from, end, in, 8, 2)); count--) {
        struct rtl_launch_group *group = append_group(summary);
        if (!group)
            return -2;
        *group = (struct rtl_launch_group){
            (uint32_t)in[0] - 1, (uint32_t)in[1], (uint32_t)in[2], (uint32_t)in[3],
            (uint32_t)in[4],     (uint32_t)in[5], in[6],           in[7]};
    }
    if (from)
        from = rtl_varint_get(from, end, &count);
    for (; from && count && (from = get_numbers(from, end, in, 3, 2)); count--) {
        struct rtl_launch_extent *extent = append_extent(summary);
        if (!extent)
            return -2;
        *extent = (struct rtl_launch_extent){(uint32_t)in[0], in[1], in[2]};
    }
    return from == end ? 0 : -1;
}

/* Chunks. */

static uint32_t checksum(const struct rtl_launch_chunk *chunk, const unsigned char *bytes,
                         size_t size)
{
    const uint64_t fields[] = {chunk->process,        chunk->launches,   chunk->spans,
                               chunk->headed,         chunk->launch_min, chunk->launch_max,
                               chunk->time_min,       chunk->time_max,   chunk->correlation_min,
                               chunk->correlation_max};
    return rtl_checksum_row(fields, sizeof fields / sizeof *fields, bytes, size);
}

static void describe(struct rtl_launch_chunk *chunk, const struct rtl_launch_row *rows,
                     uint32_t count)
{
    *chunk = (struct rtl_launch_chunk){.process = chunk->process,
                                       .launches = count,
                                       .launch_min = rows[0].launch,
                                       .launch_max = rows[count - 1].launch,
                                       .time_min = rows[0].time,
                                       .time_max = rows[0].time,
                                       .correlation_min = rows[0].correlation,
                                       .correlation_max = rows[0].correlation};
    for (uint32_t i = 0; i < count; i++) {
        const struct rtl_launch_row *row = &rows[i];
        chunk->spans += row->span_count;
        chunk->headed += row->head_plan != 0;
        chunk->time_min = row->time < chunk->time_min ? row->time : chunk->time_min;
        chunk->time_max = row->time > chunk->time_max ? row->time : chunk->time_max;
        if (row->correlation < chunk->correlation_min)
            chunk->correlation_min = row->correlation;
        if (row->correlation > chunk->correlation_max)
            chunk->correlation_max = row->correlation;
    }
}

int rtl_launch_encode(struct rtl_launch_codec *codec, const struct rtl_launch_row *rows,
                      uint32_t count, const struct rtl_graphs_span *spans,
                      struct rtl_launch_chunk *chunk, struct rtl_launch_packed *packed)
{
    describe(chunk, rows, count);
    history_begin(&codec->history, chunk);
    rtl_columns_begin(&codec->columns);
    for (uint32_t i = 0; i < count; i++)
        put_row(codec, &rows[i], spans);
    if (!summarize(codec, rows, count, spans) || !pack_summary(codec, &packed->summary_size) ||
        rtl_columns_pack(&codec->columns, &packed->data, &packed->size) != 0)
        return -1;
    packed->summary = codec->bytes;
    chunk->summary_checksum = checksum(chunk, packed->summary, packed->summary_size);
    chunk->checksum = checksum(chunk, packed->data, packed->size);
    return 0;
}

/* Unpacking. */

bool rtl_launch_intact(const struct rtl_launch_chunk *chunk, const unsigned char *data, size_t size)
{
    return chunk->launches > 0 && chunk->launches <= RTL_CHUNK_LAUNCHES_MAX &&
           chunk->spans <= RTL_CHUNK_SPANS_MAX && chunk->checksum == checksum(chunk, data, size);
}

bool rtl_launch_summary_intact(const struct rtl_launch_chunk *chunk, const unsigned char *bytes,
                               size_t size)
{
    return chunk->summary_checksum == checksum(chunk, bytes, size);
}

/* The numbers that every launch has. */
static bool get_always(struct rtl_launch_codec *codec, uint64_t numbers[COLUMN_ALWAYS])
{
    for (unsigned column = 0; column < COLUMN_ALWAYS; column++) {
        bool wide = column == COLUMN_TIME || column == COLUMN_CORRELATION || column == COLUMN_RANGE;
        if (!rtl_columns_get(&codec->columns, column, &numbers[column]) ||
            (!wide && numbers[column] > UINT32_MAX))
            return false;
    }
    return true;
}

static uint32_t unfold32(uint64_t folded, uint32_t before)
{
    return before + rtl_unzigzag32((uint32_t)folded);
}

/* The inverse of put_spans. */
static bool get_spans(struct rtl_launch_codec *codec, const struct rtl_launch_row *row,
                      struct rtl_graphs_span *spans)
{
    struct history *history = &codec->history;
    for (uint32_t i = 0; i < row->span_count; i++) {
        struct rtl_graphs_span *span = &spans[row->span + i];
        struct habit *habit = habit_of(history, row->graph, row->plan, i);
        uint64_t in[3];
        for (unsigned j = 0; j < 3; j++)
            if (!rtl_columns_get(&codec->columns, COLUMN_SPAN_QUEUE + j, &in[j]))
                return false;
        if (in[0] > UINT32_MAX)
            return false;
        span->queue = unfold32(in[0], history->span_queue);
        struct lane *lane = lane_of(history, span->queue);
        uint64_t later = rtl_unzigzag(in[1]);
        uint64_t longer = rtl_unzigzag(in[2]);
        span->start = lane->end + habit->wait + later;
        span->end = span->start + habit->duration + longer;
        rtl_learn(&habit->wait, later);
        rtl_learn(&habit->duration, longer);
        lane->end = span->end;
        history->span_queue = span->queue;
    }
    return true;
}

static bool get_first(struct rtl_launch_codec *codec, struct rtl_launch_row *row)
{
    uint64_t folded = 0;
    struct lane *lane = lane_of(&codec->history, row->queue);
    row->first = 0;
    if (row->graph != RTL_NONE)
        return true;
    if (!rtl_columns_get(&codec->columns, COLUMN_FIRST, &folded))
        return false;
    row->first = lane->next + rtl_unzigzag(folded);
    lane->next = row->first + row->packets;
    return true;
}

/* The inverse of put_row, but for spans. False if a number does not fit its field. */
static bool get_row(struct rtl_launch_codec *codec, struct rtl_launch_row *row)
{
    struct history *history = &codec->history;
    const struct rtl_launch_row *last = &history->last;
    uint64_t in[COLUMN_ALWAYS];
    if (!get_always(codec, in))
        return false;
    uint32_t *next_plan = next_plan_of(history);
    row->launch = unfold32(in[COLUMN_LAUNCH], last->launch + 1);
    row->graph = unfold32(in[COLUMN_GRAPH], last->graph);
    row->generation = unfold32(in[COLUMN_GENERATION], last->generation);
    row->plan = unfold32(in[COLUMN_PLAN], *next_plan);
    row->head_plan = unfold32(in[COLUMN_HEAD_PLAN], last->head_plan);
    row->thread = unfold32(in[COLUMN_THREAD], last->thread);
    row->queue = unfold32(in[COLUMN_QUEUE], last->queue);
    struct habit *habit = habit_of(history, row->graph, row->plan, 0);
    row->packets = unfold32(in[COLUMN_PACKETS], habit->packets);
    row->kernels = unfold32(in[COLUMN_KERNELS], habit->kernels);
    row->recorded = unfold32(in[COLUMN_RECORDED], row->kernels);
    row->unseen = (uint32_t)in[COLUMN_UNSEEN];
    uint64_t later = rtl_unzigzag(in[COLUMN_TIME]);
    row->time = last->time + habit->gap + later;
    row->correlation = last->correlation + rtl_unzigzag(in[COLUMN_CORRELATION]);
    row->range = last->range + rtl_unzigzag(in[COLUMN_RANGE]);
    row->span_count = (uint32_t)in[COLUMN_SPANS];
    *next_plan = row->plan;
    habit->packets = row->packets;
    habit->kernels = row->kernels;
    rtl_learn(&habit->gap, later);
    return get_first(codec, row);
}

int rtl_launch_decode(struct rtl_launch_codec *codec, const struct rtl_launch_chunk *chunk,
                      const unsigned char *data, size_t size, struct rtl_launch_row *rows,
                      struct rtl_graphs_span *spans)
{
    size_t most = chunk->launches > chunk->spans ? chunk->launches : chunk->spans;
    uint32_t used = 0;
    uint32_t before = chunk->launch_min;
    if (!rtl_columns_open(&codec->columns, data, size, most))
        return codec->columns.short_of_memory ? -2 : -1;
    history_begin(&codec->history, chunk);
    for (uint32_t i = 0; i < chunk->launches; i++) {
        struct rtl_launch_row *row = &rows[i];
        if (!get_row(codec, row) || row->span_count > chunk->spans - used || row->launch < before ||
            row->launch > chunk->launch_max)
            return -1;
        row->span = used;
        used += row->span_count;
        before = row->launch;
        if (!get_spans(codec, row, spans))
            return -1;
        codec->history.last = *row;
    }
    return used == chunk->spans && rtl_columns_ended(&codec->columns) ? 0 : -1;
}

/* Order. */

/* Where a launch stands: twice its place, or one less than that of the launch that it goes before.
 */
static uint64_t stand_of(const struct rtl_launch_row *rows, uint32_t place)
{
    const struct rtl_launch_row *row = &rows[place];
    uint64_t stand = (uint64_t)place * 2 + 2;
    if (row->graph != RTL_NONE || row->packets != 1 || row->queue == RTL_NONE)
        return stand;
    for (uint32_t i = place; i-- > 0 && row->launch - rows[i].launch <= RTL_LAUNCH_REACH;)
        if (rows[i].graph == RTL_NONE && rows[i].queue == row->queue && rows[i].first > row->first)
            stand = (uint64_t)i * 2 + 1;
    return stand;
}

/* A launch that is moved, by where it goes. */
struct move {
    uint64_t stand;
    uint32_t place;
};

static int by_stand(const void *left, const void *right)
{
    const struct move *a = left;
    const struct move *b = right;
    if (a->stand != b->stand)
        return a->stand < b->stand ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

static int order_moved(const struct rtl_launch_row *rows, uint32_t count, uint32_t *order)
{
    struct move *moves = malloc(count * sizeof *moves);
    if (!moves)
        return -1;
    for (uint32_t i = 0; i < count; i++)
        moves[i] = (struct move){stand_of(rows, i), i};
    qsort(moves, count, sizeof *moves, by_stand);
    for (uint32_t i = 0; i < count; i++)
        order[i] = moves[i].place;
    free(moves);
    return 0;
}

int rtl_launch_order(const struct rtl_launch_row *rows, uint32_t count, uint32_t *order)
{
    bool moved = false;
    for (uint32_t i = 0; i < count; i++) {
        order[i] = i;
        moved = moved || stand_of(rows, i) != (uint64_t)i * 2 + 2;
    }
    return moved ? order_moved(rows, count, order) : 0;
}

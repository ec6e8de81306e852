/* Kernels into columns of time, a chunk at a time, in threads.
 *
 * A thread adds up what each name took of each column that the chunk reaches into, and how long
 * something ran. The calling thread adds the chunks up, those of a queue in the order of time, so
 * that a column is complete, and no more of it is kept than the name that took most, when the next
 * chunk lies behind it. Where chunks of a queue overlap, something ran in the union of both: their
 * intervals wait until no later chunk can have a part in them.
 *
 * A chunk that lies within a column and overlaps with no other is not unpacked where the trace says
 * what its kernels add up to. */
#include "timeline/timeline.h"

#include "common/memory.h"
#include "store/chunk_stat.h"
#include "store/scan.h"
#include "store/sweep.h"

#include <stdlib.h>
#include <string.h>

/* What a name has in a chunk. */
struct of_name {
    uint64_t events, ns;
    uint64_t in_column;
};

/* A part of what a name took of a column. */
struct part {
    unsigned column;
    struct timeline_share share;
};

struct long_kernel {
    struct timeline_long event;
    struct rtl_scan_kernel kernel;
};

/* A list that is used again. */
struct list {
    void *items;
    size_t count, capacity;
};

/* What a thread makes of a chunk. */
struct tally {
    struct of_name *names;
    uint64_t *busy; /* by column */
    uint64_t total; /* of them */
    uint64_t events, last;
    uint64_t before; /* start of the kernel before */
    bool sorted, alone;
    unsigned column; /* that at hand: */
    uint64_t column_begin, column_end;
    struct list touched; /* uint32_t: names of the chunk */
    struct list open;    /* uint32_t: names of the column at hand */
    struct list parts;   /* struct part */
    struct list longs;   /* struct long_kernel */
    struct rtl_interval *intervals;
    uint32_t interval_count, interval_capacity;
};

/* The queue at hand: intervals that wait, sorted and joined. */
struct waiting {
    struct rtl_interval *intervals, *room;
    size_t count, capacity;
};

struct reading {
    rtl_trace_t *trace;
    struct rtl_chunk_stats *stats; /* NULL: the trace has none, or they are of too much */
    struct list told;              /* struct rtl_scan_chunk: those of which they tell, in order */
    size_t told_next;
    struct timeline *timeline;
    struct rtl_scan_names *names;
    uint32_t name_count;
    uint64_t *events, *ns; /* by name */
    struct waiting waiting;
};

static void *added(struct list *list, size_t size)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 64;
        list->items = memory_grown(list->items, list->capacity, size);
    }
    return (char *)list->items + size * list->count++;
}

static void add_name(struct list *list, uint32_t name)
{
    *(uint32_t *)added(list, sizeof name) = name;
}

/* In threads. */

static void add_part(struct tally *tally, unsigned column, const struct timeline_share *share)
{
    struct part *part = added(&tally->parts, sizeof *part);
    *part = (struct part){column, *share};
}

/* Puts what was added up of the column at hand into the list. */
static void leave_column(struct tally *tally)
{
    const uint32_t *names = tally->open.items;
    for (size_t i = 0; i < tally->open.count; ++i) {
        struct of_name *of = &tally->names[names[i]];
        add_part(tally, tally->column, &(struct timeline_share){names[i], of->in_column});
        of->in_column = 0;
    }
    tally->open.count = 0;
}

static void enter_column(const struct timeline *timeline, struct tally *tally, uint64_t time)
{
    tally->column = timeline_at(timeline, time);
    tally->column_begin = timeline_begin(timeline, tally->column);
    tally->column_end = timeline_begin(timeline, (uint64_t)tally->column + 1);
}

static bool is_in_column(const struct tally *tally, uint64_t start, uint64_t end)
{
    return start >= tally->column_begin && end <= tally->column_end;
}

/* What a kernel that may reach over several columns took of each. */
static void add_over(const struct timeline *timeline, struct tally *tally, uint32_t name,
                     uint64_t start, uint64_t end)
{
    unsigned last = timeline_at(timeline, end - 1);
    for (unsigned i = timeline_at(timeline, start); i <= last; ++i) {
        uint64_t ns = timeline_overlap(timeline_begin(timeline, i),
                                       timeline_begin(timeline, (uint64_t)i + 1), start, end);
        add_part(tally, i, &(struct timeline_share){name, ns});
    }
}

static void add_share(const struct timeline *timeline, struct tally *tally, uint32_t name,
                      uint64_t start, uint64_t end)
{
    struct of_name *of = &tally->names[name];
    if (!is_in_column(tally, start, end)) {
        leave_column(tally);
        enter_column(timeline, tally, start);
        if (!is_in_column(tally, start, end)) {
            add_over(timeline, tally, name, start, end);
            return;
        }
    }
    if (of->in_column == 0)
        add_name(&tally->open, name);
    of->in_column += end - start;
}

static void add_event(struct tally *tally, uint32_t name)
{
    if (tally->names[name].events++ == 0)
        add_name(&tally->touched, name);
}

static void add_long(const struct timeline *timeline, struct tally *tally, uint32_t name,
                     const struct rtl_codec_block *block, uint32_t i, uint64_t start, uint64_t end)
{
    unsigned first = timeline_at(timeline, start);
    unsigned last = timeline_at(timeline, end - 1);
    if (last - first < TIMELINE_LONG)
        return;
    struct long_kernel *kernel = added(&tally->longs, sizeof *kernel);
    *kernel = (struct long_kernel){
        .event = {.name = name, .from = first, .to = last + 1, .start = block->start[i]},
        .kernel = {block->packet[i], block->launch[i], block->ordinal[i]}};
}

/* A chunk that spans as many columns, or one less: a kernel of it may be long. */
static bool may_be_long(const struct timeline *timeline, const struct rtl_scan_chunk *chunk)
{
    uint64_t from = chunk->from > timeline->from ? chunk->from : timeline->from;
    uint64_t to = chunk->to < timeline->to ? chunk->to : timeline->to;
    return to > from &&
           timeline_at(timeline, to - 1) - timeline_at(timeline, from) >= TIMELINE_LONG;
}

static bool is_alone(const struct rtl_scan_chunk *chunk)
{
    return chunk->before <= chunk->from && chunk->to <= chunk->next;
}

static bool take(void *context, const struct rtl_scan_chunk *chunk, struct rtl_codec_block *block,
                 void *result)
{
    const struct reading *reading = context;
    const struct timeline *timeline = reading->timeline;
    struct tally *tally = result;
    uint32_t names[RTL_CODEC_BLOCK];
    bool long_ones = may_be_long(timeline, chunk);
    rtl_scan_names_of(reading->names, chunk, block, names);
    for (uint32_t i = 0; i < block->count; ++i) {
        uint64_t start = block->start[i] > timeline->from ? block->start[i] : timeline->from;
        uint64_t end = block->end[i] < timeline->to ? block->end[i] : timeline->to;
        add_event(tally, names[i]);
        if (end <= start)
            continue;
        tally->names[names[i]].ns += end - start;
        add_share(timeline, tally, names[i], start, end);
        if (long_ones)
            add_long(timeline, tally, names[i], block, i, start, end);
        tally->sorted &= start >= tally->before;
        tally->before = start;
        tally->intervals[tally->interval_count++] = (struct rtl_interval){start, end};
    }
    tally->events += block->count;
    return true;
}

static void make_room(const struct reading *reading, const struct rtl_scan_chunk *chunk,
                      struct tally *tally)
{
    if (!tally->names) {
        tally->names = memory_new(reading->name_count, sizeof *tally->names);
        tally->busy = memory_new(reading->timeline->width, sizeof *tally->busy);
    }
    if (tally->interval_capacity < chunk->kernels) {
        tally->interval_capacity = chunk->kernels;
        tally->intervals = memory_grown(tally->intervals, chunk->kernels, sizeof *tally->intervals);
    }
}

static bool begin(void *context, const struct rtl_scan_chunk *chunk, void *result)
{
    const struct reading *reading = context;
    struct tally *tally = result;
    make_room(reading, chunk, tally);
    const uint32_t *names = tally->touched.items;
    for (size_t i = 0; i < tally->touched.count; ++i)
        tally->names[names[i]] = (struct of_name){0};
    memset(tally->busy, 0, reading->timeline->width * sizeof *tally->busy);
    tally->touched.count = tally->open.count = tally->parts.count = tally->longs.count = 0;
    tally->interval_count = 0;
    tally->events = tally->total = tally->last = tally->before = 0;
    tally->sorted = true;
    tally->alone = is_alone(chunk);
    tally->column_begin = tally->column_end = 0;
    return true;
}

/* Adds an interval that is joined with no other. */
static void add_busy(const struct timeline *timeline, struct tally *tally, uint64_t start,
                     uint64_t end)
{
    if (!is_in_column(tally, start, end))
        enter_column(timeline, tally, start);
    if (is_in_column(tally, start, end)) {
        tally->busy[tally->column] += end - start;
        tally->total += end - start;
        return;
    }
    for (unsigned i = tally->column; start < end; ++i) {
        uint64_t until = timeline_begin(timeline, (uint64_t)i + 1);
        uint64_t part = end < until ? end : until;
        tally->busy[i] += part - start;
        tally->total += part - start;
        start = part;
    }
}

static int by_column(const void *left, const void *right)
{
    const struct part *a = left;
    const struct part *b = right;
    if (a->column != b->column)
        return a->column < b->column ? -1 : 1;
    return (a->share.name > b->share.name) - (a->share.name < b->share.name);
}

static bool end(void *context, const struct rtl_scan_chunk *chunk, void *result)
{
    const struct reading *reading = context;
    struct tally *tally = result;
    (void)chunk;
    leave_column(tally);
    if (tally->parts.count)
        qsort(tally->parts.items, tally->parts.count, sizeof(struct part), by_column);
    if (!tally->sorted)
        rtl_intervals_sort(tally->intervals, tally->interval_count);
    tally->interval_count = (uint32_t)rtl_intervals_join(tally->intervals, tally->interval_count);
    for (uint32_t i = 0; tally->alone && i < tally->interval_count; ++i)
        add_busy(reading->timeline, tally, tally->intervals[i].start, tally->intervals[i].end);
    return true;
}

static void release(void *result)
{
    struct tally *tally = result;
    struct list *lists[] = {&tally->touched, &tally->open, &tally->parts, &tally->longs};
    for (size_t i = 0; i < sizeof lists / sizeof(struct list *); ++i)
        free(lists[i]->items);
    free(tally->names);
    free(tally->busy);
    free(tally->intervals);
}

/* In the calling thread. */

/* Whether what its kernels add up to is all that is asked for. */
static bool is_told(const struct reading *reading, const struct rtl_scan_chunk *chunk)
{
    const struct timeline *timeline = reading->timeline;
    return reading->stats && is_alone(chunk) && chunk->from >= timeline->from &&
           chunk->to <= timeline->to && chunk->from < chunk->to &&
           timeline_at(timeline, chunk->from) == timeline_at(timeline, chunk->to - 1) &&
           rtl_chunk_stats_has(reading->stats, chunk->process, chunk->number);
}

static unsigned choose(void *context, const struct rtl_scan_chunk *chunk)
{
    struct reading *reading = context;
    if (!timeline_lane(reading->timeline, chunk->process, chunk->queue))
        return 0;
    if (is_told(reading, chunk)) {
        *(struct rtl_scan_chunk *)added(&reading->told, sizeof *chunk) = *chunk;
        return 0;
    }
    return may_be_long(reading->timeline, chunk) ? RTL_CODEC_WHOLE : RTL_CODEC_TIMES;
}

static void add_names(struct reading *reading, const struct tally *tally)
{
    const uint32_t *names = tally->touched.items;
    for (size_t i = 0; i < tally->touched.count; ++i) {
        reading->events[names[i]] += tally->names[names[i]].events;
        reading->ns[names[i]] += tally->names[names[i]].ns;
    }
}

static rtl_status_t add_longs(struct reading *reading, const struct rtl_scan_chunk *chunk,
                              const struct tally *tally, struct timeline_lane *lane)
{
    struct long_kernel *longs = tally->longs.items;
    for (size_t i = 0; i < tally->longs.count; ++i) {
        rtl_status_t status =
            rtl_scan_node(reading->trace, chunk, &longs[i].kernel, &longs[i].event.node);
        if (status != RTL_OK)
            return status;
        timeline_add_long(lane, &longs[i].event);
    }
    return RTL_OK;
}

/* Puts intervals among those that wait. */
static void wait_with(struct waiting *waiting, const struct rtl_interval *more, size_t count)
{
    const struct rtl_interval *old = waiting->intervals;
    size_t at = 0;
    size_t next = 0;
    if (waiting->capacity < waiting->count + count) {
        waiting->capacity = waiting->count + count;
        waiting->intervals =
            memory_grown(waiting->intervals, waiting->capacity, sizeof *waiting->intervals);
        waiting->room = memory_grown(waiting->room, waiting->capacity, sizeof *waiting->room);
        old = waiting->intervals;
    }
    for (size_t i = 0; i < waiting->count + count; ++i) {
        bool first = next == count || (at < waiting->count && old[at].start <= more[next].start);
        waiting->room[i] = first ? old[at++] : more[next++];
    }
    struct rtl_interval *merged = waiting->room;
    waiting->room = waiting->intervals;
    waiting->intervals = merged;
    waiting->count = rtl_intervals_join(merged, waiting->count + count);
}

/* Adds what lies before `limit`, where no later chunk begins; the rest waits on. */
static void let_go(const struct timeline *timeline, struct waiting *waiting, uint64_t limit,
                   struct tally *tally)
{
    size_t kept = 0;
    for (size_t i = 0; i < waiting->count; ++i) {
        struct rtl_interval interval = waiting->intervals[i];
        if (interval.start < limit)
            add_busy(timeline, tally, interval.start, interval.end < limit ? interval.end : limit);
        if (interval.start < limit)
            interval.start = limit;
        if (interval.start < interval.end)
            waiting->intervals[kept++] = interval;
    }
    waiting->count = kept;
}

static void add_chunk(const struct timeline *timeline, const struct tally *tally,
                      struct timeline_lane *lane)
{
    const struct part *parts = tally->parts.items;
    for (size_t i = 0; i < tally->parts.count; ++i)
        timeline_share(&lane->columns[parts[i].column], &parts[i].share);
    for (unsigned i = 0; i < timeline->width; ++i)
        lane->columns[i].busy += tally->busy[i];
    lane->busy += tally->total;
    lane->events += tally->events;
}

static void close_before(const struct reading *reading, struct timeline_lane *lane,
                         const struct rtl_scan_chunk *chunk)
{
    timeline_close(reading->timeline, lane, chunk->next == UINT64_MAX ? 0 : chunk->next);
}

/* Adds a chunk that lies within one column. */
static rtl_status_t add_told(struct reading *reading, const struct rtl_scan_chunk *chunk)
{
    struct timeline *timeline = reading->timeline;
    struct timeline_lane *lane = timeline_lane(timeline, chunk->process, chunk->queue);
    struct timeline_column *column = &lane->columns[timeline_at(timeline, chunk->from)];
    struct rtl_chunk_stat stat;
    rtl_status_t status = rtl_chunk_stats_get(reading->stats, chunk->number, chunk->kernels, &stat);
    if (status != RTL_OK)
        return status;
    for (uint32_t i = 0; i < stat.count; ++i) {
        const struct rtl_chunk_share *share = &stat.shares[i];
        uint32_t name = rtl_scan_names_shape(reading->names, chunk->process, share->shape);
        reading->events[name] += share->kernels;
        reading->ns[name] += share->total;
        if (share->total)
            timeline_share(column, &(struct timeline_share){name, share->total});
    }
    column->busy += stat.busy;
    lane->busy += stat.busy;
    lane->events += chunk->kernels;
    timeline->events += chunk->kernels;
    close_before(reading, lane, chunk);
    return RTL_OK;
}

/* Whether one comes before the other, in the order of a scan. */
static bool comes_before(const struct rtl_scan_chunk *a, const struct rtl_scan_chunk *b)
{
    if (a->process != b->process)
        return a->process < b->process;
    if (a->queue != b->queue)
        return a->queue < b->queue;
    return a->from != b->from ? a->from < b->from : a->number < b->number;
}

/* Adds those that come before a chunk, NULL: all that are left. */
static rtl_status_t add_told_before(struct reading *reading, const struct rtl_scan_chunk *chunk)
{
    const struct rtl_scan_chunk *told = reading->told.items;
    rtl_status_t status = RTL_OK;
    while (status == RTL_OK && reading->told_next < reading->told.count &&
           (!chunk || comes_before(&told[reading->told_next], chunk)))
        status = add_told(reading, &told[reading->told_next++]);
    return status;
}

static rtl_status_t done(void *context, const struct rtl_scan_chunk *chunk, rtl_status_t status,
                         bool intact, void *result)
{
    struct reading *reading = context;
    struct timeline *timeline = reading->timeline;
    struct timeline_lane *lane = timeline_lane(timeline, chunk->process, chunk->queue);
    struct tally *tally = result;
    (void)intact;
    if (status != RTL_OK)
        return status == RTL_E_DAMAGED ? rtl_scan_damaged(reading->trace, chunk) : status;
    status = add_told_before(reading, chunk);
    if (status != RTL_OK)
        return status;
    if (!tally->alone) {
        wait_with(&reading->waiting, tally->intervals, tally->interval_count);
        let_go(timeline, &reading->waiting, chunk->next, tally);
    }
    add_names(reading, tally);
    add_chunk(timeline, tally, lane);
    timeline->events += tally->events;
    close_before(reading, lane, chunk);
    return add_longs(reading, chunk, tally, lane);
}

/* Names are numbered in the order of their letters. */

static void number_lane(const struct timeline *timeline, struct timeline_lane *lane,
                        const uint32_t *numbers)
{
    timeline_close(timeline, lane, UINT64_MAX);
    lane->closed = 0; /* copies may come */
    for (unsigned i = 0; i < timeline->width; ++i)
        if (lane->columns[i].name != RTL_TRACE_NONE)
            lane->columns[i].name = numbers[lane->columns[i].name];
    for (size_t i = 0; i < lane->long_count; ++i)
        lane->longs[i].name = numbers[lane->longs[i].name];
}

static void number_names(struct reading *reading)
{
    struct timeline *timeline = reading->timeline;
    uint32_t *numbers = memory_new(reading->name_count, sizeof *numbers);
    for (uint32_t i = 0; i < reading->name_count; ++i) {
        if (!reading->events[i])
            continue;
        numbers[i] = timeline_name(timeline, rtl_scan_names_text(reading->names, i));
        timeline->names[numbers[i]].events = reading->events[i];
        timeline->names[numbers[i]].ns = reading->ns[i];
    }
    for (size_t i = 0; i < timeline->lane_count; ++i)
        number_lane(timeline, &timeline->lanes[i], numbers);
    free(numbers);
}

rtl_status_t timeline_kernels(rtl_trace_t *trace, struct timeline *timeline)
{
    struct reading reading = {
        .trace = trace, .timeline = timeline, .names = rtl_scan_names_new(trace)};
    const struct rtl_kernel_scan scan = {
        .filter = {timeline->from, timeline->to, 0, RTL_TRACE_NONE, 0},
        .context = &reading,
        .result_size = sizeof(struct tally),
        .result_free = release,
        .choose = choose,
        .begin = begin,
        .take = take,
        .end = end,
        .done = done,
    };
    if (!reading.names)
        memory_is_short();
    reading.name_count = rtl_scan_names_count(reading.names);
    reading.events = memory_new(reading.name_count, sizeof *reading.events);
    reading.ns = memory_new(reading.name_count, sizeof *reading.ns);
    rtl_status_t status = rtl_chunk_stats_open(trace, &reading.stats);
    if (status == RTL_OK)
        status = rtl_scan_kernels(trace, &scan);
    if (status == RTL_OK)
        status = add_told_before(&reading, NULL);
    if (status == RTL_OK)
        number_names(&reading);
    rtl_scan_names_free(reading.names);
    free(reading.events);
    free(reading.ns);
    rtl_chunk_stats_free(reading.stats);
    free(reading.told.items);
    free(reading.waiting.intervals);
    free(reading.waiting.room);
    return status;
}

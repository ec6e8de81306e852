#include "timeline/timeline.h"

#include "common/lower_bound.h"
#include "common/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct event {
    const char *name;
    uint64_t start, end;
};

uint32_t timeline_name(struct timeline *timeline, const char *text)
{
    size_t number = texts_number(&timeline->texts, text);
    if (number == TEXTS_NONE)
        memory_is_short();
    if (number >= timeline->name_capacity) {
        size_t before = timeline->name_capacity;
        timeline->name_capacity = before ? 2 * before : 64;
        timeline->names =
            memory_grown(timeline->names, timeline->name_capacity, sizeof *timeline->names);
        memset(timeline->names + before, 0,
               (timeline->name_capacity - before) * sizeof *timeline->names);
    }
    timeline->name_count = number >= timeline->name_count ? number + 1 : timeline->name_count;
    return (uint32_t)number;
}

/* Windows are shorter than 2^64 / width by far. */
uint64_t timeline_begin(const struct timeline *timeline, uint64_t column)
{
    uint64_t length = timeline->to - timeline->from;
    uint64_t width = timeline->width ? timeline->width : 1;
    return timeline->from + length / width * column + length % width * column / width;
}

unsigned timeline_at(const struct timeline *timeline, uint64_t time)
{
    double length = (double)(timeline->to - timeline->from);
    double at = (double)(time - timeline->from) / length * timeline->width;
    uint64_t column = at < timeline->width ? (uint64_t)at : timeline->width - 1;
    while (column > 0 && timeline_begin(timeline, column) > time)
        --column;
    while (column + 1 < timeline->width && timeline_begin(timeline, column + 1) <= time)
        ++column;
    return (unsigned)column;
}

void timeline_share(struct timeline_column *column, const struct timeline_share *share)
{
    uint32_t at;
    RTL_LOWER_BOUND(at, column->share_count, column->shares[at].name < share->name);
    if (at < column->share_count && column->shares[at].name == share->name) {
        column->shares[at].ns += share->ns;
        return;
    }
    if (column->share_count == column->share_capacity) {
        column->share_capacity = column->share_capacity ? 2 * column->share_capacity : 8;
        column->shares =
            memory_grown(column->shares, column->share_capacity, sizeof *column->shares);
    }
    memmove(&column->shares[at + 1], &column->shares[at],
            (column->share_count++ - at) * sizeof *column->shares);
    column->shares[at] = *share;
}

/* The name that took most; of several the one with the least number. */
static void close_column(struct timeline_column *column)
{
    const struct timeline_share *most = NULL;
    for (uint32_t i = 0; i < column->share_count; ++i) {
        const struct timeline_share *share = &column->shares[i];
        if (!most || share->ns > most->ns)
            most = share;
    }
    if (most)
        column->name = most->name;
    free(column->shares);
    column->shares = NULL;
    column->share_count = column->share_capacity = 0;
}

void timeline_close(const struct timeline *timeline, struct timeline_lane *lane, uint64_t time)
{
    while (lane->closed < timeline->width &&
           timeline_begin(timeline, (uint64_t)lane->closed + 1) <= time)
        close_column(&lane->columns[lane->closed++]);
}

uint64_t timeline_overlap(uint64_t from, uint64_t to, uint64_t start, uint64_t end)
{
    uint64_t a = from > start ? from : start;
    uint64_t b = to < end ? to : end;
    return b > a ? b - a : 0;
}

void timeline_add_long(struct timeline_lane *lane, const struct timeline_long *event)
{
    if (lane->long_count == lane->long_capacity) {
        lane->long_capacity = lane->long_capacity ? 2 * lane->long_capacity : 8;
        lane->longs = memory_grown(lane->longs, lane->long_capacity, sizeof *lane->longs);
    }
    lane->longs[lane->long_count] = *event;
    lane->longs[lane->long_count].came = lane->long_count;
    ++lane->long_count;
}

/* Events come by start, so what was not busy before is what lies behind the last end. */
static void add(struct timeline *timeline, struct timeline_lane *lane, const struct event *event)
{
    uint64_t start = event->start > timeline->from ? event->start : timeline->from;
    uint64_t end = event->end < timeline->to ? event->end : timeline->to;
    uint64_t fresh = lane->end > start ? lane->end : start;
    uint32_t name = timeline_name(timeline, event->name);
    ++lane->events;
    ++timeline->events;
    ++timeline->names[name].events;
    if (end <= start)
        return;
    timeline->names[name].ns += end - start;
    unsigned first = timeline_at(timeline, start);
    unsigned last = timeline_at(timeline, end - 1);
    for (unsigned i = first; i <= last; ++i) {
        uint64_t from = timeline_begin(timeline, i);
        uint64_t to = timeline_begin(timeline, (uint64_t)i + 1);
        const struct timeline_share share = {name, timeline_overlap(from, to, start, end)};
        timeline_share(&lane->columns[i], &share);
        lane->columns[i].busy += timeline_overlap(from, to, fresh, end);
    }
    if (last - first >= TIMELINE_LONG)
        timeline_add_long(lane, &(struct timeline_long){.name = name,
                                                        .node = RTL_TRACE_NONE,
                                                        .from = first,
                                                        .to = last + 1,
                                                        .start = event->start});
    lane->busy += end > fresh ? end - fresh : 0;
    lane->end = end > lane->end ? end : lane->end;
}

static bool is_before(const struct timeline_lane *lane, uint32_t process, uint32_t queue)
{
    return lane->process < process || (lane->process == process && lane->queue < queue);
}

struct timeline_lane *timeline_lane(struct timeline *timeline, uint32_t process, uint32_t queue)
{
    size_t low;
    RTL_LOWER_BOUND(low, timeline->lane_count, is_before(&timeline->lanes[low], process, queue));
    if (low == timeline->lane_count || timeline->lanes[low].process != process ||
        timeline->lanes[low].queue != queue)
        return NULL;
    return &timeline->lanes[low];
}

static rtl_status_t read_copies(rtl_trace_t *trace, struct timeline *timeline)
{
    rtl_copy_filter_t filter = {.from = timeline->from, .to = timeline->to};
    rtl_copy_iter_t *iter;
    rtl_copy_t copy;
    rtl_status_t status = rtlTraceCopies(trace, &filter, &iter);
    if (status != RTL_OK)
        return status;
    while ((status = rtlCopyNext(iter, &copy)) == RTL_OK) {
        struct timeline_lane *lane = timeline_lane(timeline, copy.process, copy.queue);
        char name[64];
        (void)snprintf(name, sizeof name, "copy %s", copy.kind);
        if (lane && copy.end)
            add(timeline, lane, &(struct event){name, copy.start, copy.end});
    }
    rtlCopyIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

static int by_place(const void *left, const void *right)
{
    const struct timeline_lane *a = left;
    const struct timeline_lane *b = right;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->gpu != b->gpu)
        return a->gpu < b->gpu ? -1 : 1;
    if (a->copies != b->copies)
        return a->copies ? 1 : -1;
    return (a->queue > b->queue) - (a->queue < b->queue);
}

static void free_lane(const struct timeline *timeline, struct timeline_lane *lane)
{
    for (unsigned i = 0; i < timeline->width && lane->columns; ++i)
        free(lane->columns[i].shares);
    free(lane->columns);
    free(lane->longs);
}

static void leave_empty_out(struct timeline *timeline)
{
    size_t kept = 0;
    for (size_t i = 0; i < timeline->lane_count; ++i) {
        if (timeline->lanes[i].events)
            timeline->lanes[kept++] = timeline->lanes[i];
        else
            free_lane(timeline, &timeline->lanes[i]);
    }
    timeline->lane_count = kept;
    if (kept)
        qsort(timeline->lanes, kept, sizeof *timeline->lanes, by_place);
}

static int long_by_start(const void *left, const void *right)
{
    const struct timeline_long *a = left;
    const struct timeline_long *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->came > b->came) - (a->came < b->came);
}

static void finish(struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->lane_count; ++i) {
        struct timeline_lane *lane = &timeline->lanes[i];
        timeline_close(timeline, lane, UINT64_MAX);
        if (lane->long_count)
            qsort(lane->longs, lane->long_count, sizeof *lane->longs, long_by_start);
    }
    leave_empty_out(timeline);
}

struct ranked {
    uint32_t name;
    uint64_t ns;
};

static int by_time(const void *left, const void *right)
{
    const struct ranked *a = left;
    const struct ranked *b = right;
    if (a->ns != b->ns)
        return a->ns < b->ns ? 1 : -1;
    return (a->name > b->name) - (a->name < b->name);
}

static void rank_names(struct timeline *timeline)
{
    struct ranked *list = memory_new(timeline->name_count, sizeof *list);
    for (uint32_t i = 0; i < timeline->name_count; ++i)
        list[i] = (struct ranked){i, timeline->names[i].ns};
    qsort(list, timeline->name_count, sizeof *list, by_time);
    timeline->ranked = memory_new(timeline->name_count, sizeof *timeline->ranked);
    for (uint32_t i = 0; i < timeline->name_count; ++i) {
        timeline->ranked[i] = list[i].name;
        timeline->names[list[i].name].rank = i;
    }
    free(list);
}

static struct timeline_column *new_columns(unsigned width)
{
    struct timeline_column *columns = memory_new(width, sizeof *columns);
    for (unsigned i = 0; i < width; ++i)
        columns[i].name = RTL_TRACE_NONE;
    return columns;
}

rtl_status_t timeline_read(rtl_trace_t *trace, struct timeline *timeline)
{
    const rtl_queue_t *queues;
    size_t count;
    rtl_status_t status = rtlTraceQueues(trace, &queues, &count);
    if (status != RTL_OK)
        return status;
    timeline->lanes = memory_new(count, sizeof *timeline->lanes);
    for (size_t i = 0; i < count; ++i)
        timeline->lanes[timeline->lane_count++] =
            (struct timeline_lane){.process = queues[i].process,
                                   .queue = queues[i].queue,
                                   .gpu = queues[i].gpu,
                                   .copies = strcmp(queues[i].way, "copies") == 0,
                                   .columns = new_columns(timeline->width)};
    status = timeline_kernels(trace, timeline);
    if (status == RTL_OK)
        status = read_copies(trace, timeline);
    finish(timeline);
    rank_names(timeline);
    return status;
}

void timeline_free(struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->lane_count; ++i)
        free_lane(timeline, &timeline->lanes[i]);
    free(timeline->lanes);
    free(timeline->names);
    free(timeline->ranked);
    texts_free(&timeline->texts);
}

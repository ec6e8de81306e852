#include "timeline/timeline.h"

#include "common/lower_bound.h"
#include "common/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONG_COLUMNS 4u /* an event of fewer has no room for a name */

struct event {
    const char *name;
    uint32_t node;
    uint64_t start, end;
};

static uint32_t name_of(struct timeline *timeline, const char *text)
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

/* Where column `column` begins. Windows are shorter than 2^64 / width by far. */
static uint64_t begin_of(const struct timeline *timeline, uint64_t column)
{
    uint64_t length = timeline->to - timeline->from;
    uint64_t width = timeline->width ? timeline->width : 1;
    return timeline->from + length / width * column + length % width * column / width;
}

static unsigned column_of(const struct timeline *timeline, uint64_t time)
{
    double length = (double)(timeline->to - timeline->from);
    double at = (double)(time - timeline->from) / length * timeline->width;
    uint64_t column = at < timeline->width ? (uint64_t)at : timeline->width - 1;
    while (column > 0 && begin_of(timeline, column) > time)
        --column;
    while (column + 1 < timeline->width && begin_of(timeline, column + 1) <= time)
        ++column;
    return (unsigned)column;
}

/* Keeps the names that took most: a new one takes the place, and goes on from the time, of the
 * least (Metwally's space saving), so that one which takes more than a fourth is never missed. */
static void add_to_column(struct timeline_column *column, uint32_t name, uint64_t ns)
{
    unsigned least = 0;
    for (unsigned i = 0; i < TIMELINE_CANDIDATES; ++i) {
        if (column->most[i].ns && column->most[i].name == name) {
            column->most[i].ns += ns;
            return;
        }
        least = column->most[i].ns < column->most[least].ns ? i : least;
    }
    column->most[least].name = name;
    column->most[least].ns += ns;
}

static uint64_t overlap(uint64_t from, uint64_t to, uint64_t start, uint64_t end)
{
    uint64_t a = from > start ? from : start;
    uint64_t b = to < end ? to : end;
    return b > a ? b - a : 0;
}

static void add_long(struct timeline_lane *lane, const struct timeline_long *event)
{
    if (lane->long_count == lane->long_capacity) {
        lane->long_capacity = lane->long_capacity ? 2 * lane->long_capacity : 8;
        lane->longs = memory_grown(lane->longs, lane->long_capacity, sizeof *lane->longs);
    }
    lane->longs[lane->long_count++] = *event;
}

/* Events come by start, so what was not busy before is what lies behind the last end. */
static void add(struct timeline *timeline, struct timeline_lane *lane, const struct event *event)
{
    uint64_t start = event->start > timeline->from ? event->start : timeline->from;
    uint64_t end = event->end < timeline->to ? event->end : timeline->to;
    uint64_t fresh = lane->end > start ? lane->end : start;
    uint32_t name = name_of(timeline, event->name);
    ++lane->events;
    ++timeline->events;
    ++timeline->names[name].events;
    if (end <= start)
        return;
    timeline->names[name].ns += end - start;
    unsigned first = column_of(timeline, start);
    unsigned last = column_of(timeline, end - 1);
    for (unsigned i = first; i <= last; ++i) {
        uint64_t from = begin_of(timeline, i);
        uint64_t to = begin_of(timeline, (uint64_t)i + 1);
        add_to_column(&lane->columns[i], name, overlap(from, to, start, end));
        lane->columns[i].busy += overlap(from, to, fresh, end);
    }
    if (last - first >= LONG_COLUMNS)
        add_long(lane, &(struct timeline_long){name, event->node, first, last + 1});
    lane->busy += end > fresh ? end - fresh : 0;
    lane->end = end > lane->end ? end : lane->end;
}

static bool is_before(const struct timeline_lane *lane, uint32_t process, uint32_t queue)
{
    return lane->process < process || (lane->process == process && lane->queue < queue);
}

static struct timeline_lane *lane_of(struct timeline *timeline, uint32_t process, uint32_t queue)
{
    size_t low;
    RTL_LOWER_BOUND(low, timeline->lane_count, is_before(&timeline->lanes[low], process, queue));
    if (low == timeline->lane_count || timeline->lanes[low].process != process ||
        timeline->lanes[low].queue != queue)
        return NULL;
    return &timeline->lanes[low];
}

static rtl_status_t read_kernels(rtl_trace_t *trace, struct timeline *timeline)
{
    rtl_kernel_filter_t filter = RTL_KERNEL_FILTER_ALL;
    rtl_kernel_iter_t *iter;
    rtl_kernel_t kernel;
    filter.from = timeline->from;
    filter.to = timeline->to;
    rtl_status_t status = rtlTraceKernels(trace, &filter, &iter);
    if (status != RTL_OK)
        return status;
    while ((status = rtlKernelNext(iter, &kernel)) == RTL_OK) {
        struct timeline_lane *lane = lane_of(timeline, kernel.process, kernel.queue);
        if (lane)
            add(timeline, lane,
                &(struct event){kernel.name, kernel.node, kernel.start, kernel.end});
    }
    rtlKernelIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
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
        struct timeline_lane *lane = lane_of(timeline, copy.process, copy.queue);
        char name[64];
        (void)snprintf(name, sizeof name, "copy %s", copy.kind);
        if (lane && copy.end)
            add(timeline, lane, &(struct event){name, RTL_TRACE_NONE, copy.start, copy.end});
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

static void free_lane(struct timeline_lane *lane)
{
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
            free_lane(&timeline->lanes[i]);
    }
    timeline->lane_count = kept;
    if (kept)
        qsort(timeline->lanes, kept, sizeof *timeline->lanes, by_place);
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

rtl_status_t timeline_read(rtl_trace_t *trace, struct timeline *timeline)
{
    const rtl_queue_t *queues;
    size_t count;
    rtl_status_t status = rtlTraceQueues(trace, &queues, &count);
    if (status != RTL_OK)
        return status;
    timeline->lanes = memory_new(count, sizeof *timeline->lanes);
    for (size_t i = 0; i < count; ++i)
        timeline->lanes[timeline->lane_count++] = (struct timeline_lane){
            .process = queues[i].process,
            .queue = queues[i].queue,
            .gpu = queues[i].gpu,
            .copies = strcmp(queues[i].way, "copies") == 0,
            .columns = memory_new(timeline->width, sizeof(struct timeline_column))};
    status = read_kernels(trace, timeline);
    if (status == RTL_OK)
        status = read_copies(trace, timeline);
    leave_empty_out(timeline);
    rank_names(timeline);
    return status;
}

void timeline_free(struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->lane_count; ++i)
        free_lane(&timeline->lanes[i]);
    free(timeline->lanes);
    free(timeline->names);
    free(timeline->ranked);
    texts_free(&timeline->texts);
}

uint32_t timeline_most(const struct timeline_column *column)
{
    unsigned most = 0;
    for (unsigned i = 1; i < TIMELINE_CANDIDATES; ++i)
        most = column->most[i].ns > column->most[most].ns ? i : most;
    return column->most[most].ns ? column->most[most].name : RTL_TRACE_NONE;
}

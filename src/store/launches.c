#include "store/launches.h"

#include "common/lower_bound.h"

#include <stdlib.h>
#include <string.h>

/* Room for launches and spans over all processes. */
#define ROOM_MAX   ((uint64_t)16 << 20)
#define ROOM_FIRST 64u

/* At a checkpoint a chunk of fewer launches stays open, as one of kernels does. */
#define END_AT 4096u

/* So many of the latest launches stay open: others may come that belong before them. */
#define KEPT 1024u

/* A chunk that is being stored, and how many of the launches are in it. */
struct part {
    int64_t chunk;
    uint32_t count;
};

struct rtl_launching {
    uint32_t process;
    struct rtl_launch_row *rows;
    struct rtl_graphs_span *spans;
    uint32_t count, capacity;
    uint32_t span_count, span_capacity;
    bool unsorted, changed, ended;
    int64_t chunk;        /* that is open; 0: none yet */
    uint32_t closed;      /* of `rows`: in chunks that end with the storing at hand */
    int64_t next;         /* the open chunk behind that; 0: none */
    bool any;             /* a chunk was ended */
    uint32_t last_launch; /* in it */
};

static void launching_free(struct rtl_launching *it)
{
    free(it->rows);
    free(it->spans);
    free(it);
}

void rtl_launches_free(struct rtl_launches *launches)
{
    for (size_t i = 0; i < launches->count; i++)
        launching_free(launches->list[i]);
    free(launches->list);
    rtl_launch_codec_free(launches->codec);
    *launches = (struct rtl_launches){0};
}

static struct rtl_launching *add_process(struct rtl_launches *launches, uint32_t process)
{
    if (!launches->codec && !(launches->codec = rtl_launch_codec_new()))
        return NULL;
    if (launches->count == launches->capacity) {
        size_t capacity = launches->capacity ? 2 * launches->capacity : 16;
        struct rtl_launching **list =
            realloc(launches->list, capacity * sizeof(struct rtl_launching *));
        if (!list)
            return NULL;
        launches->list = list;
        launches->capacity = capacity;
    }
    struct rtl_launching *it = calloc(1, sizeof *it);
    if (!it)
        return NULL;
    it->process = process;
    launches->list[launches->count++] = it;
    return it;
}

static struct rtl_launching *find_process(struct rtl_launches *launches, uint32_t process)
{
    if (launches->last && launches->last->process == process)
        return launches->last;
    for (size_t i = 0; i < launches->count; i++)
        if (launches->list[i]->process == process)
            return launches->last = launches->list[i];
    return NULL;
}

/* Order. */

static int by_launch(const void *left, const void *right)
{
    const struct rtl_launch_row *a = left;
    const struct rtl_launch_row *b = right;
    if (a->launch != b->launch)
        return a->launch < b->launch ? -1 : 1;
    return (a->span > b->span) - (a->span < b->span);
}

static int by_span(const void *left, const void *right)
{
    const struct rtl_launch_row *a = left;
    const struct rtl_launch_row *b = right;
    return (a->span > b->span) - (a->span < b->span);
}

static void sort(struct rtl_launching *it)
{
    if (it->unsorted && it->count)
        qsort(it->rows, it->count, sizeof *it->rows, by_launch);
    it->unsorted = false;
}

static struct rtl_launch_row *find_row(struct rtl_launching *it, uint32_t launch)
{
    const struct rtl_launch_row key = {.launch = launch};
    sort(it);
    uint32_t low;
    RTL_LOWER_BOUND(low, it->count, it->rows[low].launch < key.launch);
    return low < it->count && it->rows[low].launch == launch ? &it->rows[low] : NULL;
}

/* Adding. */

/* Makes room for `more` elements of `size` bytes behind `count`. */
static enum rtl_launches_result grow(struct rtl_launches *launches, void **items, size_t size,
                                     uint32_t count, uint32_t more, uint32_t *capacity)
{
    uint32_t larger = *capacity ? *capacity : ROOM_FIRST;
    while (larger - count < more)
        larger *= 2;
    if (larger == *capacity)
        return RTL_LAUNCHES_ADDED;
    uint64_t bytes = (uint64_t)(larger - *capacity) * size;
    if (launches->room + bytes > ROOM_MAX)
        return RTL_LAUNCHES_CROWDED;
    void *moved = realloc(*items, larger * size);
    if (!moved)
        return RTL_LAUNCHES_NO_MEMORY;
    *items = moved;
    *capacity = larger;
    launches->room += bytes;
    return RTL_LAUNCHES_ADDED;
}

static enum rtl_launches_result make_room(struct rtl_launches *launches, struct rtl_launching *it,
                                          uint32_t rows, uint32_t spans)
{
    void *items = it->rows;
    enum rtl_launches_result result =
        grow(launches, &items, sizeof *it->rows, it->count, rows, &it->capacity);
    it->rows = items;
    if (result != RTL_LAUNCHES_ADDED)
        return result;
    items = it->spans;
    result = grow(launches, &items, sizeof *it->spans, it->span_count, spans, &it->span_capacity);
    it->spans = items;
    return result;
}

static void append(struct rtl_launching *it, const struct rtl_graph_launch_item *launch,
                   const struct rtl_graphs_span *spans)
{
    const struct rtl_wire_launch *body = &launch->body;
    bool found = body->graph == RTL_NONE;
    it->unsorted = it->unsorted || (it->count && it->rows[it->count - 1].launch > body->launch);
    it->changed = true;
    it->rows[it->count++] = (struct rtl_launch_row){.time = body->time_ns,
                                                    .correlation = body->correlation,
                                                    .range = body->range,
                                                    .first = found ? body->first : 0,
                                                    .launch = body->launch,
                                                    .graph = body->graph,
                                                    .generation = found ? 0 : body->generation,
                                                    .plan = launch->plan,
                                                    .head_plan = launch->head_plan,
                                                    .thread = body->thread,
                                                    .queue = body->queue,
                                                    .packets = body->packets,
                                                    .kernels = body->kernels,
                                                    .recorded = launch->recorded,
                                                    .unseen = body->unseen,
                                                    .span = it->span_count,
                                                    .span_count = launch->span_count};
    if (launch->span_count)
        memcpy(it->spans + it->span_count, spans, launch->span_count * sizeof *spans);
    it->span_count += launch->span_count;
}

/* More of a launch that is here. Only a launch whose spans are there may be made longer: else it is
 * a row. */
static enum rtl_launches_result add_late(struct rtl_launching *it,
                                         const struct rtl_graph_launch_item *launch,
                                         const struct rtl_graphs_span *spans)
{
    struct rtl_launch_row *row = find_row(it, launch->body.launch);
    struct rtl_graphs_span *own[RTL_GRAPHS_SPANS];
    if (!row || launch->span_count > RTL_GRAPHS_SPANS)
        return RTL_LAUNCHES_ROW;
    for (uint32_t i = 0; i < launch->span_count; i++) {
        own[i] = NULL;
        for (uint32_t j = 0; j < row->span_count && !own[i]; j++)
            if (it->spans[row->span + j].queue == spans[i].queue)
                own[i] = &it->spans[row->span + j];
        if (!own[i])
            return RTL_LAUNCHES_ROW;
    }
    for (uint32_t i = 0; i < launch->span_count; i++) {
        own[i]->start = spans[i].start < own[i]->start ? spans[i].start : own[i]->start;
        own[i]->end = spans[i].end > own[i]->end ? spans[i].end : own[i]->end;
    }
    row->recorded += launch->recorded;
    it->changed = true;
    return RTL_LAUNCHES_ADDED;
}

enum rtl_launches_result rtl_launches_add(struct rtl_launches *launches, uint32_t process,
                                          const struct rtl_graph_launch_item *launch,
                                          const struct rtl_graphs_span *spans)
{
    struct rtl_launching *it = find_process(launches, process);
    if (!it && !(it = add_process(launches, process)))
        return RTL_LAUNCHES_NO_MEMORY;
    if (launch->late)
        return add_late(it, launch, spans);
    if (it->any && launch->body.launch <= it->last_launch)
        return RTL_LAUNCHES_ROW;
    enum rtl_launches_result result = make_room(launches, it, 1, launch->span_count);
    if (result != RTL_LAUNCHES_ADDED)
        return result;
    append(it, launch, spans);
    return it->count % RTL_CHUNK_LAUNCHES == KEPT && it->count > RTL_CHUNK_LAUNCHES
               ? RTL_LAUNCHES_FULL
               : RTL_LAUNCHES_ADDED;
}

void rtl_launches_end(struct rtl_launches *launches, uint32_t process)
{
    struct rtl_launching *it = find_process(launches, process);
    if (it)
        it->ended = true;
}

/* Storing. */

/* The number of launches from `from` on, `most` at most, that go into a chunk which ends: none
 * behind them counts before one of them. */
static uint32_t cut(const struct rtl_launching *it, uint32_t from, uint32_t most)
{
    uint32_t left = it->count - from;
    uint32_t looked = left - most > 2 * RTL_LAUNCH_REACH ? most + 2 * RTL_LAUNCH_REACH : left;
    uint32_t *order = malloc(looked * sizeof *order);
    uint32_t whole = 0;
    uint32_t last = 0;
    if (!order || rtl_launch_order(it->rows + from, looked, order) != 0)
        looked = 0;
    for (uint32_t i = 0; i < looked && i < most; i++) {
        last = order[i] > last ? order[i] : last;
        whole = last == i ? i + 1 : whole;
    }
    free(order);
    /* Equal numbers, which only a damaged ring has, stay together. */
    while (whole && whole < left &&
           it->rows[from + whole].launch == it->rows[from + whole - 1].launch)
        whole--;
    return whole > most / 2 ? whole : most;
}

static int store_part(struct rtl_launches *launches, struct rtl_launching *it,
                      struct rtl_rows *rows, uint32_t from, const struct part *part)
{
    struct rtl_launch_chunk chunk = {.process = it->process};
    struct rtl_launch_packed packed;
    if (rtl_launch_encode(launches->codec, it->rows + from, part->count, it->spans, &chunk,
                          &packed) != 0)
        return SQLITE_NOMEM;
    return rtl_rows_launch_chunk(rows, part->chunk, &chunk, &packed);
}

/* All chunks but the last end, and that too once it is long enough or the process has ended. */
static int store_process(struct rtl_launches *launches, struct rtl_launching *it,
                         struct rtl_rows *rows, uint32_t end_at)
{
    int result = SQLITE_OK;
    uint32_t kept = it->ended ? 0 : KEPT;
    it->closed = 0;
    it->next = it->chunk;
    if (!it->changed && !it->ended && it->count < end_at + kept)
        return SQLITE_OK;
    sort(it);
    while (result == SQLITE_OK && it->count - it->closed >= end_at + kept &&
           it->count > it->closed) {
        uint32_t most = it->count - it->closed - kept;
        if (most > RTL_CHUNK_LAUNCHES)
            most = RTL_CHUNK_LAUNCHES;
        const struct part part = {it->next ? it->next : ++launches->last_chunk,
                                  cut(it, it->closed, most)};
        result = store_part(launches, it, rows, it->closed, &part);
        it->closed += part.count;
        it->next = 0;
    }
    if (result != SQLITE_OK || it->closed == it->count)
        return result;
    if (it->next == 0)
        it->next = ++launches->last_chunk;
    return store_part(launches, it, rows, it->closed,
                      &(struct part){it->next, it->count - it->closed});
}

int rtl_launches_store(struct rtl_launches *launches, struct rtl_rows *rows)
{
    int result = SQLITE_OK;
    for (size_t i = 0; i < launches->count && result == SQLITE_OK; i++) {
        struct rtl_launching *it = launches->list[i];
        result = store_process(launches, it, rows, it->ended ? 1 : END_AT);
    }
    return result;
}

/* Takes those that are in ended chunks away. Their spans lie in the order in which the launches
 * came. */
static void drop_closed(struct rtl_launching *it)
{
    uint32_t used = 0;
    if (it->closed == 0)
        return;
    it->any = true;
    it->last_launch = it->rows[it->closed - 1].launch;
    it->count -= it->closed;
    memmove(it->rows, it->rows + it->closed, it->count * sizeof *it->rows);
    it->closed = 0;
    if (it->count)
        qsort(it->rows, it->count, sizeof *it->rows, by_span);
    for (uint32_t i = 0; i < it->count; i++) {
        struct rtl_launch_row *row = &it->rows[i];
        memmove(it->spans + used, it->spans + row->span, row->span_count * sizeof *it->spans);
        row->span = used;
        used += row->span_count;
    }
    it->span_count = used;
    it->unsorted = true;
    sort(it);
}

static void give_back(struct rtl_launches *launches, struct rtl_launching *it)
{
    launches->room -= it->capacity * sizeof *it->rows;
    launches->room -= it->span_capacity * sizeof *it->spans;
    free(it->rows);
    free(it->spans);
    it->rows = NULL;
    it->spans = NULL;
    it->capacity = it->span_capacity = it->span_count = 0;
}

void rtl_launches_stored(struct rtl_launches *launches, bool end)
{
    for (size_t i = 0; i < launches->count; i++) {
        struct rtl_launching *it = launches->list[i];
        it->changed = false;
        it->chunk = it->next;
        if (end) {
            it->closed = it->count;
            it->chunk = 0;
        }
        drop_closed(it);
        if (it->count == 0)
            give_back(launches, it);
    }
}

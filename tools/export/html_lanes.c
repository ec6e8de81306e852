#include "export/html_lanes.h"

#include <stdlib.h>

/* Bins of all rows together, and of one row at least and at most. */
#define ALL_BINS   262144u
#define LEAST_BINS 1024u
#define MOST_BINS  65536u

static size_t hash_key(const struct html_key *key)
{
    const uint32_t parts[] = {key->process, key->kind,   key->gpu,
                              key->queue,   key->stream, key->thread};
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i)
        hash = (hash ^ parts[i]) * UINT64_C(0x100000001b3);
    return (size_t)(hash ^ (hash >> 29));
}

static bool same(const struct html_key *a, const struct html_key *b)
{
    return a->process == b->process && a->kind == b->kind && a->gpu == b->gpu &&
           a->queue == b->queue && a->stream == b->stream && a->thread == b->thread;
}

/* Where the first row of a key is, or the free place where it belongs. */
static size_t find(const struct html_lanes *lanes, const struct html_key *key)
{
    size_t at = hash_key(key) & (lanes->table_size - 1);
    while (lanes->table[at] && !same(&lanes->list[lanes->table[at] - 1].key, key))
        at = (at + 1) & (lanes->table_size - 1);
    return at;
}

static bool grow_table(struct html_lanes *lanes)
{
    size_t size = lanes->table_size ? 2 * lanes->table_size : 64;
    uint32_t *table = calloc(size, sizeof *table);
    if (!table)
        return false;
    free(lanes->table);
    lanes->table = table;
    lanes->table_size = size;
    for (size_t i = 0; i < lanes->count; ++i)
        if (lanes->list[i].number == 0)
            table[find(lanes, &lanes->list[i].key)] = (uint32_t)i + 1;
    return true;
}

static struct html_lane *add(struct html_lanes *lanes, const struct html_key *key, unsigned number)
{
    if (lanes->count == lanes->capacity) {
        size_t capacity = lanes->capacity ? 2 * lanes->capacity : 16;
        struct html_lane *list = realloc(lanes->list, capacity * sizeof *list);
        if (!list)
            return NULL;
        lanes->list = list;
        lanes->capacity = capacity;
    }
    struct html_lane *lane = &lanes->list[lanes->count++];
    *lane = (struct html_lane){.key = *key, .number = number};
    return lane;
}

struct html_lane *html_lanes_take(struct html_lanes *lanes, const struct html_key *key,
                                  uint64_t start)
{
    if (2 * (lanes->count + 1) > lanes->table_size && !grow_table(lanes))
        return NULL;
    size_t at = find(lanes, key);
    size_t last = lanes->table[at];
    if (!last) {
        struct html_lane *lane = add(lanes, key, 0);
        if (lane)
            lanes->table[at] = (uint32_t)lanes->count;
        return lane;
    }
    while (lanes->list[last - 1].free > start && lanes->list[last - 1].next)
        last = lanes->list[last - 1].next;
    if (lanes->list[last - 1].free <= start)
        return &lanes->list[last - 1];
    struct html_lane *lane = add(lanes, key, lanes->list[last - 1].number + 1);
    if (lane)
        lanes->list[last - 1].next = lanes->count;
    return lane;
}

static size_t most_bins(const struct html_lanes *lanes)
{
    size_t most = ALL_BINS / lanes->count;
    if (most < LEAST_BINS)
        return LEAST_BINS;
    return most < MOST_BINS ? most : MOST_BINS;
}

bool html_lanes_put(struct html_lanes *lanes, struct html_lane *lane,
                    const struct html_slice *slice, uint32_t name)
{
    if (lane->slice_count == lane->slice_capacity) {
        size_t capacity = lane->slice_capacity ? 2 * lane->slice_capacity : 64;
        struct html_slice *slices = realloc(lane->slices, capacity * sizeof *slices);
        if (!slices)
            return false;
        lane->slices = slices;
        lane->slice_capacity = capacity;
    }
    lane->slices[lane->slice_count++] = *slice;
    lane->free = slice->end;
    lane->busy += slice->end - slice->start;
    ++lane->count;
    return bins_add(&lane->bins, slice->start, slice->end, name, most_bins(lanes));
}

void html_lanes_free(struct html_lanes *lanes)
{
    for (size_t i = 0; i < lanes->count; ++i) {
        bins_free(&lanes->list[i].bins);
        free(lanes->list[i].slices);
    }
    free(lanes->list);
    free(lanes->table);
    *lanes = (struct html_lanes){0};
}

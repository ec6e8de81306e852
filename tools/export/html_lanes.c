#include "export/html_lanes.h"

#include <stdlib.h>

/* Bins of all rows together, and of one row at least and at most. */
#define ALL_BINS   262144u
#define LEAST_BINS 1024u
#define MOST_BINS  65536u

/* Asked for each event: the products do not wait for each other. */
static size_t hash_key(const struct html_key *key)
{
    uint64_t hash = key->process * UINT64_C(0x9E3779B97F4A7C15);
    hash ^= ((uint64_t)key->kind << 32 | key->gpu) * UINT64_C(0xD1342543DE82EF95);
    hash ^= ((uint64_t)key->queue << 32 | key->stream) * UINT64_C(0xBF58476D1CE4E5B9);
    hash ^= key->thread * UINT64_C(0x94D049BB133111EB);
    return (size_t)(hash >> 32);
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

static size_t most_bins(const struct html_lanes *lanes)
{
    size_t most = ALL_BINS / lanes->count;
    if (most < LEAST_BINS)
        return LEAST_BINS;
    return most < MOST_BINS ? most : MOST_BINS;
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
    lanes->most_bins = most_bins(lanes);
    return lane;
}

/* The first row of a key, which is made if it is not there; NULL when memory is short. */
static struct html_lane *first_of(struct html_lanes *lanes, const struct html_key *key)
{
    uint32_t *recent = &lanes->recent[(key->queue ^ key->kind) % HTML_LANES_RECENT];
    if (*recent && same(&lanes->list[*recent - 1].key, key))
        return &lanes->list[*recent - 1];
    if (2 * (lanes->count + 1) > lanes->table_size && !grow_table(lanes))
        return NULL;
    size_t at = find(lanes, key);
    if (!lanes->table[at]) {
        if (!add(lanes, key, 0))
            return NULL;
        lanes->table[at] = (uint32_t)lanes->count;
    }
    *recent = lanes->table[at];
    return &lanes->list[*recent - 1];
}

struct html_lane *html_lanes_take(struct html_lanes *lanes, const struct html_key *key,
                                  uint64_t start)
{
    struct html_lane *lane = first_of(lanes, key);
    while (lane && lane->free > start && lane->next)
        lane = &lanes->list[lane->next - 1];
    if (!lane || lane->free <= start)
        return lane;
    size_t last = (size_t)(lane - lanes->list);
    lane = add(lanes, key, lane->number + 1);
    if (lane)
        lanes->list[last].next = lanes->count;
    return lane;
}

static bool has_room(struct html_lane *lane)
{
    if (lane->slice_count < lane->slice_capacity)
        return true;
    size_t capacity = lane->slice_capacity ? 2 * lane->slice_capacity : 64;
    struct html_slice *slices = realloc(lane->slices, capacity * sizeof *slices);
    if (!slices)
        return false;
    lane->slices = slices;
    lane->slice_capacity = capacity;
    return true;
}

bool html_lanes_count(struct html_lanes *lanes, struct html_lane *lane,
                      const struct html_slice *slice, uint32_t name)
{
    lane->free = slice->end;
    lane->busy += slice->end - slice->start;
    ++lane->count;
    return bins_add(&lane->bins, slice->start, slice->end, name, lanes->most_bins);
}

bool html_lanes_keep(struct html_lane *lane, const struct html_slice *slice, bool wanted)
{
    if (!wanted)
        lane->slice_count = 0;
    if (!has_room(lane))
        return false;
    lane->slices[lane->slice_count++] = *slice;
    return true;
}

bool html_lanes_coarsen(struct html_lanes *lanes)
{
    bool coarser = true;
    for (size_t i = 0; i < lanes->count && coarser; ++i)
        coarser = bins_coarsen(&lanes->list[i].bins);
    return coarser;
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

#include "export/lanes.h"

#include <stdbool.h>
#include <stdlib.h>

static bool same(const struct lane_key *a, const struct lane_key *b)
{
    return a->id == b->id && a->kind == b->kind && a->process == b->process && a->gpu == b->gpu;
}

/* Where the first lane of a key is, or the free place where it belongs. */
static size_t place_of(const struct lanes *lanes, const struct lane_key *key)
{
    const uint64_t parts[] = {key->process, key->kind, key->id, key->gpu};
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
        hash = (hash ^ parts[i]) * UINT64_C(0x9E3779B97F4A7C15);
    size_t at = (size_t)(hash >> 32) & (lanes->table_size - 1);
    while (lanes->table[at] && !same(&lanes->list[lanes->table[at] - 1].key, key))
        at = (at + 1) & (lanes->table_size - 1);
    return at;
}

/* Room in the table for one key more. */
static bool make_room(struct lanes *lanes)
{
    if (2 * (lanes->count + 1) <= lanes->table_size)
        return true;
    size_t size = lanes->table_size ? 2 * lanes->table_size : 64;
    size_t *table = calloc(size, sizeof *table);
    if (!table)
        return false;
    free(lanes->table);
    lanes->table = table;
    lanes->table_size = size;
    for (size_t i = 0; i < lanes->count; ++i)
        if (lanes->list[i].number == 0)
            table[place_of(lanes, &lanes->list[i].key)] = i + 1;
    return true;
}

static struct lane *add(struct lanes *lanes, const struct lane_key *key, unsigned number)
{
    if (lanes->count == lanes->capacity) {
        size_t capacity = lanes->capacity ? 2 * lanes->capacity : 16;
        struct lane *list = realloc(lanes->list, capacity * sizeof *list);
        if (!list)
            return NULL;
        lanes->list = list;
        lanes->capacity = capacity;
    }
    struct lane *lane = &lanes->list[lanes->count++];
    *lane = (struct lane){.key = *key, .number = number};
    return lane;
}

/* The lane, NULL if there is none yet; `*last` is the place of the key's last one, from 1. */
static struct lane *find(struct lanes *lanes, size_t place, const void *owner, uint64_t start,
                         size_t *last)
{
    struct lane *first = NULL;
    for (*last = 0; place; place = lanes->list[place - 1].next) {
        struct lane *lane = &lanes->list[place - 1];
        *last = place;
        if (owner && lane->owner == owner && lane->end <= start)
            return lane;
        if (!first && lane->busy <= start)
            first = lane;
    }
    return first;
}

struct lane *lanes_take(struct lanes *lanes, const struct lane_key *key, const void *owner,
                        uint64_t start, uint64_t end)
{
    size_t last;
    if (!make_room(lanes))
        return NULL;
    size_t at = place_of(lanes, key);
    struct lane *lane = find(lanes, lanes->table[at], owner, start, &last);
    if (!lane) {
        lane = add(lanes, key, last ? lanes->list[last - 1].number + 1 : 0);
        if (!lane)
            return NULL;
        if (last)
            lanes->list[last - 1].next = lanes->count;
        else
            lanes->table[at] = lanes->count;
    }
    if (lane->busy < end)
        lane->busy = end;
    lane->end = end;
    return lane;
}

void lanes_free(struct lanes *lanes)
{
    free(lanes->list);
    free(lanes->table);
    *lanes = (struct lanes){0};
}

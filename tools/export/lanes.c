#include "export/lanes.h"

#include <stdbool.h>
#include <stdlib.h>

static bool same(const struct lane_key *a, const struct lane_key *b)
{
    return a->id == b->id && a->kind == b->kind && a->process == b->process && a->gpu == b->gpu;
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

static struct lane *find(struct lanes *lanes, const struct lane_key *key, const void *owner,
                         uint64_t start, unsigned *count)
{
    struct lane *first = NULL;
    *count = 0;
    for (size_t i = 0; i < lanes->count; ++i) {
        struct lane *lane = &lanes->list[i];
        if (!same(&lane->key, key))
            continue;
        ++*count;
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
    unsigned count;
    struct lane *lane = find(lanes, key, owner, start, &count);
    if (!lane)
        lane = add(lanes, key, count);
    if (!lane)
        return NULL;
    if (lane->busy < end)
        lane->busy = end;
    lane->before = lane->end;
    lane->end = end;
    return lane;
}

void lanes_free(struct lanes *lanes)
{
    free(lanes->list);
    *lanes = (struct lanes){0};
}

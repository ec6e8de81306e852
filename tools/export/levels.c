#include "export/levels.h"

#include <stdlib.h>

static bool make_room(struct levels *levels)
{
    if (levels->count < levels->capacity)
        return true;
    size_t capacity = levels->capacity ? 2 * levels->capacity : 16;
    struct level **list = realloc((void *)levels->list, capacity * sizeof(struct level *));
    if (list)
        levels->list = list;
    struct level **changed = realloc((void *)levels->changed, capacity * sizeof(struct level *));
    if (changed)
        levels->changed = changed;
    if (!list || !changed)
        return false;
    levels->capacity = capacity;
    return true;
}

static bool same(const struct lane_key *a, const struct lane_key *b)
{
    return a->kind == b->kind && a->process == b->process && a->id == b->id && a->gpu == b->gpu;
}

struct level *levels_of(struct levels *levels, const struct lane_key *key)
{
    for (size_t i = 0; i < levels->count; ++i)
        if (same(&levels->list[i]->key, key))
            return levels->list[i];
    struct level *level = make_room(levels) ? calloc(1, sizeof *level) : NULL;
    if (!level)
        return NULL;
    level->key = *key;
    levels->list[levels->count++] = level;
    return level;
}

void levels_until(struct levels *levels, uint64_t time, levels_emit emit, void *state)
{
    if (time <= levels->time)
        return;
    for (size_t i = 0; i < levels->changed_count; ++i) {
        levels->changed[i]->changed = false;
        emit(state, levels->changed[i], levels->time);
    }
    levels->changed_count = 0;
    levels->time = time;
}

void levels_set(struct levels *levels, struct level *level, uint64_t time, uint64_t value)
{
    if (!level->changed)
        levels->changed[levels->changed_count++] = level;
    level->changed = true;
    level->value = value;
    levels->time = time;
}

void levels_free(struct levels *levels)
{
    for (size_t i = 0; i < levels->count; ++i)
        free(levels->list[i]);
    free((void *)levels->list);
    free((void *)levels->changed);
    *levels = (struct levels){0};
}

#include "export/later.h"

#include <stdlib.h>

static bool make_room(struct later *later)
{
    if (later->count < later->capacity)
        return true;
    size_t capacity = later->capacity ? 2 * later->capacity : 64;
    struct later_item *items = realloc(later->items, capacity * sizeof *items);
    if (!items)
        return false;
    later->items = items;
    later->capacity = capacity;
    return true;
}

bool later_add(struct later *later, const struct later_item *item)
{
    if (!make_room(later))
        return false;
    struct later_item *items = later->items;
    size_t at = later->count++;
    for (; at && item->time < items[(at - 1) / 2].time; at = (at - 1) / 2)
        items[at] = items[(at - 1) / 2];
    items[at] = *item;
    return true;
}

bool later_take(struct later *later, uint64_t time, struct later_item *item)
{
    struct later_item *items = later->items;
    if (later->count == 0 || items[0].time > time)
        return false;
    *item = items[0];
    size_t count = --later->count;
    const struct later_item last = items[count];
    size_t at = 0;
    for (size_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && items[child + 1].time < items[child].time)
            ++child;
        if (items[child].time >= last.time)
            break;
        items[at] = items[child];
        at = child;
    }
    items[at] = last;
    return true;
}

void later_free(struct later *later)
{
    free(later->items);
    *later = (struct later){0};
}

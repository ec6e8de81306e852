#include "export/html_items.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static size_t hash_item(const struct html_item *item)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < HTML_ITEM_NUMBERS; ++i)
        hash = (hash ^ item->numbers[i]) * UINT64_C(0x100000001b3);
    return (size_t)(hash ^ (hash >> 29));
}

static size_t find(const struct html_items *items, const struct html_item *item)
{
    size_t at = hash_item(item) & (items->table_size - 1);
    while (items->table[at] && memcmp(items->list[items->table[at] - 1].numbers, item->numbers,
                                      sizeof item->numbers) != 0)
        at = (at + 1) & (items->table_size - 1);
    return at;
}

static bool grow(struct html_items *items)
{
    size_t capacity = items->capacity ? 2 * items->capacity : 128;
    struct html_item *list = realloc(items->list, capacity * sizeof *list);
    if (!list)
        return false;
    items->list = list;
    items->capacity = capacity;
    uint32_t *table = calloc(2 * capacity, sizeof *table);
    if (!table)
        return false;
    free(items->table);
    items->table = table;
    items->table_size = 2 * capacity;
    for (size_t i = 0; i < items->count; ++i)
        table[find(items, &list[i])] = (uint32_t)i + 1;
    return true;
}

uint32_t html_items_number(struct html_items *items, const struct html_item *item)
{
    if (items->table_size <= 2 * items->count && !grow(items))
        return UINT32_MAX;
    size_t at = find(items, item);
    if (items->table[at])
        return items->table[at] - 1;
    items->list[items->count++] = *item;
    items->table[at] = (uint32_t)items->count;
    return (uint32_t)items->count - 1;
}

void html_items_free(struct html_items *items)
{
    free(items->list);
    free(items->table);
    *items = (struct html_items){0};
}

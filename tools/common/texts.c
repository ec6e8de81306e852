#include "common/texts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static size_t hash_text(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text; ++text)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return (size_t)(hash ^ (hash >> 29));
}

/* Where a text is, or the free place where it belongs. */
static size_t find(const struct texts *texts, const char *text)
{
    size_t at = hash_text(text) & (texts->table_size - 1);
    while (texts->table[at] && strcmp(texts->list[texts->table[at] - 1], text) != 0)
        at = (at + 1) & (texts->table_size - 1);
    return at;
}

static bool grow_table(struct texts *texts)
{
    size_t size = texts->table_size ? 2 * texts->table_size : 512;
    uint32_t *table = calloc(size, sizeof *table);
    if (!table)
        return false;
    free(texts->table);
    texts->table = table;
    texts->table_size = size;
    for (size_t i = 0; i < texts->count; ++i)
        table[find(texts, texts->list[i])] = (uint32_t)i + 1;
    return true;
}

static bool grow_list(struct texts *texts)
{
    size_t capacity = texts->capacity ? 2 * texts->capacity : 128;
    char **list = realloc(texts->list, capacity * sizeof(char *));
    if (!list)
        return false;
    texts->list = list;
    texts->capacity = capacity;
    return true;
}

size_t texts_find(const struct texts *texts, const char *text)
{
    if (texts->count == 0)
        return TEXTS_NONE;
    uint32_t found = texts->table[find(texts, text)];
    return found ? found - 1 : TEXTS_NONE;
}

size_t texts_number(struct texts *texts, const char *text)
{
    bool full = 2 * (texts->count + 1) > texts->table_size;
    if (full && !grow_table(texts))
        return TEXTS_NONE;
    size_t at = find(texts, text);
    if (texts->table[at])
        return texts->table[at] - 1;
    if (texts->count == texts->capacity && !grow_list(texts))
        return TEXTS_NONE;
    char *copy = strdup(text);
    if (!copy)
        return TEXTS_NONE;
    texts->list[texts->count++] = copy;
    texts->table[at] = (uint32_t)texts->count;
    return texts->count - 1;
}

void texts_free(struct texts *texts)
{
    for (size_t i = 0; i < texts->count; ++i)
        free(texts->list[i]);
    free(texts->list);
    free(texts->table);
    *texts = (struct texts){0};
}

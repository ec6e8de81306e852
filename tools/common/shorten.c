#include "common/shorten.h"

#include "common/memory.h"
#include "common/plain.h"
#include "common/shorten_parts.h"
#include "common/shorten_reduce.h"
#include "common/texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOTS       SHORTEN_ELLIPSIS
#define DOTS_WIDTH SHORTEN_ELLIPSIS_WIDTH
#define BASE_LEAST 11u /* columns of a function's name before its arguments are cut */
#define CUT_LEAST  10u /* columns of a name of which more is shown than beginning and end */
#define LOOKED_AT  64u /* names that look the same, to which one is compared */

/* One of the different names of a table. */
struct entry {
    char *plain;   /* with its escapes */
    char *reduced; /* without what may go, NULL: the whole fits */
    char *shown;
    unsigned width;
    size_t look; /* number of what it looks like when it is cut */
};

struct set {
    struct entry *entries;
    struct shorten_name *names; /* of the entries */
    size_t count;
    bool *gone;         /* parts, by number */
    struct texts looks; /* what entries look like when each is cut by itself */
    size_t *ordinal;    /* by look: the last number that was given */
    struct texts taken; /* what is shown */
};

static size_t number_of(struct texts *texts, const char *text)
{
    size_t number = texts_number(texts, text);
    if (number == TEXTS_NONE)
        memory_is_short();
    return number;
}

/* Parts that go. */

/* In the order in which they go: namespaces from the left, the rest from the right. */
static int by_order(const void *left, const void *right)
{
    const struct shorten_part *a = left;
    const struct shorten_part *b = right;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    bool from_left = a->kind == SHORTEN_SCOPE || a->kind == SHORTEN_INNER_SCOPE;
    return from_left ? (a->from > b->from) - (a->from < b->from)
                     : (a->from < b->from) - (a->from > b->from);
}

static void let_parts_go(struct set *set, size_t number)
{
    const struct entry *entry = &set->entries[number];
    const struct shorten_name *name = &set->names[number];
    struct shorten_part *parts = memory_new(name->part_count, sizeof *parts);
    if (name->part_count) {
        memcpy(parts, name->parts, name->part_count * sizeof *parts);
        qsort(parts, name->part_count, sizeof *parts, by_order);
    }
    /* Looks again only where what has gone since may be enough: a name may have any number of
     * parts. */
    size_t too_much = 0;
    size_t gone = 0;
    for (size_t i = 0; i < name->part_count; ++i) {
        if (gone >= too_much || parts[i].kind == SHORTEN_DOTS) {
            shorten_reduce(name, set->gone, entry->reduced);
            unsigned width = plain_width(entry->reduced);
            if (width <= entry->width)
                break;
            too_much = width - entry->width;
            gone = 0;
        }
        set->gone[parts[i].number] = true;
        gone += parts[i].to - parts[i].from;
    }
    free(parts);
}

/* Cutting. */

static char *copy_of(const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        memory_is_short();
    return copy;
}

/* Bytes of a beginning that dots follow. */
static size_t without_dots(const char *text, size_t length)
{
    while (length > 0 && text[length - 1] == '.')
        --length;
    return length;
}

/* Of a function with arguments its own name is cut first, then the end; of others the middle. */
static char *fitted(const char *text, unsigned width)
{
    size_t size = strlen(text) + 2 * sizeof DOTS;
    char *out = memory_new(size, 1);
    size_t base = strcspn(text, "<");
    unsigned whole = plain_width(text);
    if (whole <= width || !text[base] || width < CUT_LEAST)
        return plain_fit(text, width, out, size);
    unsigned rest = plain_width(text + base);
    unsigned least = width / 2 < BASE_LEAST ? width / 2 : BASE_LEAST;
    unsigned room = width > rest + least ? width - rest : least;
    size_t head = whole - rest > room ? plain_head(text, room - DOTS_WIDTH) : base;
    int used = snprintf(out, size, "%.*s%s", (int)head, text, head < base ? DOTS : "");
    unsigned left = width > plain_width(out) ? width - plain_width(out) : 0;
    bool cut = rest > left && left > DOTS_WIDTH;
    size_t tail = plain_head(text + base, cut ? left - DOTS_WIDTH : left);
    tail = cut ? without_dots(text + base, tail) : tail;
    (void)snprintf(out + used, size - (size_t)used, "%.*s%s", (int)tail, text + base,
                   cut ? DOTS : "");
    return out;
}

/* The beginning of a text, and what it has from `from` on, as far as that fits; what is before
 * that, where there is room. */
static char *window(const char *text, size_t from, unsigned width)
{
    unsigned left = (width - 2 * DOTS_WIDTH) / 3;
    unsigned room = width - DOTS_WIDTH - left;
    size_t head = without_dots(text, plain_head(text, left));
    size_t last = plain_tail(text, room);
    size_t size = strlen(text) + 2 * sizeof DOTS;
    char *out = memory_new(size, 1);
    from = from < last ? from : last;
    from = from < head + DOTS_WIDTH ? head : from;
    bool whole = from >= last;
    size_t tail = whole ? strlen(text + from)
                        : without_dots(text + from, plain_head(text + from, room - DOTS_WIDTH));
    (void)snprintf(out, size, "%.*s%s%.*s%s", (int)head, text, from == head ? "" : DOTS, (int)tail,
                   text + from, whole ? "" : DOTS);
    return out;
}

/* Where a text differs from another, from the beginning of the word, at most `most` bytes before.
 */
static size_t difference(const char *text, const char *other, size_t most)
{
    size_t at = 0;
    while (text[at] && text[at] == other[at])
        ++at;
    size_t begin = at;
    while (begin > 0 && at - begin < most && !strchr("_ ,<(", text[begin - 1]))
        --begin;
    while (begin > 0 && ((unsigned char)text[begin] & 0xc0u) == 0x80u)
        --begin;
    return begin;
}

static bool is_free(const struct set *set, const char *text)
{
    return texts_find(&set->taken, text) == TEXTS_NONE;
}

/* A part in which the entry differs from others that look the same; NULL if none is enough. */
static char *told_apart(const struct set *set, const struct entry *entry)
{
    unsigned looked_at = entry->width < CUT_LEAST ? LOOKED_AT : 0;
    for (size_t i = 0; i < set->count && looked_at < LOOKED_AT; ++i) {
        const struct entry *other = &set->entries[i];
        if (other == entry || other->look != entry->look || !other->reduced)
            continue;
        ++looked_at;
        size_t from = difference(entry->reduced, other->reduced, entry->width / 4);
        if (entry->reduced[from] == '\0')
            continue;
        char *text = window(entry->reduced, from, entry->width);
        if (is_free(set, text))
            return text;
        free(text);
    }
    return NULL;
}

/* Cut, with a number that nobody else has. */
static char *numbered(struct set *set, const struct entry *entry)
{
    const char *text = entry->reduced ? entry->reduced : entry->plain;
    for (;;) {
        char number[32];
        int length = snprintf(number, sizeof number, " #%zu", ++set->ordinal[entry->look] + 1);
        unsigned left = entry->width > (unsigned)length ? entry->width - (unsigned)length : 0;
        char *cut = fitted(text, left);
        size_t used = strlen(cut);
        cut = memory_grown(cut, used + sizeof number, 1);
        memcpy(cut + used, number, (size_t)length + 1);
        if (is_free(set, cut))
            return cut;
        free(cut);
    }
}

/* Of entries that look the same. */
static char *shown_otherwise(struct set *set, const struct entry *entry)
{
    char *text = entry->reduced ? told_apart(set, entry) : NULL;
    if (text)
        return text;
    text = copy_of(set->looks.list[entry->look]);
    if (is_free(set, text))
        return text;
    free(text);
    return numbered(set, entry);
}

/* The whole. */

static void add_entry(struct set *set, size_t number, const struct shorten_item *item)
{
    unsigned width = item->width > SHORTEN_LEAST ? item->width : SHORTEN_LEAST;
    if (number == set->count) {
        size_t size = plain_size(item->name);
        set->entries[set->count++] = (struct entry){
            .plain = plain_text(item->name, memory_new(size, 1), size), .width = width};
    }
    if (width < set->entries[number].width)
        set->entries[number].width = width;
}

static bool all_fit(const struct set *set)
{
    for (size_t i = 0; i < set->count; ++i)
        if (plain_width(set->entries[i].plain) > set->entries[i].width)
            return false;
    return true;
}

static void reduce_all(struct set *set)
{
    set->names = memory_new(set->count, sizeof *set->names);
    if (all_fit(set))
        return;
    for (size_t i = 0; i < set->count; ++i)
        set->names[i].text = set->entries[i].plain;
    set->gone = memory_new(shorten_compare(set->names, set->count), sizeof *set->gone);
    for (size_t i = 0; i < set->count; ++i)
        if (plain_width(set->entries[i].plain) > set->entries[i].width) {
            set->entries[i].reduced = memory_new(strlen(set->entries[i].plain) + 1, 1);
            let_parts_go(set, i);
        }
    for (size_t i = 0; i < set->count; ++i)
        if (set->entries[i].reduced)
            shorten_reduce(&set->names[i], set->gone, set->entries[i].reduced);
}

static void look_at_all(struct set *set)
{
    for (size_t i = 0; i < set->count; ++i) {
        struct entry *entry = &set->entries[i];
        char *cut = fitted(entry->reduced ? entry->reduced : entry->plain, entry->width);
        entry->look = number_of(&set->looks, cut);
        free(cut);
    }
}

/* Whole names come first, then those that nobody else looks like. */
static void show_all(struct set *set)
{
    size_t *alike = memory_new(set->looks.count, sizeof *alike);
    set->ordinal = memory_new(set->looks.count, sizeof *set->ordinal);
    for (size_t i = 0; i < set->count; ++i)
        ++alike[set->entries[i].look];
    for (unsigned cut = 0; cut < 2; ++cut)
        for (size_t i = 0; i < set->count; ++i) {
            struct entry *entry = &set->entries[i];
            const char *look = set->looks.list[entry->look];
            if ((entry->reduced != NULL) != cut || (cut && alike[entry->look] > 1) ||
                !is_free(set, look))
                continue;
            entry->shown = copy_of(look);
            (void)number_of(&set->taken, look);
        }
    for (size_t i = 0; i < set->count; ++i) {
        struct entry *entry = &set->entries[i];
        if (entry->shown)
            continue;
        entry->shown = shown_otherwise(set, entry);
        (void)number_of(&set->taken, entry->shown);
    }
    free(alike);
}

static void release(struct set *set)
{
    for (size_t i = 0; i < set->count; ++i) {
        free(set->names[i].parts);
        free(set->entries[i].plain);
        free(set->entries[i].reduced);
        free(set->entries[i].shown);
    }
    free(set->names);
    free(set->entries);
    free(set->gone);
    free(set->ordinal);
    texts_free(&set->looks);
    texts_free(&set->taken);
}

char **shorten_names(const struct shorten_item *items, size_t count)
{
    struct texts different = {0};
    struct set set = {.entries = memory_new(count, sizeof *set.entries)};
    size_t *numbers = memory_new(count, sizeof *numbers);
    char **names = memory_new(count, sizeof(char *));
    for (size_t i = 0; i < count; ++i) {
        numbers[i] = number_of(&different, items[i].name);
        add_entry(&set, numbers[i], &items[i]);
    }
    reduce_all(&set);
    look_at_all(&set);
    show_all(&set);
    for (size_t i = 0; i < count; ++i)
        names[i] = copy_of(set.entries[numbers[i]].shown);
    release(&set);
    texts_free(&different);
    free(numbers);
    return names;
}

void shorten_free(char **names, size_t count)
{
    for (size_t i = 0; names && i < count; ++i)
        free(names[i]);
    free(names);
}

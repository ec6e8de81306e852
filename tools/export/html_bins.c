#include "export/html_bins.h"

#include <stdlib.h>

static bool grow(struct bins *bins)
{
    size_t capacity = bins->capacity ? 2 * bins->capacity : 64;
    struct bin *list = realloc(bins->list, capacity * sizeof *list);
    if (!list)
        return false;
    bins->list = list;
    bins->capacity = capacity;
    return true;
}

/* The weighted vote of Boyer and Moore: a name with more than half of the time wins. */
static void vote(struct bin *bin, uint32_t name, uint64_t weight)
{
    if (bin->name == name) {
        bin->weight += weight;
    } else if (bin->weight >= weight) {
        bin->weight -= weight;
    } else {
        bin->name = name;
        bin->weight = weight - bin->weight;
    }
}

static bool put(struct bins *bins, const struct bin *bin)
{
    struct bin *last = bins->count ? &bins->list[bins->count - 1] : NULL;
    if (last && last->length == 1 && bin->length == 1 && last->first == bin->first) {
        last->busy += bin->busy;
        last->count += bin->count;
        vote(last, bin->name, bin->weight);
        return true;
    }
    if ((!bins->list || bins->count == bins->capacity) && !grow(bins))
        return false;
    bins->list[bins->count++] = *bin;
    return true;
}

/* A bin or a run of bins at twice the width: the halves at its ends become bins of their own. */
static void put_coarser(struct bins *bins, const struct bin *bin)
{
    uint64_t end = bin->first + bin->length;
    uint64_t each = bin->busy / bin->length;
    uint64_t left = bin->length;
    uint64_t count = bin->count;
    for (uint64_t at = bin->first; at < end;) {
        uint64_t whole = at & 1 ? 0 : (end - at) / 2;
        uint64_t length = whole ? whole : 1;
        uint64_t taken = whole ? 2 * whole : 1;
        uint64_t busy = left == taken ? bin->busy - each * (bin->length - left) : each * taken;
        struct bin part = {.first = at / 2,
                           .length = length,
                           .busy = busy,
                           .count = count,
                           .name = bin->name,
                           .weight = bin->length == 1 ? bin->weight : busy};
        (void)put(bins, &part);
        count = 0;
        at += taken;
        left -= taken;
    }
}

/* There is room: a run becomes at most three, and was made of three. */
bool bins_coarsen(struct bins *bins)
{
    struct bins coarser = {.shift = bins->shift + 1, .capacity = bins->count + 2};
    for (size_t i = 0; i < bins->count; ++i)
        coarser.capacity += bins->list[i].length > 1 ? 2 : 0;
    coarser.list = malloc(coarser.capacity * sizeof *coarser.list);
    if (!coarser.list)
        return false;
    for (size_t i = 0; i < bins->count; ++i)
        put_coarser(&coarser, &bins->list[i]);
    free(bins->list);
    *bins = coarser;
    return true;
}

/* What lasts for `left` ns from `start` on: whole bins together, what is beside them one by one.
 * The end of it may be the end of time, which no number has. */
static bool put_bins(struct bins *bins, uint64_t start, uint64_t left, uint32_t name)
{
    uint64_t width = UINT64_C(1) << bins->shift;
    uint64_t count = 1;
    do {
        uint64_t first = start >> bins->shift;
        uint64_t whole = start % width == 0 ? left >> bins->shift : 0;
        if (whole && bins->count && bins->list[bins->count - 1].first == first)
            whole = 1; /* beside something without length */
        uint64_t span = whole ? whole << bins->shift : width - start % width;
        uint64_t busy = span < left ? span : left;
        struct bin bin = {.first = first,
                          .length = whole ? whole : 1,
                          .busy = busy,
                          .count = count,
                          .name = name,
                          .weight = busy};
        if (!put(bins, &bin))
            return false;
        count = 0;
        start += span;
        left -= busy;
    } while (left > 0);
    return true;
}

/* What lies within the last bin, as most of a long trace does. */
static bool add_within(struct bins *bins, uint64_t start, uint64_t end, uint32_t name)
{
    struct bin *last = &bins->list[bins->count - 1];
    if (end <= start || last->length != 1 || start >> bins->shift != last->first ||
        (end - 1) >> bins->shift != last->first)
        return false;
    last->busy += end - start;
    ++last->count;
    vote(last, name, end - start);
    return true;
}

bool bins_add(struct bins *bins, uint64_t start, uint64_t end, uint32_t name, size_t most)
{
    if (bins->count && bins->count < most && add_within(bins, start, end, name))
        return true;
    if (bins->shift == 0)
        bins->shift = BINS_FINEST;
    while (bins->count >= most)
        if (!bins_coarsen(bins))
            return false;
    return put_bins(bins, start, end > start ? end - start : 0, name);
}

void bins_write(const struct bins *bins, struct bytes *bytes)
{
    uint64_t end = 0;
    for (size_t i = 0; i < bins->count; ++i) {
        const struct bin *bin = &bins->list[i];
        bytes_varint(bytes, bin->first - end);
        bytes_varint(bytes, bin->length);
        bytes_varint(bytes, bin->busy);
        bytes_varint(bytes, bin->count);
        bytes_varint(bytes, bin->name);
        end = bin->first + bin->length;
    }
}

void bins_free(struct bins *bins)
{
    free(bins->list);
    *bins = (struct bins){0};
}

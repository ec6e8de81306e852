#include "analysis/period.h"

#include "common/memory.h"

#include <stdlib.h>
#include <string.h>

/* The Z function: for each place how many items from there on are those from the beginning on
 * (Gusfield 1997). `[left, right)` is what is known to be as the beginning, the furthest to the
 * right. */
static void find_prefixes(const uint32_t *items, size_t count, size_t *lengths)
{
    size_t left = 0;
    size_t right = 0;
    for (size_t i = 1; i < count; ++i) {
        size_t length = 0;
        if (i < right) {
            size_t known = lengths[i - left];
            length = known < right - i ? known : right - i;
        }
        while (i + length < count && items[length] == items[i + length])
            ++length;
        lengths[i] = length;
        if (i + length > right) {
            left = i;
            right = i + length;
        }
    }
}

/* For each place, and the end, how many items from there on are those from `middle` on. */
static size_t *find_equal_from(const uint32_t *items, size_t count, size_t middle)
{
    size_t ahead = count - middle;
    uint32_t *joined = memory_new(ahead + count, sizeof *joined);
    size_t *prefixes = memory_new(ahead + count, sizeof *prefixes);
    size_t *lengths = memory_new(count + 1, sizeof *lengths);
    memcpy(joined, items + middle, ahead * sizeof *items);
    memcpy(joined + ahead, items, count * sizeof *items);
    find_prefixes(joined, ahead + count, prefixes);
    for (size_t i = 0; i < count; ++i)
        lengths[i] = prefixes[ahead + i] < ahead ? prefixes[ahead + i] : ahead;
    free(joined);
    free(prefixes);
    return lengths;
}

/* For each place, and the end, how many items up to there are those up to `middle`. */
static size_t *find_equal_up_to(const uint32_t *items, size_t count, size_t middle)
{
    uint32_t *turned = memory_new(count, sizeof *turned);
    size_t *lengths = memory_new(count + 1, sizeof *lengths);
    for (size_t i = 0; i < count; ++i)
        turned[i] = items[count - 1 - i];
    size_t *ahead = find_equal_from(turned, count, count - middle);
    for (size_t i = 0; i <= count; ++i)
        lengths[i] = ahead[count - i];
    free(turned);
    free(ahead);
    return lengths;
}

static bool is_better(const struct period *a, const struct period *b)
{
    size_t held = a->length * a->count;
    size_t other = b->length * b->count;
    if (held != other)
        return held > other;
    return a->length != b->length ? a->length < b->length : a->begin < b->begin;
}

/* Runs that hold the item in the middle have it repeated a block before or behind it: what is equal
 * around the two tells how far the run goes (Main and Lorentz 1984). */
static void look_around(const uint32_t *items, size_t count, size_t middle, struct period *best)
{
    size_t *ahead = find_equal_from(items, count, middle);
    size_t *behind = find_equal_up_to(items, count, middle);
    for (size_t other = 0; other < count; ++other) {
        size_t low = other < middle ? other : middle;
        size_t length = other < middle ? middle - other : other - middle;
        if (length == 0)
            continue;
        size_t run = behind[other] + length + ahead[other];
        struct period period = {low - behind[other], length, run / length};
        if (period.count >= PERIOD_LEAST_COUNT && 2 * period.count * length >= count &&
            is_better(&period, best))
            *best = period;
    }
    free(ahead);
    free(behind);
}

bool period_find(const uint32_t *items, size_t count, struct period *period)
{
    struct period best = {0};
    if (count < PERIOD_LEAST_COUNT)
        return false;
    /* Half of all items hold one of these two. */
    look_around(items, count, (count - 1) / 2, &best);
    look_around(items, count, count / 2, &best);
    if (best.count == 0)
        return false;
    *period = best;
    return true;
}

size_t period_odd_block(const uint32_t *items, size_t count, const struct period *period)
{
    const uint32_t *block = items + period->begin;
    size_t behind = period->begin + period->length * period->count;
    size_t found = 0;
    for (size_t at = 0; behind + at < count && at < period->length + period->length / 4; ++at) {
        found += items[behind + at] == block[found];
        if (found == period->length)
            return at + 1;
    }
    return 0;
}

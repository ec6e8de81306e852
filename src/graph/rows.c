#include "graph/rows.h"

#include "graph/arguments.h"

#include <stdlib.h>

/* The segment that always follows, NULL: none. */
static struct rtl_segment *next_of(const struct rtl_repeats *repeats,
                                   const struct rtl_segment *segment)
{
    if (segment->after >= repeats->segment_count)
        return NULL;
    struct rtl_segment *next = &repeats->segments[segment->after];
    bool follows = next != segment && next->used && next->kernels && next->seen >= 2 &&
                   next->before == (uint32_t)(segment - repeats->segments) &&
                   next->seen + 1 >= segment->seen && segment->seen + 1 >= next->seen;
    return follows ? next : NULL;
}

static struct rtl_segment *previous_of(const struct rtl_repeats *repeats,
                                       const struct rtl_segment *segment)
{
    if (segment->before >= repeats->segment_count)
        return NULL;
    struct rtl_segment *previous = &repeats->segments[segment->before];
    return previous->used && previous->kernels && next_of(repeats, previous) == segment ? previous
                                                                                        : NULL;
}

/* Arguments that a segment of a row has. */
struct place {
    uint64_t arguments;
    uint32_t segment;
};

static int by_address(const void *left, const void *right)
{
    const struct place *a = left;
    const struct place *b = right;
    return (a->arguments > b->arguments) - (a->arguments < b->arguments);
}

/* `memory` is the number of a segment before it that shares memory with it, or its own. */
static uint32_t memory_of(struct rtl_segment **row, uint32_t number)
{
    while (row[number]->memory != number)
        number = row[number]->memory = row[row[number]->memory]->memory;
    return number;
}

static void join_memory(struct rtl_segment **row, uint32_t a, uint32_t b)
{
    a = memory_of(row, a);
    b = memory_of(row, b);
    row[a < b ? b : a]->memory = a < b ? a : b;
}

static void number_memory(struct rtl_repeats *repeats, struct rtl_segment **row, uint32_t count)
{
    size_t room = 1;
    size_t filled = 0;
    for (uint32_t i = 0; i < count; i++) {
        row[i]->memory = i;
        room += row[i]->argument_count;
    }
    struct place *places = malloc(room * sizeof *places);
    if (!places) {
        repeats->registry->forgotten++;
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < row[i]->argument_count; k++)
            places[filled++] = (struct place){row[i]->arguments[k], i};
    qsort(places, filled, sizeof *places, by_address);
    for (size_t k = 1; k < filled; k++)
        if (rtl_arguments_near(places[k - 1].arguments, places[k].arguments))
            join_memory(row, places[k].segment, places[k - 1].segment);
    for (uint32_t i = 0; i < count; i++)
        row[i]->memory = memory_of(row, i);
    free(places);
}

bool rtl_rows_joined(const struct rtl_segment *segment, const struct rtl_segment *next)
{
    if (segment->argument_count && next->argument_count)
        return segment->memory == next->memory;
    return (segment->open && !next->ramp) || segment->barriers || next->barriers;
}

static bool is_lower(const struct rtl_segment *a, const struct rtl_segment *b)
{
    return a->begin && b->begin && a->begin < b->begin;
}

/* Where a circle begins: behind the end of a graph, or, if all of it is one, with the arguments
 * that lie first. */
static uint32_t begin_of(struct rtl_segment **row, uint32_t count)
{
    uint32_t lowest = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!rtl_rows_joined(row[i], row[(i + 1) % count]))
            return (i + 1) % count;
        if (is_lower(row[i], row[lowest]))
            lowest = i;
    }
    return lowest;
}

/* Segments of one memory may be of two replays, one after the other. A replay begins with the
 * arguments that lie first in their memory: HIP submits the first kernel first. */
static void part_replays(struct rtl_segment **row, uint32_t count)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < count; i++) {
        if (!rtl_rows_joined(row[i - 1], row[i])) {
            first = i;
        } else if (is_lower(row[i], row[first])) {
            uint32_t memory = row[i]->memory;
            for (uint32_t k = i; k < count && row[k]->memory == memory; k++)
                row[k]->memory = count + i;
            first = i;
        }
    }
}

/* A circle that is one graph begins where its memory does, which is where a page begins. If that
 * was not seen, who knows where: its segments stay alone. */
static void part_unless_begun(struct rtl_segment **row, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (!rtl_rows_joined(row[i - 1], row[i]))
            return;
    if (row[0]->begin == 0 || row[0]->begin % RTL_ARGUMENTS_PAGE == 0)
        return;
    for (uint32_t i = 0; i < count; i++)
        row[i]->memory = i;
}

static void reverse(struct rtl_segment **row, uint32_t count)
{
    for (uint32_t i = 0; i < count / 2; i++) {
        struct rtl_segment *segment = row[i];
        row[i] = row[count - 1 - i];
        row[count - 1 - i] = segment;
    }
}

static void turn(struct rtl_segment **row, uint32_t count, uint32_t begin)
{
    reverse(row, begin);
    reverse(row + begin, count - begin);
    reverse(row, count);
}

uint32_t rtl_rows_collect(struct rtl_repeats *repeats, struct rtl_segment *segment,
                          struct rtl_segment **row)
{
    struct rtl_segment *first = segment;
    struct rtl_segment *previous = previous_of(repeats, first);
    uint32_t count = 0;
    while (previous && previous != segment) {
        first = previous;
        previous = previous_of(repeats, first);
    }
    bool circle = previous != NULL;
    first = circle ? segment : first;
    for (struct rtl_segment *it = first; it && (count == 0 || it != first);
         it = next_of(repeats, it))
        row[count++] = it;
    number_memory(repeats, row, count);
    if (circle)
        turn(row, count, begin_of(row, count));
    part_replays(row, count);
    if (circle)
        part_unless_begun(row, count);
    return count;
}

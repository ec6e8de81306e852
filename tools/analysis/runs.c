#include "analysis/runs.h"

#include "common/memory.h"

#include <stdbool.h>

/* Blocks of this length from `begin` on, the first included. */
static size_t repetitions(const uint32_t *items, size_t count, size_t begin, size_t length)
{
    size_t same = 0;
    while (begin + length + same < count && items[begin + same] == items[begin + length + same])
        ++same;
    return same / length + 1;
}

/* Whether a shorter block repeats within a block, or over its end into the next one. */
static bool holds_run(const uint32_t *block, size_t length)
{
    for (size_t begin = 0; begin < length; ++begin)
        for (size_t inner = 1; inner * RUNS_LEAST_COUNT < length; ++inner) {
            size_t same = 0;
            while (same < inner * (RUNS_LEAST_COUNT - 1) &&
                   block[(begin + same) % length] == block[(begin + inner + same) % length])
                ++same;
            if (same == inner * (RUNS_LEAST_COUNT - 1))
                return true;
        }
    return false;
}

/* The shortest block that repeats here; its length 0 if none does. */
static struct run run_at(const uint32_t *items, size_t count, size_t begin)
{
    for (uint32_t length = 1; length <= RUNS_MOST_LENGTH; ++length) {
        if ((size_t)length * RUNS_LEAST_COUNT > count - begin)
            break;
        size_t blocks = repetitions(items, count, begin, length);
        if (blocks >= RUNS_LEAST_COUNT && !holds_run(items + begin, length))
            return (struct run){begin, length, (uint32_t)blocks};
    }
    return (struct run){begin, 0, 0};
}

size_t runs_find(const uint32_t *items, size_t count, struct run **runs)
{
    size_t found = 0;
    size_t room = 0;
    size_t at = 0;
    *runs = NULL;
    while (at < count) {
        struct run run = run_at(items, count, at);
        if (run.length == 0) {
            ++at;
            continue;
        }
        if (found == room) {
            room = room ? 2 * room : 16;
            *runs = memory_grown(*runs, room, sizeof **runs);
        }
        (*runs)[found++] = run;
        at += (size_t)run.length * run.count;
    }
    return found;
}

uint32_t runs_least_rotation(const uint32_t *block, uint32_t length)
{
    uint32_t best = 0;
    for (uint32_t other = 1; other < length; ++other) {
        uint32_t same = 0;
        while (same < length && block[(best + same) % length] == block[(other + same) % length])
            ++same;
        if (same < length && block[(other + same) % length] < block[(best + same) % length])
            best = other;
    }
    return best;
}

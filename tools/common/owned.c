#include "common/owned.h"

#include <string.h>

static uint32_t process_at(const void *items, size_t size, size_t place)
{
    uint32_t process;
    memcpy(&process, (const char *)items + place * size, sizeof process);
    return process;
}

/* How many items are of processes below. */
static size_t below(uint64_t process, const void *items, size_t count, size_t size)
{
    size_t from = 0;
    while (count > 0) {
        size_t half = count / 2;
        if (process_at(items, size, from + half) < process) {
            from += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return from;
}

const void *owned_by(uint32_t process, const void *items, size_t count, size_t size, size_t *number)
{
    size_t first = below(process, items, count, size);
    *number = below((uint64_t)process + 1, items, count, size) - first;
    return *number > 0 ? (const char *)items + first * size : NULL;
}

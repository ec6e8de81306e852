/**
 * Appending to a chunk that is open, within a limit on the memory of all open ones: for callers.c
 * and samples.c.
 */
#ifndef RTL_STORE_APPEND_H
#define RTL_STORE_APPEND_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum rtl_append {
    RTL_APPEND_ADDED,
    RTL_APPEND_FULL,     /**< the chunk must be stored and sealed first */
    RTL_APPEND_CROWDED,  /**< all open chunks must be */
    RTL_APPEND_NO_MEMORY /**< nothing is changed */
};

/** Makes room for one more element, or for `least` in all. `*items` has `*capacity` of `size`
 * bytes; `*room` is what all open chunks take, of `most` bytes. */
static inline enum rtl_append rtl_append_grow(void **items, size_t size, uint32_t *capacity,
                                              uint32_t least, uint64_t *room, uint64_t most)
{
    uint32_t larger = *capacity ? 2 * *capacity : 64;
    if (larger < least)
        larger = least;
    uint64_t more = (uint64_t)(larger - *capacity) * size;
    if (*room + more > most)
        return RTL_APPEND_CROWDED;
    void *moved = realloc(*items, larger * size);
    if (!moved)
        return RTL_APPEND_NO_MEMORY;
    *items = moved;
    *capacity = larger;
    *room += more;
    return RTL_APPEND_ADDED;
}

#endif

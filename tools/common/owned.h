/**
 * What belongs to a process, in the lists that the reader gives out in the order of processes:
 * queues, ledgers, pauses.
 */
#ifndef RTL_TOOLS_OWNED_H
#define RTL_TOOLS_OWNED_H

#include <stddef.h>
#include <stdint.h>

/** The first of those items that belong to `process`, which follow one another, and how many they
 * are; NULL and 0 if none does. `items` are `count` of `size` bytes; each begins with the number of
 * its process, a uint32_t. */
const void *owned_by(uint32_t process, const void *items, size_t count, size_t size,
                     size_t *number);

#endif

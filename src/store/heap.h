/**
 * A heap of open chunks, the one with the least next element first: what merging them is made of.
 */
#ifndef RTL_STORE_HEAP_H
#define RTL_STORE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What elements and chunks are ordered by. */
struct rtl_key {
    uint64_t major, minor;
};

/** Below 0, 0 or above 0, as for qsort. */
static inline int rtl_key_compare(const struct rtl_key *a, const struct rtl_key *b)
{
    if (a->major != b->major)
        return a->major < b->major ? -1 : 1;
    return (a->minor > b->minor) - (a->minor < b->minor);
}

struct rtl_heap_item {
    struct rtl_key key; /**< of the chunk's next element */
    const void *tie;    /**< decides between equal keys */
    void *cursor;       /**< the owner's */
};

/** Zeroed memory is an empty heap. */
struct rtl_heap {
    struct rtl_heap_item *items; /**< the least first */
    size_t count, capacity;
};

/** Adds an item; false when memory is short. */
bool rtl_heap_push(struct rtl_heap *heap, struct rtl_heap_item item);

/** The least item has gone on to `key`. */
void rtl_heap_advance(struct rtl_heap *heap, struct rtl_key key);

/** Removes the least item. */
void rtl_heap_pop(struct rtl_heap *heap);

/** Frees the heap's memory; the cursors are the owner's. */
void rtl_heap_free(struct rtl_heap *heap);

#endif

/**
 * Definitions that wait for the next checkpoint: kept as they came, so that a transaction that
 * failed can be made again.
 */
#ifndef RTL_STORE_DEFERRED_H
#define RTL_STORE_DEFERRED_H

#include "ring/wire.h"

#include <stddef.h>

/** Zeroed memory is an empty list. */
struct rtl_deferred {
    unsigned char *bytes;
    size_t size, capacity;
};

/** A definition of the list; it lives until the list is changed. */
struct rtl_deferred_item {
    enum rtl_wire_type type;
    uint32_t process;
    const void *body;  /**< aligned to 8 */
    const char *texts; /**< what followed the body */
};

/** Appends a copy. 0, or -1 when memory is short. */
int rtl_deferred_add(struct rtl_deferred *pending, enum rtl_wire_type type, uint32_t process,
                     const void *body, size_t body_size, const char *texts, size_t texts_size);

/** The item at `*at` (0 to begin), and moves `*at` to the next; 0 at the end, else 1. */
int rtl_deferred_next(const struct rtl_deferred *pending, size_t *at,
                      struct rtl_deferred_item *item);

/** Empties the list and keeps its memory; rtl_deferred_free gives that back too. */
void rtl_deferred_clear(struct rtl_deferred *pending);
void rtl_deferred_free(struct rtl_deferred *pending);

#endif

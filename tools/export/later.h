/**
 * What is to come at a later time than what is written now: ends of slices, changes of levels. A
 * heap, the first one on top.
 */
#ifndef RTL_TOOLS_EXPORT_LATER_H
#define RTL_TOOLS_EXPORT_LATER_H

#include "export/levels.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum later_change { LATER_LESS, LATER_MORE, LATER_ZERO };

struct later_item {
    uint64_t time;
    uint64_t track;          /**< whose slice ends; 0: none */
    struct level *levels[2]; /**< that change; NULL: none */
    enum later_change change;
};

/** Zeroed memory is empty. */
struct later {
    struct later_item *items;
    size_t count, capacity;
};

/** False when memory is short. */
bool later_add(struct later *later, const struct later_item *item);

/** Takes the first item away if its time is `time` at most. */
bool later_take(struct later *later, uint64_t time, struct later_item *item);

void later_free(struct later *later);

#endif

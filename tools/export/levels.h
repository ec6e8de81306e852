/**
 * Values that change as time goes on: how many kernels run, how deep a queue is, what hardware
 * counted. Changes come in the order of time, and of those at one time the last value is told.
 */
#ifndef RTL_TOOLS_EXPORT_LEVELS_H
#define RTL_TOOLS_EXPORT_LEVELS_H

#include "export/lanes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** One value, which is 0 first. */
struct level {
    struct lane_key key;
    uint64_t value;
    bool told;    /**< the caller's */
    bool changed; /**< since it was told */
};

/** Zeroed memory is empty. */
struct levels {
    struct level **list, **changed; /**< all, by their keys; those that have changed at `time` */
    size_t count, capacity, changed_count;
    uint64_t time;
};

typedef void (*levels_emit)(void *state, struct level *level, uint64_t time);

/** The value of a key, which stays where it is; NULL when memory is short. */
struct level *levels_of(struct levels *levels, const struct lane_key *key);

/** Tells what has changed before `time`. */
void levels_until(struct levels *levels, uint64_t time, levels_emit emit, void *state);

/** Changes a value at a time up to which levels_until has been called, and no further. */
void levels_set(struct levels *levels, struct level *level, uint64_t time, uint64_t value);

void levels_free(struct levels *levels);

#endif

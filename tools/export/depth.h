/**
 * How many of some things are there at a time: of a queue's kernels from the host call to the end,
 * of a GPU's kernels from start to end.
 */
#ifndef RTL_TOOLS_EXPORT_DEPTH_H
#define RTL_TOOLS_EXPORT_DEPTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** From `time` on there are `count`. Times rise. */
typedef void (*depth_emit)(void *state, uint64_t time, uint64_t count);

/** Zeroed memory is empty. Memory is bounded by the largest count. */
struct depth {
    uint64_t *ends; /**< a heap of those that are there, least first */
    size_t count, capacity;
    uint64_t last; /**< time of the sample that is not told yet */
    uint64_t last_count;
    bool sampled;
};

/** One more from `from` to `end`. One that comes before others counts from these on. False when
 * memory is short. */
bool depth_add(struct depth *depth, uint64_t from, uint64_t end, depth_emit emit, void *state);

/** Tells what is left, down to 0. */
void depth_end(struct depth *depth, depth_emit emit, void *state);

void depth_free(struct depth *depth);

#endif

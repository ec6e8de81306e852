#include "export/depth.h"

#include <stdlib.h>

static void sample(struct depth *depth, uint64_t time, depth_emit emit, void *state)
{
    if (depth->sampled && depth->last != time)
        emit(state, depth->last, depth->last_count);
    depth->sampled = true;
    depth->last = time;
    depth->last_count = depth->count;
}

static void swap(uint64_t *a, uint64_t *b)
{
    uint64_t c = *a;
    *a = *b;
    *b = c;
}

static bool push(struct depth *depth, uint64_t end)
{
    if (depth->count == depth->capacity) {
        size_t capacity = depth->capacity ? 2 * depth->capacity : 64;
        uint64_t *ends = realloc(depth->ends, capacity * sizeof *ends);
        if (!ends)
            return false;
        depth->ends = ends;
        depth->capacity = capacity;
    }
    size_t at = depth->count++;
    depth->ends[at] = end;
    for (; at && depth->ends[at] < depth->ends[(at - 1) / 2]; at = (at - 1) / 2)
        swap(&depth->ends[at], &depth->ends[(at - 1) / 2]);
    return true;
}

static uint64_t pop(struct depth *depth)
{
    uint64_t least = depth->ends[0];
    size_t count = --depth->count;
    depth->ends[0] = depth->ends[count];
    for (size_t at = 0, child = 1; child < count; at = child, child = 2 * at + 1) {
        if (child + 1 < count && depth->ends[child + 1] < depth->ends[child])
            ++child;
        if (depth->ends[at] <= depth->ends[child])
            break;
        swap(&depth->ends[at], &depth->ends[child]);
    }
    return least;
}

bool depth_add(struct depth *depth, uint64_t from, uint64_t end, depth_emit emit, void *state)
{
    if (depth->sampled && from < depth->last)
        from = depth->last;
    while (depth->count && depth->ends[0] <= from) {
        uint64_t time = pop(depth);
        sample(depth, time, emit, state);
    }
    if (!push(depth, end > from ? end : from))
        return false;
    sample(depth, from, emit, state);
    return true;
}

void depth_end(struct depth *depth, depth_emit emit, void *state)
{
    while (depth->count) {
        uint64_t time = pop(depth);
        sample(depth, time, emit, state);
    }
    if (depth->sampled)
        emit(state, depth->last, depth->last_count);
    depth->sampled = false;
}

void depth_free(struct depth *depth)
{
    free(depth->ends);
    *depth = (struct depth){0};
}

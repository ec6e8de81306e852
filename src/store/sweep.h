/**
 * How long at least one of many intervals was open, and how long two or more: a sweep over them in
 * the order of their starts. Pure: no file, no clock. One thread at a time.
 */
#ifndef RTL_STORE_SWEEP_H
#define RTL_STORE_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** From `start` up to and without `end`, which is not before it. */
struct rtl_interval {
    uint64_t start, end;
};

/** What a sweep has found so far. Zeroed memory is the begin. */
struct rtl_depth {
    uint64_t count;
    uint64_t first, last; /**< first start, last end; 0 without intervals */
    uint64_t twice;       /**< the last end of what was open twice */
    uint64_t busy;        /**< time with one interval open or more */
    uint64_t overlap;     /**< time with two or more */
};

/** Adds an interval that does not start before one that was added. What is open at its start, is
 * open without a gap up to the last end: no more needs to be remembered. */
static inline void rtl_depth_add(struct rtl_depth *depth, uint64_t start, uint64_t end)
{
    if (depth->count++ == 0)
        depth->first = depth->last = depth->twice = start;
    uint64_t from = start > depth->twice ? start : depth->twice;
    uint64_t to = end < depth->last ? end : depth->last;
    if (to > from) {
        depth->overlap += to - from;
        depth->twice = to;
    }
    if (end > depth->last) {
        depth->busy += end - (start > depth->last ? start : depth->last);
        depth->last = end;
    }
}

/** Sorts intervals by their starts. */
void rtl_intervals_sort(struct rtl_interval *intervals, size_t count);

/** Joins intervals that are sorted and touch; returns how many are left. */
size_t rtl_intervals_join(struct rtl_interval *intervals, size_t count);

/** Sorted intervals that wait for their turn. */
struct rtl_run {
    struct rtl_interval *intervals;
    size_t next, count;
};

/** A sweep over runs that come piece by piece, in the order of their first starts. Zeroed memory is
 * the begin. Memory is that of the runs that overlap. */
struct rtl_sweep {
    struct rtl_depth depth;
    struct rtl_run *runs;
    size_t run_count, run_capacity;
    struct rtl_interval *merged[2]; /**< room for merging */
    size_t room;
    const struct rtl_interval *others; /**< sorted and joined, the caller's; may be NULL */
    size_t other_count, other_next;
    uint64_t shared; /**< time in which an interval and one of `others` were open */
};

/** Adds a run, which is freed with free() when it is used up or the sweep is freed. False when
 * memory is short (then it has been freed). */
bool rtl_sweep_add(struct rtl_sweep *sweep, struct rtl_interval *intervals, size_t count);

/** Adds what was found of a part that lies between what was swept before and what comes after, and
 * shares no time with `others`. */
void rtl_sweep_add_depth(struct rtl_sweep *sweep, const struct rtl_depth *part);

/** Sweeps over all intervals that start before `limit`; no run that is added later may have one.
 * UINT64_MAX: all. False when memory is short. */
bool rtl_sweep_until(struct rtl_sweep *sweep, uint64_t limit);

/** Frees what the sweep holds. */
void rtl_sweep_free(struct rtl_sweep *sweep);

#endif

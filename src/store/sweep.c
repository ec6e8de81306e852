#include "store/sweep.h"

#include <stdlib.h>
#include <string.h>

/* Of intervals that are merged at once: a room of them stays in the processor's cache. */
#define MERGED_MOST 32768u

static int by_start(const void *left, const void *right)
{
    const struct rtl_interval *a = left;
    const struct rtl_interval *b = right;
    return (a->start > b->start) - (a->start < b->start);
}

void rtl_intervals_sort(struct rtl_interval *intervals, size_t count)
{
    if (count)
        qsort(intervals, count, sizeof *intervals, by_start);
}

size_t rtl_intervals_join(struct rtl_interval *intervals, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept && intervals[i].start <= intervals[kept - 1].end) {
            if (intervals[i].end > intervals[kept - 1].end)
                intervals[kept - 1].end = intervals[i].end;
        } else {
            intervals[kept++] = intervals[i];
        }
    }
    return kept;
}

bool rtl_sweep_add(struct rtl_sweep *sweep, struct rtl_interval *intervals, size_t count)
{
    if (sweep->run_count == sweep->run_capacity) {
        size_t capacity = sweep->run_capacity ? 2 * sweep->run_capacity : 8;
        struct rtl_run *runs = realloc(sweep->runs, capacity * sizeof *runs);
        if (!runs) {
            free(intervals);
            return false;
        }
        sweep->runs = runs;
        sweep->run_capacity = capacity;
    }
    sweep->runs[sweep->run_count++] = (struct rtl_run){intervals, 0, count};
    return true;
}

void rtl_sweep_add_depth(struct rtl_sweep *sweep, const struct rtl_depth *part)
{
    struct rtl_depth *depth = &sweep->depth;
    if (part->count == 0)
        return;
    if (depth->count == 0)
        depth->first = part->first;
    depth->count += part->count;
    depth->busy += part->busy;
    depth->overlap += part->overlap;
    depth->last = part->last > depth->last ? part->last : depth->last;
    depth->twice = part->twice > depth->twice ? part->twice : depth->twice;
}

/* A piece of time in which intervals were open, behind all pieces before. */
static void share(struct rtl_sweep *sweep, uint64_t start, uint64_t end)
{
    const struct rtl_interval *others = sweep->others;
    while (sweep->other_next < sweep->other_count && others[sweep->other_next].end <= start)
        sweep->other_next++;
    for (size_t i = sweep->other_next; i < sweep->other_count && others[i].start < end; i++) {
        uint64_t from = others[i].start > start ? others[i].start : start;
        uint64_t to = others[i].end < end ? others[i].end : end;
        sweep->shared += to > from ? to - from : 0;
    }
}

static void sweep_over(struct rtl_sweep *sweep, const struct rtl_interval *intervals, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t last = sweep->depth.last;
        uint64_t start = intervals[i].start;
        uint64_t end = intervals[i].end;
        if (sweep->other_count && (end > last || sweep->depth.count == 0))
            share(sweep, start > last || sweep->depth.count == 0 ? start : last, end);
        rtl_depth_add(&sweep->depth, start, end);
    }
}

/* How many intervals of a run start before `limit`. */
static size_t before(const struct rtl_run *run, uint64_t limit)
{
    size_t low = run->next;
    size_t high = run->count;
    if (limit == UINT64_MAX)
        return high - low;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (run->intervals[middle].start < limit)
            low = middle + 1;
        else
            high = middle;
    }
    return low - run->next;
}

/* Behind the last one; a piece of none may be NULL. */
static const struct rtl_interval *end_of(const struct rtl_interval *piece, size_t count)
{
    return count ? piece + count : piece;
}

/* Merges two sorted pieces. Which one the next is from is random: chosen without a branch. */
static void merge(const struct rtl_interval *a, size_t a_count, const struct rtl_interval *b,
                  size_t b_count, struct rtl_interval *to)
{
    const struct rtl_interval *a_end = end_of(a, a_count);
    const struct rtl_interval *b_end = end_of(b, b_count);
    while (a < a_end && b < b_end) {
        size_t second = b->start < a->start;
        const struct rtl_interval *least = second ? b : a;
        *to++ = *least;
        b += second;
        a += 1 - second;
    }
    if (a < a_end)
        memcpy(to, a, (size_t)(a_end - a) * sizeof *to);
    else if (b < b_end)
        memcpy(to, b, (size_t)(b_end - b) * sizeof *to);
}

/* A sorted piece of a run, or of some that were merged. */
struct piece {
    const struct rtl_interval *intervals;
    size_t count;
};

/* Merges neighbours until one piece is left; they change between the two rooms. */
static const struct rtl_interval *merge_all(struct rtl_sweep *sweep, struct piece *pieces,
                                            size_t count)
{
    for (unsigned room = 0; count > 1; room ^= 1) {
        struct rtl_interval *to = sweep->merged[room];
        size_t kept = 0;
        for (size_t i = 0; i < count; i += 2) {
            const struct piece a = pieces[i];
            const struct piece b = i + 1 < count ? pieces[i + 1] : (struct piece){NULL, 0};
            merge(a.intervals, a.count, b.intervals, b.count, to);
            pieces[kept++] = (struct piece){to, a.count + b.count};
            to += a.count + b.count;
        }
        count = kept;
    }
    return pieces[0].intervals;
}

static bool make_room(struct rtl_sweep *sweep, size_t count)
{
    if (sweep->room >= count)
        return true;
    for (unsigned i = 0; i < 2; i++) {
        free(sweep->merged[i]);
        sweep->merged[i] = malloc(count * sizeof *sweep->merged[i]);
    }
    sweep->room = sweep->merged[0] && sweep->merged[1] ? count : 0;
    return sweep->room == count;
}

static void drop_empty(struct rtl_sweep *sweep)
{
    size_t kept = 0;
    for (size_t i = 0; i < sweep->run_count; i++) {
        if (sweep->runs[i].next == sweep->runs[i].count)
            free(sweep->runs[i].intervals);
        else
            sweep->runs[kept++] = sweep->runs[i];
    }
    sweep->run_count = kept;
}

/* A trace may be of hundreds of GPUs, which are swept one behind the other. */
static void drop_room(struct rtl_sweep *sweep)
{
    for (unsigned i = 0; i < 2; i++) {
        free(sweep->merged[i]);
        sweep->merged[i] = NULL;
    }
    sweep->room = 0;
}

/* A limit before which there are not many intervals, so that room for merging them stays small:
 * where the first run gets to that has as many of them as are its share. Greater than the first
 * start, and `limit` at most. */
static uint64_t near_limit(const struct rtl_sweep *sweep, uint64_t limit)
{
    size_t share = MERGED_MOST / sweep->run_count + 1;
    uint64_t first = limit;
    uint64_t near = limit;
    for (size_t i = 0; i < sweep->run_count; i++) {
        const struct rtl_run *run = &sweep->runs[i];
        uint64_t start = run->intervals[run->next].start;
        first = start < first ? start : first;
        if (run->count - run->next > share && run->intervals[run->next + share].start < near)
            near = run->intervals[run->next + share].start;
    }
    return near > first || near == limit ? near : first + 1;
}

/* The next intervals of all runs. */
static bool sweep_piece(struct rtl_sweep *sweep, uint64_t limit)
{
    size_t pieces = 0;
    size_t total = 0;
    struct piece *piece = malloc(sweep->run_count * sizeof *piece);
    if (!piece)
        return false;
    for (size_t i = 0; i < sweep->run_count; i++) {
        struct rtl_run *run = &sweep->runs[i];
        size_t count = before(run, limit);
        if (count)
            piece[pieces++] = (struct piece){run->intervals + run->next, count};
        run->next += count;
        total += count;
    }
    bool fits = pieces < 2 || make_room(sweep, total);
    if (fits && pieces)
        sweep_over(sweep, merge_all(sweep, piece, pieces), total);
    free(piece);
    drop_empty(sweep);
    return fits;
}

bool rtl_sweep_until(struct rtl_sweep *sweep, uint64_t limit)
{
    drop_empty(sweep);
    for (uint64_t to = 0; sweep->run_count && to < limit;) {
        to = near_limit(sweep, limit);
        if (!sweep_piece(sweep, to))
            return false;
    }
    if (limit == UINT64_MAX)
        drop_room(sweep);
    return true;
}

void rtl_sweep_free(struct rtl_sweep *sweep)
{
    for (size_t i = 0; i < sweep->run_count; i++)
        free(sweep->runs[i].intervals);
    free(sweep->runs);
    drop_room(sweep);
    *sweep = (struct rtl_sweep){0};
}

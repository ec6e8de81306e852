#include "ranges/groups.h"

#include "analysis/ranges_sum.h"
#include "common/index.h"
#include "common/memory.h"

#include <stdlib.h>

#define NOWHERE SIZE_MAX

struct making {
    const struct ranges_view *view;
    struct ranges_groups *groups;
    size_t capacity;
    struct rtl_index outer, inner; /* by process and name; by parent and name */
    size_t *around;                /* by range: its group, or that of the next chosen one around */
};

static uint32_t find_group(const struct making *making, const struct range_row *range,
                           size_t parent)
{
    return parent == NOWHERE
               ? rtl_index_get(&making->outer, rtl_index_key(range->process, range->name))
               : rtl_index_get(&making->inner, rtl_index_key((uint32_t)parent, range->name));
}

static uint32_t new_group(struct making *making, const struct range_row *range, size_t parent)
{
    struct ranges_groups *groups = making->groups;
    if (groups->count >= making->capacity) {
        making->capacity = making->capacity ? 2 * making->capacity : 64;
        groups->list = memory_grown(groups->list, making->capacity, sizeof *groups->list);
    }
    uint32_t place = (uint32_t)groups->count;
    int kept =
        parent == NOWHERE
            ? rtl_index_put(&making->outer, rtl_index_key(range->process, range->name), place)
            : rtl_index_put(&making->inner, rtl_index_key((uint32_t)parent, range->name), place);
    if (kept != 0 || groups->count >= RTL_INDEX_MISSING)
        memory_is_short();
    groups->list[groups->count++] = (struct ranges_group){
        .sum = {.process = range->process,
                .thread = range->thread,
                .name = range->name,
                .kind = range->kind,
                .parent = parent,
                .depth = parent == NOWHERE ? 0 : groups->list[parent].sum.depth + 1}};
    return place;
}

static void add_time(struct rtl_range_time *sum, const struct rtl_range_time *more)
{
    sum->kernels += more->kernels;
    sum->kernel_ns += more->kernel_ns;
    sum->copies += more->copies;
    sum->copy_bytes += more->copy_bytes;
    sum->copy_ns += more->copy_ns;
    sum->busy += more->busy;
    sum->overlap += more->overlap;
    sum->copying += more->copying;
    sum->active += more->active;
    sum->within += more->within;
}

static void add_range(struct making *making, struct ranges_group *group,
                      const struct range_row *range)
{
    ++group->ranges;
    if (range->end) {
        stats_add(&group->walls, ranges_wall(range));
        group->idle += rtl_range_time_idle(&range->time, ranges_wall(range));
    } else {
        ++group->open;
    }
    add_time(&group->sum.time, &range->time);
    group->sum.launches += range->launches;
    group->sum.shared = group->sum.shared || range->shared;
    ranges_sum_quantities(&group->sum.quantities, range);
    ranges_sum_counts(&group->sum.counts, range, making->view->reading.counts.count);
}

/* Outer ranges stand before their inner ones. */
static void take_ranges(struct making *making)
{
    const struct ranges_reading *reading = &making->view->reading;
    for (size_t i = 0; i < reading->count; ++i) {
        const struct range_row *range = &reading->rows[i];
        size_t parent = range->parent == NOWHERE ? NOWHERE : making->around[range->parent];
        making->around[i] = parent;
        if (!ranges_chosen(making->view, range))
            continue;
        uint32_t place = find_group(making, range, parent);
        if (place == RTL_INDEX_MISSING)
            place = new_group(making, range, parent);
        making->around[i] = place;
        add_range(making, &making->groups->list[place], range);
    }
}

/* ---- order ---- */

struct sibling {
    size_t parent; /* place + 1, 0: none */
    uint64_t total;
    size_t group;
};

static int by_total(const void *left, const void *right)
{
    const struct sibling *a = left;
    const struct sibling *b = right;
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    if (a->total != b->total)
        return a->total < b->total ? 1 : -1;
    return (a->group > b->group) - (a->group < b->group);
}

/* From one group to the first in it, else to its next sibling, else to that of one around it. */
static void walk(const struct sibling *siblings, const size_t *first, struct ranges_groups *groups)
{
    size_t *around = memory_new(groups->count, sizeof *around);
    size_t depth = 0;
    size_t at = 0;
    for (size_t i = 0; i < groups->count; ++i) {
        groups->order[i] = siblings[at].group;
        if (first[siblings[at].group] != NOWHERE) {
            around[depth++] = at;
            at = first[siblings[at].group];
            continue;
        }
        while (depth > 0 &&
               (at + 1 == groups->count || siblings[at + 1].parent != siblings[at].parent))
            at = around[--depth];
        ++at;
    }
    free(around);
}

static void put_in_order(struct ranges_groups *groups)
{
    struct sibling *siblings = memory_new(groups->count, sizeof *siblings);
    size_t *first = memory_new(groups->count, sizeof *first);
    groups->order = memory_new(groups->count, sizeof *groups->order);
    for (size_t i = 0; i < groups->count; ++i) {
        const struct ranges_group *group = &groups->list[i];
        siblings[i] = (struct sibling){group->sum.parent + 1, group->walls.total, i};
        first[i] = NOWHERE;
    }
    qsort(siblings, groups->count, sizeof *siblings, by_total);
    for (size_t i = groups->count; i-- > 0;)
        if (siblings[i].parent)
            first[siblings[i].parent - 1] = i;
    walk(siblings, first, groups);
    free(siblings);
    free(first);
}

void ranges_groups_make(const struct ranges_view *view, struct ranges_groups *groups)
{
    struct making making = {.view = view, .groups = groups};
    *groups = (struct ranges_groups){0};
    making.around = memory_new(view->reading.count, sizeof *making.around);
    take_ranges(&making);
    free(making.around);
    rtl_index_free(&making.outer);
    rtl_index_free(&making.inner);
    if (groups->count)
        put_in_order(groups);
}

void ranges_groups_free(struct ranges_groups *groups)
{
    for (size_t i = 0; i < groups->count; ++i) {
        stats_free(&groups->list[i].walls);
        free(groups->list[i].sum.counts);
    }
    free(groups->list);
    free(groups->order);
    *groups = (struct ranges_groups){0};
}

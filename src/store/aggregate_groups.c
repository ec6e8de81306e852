#include "store/aggregate.h"
#include "store/tables.h"

#include <stdlib.h>
#include <string.h>

#define NONE RTL_INDEX_MISSING

/* A key is found in steps: each number of it leads from one place to the next. 0 is the begin. */
static uint32_t go(struct rtl_aggregate_groups *groups, uint32_t from, uint32_t number)
{
    uint64_t step = rtl_index_key(from, number);
    uint32_t to = from == NONE ? NONE : rtl_index_get(&groups->steps, step);
    if (to != NONE || from == NONE)
        return to;
    to = ++groups->step_count;
    return rtl_index_put(&groups->steps, step, to) == 0 ? to : NONE;
}

struct rtl_aggregate_key rtl_aggregate_key_of(unsigned by, uint32_t process, uint32_t device,
                                              uint32_t queue)
{
    bool apart = (by & (RTL_BY_PROCESS | RTL_BY_QUEUE | RTL_BY_SYMBOL | RTL_BY_SHAPE |
                        RTL_AGGREGATE_GRAPHS)) != 0;
    return (struct rtl_aggregate_key){.process = apart ? process : 0,
                                      .device = by & RTL_BY_DEVICE ? device : RTL_TRACE_NONE,
                                      .queue = by & RTL_BY_QUEUE ? queue : RTL_TRACE_NONE,
                                      .graph = RTL_TRACE_NONE,
                                      .node = RTL_TRACE_NONE};
}

static struct rtl_aggregate_group *add(struct rtl_aggregate_groups *groups,
                                       const struct rtl_aggregate_key *key, uint32_t shape_group)
{
    size_t count = groups->among ? *groups->among : groups->list.count;
    groups->many = groups->most && count >= groups->most;
    struct rtl_aggregate_group *group =
        groups->many ? NULL : rtl_list_append(&groups->list, sizeof *group);
    if (group) {
        if (groups->among)
            ++*groups->among;
        group->key = *key;
        group->shape_group = shape_group;
    }
    return group;
}

/* The last step leads to a number that no other step leads to: its group is remembered under a step
 * of its own, to NONE - 1. */
struct rtl_aggregate_group *rtl_aggregate_group_of(struct rtl_aggregate_groups *groups,
                                                   const struct rtl_aggregate_key *key,
                                                   uint32_t shape_group)
{
    const uint32_t numbers[] = {key->process, key->device,     key->queue, key->graph,
                                key->node,    key->generation, shape_group};
    uint32_t place = 0;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        place = go(groups, place, numbers[i]);
    if (place == NONE)
        return NULL;
    uint64_t last = rtl_index_key(place, NONE - 1);
    uint32_t found = rtl_index_get(&groups->steps, last);
    if (found != NONE)
        return (struct rtl_aggregate_group *)groups->list.items + found;
    struct rtl_aggregate_group *group = add(groups, key, shape_group);
    if (!group || rtl_index_put(&groups->steps, last, rtl_list_last(&groups->list)) != 0)
        return NULL;
    return group;
}

static void fill_shape(rtl_group_t *given, const struct rtl_shape *shape, unsigned by)
{
    if (by & (RTL_BY_NAME | RTL_BY_SYMBOL | RTL_BY_SHAPE))
        given->name = shape->name;
    if (by & (RTL_BY_SYMBOL | RTL_BY_SHAPE)) {
        given->mangled = shape->mangled;
        given->symbol = shape->symbol;
    }
    if (by & RTL_BY_SHAPE) {
        memcpy(given->grid, shape->grid, sizeof given->grid);
        memcpy(given->block, shape->block, sizeof given->block);
        given->group_size = shape->group_size;
        given->private_size = shape->private_size;
    }
}

static void fill(rtl_group_t *given, const struct rtl_aggregate_group *group,
                 const struct rtl_shape *shape, unsigned by)
{
    const struct rtl_stat *stat = &group->stat;
    *given = (rtl_group_t){.name = "",
                           .mangled = "",
                           .process = group->key.process,
                           .symbol = RTL_TRACE_NONE,
                           .device = group->key.device,
                           .queue = group->key.queue,
                           .graph = group->key.graph,
                           .generation = group->key.generation,
                           .node = group->key.node,
                           .count = stat->count,
                           .total = stat->total,
                           .min = rtl_stat_min(stat),
                           .max = stat->max,
                           .mean = stat->count ? (double)stat->total / (double)stat->count : 0,
                           .deviation = rtl_stat_deviation(stat),
                           .p50 = rtl_stat_percentile(stat, 0.5),
                           .p90 = rtl_stat_percentile(stat, 0.9),
                           .p99 = rtl_stat_percentile(stat, 0.99)};
    fill_shape(given, shape, by);
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* The largest total first; between equal ones, whatever tells the groups apart decides. Groups of
 * shapes are numbered in the order of their names. */
static int by_total(const void *left, const void *right)
{
    const struct rtl_aggregate_group *a = left;
    const struct rtl_aggregate_group *b = right;
    int order = compare(b->stat.total, a->stat.total);
    order = order ? order : compare(a->shape_group, b->shape_group);
    order = order ? order : compare(a->key.process, b->key.process);
    order = order ? order : compare(a->key.device, b->key.device);
    order = order ? order : compare(a->key.queue, b->key.queue);
    order = order ? order : compare(a->key.graph, b->key.graph);
    order = order ? order : compare(a->key.generation, b->key.generation);
    return order ? order : compare(a->key.node, b->key.node);
}

bool rtl_aggregate_groups_finish(struct rtl_aggregate_groups *groups,
                                 const struct rtl_aggregate_shapes *shapes, unsigned by)
{
    struct rtl_aggregate_group *items = groups->list.items;
    size_t count = groups->list.count;
    groups->given = calloc(count + 1, sizeof *groups->given);
    if (!groups->given)
        return false;
    if (count)
        qsort(items, count, sizeof *items, by_total);
    for (size_t i = 0; i < count; i++)
        fill(&groups->given[i], &items[i],
             rtl_aggregate_shapes_sample(shapes, items[i].shape_group), by);
    return true;
}

void rtl_aggregate_groups_free(struct rtl_aggregate_groups *groups)
{
    struct rtl_aggregate_group *items = groups->list.items;
    for (size_t i = 0; i < groups->list.count; i++)
        rtl_stat_free(&items[i].stat);
    rtl_list_free(&groups->list);
    rtl_index_free(&groups->steps);
    groups->step_count = 0;
    free(groups->given);
    groups->given = NULL;
}

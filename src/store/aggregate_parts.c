/* Groups process by process: a merged trace may be of hundreds, and those of one that is over need
 * not wait for the others. */
#include "store/aggregate.h"
#include "store/tables.h"

#include <stdlib.h>

bool rtl_aggregate_parts_expect(struct rtl_aggregate_parts *parts, uint32_t process, uint32_t most)
{
    struct rtl_aggregate_part *part = rtl_aggregate_parts_of(parts, process);
    if (!part) {
        part = rtl_list_append(&parts->list, sizeof *part);
        if (!part || rtl_index_put(&parts->places, process, rtl_list_last(&parts->list)) != 0)
            return false;
        part->process = process;
        part->groups.most = most;
        part->groups.among = &parts->groups;
    }
    part->chunks++;
    return true;
}

struct rtl_aggregate_part *rtl_aggregate_parts_of(const struct rtl_aggregate_parts *parts,
                                                  uint32_t process)
{
    uint32_t place = rtl_index_get(&parts->places, process);
    return place == RTL_INDEX_MISSING ? NULL
                                      : (struct rtl_aggregate_part *)parts->list.items + place;
}

/* A group's part becomes part of the whole, and goes: there may be many. */
static bool join_group(struct rtl_aggregate_groups *groups, const struct rtl_aggregate_key *key,
                       uint32_t group, struct rtl_stat **part)
{
    if (!*part)
        return true;
    struct rtl_aggregate_group *whole = rtl_aggregate_group_of(groups, key, group);
    bool joined = whole && rtl_stat_merge(&whole->stat, *part);
    rtl_stat_free(*part);
    free(*part);
    *part = NULL;
    return joined;
}

bool rtl_aggregate_join(struct rtl_aggregate_groups *groups, const struct rtl_aggregate_key *key,
                        struct rtl_aggregate_worker *worker, uint32_t context)
{
    struct rtl_stat **stats = worker->stats[context];
    for (uint32_t group = 0; stats && group < worker->groups; group++)
        if (!join_group(groups, key, group, &stats[group]))
            return false;
    free(stats);
    worker->stats[context] = NULL;
    return true;
}

bool rtl_aggregate_parts_join(struct rtl_aggregate_part *part, const struct rtl_list *contexts,
                              void *const *workers, unsigned threads)
{
    const struct rtl_aggregate_key *keys = contexts->items;
    for (uint32_t context = 0; context < contexts->count; context++)
        for (unsigned i = 0; keys[context].process == part->process && i < threads; i++)
            if (!rtl_aggregate_join(&part->groups, &keys[context], workers[i], context))
                return false;
    return true;
}

void rtl_aggregate_parts_free(struct rtl_aggregate_parts *parts)
{
    struct rtl_aggregate_part *part = parts->list.items;
    for (size_t i = 0; i < parts->list.count; i++)
        rtl_aggregate_groups_free(&part[i].groups);
    rtl_list_free(&parts->list);
    rtl_index_free(&parts->places);
}

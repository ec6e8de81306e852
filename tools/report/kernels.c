/* Which kernels have most time, and which families. */
#include "report/parts.h"

#include "analysis/steps_families.h"
#include "common/memory.h"
#include "common/open.h"

#define MOST_KERNELS 30u

static json_t *kernel_json(const rtl_group_t *group, struct family_rules *rules)
{
    return json_pack("{s:o, s:s, s:o, s:o, s:f, s:o, s:o, s:o, s:o}", "name",
                     open_text(group->name), "family", family_of(rules, group->name), "calls",
                     open_number(group->count), "total", open_number(group->total), "mean",
                     group->mean, "p50", open_number(group->p50), "p99", open_number(group->p99),
                     "min", open_number(group->min), "max", open_number(group->max));
}

/* A family has one text. There are as many families as names at most. */
static void add_family(struct family_times *times, const char *family, const rtl_group_t *group)
{
    size_t at = 0;
    while (at < times->count && times->list[at].family != family)
        ++at;
    times->list[at].family = family;
    times->list[at].ns += group->total;
    times->list[at].kernels += group->count;
    times->count += at == times->count;
}

static json_t *families_json(const struct family_times *times)
{
    json_t *list = json_array();
    for (size_t i = 0; i < times->count; ++i)
        (void)json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "family",
                                                    open_text(times->list[i].family), "ns",
                                                    open_number(times->list[i].ns), "kernels",
                                                    open_number(times->list[i].kernels)));
    return list;
}

json_t *report_kernels(rtl_trace_t *trace, struct family_rules *rules)
{
    const rtl_aggregate_request_t request = RTL_AGGREGATE_BY(RTL_BY_NAME);
    rtl_aggregate_t *aggregate;
    const rtl_group_t *groups;
    size_t count;
    if (rtlTraceAggregate(trace, &request, &aggregate) != RTL_OK)
        return NULL;
    (void)rtlAggregateGroups(aggregate, &groups, &count); /* fails without an aggregate alone */
    struct family_times times = {.list = memory_new(count, sizeof *times.list)};
    json_t *kernels = json_array();
    uint64_t total = 0;
    for (size_t i = 0; i < count; ++i) {
        total += groups[i].total;
        add_family(&times, family_of(rules, groups[i].name), &groups[i]);
        if (i < MOST_KERNELS)
            (void)json_array_append_new(kernels, kernel_json(&groups[i], rules));
    }
    family_times_sort(&times);
    json_t *object =
        json_pack("{s:o, s:o, s:o, s:o}", "names", open_number(count), "total", open_number(total),
                  "kernels", kernels, "families", families_json(&times));
    family_times_free(&times);
    rtlAggregateFree(aggregate);
    return object;
}

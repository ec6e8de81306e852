/* The ranks of a job side by side: who came last, who waited, what is exposed. */
#include "report/parts.h"

#include "analysis/ranks_json.h"
#include "analysis/steps_json.h"
#include "common/memory.h"
#include "common/open.h"

#include <stdlib.h>

#define MOST_RANKS 512u /* that are listed */
#define POINTS     500u
#define WORST      10u /* steps with long waits that are listed */

static uint64_t process_of(const struct ranks *ranks, size_t rank)
{
    return ranks->list[rank].process->process;
}

static json_t *process_json(const struct ranks *ranks, size_t rank)
{
    return rank == RANKS_NONE ? json_null() : open_number(process_of(ranks, rank));
}

/* Of the ranks it waited for, which are as many again, only one. */
static json_t *list_json(const struct ranks *ranks)
{
    json_t *list = json_array();
    for (size_t i = 0; i < ranks->count && i < MOST_RANKS; ++i) {
        json_t *object = ranks_json_rank(ranks, &ranks->list[i]);
        (void)json_object_del(object, "waits");
        (void)json_object_set_new(object, "waited_for",
                                  process_json(ranks, ranks_waited_for(ranks, i)));
        (void)json_array_append_new(list, object);
    }
    return list;
}

/* Sums of `each` steps in a row, of all ranks. */
static json_t *points_json(const struct ranks *ranks)
{
    size_t each = (ranks->step_count + POINTS - 1) / POINTS;
    json_t *columns[] = {json_array(), json_array(), json_array(), json_array()};
    for (size_t first = 0; first < ranks->step_count; first += each) {
        size_t end = first + each < ranks->step_count ? first + each : ranks->step_count;
        uint64_t sums[] = {ranks->before + first + 1, 0, 0, 0};
        for (size_t step = first; step < end; ++step) {
            sums[3] += ranks->steps[step].waited;
            for (size_t i = 0; i < ranks->count; ++i) {
                const struct rank_step *own = &ranks->list[i].steps[ranks->list[i].first + step];
                sums[1] += own->collective;
                sums[2] += own->exposed;
            }
        }
        for (size_t k = 0; k < sizeof sums / sizeof sums[0]; ++k)
            (void)json_array_append_new(columns[k], open_number(sums[k]));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "each", open_number(each), "step", columns[0],
                     "collective_ns", columns[1], "exposed_ns", columns[2], "waited_ns",
                     columns[3]);
}

static json_t *worst_json(const struct ranks *ranks, uint64_t start)
{
    size_t places[WORST + 1];
    size_t count = ranks_worst(ranks, places, WORST);
    json_t *list = json_array();
    for (size_t i = 0; i < count; ++i) {
        const struct ranks_step *step = &ranks->steps[places[i]];
        uint64_t begin = ranks->list[0].steps[ranks->list[0].first + places[i]].begin;
        (void)json_array_append_new(
            list, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "step",
                            open_number(ranks->before + places[i] + 1), "at",
                            open_number(begin > start ? begin - start : 0), "slowest",
                            process_json(ranks, step->slowest), "waited_most",
                            process_json(ranks, step->longest_rank), "longest_ns",
                            open_number(step->longest), "waited_ns", open_number(step->waited)));
    }
    return list;
}

static json_t *ranks_json(const struct ranks *ranks, uint64_t start)
{
    return json_pack("{s:s, s:o, s:o, s:b, s:b, s:b, s:o, s:o, s:o, s:o, s:o}", "by",
                     ranks->by_steps ? steps_by_name(ranks->by) : "collective", "steps",
                     open_number(ranks->step_count), "count", open_number(ranks->count),
                     "collectives", ranks->collectives, "by_number", ranks->by_number, "labelled",
                     ranks->labelled, "unlike_steps", open_number(ranks->unlike), "ranks",
                     list_json(ranks), "hosts", ranks_json_hosts(ranks), "points",
                     points_json(ranks), "worst", worst_json(ranks, start));
}

json_t *report_ranks(rtl_trace_t *trace, const struct steps *steps, struct family_rules *rules)
{
    const rtl_process_t *processes;
    size_t count;
    rtl_trace_info_t info;
    struct ranks ranks = {0};
    json_t *object = NULL;
    rtl_status_t status = rtlTraceProcesses(trace, &processes, &count);
    if (status == RTL_OK && count < 2)
        return json_null();
    if (status == RTL_OK)
        status = rtlTraceInfo(trace, &info);
    if (status == RTL_OK)
        status = ranks_of_steps(trace, steps, rules, &ranks);
    if (status == RTL_OK && ranks.count > 1)
        ranks_judge(&ranks, 0, 0);
    if (status == RTL_OK)
        object = ranks.step_count ? ranks_json(&ranks, info.start) : json_null();
    ranks_free(&ranks);
    return object;
}

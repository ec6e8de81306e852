/* rtl ranks: the JSON. */
#include "ranks/ranks.h"

#include "analysis/steps_json.h"
#include "common/open.h"

#include <string.h>

static void set(json_t *object, const char *key, json_t *value)
{
    (void)json_object_set_new(object, key, value);
}

/* What a rank waited for each other one. */
static json_t *waits_json(const struct ranks *ranks, const struct rank *rank)
{
    json_t *list = json_array();
    for (size_t i = 0; i < ranks->count; ++i)
        if (rank->waits_steps[i])
            (void)json_array_append_new(list,
                                        json_pack("{s:o, s:o, s:o}", "process",
                                                  open_number(ranks->list[i].process->process),
                                                  "steps", open_number(rank->waits_steps[i]), "ns",
                                                  open_number(rank->waits[i])));
    return list;
}

static json_t *rank_json(const struct ranks *ranks, struct rank *rank)
{
    const rtl_process_t *process = rank->process;
    json_t *object = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "rank", open_text(process->rank),
        "process", open_number(process->process), "pid", open_number(process->pid), "host",
        open_text(process->host), "steps", open_number(rank->count), "first_step",
        open_number(rank->first + 1), "p50_ns", open_number(stats_quantile(&rank->duration, 500)),
        "p90_ns", open_number(stats_quantile(&rank->duration, 900)), "p99_ns",
        open_number(stats_quantile(&rank->duration, 990)), "total_ns",
        open_number(rank->duration.total), "slowest", open_number(rank->slowest));
    bool told = ranks->collectives;
    set(object, "collective_ns", told ? open_number(rank->collective) : json_null());
    set(object, "exposed_ns", told ? open_number(rank->exposed) : json_null());
    set(object, "waited_ns", told ? open_number(rank->waited) : json_null());
    set(object, "waited_for_host_ns", told ? open_number(rank->waited_for_host) : json_null());
    set(object, "made_wait_ns", told ? open_number(rank->made_wait) : json_null());
    set(object, "waits", told ? waits_json(ranks, rank) : json_null());
    return object;
}

static json_t *step_json(const struct ranks *ranks, size_t step)
{
    const struct ranks_step *judged = &ranks->steps[step];
    json_t *list = json_array();
    for (size_t i = 0; i < ranks->count; ++i) {
        const struct rank_step *own = &ranks->list[i].steps[ranks->list[i].first + step];
        (void)json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o, s:o}", "process",
                                                    open_number(ranks->list[i].process->process),
                                                    "start_ns", open_number(own->begin), "end_ns",
                                                    open_number(own->end), "collective_ns",
                                                    open_number(own->collective), "exposed_ns",
                                                    open_number(own->exposed)));
    }
    return json_pack(
        "{s:o, s:o, s:o, s:o}", "step", open_number(ranks->before + step + 1), "slowest",
        judged->slowest == RANKS_NONE ? json_null()
                                      : open_number(ranks->list[judged->slowest].process->process),
        "waited_ns", ranks->collectives ? open_number(judged->waited) : json_null(), "ranks", list);
}

static json_t *hosts_json(const struct ranks *ranks)
{
    json_t *list = json_array();
    for (size_t i = 0; i < ranks->hosts; ++i) {
        const struct ranks_host *host = &ranks->host_list[i];
        json_t *object = json_pack("{s:o, s:o, s:o, s:o}", "host", open_text(host->name), "ranks",
                                   open_number(host->ranks), "total_ns", open_number(host->total),
                                   "slowest", open_number(host->slowest));
        const struct {
            const char *key;
            uint64_t ns;
        } times[] = {{"collective_ns", host->collective},
                     {"exposed_ns", host->exposed},
                     {"waited_ns", host->waited},
                     {"waited_for_host_ns", host->waited_for_host},
                     {"made_wait_ns", host->made_wait}};
        for (size_t k = 0; k < sizeof times / sizeof times[0]; ++k)
            set(object, times[k].key, ranks->collectives ? open_number(times[k].ns) : json_null());
        (void)json_array_append_new(list, object);
    }
    return list;
}

int ranks_show_json(const struct ranks_view *view)
{
    const struct ranks *ranks = view->ranks;
    json_t *list = json_array();
    for (size_t i = 0; i < ranks->count; ++i)
        (void)json_array_append_new(list, rank_json(ranks, &ranks->list[i]));
    json_t *object = json_pack(
        "{s:o, s:s, s:o, s:b, s:b, s:b, s:o, s:o, s:o, s:o}", "file", open_text(view->path), "by",
        ranks->by_steps ? steps_by_name(ranks->by) : "collective", "steps",
        open_number(ranks->step_count), "collectives", ranks->collectives, "by_number",
        ranks->by_number, "labelled", ranks->labelled, "unlike_steps", open_number(ranks->unlike),
        "processes_left_out", open_number(ranks->without), "ranks", list, "filter",
        selection_json(view->selection, ranks->step_count, ranks->all, "step"));
    set(object, "hosts_error_ns",
        ranks->hosts_error >= 0 ? open_number((uint64_t)ranks->hosts_error) : json_null());
    set(object, "hosts", hosts_json(ranks));
    if (view->list) {
        json_t *steps = json_array();
        for (size_t i = 0; i < ranks->step_count; ++i)
            (void)json_array_append_new(steps, step_json(ranks, i));
        set(object, "each_step", steps);
    }
    return open_print_json(object, 0);
}

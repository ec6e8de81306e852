#include "analysis/ranks_json.h"

#include "common/open.h"

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

json_t *ranks_json_rank(const struct ranks *ranks, struct rank *rank)
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

json_t *ranks_json_hosts(const struct ranks *ranks)
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

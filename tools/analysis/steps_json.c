#include "analysis/steps_json.h"

#include "analysis/trend.h"
#include "common/memory.h"
#include "common/open.h"

#include <stdlib.h>

static const char *const activity_keys[ACTIVITIES] = {"graphs_ns", "eager_ns", "copies_ns",
                                                      "idle_ns"};

static void set(json_t *object, const char *key, json_t *value)
{
    (void)json_object_set_new(object, key, value);
}

static json_t *json_stats(struct stats *stats)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "total", open_number(stats->total), "min",
                     open_number(stats->min), "p50", open_number(stats_quantile(stats, 500)), "p90",
                     open_number(stats_quantile(stats, 900)), "p99",
                     open_number(stats_quantile(stats, 990)), "max", open_number(stats->max));
}

static json_t *json_idle(const struct idle_causes *causes, const struct idle_times *idle)
{
    size_t *order = memory_new(idle->count, sizeof *order);
    size_t count = idle_order(idle, order);
    json_t *array = json_array();
    for (size_t i = 0; i < count; ++i)
        (void)json_array_append_new(array, idle_json(causes, idle, order[i]));
    free(order);
    return array;
}

static json_t *json_families(const struct family_times *times)
{
    json_t *array = json_array();
    for (size_t i = 0; i < times->count && times->list[i].kernels; ++i)
        (void)json_array_append_new(array, json_pack("{s:o, s:o, s:o}", "family",
                                                     open_text(times->list[i].family), "ns",
                                                     open_number(times->list[i].ns), "kernels",
                                                     open_number(times->list[i].kernels)));
    return array;
}

json_t *steps_phase_json(const struct idle_causes *causes, struct phase *phase, size_t number)
{
    json_t *object =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "phase", open_number(number),
                  "what", open_text(phase->name), "steps", open_number(phase->steps), "launches",
                  open_number(phase->launches), "kernels_in_graphs", open_number(phase->in_graphs),
                  "eager_kernels", open_number(phase->eager), "copies", open_number(phase->copies),
                  "host_calls", open_number(phase->calls), "step_ns", json_stats(&phase->duration));
    for (unsigned kind = 0; kind < ACTIVITIES; ++kind)
        set(object, activity_keys[kind], json_stats(&phase->time[kind]));
    set(object, "steps_per_s", json_real(steps_rate(phase)));
    set(object, "trend", trend_json(&phase->trend));
    set(object, "idle", json_idle(causes, &phase->idle));
    set(object, "families", json_families(&phase->families));
    return object;
}

json_t *steps_outside_json(const struct idle_causes *causes, const struct steps_thread *thread)
{
    static const char *const keys[OUTSIDES] = {"before", "between", "behind"};
    json_t *object = json_object();
    for (unsigned where = 0; where < OUTSIDES; ++where) {
        const struct outside_steps *outside = &thread->outside[where];
        json_t *part = json_pack(
            "{s:o, s:o, s:o}", "kernels_in_graphs", open_number(outside->in_graphs),
            "eager_kernels", open_number(outside->eager), "copies", open_number(outside->copies));
        for (unsigned kind = 0; kind < ACTIVITIES; ++kind)
            set(part, activity_keys[kind], open_number(outside->time[kind]));
        set(part, "idle", json_idle(causes, &outside->idle));
        set(object, keys[where], part);
    }
    set(object, "launches", open_number(thread->launches_outside));
    return object;
}

const char *steps_activity_key(enum activity kind)
{
    return activity_keys[kind];
}

const char *steps_by_name(enum steps_by by)
{
    static const char *const names[] = {[STEPS_BY_AUTO] = "auto",
                                        [STEPS_BY_LAUNCHES] = "launches",
                                        [STEPS_BY_GRAPH] = "graph",
                                        [STEPS_BY_RANGE] = "range",
                                        [STEPS_BY_KERNELS] = "kernels"};
    return names[by];
}

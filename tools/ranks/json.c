/* rtl ranks: the JSON. */
#include "ranks/view.h"

#include "analysis/ranks_json.h"
#include "analysis/steps_json.h"
#include "common/open.h"

#include <string.h>

static void set(json_t *object, const char *key, json_t *value)
{
    (void)json_object_set_new(object, key, value);
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

int ranks_show_json(const struct ranks_view *view)
{
    const struct ranks *ranks = view->ranks;
    json_t *list = json_array();
    for (size_t i = 0; i < ranks->count; ++i)
        (void)json_array_append_new(list, ranks_json_rank(ranks, &ranks->list[i]));
    json_t *object = json_pack(
        "{s:o, s:s, s:o, s:b, s:b, s:b, s:o, s:o, s:o, s:o}", "file", open_text(view->path), "by",
        ranks->by_steps ? steps_by_name(ranks->by) : "collective", "steps",
        open_number(ranks->step_count), "collectives", ranks->collectives, "by_number",
        ranks->by_number, "labelled", ranks->labelled, "unlike_steps", open_number(ranks->unlike),
        "processes_left_out", open_number(ranks->without), "ranks", list, "filter",
        selection_json(view->selection, ranks->step_count, ranks->all, "step"));
    set(object, "hosts_error_ns",
        ranks->hosts_error >= 0 ? open_number((uint64_t)ranks->hosts_error) : json_null());
    set(object, "hosts", ranks_json_hosts(ranks));
    if (view->list) {
        json_t *steps = json_array();
        for (size_t i = 0; i < ranks->step_count; ++i)
            (void)json_array_append_new(steps, step_json(ranks, i));
        set(object, "each_step", steps);
    }
    return open_print_json(object, 0);
}

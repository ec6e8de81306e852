/* rtl steps: the JSON. */
#include "analysis/steps_json.h"
#include "common/command.h"
#include "common/open.h"
#include "steps/view.h"

static void set(json_t *object, const char *key, json_t *value)
{
    (void)json_object_set_new(object, key, value);
}

static json_t *json_step(const struct step *step, size_t first_phase)
{
    json_t *object = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "phase",
        open_number(first_phase + step->phase + 1), "start_ns", open_number(step->begin), "end_ns",
        open_number(step->end), "launches", open_number(step->launches), "kernels_in_graphs",
        open_number(step->in_graphs), "eager_kernels", open_number(step->eager), "copies",
        open_number(step->copies), "host_calls", open_number(step->calls));
    for (unsigned kind = 0; kind < ACTIVITIES; ++kind)
        set(object, steps_activity_key(kind), open_number(step->time[kind]));
    return object;
}

static json_t *json_thread(const struct steps_view *view, size_t at, size_t first_phase)
{
    struct steps_thread *thread = &view->steps->threads[at];
    json_t *phases = json_array();
    for (size_t i = 0; i < thread->phase_count; ++i)
        if (steps_shows_phase(view, at, i))
            (void)json_array_append_new(phases,
                                        steps_phase_json(&view->steps->causes[at],
                                                         &thread->phases[i], first_phase + i + 1));
    json_t *object = json_pack(
        "{s:o, s:o, s:s, s:o, s:o}", "process", open_id(thread->process), "thread",
        thread->thread ? open_id(thread->thread) : json_null(), "by", steps_by_name(thread->by),
        "phases", phases, "outside",
        steps_is_part(view) ? json_null() : steps_outside_json(&view->steps->causes[at], thread));
    if (view->list) {
        json_t *steps = json_array();
        for (size_t i = 0; i < thread->count; ++i)
            if (steps_shows_step(view, at, &thread->steps[i]))
                (void)json_array_append_new(steps, json_step(&thread->steps[i], first_phase));
        set(object, "steps", steps);
    }
    return object;
}

int steps_show_json(const struct steps_view *view)
{
    const struct steps *steps = view->steps;
    json_t *threads = json_array();
    size_t phases = 0;
    for (size_t i = 0; i < steps->count; ++i) {
        (void)json_array_append_new(threads, json_thread(view, i, phases));
        phases += steps->threads[i].phase_count;
    }
    json_t *object = json_pack("{s:o, s:s, s:o, s:o, s:o}", "file", open_text(view->path), "by",
                               steps_by_name(steps->by), "ranges_without_kernels",
                               open_number(steps->without_work), "launches_without_kernels",
                               open_number(steps->without_kernels), "threads", threads);
    set(object, "filter",
        selection_json(view->selection, steps_shown(view), steps_all(view), "step"));
    set(object, "graphs_told", json_boolean(!steps->untold));
    set(object, "absent", absent_json(&steps->absent));
    if (steps->kernels_in_blocks) {
        set(object, "eager_kernels", open_number(steps->kernels));
        set(object, "eager_kernels_in_blocks", open_number(steps->kernels_in_blocks));
    }
    return open_print_json(object, EXIT_FINE);
}

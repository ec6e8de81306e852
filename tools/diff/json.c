#include "common/open.h"

#include "common/command.h"
#include "diff/view.h"

#include <math.h>

static const char *const part_keys[ACTIVITIES] = {"graphs", "eager", "copies", "idle"};
static const char *const count_keys[DIFF_COUNTS] = {"launches", "kernels_in_graphs",
                                                    "eager_kernels", "copies", "host_calls"};
static const char *const side_keys[] = {"a", "b"};
static const char *const run_keys[] = {"a_runs", "b_runs"};

/* What a run has of a thing; null if it has nothing of it. */
typedef json_t *(*of_run)(const struct diff *diff, const void *thing, size_t run);

/* Puts "a_runs" and "b_runs" into an object. */
static void add_runs(const struct diff *diff, json_t *object, of_run value, const void *thing)
{
    for (unsigned side = 0; side < 2; ++side) {
        json_t *list = json_array();
        for (size_t run = diff->runs.begin[side]; run < diff->runs.begin[side + 1]; ++run)
            (void)json_array_append_new(list, value(diff, thing, run));
        (void)json_object_set_new(object, run_keys[side], list);
    }
}

/* Durations of the runs from `begin` on together; the p50 is the mean of theirs. */
static json_t *json_times(struct stats *const *time, size_t begin, size_t end)
{
    uint64_t count = 0;
    uint64_t total = 0;
    uint64_t min = UINT64_MAX;
    uint64_t max = 0;
    double p50 = 0;
    size_t runs = 0;
    for (size_t run = begin; run < end; ++run) {
        if (!time[run] || time[run]->count == 0)
            continue;
        count += time[run]->count;
        total += time[run]->total;
        min = time[run]->min < min ? time[run]->min : min;
        max = time[run]->max > max ? time[run]->max : max;
        p50 += (double)stats_quantile(time[run], 500);
        ++runs;
    }
    if (runs == 0)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:f}", "count", open_number(count), "total_ns",
                     open_number(total), "p50_ns",
                     open_number((uint64_t)llround(p50 / (double)runs)), "min_ns", open_number(min),
                     "max_ns", open_number(max), "mean_ns", (double)total / (double)count);
}

static json_t *json_side(const struct diff *diff, struct stats *const *time, unsigned side)
{
    return json_times(time, diff->runs.begin[side], diff->runs.begin[side + 1]);
}

static void add_comparison(json_t *object, const struct comparison *one)
{
    bool told = one && one->verdict != COMPARE_TOO_FEW;
    (void)json_object_set_new(object, "difference_ns",
                              one ? json_real(one->difference) : json_null());
    (void)json_object_set_new(object, "low_ns", told ? json_real(one->low) : json_null());
    (void)json_object_set_new(object, "high_ns", told ? json_real(one->high) : json_null());
    (void)json_object_set_new(object, "p", told ? json_real(one->p) : json_null());
}

static const char *verdict_of(const bool in[2], const struct comparison *comparison)
{
    return !in[1] ? "gone" : !in[0] ? "new" : compare_name(comparison->verdict);
}

/* Kernels. */

static json_t *kernel_of_run(const struct diff *diff, const void *thing, size_t run)
{
    (void)diff;
    return json_times(((const struct diff_kernel *)thing)->time, run, run + 1);
}

static json_t *json_kernels(const struct diff *diff)
{
    json_t *list = json_array();
    for (size_t i = 0; i < diff->kernels.count; ++i) {
        const struct diff_kernel *kernel = &diff->kernels.list[i];
        json_t *object =
            json_pack("{s:o, s:s}", "name", open_text(diff->kernels.names.list[kernel->name]),
                      "verdict", diff_kernel_verdict(kernel));
        for (unsigned side = 0; side < 2; ++side)
            (void)json_object_set_new(object, side_keys[side], json_side(diff, kernel->time, side));
        add_comparison(object, diff_kernel_in_both(kernel) ? &kernel->comparison : NULL);
        add_runs(diff, object, kernel_of_run, kernel);
        (void)json_array_append_new(list, object);
    }
    return list;
}

/* Graphs. */

static json_t *json_graph(const struct diff_graph *graph, size_t begin, size_t end)
{
    const rtl_graph_t *row = NULL;
    uint64_t launches = 0;
    for (size_t run = begin; run < end; ++run) {
        row = row ? row : graph->graph[run];
        launches += graph->launches[run];
    }
    if (!row)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "process", open_id(row->process), "graph",
                     open_id(row->graph), "nodes", open_id(row->nodes), "launches",
                     open_number(launches), "time", json_times(graph->time, begin, end));
}

static json_t *graph_of_run(const struct diff *diff, const void *thing, size_t run)
{
    (void)diff;
    return json_graph(thing, run, run + 1);
}

static json_t *json_graphs(const struct diff *diff)
{
    const size_t *begin = diff->runs.begin;
    json_t *list = json_array();
    for (size_t i = 0; i < diff->graphs.count; ++i) {
        const struct diff_graph *graph = &diff->graphs.list[i];
        json_t *object = json_pack(
            "{s:s, s:o, s:o}", "verdict", verdict_of(graph->in, &graph->comparison), "a",
            json_graph(graph, begin[0], begin[1]), "b", json_graph(graph, begin[1], begin[2]));
        const struct places_diff *places = diff_places_of(&diff->places, graph);
        add_comparison(object, graph->timed ? &graph->comparison : NULL);
        add_runs(diff, object, graph_of_run, graph);
        (void)json_object_set_new(object, "layers",
                                  places ? places_diff_json(places) : json_null());
        (void)json_array_append_new(list, object);
    }
    return list;
}

/* Steps. */

/* A phase of the runs from `begin` on: sums, and the first one's names. */
static json_t *json_phase(const struct diff *diff, const struct diff_phase *row, size_t begin,
                          size_t end)
{
    struct stats *time[2 * DIFF_MOST_RUNS];
    const struct steps_thread *thread = NULL;
    struct phase sum = {0};
    for (size_t run = begin; run < end; ++run) {
        const struct phase *phase = row->phase[run];
        if (!phase)
            continue;
        thread = thread ? thread : row->thread[run];
        sum.name = sum.name ? sum.name : phase->name;
        sum.steps += phase->steps;
        sum.launches += phase->launches;
        sum.eager += phase->eager;
        sum.copies += phase->copies;
        sum.calls += phase->calls;
    }
    if (!thread)
        return json_null();
    diff_phase_times(&diff->runs, row, time);
    json_t *object = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "process", open_id(thread->process),
        "thread", thread->thread ? open_id(thread->thread) : json_null(), "what",
        open_text(sum.name), "steps", open_number(sum.steps), "launches", open_number(sum.launches),
        "eager_kernels", open_number(sum.eager), "copies", open_number(sum.copies), "host_calls",
        open_number(sum.calls), "time", json_times(time, begin, end));
    json_t *parts = json_object();
    for (enum activity kind = ACTIVITY_GRAPH; kind < ACTIVITIES; ++kind) {
        diff_phase_part(&diff->runs, row, kind, time);
        (void)json_object_set_new(parts, part_keys[kind], json_times(time, begin, end));
    }
    (void)json_object_set_new(object, "parts", parts);
    return object;
}

static json_t *phase_of_run(const struct diff *diff, const void *thing, size_t run)
{
    return json_phase(diff, thing, run, run + 1);
}

static json_t *json_parts(const struct diff_phase *row)
{
    json_t *parts = json_object();
    for (enum activity kind = ACTIVITY_GRAPH; kind < ACTIVITIES; ++kind) {
        json_t *part = json_pack("{s:s}", "verdict", compare_name(row->parts[kind].verdict));
        add_comparison(part, &row->parts[kind]);
        (void)json_object_set_new(parts, part_keys[kind], part);
    }
    return parts;
}

/* What a step has of each, and whether it is another number. */
static json_t *json_counts(const struct diff *diff, const struct diff_phase *row)
{
    json_t *counts = json_object();
    for (enum diff_count what = DIFF_LAUNCHES; what < DIFF_COUNTS; ++what)
        (void)json_object_set_new(counts, count_keys[what],
                                  json_pack("{s:f, s:f, s:b}", "a", row->counts[what].a, "b",
                                            row->counts[what].b, "differs",
                                            diff_phase_other_count(&diff->runs, row, what)));
    return counts;
}

static json_t *json_steps(const struct diff *diff)
{
    const size_t *begin = diff->runs.begin;
    json_t *list = json_array();
    for (size_t i = 0; i < diff->steps.count; ++i) {
        const struct diff_phase *row = &diff->steps.list[i];
        bool both = row->in[0] && row->in[1];
        json_t *object = json_pack(
            "{s:s, s:b, s:o, s:o}", "verdict", verdict_of(row->in, &row->step), "other_kernels",
            row->other_kernels, "a", json_phase(diff, row, begin[0], begin[1]), "b",
            json_phase(diff, row, begin[1], begin[2]));
        add_comparison(object, both ? &row->step : NULL);
        (void)json_object_set_new(object, "parts", both ? json_parts(row) : json_null());
        (void)json_object_set_new(object, "counts", both ? json_counts(diff, row) : json_null());
        add_runs(diff, object, phase_of_run, row);
        (void)json_array_append_new(list, object);
    }
    return list;
}

/* Families. */

static json_t *family_of_run(const struct diff *diff, const void *thing, size_t run)
{
    const struct diff_family *family = thing;
    (void)diff;
    if (family->total[run] <= 0)
        return json_null();
    return json_pack(
        "{s:o, s:o}", "total_ns", open_number((uint64_t)family->total[run]), "step_p50_ns",
        family->time[run] ? open_number(stats_quantile(family->time[run], 500)) : json_null());
}

static json_t *json_families(const struct diff *diff)
{
    json_t *list = json_array();
    for (size_t i = 0; i < diff->families.count; ++i) {
        const struct diff_family *family = &diff->families.list[i];
        json_t *object = json_pack(
            "{s:o, s:o, s:s}", "family", open_text(family->family), "of",
            family->phase ? open_text(diff_phase_first(&diff->runs, family->phase, 0)->name)
                          : json_null(),
            "verdict", verdict_of(family->in, &family->comparison));
        for (unsigned side = 0; side < 2; ++side)
            (void)json_object_set_new(object, side ? "b_ns" : "a_ns",
                                      family->in[side] ? json_real(family->value[side])
                                                       : json_null());
        add_comparison(object, family->in[0] && family->in[1] ? &family->comparison : NULL);
        add_runs(diff, object, family_of_run, family);
        (void)json_array_append_new(list, object);
    }
    return list;
}

/* The whole. */

static json_t *file_of_run(const struct diff *diff, const void *thing, size_t run)
{
    (void)thing;
    return open_text(diff->runs.paths[run]);
}

static json_t *sum_of_side(double a_run, size_t runs)
{
    return open_number((uint64_t)llround(a_run * (double)runs));
}

/* By run, those of the first side first. */
static json_t *json_absent(const struct diff *diff)
{
    json_t *list = json_array();
    for (size_t i = 0; i < diff_runs_all(&diff->runs); ++i)
        (void)json_array_append_new(list, absent_json(&diff->absent[i]));
    return list;
}

/* What rtl check says of each run, in the same order. */
static void add_whole(const struct diff *diff, json_t *object)
{
    json_t *complete = json_array();
    json_t *lines = json_array();
    for (size_t i = 0; i < diff_runs_all(&diff->runs); ++i) {
        (void)json_array_append_new(complete, json_boolean(diff->whole[i].complete));
        (void)json_array_append_new(lines, open_text(diff->whole[i].line));
    }
    (void)json_object_set_new(object, "complete", complete);
    (void)json_object_set_new(object, "completeness", lines);
}

int diff_show_json(const struct diff *diff)
{
    const struct diff_runs *runs = &diff->runs;
    const struct diff_kernels *kernels = &diff->kernels;
    size_t a = diff_runs_of(runs, 0);
    size_t b = diff_runs_of(runs, 1);
    json_t *object = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "a", open_text(runs->paths[0]), "b",
        open_text(runs->paths[runs->begin[1]]), "a_kernel_ns", sum_of_side(kernels->total[0], a),
        "b_kernel_ns", sum_of_side(kernels->total[1], b), "a_kernel_count",
        sum_of_side(kernels->calls[0], a), "b_kernel_count", sum_of_side(kernels->calls[1], b),
        "kernels", json_kernels(diff), "graphs", json_graphs(diff), "steps", json_steps(diff),
        "families", json_families(diff));
    (void)json_object_set_new(object, "kernel_ns_verdict",
                              json_string(compare_name(kernels->compared_totals.verdict)));
    add_whole(diff, object);
    (void)json_object_set_new(object, "absent", json_absent(diff));
    add_runs(diff, object, file_of_run, NULL);
    return open_print_json(object, EXIT_FINE);
}

/* rtl diff: the kernels and graphs of two traces. */
#include "analysis/compare.h"
#include "analysis/graph_id.h"
#include "common/command.h"
#include "common/memory.h"
#include "common/open.h"
#include "common/parse.h"
#include "common/plain.h"
#include "common/say.h"
#include "common/show.h"
#include "common/table.h"
#include "common/texts.h"
#include "diff/graphs.h"
#include "diff/steps.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TOP_DEFAULT  20u
#define LEAST_CHANGE 0.25 /* of counts a step: less is a call on the border of a step */

/* What --fail-if is about. */
enum limited { LIMIT_STEPS, LIMIT_GRAPHS, LIMIT_KERNELS, LIMITS };

static const char *const limit_names[LIMITS] = {"steps", "graphs", "kernels"};

struct limit {
    bool given;
    double percent;
};

struct options {
    const char *paths[2];
    unsigned path_count, top;
    struct limit limits[LIMITS];
    bool all, wide, json;
};

/* The kernels of one name in both traces. */
struct kernel {
    size_t name; /* number of it */
    struct stats time[2];
    struct comparison comparison;
};

struct diff {
    const struct options *options;
    rtl_trace_t *traces[2];
    struct texts names;
    struct kernel *kernels; /* the largest change of the total first, once all are read */
    size_t count, capacity;
    uint64_t total[2], calls[2];
    struct diff_graphs graphs;
    struct diff_steps steps;
};

static struct kernel *kernel_of(struct diff *diff, const char *name)
{
    size_t number = texts_number(&diff->names, name);
    if (number == TEXTS_NONE)
        memory_is_short();
    if (number >= diff->capacity) {
        size_t before = diff->capacity;
        diff->capacity = before ? 2 * before : 64;
        diff->kernels = memory_grown(diff->kernels, diff->capacity, sizeof *diff->kernels);
        memset(diff->kernels + before, 0, (diff->capacity - before) * sizeof *diff->kernels);
    }
    diff->count = number >= diff->count ? number + 1 : diff->count;
    diff->kernels[number].name = number;
    return &diff->kernels[number];
}

static rtl_status_t read_kernels(struct diff *diff, unsigned side)
{
    rtl_kernel_filter_t all = RTL_KERNEL_FILTER_ALL;
    rtl_kernel_iter_t *iter;
    rtl_kernel_t kernel;
    const char *last = NULL; /* names are the trace's, one for each kernel function */
    struct kernel *found = NULL;
    rtl_status_t status = rtlTraceKernels(diff->traces[side], &all, &iter);
    if (status != RTL_OK)
        return status;
    while ((status = rtlKernelNext(iter, &kernel)) == RTL_OK) {
        if (kernel.name != last)
            found = kernel_of(diff, kernel.name);
        last = kernel.name;
        uint64_t ns = kernel.end > kernel.start ? kernel.end - kernel.start : 0;
        stats_add(&found->time[side], ns);
        diff->total[side] += ns;
        ++diff->calls[side];
    }
    rtlKernelIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

static double change_of_total(const struct kernel *kernel)
{
    return (double)kernel->time[1].total - (double)kernel->time[0].total;
}

static int by_change(const void *left, const void *right)
{
    const struct kernel *a = left;
    const struct kernel *b = right;
    double x = fabs(change_of_total(a));
    double y = fabs(change_of_total(b));
    if (x != y)
        return x < y ? 1 : -1;
    return (a->name > b->name) - (a->name < b->name);
}

static bool in_both(const struct kernel *kernel)
{
    return kernel->time[0].count && kernel->time[1].count;
}

static void compare_kernels(struct diff *diff)
{
    struct comparison **family = memory_new(diff->count, sizeof(struct comparison *));
    size_t count = 0;
    if (diff->count)
        qsort(diff->kernels, diff->count, sizeof *diff->kernels, by_change);
    for (size_t i = 0; i < diff->count; ++i) {
        struct kernel *kernel = &diff->kernels[i];
        if (!in_both(kernel))
            continue;
        compare(&kernel->time[0], &kernel->time[1], &kernel->comparison);
        family[count++] = &kernel->comparison;
    }
    compare_family(family, count);
    free(family);
}

/* Text. */

static const char *what(const struct kernel *kernel)
{
    if (!kernel->time[0].count)
        return "new";
    return kernel->time[1].count ? compare_name(kernel->comparison.verdict) : "gone";
}

static bool differs(const struct kernel *kernel)
{
    enum compare_verdict verdict = kernel->comparison.verdict;
    return !in_both(kernel) || kernel->time[0].count != kernel->time[1].count ||
           verdict == COMPARE_SLOWER || verdict == COMPARE_FASTER;
}

static double part(double value, double whole)
{
    return whole > 0 ? 100 * value / whole : 0;
}

static void show_head(const struct diff *diff)
{
    size_t sums[5] = {0}; /* slower, faster, count, gone, new */
    for (size_t i = 0; i < diff->count; ++i) {
        const struct kernel *kernel = &diff->kernels[i];
        sums[0] += in_both(kernel) && kernel->comparison.verdict == COMPARE_SLOWER;
        sums[1] += in_both(kernel) && kernel->comparison.verdict == COMPARE_FASTER;
        sums[2] += in_both(kernel) && kernel->time[0].count != kernel->time[1].count;
        sums[3] += kernel->time[1].count == 0;
        sums[4] += kernel->time[0].count == 0;
    }
    show_styled(stdout, SHOW_BOLD, diff->options->paths[0]);
    (void)printf(", then ");
    show_styled(stdout, SHOW_BOLD, diff->options->paths[1]);
    (void)printf("\n  kernels took %s, then %s", show_duration((double)diff->total[0]).text,
                 show_duration((double)diff->total[1]).text);
    if (diff->total[0])
        (void)printf(" (%+.1f %%)",
                     part((double)diff->total[1] - (double)diff->total[0], (double)diff->total[0]));
    (void)printf("\n  there were %s, then %s\n", show_count(diff->calls[0]).text,
                 show_count(diff->calls[1]).text);
    (void)printf("  kernel functions: %zu slower, %zu faster, %zu with another count, %zu gone, "
                 "%zu new\n",
                 sums[0], sums[1], sums[2], sums[3], sums[4]);
}

static void cell_change(struct table *table, const struct comparison *one)
{
    char text[48];
    (void)snprintf(text, sizeof text, "%+.1f %%", part(one->difference, one->a));
    table_cell(table, text);
    (void)snprintf(text, sizeof text, "%.1f %%", part(one->high - one->difference, one->a));
    table_cell(table, one->verdict == COMPARE_TOO_FEW ? "few" : text);
}

static void show_kernel(const struct diff *diff, struct table *table, struct kernel *kernel)
{
    char text[64];
    double change = change_of_total(kernel);
    struct stats *shown = &kernel->time[kernel->time[0].count == 0];
    (void)snprintf(text, sizeof text, "%c%s", change < 0 ? '-' : '+',
                   show_duration(fabs(change)).text);
    table_cell(table, text);
    table_cell(table, show_count(kernel->time[0].count).text);
    table_cell(table, show_count(kernel->time[1].count).text);
    table_cell(table, show_duration((double)stats_quantile(shown, 500)).text);
    if (in_both(kernel)) {
        cell_change(table, &kernel->comparison);
    } else {
        table_cell(table, what(kernel));
        table_cell(table, "");
    }
    table_cell(table, diff->names.list[kernel->name]);
}

static void show_kernels(const struct diff *diff)
{
    static const char *const heading[] = {"total",  "calls", "then",  "p50",
                                          "change", "+-",    "kernel"};
    unsigned top = diff->options->top;
    size_t different = 0;
    for (size_t i = 0; i < diff->count; ++i)
        different += diff->options->all || differs(&diff->kernels[i]);
    if (different == 0)
        return;
    (void)putchar('\n');
    struct table *table = table_new("rrrrrrn");
    table_wide(table, diff->options->wide);
    for (size_t i = 0; i < sizeof heading / sizeof heading[0]; ++i)
        table_cell(table, heading[i]);
    for (size_t i = 0, shown = 0; i < diff->count && (!top || shown < top); ++i) {
        if (!diff->options->all && !differs(&diff->kernels[i]))
            continue;
        show_kernel(diff, table, &diff->kernels[i]);
        ++shown;
    }
    table_print(table, stdout);
    if (top && different > top)
        (void)printf("  and %zu more (--top 0)\n", different - top);
    (void)printf("  change: of the p50, which is the first trace's; +-: 95 %% confidence\n");
}

static void show_graph(const struct diff *diff, struct table *table, struct diff_graph *graph)
{
    unsigned side = graph->graph[0] == NULL;
    uint32_t nodes = graph->graph[side] ? graph->graph[side]->nodes : RTL_TRACE_NONE;
    struct stats *time = &graph->time[side];
    for (unsigned i = 0; i < 2; ++i)
        table_cell(table, graph->graph[i] ? graph_id_name(diff->traces[i], graph->graph[i]->process,
                                                          graph->graph[i]->graph)
                                                .text
                                          : "-");
    table_cell(table, nodes == RTL_TRACE_NONE ? "?" : show_count(nodes).text);
    table_cell(table, show_count(graph->launches[0]).text);
    table_cell(table, show_count(graph->launches[1]).text);
    table_cell(table, time->count ? show_duration((double)stats_quantile(time, 500)).text : "-");
    if (graph->time[0].count && graph->time[1].count) {
        cell_change(table, &graph->comparison);
        table_cell(table, compare_name(graph->comparison.verdict));
    } else {
        bool both = graph->graph[0] && graph->graph[1];
        table_cell(table, "");
        table_cell(table, "");
        table_cell(table, both ? "too few" : graph->graph[0] ? "gone" : "new");
    }
}

static void show_graphs(const struct diff *diff)
{
    static const char *const heading[] = {"graph", "then",   "nodes", "launches", "then",
                                          "p50",   "change", "+-",    "what"};
    unsigned top = diff->options->top;
    if (diff->graphs.count == 0)
        return;
    (void)putchar('\n');
    struct table *table = table_new("rrrrrrrrl");
    for (size_t i = 0; i < sizeof heading / sizeof heading[0]; ++i)
        table_cell(table, heading[i]);
    for (size_t i = 0; i < diff->graphs.count && (!top || i < top); ++i)
        show_graph(diff, table, &diff->graphs.list[i]);
    table_print(table, stdout);
    if (top && diff->graphs.count > top)
        (void)printf("  and %zu more (--top 0)\n", diff->graphs.count - top);
    (void)printf("  node by node: rtl graph diff %s %s GRAPH GRAPH\n",
                 plain(diff->options->paths[0]), plain(diff->options->paths[1]));
}

static const char *verdict_of(const struct comparison *comparison)
{
    return comparison->verdict == COMPARE_ALIKE && comparison->difference != 0
               ? "not told apart"
               : compare_name(comparison->verdict);
}

/* A phase, or a part of its steps; what it is called stands last. */
static void show_durations(struct table *table, struct stats *time[2],
                           const struct comparison *comparison, const char *verdict,
                           const char *name)
{
    for (unsigned side = 0; side < 2; ++side)
        table_cell(table,
                   time[side] ? show_duration((double)stats_quantile(time[side], 500)).text : "-");
    if (comparison) {
        cell_change(table, comparison);
    } else {
        table_cell(table, "");
        table_cell(table, "");
    }
    table_cell(table, verdict);
    table_cell(table, name);
}

static void show_parts(struct table *table, struct diff_phase *row)
{
    for (enum activity kind = ACTIVITY_GRAPH; kind < ACTIVITIES; ++kind) {
        struct stats *time[2] = {&row->phase[0]->time[kind], &row->phase[1]->time[kind]};
        char name[32];
        if (time[0]->total == 0 && time[1]->total == 0)
            continue;
        (void)snprintf(name, sizeof name, "  %s", activity_label(kind));
        table_cell(table, "");
        table_cell(table, "");
        show_durations(table, time, &row->parts[kind], verdict_of(&row->parts[kind]), name);
    }
}

/* "graph 3", where a trace has several processes or threads with steps "process 1: graph 3"; and
 * what it is then, if that is something else. The caller frees it. */
static char *name_phase(const struct diff *diff, const struct diff_phase *row)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        memory_is_short();
    for (unsigned side = 0; side < 2; ++side) {
        const struct phase *phase = row->phase[side];
        if (!phase || (side == 1 && row->phase[0] && !row->other_kernels))
            continue;
        if (side == 1 && row->phase[0])
            (void)fputs(", then other kernels: ", out);
        if (diff->steps.steps[side].count > 1)
            (void)fprintf(out, "process %" PRIu32 ": ", row->thread[side]->process);
        (void)fputs(phase->name, out);
    }
    if (fclose(out) != 0)
        memory_is_short();
    return text;
}

/* Of a phase that is in both, its parts stand below it. */
static void show_phase(const struct diff *diff, struct table *table, struct diff_phase *row)
{
    char *name = name_phase(diff, row);
    bool both = row->phase[0] && row->phase[1];
    struct stats *time[2];
    for (unsigned side = 0; side < 2; ++side) {
        struct phase *phase = row->phase[side];
        time[side] = phase ? &phase->duration : NULL;
        table_cell(table, phase ? show_count(phase->steps).text : "-");
    }
    show_durations(table, time, both ? &row->step : NULL,
                   both            ? verdict_of(&row->step)
                   : row->phase[0] ? "gone"
                                   : "new",
                   name);
    if (both)
        show_parts(table, row);
    free(name);
}

/* What a step has more or less of: one synchronization more, say. */
static void show_counts(const struct diff_phase *row)
{
    static const char *const things[] = {"launches of graphs", "kernels in graphs", "eager kernels",
                                         "copies", "host calls"};
    double mean[2][5];
    if (!row->phase[0] || !row->phase[1])
        return;
    for (unsigned side = 0; side < 2; ++side) {
        const struct phase *phase = row->phase[side];
        const uint64_t sums[] = {phase->launches, phase->in_graphs, phase->eager, phase->copies,
                                 phase->calls};
        for (unsigned i = 0; i < 5; ++i)
            mean[side][i] = (double)sums[i] / (double)phase->steps;
    }
    for (unsigned i = 0; i < 5; ++i) {
        double change = fabs(mean[1][i] - mean[0][i]);
        if (change >= LEAST_CHANGE && change > 0.01 * mean[0][i])
            (void)printf("  a step of %s: %.1f %s, then %.1f\n", plain(row->phase[0]->name),
                         mean[0][i], things[i], mean[1][i]);
    }
}

static void show_steps(const struct diff *diff)
{
    static const char *const heading[] = {"steps",  "then", "p50",     "then",
                                          "change", "+-",   "verdict", "of"};
    unsigned top = diff->options->top;
    if (diff->steps.count == 0)
        return;
    (void)putchar('\n');
    struct table *table = table_new("rrrrrrln");
    for (size_t i = 0; i < sizeof heading / sizeof heading[0]; ++i)
        table_cell(table, heading[i]);
    for (size_t i = 0; i < diff->steps.count && (!top || i < top); ++i) {
        show_phase(diff, table, &diff->steps.list[i]);
    }
    table_print(table, stdout);
    if (top && diff->steps.count > top)
        (void)printf("  and %zu more (--top 0)\n", diff->steps.count - top);
    for (size_t i = 0; i < diff->steps.count && (!top || i < top); ++i)
        show_counts(&diff->steps.list[i]);
}

static int show_text(const struct diff *diff)
{
    show_head(diff);
    show_steps(diff);
    show_kernels(diff);
    show_graphs(diff);
    return EXIT_FINE;
}

/* JSON. */

static const char *const part_keys[ACTIVITIES] = {"graphs", "eager", "copies", "idle"};

static json_t *json_time(struct stats *stats)
{
    if (stats->count == 0)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:f}", "count", open_number(stats->count),
                     "total_ns", open_number(stats->total), "p50_ns",
                     open_number(stats_quantile(stats, 500)), "min_ns", open_number(stats->min),
                     "max_ns", open_number(stats->max), "mean_ns", stats->mean);
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

static json_t *json_kernels(const struct diff *diff)
{
    json_t *list = json_array();
    for (size_t i = 0; i < diff->count; ++i) {
        struct kernel *kernel = &diff->kernels[i];
        json_t *object = json_pack(
            "{s:o, s:s, s:o, s:o}", "name", open_text(diff->names.list[kernel->name]), "verdict",
            what(kernel), "a", json_time(&kernel->time[0]), "b", json_time(&kernel->time[1]));
        add_comparison(object, in_both(kernel) ? &kernel->comparison : NULL);
        (void)json_array_append_new(list, object);
    }
    return list;
}

static json_t *json_graph_side(struct diff_graph *graph, unsigned side)
{
    const rtl_graph_t *row = graph->graph[side];
    if (!row)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "process", open_id(row->process), "graph",
                     open_id(row->graph), "nodes", open_id(row->nodes), "launches",
                     open_number(graph->launches[side]), "time", json_time(&graph->time[side]));
}

static json_t *json_graphs(const struct diff *diff)
{
    json_t *list = json_array();
    for (size_t i = 0; i < diff->graphs.count; ++i) {
        struct diff_graph *graph = &diff->graphs.list[i];
        bool both = graph->graph[0] && graph->graph[1];
        json_t *object = json_pack("{s:s, s:o, s:o}", "verdict",
                                   both              ? compare_name(graph->comparison.verdict)
                                   : graph->graph[0] ? "gone"
                                                     : "new",
                                   "a", json_graph_side(graph, 0), "b", json_graph_side(graph, 1));
        bool timed = both && graph->time[0].count && graph->time[1].count;
        add_comparison(object, timed ? &graph->comparison : NULL);
        (void)json_array_append_new(list, object);
    }
    return list;
}

static json_t *json_phase(struct phase *phase, const struct steps_thread *thread)
{
    if (!phase)
        return json_null();
    json_t *object = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "process", open_id(thread->process),
        "thread", thread->thread ? open_id(thread->thread) : json_null(), "what",
        open_text(phase->name), "steps", open_number(phase->steps), "launches",
        open_number(phase->launches), "eager_kernels", open_number(phase->eager), "copies",
        open_number(phase->copies), "host_calls", open_number(phase->calls), "time",
        json_time(&phase->duration));
    json_t *parts = json_object();
    for (enum activity kind = ACTIVITY_GRAPH; kind < ACTIVITIES; ++kind)
        (void)json_object_set_new(parts, part_keys[kind], json_time(&phase->time[kind]));
    (void)json_object_set_new(object, "parts", parts);
    return object;
}

static json_t *json_steps(const struct diff *diff)
{
    json_t *list = json_array();
    for (size_t i = 0; i < diff->steps.count; ++i) {
        struct diff_phase *row = &diff->steps.list[i];
        bool both = row->phase[0] && row->phase[1];
        json_t *object = json_pack("{s:s, s:b, s:o, s:o}", "verdict",
                                   both            ? compare_name(row->step.verdict)
                                   : row->phase[0] ? "gone"
                                                   : "new",
                                   "other_kernels", row->other_kernels, "a",
                                   json_phase(row->phase[0], row->thread[0]), "b",
                                   json_phase(row->phase[1], row->thread[1]));
        add_comparison(object, both ? &row->step : NULL);
        json_t *parts = both ? json_object() : json_null();
        for (enum activity kind = ACTIVITY_GRAPH; both && kind < ACTIVITIES; ++kind) {
            json_t *part = json_pack("{s:s}", "verdict", compare_name(row->parts[kind].verdict));
            add_comparison(part, &row->parts[kind]);
            (void)json_object_set_new(parts, part_keys[kind], part);
        }
        (void)json_object_set_new(object, "parts", parts);
        (void)json_array_append_new(list, object);
    }
    return list;
}

static int show_json(const struct diff *diff)
{
    return open_print_json(
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "a",
                  open_text(diff->options->paths[0]), "b", open_text(diff->options->paths[1]),
                  "a_kernel_ns", open_number(diff->total[0]), "b_kernel_ns",
                  open_number(diff->total[1]), "a_kernel_count", open_number(diff->calls[0]),
                  "b_kernel_count", open_number(diff->calls[1]), "kernels", json_kernels(diff),
                  "graphs", json_graphs(diff), "steps", json_steps(diff)),
        EXIT_FINE);
}

/* The whole. */

/* Says it if something got slower by more than its limit; true if so. */
static bool is_beyond(const struct diff *diff, enum limited what, const char *name,
                      const struct comparison *one)
{
    const struct limit *limit = &diff->options->limits[what];
    double change = part(one->difference, one->a);
    if (!limit->given || one->verdict != COMPARE_SLOWER || change <= limit->percent)
        return false;
    say("%s: %s got slower by %.1f %%, more than %g %%", limit_names[what], plain(name), change,
        limit->percent);
    return true;
}

static bool kernels_fail(const struct diff *diff)
{
    bool failed = false;
    for (size_t i = 0; i < diff->count; ++i) {
        const struct kernel *kernel = &diff->kernels[i];
        if (in_both(kernel))
            failed |=
                is_beyond(diff, LIMIT_KERNELS, diff->names.list[kernel->name], &kernel->comparison);
    }
    return failed;
}

static bool graphs_fail(const struct diff *diff)
{
    bool failed = false;
    for (size_t i = 0; i < diff->graphs.count; ++i) {
        const struct diff_graph *graph = &diff->graphs.list[i];
        if (!graph->time[0].count || !graph->time[1].count)
            continue;
        struct graph_name name =
            graph_id_name(diff->traces[0], graph->graph[0]->process, graph->graph[0]->graph);
        failed |= is_beyond(diff, LIMIT_GRAPHS, name.text, &graph->comparison);
    }
    return failed;
}

static bool steps_fail(const struct diff *diff)
{
    bool failed = false;
    for (size_t i = 0; i < diff->steps.count; ++i) {
        const struct diff_phase *row = &diff->steps.list[i];
        if (row->phase[0] && row->phase[1])
            failed |= is_beyond(diff, LIMIT_STEPS, row->phase[0]->name, &row->step);
    }
    return failed;
}

/* Whether there is nothing of a kind in both traces, so that nobody knows. */
static bool is_unknown(const struct diff *diff, enum limited what)
{
    bool any = false;
    for (size_t i = 0; i < diff->count && what == LIMIT_KERNELS; ++i)
        any |= in_both(&diff->kernels[i]);
    for (size_t i = 0; i < diff->graphs.count && what == LIMIT_GRAPHS; ++i)
        any |= diff->graphs.list[i].time[0].count && diff->graphs.list[i].time[1].count;
    for (size_t i = 0; i < diff->steps.count && what == LIMIT_STEPS; ++i)
        any |= diff->steps.list[i].phase[0] && diff->steps.list[i].phase[1];
    return !any;
}

/* EXIT_DIFFERENT if something got slower by more than --fail-if allows. */
static int check_limits(const struct diff *diff)
{
    for (unsigned what = 0; what < LIMITS; ++what)
        if (diff->options->limits[what].given && is_unknown(diff, what))
            return say_fail(EXIT_USAGE, "--fail-if: the traces have no %s in common",
                            limit_names[what]);
    bool failed = kernels_fail(diff);
    failed |= graphs_fail(diff);
    failed |= steps_fail(diff);
    return failed ? EXIT_DIFFERENT : EXIT_FINE;
}

static int run(struct diff *diff)
{
    for (unsigned i = 0; i < 2; ++i)
        if (read_kernels(diff, i) != RTL_OK)
            return open_failed(diff->traces[i], diff->options->paths[i]);
    compare_kernels(diff);
    if (diff_graphs_read(diff->traces, &diff->graphs) != RTL_OK ||
        diff_steps_read(diff->traces, &diff->steps) != RTL_OK) {
        unsigned failed = rtlTraceError(diff->traces[0])[0] == '\0';
        return open_failed(diff->traces[failed], diff->options->paths[failed]);
    }
    int status = diff->options->json ? show_json(diff) : show_text(diff);
    return status == EXIT_FINE ? check_limits(diff) : status;
}

static void release(struct diff *diff)
{
    for (size_t i = 0; i < diff->count; ++i) {
        stats_free(&diff->kernels[i].time[0]);
        stats_free(&diff->kernels[i].time[1]);
    }
    free(diff->kernels);
    diff_graphs_free(&diff->graphs);
    diff_steps_free(&diff->steps);
    texts_free(&diff->names);
    rtlTraceClose(diff->traces[0]);
    rtlTraceClose(diff->traces[1]);
}

static const struct argp_option option_list[] = {
    {"top", 'n', "COUNT", 0, "how many kernels and graphs are shown, 20 by default, 0 for all", 0},
    {"fail-if", 'f', "WHAT > N%", 0,
     "end with status 1 if one of the steps, graphs or kernels got slower by more than N %, and is "
     "told apart; may be given several times",
     0},
    {"all", 'a', NULL, 0, "show kernels that do not differ too", 0},
    {"wide", 'w', NULL, 0, "show names whole, however narrow the terminal is", 0},
    {"json", 'j', NULL, 0, "write JSON", 0},
    {0},
};

/* "steps > 3%" */
static int parse_limit(const char *text, struct options *options)
{
    for (unsigned i = 0; i < LIMITS; ++i) {
        size_t length = strlen(limit_names[i]);
        if (strncmp(text, limit_names[i], length) != 0)
            continue;
        const char *at = text + length + strspn(text + length, " ");
        if (*at++ != '>')
            break;
        char *end;
        double percent = strtod(at, &end);
        bool told = end != at && isfinite(percent) && percent >= 0;
        end += strspn(end, " ");
        if (!told || strcmp(end, "%") != 0 || at[strspn(at, " 0123456789.%")])
            break;
        if (options->limits[i].given)
            return say_fail(EINVAL, "--fail-if is given twice for %s", limit_names[i]);
        options->limits[i] = (struct limit){true, percent};
        return 0;
    }
    return say_fail(EINVAL,
                    "'%s' is nothing for --fail-if: it is such as 'steps > 3%%', 'graphs > 3%%' "
                    "or 'kernels > 10%%'",
                    text);
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'n':
        return parse_count("top", value, &options->top);
    case 'f':
        return parse_limit(value, options);
    case 'a':
        options->all = true;
        return 0;
    case 'w':
        options->wide = true;
        return 0;
    case 'j':
        options->json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (options->path_count == 2)
            return say_fail(EINVAL, "two traces at a time: '%s' is a third one", value);
        options->paths[options->path_count++] = value;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int cmd_diff(int argc, char **argv)
{
    static const char doc[] =
        "Compares the steps, kernels and graphs of two traces: what got slower or faster, what is "
        "gone "
        "and "
        "what is new."
        "\vKernels match by name; shown are those that differ, the largest change of the total "
        "time "
        "first. A kernel is slower or faster if the test of Mann and Whitney says so (with less "
        "than "
        "1 % chance of one wrong word or more about all kernels together, by Holm's method) and "
        "the "
        "95 % interval of the difference of the medians (Price and Bonett) leaves out 0. Kernels "
        "that follow each other are alike, and count for less accordingly. Graphs match by their "
        "kernels, phases of steps (rtl steps) by their graphs; those that are left by their time. "
        "Below "
        "a phase stands where the time of its steps goes.\n\n"
        "Examples:\n"
        "  rtl diff before.db after.db\n"
        "  rtl diff before.db after.db --top 5 --json\n"
        "  rtl diff --fail-if 'steps > 3%' before.db after.db";
    static const struct argp argp = {option_list, parse_option, "FILE FILE", doc, NULL, NULL, NULL};
    struct options options = {.top = TOP_DEFAULT};
    if (parse(&argp, argc, argv, 0, &options) != 0)
        return EXIT_USAGE;
    if (options.path_count < 2)
        return say_fail(EXIT_USAGE, options.path_count
                                        ? "the second trace was not named: rtl diff FILE FILE"
                                        : "no trace was named: rtl diff FILE FILE");
    struct diff diff = {.options = &options};
    int status = EXIT_USAGE;
    diff.traces[0] = open_trace(options.paths[0]);
    if (diff.traces[0])
        diff.traces[1] = open_trace(options.paths[1]);
    if (diff.traces[0] && diff.traces[1])
        status = run(&diff);
    release(&diff);
    return status;
}

#include "analysis/graph_id.h"
#include "common/command.h"
#include "common/memory.h"
#include "common/plain.h"
#include "common/show.h"
#include "common/table.h"
#include "diff/view.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WHOLE_PERCENT 99.95 /* from here on without a digit behind the point */
#define MOST_PERCENT  999   /* of +-: more says nothing */
#define ABSENT_SHOWN  4u    /* runs of which it is told */

/* What all sections have. */

static struct table *table_with(const char *layout, const char *const *heading)
{
    struct table *table = table_new(layout);
    for (size_t i = 0; i < strlen(layout); ++i)
        table_cell(table, heading[i]);
    return table;
}

static void show_rest(const struct diff *diff, size_t count)
{
    if (diff->top && count > diff->top)
        (void)printf("  and %zu more (--top 0)\n", count - diff->top);
}

static bool is_shown(const struct diff *diff, size_t place)
{
    return diff->top == 0 || place < diff->top;
}

/* Counts of a run, which are whole where there is one. */
static struct shown show_mean(double count)
{
    struct shown text;
    if (count == floor(count))
        return show_count((uint64_t)count);
    (void)snprintf(text.text, sizeof text.text, "%.1f", count);
    return text;
}

/* "+4.2 %", "+120 %" */
static struct shown show_percent(double percent, bool sign)
{
    struct shown text;
    int digits = fabs(percent) < WHOLE_PERCENT;
    (void)snprintf(text.text, sizeof text.text, sign ? "%+.*f %%" : "%.*f %%", digits, percent);
    return text;
}

static void cell_change(struct table *table, const struct comparison *one)
{
    double reach = diff_percent(one->high - one->difference, one->a);
    table_cell(table, show_percent(diff_percent(one->difference, one->a), true).text);
    table_cell(table, one->verdict == COMPARE_TOO_FEW ? "few"
                      : reach > MOST_PERCENT          ? "much"
                                                      : show_percent(reach, false).text);
}

static const char *verdict_of(const struct comparison *comparison)
{
    return comparison->verdict == COMPARE_ALIKE && comparison->difference != 0
               ? "not told apart"
               : compare_name(comparison->verdict);
}

/* The head. */

static void show_side(const struct diff *diff, unsigned side)
{
    const struct diff_runs *runs = &diff->runs;
    size_t count = diff_runs_of(runs, side);
    if (!diff_runs_single(runs))
        (void)printf("%s: ", show_things(count, "run").text);
    show_styled(stdout, SHOW_BOLD, runs->paths[runs->begin[side]]);
    if (count > 1) {
        (void)printf(count > 2 ? " to " : " and ");
        show_styled(stdout, SHOW_BOLD, runs->paths[runs->begin[side + 1] - 1]);
    }
}

static void show_totals(const struct diff *diff)
{
    const struct diff_kernels *kernels = &diff->kernels;
    bool single = diff_runs_single(&diff->runs);
    (void)printf("\n  kernels took %s%s, then %s", show_duration(kernels->total[0]).text,
                 single ? "" : " a run", show_duration(kernels->total[1]).text);
    if (kernels->total[0] > 0)
        (void)printf(" (%+.1f %%%s%s)",
                     diff_percent(kernels->total[1] - kernels->total[0], kernels->total[0]),
                     single ? "" : ", ", single ? "" : verdict_of(&kernels->compared_totals));
    (void)printf("\n  there were %s, then %s\n", show_mean(kernels->calls[0]).text,
                 show_mean(kernels->calls[1]).text);
}

/* What was not compared: as rtl check says it where that is not all intended. */
static void show_absent(const struct diff *diff)
{
    size_t count = 0;
    char left_out[512];
    for (size_t i = 0; i < diff_runs_all(&diff->runs); ++i) {
        const struct diff_whole *whole = &diff->whole[i];
        absent_say(&diff->absent[i], left_out, sizeof left_out);
        const char *text = whole->complete ? left_out : whole->line;
        if (text[0] && count++ < ABSENT_SHOWN)
            (void)printf("  %s: %s\n", plain(diff->runs.paths[i]), plain(text));
    }
    if (count > ABSENT_SHOWN)
        (void)printf("  %s %s not whole either\n",
                     show_things(count - ABSENT_SHOWN, "other run").text,
                     show_are(count - ABSENT_SHOWN));
}

static void show_head(const struct diff *diff)
{
    size_t slower = 0;
    size_t faster = 0;
    size_t other = 0;
    size_t gone = 0;
    size_t new = 0;
    for (size_t i = 0; i < diff->kernels.count; ++i) {
        const struct diff_kernel *kernel = &diff->kernels.list[i];
        slower += diff_kernel_in_both(kernel) && kernel->comparison.verdict == COMPARE_SLOWER;
        faster += diff_kernel_in_both(kernel) && kernel->comparison.verdict == COMPARE_FASTER;
        other += diff_kernel_other_count(&diff->runs, kernel);
        gone += !kernel->in[1];
        new += !kernel->in[0];
    }
    show_side(diff, 0);
    (void)printf(", then ");
    show_side(diff, 1);
    show_totals(diff);
    show_absent(diff);
    (void)printf("  kernel functions: %zu slower, %zu faster, %zu with another count, %zu gone, "
                 "%zu new\n",
                 slower, faster, other, gone, new);
}

/* Steps. */

/* A phase, or a part of its steps; what it is called stands last. */
static void show_durations(const struct diff *diff, struct table *table, struct stats *const *time,
                           const struct comparison *comparison, const char *verdict,
                           const char *name)
{
    for (unsigned side = 0; side < 2; ++side)
        table_cell(table, diff_runs_has(&diff->runs, time, side)
                              ? show_duration(diff_runs_median(&diff->runs, time, side)).text
                              : "-");
    if (comparison) {
        cell_change(table, comparison);
    } else {
        table_cell(table, "");
        table_cell(table, "");
    }
    table_cell(table, verdict);
    table_cell(table, name);
}

static bool has_time(const struct diff *diff, struct stats *const *time)
{
    bool any = false;
    for (size_t run = 0; run < diff_runs_all(&diff->runs); ++run)
        any |= time[run] && time[run]->total > 0;
    return any;
}

static void show_parts(const struct diff *diff, struct table *table, struct diff_phase *row)
{
    for (enum activity kind = ACTIVITY_GRAPH; kind < ACTIVITIES; ++kind) {
        struct stats *time[2 * DIFF_MOST_RUNS];
        char name[32];
        diff_phase_part(&diff->runs, row, kind, time);
        if (!has_time(diff, time))
            continue;
        (void)snprintf(name, sizeof name, "  %s", activity_label(kind));
        table_cell(table, "");
        table_cell(table, "");
        show_durations(diff, table, time, &row->parts[kind], verdict_of(&row->parts[kind]), name);
    }
}

/* The first run of a side that has the phase; one does. */
static size_t run_of(const struct diff *diff, const struct diff_phase *row, unsigned side)
{
    size_t run = diff->runs.begin[side];
    while (!row->phase[run])
        ++run;
    return run;
}

/* "graph 3", where a trace has several processes or threads with steps "process 1: graph 3". The
 * caller frees it. */
static char *name_phase(const struct diff *diff, const struct diff_phase *row, unsigned side)
{
    size_t run = run_of(diff, row, side);
    const char *name = row->phase[run]->name;
    size_t room = strlen(name) + 32;
    char *text = memory_new(room, 1);
    if (diff->steps.steps[run].count > 1)
        (void)snprintf(text, room, "process %" PRIu32 ": %s", row->thread[run]->process, name);
    else
        (void)snprintf(text, room, "%s", name);
    return text;
}

static void show_other_kernels(const struct diff *diff, const struct diff_phase *row)
{
    if (!row->other_kernels)
        return;
    char *names[] = {name_phase(diff, row, 0), name_phase(diff, row, 1)};
    (void)printf("  %s: compared with %s, which has other kernels\n", plain(names[0]),
                 plain(names[1]));
    free(names[0]);
    free(names[1]);
}

/* Steps a run. */
static void show_steps_of(const struct diff *diff, struct table *table,
                          const struct diff_phase *row, unsigned side)
{
    const struct diff_runs *runs = &diff->runs;
    double sum = 0;
    for (size_t run = runs->begin[side]; run < runs->begin[side + 1]; ++run)
        sum += row->phase[run] ? (double)row->phase[run]->steps : 0;
    table_cell(table, row->in[side] ? show_mean(sum / (double)diff_runs_of(runs, side)).text : "-");
}

/* Of a phase that is in both, its parts stand below it. */
static void show_phase(const struct diff *diff, struct table *table, struct diff_phase *row)
{
    char *name = name_phase(diff, row, !row->in[0]);
    bool both = row->in[0] && row->in[1];
    struct stats *time[2 * DIFF_MOST_RUNS];
    diff_phase_times(&diff->runs, row, time);
    show_steps_of(diff, table, row, 0);
    show_steps_of(diff, table, row, 1);
    show_durations(diff, table, time, both ? &row->step : NULL,
                   both         ? verdict_of(&row->step)
                   : row->in[0] ? "gone"
                                : "new",
                   name);
    if (both)
        show_parts(diff, table, row);
    free(name);
}

/* What a step has more or less of: one synchronization more, say. */
static void show_counts(const struct diff *diff, const struct diff_phase *row)
{
    static const char *const things[] = {"launches of graphs", "kernels in graphs", "eager kernels",
                                         "copies", "host calls"};
    for (enum diff_count what = DIFF_LAUNCHES; what < DIFF_COUNTS; ++what)
        if (diff_phase_other_count(&diff->runs, row, what))
            (void)printf("  a step of %s: %.1f %s, then %.1f\n",
                         plain(diff_phase_first(&diff->runs, row, 0)->name), row->counts[what].a,
                         things[what], row->counts[what].b);
}

static void show_single(const struct diff *diff)
{
    if (diff_runs_single(&diff->runs))
        (void)printf(
            "  one run a side cannot tell a change of whole steps, launches or idle time\n"
            "  from the weather of the machine: compare several, rtl diff A A A -- B B B\n");
}

static void show_steps(const struct diff *diff)
{
    static const char *const heading[] = {"steps",  "then", "p50",     "then",
                                          "change", "+-",   "verdict", "of"};
    if (diff->steps.count == 0)
        return;
    (void)putchar('\n');
    struct table *table = table_with("rrrrrrln", heading);
    for (size_t i = 0; i < diff->steps.count && is_shown(diff, i); ++i)
        show_phase(diff, table, &diff->steps.list[i]);
    table_print(table, stdout);
    show_rest(diff, diff->steps.count);
    for (size_t i = 0; i < diff->steps.count && is_shown(diff, i); ++i) {
        show_other_kernels(diff, &diff->steps.list[i]);
        show_counts(diff, &diff->steps.list[i]);
    }
    show_single(diff);
}

/* Families. */

static void show_family(const struct diff *diff, struct table *table,
                        const struct diff_family *family)
{
    bool both = family->in[0] && family->in[1];
    for (unsigned side = 0; side < 2; ++side)
        table_cell(table, family->in[side] ? show_duration(family->value[side]).text : "-");
    if (both) {
        cell_change(table, &family->comparison);
    } else {
        table_cell(table, "");
        table_cell(table, "");
    }
    table_cell(table, both ? verdict_of(&family->comparison) : family->in[0] ? "gone" : "new");
    table_cell(table, family->family);
    if (diff->families.by_steps)
        table_cell(table, diff_phase_first(&diff->runs, family->phase, 0)->name);
}

static void show_families(const struct diff *diff)
{
    static const char *const by_steps[] = {"a step",  "then",   "change", "+-",
                                           "verdict", "family", "of"};
    static const char *const by_traces[] = {"total", "then", "change", "+-", "verdict", "family"};
    const struct diff_families *families = &diff->families;
    if (families->count == 0)
        return;
    (void)putchar('\n');
    struct table *table =
        families->by_steps ? table_with("rrrrlln", by_steps) : table_with("rrrrll", by_traces);
    for (size_t i = 0; i < families->count && is_shown(diff, i); ++i)
        show_family(diff, table, &families->list[i]);
    table_print(table, stdout);
    show_rest(diff, families->count);
}

/* Kernels. */

static void show_kernel(const struct diff *diff, struct table *table, struct diff_kernel *kernel)
{
    char text[64];
    double change = diff_kernel_change(kernel);
    (void)snprintf(text, sizeof text, "%c%s", change < 0 ? '-' : '+',
                   show_duration(fabs(change)).text);
    table_cell(table, text);
    table_cell(table, show_mean(kernel->calls[0]).text);
    table_cell(table, show_mean(kernel->calls[1]).text);
    table_cell(table,
               show_duration(diff_runs_median(&diff->runs, kernel->time, !kernel->in[0])).text);
    if (diff_kernel_in_both(kernel)) {
        cell_change(table, &kernel->comparison);
    } else {
        table_cell(table, diff_kernel_verdict(kernel));
        table_cell(table, "");
    }
    table_cell(table, diff->kernels.names.list[kernel->name]);
}

static void show_kernels(const struct diff *diff)
{
    static const char *const heading[] = {"total",  "calls", "then",  "p50",
                                          "change", "+-",    "kernel"};
    const struct diff_kernels *kernels = &diff->kernels;
    size_t different = 0;
    for (size_t i = 0; i < kernels->count; ++i)
        different += diff->all || diff_kernel_differs(&diff->runs, &kernels->list[i]);
    if (different == 0)
        return;
    (void)putchar('\n');
    struct table *table = table_with("rrrrrrn", heading);
    table_wide(table, diff->wide);
    for (size_t i = 0, shown = 0; i < kernels->count && is_shown(diff, shown); ++i) {
        if (!diff->all && !diff_kernel_differs(&diff->runs, &kernels->list[i]))
            continue;
        show_kernel(diff, table, &kernels->list[i]);
        ++shown;
    }
    table_print(table, stdout);
    show_rest(diff, different);
    (void)printf("  change: of the p50, which is the first trace's; +-: 95 %% confidence\n");
}

/* Graphs. */

static uint64_t sum_of(const uint64_t *numbers, size_t begin, size_t end)
{
    uint64_t sum = 0;
    for (size_t i = begin; i < end; ++i)
        sum += numbers[i];
    return sum;
}

static void show_graph_ids(const struct diff *diff, struct table *table, struct diff_graph *graph)
{
    uint32_t nodes = RTL_TRACE_NONE;
    for (unsigned side = 0; side < 2; ++side) {
        if (!graph->in[side]) {
            table_cell(table, "-");
            continue;
        }
        size_t run = diff_graph_run(&diff->runs, graph, side);
        const rtl_graph_t *row = graph->graph[run];
        table_cell(table, graph_id_name(diff->runs.traces[run], row->process, row->graph).text);
        nodes = side == 0 || !graph->in[0] ? row->nodes : nodes;
    }
    table_cell(table, nodes == RTL_TRACE_NONE ? "?" : show_count(nodes).text);
}

static void show_graph(const struct diff *diff, struct table *table, struct diff_graph *graph)
{
    const struct diff_runs *runs = &diff->runs;
    unsigned shown = !graph->in[0];
    bool both = graph->in[0] && graph->in[1];
    show_graph_ids(diff, table, graph);
    for (unsigned side = 0; side < 2; ++side)
        table_cell(table, show_mean((double)sum_of(graph->launches, runs->begin[side],
                                                   runs->begin[side + 1]) /
                                    (double)diff_runs_of(runs, side))
                              .text);
    table_cell(table, diff_runs_has(runs, graph->time, shown)
                          ? show_duration(diff_runs_median(runs, graph->time, shown)).text
                          : "-");
    if (graph->timed) {
        cell_change(table, &graph->comparison);
        table_cell(table, verdict_of(&graph->comparison));
    } else {
        table_cell(table, "");
        table_cell(table, "");
        table_cell(table, both ? "too few" : graph->in[0] ? "gone" : "new");
    }
}

static void show_graphs(const struct diff *diff)
{
    static const char *const heading[] = {"graph", "then",   "nodes", "launches", "then",
                                          "p50",   "change", "+-",    "what"};
    const struct diff_runs *runs = &diff->runs;
    if (diff->graphs.count == 0)
        return;
    (void)putchar('\n');
    struct table *table = table_with("rrrrrrrrl", heading);
    for (size_t i = 0; i < diff->graphs.count && is_shown(diff, i); ++i)
        show_graph(diff, table, &diff->graphs.list[i]);
    table_print(table, stdout);
    show_rest(diff, diff->graphs.count);
    if (diff->steps.count == 0)
        show_single(diff);
    (void)printf("  node by node: rtl graph diff %s %s GRAPH GRAPH\n", plain(runs->paths[0]),
                 plain(runs->paths[runs->begin[1]]));
}

/* What differs by place in the layers of graphs. */
static void show_places(const struct diff *diff)
{
    for (size_t i = 0; i < diff->places.count; ++i) {
        const struct diff_layers *of = &diff->places.list[i];
        if (!places_diff_told(&of->places))
            continue;
        for (unsigned side = 0; side < 2; ++side) {
            size_t run = diff_graph_run(&diff->runs, of->graph, side);
            const rtl_graph_t *row = of->graph->graph[run];
            (void)printf(side ? ", then %s" : "\nlayers of graph %s",
                         graph_id_name(diff->runs.traces[run], row->process, row->graph).text);
        }
        places_diff_show(&of->places, false);
    }
}

int diff_show_text(const struct diff *diff)
{
    show_head(diff);
    show_steps(diff);
    show_families(diff);
    show_kernels(diff);
    show_graphs(diff);
    show_places(diff);
    return EXIT_FINE;
}

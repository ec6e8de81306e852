/* What is beyond its limit. */
#include "analysis/graph_id.h"
#include "common/command.h"
#include "common/plain.h"
#include "common/say.h"
#include "diff/limits.h"

#include <stdio.h>

/* Says it if something got slower by more than its limit; true if so. */
static bool is_beyond(const struct diff_limit *limit, const char *kind, const char *name,
                      const struct comparison *one)
{
    double change = diff_percent(one->difference, one->a);
    if (one->verdict != COMPARE_SLOWER || change <= limit->percent)
        return false;
    say("%s: %s got slower by %.1f %%, more than %g %%", kind, plain(name), change, limit->percent);
    return true;
}

static bool kernels_fail(const struct diff *diff, const struct diff_limit *limit)
{
    bool failed = is_beyond(limit, "kernels", "all together", &diff->kernels.compared_totals);
    for (size_t i = 0; i < diff->kernels.count; ++i) {
        const struct diff_kernel *kernel = &diff->kernels.list[i];
        if (diff_kernel_in_both(kernel))
            failed |= is_beyond(limit, "kernels", diff->kernels.names.list[kernel->name],
                                &kernel->comparison);
    }
    return failed;
}

/* With one run a side there is no test of counts, which are exact. */
static bool is_more_often(const struct diff *diff, const struct diff_limit *limit, const char *name,
                          const struct comparison *count)
{
    double change = diff_percent(count->difference, count->a);
    bool told = diff_runs_single(&diff->runs) || count->verdict == COMPARE_SLOWER;
    if (!told || change <= limit->percent)
        return false;
    say("count: calls of %s grew by %.1f %%, more than %g %%", plain(name), change, limit->percent);
    return true;
}

static bool counts_fail(const struct diff *diff, const struct diff_limit *limit)
{
    const struct diff_kernels *kernels = &diff->kernels;
    bool failed = is_more_often(diff, limit, "all kernels together", &kernels->compared_counts);
    for (size_t i = 0; i < kernels->count; ++i) {
        const struct diff_kernel *kernel = &kernels->list[i];
        if (diff_kernel_in_both(kernel))
            failed |= is_more_often(diff, limit, kernels->names.list[kernel->name], &kernel->count);
    }
    return failed;
}

static bool graphs_fail(const struct diff *diff, const struct diff_limit *limit)
{
    bool failed = false;
    for (size_t i = 0; i < diff->graphs.count; ++i) {
        const struct diff_graph *graph = &diff->graphs.list[i];
        if (!graph->timed)
            continue;
        size_t run = diff_graph_run(&diff->runs, graph, 0);
        struct graph_name name = graph_id_name(diff->runs.traces[run], graph->graph[run]->process,
                                               graph->graph[run]->graph);
        failed |= is_beyond(limit, "graphs", name.text, &graph->comparison);
    }
    return failed;
}

/* The steps, and what the GPU does in them, which waits of the host may hide. */
static bool phase_fails(const struct diff *diff, const struct diff_phase *row,
                        const struct diff_limit *limit)
{
    const char *name = diff_phase_first(&diff->runs, row, 0)->name;
    bool failed = is_beyond(limit, "steps", name, &row->step);
    for (unsigned kind = 0; kind < ACTIVITY_IDLE; ++kind) {
        char what[64];
        (void)snprintf(what, sizeof what, "%s in steps", activity_label(kind));
        failed |= is_beyond(limit, what, name, &row->parts[kind]);
    }
    return failed;
}

static bool steps_fail(const struct diff *diff, const struct diff_limit *limit)
{
    bool failed = false;
    for (size_t i = 0; i < diff->steps.count; ++i) {
        const struct diff_phase *row = &diff->steps.list[i];
        if (diff_limit_has_phase(diff, limit, row))
            failed |= phase_fails(diff, row, limit);
    }
    return failed;
}

static bool families_fail(const struct diff *diff, const struct diff_limit *limit)
{
    bool failed = false;
    for (size_t i = 0; i < diff->families.count; ++i) {
        const struct diff_family *family = &diff->families.list[i];
        char kind[128] = "families";
        if (family->phase)
            (void)snprintf(kind, sizeof kind, "families of %s",
                           diff_phase_first(&diff->runs, family->phase, 0)->name);
        if (diff_limit_has_family(limit, family))
            failed |= is_beyond(limit, plain(kind), family->family, &family->comparison);
    }
    return failed;
}

int diff_limits_judge(const struct diff_limits *limits, const struct diff *diff)
{
    bool failed = false;
    for (size_t i = 0; i < limits->count; ++i) {
        const struct diff_limit *limit = &limits->list[i];
        switch (limit->what) {
        case LIMIT_KERNELS:
            failed |= kernels_fail(diff, limit);
            break;
        case LIMIT_TOTAL:
            failed |=
                is_beyond(limit, "total", "all kernels together", &diff->kernels.compared_totals);
            break;
        case LIMIT_COUNT:
            failed |= counts_fail(diff, limit);
            break;
        case LIMIT_GRAPHS:
            failed |= graphs_fail(diff, limit);
            break;
        case LIMIT_FAMILY:
            failed |= families_fail(diff, limit);
            break;
        default:
            failed |= steps_fail(diff, limit);
            break;
        }
    }
    return failed ? EXIT_DIFFERENT : EXIT_FINE;
}

/* rtl steps: the text. */
#include "analysis/trend.h"
#include "common/command.h"
#include "common/memory.h"
#include "common/plain.h"
#include "common/show.h"
#include "common/table.h"
#include "steps/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CAUSES_SHOWN 8u
#define TABLE_PHASES 20u

/* A phase with its number in the output, from 1. */
struct shown_phase {
    const struct steps_thread *thread;
    struct idle_causes *causes;
    struct phase *phase;
    size_t number;
};

static const char *const found_by[] = {
    [STEPS_BY_AUTO] = "launches of graphs or eager kernels that repeat",
    [STEPS_BY_LAUNCHES] = "launches of graphs that repeat",
    [STEPS_BY_GRAPH] = "launches of one graph",
    [STEPS_BY_RANGE] = "ranges",
    [STEPS_BY_KERNELS] = "eager kernels that repeat",
};

static double per_step(uint64_t sum, const struct phase *phase)
{
    return phase->steps ? (double)sum / (double)phase->steps : 0;
}

static struct shown share_of(const struct phase *phase, enum activity kind)
{
    return show_share(phase->time[kind].total, phase->duration.total);
}

/* "3", "3.2" */
static struct shown show_mean(double mean)
{
    struct shown shown;
    double tenths = mean * 10 + 0.5;
    if (mean >= 100 || (uint64_t)tenths % 10 == 0)
        return show_count((uint64_t)(mean + 0.5));
    (void)snprintf(shown.text, sizeof shown.text, "%.1f", mean);
    return shown;
}

static void show_head(const struct steps_view *view, const struct shown_phase *phases, size_t count)
{
    const struct steps *steps = view->steps;
    uint64_t all = 0;
    char text[512];
    for (size_t i = 0; i < count; ++i)
        all += phases[i].phase->steps;
    (void)snprintf(text, sizeof text, "%s in %s", show_things(all, "step").text,
                   show_things(count, "phase").text);
    show_styled(stdout, SHOW_BOLD, text);
    (void)printf(", by %s\n", found_by[steps->by]);
    selection_show(view->selection, all, steps_all(view), "step", stdout);
    if (steps->kernels_in_blocks)
        (void)printf("  the blocks hold %s of %s of their queue (%s)\n",
                     show_count(steps->kernels_in_blocks).text,
                     show_things(steps->kernels, "eager kernel").text,
                     show_share(steps->kernels_in_blocks, steps->kernels).text);
    if (steps->untold)
        (void)printf("  modes lite and standard do not tell kernels of replays from eager ones\n");
    absent_say(&steps->absent, text, sizeof text);
    if (text[0])
        (void)printf("  %s\n    and may have run while GPUs seem idle\n", text);
    if (steps->count > 1)
        (void)printf(
            "  launches and host calls are a thread's, kernels, copies, times its process's\n");
    if (view->ranges)
        (void)printf("  other steps: --by 'range:%s', %s\n", plain(view->ranges),
                     show_things(view->range_count, "step").text);
    if (steps->without_work)
        (void)printf("  %s had no kernel and %s no step\n",
                     show_things(steps->without_work, "range").text, show_are(steps->without_work));
    if (steps->without_kernels)
        (void)printf("  %s of graphs left out: the trace has no kernel of %s\n",
                     show_things(steps->without_kernels, "launch").text,
                     steps->without_kernels == 1 ? "it" : "them");
}

static int by_number(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static struct table *phase_table(void)
{
    static const char *const heads[] = {"phase", "steps", "p50",     "p90",
                                        "p99",   "idle",  "steps/s", "what"};
    struct table *table = table_new("rrrrrrrn");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; ++i)
        table_cell(table, heads[i]);
    return table;
}

static void show_row(struct table *table, const struct shown_phase *shown)
{
    struct phase *phase = shown->phase;
    double rate = steps_rate(phase);
    char text[32];
    (void)snprintf(text, sizeof text, "%zu", shown->number);
    table_cell(table, text);
    table_cell(table, show_count(phase->steps).text);
    table_cell(table, show_duration((double)stats_quantile(&phase->duration, 500)).text);
    table_cell(table, show_duration((double)stats_quantile(&phase->duration, 900)).text);
    table_cell(table, show_duration((double)stats_quantile(&phase->duration, 990)).text);
    table_cell(table, share_of(phase, ACTIVITY_IDLE).text);
    (void)snprintf(text, sizeof text, "%.1f", rate);
    table_cell(table, text);
    table_cell(table, phase->name);
}

static void show_thread(const struct steps_view *view, const struct steps_thread *thread)
{
    (void)putchar('\n');
    if (view->steps->count == 1)
        return;
    if (thread->thread)
        (void)printf("process %" PRIu32 ", thread %" PRIu32 "\n", thread->process, thread->thread);
    else
        (void)printf("process %" PRIu32 "\n", thread->process);
}

/* The least time that a phase must have to be among the largest `most`. */
static uint64_t least_shown(const struct shown_phase *phases, size_t count, size_t most)
{
    uint64_t *totals = memory_new(count, sizeof *totals);
    for (size_t i = 0; i < count; ++i)
        totals[i] = phases[i].phase->duration.total;
    qsort(totals, count, sizeof *totals, by_number);
    uint64_t least = count > most ? totals[count - most] : 0;
    free(totals);
    return least;
}

/* In the order in which they were found; of many the largest. */
static void show_phases(const struct steps_view *view, const struct shown_phase *phases,
                        size_t count)
{
    size_t most = view->top ? TABLE_PHASES : count;
    uint64_t least = least_shown(phases, count, most);
    size_t shown = 0;
    for (size_t i = 0; i < count;) {
        const struct steps_thread *thread = phases[i].thread;
        struct table *table = phase_table();
        show_thread(view, thread);
        for (; i < count && phases[i].thread == thread; ++i)
            if (phases[i].phase->duration.total >= least && shown < most) {
                show_row(table, &phases[i]);
                ++shown;
            }
        table_print(table, stdout);
    }
    if (shown < count)
        (void)printf("  and %zu with less time (--top 0)\n", count - shown);
}

/* "1 copy", "2.5 copies" */
static void show_per_step(uint64_t sum, const struct phase *phase, const char *thing,
                          const char *things)
{
    struct shown mean = show_mean(per_step(sum, phase));
    (void)printf("%s %s", mean.text, strcmp(mean.text, "1") == 0 ? thing : things);
}

static void show_each(const struct phase *phase)
{
    (void)printf("  a step: ");
    if (phase->launches) {
        show_per_step(phase->launches, phase, "launch of a graph", "launches of graphs");
        (void)printf(", ");
        show_per_step(phase->in_graphs, phase, "kernel in it", "kernels in graphs");
        (void)printf(", ");
    }
    show_per_step(phase->eager, phase, "eager kernel", "eager kernels");
    (void)printf(phase->launches ? ",\n    " : ", ");
    show_per_step(phase->copies, phase, "copy", "copies");
    (void)printf(", ");
    show_per_step(phase->calls, phase, "host call", "host calls");
    (void)putchar('\n');
}

static void show_times(const struct phase *phase)
{
    (void)printf("  time: graphs %s, eager kernels %s, copies alone %s, idle %s\n",
                 share_of(phase, ACTIVITY_GRAPH).text, share_of(phase, ACTIVITY_EAGER).text,
                 share_of(phase, ACTIVITY_COPY).text, share_of(phase, ACTIVITY_IDLE).text);
}

/* The largest families in one line of 80 columns. */
static void show_families(const struct phase *phase)
{
    uint64_t all = 0;
    unsigned used = 12;
    for (size_t i = 0; i < phase->families.count; ++i)
        all += phase->families.list[i].ns;
    if (all == 0)
        return;
    (void)printf("  kernels:");
    for (size_t i = 0; i < phase->families.count && phase->families.list[i].ns; ++i) {
        char text[96];
        const struct family_time *family = &phase->families.list[i];
        (void)snprintf(text, sizeof text, "%s %s %s", i ? "," : "", plain(family->family),
                       show_share(family->ns, all).text);
        used += plain_width(text);
        if (used > 80) {
            (void)printf(", ...");
            break;
        }
        (void)printf("%s", text);
    }
    (void)putchar('\n');
}

static void show_idle(const struct shown_phase *shown)
{
    const struct phase *phase = shown->phase;
    const struct idle_times *idle = &phase->idle;
    size_t *order = memory_new(idle->count, sizeof *order);
    size_t count = idle_order(idle, order);
    if (count) {
        (void)printf("  idle for %s a step, by what the thread did that submitted the next work\n",
                     show_duration(per_step(idle->ns, phase)).text);
        struct table *table = table_new("rrrl");
        table_cell(table, "a step");
        table_cell(table, "of all");
        table_cell(table, "gaps a step");
        table_cell(table, "cause");
        for (size_t i = 0; i < count && i < CAUSES_SHOWN; ++i) {
            const struct idle_time *time = &idle->by_cause[order[i]];
            table_cell(table, show_duration(per_step(time->ns, phase)).text);
            table_cell(table, show_share(time->ns, phase->duration.total).text);
            table_cell(table, show_mean(per_step(time->gaps, phase)).text);
            table_cell(table, idle_label(shown->causes, order[i]));
        }
        table_print(table, stdout);
        if (count > CAUSES_SHOWN)
            (void)printf("  and %zu more (--json)\n", count - CAUSES_SHOWN);
    }
    free(order);
}

static void show_phase(const struct shown_phase *shown)
{
    (void)printf("\nphase %zu: %s, %s\n", shown->number, plain(shown->phase->name),
                 show_things(shown->phase->steps, "step").text);
    show_each(shown->phase);
    show_times(shown->phase);
    show_families(shown->phase);
    trend_show(&shown->phase->trend, "steps", stdout);
    show_idle(shown);
}

static void show_outside(const struct steps_view *view)
{
    static const char *const labels[OUTSIDES] = {"before the first step", "between steps",
                                                 "behind the last step"};
    for (size_t i = 0; i < view->steps->count; ++i) {
        const struct steps_thread *thread = &view->steps->threads[i];
        (void)printf("\nin no step");
        if (view->steps->count > 1)
            (void)printf(" of process %" PRIu32, thread->process);
        if (view->steps->count > 1 && thread->thread)
            (void)printf(", thread %" PRIu32, thread->thread);
        (void)putchar('\n');
        struct table *table = table_new("lrrrrr");
        table_cell(table, "");
        table_cell(table, "time");
        table_cell(table, "idle");
        table_cell(table, "in graphs");
        table_cell(table, "eager kernels");
        table_cell(table, "copies");
        for (unsigned where = 0; where < OUTSIDES; ++where) {
            const struct outside_steps *outside = &thread->outside[where];
            uint64_t time = 0;
            for (unsigned kind = 0; kind < ACTIVITIES; ++kind)
                time += outside->time[kind];
            table_cell(table, labels[where]);
            table_cell(table, show_duration((double)time).text);
            table_cell(table, show_share(outside->time[ACTIVITY_IDLE], time).text);
            table_cell(table, show_count(outside->in_graphs).text);
            table_cell(table, show_count(outside->eager).text);
            table_cell(table, show_count(outside->copies).text);
        }
        table_print(table, stdout);
    }
}

/* Where most of the time is between steps, they may be parts of what the user calls one. */
static void show_hint(const struct steps_view *view)
{
    uint64_t between = 0;
    uint64_t in = 0;
    for (size_t i = 0; i < view->steps->count; ++i) {
        const struct steps_thread *thread = &view->steps->threads[i];
        if (thread->by != STEPS_BY_LAUNCHES)
            continue;
        for (unsigned kind = 0; kind < ACTIVITIES; ++kind)
            between += thread->outside[OUTSIDE_BETWEEN].time[kind];
        for (size_t k = 0; k < thread->phase_count; ++k)
            in += thread->phases[k].duration.total;
    }
    if (between > in)
        (void)printf("  most of the time is between steps: --by graph:N has steps that begin with "
                     "each\n  launch of graph N, drafts and their check together, say\n");
}

static void show_step(struct table *table, const struct steps_view *view, const struct step *step,
                      uint64_t number, uint64_t phase)
{
    uint64_t at = step->begin > view->start ? step->begin - view->start : 0;
    table_cell(table, show_count(number).text);
    table_cell(table, show_count(phase).text);
    table_cell(table, show_duration((double)at).text);
    table_cell(table, show_duration((double)(step->end - step->begin)).text);
    table_cell(table, show_duration((double)step->time[ACTIVITY_GRAPH]).text);
    table_cell(table, show_duration((double)step->time[ACTIVITY_EAGER]).text);
    table_cell(table, show_duration((double)step->time[ACTIVITY_IDLE]).text);
    table_cell(table, show_count(step->calls).text);
}

static void show_list(const struct steps_view *view)
{
    struct table *table = table_new("rrrrrrrr");
    static const char *const heads[] = {"step",   "phase", "at",   "time",
                                        "graphs", "eager", "idle", "calls"};
    (void)putchar('\n');
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; ++i)
        table_cell(table, heads[i]);
    uint64_t number = 0;
    uint64_t phases = 0; /* of the threads before */
    for (size_t i = 0; i < view->steps->count; ++i) {
        const struct steps_thread *thread = &view->steps->threads[i];
        for (size_t k = 0; k < thread->count; ++k) {
            ++number;
            if (steps_shows_step(view, i, &thread->steps[k]))
                show_step(table, view, &thread->steps[k], number,
                          phases + thread->steps[k].phase + 1);
        }
        phases += thread->phase_count;
    }
    table_print(table, stdout);
}

static int by_total(const void *left, const void *right)
{
    const struct shown_phase *a = left;
    const struct shown_phase *b = right;
    uint64_t x = a->phase->duration.total;
    uint64_t y = b->phase->duration.total;
    if (x != y)
        return x < y ? 1 : -1;
    return (a->number > b->number) - (a->number < b->number);
}

static void show_all(const struct steps_view *view, struct shown_phase *phases, size_t count)
{
    show_head(view, phases, count);
    if (count == 0)
        return;
    show_phases(view, phases, count);
    if (view->list)
        show_list(view);
    qsort(phases, count, sizeof *phases, by_total);
    size_t shown = view->top && view->top < count ? view->top : count;
    for (size_t i = 0; i < shown; ++i)
        show_phase(&phases[i]);
    if (shown < count)
        (void)printf("\nand %zu more (--top 0)\n", count - shown);
    if (steps_is_part(view))
        return;
    show_outside(view);
    show_hint(view);
}

int steps_show_text(const struct steps_view *view)
{
    size_t count = 0;
    for (size_t i = 0; i < view->steps->count; ++i)
        count += view->steps->threads[i].phase_count;
    struct shown_phase *phases = memory_new(count, sizeof *phases);
    count = 0;
    size_t number = 0;
    for (size_t i = 0; i < view->steps->count; ++i) {
        struct steps_thread *thread = &view->steps->threads[i];
        for (size_t k = 0; k < thread->phase_count; ++k, ++number)
            if (steps_shows_phase(view, i, k))
                phases[count++] = (struct shown_phase){.thread = thread,
                                                       .causes = &view->steps->causes[i],
                                                       .phase = &thread->phases[k],
                                                       .number = number + 1};
    }
    show_all(view, phases, count);
    free(phases);
    return EXIT_FINE;
}

/* rtl ranks: the text. */
#include "ranks/view.h"

#include "common/command.h"
#include "common/memory.h"
#include "common/plain.h"
#include "common/show.h"
#include "common/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fewer steps than that tell nothing. */
#define STEPS_LEAST 10u

/* One of the ranks is the slowest in each step, if by chance: it stands out where it is in most of
 * them, and by three standard deviations more often than chance would have it. */
static bool stands_out(size_t slowest, size_t steps, size_t ranks)
{
    double share = 1 / (double)ranks;
    double expected = (double)steps * share;
    return steps >= STEPS_LEAST && 2 * slowest > steps &&
           (double)slowest > expected + 3 * sqrt(expected * (1 - share));
}

static const char *const found_by[] = {
    [STEPS_BY_AUTO] = "launches of graphs and eager kernels that repeat",
    [STEPS_BY_LAUNCHES] = "launches of graphs that repeat",
    [STEPS_BY_GRAPH] = "launches of the graph",
    [STEPS_BY_RANGE] = "ranges",
    [STEPS_BY_KERNELS] = "eager kernels that repeat",
};

static void show_head(const struct ranks_view *view)
{
    const struct ranks *ranks = view->ranks;
    char text[160];
    (void)snprintf(text, sizeof text, "%s on %s, %s each",
                   show_things(ranks->count, ranks->labelled ? "rank" : "process").text,
                   show_things(ranks->hosts, "host").text,
                   show_things(ranks->step_count, "step").text);
    show_styled(stdout, SHOW_BOLD, text);
    (void)printf(", by %s\n", ranks->by_steps ? found_by[ranks->by] : "collectives");
    selection_show(view->selection, ranks->step_count, ranks->all, "step", stdout);
}

/* How far apart times of two hosts mean anything. */
static void show_clocks(const struct ranks *ranks)
{
    if (ranks->hosts < 2)
        return;
    if (ranks->hosts_error > 0)
        (void)printf("  times of different hosts are right to each other within %s: what is closer "
                     "is in no known order\n",
                     show_duration((double)ranks->hosts_error).text);
    if (ranks->hosts_error == -1)
        (void)printf("  nobody knows how far times of different hosts are off each other, which is "
                     "as their times of day were: they are in no known order\n");
}

/* What is not compared, and why. */
static void show_left_out(const struct ranks *ranks)
{
    size_t before = 0;
    size_t behind = 0;
    for (size_t i = 0; i < ranks->count; ++i) {
        size_t first = ranks->list[i].first - ranks->before;
        before += first;
        behind += ranks->list[i].count - first - ranks->all;
    }
    if (before)
        (void)printf("  %s of ranks whose recording began sooner left out\n",
                     show_things(before, "step").text);
    if (behind)
        (void)printf("  %s that other ranks do not have left out\n",
                     show_things(behind, "step").text);
    if (ranks->by_number)
        (void)printf("  the ranks have different numbers of steps: those of one number need not "
                     "belong together\n");
    if (ranks->unlike)
        (void)printf(
            "  of %s nobody can say who waited: the ranks ran different collectives in %s\n",
            show_things(ranks->unlike, "step").text, ranks->unlike == 1 ? "it" : "them");
    if (ranks->without)
        (void)printf("  %s left out: %s\n", show_things(ranks->without, "process").text,
                     ranks->labelled
                         ? "without a rank, without steps, or of a rank of which another "
                           "one is taken (--process chooses)"
                         : "without steps");
    if (!ranks->collectives)
        (void)printf(
            "  no rank waits for another one in collectives, as far as their steps tell\n");
}

static struct table *new_table(const struct ranks *ranks)
{
    static const char *const heads[] = {"p50", "p90", "p99", "slowest in"};
    struct table *table = table_new(ranks->collectives ? "lrrrrrrrrl" : "lrrrrl");
    table_cell(table, "");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; ++i)
        table_cell(table, heads[i]);
    if (ranks->collectives) {
        table_cell(table, "collectives");
        table_cell(table, "exposed");
        table_cell(table, "waited");
        table_cell(table, "made others wait");
    }
    table_cell(table, ranks->hosts > 1 || !ranks->collectives ? "host" : "waited for");
    return table;
}

static void show_last(struct table *table, const struct ranks *ranks, size_t rank)
{
    size_t most = ranks_waited_for(ranks, rank);
    if (ranks->hosts > 1 || !ranks->collectives)
        table_cell(table, ranks->list[rank].process->host);
    else
        table_cell(table, most == RANKS_NONE ? "-" : ranks_name(ranks, most));
}

static void show_ranks(const struct ranks *ranks)
{
    struct table *table = new_table(ranks);
    for (size_t i = 0; i < ranks->count; ++i) {
        struct rank *rank = &ranks->list[i];
        table_cell(table, ranks_name(ranks, i));
        table_cell(table, show_duration((double)stats_quantile(&rank->duration, 500)).text);
        table_cell(table, show_duration((double)stats_quantile(&rank->duration, 900)).text);
        table_cell(table, show_duration((double)stats_quantile(&rank->duration, 990)).text);
        table_cell(table, show_count(rank->slowest).text);
        if (ranks->collectives) {
            table_cell(table, show_share(rank->collective, rank->duration.total).text);
            table_cell(table, show_share(rank->exposed, rank->duration.total).text);
            table_cell(table, show_share(rank->waited, rank->duration.total).text);
            table_cell(table, show_duration((double)rank->made_wait).text);
        }
        show_last(table, ranks, i);
    }
    (void)putchar('\n');
    table_print(table, stdout);
}

/* Hosts side by side, where there are several: whether ranks wait for those of their own. */
static void show_hosts(const struct ranks *ranks)
{
    static const char *const heads[] = {"collectives", "exposed", "waited for its own ranks",
                                        "for other hosts", "made others wait"};
    if (ranks->hosts < 2)
        return;
    (void)putchar('\n');
    struct table *table = table_new(ranks->collectives ? "lrrrrrrr" : "lrr");
    table_cell(table, "host");
    table_cell(table, "ranks");
    table_cell(table, "slowest in");
    for (size_t i = 0; ranks->collectives && i < sizeof heads / sizeof heads[0]; ++i)
        table_cell(table, heads[i]);
    for (size_t i = 0; i < ranks->hosts; ++i) {
        const struct ranks_host *host = &ranks->host_list[i];
        const uint64_t shares[] = {host->collective, host->exposed, host->waited_for_host,
                                   host->waited - host->waited_for_host};
        table_cell(table, host->name);
        table_cell(table, show_count(host->ranks).text);
        table_cell(table, show_count(host->slowest).text);
        if (!ranks->collectives)
            continue;
        for (size_t k = 0; k < sizeof shares / sizeof shares[0]; ++k)
            table_cell(table, show_share(shares[k], host->total).text);
        table_cell(table, show_duration((double)host->made_wait).text);
    }
    table_print(table, stdout);
}

/* What is to be done, if one rank stands out. */
static void show_straggler(const struct ranks *ranks)
{
    size_t most = 0;
    uint64_t waited = 0;
    uint64_t exposed = 0;
    uint64_t total = 0;
    for (size_t i = 0; i < ranks->count; ++i) {
        most = ranks->list[i].slowest > ranks->list[most].slowest ? i : most;
        waited += ranks->list[i].waited;
        exposed += ranks->list[i].exposed;
        total += ranks->list[i].duration.total;
    }
    (void)putchar('\n');
    if (ranks->collectives)
        (void)printf("the ranks wait in collectives for %s of their time, whatever else runs "
                     "meanwhile; for %s of it they are in collectives beside which nothing "
                     "computes\n",
                     show_share(waited, total).text, show_share(exposed, total).text);
    size_t judged = ranks->step_count - ranks->unlike;
    const struct rank *rank = &ranks->list[most];
    if (!stands_out(rank->slowest, judged, ranks->count)) {
        (void)printf("no rank is the slowest one so often that it stands out\n");
        return;
    }
    (void)printf("%s is the slowest one in %s of %s", plain(ranks_name(ranks, most)),
                 show_count(rank->slowest).text, show_things(judged, "step").text);
    if (ranks->collectives)
        (void)printf(": the others wait %s in each of them",
                     show_duration((double)rank->made_wait / (double)(ranks->count - 1) /
                                   (double)rank->slowest)
                         .text);
    (void)putchar('\n');
}

static void show_worst(const struct ranks_view *view, const size_t *places, size_t count)
{
    static const char *const heads[] = {"step",        "begins at", "slowest",
                                        "waited most", "for",       "all together"};
    const struct ranks *ranks = view->ranks;
    struct table *table = table_new("rrllrr");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; ++i)
        table_cell(table, heads[i]);
    for (size_t i = 0; i < count; ++i) {
        const struct ranks_step *step = &ranks->steps[places[i]];
        uint64_t begin = ranks->list[0].steps[ranks->list[0].first + places[i]].begin;
        table_cell(table, show_count(ranks->before + places[i] + 1).text);
        table_cell(table, show_duration((double)begin - (double)view->start).text);
        table_cell(table,
                   step->slowest == RANKS_NONE ? "several" : ranks_name(ranks, step->slowest));
        table_cell(table, ranks_name(ranks, step->longest_rank));
        table_cell(table, show_duration((double)step->longest).text);
        table_cell(table, show_duration((double)step->waited).text);
    }
    (void)printf("\nthe steps with the longest waits\n");
    table_print(table, stdout);
}

int ranks_show_text(const struct ranks_view *view)
{
    show_head(view);
    show_clocks(view->ranks);
    show_left_out(view->ranks);
    show_ranks(view->ranks);
    show_hosts(view->ranks);
    show_straggler(view->ranks);
    size_t *places = memory_new(view->top, sizeof *places);
    size_t count = view->top ? ranks_worst(view->ranks, places, view->top) : 0;
    if (count)
        show_worst(view, places, count);
    free(places);
    return EXIT_FINE;
}

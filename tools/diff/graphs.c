#include "diff/graphs.h"

#include "analysis/partial.h"
#include "common/lower_bound.h"
#include "common/memory.h"
#include "common/texts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A graph with the numbers of its kernels' names. */
struct made_of {
    const rtl_graph_t *graph; /* the latest generation */
    size_t *names;            /* in the order of the nodes */
    size_t *sorted;
    size_t *families; /* of its kernels, sorted */
    size_t count;
    uint64_t launches;
    struct stats time;
};

/* The graphs of a run. */
struct side {
    struct made_of *graphs;
    size_t count;
};

/* Graphs that are matched, with the place of their match; SIZE_MAX: none. */
struct matched {
    struct made_of **list;
    size_t *match;
    size_t count;
};

static int by_number(const void *left, const void *right)
{
    size_t a = *(const size_t *)left;
    size_t b = *(const size_t *)right;
    return (a > b) - (a < b);
}

/* What graphs are matched by. */
struct naming {
    struct texts names, families;
    struct family_rules *rules;
};

static size_t number_of(struct texts *texts, const char *text)
{
    size_t number = texts_number(texts, text);
    if (number == TEXTS_NONE)
        memory_is_short();
    return number;
}

/* Kernels that no rule knows have nothing in common but their names. */
static size_t family_number(struct naming *naming, const char *name)
{
    const char *family = family_of(naming->rules, name);
    return number_of(&naming->families, strcmp(family, FAMILY_OTHER) == 0 ? name : family);
}

static rtl_status_t read_names(rtl_trace_t *trace, struct naming *naming, struct made_of *graph)
{
    const rtl_graph_node_t *nodes;
    size_t count;
    rtl_status_t status = rtlTraceGraphNodes(trace, graph->graph, &nodes, &count);
    if (status != RTL_OK)
        return status;
    graph->names = memory_new(count, sizeof *graph->names);
    graph->sorted = memory_new(count, sizeof *graph->sorted);
    graph->families = memory_new(count, sizeof *graph->families);
    for (size_t i = 0; i < count; ++i) {
        if (strcmp(nodes[i].type, "kernel") != 0)
            continue;
        graph->families[graph->count] = family_number(naming, nodes[i].name);
        graph->names[graph->count++] = number_of(&naming->names, nodes[i].name);
    }
    qsort(graph->families, graph->count, sizeof *graph->families, by_number);
    memcpy(graph->sorted, graph->names, graph->count * sizeof *graph->names);
    qsort(graph->sorted, graph->count, sizeof *graph->sorted, by_number);
    return RTL_OK;
}

static bool is_before(const rtl_graph_t *row, uint32_t process, uint32_t graph)
{
    return row->process < process || (row->process == process && row->graph < graph);
}

static struct made_of *find(const struct side *side, uint32_t process, uint32_t graph)
{
    size_t low;
    RTL_LOWER_BOUND(low, side->count, is_before(side->graphs[low].graph, process, graph));
    bool found = low < side->count && side->graphs[low].graph->process == process &&
                 side->graphs[low].graph->graph == graph;
    return found ? &side->graphs[low] : NULL;
}

static rtl_status_t add_launches(struct side *side, rtl_trace_t *trace)
{
    rtl_launch_iter_t *iter;
    rtl_graph_launch_t launch;
    rtl_status_t status = rtlTraceLaunches(trace, NULL, &iter);
    if (status != RTL_OK)
        return status;
    while ((status = rtlLaunchNext(iter, &launch)) == RTL_OK) {
        struct made_of *graph = find(side, launch.process, launch.graph);
        if (!graph)
            continue;
        ++graph->launches;
        if (launch.end && !partial_is(&launch))
            stats_add(&graph->time, launch.end - launch.start);
    }
    rtlLaunchIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

static rtl_status_t read_side(rtl_trace_t *trace, struct naming *naming, struct side *side)
{
    const rtl_graph_t *graphs;
    size_t count;
    rtl_status_t status = rtlTraceGraphs(trace, &graphs, &count);
    if (status != RTL_OK)
        return status;
    side->graphs = memory_new(count, sizeof *side->graphs);
    for (size_t i = 0; i < count; ++i) {
        bool last = i + 1 == count || graphs[i + 1].process != graphs[i].process ||
                    graphs[i + 1].graph != graphs[i].graph;
        if (last)
            side->graphs[side->count++] = (struct made_of){.graph = &graphs[i]};
    }
    for (size_t i = 0; i < side->count && status == RTL_OK; ++i)
        status = read_names(trace, naming, &side->graphs[i]);
    return status == RTL_OK ? add_launches(side, trace) : status;
}

/* How many numbers two sorted lists have in common. */
static size_t in_common(const size_t *a, size_t a_count, const size_t *b, size_t b_count)
{
    size_t common = 0;
    for (size_t i = 0, j = 0; i < a_count && j < b_count;) {
        if (a[i] == b[j]) {
            ++common;
            ++i;
            ++j;
        } else if (a[i] < b[j]) {
            ++i;
        } else {
            ++j;
        }
    }
    return common;
}

static bool is_same(const struct made_of *a, const struct made_of *b)
{
    return a->count == b->count && memcmp(a->names, b->names, a->count * sizeof *a->names) == 0;
}

static void pair_up(struct matched *sides, size_t a, size_t b)
{
    sides[0].match[a] = b;
    sides[1].match[b] = a;
}

static void match_same(struct matched *sides)
{
    for (size_t i = 0; i < sides[0].count; ++i)
        for (size_t j = 0; j < sides[1].count; ++j)
            if (sides[1].match[j] == SIZE_MAX && is_same(sides[0].list[i], sides[1].list[j])) {
                pair_up(sides, i, j);
                break;
            }
}

/* By more than half of their kernels, or of the families of these. */
static void match_alike(struct matched *sides, bool by_family)
{
    for (size_t i = 0; i < sides[0].count; ++i) {
        const struct made_of *a = sides[0].list[i];
        size_t best = SIZE_MAX;
        size_t most = 0;
        for (size_t j = 0; j < sides[1].count && sides[0].match[i] == SIZE_MAX; ++j) {
            const struct made_of *b = sides[1].list[j];
            size_t larger = a->count > b->count ? a->count : b->count;
            size_t common = sides[1].match[j] != SIZE_MAX ? 0
                            : by_family ? in_common(a->families, a->count, b->families, b->count)
                                        : in_common(a->sorted, a->count, b->sorted, b->count);
            if (2 * common > larger && common > most) {
                most = common;
                best = j;
            }
        }
        if (best != SIZE_MAX)
            pair_up(sides, i, best);
    }
}

static void match_all(struct matched *sides)
{
    match_same(sides);
    match_alike(sides, false);
    match_alike(sides, true);
}

static struct matched matched_new(size_t count)
{
    struct matched matched = {memory_new(count, sizeof(struct made_of *)),
                              memory_new(count, sizeof(size_t)), count};
    for (size_t i = 0; i < count; ++i)
        matched.match[i] = SIZE_MAX;
    return matched;
}

static void matched_free(struct matched *matched)
{
    free(matched->list);
    free(matched->match);
}

/* Rows of graphs that match, and the first of each, by which others are. */
struct rows {
    struct diff_graph *list;
    struct made_of **first;
    size_t count;
};

static struct diff_graph *add_row(struct rows *rows, struct made_of *first, size_t runs)
{
    struct diff_graph *row = &rows->list[rows->count];
    *row = (struct diff_graph){.graph = memory_new(runs, sizeof(rtl_graph_t *)),
                               .launches = memory_new(runs, sizeof(uint64_t)),
                               .time = memory_new(runs, sizeof(struct stats *))};
    rows->first[rows->count++] = first;
    return row;
}

static void put(struct diff_graph *to, size_t run, struct made_of *from)
{
    to->graph[run] = from->graph;
    to->launches[run] = from->launches;
    to->time[run] = memory_new(1, sizeof(struct stats));
    *to->time[run] = from->time;
    from->time = (struct stats){0};
}

/* Puts the graphs of a run into the rows from `begin` on, which are of its side. */
static void add_run(struct rows *rows, size_t begin, struct side *graphs, size_t run, size_t runs)
{
    struct matched sides[2] = {matched_new(rows->count - begin), matched_new(graphs->count)};
    for (size_t i = 0; i < sides[0].count; ++i)
        sides[0].list[i] = rows->first[begin + i];
    for (size_t i = 0; i < sides[1].count; ++i)
        sides[1].list[i] = &graphs->graphs[i];
    match_all(sides);
    for (size_t i = 0; i < graphs->count; ++i) {
        size_t match = sides[1].match[i];
        struct diff_graph *row = match == SIZE_MAX ? add_row(rows, &graphs->graphs[i], runs)
                                                   : &rows->list[begin + match];
        put(row, run, &graphs->graphs[i]);
    }
    matched_free(&sides[0]);
    matched_free(&sides[1]);
}

/* Makes one row of two. */
static void join(struct diff_graph *row, struct diff_graph *other, const struct diff_runs *runs)
{
    for (size_t run = runs->begin[1]; run < runs->begin[2]; ++run) {
        row->graph[run] = other->graph[run];
        row->launches[run] = other->launches[run];
        row->time[run] = other->time[run];
        other->time[run] = NULL;
    }
}

static void free_row(struct diff_graph *row, size_t runs)
{
    for (size_t run = 0; run < runs; ++run)
        if (row->time[run]) {
            stats_free(row->time[run]);
            free(row->time[run]);
        }
    free(row->graph);
    free(row->launches);
    free(row->time);
}

/* Matches the rows of the two sides, the second's from `middle` on. */
static void join_sides(struct rows *rows, size_t middle, const struct diff_runs *runs)
{
    struct matched sides[2] = {matched_new(middle), matched_new(rows->count - middle)};
    for (size_t i = 0; i < rows->count; ++i)
        sides[i >= middle].list[i >= middle ? i - middle : i] = rows->first[i];
    match_all(sides);
    size_t kept = middle;
    for (size_t i = 0; i < sides[1].count; ++i) {
        struct diff_graph *row = &rows->list[middle + i];
        if (sides[1].match[i] == SIZE_MAX) {
            rows->list[kept++] = *row;
            continue;
        }
        join(&rows->list[sides[1].match[i]], row, runs);
        free_row(row, diff_runs_all(runs));
    }
    rows->count = kept;
    matched_free(&sides[0]);
    matched_free(&sides[1]);
}

/* A launch is as long as what is between its kernels, too. */
static void compare_all(const struct diff_runs *runs, struct diff_graphs *graphs)
{
    struct comparison **family = memory_new(graphs->count, sizeof(struct comparison *));
    size_t count = 0;
    for (size_t i = 0; i < graphs->count; ++i) {
        struct diff_graph *row = &graphs->list[i];
        for (size_t run = 0; run < diff_runs_all(runs); ++run)
            row->in[run >= runs->begin[1]] |= row->graph[run] != NULL;
        if (!row->in[0] || !row->in[1])
            continue;
        row->timed = diff_runs_has(runs, row->time, 0) && diff_runs_has(runs, row->time, 1);
        diff_runs_compare(runs, row->time, COMPARE_WALL, &row->comparison);
        family[count++] = &row->comparison;
    }
    compare_family(family, count);
    free(family);
}

static struct rows make_rows(const struct diff_runs *runs, struct side *sides)
{
    size_t most = 0;
    size_t middle = 0;
    for (size_t run = 0; run < diff_runs_all(runs); ++run)
        most += sides[run].count;
    struct rows rows = {memory_new(most, sizeof *rows.list),
                        memory_new(most, sizeof(struct made_of *)), 0};
    for (size_t run = 0; run < diff_runs_all(runs); ++run) {
        middle = run == runs->begin[1] ? rows.count : middle;
        add_run(&rows, run < runs->begin[1] ? 0 : middle, &sides[run], run, diff_runs_all(runs));
    }
    join_sides(&rows, middle, runs);
    return rows;
}

rtl_status_t diff_graphs_read(const struct diff_runs *runs, struct family_rules *rules,
                              struct diff_graphs *graphs)
{
    struct side sides[2 * DIFF_MOST_RUNS] = {{0}};
    struct naming naming = {.rules = rules};
    rtl_status_t status = RTL_OK;
    *graphs = (struct diff_graphs){0};
    for (size_t run = 0; run < diff_runs_all(runs) && status == RTL_OK; ++run)
        status = read_side(runs->traces[run], &naming, &sides[run]);
    if (status == RTL_OK) {
        struct rows rows = make_rows(runs, sides);
        free(rows.first);
        *graphs = (struct diff_graphs){rows.list, rows.count};
        compare_all(runs, graphs);
    }
    for (size_t run = 0; run < diff_runs_all(runs); ++run) {
        for (size_t j = 0; j < sides[run].count; ++j) {
            stats_free(&sides[run].graphs[j].time);
            free(sides[run].graphs[j].names);
            free(sides[run].graphs[j].sorted);
            free(sides[run].graphs[j].families);
        }
        free(sides[run].graphs);
    }
    texts_free(&naming.names);
    texts_free(&naming.families);
    return status;
}

size_t diff_graph_run(const struct diff_runs *runs, const struct diff_graph *row, unsigned side)
{
    size_t run = runs->begin[side];
    while (!row->graph[run])
        ++run;
    return run;
}

void diff_graphs_free(const struct diff_runs *runs, struct diff_graphs *graphs)
{
    for (size_t i = 0; i < graphs->count; ++i)
        free_row(&graphs->list[i], diff_runs_all(runs));
    free(graphs->list);
    *graphs = (struct diff_graphs){0};
}

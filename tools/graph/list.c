/* rtl graph list: the graphs of a trace. */
#include "analysis/graph_alike.h"
#include "analysis/graph_id.h"
#include "analysis/partial.h"
#include "analysis/selection.h"
#include "analysis/stats.h"
#include "analysis/unseen.h"
#include "common/command.h"
#include "common/memory.h"
#include "common/open.h"
#include "common/parse.h"
#include "common/plain.h"
#include "common/show.h"
#include "common/table.h"
#include "common/trace_command.h"
#include "graph/parts.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A graph over all its generations, or those of them that do the same, or one; times in ns. */
struct line {
    const rtl_graph_t *graph; /* the latest generation */
    uint32_t generations;
    uint32_t launched; /* of them */
    uint64_t alike;    /* what they do, where that is asked */
    bool parted;       /* other generations of the graph, which were launched, do something else */
    uint64_t launches, partial; /* partial: with kernels that are not in the trace */
    uint64_t kernels, kernel_ns;
    struct stats time; /* of launches that are whole */
};

#define TOP_DEFAULT 50u

struct options {
    const char *path;
    unsigned top; /* 0: all */
    bool top_given, json, generations;
    struct filter filter;
};

struct list {
    const struct options *options;
    const rtl_graph_t *graphs; /* all generations */
    size_t graph_count;
    size_t *line_of; /* by place in `graphs` */
    struct line *lines;
    size_t count;
    uint64_t kernel_ns; /* of all kernels of the trace */
    struct unseen unseen;
    struct partial partial;
    struct selection selection;
};

static int compare_graphs(const void *key, const void *element)
{
    const rtl_graph_t *a = key;
    const rtl_graph_t *b = element;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->graph != b->graph)
        return a->graph < b->graph ? -1 : 1;
    return (a->generation > b->generation) - (a->generation < b->generation);
}

static struct line *find(const struct list *list, uint32_t process, uint32_t graph,
                         uint32_t generation)
{
    const rtl_graph_t key = {.process = process, .graph = graph, .generation = generation};
    const rtl_graph_t *found = list->graph_count ? bsearch(&key, list->graphs, list->graph_count,
                                                           sizeof key, compare_graphs)
                                                 : NULL;
    return found ? &list->lines[list->line_of[found - list->graphs]] : NULL;
}

/* JSON has a graph in one object, unless generations are asked for: that is what scripts rely on.
 */
static bool parts(const struct list *list)
{
    return !list->options->json && !list->options->generations;
}

/* The line among those of a graph, from `first` on, that a generation belongs to. */
static struct line *line_for(struct list *list, size_t first, uint64_t alike)
{
    for (size_t i = first; i < list->count && !list->options->generations; ++i)
        if (!parts(list) || list->lines[i].alike == alike)
            return &list->lines[i];
    list->lines[list->count].alike = alike;
    return &list->lines[list->count++];
}

static rtl_status_t add_graphs(struct list *list, rtl_trace_t *trace)
{
    rtl_status_t status = RTL_OK;
    size_t first = 0;
    list->lines = memory_new(list->graph_count, sizeof *list->lines);
    list->line_of = memory_new(list->graph_count, sizeof *list->line_of);
    for (size_t i = 0; i < list->graph_count && status == RTL_OK; ++i) {
        const rtl_graph_t *graph = &list->graphs[i];
        uint64_t alike = 0;
        if (i == 0 || graph->process != graph[-1].process || graph->graph != graph[-1].graph)
            first = list->count;
        if (parts(list))
            status = graph_alike(trace, graph, &alike);
        struct line *line = line_for(list, first, alike);
        line->graph = graph;
        ++line->generations;
        line->launched += graph->launches > 0;
        list->line_of[i] = (size_t)(line - list->lines);
    }
    return status;
}

static rtl_status_t add_launches(struct list *list, rtl_trace_t *trace)
{
    rtl_launch_iter_t *iter;
    rtl_graph_launch_t launch;
    rtl_status_t status = rtlTraceLaunches(trace, NULL, &iter);
    if (status != RTL_OK)
        return status;
    while ((status = rtlLaunchNext(iter, &launch)) == RTL_OK) {
        struct line *line = find(list, launch.process, launch.graph, launch.generation);
        if (!line)
            continue;
        ++line->launches;
        line->kernels += launch.kernels;
        line->partial += partial_is(&launch);
        if (launch.end && !partial_is(&launch))
            stats_add(&line->time, launch.end - launch.start);
    }
    rtlLaunchIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

static rtl_status_t add_kernels(struct list *list, rtl_trace_t *trace)
{
    rtl_aggregate_request_t request = RTL_AGGREGATE_BY(RTL_BY_GENERATION);
    rtl_aggregate_t *aggregate;
    const rtl_group_t *groups;
    size_t count;
    rtl_status_t status = rtlTraceAggregate(trace, &request, &aggregate);
    if (status != RTL_OK)
        return status;
    status = rtlAggregateGroups(aggregate, &groups, &count);
    for (size_t i = 0; i < count && status == RTL_OK; ++i) {
        list->kernel_ns += groups[i].total;
        if (groups[i].graph == RTL_TRACE_NONE)
            continue;
        struct line *line = find(list, groups[i].process, groups[i].graph, groups[i].generation);
        if (line)
            line->kernel_ns += groups[i].total;
    }
    rtlAggregateFree(aggregate);
    return status;
}

static int by_kernel_time(const void *left, const void *right)
{
    const struct line *a = left;
    const struct line *b = right;
    if (a->kernel_ns != b->kernel_ns)
        return a->kernel_ns < b->kernel_ns ? 1 : -1;
    if (a->graph->process != b->graph->process)
        return a->graph->process < b->graph->process ? -1 : 1;
    if (a->graph->graph != b->graph->graph)
        return a->graph->graph < b->graph->graph ? -1 : 1;
    return (a->graph->generation > b->graph->generation) -
           (a->graph->generation < b->graph->generation);
}

static bool is_same_graph(const struct line *a, const struct line *b)
{
    return a->graph->process == b->graph->process && a->graph->graph == b->graph->graph;
}

/* Of a graph whose generations do different things those lines are left that were launched, or one
 * if none was. */
static void part(struct list *list)
{
    size_t kept = 0;
    for (size_t i = 0, next; i < list->count; i = next) {
        size_t launched = 0;
        for (next = i; next < list->count && is_same_graph(&list->lines[next], &list->lines[i]);
             ++next)
            launched += list->lines[next].launches > 0;
        for (size_t k = i; k < next; ++k) {
            struct line *line = &list->lines[k];
            if (parts(list) && line->launches == 0 && (launched || k > i)) {
                stats_free(&line->time);
                continue;
            }
            line->parted = parts(list) && launched > 1;
            list->lines[kept++] = *line;
        }
    }
    list->count = kept;
}

/* Graphs of which nothing is left. */
static void drop_without_launches(struct list *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; ++i) {
        if (list->lines[i].launches)
            list->lines[kept++] = list->lines[i];
        else
            stats_free(&list->lines[i].time);
    }
    list->count = kept;
}

static rtl_status_t read_list(rtl_trace_t *trace, struct list *list)
{
    rtl_status_t status = rtlTraceGraphs(trace, &list->graphs, &list->graph_count);
    if (status == RTL_OK)
        status = add_graphs(list, trace);
    if (status == RTL_OK)
        status = add_launches(list, trace);
    if (status == RTL_OK)
        status = add_kernels(list, trace);
    if (status == RTL_OK)
        status = unseen_read(trace, &list->unseen);
    if (status == RTL_OK)
        status = partial_read(trace, 0, &list->partial);
    if (status == RTL_OK)
        part(list);
    if (status == RTL_OK && selection_is(&list->selection))
        drop_without_launches(list);
    if (list->count)
        qsort(list->lines, list->count, sizeof *list->lines, by_kernel_time);
    return status;
}

static uint64_t count_launches(const struct list *list)
{
    uint64_t count = 0;
    for (size_t i = 0; i < list->graph_count; ++i)
        count += list->graphs[i].launches;
    return count;
}

static void sum_up(const struct list *list, uint64_t *launches, uint64_t *kernel_ns,
                   uint64_t *partial)
{
    for (size_t i = 0; i < list->count; ++i) {
        *launches += list->lines[i].launches;
        *kernel_ns += list->lines[i].kernel_ns;
        *partial += list->lines[i].partial;
    }
}

static void show_line(rtl_trace_t *trace, struct table *table, const struct list *list,
                      struct line *line)
{
    char name[64];
    const rtl_graph_t *graph = line->graph;
    struct graph_name id = graph_id_name(trace, graph->process, graph->graph);
    bool one = list->options->generations || line->parted;
    if (one)
        (void)snprintf(name, sizeof name, "%s.%" PRIu32, id.text, graph->generation);
    table_cell(table, one ? name : id.text);
    table_cell(table, graph->nodes == RTL_TRACE_NONE ? "?" : show_count(graph->nodes).text);
    table_cell(table, show_count(line->launches).text);
    table_cell(table, line->time.count
                          ? show_duration((double)stats_quantile(&line->time, 500)).text
                          : "-");
    table_cell(table, line->time.count
                          ? show_duration((double)stats_quantile(&line->time, 900)).text
                          : "-");
    table_cell(table, line->time.count
                          ? show_duration((double)stats_quantile(&line->time, 990)).text
                          : "-");
    table_cell(table, show_share(line->kernel_ns, list->kernel_ns).text);
    if (!list->options->generations)
        table_cell(table, show_count(line->launched ? line->launched : line->generations).text);
    table_cell(table, graph->source);
}

static bool is_listed(const struct list *list, const rtl_graph_t *graph)
{
    for (size_t i = 0; i < list->count; ++i)
        if (list->lines[i].graph->process == graph->process &&
            list->lines[i].graph->graph == graph->graph)
            return true;
    return false;
}

static uint64_t count_graphs(const struct list *list)
{
    uint64_t count = 0;
    for (size_t i = 0; i < list->graph_count; ++i)
        count += (i == 0 || list->graphs[i].process != list->graphs[i - 1].process ||
                  list->graphs[i].graph != list->graphs[i - 1].graph) &&
                 (!selection_is(&list->selection) || is_listed(list, &list->graphs[i]));
    return count;
}

/* The first line that stands for generations that do the same, beside others. */
static const struct line *find_parted(const struct list *list)
{
    for (size_t i = 0; i < list->count; ++i)
        if (list->lines[i].parted)
            return &list->lines[i];
    return NULL;
}

static int show_text(rtl_trace_t *trace, const struct list *list)
{
    static const char *const heading[] = {"graph", "nodes", "launches", "p50",
                                          "p90",   "p99",   "busy"};
    uint64_t launches = 0;
    uint64_t kernel_ns = 0;
    uint64_t partial = 0;
    sum_up(list, &launches, &kernel_ns, &partial);
    if (list->graph_count == 0) {
        (void)printf("%s has no graphs%s\n", plain(list->options->path), graph_id_why_none(trace));
        partial_show_none(&list->partial, stdout);
        unseen_show(&list->unseen, false, stdout);
        return EXIT_FINE;
    }
    (void)printf("%s, %s; their kernels: %s of the time of all kernels\n",
                 list->options->generations ? show_things(list->count, "generation").text
                                            : show_things(count_graphs(list), "graph").text,
                 show_things(launches, "launch").text, show_share(kernel_ns, list->kernel_ns).text);
    selection_show(&list->selection, launches, count_launches(list), "launch", stdout);
    if (list->count == 0)
        return EXIT_FINE;
    struct table *table = table_new(list->options->generations ? "rrrrrrrl" : "rrrrrrrrl");
    for (size_t i = 0; i < sizeof heading / sizeof heading[0]; ++i)
        table_cell(table, heading[i]);
    if (!list->options->generations)
        table_cell(table, "gens");
    table_cell(table, "by");
    unsigned top = list->options->top;
    for (size_t i = 0; i < list->count && (!top || i < top); ++i)
        show_line(trace, table, list, &list->lines[i]);
    table_print(table, stdout);
    if (top && list->count > top)
        (void)printf("  and %zu more (--top 0)\n", list->count - top);
    const struct line *parted = find_parted(list);
    if (parted)
        (void)printf("  %s.%" PRIu32 " is generation %" PRIu32 " of graph %s, the last of %s "
                     "(gens) that do the same\n",
                     graph_id_name(trace, parted->graph->process, parted->graph->graph).text,
                     parted->graph->generation, parted->graph->generation,
                     graph_id_name(trace, parted->graph->process, parted->graph->graph).text,
                     show_count(parted->launched).text);
    partial_show(&list->partial, partial, "p50, p90 and p99", stdout);
    unseen_show(&list->unseen, false, stdout);
    return EXIT_FINE;
}

static json_t *or_null(const struct stats *stats, uint64_t value)
{
    return stats->count ? open_number(value) : json_null();
}

static json_t *json_line(const struct list *list, struct line *line)
{
    const rtl_graph_t *graph = line->graph;
    json_t *object = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:f}", "process", open_id(graph->process),
        "graph", open_id(graph->graph), "generation", open_id(graph->generation), "nodes",
        open_id(graph->nodes), "source", open_text(graph->source), "launches",
        open_number(line->launches), "partial", open_number(line->partial), "kernels",
        open_number(line->kernels), "kernel_ns", open_number(line->kernel_ns), "share",
        list->kernel_ns ? (double)line->kernel_ns / (double)list->kernel_ns : 0.0);
    (void)json_object_set_new(object, "generations", open_id(line->generations));
    (void)json_object_set_new(object, "p50_ns",
                              or_null(&line->time, stats_quantile(&line->time, 500)));
    (void)json_object_set_new(object, "p90_ns",
                              or_null(&line->time, stats_quantile(&line->time, 900)));
    (void)json_object_set_new(object, "p99_ns",
                              or_null(&line->time, stats_quantile(&line->time, 990)));
    (void)json_object_set_new(object, "max_ns", or_null(&line->time, line->time.max));
    (void)json_object_set_new(object, "total_ns", open_number(line->time.total));
    return object;
}

static int show_json(const struct list *list)
{
    json_t *graphs = json_array();
    unsigned top = list->options->top;
    uint64_t launches = 0;
    uint64_t kernel_ns = 0;
    uint64_t partial = 0;
    sum_up(list, &launches, &kernel_ns, &partial);
    for (size_t i = 0; i < list->count && (!top || i < top); ++i)
        (void)json_array_append_new(graphs, json_line(list, &list->lines[i]));
    return open_print_json(
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "file", open_text(list->options->path),
                  "filter",
                  selection_json(&list->selection, launches, count_launches(list), "launch"),
                  "kernel_ns", open_number(list->kernel_ns), "graphs", graphs, "partial_why",
                  partial_json(&list->partial, partial), "unseen_hips", unseen_json(&list->unseen)),
        EXIT_FINE);
}

static const struct argp_option option_list[] = {
    {"top", 'n', "COUNT", 0, "how many graphs are shown, 50 by default (JSON: all), 0 for all", 0},
    {"generations", 'g', NULL, 0, "a line for each generation of a graph", 0},
    {"json", 'j', NULL, 0, "write JSON", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'n':
        options->top_given = true;
        return parse_count("top", value, &options->top);
    case 'g':
        options->generations = true;
        return 0;
    case 'j':
        options->json = true;
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->filter;
        return 0;
    case ARGP_KEY_ARG:
        return trace_command_take(value, &options->path);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void free_list(struct list *list)
{
    for (size_t i = 0; i < list->count; ++i)
        stats_free(&list->lines[i].time);
    free(list->lines);
    free(list->line_of);
    unseen_free(&list->unseen);
    selection_free(&list->selection);
}

static int with_trace(const struct options *options)
{
    rtl_trace_t *trace = open_trace(options->path);
    struct list list = {.options = options};
    if (!trace)
        return EXIT_USAGE;
    int status =
        selection_apply_launches(trace, options->path, &options->filter, false, &list.selection);
    if (status == EXIT_FINE && read_list(trace, &list) != RTL_OK)
        status = open_failed(trace, options->path);
    else if (status == EXIT_FINE)
        status = options->json ? show_json(&list) : show_text(trace, &list);
    free_list(&list);
    rtlTraceClose(trace);
    return status;
}

int graph_list(int argc, char **argv)
{
    static const char doc[] =
        "Lists the graphs of a trace: how often each was launched, how long a launch takes on the "
        "GPU, and how much of the time of all kernels is theirs."
        "\vThe time of a launch is that from its first kernel's start to its last one's end. busy: "
        "time of the graph's kernels, of the time of all kernels that the filters leave. Launches "
        "are "
        "filtered by when their first kernel starts.\n\n"
        "Examples:\n"
        "  rtl graph list trace.db\n"
        "  rtl graph list trace.db --generations\n"
        "  rtl graph list trace.db --json";
    const struct argp argp = {.options = option_list,
                              .parser = parse_option,
                              .args_doc = "FILE",
                              .doc = doc,
                              .children = filter_children(GRAPH_FILTERS)};
    struct options options = {.top = TOP_DEFAULT};
    int status = EXIT_USAGE;
    if (parse(&argp, argc, argv, 0, &options) == 0 &&
        trace_command_needs(options.path, "rtl graph list FILE") == 0) {
        if (options.json && !options.top_given)
            options.top = 0;
        status = with_trace(&options);
    }
    filter_free(&options.filter);
    return status;
}

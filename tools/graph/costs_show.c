/* rtl graph costs: what making graphs cost the host. */
#include "analysis/graph_id.h"
#include "analysis/selection.h"
#include "common/command.h"
#include "common/open.h"
#include "common/parse.h"
#include "common/say.h"
#include "common/show.h"
#include "common/table.h"
#include "common/trace_command.h"
#include "graph/costs.h"
#include "graph/parts.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#define TOP_DEFAULT 20u

struct options {
    const char *path;
    unsigned top; /* 0: all */
    bool json;
    struct filter filter;
};

struct view {
    rtl_trace_t *trace;
    const struct options *options;
    const struct selection *selection;
    const struct graph_costs *costs;
    uint64_t all; /* graphs, those of other processes too */
};

static int by_time(const void *left, const void *right)
{
    uint64_t a = graph_costs_sum(left).ns;
    uint64_t b = graph_costs_sum(right).ns;
    if (a != b)
        return a < b ? 1 : -1;
    const struct graph_costs_line *x = left;
    const struct graph_costs_line *y = right;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return (x->graph > y->graph) - (x->graph < y->graph);
}

static void cell_sum(struct table *table, const struct graph_cost_sum *sum)
{
    table_cell(table, sum->count ? show_duration((double)sum->ns).text : "-");
}

static void show_line(rtl_trace_t *trace, struct table *table, const struct graph_costs_line *line)
{
    const struct graph_cost_sum *sums = line->sums;
    struct graph_cost_sum all = graph_costs_sum(line);
    struct graph_cost_sum other = {sums[GRAPH_COST_UPLOAD].count + sums[GRAPH_COST_DESTROY].count,
                                   sums[GRAPH_COST_UPLOAD].ns + sums[GRAPH_COST_DESTROY].ns, 0};
    bool none = line->graph == RTL_TRACE_NONE;
    table_cell(table, none ? "none" : graph_id_name(trace, line->process, line->graph).text);
    table_cell(table, none ? "-" : show_count(line->generations).text);
    table_cell(table, show_duration((double)all.ns).text);
    table_cell(table, show_duration((double)all.idle).text);
    cell_sum(table, &sums[GRAPH_COST_CAPTURE]);
    cell_sum(table, &sums[GRAPH_COST_INSTANTIATE]);
    cell_sum(table, &sums[GRAPH_COST_UPDATE]);
    table_cell(table, show_count(sums[GRAPH_COST_UPDATE].count).text);
    cell_sum(table, &other);
}

static void show_head(const struct graph_costs *costs)
{
    struct graph_cost_sum all = {0};
    uint64_t unused = 0;
    uint64_t generations = 0;
    for (size_t i = 0; i < costs->count; ++i) {
        struct graph_cost_sum sum = graph_costs_sum(&costs->lines[i]);
        all.count += sum.count;
        all.ns += sum.ns;
        all.idle += sum.idle;
        unused += costs->lines[i].unused;
        generations += costs->lines[i].generations;
    }
    (void)printf("graphs cost the host %s, for %s of which the GPU was idle\n",
                 show_duration((double)all.ns).text, show_duration((double)all.idle).text);
    if (unused)
        (void)printf("  %s of %s %s never launched\n", show_count(unused).text,
                     show_things(generations, "generation").text, unused == 1 ? "was" : "were");
}

static uint64_t count_graphs(const struct graph_costs *costs)
{
    uint64_t count = 0;
    for (size_t i = 0; i < costs->count; ++i)
        count += costs->lines[i].graph != RTL_TRACE_NONE;
    return count;
}

static int show_text(const struct view *view)
{
    const struct graph_costs *costs = view->costs;
    unsigned top = view->options->top;
    static const char *const heads[] = {"graph",    "gens",   "host",  "GPU idle", "capture",
                                        "instant.", "update", "times", "other"};
    show_head(costs);
    selection_show(view->selection, count_graphs(costs), view->all, "graph", stdout);
    if (costs->count == 0)
        return EXIT_FINE;
    struct table *table = table_new("rrrrrrrrr");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; ++i)
        table_cell(table, heads[i]);
    size_t count = top && top < costs->count ? top : costs->count;
    for (size_t i = 0; i < count; ++i)
        show_line(view->trace, table, &costs->lines[i]);
    table_print(table, stdout);
    if (count < costs->count)
        (void)printf("  and %zu more (--top 0)\n", costs->count - count);
    return EXIT_FINE;
}

static json_t *json_line(const struct graph_costs_line *line)
{
    json_t *object = json_pack("{s:o, s:o, s:o, s:o}", "process", open_id(line->process), "graph",
                               open_id(line->graph), "generations", open_id(line->generations),
                               "unused", open_id(line->unused));
    for (unsigned kind = 0; kind < GRAPH_COSTS; ++kind) {
        const struct graph_cost_sum *sum = &line->sums[kind];
        (void)json_object_set_new(object, graph_cost_name(kind),
                                  json_pack("{s:o, s:o, s:o}", "count", open_number(sum->count),
                                            "ns", open_number(sum->ns), "idle_ns",
                                            open_number(sum->idle)));
    }
    return object;
}

static int show_json(const struct view *view)
{
    const struct graph_costs *costs = view->costs;
    json_t *graphs = json_array();
    for (size_t i = 0; i < costs->count; ++i)
        (void)json_array_append_new(graphs, json_line(&costs->lines[i]));
    return open_print_json(
        json_pack("{s:o, s:o, s:o}", "file", open_text(view->options->path), "filter",
                  selection_json(view->selection, count_graphs(costs), view->all, "graph"),
                  "graphs", graphs),
        EXIT_FINE);
}

static void leave_out(struct graph_costs *costs, const struct selection *selection)
{
    size_t kept = 0;
    for (size_t i = 0; i < costs->count; ++i)
        if (selection_has_process(selection, costs->lines[i].process))
            costs->lines[kept++] = costs->lines[i];
    costs->count = kept;
}

static int show(rtl_trace_t *trace, const struct options *options,
                const struct selection *selection)
{
    struct graph_costs costs;
    int status;
    if (graph_costs_read(trace, &costs) != RTL_OK)
        status = open_failed(trace, options->path);
    else if (costs.count == 0)
        status =
            say_fail(EXIT_USAGE, "%s has no graphs%s", options->path, graph_id_why_none(trace));
    else {
        const struct view view = {trace, options, selection, &costs, count_graphs(&costs)};
        leave_out(&costs, selection);
        if (costs.count)
            qsort(costs.lines, costs.count, sizeof *costs.lines, by_time);
        status = options->json ? show_json(&view) : show_text(&view);
    }
    graph_costs_free(&costs);
    return status;
}

static const struct argp_option option_list[] = {
    {"top", 'n', "COUNT", 0, "how many graphs are shown, 20 by default, 0 for all; not in JSON", 0},
    {"json", 'j', NULL, 0, "write JSON", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'n':
        return parse_count("top", value, &options->top);
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

static int with_trace(const struct options *options)
{
    struct selection selection;
    rtl_trace_t *trace = open_trace(options->path);
    if (!trace)
        return EXIT_USAGE;
    int status = selection_apply(trace, options->path, &options->filter, &selection);
    if (status == EXIT_FINE)
        status = show(trace, options, &selection);
    selection_free(&selection);
    rtlTraceClose(trace);
    return status;
}

int graph_costs(int argc, char **argv)
{
    static const char doc[] =
        "Shows what the graphs of a trace cost the host to make and to change, and for how long of "
        "that the GPU was idle."
        "\vcapture: from hipStreamBeginCapture to hipStreamEndCapture, or the calls that add "
        "nodes. instant.: hipGraphInstantiate. update: hipGraphExecUpdate and the calls that set "
        "the parameters of a node, with how many. other: upload and destruction. \"none\" is what "
        "belongs to no graph that was instantiated while RTL recorded.\n\n"
        "Examples:\n"
        "  rtl graph costs trace.db";
    const struct argp argp = {.options = option_list,
                              .parser = parse_option,
                              .args_doc = "FILE",
                              .doc = doc,
                              .children = filter_children(FILTER_PROCESSES)};
    struct options options = {.top = TOP_DEFAULT};
    int status = EXIT_USAGE;
    if (parse(&argp, argc, argv, 0, &options) == 0 &&
        trace_command_needs(options.path, "rtl graph costs FILE") == 0)
        status = with_trace(&options);
    filter_free(&options.filter);
    return status;
}

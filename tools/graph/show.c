/* rtl graph show: where the time of a graph goes, node by node. */
#include "common/show.h"
#include "analysis/graph_id.h"
#include "analysis/graph_layers_json.h"
#include "analysis/graph_read.h"
#include "analysis/stats_json.h"
#include "common/command.h"
#include "common/memory.h"
#include "common/open.h"
#include "common/parse.h"
#include "common/plain.h"
#include "common/say.h"
#include "common/shorten.h"
#include "common/table.h"
#include "graph/argument.h"
#include "graph/find.h"
#include "graph/layers_show.h"
#include "graph/parts.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TOP_DEFAULT 20u
#define NAME_LEAST  12u /* columns of the name of a finding's kernel; with fewer it is not shown */
#define OF_A_KIND   5u  /* findings that are shown */

enum sorting { BY_TIME, BY_NODE, BY_GAP, BY_VARIATION, SORTINGS };

static const char *const sortings[SORTINGS] = {"time", "node", "gap", "cv"};

struct options {
    struct graph_argument of;
    unsigned top; /* 0: all */
    bool top_given;
    enum sorting sorting;
    bool sorting_given;
    bool layers, wide, json;
};

struct view {
    const struct options *options;
    rtl_trace_t *trace;
    struct selection selection;
    rtl_graph_t *copies;      /* of the generations */
    const rtl_graph_t *graph; /* the generation that is shown */
    uint32_t generations;
    struct graph_reading reading;
    struct graph_layers layers; /* empty where they are not asked for */
    struct graph_finding *findings;
    size_t finding_count;
    uint32_t *order; /* nodes with kernels, as they are shown */
    size_t order_count;
    size_t node_count;  /* those too whose kernels are filtered out */
    uint64_t kernel_ns; /* of all nodes */
    uint64_t outliers;  /* replays above the limit */
    uint64_t limit;
    struct graph_name name;
};

/* Of several generations the one that was launched most, and of those the latest. */
static const rtl_graph_t *choose(const rtl_graph_t *generations, size_t count)
{
    const rtl_graph_t *most = generations;
    for (size_t i = 1; i < count; ++i)
        if (generations[i].launches >= most->launches)
            most = &generations[i];
    return most;
}

/* qsort has no place for what it compares by. */
static const struct view *sorted_view;

static double weight(const struct view *view, uint32_t number)
{
    struct graph_node *node = &view->reading.nodes[number];
    switch (view->options->sorting) {
    case BY_TIME:
        return (double)node->time.total;
    case BY_GAP:
        return (double)node->gap.total;
    case BY_VARIATION:
        return stats_variation(&node->time);
    default:
        return 0;
    }
}

static int by_weight(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;
    double x = weight(sorted_view, a);
    double y = weight(sorted_view, b);
    if (x != y)
        return x < y ? 1 : -1;
    return (a > b) - (a < b);
}

static void put_in_order(struct view *view)
{
    view->order = memory_new(view->reading.node_count, sizeof *view->order);
    for (uint32_t i = 0; i < view->reading.node_count; ++i) {
        view->kernel_ns += view->reading.nodes[i].time.total;
        if (view->reading.nodes[i].time.count == 0)
            continue;
        ++view->node_count;
        if (selection_has_kernel(&view->selection, view->reading.nodes[i].name))
            view->order[view->order_count++] = i;
    }
    sorted_view = view;
    qsort(view->order, view->order_count, sizeof *view->order, by_weight);
}

static void count_outliers(struct view *view)
{
    view->limit = graph_outlier_limit(&view->reading);
    for (size_t i = 0; i < view->reading.replay_count; ++i)
        view->outliers += graph_replay_time(&view->reading.replays[i]) > view->limit;
}

/* Kernels' nodes that are on the critical path of most launches, and their time there. */
static uint64_t count_critical(const struct view *view)
{
    uint64_t count = 0;
    for (size_t i = 0; i < view->reading.node_count; ++i)
        count += 2 * view->reading.nodes[i].critical > view->reading.path.count;
    return count;
}

static struct shown duration(struct stats *stats, unsigned per_mille)
{
    return show_duration((double)stats_quantile(stats, per_mille));
}

/* Of the launches of the generation, or where kernels are filtered of its nodes with kernels. */
static void count_shown(const struct view *view, uint64_t *shown, uint64_t *all, const char **what)
{
    const struct graph_id id = {view->graph->process, view->graph->graph, view->graph->generation};
    bool nodes = view->selection.filter->kernel != NULL;
    *shown = nodes ? view->order_count : view->reading.launches;
    *all = nodes ? view->node_count : graph_argument_launches(view->trace, &id);
    *what = nodes ? "node" : "launch";
}

static void show_filter(const struct view *view)
{
    uint64_t shown;
    uint64_t all;
    const char *what;
    count_shown(view, &shown, &all, &what);
    selection_show(&view->selection, shown, all, what, stdout);
}

static json_t *json_filter(const struct view *view)
{
    uint64_t shown;
    uint64_t all;
    const char *what;
    count_shown(view, &shown, &all, &what);
    return selection_json(&view->selection, shown, all, what);
}

static void show_head(struct view *view)
{
    struct graph_reading *reading = &view->reading;
    char text[64];
    (void)snprintf(text, sizeof text, "graph %s.%" PRIu32, view->name.text,
                   view->graph->generation);
    show_styled(stdout, SHOW_BOLD, text);
    uint64_t nodes = view->node_count;
    if (reading->replay_count == 0 && view->graph->nodes != RTL_TRACE_NONE)
        nodes = view->graph->nodes;
    (void)printf(": %s, %s", show_things(nodes, "node").text,
                 show_things(reading->launches, "launch").text);
    if (reading->time.count)
        (void)printf(" of %s (p50), %s (p99)", duration(&reading->time, 500).text,
                     duration(&reading->time, 990).text);
    (void)putchar('\n');
    show_filter(view);
    if (view->generations > 1)
        (void)printf("  the generation that was launched most, of %" PRIu32
                     "; %s.N shows another\n",
                     view->generations, view->name.text);
    graph_reading_show_partial(reading, stdout);
    if (!reading->time.count)
        return;
    uint64_t idle = reading->idle.total;
    (void)printf("  kernels run for %s of a launch, none of them for %s of it\n",
                 show_share(reading->time.total - idle, reading->time.total).text,
                 show_share(idle, reading->time.total).text);
    if (reading->before.count)
        (void)printf("  between launches %s (p50), the GPU idle for %s (p50) of it\n",
                     duration(&reading->before, 500).text,
                     duration(&reading->before_idle, 500).text);
    if (reading->branches && reading->path.count)
        (void)printf("  critical path: %s of %zu nodes, whose kernels take %s (p50)\n",
                     show_count(count_critical(view)).text, view->node_count,
                     duration(&reading->path, 500).text);
}

static void describe(struct view *view, const struct graph_finding *finding, char *text,
                     size_t size)
{
    struct stats *time = &view->reading.nodes[finding->node].time;
    switch (finding->kind) {
    case GRAPH_SLOW:
        (void)snprintf(text, size, "p50 %s, %" PRIu32 " alike: %s", duration(time, 500).text,
                       finding->others, show_duration((double)finding->usual).text);
        break;
    case GRAPH_UNSTEADY:
        (void)snprintf(text, size, "cv %.0f %%, p50 %s, p99 %s, max %s", 100 * finding->variation,
                       duration(time, 500).text, duration(time, 990).text,
                       show_duration((double)time->max).text);
        break;
    default:
        (void)snprintf(text, size, "idle for %s before it (p50), %s of a launch",
                       show_duration((double)finding->weight).text,
                       show_share(finding->weight, stats_quantile(&view->reading.time, 500)).text);
        break;
    }
}

/* What is said of a finding before the name of its kernel. */
struct finding_text {
    char text[320];
};

static struct finding_text text_of(struct view *view, const struct graph_finding *finding)
{
    struct finding_text text;
    int used = snprintf(text.text, sizeof text.text, "%*s node %" PRIu32 ": ",
                        (int)(8 - strlen(graph_finding_name(finding->kind))), "", finding->node);
    describe(view, finding, text.text + used, sizeof text.text - (size_t)used);
    return text;
}

/* Their names, as they fit beside what is said of them; "" where there is no room. */
static char **finding_names(struct view *view)
{
    struct shorten_item *items = memory_new(view->finding_count, sizeof *items);
    unsigned width = view->options->wide ? 0 : show_width(stdout);
    for (size_t i = 0; i < view->finding_count; ++i) {
        const struct graph_finding *finding = &view->findings[i];
        unsigned used = 4 + (unsigned)strlen(graph_finding_name(finding->kind)) +
                        plain_width(text_of(view, finding).text);
        bool room = width == 0 || width >= used + NAME_LEAST;
        items[i] = (struct shorten_item){room ? view->reading.nodes[finding->node].name : "",
                                         width ? width - used : UINT_MAX};
    }
    char **names = shorten_names(items, view->finding_count);
    free(items);
    return names;
}

static void show_finding(struct view *view, const struct graph_finding *finding, const char *name)
{
    (void)printf("  ");
    show_styled(stdout, SHOW_BAD, graph_finding_name(finding->kind));
    (void)printf("%s%s%s\n", text_of(view, finding).text, name[0] ? "  " : "", name);
}

static void show_findings(struct view *view)
{
    unsigned of_kind = 0;
    char **names = finding_names(view);
    for (size_t i = 0; i < view->finding_count; ++i) {
        const struct graph_finding *finding = &view->findings[i];
        of_kind = i > 0 && finding->kind == finding[-1].kind ? of_kind + 1 : 0;
        if (of_kind < OF_A_KIND || view->options->top == 0)
            show_finding(view, finding, names[i]);
        bool last = i + 1 == view->finding_count || finding[1].kind != finding->kind;
        if (last && of_kind >= OF_A_KIND && view->options->top)
            (void)printf("  %-8s and %u more (--top 0)\n", graph_finding_name(finding->kind),
                         of_kind + 1 - OF_A_KIND);
    }
    shorten_free(names, view->finding_count);
    if (view->outliers) {
        (void)printf("  ");
        show_styled(stdout, SHOW_BAD, "outliers");
        (void)printf(" %s of %s launches took more than %s: rtl graph launches\n",
                     show_count(view->outliers).text, show_count(view->reading.replay_count).text,
                     show_duration((double)view->limit).text);
    }
}

static void show_node(const struct view *view, struct table *table, uint32_t number)
{
    struct graph_node *node = &view->reading.nodes[number];
    char text[32];
    table_cell(table, show_count(number).text);
    table_cell(table, duration(&node->time, 500).text);
    table_cell(table, duration(&node->time, 990).text);
    (void)snprintf(text, sizeof text, "%.1f %%", 100 * stats_variation(&node->time));
    table_cell(table, text);
    table_cell(table, node->gap.count ? duration(&node->gap, 500).text : "-");
    table_cell(table, show_share(node->time.total, view->kernel_ns).text);
    if (view->reading.branches)
        table_cell(table, show_share(node->critical, view->reading.path.count).text);
    table_cell(table, node->name[0] ? node->name : node->node ? node->node->type : "");
}

static void show_nodes(struct view *view)
{
    static const char *const heading[] = {"node", "p50", "p99", "cv", "gap", "share"};
    unsigned top = view->options->top;
    if (view->order_count == 0)
        return;
    (void)putchar('\n');
    struct table *table = table_new(view->reading.branches ? "rrrrrrrn" : "rrrrrrn");
    table_wide(table, view->options->wide);
    for (size_t i = 0; i < sizeof heading / sizeof heading[0]; ++i)
        table_cell(table, heading[i]);
    if (view->reading.branches)
        table_cell(table, "path");
    table_cell(table, "kernel");
    for (size_t i = 0; i < view->order_count && (!top || i < top); ++i)
        show_node(view, table, view->order[i]);
    table_print(table, stdout);
    if (top && view->order_count > top)
        (void)printf("  and %zu more (--top 0)\n", view->order_count - top);
    if (view->reading.nowhere)
        (void)printf("  kernels whose node is not known: %s\n",
                     show_count(view->reading.nowhere).text);
    if (view->reading.unsure)
        (void)printf("  kernels that may be of another node which runs the same: %s\n",
                     show_count(view->reading.unsure).text);
}

static json_t *json_dependencies(const rtl_graph_node_t *node)
{
    json_t *list = json_array();
    for (uint32_t i = 0; node && i < node->dependency_count; ++i)
        (void)json_array_append_new(list, open_id(node->dependencies[i]));
    return list;
}

static json_t *json_node(const struct view *view, uint32_t number)
{
    struct graph_node *node = &view->reading.nodes[number];
    const uint32_t *grid = node->node ? node->node->grid : NULL;
    const uint32_t *block = node->node ? node->node->block : NULL;
    json_t *object =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:f}", "node", open_id(number), "name",
                  open_text(node->name), "type", open_text(node->node ? node->node->type : ""),
                  "time", graph_stats_json(&node->time), "gap", graph_stats_json(&node->gap),
                  "dependencies", json_dependencies(node->node), "share",
                  view->kernel_ns ? (double)node->time.total / (double)view->kernel_ns : 0.0);
    (void)json_object_set_new(object, "grid", grid ? graph_sizes_json(grid) : json_null());
    (void)json_object_set_new(object, "block", block ? graph_sizes_json(block) : json_null());
    (void)json_object_set_new(object, "critical_launches",
                              view->reading.branches ? open_number(node->critical) : json_null());
    (void)json_object_set_new(object, "critical_ns",
                              view->reading.branches ? open_number(node->critical_ns)
                                                     : json_null());
    return object;
}

static json_t *json_findings(const struct view *view)
{
    json_t *list = json_array();
    for (size_t i = 0; i < view->finding_count; ++i) {
        const struct graph_finding *finding = &view->findings[i];
        (void)json_array_append_new(
            list,
            json_pack("{s:s, s:o, s:o, s:o, s:o}", "kind", graph_finding_name(finding->kind),
                      "node", open_id(finding->node), "name",
                      open_text(view->reading.nodes[finding->node].name), "weight_ns",
                      open_number(finding->weight), "usual_ns",
                      finding->kind == GRAPH_SLOW ? open_number(finding->usual) : json_null()));
    }
    return list;
}

static int show_json(struct view *view)
{
    struct graph_reading *reading = &view->reading;
    unsigned top = view->options->top;
    json_t *nodes = json_array();
    for (size_t i = 0; i < view->order_count && (!top || i < top); ++i)
        (void)json_array_append_new(nodes, json_node(view, view->order[i]));
    json_t *object = json_pack(
        "{s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o}", "file", open_text(view->options->of.path),
        "process", open_id(view->graph->process), "graph", open_id(view->graph->graph),
        "generation", open_id(view->graph->generation), "source", view->graph->source, "launches",
        open_number(reading->launches), "whole_launches", open_number(reading->replay_count),
        "kernel_ns", open_number(view->kernel_ns), "time", graph_stats_json(&reading->time));
    (void)json_object_set_new(object, "partial_why", graph_reading_partial_json(reading));
    (void)json_object_set_new(object, "idle", graph_stats_json(&reading->idle));
    (void)json_object_set_new(object, "between", graph_stats_json(&reading->before));
    (void)json_object_set_new(object, "between_idle", graph_stats_json(&reading->before_idle));
    (void)json_object_set_new(object, "critical_path", graph_stats_json(&reading->path));
    (void)json_object_set_new(object, "branches", json_boolean(reading->branches));
    (void)json_object_set_new(object, "outlier_limit_ns", open_number(view->limit));
    (void)json_object_set_new(object, "outliers", open_number(view->outliers));
    (void)json_object_set_new(object, "unknown_kernels", open_number(reading->nowhere));
    (void)json_object_set_new(object, "uncertain_kernels", open_number(reading->unsure));
    (void)json_object_set_new(object, "findings", json_findings(view));
    (void)json_object_set_new(object, "nodes", nodes);
    (void)json_object_set_new(object, "filter", json_filter(view));
    if (view->options->layers)
        (void)json_object_set_new(object, "layers", graph_layers_json(&view->layers, reading));
    return open_print_json(object, EXIT_FINE);
}

static int show_text(struct view *view)
{
    const struct options *options = view->options;
    show_head(view);
    if (options->layers) {
        graph_layers_show(&view->layers, &view->reading, options->top_given ? options->top : 0,
                          options->top, options->wide);
        return EXIT_FINE;
    }
    show_findings(view);
    show_nodes(view);
    return EXIT_FINE;
}

/* Those of kernels that are filtered out. */
static void leave_findings_out(struct view *view)
{
    size_t kept = 0;
    for (size_t i = 0; i < view->finding_count; ++i)
        if (selection_has_kernel(&view->selection,
                                 view->reading.nodes[view->findings[i].node].name))
            view->findings[kept++] = view->findings[i];
    view->finding_count = kept;
}

/* Kernels are filtered by their nodes, which are shown: launches stay whole. */
static int select_launches(struct view *view)
{
    const struct graph_argument *of = &view->options->of;
    return selection_apply_launches(view->trace, of->path, &of->filter, true, &view->selection);
}

static int show_graph(struct view *view)
{
    struct graph_id id;
    size_t count;
    int status = select_launches(view);
    if (status == EXIT_FINE)
        status = graph_argument_find(view->trace, &view->options->of, &view->selection, &id,
                                     &view->copies, &count);
    if (status != EXIT_FINE)
        return status;
    view->graph = choose(view->copies, count);
    view->generations = (uint32_t)count;
    view->name = graph_id_name(view->trace, view->graph->process, view->graph->graph);
    rtl_status_t read =
        view->options->layers
            ? graph_layers_read(view->trace, view->graph, &view->reading, &view->layers)
            : graph_read(view->trace, view->graph, 1, &view->reading);
    if (read != RTL_OK)
        return open_failed(view->trace, view->options->of.path);
    put_in_order(view);
    count_outliers(view);
    view->findings = graph_find(&view->reading, &view->finding_count);
    leave_findings_out(view);
    if (graph_read_idle(view->trace, view->graph->process, &view->reading) != RTL_OK)
        status = open_failed(view->trace, view->options->of.path);
    else
        status = view->options->json ? show_json(view) : show_text(view);
    free(view->findings);
    free(view->order);
    graph_layers_free(&view->layers);
    graph_reading_free(&view->reading);
    return status;
}

static const struct argp_option option_list[] = {
    {"top", 'n', "COUNT", 0, "how many nodes are shown, 20 by default (JSON: all), 0 for all", 0},
    {"sort", 's', "WHAT", 0, "what comes first: time (default), node, gap or cv", 0},
    {"layers", 'l', NULL, 0, "the block of nodes that repeats, layer by layer", 0},
    {"wide", 'w', NULL, 0, "show names whole, however narrow the terminal is", 0},
    {"json", 'j', NULL, 0, "write JSON", 0},
    {0},
};

static int parse_sorting(const char *text, enum sorting *sorting)
{
    for (unsigned i = 0; i < SORTINGS; ++i)
        if (strcmp(sortings[i], text) == 0) {
            *sorting = (enum sorting)i;
            return 0;
        }
    return say_fail(EINVAL, "--sort is time, node, gap or cv, not '%s'", text);
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'n':
        options->top_given = true;
        return parse_count("top", value, &options->top);
    case 's':
        options->sorting_given = true;
        return parse_sorting(value, &options->sorting);
    case 'l':
        options->layers = true;
        return 0;
    case 'w':
        options->wide = true;
        return 0;
    case 'j':
        options->json = true;
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->of.filter;
        return 0;
    case ARGP_KEY_ARG:
        return graph_argument_take(&options->of, value);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* 0, or EXIT_USAGE when a sentence has been said. */
static int check_options(const struct options *options)
{
    if (graph_argument_needs(&options->of, "show"))
        return EXIT_USAGE;
    if (options->layers && options->sorting_given && !options->json)
        return say_fail(EXIT_USAGE, "--layers has its own order: --sort is for nodes");
    if (options->layers && options->of.filter.kernel)
        return say_fail(EXIT_USAGE, "--layers has blocks of all kernels: --kernel is for nodes");
    return 0;
}

static int with_trace(const struct options *options)
{
    struct view view = {.options = options, .trace = open_trace(options->of.path)};
    if (!view.trace)
        return EXIT_USAGE;
    int status = show_graph(&view);
    free(view.copies);
    selection_free(&view.selection);
    rtlTraceClose(view.trace);
    return status;
}

int graph_show(int argc, char **argv)
{
    static const char doc[] =
        "Shows where the time of a graph goes: per node how long its kernel takes, how steady that "
        "is, and how long nothing runs before it; and what stands out."
        "\vGRAPH is a number, 3.2 for its generation 2, 1:3 for that of process 1. Of several "
        "generations the one is shown that was launched most.\n"
        "cv: standard deviation over mean. gap: before the node, the time in which no kernel of "
        "the "
        "launch ran (p50). share: of the time of the graph's kernels. path: of the launches, those "
        "in whose critical path the node is; from the kernel that ended last, back to the one that "
        "each waited for longest: one that it depends on, or the one before it in its queue. Only "
        "where the nodes branch.\n"
        "slow: more than 1.5 times the p50 of two or more nodes with the same kernel and grid. "
        "unsteady: a cv of 25 % or more. gap: 1 % or more of a launch, and five times that before "
        "the "
        "median node.\n"
        "--layers: the shortest block of nodes, alike in kernel, grid and workgroup, that repeats "
        "exactly three times or more and holds at least half of the nodes. A layer's time is that "
        "from its first kernel's start to its last one's end; share: of the time of the layers' "
        "kernels; outlying: its p50 is further from the median of all layers' than 4 times their "
        "median distance from it, and than 5 %. Layers and places count from 0. --top is how many "
        "layers (all by default), and nodes outside of them.\n\n"
        "Examples:\n"
        "  rtl graph show trace.db 3\n"
        "  rtl graph show trace.db 3.2 --sort gap --top 5\n"
        "  rtl graph show trace.db 3 --layers\n"
        "  rtl graph show trace.db 3 --json";
    const struct argp argp = {.options = option_list,
                              .parser = parse_option,
                              .args_doc = "FILE GRAPH",
                              .doc = doc,
                              .children = filter_children(GRAPH_FILTERS | FILTER_KERNEL)};
    struct options options = {.top = TOP_DEFAULT};
    int status = EXIT_USAGE;
    if (parse(&argp, argc, argv, 0, &options) == 0 && check_options(&options) == 0) {
        if (options.json && !options.top_given)
            options.top = 0;
        status = with_trace(&options);
    }
    filter_free(&options.of.filter);
    return status;
}

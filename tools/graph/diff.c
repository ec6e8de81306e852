/* rtl graph diff: two graphs, generations or traces, node by node, and by place in their layers. */
#include "analysis/align.h"
#include "analysis/compare.h"
#include "analysis/graph_id.h"
#include "analysis/graph_layers.h"
#include "analysis/graph_places_diff.h"
#include "analysis/graph_read.h"
#include "common/command.h"
#include "common/memory.h"
#include "common/open.h"
#include "common/parse.h"
#include "common/plain.h"
#include "common/say.h"
#include "common/show.h"
#include "common/table.h"
#include "common/texts.h"
#include "graph/parts.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TOP_DEFAULT 20u

struct options {
    const char *paths[2];
    struct graph_id ids[2];
    unsigned path_count, id_count;
    unsigned top;
    const char *families; /* file of rules, NULL: none */
    bool all, wide, json;
};

struct side {
    const char *path;
    rtl_trace_t *trace;
    const rtl_graph_t *graph;
    struct graph_name name;
    struct graph_reading reading;
    struct graph_layers layers, *run; /* run: them, as a list */
    uint32_t *nodes;                  /* those with kernels, in order */
    size_t count;
    struct align_key *keys;
};

/* Two nodes that match, or a node that has no match on the other side. */
struct pair {
    uint32_t node[2]; /* RTL_TRACE_NONE: none */
    bool reshaped;    /* another grid or block */
    struct comparison time, gap;
};

/* A line of the table: a node's kernel, or the gap before it. */
struct change {
    const struct pair *pair;
    const struct comparison *comparison;
    bool gap;
};

struct diff {
    const struct options *options;
    struct side sides[2];
    struct texts names, shapes;
    struct pair *pairs;
    size_t pair_count;
    struct change *changes; /* the largest first */
    size_t change_count;
    struct comparison launch;
    struct places_diff places;
    size_t matched, only[2], slower, faster;
};

static const rtl_graph_t *choose(const rtl_graph_t *generations, size_t count)
{
    const rtl_graph_t *most = generations;
    for (size_t i = 1; i < count; ++i)
        if (generations[i].launches >= most->launches)
            most = &generations[i];
    return most;
}

/* The only graph of a trace, where none was named. */
static int find_only(struct side *side, struct graph_id *id)
{
    const rtl_graph_t *graphs;
    size_t count;
    if (rtlTraceGraphs(side->trace, &graphs, &count) != RTL_OK)
        return open_failed(side->trace, side->path);
    if (count == 0)
        return say_fail(EXIT_USAGE, "%s has no graphs%s", side->path,
                        graph_id_why_none(side->trace));
    if (graphs[0].process != graphs[count - 1].process ||
        graphs[0].graph != graphs[count - 1].graph)
        return say_fail(EXIT_USAGE,
                        "%s has several graphs: name one (rtl graph list %s shows them)",
                        side->path, side->path);
    *id = (struct graph_id){graphs[0].process, graphs[0].graph, 0};
    return EXIT_FINE;
}

static size_t number_of(struct texts *texts, const char *text)
{
    size_t number = texts_number(texts, text);
    if (number == TEXTS_NONE)
        memory_is_short();
    return number;
}

static void make_keys(struct diff *diff, struct side *side)
{
    side->nodes = memory_new(side->reading.node_count, sizeof *side->nodes);
    side->keys = memory_new(side->reading.node_count, sizeof *side->keys);
    for (uint32_t i = 0; i < side->reading.node_count; ++i) {
        const struct graph_node *node = &side->reading.nodes[i];
        char shape[128] = "";
        if (node->time.count == 0)
            continue;
        if (node->node)
            (void)snprintf(shape, sizeof shape,
                           "%" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32,
                           node->node->grid[0], node->node->grid[1], node->node->grid[2],
                           node->node->block[0], node->node->block[1], node->node->block[2]);
        side->keys[side->count] = (struct align_key){number_of(&diff->names, node->name),
                                                     number_of(&diff->shapes, shape)};
        side->nodes[side->count++] = i;
    }
}

static int read_side(struct diff *diff, struct side *side, struct graph_id id)
{
    const rtl_graph_t *generations;
    size_t count;
    int status = id.graph ? EXIT_FINE : find_only(side, &id);
    if (status == EXIT_FINE)
        status = graph_id_find(side->trace, side->path, &id, &generations, &count);
    if (status != EXIT_FINE)
        return status;
    side->graph = choose(generations, count);
    side->name = graph_id_name(side->trace, side->graph->process, side->graph->graph);
    if (graph_layers_read(side->trace, side->graph, &side->reading, &side->layers) != RTL_OK)
        return open_failed(side->trace, side->path);
    graph_layers_keep_work(&side->layers);
    make_keys(diff, side);
    return EXIT_FINE;
}

static void match(struct diff *diff)
{
    struct side *a = &diff->sides[0];
    struct side *b = &diff->sides[1];
    size_t *matches = align(a->keys, a->count, b->keys, b->count);
    bool *matched = memory_new(b->count, sizeof *matched);
    diff->pairs = memory_new(a->count + b->count, sizeof *diff->pairs);
    for (size_t i = 0; i < a->count; ++i) {
        struct pair *pair = &diff->pairs[diff->pair_count++];
        pair->node[0] = a->nodes[i];
        pair->node[1] = RTL_TRACE_NONE;
        if (matches[i] == SIZE_MAX) {
            ++diff->only[0];
            continue;
        }
        pair->node[1] = b->nodes[matches[i]];
        pair->reshaped = a->keys[i].shape != b->keys[matches[i]].shape;
        matched[matches[i]] = true;
        ++diff->matched;
    }
    for (size_t i = 0; i < b->count; ++i)
        if (!matched[i]) {
            ++diff->only[1];
            diff->pairs[diff->pair_count++] = (struct pair){.node = {RTL_TRACE_NONE, b->nodes[i]}};
        }
    free(matched);
    free(matches);
}

static int by_size(const void *left, const void *right)
{
    const struct change *a = left;
    const struct change *b = right;
    double x = fabs(a->comparison->difference);
    double y = fabs(b->comparison->difference);
    if (x != y)
        return x < y ? 1 : -1;
    if (a->pair->node[0] != b->pair->node[0])
        return a->pair->node[0] < b->pair->node[0] ? -1 : 1;
    return (int)a->gap - (int)b->gap;
}

static bool is_change(enum compare_verdict verdict)
{
    return verdict == COMPARE_SLOWER || verdict == COMPARE_FASTER;
}

static void add_change(struct diff *diff, const struct pair *pair,
                       const struct comparison *comparison, bool gap)
{
    diff->slower += !gap && comparison->verdict == COMPARE_SLOWER;
    diff->faster += !gap && comparison->verdict == COMPARE_FASTER;
    if (diff->options->all || is_change(comparison->verdict))
        diff->changes[diff->change_count++] = (struct change){pair, comparison, gap};
}

/* Kernels and gaps are one family: they are looked at together. */
static void compare_nodes(struct diff *diff)
{
    struct comparison **family = memory_new(2 * diff->matched, sizeof(struct comparison *));
    size_t count = 0;
    for (size_t i = 0; i < diff->pair_count; ++i) {
        struct pair *pair = &diff->pairs[i];
        if (pair->node[0] == RTL_TRACE_NONE || pair->node[1] == RTL_TRACE_NONE)
            continue;
        struct graph_node *a = &diff->sides[0].reading.nodes[pair->node[0]];
        struct graph_node *b = &diff->sides[1].reading.nodes[pair->node[1]];
        compare(&a->time, &b->time, &pair->time);
        compare(&a->gap, &b->gap, &pair->gap);
        family[count++] = &pair->time;
        family[count++] = &pair->gap;
    }
    compare_family(family, count);
    free(family);
    diff->changes = memory_new(2 * diff->matched, sizeof *diff->changes);
    for (size_t i = 0; i < diff->pair_count; ++i) {
        const struct pair *pair = &diff->pairs[i];
        if (pair->node[0] == RTL_TRACE_NONE || pair->node[1] == RTL_TRACE_NONE)
            continue;
        add_change(diff, pair, &pair->time, false);
        add_change(diff, pair, &pair->gap, true);
    }
    qsort(diff->changes, diff->change_count, sizeof *diff->changes, by_size);
}

static void compare_places(struct diff *diff, struct family_rules *rules)
{
    struct places_side sides[2];
    for (unsigned i = 0; i < 2; ++i) {
        struct side *side = &diff->sides[i];
        side->run = &side->layers;
        sides[i] = (struct places_side){&side->layers, &side->reading, &side->run, 1};
    }
    places_diff_make(sides, rules, &diff->places);
}

static void compare_launches(struct diff *diff)
{
    struct comparison *const family[] = {&diff->launch};
    compare(&diff->sides[0].reading.time, &diff->sides[1].reading.time, &diff->launch);
    compare_family(family, 1);
}

/* Text. */

static double part(double value, double whole)
{
    return whole > 0 ? 100 * value / whole : 0;
}

static void show_side(const struct side *side, const char *file)
{
    char text[96];
    (void)snprintf(text, sizeof text, "graph %s.%" PRIu32, side->name.text,
                   side->graph->generation);
    show_styled(stdout, SHOW_BOLD, text);
    (void)printf("%s%s (%s %s)", file ? " of " : "", file ? plain(file) : "",
                 show_count(side->reading.launches).text,
                 side->reading.launches == 1 ? "launch" : "launches");
}

static void show_launch(const struct diff *diff)
{
    const struct comparison *launch = &diff->launch;
    (void)printf("  a launch: %s (p50), then %s: ", show_duration(launch->a).text,
                 show_duration(launch->b).text);
    if (launch->verdict == COMPARE_TOO_FEW) {
        (void)printf("too few launches to compare\n");
        return;
    }
    if (launch->verdict == COMPARE_ALIKE) {
        (void)printf("no difference that is sure\n");
        return;
    }
    show_styled(stdout, launch->verdict == COMPARE_SLOWER ? SHOW_BAD : SHOW_GOOD,
                compare_name(launch->verdict));
    (void)printf(" by %.1f %% (%.1f to %.1f %%)\n", fabs(part(launch->difference, launch->a)),
                 fmin(fabs(part(launch->low, launch->a)), fabs(part(launch->high, launch->a))),
                 fmax(fabs(part(launch->low, launch->a)), fabs(part(launch->high, launch->a))));
}

static void show_head(const struct diff *diff)
{
    bool two = strcmp(diff->sides[0].path, diff->sides[1].path) != 0;
    show_side(&diff->sides[0], two ? diff->sides[0].path : NULL);
    (void)printf(", then ");
    show_side(&diff->sides[1], two ? diff->sides[1].path : NULL);
    (void)putchar('\n');
    for (unsigned i = 0; i < 2; ++i)
        graph_reading_show_partial(&diff->sides[i].reading, stdout);
    show_launch(diff);
    (void)printf("  %s %s: %zu slower, %zu faster; only first: %zu, only second: %zu\n",
                 show_things(diff->matched, "node").text, diff->matched == 1 ? "matches" : "match",
                 diff->slower, diff->faster, diff->only[0], diff->only[1]);
}

static const char *name_of(const struct diff *diff, const struct pair *pair)
{
    unsigned side = pair->node[0] == RTL_TRACE_NONE;
    return diff->sides[side].reading.nodes[pair->node[side]].name;
}

static void show_change(const struct diff *diff, struct table *table, const struct change *change)
{
    const struct comparison *one = change->comparison;
    char text[64];
    table_cell(table, show_count(change->pair->node[0]).text);
    table_cell(table, show_count(change->pair->node[1]).text);
    table_cell(table, show_duration(one->a).text);
    table_cell(table, show_duration(one->b).text);
    if (one->a > 0)
        (void)snprintf(text, sizeof text, "%+.1f %%", part(one->difference, one->a));
    else
        (void)snprintf(text, sizeof text, "%s", one->difference > 0 ? "new" : "0.0 %");
    table_cell(table, text);
    if (one->verdict == COMPARE_TOO_FEW)
        (void)snprintf(text, sizeof text, "few");
    else if (one->a > 0)
        (void)snprintf(text, sizeof text, "%.1f %%", part(one->high - one->difference, one->a));
    else
        (void)snprintf(text, sizeof text, "%s", show_duration(one->high - one->difference).text);
    table_cell(table, text);
    (void)snprintf(text, sizeof text, "%s%s", change->gap ? "gap before " : "",
                   change->pair->reshaped ? "(other grid) " : "");
    table_name(table, text, name_of(diff, change->pair));
}

static void show_changes(const struct diff *diff)
{
    static const char *const heading[] = {"node", "then", "p50", "then", "change", "+-", "kernel"};
    unsigned top = diff->options->top;
    if (diff->change_count == 0)
        return;
    (void)putchar('\n');
    struct table *table = table_new("rrrrrrn");
    table_wide(table, diff->options->wide);
    for (size_t i = 0; i < sizeof heading / sizeof heading[0]; ++i)
        table_cell(table, heading[i]);
    for (size_t i = 0; i < diff->change_count && (!top || i < top); ++i)
        show_change(diff, table, &diff->changes[i]);
    table_print(table, stdout);
    if (top && diff->change_count > top)
        (void)printf("  and %zu more (--top 0)\n", diff->change_count - top);
    (void)printf("  +-: 95 %% confidence%s\n",
                 diff->options->all ? ""
                                    : "; shown is what differs with 99 % over all nodes together");
}

/* Nodes in layers are told by their places. */
static bool is_only(const struct diff *diff, const struct pair *pair, unsigned side)
{
    return pair->node[!side] == RTL_TRACE_NONE && pair->node[side] != RTL_TRACE_NONE &&
           !places_diff_has(&diff->places, side, pair->node[side]);
}

static void show_only(const struct diff *diff, unsigned side)
{
    unsigned top = diff->options->top;
    size_t count = 0;
    size_t shown = 0;
    for (size_t i = 0; i < diff->pair_count; ++i)
        count += is_only(diff, &diff->pairs[i], side);
    if (count == 0)
        return;
    (void)printf("\nonly in the %s%s\n", side ? "second" : "first",
                 diff->places.found ? ", outside of the layers" : "");
    struct table *table = table_new("rrn");
    table_wide(table, diff->options->wide);
    table_cell(table, "node");
    table_cell(table, "p50");
    table_cell(table, "kernel");
    for (size_t i = 0; i < diff->pair_count; ++i) {
        const struct pair *pair = &diff->pairs[i];
        if (!is_only(diff, pair, side) || (top && shown++ >= top))
            continue;
        struct graph_node *node = &diff->sides[side].reading.nodes[pair->node[side]];
        table_cell(table, show_count(pair->node[side]).text);
        table_cell(table, show_duration((double)stats_quantile(&node->time, 500)).text);
        table_cell(table, node->name);
    }
    table_print(table, stdout);
    if (top && count > top)
        (void)printf("  and %zu more (--top 0)\n", count - top);
}

static int show_text(const struct diff *diff)
{
    show_head(diff);
    places_diff_show(&diff->places, diff->options->all);
    show_changes(diff);
    show_only(diff, 0);
    show_only(diff, 1);
    return EXIT_FINE;
}

/* JSON. */

static json_t *json_comparison(const struct comparison *one)
{
    bool told = one->verdict != COMPARE_TOO_FEW;
    return json_pack("{s:f, s:f, s:f, s:o, s:o, s:o, s:s}", "a_p50_ns", one->a, "b_p50_ns", one->b,
                     "difference_ns", one->difference, "low_ns",
                     told ? json_real(one->low) : json_null(), "high_ns",
                     told ? json_real(one->high) : json_null(), "p",
                     told ? json_real(one->p) : json_null(), "verdict", compare_name(one->verdict));
}

static json_t *json_pair(const struct diff *diff, const struct pair *pair)
{
    bool both = pair->node[0] != RTL_TRACE_NONE && pair->node[1] != RTL_TRACE_NONE;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "a_node", open_id(pair->node[0]), "b_node",
                     open_id(pair->node[1]), "name", open_text(name_of(diff, pair)), "reshaped",
                     both ? json_boolean(pair->reshaped) : json_null(), "time",
                     both ? json_comparison(&pair->time) : json_null(), "gap",
                     both ? json_comparison(&pair->gap) : json_null());
}

static json_t *json_side(const struct side *side)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "file", open_text(side->path),
                     "process", open_id(side->graph->process), "graph", open_id(side->graph->graph),
                     "generation", open_id(side->graph->generation), "launches",
                     open_number(side->reading.launches), "whole_launches",
                     open_number(side->reading.replay_count), "partial_why",
                     graph_reading_partial_json(&side->reading));
}

static int show_json(const struct diff *diff)
{
    json_t *nodes = json_array();
    for (size_t i = 0; i < diff->pair_count; ++i)
        (void)json_array_append_new(nodes, json_pair(diff, &diff->pairs[i]));
    return open_print_json(json_pack("{s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "a",
                                     json_side(&diff->sides[0]), "b", json_side(&diff->sides[1]),
                                     "launch", json_comparison(&diff->launch), "matched",
                                     (json_int_t)diff->matched, "slower", (json_int_t)diff->slower,
                                     "faster", (json_int_t)diff->faster, "only_a",
                                     (json_int_t)diff->only[0], "only_b", (json_int_t)diff->only[1],
                                     "nodes", nodes, "layers", places_diff_json(&diff->places)),
                           EXIT_FINE);
}

/* The whole. */

static int run(struct diff *diff, struct family_rules *rules)
{
    int status = EXIT_FINE;
    for (unsigned i = 0; i < 2 && status == EXIT_FINE; ++i)
        status = read_side(diff, &diff->sides[i],
                           diff->options->ids[diff->options->id_count > 1 ? i : 0]);
    if (status != EXIT_FINE)
        return status;
    match(diff);
    compare_nodes(diff);
    compare_launches(diff);
    compare_places(diff, rules);
    status = diff->options->json ? show_json(diff) : show_text(diff);
    free(diff->pairs);
    free(diff->changes);
    places_diff_free(&diff->places);
    return status;
}

static void release(struct diff *diff)
{
    for (unsigned i = 0; i < 2; ++i) {
        graph_layers_free(&diff->sides[i].layers);
        graph_reading_free(&diff->sides[i].reading);
        free(diff->sides[i].nodes);
        free(diff->sides[i].keys);
        rtlTraceClose(diff->sides[i].trace);
    }
    texts_free(&diff->names);
    texts_free(&diff->shapes);
}

enum { KEY_FAMILIES = 256 };

static const struct argp_option option_list[] = {
    {"families", KEY_FAMILIES, "FILE", 0, "rules for families of kernels, before the built-in ones",
     0},
    {"top", 'n', "COUNT", 0, "how many nodes are shown, 20 by default, 0 for all", 0},
    {"all", 'a', NULL, 0, "show nodes that do not differ too", 0},
    {"wide", 'w', NULL, 0, "show names whole, however narrow the terminal is", 0},
    {"json", 'j', NULL, 0, "write JSON", 0},
    {0},
};

static int parse_argument(struct options *options, const char *value)
{
    struct graph_id id;
    if (graph_id_read(value, &id)) {
        if (options->id_count == 2)
            return say_fail(EINVAL, "two graphs at a time: '%s' is a third one", value);
        options->ids[options->id_count++] = id;
        return 0;
    }
    if (options->path_count == 2)
        return say_fail(EINVAL, "two traces at a time: '%s' is a third one, and names no graph",
                        value);
    options->paths[options->path_count++] = value;
    return 0;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'n':
        return parse_count("top", value, &options->top);
    case KEY_FAMILIES:
        return parse_once("families", value, &options->families);
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
        return parse_argument(options, value);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int graph_diff(int argc, char **argv)
{
    static const char doc[] =
        "Compares two graphs, or two generations of one, or a graph of two traces, node by node, "
        "and "
        "says what got slower or faster."
        "\vGRAPH is a number, 3.2 for its generation 2, 1:3 for that of process 1 (a file of such "
        "a "
        "name is ./3). One GRAPH and two files: it is the same in both; none: each has only one.\n"
        "Nodes match by name, in order. A node is slower or faster if the test of Mann and Whitney "
        "says so (with less than 1 % chance of one wrong word or more about all nodes together, by "
        "Holm's method) and the 95 % interval of the difference of the medians (Price and Bonett) "
        "leaves out 0. Replays that follow each other are alike, and count for less accordingly. "
        "Fewer than 8 launches tell nothing.\n"
        "Where both have layers (rtl graph show --layers), these are compared by place in the "
        "layer: places match by name, and between those by family of kernels, so that another "
        "batch size or a fusion shifts nothing.\n\n"
        "Examples:\n"
        "  rtl graph diff a.db b.db 3\n"
        "  rtl graph diff a.db b.db 3 4.1\n"
        "  rtl graph diff trace.db 3.1 3.2";
    static const struct argp argp = {
        option_list, parse_option, "FILE [FILE] [GRAPH [GRAPH]]", doc, NULL, NULL, NULL};
    struct options options = {.top = TOP_DEFAULT};
    if (parse(&argp, argc, argv, 0, &options) != 0)
        return EXIT_USAGE;
    if (options.path_count == 0)
        return say_fail(EXIT_USAGE, "no trace was named: rtl graph diff FILE [FILE] GRAPH GRAPH");
    if (options.path_count == 1 && options.id_count < 2)
        return say_fail(EXIT_USAGE,
                        "of one trace, two graphs have to be named: rtl graph diff %s "
                        "GRAPH GRAPH",
                        options.paths[0]);
    struct diff diff = {.options = &options};
    int status = EXIT_FINE;
    for (unsigned i = 0; i < 2 && status == EXIT_FINE; ++i) {
        diff.sides[i].path = options.paths[options.path_count == 2 ? i : 0];
        diff.sides[i].trace = open_trace(diff.sides[i].path);
        status = diff.sides[i].trace ? EXIT_FINE : EXIT_USAGE;
    }
    struct family_rules *rules = status == EXIT_FINE ? family_rules_read(options.families) : NULL;
    status = rules ? run(&diff, rules) : EXIT_USAGE;
    release(&diff);
    family_rules_free(rules);
    return status;
}

/* rtl graph launches: the launches of a graph. */
#include "analysis/compare.h"
#include "analysis/graph_alike.h"
#include "analysis/graph_id.h"
#include "analysis/graph_read.h"
#include "analysis/trend.h"
#include "common/command.h"
#include "common/memory.h"
#include "common/open.h"
#include "common/parse.h"
#include "common/plain.h"
#include "common/show.h"
#include "common/table.h"
#include "graph/argument.h"
#include "graph/parts.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TOP_DEFAULT 10u
#define GROUPS      10u /* in which the trend is shown */
#define BLAMED_MOST 64u /* outliers whose kernels are looked at again */
#define BAR         24u

struct options {
    struct graph_argument of;
    unsigned top; /* 0: all */
    bool top_given;
    bool all, wide, json;
};

/* Launches one after the other. */
struct group {
    uint32_t first, last;
    struct stats time;
};

struct outlier {
    const struct graph_replay *replay;
    struct graph_blame blame;
};

struct view {
    const struct options *options;
    rtl_trace_t *trace;
    rtl_trace_info_t info;
    uint32_t process, graph;
    struct selection selection;
    struct graph_id id;
    rtl_graph_t *copies; /* of the generations */
    rtl_graph_t *alike;  /* the generations that are shown, where others do something else */
    size_t alike_count;
    uint64_t other_launches; /* of those */
    struct graph_reading reading;
    struct graph_name name;
    struct group groups[GROUPS];
    size_t group_count;
    struct comparison trend; /* the last quarter against the first */
    uint64_t limit;
    struct outlier *outliers; /* the longest first */
    size_t outlier_count;
};

static void make_groups(struct view *view)
{
    const struct graph_reading *reading = &view->reading;
    size_t count = reading->replay_count;
    view->group_count = count < GROUPS ? count : GROUPS;
    for (size_t i = 0; i < count; ++i) {
        struct group *group = &view->groups[i * view->group_count / count];
        group->first = group->first ? group->first : reading->replays[i].launch->launch;
        group->last = reading->replays[i].launch->launch;
        stats_add(&group->time, graph_replay_time(&reading->replays[i]));
    }
}

static void find_trend(struct view *view)
{
    const struct graph_reading *reading = &view->reading;
    struct stats first = {0};
    struct stats last = {0};
    struct comparison *const family[] = {&view->trend};
    size_t quarter = reading->replay_count / 4;
    for (size_t i = 0; i < quarter; ++i) {
        stats_add(&first, graph_replay_time(&reading->replays[i]));
        stats_add(&last, graph_replay_time(&reading->replays[reading->replay_count - quarter + i]));
    }
    compare(&first, &last, &view->trend);
    compare_family(family, 1);
    stats_free(&first);
    stats_free(&last);
}

static int by_time(const void *left, const void *right)
{
    const struct graph_replay *a = ((const struct outlier *)left)->replay;
    const struct graph_replay *b = ((const struct outlier *)right)->replay;
    uint64_t x = graph_replay_time(a);
    uint64_t y = graph_replay_time(b);
    if (x != y)
        return x < y ? 1 : -1;
    return (a->launch->launch > b->launch->launch) - (a->launch->launch < b->launch->launch);
}

static rtl_status_t find_outliers(struct view *view)
{
    struct graph_reading *reading = &view->reading;
    view->limit = graph_outlier_limit(reading);
    view->outliers = memory_new(reading->replay_count, sizeof *view->outliers);
    for (size_t i = 0; i < reading->replay_count; ++i)
        if (graph_replay_time(&reading->replays[i]) > view->limit)
            view->outliers[view->outlier_count++].replay = &reading->replays[i];
    if (view->outlier_count)
        qsort(view->outliers, view->outlier_count, sizeof *view->outliers, by_time);
    rtl_status_t status = RTL_OK;
    for (size_t i = 0; i < view->outlier_count && status == RTL_OK; ++i) {
        view->outliers[i].blame.node = RTL_TRACE_NONE;
        if (i < BLAMED_MOST)
            status = graph_blame(view->trace, reading, view->outliers[i].replay->launch,
                                 &view->outliers[i].blame);
    }
    return status;
}

static struct shown begin_of(const struct view *view, const struct graph_replay *replay)
{
    uint64_t start = replay->launch->start;
    return show_duration(start > view->info.start ? (double)(start - view->info.start) : 0);
}

static void show_head(struct view *view)
{
    struct graph_reading *reading = &view->reading;
    char text[96];
    if (view->options->of.id.generation)
        (void)snprintf(text, sizeof text, "graph %s.%" PRIu32, view->name.text,
                       view->options->of.id.generation);
    else
        (void)snprintf(text, sizeof text, "graph %s", view->name.text);
    show_styled(stdout, SHOW_BOLD, text);
    (void)printf(": %s", show_things(reading->launches, "launch").text);
    if (reading->time.count)
        (void)printf(" of %s (p50), %s (p99), %s (max)",
                     show_duration((double)stats_quantile(&reading->time, 500)).text,
                     show_duration((double)stats_quantile(&reading->time, 990)).text,
                     show_duration((double)reading->time.max).text);
    (void)putchar('\n');
    if (view->other_launches) {
        struct shown others = show_things(view->other_launches, "launch");
        (void)printf("  of %s like %s.%" PRIu32 ";\n  %s of generations that do something else %s "
                     "left out\n",
                     show_things(view->alike_count, "generation").text, view->name.text,
                     view->alike[view->alike_count - 1].generation, others.text,
                     show_are(view->other_launches));
    }
    selection_show(&view->selection, reading->launches,
                   graph_argument_launches(view->trace, &view->id), "launch", stdout);
    graph_reading_show_partial(reading, stdout);
}

static void show_trend(struct view *view)
{
    uint64_t most = 0;
    trend_show(&view->trend, "launches", stdout);
    if (view->group_count < 2)
        return;
    for (size_t i = 0; i < view->group_count; ++i) {
        uint64_t p50 = stats_quantile(&view->groups[i].time, 500);
        most = p50 > most ? p50 : most;
    }
    (void)putchar('\n');
    struct table *table = table_new("rrrrl");
    table_cell(table, "launches");
    table_cell(table, "to");
    table_cell(table, "p50");
    table_cell(table, "longest");
    table_cell(table, "p50 from 0");
    for (size_t i = 0; i < view->group_count; ++i) {
        struct group *group = &view->groups[i];
        uint64_t p50 = stats_quantile(&group->time, 500);
        char bar[BAR + 1] = "";
        memset(bar, '#', most ? (size_t)((double)p50 / (double)most * BAR + 0.5) : 0);
        table_cell(table, show_count(group->first).text);
        table_cell(table, show_count(group->last).text);
        table_cell(table, show_duration((double)p50).text);
        table_cell(table, show_duration((double)group->time.max).text);
        table_cell(table, bar);
    }
    table_print(table, stdout);
}

static void tell_blame(const struct view *view, const struct graph_blame *blame,
                       struct table *table)
{
    char text[96];
    if (blame->node == RTL_TRACE_NONE) {
        table_cell(table, "");
        return;
    }
    (void)snprintf(text, sizeof text, "+%s %snode %" PRIu32 " ",
                   show_duration((double)blame->excess).text, blame->gap ? "gap before " : "",
                   blame->node);
    table_name(table, text, view->reading.nodes[blame->node].name);
}

static void show_outliers(const struct view *view)
{
    unsigned top = view->options->top;
    uint64_t middle = stats_quantile((struct stats *)&view->reading.time, 500);
    if (view->outlier_count == 0) {
        (void)printf("\nno outliers: none took more than %s\n",
                     show_duration((double)view->limit).text);
        return;
    }
    (void)printf("\n%s %s took more than %s\n", show_count(view->outlier_count).text,
                 view->outlier_count == 1 ? "outlier" : "outliers",
                 show_duration((double)view->limit).text);
    struct table *table = table_new("rrrrn");
    table_wide(table, view->options->wide);
    table_cell(table, "launch");
    table_cell(table, "at");
    table_cell(table, "time");
    table_cell(table, "of p50");
    table_cell(table, "longest beyond its own p50");
    for (size_t i = 0; i < view->outlier_count && (!top || i < top); ++i) {
        const struct graph_replay *replay = view->outliers[i].replay;
        char text[64];
        table_cell(table, show_count(replay->launch->launch).text);
        table_cell(table, begin_of(view, replay).text);
        table_cell(table, show_duration((double)graph_replay_time(replay)).text);
        (void)snprintf(text, sizeof text, "%.2f x",
                       middle ? (double)graph_replay_time(replay) / (double)middle : 0);
        table_cell(table, text);
        tell_blame(view, &view->outliers[i].blame, table);
    }
    table_print(table, stdout);
    if (top && view->outlier_count > top)
        (void)printf("  and %zu more (--top 0)\n", view->outlier_count - top);
    (void)printf(
        "  an outlier takes more than p50 + 5 robust deviations, and 5 %% more at least\n");
}

static void show_all(const struct view *view)
{
    (void)putchar('\n');
    struct table *table = table_new("rrrrrrr");
    table_cell(table, "launch");
    table_cell(table, "generation");
    table_cell(table, "at");
    table_cell(table, "time");
    table_cell(table, "kernels");
    table_cell(table, "idle");
    table_cell(table, "since the last");
    for (size_t i = 0; i < view->reading.replay_count; ++i) {
        const struct graph_replay *replay = &view->reading.replays[i];
        uint64_t time = graph_replay_time(replay);
        table_cell(table, show_count(replay->launch->launch).text);
        table_cell(table, show_count(replay->launch->generation).text);
        table_cell(table, begin_of(view, replay).text);
        table_cell(table, show_duration((double)time).text);
        table_cell(table, show_count(replay->launch->kernels).text);
        table_cell(table, show_share(time - replay->busy, time).text);
        table_cell(table, i ? show_duration((double)replay->before).text : "-");
    }
    table_print(table, stdout);
}

static json_t *json_blame(const struct view *view, const struct graph_blame *blame)
{
    if (blame->node == RTL_TRACE_NONE)
        return json_null();
    return json_pack("{s:o, s:o, s:s, s:o}", "node", open_id(blame->node), "name",
                     open_text(view->reading.nodes[blame->node].name), "what",
                     blame->gap ? "gap" : "kernel", "excess_ns", open_number(blame->excess));
}

static json_t *json_replay(const struct graph_replay *replay)
{
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "launch", open_id(replay->launch->launch),
        "generation", open_id(replay->launch->generation), "start_ns",
        open_number(replay->launch->start), "time_ns", open_number(graph_replay_time(replay)),
        "busy_ns", open_number(replay->busy), "before_ns", open_number(replay->before), "kernels",
        open_number(replay->launch->kernels));
}

static json_t *json_trend(struct view *view)
{
    json_t *groups = json_array();
    json_t *object = trend_json(&view->trend);
    for (size_t i = 0; i < view->group_count; ++i) {
        struct group *group = &view->groups[i];
        (void)json_array_append_new(
            groups, json_pack("{s:o, s:o, s:o, s:o}", "first", open_id(group->first), "last",
                              open_id(group->last), "p50_ns",
                              open_number(stats_quantile(&group->time, 500)), "max_ns",
                              open_number(group->time.max)));
    }
    (void)json_object_set_new(object, "groups", groups);
    return object;
}

static int show_json(struct view *view)
{
    struct graph_reading *reading = &view->reading;
    unsigned top = view->options->top;
    json_t *outliers = json_array();
    for (size_t i = 0; i < view->outlier_count && (!top || i < top); ++i) {
        json_t *object = json_replay(view->outliers[i].replay);
        (void)json_object_set_new(object, "blame", json_blame(view, &view->outliers[i].blame));
        (void)json_array_append_new(outliers, object);
    }
    bool any = reading->time.count > 0;
    json_t *object =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "file",
                  open_text(view->options->of.path), "process", open_id(view->process), "graph",
                  open_id(view->graph), "launches", open_number(reading->launches),
                  "whole_launches", open_number(reading->replay_count), "p50_ns",
                  any ? open_number(stats_quantile(&reading->time, 500)) : json_null(), "p99_ns",
                  any ? open_number(stats_quantile(&reading->time, 990)) : json_null(), "max_ns",
                  any ? open_number(reading->time.max) : json_null(), "outlier_limit_ns",
                  open_number(view->limit), "outlier_count", open_number(view->outlier_count),
                  "outliers", outliers, "trend", json_trend(view));
    (void)json_object_set_new(object, "partial_why", graph_reading_partial_json(reading));
    (void)json_object_set_new(object, "other_launches", open_number(view->other_launches));
    (void)json_object_set_new(object, "filter",
                              selection_json(&view->selection, reading->launches,
                                             graph_argument_launches(view->trace, &view->id),
                                             "launch"));
    if (view->options->all) {
        json_t *all = json_array();
        for (size_t i = 0; i < reading->replay_count; ++i)
            (void)json_array_append_new(all, json_replay(&reading->replays[i]));
        (void)json_object_set_new(object, "all", all);
    }
    return open_print_json(object, EXIT_FINE);
}

static int show_text(struct view *view)
{
    show_head(view);
    if (view->reading.replay_count) {
        show_trend(view);
        show_outliers(view);
        if (view->options->all)
            show_all(view);
    }
    return EXIT_FINE;
}

/* Leaves of several generations those that do the same and were launched most: launches that do
 * different things have no common p50. */
static rtl_status_t choose_alike(struct view *view, const rtl_graph_t **generations, size_t *count)
{
    uint64_t *numbers = memory_new(*count, sizeof *numbers);
    uint64_t all = 0;
    uint64_t most = 0;
    uint64_t chosen = 0;
    rtl_status_t status = RTL_OK;
    for (size_t i = 0; i < *count && status == RTL_OK; ++i) {
        status = graph_alike(view->trace, &(*generations)[i], &numbers[i]);
        all += (*generations)[i].launches;
    }
    for (size_t i = 0; i < *count && status == RTL_OK; ++i) {
        uint64_t launches = 0;
        for (size_t k = 0; k <= i; ++k)
            launches += numbers[k] == numbers[i] ? (*generations)[k].launches : 0;
        if (launches >= most) {
            most = launches;
            chosen = numbers[i];
        }
    }
    if (status == RTL_OK && most < all) {
        view->alike = memory_new(*count, sizeof *view->alike);
        for (size_t i = 0; i < *count; ++i)
            if (numbers[i] == chosen)
                view->alike[view->alike_count++] = (*generations)[i];
        view->other_launches = all - most;
        *generations = view->alike;
        *count = view->alike_count;
    }
    free(numbers);
    return status;
}

static bool read_launches(struct view *view, const rtl_graph_t *generations, size_t count)
{
    if (rtlTraceInfo(view->trace, &view->info) != RTL_OK ||
        choose_alike(view, &generations, &count) != RTL_OK ||
        graph_read(view->trace, generations, count, &view->reading) != RTL_OK)
        return false;
    make_groups(view);
    find_trend(view);
    return find_outliers(view) == RTL_OK;
}

static void free_view(struct view *view)
{
    for (size_t i = 0; i < view->group_count; ++i)
        stats_free(&view->groups[i].time);
    free(view->outliers);
    free(view->alike);
    graph_reading_free(&view->reading);
}

static int show_launches(struct view *view)
{
    const struct graph_argument *of = &view->options->of;
    size_t count;
    int status =
        selection_apply_launches(view->trace, of->path, &of->filter, true, &view->selection);
    if (status == EXIT_FINE)
        status = graph_argument_find(view->trace, of, &view->selection, &view->id, &view->copies,
                                     &count);
    if (status != EXIT_FINE)
        return status;
    const rtl_graph_t *generations = view->copies;
    view->process = generations->process;
    view->graph = generations->graph;
    view->name = graph_id_name(view->trace, view->process, view->graph);
    if (!read_launches(view, generations, count))
        status = open_failed(view->trace, view->options->of.path);
    else
        status = view->options->json ? show_json(view) : show_text(view);
    free_view(view);
    return status;
}

static const struct argp_option option_list[] = {
    {"top", 'n', "COUNT", 0, "how many outliers are shown, 10 by default (JSON: all), 0 for all",
     0},
    {"all", 'a', NULL, 0, "show each launch", 0},
    {"wide", 'w', NULL, 0, "show names whole, however narrow the terminal is", 0},
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
    case 'a':
        options->all = true;
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

static int with_trace(const struct options *options)
{
    struct view view = {.options = options, .trace = open_trace(options->of.path)};
    if (!view.trace)
        return EXIT_USAGE;
    int status = show_launches(&view);
    free(view.copies);
    selection_free(&view.selection);
    rtlTraceClose(view.trace);
    return status;
}

int graph_launches(int argc, char **argv)
{
    static const char doc[] =
        "Shows the launches of a graph: whether they get longer, and which are outliers, with the "
        "node that made them so."
        "\vGRAPH is a number, 3.2 for its generation 2, 1:3 for that of process 1.\n"
        "An outlier takes more than p50 + 5 x 1.4826 x the median distance from p50, and more than "
        "p50 + 5 %. Beside it stands the node whose kernel, or the time before it in which nothing "
        "ran, lasted most beyond its own p50. The trend compares the last quarter of the launches "
        "with the first, as rtl graph diff does.\n\n"
        "Examples:\n"
        "  rtl graph launches trace.db 3\n"
        "  rtl graph launches trace.db 3 --all --json";
    const struct argp argp = {.options = option_list,
                              .parser = parse_option,
                              .args_doc = "FILE GRAPH",
                              .doc = doc,
                              .children = filter_children(GRAPH_FILTERS)};
    struct options options = {.top = TOP_DEFAULT};
    int status = EXIT_USAGE;
    if (parse(&argp, argc, argv, 0, &options) == 0 &&
        graph_argument_needs(&options.of, "launches") == 0) {
        if (options.json && !options.top_given)
            options.top = 0;
        status = with_trace(&options);
    }
    filter_free(&options.of.filter);
    return status;
}

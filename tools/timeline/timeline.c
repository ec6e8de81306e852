/* rtl timeline: a window of time on the terminal. */
#include "timeline/timeline.h"

#include "analysis/graph_id.h"
#include "analysis/selection.h"
#include "common/command.h"
#include "common/memory.h"
#include "common/open.h"
#include "common/parse.h"
#include "common/plain.h"
#include "common/say.h"
#include "common/shorten.h"
#include "common/show.h"
#include "common/trace_command.h"
#include "store/scan.h"

#include <errno.h>
#include <inttypes.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH_DEFAULT 100u /* where the output is no terminal */
#define WIDTH_LEAST   40u
#define WIDTH_MOST    4096u
#define LEGEND        16u /* names that are explained */
#define NAME_LEAST    6u  /* columns for a name and the blank before it; fewer say nothing */
#define LABEL_APART   12u /* columns from one time of the axis to the next, at least */

struct options {
    const char *path, *launch_text;
    struct graph_id graph;
    uint32_t launch;
    struct filter filter;
    unsigned width;
    bool json;
};

struct view {
    const struct options *options;
    rtl_trace_t *trace;
    rtl_trace_info_t info;
    struct selection selection;
    struct timeline timeline;
    rtl_graph_launch_t launch;
    bool of_launch; /* no window */
    bool blocks, colored, processes;
    unsigned label; /* columns before a lane */
};

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

static char letter_of(const struct view *view, uint32_t name)
{
    uint32_t rank = view->timeline.names[name].rank;
    return rank < sizeof letters - 1 ? letters[rank] : '*';
}

/* Blocks are drawn where the terminal knows them; what goes into a file or pipe is ASCII. */
static bool has_blocks(void)
{
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    bool utf8 = locale && strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
    if (locale)
        freelocale(locale);
    return utf8 && show_terminal(stdout);
}

/* The window. */

/* Where chunks do not tell, since only some of their kernels pass. */
static rtl_status_t look_at_kernels(struct view *view, uint64_t *from, uint64_t *to)
{
    rtl_aggregate_request_t all = RTL_AGGREGATE_BY(0);
    rtl_aggregate_t *aggregate;
    const rtl_queue_time_t *queues;
    size_t count;
    rtl_status_t status = rtlTraceAggregate(view->trace, &all, &aggregate);
    if (status != RTL_OK)
        return status;
    status = rtlAggregateQueues(aggregate, &queues, &count);
    for (size_t i = 0; i < count && status == RTL_OK; ++i) {
        const rtl_span_t *span = &queues[i].span;
        *from = span->kernels && span->first < *from ? span->first : *from;
        *to = span->kernels && span->last > *to ? span->last : *to;
    }
    rtlAggregateFree(aggregate);
    return status;
}

/* From the first event to the end of the last. */
static rtl_status_t find_whole(struct view *view, uint64_t *from, uint64_t *to)
{
    const rtl_kernel_filter_t all = RTL_KERNEL_FILTER_ALL;
    rtl_copy_iter_t *copies;
    rtl_copy_t copy;
    bool known;
    rtl_status_t status = RTL_OK;
    rtl_scan_extent(view->trace, &all, &known, from, to);
    if (!known) {
        *from = UINT64_MAX;
        *to = 0;
        status = look_at_kernels(view, from, to);
    }
    if (status == RTL_OK)
        status = rtlTraceCopies(view->trace, NULL, &copies);
    if (status != RTL_OK)
        return status;
    while ((status = rtlCopyNext(copies, &copy)) == RTL_OK) {
        *from = copy.end && copy.start < *from ? copy.start : *from;
        *to = copy.end > *to ? copy.end : *to;
    }
    rtlCopyIterFree(copies);
    return status == RTL_END ? RTL_OK : status;
}

static int find_window(struct view *view)
{
    const struct options *options = view->options;
    const struct moment *first = &options->filter.from;
    const struct moment *last = &options->filter.to;
    uint64_t from = 0;
    uint64_t to = 0;
    if (!(first->given && last->given) && find_whole(view, &from, &to) != RTL_OK)
        return open_failed(view->trace, options->path);
    if (to == 0 && filter_given(&options->filter, FILTER_ALL & ~FILTER_TIMES)) {
        from = view->info.start; /* nothing is left: an empty picture of the whole says so */
        to = view->info.end;
    }
    if (first->given)
        from = view->selection.from;
    if (last->given)
        to = view->selection.to;
    if (!first->given && !last->given && to == 0)
        return say_fail(EXIT_USAGE, "%s has no kernels and no copies", options->path);
    if (to <= from)
        return say_fail(EXIT_USAGE, "%s has nothing %s --%s", options->path,
                        first->given ? "after" : "before", first->given ? "from" : "to");
    view->timeline.from = from;
    view->timeline.to = to;
    return EXIT_FINE;
}

static int say_launches(const struct options *options, uint64_t launches)
{
    if (launches == 0)
        return say_fail(EXIT_USAGE, "%s: graph %" PRIu32 " was not launched", options->path,
                        options->graph.graph);
    return say_fail(EXIT_USAGE,
                    "%s: graph %" PRIu32 " has no launch %" PRIu32 ": it has 1 to %" PRIu64,
                    options->path, options->graph.graph, options->launch, launches);
}

static int find_launch(struct view *view)
{
    const struct options *options = view->options;
    struct graph_id id = options->graph;
    const rtl_graph_t *generations;
    size_t count;
    uint64_t launches = 0;
    int status = graph_id_find(view->trace, options->path, &id, &generations, &count);
    if (status != EXIT_FINE)
        return status;
    for (size_t i = 0; i < count; ++i)
        launches += generations[i].launches;
    rtl_status_t found =
        rtlTraceLaunch(view->trace, id.process, id.graph, options->launch, &view->launch);
    if (found == RTL_END)
        return say_launches(options, launches);
    if (found != RTL_OK)
        return open_failed(view->trace, options->path);
    if (view->launch.end == 0)
        return say_fail(EXIT_USAGE,
                        "%s: no kernel of launch %" PRIu32 " of graph %" PRIu32 " is in the trace",
                        options->path, options->launch, id.graph);
    view->of_launch = true;
    /* A window has a length, also at the end of time. */
    view->timeline.from = view->launch.start - (view->launch.start == UINT64_MAX);
    view->timeline.to =
        view->launch.end > view->timeline.from ? view->launch.end : view->timeline.from + 1;
    return EXIT_FINE;
}

/* Text. */

static void label_of(const struct view *view, const struct timeline_lane *lane, char *text,
                     size_t size)
{
    char process[24] = "";
    char gpu[24] = "";
    if (view->processes)
        (void)snprintf(process, sizeof process, "process %" PRIu32 " ", lane->process);
    if (lane->gpu != RTL_TRACE_NONE)
        (void)snprintf(gpu, sizeof gpu, "GPU %" PRIu32 " ", lane->gpu);
    (void)snprintf(text, size, "%s%s%s %" PRIu32, process, gpu, lane->copies ? "copies" : "queue",
                   lane->queue);
}

static void measure_labels(struct view *view)
{
    const struct timeline *timeline = &view->timeline;
    char label[80];
    for (size_t i = 0; i < timeline->lane_count; ++i) {
        label_of(view, &timeline->lanes[i], label, sizeof label);
        unsigned length = (unsigned)strlen(label) + 2;
        view->label = length > view->label ? length : view->label;
    }
}

static void show_busy(const struct view *view, const struct timeline_lane *lane)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const ascii[] = {" ", ".", ".", ":", "-", "=", "+", "*", "#"};
    const struct timeline *timeline = &view->timeline;
    double length = (double)(timeline->to - timeline->from) / timeline->width;
    unsigned end = timeline->width;
    while (end > 0 && lane->columns[end - 1].busy == 0)
        --end;
    for (unsigned i = 0; i < end; ++i) {
        double part = (double)lane->columns[i].busy / length;
        unsigned level = part <= 0 ? 0 : 1 + (unsigned)(part * 7.5);
        level = level > 8 ? 8 : level;
        (void)fputs((view->blocks ? blocks : ascii)[level], stdout);
    }
    (void)putchar('\n');
}

/* A name without its parameters: what is in front of the first parenthesis that is none of an
 * anonymous namespace. */
static void short_name(const char *name, char *text, size_t size)
{
    static const char anonymous[] = "(anonymous namespace)";
    size_t at = 0;
    while (name[at] && name[at] != '(')
        at += strncmp(name + at + 1, anonymous, sizeof anonymous - 1) == 0 ? sizeof anonymous : 1;
    if (strncmp(name, "void ", 5) == 0 && at > 5) {
        name += 5;
        at -= 5;
    }
    (void)snprintf(text, size, "%.*s", (int)at, at ? name : "");
    if (at == 0)
        (void)snprintf(text, size, "%s", name);
}

/* Which colour a column's character has, 0 for none. */
struct cell {
    char text[8]; /* one character */
    unsigned color;
};

static void put_cell(const struct view *view, struct cell *cell, uint32_t name, const char *text,
                     size_t length)
{
    (void)snprintf(cell->text, sizeof cell->text, "%.*s", (int)length, text);
    cell->color = 31 + view->timeline.names[name].rank % 6;
}

/* Writes a name into the columns of a long event, one character a column. */
static void put_name(const struct view *view, struct cell *cells, const struct timeline_long *event)
{
    char name[512];
    char text[600];
    char fitted[600];
    unsigned room = event->to - event->from - 1; /* one column stays free before the next */
    int key = snprintf(text, sizeof text, "%c", letter_of(view, event->name));
    if (event->node != RTL_TRACE_NONE)
        key = snprintf(text, sizeof text, "%c:%" PRIu32, letter_of(view, event->name), event->node);
    short_name(view->timeline.texts.list[event->name], name, sizeof name);
    if (room >= (unsigned)key + NAME_LEAST)
        (void)snprintf(text + key, sizeof text - (size_t)key, " %s", name);
    (void)plain_fit(text, room, fitted, sizeof fitted);
    for (size_t i = 0; i < event->to - event->from; ++i)
        put_cell(view, &cells[event->from + i], event->name, i ? "-" : "|", 1);
    unsigned at = event->from;
    for (const char *c = fitted; *c;) {
        size_t length = 1;
        while (((unsigned char)c[length] & 0xc0u) == 0x80u)
            ++length;
        char one[8];
        (void)snprintf(one, sizeof one, "%.*s", (int)length, c);
        unsigned width = plain_width(one);
        bool fits = width == 1 && (view->blocks || length == 1);
        put_cell(view, &cells[at], event->name, fits ? c : "?", fits ? length : 1);
        if (++at + 1 >= event->to)
            break;
        c += length;
    }
}

static void show_cells(const struct view *view, const struct cell *cells)
{
    unsigned color = 0;
    unsigned end = view->timeline.width;
    while (end > 0 && cells[end - 1].text[0] == ' ')
        --end;
    for (unsigned i = 0; i < end; ++i) {
        if (view->colored && cells[i].color != color) {
            color = cells[i].color;
            (void)printf("\033[%um", color);
        }
        (void)fputs(cells[i].text, stdout);
    }
    if (view->colored && color)
        (void)fputs("\033[0m", stdout);
    (void)putchar('\n');
}

static void show_names(const struct view *view, const struct timeline_lane *lane)
{
    struct cell *cells = memory_new(view->timeline.width, sizeof *cells);
    for (unsigned i = 0; i < view->timeline.width; ++i) {
        uint32_t name = lane->columns[i].name;
        char letter = name == RTL_TRACE_NONE ? ' ' : letter_of(view, name);
        cells[i].text[0] = ' ';
        if (name != RTL_TRACE_NONE)
            put_cell(view, &cells[i], name, &letter, 1);
    }
    for (size_t i = 0; i < lane->long_count; ++i)
        put_name(view, cells, &lane->longs[i]);
    (void)printf("%*s", (int)view->label, "");
    show_cells(view, cells);
    free(cells);
}

/* The axis: times at steps of 1, 2 or 5, all in one unit. The largest power of ten is the last. */
static uint64_t step_of(const struct timeline *timeline)
{
    double least = (double)(timeline->to - timeline->from) / timeline->width * (double)LABEL_APART;
    uint64_t step = 1;
    while ((double)step < least && step <= UINT64_MAX / 10) {
        if ((double)(2 * step) >= least)
            return 2 * step;
        if ((double)(5 * step) >= least)
            return 5 * step;
        step *= 10;
    }
    return step;
}

static void time_text(uint64_t ns, uint64_t step, char *text, size_t size)
{
    static const struct {
        uint64_t unit;
        const char *name;
    } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
    size_t i = 0;
    while (i < 3 && ns < units[i].unit && step < units[i].unit)
        ++i;
    int decimals = 0;
    for (uint64_t part = units[i].unit; part > step; part /= 10)
        ++decimals;
    (void)snprintf(text, size, "%.*f %s", decimals, (double)ns / (double)units[i].unit,
                   units[i].name);
}

/* `since` is the time from the window's begin on. */
static void put_tick(const struct timeline *timeline, uint64_t since, const char *text,
                     size_t length, char *line, size_t *free_from)
{
    double column = (double)(timeline->to - timeline->from) / timeline->width;
    size_t at = (size_t)((double)since / column);
    if (at < *free_from || at + length + 1 > timeline->width)
        return;
    line[at] = '|';
    memcpy(line + at + 1, text, length);
    *free_from = at + length + 2;
}

/* Counts from the window's begin on, so that no sum goes beyond its end. */
static void show_axis(const struct view *view)
{
    const struct timeline *timeline = &view->timeline;
    uint64_t step = step_of(timeline);
    uint64_t zero = view->info.start < timeline->from ? view->info.start : timeline->from;
    uint64_t begin = timeline->from - zero;
    uint64_t length = timeline->to - timeline->from;
    uint64_t since = begin % step ? step - begin % step : 0;
    size_t free_from = 0;
    char *line = memory_new(timeline->width + 1, 1);
    memset(line, ' ', timeline->width);
    for (bool inside = since < length; inside; since += step) {
        char text[48];
        time_text(begin + since, step, text, sizeof text);
        put_tick(timeline, since, text, strlen(text), line, &free_from);
        inside = length - since > step;
    }
    for (size_t end = timeline->width; end > 0 && line[end - 1] == ' ';)
        line[--end] = '\0';
    (void)printf("%*s%s\n", (int)view->label, "", line);
    free(line);
}

/* Says of a launch that is not whole how many kernels it has. */
static const char *of_how_many(const rtl_graph_launch_t *launch, char *text, size_t size)
{
    text[0] = '\0';
    if (launch->kernels < launch->expected)
        (void)snprintf(text, size, " of %s: the others are not in the trace",
                       show_count(launch->expected).text);
    return text;
}

static void show_head(const struct view *view)
{
    const struct timeline *timeline = &view->timeline;
    uint64_t zero = view->info.start < timeline->from ? view->info.start : timeline->from;
    uint64_t length = timeline->to - timeline->from;
    uint64_t step = 1;
    char from[48];
    char to[48];
    char text[96];
    while (step <= length / 1000)
        step *= 10;
    time_text(timeline->from - zero, step, from, sizeof from);
    time_text(timeline->to - zero, step, to, sizeof to);
    if (view->of_launch)
        (void)printf("launch %" PRIu32 " of graph %s.%" PRIu32 ": %s, %s%s\n", view->launch.launch,
                     graph_id_name(view->trace, view->launch.process, view->launch.graph).text,
                     view->launch.generation,
                     show_duration((double)(view->launch.end - view->launch.start)).text,
                     show_things(view->launch.kernels, "kernel").text,
                     of_how_many(&view->launch, text, sizeof text));
    (void)printf("from %s to %s, %s a column\n", from, to,
                 show_duration((double)length / timeline->width).text);
}

/* What is said of a name before it. */
struct legend_line {
    char text[128];
};

/* Fills in the lines and returns their names, as they fit behind them. */
static char **read_legend(const struct view *view, struct legend_line *lines, uint32_t count)
{
    const struct timeline *timeline = &view->timeline;
    struct shorten_item items[LEGEND];
    unsigned width = show_width(stdout);
    for (uint32_t rank = 0; rank < count; ++rank) {
        uint32_t i = timeline->ranked[rank];
        (void)snprintf(lines[rank].text, sizeof lines[rank].text, "%9s  x %-7s  ",
                       show_duration((double)timeline->names[i].ns).text,
                       show_count(timeline->names[i].events).text);
        unsigned used = 5 + (unsigned)strlen(lines[rank].text);
        unsigned room = width == 0 ? UINT_MAX : width > used ? width - used : 0;
        items[rank] = (struct shorten_item){timeline->texts.list[i], room};
    }
    return shorten_names(items, count);
}

static void show_legend(const struct view *view)
{
    const struct timeline *timeline = &view->timeline;
    struct legend_line lines[LEGEND];
    uint32_t count = timeline->name_count < LEGEND ? (uint32_t)timeline->name_count : LEGEND;
    char **names = read_legend(view, lines, count);
    (void)putchar('\n');
    for (uint32_t rank = 0; rank < count; ++rank) {
        char key[2] = {letter_of(view, timeline->ranked[rank]), '\0'};
        (void)printf("  ");
        if (view->colored)
            (void)printf("\033[%um%s\033[0m", 31 + rank % 6, key);
        else
            (void)fputs(key, stdout);
        (void)printf("  %s%s\n", lines[rank].text, names[rank]);
    }
    shorten_free(names, count);
    if (timeline->name_count > LEGEND)
        (void)printf("  and %zu more\n", timeline->name_count - LEGEND);
}

static uint64_t count_kernels(const struct timeline *timeline)
{
    uint64_t count = 0;
    for (size_t i = 0; i < timeline->lane_count; ++i)
        count += timeline->lanes[i].copies ? 0 : timeline->lanes[i].events;
    return count;
}

static int show_text(struct view *view)
{
    const struct timeline *timeline = &view->timeline;
    show_head(view);
    selection_show(&view->selection, count_kernels(timeline), view->info.kernels, "kernel", stdout);
    if (timeline->lane_count == 0) {
        (void)printf("nothing ran\n");
        return EXIT_FINE;
    }
    show_axis(view);
    for (size_t i = 0; i < timeline->lane_count; ++i) {
        char label[80];
        label_of(view, &timeline->lanes[i], label, sizeof label);
        (void)printf("%-*s", (int)view->label, label);
        show_busy(view, &timeline->lanes[i]);
        show_names(view, &timeline->lanes[i]);
    }
    show_legend(view);
    return EXIT_FINE;
}

/* JSON. */

static json_t *json_lane(const struct view *view, const struct timeline_lane *lane)
{
    json_t *busy = json_array();
    json_t *most = json_array();
    for (unsigned i = 0; i < view->timeline.width; ++i) {
        uint32_t name = lane->columns[i].name;
        (void)json_array_append_new(busy, open_number(lane->columns[i].busy));
        (void)json_array_append_new(
            most, name == RTL_TRACE_NONE ? json_null() : open_id(view->timeline.names[name].rank));
    }
    return json_pack("{s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o}", "process", open_id(lane->process),
                     "gpu", open_id(lane->gpu), "queue", open_id(lane->queue), "of",
                     lane->copies ? "copies" : "kernels", "events", open_number(lane->events),
                     "busy_ns", open_number(lane->busy), "column_busy_ns", busy, "column_name",
                     most);
}

static int show_json(const struct view *view)
{
    const struct timeline *timeline = &view->timeline;
    json_t *lanes = json_array();
    json_t *names = json_array();
    for (size_t i = 0; i < timeline->lane_count; ++i)
        (void)json_array_append_new(lanes, json_lane(view, &timeline->lanes[i]));
    for (uint32_t rank = 0; rank < timeline->name_count; ++rank) {
        uint32_t i = timeline->ranked[rank];
        (void)json_array_append_new(
            names, json_pack("{s:o, s:o, s:o}", "name", open_text(timeline->texts.list[i]),
                             "events", open_number(timeline->names[i].events), "total_ns",
                             open_number(timeline->names[i].ns)));
    }
    return open_print_json(json_pack("{s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o}", "file",
                                     open_text(view->options->path), "filter",
                                     selection_json(&view->selection, count_kernels(timeline),
                                                    view->info.kernels, "kernel"),
                                     "from_ns", open_number(timeline->from), "to_ns",
                                     open_number(timeline->to), "columns",
                                     (json_int_t)timeline->width, "launch",
                                     view->of_launch ? open_id(view->launch.launch) : json_null(),
                                     "lanes", lanes, "names", names),
                           EXIT_FINE);
}

/* The whole. */

/* Labels stand before the lanes, and which lanes there are is known when they have been read. */
static void choose_width(struct view *view)
{
    unsigned width = view->options->width ? view->options->width : show_width(stdout);
    const rtl_queue_t *queues;
    const rtl_process_t *processes;
    size_t count = 0;
    width = width ? width : WIDTH_DEFAULT;
    if (rtlTraceProcesses(view->trace, &processes, &count) == RTL_OK)
        view->processes = count > 1;
    struct timeline all = {0};
    if (rtlTraceQueues(view->trace, &queues, &count) == RTL_OK && count) {
        all.lanes = memory_new(count, sizeof *all.lanes);
        for (size_t i = 0; i < count; ++i)
            all.lanes[all.lane_count++] =
                (struct timeline_lane){.process = queues[i].process,
                                       .queue = queues[i].queue,
                                       .gpu = queues[i].gpu,
                                       .copies = strcmp(queues[i].way, "copies") == 0};
    }
    uint64_t from = view->timeline.from;
    uint64_t to = view->timeline.to;
    view->timeline = all;
    measure_labels(view);
    timeline_free(&view->timeline);
    view->timeline = (struct timeline){.from = from, .to = to};
    view->timeline.width = width > view->label + 8 ? width - view->label : 8;
}

static int show_timeline(struct view *view)
{
    const struct options *options = view->options;
    const char *no_color = secure_getenv("NO_COLOR");
    if (rtlTraceInfo(view->trace, &view->info) != RTL_OK)
        return open_failed(view->trace, options->path);
    int status = selection_apply(view->trace, options->path, &options->filter, &view->selection);
    if (status == EXIT_FINE)
        status = options->launch_text ? find_launch(view) : find_window(view);
    if (status != EXIT_FINE)
        return status;
    view->blocks = has_blocks();
    view->colored = show_terminal(stdout) && !(no_color && no_color[0]);
    choose_width(view);
    /* A column is a ns at least. */
    uint64_t length = view->timeline.to - view->timeline.from;
    if (length && length < view->timeline.width)
        view->timeline.width = (unsigned)length;
    if (timeline_read(view->trace, &view->timeline) != RTL_OK)
        status = open_failed(view->trace, options->path);
    else
        status = options->json ? show_json(view) : show_text(view);
    timeline_free(&view->timeline);
    return status;
}

static const struct argp_option option_list[] = {
    {"launch", 'l', "GRAPH:N", 0, "show launch N of a graph", 0},
    {"width", 'w', "COLUMNS", 0, "how wide it is, by default as the terminal", 0},
    {"json", 'j', NULL, 0, "write JSON", 0},
    {0},
};

static int parse_launch(struct options *options, const char *text)
{
    options->launch_text = text;
    if (graph_id_read_launch(text, &options->graph, &options->launch) &&
        options->graph.generation == 0)
        return 0;
    return say_fail(EINVAL, "'%s' names no launch: write 3:17 for launch 17 of graph 3", text);
}

static int parse_width(const char *text, unsigned *width)
{
    int status = parse_count("width", text, width);
    if (status == 0 && (*width < WIDTH_LEAST || *width > WIDTH_MOST))
        return say_fail(EINVAL, "--width is %u to %u columns, not '%s'", WIDTH_LEAST, WIDTH_MOST,
                        text);
    return status;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'l':
        return parse_launch(options, value);
    case 'w':
        return parse_width(value, &options->width);
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

/* 0, or EXIT_USAGE when a sentence has been said. */
static int check_options(const struct options *options)
{
    if (trace_command_needs(options->path, "rtl timeline FILE"))
        return EXIT_USAGE;
    if (options->launch_text && filter_given(&options->filter, FILTER_TIMES))
        return say_fail(EXIT_USAGE,
                        "--launch has its own window: --from and --to do not go with it");
    return 0;
}

static int with_trace(const struct options *options)
{
    struct view view = {.options = options, .trace = open_trace(options->path)};
    if (!view.trace)
        return EXIT_USAGE;
    int status = show_timeline(&view);
    selection_free(&view.selection);
    rtlTraceClose(view.trace);
    return status;
}

int cmd_timeline(int argc, char **argv)
{
    static const char doc[] =
        "Shows when each queue was busy, and with what: the whole trace, a window of it, or one "
        "launch of a graph."
        "\vA queue has two lines: how busy it was in each column, and the letter of the kernel "
        "that "
        "took most of it; a kernel that is long enough has its name there, with the number of its "
        "node. Blocks are drawn on terminals that know them, else . : - = + * #.\n\n"
        "Examples:\n"
        "  rtl timeline trace.db\n"
        "  rtl timeline trace.db --from 1.2s --to 1.25s\n"
        "  rtl timeline trace.db --launch 3:17 --width 200\n"
        "  rtl timeline trace.db --stream 2 --phase decode";
    const struct argp argp = {.options = option_list,
                              .parser = parse_option,
                              .args_doc = "FILE",
                              .doc = doc,
                              .children = filter_children(FILTER_ALL)};
    struct options options = {0};
    int status = EXIT_USAGE;
    if (parse(&argp, argc, argv, 0, &options) == 0 && check_options(&options) == 0)
        status = with_trace(&options);
    filter_free(&options.filter);
    return status;
}

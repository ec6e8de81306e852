/* rtl memory: what a program allocated, the most that it held at once, and who held it. */
#include "common/memory.h"
#include "common/command.h"
#include "common/open.h"
#include "common/parse.h"
#include "common/plain.h"
#include "common/say.h"
#include "common/show.h"
#include "common/table.h"
#include "common/trace_command.h"
#include "memory/allocations.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TOP_DEFAULT 10u
#define MOMENTS     10u /* of the recording that are shown */
#define BAR         24u
#define NAME        256u

struct options {
    const char *path;
    unsigned top; /* 0: all */
    bool json;
};

/* Allocations of a call in ranges of a name that are held at the peak. */
struct holder {
    size_t call, range; /* numbers in the texts of calls, of ranges */
    uint64_t bytes, count, largest;
};

/* What a process held of one kind. */
struct use {
    const struct allocations *of;
    enum memory_kind kind;
    struct memory_peak peak;
    uint64_t count, bytes;     /* of all allocations */
    uint64_t left, left_bytes; /* not freed in the recording */
    struct holder *holders;    /* at the peak, the largest first */
    size_t holder_count;
};

struct view {
    const struct options *options;
    rtl_trace_t *trace;
    rtl_trace_info_t info;
    struct allocations_list list;
    struct texts ranges;
};

/* The number of the name of a range, "" for none. */
static size_t range_number(struct view *view, uint32_t process, uint64_t id)
{
    char name[NAME] = "";
    rtl_range_t range;
    if (id)
        (void)rtlTraceRange(view->trace, process, id, &range, name, sizeof name);
    size_t number = texts_number(&view->ranges, name);
    if (number == TEXTS_NONE)
        memory_is_short();
    return number;
}

static void hold(struct view *view, struct use *use, const struct allocation *one)
{
    size_t range = range_number(view, use->of->process, one->range);
    size_t at = 0;
    while (at < use->holder_count &&
           (use->holders[at].call != one->call || use->holders[at].range != range))
        ++at;
    if (at == use->holder_count) {
        use->holders = memory_grown(use->holders, at + 1, sizeof *use->holders);
        use->holders[use->holder_count++] = (struct holder){.call = one->call, .range = range};
    }
    struct holder *holder = &use->holders[at];
    holder->bytes += one->bytes;
    ++holder->count;
    holder->largest = one->bytes > holder->largest ? one->bytes : holder->largest;
}

static int by_bytes(const void *left, const void *right)
{
    const struct holder *a = left;
    const struct holder *b = right;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    if (a->call != b->call)
        return a->call < b->call ? -1 : 1;
    return (a->range > b->range) - (a->range < b->range);
}

static struct use use_of(struct view *view, const struct allocations *of, enum memory_kind kind)
{
    struct use use = {.of = of, .kind = kind, .peak = allocations_peak(of, kind)};
    for (size_t i = 0; i < of->count; ++i) {
        const struct allocation *one = &of->list[i];
        if (one->kind != kind)
            continue;
        ++use.count;
        use.bytes += one->bytes;
        use.left += one->to == UINT64_MAX;
        use.left_bytes += one->to == UINT64_MAX ? one->bytes : 0;
        if (allocation_is_held(one, use.peak.time))
            hold(view, &use, one);
    }
    if (use.holder_count)
        qsort(use.holders, use.holder_count, sizeof *use.holders, by_bytes);
    return use;
}

static double since_start(const struct view *view, uint64_t time)
{
    return time > view->info.start ? (double)(time - view->info.start) : 0;
}

static void show_holders(const struct view *view, const struct use *use)
{
    unsigned top = view->options->top;
    struct table *table = table_new("rrrln");
    static const char *const heads[] = {"at the peak", "in", "largest", "call", "range"};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; ++i)
        table_cell(table, heads[i]);
    for (size_t i = 0; i < use->holder_count && (!top || i < top); ++i) {
        const struct holder *holder = &use->holders[i];
        table_cell(table, show_bytes(holder->bytes).text);
        table_cell(table, show_count(holder->count).text);
        table_cell(table, show_bytes(holder->largest).text);
        table_cell(table, view->list.names.list[holder->call]);
        table_cell(table,
                   view->ranges.list[holder->range][0] ? view->ranges.list[holder->range] : "-");
    }
    table_print(table, stdout);
    if (top && use->holder_count > top)
        (void)printf("  and %zu more (--top 0)\n", use->holder_count - top);
}

/* What is held at moments of the recording, the last of them its end. */
static void show_moments(const struct view *view, const struct use *use)
{
    uint64_t length = view->info.end - view->info.start;
    struct table *table = table_new("rrl");
    table_cell(table, "at");
    table_cell(table, "held");
    table_cell(table, "of the peak");
    for (unsigned i = 1; i <= MOMENTS; ++i) {
        uint64_t time = view->info.start + length / MOMENTS * i;
        uint64_t held = allocations_at(use->of, use->kind, time);
        char bar[BAR + 1] = "";
        memset(bar, '#', (size_t)((double)held / (double)use->peak.bytes * BAR + 0.5));
        table_cell(table, show_duration(since_start(view, time)).text);
        table_cell(table, show_bytes(held).text);
        table_cell(table, bar);
    }
    table_print(table, stdout);
}

static void show_use(const struct view *view, const struct use *use)
{
    char text[96];
    (void)snprintf(text, sizeof text, "%s memory: %s at most", memory_kind_name(use->kind),
                   show_bytes(use->peak.bytes).text);
    show_styled(stdout, SHOW_BOLD, text);
    if (view->list.count > 1)
        (void)printf(", process %" PRIu32, use->of->process);
    (void)printf(", first at %s\n  %s in %s", show_duration(since_start(view, use->peak.time)).text,
                 show_bytes(use->bytes).text, show_things(use->count, "allocation").text);
    if (use->left)
        (void)printf("; %s in %s not freed while RTL recorded", show_bytes(use->left_bytes).text,
                     show_count(use->left).text);
    (void)putchar('\n');
    show_holders(view, use);
    (void)putchar('\n');
    show_moments(view, use);
}

static void show_text(struct view *view)
{
    bool first = true;
    for (size_t i = 0; i < view->list.count; ++i) {
        const struct allocations *of = &view->list.processes[i];
        for (enum memory_kind kind = MEMORY_DEVICE; kind < MEMORY_KINDS; ++kind) {
            struct use use = use_of(view, of, kind);
            if (use.peak.bytes) {
                (void)fputs(first ? "" : "\n", stdout);
                first = false;
                show_use(view, &use);
            }
            free(use.holders);
        }
        if (of->failed)
            (void)printf("%s got no memory\n", show_things(of->failed, "allocation").text);
        if (of->unknown)
            (void)printf("%s freed that RTL had not seen allocated\n",
                         show_things(of->unknown, "allocation").text);
        if (of->lost)
            (void)printf("%s lost: what they allocated or freed is not in this (rtl check)\n",
                         show_things(of->lost, "host call").text);
        if (of->stopped)
            (void)printf("recording was stopped for a time: what was allocated or freed then is "
                         "not in this\n");
    }
}

static json_t *json_use(const struct view *view, const struct use *use)
{
    json_t *holders = json_array();
    for (size_t i = 0; i < use->holder_count; ++i) {
        const struct holder *holder = &use->holders[i];
        (void)json_array_append_new(
            holders, json_pack("{s:o, s:o, s:o, s:o, s:o}", "bytes", open_number(holder->bytes),
                               "allocations", open_number(holder->count), "largest",
                               open_number(holder->largest), "call",
                               open_text(view->list.names.list[holder->call]), "range",
                               open_text(view->ranges.list[holder->range])));
    }
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "kind",
                     memory_kind_name(use->kind), "peak_bytes", open_number(use->peak.bytes),
                     "peak_ns", open_number(use->peak.time), "allocations", open_number(use->count),
                     "bytes", open_number(use->bytes), "left", open_number(use->left), "left_bytes",
                     open_number(use->left_bytes), "holders", holders);
}

static json_t *json_process(struct view *view, const struct allocations *of)
{
    json_t *kinds = json_array();
    json_t *list = json_array();
    for (enum memory_kind kind = MEMORY_DEVICE; kind < MEMORY_KINDS; ++kind) {
        struct use use = use_of(view, of, kind);
        if (use.count)
            (void)json_array_append_new(kinds, json_use(view, &use));
        free(use.holders);
    }
    for (size_t i = 0; i < of->count; ++i) {
        const struct allocation *one = &of->list[i];
        (void)json_array_append_new(
            list, json_pack("{s:s, s:o, s:o, s:o, s:o}", "kind", memory_kind_name(one->kind),
                            "bytes", open_number(one->bytes), "from_ns", open_number(one->from),
                            "to_ns", one->to == UINT64_MAX ? json_null() : open_number(one->to),
                            "call", open_text(view->list.names.list[one->call])));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:b, s:o, s:o}", "process", open_id(of->process),
                     "failed", open_number(of->failed), "freed_unknown", open_number(of->unknown),
                     "lost_calls", open_number(of->lost), "stopped", (int)of->stopped, "kinds",
                     kinds, "allocations", list);
}

static int show_json(struct view *view)
{
    json_t *processes = json_array();
    for (size_t i = 0; i < view->list.count; ++i)
        (void)json_array_append_new(processes, json_process(view, &view->list.processes[i]));
    return open_print_json(
        json_pack("{s:o, s:o}", "file", open_text(view->options->path), "processes", processes),
        EXIT_FINE);
}

static int show(struct view *view)
{
    int status = EXIT_FINE;
    if (rtlTraceInfo(view->trace, &view->info) != RTL_OK ||
        allocations_read(view->trace, &view->list) != RTL_OK)
        status = open_failed(view->trace, view->options->path);
    else if (view->list.count == 0)
        status =
            say_fail(EXIT_USAGE, "%s has no host call that allocates memory%s", view->options->path,
                     view->info.calls ? "" : ": it has no host calls at all");
    else if (view->options->json)
        status = show_json(view);
    else
        show_text(view);
    allocations_free(&view->list);
    texts_free(&view->ranges);
    return status;
}

static const struct argp_option option_list[] = {
    {"top", 'n', "COUNT", 0, "how many holders are shown, 10 by default, 0 for all; not in JSON",
     0},
    {"json", 'j', NULL, 0, "write JSON, each allocation as well", 0},
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
    case ARGP_KEY_ARG:
        return trace_command_take(value, &options->path);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int cmd_memory(int argc, char **argv)
{
    static const char doc[] =
        "Shows the memory that a program allocated by HIP while RTL recorded: how much it held at "
        "most, who held that, and what it held over time."
        "\vDevice memory, managed memory and pinned memory of the host are told apart. A holder is "
        "a host call, and the innermost range that it was made in. What HIP allocates for itself, "
        "and what was allocated before RTL recorded, is not in it.\n\n"
        "Examples:\n"
        "  rtl memory trace.db";
    static const struct argp argp = {option_list, parse_option, "FILE", doc, NULL, NULL, NULL};
    struct options options = {.top = TOP_DEFAULT};
    if (parse(&argp, argc, argv, 0, &options) != 0)
        return EXIT_USAGE;
    if (trace_command_needs(options.path, "rtl memory FILE"))
        return EXIT_USAGE;
    rtl_trace_t *trace = open_trace(options.path);
    if (!trace)
        return EXIT_USAGE;
    struct view view = {.options = &options, .trace = trace};
    int status = show(&view);
    rtlTraceClose(trace);
    return status;
}

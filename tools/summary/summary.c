/* rtl summary: where the time of a trace went. */
#include "common/command.h"
#include "common/open.h"
#include "common/parse.h"
#include "common/say.h"
#include "common/trace_command.h"
#include "summary/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TOP_DEFAULT 20u

typedef int (*order)(const void *left, const void *right);

/* An order of kernels and of families: NULL, they have none of that name. */
struct key {
    const char *name;
    order kernels, families;
};

struct options {
    const char *path;
    unsigned top;
    bool by_family, wide, json;
    const char *by;       /* as given, NULL: not */
    const char *families; /* the file of rules, NULL: none */
    struct filter filter;
    const struct key *key; /* NULL: by total */
};

uint64_t summary_time(const struct summary *summary, const rtl_span_t *span)
{
    return summary->window ? summary->window : span->last - span->first;
}

uint64_t summary_idle(const struct summary *summary, const rtl_span_t *span)
{
    uint64_t time = summary_time(summary, span);
    return time > span->busy ? time - span->busy : 0;
}

uint32_t summary_gpu(const struct summary *summary, size_t place)
{
    const rtl_device_time_t *gpus = summary->tally.gpus;
    for (size_t i = 0; i < summary->tally.gpu_count; ++i)
        for (size_t k = 0; k < i; ++k)
            if (gpus[i].agent->gpu == gpus[k].agent->gpu)
                return (uint32_t)place;
    return gpus[place].agent->gpu;
}

bool summary_shows(const struct summary *summary, uint64_t kernels, uint64_t copies)
{
    return kernels || copies ||
           filter_given(summary->selection.filter, FILTER_ALL & ~FILTER_TIMES) == 0;
}

uint64_t summary_queues(const struct summary *summary, size_t gpu)
{
    const struct tally *tally = &summary->tally;
    uint64_t count = 0;
    for (size_t i = 0; i < tally->queue_count; ++i)
        count += tally->queues[i].device == gpu &&
                 summary_shows(summary, tally->queues[i].span.kernels, 0);
    return count;
}

size_t summary_rows(const struct summary *summary, size_t count)
{
    return summary->top && summary->top < count ? summary->top : count;
}

/* Orders of kernels. What is equal stays in the order of totals, which is that of the places. */

static const rtl_group_t *group_of(const void *item)
{
    return *(const rtl_group_t *const *)item;
}

static int by_place(const void *left, const void *right)
{
    const rtl_group_t *a = group_of(left);
    const rtl_group_t *b = group_of(right);
    return (a > b) - (a < b);
}

static int largest_first(uint64_t a, uint64_t b, const void *left, const void *right)
{
    return a == b ? by_place(left, right) : a < b ? 1 : -1;
}

static int by_calls(const void *left, const void *right)
{
    return largest_first(group_of(left)->count, group_of(right)->count, left, right);
}

static int by_mean(const void *left, const void *right)
{
    double a = group_of(left)->mean;
    double b = group_of(right)->mean;
    return a < b ? 1 : a > b ? -1 : by_place(left, right);
}

static int by_p50(const void *left, const void *right)
{
    return largest_first(group_of(left)->p50, group_of(right)->p50, left, right);
}

static int by_p99(const void *left, const void *right)
{
    return largest_first(group_of(left)->p99, group_of(right)->p99, left, right);
}

static int by_min(const void *left, const void *right)
{
    return largest_first(group_of(left)->min, group_of(right)->min, left, right);
}

static int by_max(const void *left, const void *right)
{
    return largest_first(group_of(left)->max, group_of(right)->max, left, right);
}

static int by_name(const void *left, const void *right)
{
    int result = strcmp(group_of(left)->name, group_of(right)->name);
    return result ? result : by_place(left, right);
}

/* Orders of families. */

static int families_by_name(const void *left, const void *right)
{
    const struct tally_family *a = left;
    const struct tally_family *b = right;
    return strcmp(a->family, b->family);
}

static int families_by_total(const void *left, const void *right)
{
    uint64_t a = ((const struct tally_family *)left)->total;
    uint64_t b = ((const struct tally_family *)right)->total;
    return a == b ? families_by_name(left, right) : a < b ? 1 : -1;
}

static int families_by_calls(const void *left, const void *right)
{
    uint64_t a = ((const struct tally_family *)left)->calls;
    uint64_t b = ((const struct tally_family *)right)->calls;
    return a == b ? families_by_total(left, right) : a < b ? 1 : -1;
}

static int families_by_mean(const void *left, const void *right)
{
    double a = tally_family_mean(left);
    double b = tally_family_mean(right);
    return a == b ? families_by_total(left, right) : a < b ? 1 : -1;
}

static const struct key keys[] = {{"total", by_place, families_by_total},
                                  {"calls", by_calls, families_by_calls},
                                  {"mean", by_mean, families_by_mean},
                                  {"p50", by_p50, NULL},
                                  {"p99", by_p99, NULL},
                                  {"min", by_min, NULL},
                                  {"max", by_max, NULL},
                                  {"name", by_name, families_by_name}};

static void sort_families(struct summary *summary, const struct key *key)
{
    struct tally_families *families = &summary->families;
    if (summary->rules == NULL)
        return;
    tally_families_make(&summary->tally, &summary->copies, summary->rules, families);
    if (families->count)
        qsort(families->list, families->count, sizeof *families->list, key->families);
}

static bool sort_kernels(struct summary *summary, const struct key *key)
{
    size_t count = summary->tally.name_count;
    summary->kernels = calloc(count + 1, sizeof(const rtl_group_t *));
    if (!summary->kernels)
        return false;
    for (size_t i = 0; i < count; ++i)
        summary->kernels[i] = &summary->tally.names[i];
    if (count)
        qsort(summary->kernels, count, sizeof(const rtl_group_t *), key->kernels);
    return true;
}

/* Reading. */

/* Filters after which a range may have no kernel left. */
#define OF_KERNELS (FILTER_KERNEL | FILTER_STREAM | FILTER_GPU | FILTER_PHASE)

static rtl_status_t read_summary(rtl_trace_t *trace, struct summary *summary, const struct key *key)
{
    uint64_t from = summary->selection.from;
    uint64_t to = summary->selection.to;
    rtl_status_t status = account_verdict(trace, &summary->verdict);
    if (status == RTL_OK)
        status = unseen_read(trace, &summary->unseen);
    if (status == RTL_OK)
        status = tally_copies_read(trace, from, to, &summary->copies);
    if (status == RTL_OK && !summary->no_calls)
        status = tally_calls_read(trace, from, to, &summary->calls);
    if (status == RTL_OK)
        status = tally_ranges_read(trace, from, to, &summary->ranges);
    if (status == RTL_OK && filter_given(summary->selection.filter, OF_KERNELS))
        tally_ranges_with_kernels(&summary->ranges);
    if (status == RTL_OK && !summary->no_calls)
        status = tally_graphs_read(trace, from, to, &summary->graphs);
    if (status == RTL_OK && selection_is(&summary->selection))
        tally_graphs_launched(&summary->graphs);
    if (status == RTL_OK)
        status = tally_counted_read(trace, from, to, &summary->counted);
    if (status == RTL_OK)
        status = tally_read(trace, from, to, &summary->tally);
    if (status == RTL_OK && !summary->hides && !summary->selection.windows)
        status = tally_idle_read(trace, from, to, &summary->tally, &summary->idle);
    if (status == RTL_OK && !sort_kernels(summary, key))
        status = RTL_E_MEMORY;
    if (status == RTL_OK)
        sort_families(summary, key);
    return status;
}

static int show(rtl_trace_t *trace, struct summary *summary, const struct options *options,
                FILE *out)
{
    const struct filter *filter = &options->filter;
    if (rtlTraceInfo(trace, &summary->info) != RTL_OK)
        return open_failed(trace, summary->path);
    int status = selection_apply(trace, summary->path, filter, &summary->selection);
    if (status != EXIT_FINE)
        return status;
    if (filter_given(filter, FILTER_TIMES | FILTER_PHASE))
        summary->window = selection_time(&summary->selection);
    if (absent_read(trace, 0, RTL_TRACE_NONE, &summary->absent) != RTL_OK)
        return open_failed(trace, summary->path);
    summary->hides =
        filter_given(filter, FILTER_KERNEL | FILTER_STREAM) || summary->absent.by_mode > 0;
    summary->no_calls = filter_given(filter, FILTER_KERNEL | FILTER_GPU);
    if (read_summary(trace, summary, options->key ? options->key : keys) != RTL_OK)
        return open_failed(trace, summary->path);
    if (options->json)
        return open_print_json(summary_json(summary), EXIT_FINE);
    summary_text(summary, out);
    return EXIT_FINE;
}

static int with_summary(const struct options *options, struct family_rules *rules, FILE *out)
{
    rtl_trace_t *trace = open_trace(options->path);
    struct summary summary = {
        .path = options->path, .top = options->top, .wide = options->wide, .rules = rules};
    if (!trace)
        return EXIT_USAGE;
    int status = show(trace, &summary, options, out);
    free(summary.kernels);
    selection_free(&summary.selection);
    unseen_free(&summary.unseen);
    tally_idle_free(&summary.tally, &summary.idle);
    tally_free(&summary.tally);
    tally_families_free(&summary.families);
    tally_calls_free(&summary.calls);
    tally_ranges_free(&summary.ranges);
    tally_graphs_free(&summary.graphs);
    tally_counted_free(&summary.counted);
    rtlTraceClose(trace);
    return status;
}

int summary_show(const char *path, unsigned top, FILE *out)
{
    const struct options options = {.path = path, .top = top};
    return with_summary(&options, NULL, out);
}

/* Options. */

enum { KEY_BY = 256, KEY_FAMILIES };

static const struct argp_option option_list[] = {
    {"top", 'n', "COUNT", 0,
     "how many kernels, host calls, ranges and graphs are shown, 20 by default, 0 for all", 0},
    {"sort", 's', "KEY", 0,
     "order of the kernels: total (default), calls, mean, p50, p99, min, max or name; of families: "
     "total, calls, mean or name",
     0},
    {"by", KEY_BY, "WHAT", 0,
     "kernels by name (default), or by family: gemm, attention, norm, … and asynchronous copies",
     0},
    {"families", KEY_FAMILIES, "FILE", 0,
     "rules for --by family, before the built-in ones: lines PATTERN = FAMILY with extended "
     "regular "
     "expressions, of which the first that matches the demangled name counts",
     0},
    {"wide", 'w', NULL, 0, "show names whole, however narrow the terminal is", 0},
    {"json", 'j', NULL, 0, "write JSON", 0},
    {0},
};

static int parse_key(const char *text, const struct key **key)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i)
        if (strcmp(keys[i].name, text) == 0) {
            *key = &keys[i];
            return 0;
        }
    return say_fail(EINVAL,
                    "'%s' is no order for --sort: it is total, calls, mean, p50, p99, min, max or "
                    "name",
                    text);
}

static int parse_by(const char *text, bool *by_family)
{
    *by_family = strcmp(text, "family") == 0;
    if (*by_family || strcmp(text, "name") == 0)
        return 0;
    return say_fail(EINVAL, "--by is name or family, not '%s'", text);
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'n':
        return parse_count("top", value, &options->top);
    case 's':
        return parse_key(value, &options->key);
    case KEY_BY:
        return parse_once("by", value, &options->by) ? EINVAL
                                                     : parse_by(value, &options->by_family);
    case KEY_FAMILIES:
        return parse_once("families", value, &options->families);
    case 'w':
        options->wide = true;
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

/* 0, or EXIT_USAGE when a sentence has been said. */
static int check_options(const struct options *options)
{
    if (options->families && !options->by_family)
        return say_fail(EXIT_USAGE, "--families is for --by family");
    if (options->by_family && options->key && !options->key->families)
        return say_fail(EXIT_USAGE, "families have no %s: --sort is total, calls, mean or name",
                        options->key->name);
    return trace_command_needs(options->path, "rtl summary FILE") ? EXIT_USAGE : 0;
}

int cmd_summary(int argc, char **argv)
{
    static const char doc[] =
        "Shows which kernels took the time of a trace, how busy each GPU and queue was, what "
        "was copied, what the program called and marked, which graphs it launched, and whether "
        "everything is there."
        "\vbusy: at least one kernel ran; idle: the rest between the first start and the last end, "
        "or of the window. share: of the time of all kernels that are shown. p50, p99: half of the "
        "calls, 99 of 100, took no "
        "longer (within 0.8 %). The time of a graph launch is that from its first kernel's start "
        "to its last one's end. A terminal that is narrow shows fewer columns.\n"
        "Families are what kernels do, by their names; share is of the time of all kernels and "
        "copies then. docs/families.md has the rules.\n\n"
        "Examples:\n"
        "  rtl summary trace.db\n"
        "  rtl summary trace.db --sort p99 --top 5\n"
        "  rtl summary trace.db --by family\n"
        "  rtl summary trace.db --from 2s --to 2.5s --json\n"
        "  rtl summary trace.db --kernel gemm --stream 3";
    const struct argp argp = {.options = option_list,
                              .parser = parse_option,
                              .args_doc = "FILE",
                              .doc = doc,
                              .children = filter_children(FILTER_ALL)};
    struct options options = {.top = TOP_DEFAULT};
    int status = EXIT_USAGE;
    if (parse(&argp, argc, argv, 0, &options) == 0 && check_options(&options) == 0) {
        struct family_rules *rules = options.by_family ? family_rules_read(options.families) : NULL;
        if (rules || !options.by_family)
            status = with_summary(&options, rules, stdout);
        family_rules_free(rules);
    }
    filter_free(&options.filter);
    return status;
}

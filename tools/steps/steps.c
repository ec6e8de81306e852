/* rtl steps: what a step costs, and where its time goes. */
#include "analysis/steps_kernels.h"
#include "analysis/steps_launches.h"
#include "analysis/steps_measure.h"
#include "analysis/steps_ranges.h"
#include "common/command.h"
#include "common/open.h"
#include "common/parse.h"
#include "common/say.h"
#include "common/trace_command.h"
#include "steps/view.h"

#include <errno.h>
#include <string.h>

#define TOP_DEFAULT 4u

struct options {
    const char *path;
    enum steps_by by;
    struct graph_id graph;
    const char *range;
    const char *families; /* file of rules, NULL: none */
    unsigned top;
    bool list, json;
};

static int fail_without(const struct options *options, const struct steps *steps, uint64_t ranges)
{
    switch (options->by) {
    case STEPS_BY_RANGE:
        if (ranges == 0)
            return say_fail(EXIT_USAGE, "%s has no range of the name that --by gives",
                            options->path);
        return say_fail(EXIT_USAGE,
                        "no kernel in %s belongs to a range of the name that --by gives",
                        options->path);
    case STEPS_BY_KERNELS:
        return say_fail(EXIT_USAGE,
                        "%s has no steps: no block of eager kernels repeats three times and holds "
                        "half of its queue's",
                        options->path);
    case STEPS_BY_AUTO:
        return say_fail(
            EXIT_USAGE,
            "%s has no steps: no launches of graphs that do the same repeat three times "
            "(--by graph:N: whatever graph N does), nor does a block of eager kernels "
            "that holds half of its queue's",
            options->path);
    default:
        return say_fail(EXIT_USAGE, "%s has no steps: %s", options->path,
                        steps->without_kernels
                            ? "it has no kernel of the launches of graphs"
                            : "no launches of graphs that do the same repeat three times "
                              "(--by graph:N: whatever graph N does)");
    }
}

/* Finds them the way that was asked for. Returns an exit status. */
static int find(rtl_trace_t *trace, struct options *options, struct steps *steps)
{
    uint64_t ranges = 0;
    rtl_status_t status = RTL_OK;
    if (options->by == STEPS_BY_GRAPH) {
        const rtl_graph_t *generations;
        size_t count;
        int failed = graph_id_find(trace, options->path, &options->graph, &generations, &count);
        if (failed != EXIT_FINE)
            return failed;
        status = steps_by_graph(trace, &options->graph, steps);
    } else if (options->by == STEPS_BY_RANGE) {
        status = steps_by_range(trace, options->range, steps, &ranges);
    } else if (options->by != STEPS_BY_KERNELS) {
        status = steps_by_launches(trace, steps);
    }
    if (status == RTL_OK &&
        (options->by == STEPS_BY_KERNELS || (options->by == STEPS_BY_AUTO && steps->count == 0)))
        status = steps_by_kernels(trace, steps);
    if (status != RTL_OK)
        return open_failed(trace, options->path);
    return steps->count ? EXIT_FINE : fail_without(options, steps, ranges);
}

static int show(rtl_trace_t *trace, struct options *options, struct family_rules *rules)
{
    struct steps steps = {.families = {.rules = rules}};
    rtl_trace_info_t info;
    if (rtlTraceInfo(trace, &info) != RTL_OK)
        return open_failed(trace, options->path);
    if (info.kernels == 0)
        return say_fail(EXIT_USAGE, "%s has no kernels", options->path);
    int status = find(trace, options, &steps);
    if (status == EXIT_FINE && steps_measure(trace, &steps) != RTL_OK)
        status = open_failed(trace, options->path);
    if (status == EXIT_FINE) {
        const struct steps_view view = {.trace = trace,
                                        .path = options->path,
                                        .steps = &steps,
                                        .start = info.start,
                                        .top = options->top,
                                        .list = options->list};
        status = options->json ? steps_show_json(&view) : steps_show_text(&view);
    }
    steps_free(&steps);
    return status;
}

static int parse_by(const char *text, struct options *options)
{
    static const char range[] = "range:";
    static const char graph[] = "graph:";
    options->by = STEPS_BY_AUTO;
    if (strcmp(text, "auto") == 0)
        return 0;
    options->by = STEPS_BY_LAUNCHES;
    if (strcmp(text, "launches") == 0)
        return 0;
    options->by = STEPS_BY_KERNELS;
    if (strcmp(text, "kernels") == 0)
        return 0;
    options->by = STEPS_BY_RANGE;
    options->range = text + sizeof range - 1;
    if (strncmp(text, range, sizeof range - 1) == 0 && options->range[0])
        return 0;
    options->by = STEPS_BY_GRAPH;
    if (strncmp(text, graph, sizeof graph - 1) == 0 &&
        graph_id_read(text + sizeof graph - 1, &options->graph) && !options->graph.generation)
        return 0;
    return say_fail(EINVAL, "--by is auto, launches, kernels, graph:NUMBER or range:NAME, not '%s'",
                    text);
}

enum { KEY_FAMILIES = 256 };

static const struct argp_option option_list[] = {
    {"by", 'b', "WHAT", 0,
     "what makes a step: launches (of graphs, that repeat), graph:NUMBER (each launch of this "
     "graph), range:NAME (each range of this name), kernels (eager ones, that repeat), or auto, "
     "the default: launches, and kernels where none repeat",
     0},
    {"families", KEY_FAMILIES, "FILE", 0, "rules for families of kernels, before the built-in ones",
     0},
    {"top", 'n', "COUNT", 0, "how many phases are shown in detail, 4 by default, 0 for all", 0},
    {"list", 'l', NULL, 0, "show each step", 0},
    {"json", 'j', NULL, 0, "write JSON", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'b':
        return parse_by(value, options);
    case KEY_FAMILIES:
        options->families = value;
        return 0;
    case 'n':
        return parse_count("top", value, &options->top);
    case 'l':
        options->list = true;
        return 0;
    case 'j':
        options->json = true;
        return 0;
    case ARGP_KEY_ARG:
        return trace_command_take(value, &options->path);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int cmd_steps(int argc, char **argv)
{
    static const char doc[] =
        "Finds the steps of a trace, such as the tokens that a server decodes, and shows what they "
        "cost and why the GPU was idle in them."
        "\vA step is a block of launches that a thread repeats three times or more. It goes from "
        "its first kernel to that of the next step. Launches of graphs whose kernels or grids "
        "differ are different phases: warm-up, prefill, decode, another batch size.\n"
        "Each time in which no kernel and no copy of the process ran is given to what the thread "
        "did that then submitted the next work: the host call that it was in, none, or the work "
        "was submitted and had not begun.\n\n"
        "Examples:\n"
        "  rtl steps trace.db                      what does a token cost?\n"
        "  rtl steps --by range:decode trace.db    steps by ranges of the program\n"
        "  rtl steps --list --json trace.db        each step, for a script";
    static const struct argp argp = {option_list, parse_option, "FILE", doc, NULL, NULL, NULL};
    struct options options = {.top = TOP_DEFAULT};
    if (parse(&argp, argc, argv, 0, &options) != 0)
        return EXIT_USAGE;
    if (trace_command_needs(options.path, "rtl steps FILE"))
        return EXIT_USAGE;
    struct family_rules *rules = family_rules_read(options.families);
    if (!rules)
        return EXIT_USAGE;
    rtl_trace_t *trace = open_trace(options.path);
    int status = trace ? show(trace, &options, rules) : EXIT_USAGE;
    if (trace)
        rtlTraceClose(trace);
    family_rules_free(rules);
    return status;
}

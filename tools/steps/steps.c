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
    const char *by_text; /* as given, NULL: not */
    struct graph_id graph;
    const char *range;
    const char *families; /* file of rules, NULL: none */
    unsigned top;
    struct filter filter;
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
    } else if (options->by == STEPS_BY_LAUNCHES) {
        status = steps_by_launches(trace, steps);
    } else if (options->by == STEPS_BY_KERNELS) {
        status = steps_by_kernels(trace, steps);
    } else {
        status = steps_find(trace, steps);
    }
    if (status != RTL_OK)
        return open_failed(trace, options->path);
    return steps->count ? EXIT_FINE : fail_without(options, steps, ranges);
}

bool steps_shows_phase(const struct steps_view *view, size_t thread, size_t phase)
{
    bool only = view->selection->filter->phase != NULL;
    return view->steps->threads[thread].phases[phase].steps > 0 &&
           (!only || (thread == view->thread && phase == view->phase));
}

bool steps_shows_step(const struct steps_view *view, size_t thread, const struct step *step)
{
    return !step->left_out && steps_shows_phase(view, thread, step->phase);
}

uint64_t steps_shown(const struct steps_view *view)
{
    uint64_t count = 0;
    for (size_t i = 0; i < view->steps->count; ++i)
        for (size_t k = 0; k < view->steps->threads[i].phase_count; ++k)
            if (steps_shows_phase(view, i, k))
                count += view->steps->threads[i].phases[k].steps;
    return count;
}

uint64_t steps_all(const struct steps_view *view)
{
    uint64_t count = 0;
    for (size_t i = 0; i < view->steps->count; ++i)
        count += view->steps->threads[i].count;
    return count;
}

bool steps_is_part(const struct steps_view *view)
{
    return filter_given(view->selection->filter, FILTER_TIMES | FILTER_PHASE);
}

/* Steps that do not begin in the window are left out. */
static void leave_out(struct steps *steps, const struct selection *selection)
{
    for (size_t i = 0; i < steps->count; ++i)
        for (size_t k = 0; k < steps->threads[i].count; ++k) {
            struct step *step = &steps->threads[i].steps[k];
            step->left_out =
                step->begin < selection->from || (selection->to && step->begin >= selection->to);
        }
}

static int show_steps(rtl_trace_t *trace, const struct options *options,
                      struct selection *selection, struct steps *steps)
{
    struct steps_view view = {.trace = trace,
                              .path = options->path,
                              .steps = steps,
                              .start = selection->info.start,
                              .top = options->top,
                              .list = options->list,
                              .selection = selection};
    int status = EXIT_FINE;
    if (options->filter.phase)
        status = selection_find_phase(options->path, steps, selection, &view.thread, &view.phase);
    if (status != EXIT_FINE)
        return status;
    return options->json ? steps_show_json(&view) : steps_show_text(&view);
}

/* Finds steps and measures them. */
static int measure(rtl_trace_t *trace, struct options *options, const struct selection *selection,
                   struct family_rules *rules, struct steps *steps)
{
    *steps = (struct steps){.families = {.rules = rules}};
    int status = find(trace, options, steps);
    if (status != EXIT_FINE)
        return status;
    leave_out(steps, selection);
    return steps_measure(trace, steps) == RTL_OK ? EXIT_FINE : open_failed(trace, options->path);
}

/* A phase that is none of those found may be the name of ranges, unless it was said what makes a
 * step. */
static bool may_be_ranges(rtl_trace_t *trace, const struct options *options,
                          const struct steps *steps)
{
    const char *phase = options->filter.phase;
    return options->by == STEPS_BY_AUTO && phase && !selection_knows_phase(steps, phase) &&
           selection_has_range(trace, phase);
}

static int show(rtl_trace_t *trace, struct options *options, struct family_rules *rules)
{
    struct selection selection;
    struct steps steps = {0};
    int status = selection_make(trace, options->path, &options->filter, &selection);
    if (status == EXIT_FINE && selection.info.kernels == 0)
        status = say_fail(EXIT_USAGE, "%s has no kernels", options->path);
    if (status == EXIT_FINE)
        status = selection_use(trace, options->path, &selection);
    if (status == EXIT_FINE)
        status = measure(trace, options, &selection, rules, &steps);
    if (status == EXIT_FINE && may_be_ranges(trace, options, &steps)) {
        steps_free(&steps);
        options->by = STEPS_BY_RANGE;
        options->range = options->filter.phase;
        status = measure(trace, options, &selection, rules, &steps);
    }
    if (status == EXIT_FINE)
        status = show_steps(trace, options, &selection, &steps);
    steps_free(&steps);
    selection_free(&selection);
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
     "the default: launches, and in processes where none repeat kernels",
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
        return parse_once("by", value, &options->by_text) ? EINVAL : parse_by(value, options);
    case KEY_FAMILIES:
        return parse_once("families", value, &options->families);
    case 'n':
        return parse_count("top", value, &options->top);
    case 'l':
        options->list = true;
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

static int with_trace(struct options *options)
{
    struct family_rules *rules = family_rules_read(options->families);
    rtl_trace_t *trace = rules ? open_trace(options->path) : NULL;
    int status = trace ? show(trace, options, rules) : EXIT_USAGE;
    rtlTraceClose(trace);
    family_rules_free(rules);
    return status;
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
        "  rtl steps --list --json trace.db        each step, for a script\n"
        "  rtl steps --phase 2 --from 10s trace.db what phase 2 costs after ten seconds";
    const struct argp argp = {.options = option_list,
                              .parser = parse_option,
                              .args_doc = "FILE",
                              .doc = doc,
                              .children =
                                  filter_children(FILTER_PROCESSES | FILTER_TIMES | FILTER_PHASE)};
    struct options options = {.top = TOP_DEFAULT};
    int status = EXIT_USAGE;
    if (parse(&argp, argc, argv, 0, &options) == 0 &&
        trace_command_needs(options.path, "rtl steps FILE") == 0)
        status = with_trace(&options);
    filter_free(&options.filter);
    return status;
}

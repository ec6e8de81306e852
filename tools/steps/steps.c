/* rtl steps: what a step costs, and where its time goes. */
#include "analysis/steps_by.h"
#include "analysis/steps_measure.h"
#include "common/command.h"
#include "common/open.h"
#include "common/parse.h"
#include "common/say.h"
#include "common/trace_command.h"
#include "steps/view.h"

#include <errno.h>
#include <stdlib.h>

#define TOP_DEFAULT 4u

struct options {
    const char *path;
    struct steps_choice by;
    const char *families; /* file of rules, NULL: none */
    unsigned top;
    struct filter filter;
    bool list, json;
};

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
    if (options->json)
        return steps_show_json(&view);
    char *name = NULL;
    if (!options->by.text && options->by.by == STEPS_BY_AUTO &&
        steps_by_ranges(trace, &name, &view.range_count) != RTL_OK)
        return open_failed(trace, options->path);
    view.ranges = name;
    status = steps_show_text(&view);
    free(name);
    return status;
}

/* Finds steps and measures them. */
static int measure(rtl_trace_t *trace, struct options *options, const struct selection *selection,
                   struct family_rules *rules, struct steps *steps)
{
    *steps = (struct steps){.families = {.rules = rules}};
    int status = steps_by_find(trace, options->path, &options->by, steps);
    if (status == EXIT_FINE && steps->count == 0)
        status = steps_by_none(trace, options->path, &options->by, steps);
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
    return options->by.by == STEPS_BY_AUTO && phase && !selection_knows_phase(steps, phase) &&
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
        options->by = (struct steps_choice){.by = STEPS_BY_RANGE, .range = options->filter.phase};
        status = measure(trace, options, &selection, rules, &steps);
    }
    if (status == EXIT_FINE)
        status = show_steps(trace, options, &selection, &steps);
    steps_free(&steps);
    selection_free(&selection);
    return status;
}

enum { KEY_FAMILIES = 256 };

static const struct argp_option option_list[] = {
    {"by", 'b', "WHAT", 0, STEPS_BY_HELP, 0},
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
        return parse_once("by", value, &options->by.text) ? EINVAL
                                                          : steps_by_parse(value, &options->by);
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

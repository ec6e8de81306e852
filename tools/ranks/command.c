/* rtl ranks: which rank was the slowest, and who waited for it. */
#include "ranks/view.h"

#include "common/command.h"
#include "common/open.h"
#include "common/parse.h"
#include "common/say.h"
#include "common/trace_command.h"

#include <errno.h>
#include <string.h>

#define TOP_DEFAULT 5u
#define TOP_MOST    1000u

struct options {
    const char *path, *by_text;
    struct steps_choice by;
    const char *families; /* file of rules, NULL: none */
    struct filter filter;
    unsigned top;
    bool collectives, list, json;
};

static int refuse(const char *path, const struct selection *selection, const struct ranks *ranks)
{
    if (selection_is(selection))
        return say_fail(EXIT_USAGE, "%s has no steps of two ranks in what the filters leave", path);
    if (ranks->count == 0)
        return say_fail(EXIT_USAGE,
                        "%s has no kernel of a collective: --by says what else makes a step", path);
    return say_fail(EXIT_USAGE,
                    "%s has steps of one %s alone: 'rtl merge' makes one trace of those of several",
                    path, ranks->labelled ? "rank" : "process");
}

static int show(rtl_trace_t *trace, struct options *options, struct family_rules *rules)
{
    struct selection selection;
    struct ranks ranks = {0};
    int status = selection_make(trace, options->path, &options->filter, &selection);
    if (status == EXIT_FINE && selection.info.kernels == 0)
        status = say_fail(EXIT_USAGE, "%s has no kernels", options->path);
    if (status == EXIT_FINE)
        status = selection_use(trace, options->path, &selection);
    if (status == EXIT_FINE)
        status = ranks_read(trace, options->path, &selection,
                            options->collectives ? NULL : &options->by, rules, &ranks);
    if (status == EXIT_FINE && ranks.count < 2)
        status = refuse(options->path, &selection, &ranks);
    if (status == EXIT_FINE)
        ranks_judge(&ranks, selection.from, selection.to);
    if (status == EXIT_FINE && ranks.step_count == 0)
        status = say_fail(EXIT_USAGE, "%s has no steps of two ranks in what the filters leave",
                          options->path);
    if (status == EXIT_FINE) {
        const struct ranks_view view = {.path = options->path,
                                        .ranks = &ranks,
                                        .selection = &selection,
                                        .start = selection.info.start,
                                        .top = options->top,
                                        .list = options->list};
        status = options->json ? ranks_show_json(&view) : ranks_show_text(&view);
    }
    ranks_free(&ranks);
    selection_free(&selection);
    return status;
}

static error_t parse_by(struct options *options, const char *value)
{
    if (parse_once("by", value, &options->by_text))
        return EINVAL;
    options->collectives = strcmp(value, "collectives") == 0;
    if (options->collectives)
        return 0;
    if (strncmp(value, "graph:", 6) == 0)
        return say_fail(EINVAL,
                        "--by %s is of one process: ranks have graphs of their own; launches "
                        "is of any",
                        value);
    options->by.text = value;
    return steps_by_parse(value, &options->by);
}

enum { KEY_FAMILIES = 256 };

static const struct argp_option option_list[] = {
    {"by", 'b', "WHAT", 0,
     "what makes a step: collectives (each one), launches, range:NAME or kernels, as "
     "in rtl steps; what repeats is the default, and collectives where nothing does",
     0},
    {"step", 0, NULL, OPTION_ALIAS, NULL, 0},
    {"families", KEY_FAMILIES, "FILE", 0,
     "rules for families of kernels, before the built-in ones: those of the family 'collective' "
     "are collectives",
     0},
    {"top", 'n', "COUNT", 0, "how many steps with long waits are shown, 5 by default, 1000 at most",
     0},
    {"list", 'l', NULL, 0, "with --json: each step", 0},
    {"json", 'j', NULL, 0, "write JSON", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'b':
        return parse_by(options, value);
    case KEY_FAMILIES:
        return parse_once("families", value, &options->families);
    case 'n':
        if (parse_count("top", value, &options->top) != 0)
            return EINVAL;
        return options->top <= TOP_MOST
                   ? 0
                   : say_fail(EINVAL, "--top is %u at most, not %u", TOP_MOST, options->top);
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

int cmd_ranks(int argc, char **argv)
{
    static const char doc[] =
        "Puts the same step of several ranks side by side: which one was the slowest, and who "
        "waited for it, how long."
        "\vA rank waits in its collectives: their kernels end when the last rank has come. So the "
        "rank that spends least time in those of a step came last, and what another one spends "
        "there beyond that it waited. That needs no common clock of the hosts. Without collectives "
        "the rank whose step took longest is the slowest, and nobody waits.\n"
        "Steps belong together by their number.\n\n"
        "Examples:\n"
        "  rtl merge job.db rank*.db && rtl ranks job.db\n"
        "  rtl ranks --by range:step job.db            steps by ranges of the program\n"
        "  rtl ranks --by collectives --top 20 job.db  who came late to which all-reduce?";
    const struct argp argp = {.options = option_list,
                              .parser = parse_option,
                              .args_doc = "FILE",
                              .doc = doc,
                              .children = filter_children(FILTER_PROCESSES | FILTER_TIMES)};
    struct options options = {.top = TOP_DEFAULT};
    int status = EXIT_USAGE;
    if (parse(&argp, argc, argv, 0, &options) == 0 &&
        trace_command_needs(options.path, "rtl ranks FILE") == 0)
        status = options.list && !options.json ? say_fail(EXIT_USAGE, "--list goes with --json")
                                               : with_trace(&options);
    filter_free(&options.filter);
    return status;
}

/* rtl diff: the steps, kernels and graphs of two traces, or of two groups of them. */
#include "common/command.h"
#include "common/parse.h"
#include "common/plain.h"
#include "common/say.h"
#include "diff/limits.h"
#include "diff/view.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TOP_DEFAULT 20u

struct options {
    struct diff *diff;
    struct diff_limits limits;
    const char *families; /* file of rules, NULL: none */
    struct steps_choice by;
    bool quoted; /* "--" was before the first file, where it is the end of options */
    bool sides;  /* "--" has been behind a file: the second side follows */
    bool json;
};

static int read_all(struct diff *diff, const struct steps_choice *choice,
                    struct family_rules *rules)
{
    const struct diff_runs *runs = &diff->runs;
    if (!diff_runs_open(&diff->runs))
        return EXIT_USAGE;
    for (size_t i = 0; i < diff_runs_all(runs); ++i)
        if (absent_read(runs->traces[i], 0, RTL_TRACE_NONE, &diff->absent[i]) != RTL_OK ||
            diff_whole_read(runs->traces[i], &diff->whole[i]) != RTL_OK)
            return diff_runs_failed(runs);
    if (diff_kernels_read(runs, &diff->kernels) != RTL_OK ||
        diff_graphs_read(runs, rules, &diff->graphs) != RTL_OK ||
        diff_places_read(runs, &diff->graphs, rules, &diff->places) != RTL_OK)
        return diff_runs_failed(runs);
    int status = diff_steps_read(runs, choice, rules, &diff->steps);
    if (status == EXIT_FINE)
        diff_families_make(runs, &diff->kernels, &diff->steps, rules, &diff->families);
    return status;
}

static int run(const struct options *options, struct family_rules *rules)
{
    struct diff *diff = options->diff;
    int status = read_all(diff, &options->by, rules);
    if (status == EXIT_FINE)
        status = diff_limits_check(&options->limits, diff);
    if (status == EXIT_FINE)
        status = options->json ? diff_show_json(diff) : diff_show_text(diff);
    /* What is beyond its limit is said behind the tables, also where both go into one file. */
    (void)fflush(stdout);
    return status == EXIT_FINE ? diff_limits_judge(&options->limits, diff) : status;
}

static void release(struct diff *diff)
{
    diff_families_free(&diff->families);
    diff_steps_free(&diff->runs, &diff->steps);
    diff_places_free(&diff->runs, &diff->places);
    diff_graphs_free(&diff->runs, &diff->graphs);
    diff_kernels_free(&diff->runs, &diff->kernels);
    for (size_t i = 0; i < diff_runs_all(&diff->runs); ++i)
        diff_whole_free(&diff->whole[i]);
    diff_runs_close(&diff->runs);
}

enum { KEY_FAMILIES = 256 };

static const struct argp_option option_list[] = {
    {"top", 'n', "COUNT", 0,
     "how many phases, families, kernels and graphs are shown, 20 by default, 0 for all", 0},
    {"fail-if", 'f', "WHAT > N%", 0,
     "end with status 1 if one of the steps, graphs or kernels (a call), the total time of "
     "kernels, "
     "the count of calls, a phase (its name or number in rtl steps) or family:NAME grew by more "
     "than N %, and is told apart, and with status 2 if that cannot be judged: one run a side will "
     "do for kernels, count and, where there are steps, families; may be given several times",
     0},
    {"by", 'b', "WHAT", 0, STEPS_BY_HELP, 0},
    {"families", KEY_FAMILIES, "FILE", 0, "rules for families of kernels, before the built-in ones",
     0},
    {"all", 'a', NULL, 0, "show kernels that do not differ too", 0},
    {"wide", 'w', NULL, 0, "show names whole, however narrow the terminal is", 0},
    {"json", 'j', NULL, 0, "write JSON", 0},
    {0},
};

/* The second side begins, if a side is there. */
static bool begin_side(struct options *options)
{
    size_t *begin = options->diff->runs.begin;
    if (options->sides || begin[2] == 0)
        return false;
    options->sides = true;
    begin[1] = begin[2];
    return true;
}

/* The first "--" behind a file parts the sides; argp tells of the very first alone, which may be
 * the end of options before all files. */
static bool is_parted(const struct argp_state *state, const struct options *options)
{
    return state->quoted && !options->quoted;
}

/* A word behind "--" is a file, whatever it looks like. */
static int check_file(const char *value)
{
    if (value[0] != '-' || value[1] == '\0' || access(value, F_OK) == 0)
        return 0;
    return say_fail(EINVAL,
                    "'%s' behind -- is taken for a trace, and there is none of that name: options "
                    "stand before --",
                    plain(value));
}

static int take_file(const char *value, const struct argp_state *state, struct options *options)
{
    struct diff_runs *runs = &options->diff->runs;
    size_t *begin = runs->begin;
    options->quoted |= begin[2] == 0 && state->quoted;
    if (strcmp(value, "--") == 0 && begin_side(options))
        return 0;
    if (is_parted(state, options))
        (void)begin_side(options);
    if (check_file(value) != 0)
        return EINVAL;
    if (begin[2] - begin[1] == DIFF_MOST_RUNS)
        return say_fail(EINVAL, "a side has %u runs at most: '%s' is one more", DIFF_MOST_RUNS,
                        plain(value));
    runs->paths[begin[2]++] = value;
    return 0;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'n':
        return parse_count("top", value, &options->diff->top);
    case 'f':
        return diff_limits_add(&options->limits, value);
    case 'b':
        return parse_once("by", value, &options->by.text) ? EINVAL
                                                          : steps_by_parse(value, &options->by);
    case KEY_FAMILIES:
        return parse_once("families", value, &options->families);
    case 'a':
        options->diff->all = true;
        return 0;
    case 'w':
        options->diff->wide = true;
        return 0;
    case 'j':
        options->json = true;
        return 0;
    case ARGP_KEY_ARG:
        return take_file(value, state, options);
    case ARGP_KEY_END:
        if (is_parted(state, options))
            (void)begin_side(options);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The first file of a side that is named on it again; NULL: none is. */
static const char *named_twice(const struct diff_runs *runs, unsigned side)
{
    for (size_t i = runs->begin[side]; i < runs->begin[side + 1]; ++i)
        for (size_t k = i + 1; k < runs->begin[side + 1]; ++k)
            if (strcmp(runs->paths[i], runs->paths[k]) == 0)
                return runs->paths[i];
    return NULL;
}

/* Two files are two sides. EXIT_USAGE when a sentence has been said. */
static int part_sides(const struct options *options)
{
    struct diff_runs *runs = &options->diff->runs;
    size_t count = runs->begin[2];
    if (count == 0)
        return say_fail(EXIT_USAGE, "no trace was named: rtl diff FILE FILE");
    if (count == 1)
        return say_fail(EXIT_USAGE, "the second trace was not named: rtl diff FILE FILE");
    if (!options->sides && count > 2)
        return say_fail(EXIT_USAGE,
                        "two traces at a time: '%s' is a third one; of several runs a side: rtl "
                        "diff FILE FILE -- FILE FILE",
                        plain(runs->paths[2]));
    if (options->sides && runs->begin[1] == count)
        return say_fail(EXIT_USAGE,
                        "no trace was named behind --: rtl diff FILE FILE -- FILE FILE");
    runs->begin[1] = options->sides ? runs->begin[1] : 1;
    const char *twice = named_twice(runs, 0) ? named_twice(runs, 0) : named_twice(runs, 1);
    if (twice)
        return say_fail(EXIT_USAGE,
                        "'%s' is named twice on a side: each run is a recording of its own",
                        plain(twice));
    return EXIT_FINE;
}

/* What other comparers call it. */
static const char limit_hint[] = "a limit on what gets slower is such as --fail-if 'kernels > 5%'";

int cmd_diff(int argc, char **argv)
{
    static const char doc[] =
        "Compares the steps, families of kernels, kernels and graphs of two traces, or of several "
        "runs on each of two sides: what got slower or faster, what is gone and what is new."
        "\vKernels match by name; shown are those that differ, the largest change of the total "
        "time first. Graphs match by their kernels, phases of steps (rtl steps) by their graphs; "
        "those that are left by their time. Below a phase stands where the time of its steps "
        "goes.\n"
        "The value of a run is its median, and a side's the mean of its runs'. With several runs "
        "something is slower or faster if Student's test on the runs' values says so (with less "
        "than 1 % chance of one wrong word or more about all of a section together, by Holm's "
        "method); the spread is that between the runs of a side, or what the durations within "
        "them leave unsure of a median, whichever is larger. With one run a side kernels are "
        "compared by the test of Mann and Whitney and the interval of Price and Bonett; of whole "
        "steps, idle times, launches and totals nothing is said: that takes several runs.\n\n"
        "Examples:\n"
        "  rtl diff before.db after.db\n"
        "  rtl diff a1.db a2.db a3.db -- b1.db b2.db b3.db\n"
        "  rtl diff --fail-if 'kernels > 3%' --fail-if 'count > 0%' before.db after.db\n"
        "  rtl diff --fail-if 'graph 2 > 3%' a1.db a2.db a3.db -- b1.db b2.db b3.db";
    static const struct argp argp = {
        option_list, parse_option, "FILE FILE\nFILE... -- FILE...", doc, NULL, NULL, NULL};
    struct diff diff = {.top = TOP_DEFAULT};
    struct options options = {.diff = &diff};
    int status = parse_to_end(&argp, argc, argv, limit_hint, &options);
    if (status == EXIT_FINE)
        status = part_sides(&options);
    struct family_rules *rules = status == EXIT_FINE ? family_rules_read(options.families) : NULL;
    status = rules ? run(&options, rules) : EXIT_USAGE;
    release(&diff);
    diff_limits_free(&options.limits);
    family_rules_free(rules);
    return status;
}

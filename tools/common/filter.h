/**
 * The options with which commands show a part of a trace only: one parser, one set of sentences and
 * one group of `--help` for all. What the words mean in a trace, analysis/selection.h finds out.
 */
#ifndef RTL_TOOLS_FILTER_H
#define RTL_TOOLS_FILTER_H

#include "common/moment.h"

#include <argp.h>
#include <regex.h>

/** The options; a command offers those that it can honour. */
enum filter_option {
    FILTER_KERNEL = 1,
    FILTER_PROCESS = 2,
    FILTER_RANK = 4,
    FILTER_STREAM = 8,
    FILTER_GPU = 16,
    FILTER_FROM = 32,
    FILTER_TO = 64,
    FILTER_PHASE = 128,
    FILTER_PROCESSES = FILTER_PROCESS | FILTER_RANK,
    FILTER_TIMES = FILTER_FROM | FILTER_TO,
    FILTER_ALL = 255
};

/** Options that may be given, all together. */
#define FILTER_MOST 64u

/** An option that was given. */
struct filter_word {
    enum filter_option option;
    const char *text;
    uint32_t number; /**< of a GPU */
};

/** What was given; zeroed memory: nothing. Freed with filter_free. */
struct filter {
    struct filter_word
        words[FILTER_MOST]; /**< in their order; texts are those of the command line */
    size_t count;
    const char *kernel, *phase; /**< NULL: not given */
    regex_t pattern;            /**< with `kernel`, compiled */
    struct moment from, to;
};

/** The parser of the `offered` options, to be argp's `children`. The command's parser sets
 * `state->child_inputs[0]` to its struct filter at ARGP_KEY_INIT. What is returned holds until the
 * next call. */
const struct argp_child *filter_children(unsigned offered);

/** Takes an option as the parser does. 0, or an errno when a sentence has been said. */
int filter_take(struct filter *filter, enum filter_option option, const char *text);

/** "kernel", "process", … without dashes. */
const char *filter_name(enum filter_option option);

/** How many words of an option were given. */
size_t filter_given(const struct filter *filter, unsigned options);

void filter_free(struct filter *filter);

#endif

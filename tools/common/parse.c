#include "common/parse.h"

#include "common/command.h"
#include "common/elsewhere.h"
#include "common/memory.h"
#include "common/say.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MOST_OPTIONS 64

enum { KEY_HELP = 1000, KEY_USAGE, KEY_NAME, KEY_HANG };

/* What argp knows by itself. */
static const struct argp_option always[] = {
    {"help", KEY_HELP, NULL, 0, NULL, 0},
    {"usage", KEY_USAGE, NULL, 0, NULL, 0},
    {"version", 'V', NULL, 0, NULL, 0},
    {"program-name", KEY_NAME, "NAME", 0, NULL, 0},
    {"HANG", KEY_HANG, "SECS", OPTION_ARG_OPTIONAL, NULL, 0},
    {0},
};

struct known {
    struct option list[MOST_OPTIONS + 1];
    char letters[2 * MOST_OPTIONS + 8];
    size_t count, used;
    const char *hint; /* for who wants another option, "" if there is none */
};

static void add_options(struct known *known, const struct argp_option *options)
{
    for (; (options->name || options->key) && known->count < MOST_OPTIONS; ++options) {
        int takes = !options->arg                            ? no_argument
                    : (options->flags & OPTION_ARG_OPTIONAL) ? optional_argument
                                                             : required_argument;
        if (options->name)
            known->list[known->count++] = (struct option){options->name, takes, NULL, options->key};
        if (options->key > 0 && options->key <= UCHAR_MAX && isgraph(options->key)) {
            known->letters[known->used++] = (char)options->key;
            for (int i = 0; i < takes; ++i)
                known->letters[known->used++] = ':';
        }
    }
}

static bool is_known(const struct known *known, int key)
{
    for (size_t i = 0; i < known->count; ++i)
        if (known->list[i].val == key)
            return true;
    return false;
}

/* How many options a shortened one could be. */
static unsigned meanings(const struct known *known, const char *word)
{
    unsigned count = 0;
    for (size_t i = 0; i < known->count; ++i)
        count += strncmp(known->list[i].name, word + 2, strcspn(word, "=") - 2) == 0;
    return count;
}

/* The word that an unknown letter stands in: getopt is behind it where that was its last one. */
static const char *word_of_letter(char *const *words, int letter)
{
    const char *before = words[optind - 1];
    const char *after = words[optind];
    size_t length = strlen(before);
    if (length > 1 && before[0] == '-' && before[1] != '-' && before[length - 1] == letter)
        return before;
    return after && after[0] == '-' && strchr(after + 1, letter) ? after : "";
}

/* What another tool's option is here. 0: it is none that is known. */
static int say_elsewhere(const char *command, const char *option)
{
    const char *here = elsewhere_option(command, option);
    return here ? say_fail(EXIT_USAGE, "there is no '%.*s' here: %s", (int)strcspn(option, "="),
                           option, here)
                : 0;
}

/* The sentence on the option that getopt has stopped at: the last word, or the letter in `optopt`.
 */
static int say_wrong(const struct known *known, const char *command, char *const *words, int found)
{
    const char letter[3] = {'-', (char)optopt, '\0'};
    const char *word = words[optind - 1];
    bool has_letter = optopt && (found == ':' ? word[1] != '-' : !is_known(known, optopt));
    const char *name = has_letter ? letter : word;
    if (found == ':')
        return say_fail(EXIT_USAGE, "option '%s' needs a value, see %s --help", name, command);
    if (optopt && !has_letter)
        return say_fail(EXIT_USAGE, "option '%.*s' takes no value, see %s --help",
                        (int)strcspn(word, "="), word, command);
    if (!has_letter && meanings(known, word) > 1)
        return say_fail(EXIT_USAGE, "option '%s' may be several, see %s --help", name, command);
    /* The whole word first: -header is sqlite3's. */
    int said = has_letter ? say_elsewhere(command, word_of_letter(words, optopt)) : 0;
    said = said ? said : say_elsewhere(command, name);
    if (said)
        return said;
    return say_fail(EXIT_USAGE, "unknown option '%s', see %s --help%s%s", name, command,
                    known->hint[0] ? ": " : "", known->hint);
}

/* Where no option of the command is called so, -h asks for help, as it does of other programs. */
static bool asks_for_help(const struct known *known, char *const *words, int found)
{
    return found == '?' && optopt == 'h' && !is_known(known, 'h') &&
           strcmp(word_of_letter(words, 'h'), "-h") == 0;
}

/* argp has two lines for a wrong option, and writes what it was given as it is. So the options are
 * looked at before argp gets them, on a copy, which getopt puts in another order. */
static int check_options(const struct argp *argp, int argc, char **argv, bool to_end,
                         const char *hint, bool *help)
{
    struct known known = {.letters = "+:", .used = 2, .hint = hint};
    int status = 0;
    int found;
    char **words = memory_new((size_t)argc + 1, sizeof(char *));
    memcpy(words, argv, (size_t)argc * sizeof(char *));
    if (to_end)
        known.letters[0] = '-';
    if (argp->options)
        add_options(&known, argp->options);
    for (const struct argp_child *child = argp->children; child && child->argp; ++child)
        add_options(&known, child->argp->options);
    add_options(&known, always);
    optind = 0;
    do {
        optopt = 0;
        // NOLINTNEXTLINE(concurrency-mt-unsafe): rtl has one thread
        found = getopt_long(argc, words, known.letters, known.list, NULL);
    } while (found != -1 && found != ':' && (found != '?' || optopt == '?'));
    *help = asks_for_help(&known, words, found);
    if (found != -1 && !*help)
        status = say_wrong(&known, argv[0], words, found);
    free(words);
    return status;
}

/* `help` asks for that alone. */
static int parse_checked(const struct argp *argp, int argc, char **argv, unsigned flags, bool help,
                         void *input)
{
    static char option[] = "--help";
    char *asking[] = {argv[0], option, NULL};
    char **words = help ? asking : argv;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): rtl has one thread
    error_t error = argp_parse(argp, help ? 2 : argc, words, flags, NULL, input);
    if (error == ENOMEM) /* argp says nothing itself */
        say("memory is short");
    return error == 0 ? 0 : EXIT_USAGE;
}

int parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input)
{
    bool help;
    if (check_options(argp, argc, argv, !(flags & ARGP_IN_ORDER), "", &help) != 0)
        return EXIT_USAGE;
    return parse_checked(argp, argc, argv, flags, help, input);
}

int parse_to_end(const struct argp *argp, int argc, char **argv, const char *hint, void *input)
{
    bool help;
    if (check_options(argp, argc, argv, true, hint, &help) != 0)
        return EXIT_USAGE;
    return parse_checked(argp, argc, argv, ARGP_IN_ORDER, help, input);
}

int parse_once(const char *option, const char *text, const char **to)
{
    if (*to)
        return say_fail(EINVAL, "--%s is given twice", option);
    *to = text;
    return 0;
}

int parse_count(const char *option, const char *text, unsigned *count)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end || errno || value > UINT_MAX)
        return say_fail(EINVAL, "'%s' is no count for --%s", text, option);
    *count = (unsigned)value;
    return 0;
}

int parse_list(const char *option, const char *list, const char *example,
               int (*each)(void *context, char *item), void *context)
{
    char *copy = strdup(list);
    char *rest = NULL;
    int status = 0;
    if (!copy)
        memory_is_short();
    char *item = strtok_r(copy, ",", &rest);
    if (!item)
        status = say_fail(EINVAL, "--%s names none: it is such as %s", option, example);
    for (; status == 0 && item; item = strtok_r(NULL, ",", &rest))
        status = each(context, item);
    free(copy);
    return status;
}

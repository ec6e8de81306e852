#include "common/filter.h"

#include "common/regexp.h"
#include "common/say.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

/* Of argp, beyond those of any command. */
#define KEY_FIRST 2000

/* A short letter of an option is one that a command had before it. */
static const struct {
    enum filter_option option;
    int key;
    const char *name, *value, *help;
} rows[] = {
    {FILTER_KERNEL, KEY_FIRST, "kernel", "REGEXP",
     "only kernels whose demangled name matches: POSIX extended, anywhere in the name"},
    {FILTER_PROCESS, 'p', "process", "PID|NAME",
     "only this process: its number as rtl info counts them, its pid, or the name of its program; "
     "may be repeated"},
    {FILTER_RANK, KEY_FIRST + 1, "rank", "N", "only processes of this rank; may be repeated"},
    {FILTER_STREAM, KEY_FIRST + 2, "stream", "N|LABEL",
     "only this stream: its number in its process, or the name that the program gave it; may be "
     "repeated"},
    {FILTER_GPU, KEY_FIRST + 3, "gpu", "N",
     "only this GPU, as its process counts them; may be repeated"},
    {FILTER_FROM, KEY_FIRST + 4, "from", "TIME",
     "leave out what ended before: 1.5s, 200ms, … after the recording began, or a plain number, ns "
     "on the trace's clock as in SQL"},
    {FILTER_TO, KEY_FIRST + 5, "to", "TIME", "leave out what began then or later"},
    {FILTER_PHASE, KEY_FIRST + 6, "phase", "NAME|N",
     "only what begins in steps of this phase, as rtl steps names or numbers it"},
};

enum { ROWS = sizeof rows / sizeof *rows };

const char *filter_name(enum filter_option option)
{
    for (size_t i = 0; i < ROWS; ++i)
        if (rows[i].option == option)
            return rows[i].name;
    return "";
}

size_t filter_given(const struct filter *filter, unsigned options)
{
    size_t count = 0;
    for (size_t i = 0; i < filter->count; ++i)
        count += (filter->words[i].option & options) != 0;
    return count;
}

static int read_gpu(const char *text, uint32_t *number)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end || errno || value >= UINT32_MAX)
        return say_fail(EINVAL, "'%s' is no number for --gpu", text);
    *number = (uint32_t)value;
    return 0;
}

static int read_kernel(struct filter *filter, const char *text)
{
    char why[1200];
    int failed = rtl_regexp_compile(&filter->pattern, text, why, sizeof why);
    if (failed == ENOMEM)
        return say_fail(ENOMEM, "there is not enough memory for --kernel");
    if (failed)
        return say_fail(EINVAL, "--kernel: %s", why);
    filter->kernel = text;
    return 0;
}

/* Checks a value as far as that goes without a trace. */
static int read_value(struct filter *filter, struct filter_word *word)
{
    switch (word->option) {
    case FILTER_KERNEL:
        return read_kernel(filter, word->text);
    case FILTER_GPU:
        return read_gpu(word->text, &word->number);
    case FILTER_FROM:
        return moment_read("from", word->text, &filter->from);
    case FILTER_TO:
        return moment_read("to", word->text, &filter->to);
    case FILTER_PHASE:
        filter->phase = word->text;
        return 0;
    default:
        return 0;
    }
}

int filter_take(struct filter *filter, enum filter_option option, const char *text)
{
    struct filter_word word = {option, text, 0};
    bool once = option & (FILTER_KERNEL | FILTER_PHASE | FILTER_TIMES);
    if (!text[0])
        return say_fail(EINVAL, "--%s is empty", filter_name(option));
    if (once && filter_given(filter, option))
        return say_fail(EINVAL, "--%s was given twice", filter_name(option));
    if (filter->count == FILTER_MOST)
        return say_fail(EINVAL, "more than %u filters", FILTER_MOST);
    int failed = read_value(filter, &word);
    if (failed == 0)
        filter->words[filter->count++] = word;
    return failed;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    for (size_t i = 0; i < ROWS; ++i)
        if (rows[i].key == key)
            return filter_take(state->input, rows[i].option, value);
    return ARGP_ERR_UNKNOWN;
}

const struct argp_child *filter_children(unsigned offered)
{
    static struct argp_option options[ROWS + 1];
    static const struct argp argp = {options, parse_option, NULL, NULL, NULL, NULL, NULL};
    static const struct argp_child children[] = {{&argp, 0, "Filters:", 1}, {NULL, 0, NULL, 0}};
    size_t count = 0;
    for (size_t i = 0; i < ROWS; ++i)
        if (rows[i].option & offered)
            options[count++] = (struct argp_option){.name = rows[i].name,
                                                    .key = rows[i].key,
                                                    .arg = rows[i].value,
                                                    .doc = rows[i].help};
    options[count] = (struct argp_option){0};
    return children;
}

void filter_free(struct filter *filter)
{
    if (filter->kernel)
        regfree(&filter->pattern);
    *filter = (struct filter){0};
}

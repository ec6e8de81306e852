#include "common/parse.h"

#include "command.h"
#include "common/memory.h"
#include "common/say.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): rtl has one thread
    error_t error = argp_parse(argp, argc, argv, flags, NULL, input);
    if (error == ENOMEM) /* argp says nothing itself */
        say("memory is short");
    return error == 0 ? 0 : EXIT_USAGE;
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

#include "common/parse.h"

#include "command.h"
#include "common/say.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

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

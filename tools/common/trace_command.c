#include "common/trace_command.h"

#include "common/command.h"
#include "common/say.h"

#include <errno.h>

int trace_command_take(const char *value, const char **path)
{
    if (*path)
        return say_fail(EINVAL, "one trace at a time: '%s' is a second one", value);
    *path = value;
    return 0;
}

int trace_command_needs(const char *path, const char *usage)
{
    return path ? 0 : say_fail(EXIT_USAGE, "no trace was named: %s", usage);
}

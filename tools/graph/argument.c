#include "graph/argument.h"

#include "common/command.h"
#include "common/say.h"

#include <errno.h>

int graph_argument_take(struct graph_argument *argument, const char *value)
{
    if (!argument->path) {
        argument->path = value;
        return 0;
    }
    if (argument->id_text)
        return say_fail(EINVAL, "one graph at a time: '%s' is a second one", value);
    argument->id_text = value;
    if (!graph_id_read(value, &argument->id))
        return say_fail(EINVAL, "'%s' names no graph: write 3, 3.2 or 1:3", value);
    return 0;
}

int graph_argument_needs(const struct graph_argument *argument, const char *name)
{
    if (!argument->path)
        return say_fail(EXIT_USAGE, "no trace was named: rtl graph %s FILE GRAPH", name);
    if (!argument->id_text)
        return say_fail(EXIT_USAGE,
                        "no graph was named: rtl graph %s FILE GRAPH "
                        "(rtl graph list %s shows them)",
                        name, argument->path);
    return 0;
}

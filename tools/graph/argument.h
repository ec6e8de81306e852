/**
 * The command line of the parts of `rtl graph` that show one graph: `FILE GRAPH`.
 */
#ifndef RTL_TOOLS_GRAPH_ARGUMENT_H
#define RTL_TOOLS_GRAPH_ARGUMENT_H

#include "analysis/graph_id.h"

/** Zeroed memory is nothing yet. The texts are those of the command line. */
struct graph_argument {
    const char *path, *id_text;
    struct graph_id id;
};

/** Takes an argument, as argp gives it for ARGP_KEY_ARG. 0, or EINVAL when a sentence has been
 * said. */
int graph_argument_take(struct graph_argument *argument, const char *value);

/** Whether both are there; if not, says how `rtl graph NAME` is called. 0, or EXIT_USAGE. */
int graph_argument_needs(const struct graph_argument *argument, const char *name);

#endif

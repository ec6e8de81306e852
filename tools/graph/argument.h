/**
 * The command line of the parts of `rtl graph` that show one graph: `FILE GRAPH`.
 */
#ifndef RTL_TOOLS_GRAPH_ARGUMENT_H
#define RTL_TOOLS_GRAPH_ARGUMENT_H

#include "analysis/graph_id.h"
#include "analysis/selection.h"

/** Zeroed memory is nothing yet. The texts are those of the command line. */
struct graph_argument {
    const char *path, *id_text;
    struct graph_id id;
    struct filter filter;
};

/** Takes an argument, as argp gives it for ARGP_KEY_ARG. 0, or EINVAL when a sentence has been
 * said. */
int graph_argument_take(struct graph_argument *argument, const char *value);

/** Whether both are there; if not, says how `rtl graph NAME` is called. 0, or EXIT_USAGE. */
int graph_argument_needs(const struct graph_argument *argument, const char *name);

/** As graph_id_find for the argument, among the processes that the selection leaves. `*generations`
 * are a copy, which the caller frees, with the launches that it leaves. */
int graph_argument_find(rtl_trace_t *trace, const struct graph_argument *argument,
                        const struct selection *selection, struct graph_id *id,
                        rtl_graph_t **generations, size_t *count);

/** Launches of a graph, or of one generation of it, whatever is selected: for "25 of 400". */
uint64_t graph_argument_launches(rtl_trace_t *trace, const struct graph_id *id);

#endif

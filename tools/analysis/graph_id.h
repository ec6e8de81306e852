/**
 * How a graph is named on the command line: `3`, its second generation `3.2`, and where several
 * processes have a graph 3, `1:3` or `1:3.2` of process 1.
 */
#ifndef RTL_TOOLS_GRAPH_ID_H
#define RTL_TOOLS_GRAPH_ID_H

#include <rtl/rtl_trace.h>

#include <stdbool.h>

/** Process and generation are 0 where they were not told. */
struct graph_id {
    uint32_t process, graph, generation;
};

/** True and the id, if `text` is one. */
bool graph_id_read(const char *text, struct graph_id *id);

/** True and the id and number of a launch, if `text` is one: `3:17` or `1:3:17`. */
bool graph_id_read_launch(const char *text, struct graph_id *id, uint32_t *launch);

/** Completes the process. Returns EXIT_FINE and in `generations` those that the id means (one, or
 * all of the graph), which belong to the trace; else a sentence has been said that names what is
 * there. */
int graph_id_find(rtl_trace_t *trace, const char *path, struct graph_id *id,
                  const rtl_graph_t **generations, size_t *count);

/** What follows "FILE has no graphs": a reason, or "" where none is known. */
const char *graph_id_why_none(rtl_trace_t *trace);

/** "3", or "1:3" in a trace of several processes with graphs. */
struct graph_name {
    char text[48];
};
struct graph_name graph_id_name(rtl_trace_t *trace, uint32_t process, uint32_t graph);

#endif

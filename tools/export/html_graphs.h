/**
 * Replays laid over each other: of each node of each generation of a graph how long it takes, when
 * after the begin of its replay it starts, and how long the replay stood still before it.
 */
#ifndef RTL_TOOLS_EXPORT_HTML_GRAPHS_H
#define RTL_TOOLS_EXPORT_HTML_GRAPHS_H

#include "common/bytes.h"
#include "export/export.h"
#include "export/html_spread.h"

#include <jansson.h>

struct html_node {
    struct spread duration, offset, gap; /**< gap: no kernel of the replay ran before it */
    uint32_t name;                       /**< text of the page */
    uint32_t gpu, queue;                 /**< of its first kernel */
};

/** A generation; its place is that in rtlTraceGraphs. */
struct html_graph {
    struct html_node *nodes;
    size_t count;
    uint64_t unknown; /**< kernels of it whose node is not known */
};

/** A launch; its place is that in rtlTraceGraphLaunches. */
struct html_launch {
    uint64_t end;  /**< of its kernels so far, ns on the trace's clock */
    uint64_t idle; /**< between them, ns */
    uint64_t kernels;
};

/** Launches run side by side, on streams of their own. */
#define HTML_GRAPHS_LAST 8u

struct html_graphs {
    const rtl_graph_t *rows;
    const rtl_graph_launch_t *launch_rows;
    struct html_graph *graphs;
    struct html_launch *launches;
    size_t graph_count, launch_count;
    size_t last[HTML_GRAPHS_LAST]; /**< launches that were found last, by a hash of their queue */
    size_t of;                     /**< the launch whose graph was looked for last, plus one */
    struct html_graph *graph;      /**< that graph, NULL: there is none */
    unsigned shift;                /**< one of 1 << shift launches is in the page, by place */
    uint32_t *numbers; /**< of a window: what each launch is called, 0: not; else NULL */
};

/** Zeroed memory becomes what the trace has. Where its launches would take more than about `most`
 * bytes of the page not every one is in it. */
rtl_status_t html_graphs_begin(struct html_graphs *graphs, rtl_trace_t *trace, uint64_t most);

/** Of a window: only launches that overlap [from, to) may be in the page, ns on the trace's clock.
 * As html_graphs_begin where they would take more than `most`. */
rtl_status_t html_graphs_choose(struct html_graphs *graphs, uint64_t from, uint64_t to,
                                uint64_t most);

/** Of so many launches one is in the page. */
static inline size_t html_graphs_every(const struct html_graphs *graphs)
{
    return (size_t)1 << graphs->shift;
}

/** What the page calls a launch, by its place: from 1; 0: it is SIZE_MAX or not in the page. */
uint32_t html_graphs_number(const struct html_graphs *graphs, size_t launch);

/** Place of the launch of a kernel, SIZE_MAX if it has none. */
size_t html_graphs_launch(struct html_graphs *graphs, const rtl_kernel_t *kernel);

/** Adds a kernel of a launch; kernels come by their start. `name` is a text of the page. False
 * when memory is short. */
bool html_graphs_add(struct html_graphs *graphs, size_t launch, const rtl_kernel_t *kernel,
                     uint32_t name);

/** The graphs that have launches, as the page wants them; their names are numbers from `number`.
 * NULL when memory is short or the trace cannot be read. */
json_t *html_graphs_json(const struct html_graphs *graphs, const struct export *export,
                         uint32_t (*number)(void *state, const char *text), void *state);

/** Appends the launches that are in the page: process, graph, generation, launch, start, duration,
 * idle, kernels, expected, correlation, thread of each, as varints; start since `zero`. */
void html_graphs_write(const struct html_graphs *graphs, uint64_t zero, struct bytes *bytes);

void html_graphs_free(struct html_graphs *graphs);

#endif

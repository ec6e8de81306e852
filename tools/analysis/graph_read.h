/**
 * What the replays of a graph took: per node, per launch. One pass over the kernels of the graph's
 * process; memory grows with nodes and launches, not with kernels.
 */
#ifndef RTL_TOOLS_GRAPH_READ_H
#define RTL_TOOLS_GRAPH_READ_H

#include "analysis/partial.h"
#include "analysis/stats.h"

#include <rtl/rtl_trace.h>

#include <stdbool.h>

/** A node, ns. */
struct graph_node {
    const rtl_graph_node_t *node; /**< of the latest generation that has it; NULL: not told */
    const char *name;             /**< of its kernels, else of the node; "" if it has none */
    uint32_t grid[3], block[3];   /**< of its first kernel, work-items; 0 if it has none */
    struct stats time;
    /** Before it: the time in which no kernel of the launch ran. None of a launch's first kernel.
     */
    struct stats gap;
    uint64_t critical;    /**< launches in whose critical path it is */
    uint64_t critical_ns; /**< its time in them */
};

/** A launch that is whole in the trace. */
struct graph_replay {
    const rtl_graph_launch_t *launch; /**< among the rows */
    uint64_t busy;                    /**< at least one of its kernels ran, ns */
    uint64_t before; /**< between the end of all replays before it and its start, ns */
};

/** A kernel of a launch, ns. */
struct graph_kernel {
    uint32_t node; /**< RTL_TRACE_NONE: not known */
    uint32_t queue;
    uint64_t start, end;
    uint64_t gap; /**< before it: the time in which no kernel of the launch ran; 0 of the first */
};

struct graph_reading {
    struct graph_node *nodes; /**< by number */
    size_t node_count;
    rtl_graph_launch_t *rows;     /**< of the launches, by number */
    struct graph_replay *replays; /**< by number */
    size_t replay_count;
    uint64_t launches;      /**< those that are not whole among them */
    struct partial partial; /**< why some are not */
    uint64_t nowhere;       /**< kernels whose node is not known */
    uint64_t unsure;        /**< kernels whose node may be another one that runs the same */
    struct stats time;      /**< of a replay, from its first kernel's start to its last one's end */
    struct stats idle;      /**< of it, no kernel ran */
    struct stats before;    /**< from the end of the replays before; none of the first */
    struct stats before_idle; /**< of that, the GPUs of the process ran no kernel and made no copy;
                                 filled in by graph_read_idle */
    struct stats path;        /**< kernels of the critical path */
    bool ordered;             /**< dependencies are known */
    bool branches;            /**< and not all nodes stand one behind the other */
};

/** Reads the launches of these generations of one graph, as graph_id_find gives them. On success
 * the caller frees the reading, before the trace is closed; on failure rtlTraceError tells. */
rtl_status_t graph_read(rtl_trace_t *trace, const rtl_graph_t *generations, size_t count,
                        struct graph_reading *reading);

/** Is handed the kernels of each launch that is whole, by start, when all of them were read. What
 * their nodes are called, and their grids, is in the reading by then; times are not. */
typedef void (*graph_watch)(void *context, const struct graph_reading *reading,
                            const struct graph_kernel *kernels, size_t count);

/** The same as graph_read; `watch` (NULL: nobody) is called for each launch, with `context`. */
rtl_status_t graph_read_watched(rtl_trace_t *trace, const rtl_graph_t *generations, size_t count,
                                graph_watch watch, void *context, struct graph_reading *reading);

/** Looks at what else the process ran between the replays, which takes another pass over its
 * kernels. On failure rtlTraceError tells, and the caller frees the reading all the same. */
rtl_status_t graph_read_idle(rtl_trace_t *trace, uint32_t process, struct graph_reading *reading);

void graph_reading_free(struct graph_reading *reading);

/** Prints how many launches are not whole, and why; nothing if all are. */
void graph_reading_show_partial(const struct graph_reading *reading, FILE *out);

/** The same for JSON, as partial_json. A new reference. */
json_t *graph_reading_partial_json(const struct graph_reading *reading);

/** Duration of a launch, ns. */
uint64_t graph_replay_time(const struct graph_replay *replay);

/** Above this, a launch is an outlier: p50 + 5 robust deviations (1.4826 times the median of the
 * distances from p50), and 5 % above p50 at least. */
uint64_t graph_outlier_limit(struct graph_reading *reading);

/** What made a launch long: the node whose kernel, or the gap before it, lasted most beyond its own
 * p50. `node` is RTL_TRACE_NONE if none did. */
struct graph_blame {
    uint32_t node;
    bool gap;
    uint64_t excess; /**< beyond p50, ns */
};
rtl_status_t graph_blame(rtl_trace_t *trace, struct graph_reading *reading,
                         const rtl_graph_launch_t *launch, struct graph_blame *blame);

#endif

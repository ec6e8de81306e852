/**
 * A window of time, cut into columns: which queue was busy when, and with what.
 */
#ifndef RTL_TOOLS_TIMELINE_H
#define RTL_TOOLS_TIMELINE_H

#include "common/texts.h"

#include <rtl/rtl_trace.h>

#include <stdbool.h>

#define TIMELINE_CANDIDATES 4u

/** What a column of a lane is mostly about: the names that took most of it, about. */
struct timeline_column {
    uint64_t busy; /**< ns in which something ran */
    struct {
        uint32_t name; /**< number among the names */
        uint64_t ns;
    } most[TIMELINE_CANDIDATES];
};

/** An event that is so long that its name may fit. */
struct timeline_long {
    uint32_t name, node; /**< node RTL_TRACE_NONE: none */
    unsigned from, to;   /**< columns [from, to) */
};

/** A queue, or the copies of an agent. */
struct timeline_lane {
    uint32_t process, queue, gpu;
    bool copies;
    uint64_t events;
    uint64_t busy, end; /**< end: of what ran last, ns */
    struct timeline_column *columns;
    struct timeline_long *longs;
    size_t long_count, long_capacity;
};

/** Kernels of a name in the window, or copies of a kind. */
struct timeline_name {
    uint64_t events, ns; /**< ns: within the window */
    uint32_t rank;       /**< 0: the one with the largest sum */
};

struct timeline {
    uint64_t from, to;           /**< [from, to), on the trace's clock */
    unsigned width;              /**< columns */
    struct timeline_lane *lanes; /**< those with events, by process, GPU and queue */
    size_t lane_count;
    struct texts texts;
    struct timeline_name *names;
    uint32_t *ranked; /**< the names by rank */
    size_t name_count, name_capacity;
    uint64_t events;
};

/** Reads the window; the caller sets from, to and width (one column at least) in a zeroed
 * structure, and frees it with timeline_free. On failure rtlTraceError tells. */
rtl_status_t timeline_read(rtl_trace_t *trace, struct timeline *timeline);

void timeline_free(struct timeline *timeline);

/** The name that took most of a column; RTL_TRACE_NONE if nothing ran. */
uint32_t timeline_most(const struct timeline_column *column);

#endif

/**
 * A window of time, cut into columns: which queue was busy when, and with what.
 */
#ifndef RTL_TOOLS_TIMELINE_H
#define RTL_TOOLS_TIMELINE_H

#include "common/texts.h"

#include <rtl/rtl_trace.h>

#include <stdbool.h>

#define TIMELINE_LONG 4u /**< an event of fewer columns has no room for a name */

/** What a name took of a column: 16 bytes for each that took some, as long as the column is open,
 * which few of a lane are at a time. */
struct timeline_share {
    uint32_t name;
    uint64_t ns;
};

/** What a column of a lane is about. */
struct timeline_column {
    uint64_t busy; /**< ns in which something ran */
    uint32_t name; /**< number of that which took most, RTL_TRACE_NONE: none, or not known yet */
    /** Those that took some, by number, as long as more may come. */
    struct timeline_share *shares;
    uint32_t share_count, share_capacity;
};

/** An event that is so long that its name may fit. */
struct timeline_long {
    uint32_t name, node; /**< node RTL_TRACE_NONE: none */
    unsigned from, to;   /**< columns [from, to) */
    uint64_t start;
    size_t came; /**< the place in which it came */
};

/** A queue, or the copies of an agent. */
struct timeline_lane {
    uint32_t process, queue, gpu;
    bool copies;
    uint64_t events;
    uint64_t busy, end; /**< end: of what ran last, ns */
    struct timeline_column *columns;
    unsigned closed; /**< columns before it are complete */
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

/* For read.c and kernels.c. */

/** Where a column begins, and which one a time of the window is in. */
uint64_t timeline_begin(const struct timeline *timeline, uint64_t column);
unsigned timeline_at(const struct timeline *timeline, uint64_t time);

/** How long two intervals have in common. */
uint64_t timeline_overlap(uint64_t from, uint64_t to, uint64_t start, uint64_t end);

/** The lane of a queue, NULL if there is none. */
struct timeline_lane *timeline_lane(struct timeline *timeline, uint32_t process, uint32_t queue);

/** The number of a name. */
uint32_t timeline_name(struct timeline *timeline, const char *text);

/** Adds to what a name took of a column that is open. */
void timeline_share(struct timeline_column *column, const struct timeline_share *share);

/** Adds an event that may have its name shown. */
void timeline_add_long(struct timeline_lane *lane, const struct timeline_long *event);

/** Says that no more shares of the columns of a lane come that end by `time`. */
void timeline_close(const struct timeline *timeline, struct timeline_lane *lane, uint64_t time);

/** Adds the kernels of the window, in threads; `timeline` has its lanes, and no names. */
rtl_status_t timeline_kernels(rtl_trace_t *trace, struct timeline *timeline);

#endif

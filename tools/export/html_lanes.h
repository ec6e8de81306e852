/**
 * The rows of the page's timeline. A row shows one thing at a time: what overlaps gets further rows
 * with the same key, so what is nested lies below what is around it.
 */
#ifndef RTL_TOOLS_EXPORT_HTML_LANES_H
#define RTL_TOOLS_EXPORT_HTML_LANES_H

#include "export/html_bins.h"

enum html_kind {
    HTML_THREAD,  /**< host calls, ranges, marks */
    HTML_QUEUE,   /**< kernels of a stream on a queue */
    HTML_COPIES,  /**< copies by an agent */
    HTML_REPLAYS, /**< launches of graphs */
    HTML_IDLE     /**< when a GPU was idle, and why */
};

/** What of it does not tell a row apart is RTL_TRACE_NONE. */
struct html_key {
    uint32_t process;
    enum html_kind kind;
    uint32_t gpu, queue, stream;
    uint32_t thread;
};

/** One thing in a row. */
struct html_slice {
    uint64_t start, end; /**< ns since the begin of the page */
    uint32_t item;       /**< what it is, see html_items.h; of ranges a text of the segment */
    uint64_t id;         /**< as SQL has it */
    uint64_t correlation, range;
    uint32_t launch; /**< row of rtlTraceGraphLaunches + 1, 0 if none */
    uint32_t node;   /**< + 1, 0 if not known or none */
    int64_t more;    /**< a copy's bytes, a host call's result, 1 for a range that never ended */
    uint32_t text;   /**< text of the segment + 1: a host call's arguments; 0 if none */
    uint32_t sample; /**< of the segment + 1: what counters counted; 0 if nothing */
};

struct html_lane {
    struct html_key key;
    unsigned number; /**< among those with this key, from 0 */
    uint64_t free;   /**< from then on, ns since the begin of the page */
    uint64_t count, busy;
    struct bins bins;
    struct html_slice *slices; /**< those of the segment that is being made */
    size_t slice_count, slice_capacity;
    size_t next; /**< place of the next row with this key + 1, 0 if it is the last */
};

#define HTML_LANES_RECENT 16u

/** Zeroed memory is empty. */
struct html_lanes {
    struct html_lane *list;
    size_t count, capacity;
    uint32_t *table; /**< place of the first row of a key + 1, 0: free */
    size_t table_size;
    size_t most_bins;                   /**< of a row */
    uint32_t recent[HTML_LANES_RECENT]; /**< of keys that were asked for: as in `table` */
};

/** The row for something that begins at `start`: the first with this key that is free. Starts must
 * not fall. It lives until the next call; NULL when memory is short. */
struct html_lane *html_lanes_take(struct html_lanes *lanes, const struct html_key *key,
                                  uint64_t start);

/** Counts a slice in its row; `name` is a text of the page. False when memory is short. */
bool html_lanes_count(struct html_lanes *lanes, struct html_lane *lane,
                      const struct html_slice *slice, uint32_t name);

/** Puts a slice into its row. Unless it is `wanted` the row has it only until the next slice. False
 * when memory is short. */
bool html_lanes_keep(struct html_lane *lane, const struct html_slice *slice, bool wanted);

/** Makes the bins of all rows twice as wide. False when memory is short. */
bool html_lanes_coarsen(struct html_lanes *lanes);

void html_lanes_free(struct html_lanes *lanes);

#endif

/**
 * Segments: the single slices of a stretch of time, of all rows, deflated. They wait in a file
 * without a name until it is known how large they are together.
 *
 * Where they are too large a share of them is kept. Segment i belongs to a share if the fraction of
 * i times the golden ratio is below it: so a share is spread evenly over time, and a smaller one is
 * part of a larger one. It shrinks while segments are made, and what is not in it by then is not
 * packed at all.
 */
#ifndef RTL_TOOLS_EXPORT_HTML_SEGMENTS_H
#define RTL_TOOLS_EXPORT_HTML_SEGMENTS_H

#include "common/texts.h"
#include "export/html_lanes.h"

#include <stdio.h>

/** Events of a segment. */
#define HTML_SEGMENT 32768u

/** Which ids of a process a segment has; from above to: none. */
struct html_ids {
    uint32_t process;
    uint64_t call_from, call_to;   /**< host calls, by correlation */
    uint64_t range_from, range_to; /**< ranges, by id */
    uint64_t work_from, work_to;   /**< kernels and copies, by the correlation of their call */
};

struct html_segment {
    uint64_t from, to; /**< what begins in [from, to) is in it */
    uint64_t events;
    long offset;   /**< in the file */
    size_t size;   /**< there, bytes */
    size_t ids;    /**< place of its first html_ids */
    size_t ids_to; /**< and of the first behind */
    bool kept;     /**< it gets into the page */
};

/** What counters counted during a kernel: pairs of a counter's place and its value. */
struct html_sample {
    size_t first, count; /**< of the numbers; pairs */
};

/** A slice that has not ended when its segment has; it is in none. */
struct html_crossing {
    size_t lane;
    struct html_slice slice;
    char *text;        /**< of a range its name, of a call its arguments; NULL if none */
    uint64_t *numbers; /**< of its sample; NULL if none */
    size_t pairs;
};

/** Zeroed memory is empty. */
struct html_segments {
    uint64_t most;     /**< bytes of the page that may be needed, UINT64_MAX: any number */
    uint64_t used;     /**< by segments that are kept */
    uint64_t expected; /**< segments in all, 0: not known */
    double share;      /**< of the segments that is kept */
    bool wanted;       /**< the one that is being made is */
    bool guessed;      /**< the share, from the first few */
    struct rtl_thread_pool *pool; /**< deflates; NULL: nothing was given to it yet */
    size_t packing;               /**< segments that it has */
    int error;                    /**< an errno that came up while segments were put aside */
    FILE *file;
    struct html_segment *list;
    size_t count, capacity;
    struct html_ids *ids;
    size_t id_count, id_capacity;
    struct html_crossing *crossings;
    size_t crossing_count, crossing_capacity;
    uint64_t events; /**< of the segment that is being made */
    struct texts texts;
    struct html_sample *samples;
    size_t sample_count, sample_capacity;
    uint64_t *numbers; /**< of the samples */
    size_t number_count, number_capacity;
    struct bytes packed; /**< the segment that was read last */
};

/** Begins with nothing. Segments need not be put aside that would not get into a page where all may
 * take `most` bytes; about as many `events` come, 0: not known. */
void html_segments_begin(struct html_segments *segments, uint64_t most, uint64_t events);

/** Begins a sample of the segment that is being made, to which html_segments_count adds pairs.
 * Returns its number + 1, 0 when memory is short. */
uint32_t html_segments_sample(struct html_segments *segments);

/** Adds a counter, by its place, and its value to the sample that was begun last. False when memory
 * is short. */
bool html_segments_count(struct html_segments *segments, uint64_t counter, uint64_t value);

/** Where the segment that is being made begins: 0 if it is the first. */
static inline uint64_t html_segments_from(const struct html_segments *segments)
{
    return segments->count ? segments->list[segments->count - 1].to : 0;
}

/** Adds a slice that is in no segment: of a row, whose place is given. False when memory is short.
 */
bool html_segments_cross(struct html_segments *segments, const struct html_lane *lane, size_t place,
                         const struct html_slice *slice);

/** Ends the segment: what is in the rows and begins before `to` is written and forgotten. Returns 0
 * or an errno. */
int html_segments_end(struct html_segments *segments, struct html_lanes *lanes, uint64_t to);

/** Waits until all are put aside. Returns 0 or an errno. */
int html_segments_finish(struct html_segments *segments);

/** Leaves segments out, evenly over time, until the rest is not larger than `most` bytes in the
 * page together. Returns the number of those left out. */
size_t html_segments_choose(struct html_segments *segments, uint64_t most);

/** Reads a segment into `packed`. Returns 0 or an errno. */
int html_segments_read(struct html_segments *segments, const struct html_segment *segment);

void html_segments_free(struct html_segments *segments);

#endif

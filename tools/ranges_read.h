/**
 * The ranges of a trace, one by one, with what each cost the GPU.
 *
 * A range has the kernels and copies that were submitted in it, or in a range within it; that
 * includes those of graphs that were launched in it, wherever these were captured. Memory grows
 * with ranges, with different names of kernels in each, and, only where they are asked for, with
 * kernels.
 */
#ifndef RTL_TOOLS_RANGES_READ_H
#define RTL_TOOLS_RANGES_READ_H

#include "common/metrics.h"
#include "common/range_time.h"
#include "common/texts.h"

#include <rtl/rtl_trace.h>

#include <stdbool.h>

/** Kernels of one name in a range. */
struct range_name {
    size_t range;  /**< place in ranges_reading.rows */
    uint32_t name; /**< number in ranges_reading.texts */
    uint64_t kernels, total;
};

/** A range, marks excluded. */
struct range_row {
    uint64_t id, start, end; /**< end 0: it was open when the process ended */
    uint32_t process, thread;
    uint32_t name;     /**< number in texts */
    const char *kind;  /**< "push", "start" */
    size_t parent;     /**< place in rows, SIZE_MAX: none */
    unsigned depth;    /**< ranges around it */
    uint64_t launches; /**< of graphs, as its kernels */
    struct rtl_range_time time;
    struct rtl_quantities quantities; /**< all that metrics are made of */
    const struct range_name *names;   /**< the largest total first */
    size_t name_count;
};

/** A kernel and the innermost range that it was submitted in. */
struct range_kernel {
    size_t range;
    uint64_t id, call, correlation, packet, start, end;
    uint32_t launch, ordinal, queue, name;
};

struct ranges_reading {
    struct range_row *rows; /**< by start, an outer range before its inner ones */
    size_t count;
    struct range_name *names; /**< by range */
    size_t name_count;
    struct range_kernel *kernels; /**< by range, then in the order in which they were launched: by
                                     host call, packet of its graph launch, queue and packet */
    size_t kernel_count;
    uint64_t outside; /**< kernels in no range */
    struct texts texts;
};

/** Reads ranges, kernels (kept one by one only if `list`), copies and launches. On success the
 * caller frees the reading; on failure rtlTraceError tells. Memory that is short ends the program
 * with a sentence. */
rtl_status_t ranges_read(rtl_trace_t *trace, bool list, struct ranges_reading *reading);

/** The kernels that were submitted in `range` itself, not within another one: `*count` of them. */
const struct range_kernel *ranges_kernels(const struct ranges_reading *reading, size_t range,
                                          size_t *count);

void ranges_free(struct ranges_reading *reading);

#endif

/**
 * The ranges of a trace, one by one, with what each cost the GPU.
 *
 * A range has the kernels and copies that were submitted in it, or in a range within it; that
 * includes those of graphs that were launched in it, wherever these were captured. Memory grows
 * with ranges, with different names of kernels and with counters in each, and, only where they are
 * asked for, with kernels.
 *
 * Where the program ran several times, once for each pass of hardware counters, ranges, kernels and
 * times are those of the first run. What the others counted is added to the same kernels
 * (counts.h) and ranges: ranges are the same if those around them are, and they are the n-th of
 * their name there.
 */
#ifndef RTL_TOOLS_RANGES_READ_H
#define RTL_TOOLS_RANGES_READ_H

#include "analysis/counts.h"
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
    /** By the places of ranges_reading.counts, NULL: nothing was counted. Of the range and all in
     * it. */
    struct rtl_count *counts;
    bool shared; /**< something else was on the device meanwhile, or may have been */
};

/** A kernel and the innermost range that it was submitted in. */
struct range_kernel {
    size_t range;
    uint64_t id, call, correlation, packet, start, end;
    uint32_t launch, ordinal, process, queue, name;
    struct rtl_count *counts; /**< as a range's */
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
    struct counts counts;
    uint64_t strange_kernels; /**< that were counted and are not in the trace, or in a later pass
                                 and not in the first */
    uint64_t strange_ranges;  /**< the same, by range and device */
    uint64_t changed_ranges;  /**< of later passes, with more or fewer kernels than in the first */
    struct texts texts;
};

/** Reads ranges, kernels (kept one by one only if `list`), copies and launches. On success the
 * caller frees the reading; on failure rtlTraceError tells. Memory that is short ends the program
 * with a sentence. */
rtl_status_t ranges_read(rtl_trace_t *trace, bool list, struct ranges_reading *reading);

/** The kernels that were submitted in `range` itself, not within another one: `*count` of them. */
const struct range_kernel *ranges_kernels(const struct ranges_reading *reading, size_t range,
                                          size_t *count);

/** As rtl_measure_value, of a range. */
bool ranges_value(const struct range_row *row, const struct rtl_measure *measure,
                  struct rtl_value *value);

/** The same of a kernel, for metrics of hardware counters alone. */
bool ranges_kernel_value(const struct range_kernel *kernel, const struct rtl_measure *measure,
                         struct rtl_value *value);

/** Of how many kernels of the range each counter that was read in it was read, at least. 0 where
 * ranges were counted as a whole. */
uint64_t ranges_counted(const struct ranges_reading *reading, const struct range_row *row);

void ranges_free(struct ranges_reading *reading);

#endif

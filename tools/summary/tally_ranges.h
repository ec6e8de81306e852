/**
 * Sums over the ranges of a trace, by name, with the kernels in them and what hardware counters
 * counted. Memory grows with ranges, 32 bytes each, not with kernels.
 */
#ifndef RTL_TOOLS_TALLY_RANGES_H
#define RTL_TOOLS_TALLY_RANGES_H

#include "analysis/counts.h"
#include "common/texts.h"

#include <rtl/rtl_trace.h>

/** The ranges of one name; durations in ns. */
struct tally_range {
    const char *name;
    uint64_t ranges; /**< without marks */
    uint64_t marks;
    uint64_t open;       /**< that never ended: their time is not known */
    uint64_t total, max; /**< of those that ended */
    uint64_t kernels;    /**< in them, or in a range within */
    uint64_t kernel_ns;  /**< sum of these kernels' durations */
    /** By the places of tally_ranges.counts, NULL: nothing was counted. */
    struct rtl_count *counts;
    uint64_t counted, counted_ns; /**< kernels that were counted each, of the first pass */
    uint64_t shared; /**< ranges, and devices of them, that were counted with other work */
};

struct tally_ranges {
    struct tally_range *names; /**< the largest total first */
    size_t count, capacity;
    uint64_t ranges, marks;
    struct counts counts;
    struct texts texts;
};

/** Reads all ranges and, if there are any, all kernels; counts those that overlap [from, to), to 0:
 * no end. On success the caller frees the tally; on failure rtlTraceError tells. */
rtl_status_t tally_ranges_read(rtl_trace_t *trace, uint64_t from, uint64_t to,
                               struct tally_ranges *tally);

/** Drops names without kernels. */
void tally_ranges_with_kernels(struct tally_ranges *tally);

void tally_ranges_free(struct tally_ranges *tally);

#endif

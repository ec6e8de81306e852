/**
 * What ranges_read works with: for its own sources.
 */
#ifndef RTL_TOOLS_RANGES_WORK_H
#define RTL_TOOLS_RANGES_WORK_H

#include "analysis/ranges_read.h"

#define NOWHERE SIZE_MAX

/** A range as operations find it. */
struct place {
    uint64_t id;
    uint32_t process;
    bool later; /**< it is of a later pass: `row` is one of work.later */
    size_t row;
};

/** A range of a later pass. */
struct later {
    uint64_t id, kernels;
    uint32_t process, name;
    size_t parent;  /**< of work.later */
    size_t ordinal; /**< among those of its name that its parent has */
    size_t partner; /**< row of the first pass */
};

/** A kernel that is listed, as samples find it. */
struct listed {
    uint32_t process, queue;
    uint64_t packet;
    size_t kernel;
};

struct work {
    struct ranges_reading *reading;
    rtl_trace_t *trace;
    struct place *places; /**< by process and id */
    size_t row_capacity;
    size_t *table; /**< of names: place + 1, 0: free */
    size_t table_size, name_capacity;
    size_t kernel_capacity;
    bool list;
    struct later *later; /**< by start */
    size_t later_count, later_capacity, place_count, place_capacity;
    struct counts_process process; /**< that was asked for last */
    struct listed *listed;         /**< by process, queue and packet */
    rtl_status_t status;           /**< of taking samples */
};

/** Where a range is, NULL if the trace has none. */
const struct place *ranges_place(const struct work *work, uint32_t process, uint64_t id);

/** The row of a range of the first pass, NOWHERE if it is none. */
size_t ranges_find(const struct work *work, uint32_t process, uint64_t id);

/** Reads what counters counted, when all ranges and kernels are there, and brings passes together.
 */
rtl_status_t ranges_add_counts(struct work *work);

/** -1, 0 or 1. */
static inline int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

#endif

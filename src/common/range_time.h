/**
 * What a range cost the GPU, added up in one go through its kernels and copies. Pure: the same for
 * readers of a trace and within a program.
 */
#ifndef RTL_COMMON_RANGE_TIME_H
#define RTL_COMMON_RANGE_TIME_H

#include <stdbool.h>
#include <stdint.h>

/** Times in ns. Zeroed memory is a range without work. */
struct rtl_range_time {
    uint64_t kernels, kernel_ns; /**< kernel_ns: sum of their durations */
    uint64_t copies, copy_bytes; /**< those whose times nobody took included */
    uint64_t copy_ns;            /**< sum of their durations */
    uint64_t busy;               /**< a kernel ran, or more */
    uint64_t overlap;            /**< two kernels ran, or more */
    uint64_t copying;            /**< a copy was made, or more */
    uint64_t active;             /**< a kernel ran or a copy was made */
    uint64_t within;             /**< of `active`, while the range was open */
    uint64_t first, last;        /**< first start and last end; 0 without work */
    /** How far the times above have come: latest end of a kernel, of two at once, of a copy. */
    uint64_t kernel_until, overlap_until, copy_until;
};

/** A kernel or copy; one that ends before it starts has no length. */
struct rtl_range_work {
    uint64_t start, end;
    uint64_t bytes; /**< of a copy */
    bool copy;
};

/** Adds work of a range that was open from `open` to `close` (0: it has no end). Work comes in the
 * order of its starts; a copy without times (both 0) at any time. */
void rtl_range_time_add(struct rtl_range_time *time, uint64_t open, uint64_t close,
                        const struct rtl_range_work *work);

/** Time in which a copy was made and a kernel ran. */
uint64_t rtl_range_time_copied_under(const struct rtl_range_time *time);

/** Time of a range of that length in which none of its work was going on. */
uint64_t rtl_range_time_idle(const struct rtl_range_time *time, uint64_t wall);

#endif

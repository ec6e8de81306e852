/**
 * A range of a session added up: its work in the order in which it started, and its times.
 *
 * No locks: the session has one.
 */
#ifndef RTL_INTERCEPT_RANGES_SUM_H
#define RTL_INTERCEPT_RANGES_SUM_H

#include "intercept/ranges/kept.h"

#include <stdbool.h>
#include <stdint.h>

/** The range that was asked for last. Zeroed memory: none. */
struct rtl_kept_sum {
    uint64_t id;
    struct rtl_kept_list list; /**< its work and that of ranges within it, by start */
    struct rtl_range_time time;
};

/** Adds up a range that has ended. What is there of the same range is not sorted again unless there
 * is more work by now: none ever goes. False if memory is short; `sum` is empty then. */
bool rtl_kept_sum(struct rtl_kept_sum *sum, struct rtl_kept *kept,
                  const struct rtl_kept_range *range);

/** Frees all; `sum` is empty then. To be called before what was kept is freed. */
void rtl_kept_sum_free(struct rtl_kept_sum *sum);

#endif

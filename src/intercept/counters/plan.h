/**
 * Which hardware counters of a device are read, and in which pass: a block counts only so many at
 * once, so that a program may have to run several times.
 *
 * Pure: what a device has it is told by its caller.
 */
#ifndef RTL_INTERCEPT_COUNTERS_PLAN_H
#define RTL_INTERCEPT_COUNTERS_PLAN_H

#include "common/counters.h"

#include <stdbool.h>
#include <stdint.h>

#define RTL_MOST_COUNTERS 64u  /* of a device */
#define RTL_MOST_PASSES   256u /* one counter of each pass, at worst */

/** What is known of a device. */
struct rtl_counters_device {
    unsigned families; /**< enum rtl_gfx; 0: nothing of this device is known by name */
    const char *name;  /**< of the device, in sentences */
    void *context;
    /** True if the device has this counter. */
    bool (*is_valid)(void *context, uint32_t block, uint32_t event);
    /** How many counters of a block count at once, and how many instances of it there are. 0: not
     * known. */
    uint32_t (*slots)(void *context, uint32_t block, uint32_t event);
    uint32_t (*instances)(void *context, uint32_t block);
};

struct rtl_planned_counter {
    const struct rtl_counter *counter;
    uint32_t instances;
    uint32_t pass;
};

struct rtl_counters_plan {
    struct rtl_planned_counter counters[RTL_MOST_COUNTERS];
    uint32_t count;
    uint32_t passes;
    char problem[320]; /**< a sentence, where there is no plan */
};

/** True if `names` (metrics and counters with commas between them) has one that needs a hardware
 * counter, or is not known. */
bool rtl_counters_are_wanted(const char *names);

/** Plans the counters that the metrics among `names` need on a device. Those of one metric are in
 * one pass if they fit into one: a ratio should be of one run. False if there is no plan, and why
 * is in `problem`: a name is not known, or the device cannot count it. */
bool rtl_counters_make_plan(struct rtl_counters_plan *plan, const char *names,
                            const struct rtl_counters_device *device);

#endif

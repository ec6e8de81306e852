/**
 * What other tools for AMD's counters call the metrics: FETCH_SIZE, L2CacheHit, TCC_HIT_sum.
 */
#ifndef RTL_TOOLS_METRICS_NAMES_H
#define RTL_TOOLS_METRICS_NAMES_H

#include "common/metrics.h"

#include <stdbool.h>

/** What there is here of such a name. */
struct metrics_elsewhere {
    const struct rtl_metric *metric; /**< NULL: nothing is the same */
    const char *unit;                /**< that the value has there, NULL: the same as here */
    const char *differs;             /**< what else is not the same, NULL: nothing */
    const char *counters;            /**< without a metric: what it is made of there, as --metrics
                                        takes them */
};

/** Looks for another tool's name, in capitals or not. False if it is of nothing here. */
bool metrics_named_elsewhere(const char *name, struct metrics_elsewhere *found);

/** Prints the table of these names. */
void metrics_show_names(void);

#endif

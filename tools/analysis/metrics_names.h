/**
 * What other tools for AMD's counters call the metrics: FETCH_SIZE, L2CacheHit, TCC_HIT_sum.
 */
#ifndef RTL_TOOLS_METRICS_NAMES_H
#define RTL_TOOLS_METRICS_NAMES_H

#include "common/metrics.h"

/** The metric that another tool's name, in capitals or not, is of; NULL if it is of none. `unit`
 * gets the unit that the value has there, NULL: the same as here. */
const struct rtl_metric *metrics_named_elsewhere(const char *name, const char **unit);

/** Prints the table of these names. */
void metrics_show_names(void);

#endif

/**
 * What hardware counters say of the ranges of an export: counters added up and the metrics that are
 * made of them, over all passes. Memory grows with ranges; it is read only from traces that have
 * counters.
 */
#ifndef RTL_TOOLS_EXPORT_COSTS_H
#define RTL_TOOLS_EXPORT_COSTS_H

#include "analysis/ranges_read.h"
#include "export/export.h"

/** Zeroed memory knows of no range. */
struct costs {
    struct ranges_reading reading;
    size_t *order; /**< places of its ranges by process and id */
    struct rtl_measure measures[METRICS_MOST];
    size_t measure_count;
};

/** Reads them, if the trace has counters. Memory that is short ends the program with a sentence, so
 * no file may have been begun. RTL_OK, or an error that rtlTraceError tells. */
rtl_status_t costs_read(struct costs *costs, const struct export *export);

/** Calls `take` for each counter that was read in a range, and then for each metric. */
void costs_each(const struct costs *costs, const rtl_range_t *range,
                void (*take)(void *state, const char *name, const struct rtl_value *value),
                void *state);

void costs_free(struct costs *costs);

#endif

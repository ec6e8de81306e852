/**
 * The columns of metrics in the page's tables: metrics of metrics.def, and after them the hardware
 * counters of the trace.
 */
#ifndef RTL_TOOLS_EXPORT_HTML_METRICS_H
#define RTL_TOOLS_EXPORT_HTML_METRICS_H

#include "analysis/counts.h"
#include "common/bytes.h"

#include <jansson.h>

struct html_metrics {
    const struct counts *counts;
    struct rtl_measure measures[METRICS_MOST];
    size_t measure_count;
    size_t count; /**< of columns */
};

/** All metrics that the counters of the trace make; `counted`: none of those that need no counter.
 * `counts` must live as long. */
void html_metrics_begin(struct html_metrics *metrics, const struct counts *counts, bool counted);

/** A column's value; false if there is none. `row` may be NULL: nothing was counted. */
bool html_metrics_value(const struct html_metrics *metrics, size_t column,
                        const struct rtl_quantities *quantities, const struct rtl_count *row,
                        struct rtl_value *value);

/** Whether the values of a column are whole numbers. */
bool html_metrics_whole(const struct html_metrics *metrics, size_t column);

/** Name, unit, rule and formula of a column; `recorded`: the trace was made for it. */
json_t *html_metrics_json(const struct html_metrics *metrics, size_t column,
                          const struct metrics *recorded);

/** Appends a value: a whole number, or the bits of a float, + 1; 0 if there is none. */
void html_metrics_write(const struct html_metrics *metrics, size_t column,
                        const struct rtl_quantities *quantities, const struct rtl_count *row,
                        struct bytes *bytes);

#endif

/**
 * What hardware counters counted, for the page: by name of kernel, and kernel by kernel.
 */
#ifndef RTL_TOOLS_EXPORT_HTML_COUNTS_H
#define RTL_TOOLS_EXPORT_HTML_COUNTS_H

#include "export/export.h"
#include "export/html_metrics.h"

/** The kernels of one name that were counted. */
struct html_counted {
    uint64_t kernels;
    struct rtl_count *counts;         /**< a row of the trace's counters */
    struct rtl_quantities quantities; /**< their number, and the time in which they ran */
};

/** Zeroed memory is empty. */
struct html_counts {
    struct counts counts;
    struct html_counted *names; /**< by text of the page */
    size_t name_count;
};

/** Reads which counters there are. */
rtl_status_t html_counts_begin(struct html_counts *counts, rtl_trace_t *trace);

/** Adds a kernel that was counted; `name` is a text of the page. Memory that is short ends the
 * program with a sentence, so no file may have been begun. */
void html_counts_add(struct html_counts *counts, uint32_t name, const rtl_kernel_t *kernel,
                     const rtl_trace_sample_t *sample);

/** The columns of metrics, and for each name of a kernel that was counted its number, how many were
 * counted, and a value for each column, or null. */
json_t *html_counts_json(const struct html_counts *counts, rtl_trace_t *trace);

/** The counters of the trace, as kernels have them by their places: names. */
json_t *html_counts_list(const struct export *export);

void html_counts_free(struct html_counts *counts);

#endif

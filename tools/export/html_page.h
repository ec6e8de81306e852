/**
 * What a page is made of, and how its parts are called in it.
 *
 * The page is the viewer (tools/viewer, built into one file), and in the place of its mark
 * `<!--RTL-DATA-->` the head, which calls `rtlPage.start()`, the ranges (html_ranges.h), the
 * segments, and `rtlPage.complete()`. All are base64 of deflated bytes: no text of the trace is
 * markup, and none needs quoting. The head is the length of a JSON text (varint), the text, and
 * numbers: for each row of the timeline and then for each GPU its bins (html_bins.h), and the
 * launches of graphs (html_graphs.h).
 */
#ifndef RTL_TOOLS_EXPORT_HTML_PAGE_H
#define RTL_TOOLS_EXPORT_HTML_PAGE_H

#include "export/html_counts.h"
#include "export/html_graphs.h"
#include "export/html_idle.h"
#include "export/html_items.h"
#include "export/html_lanes.h"
#include "export/html_own.h"
#include "export/html_segments.h"
#include "export/html_tables.h"
#include "export/samples.h"

/** How large a page may be when --page-size does not say it, bytes. */
#define HTML_PAGE UINT64_C(20000000)

/** Bins of all rows, and launches, may each take one of so many parts of it. */
#define HTML_PART 5u

/** How busy a GPU is in one process: of a page that has --from or --to in that window, as in
 * `rtl summary`. Times are ns since the begin of the page. */
struct html_gpu {
    uint32_t process, gpu;
    uint64_t first, last; /**< begin of its first kernel, end of the last */
    uint64_t until, busy; /**< until: it is busy so far */
    struct bins bins;
};

/** What kernels of a shape have in common. */
struct html_shape {
    bool known;
    uint32_t name, item; /**< a text of the page, an item of its kernels */
};

struct html_page {
    struct export *export;
    uint64_t zero;        /**< begin of the page on the trace's clock; set by the first event */
    bool begun;           /**< it is set */
    uint64_t first, last; /**< of all events, ns since the begin of the page */
    uint64_t untimed;     /**< copies that are not shown: nobody took their times */
    bool by_detail;       /**< --detail bounds single events, not the page's size */
    uint64_t beyond_size; /**< by so much the page is larger than it should be without any */
    uint64_t beyond;      /**< events that end after the last moment of a page (html_time.h) */
    struct html_lanes lanes;
    struct html_items kernels, copies;
    struct texts texts;
    struct html_segments segments;
    struct html_graphs graphs;
    struct html_tables tables;
    struct html_counts counts;
    struct html_own own; /**< of ranges */
    struct html_idle idle;
    struct html_gpu *gpus;
    size_t gpu_count;
    size_t gpu;                /**< place of the run's */
    struct html_shape *shapes; /**< as rtl_runs_shapes numbers them */
    size_t shape_count;
    struct samples samples; /**< of kernels */
    /** What the last kernel is of, and whose and which correlation that is; process 0: none. */
    rtl_trace_origin_t origin;
    uint32_t origin_process;
    uint64_t origin_correlation;
    size_t range_names; /**< different ones */
    size_t left_out;    /**< segments */
};

/** Appends the head. Returns EXIT_FINE, or EXIT_USAGE when a sentence has been said. */
int html_head(struct html_page *page, struct bytes *head);

#endif

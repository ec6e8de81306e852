/**
 * The idle times of the GPUs, as the page's rows show them: each piece of a gap with what the host
 * did then (analysis/idle.h). Those between kernels of one launch are left out: the row of its
 * kernels shows them.
 *
 * A gap is known when the work at its end begins, which is when its pieces are put into the page.
 * All of a trace is read once for that and for all else. Of a part of it what ran just
 * before and behind it must be known, too, so the work of each GPU is read beside the events.
 */
#ifndef RTL_TOOLS_EXPORT_HTML_IDLE_H
#define RTL_TOOLS_EXPORT_HTML_IDLE_H

#include "analysis/absent.h"
#include "analysis/activity_work.h"

#include <rtl/rtl_trace.h>

/** So many of the longest gaps are told with the page's head. */
#define HTML_GAPS 256u

struct html_page;
struct html_idle_device;

/** A time in which a GPU is idle from end to end, ns since the begin of the page. */
struct html_gap {
    uint64_t from, to;
    uint32_t process, gpu;
    uint32_t name; /**< a text of the page: what the host did when it ended */
};

/** Zeroed memory has read nothing. */
struct html_idle {
    struct html_idle_device **devices;
    size_t count;
    bool beside;     /**< work is read beside the events */
    uint64_t least;  /**< shorter ones are in the row's bins only, ns; 0: all are events */
    uint64_t pieces; /**< events since that was doubled */
    struct html_gap gaps[HTML_GAPS]; /**< the longest, longest first */
    size_t gap_count;
    struct absent absent; /**< what may have run in idle times; none are read if the mode left
                             work out */
};

/** Begins to read those of the processes and within the time that are wanted. html_idle_free comes
 * afterwards, on failure as well; then rtlTraceError tells. Here and below, memory that is short
 * ends the program with a sentence. */
rtl_status_t html_idle_begin(struct html_page *page);

/** Comes before what begins at `start`. */
rtl_status_t html_idle_until(struct html_page *page, uint64_t start);

/** Comes before a kernel or copy of a process is put into the page. */
rtl_status_t html_idle_take(struct html_page *page, uint32_t process,
                            const struct activity_work *work);

/** There is nothing more. */
rtl_status_t html_idle_finish(struct html_page *page);

void html_idle_free(struct html_idle *idle);

#endif

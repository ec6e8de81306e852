/**
 * The idle times of the GPUs, as the page's rows show them: each piece of a gap with what the host
 * did then (analysis/idle.h). Those between kernels of one launch are left out: the row of its
 * kernels shows them.
 *
 * They are read before the events, since a gap is known when it is over, and handed out by start.
 */
#ifndef RTL_TOOLS_EXPORT_HTML_IDLE_H
#define RTL_TOOLS_EXPORT_HTML_IDLE_H

#include "analysis/absent.h"
#include "common/texts.h"
#include "export/export.h"

/** A piece, on the trace's clock. */
struct html_idle_piece {
    uint64_t from, to;
    uint32_t process, gpu;
    uint32_t cause;       /**< a text of html_idle.causes */
    uint64_t correlation; /**< of the call that submitted what ran then, 0: not known */
};

/** Zeroed memory has read nothing. */
struct html_idle {
    struct html_idle_piece *list; /**< by start, once it is read */
    size_t count, capacity;
    size_t next;          /**< the first that has not been handed out */
    uint64_t least;       /**< shorter ones are left out, ns: there were too many. 0: none is */
    struct absent absent; /**< what may have run in idle times; none are read if the mode left
                             work out */
    struct texts causes;  /**< as idle_label has them, calls with "in " */
};

/** Reads those of the processes and within the time that are wanted. The caller frees it, on
 * failure as well; then rtlTraceError tells. Memory that is short ends the program with a sentence.
 */
rtl_status_t html_idle_read(const struct export *export, struct html_idle *idle);

/** The next piece that begins before `time`; NULL: none does. */
const struct html_idle_piece *html_idle_next(struct html_idle *idle, uint64_t time);

void html_idle_free(struct html_idle *idle);

#endif

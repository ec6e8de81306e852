/**
 * Whether a trace that is compared holds all that it was to hold: the verdict of `rtl check`, as
 * far as the accounts tell it.
 */
#ifndef RTL_TOOLS_DIFF_WHOLE_H
#define RTL_TOOLS_DIFF_WHOLE_H

#include <rtl/rtl_trace.h>

#include <stdbool.h>

struct diff_whole {
    bool complete;
    bool unknown; /**< another format, from which it was imported, does not tell what is missing */
    char *line;   /**< "INCOMPLETE: 98 of 110 kernels, 12 lost (the ring was full)" */
};

/** Reads it; zeroed memory is none yet. On failure rtlTraceError tells. */
rtl_status_t diff_whole_read(rtl_trace_t *trace, struct diff_whole *whole);

/** Whether something is known to be missing. */
bool diff_whole_lacks(const struct diff_whole *whole);

void diff_whole_free(struct diff_whole *whole);

#endif

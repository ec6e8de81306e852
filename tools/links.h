/**
 * Does what a trace holds belong together? One pass over all of it, which also shows that all of it
 * can be read.
 */
#ifndef RTL_TOOLS_LINKS_H
#define RTL_TOOLS_LINKS_H

#include <rtl/rtl_trace.h>

struct links {
    uint64_t calls;   /**< host calls */
    uint64_t kernels; /**< that name a host call or range which is not in the trace */
    uint64_t copies;  /**< the same */
};

/** Reads the whole trace. On failure rtlTraceError tells. */
rtl_status_t links_read(rtl_trace_t *trace, struct links *links);

#endif

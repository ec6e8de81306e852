/**
 * Does what a trace holds belong together? One pass over all of it, which also shows that all of it
 * can be read.
 */
#ifndef RTL_TOOLS_LINKS_H
#define RTL_TOOLS_LINKS_H

#include <rtl/rtl_trace.h>

#include <stdbool.h>

struct links {
    uint64_t calls;   /**< host calls */
    uint64_t kernels; /**< that name a host call or range which is not in the trace */
    uint64_t copies;  /**< the same */
    uint64_t past;    /**< kernels of a HIP whose calls are followed, which none launched */
    bool stopped;     /**< of a process whose recording was stopped for a while: who had called HIP
                         by then and launched later is among them */
};

/** Reads the whole trace. On failure rtlTraceError tells. */
rtl_status_t links_read(rtl_trace_t *trace, struct links *links);

#endif

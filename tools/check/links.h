/**
 * Does what a trace holds belong together? Looks at what kernels and copies say they come from, and
 * at no more of chunks than that takes; or unpacks all of them, which also shows that all can be
 * read.
 */
#ifndef RTL_TOOLS_LINKS_H
#define RTL_TOOLS_LINKS_H

#include "store/digest.h"

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

/** Goes over the whole trace. What chunks hold is looked at where it is needed, or (`deep`) all of
 * it; `tell` is told of each chunk that does not hold what it must, unless its checksum is wrong,
 * which rtl_digest_check tells. On failure rtlTraceError tells. */
rtl_status_t links_read(rtl_trace_t *trace, bool deep, rtl_digest_tell tell, void *context,
                        struct links *links);

#endif

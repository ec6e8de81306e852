/**
 * HIPs that made queues and whose host calls are not in the trace, although the mode has host
 * calls: with them streams and graphs are missing.
 */
#ifndef RTL_TOOLS_UNSEEN_H
#define RTL_TOOLS_UNSEEN_H

#include <jansson.h>
#include <rtl/rtl_trace.h>

#include <stdbool.h>
#include <stdio.h>

struct unseen_hip {
    uint32_t process;
    const char *library; /**< "" for the program itself; of the trace */
    const char *calls;   /**< as rtl_trace_hip_queue_t has it */
    uint64_t kernels;    /**< of its queues, in the trace */
    bool wanted;         /**< somebody has switched host calls off: nothing is missing */
};

struct unseen {
    struct unseen_hip *list;
    size_t count;
    unsigned missing;         /**< of them, not wanted so */
    uint64_t missing_kernels; /**< of these */
};

/** Takes no longer than the trace has queues. To be freed. On failure rtlTraceError tells. */
rtl_status_t unseen_read(rtl_trace_t *trace, struct unseen *unseen);
void unseen_free(struct unseen *unseen);

/** A sentence for each, and, if wanted, what to do. */
void unseen_show(const struct unseen *unseen, bool advise, FILE *out);

/** An array with process, library, calls, kernels of each. */
json_t *unseen_json(const struct unseen *unseen);

#endif

/**
 * Why the GPUs of a trace were idle: each as each process used it, with its longest gaps.
 */
#ifndef RTL_TOOLS_IDLE_GPUS_H
#define RTL_TOOLS_IDLE_GPUS_H

#include "analysis/idle_device.h"

/** A time in which nothing ran, ns. */
struct idle_gap {
    uint64_t start, ns;
    size_t cause; /**< of most of it */
    char *next;   /**< the kernel that ran then, or "a copy" */
};

struct idle_gpu {
    struct idle_device of;
    struct idle_gap *gaps; /**< the longest first */
    size_t gap_count, gap_room;
};

/** Those that kernels were sent to, in the order of their queues. Zeroed memory is none. */
struct idle_gpus {
    struct idle_gpu *list;
    size_t count;
    size_t all; /**< those that are selected out (store/select.h) among them */
};

/** Reads them within a window (on the trace's clock, the second 0: no end), with `top` gaps each.
 * One pass over kernels and copies for each. The caller frees them, on failure as well; then
 * rtlTraceError tells. Memory that is short ends the program with a sentence. */
rtl_status_t idle_gpus_read(rtl_trace_t *trace, const uint64_t window[2], size_t top,
                            struct idle_gpus *gpus);

/** What `rtl idle --json` has of it. A new reference. */
json_t *idle_gpu_json(const struct idle_gpu *gpu);

void idle_gpus_free(struct idle_gpus *gpus);

#endif

/**
 * Sums over the kernels of a trace: per kernel name, per queue, per GPU. One pass in the order of
 * time; memory grows with names and queues, not with kernels.
 */
#ifndef RTL_TOOLS_TALLY_H
#define RTL_TOOLS_TALLY_H

#include <rtl/rtl_trace.h>

/** A kernel's name with its calls; durations in ns. */
struct tally_name {
    const char *name; /**< demangled; belongs to the trace */
    uint64_t calls, total, min, max;
};

/** The time in which at least one kernel ran (the union of their intervals), ns. */
struct tally_span {
    uint64_t kernels;
    uint64_t first, last; /**< first start and last end; 0 without kernels */
    uint64_t busy;
};

struct tally_queue {
    const rtl_queue_t *queue;
    struct tally_span span;
    uint32_t gpu; /**< index into `gpus` of the tally, RTL_TRACE_NONE if it is on none */
};

/** A device. The same device used by several processes is one. */
struct tally_gpu {
    const rtl_agent_t *agent; /**< as the first process saw it */
    const char *host;
    unsigned queues;
    struct tally_span span;
};

struct tally {
    struct tally_name *names; /**< the largest total first */
    size_t name_count;
    struct tally_queue *queues; /**< by process, then queue */
    size_t queue_count;
    struct tally_gpu *gpus;
    size_t gpu_count;
    uint64_t kernels, total; /**< total: sum of all durations */
};

/** Reads the whole trace. On success the caller frees the tally with tally_free, before the trace
 * is closed. On failure nothing is left to free; rtlTraceError tells, or memory was short. */
rtl_status_t tally_read(rtl_trace_t *trace, struct tally *tally);

void tally_free(struct tally *tally);

#endif

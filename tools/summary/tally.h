/**
 * Sums over the kernels of a trace: per kernel name, per queue, per GPU. Memory grows with names
 * and queues, not with kernels.
 */
#ifndef RTL_TOOLS_TALLY_H
#define RTL_TOOLS_TALLY_H

#include <rtl/rtl_trace.h>

struct tally {
    rtl_aggregate_t *kept;    /**< what the lists belong to */
    const rtl_group_t *names; /**< by name, the largest total first */
    size_t name_count;
    const rtl_queue_time_t *queues; /**< by process, then queue */
    size_t queue_count;
    const rtl_device_time_t *gpus; /**< the same device used by several processes is one */
    size_t gpu_count;
    uint64_t kernels, total; /**< total: sum of all durations */
};

/** Adds up the kernels that overlap [from, to), to 0: no end. On success the caller frees the tally
 * with tally_free, before the trace is closed. On failure nothing is left to free; rtlTraceError
 * tells. */
rtl_status_t tally_read(rtl_trace_t *trace, uint64_t from, uint64_t to, struct tally *tally);

void tally_free(struct tally *tally);

#endif

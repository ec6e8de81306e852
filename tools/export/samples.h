/**
 * What hardware counters counted, for the events of an export. Events come by time, samples lie by
 * process, queue and packet: each queue is read by an iterator of its own, which goes on with its
 * kernels. Memory is that of the chunks that iterators hold, two for each queue.
 */
#ifndef RTL_TOOLS_EXPORT_SAMPLES_H
#define RTL_TOOLS_EXPORT_SAMPLES_H

#include <rtl/rtl_trace.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Zeroed memory has read nothing yet, and but for the first two fields need not be set. */
struct samples {
    bool of_kernels, of_ranges; /**< the trace has some */
    struct samples_stream *streams;
    size_t count, capacity;
    size_t *table; /**< place in `streams` + 1, 0: free */
    size_t table_size;
    rtl_trace_sample_t behind; /**< of a kernel that was passed by */
    rtl_trace_sample_t *found; /**< of the range that was asked for */
    size_t found_capacity;
    uint64_t *values; /**< theirs */
    size_t value_count, value_capacity;
};

/** What was counted during a kernel: `*sample`, or NULL if nothing was. It lives until the next
 * kernel is asked for. RTL_E_MEMORY, or an error that rtlTraceError tells. */
rtl_status_t samples_kernel(struct samples *samples, rtl_trace_t *trace, const rtl_kernel_t *kernel,
                            const rtl_trace_sample_t **sample);

/** What was counted in a range, for each device that it had work on: `*count` samples, which live
 * until the next range is asked for. */
rtl_status_t samples_range(struct samples *samples, rtl_trace_t *trace, const rtl_range_t *range,
                           const rtl_trace_sample_t **list, size_t *count);

void samples_free(struct samples *samples);

#endif

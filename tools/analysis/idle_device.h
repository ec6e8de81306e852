/**
 * How long a GPU, as one process used it, ran kernels of graphs, other kernels or copies alone, and
 * why it was idle for the rest: from the first start to the last end, or within a window.
 */
#ifndef RTL_TOOLS_IDLE_DEVICE_H
#define RTL_TOOLS_IDLE_DEVICE_H

#include "analysis/absent.h"
#include "analysis/idle.h"

struct idle_device {
    uint32_t process, gpu;
    uint64_t window[2];   /**< on the trace's clock, the second 0: no end */
    uint64_t first, last; /**< within the window; equal: nothing ran in it */
    uint64_t time[ACTIVITIES];
    struct absent absent; /**< what may have run while it seems idle */
    struct idle_causes causes;
    struct idle_times idle;
    /** Called for each gap once it is in `idle`; NULL: by nobody. */
    void (*gap)(void *context, uint64_t from, uint64_t to, const struct activity_work *next);
    void *context;
    bool outside; /**< gaps between kernels of one launch of a graph are not wanted */
    struct activity_watcher watcher; /**< private, as the next */
    struct activity_sweep sweep;
};

/** Reads what the device did. `process`, `gpu`, `window`, `gap`, `context` and `outside` are set,
 * and those of `idle` if pieces of gaps are wanted; all else is zero. The caller frees it, on
 * failure as well; then rtlTraceError tells. */
rtl_status_t idle_device_read(rtl_trace_t *trace, struct idle_device *device);

/** The same for who reads the work himself: opens, takes the device's work by start (copies before
 * kernels of the same start), and ends. The device must not move meanwhile. */
rtl_status_t idle_device_open(rtl_trace_t *trace, struct idle_device *device);
rtl_status_t idle_device_take(struct idle_device *device, const struct activity_work *work);
rtl_status_t idle_device_finish(struct idle_device *device);

/** The idle time of the device's causes as an array, the largest first. A new reference. */
json_t *idle_device_json(const struct idle_device *device);

void idle_device_free(struct idle_device *device);

#endif

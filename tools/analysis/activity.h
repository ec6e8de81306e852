/**
 * What the GPUs of a process did at each instant: kernels of graphs, other kernels, copies alone,
 * or nothing. One pass over kernels and copies by their start.
 *
 * Where several ran at once, a kernel of a graph counts before an eager kernel, and a kernel before
 * a copy, so that the times add up to the time that went by.
 */
#ifndef RTL_TOOLS_ACTIVITY_H
#define RTL_TOOLS_ACTIVITY_H

#include "analysis/activity_work.h"

/** Who looks on. Functions that are NULL are not called; each returns RTL_OK, or what the walk
 * ends with. */
struct activity_watcher {
    void *context;
    /** This is next, NULL: nothing more. All before its start has been told but `stretch`es up to
     * it, which follow. */
    rtl_status_t (*coming)(void *context, const struct activity_work *work);
    /** From the first start to the last end each instant is in one stretch, in order. `next` is
     * what began at the end of an idle one, or later; NULL: nothing more. */
    rtl_status_t (*stretch)(void *context, enum activity kind, uint64_t from, uint64_t to,
                            const struct activity_work *next);
    /** It begins; by start, copies before kernels of the same start. */
    rtl_status_t (*begun)(void *context, const struct activity_work *work);
};

/** What runs, for who reads the work himself. Zeroed but for the watcher, who stays until the end:
 * nothing has come yet. */
struct activity_sweep {
    const struct activity_watcher *watcher;
    bool begun;
    uint64_t at;                    /**< told up to here */
    uint64_t until[ACTIVITIES - 1]; /**< the last end of each kind so far */
};

/** Takes what begins next: works come by their start, copies before kernels of the same start. */
rtl_status_t activity_take(struct activity_sweep *sweep, const struct activity_work *work);

/** Nothing more comes. */
rtl_status_t activity_finish(struct activity_sweep *sweep);

/** Walks over the kernels and copies of a process (0: all) on a GPU (RTL_TRACE_NONE: all, with the
 * copies that the host made). Copies without times are left out. */
rtl_status_t activity_walk(rtl_trace_t *trace, uint32_t process, uint32_t gpu,
                           const struct activity_watcher *watcher);

/** "graphs", "eager kernels", "copies", "idle". */
const char *activity_label(enum activity kind);

#endif

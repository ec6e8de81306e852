/**
 * The kernels and copies of a process by their start, as one list.
 */
#ifndef RTL_TOOLS_ACTIVITY_WORK_H
#define RTL_TOOLS_ACTIVITY_WORK_H

#include "store/runs.h"

#include <rtl/rtl_trace.h>
#include <stdbool.h>

enum activity {
    ACTIVITY_GRAPH, /**< a kernel of a graph's replay ran */
    ACTIVITY_EAGER, /**< another kernel, and none of a graph */
    ACTIVITY_COPY,  /**< an asynchronous copy, and no kernel */
    ACTIVITY_IDLE,  /**< nothing */
    ACTIVITIES
};

/** A kernel or copy. */
struct activity_work {
    enum activity kind;
    uint64_t start, end;    /**< end is not before start */
    uint32_t gpu;           /**< RTL_TRACE_NONE: not known, or the host made the copy */
    uint32_t graph, launch; /**< RTL_TRACE_NONE: of no graph */
    uint64_t correlation;
    const char *name; /**< of a kernel; NULL: a copy. Lives as long as the trace */
};

/** A copy that has times, as work. */
void activity_work_of_copy(const rtl_copy_t *copy, struct activity_work *work);

/** Two iterators, each with the item that is next of it. Zeroed: not open. */
struct activity_works {
    uint32_t gpu;
    struct rtl_runs *kernels;
    rtl_copy_iter_t *copies;
    struct rtl_run run;
    uint32_t next;       /**< of the run */
    rtl_kernel_t kernel; /**< graph and launch of the one before, `record` of `of_process` */
    uint32_t record, of_process;
    const char **names; /**< by shape, NULL: not looked up */
    rtl_copy_t copy;
    bool has_kernel, has_copy;
    bool given_kernel, given_copy; /* the one that is next was given out, and is to be read over */
};

/** Opens the work of a process (0: all) on a GPU (RTL_TRACE_NONE: all, with the copies that the
 * host made). The caller closes it, on failure as well; then rtlTraceError tells. */
rtl_status_t activity_works_open(rtl_trace_t *trace, uint32_t process, uint32_t gpu,
                                 struct activity_works *works);

/** The same, but what ended before `from` (ns on the trace's clock) is left out. */
rtl_status_t activity_works_open_at(rtl_trace_t *trace, uint32_t process, uint32_t gpu,
                                    uint64_t from, struct activity_works *works);

/** The next by start, copies before kernels of the same start; RTL_END: none. Copies without times
 * are left out. */
rtl_status_t activity_works_next(struct activity_works *works, struct activity_work *work);

void activity_works_close(struct activity_works *works);

#endif

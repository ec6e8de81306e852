/**
 * Kernels by their start, as rtlTraceKernels gives them, in runs: kernels of one chunk that come
 * before any of another. For who looks at all kernels of a large trace, and needs names and nodes
 * once for many of them.
 *
 * Chunks are unpacked ahead by a pool of threads. All functions are for one thread.
 */
#ifndef RTL_STORE_RUNS_H
#define RTL_STORE_RUNS_H

#include <rtl/rtl_trace.h>
#include <stddef.h>
#include <stdint.h>

struct rtl_runs;

struct rtl_run_kernel {
    uint64_t start, end; /**< ns on the trace's clock; end is not before start */
    uint64_t packet, correlation;
    uint32_t shape; /**< below rtl_runs_shapes: kernels of the same have name and geometry in
                       common; that number: not known */
    uint32_t launch, ordinal; /**< for rtl_runs_node */
    uint32_t place;           /**< in its chunk */
};

struct rtl_run {
    uint32_t process, gpu, queue;
    uint32_t count; /**< 1 or more */
    const struct rtl_run_kernel *kernels;
    uint64_t id; /**< plus the place of a kernel: its id */
};

/** Begins to read. What the trace selects (select.h) is what it selects now. `filter->by_queue` is
 * not looked at. */
rtl_status_t rtl_runs_new(rtl_trace_t *trace, const rtl_kernel_filter_t *filter,
                          struct rtl_runs **runs);

/** The next run of kernels that start before `until`, UINT64_MAX: whenever; it lives until the next
 * call. RTL_END: none. */
rtl_status_t rtl_runs_next(struct rtl_runs *runs, uint64_t until, struct rtl_run *run);

/** How many shapes there are. */
size_t rtl_runs_shapes(const struct rtl_runs *runs);

/** Sets of a kernel what those of a shape have in common: name, mangled name, symbol, grid, block,
 * group and private size. */
void rtl_runs_shape(const struct rtl_runs *runs, uint32_t shape, rtl_kernel_t *kernel);

/** Sets of a kernel of the run graph, generation, launch, node, certain and node_range, and its
 * process, queue and packet; nothing else. */
rtl_status_t rtl_runs_node(struct rtl_runs *runs, const struct rtl_run *run,
                           const struct rtl_run_kernel *from, rtl_kernel_t *kernel);

/** NULL is allowed. */
void rtl_runs_free(struct rtl_runs *runs);

#endif

/**
 * A part of a trace: what its iterators and sums give out from then on, so that whoever reads the
 * trace need not know of it. Lists (processes, queues, graphs …), look-ups of single things and SQL
 * go on to have all there is.
 *
 * Of a kernel's name a user is asked once, of a stream the host calls are read once: what is left
 * for each kernel is a look at its shape, its correlation and its start.
 */
#ifndef RTL_STORE_SELECT_H
#define RTL_STORE_SELECT_H

#include <rtl/rtl_trace.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Things that begin in [from, to) pass; ns on the trace's clock. */
struct rtl_select_window {
    uint64_t from, to;
};

/** What passes. Zeroed memory restricts nothing. */
struct rtl_selection {
    const bool *processes; /**< by place in rtlTraceProcesses; NULL: all */
    /** By place in rtlTraceStreams, NULL: all. Kernels, copies, host calls and launches of streams
     * pass; what no host call is known of does not. */
    const bool *streams;
    const bool *gpus; /**< by ordinal, `gpu_count` of them; NULL: all. For kernels and copies */
    size_t gpu_count;
    /** Whether kernels of a demangled name pass; NULL: all. Then no copy does. */
    bool (*kernel)(void *context, const char *name);
    void *context;
    /** In order, none overlaps another; NULL: any time. A launch begins with its first kernel; what
     * has no time does not pass. Not for ranges: what they submitted may begin much later. */
    const struct rtl_select_window *windows;
    size_t window_count;
    /** Kernels and copies all pass: for who chooses launches and wants each of them whole. */
    bool only_launches;
};

/** Restricts the iterators and sums that are begun from now on; `selection` NULL: not any more.
 * Nothing of it is kept. Arrays that rtlTraceGraphLaunches gave are not valid any more. On failure
 * nothing has changed, and rtlTraceError tells. */
rtl_status_t rtl_trace_select(rtl_trace_t *trace, const struct rtl_selection *selection);

/** While paused, iterators over kernels and copies that are begun give out all there is, as long as
 * they live; for who also needs to know what ran beside the part. */
void rtl_trace_select_pause(rtl_trace_t *trace, bool paused);

/** True if kernels of a process on a GPU are given out, should there be any. */
bool rtl_trace_selects(const rtl_trace_t *trace, uint32_t process, uint32_t gpu);

/* For the sources of the reader. `struct rtl_select` is what a trace keeps of a selection; NULL:
 * all passes. It does not change, so that threads may ask at once. */

struct rtl_select;
struct rtl_trace;

void rtl_select_free(struct rtl_select *select);

/** True if kernels of a process on a GPU may pass. */
bool rtl_select_may(const struct rtl_select *select, uint32_t process, uint32_t gpu);

/** A look at the kernels of one process, which mostly come in order. Zeroed: all pass. */
struct rtl_select_look {
    const unsigned char *shapes; /**< by number; NULL: all */
    uint32_t shape_count;
    uint32_t process;
    const struct rtl_select *select; /**< for shapes beyond */
    const uint64_t *correlations;    /**< sorted; NULL: all */
    size_t correlation_count, correlation;
    const struct rtl_select_window *windows; /**< NULL: all */
    size_t window_count, window;
};

/** Begins a look; false: all kernels of the process pass. */
bool rtl_select_begin(const struct rtl_select *select, uint32_t process,
                      struct rtl_select_look *look);

/** True if a kernel passes. Where `look->correlations` is NULL its correlation is not looked at. */
bool rtl_select_kernel(struct rtl_select_look *look, uint32_t shape, uint64_t correlation,
                       uint64_t start);

/** The end of the time in which a kernel that passes has begun, UINT64_MAX: none. */
uint64_t rtl_select_end(struct rtl_select_look *look, uint64_t start);

bool rtl_select_copy(const struct rtl_select *select, const rtl_copy_t *copy);
bool rtl_select_call(const struct rtl_select *select, const rtl_api_t *call);
bool rtl_select_range(const struct rtl_select *select, const rtl_range_t *range);
bool rtl_select_launch(const struct rtl_select *select, const rtl_graph_launch_t *launch);

#endif

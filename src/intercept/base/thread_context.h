/**
 * What a thread is doing for the program just now: where its packets and copies come from.
 *
 * What reserves packets or submits a copy looks here; what wraps a host call, or keeps ranges, or
 * begins a graph launch, writes here. Each thread has its own; nothing is shared but the counter of
 * ids.
 */
#ifndef RTL_INTERCEPT_BASE_THREAD_CONTEXT_H
#define RTL_INTERCEPT_BASE_THREAD_CONTEXT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct rtl_thread_context {
    uint64_t call;  /**< correlation of the outermost host call that the thread is in, 0 if none */
    uint64_t range; /**< innermost range that is open in the thread, 0 if none; set by
                       rtl_thread_context_set_range */
    uint64_t outside;         /**< correlation of what the thread submits outside of host calls:
                                 `ext_correlation` if there is one, else `range` */
    uint64_t ext_correlation; /**< id that the push of `external` allocated, 0 if nobody asks for
                                 such ids (external.h) */
    uint64_t external;        /**< what another profiler has pushed last, 0 if nothing */
    uint32_t launch;          /**< graph launch that the thread is submitting, RTL_NONE if none */
    uint32_t packets;         /**< that it has reserved for that launch */
    uint32_t thread;          /**< its id, 0 if not known yet: rtl_thread_context_thread */
    uint32_t inside;          /**< depth of host calls: what HIP calls itself is not recorded */
    bool paused;              /**< the thread has stopped the recording of what it does itself */
};

/** Of the calling thread. Initial-exec, as it is read for every packet: the library is there from
 * the start, or small enough for the reserve that the dynamic linker keeps for such. */
extern _Thread_local struct rtl_thread_context rtl_thread_context
    __attribute__((tls_model("initial-exec")));

/** Correlation for what the calling thread submits now. */
static inline uint64_t rtl_thread_context_correlation(void)
{
    return rtl_thread_context.call != 0 ? rtl_thread_context.call : rtl_thread_context.outside;
}

/** The calling thread is in another range now, 0 if in none. */
static inline void rtl_thread_context_set_range(uint64_t range)
{
    rtl_thread_context.range = range;
    rtl_thread_context.outside =
        rtl_thread_context.ext_correlation != 0 ? rtl_thread_context.ext_correlation : range;
}

/** A new id for a host call or range of this process; never 0, never the same twice. Ids of one
 * thread rise. Any thread, lock-free. */
uint64_t rtl_thread_context_new_id(void);

/** What the calling thread gets from rtl_thread_context_new_id from now on is greater than `id`,
 * which was given out by it: what lies within a range of another thread has a greater id than the
 * range. */
void rtl_thread_context_ids_after(uint64_t id);

/** Id of the calling thread, looked up once: gettid, unless the process had a thread of that tid
 * before (threads.h). */
uint32_t rtl_thread_context_thread(void);

/** Whether host calls are wanted: what a wrapper looks at first. */
enum rtl_calls {
    RTL_CALLS_OFF = 0,     /**< not wanted, now or ever */
    RTL_CALLS_STOPPED = 1, /**< not wanted before recording is started again: what is kept track of
                              for later (graphs) goes on */
    RTL_CALLS_UNDECIDED = 2, /**< nobody knows yet: the HSA runtime is not up. Take the times; when
                                the call returns it will be known */
    RTL_CALLS_ON = 3
};
extern _Atomic uint32_t rtl_calls_state;

#endif

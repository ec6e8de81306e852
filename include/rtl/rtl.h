/**
 * RTL inside a program.
 *
 * librtl.so is loaded by the HSA runtime (HSA_TOOLS_LIB), not linked. A program that wants to talk
 * to it links librtl.so, or finds the functions with dlsym(RTLD_DEFAULT, …) so that it runs without
 * RTL as well.
 */
#ifndef RTL_H
#define RTL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define RTL_API __attribute__((visibility("default")))
#else
#define RTL_API
#endif

/** Version of the library, "major.minor.patch"; static storage. Any thread, at any time. */
RTL_API const char *rtlVersion(void);

/** 1 if this process is being recorded, 0 if not: librtl.so was not loaded as a tool, or could not
 * reach a collector. Any thread, at any time. */
RTL_API int rtlRecording(void);

/** Resumes and stops recording. Kernels that are submitted while recording is stopped are not
 * recorded, only counted as left out; queues are followed all the time, so nothing is missed at
 * either edge. A kernel is submitted when its doorbell is rung, or a moment later where another
 * thread is just submitting for the queue. A process begins recording unless RTL_START=off is set.
 * RTL_DELAY and RTL_DURATION start and stop by time, `rtl ctl` from outside.
 * Stops do not nest. The trace notes when they came. Any thread, after hsa_init.
 *
 * Return 0, or -1 if this process is not being recorded. */
RTL_API int rtlStart(void);
RTL_API int rtlStop(void);

/** What a range cost. Times are nanoseconds, moments those of CLOCK_BOOTTIME (in a time
 * namespace: of the machine's), which begin and end may be a microsecond off. */
typedef struct rtl_range_result {
    uint64_t id, parent; /**< parent 0: none */
    const char *text;    /**< lives until the session ends; NULL without one */
    uint64_t start, end;
    uint64_t wall_ns;         /**< end - start */
    uint64_t kernels;         /**< in it, or in a range within */
    uint64_t kernel_ns;       /**< sum of their durations */
    uint64_t busy_ns;         /**< one of them ran, or more */
    uint64_t overlap_ns;      /**< two of them ran, or more */
    uint64_t copies;          /**< asynchronous ones */
    uint64_t copy_bytes;      /**< of all of them */
    uint64_t copy_ns;         /**< sum of the durations of those whose times are known */
    uint64_t copying_ns;      /**< one of them was made, or more */
    uint64_t copy_overlap_ns; /**< one of them was made, and a kernel ran */
    uint64_t active_ns;       /**< a kernel ran or a copy was made */
    uint64_t idle_ns;         /**< of wall_ns, when neither was so */
    uint64_t first, last;     /**< first start and last end of its work, 0 without */
    uint64_t graph_launches;  /**< by hipGraphLaunch */
    uint64_t lost; /**< of the whole session so far: kernels, copies and ranges that are missing */
    uint32_t thread;      /**< in which it began (gettid) */
    int32_t error;        /**< 0: all of this is known; else why not, see rtlRangePop */
    uint64_t reserved[8]; /**< 0: room for what later versions tell */
} rtl_range_result_t;

/** Ranges and marks, as roctx's (roctxRangePushA, roctxRangePop, roctxMarkA: the same stack, and
 * the same records): what a thread submits between a push and its pop belongs to the range. The
 * text is copied; NULL is an empty one. Any thread, at any time, whether the process is recorded or
 * not; errno is kept.
 *
 * rtlRangePush returns the range's level in the thread, from 0; rtlRangePop the level of the range
 * that it ended, or -1 if none was open.
 *
 * With a `result`, rtlRangePop also tells what the range cost, if there is a session
 * (rtl_session.h): it waits until the GPU is done with what was submitted in the range, at most
 * for 10 s. What other threads have submitted since the range began is waited for as well. Without
 * a result, or a session, it waits for nothing. Ranges around it are open meanwhile: their wall and
 * idle time have the wait. `result->error` tells how far the result goes:
 *
 *     0            all is known
 *     ESRCH        no session, or hsa_init is still to come: `id`, `parent`, `start`, `end`,
 *                  `wall_ns` and `thread` are known
 *     ENOENT       as ESRCH, because the session has not got the range: recording was stopped, or
 *                  the range found no room. Nothing at all if no range was open (-1)
 *     EINPROGRESS  a range that the thread had entered was left and goes on: `id` is known
 *     ETIMEDOUT    the GPU was not done: what had ended by then counts
 *     ENOMEM       memory was short: as ESRCH; nothing at all if it already was at the push
 *
 * What is not known is 0. */
RTL_API int rtlRangePush(const char *text);
#ifdef __cplusplus
RTL_API int rtlRangePop(rtl_range_result_t *result = NULL);
#else
RTL_API int rtlRangePop(rtl_range_result_t *result);
#endif
RTL_API void rtlMark(const char *text);

/** Id of the innermost range that is open in the calling thread, 0 if none. It names the range in
 * the trace (`ranges.id`) and to rtl_session.h. */
RTL_API uint64_t rtlRangeCurrent(void);

/** Ranges across threads. rtlRangeStart begins one that no thread is in yet and returns its id, 0
 * if memory is short. rtlRangeEnter has the calling thread be in it, as if it had pushed it:
 * rtlRangePop leaves it again, and does not end it. Several threads may be in it at once, and
 * ranges that they push lie within it. rtlRangeStop ends it; who is in it stays there. Any thread,
 * otherwise as above.
 *
 * rtlRangeEnter returns the level in the thread, rtlRangeStop 0; both -1 if no range that was
 * started here has that id and is open. */
RTL_API uint64_t rtlRangeStart(const char *text);
RTL_API int rtlRangeEnter(uint64_t id);
RTL_API int rtlRangeStop(uint64_t id);

#ifdef __cplusplus
}
#endif

#endif

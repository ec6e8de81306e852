/**
 * RTL inside a program.
 *
 * librtl.so is loaded by the HSA runtime (HSA_TOOLS_LIB), not linked. A program that wants to talk
 * to it links librtl.so, or finds the functions with dlsym(RTLD_DEFAULT, …) so that it runs without
 * RTL as well.
 */
#ifndef RTL_H
#define RTL_H

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

/** Ranges and marks, as roctx's (roctxRangePushA, roctxRangePop, roctxMarkA: the same stack, and
 * the same records): what a thread submits between a push and its pop belongs to the range. The
 * text is copied; NULL is an empty one. Any thread, at any time, whether the process is recorded or
 * not; errno is kept.
 *
 * rtlRangePush returns the range's level in the thread, from 0; rtlRangePop the level of the range
 * that it ended, or -1 if none was open. */
RTL_API int rtlRangePush(const char *text);
RTL_API int rtlRangePop(void);
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

/**
 * Whether this process is recorded, and whether recording is stopped just now: flags that all parts
 * of the library look at, and few set.
 */
#ifndef RTL_INTERCEPT_BASE_RECORDING_H
#define RTL_INTERCEPT_BASE_RECORDING_H

#include "intercept/base/thread_context.h"

#include <stdatomic.h>
#include <stdbool.h>

/** Recording was stopped for the process. Set by rtl_recording_stop alone. Hidden, as it is read
 * for every packet: declared without that it would be looked up in the table of addresses. */
extern _Atomic bool rtl_recording_stopped __attribute__((visibility("hidden")));

/** The process is recorded from now on, which rtlRecording (rtl.h) tells the program; false: not,
 * or no longer (a forked child). Async-signal-safe. */
void rtl_recording_set(bool on);

/** True if it is. Any thread. */
bool rtl_recording_is_on(void);

/** Stops or resumes the recording of what is submitted from now on, on all queues. True if it was
 * the other way before. Any thread. */
bool rtl_recording_stop(bool stop);

/** True while recording is stopped for the process. Any thread. */
static inline bool rtl_recording_is_stopped(void)
{
    return atomic_load_explicit(&rtl_recording_stopped, memory_order_relaxed);
}

/** True while recording is stopped, for the process or for the calling thread. Any thread. */
static inline bool rtl_recording_is_stopped_here(void)
{
    return rtl_recording_is_stopped() || rtl_thread_context.paused;
}

#endif

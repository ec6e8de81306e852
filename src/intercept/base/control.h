/**
 * When recording is on: what the program, the environment and somebody outside want.
 *
 * Recording begins on, or stopped (RTL_START=off, RTL_DELAY, roctxProfilerPause before hsa_init,
 * rtl ctl stop of the session before). RTL_DELAY's start is called off by whatever the program or
 * rtl ctl wants before; RTL_DURATION counts from when recording is on for the first time and stops
 * it once. The worker looks at the time and at what rtl ctl wants, so both take some ms, and
 * nothing happens before the first queue is made.
 */
#ifndef RTL_INTERCEPT_BASE_CONTROL_H
#define RTL_INTERCEPT_BASE_CONTROL_H

#include "intercept/base/config.h"
#include "ring/ring.h"

#include <stdbool.h>

enum rtl_control_request { RTL_CONTROL_NONE, RTL_CONTROL_START, RTL_CONTROL_STOP };

/** As rtlStart and rtlStop, but remembered if recording has not begun yet. Any thread. */
void rtl_control_request(enum rtl_control_request request);

/** Stops or resumes recording, or leaves it as it is, and says in the trace what changes; `ending`
 * (such as " by rtl ctl") ends the sentence. 0, or -1 if this process is not being recorded. One
 * thread at a time, which control.c sees to. */
typedef int rtl_control_apply(bool stop, enum rtl_pause_why why, const char *ending);

/** Recording begins, on or stopped: `apply` is called with that, and with every change from then
 * on. The ring is there, rtl_emit is open. Once. */
void rtl_control_begin(const struct rtl_config *config, struct rtl_ring *ring,
                       rtl_control_apply *apply);

/** Does what is due. For the worker, each round; cheap. */
void rtl_control_poll(void);

/** In a forked child, which is not recorded. */
void rtl_control_forked(void);

#endif

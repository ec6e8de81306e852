/**
 * A recorder takes a moment after the last recorded process has ended. Who looks at a trace right
 * then is to see all of it.
 */
#ifndef RTL_TOOLS_SETTLE_H
#define RTL_TOOLS_SETTLE_H

#include <rtl/rtl_trace.h>

#include <stdbool.h>

/** Whether the process that writes the trace lives. One of another host cannot be asked for. */
bool settle_is_recording(const rtl_trace_info_t *info);

/** Whether it may live all the same: the trace is not finished, and another host writes or wrote
 * it.
 */
bool settle_is_elsewhere(const rtl_trace_info_t *info);

/** From now on settle_is_near is false: what is there at once will do. */
void settle_never(void);

/** Whether the end of the trace is a moment away: its recorder lives, all processes that were
 * recorded are gone, and it waits for no program that it has started. One thread. */
bool settle_is_near(rtl_trace_t *trace);

#endif

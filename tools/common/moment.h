/**
 * Times of a trace as options tell them.
 */
#ifndef RTL_TOOLS_MOMENT_H
#define RTL_TOOLS_MOMENT_H

#include <rtl/rtl_trace.h>

#include <stdbool.h>

/** A time as it was written: since the recording began ("1.5s"), or on the trace's clock (a plain
 * number). Zeroed memory: not given. */
struct moment {
    uint64_t ns;
    bool given, absolute;
};

/** Reads the time that an option was given. 0, or EINVAL when a sentence has been said. */
int moment_read(const char *option, const char *text, struct moment *moment);

/** The time on the trace's clock, where the recording began at `start`; the last that there is
 * where that lies beyond. */
uint64_t moment_on_clock(const struct moment *moment, uint64_t start);

/** Both on the trace's clock, 0 where not given. 0, or EINVAL when a sentence has been said. */
int moment_window(const rtl_trace_info_t *info, const struct moment *from, const struct moment *to,
                  uint64_t window[2]);

#endif

/**
 * Work that is not in a trace and may have run while a GPU seems idle there: what the mode left
 * out, what was lost, and packets that RTL cannot look into. What was left out while recording was
 * stopped is not among it: that time is a cause of its own (idle.h).
 */
#ifndef RTL_TOOLS_ABSENT_H
#define RTL_TOOLS_ABSENT_H

#include "analysis/partial.h"

struct absent {
    uint64_t kernels, copies;
    uint64_t packets; /**< that may hold kernels */
    uint64_t by_mode; /**< of kernels and copies: the mode left them out. Where there are any, most
                         work may be absent */
    struct partial why;
};

/** Reads what is absent of a process (0: of all) on a GPU (RTL_TRACE_NONE: on all), as far as these
 * are selected (store/select.h). On failure
 * rtlTraceError tells. */
rtl_status_t absent_read(rtl_trace_t *trace, uint32_t process, uint32_t gpu, struct absent *absent);

bool absent_any(const struct absent *absent);

/** "98 kernels and 2 copies are not in the trace (left out by the mode hip)"; "" if none are. */
void absent_say(const struct absent *absent, char *text, size_t size);

/** An object with the counts and `why`; null if none are. A new reference. */
json_t *absent_json(const struct absent *absent);

#endif

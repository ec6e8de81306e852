/**
 * Sums over the host calls of a trace, by name. One pass.
 */
#ifndef RTL_TOOLS_TALLY_CALLS_H
#define RTL_TOOLS_TALLY_CALLS_H

#include "common/texts.h"

#include <rtl/rtl_trace.h>

/** The host calls of one name; durations in ns. */
struct tally_call {
    const char *name;
    uint64_t calls;
    uint64_t failed; /**< returned neither 0 nor hipErrorNotReady, which is an answer */
    uint64_t total, min, max;
};

struct tally_calls {
    struct tally_call *names; /**< the largest total first */
    size_t count, capacity;
    uint64_t calls, total;
    struct texts texts;
};

/** Reads all host calls. On success the caller frees the tally; on failure rtlTraceError tells. */
rtl_status_t tally_calls_read(rtl_trace_t *trace, struct tally_calls *tally);

void tally_calls_free(struct tally_calls *tally);

#endif

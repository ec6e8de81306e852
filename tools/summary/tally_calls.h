/**
 * Sums over the host calls of a trace, by name. One pass.
 */
#ifndef RTL_TOOLS_TALLY_CALLS_H
#define RTL_TOOLS_TALLY_CALLS_H

#include "common/texts.h"

#include "store/stat.h"

#include <rtl/rtl_trace.h>

/** The host calls of one name. */
struct tally_call {
    const char *name;
    uint64_t failed;      /**< returned neither 0 nor hipErrorNotReady, which is an answer */
    struct rtl_stat stat; /**< of durations, ns */
};

struct tally_calls {
    struct tally_call *names; /**< the largest total first */
    size_t count, capacity;
    uint64_t calls, total;
    struct texts texts;
};

/** Reads the host calls that overlap [from, to), to 0: no end. On success the caller frees the
 * tally; on failure rtlTraceError tells, or memory was short. */
rtl_status_t tally_calls_read(rtl_trace_t *trace, uint64_t from, uint64_t to,
                              struct tally_calls *tally);

void tally_calls_free(struct tally_calls *tally);

#endif

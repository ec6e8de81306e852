/**
 * Sums over the copies of a trace, by kind. One pass.
 */
#ifndef RTL_TOOLS_TALLY_COPIES_H
#define RTL_TOOLS_TALLY_COPIES_H

#include <rtl/rtl_trace.h>

#define TALLY_KINDS 8u

/** The copies of one kind. */
struct tally_kind {
    const char *kind; /**< belongs to the trace */
    uint64_t copies, bytes;
    uint64_t total;       /**< ns, of those whose time is known */
    uint64_t timed_bytes; /**< of the same */
};

struct tally_copies {
    struct tally_kind kinds[TALLY_KINDS]; /**< the largest total first */
    unsigned count;
    uint64_t copies, bytes, total;
    uint64_t timed; /**< copies whose time is known */
};

/** Reads the copies that overlap [from, to), to 0: no end. On failure rtlTraceError tells. */
rtl_status_t tally_copies_read(rtl_trace_t *trace, uint64_t from, uint64_t to,
                               struct tally_copies *tally);

/** Bytes per nanosecond, which is GB/s; 0 if no time is known. */
double tally_copies_rate(const struct tally_kind *kind);

#endif

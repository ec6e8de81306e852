/**
 * What processes still had that ended without closing their ring: those that were killed, or have
 * not told, those that ended by _exit, and images that an exec replaced.
 *
 * A packet is counted in shared memory before the device can take it, and so is a copy before the
 * runtime is called. What was counted and is neither in the trace nor explained was in flight, or
 * not handed over, at that moment: so many packets at most have run, and are not in the trace.
 */
#ifndef RTL_TOOLS_ENDED_H
#define RTL_TOOLS_ENDED_H

#include <rtl/rtl_trace.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Processes that ended in one of the two ways. */
struct ended_way {
    unsigned processes;
    uint64_t packets; /**< kernels and copies that are not accounted for, at most */
    bool unbounded;   /**< there may be more: packets went past RTL */
};

struct ended {
    struct ended_way died, exited, replaced;
};

/** Reads it out of a trace. */
rtl_status_t ended_count(rtl_trace_t *trace, struct ended *ended);

/** Puts what the verdict has to say into `text`, of `size` bytes, with a semicolon and a blank in
 * front of each part: "; 1 of 2 processes ended without telling: none of its packets is
 * unaccounted for". Empty if all have told, and none of those has packets that are not accounted
 * for. `processes`: how
 * many the trace has; `others`: the verdict tells of losses that have nothing to do with it. */
void ended_say(const struct ended *ended, unsigned processes, bool others, char *text, size_t size);

#endif

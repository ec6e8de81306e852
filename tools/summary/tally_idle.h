/**
 * Why the GPUs of a trace were idle, for its summary.
 */
#ifndef RTL_TOOLS_TALLY_IDLE_H
#define RTL_TOOLS_TALLY_IDLE_H

#include "analysis/idle_device.h"
#include "summary/tally.h"

/** Above so many kernels a summary would take much longer: `rtl idle` is asked then. */
#define TALLY_IDLE_MOST UINT64_C(2000000)

struct tally_idle {
    struct idle_device *devices; /**< by place in tally.gpus; NULL: not read */
};

/** Reads it for a window as tally_read does. Nothing is read, and that is no failure, of a trace
 * with more than TALLY_IDLE_MOST kernels, or several processes with kernels. */
rtl_status_t tally_idle_read(rtl_trace_t *trace, uint64_t from, uint64_t to,
                             const struct tally *tally, struct tally_idle *idle);

void tally_idle_free(const struct tally *tally, struct tally_idle *idle);

#endif

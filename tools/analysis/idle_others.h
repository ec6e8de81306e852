/**
 * What other GPUs of a process did while one was idle, so that a wait for their work is told from
 * the GPU's own latency. Only work that ended by the end of the idle time is looked at: what still
 * ran then was not waited for.
 */
#ifndef RTL_TOOLS_IDLE_OTHERS_H
#define RTL_TOOLS_IDLE_OTHERS_H

#include "analysis/activity_work.h"

#include <stddef.h>

/** A time, ns on the trace's clock. */
struct idle_span {
    uint64_t from, to;
};

/** Zeroed: it finds nothing. One pass over the process's work, as idle times come. */
struct idle_others {
    uint32_t gpu;
    bool open;
    struct activity_works works;
    struct idle_span coming; /* work that is read and begins later; of no length: none */
    bool end;                /* no more work */
    struct idle_span *begun; /* that began and had not ended, by begin */
    size_t count, capacity;
};

/** Opens it for a GPU of a process, and idle times from `from` on (ns on the trace's clock).
 * Nothing is read where the process used no other GPU, and the part of the trace that is selected
 * (store/select.h) does not matter. The caller closes it, on failure as well; then rtlTraceError
 * tells. */
rtl_status_t idle_others_open(rtl_trace_t *trace, uint32_t process, uint32_t gpu, uint64_t from,
                              struct idle_others *others);

/** The first time within [within.from, within.to) in which work of others ran that ended within
 * it: RTL_END if there is none. Calls come in the order of time. Memory that is short ends the
 * program with a sentence. */
rtl_status_t idle_others_next(struct idle_others *others, struct idle_span within,
                              struct idle_span *ran);

void idle_others_close(struct idle_others *others);

#endif

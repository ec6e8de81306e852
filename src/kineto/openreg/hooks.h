/**
 * Between the device (device.c) and its tracing (tracing.c): what a backend has to tell, and when.
 *
 * The device calls; tracing answers. While nothing is enabled each hook is a look at a flag.
 */
#ifndef RTL_KINETO_OPENREG_HOOKS_H
#define RTL_KINETO_OPENREG_HOOKS_H

#include <PrivateUse1TracingApi.h>

#include <stdbool.h>

/** What a piece of device work keeps from its launch until it has run. */
struct trace_origin {
    uint64_t correlation, external;
    uint32_t session; /**< in which it was launched */
    bool wanted;
};

/** A call of the runtime. */
struct trace_call {
    const char *name; /**< static */
    uint64_t start, correlation;
    uint32_t session;
    bool wanted;
};

/** At the beginning and the end of each call of the runtime, in its thread. */
void trace_call_begin(struct trace_call *call, const char *name);
void trace_call_end(const struct trace_call *call);

/** In a call that launches device work: what the work keeps. */
struct trace_origin trace_launch(const struct trace_call *call, pu1ActivityKind kind);

/** Now, in the clock of records. */
uint64_t trace_now(void);

/** The work has run from `start` to now; in the stream's thread, before anybody may learn that it
 * is done. `bytes`: of copies and sets. */
void trace_work(const struct trace_origin *origin, pu1ActivityKind kind, const char *name,
                uint64_t stream, uint64_t start, size_t bytes);

/** Waits for all that was launched before, at most so long; false if it is not done. In device.c.
 */
bool device_wait(unsigned seconds);

#endif

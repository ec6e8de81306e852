/**
 * A subscriber in the process (rtl_callbacks.h): the ring is private memory, and a thread of ours
 * takes the collector's place.
 */
#ifndef RTL_INTERCEPT_CALLBACKS_CALLBACKS_H
#define RTL_INTERCEPT_CALLBACKS_CALLBACKS_H

#include "intercept/base/config.h"
#include "ring/ring.h"

#include <rtl/rtl_callbacks.h>

#include <stdbool.h>

/** As rtlSubscribe, but beside a trace as well (`callbacks->mode` is NULL, and the mode the
 * trace's): ENOTSUP then if recording has begun without. rtlUnsubscribe ends it, and the trace goes
 * on. Records of hardware counters go to `counters` as they are. */
int rtl_callbacks_subscribe(const rtl_callbacks_t *callbacks, void *context,
                            rtl_ring_handler counters);

/** What a flush does first, in at most `patience_ns`: harvests all that is done and describes the
 * clocks, as far as the runtime is there. All is in the ring then. Before all that follows; once.
 */
void rtl_callbacks_begin(void (*quiesce)(uint64_t patience_ns));

/** Recording into a trace begins: serves who has subscribed beside it from a ring of his own, with
 * the losses of the trace's. Before anything is sent. */
void rtl_callbacks_tee(const struct rtl_ring *trace, size_t bytes);

/** True if somebody has subscribed, and no trace is recorded; then `config` gets the subscriber's
 * mode. When recording begins.
 */
bool rtl_callbacks_wanted(struct rtl_config *config);

/** Makes the ring and starts the thread that empties it. False with errno set. Once. */
bool rtl_callbacks_open(struct rtl_ring *ring, size_t bytes);

/** Recording could not begin, or began for a collector: no subscriber can be served. */
void rtl_callbacks_refuse(void);

/** Hands over what is in the ring and ends the calls, at the exit of the process; waits at most
 * `patience_ns`. */
void rtl_callbacks_end(uint64_t patience_ns);

/** In a forked child, where the thread does not exist. */
void rtl_callbacks_forked(void);

#endif

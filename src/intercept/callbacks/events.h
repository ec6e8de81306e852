/**
 * From the records of a ring to the events of a subscriber: ids are resolved, ticks become
 * nanoseconds, texts become strings.
 *
 * A kernel is held back until the clock of its GPU is known beyond its end, as a reader of a trace
 * would have it; that is a tenth of a second at most while the worker runs.
 */
#ifndef RTL_INTERCEPT_CALLBACKS_EVENTS_H
#define RTL_INTERCEPT_CALLBACKS_EVENTS_H

#include "ring/ring.h"

#include <rtl/rtl_callbacks.h>

#include <stdbool.h>

struct rtl_events;

/** Which of the kernels and copies that have gathered are handed over. */
enum rtl_events_which {
    RTL_EVENTS_SURE,  /**< those whose clock is known beyond their end */
    RTL_EVENTS_TIMED, /**< and those whose clock is known at all: it will go on as before */
    RTL_EVENTS_ALL    /**< and the others, without times */
};

/** Makes the state for a ring, whose ledger tells the losses. NULL if memory is short. Everything
 * below is for one thread at a time. */
struct rtl_events *rtl_events_new(const struct rtl_ring_header *header);

/** Sets who gets the events; NULL: nobody, they are dropped. Records of hardware counters go to
 * `counters` (may be NULL) as they are. */
void rtl_events_subscribe(struct rtl_events *events, const rtl_callbacks_t *callbacks,
                          void *context, rtl_ring_handler counters);

/** Tells how many records have found no room on their way so far: they are lost, too. */
void rtl_events_missed(struct rtl_events *events, uint64_t missed);

/** Takes a record of the ring (rtl_ring_handler); calls callbacks where a batch is full. */
void rtl_events_take(void *events, enum rtl_wire_type type, const void *body, size_t size);

/** Hands over what has gathered. */
void rtl_events_deliver(struct rtl_events *events, enum rtl_events_which which);

/** Hands over the ranges that are open, as such. */
void rtl_events_deliver_open(struct rtl_events *events);

#endif

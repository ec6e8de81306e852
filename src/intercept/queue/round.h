/**
 * One round of the work that keeps queues going: signals and memory made ahead of need, what has
 * completed harvested and forwarded, what passed the doorbells by submitted, destroyed queues
 * accounted for, clocks described.
 *
 * It needs no thread of its own: the worker (worker.h) does one after the other, and whoever has
 * stopped the worker may do some.
 */
#ifndef RTL_INTERCEPT_QUEUE_ROUND_H
#define RTL_INTERCEPT_QUEUE_ROUND_H

#include "ring/ring.h"

#include <stdbool.h>
#include <stdint.h>

/** So many records of a queue in a round: there is more to do, go on at once. */
#define RTL_ROUND_BUSY 512u

struct rtl_round {
    /** Of the caller, before a round. */
    struct rtl_ring *ring; /**< NULL: there is none */
    const _Atomic bool
        *stopping; /**< somebody waits for the caller: makes nothing ahead any more */
    bool busy;     /**< no nap before this round */
    /** What is to be known after it. */
    bool waiting;     /**< records were left */
    uint32_t served;  /**< queues of which something had finished */
    unsigned fullest; /**< most of one of them; RTL_ROUND_BUSY: there is more to do */
    /** From one round to the next. */
    bool looking;     /**< in this round, at what the submitter is about to write */
    uint32_t looks;   /**< rounds that did so */
    uint64_t looked;  /**< when one did last, ns */
    unsigned careful; /**< so many rounds are to look, whatever else happens */
};

/** Does it; returns how many records were finished, and more if there may be more to do. One thread
 * at a time. */
unsigned rtl_round(struct rtl_round *round);

#endif

/**
 * How long the end of a process may wait for the collector to take what is left.
 *
 * A collector that stands still is waited for RTL_PATIENCE_NS; one that takes records is waited for
 * as long as it does, up to RTL_EXIT_WAIT. All waits of one end share that. One thread at a time.
 */
#ifndef RTL_INTERCEPT_BASE_PATIENCE_H
#define RTL_INTERCEPT_BASE_PATIENCE_H

#include "ring/ring.h"

#include <stdbool.h>
#include <stdint.h>

/** While nothing moves, at an exit. */
#define RTL_PATIENCE_NS UINT64_C(900000000)

/** In all where RTL_EXIT_WAIT is not set. */
#define RTL_PATIENCE_MOST_NS UINT64_C(5000000000)

/** Zero-initialised: it begins with the first question. */
struct rtl_patience {
    uint64_t begin, until; /* CLOCK_MONOTONIC, ns */
    uint64_t tail;         /* how far the collector had come */
};

/** Nanoseconds that are left for what is not the collector's doing. */
uint64_t rtl_patience_left(struct rtl_patience *patience, uint64_t most_ns);

/** True while it is worth to wait for room in the ring, or for it to be emptied. */
bool rtl_patience_has(struct rtl_patience *patience, const struct rtl_ring *ring, uint64_t most_ns);

#endif

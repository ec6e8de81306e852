/**
 * Adding to a row of the ledger (ring/wire.h), which outlives the process.
 */
#ifndef RTL_INTERCEPT_QUEUE_LEDGER_H
#define RTL_INTERCEPT_QUEUE_LEDGER_H

#include "intercept/base/recording.h"
#include "ring/wire.h"

#include <stdatomic.h>
#include <stdint.h>

/** Adds to a counter that other threads may add to. Any thread. */
static inline void rtl_ledger_add(_Atomic uint64_t *counter, uint64_t value)
{
    if (value != 0)
        atomic_fetch_add_explicit(counter, value, memory_order_relaxed);
}

/** Adds to a counter that nobody else writes: without a locked instruction, which would wait for
 * all stores before it, those to records that lie in the worker's cache among them. One thread at a
 * time. */
static inline void rtl_ledger_add_private(_Atomic uint64_t *counter, uint64_t value)
{
    if (value != 0)
        atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + value,
                              memory_order_relaxed);
}

/** Adds packets that are not followed, of which so many may be kernels: lost, or left out while
 * recording is stopped. Any thread. */
static inline void rtl_ledger_add_not_followed(struct rtl_wire_ledger *ledger, uint64_t packets,
                                               uint64_t kernels)
{
    bool stopped = rtl_recording_is_stopped();
    rtl_ledger_add(&ledger->packets, packets);
    rtl_ledger_add(&ledger->seen, kernels);
    rtl_ledger_add(&ledger->lost[RTL_LOST_NOT_FOLLOWED], stopped ? 0 : kernels);
    rtl_ledger_add(&ledger->skipped, stopped ? kernels : 0);
    rtl_ledger_add(&ledger->stopped, stopped ? kernels : 0);
}

#endif

/**
 * Adding to a row of the ledger (ring/wire.h), which outlives the process.
 */
#ifndef RTL_INTERCEPT_QUEUE_LEDGER_H
#define RTL_INTERCEPT_QUEUE_LEDGER_H

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

#endif

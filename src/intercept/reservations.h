/**
 * Where the packets of a queue come from: a note for each reservation, at its first slot.
 *
 * Written by the producer that reserves, before anybody can find its packets valid; read by whoever
 * submits them, in the order of the queue, so that one note serves for all packets of a
 * reservation. A note carries the index it is for: what an earlier lap or queue left is told apart.
 */
#ifndef RTL_INTERCEPT_RESERVATIONS_H
#define RTL_INTERCEPT_RESERVATIONS_H

#include "ring/wire.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum rtl_reserved_flags {
    RTL_RESERVED_OUTSIDE =
        1, /**< outside of a host call that is known: its packets may tell a graph */
    RTL_RESERVED_FOUND = 2,   /**< `launch` is one of packets reserved at once, not one of HIP's */
    RTL_RESERVED_LEFT_OUT = 4 /**< the thread is paused: not to be recorded */
};

/** A reservation; plain. */
struct rtl_reservation {
    uint64_t correlation; /**< as a kernel's */
    uint32_t launch;      /**< RTL_NONE if none */
    uint32_t ordinal;     /**< of its first packet in the launch */
    uint32_t count;       /**< packets */
    uint32_t flags;       /**< enum rtl_reserved_flags */
};

/** A slot for one. */
struct rtl_reserved {
    _Atomic uint64_t first; /**< index of its first packet */
    _Atomic uint64_t correlation;
    _Atomic uint64_t launch_ordinal;
    _Atomic uint64_t count_flags;
};

/** Notes a reservation that begins with packet `first`. */
static inline void rtl_reserved_put(struct rtl_reserved *slot, uint64_t first,
                                    const struct rtl_reservation *reservation)
{
    atomic_store_explicit(&slot->first, first, memory_order_relaxed);
    atomic_store_explicit(&slot->correlation, reservation->correlation, memory_order_relaxed);
    atomic_store_explicit(&slot->launch_ordinal,
                          reservation->launch | (uint64_t)reservation->ordinal << 32,
                          memory_order_relaxed);
    atomic_store_explicit(&slot->count_flags,
                          reservation->count | (uint64_t)reservation->flags << 32,
                          memory_order_relaxed);
}

/** The reservation that begins with packet `first`. False if there is no note of one: a producer
 * has come by that no hook saw. It is then one of that packet alone, from nowhere. */
static inline bool rtl_reserved_get(struct rtl_reserved *slot, uint64_t first,
                                    struct rtl_reservation *reservation)
{
    bool known = atomic_load_explicit(&slot->first, memory_order_relaxed) == first;
    uint64_t launch = atomic_load_explicit(&slot->launch_ordinal, memory_order_relaxed);
    uint64_t count = atomic_load_explicit(&slot->count_flags, memory_order_relaxed);
    if (!known) {
        *reservation = (struct rtl_reservation){.launch = RTL_NONE, .count = 1};
        return false;
    }
    reservation->correlation = atomic_load_explicit(&slot->correlation, memory_order_relaxed);
    reservation->launch = (uint32_t)launch;
    reservation->ordinal = (uint32_t)(launch >> 32);
    reservation->count = (uint32_t)count;
    reservation->flags = (uint32_t)(count >> 32);
    return true;
}

#endif

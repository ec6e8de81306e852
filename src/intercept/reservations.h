/**
 * Where the packets of a queue come from: a note for each reservation, at its first slot.
 *
 * Written by the producer that reserves, before anybody can find its packets valid; read by whoever
 * submits them, in the order of the queue, so that one note serves for all packets of a
 * reservation. A note carries the index it is for: what an earlier lap or queue left is told apart.
 * A packet that is reserved alone, outside of everything, needs none: that is what the absence of a
 * note means, and as long as there are only such nothing is written or read.
 *
 * Producers reserve before there is room. By interception packets may be held back (a throttle),
 * while the next ones are reserved beyond them: there are more notes than the queue has packets, so
 * that those of packets that wait are still there.
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
    _Atomic uint64_t first; /**< index of its first packet + 1, 0: none yet */
    _Atomic uint64_t correlation;
    _Atomic uint64_t launch_ordinal;
    _Atomic uint64_t count_flags;
};

/** The notes of a queue. */
struct rtl_reservations {
    struct rtl_reserved *slots; /**< as many as the queue has, or more; zeros in the beginning */
    uint64_t mask;              /**< slots - 1 */
    _Atomic uint64_t end;       /**< packets from here on have no note (yet) */
};

/** Forgets all notes; `mask` is still that of the queue whose they are. Slots that were never used
 * are not touched: their memory is not there yet. */
static inline void rtl_reservations_clear(struct rtl_reservations *notes)
{
    uint64_t end = atomic_load_explicit(&notes->end, memory_order_relaxed);
    for (uint64_t i = 0; i <= notes->mask && i < end; i++)
        atomic_store_explicit(&notes->slots[i].first, 0, memory_order_relaxed);
    atomic_store_explicit(&notes->end, 0, memory_order_relaxed);
}

/** True if a reservation is one of those without a note. */
static inline bool rtl_reservation_is_plain(const struct rtl_reservation *reservation)
{
    return reservation->count == 1 && reservation->correlation == 0 &&
           reservation->launch == RTL_NONE &&
           (reservation->flags & ~(uint32_t)RTL_RESERVED_OUTSIDE) == 0;
}

/** Notes a reservation that begins with packet `first`. Any thread, lock-free. */
static inline void rtl_reservations_note(struct rtl_reservations *notes, uint64_t first,
                                         const struct rtl_reservation *reservation)
{
    struct rtl_reserved *slot = &notes->slots[first & notes->mask];
    uint64_t end = atomic_load_explicit(&notes->end, memory_order_relaxed);
    atomic_store_explicit(&slot->first, first + 1, memory_order_relaxed);
    atomic_store_explicit(&slot->correlation, reservation->correlation, memory_order_relaxed);
    atomic_store_explicit(&slot->launch_ordinal,
                          reservation->launch | (uint64_t)reservation->ordinal << 32,
                          memory_order_relaxed);
    atomic_store_explicit(&slot->count_flags,
                          reservation->count | (uint64_t)reservation->flags << 32,
                          memory_order_relaxed);
    while (end <= first &&
           !atomic_compare_exchange_weak_explicit(&notes->end, &end, first + 1,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}

/** True if there is a note for a reservation that begins with packet `first`. By who submits the
 * packets. */
static inline bool rtl_reservations_has(const struct rtl_reservations *notes, uint64_t first)
{
    return first < atomic_load_explicit(&notes->end, memory_order_relaxed) &&
           atomic_load_explicit(&notes->slots[first & notes->mask].first, memory_order_relaxed) ==
               first + 1;
}

/** The reservation that begins with packet `first`; a plain one if there is no note. By who submits
 * the packets. */
static inline struct rtl_reservation rtl_reservations_at(const struct rtl_reservations *notes,
                                                         uint64_t first)
{
    struct rtl_reservation reservation = {
        .launch = RTL_NONE, .count = 1, .flags = RTL_RESERVED_OUTSIDE};
    struct rtl_reserved *slot = &notes->slots[first & notes->mask];
    if (!rtl_reservations_has(notes, first))
        return reservation;
    uint64_t launch = atomic_load_explicit(&slot->launch_ordinal, memory_order_relaxed);
    uint64_t count = atomic_load_explicit(&slot->count_flags, memory_order_relaxed);
    reservation.correlation = atomic_load_explicit(&slot->correlation, memory_order_relaxed);
    reservation.launch = (uint32_t)launch;
    reservation.ordinal = (uint32_t)(launch >> 32);
    reservation.count = (uint32_t)count;
    reservation.flags = (uint32_t)(count >> 32);
    return reservation;
}

#endif

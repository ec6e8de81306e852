/**
 * Where the packets of a queue come from: a note for each reservation, at its first slot.
 *
 * Written by the producer that reserves, before anybody can find its packets valid; read by whoever
 * submits them, in the order of the queue, so that one note serves for all packets of a
 * reservation. A note carries the index it is for: what an earlier lap or queue left is told apart.
 * A packet that is reserved alone, outside of everything, needs none: that is what the absence of a
 * note means, and as long as there are only such nothing is written or read.
 *
 * Producers reserve before there is room, some of them beyond a whole queue that is reserved and
 * not submitted; by interception packets may be held back besides (a throttle). So there are more
 * notes than the queue has packets: those of packets that wait are still there.
 *
 * Nearly always packets are submitted soon after they were reserved. A note goes to one of a few
 * *near* slots then, so that a queue does not go through the memory of all. Two notes for the same
 * near slot cannot come at the same time: only a packet is near that is less than so many slots
 * behind what was submitted, so that any other one for its slot was submitted, or is not near.
 */
#ifndef RTL_INTERCEPT_QUEUE_RESERVATIONS_H
#define RTL_INTERCEPT_QUEUE_RESERVATIONS_H

#include "ring/wire.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** `end` (no notes at or beyond this index) advances in steps of so many, because to advance it
 * takes a compare-and-swap. */
#define RTL_NOTES_STEP 1024u

enum rtl_reserved_flags {
    RTL_RESERVED_OUTSIDE =
        1, /**< outside of a host call that is known: its packets may tell a graph */
    RTL_RESERVED_INFERRED = 2, /**< `launch` is one of packets reserved at once, not one of HIP's */
    RTL_RESERVED_LEFT_OUT = 4  /**< the thread is paused: not to be recorded */
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
    struct rtl_reserved *slots; /**< more than the queue has packets; zeros in the beginning */
    uint64_t mask;              /**< slots - 1 */
    struct rtl_reserved *near;  /**< zeros in the beginning; NULL: there are none */
    uint64_t near_mask;         /**< near slots - 1 */
    /** With near slots: packets before it were submitted, and their notes read before that. */
    const _Atomic uint64_t *submitted;
    _Atomic bool far;     /**< a note is, or was, in `slots` */
    _Atomic uint64_t end; /**< packets from here on have no note (yet) */
};

/** Forgets all notes; `mask` is still that of the queue whose they are. Slots that were never used
 * are not touched: their memory is not there yet. */
static inline void rtl_reservations_clear(struct rtl_reservations *notes)
{
    uint64_t end = atomic_load_explicit(&notes->end, memory_order_relaxed);
    bool far = atomic_load_explicit(&notes->far, memory_order_relaxed);
    for (uint64_t i = 0; far && i <= notes->mask && i < end; i++)
        atomic_store_explicit(&notes->slots[i].first, 0, memory_order_relaxed);
    for (uint64_t i = 0; notes->near != NULL && i <= notes->near_mask && i < end; i++)
        atomic_store_explicit(&notes->near[i].first, 0, memory_order_relaxed);
    atomic_store_explicit(&notes->far, false, memory_order_relaxed);
    atomic_store_explicit(&notes->end, 0, memory_order_relaxed);
}

/** True if a reservation is one of those without a note. */
static inline bool rtl_reservation_is_plain(const struct rtl_reservation *reservation)
{
    return reservation->count == 1 && reservation->correlation == 0 &&
           reservation->launch == RTL_NONE &&
           (reservation->flags & ~(uint32_t)RTL_RESERVED_OUTSIDE) == 0;
}

/** True if nobody will look for the note in a slot any more: all packets of its reservation were
 * submitted, not only the first. */
static inline bool rtl_reserved_is_over(const struct rtl_reserved *slot, uint64_t submitted)
{
    uint64_t first = atomic_load_explicit(&slot->first, memory_order_relaxed);
    uint64_t count = atomic_load_explicit(&slot->count_flags, memory_order_relaxed) & UINT32_MAX;
    return first == 0 || first - 1 + count <= submitted;
}

/** The near slot for a note, where there are near slots. */
static inline struct rtl_reserved *rtl_reservations_near(const struct rtl_reservations *notes,
                                                         uint64_t first)
{
    return notes->near + (first & notes->near_mask);
}

/** The slot for a note. */
static inline struct rtl_reserved *rtl_reservations_slot(struct rtl_reservations *notes,
                                                         uint64_t first)
{
    if (notes->near != NULL) {
        struct rtl_reserved *near = rtl_reservations_near(notes, first);
        uint64_t submitted = atomic_load_explicit(notes->submitted, memory_order_acquire);
        if (first - submitted <= notes->near_mask && rtl_reserved_is_over(near, submitted))
            return near;
    }
    if (!atomic_load_explicit(&notes->far, memory_order_relaxed))
        atomic_store_explicit(&notes->far, true, memory_order_relaxed);
    return &notes->slots[first & notes->mask];
}

/** Notes a reservation that begins with packet `first`. Any thread, lock-free. */
static inline void rtl_reservations_note(struct rtl_reservations *notes, uint64_t first,
                                         const struct rtl_reservation *reservation)
{
    struct rtl_reserved *slot = rtl_reservations_slot(notes, first);
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
           !atomic_compare_exchange_weak_explicit(&notes->end, &end, first + RTL_NOTES_STEP,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}

/** The slot of the note for a reservation that begins with packet `first`, NULL if there is none.
 */
static inline const struct rtl_reserved *rtl_reservations_find(const struct rtl_reservations *notes,
                                                               uint64_t first)
{
    const struct rtl_reserved *slot;
    if (first >= atomic_load_explicit(&notes->end, memory_order_relaxed))
        return NULL;
    if (notes->near != NULL) {
        slot = rtl_reservations_near(notes, first);
        if (atomic_load_explicit(&slot->first, memory_order_relaxed) == first + 1)
            return slot;
        if (!atomic_load_explicit(&notes->far, memory_order_relaxed))
            return NULL;
    }
    slot = &notes->slots[first & notes->mask];
    return atomic_load_explicit(&slot->first, memory_order_relaxed) == first + 1 ? slot : NULL;
}

/** What a note says. By the submitter. */
static inline struct rtl_reservation rtl_reserved_read(const struct rtl_reserved *slot)
{
    uint64_t launch = atomic_load_explicit(&slot->launch_ordinal, memory_order_relaxed);
    uint64_t count = atomic_load_explicit(&slot->count_flags, memory_order_relaxed);
    return (struct rtl_reservation){
        .correlation = atomic_load_explicit(&slot->correlation, memory_order_relaxed),
        .launch = (uint32_t)launch,
        .ordinal = (uint32_t)(launch >> 32),
        .count = (uint32_t)count,
        .flags = (uint32_t)(count >> 32)};
}

/** The reservation that begins with packet `first`; a plain one if there is no note. By the
 * submitter. */
static inline struct rtl_reservation rtl_reservations_at(const struct rtl_reservations *notes,
                                                         uint64_t first)
{
    const struct rtl_reserved *slot = rtl_reservations_find(notes, first);
    if (slot != NULL)
        return rtl_reserved_read(slot);
    return (struct rtl_reservation){.launch = RTL_NONE, .count = 1, .flags = RTL_RESERVED_OUTSIDE};
}

#endif

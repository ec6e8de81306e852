/**
 * The records of one queue: kernels that were submitted and whose times have not been read yet.
 *
 * One thread at a time adds (the one that submits the queue's packets); any thread harvests what is
 * finished: the worker normally, the submitter when room runs out, a thread that is about to re-arm
 * or destroy a borrowed signal. Nobody waits for anybody: a harvester copies the record and its
 * times, puts them where they are safe, and then claims it with one exchange on `state`; who loses
 * takes the copy back.
 *
 * Records are numbered, and kept in slabs (slabs.h). A table tells in which slab a number's
 * record is; a slab whose records are all done serves for later ones of the queue, the one that
 * was done last first. So a queue takes as much memory, and of the caches, as it has had in flight
 * at a time, however many kernels it has had. A harvester may look where a record was at any time,
 * and `state`, which has the record's number, tells it what it has found. pending.c says why that
 * is enough.
 *
 * The value of a borrowed signal is the program's to change while the kernel runs. So its kernel
 * has completed only when its end time is another than it was when the record was added: the
 * *baseline end* tells. For copies the times of the SDMA engine are looked at too.
 */
#ifndef RTL_INTERCEPT_QUEUE_PENDING_H
#define RTL_INTERCEPT_QUEUE_PENDING_H

#include "common/lines.h"
#include "intercept/queue/borrow.h"
#include "intercept/queue/slabs.h"
#include "pool/pool.h"

#include <hsa/hsa.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum rtl_record_flags {
    RTL_RECORD_BARRIER = 1,        /**< not recorded: only its completion is of interest */
    RTL_RECORD_BORROWED = 2,       /**< in the record itself: its signal is the program's own */
    RTL_RECORD_COPY = 4,           /**< a copy; what the fields then hold, copies.c says */
    RTL_RECORD_SDMA = 8,           /**< with the times of an SDMA engine; set by rtl_signal_times */
    RTL_RECORD_UNTIMED = 16,       /**< nobody will write times: the signal's value alone tells */
    RTL_RECORD_PLAIN = 32,         /**< in the record itself: it comes from nothing that is known */
    RTL_RECORD_HAS_APP_SIGNAL = 64 /**< in the record itself: it has a signal of the program's */
};

/** The origin that was written last, and its place in the slab, -1 if it is in another one; the
 * submitter's. */
struct rtl_last_origin {
    uint64_t correlation;
    uint32_t launch, base;
    uint64_t place;
};

/** What goes into a record and comes out again. */
struct rtl_kernel_facts {
    uint64_t app_signal; /**< the signal that the program gave the packet, 0: none */
    uint64_t kernel_object;
    uint64_t packet;
    uint32_t grid[3];
    uint32_t group_size;
    uint16_t block[3];
    uint16_t flags;
    uint32_t pool_id;      /**< RTL_NONE: `app_signal` is borrowed */
    uint32_t baseline_end; /**< of a borrowed signal: rtl_signal_end_low32 at submission */
    uint32_t epoch;
    uint32_t launch, ordinal; /**< as in rtl_wire_kernel */
    uint64_t correlation;
    uint64_t start, end; /**< ticks, set by the harvest */
};

/** Slots of a table that lie beside all else that a submitter needs: as many as a queue of 4096
 * packets has. A larger one is elsewhere. */
#define RTL_INLINE_SLOTS 256u

/** Stays where rtl_pending_init was called: `table` may point into it. */
struct rtl_pending {
    struct rtl_slabs *slabs;
    /** Number of the slab that has a record: by sequence / RTL_SLAB, as far as the table goes. */
    _Atomic uint32_t *table;
    uint64_t table_mask;
    uint64_t mask;   /**< records that may be pending at a time - 1 */
    uint8_t *ready;  /**< a bit for each of them; the forwarder's (harvest.h) */
    void *memory;    /**< of what does not lie here */
    uint64_t mapped; /**< bytes of it */
    /** All in this line is the submitter's; others read `tail`. */
    _Alignas(RTL_FALSE_SHARING_BYTES) _Atomic uint64_t tail; /**< next sequence */
    uint64_t limit;          /**< sequence for which to look for room again */
    struct rtl_record *next; /**< of `tail`, if it is below `limit` */
    int64_t ahead;           /**< bytes from a record to that in the next slab; 0: none is chosen */
    struct rtl_last_origin last;
    /** Of the submitter, when it comes to a new slab. */
    _Alignas(64) uint64_t chosen; /**< slabs of the table before it are there */
    uint64_t passed;              /**< slabs of the table before it are, or were, spares */
    uint32_t *spares;             /**< slabs whose records are all done, the newest last */
    uint32_t spare_count;
    _Alignas(RTL_FALSE_SHARING_BYTES) _Atomic uint64_t head; /**< records before it are done */
    uint64_t suspect,
        suspect_end; /**< records that looked re-armed in the last round; the worker's */
    /** Replaced signals that are not forwarded yet; not beside `head`, since the submitter looks at
     * it for each signal of the program's. */
    _Alignas(RTL_FALSE_SHARING_BYTES) _Atomic uint32_t to_forward;
    /** `table`, if it is no larger. */
    _Alignas(RTL_FALSE_SHARING_BYTES) _Atomic uint32_t inline_slots[RTL_INLINE_SLOTS];
};

/** Makes room for at least `capacity` records (rounded up to a power of two), which will lie in
 * `slabs`. False without memory. */
bool rtl_pending_init(struct rtl_pending *pending, struct rtl_slabs *slabs, uint64_t capacity);

/** Gives all memory back; what is pending is forgotten. Nobody else may use the records. */
void rtl_pending_end(struct rtl_pending *pending);

/** Looks how many more records find room where the submitter knows of none, and readies the place
 * of the next one. 0 without memory, too. By the submitter, through rtl_pending_room
 * (pending_add.h).
 */
uint64_t rtl_pending_find_room(struct rtl_pending *pending);

enum rtl_take {
    RTL_TAKE_DONE,    /**< taken before, by somebody else */
    RTL_TAKE_WAITING, /**< its kernel has not completed */
    RTL_TAKE_FORWARD, /**< completed, but its signal has to be forwarded, in order */
    RTL_TAKE_TAKEN    /**< there to be claimed, facts and times filled */
};

/** Looks whether the record `sequence` may be taken. With `forwards`, those that need forwarding
 * may be as well. What is in the facts then is the record's, but others may claim it. Any thread.
 */
enum rtl_take rtl_pending_look(struct rtl_pending *pending, const struct rtl_pool *pool,
                               uint64_t sequence, bool forwards, struct rtl_kernel_facts *facts);

/** Claims a record that was looked at. The pool's signal in its facts is the caller's then: to be
 * set to 1 and given back. False if somebody else has claimed it. Any thread. */
bool rtl_pending_claim(struct rtl_pending *pending, uint64_t sequence);

/** Prefetches what rtl_pending_look will look at some records after `sequence`, but nothing from
 * `end` on, which the submitter is about to write. */
void rtl_pending_prefetch(const struct rtl_pending *pending, const struct rtl_pool *pool,
                          uint64_t sequence, uint64_t end);

/** True if the record borrows its signal, its kernel has completed, and the signal stands above 0
 * again: the program armed it in a way that RTL does not see, such as a write to its memory. A
 * device that is just completing the kernel may look so for a moment, with the end written and the
 * start not yet. Any thread. */
bool rtl_pending_is_rearmed(struct rtl_pending *pending, uint64_t sequence);

/** Looks at a record of which rtl_pending_is_rearmed holds, as rtl_pending_look; false if it does
 * not. The times are the kernel's. Any thread. */
bool rtl_pending_look_rearmed(struct rtl_pending *pending, uint64_t sequence,
                              struct rtl_kernel_facts *facts);

/** True if the record's kernel has completed and its signal has to be forwarded. Any thread. */
bool rtl_pending_must_forward(struct rtl_pending *pending, const struct rtl_pool *pool,
                              uint64_t sequence);

/** The program's signal in a record, 0 if it has none or the record is done. Any thread. */
uint64_t rtl_pending_app_signal(struct rtl_pending *pending, uint64_t sequence);

/** Takes the record whether its kernel has completed or not (times are then 0). False if it was
 * taken before. */
bool rtl_pending_abandon(struct rtl_pending *pending, uint64_t sequence,
                         struct rtl_kernel_facts *facts);

/** How many kernels' records are not done. Any thread. */
uint64_t rtl_pending_unfinished(struct rtl_pending *pending);

/** True if a kernel or copy is not done whose record is one before `end` and whose correlation is
 * `least` or greater. Any thread. */
bool rtl_pending_has_since(struct rtl_pending *pending, uint64_t end, uint64_t least);

/** Moves `head` over records that are done. Any thread. */
void rtl_pending_advance(struct rtl_pending *pending);

/** Standing of a record as a borrower of `handle` (see borrow.h). Any thread. */
enum rtl_borrower rtl_pending_classify(const struct rtl_pending *pending, uint64_t sequence,
                                       uint64_t handle);

/** True if the device has completed the signal (value below 1); acquires what it wrote before. */
bool rtl_signal_completed(uint64_t handle);

/** What tells two completions of one signal apart: the low half of its end time. */
uint32_t rtl_signal_end_low32(uint64_t handle);

/** Tags a signal as one of RTL's pool (in `reserved3`, which nothing uses), and tells such a one.
 * A handle that the program kept of a signal that it has destroyed may be one of ours by now. */
void rtl_signal_tag_as_ours(uint64_t handle);
bool rtl_signal_is_ours(uint64_t handle);

/** Copies the device's timestamps out of a signal; those of a copy if the facts are of one. */
void rtl_signal_times(uint64_t handle, struct rtl_kernel_facts *facts);

/** Writes the timestamps of the facts into a signal, as the device would have. A device may put its
 * own there at the same time: they end up as one's, or as the start of one and a later end. */
void rtl_signal_put_times(uint64_t handle, const struct rtl_kernel_facts *facts);

/** True if the facts are of a packet whose own signal was replaced. */
static inline bool rtl_is_replaced(const struct rtl_kernel_facts *facts)
{
    return facts->app_signal != 0 && facts->pool_id != UINT32_MAX;
}

#endif

/**
 * Which record is reading its times from which of the program's own signals.
 *
 * A fixed table without locks. A signal belongs to a set of some words, one cache line; a word
 * names a record (index of its queue and sequence number). An entry needs no removal: it is stale
 * as soon as the record is not pending any more. Where a set is full, the signal of one more packet
 * is replaced instead.
 *
 * A signal may also be with the device without a record: of a barrier, say, or of a kernel that is
 * left out. It is then *busy*, and nobody borrows the signal, whose times may be that
 * packet's, until the program has armed it again.
 *
 * The thread that forwards a completion writes the times into the program's signal and decrements
 * it. It *holds* the signal meanwhile: no other thread may begin to borrow it, which would take
 * these times for those of its own kernel, or forward to it from another queue, where start and end
 * could then come from two kernels.
 */
#ifndef RTL_INTERCEPT_QUEUE_BORROW_H
#define RTL_INTERCEPT_QUEUE_BORROW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define RTL_BORROW_SETS  1024u
#define RTL_BORROW_WAYS  8u
#define RTL_BORROW_HOLDS 256u

/** A record, in few bits. */
struct rtl_record_id {
    uint32_t queue_index; /**< in the list of queues */
    uint64_t sequence;
};

/** What the record of an entry is to a signal. */
enum rtl_borrower {
    RTL_BORROWER_STALE,  /**< finished: its word may be taken */
    RTL_BORROWER_COMING, /**< about to be pending, for whichever signal */
    RTL_BORROWER_OTHER,  /**< pending for another signal */
    RTL_BORROWER_LIVE    /**< pending for this very signal */
};

struct rtl_borrow_table {
    _Alignas(64) _Atomic uint64_t sets[RTL_BORROW_SETS][RTL_BORROW_WAYS];
    _Alignas(64) _Atomic bool holds[RTL_BORROW_HOLDS]; /**< somebody holds one of some signals */
    _Atomic bool used; /**< anything was ever entered: modes that do not borrow pay nothing */
    /** Classifies a record for a signal handle. Lock-free, any thread. */
    enum rtl_borrower (*classify)(struct rtl_record_id id, uint64_t handle);
    /** Finishes a live record whose kernel has completed although its signal stands at 1; true if
     * it is gone. NULL if there is nobody to do so. Lock-free, any thread. */
    bool (*finish)(struct rtl_record_id id);
};

/** Enters that the record `id` is about to borrow `handle`, which stands at 1. False if a live
 * record or a busy entry keeps it, somebody holds it, or its set is full. */
bool rtl_borrow_enter(struct rtl_borrow_table *table, uint64_t handle, struct rtl_record_id id);

/** Enters that a packet without a record is about to complete `handle`. False if a live
 * record keeps it, or its set is full. */
bool rtl_borrow_set_busy(struct rtl_borrow_table *table, uint64_t handle);

/** Takes the busy entry of `handle` away, if it has one. */
void rtl_borrow_clear_busy(struct rtl_borrow_table *table, uint64_t handle);

/** Takes hold of `handle`, and with it of the few other signals that share its place, until
 * rtl_borrow_let_go: nobody else holds it or begins to borrow it, and rtl_borrow_find finds whoever
 * does. False if it is contended. Lock-free, any thread; one signal at a time. */
bool rtl_borrow_hold(struct rtl_borrow_table *table, uint64_t handle);
void rtl_borrow_let_go(struct rtl_borrow_table *table, uint64_t handle);

/** True if a thread holds `handle`, or has entered that it borrows it and has not added its record
 * yet; or does so with another signal that shares its place. Either lasts for some instructions,
 * or longer where the thread is preempted in between. */
bool rtl_borrow_is_contended(struct rtl_borrow_table *table, uint64_t handle);

/** Nobody holds anything any more: in the child of a fork, where no other thread is. */
void rtl_borrow_forked(struct rtl_borrow_table *table);

/** Finds the live record that borrows `handle`. */
bool rtl_borrow_find(struct rtl_borrow_table *table, uint64_t handle, struct rtl_record_id *id);

/** True if a record still needs the times that will be, or are, in the signal. One whose kernel has
 * completed is finished first. */
bool rtl_borrow_in_use(struct rtl_borrow_table *table, uint64_t handle);

#endif

/**
 * Which record is reading its times from which of the program's own signals.
 *
 * A fixed table, one word a bucket, no locks: a bucket names a record (queue slot and sequence
 * number). An entry needs no removal: it is stale as soon as the record is not pending any more.
 * Two signals that share a bucket cannot be borrowed at once; the second packet's signal is then
 * replaced instead.
 *
 * A signal may also be with the device without a record: of a barrier, say, or of a kernel that is
 * left out. Its bucket is then *marked*, and nobody borrows the signal, whose times may be that
 * packet's, until the program has armed it again.
 */
#ifndef RTL_INTERCEPT_BORROW_H
#define RTL_INTERCEPT_BORROW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define RTL_BORROW_BUCKETS 8192u

/** A record's name: slot of its queue and sequence number. */
struct rtl_record_name {
    uint32_t slot;
    uint64_t sequence;
};

/** What a name stands for. */
enum rtl_record_standing {
    RTL_RECORD_STALE, /**< finished: the bucket may be taken */
    RTL_RECORD_OTHER, /**< another signal's record, live */
    RTL_RECORD_LIVE   /**< pending (or about to be) for this very signal */
};

struct rtl_borrow_table {
    _Atomic uint64_t buckets[RTL_BORROW_BUCKETS];
    /** Judges a name for a signal handle. Lock-free, any thread. */
    enum rtl_record_standing (*judge)(struct rtl_record_name name, uint64_t handle);
    /** Finishes a live record whose kernel has completed although its signal stands at 1; true if
     * it is gone. NULL if there is nobody to do so. Lock-free, any thread. */
    bool (*settle)(struct rtl_record_name name);
};

/** Bucket of a signal. */
unsigned rtl_borrow_bucket(uint64_t handle);

/** Enters that `name` is about to borrow `handle`, which stands at 1. False if the bucket is held
 * by a live record. */
bool rtl_borrow_enter(struct rtl_borrow_table *table, uint64_t handle, struct rtl_record_name name);

/** Enters that a packet without a record is about to complete `handle`. False if the bucket is held
 * for another signal. */
bool rtl_borrow_mark(struct rtl_borrow_table *table, uint64_t handle);

/** Takes the mark of `handle` away, if it has one. */
void rtl_borrow_unmark(struct rtl_borrow_table *table, uint64_t handle);

/** Finds the live record that borrows `handle`. */
bool rtl_borrow_find(const struct rtl_borrow_table *table, uint64_t handle,
                     struct rtl_record_name *name);

/** True if a record still needs the times that will be, or are, in the signal. One whose kernel has
 * completed is finished first. */
bool rtl_borrow_is_lent(const struct rtl_borrow_table *table, uint64_t handle);

#endif

/**
 * The lock of a queue's submission: one thread at a time, and nobody waits for it.
 *
 * A thread that finds the lock held returns; the holder looks at the queue again before it unlocks.
 * The lock is biased to its *owner*, the thread that nearly all packets of a queue come from: it
 * acquires and releases with plain stores and loads, because a locked instruction would wait until
 * all the stores before it are done, those of the packet among them, on lines that the device has
 * read. The barrier that is missing between the owner's store and its load is executed on its
 * behalf by any other thread that wants the lock: membarrier(2) has every running thread of the
 * process pass one.
 */
#ifndef RTL_INTERCEPT_QUEUE_SUBMIT_LOCK_H
#define RTL_INTERCEPT_QUEUE_SUBMIT_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rtl_submit_lock;

/** A thread that submits. */
struct rtl_submit_thread {
    _Alignas(64) _Atomic(struct rtl_submit_lock *)
        inside;         /**< the lock that it holds by the fast path */
    _Atomic bool taken; /**< a thread has this place */
};

/** The lock of one queue; zeros in the beginning. */
struct rtl_submit_lock {
    /** Requests since it last was 0; and bits (submit_lock.c). */
    _Atomic uint32_t requests;
    uint32_t seen;          /**< `requests` when the holder last looked */
    uint32_t owner_changes; /**< how often the owner changed; the holder's */
    /** May take the fast path; changed by a holder by the slow one. NULL: nobody. */
    _Atomic(struct rtl_submit_thread *) owner;
};

/** Of the calling thread; NULL as long as it has none, or for good if there are too many. */
extern _Thread_local struct rtl_submit_thread *rtl_submit_thread
    __attribute__((tls_model("initial-exec")));

/** Has the kernel know that this process uses membarrier, without which there are no owners
 * (false). Of a process with several threads that may take some 10 ms, the first time. Any thread.
 */
bool rtl_submit_lock_prepare(void);

/** Acquires by the fast path; false: it is not open. */
static inline bool rtl_submit_lock_try_fast(struct rtl_submit_lock *lock)
{
    struct rtl_submit_thread *self = rtl_submit_thread;
    if (self == NULL || atomic_load_explicit(&lock->owner, memory_order_relaxed) != self ||
        atomic_load_explicit(&self->inside, memory_order_relaxed) != NULL)
        return false;
    atomic_store_explicit(&self->inside, lock, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* see membarrier above */
    if (atomic_load_explicit(&lock->requests, memory_order_acquire) == 0 &&
        atomic_load_explicit(&lock->owner, memory_order_relaxed) == self)
        return true;
    atomic_store_explicit(&self->inside, NULL, memory_order_release);
    return false;
}

/** Releases after it. True: somebody requested the lock meanwhile, so call
 * rtl_submit_lock_try_or_delegate. */
static inline bool rtl_submit_lock_unlock_fast(struct rtl_submit_lock *lock)
{
    atomic_store_explicit(&rtl_submit_thread->inside, NULL, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    return atomic_load_explicit(&lock->requests, memory_order_relaxed) != 0;
}

/** The slow path. False: somebody else has the lock, and looks again after this call. True: it
 * is the caller's, who looks, and then calls rtl_submit_lock_unlock_or_repeat until that is true,
 * or rtl_submit_lock_unlock. */
bool rtl_submit_lock_try_or_delegate(struct rtl_submit_lock *lock);

/** Releases. False: somebody requested the lock since rtl_submit_lock_try_or_delegate or the last
 * call of this; look again. `stays`: the caller may be the owner from now on. */
bool rtl_submit_lock_unlock_or_repeat(struct rtl_submit_lock *lock, bool stays);

/** Releases although somebody may have requested it. */
void rtl_submit_lock_unlock(struct rtl_submit_lock *lock);

/** True while somebody has the lock; a moment later that may have changed. Not for its holder. */
bool rtl_submit_lock_is_taken(struct rtl_submit_lock *lock);

/** Ends it: nobody acquires it until rtl_submit_lock_begin. False: somebody has it; try again.
 */
bool rtl_submit_lock_end(struct rtl_submit_lock *lock);

/** Makes it a lock that nobody holds and nobody owns. Nobody may hold it. */
void rtl_submit_lock_begin(struct rtl_submit_lock *lock);

/** In a forked child: nobody else holds a lock. */
void rtl_submit_lock_forked(void);

#endif

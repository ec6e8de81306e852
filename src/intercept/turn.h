/**
 * Whose turn it is to submit a queue's packets: one thread at a time, and nobody waits for it.
 *
 * Who finds another at it leaves: that one looks again. Nearly always the packets of a queue come
 * from one thread, its *owner*. It enters and leaves with plain stores and loads, because a locked
 * instruction would wait until all the stores before it are done, and the packet that was just
 * written, on lines that the device has read, is among these. What such a lock lacks, a barrier
 * between the owner's store and its load, the others provide when they come: membarrier (2) has
 * every running thread of the process pass one.
 */
#ifndef RTL_INTERCEPT_TURN_H
#define RTL_INTERCEPT_TURN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rtl_turn;

/** A thread that submits. */
struct rtl_turn_thread {
    _Alignas(64) _Atomic(struct rtl_turn *) inside; /**< where it is at it by the quick way */
    _Atomic bool taken;                             /**< a thread has this place */
};

/** The turn of one queue; zeros in the beginning. */
struct rtl_turn {
    /** How often somebody asked since it last was 0; and bits (turn.c). */
    _Atomic uint32_t asked;
    uint32_t seen;  /**< `asked` when who has the turn last looked */
    uint32_t moves; /**< how often the owner changed; of who has the turn */
    /** May enter by the quick way; changed by who has the turn by the other one. NULL: nobody. */
    _Atomic(struct rtl_turn_thread *) owner;
};

/** Of the calling thread; NULL as long as it has none, or for good if there are too many. */
extern _Thread_local struct rtl_turn_thread *rtl_turn_thread
    __attribute__((tls_model("initial-exec")));

/** Has the kernel know that this process uses membarrier, without which there are no owners
 * (false). Of a process with several threads that may take some 10 ms, the first time. Any thread.
 */
bool rtl_turn_prepare(void);

/** True if the quick way in is the calling thread's, a moment ago. */
static inline bool rtl_turn_is_mine(const struct rtl_turn *turn)
{
    return rtl_turn_thread != NULL &&
           atomic_load_explicit(&turn->owner, memory_order_relaxed) == rtl_turn_thread;
}

/** The quick way in; false: it is not open. */
static inline bool rtl_turn_enter(struct rtl_turn *turn)
{
    struct rtl_turn_thread *self = rtl_turn_thread;
    if (self == NULL || atomic_load_explicit(&turn->owner, memory_order_relaxed) != self ||
        atomic_load_explicit(&self->inside, memory_order_relaxed) != NULL)
        return false;
    atomic_store_explicit(&self->inside, turn, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* see membarrier above */
    if (atomic_load_explicit(&turn->asked, memory_order_acquire) == 0 &&
        atomic_load_explicit(&turn->owner, memory_order_relaxed) == self)
        return true;
    atomic_store_explicit(&self->inside, NULL, memory_order_release);
    return false;
}

/** The way out after it. True: somebody asked meanwhile, so ask too (rtl_turn_ask). */
static inline bool rtl_turn_leave(struct rtl_turn *turn)
{
    atomic_store_explicit(&rtl_turn_thread->inside, NULL, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    return atomic_load_explicit(&turn->asked, memory_order_relaxed) != 0;
}

/** The other way in. False: somebody else has the turn, and looks again after this call. True: it
 * is the caller's, who looks, and then calls rtl_turn_pass until that is true, or rtl_turn_drop. */
bool rtl_turn_ask(struct rtl_turn *turn);

/** Gives the turn back. False: somebody asked since rtl_turn_ask or the last call of this; look
 * again. `stays`: the caller may be the owner from now on. */
bool rtl_turn_pass(struct rtl_turn *turn, bool stays);

/** Gives the turn back although somebody may have asked. */
void rtl_turn_drop(struct rtl_turn *turn);

/** True while somebody has the turn; a moment later that may have changed. Not for who has it. */
bool rtl_turn_is_taken(struct rtl_turn *turn);

/** Ends all turns: nobody gets one until rtl_turn_begin. False: somebody has it; try again. */
bool rtl_turn_end(struct rtl_turn *turn);

/** Makes it a turn that nobody has and nobody owns. Nobody may have it. */
void rtl_turn_begin(struct rtl_turn *turn);

/** In a forked child: nobody else has a turn. */
void rtl_turn_forked(void);

#endif

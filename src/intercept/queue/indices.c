#include "intercept/queue/indices.h"

#include "intercept/base/api.h"
#include "intercept/base/thread_context.h"
#include "intercept/queue/adoption.h"
#include "intercept/queue/launches.h"
#include "intercept/queue/queue.h"
#include "intercept/queue/submit.h"

#include <stddef.h>

#define CACHE_LINE 64u /* and the size of a packet */
#define MOST_SLOTS 16u /* prefetched at a time: a core has about so many lines in flight */

static inline __attribute__((always_inline)) void prefetch_slot(const struct rtl_queue *state,
                                                                uint64_t index)
{
    const unsigned char *ring = state->queue->base_address;
    __builtin_prefetch(ring + (index & (state->size - 1)) * CACHE_LINE, 1);
}

/* The program is about to write its packets, and the device was the last to write there: their
 * lines come all at once, and not when each packet's turn comes. After a packet that is reserved
 * alone it is the next one's. Not those that the device may still have to read. Always inlined: GCC
 * drops a call to a function that does nothing but prefetch. */
static inline __attribute__((always_inline)) void prefetch_slots(const struct rtl_queue *state,
                                                                 uint64_t first, uint64_t count)
{
    uint64_t room = atomic_load_explicit(&state->read_index, memory_order_relaxed) + state->size;
    if (count == 1) {
        if (first + 1 < room)
            prefetch_slot(state, first + 1);
        return;
    }
    uint64_t end = first + (count < MOST_SLOTS ? count : MOST_SLOTS);
    for (uint64_t at = first; at < end && at < room; at++)
        prefetch_slot(state, at);
}

/* The state of a queue that is followed. A producer that moves the real index itself is caught up
 * with before anybody else reserves slots; one that does so at the very same time is not. */
static struct rtl_queue *follow(const hsa_queue_t *queue)
{
    __builtin_prefetch((const unsigned char *)queue + offsetof(amd_queue_t, write_dispatch_id));
    struct rtl_queue *state = rtl_queues_find(queue);
    if (state == NULL)
        return NULL;
    if (rtl_real_index(state) > atomic_load_explicit(&state->virtual_index, memory_order_relaxed))
        rtl_submit(state);
    return state;
}

/* True if the calling thread is outside of everything that a packet could come from, so that one
 * that it reserves alone needs no note: most packets of programs without HIP. */
static inline bool has_no_context(const struct rtl_queue *state)
{
    return rtl_thread_context.call == 0 && rtl_thread_context.outside == 0 &&
           rtl_thread_context.launch == RTL_NONE && !rtl_thread_context.paused &&
           !rtl_queue_is_observed(state);
}

/* Notes where the packets [first, first + count) come from. Packets that are reserved at once
 * outside of a host call may be a graph's, where nobody tells: only if they are all recorded. */
static void note_origin(struct rtl_queue *state, uint64_t first, uint64_t count)
{
    bool outside = rtl_thread_context.call == 0 && state->rewriter.mode == RTL_MODE_FULL &&
                   !rtl_thread_context.paused;
    if (count == 0 || count > state->size)
        return;
    struct rtl_reservation note = {.correlation = rtl_thread_context_correlation(),
                                   .launch = rtl_thread_context.launch,
                                   .count = (uint32_t)count,
                                   .flags = outside ? RTL_RESERVED_OUTSIDE : 0};
    if (note.launch != RTL_NONE) {
        note.flags = 0;
        note.ordinal = rtl_launch_reserve(state->id, first, note.count);
    } else if (outside && count > 1) {
        note.launch = rtl_launch_infer(state->id, first, note.count);
        note.flags = note.launch != RTL_NONE ? RTL_RESERVED_INFERRED : 0;
    }
    if (rtl_thread_context.paused)
        note.flags |= RTL_RESERVED_LEFT_OUT;
    if (!rtl_reservation_is_plain(&note))
        rtl_reservations_note(&state->reservations, first, &note);
    if (rtl_queue_is_observed(state))
        rtl_queues_observer()->reserved(state, first, count);
}

static inline void note_reservation(struct rtl_queue *state, uint64_t first, uint64_t count)
{
    prefetch_slots(state, first, count);
    if (count != 1 || !has_no_context(state))
        note_origin(state, first, count);
}

#define LOAD(name, order)                                                                          \
    static uint64_t load_##name(const hsa_queue_t *queue)                                          \
    {                                                                                              \
        struct rtl_queue *state = follow(queue);                                                   \
        return state != NULL ? atomic_load_explicit(&state->virtual_index, order)                  \
                             : rtl_api.hsa_queue_load_write_index_##name(queue);                   \
    }

/* Of a queue that is not followed yet, or never will be. */
#define ENTER(state, queue, held)                                                                  \
    if (__builtin_expect((state) == NULL, 0))                                                      \
    (state) = rtl_adoption_enter(queue, __builtin_return_address(0), &(held))

/* One producer alone may store the index, and may have written the packets already: the note comes
 * first. */
#define STORE(name, order)                                                                         \
    static void store_##name(const hsa_queue_t *queue, uint64_t value)                             \
    {                                                                                              \
        struct rtl_queue *state = follow(queue);                                                   \
        bool held;                                                                                 \
        ENTER(state, queue, held);                                                                 \
        if (state == NULL) {                                                                       \
            rtl_api.hsa_queue_store_write_index_##name(queue, value);                              \
            rtl_adoption_leave(held);                                                              \
            return;                                                                                \
        }                                                                                          \
        uint64_t old = atomic_load_explicit(&state->virtual_index, memory_order_relaxed);          \
        note_reservation(state, old, value - old);                                                 \
        atomic_store_explicit(&state->virtual_index, value, order);                                \
    }

#define CAS(name, order, failure)                                                                  \
    static uint64_t cas_##name(const hsa_queue_t *queue, uint64_t expected, uint64_t value)        \
    {                                                                                              \
        struct rtl_queue *state = follow(queue);                                                   \
        bool held;                                                                                 \
        ENTER(state, queue, held);                                                                 \
        if (state == NULL) {                                                                       \
            uint64_t seen = rtl_api.hsa_queue_cas_write_index_##name(queue, expected, value);      \
            rtl_adoption_leave(held);                                                              \
            return seen;                                                                           \
        }                                                                                          \
        if (atomic_compare_exchange_strong_explicit(&state->virtual_index, &expected, value,       \
                                                    order, failure))                               \
            note_reservation(state, expected, value - expected);                                   \
        return expected;                                                                           \
    }

#define ADD(name, order)                                                                           \
    static uint64_t add_##name(const hsa_queue_t *queue, uint64_t value)                           \
    {                                                                                              \
        struct rtl_queue *state = follow(queue);                                                   \
        bool held;                                                                                 \
        ENTER(state, queue, held);                                                                 \
        if (state == NULL) {                                                                       \
            uint64_t old = rtl_api.hsa_queue_add_write_index_##name(queue, value);                 \
            rtl_adoption_leave(held);                                                              \
            return old;                                                                            \
        }                                                                                          \
        uint64_t first = atomic_fetch_add_explicit(&state->virtual_index, value, order);           \
        note_reservation(state, first, value);                                                     \
        return first;                                                                              \
    }

LOAD(scacquire, memory_order_acquire)
LOAD(relaxed, memory_order_relaxed)
STORE(relaxed, memory_order_relaxed)
STORE(screlease, memory_order_release)
CAS(scacq_screl, memory_order_acq_rel, memory_order_acquire)
CAS(scacquire, memory_order_acquire, memory_order_acquire)
CAS(relaxed, memory_order_relaxed, memory_order_relaxed)
CAS(screlease, memory_order_release, memory_order_relaxed)
ADD(scacq_screl, memory_order_acq_rel)
ADD(scacquire, memory_order_acquire)
ADD(relaxed, memory_order_relaxed)
ADD(screlease, memory_order_release)

void rtl_indices_hook(void)
{
    RTL_HOOK(hsa_queue_load_write_index_scacquire, load_scacquire);
    RTL_HOOK(hsa_queue_load_write_index_relaxed, load_relaxed);
    RTL_HOOK(hsa_queue_store_write_index_relaxed, store_relaxed);
    RTL_HOOK(hsa_queue_store_write_index_screlease, store_screlease);
    RTL_HOOK(hsa_queue_cas_write_index_scacq_screl, cas_scacq_screl);
    RTL_HOOK(hsa_queue_cas_write_index_scacquire, cas_scacquire);
    RTL_HOOK(hsa_queue_cas_write_index_relaxed, cas_relaxed);
    RTL_HOOK(hsa_queue_cas_write_index_screlease, cas_screlease);
    RTL_HOOK(hsa_queue_add_write_index_scacq_screl, add_scacq_screl);
    RTL_HOOK(hsa_queue_add_write_index_scacquire, add_scacquire);
    RTL_HOOK(hsa_queue_add_write_index_relaxed, add_relaxed);
    RTL_HOOK(hsa_queue_add_write_index_screlease, add_screlease);
}

#include "intercept/indices.h"

#include "intercept/api.h"
#include "intercept/counters_range.h"
#include "intercept/launches.h"
#include "intercept/origin.h"
#include "intercept/pending_add.h"
#include "intercept/queues.h"
#include "intercept/submit.h"
#include "intercept/untracked.h"

#include <stddef.h>

#define CACHE_LINE 64u /* and the size of a packet */
#define FEW_QUEUES 16u /* whose states the nearest caches hold */
#define MOST_SLOTS 16u /* asked for at a time: about as many lines as a core waits for at once */

/* The queue in which the thread last reserved packets, how often that was another one than before,
 * and whether it has asked for the state of the last one and not yet for what that leads to. */
static _Thread_local const struct rtl_queue *last __attribute__((tls_model("initial-exec")));
static _Thread_local uint32_t visits __attribute__((tls_model("initial-exec")));
static _Thread_local bool is_back __attribute__((tls_model("initial-exec")));

static inline void ask(const void *memory, size_t bytes)
{
    const char *line = memory;
    for (const char *end = line + bytes; line < end; line += CACHE_LINE)
        __builtin_prefetch(line, 1);
}

/* What a submission reads and writes of a queue's state comes all at once, and not one by one. Who
 * has the quick way to submit is interposed, so that there are near slots. */
static void ask_for(const struct rtl_queue *state)
{
    __builtin_prefetch(state);
    ask(&state->virtual_index,
        offsetof(struct rtl_queue, newest) - offsetof(struct rtl_queue, virtual_index));
    ask(&state->reservations, sizeof state->reservations);
    ask(&state->rewriter, offsetof(struct rtl_rewriter, single));
    __builtin_prefetch(&state->pending.tail, 1);
    uint64_t next = atomic_load_explicit(&state->virtual_index, memory_order_relaxed);
    __builtin_prefetch(rtl_reservations_near(&state->reservations, next), 1);
    if (next % RTL_CHUNK == 0)
        rtl_pending_ask_chunk(&state->pending);
    is_back = true;
}

/* The thread is about to reserve so many packets. Where it goes from queue to queue and comes back
 * after many others, most of a queue's state has left the nearest caches. After few it has not, and
 * for one packet it is not worth while. The first time it has never been there. Nor for a queue
 * that threads share: another one may be at it. */
static inline void visit(struct rtl_queue *state, uint64_t packets)
{
    if (state == last)
        return;
    last = state;
    visits++;
    if (packets < 2 || !rtl_submit_lock_is_mine(&state->submit_lock))
        return;
    uint32_t visited = atomic_load_explicit(&state->visited, memory_order_relaxed);
    atomic_store_explicit(&state->visited, visits, memory_order_relaxed);
    if (visited == 0 || visits - visited > FEW_QUEUES)
        ask_for(state);
}

/* The rest of it, whose addresses are in what was asked for. */
static void ask_for_more(struct rtl_queue *state, uint64_t packets)
{
    is_back = false;
    __builtin_prefetch(state->ledger, 1);
    rtl_queue_map_ask(&rtl_queue_doorbells, state->doorbell);
    rtl_submit_foresee(state, packets);
}

static inline __attribute__((always_inline)) void ask_for_slot(const struct rtl_queue *state,
                                                               uint64_t index)
{
    const unsigned char *ring = state->queue->base_address;
    __builtin_prefetch(ring + (index & (state->size - 1)) * CACHE_LINE, 1);
}

/* The program is about to write its packets, and the device was the last to write there: their
 * lines come all at once, and not when each packet's turn comes. After a packet that is reserved
 * alone it is the next one's. Not those that the device may still have to read. Always inlined: GCC
 * takes a call that does nothing but ask for one that does nothing. */
static inline __attribute__((always_inline)) void ask_for_slots(const struct rtl_queue *state,
                                                                uint64_t first, uint64_t count)
{
    uint64_t room = atomic_load_explicit(&state->read_index, memory_order_relaxed) + state->size;
    if (count == 1) {
        if (first + 1 < room)
            ask_for_slot(state, first + 1);
        return;
    }
    uint64_t end = first + (count < MOST_SLOTS ? count : MOST_SLOTS);
    for (uint64_t at = first; at < end && at < room; at++)
        ask_for_slot(state, at);
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
static inline bool is_nowhere(void)
{
    return rtl_origin.call == 0 && rtl_origin.outside == 0 && rtl_origin.launch == RTL_NONE &&
           !rtl_origin.paused &&
           atomic_load_explicit(&rtl_counters_mode, memory_order_relaxed) == 0;
}

/* Notes where the packets [first, first + count) come from. Packets that are reserved at once
 * outside of a host call may be a graph's, where nobody tells: only if they are all recorded. */
static void note_origin(struct rtl_queue *state, uint64_t first, uint64_t count)
{
    bool outside =
        rtl_origin.call == 0 && state->rewriter.mode == RTL_MODE_FULL && !rtl_origin.paused;
    if (count == 0 || count > state->size)
        return;
    struct rtl_reservation note = {.correlation = rtl_origin_correlation(),
                                   .launch = rtl_origin.launch,
                                   .count = (uint32_t)count,
                                   .flags = outside ? RTL_RESERVED_OUTSIDE : 0};
    if (note.launch != RTL_NONE) {
        note.flags = 0;
        note.ordinal = rtl_launch_reserve(state->id, first, note.count);
    } else if (outside && count > 1) {
        note.launch = rtl_launch_found(state->id, first, note.count);
        note.flags = note.launch != RTL_NONE ? RTL_RESERVED_FOUND : 0;
    }
    if (rtl_origin.paused)
        note.flags |= RTL_RESERVED_LEFT_OUT;
    if (!rtl_reservation_is_plain(&note))
        rtl_reservations_note(&state->reservations, first, &note);
    if (atomic_load_explicit(&rtl_counters_mode, memory_order_relaxed) == RTL_COUNTING_RANGE &&
        state->counted != NULL && atomic_load_explicit(&state->counted->open, memory_order_acquire))
        rtl_counters_ranges_reserve(state->counted, first, count);
}

/* While the program writes the packets, what RTL will write for them comes. */
static inline void note_reservation(struct rtl_queue *state, uint64_t first, uint64_t count)
{
    ask_for_slots(state, first, count);
    if (is_back)
        ask_for_more(state, count);
    if (count != 1 || !is_nowhere())
        note_origin(state, first, count);
}

#define LOAD(name, order)                                                                          \
    static uint64_t load_##name(const hsa_queue_t *queue)                                          \
    {                                                                                              \
        struct rtl_queue *state = follow(queue);                                                   \
        return state != NULL ? atomic_load_explicit(&state->virtual_index, order)                  \
                             : rtl_api.hsa_queue_load_write_index_##name(queue);                   \
    }

/* One producer alone may store the index, and may have written the packets already: the note comes
 * first. */
#define STORE(name, order)                                                                         \
    static void store_##name(const hsa_queue_t *queue, uint64_t value)                             \
    {                                                                                              \
        struct rtl_queue *state = follow(queue);                                                   \
        if (state == NULL) {                                                                       \
            rtl_untracked_seen(queue);                                                             \
            rtl_api.hsa_queue_store_write_index_##name(queue, value);                              \
            return;                                                                                \
        }                                                                                          \
        uint64_t old = atomic_load_explicit(&state->virtual_index, memory_order_relaxed);          \
        visit(state, value - old);                                                                 \
        note_reservation(state, old, value - old);                                                 \
        atomic_store_explicit(&state->virtual_index, value, order);                                \
    }

#define CAS(name, order, failure)                                                                  \
    static uint64_t cas_##name(const hsa_queue_t *queue, uint64_t expected, uint64_t value)        \
    {                                                                                              \
        struct rtl_queue *state = follow(queue);                                                   \
        if (state == NULL) {                                                                       \
            rtl_untracked_seen(queue);                                                             \
            return rtl_api.hsa_queue_cas_write_index_##name(queue, expected, value);               \
        }                                                                                          \
        visit(state, value - expected);                                                            \
        if (atomic_compare_exchange_strong_explicit(&state->virtual_index, &expected, value,       \
                                                    order, failure))                               \
            note_reservation(state, expected, value - expected);                                   \
        return expected;                                                                           \
    }

#define ADD(name, order)                                                                           \
    static uint64_t add_##name(const hsa_queue_t *queue, uint64_t value)                           \
    {                                                                                              \
        struct rtl_queue *state = follow(queue);                                                   \
        if (state == NULL) {                                                                       \
            rtl_untracked_seen(queue);                                                             \
            return rtl_api.hsa_queue_add_write_index_##name(queue, value);                         \
        }                                                                                          \
        visit(state, value);                                                                       \
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

#define HOOK(entry, function) rtl_api_hook(RTL_ENTRY_##entry, (void (*)(void))(function))

void rtl_indices_hook(void)
{
    HOOK(hsa_queue_load_write_index_scacquire, load_scacquire);
    HOOK(hsa_queue_load_write_index_relaxed, load_relaxed);
    HOOK(hsa_queue_store_write_index_relaxed, store_relaxed);
    HOOK(hsa_queue_store_write_index_screlease, store_screlease);
    HOOK(hsa_queue_cas_write_index_scacq_screl, cas_scacq_screl);
    HOOK(hsa_queue_cas_write_index_scacquire, cas_scacquire);
    HOOK(hsa_queue_cas_write_index_relaxed, cas_relaxed);
    HOOK(hsa_queue_cas_write_index_screlease, cas_screlease);
    HOOK(hsa_queue_add_write_index_scacq_screl, add_scacq_screl);
    HOOK(hsa_queue_add_write_index_scacquire, add_scacquire);
    HOOK(hsa_queue_add_write_index_relaxed, add_relaxed);
    HOOK(hsa_queue_add_write_index_screlease, add_screlease);
}

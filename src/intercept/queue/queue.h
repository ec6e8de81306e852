/**
 * The queues that RTL follows.
 *
 * Producers reserve packets on a *virtual write index* of ours and write them straight into the
 * ring that they see. When a doorbell is rung, the packets that are ready are submitted (submit.h):
 * by interposition they are rewritten in place, and only then the real write index and the real
 * doorbell move; by interception the real index and doorbell are those of an intercept queue of the
 * runtime's, which calls us back with the packets. The command processor never sees a packet before
 * it is rewritten, and never an index past one that is written.
 *
 * The state of a queue is never freed: after the queue is destroyed it serves another one. So a
 * thread that still has a pointer to it reads memory that is there.
 */
#ifndef RTL_INTERCEPT_QUEUE_QUEUE_H
#define RTL_INTERCEPT_QUEUE_QUEUE_H

#include "common/lines.h"
#include "common/pages.h"
#include "intercept/base/queue_map.h"
#include "intercept/queue/backlog.h"
#include "intercept/queue/pending.h"
#include "intercept/queue/rewrite.h"
#include "intercept/queue/submit_lock.h"
#include "ring/ring.h"

#include <hsa/amd_hsa_queue.h>
#include <hsa/hsa.h>
#include <stdatomic.h>
#include <stddef.h>

#define RTL_MOST_QUEUES 1024u /* alive at the same time */
#define RTL_NEAR_NOTES  32u   /* near slots of a queue's reservations; a power of two */

enum rtl_queue_phase {
    RTL_QUEUE_FREE,
    RTL_QUEUE_LIVE,
    RTL_QUEUE_CLOSING, /**< destroyed; the worker still has to account for its records */
};

/** All that a submission needs of it lies in its first page, tables and notes too: each page that
 * was not in use lately is waited for by a thread that comes to the queue after many others, or for
 * the first time. Begins where a page does. */
struct rtl_queue {
    /** NULL: no queue, but the copies of `agent`. Of one that has several handles, one that is not
     * released. */
    hsa_queue_t *queue;
    const uint64_t *real_index; /**< where the runtime has the real write index, see below */
    uint64_t doorbell;          /**< signal handle */
    uint64_t size;              /**< packets */
    uint32_t id;                /**< in the trace; row of the ledger */
    uint32_t index;             /**< place in the list of queues */
    uint32_t agent;
    uint32_t references; /**< cooperative queues are handed out several times, and adopted ones may
                            have several handles; under the lock */
    enum rtl_interception interception; /**< interposed, intercepted, or copies */
    bool never_wraps;  /**< no batch may run over the end of the ring (see queue/interception.h) */
    bool bypassed;     /**< somebody has submitted without us; of the lock's holder */
    bool unrung;       /**< and nobody has told the device since; of the lock's holder */
    bool hw_destroyed; /**< CLOSING: the hardware's queue is no more, nothing is written to its
                          signals */
    _Atomic bool observed; /**< by the observer, which sets it */
    struct rtl_wire_ledger *ledger;
    _Atomic uint32_t phase; /**< enum rtl_queue_phase */
    _Alignas(RTL_FALSE_SHARING_BYTES) _Atomic uint64_t virtual_index;
    _Alignas(64) struct rtl_submit_lock submit_lock; /**< to submit */
    _Atomic uint64_t submitted;                      /**< packets before it are the device's */
    /** The device's read index when a submitter last looked: it need not for each packet fetch what
     * the device writes. Written by the lock's holder. */
    _Atomic uint64_t read_index;
    _Alignas(RTL_FALSE_SHARING_BYTES) _Atomic uint64_t
        last_end_ticks;       /**< largest end tick that was harvested */
    _Atomic uint64_t retired; /**< packets before it have left the hardware's ring */
    _Atomic bool forwarding;  /**< somebody is forwarding signals of this queue */
    uint64_t seen_submitted;  /**< `submitted` at the worker's last look; the worker's */
    _Alignas(RTL_FALSE_SHARING_BYTES) struct rtl_reservations reservations; /**< see rtl_rewriter */
    _Alignas(64) struct rtl_reserved near_notes[RTL_NEAR_NOTES]; /**< the near slots of these */
    uint64_t reserved_size;                                      /**< slots that it has room for */
    uint64_t closing_at;    /**< when the worker first found it CLOSING, ns, 0: not; the worker's */
    uint64_t freed_at;      /**< when the phase became FREE, ns; 0: never used */
    unsigned char *staging; /**< intercepted: the packets in flight */
    uint64_t staging_size;  /**< packets */
    uint64_t max_expansion; /**< intercepted: packets that one may become on the hardware */
    void *observer;         /**< what the observer keeps of this state, NULL: nothing */
    struct rtl_pending pending;
    struct rtl_rewriter rewriter; /**< late, for its own last fields, which few packets need */
    struct rtl_backlog backlog;
};

_Static_assert(offsetof(struct rtl_queue, rewriter) +
                       offsetof(struct rtl_rewriter, first_packets) <=
                   RTL_PAGE,
               "one page");

/** Takes memory for the two maps below, before a queue is followed. False: there is none. */
bool rtl_queues_begin(void);

/** Number of places in the list that were ever used, and the queue in a place. Any thread. */
uint32_t rtl_queues_count(void);
struct rtl_queue *rtl_queues_at(uint32_t slot);

/** Enters a state into the list, in the place behind the last: `slot` is rtl_queues_count(). One
 * thread at a time. */
void rtl_queues_enter(struct rtl_queue *queue);

/** The queues that are followed, by address and by their doorbells' handles; NULL before
 * rtl_queues_begin. */
extern struct rtl_queue_map *rtl_queue_addresses, *rtl_queue_doorbells;

/** The state of a queue, NULL if it is not followed. Where a handle was released unseen there may
 * be one of another hardware queue by now. Lock-free, any thread. */
static inline struct rtl_queue *rtl_queues_find(const hsa_queue_t *queue)
{
    struct rtl_queue *state = rtl_queue_map_find(rtl_queue_addresses, (uint64_t)(uintptr_t)queue);
    return state != NULL && state->doorbell == queue->doorbell_signal.handle ? state : NULL;
}

/** The queue that a doorbell belongs to, NULL if it is none of ours. Lock-free, any thread. */
static inline struct rtl_queue *rtl_queues_by_doorbell(uint64_t handle)
{
    return rtl_queue_map_find(rtl_queue_doorbells, handle);
}

/** One that wants packets of its own among those of queues that are followed by interception, and
 * to know what is reserved there: of each queue that it has set `observed` of. One at most; where
 * there is none, or the queue is not observed, that costs a load. */
struct rtl_queue_observer {
    /** A queue is about to be followed: may set `observed`, `observer`, `max_expansion` and the
     * rewriter's `progress_every`. Slow. */
    void (*opened)(struct rtl_queue *queue);
    /** A queue on a GPU agent cannot be followed. Any thread. */
    void (*refused)(uint32_t agent);
    /** The state of the queue is about to serve another one: nothing of it is executed any more.
     * Worker only. */
    void (*closing)(struct rtl_queue *queue);
    /** The calling thread has reserved packets. Keeps errno. */
    void (*reserved)(struct rtl_queue *queue, uint64_t first, uint64_t count);
    /** How many packets more the queue may be given just now. By the submitter. */
    uint64_t (*most)(const struct rtl_queue *queue);
    /** The packets in the queue's staging memory go on their way: rewrites each and adds its own.
     * Returns how many there are then, in `*out`. By the submitter. */
    uint64_t (*rewrite)(struct rtl_queue *queue, uint64_t index, uint64_t count, uint32_t epoch,
                        const void **out);
};

/** Sets the observer. Before the first queue. */
void rtl_queues_observe(const struct rtl_queue_observer *observer);

/** The observer, or one that does nothing. Any thread. */
const struct rtl_queue_observer *rtl_queues_observer(void);

/** True if the state is in that phase. A state that is free may be on its way to serve another
 * queue. Any thread. */
static inline bool rtl_queue_is_in(const struct rtl_queue *queue, enum rtl_queue_phase phase)
{
    return atomic_load_explicit(&queue->phase, memory_order_acquire) == phase;
}

/** True if the queue is observed: `observer` is set then. Any thread. */
static inline bool rtl_queue_is_observed(const struct rtl_queue *queue)
{
    return atomic_load_explicit(&queue->observed, memory_order_acquire);
}

/** The real write index, where ROCr keeps it: amd_queue_t begins with the hsa_queue_t that programs
 * see (AMDGPU ABI, amd_hsa_queue.h). Of a handle that is no amd_queue_t it is not looked at:
 * `submitted`, which is what we have set it to. The queue must be alive. Any thread. */
static inline uint64_t rtl_real_index(const struct rtl_queue *queue)
{
    return __atomic_load_n(queue->real_index, __ATOMIC_ACQUIRE);
}

#endif

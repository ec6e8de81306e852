#include "intercept/queue/round.h"

#include "common/clock.h"
#include "intercept/base/agents.h"
#include "intercept/base/emit.h"
#include "intercept/base/threads.h"
#include "intercept/queue/harvest.h"
#include "intercept/queue/launches.h"
#include "intercept/queue/lifecycle.h"
#include "intercept/queue/signal_pool.h"
#include "intercept/queue/submit.h"

#include <inttypes.h>
#include <sched.h>
#include <string.h>

#define SLABS_AHEAD    320u /* of records, of all queues, that have memory before use */
#define LOOKS_TO_CHECK 64u  /* whether somebody goes round us */
#define LOOKS_TO_ASK   16u  /* for the lock to submit, where one round after the other is busy */
#define CAREFUL_ROUNDS 64u  /* that look, once packets passed us by or were left to us */
#define MAX_INCOMPLETE 64u  /* records of running kernels to look behind */
#define MOST_REPORTS   16u  /* times that memory was short, or no longer */
#define CLOSE_NS       UINT64_C(1000000000) /* that a destroyed queue may wait for room */
#define IDLE_NS        5000000u             /* between looks where nothing calls for one */

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t most(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* While no kernel has a signal nobody is in a hurry: a thread of the program that shares a core
 * with us goes on first, else it would wait for all that is made ahead. */
static void let_program_go_on(void)
{
    if (rtl_signal_pool_is_idle())
        (void)sched_yield();
}

/* Few at a time, since a thread that stops the worker waits for it, and each may take long where
 * the machine has much to do. */
static void grow_pool(struct rtl_round *round)
{
    if (rtl_queues_count() == 0)
        return; /* the runtime may still be on its way up, and the pool */
    uint32_t target = rtl_signal_pool_wanted();
    uint32_t made = atomic_load_explicit(&rtl_signals.made, memory_order_relaxed);
    while (made < target && !atomic_load_explicit(round->stopping, memory_order_acquire)) {
        made = least(made + RTL_POOL_BLOCK, target);
        if (rtl_signal_pool_grow(made) == 0)
            return;
        let_program_go_on();
        round->fullest = RTL_ROUND_BUSY; /* no nap before there are as many as there should be */
    }
}

static unsigned serve(struct rtl_round *round, struct rtl_queue *queue)
{
    unsigned finished = rtl_harvest_forward(queue, false);
    uint64_t tail = atomic_load_explicit(&queue->pending.tail, memory_order_relaxed);
    uint64_t used = tail - atomic_load_explicit(&queue->pending.head, memory_order_relaxed);
    if (used == 0)
        return finished;
    /* A full ring of ours holds records back: they find room in the next round, or the queue's own
     * run out. */
    if (rtl_emit_room(RTL_ROUND_BUSY) || used > (queue->pending.mask + 1) / 2)
        finished +=
            rtl_harvest(queue, RTL_ROUND_BUSY,
                        used > (queue->pending.mask + 1) / 2 ? RTL_HARVEST_ALL : MAX_INCOMPLETE);
    else
        rtl_backlog_count(queue, MAX_INCOMPLETE);
    rtl_harvest_rearmed(queue);
    rtl_harvest_park(queue);
    if (atomic_load_explicit(&queue->pending.head, memory_order_relaxed) < tail)
        round->waiting = true;
    return finished;
}

static bool is_empty(const struct rtl_queue *queue)
{
    return atomic_load_explicit(&queue->pending.tail, memory_order_relaxed) ==
           atomic_load_explicit(&queue->pending.head, memory_order_relaxed);
}

/* What is told of the clock later leaves free queues out. */
static void close_queue(struct rtl_queue *queue)
{
    rtl_queues_observer()->closing(queue);
    rtl_harvest_close(queue);
    uint64_t last_end = atomic_load_explicit(&queue->last_end_ticks, memory_order_relaxed);
    if (last_end != 0)
        rtl_agents_clock(queue->agent, last_end);
    struct rtl_wire_queue_end end = {.time_ns = rtl_now(), .queue = queue->id};
    struct rtl_piece piece = {&end, sizeof end};
    rtl_emit_definition(RTL_WIRE_QUEUE_END, &piece, 1);
    queue->closing_at = 0;
    rtl_queues_release(queue);
}

/* What of a destroyed queue has completed waits for room in the ring for a while, unless the
 * runtime goes, too: to close the queue accounts for all that is left. */
static bool may_close(const struct rtl_round *round, struct rtl_queue *queue, unsigned finished)
{
    if (atomic_load_explicit(round->stopping, memory_order_acquire) || is_empty(queue) ||
        (finished < RTL_ROUND_BUSY && rtl_emit_room(RTL_ROUND_BUSY)))
        return true;
    if (queue->closing_at == 0)
        queue->closing_at = rtl_now();
    return rtl_now() - queue->closing_at > CLOSE_NS;
}

/* True if packets are behind for a round: their doorbell passed us by. Those that are just being
 * written move on. By interception a full ring holds packets back as well. */
static bool stays_behind(struct rtl_queue *queue)
{
    uint64_t submitted = atomic_load_explicit(&queue->submitted, memory_order_relaxed);
    bool stays = queue->interception == RTL_INTERCEPTED || queue->seen_submitted == submitted;
    queue->seen_submitted = submitted;
    return stays && rtl_submit_is_behind(queue);
}

/* To request the submit lock interrupts the threads of the program (submit_lock.h): not often while
 * they are busy. */
static bool is_time(const struct rtl_round *round, uint32_t often)
{
    return round->looking && round->looks % often == 0;
}

/* Now and then a look whether somebody goes round us. Returns how much more there may be to do. */
static unsigned submit_behind(struct rtl_round *round, struct rtl_queue *queue)
{
    bool stays = stays_behind(queue);
    if (stays && queue->interception != RTL_INTERCEPTED)
        round->careful = CAREFUL_ROUNDS; /* what does so once will do it again */
    bool asks =
        !round->busy || queue->interception == RTL_INTERCEPTED || is_time(round, LOOKS_TO_ASK);
    if (!(stays && asks) && !is_time(round, LOOKS_TO_CHECK))
        return !stays && rtl_submit_is_behind(queue); /* soon another look */
    bool all = rtl_submit_some(queue);
    return !all || (queue->interception == RTL_INTERCEPTED && rtl_submit_is_behind(queue));
}

/* Whether this round is to look at what the submitter is about to write, and would have to fetch
 * again then: while kernels come and go, as rarely as where nothing happens. */
static bool is_due(struct rtl_round *round)
{
    if (rtl_submit_take_deferred())
        round->careful = CAREFUL_ROUNDS;
    return round->served == 0 || round->careful > 0 || rtl_now() - round->looked > IDLE_NS;
}

/* Returns how much more there may be to do. */
static unsigned look_after(struct rtl_round *round, struct rtl_queue *queue, unsigned finished)
{
    if (round->looking || finished >= RTL_ROUND_BUSY)
        rtl_slabs_reserve(&rtl_slabs, SLABS_AHEAD);
    return round->looking || queue->interception == RTL_INTERCEPTED ? submit_behind(round, queue)
                                                                    : 0;
}

/* The reader of the trace is told where there is no memory, and how much is missing. */
static void tell_memory(const struct rtl_ring *ring)
{
    static bool short_before;
    static unsigned reports;
    bool is_short = rtl_ring_is_short(ring);
    if (is_short == short_before)
        return;
    short_before = is_short;
    const char *end = strrchr(ring->path, '/');
    int length = end != NULL ? (int)(end - ring->path) : 0;
    uint64_t has = atomic_load(&ring->header->usable) * RTL_SLOT_SIZE / 1024;
    uint64_t whole = (ring->mask + 1) * RTL_SLOT_SIZE / 1024;
    if (reports++ >= MOST_REPORTS)
        return;
    if (is_short)
        rtl_emit_note(RTL_NONE,
                      "%.*s has no room: the ring of this process has %" PRIu64 " of %" PRIu64
                      " KiB, %" PRIu64 " KiB are missing",
                      length, ring->path, has, whole, whole - has);
    else
        rtl_emit_note(RTL_NONE, "%.*s has room again for the ring of this process", length,
                      ring->path);
}

/* Of the ring, ahead of need: a piece a round, since zeroing memory takes time; but no nap then. */
static void keep_memory(struct rtl_round *round)
{
    if (rtl_ring_reserve_ahead(round->ring) > 0) {
        let_program_go_on();
        round->fullest = RTL_ROUND_BUSY;
    }
    tell_memory(round->ring);
}

/* What of a queue there is to do in a round. Returns how much more there may be. */
static unsigned attend_to(struct rtl_round *round, struct rtl_queue *queue, uint32_t phase)
{
    unsigned finished = serve(round, queue);
    unsigned more = 0;
    round->served += finished > 0;
    round->fullest = most(round->fullest, finished);
    if (phase == RTL_QUEUE_LIVE && queue->interception != RTL_COPIES_ONLY)
        more = look_after(round, queue, finished);
    uint64_t last_end = atomic_load_explicit(&queue->last_end_ticks, memory_order_relaxed);
    if (last_end != 0)
        rtl_agents_clock(queue->agent, last_end);
    if (phase == RTL_QUEUE_CLOSING && may_close(round, queue, finished))
        close_queue(queue);
    return finished + more;
}

unsigned rtl_round(struct rtl_round *round)
{
    unsigned finished = 0;
    round->looking = is_due(round);
    round->careful -= round->careful > 0;
    round->waiting = false;
    round->served = 0;
    round->fullest = 0;
    grow_pool(round);
    if (round->ring != NULL)
        keep_memory(round);
    (void)rtl_emit_flush();
    rtl_launches_poll();
    rtl_threads_look();
    rtl_pool_repack(&rtl_signals);
    finished += rtl_harvest_finish_parked();
    for (uint32_t i = 0; i < rtl_queues_count(); i++) {
        struct rtl_queue *queue = rtl_queues_at(i);
        uint32_t phase = atomic_load_explicit(&queue->phase, memory_order_acquire);
        if (phase != RTL_QUEUE_FREE)
            finished += attend_to(round, queue, phase);
    }
    if (round->looking) {
        round->looks++;
        round->looked = rtl_now();
    }
    return finished;
}

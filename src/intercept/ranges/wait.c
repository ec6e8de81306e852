#include "intercept/ranges/wait.h"

#include "common/clock.h"
#include "intercept/queue/harvest.h"
#include "intercept/queue/queue.h"
#include "intercept/queue/submit.h"

#include <stdlib.h>
#include <time.h>

#define FIRST_STEP_NS   50000u
#define LONGEST_STEP_NS 1000000u
#define MAX_INCOMPLETE  64u /* records of running kernels to look behind */

/* How far a queue has to come. */
struct goal {
    struct rtl_queue *queue;
    uint64_t packets; /* reserved */
    uint64_t records;
    uint32_t id;
    bool sent; /* what of these packets belongs to the range has records */
    bool done;
};

static bool is_gone(const struct goal *goal)
{
    return rtl_queue_is_in(goal->queue, RTL_QUEUE_FREE) || goal->queue->id != goal->id;
}

/* Whether something of the range is reserved and not submitted. What is reserved first may run on
 * from before what was submitted last. */
static bool is_held_up(const struct goal *goal, uint64_t least)
{
    const struct rtl_queue *queue = goal->queue;
    uint64_t submitted = atomic_load_explicit(&queue->submitted, memory_order_acquire);
    if (queue->interception == RTL_COPIES_ONLY || submitted >= goal->packets)
        return false;
    uint64_t at = submitted > queue->size ? submitted - queue->size : 0;
    for (; at < goal->packets; at++) {
        struct rtl_reservation reservation = rtl_reservations_at(&queue->reservations, at);
        if (reservation.correlation >= least && at + reservation.count > submitted)
            return true;
    }
    return false;
}

static uint64_t records_of(const struct rtl_queue *queue)
{
    return atomic_load_explicit(&queue->pending.tail, memory_order_acquire);
}

static bool is_done(struct goal *goal, uint64_t least)
{
    if (goal->done || is_gone(goal))
        return true;
    if (!goal->sent) {
        goal->sent = !is_held_up(goal, least);
        goal->records = records_of(goal->queue);
    }
    if (rtl_queue_is_in(goal->queue, RTL_QUEUE_LIVE))
        (void)rtl_harvest(goal->queue, UINT32_MAX, MAX_INCOMPLETE);
    goal->done = goal->sent && !rtl_pending_has_since(&goal->queue->pending, goal->records, least);
    return goal->done;
}

static uint32_t set_goals(struct goal *goals, uint32_t queues, uint64_t least)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < queues; i++) {
        struct goal *goal = &goals[count];
        *goal = (struct goal){.queue = rtl_queues_at(i)};
        if (rtl_queue_is_in(goal->queue, RTL_QUEUE_FREE))
            continue;
        goal->id = goal->queue->id;
        goal->packets = atomic_load_explicit(&goal->queue->virtual_index, memory_order_acquire);
        count += !is_done(goal, least);
    }
    return count;
}

static bool all_done(struct goal *goals, uint32_t count, uint64_t least)
{
    bool done = !rtl_harvest_has_parked_since(least);
    for (uint32_t i = 0; i < count; i++)
        done = is_done(&goals[i], least) && done;
    return done;
}

bool rtl_range_wait(uint64_t id, uint64_t deadline_ns)
{
    uint32_t queues = rtl_queues_count();
    struct goal *goals = malloc((queues + 1) * sizeof *goals);
    if (goals == NULL)
        return false;
    uint32_t count = set_goals(goals, queues, id);
    uint64_t step = FIRST_STEP_NS;
    bool done = all_done(goals, count, id);
    while (!done && rtl_clock_ns(CLOCK_MONOTONIC) < deadline_ns) {
        rtl_nap(step);
        step = step < LONGEST_STEP_NS ? 2 * step : LONGEST_STEP_NS;
        done = all_done(goals, count, id);
    }
    free(goals);
    return done;
}

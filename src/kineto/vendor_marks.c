#include "kineto/vendor_marks.h"

#include "common/clock.h"
#include "intercept/base/agents.h"
#include "intercept/queue/copies.h"
#include "intercept/queue/harvest.h"
#include "intercept/queue/queue.h"

#define NAP_NS          100000
#define SUBMITTER_TRIES 100u /* naps that a submission under way is given */

_Static_assert(RTL_MARKS_QUEUES == RTL_MOST_QUEUES, "a mark for each queue");

void rtl_marks_take(struct rtl_marks *marks)
{
    marks->newest = marks->count = 0;
    for (uint32_t i = 0; i < rtl_queues_count() && i < RTL_MARKS_QUEUES; i++) {
        struct rtl_queue *queue = rtl_queues_at(i);
        if (!rtl_queue_is_in(queue, RTL_QUEUE_LIVE))
            continue;
        marks->queues[marks->count].id = queue->id;
        marks->queues[marks->count].next = atomic_load(&queue->virtual_index);
        marks->count++;
        if (queue->id >= marks->newest)
            marks->newest = queue->id + 1;
    }
    for (uint32_t gpu = 0; gpu < RTL_MARKS_GPUS; gpu++)
        marks->copies[gpu] =
            gpu < rtl_agents_gpus() ? rtl_copies_next(rtl_agents_id(rtl_agents_gpu(gpu))) : 0;
}

bool rtl_marks_precede_kernel(const struct rtl_marks *marks, uint32_t queue, uint64_t packet)
{
    for (uint32_t i = 0; i < marks->count; i++)
        if (marks->queues[i].id == queue)
            return packet >= marks->queues[i].next;
    return queue >= marks->newest;
}

bool rtl_marks_precede_copy(const struct rtl_marks *marks, uint32_t device, uint64_t ordinal)
{
    return device >= RTL_MARKS_GPUS || ordinal >= marks->copies[device];
}

/* What was submitted to a queue is what has a record. A thread that is submitting just now may be
 * about to add some; who has given the turn back has added them all. */
static uint64_t find_end(struct rtl_queue *queue, uint64_t deadline_ns)
{
    for (unsigned i = 0; i < SUBMITTER_TRIES && rtl_submit_lock_is_taken(&queue->submit_lock);
         i++) {
        if (rtl_clock_ns(CLOCK_MONOTONIC) > deadline_ns)
            break;
        rtl_nap(NAP_NS);
    }
    return atomic_load(&queue->pending.tail);
}

/* The worker harvests. The state may be another queue's by then: what was pending is accounted for.
 */
static bool wait_for(struct rtl_queue *queue, uint32_t id, uint64_t end, uint64_t deadline_ns)
{
    while (rtl_queue_is_in(queue, RTL_QUEUE_LIVE) && queue->id == id &&
           atomic_load(&queue->pending.head) < end) {
        if (rtl_clock_ns(CLOCK_MONOTONIC) > deadline_ns)
            return false;
        rtl_nap(NAP_NS);
    }
    return true;
}

bool rtl_marks_wait(uint64_t deadline_ns)
{
    bool done = true;
    for (uint32_t i = 0; i < rtl_queues_count(); i++) {
        struct rtl_queue *queue = rtl_queues_at(i);
        uint32_t id = queue->id;
        if (rtl_queue_is_in(queue, RTL_QUEUE_LIVE))
            done = wait_for(queue, id, find_end(queue, deadline_ns), deadline_ns) && done;
    }
    while (done && rtl_harvest_has_parked()) {
        done = rtl_clock_ns(CLOCK_MONOTONIC) <= deadline_ns;
        rtl_nap(NAP_NS);
    }
    return done;
}

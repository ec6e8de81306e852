#include "model.h"

#include "common/tsan.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

static struct model_packet *slot(const struct model_queue *queue, uint64_t index)
{
    struct model_packet *ring = queue->lower->base_address;
    return &ring[index & (queue->lower->size - 1)];
}

/* Slots of the lower queue that are free; nobody else takes any while the lock is held. The read
 * index is loaded here and not by the runtime, so that ThreadSanitizer sees the order that it
 * makes. */
static uint64_t free_slots(const struct model_queue *queue)
{
    const amd_queue_t *lower = (const amd_queue_t *)queue->lower;
    uint64_t write = rtl_api.hsa_queue_load_write_index_relaxed(queue->lower);
    uint64_t read = __atomic_load_n(&lower->read_dispatch_id, __ATOMIC_ACQUIRE);
    return queue->lower->size - (write - read);
}

/* Shows the packets [index, end) to the device, whose headers but the first are written already. */
static void publish(const struct model_queue *queue, uint64_t index, uint64_t end, uint16_t header)
{
    rtl_tsan_release(queue->lower->base_address);
    __atomic_store_n(&slot(queue, index)->header, header, __ATOMIC_RELEASE);
    rtl_api.hsa_signal_store_screlease(queue->lower->doorbell_signal,
                                       (hsa_signal_value_t)(end - 1));
}

/* A barrier that completes when all before it in the lower queue has, and there is room again. */
static void put_retry_barrier(struct model_queue *queue)
{
    while (free_slots(queue) == 0)
        (void)sched_yield(); /* the last barrier is done and about to leave its slot */
    hsa_barrier_and_packet_t barrier = {.completion_signal = queue->retry};
    uint64_t index = rtl_api.hsa_queue_add_write_index_relaxed(queue->lower, 1);
    struct model_packet *to = slot(queue, index);
    atomic_store(&queue->retrying, true);
    memcpy(to->body, (const char *)&barrier + sizeof to->header, sizeof to->body);
    publish(queue, index, index + 1,
            HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER);
    model_retry_wake();
}

static void put(struct model_queue *queue, const struct model_packet *packets, uint64_t count)
{
    uint64_t first = rtl_api.hsa_queue_add_write_index_relaxed(queue->lower, count);
    memcpy(slot(queue, first)->body, packets->body, sizeof packets->body);
    for (uint64_t i = 1; i < count; i++)
        *slot(queue, first + i) = packets[i];
    publish(queue, first, first + count, packets->header);
}

uint64_t model_submit(struct model_queue *queue, const struct model_packet *packets, uint64_t count)
{
    bool retrying = atomic_load(&queue->retrying);
    uint64_t spare = retrying ? 0 : 1; /* a slot that is kept for the barrier */
    uint64_t room = free_slots(queue);
    uint64_t now = count;
    if (count >= queue->lower->size)
        now = room > spare ? room - spare : 0;
    else if (room < count + spare)
        now = 0;
    if (now < count && !retrying)
        put_retry_barrier(queue);
    if (now > 0)
        put(queue, packets, now);
    return now;
}

bool model_submit_overflow(struct model_queue *queue)
{
    if (queue->overflowing == 0)
        return true;
    uint64_t done = model_submit(queue, queue->overflow, queue->overflowing);
    queue->overflowing -= done;
    memmove(queue->overflow, queue->overflow + done,
            queue->overflowing * sizeof queue->overflow[0]);
    return queue->overflowing == 0;
}

static void keep(struct model_queue *queue, const struct model_packet *packets, uint64_t count)
{
    uint64_t room = queue->overflowing + count;
    if (room > queue->overflow_room) {
        void *larger = realloc(queue->overflow, room * sizeof *packets);
        if (larger == NULL)
            model_die(1, "no memory for an overflow list of %llu packets",
                      (unsigned long long)room);
        queue->overflow = larger;
        queue->overflow_room = room;
    }
    memcpy(queue->overflow + queue->overflowing, packets, count * sizeof *packets);
    queue->overflowing = room;
    atomic_fetch_add(&model_counts.overflow, 1);
}

/* UNSTAGED gives a pointer into the ring and a count that leads beyond it. */
static void must_not_leave_the_ring(const struct model_queue *queue,
                                    const struct model_packet *packets, uint64_t count)
{
    const struct model_packet *end = queue->ring + queue->shown.hsa_queue.size;
    if (packets >= queue->ring && packets < end && count > (uint64_t)(end - packets))
        model_die(MODEL_PAST_THE_RING,
                  "%llu packets are read from a slot that is followed by %llu to the ring's end",
                  (unsigned long long)count, (unsigned long long)(end - packets));
}

void model_pass_on(struct model_queue *queue, const struct model_packet *packets, uint64_t count)
{
    if (count == 0)
        return;
    must_not_leave_the_ring(queue, packets, count);
    /* What is kept already goes first. */
    uint64_t done = queue->overflowing == 0 ? model_submit(queue, packets, count) : 0;
    if (done < count)
        keep(queue, packets + done, count - done);
}

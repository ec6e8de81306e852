#include "model.h"

#include <string.h>

#define INVALID (HSA_PACKET_TYPE_INVALID << HSA_PACKET_HEADER_TYPE)

/* Where this thread is in the list of interceptors; a queue only while it is in a callback. */
static _Thread_local struct {
    struct model_queue *queue;
    unsigned left; /* interceptors that have not been called yet */
    uint64_t index;
} cursor;

static uint64_t size(const struct model_queue *queue)
{
    return queue->shown.hsa_queue.size;
}

static struct model_packet *slot(const struct model_queue *queue, uint64_t index)
{
    return &queue->ring[index & (size(queue) - 1)];
}

/* The writer that an interceptor is given. It may be called several times in one callback. */
static void pass_down(const void *packets, uint64_t count)
{
    if (cursor.left == 0) {
        model_pass_on(cursor.queue, packets, count);
        return;
    }
    cursor.left--;
    const struct model_interceptor *next = &cursor.queue->interceptors[cursor.left];
    next->handler(packets, count, cursor.index, next->data, pass_down);
    cursor.left++;
}

/* Packets of a call that lie in memory: those past the ring's end do not. */
static uint64_t readable(const struct model_queue *queue, const struct model_packet *packets,
                         uint64_t count)
{
    if (packets < queue->ring || packets >= queue->ring + size(queue))
        return count;
    uint64_t rest = (uint64_t)(queue->ring + size(queue) - packets);
    return count < rest ? count : rest;
}

static void count_call(uint64_t count)
{
    uint64_t largest = atomic_load(&model_counts.largest);
    while (count > largest && !atomic_compare_exchange_weak(&model_counts.largest, &largest, count))
        ;
    atomic_fetch_add(&model_counts.callbacks, 1);
    atomic_fetch_add(&model_counts.packets, count);
}

static void call_interceptors(struct model_queue *queue, const struct model_packet *packets,
                              uint64_t count, uint64_t index)
{
    size_t bytes = readable(queue, packets, count) * sizeof *packets;
    memcpy(queue->input, packets, bytes);
    if (queue->interceptor_count > 0)
        count_call(count);
    cursor.queue = queue;
    cursor.left = queue->interceptor_count;
    cursor.index = index;
    pass_down(packets, count);
    cursor.queue = NULL;
    if (memcmp(queue->input, packets, bytes) != 0)
        atomic_fetch_add(&model_counts.altered, 1);
}

static const struct model_packet *stage(struct model_queue *queue, uint64_t first, uint64_t count)
{
    if (count > queue->staging_size)
        model_die(MODEL_STAGING_OVERFLOW,
                  "%llu packets that wrap are copied into a staging buffer of %llu: heap overflow",
                  (unsigned long long)count, (unsigned long long)queue->staging_size);
    for (uint64_t i = 0; i < count; i++)
        queue->staging[i] = *slot(queue, first + i);
    return queue->staging;
}

/* The packets that are written, from `first` on, a lap at most. */
static uint64_t scan(const struct model_queue *queue, uint64_t first)
{
    uint64_t end = __atomic_load_n(&queue->shown.write_dispatch_id, __ATOMIC_ACQUIRE);
    if (end > first + size(queue))
        end = first + size(queue);
    uint64_t at = first;
    while (at < end &&
           (__atomic_load_n(&slot(queue, at)->header, __ATOMIC_ACQUIRE) & 0xff) != INVALID)
        at++;
    return at;
}

static void invalidate(struct model_queue *queue, uint64_t first, uint64_t end)
{
    for (uint64_t at = first; at < end; at++)
        __atomic_store_n(&slot(queue, at)->header, (uint16_t)INVALID, __ATOMIC_RELEASE);
}

/* G1. Once something had to be kept, the rest stays in the ring until that is gone. */
static uint64_t hand_over_one_by_one(struct model_queue *queue, uint64_t first, uint64_t end)
{
    uint64_t at = first;
    while (at < end && queue->overflowing == 0) {
        call_interceptors(queue, slot(queue, at), 1, at);
        invalidate(queue, at, at + 1);
        at++;
    }
    return at;
}

static uint64_t hand_over_together(struct model_queue *queue, uint64_t first, uint64_t end)
{
    bool wraps = (first & (size(queue) - 1)) + (end - first) > size(queue);
    const struct model_packet *packets = slot(queue, first);
    if (wraps && model_generation != MODEL_UNSTAGED)
        packets = stage(queue, first, end - first);
    call_interceptors(queue, packets, end - first, first);
    invalidate(queue, first, end);
    return end;
}

static void hand_over(struct model_queue *queue)
{
    uint64_t first = queue->handed_over;
    uint64_t end = scan(queue, first);
    if (end == first)
        return;
    queue->handed_over = model_generation == MODEL_G1 ? hand_over_one_by_one(queue, first, end)
                                                      : hand_over_together(queue, first, end);
    __atomic_store_n(&queue->shown.read_dispatch_id, queue->handed_over, __ATOMIC_RELEASE);
}

void model_process(struct model_queue *queue)
{
    if (!atomic_load(&queue->active))
        return;
    if (cursor.queue != NULL) {
        atomic_store(&queue->deferred, true);
        model_retry_wake();
        return;
    }
    pthread_mutex_lock(&queue->lock);
    if (model_submit_overflow(queue))
        hand_over(queue);
    pthread_mutex_unlock(&queue->lock);
}

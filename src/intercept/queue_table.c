#include "intercept/queue.h"

static struct rtl_queue *_Atomic places[RTL_MOST_QUEUES];
static _Atomic uint32_t place_count;
struct rtl_queue_map rtl_queue_addresses, rtl_queue_doorbells;

uint32_t rtl_queues_count(void)
{
    return atomic_load_explicit(&place_count, memory_order_acquire);
}

struct rtl_queue *rtl_queues_at(uint32_t slot)
{
    return atomic_load_explicit(&places[slot], memory_order_acquire);
}

void rtl_queues_enter(struct rtl_queue *queue)
{
    atomic_store_explicit(&places[queue->slot], queue, memory_order_release);
    atomic_store_explicit(&place_count, queue->slot + 1, memory_order_release);
}

#include "intercept/queue/queue.h"

#include "common/pages.h"

static struct rtl_queue *_Atomic places[RTL_MOST_QUEUES];
static _Atomic uint32_t place_count;
struct rtl_queue_map *rtl_queue_addresses, *rtl_queue_doorbells;

bool rtl_queues_begin(void)
{
    struct rtl_queue_map *maps =
        rtl_queue_addresses == NULL ? rtl_pages(2 * sizeof *maps) : rtl_queue_addresses;
    if (maps == NULL)
        return false;
    rtl_queue_addresses = maps;
    rtl_queue_doorbells = maps + 1;
    return true;
}

static void ignore_queue(struct rtl_queue *queue)
{
    (void)queue;
}

static void ignore_agent(uint32_t agent)
{
    (void)agent;
}

/* The others are called of observed queues alone. */
static const struct rtl_queue_observer nobody = {
    .opened = ignore_queue, .refused = ignore_agent, .closing = ignore_queue};
static const struct rtl_queue_observer *_Atomic observer = &nobody;

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
    atomic_store_explicit(&places[queue->index], queue, memory_order_release);
    atomic_store_explicit(&place_count, queue->index + 1, memory_order_release);
}

void rtl_queues_observe(const struct rtl_queue_observer *by)
{
    atomic_store(&observer, by);
}

const struct rtl_queue_observer *rtl_queues_observer(void)
{
    return atomic_load_explicit(&observer, memory_order_acquire);
}

#include "intercept/harvest.h"

#include "intercept/agents.h"
#include "intercept/api.h"
#include "intercept/emit.h"
#include "intercept/shapes.h"

#include <hsa/amd_hsa_signal.h>
#include <time.h>

#define BATCH           64u
#define FORWARD_WINDOW  512u
#define FORWARDER_STEPS 2000 /* of 50 us */
#define MOST_ASIDE      4096u

struct rtl_pool rtl_signals;
struct rtl_borrow_table rtl_borrows = {.judge = rtl_harvest_judge};

/* Kernels on their way into the ring and signals on their way back into the pool, of one queue. The
 * id and the ledger are taken when the batch begins: a slow thread may still be at it when the
 * state serves another queue. */
struct batch {
    struct rtl_queue *queue;
    struct rtl_wire_ledger *ledger;
    uint32_t id;
    struct rtl_wire_kernel kernels[BATCH];
    uint32_t ids[BATCH];
    unsigned kernel_count, id_count;
    uint64_t newest;  /* tick */
    uint64_t retired; /* packet after the last that completed */
};

struct aside {
    struct rtl_queue *queue;
    struct rtl_kernel_facts facts;
};

static struct aside asides[MOST_ASIDE];
static unsigned aside_count;

enum rtl_record_standing rtl_harvest_judge(struct rtl_record_name name, uint64_t handle)
{
    return rtl_pending_judge(&rtl_queues_at(name.slot)->pending, name.sequence, handle);
}

static void count(_Atomic uint64_t *counter, uint64_t value)
{
    if (value != 0)
        atomic_fetch_add_explicit(counter, value, memory_order_relaxed);
}

/* Not an initialiser: that would clear four kilobytes each time. */
static void begin(struct batch *batch, struct rtl_queue *queue)
{
    batch->queue = queue;
    batch->ledger = queue->ledger;
    batch->id = queue->id;
    batch->kernel_count = 0;
    batch->id_count = 0;
    batch->newest = 0;
    batch->retired = 0;
}

/* The state may serve another queue by now. */
static void tell_retired(const struct batch *batch)
{
    struct rtl_queue *queue = batch->queue;
    uint64_t known = atomic_load_explicit(&queue->retired, memory_order_relaxed);
    while (known < batch->retired && queue->id == batch->id &&
           !atomic_compare_exchange_weak_explicit(&queue->retired, &known, batch->retired,
                                                  memory_order_release, memory_order_relaxed))
        ;
}

static void flush(struct batch *batch)
{
    struct rtl_wire_ledger *ledger = batch->ledger;
    unsigned sent = rtl_emit_kernels(batch->kernels, batch->kernel_count);
    count(&ledger->recorded, sent);
    count(&ledger->lost[RTL_LOST_RING], batch->kernel_count - sent);
    rtl_pool_give(&rtl_signals, batch->ids, batch->id_count);
    if (batch->queue->way == RTL_WAY_INTERCEPT)
        tell_retired(batch);
    if (batch->newest > atomic_load_explicit(&batch->queue->newest, memory_order_relaxed))
        atomic_store_explicit(&batch->queue->newest, batch->newest, memory_order_relaxed);
    batch->kernel_count = 0;
    batch->id_count = 0;
}

/* Readies a pool signal for its next use. The times are cleared so that a device that writes none
 * is noticed. */
static void recycle(struct batch *batch, uint32_t id)
{
    amd_signal_t *signal = (amd_signal_t *)(uintptr_t)rtl_pool_handle(&rtl_signals, id);
    /* Another harvester may be reading them for a record that it then fails to claim. */
    __atomic_store_n(&signal->start_ts, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&signal->end_ts, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&signal->value, 1, __ATOMIC_RELAXED);
    batch->ids[batch->id_count++] = id;
}

static void append(struct batch *batch, const struct rtl_kernel_facts *facts)
{
    struct rtl_wire_ledger *ledger = batch->ledger;
    struct rtl_wire_kernel *kernel = &batch->kernels[batch->kernel_count];
    if (facts->start == 0 || facts->end < facts->start) {
        count(&ledger->lost[RTL_LOST_NO_TIME], 1);
        return;
    }
    if (!rtl_shapes_find(facts, &kernel->shape)) {
        count(&ledger->lost[RTL_LOST_RING], 1);
        return;
    }
    kernel->packet = facts->packet;
    kernel->start = facts->start;
    kernel->end = facts->end;
    kernel->correlation = 0;
    kernel->queue = batch->id;
    kernel->launch = RTL_NONE;
    kernel->node = RTL_NONE;
    batch->kernel_count++;
    if (facts->end > batch->newest)
        batch->newest = facts->end;
}

/* Everything that follows from a record being taken. */
static void finish(struct batch *batch, const struct rtl_kernel_facts *facts)
{
    if (batch->kernel_count == BATCH || batch->id_count == BATCH)
        flush(batch);
    if (facts->packet >= batch->retired)
        batch->retired = facts->packet + 1;
    if ((facts->flags & RTL_RECORD_BARRIER) == 0)
        append(batch, facts);
    if (facts->pool_id != RTL_NONE)
        recycle(batch, facts->pool_id);
}

unsigned rtl_harvest(struct rtl_queue *queue, unsigned most, unsigned patience)
{
    struct rtl_pending *pending = &queue->pending;
    struct batch batch;
    begin(&batch, queue);
    uint64_t tail = atomic_load_explicit(&pending->tail, memory_order_acquire);
    uint64_t at = atomic_load_explicit(&pending->head, memory_order_acquire);
    unsigned taken = 0;
    unsigned waiting = 0;
    for (; at < tail && taken < most && waiting < patience; at++) {
        struct rtl_kernel_facts facts;
        enum rtl_take found = rtl_pending_take(pending, &rtl_signals, at, false, &facts);
        if (found == RTL_TAKE_TAKEN) {
            finish(&batch, &facts);
            taken++;
            waiting = 0;
        } else if (found == RTL_TAKE_WAITING) {
            waiting++;
        }
    }
    flush(&batch);
    rtl_pending_advance(pending);
    return taken;
}

/* Completes the program's signal as the device would have: times first, then the decrement. */
static void forward(struct rtl_queue *queue, const struct rtl_kernel_facts *facts)
{
    amd_signal_t *own = (amd_signal_t *)(uintptr_t)facts->own;
    struct rtl_record_name name;
    if (!rtl_borrow_find(&rtl_borrows, facts->own, &name)) {
        own->start_ts = facts->start;
        own->end_ts = facts->end;
    }
    hsa_signal_t signal = {facts->own};
    rtl_api.hsa_signal_subtract_screlease(signal, 1);
    atomic_fetch_sub_explicit(&queue->pending.owed, 1, memory_order_release);
    count(&queue->ledger->forwarded, 1);
}

/* Newest first: what is found complete then has all its predecessors complete when they are looked
 * at. */
static void find_ready(struct rtl_queue *queue, uint64_t head, uint64_t tail, bool *ready)
{
    for (uint64_t at = tail; at-- > head;)
        ready[at - head] = rtl_pending_owes(&queue->pending, &rtl_signals, at);
}

static unsigned forward_ready(struct rtl_queue *queue)
{
    struct rtl_pending *pending = &queue->pending;
    uint64_t head = atomic_load_explicit(&pending->head, memory_order_acquire);
    uint64_t tail = atomic_load_explicit(&pending->tail, memory_order_acquire);
    if (tail - head > FORWARD_WINDOW)
        tail = head + FORWARD_WINDOW;
    bool ready[FORWARD_WINDOW];
    find_ready(queue, head, tail, ready);
    struct batch batch;
    begin(&batch, queue);
    unsigned taken = 0;
    for (uint64_t at = head; at < tail; at++) {
        struct rtl_kernel_facts facts;
        if (!ready[at - head] ||
            rtl_pending_take(pending, &rtl_signals, at, true, &facts) != RTL_TAKE_TAKEN)
            continue;
        forward(queue, &facts);
        finish(&batch, &facts);
        taken++;
    }
    flush(&batch);
    rtl_pending_advance(pending);
    return taken;
}

unsigned rtl_harvest_forward(struct rtl_queue *queue)
{
    if (atomic_load_explicit(&queue->pending.owed, memory_order_relaxed) == 0 ||
        atomic_exchange_explicit(&queue->forwarding, true, memory_order_acquire))
        return 0;
    unsigned taken = forward_ready(queue);
    atomic_store_explicit(&queue->forwarding, false, memory_order_release);
    return taken;
}

void rtl_harvest_set_aside(struct rtl_queue *queue)
{
    struct rtl_pending *pending = &queue->pending;
    uint64_t head = atomic_load_explicit(&pending->head, memory_order_acquire);
    uint64_t tail = atomic_load_explicit(&pending->tail, memory_order_acquire);
    /* The ring is twice the queue: up to half of it may be kernels in flight in their turn. */
    if (tail - head <= (pending->mask + 1) / 4 * 3 || aside_count == MOST_ASIDE)
        return;
    struct rtl_kernel_facts facts;
    struct batch batch;
    begin(&batch, queue);
    if (rtl_pending_take(pending, &rtl_signals, head, false, &facts) == RTL_TAKE_TAKEN)
        finish(&batch, &facts); /* it has just completed */
    else if (!rtl_pending_abandon(pending, head, &facts))
        return;
    else if (facts.pool_id == RTL_NONE) /* the program may re-arm its signal unseen */
        count(&queue->ledger->lost[RTL_LOST_PENDING], 1);
    else
        asides[aside_count++] = (struct aside){queue, facts};
    flush(&batch);
    rtl_pending_advance(pending);
}

static void finish_aside(struct aside *aside)
{
    struct batch batch;
    begin(&batch, aside->queue);
    rtl_signal_times(rtl_pool_handle(&rtl_signals, aside->facts.pool_id), &aside->facts);
    if (rtl_is_replaced(&aside->facts))
        forward(aside->queue, &aside->facts);
    finish(&batch, &aside->facts);
    flush(&batch);
}

unsigned rtl_harvest_aside(void)
{
    unsigned finished = 0;
    for (unsigned i = 0; i < aside_count;) {
        if (!rtl_signal_completed(rtl_pool_handle(&rtl_signals, asides[i].facts.pool_id))) {
            i++;
            continue;
        }
        finish_aside(&asides[i]);
        asides[i] = asides[--aside_count];
        finished++;
    }
    return finished;
}

/* A record whose kernel will not complete any more. Its pool signal is not used again: a device may
 * still write. */
static void give_up(struct rtl_queue *queue, const struct rtl_kernel_facts *facts,
                    enum rtl_lost why)
{
    if ((facts->flags & RTL_RECORD_BARRIER) == 0)
        count(&queue->ledger->lost[why], 1);
}

/* A helper that is forwarding for the queue has microseconds left to go; without a processor, some
 * more. */
static void wait_for_forwarder(struct rtl_queue *queue)
{
    struct timespec step = {.tv_sec = 0, .tv_nsec = 50000};
    for (int i = 0; i < FORWARDER_STEPS && atomic_load(&queue->forwarding); i++)
        nanosleep(&step, NULL);
}

void rtl_harvest_close(struct rtl_queue *queue)
{
    struct rtl_pending *pending = &queue->pending;
    wait_for_forwarder(queue);
    while (rtl_harvest_forward(queue) > 0 || rtl_harvest(queue, UINT32_MAX, UINT32_MAX) > 0)
        continue;
    (void)rtl_harvest_aside();
    for (unsigned i = 0; i < aside_count;) {
        if (asides[i].queue != queue) {
            i++;
            continue;
        }
        give_up(queue, &asides[i].facts, RTL_LOST_SHUTDOWN);
        asides[i] = asides[--aside_count];
    }
    uint64_t tail = atomic_load_explicit(&pending->tail, memory_order_acquire);
    for (uint64_t at = atomic_load_explicit(&pending->head, memory_order_acquire); at < tail;
         at++) {
        struct rtl_kernel_facts facts;
        if (rtl_pending_abandon(pending, at, &facts))
            give_up(queue, &facts, RTL_LOST_SHUTDOWN);
    }
    atomic_store_explicit(&pending->owed, 0, memory_order_relaxed);
    rtl_pending_advance(pending);
}

void rtl_harvest_settle(uint64_t handle, bool destroyed)
{
    struct rtl_record_name name;
    if (!rtl_borrow_find(&rtl_borrows, handle, &name))
        return;
    struct rtl_queue *queue = rtl_queues_at(name.slot);
    struct rtl_kernel_facts facts;
    if (rtl_pending_take(&queue->pending, &rtl_signals, name.sequence, false, &facts) ==
        RTL_TAKE_TAKEN) {
        struct batch batch;
        begin(&batch, queue);
        finish(&batch, &facts);
        flush(&batch);
        count(&queue->ledger->helped, 1);
    } else if (destroyed && rtl_pending_abandon(&queue->pending, name.sequence, &facts)) {
        give_up(queue, &facts, RTL_LOST_REARMED);
    }
}

uint64_t rtl_harvest_pending(void)
{
    uint64_t pending = aside_count;
    for (uint32_t i = 0; i < rtl_queues_count(); i++) {
        struct rtl_queue *queue = rtl_queues_at(i);
        pending += atomic_load_explicit(&queue->pending.tail, memory_order_relaxed) -
                   atomic_load_explicit(&queue->pending.head, memory_order_relaxed);
    }
    return pending;
}

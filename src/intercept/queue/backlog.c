#include "intercept/queue/backlog.h"

#include "intercept/queue/queue.h"
#include "intercept/queue/signal_pool.h"

/* What of a row was once pending and is not any more. Whoever accounts for some counts it as
 * recorded first, and may then find that it is lost: read the other way round, nothing is there
 * twice. */
static uint64_t accounted(const struct rtl_wire_ledger *ledger)
{
    static const enum rtl_lost reasons[] = {RTL_LOST_RING,    RTL_LOST_SPACE,   RTL_LOST_SHUTDOWN,
                                            RTL_LOST_REARMED, RTL_LOST_NO_TIME, RTL_LOST_MEMORY};
    uint64_t sum = 0;
    for (unsigned i = 0; i < sizeof reasons / sizeof *reasons; i++)
        sum += atomic_load_explicit(&ledger->lost[reasons[i]], memory_order_acquire);
    return sum + atomic_load_explicit(&ledger->recorded, memory_order_acquire);
}

/* Whether it counts, and would be handed over if there was room. */
static bool would_be_recorded(const struct rtl_kernel_facts *facts)
{
    bool timed = facts->start != 0 && facts->end >= facts->start;
    return (facts->flags & RTL_RECORD_BARRIER) == 0 && timed;
}

/* Goes on where the last count has ended, if nothing was accounted since. */
static void prepare(struct rtl_backlog *backlog, const struct rtl_queue *queue)
{
    uint64_t now = accounted(queue->ledger);
    uint64_t head = atomic_load_explicit(&queue->pending.head, memory_order_acquire);
    if (backlog->id == (uint64_t)queue->id + 1 && backlog->accounted == now &&
        backlog->next >= head)
        return;
    backlog->id = (uint64_t)queue->id + 1;
    backlog->accounted = now;
    backlog->next = head;
    backlog->completed = 0;
}

static uint64_t count(struct rtl_backlog *backlog, struct rtl_queue *queue, unsigned max_incomplete)
{
    struct rtl_pending *pending = &queue->pending;
    uint64_t tail = atomic_load_explicit(&pending->tail, memory_order_acquire);
    uint64_t behind = 0; /* that have completed, and others before them have not */
    unsigned waiting = 0;
    for (uint64_t at = backlog->next; at < tail && waiting < max_incomplete; at++) {
        struct rtl_kernel_facts facts;
        enum rtl_take found = rtl_pending_look(pending, &rtl_signals, at, false, &facts);
        bool counts = found == RTL_TAKE_TAKEN && would_be_recorded(&facts);
        waiting = found == RTL_TAKE_WAITING ? waiting + 1 : counts ? 0 : waiting;
        if (at == backlog->next && found != RTL_TAKE_WAITING && found != RTL_TAKE_FORWARD) {
            backlog->next++;
            backlog->completed += counts;
        } else {
            behind += counts;
        }
    }
    return backlog->completed + behind;
}

/* What has completed stays so, and what is accounted had completed: the largest sum holds. */
static void tell(struct rtl_backlog *backlog, struct rtl_queue *queue, unsigned max_incomplete)
{
    prepare(backlog, queue);
    uint64_t done = backlog->accounted + count(backlog, queue, max_incomplete);
    _Atomic uint64_t *known = &queue->ledger->done;
    uint64_t before = atomic_load_explicit(known, memory_order_relaxed);
    while (before < done && !atomic_compare_exchange_weak_explicit(
                                known, &before, done, memory_order_relaxed, memory_order_relaxed))
        ;
}

/* Nobody waits for the thread that counts, which may have lost its processor: the process may end
 * before it is done. */
void rtl_backlog_count(struct rtl_queue *queue, unsigned max_incomplete)
{
    struct rtl_backlog own = {.id = 0};
    struct rtl_backlog *backlog = &queue->backlog;
    if (atomic_exchange_explicit(&backlog->counting, true, memory_order_acquire)) {
        tell(&own, queue, max_incomplete);
        return;
    }
    tell(backlog, queue, max_incomplete);
    atomic_store_explicit(&backlog->counting, false, memory_order_release);
}

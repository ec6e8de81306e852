#include "intercept/queue/waits.h"

#include "common/clock.h"
#include "intercept/base/agents.h"
#include "intercept/base/api.h"
#include "intercept/base/emit.h"
#include "intercept/base/thread_context.h"
#include "intercept/queue/harvest.h"
#include "intercept/queue/launches.h"
#include "intercept/queue/ledger.h"
#include "intercept/queue/queue.h"

#include <errno.h>
#include <stdatomic.h>

#define RUNNING       64u /* kernels that run on, to look behind, of a thread that has waited */
#define RUNNING_FEWER 4u  /* and that has only looked: that may be often */
#define ROOM          64u /* slots of the ring; else records wait for the collector */

#define PATIENCE_NS                                                                                \
    UINT64_C(1000000) /* of a wait that may sleep: then the worker is quick enough */

static _Atomic bool ever;              /* a signal was replaced */
static void (*_Atomic replaced)(void); /* to be told of each */
static _Atomic uint32_t forwarders;

/* One wait of the program's. */
struct waiting {
    hsa_signal_t signal;
    hsa_signal_condition_t condition;
    hsa_signal_value_t compare;
    uint64_t timeout; /* as hsa_signal_wait has it: HSA timestamps, UINT64_MAX: none */
    bool active;
};

void rtl_waits_signal_replaced(void)
{
    if (!atomic_load_explicit(&ever, memory_order_relaxed))
        atomic_store_explicit(&ever, true, memory_order_relaxed);
    atomic_load_explicit(&replaced, memory_order_relaxed)();
}

bool rtl_waits_are_forwarding(void)
{
    return atomic_load_explicit(&forwarders, memory_order_relaxed) != 0;
}

void rtl_waits_forked(void)
{
    atomic_store_explicit(&forwarders, 0, memory_order_relaxed);
}

/* The packets of a queue complete in order, but for those that run together: what is known to be
 * done comes before what is not, or not far behind. */
static void harvest(struct rtl_queue *queue, unsigned running)
{
    const struct rtl_pending *pending = &queue->pending;
    uint64_t head = atomic_load_explicit(&pending->head, memory_order_acquire);
    unsigned taken = 0;
    if (head != atomic_load_explicit(&pending->tail, memory_order_acquire)) {
        if (rtl_emit_room(ROOM))
            taken = rtl_harvest(queue, UINT32_MAX, running);
        else
            rtl_backlog_count(queue, running);
    }
    rtl_ledger_add(&queue->ledger->helped, taken);
    if (!rtl_agents_has_clock(queue->agent))
        rtl_agents_first_clock(queue->agent,
                               atomic_load_explicit(&queue->last_end_ticks, memory_order_relaxed));
}

/* Records of a queue that the worker is just about to account for, at its end, are left to it. */
static void hand_over(unsigned running)
{
    int saved = errno;
    rtl_launches_drain();
    for (uint32_t i = 0; i < rtl_queues_count(); i++)
        if (rtl_queue_is_in(rtl_queues_at(i), RTL_QUEUE_LIVE))
            harvest(rtl_queues_at(i), running);
    if (rtl_harvest_has_parked())
        (void)rtl_harvest_finish_parked();
    errno = saved;
}

void rtl_waits_ended(void)
{
    hand_over(RUNNING);
}

static bool holds(const struct waiting *waiting, hsa_signal_value_t value)
{
    switch (waiting->condition) {
    case HSA_SIGNAL_CONDITION_EQ:
        return value == waiting->compare;
    case HSA_SIGNAL_CONDITION_NE:
        return value != waiting->compare;
    case HSA_SIGNAL_CONDITION_LT:
        return value < waiting->compare;
    case HSA_SIGNAL_CONDITION_GTE:
        return value >= waiting->compare;
    default:
        return true; /* for the runtime to refuse */
    }
}

static uint64_t timestamp(void)
{
    uint64_t now = 0;
    (void)rtl_api.hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &now);
    return now;
}

/* Forwards until the condition holds, nothing is left to forward, or the wait is over; then the
 * runtime's own wait goes on with what is left of the timeout. */
static void forward_meanwhile(struct waiting *waiting)
{
    bool limited = waiting->timeout != UINT64_MAX;
    uint64_t begin = limited ? timestamp() : 0;
    uint64_t elapsed = 0;
    uint64_t until = waiting->active ? UINT64_MAX : rtl_now() + PATIENCE_NS;
    int saved = errno;
    atomic_fetch_add_explicit(&forwarders, 1, memory_order_relaxed);
    while (!holds(waiting, rtl_api.hsa_signal_load_scacquire(waiting->signal)) &&
           rtl_forwards_pending() && elapsed < waiting->timeout &&
           (waiting->active || rtl_now() < until)) {
        (void)rtl_forward_ready_all();
        elapsed = limited ? timestamp() - begin : 0;
    }
    atomic_fetch_sub_explicit(&forwarders, 1, memory_order_relaxed);
    errno = saved;
    if (limited)
        waiting->timeout = elapsed < waiting->timeout ? waiting->timeout - elapsed : 0;
}

#define WAIT(order)                                                                                \
    static hsa_signal_value_t wait_##order(hsa_signal_t signal, hsa_signal_condition_t condition,  \
                                           hsa_signal_value_t compare, uint64_t timeout,           \
                                           hsa_wait_state_t state)                                 \
    {                                                                                              \
        struct waiting waiting = {signal, condition, compare, timeout,                             \
                                  state == HSA_WAIT_STATE_ACTIVE};                                 \
        if (atomic_load_explicit(&ever, memory_order_relaxed) && signal.handle != 0)               \
            forward_meanwhile(&waiting);                                                           \
        hsa_signal_value_t value =                                                                 \
            rtl_api.hsa_signal_wait_##order(signal, condition, compare, waiting.timeout, state);   \
        if (holds(&waiting, value))                                                                \
            rtl_waits_ended();                                                                     \
        return value;                                                                              \
    }

WAIT(relaxed)
WAIT(scacquire)

/* What HIP finds the program is told when the call returns, if it is one that waits (hip/). */
#define LOAD(order)                                                                                \
    static hsa_signal_value_t load_##order(hsa_signal_t signal)                                    \
    {                                                                                              \
        hsa_signal_value_t value = rtl_api.hsa_signal_load_##order(signal);                        \
        if (value < 1 && rtl_thread_context.inside == 0)                                           \
            hand_over(RUNNING_FEWER);                                                              \
        return value;                                                                              \
    }

LOAD(relaxed)
LOAD(scacquire)

#define WAIT_GROUP(order)                                                                          \
    static hsa_status_t wait_group_##order(                                                        \
        hsa_signal_group_t group, const hsa_signal_condition_t *conditions,                        \
        const hsa_signal_value_t *compare, hsa_wait_state_t state, hsa_signal_t *signal,           \
        hsa_signal_value_t *value)                                                                 \
    {                                                                                              \
        hsa_status_t status = rtl_api.hsa_signal_group_wait_any_##order(                           \
            group, conditions, compare, state, signal, value);                                     \
        rtl_waits_ended();                                                                         \
        return status;                                                                             \
    }

WAIT_GROUP(relaxed)
WAIT_GROUP(scacquire)

#define WAIT_SEVERAL(which)                                                                        \
    static uint32_t wait_##which(uint32_t count, hsa_signal_t *signals,                            \
                                 hsa_signal_condition_t *conditions, hsa_signal_value_t *compare,  \
                                 uint64_t timeout, hsa_wait_state_t state,                         \
                                 hsa_signal_value_t *values)                                       \
    {                                                                                              \
        uint32_t found = rtl_api.hsa_amd_signal_wait_##which(count, signals, conditions, compare,  \
                                                             timeout, state, values);              \
        if (found != UINT32_MAX)                                                                   \
            rtl_waits_ended();                                                                     \
        return found;                                                                              \
    }

WAIT_SEVERAL(any)
WAIT_SEVERAL(all)

void rtl_waits_hook(void (*tells)(void))
{
    atomic_store(&replaced, tells);
    RTL_HOOK(hsa_signal_wait_relaxed, wait_relaxed);
    RTL_HOOK(hsa_signal_wait_scacquire, wait_scacquire);
    RTL_HOOK(hsa_signal_load_relaxed, load_relaxed);
    RTL_HOOK(hsa_signal_load_scacquire, load_scacquire);
    RTL_HOOK(hsa_signal_group_wait_any_relaxed, wait_group_relaxed);
    RTL_HOOK(hsa_signal_group_wait_any_scacquire, wait_group_scacquire);
    RTL_HOOK(hsa_amd_signal_wait_any, wait_any);
    RTL_HOOK(hsa_amd_signal_wait_all, wait_all);
}

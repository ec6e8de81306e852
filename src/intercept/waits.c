#include "intercept/waits.h"

#include "common/clock.h"
#include "intercept/api.h"
#include "intercept/harvest.h"

#include <errno.h>
#include <stdatomic.h>

#define PATIENCE_NS                                                                                \
    UINT64_C(1000000) /* of a wait that may sleep: then the worker is quick enough */

static _Atomic bool ever; /* a signal was replaced */
static _Atomic uint32_t helpers;

/* One wait of the program's. */
struct waiting {
    hsa_signal_t signal;
    hsa_signal_condition_t condition;
    hsa_signal_value_t compare;
    uint64_t timeout; /* as hsa_signal_wait has it: HSA timestamps, UINT64_MAX: none */
    bool active;
};

void rtl_waits_expect(void)
{
    if (!atomic_load_explicit(&ever, memory_order_relaxed))
        atomic_store_explicit(&ever, true, memory_order_relaxed);
}

bool rtl_waits_help(void)
{
    return atomic_load_explicit(&helpers, memory_order_relaxed) != 0;
}

void rtl_waits_forked(void)
{
    atomic_store_explicit(&helpers, 0, memory_order_relaxed);
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
static void help(struct waiting *waiting)
{
    bool limited = waiting->timeout != UINT64_MAX;
    uint64_t begin = limited ? timestamp() : 0;
    uint64_t elapsed = 0;
    uint64_t until = waiting->active ? UINT64_MAX : rtl_now() + PATIENCE_NS;
    int saved = errno;
    atomic_fetch_add_explicit(&helpers, 1, memory_order_relaxed);
    while (!holds(waiting, rtl_api.hsa_signal_load_scacquire(waiting->signal)) &&
           rtl_harvest_owed() && elapsed < waiting->timeout &&
           (waiting->active || rtl_now() < until)) {
        (void)rtl_harvest_owing();
        elapsed = limited ? timestamp() - begin : 0;
    }
    atomic_fetch_sub_explicit(&helpers, 1, memory_order_relaxed);
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
            help(&waiting);                                                                        \
        return rtl_api.hsa_signal_wait_##order(signal, condition, compare, waiting.timeout,        \
                                               state);                                             \
    }

WAIT(relaxed)
WAIT(scacquire)

#define HOOK(entry, function) rtl_api_hook(RTL_ENTRY_hsa_signal_##entry, (void (*)(void))(function))

void rtl_waits_hook(void)
{
    HOOK(wait_relaxed, wait_relaxed);
    HOOK(wait_scacquire, wait_scacquire);
}

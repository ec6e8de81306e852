#include "intercept/queue/signals.h"

#include "common/tsan.h"
#include "intercept/base/api.h"
#include "intercept/queue/adoption.h"
#include "intercept/queue/harvest.h"
#include "intercept/queue/ids.h"
#include "intercept/queue/queue.h"
#include "intercept/queue/submit.h"
#include "intercept/queue/untracked.h"

#include <hsa/amd_hsa_signal.h>

/* Of a signal that looks like any other, and of a doorbell that is none of a followed queue. */
static __attribute__((noinline)) struct rtl_queue *queue_of_other(hsa_signal_t signal, bool plain,
                                                                  const void *caller)
{
    if (plain)
        rtl_harvest_finish_borrowed(signal.handle, false);
    if (plain && !rtl_queues_plain_doorbells())
        return NULL;
    struct rtl_queue *queue = rtl_queues_by_doorbell(signal.handle);
    if (queue != NULL || rtl_untracked_count(signal.handle) || plain)
        return queue;
    rtl_adoption_rung(signal, caller);
    (void)rtl_untracked_count(signal.handle);
    return rtl_queues_by_doorbell(signal.handle);
}

/* The followed queue whose doorbell the signal is, or NULL. A doorbell is told apart by its kind,
 * but for those of intercept queues, which look like any signal. */
static inline struct rtl_queue *queue_of(hsa_signal_t signal, const void *caller)
{
    bool plain = ((const amd_signal_t *)(uintptr_t)signal.handle)->kind >= 0;
    struct rtl_queue *queue = plain ? NULL : rtl_queues_by_doorbell(signal.handle);
    return queue != NULL ? queue : queue_of_other(signal, plain, caller);
}

#define STORE(name)                                                                                \
    static void name(hsa_signal_t signal, hsa_signal_value_t value)                                \
    {                                                                                              \
        struct rtl_queue *queue = queue_of(signal, __builtin_return_address(0));                   \
        if (queue != NULL)                                                                         \
            rtl_submit(queue);                                                                     \
        else                                                                                       \
            rtl_api.hsa_signal_##name(signal, value);                                              \
    }

#define EXCHANGE(order)                                                                            \
    static hsa_signal_value_t exchange_##order(hsa_signal_t signal, hsa_signal_value_t value)      \
    {                                                                                              \
        rtl_harvest_finish_borrowed(signal.handle, false);                                         \
        return rtl_api.hsa_signal_exchange_##order(signal, value);                                 \
    }

#define CAS(order)                                                                                 \
    static hsa_signal_value_t cas_##order(hsa_signal_t signal, hsa_signal_value_t expected,        \
                                          hsa_signal_value_t value)                                \
    {                                                                                              \
        rtl_harvest_finish_borrowed(signal.handle, false);                                         \
        return rtl_api.hsa_signal_cas_##order(signal, expected, value);                            \
    }

#define CHANGE(name)                                                                               \
    static void name(hsa_signal_t signal, hsa_signal_value_t value)                                \
    {                                                                                              \
        rtl_harvest_finish_borrowed(signal.handle, false);                                         \
        rtl_api.hsa_signal_##name(signal, value);                                                  \
    }

#define CHANGES(X)                                                                                 \
    X(add_relaxed)                                                                                 \
    X(add_scacquire)                                                                               \
    X(add_screlease)                                                                               \
    X(add_scacq_screl)                                                                             \
    X(subtract_relaxed)                                                                            \
    X(subtract_scacquire)                                                                          \
    X(subtract_screlease)                                                                          \
    X(subtract_scacq_screl)                                                                        \
    X(and_relaxed)                                                                                 \
    X(and_scacquire)                                                                               \
    X(and_screlease)                                                                               \
    X(and_scacq_screl)                                                                             \
    X(or_relaxed)                                                                                  \
    X(or_scacquire)                                                                                \
    X(or_screlease)                                                                                \
    X(or_scacq_screl)                                                                              \
    X(xor_relaxed)                                                                                 \
    X(xor_scacquire)                                                                               \
    X(xor_screlease)                                                                               \
    X(xor_scacq_screl)

STORE(store_relaxed)
STORE(store_screlease)
STORE(silent_store_relaxed)
STORE(silent_store_screlease)
EXCHANGE(relaxed)
EXCHANGE(scacquire)
EXCHANGE(screlease)
EXCHANGE(scacq_screl)
CAS(relaxed)
CAS(scacquire)
CAS(screlease)
CAS(scacq_screl)
CHANGES(CHANGE)

static hsa_status_t destroy(hsa_signal_t signal)
{
    if (signal.handle != 0) {
        rtl_harvest_finish_borrowed(signal.handle, true);
        /* The runtime may make a signal of the pool of its memory. */
        rtl_tsan_release((const void *)(uintptr_t)signal.handle);
    }
    return rtl_api.hsa_signal_destroy(signal);
}

void rtl_signals_hook(void)
{
    RTL_HOOK(hsa_signal_store_relaxed, store_relaxed);
    RTL_HOOK(hsa_signal_store_screlease, store_screlease);
    RTL_HOOK(hsa_signal_silent_store_relaxed, silent_store_relaxed);
    RTL_HOOK(hsa_signal_silent_store_screlease, silent_store_screlease);
    RTL_HOOK(hsa_signal_exchange_relaxed, exchange_relaxed);
    RTL_HOOK(hsa_signal_exchange_scacquire, exchange_scacquire);
    RTL_HOOK(hsa_signal_exchange_screlease, exchange_screlease);
    RTL_HOOK(hsa_signal_exchange_scacq_screl, exchange_scacq_screl);
    RTL_HOOK(hsa_signal_cas_relaxed, cas_relaxed);
    RTL_HOOK(hsa_signal_cas_scacquire, cas_scacquire);
    RTL_HOOK(hsa_signal_cas_screlease, cas_screlease);
    RTL_HOOK(hsa_signal_cas_scacq_screl, cas_scacq_screl);
#define HOOK_CHANGE(name) RTL_HOOK(hsa_signal_##name, name);
    CHANGES(HOOK_CHANGE)
    RTL_HOOK(hsa_signal_destroy, destroy);
}

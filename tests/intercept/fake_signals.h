/**
 * Signals in plain memory, laid out as ROCr's, for tests without a runtime.
 */
#ifndef RTL_TESTS_FAKE_SIGNALS_H
#define RTL_TESTS_FAKE_SIGNALS_H

#include "pool/pool.h"

#include <hsa/amd_hsa_signal.h>
#include <string.h>

#define FAKE_SIGNALS 4096

/** A signal that lives until the end of the test program. */
static inline uint64_t fake_signal(int64_t value)
{
    static _Alignas(64) amd_signal_t signals[FAKE_SIGNALS];
    static unsigned used;
    amd_signal_t *signal = &signals[used++ % FAKE_SIGNALS];
    memset(signal, 0, sizeof *signal);
    signal->kind = AMD_SIGNAL_KIND_USER;
    signal->value = value;
    return (uint64_t)(uintptr_t)signal;
}

static inline bool fake_create(void *context, uint64_t *handle)
{
    (void)context;
    *handle = fake_signal(1);
    return true;
}

static inline void fake_destroy(void *context, uint64_t handle)
{
    (void)context;
    (void)handle;
}

/** What a device does at the end of a packet. */
static inline void fake_complete(uint64_t handle, uint64_t start, uint64_t end)
{
    amd_signal_t *signal = (amd_signal_t *)(uintptr_t)handle;
    __atomic_store_n(&signal->start_ts, start, __ATOMIC_RELAXED);
    __atomic_store_n(&signal->end_ts, end, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&signal->value, 1, __ATOMIC_RELEASE);
}

static inline bool fake_pool(struct rtl_pool *pool, uint32_t signals)
{
    if (pool->handles != NULL)
        (void)rtl_pool_end(pool); /* of the test before */
    struct rtl_pool_backend backend = {fake_create, fake_destroy, NULL};
    return rtl_pool_init(pool, signals > 0 ? signals : 1, backend) &&
           rtl_pool_grow(pool, signals) == signals;
}

#endif

/**
 * Signals in plain memory, laid out as ROCr's, for tests without a runtime.
 */
#ifndef RTL_TESTS_FAKE_SIGNALS_H
#define RTL_TESTS_FAKE_SIGNALS_H

#include "intercept/queue/shared_signal.h"
#include "pool/pool.h"

#include <stdatomic.h>
#include <string.h>

#ifndef FAKE_SIGNALS
#define FAKE_SIGNALS 4096
#endif

/** A signal that lives until the end of the test program. */
static inline uint64_t fake_signal(int64_t value)
{
    static _Alignas(64) struct rtl_shared_signal signals[FAKE_SIGNALS];
    static _Atomic unsigned used;
    struct rtl_shared_signal *shared = &signals[used++ % FAKE_SIGNALS];
    amd_signal_t *signal = &shared->signal;
    memset(shared, 0, sizeof *shared);
    shared->magic = RTL_SHARED_SIGNAL_MAGIC;
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

/** What an SDMA engine does at the end of a copy. */
static inline void fake_complete_copy(uint64_t handle, uint64_t start, uint64_t end)
{
    struct rtl_shared_signal *shared = rtl_shared_signal(handle);
    __atomic_store_n(&shared->sdma_start, start, __ATOMIC_RELAXED);
    __atomic_store_n(&shared->sdma_end, end, __ATOMIC_RELEASE);
    __atomic_fetch_sub(&shared->signal.value, 1, __ATOMIC_RELEASE);
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

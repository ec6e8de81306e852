#include "intercept/borrow.h"

#include <stddef.h>

#define SEQUENCE_BITS 48u

static unsigned bucket_of(uint64_t handle)
{
    return (unsigned)(((handle >> 6) * UINT64_C(0x9E3779B97F4A7C15)) >> 51);
}

_Static_assert(RTL_BORROW_BUCKETS == 1u << (64 - 51), "bucket_of yields 13 bits");

static uint64_t pack(struct rtl_record_name name)
{
    return ((uint64_t)(name.slot + 1) << SEQUENCE_BITS) |
           (name.sequence & ((UINT64_C(1) << SEQUENCE_BITS) - 1));
}

static struct rtl_record_name unpack(uint64_t word)
{
    struct rtl_record_name name = {(uint32_t)(word >> SEQUENCE_BITS) - 1,
                                   word & ((UINT64_C(1) << SEQUENCE_BITS) - 1)};
    return name;
}

/* A live record of the same signal may be over: the program has armed the signal again unseen. */
static bool is_held(const struct rtl_borrow_table *table, uint64_t held, uint64_t handle)
{
    if (held == 0)
        return false;
    enum rtl_record_standing standing = table->judge(unpack(held), handle);
    if (standing == RTL_RECORD_LIVE && table->settle != NULL)
        return !table->settle(unpack(held));
    return standing != RTL_RECORD_STALE;
}

bool rtl_borrow_enter(struct rtl_borrow_table *table, uint64_t handle, struct rtl_record_name name)
{
    _Atomic uint64_t *bucket = &table->buckets[bucket_of(handle)];
    uint64_t held = atomic_load_explicit(bucket, memory_order_acquire);
    if (is_held(table, held, handle))
        return false;
    return atomic_compare_exchange_strong_explicit(bucket, &held, pack(name), memory_order_acq_rel,
                                                   memory_order_relaxed);
}

bool rtl_borrow_find(const struct rtl_borrow_table *table, uint64_t handle,
                     struct rtl_record_name *name)
{
    uint64_t held = atomic_load_explicit(&table->buckets[bucket_of(handle)], memory_order_acquire);
    if (held == 0)
        return false;
    *name = unpack(held);
    return table->judge(*name, handle) == RTL_RECORD_LIVE;
}

bool rtl_borrow_is_lent(const struct rtl_borrow_table *table, uint64_t handle)
{
    struct rtl_record_name name;
    return rtl_borrow_find(table, handle, &name) && (table->settle == NULL || !table->settle(name));
}

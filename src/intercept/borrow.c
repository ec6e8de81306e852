#include "intercept/borrow.h"

#include <hsa/amd_hsa_signal.h>
#include <stddef.h>

#define SEQUENCE_BITS 48u
#define MARK          (UINT64_C(0xffff) << SEQUENCE_BITS) /* no queue has this slot */

unsigned rtl_borrow_bucket(uint64_t handle)
{
    return (unsigned)(((handle >> 6) * UINT64_C(0x9E3779B97F4A7C15)) >> 51);
}

_Static_assert(RTL_BORROW_BUCKETS == 1u << (64 - 51), "rtl_borrow_bucket yields 13 bits");

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

static uint64_t mark_of(uint64_t handle)
{
    return MARK | (handle & ~MARK);
}

static bool is_mark(uint64_t word)
{
    return (word & MARK) == MARK;
}

/* The packet that a mark is of has completed its signal, as far as anybody can tell. */
static bool is_spent(uint64_t mark)
{
    const amd_signal_t *signal = (const amd_signal_t *)(uintptr_t)(mark & ~MARK);
    return __atomic_load_n(&signal->value, __ATOMIC_RELAXED) < 1;
}

/* A live record of the same signal may be over: the program has armed the signal again unseen. */
static bool is_held(const struct rtl_borrow_table *table, uint64_t held, uint64_t handle)
{
    if (held == 0)
        return false;
    if (is_mark(held))
        return held == mark_of(handle) || !is_spent(held);
    enum rtl_record_standing standing = table->judge(unpack(held), handle);
    if (standing == RTL_RECORD_LIVE && table->settle != NULL)
        return !table->settle(unpack(held));
    return standing != RTL_RECORD_STALE;
}

bool rtl_borrow_enter(struct rtl_borrow_table *table, uint64_t handle, struct rtl_record_name name)
{
    _Atomic uint64_t *bucket = &table->buckets[rtl_borrow_bucket(handle)];
    uint64_t held = atomic_load_explicit(bucket, memory_order_acquire);
    if (is_held(table, held, handle))
        return false;
    return atomic_compare_exchange_strong_explicit(bucket, &held, pack(name), memory_order_acq_rel,
                                                   memory_order_relaxed);
}

bool rtl_borrow_mark(struct rtl_borrow_table *table, uint64_t handle)
{
    _Atomic uint64_t *bucket = &table->buckets[rtl_borrow_bucket(handle)];
    uint64_t held = atomic_load_explicit(bucket, memory_order_acquire);
    if (held == mark_of(handle))
        return true;
    return !is_held(table, held, handle) &&
           atomic_compare_exchange_strong_explicit(bucket, &held, mark_of(handle),
                                                   memory_order_acq_rel, memory_order_relaxed);
}

void rtl_borrow_unmark(struct rtl_borrow_table *table, uint64_t handle)
{
    _Atomic uint64_t *bucket = &table->buckets[rtl_borrow_bucket(handle)];
    uint64_t held = mark_of(handle);
    if (atomic_load_explicit(bucket, memory_order_relaxed) == held)
        atomic_compare_exchange_strong_explicit(bucket, &held, 0, memory_order_acq_rel,
                                                memory_order_relaxed);
}

bool rtl_borrow_find(const struct rtl_borrow_table *table, uint64_t handle,
                     struct rtl_record_name *name)
{
    uint64_t held =
        atomic_load_explicit(&table->buckets[rtl_borrow_bucket(handle)], memory_order_acquire);
    if (held == 0 || is_mark(held))
        return false;
    *name = unpack(held);
    return table->judge(*name, handle) == RTL_RECORD_LIVE;
}

bool rtl_borrow_is_lent(const struct rtl_borrow_table *table, uint64_t handle)
{
    struct rtl_record_name name;
    return rtl_borrow_find(table, handle, &name) && (table->settle == NULL || !table->settle(name));
}

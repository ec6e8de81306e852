#include "intercept/base/account.h"

static struct rtl_ring_header *_Atomic header;

void rtl_account_open(struct rtl_ring *ring)
{
    atomic_store_explicit(&header, ring != NULL ? ring->header : NULL, memory_order_release);
}

struct rtl_ring_header *rtl_account_header(void)
{
    return atomic_load_explicit(&header, memory_order_acquire);
}

static void add(_Atomic uint64_t *counter, uint64_t count)
{
    atomic_fetch_add_explicit(counter, count, memory_order_relaxed);
}

void rtl_account_lose(enum rtl_kind kind, enum rtl_lost why, uint64_t count)
{
    struct rtl_ring_header *to = rtl_account_header();
    if (to != NULL && kind < RTL_KINDS && count > 0)
        add(&to->kinds[kind].account.lost[why], count);
}

void rtl_account_wait(enum rtl_kind kind, uint64_t count)
{
    struct rtl_ring_header *to = rtl_account_header();
    if (to != NULL && kind < RTL_KINDS)
        add(&to->kinds[kind].account.waiting, count);
}

void rtl_account_waited(enum rtl_kind kind, uint64_t count)
{
    struct rtl_ring_header *to = rtl_account_header();
    if (to != NULL && kind < RTL_KINDS)
        atomic_fetch_sub_explicit(&to->kinds[kind].account.waiting, count, memory_order_relaxed);
}

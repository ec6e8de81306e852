#include "intercept/base/account_lanes.h"

#include "intercept/base/account.h"
#include "intercept/base/thread_context.h"

static struct rtl_wire_lane *own_lane(struct rtl_ring_header *to)
{
    return &to->lanes[rtl_thread_context_thread() % RTL_LANES].lane;
}

static void add_one(_Atomic uint64_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

void rtl_account_begin(enum rtl_kind kind)
{
    struct rtl_ring_header *to = rtl_account_header();
    if (to != NULL)
        add_one(&own_lane(to)->begun[kind]);
}

void rtl_account_leave_out(enum rtl_kind kind)
{
    struct rtl_ring_header *to = rtl_account_header();
    if (to == NULL)
        return;
    struct rtl_wire_lane *lane = own_lane(to);
    add_one(rtl_thread_context.paused ? &lane->withheld[kind] : &lane->stopped[kind]);
}

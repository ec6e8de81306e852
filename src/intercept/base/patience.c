#include "intercept/base/patience.h"

#include "common/clock.h"

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t begin(struct rtl_patience *patience, uint64_t most_ns)
{
    uint64_t now = rtl_clock_ns(CLOCK_MONOTONIC);
    if (patience->begin == 0) {
        patience->begin = now;
        patience->until = now + least(RTL_PATIENCE_NS, most_ns);
    }
    return now;
}

uint64_t rtl_patience_left(struct rtl_patience *patience, uint64_t most_ns)
{
    uint64_t now = begin(patience, most_ns);
    uint64_t end = patience->begin + least(RTL_PATIENCE_NS, most_ns);
    return now < end ? end - now : 0;
}

bool rtl_patience_has(struct rtl_patience *patience, const struct rtl_ring *ring, uint64_t most_ns)
{
    uint64_t now = begin(patience, most_ns);
    uint64_t tail = atomic_load_explicit(&ring->header->tail, memory_order_relaxed);
    if (tail != patience->tail) {
        patience->tail = tail;
        patience->until = least(now + RTL_PATIENCE_NS, patience->begin + most_ns);
    }
    return now < patience->until;
}

/**
 * Two words that lie side by side, written by one store where the processor has one that long.
 *
 * A core keeps its stores, in their order, until the lines that they go to have come, and has room
 * for some dozens. The lines of a packet and its record come from other cores, so a thread that
 * submits many packets waits for that room: on 16 cores one of 256 costs 3 ns less with half the
 * stores.
 *
 * Readers find whole words: processors with AVX write aligned 16 bytes at once, and all of them
 * aligned 8 (Intel SDM volume 3, "Guaranteed Atomic Operations"; AMD64 APM volume 2, "Access
 * Atomicity"). Stores become visible in their order there.
 */
#ifndef RTL_INTERCEPT_QUEUE_STORE2_H
#define RTL_INTERCEPT_QUEUE_STORE2_H

#include <stdatomic.h>
#include <stdint.h>

/* ThreadSanitizer knows single words only. */
#if defined(__SSE2__) && !defined(__SANITIZE_THREAD__)
#define RTL_STORE2_AT_ONCE
#include <emmintrin.h>
#endif

/** Writes `first` to `*low` and `second` to `*high`, which must lie right behind it, as relaxed
 * stores. Others may see one of them without the other. Any thread. */
static inline void rtl_store2_relaxed(_Atomic uint64_t *low, _Atomic uint64_t *high, uint64_t first,
                                      uint64_t second)
{
#ifdef RTL_STORE2_AT_ONCE
    (void)high;
    _mm_storeu_si128((__m128i *)(void *)low, _mm_set_epi64x((int64_t)second, (int64_t)first));
#else
    atomic_store_explicit(high, second, memory_order_relaxed);
    atomic_store_explicit(low, first, memory_order_relaxed);
#endif
}

/** The same, so that a thread that reads `first` in `*low` with acquire sees all that was written
 * before, and `second`. */
static inline void rtl_store2_release(_Atomic uint64_t *low, _Atomic uint64_t *high, uint64_t first,
                                      uint64_t second)
{
#ifdef RTL_STORE2_AT_ONCE
    atomic_signal_fence(memory_order_release);
    rtl_store2_relaxed(low, high, first, second);
#else
    atomic_store_explicit(high, second, memory_order_relaxed);
    atomic_store_explicit(low, first, memory_order_release);
#endif
}

#endif

/**
 * Numbers that vary as times of kernels do, the same in each run; for one thread.
 */
#ifndef RTL_TESTS_BENCH_JITTER_H
#define RTL_TESTS_BENCH_JITTER_H

#include <stdint.h>

static inline uint32_t random32(void)
{
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 32);
}

/** The value with a normal jitter of 2 %: twelve uniform numbers make a normal one. */
static inline uint32_t jittered(double value)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += random32() / 4294967296.0;
    return (uint32_t)(value * (1 + 0.02 * sum));
}

#endif

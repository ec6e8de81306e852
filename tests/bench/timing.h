/**
 * What the benchmarks share: clocks and medians.
 */
#ifndef RTL_TESTS_BENCH_TIMING_H
#define RTL_TESTS_BENCH_TIMING_H

#include <stddef.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

static inline double now_ns(clockid_t clock)
{
    struct timespec time;
    (void)clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/** Ticks of the time-stamp counter per ns; takes 50 ms. */
static inline double ticks_per_ns(void)
{
    double begin = now_ns(CLOCK_MONOTONIC);
    unsigned long long ticks = __rdtsc();
    (void)usleep(50000);
    return (double)(__rdtsc() - ticks) / (now_ns(CLOCK_MONOTONIC) - begin);
}

static inline int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/** The value that `share` of them are not above, 0.5 for the median; sorts them. */
static inline double quantile(double *values, size_t count, double share)
{
    qsort(values, count, sizeof *values, compare_doubles);
    size_t at = (size_t)(share * (double)count);
    return values[at < count ? at : count - 1];
}

#endif

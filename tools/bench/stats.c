/* Medians of what was measured in pairs, and how sure they are. */
#include "bench/bench.h"

#include "common/memory.h"

#include <math.h>
#include <stdlib.h>

#define WANTED 0.95

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The chance that fewer than `below` of `count` values (BENCH_MOST_ROUNDS at most) lie under their
 * distribution's median. */
static double tail(size_t count, size_t below)
{
    double sum = 0;
    double term = ldexp(1, -(int)count);
    for (size_t i = 0; i < below; ++i) {
        sum += term;
        term *= (double)(count - i) / (double)(i + 1);
    }
    return sum;
}

/* How many values to leave out at each end. */
static size_t left_out(size_t count)
{
    size_t out = 0;
    while (2 * (out + 1) < count && 1 - 2 * tail(count, out + 2) >= WANTED)
        ++out;
    return out;
}

double bench_confidence(size_t count)
{
    return count < 2 ? 0 : 1 - 2 * tail(count, left_out(count) + 1);
}

struct bench_spread bench_spread_of(double *values, size_t count)
{
    if (count == 0)
        return (struct bench_spread){0};
    qsort(values, count, sizeof *values, by_size);
    size_t out = left_out(count);
    double median = count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
    return (struct bench_spread){true, count, median, values[out], values[count - 1 - out]};
}

typedef bool (*value_fn)(const struct bench_run *is, const struct bench_run *none, double *value);

static bool take_steady(const struct bench_run *is, const struct bench_run *none, double *value)
{
    (void)none;
    *value = is->steady;
    return true;
}

static bool take_overhead(const struct bench_run *is, const struct bench_run *none, double *value)
{
    *value = none->steady > 0 ? is->steady / none->steady - 1 : 0;
    return none->outcome == BENCH_FINE && none->steady > 0;
}

static bool take_startup(const struct bench_run *is, const struct bench_run *none, double *value)
{
    *value = is->startup - none->startup;
    return none->outcome == BENCH_FINE && is->own_count && none->own_count;
}

static bool take_finish(const struct bench_run *is, const struct bench_run *none, double *value)
{
    *value = is->finish - none->finish;
    return none->outcome == BENCH_FINE && is->own_count && none->own_count;
}

/* Of the workload's process where it says so, else of the run's largest. */
static bool prefault(const struct bench_run *is, const struct bench_run *none, double *value)
{
    bool own = is->own_peak > 0 && none->own_peak > 0;
    *value =
        own ? (double)is->own_peak - (double)none->own_peak : (double)is->peak - (double)none->peak;
    return none->outcome == BENCH_FINE;
}

static bool take_bytes(const struct bench_run *is, const struct bench_run *none, double *value)
{
    (void)none;
    *value = is->recorded > 0 ? (double)is->bytes / (double)is->recorded : 0;
    return is->counted && is->recorded > 0;
}

static struct bench_spread spread(const struct bench_case *is, const struct bench_case *none,
                                  unsigned rounds, value_fn take)
{
    double *values = memory_new(rounds, sizeof *values);
    size_t count = 0;
    for (unsigned i = 0; i < rounds; ++i)
        if (is->runs[i].outcome == BENCH_FINE && take(&is->runs[i], &none->runs[i], &values[count]))
            ++count;
    struct bench_spread result = bench_spread_of(values, count);
    free(values);
    return result;
}

static bool is_worse(const struct bench_run *run, const struct bench_run *worst)
{
    if (worst->outcome != BENCH_FINE || run->outcome == BENCH_NOT_RUN)
        return false;
    if (run->outcome != BENCH_FINE)
        return true;
    if (!worst->counted || !run->counted)
        return worst->counted;
    if (bench_off(run) != bench_off(worst))
        return bench_off(run) > bench_off(worst);
    return run->skipped > worst->skipped;
}

void bench_settle(struct bench_case *is, const struct bench_case *none, unsigned rounds)
{
    is->worst = is->runs[0];
    is->fine = 0;
    is->skipped = 0;
    for (unsigned i = 0; i < rounds; ++i) {
        is->fine += is->runs[i].outcome == BENCH_FINE;
        if (is->runs[i].counted && is->runs[i].skipped > is->skipped)
            is->skipped = is->runs[i].skipped;
        if (is_worse(&is->runs[i], &is->worst))
            is->worst = is->runs[i];
    }
    is->steady = spread(is, none, rounds, take_steady);
    is->overhead = spread(is, none, rounds, take_overhead);
    is->startup = spread(is, none, rounds, take_startup);
    is->finish = spread(is, none, rounds, take_finish);
    is->memory = spread(is, none, rounds, prefault);
    is->bytes = spread(is, none, rounds, take_bytes);
}

#include "analysis/compare.h"

#include "common/memory.h"

#include <math.h>
#include <stdlib.h>

#define SURE 0.01     /* chance of one wrong verdict or more in a family */
#define Z_95 1.959964 /* of the normal distribution, two-sided */

/* A value with its place in the order of time. */
struct ranked {
    uint64_t value;
    size_t place; /* those of the second series follow on those of the first */
};

static int by_value(const void *left, const void *right)
{
    uint64_t a = ((const struct ranked *)left)->value;
    uint64_t b = ((const struct ranked *)right)->value;
    return (a > b) - (a < b);
}

/* Ranks from 1 over both series, in the order of time; equal values share the mean of theirs. */
static double *rank(const struct stats *a, const struct stats *b)
{
    size_t count = a->kept_count + b->kept_count;
    struct ranked *values = memory_new(count, sizeof *values);
    double *ranks = memory_new(count, sizeof *ranks);
    for (size_t i = 0; i < count; ++i)
        values[i] = (struct ranked){i < a->kept_count ? a->kept[i] : b->kept[i - a->kept_count], i};
    qsort(values, count, sizeof *values, by_value);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && values[next].value == values[i].value;)
            ++next;
        for (size_t j = i; j < next; ++j)
            ranks[values[j].place] = ((double)i + (double)next + 1) / 2;
    }
    free(values);
    return ranks;
}

static double mean(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; ++i)
        sum += values[i];
    return sum / (double)count;
}

/* How many independent values a series is worth. */
static double worth(const double *ranks, size_t count)
{
    double middle = mean(ranks, count);
    double square = 0;
    double product = 0;
    for (size_t i = 0; i < count; ++i) {
        square += (ranks[i] - middle) * (ranks[i] - middle);
        if (i > 0)
            product += (ranks[i] - middle) * (ranks[i - 1] - middle);
    }
    double r = square > 0 ? product / square : 0;
    r = r < 0 ? 0 : r > 0.99 ? 0.99 : r;
    return (double)count * (1 - r) / (1 + r);
}

static double chance(const double *ranks, size_t a, size_t b, double worth_a, double worth_b)
{
    double middle = ((double)(a + b) + 1) / 2;
    double spread = 0;
    for (size_t i = 0; i < a + b; ++i)
        spread += (ranks[i] - middle) * (ranks[i] - middle);
    if (spread <= 0)
        return 1;
    spread /= (double)(a + b - 1);
    double z = (mean(ranks + a, b) - mean(ranks, a)) / sqrt(spread * (1 / worth_a + 1 / worth_b));
    return erfc(fabs(z) / sqrt(2));
}

/* P(X < least) of X, binomial of `count` and a half: what the order statistic `least` from either
 * end leaves out. */
static double tail(size_t count, size_t least)
{
    double term = -(double)count * log(2);
    double sum = 0;
    for (size_t i = 0; i < least; ++i) {
        sum += exp(term);
        term += log((double)(count - i) / (double)(i + 1));
    }
    return sum;
}

/* The x for which the normal distribution leaves out `p` on one side, by bisection. */
static double normal_quantile(double p)
{
    double low = 0;
    double high = 10;
    for (int i = 0; i < 60; ++i) {
        double middle = (low + high) / 2;
        *(erfc(middle / sqrt(2)) / 2 > p ? &low : &high) = middle;
    }
    return low;
}

/* Variance of a median, from how far apart the order statistics around it are. */
static double median_variance(struct stats *stats, double worth)
{
    size_t count = stats->kept_count;
    const uint64_t *sorted = stats_sorted(stats);
    double from_end = floor(((double)count + 1) / 2 - sqrt((double)count));
    size_t rank = from_end < 1 ? 1 : (size_t)from_end;
    double apart = (double)(sorted[count - rank] - sorted[rank - 1]);
    double deviation = apart / (2 * normal_quantile(tail(count, rank)));
    return deviation * deviation * (double)count / worth;
}

double compare_median_variance(struct stats *stats)
{
    static const struct stats nothing = {0};
    if (stats->kept_count < 2)
        return 0;
    double *ranks = rank(stats, &nothing);
    double variance = median_variance(stats, worth(ranks, stats->kept_count));
    free(ranks);
    return variance;
}

void compare(struct stats *a, struct stats *b, struct comparison *comparison)
{
    *comparison = (struct comparison){.a = (double)stats_quantile(a, 500),
                                      .b = (double)stats_quantile(b, 500),
                                      .p = 1,
                                      .verdict = COMPARE_TOO_FEW};
    comparison->difference = comparison->b - comparison->a;
    comparison->low = -INFINITY;
    comparison->high = INFINITY;
    if (a->kept_count < COMPARE_LEAST || b->kept_count < COMPARE_LEAST)
        return;
    double *ranks = rank(a, b);
    double worth_a = worth(ranks, a->kept_count);
    double worth_b = worth(ranks + a->kept_count, b->kept_count);
    double reach = Z_95 * sqrt(median_variance(a, worth_a) + median_variance(b, worth_b));
    comparison->p = chance(ranks, a->kept_count, b->kept_count, worth_a, worth_b);
    comparison->low = comparison->difference - reach;
    comparison->high = comparison->difference + reach;
    comparison->verdict = COMPARE_ALIKE;
    free(ranks);
}

static int by_p(const void *left, const void *right)
{
    double a = (*(struct comparison *const *)left)->p;
    double b = (*(struct comparison *const *)right)->p;
    return (a > b) - (a < b);
}

static void judge(struct comparison *one)
{
    if (one->verdict == COMPARE_TOO_FEW || one->p >= SURE)
        return;
    if (one->low > 0)
        one->verdict = COMPARE_SLOWER;
    else if (one->high < 0)
        one->verdict = COMPARE_FASTER;
}

void compare_family(struct comparison *const *family, size_t count)
{
    struct comparison **sorted = memory_new(count, sizeof(struct comparison *));
    size_t tests = 0;
    double least = 0;
    for (size_t i = 0; i < count; ++i)
        if (family[i]->verdict != COMPARE_TOO_FEW)
            sorted[tests++] = family[i];
    qsort(sorted, tests, sizeof(struct comparison *), by_p);
    for (size_t i = 0; i < tests; ++i) {
        double p = fmin(1, sorted[i]->p * (double)(tests - i));
        least = fmax(least, p);
        sorted[i]->p = least;
        judge(sorted[i]);
    }
    free(sorted);
}

const char *compare_name(enum compare_verdict verdict)
{
    static const char *const names[] = {"alike", "slower", "faster", "too few"};
    return names[verdict];
}

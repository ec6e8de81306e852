#include "analysis/compare_runs.h"

#include "analysis/student.h"
#include "common/memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Values of runs. */
struct spread {
    const double *list;
    size_t count;
    double unsure; /* sum of the variances of the values themselves */
};

struct medians {
    double *list;
    size_t count;
    double unsure;       /* as of spread */
    uint64_t durations;  /* behind them */
    struct stats *first; /* of the runs, that has durations */
};

static double mean_of(const double *list, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; ++i)
        sum += list[i];
    return sum / (double)count;
}

static double squares_of(const double *list, size_t count)
{
    double mean = mean_of(list, count);
    double sum = 0;
    for (size_t i = 0; i < count; ++i)
        sum += (list[i] - mean) * (list[i] - mean);
    return sum;
}

static struct medians medians_of(const struct compare_group *group)
{
    struct medians values = {.list = memory_new(group->count, sizeof(double))};
    for (size_t i = 0; i < group->count; ++i) {
        struct stats *run = group->runs[i];
        if (!run || run->count == 0)
            continue;
        values.first = values.first ? values.first : run;
        values.list[values.count++] = (double)stats_quantile(run, 500);
        /* Of a few durations it is itself too unsure. */
        values.unsure += run->count < COMPARE_LEAST ? 0 : compare_median_variance(run);
        values.durations += run->count;
    }
    return values;
}

/* Student's test of the difference that the comparison has, of the means of so many runs. */
static void judge(const struct spread *a, const struct spread *b, double runs_a, double runs_b,
                  struct comparison *comparison)
{
    unsigned freedom = (unsigned)(a->count + b->count - 2);
    double spread = (squares_of(a->list, a->count) + squares_of(b->list, b->count)) / freedom;
    double unsure = (a->unsure + b->unsure) / (double)(a->count + b->count);
    double error = sqrt(fmax(spread, unsure) * (1 / runs_a + 1 / runs_b));
    double away = fabs(comparison->difference);
    double reach = error * student_reach(freedom);
    comparison->p = away > 0 ? student_chance(error > 0 ? away / error : INFINITY, freedom) : 1;
    comparison->low = comparison->difference - reach;
    comparison->high = comparison->difference + reach;
    comparison->verdict = COMPARE_ALIKE;
}

static void begin(double a, double b, struct comparison *comparison)
{
    *comparison = (struct comparison){.a = a,
                                      .b = b,
                                      .difference = b - a,
                                      .low = -INFINITY,
                                      .high = INFINITY,
                                      .p = 1,
                                      .verdict = COMPARE_TOO_FEW};
}

void compare_runs(const struct compare_group *a, const struct compare_group *b, enum compare_of of,
                  struct comparison *comparison)
{
    struct medians values[] = {medians_of(a), medians_of(b)};
    const struct spread spread[] = {{values[0].list, values[0].count, values[0].unsure},
                                    {values[1].list, values[1].count, values[1].unsure}};
    bool any = values[0].count && values[1].count;
    begin(any ? mean_of(values[0].list, values[0].count) : 0,
          any ? mean_of(values[1].list, values[1].count) : 0, comparison);
    bool enough = values[0].durations >= COMPARE_LEAST && values[1].durations >= COMPARE_LEAST;
    if (enough && values[0].count + values[1].count > 2)
        judge(&spread[0], &spread[1], (double)values[0].count, (double)values[1].count, comparison);
    else if (enough && a->count == 1 && b->count == 1 && of == COMPARE_WORK)
        compare(values[0].first, values[1].first, comparison);
    free(values[0].list);
    free(values[1].list);
}

void compare_numbers(const struct compare_numbers *a, const struct compare_numbers *b,
                     struct comparison *comparison)
{
    begin(mean_of(a->list, a->count), mean_of(b->list, b->count), comparison);
    if (a->count + b->count <= 2)
        return;
    const struct spread spread[] = {{a->list, a->count, a->unsure * (double)a->count},
                                    {b->list, b->count, b->unsure * (double)b->count}};
    judge(&spread[0], &spread[1], (double)a->count, (double)b->count, comparison);
}

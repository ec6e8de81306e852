/* Groups of runs, against tables of Student's distribution, small cases by hand, and what is known
 * of chance. */
#include "../common/check.h"
#include "analysis/compare_runs.h"
#include "analysis/student.h"

#include <math.h>
#include <string.h>

#define MOST_RUNS  10u
#define DURATIONS  30u
#define TRIALS     500
#define TOGETHER   5u /* comparisons in a family */
#define USUAL      100000.0
#define RUN_SPREAD 3000.0 /* of runs */
#define STEP       1000.0 /* of durations within them */

/* A generator of its own (xorshift64*), so that each run draws the same. */
static uint64_t state;

static double uniform(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (double)((state * UINT64_C(0x2545F4914F6CDD1D)) >> 11) * 0x1p-53;
}

static double normal(void)
{
    return sqrt(-2 * log(1 - uniform())) * cos(2 * 3.14159265358979 * uniform());
}

static bool near(double value, double wanted, double off)
{
    return fabs(value - wanted) <= off;
}

/* Values of any table of the t distribution. */
const char *CompareRuns_Student(void)
{
    CHECK(near(student_chance(63.657, 1), 0.01, 1e-6) &&
          near(student_chance(9.925, 2), 0.01, 1e-6));
    CHECK(near(student_chance(5.841, 3), 0.01, 1e-6) && near(student_chance(4.604, 4), 0.01, 1e-6));
    CHECK(near(student_chance(8.610, 4), 0.001, 1e-6));
    CHECK(near(student_chance(3.355, 8), 0.01, 1e-5) &&
          near(student_chance(2.878, 18), 0.01, 1e-5));
    CHECK(near(student_chance(-2.878, 18), 0.01, 1e-5) && student_chance(0, 5) == 1);
    CHECK(near(student_reach(1), 12.706, 1e-3) && near(student_reach(2), 4.303, 1e-3));
    CHECK(near(student_reach(4), 2.776, 1e-3) && near(student_reach(14), 2.145, 1e-3));
    return NULL;
}

static void fill(struct stats *stats, size_t count, double middle, double spread)
{
    *stats = (struct stats){0};
    for (size_t i = 0; i < count; ++i)
        stats_add(stats, (uint64_t)(middle + spread * normal()));
}

/* Two groups, of which the runs of one take longer by `difference`. */
struct groups {
    struct stats runs[2][MOST_RUNS];
    struct stats *list[2][MOST_RUNS];
};

static void draw_groups(struct groups *groups, const size_t count[2], double difference)
{
    for (unsigned side = 0; side < 2; ++side)
        for (size_t i = 0; i < count[side]; ++i) {
            fill(&groups->runs[side][i], DURATIONS,
                 USUAL + side * difference + RUN_SPREAD * normal(), STEP);
            groups->list[side][i] = &groups->runs[side][i];
        }
}

static void free_groups(struct groups *groups, const size_t count[2])
{
    for (unsigned side = 0; side < 2; ++side)
        for (size_t i = 0; i < count[side]; ++i)
            stats_free(&groups->runs[side][i]);
}

static bool is_told(const struct comparison *comparison)
{
    return comparison->verdict == COMPARE_SLOWER || comparison->verdict == COMPARE_FASTER;
}

/* In how many families of a number of comparisons one is called different. */
static unsigned count_told(const size_t count[2], double difference, unsigned together)
{
    unsigned told = 0;
    for (int i = 0; i < TRIALS; ++i) {
        struct comparison list[TOGETHER];
        struct comparison *family[TOGETHER];
        bool any = false;
        for (unsigned k = 0; k < together; ++k) {
            struct groups groups;
            draw_groups(&groups, count, difference);
            const struct compare_group a = {groups.list[0], count[0]};
            const struct compare_group b = {groups.list[1], count[1]};
            compare_runs(&a, &b, COMPARE_WORK, &list[k]);
            family[k] = &list[k];
            free_groups(&groups, count);
        }
        compare_family(family, together);
        for (unsigned k = 0; k < together; ++k)
            any |= is_told(&list[k]);
        told += any;
    }
    return told;
}

/* Runs differ by three times as much as their durations, and no side is slower. 1 % of 500 is 5;
 * the binomial distribution exceeds 16 once in 30 000. */
const char *CompareRuns_Chance(void)
{
    static const size_t counts[][2] = {{2, 2}, {3, 3}, {5, 5}, {10, 10}, {1, 5}, {3, 8}};
    state = 5;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i)
        CHECK(count_told(counts[i], 0, TOGETHER) <= 16);
    return NULL;
}

/* Of one comparison p is 0.01 at so many spreads of runs, with t of 2 n - 2 degrees: half are found
 * there, and nearly all at three times as much. */
const char *CompareRuns_Power(void)
{
    static const struct {
        size_t count[2];
        double spreads;
    } cases[] = {{{2, 2}, 9.92}, {{3, 3}, 3.76}, {{5, 5}, 2.12}, {{10, 10}, 1.29}};
    state = 6;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        double limit = cases[i].spreads * RUN_SPREAD;
        unsigned found = count_told(cases[i].count, limit, 1);
        CHECK(found > TRIALS * 2 / 5 && found < TRIALS * 9 / 10);
        CHECK(count_told(cases[i].count, 3 * limit, 1) > TRIALS * 95 / 100);
    }
    return NULL;
}

/* One run a side: what the GPU worked is compared by its durations. Times of the host are not,
 * however far apart they are and however steady within each run: another run of the same program
 * has its own. */
const char *CompareRuns_OneRun(void)
{
    struct stats runs[2];
    struct comparison wall;
    struct comparison work;
    struct comparison *const family[] = {&wall};
    struct comparison *const other[] = {&work};
    state = 7;
    for (unsigned side = 0; side < 2; ++side)
        fill(&runs[side], DURATIONS, (1 + side) * USUAL, STEP);
    struct stats *lists[] = {&runs[0], &runs[1]};
    const struct compare_group a = {&lists[0], 1};
    const struct compare_group b = {&lists[1], 1};
    compare_runs(&a, &b, COMPARE_WALL, &wall);
    compare_family(family, 1);
    compare_runs(&a, &b, COMPARE_WORK, &work);
    compare_family(other, 1);
    CHECK(wall.verdict == COMPARE_TOO_FEW && near(wall.difference, USUAL, 2 * STEP));
    CHECK(work.verdict == COMPARE_SLOWER && near(work.difference, USUAL, 2 * STEP));
    stats_free(&runs[0]);
    stats_free(&runs[1]);
    return NULL;
}

/* Runs of which each duration is the same. */
static void set(struct stats *stats, size_t count, uint64_t value)
{
    *stats = (struct stats){0};
    for (size_t i = 0; i < count; ++i)
        stats_add(stats, value);
}

const char *CompareRuns_ByHand(void)
{
    static const uint64_t values[6] = {100, 102, 104, 110, 111, 115};
    struct stats runs[6];
    struct stats *list[6];
    struct comparison one;
    for (size_t i = 0; i < 6; ++i) {
        set(&runs[i], 20, values[i]);
        list[i] = &runs[i];
    }
    const struct compare_group a = {list, 3};
    const struct compare_group b = {list + 3, 3};
    compare_runs(&a, &b, COMPARE_WALL, &one);
    /* Means 102 and 112, squares 8 and 14 over 4 degrees: 5.5; error sqrt(5.5 * 2 / 3). */
    double error = sqrt(5.5 * 2 / 3);
    CHECK(one.verdict == COMPARE_ALIKE && one.a == 102 && one.b == 112 && one.difference == 10);
    CHECK(near(one.p, student_chance(10 / error, 4), 1e-12));
    CHECK(near(one.high, 10 + 2.7764 * error, 1e-3) && near(one.low, 10 - 2.7764 * error, 1e-3));

    /* Of several runs a side only one each has it: the spread between runs is not known. */
    struct stats *alone[] = {list[0], NULL, list[3], NULL};
    const struct compare_group first = {alone, 2};
    const struct compare_group second = {alone + 2, 2};
    compare_runs(&first, &second, COMPARE_WORK, &one);
    CHECK(one.verdict == COMPARE_TOO_FEW && one.a == 100 && one.b == 110);

    /* A number for each run. */
    static const double numbers[] = {100, 102, 104, 110, 111, 115};
    const struct compare_numbers left = {numbers, 3, 0};
    const struct compare_numbers right = {numbers + 3, 3, 0};
    compare_numbers(&left, &right, &one);
    CHECK(one.difference == 10 && near(one.p, student_chance(10 / error, 4), 1e-12));
    /* Each is unsure by more than they differ. */
    const struct compare_numbers unsure = {numbers + 3, 3, 47};
    const struct compare_numbers none = {numbers, 3, 47};
    compare_numbers(&none, &unsure, &one);
    CHECK(near(one.p, student_chance(10 / sqrt(47.0 * 2 / 3), 4), 1e-12));
    const struct compare_numbers single = {numbers, 1, 0};
    compare_numbers(&single, &single, &one);
    CHECK(one.verdict == COMPARE_TOO_FEW);
    for (size_t i = 0; i < 6; ++i)
        stats_free(&runs[i]);
    return NULL;
}

/* Runs that agree by chance: the durations within them say how sure their medians are. */
const char *CompareRuns_Floor(void)
{
    struct stats runs[4];
    struct stats *list[4];
    struct comparison one;
    struct comparison *const family[] = {&one};
    for (size_t i = 0; i < 4; ++i) {
        uint64_t median = i < 2 ? 10000 : 10010;
        runs[i] = (struct stats){0};
        for (uint64_t k = 0; k < 101; ++k) /* in an order in which neighbours are not alike */
            stats_add(&runs[i], median - 5000 + k * 37 % 101 * 100);
        list[i] = &runs[i];
    }
    const struct compare_group a = {list, 2};
    const struct compare_group b = {list + 2, 2};
    compare_runs(&a, &b, COMPARE_WORK, &one);
    compare_family(family, 1);
    CHECK(one.difference == 10 && one.verdict == COMPARE_ALIKE && one.low < -1000);
    for (size_t i = 0; i < 4; ++i)
        stats_free(&runs[i]);
    return NULL;
}

#include "analysis/stats.h"

#include "common/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Values from 256 on are counted in ranges that are a 256th to a 512th of the value wide. */
#define RANGES  256u
#define OCTAVES 56u

static unsigned octave_of(uint64_t value)
{
    return value < 2 * (uint64_t)RANGES ? 0 : 55 - (unsigned)__builtin_clzll(value);
}

static void count_range(struct stats *stats, uint64_t value)
{
    unsigned octave = octave_of(value);
    /* Octave 0 counts 0 to 511 one by one. */
    size_t ranges = octave ? RANGES : 2 * (size_t)RANGES;
    if (!stats->octaves)
        stats->octaves = memory_new(OCTAVES, sizeof *stats->octaves);
    if (!stats->octaves[octave])
        stats->octaves[octave] = memory_new(ranges, sizeof(uint64_t));
    ++stats->octaves[octave][octave ? (value >> octave) - RANGES : value];
}

static void thin_out(struct stats *stats)
{
    if (stats->stride == 1)
        for (size_t i = 0; i < stats->kept_count; ++i)
            count_range(stats, stats->kept[i]);
    stats->kept_count /= 2;
    for (size_t i = 0; i < stats->kept_count; ++i)
        stats->kept[i] = stats->kept[2 * i];
    stats->stride *= 2;
}

static void keep(struct stats *stats, uint64_t value)
{
    if (stats->stride == 0)
        stats->stride = 1;
    if (stats->kept_count == STATS_KEPT)
        thin_out(stats);
    if (stats->stride > 1)
        count_range(stats, value);
    if (stats->count % stats->stride != 0)
        return;
    if (stats->kept_count == stats->kept_capacity) {
        stats->kept_capacity = stats->kept_capacity ? 2 * stats->kept_capacity : 16;
        stats->kept = memory_grown(stats->kept, stats->kept_capacity, sizeof *stats->kept);
    }
    stats->kept[stats->kept_count++] = value;
}

/* The deviation by Welford's method, which loses no figures to the size of the mean. */
void stats_add(struct stats *stats, uint64_t value)
{
    free(stats->sorted);
    stats->sorted = NULL;
    keep(stats, value);
    stats->min = stats->count == 0 || value < stats->min ? value : stats->min;
    stats->max = value > stats->max ? value : stats->max;
    stats->total += value;
    double before = (double)value - stats->mean;
    stats->mean += before / (double)++stats->count;
    stats->away += before * ((double)value - stats->mean);
}

static int by_size(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

const uint64_t *stats_sorted(struct stats *stats)
{
    if (!stats->sorted && stats->kept_count) {
        stats->sorted = memory_grown(NULL, stats->kept_count, sizeof(uint64_t));
        memcpy(stats->sorted, stats->kept, stats->kept_count * sizeof(uint64_t));
        qsort(stats->sorted, stats->kept_count, sizeof(uint64_t), by_size);
    }
    return stats->sorted;
}

/* The middle of the range that has the value of that rank (from 1). */
static uint64_t find_rank(const struct stats *stats, uint64_t rank)
{
    for (unsigned octave = 0; octave < OCTAVES; ++octave) {
        const uint64_t *counts = stats->octaves[octave];
        size_t ranges = octave ? RANGES : 2 * (size_t)RANGES;
        for (size_t i = 0; counts && i < ranges; ++i) {
            if (rank > counts[i]) {
                rank -= counts[i];
                continue;
            }
            uint64_t low = octave ? (i + RANGES) << octave : i;
            uint64_t middle = low + ((UINT64_C(1) << octave) >> 1);
            middle = middle < stats->min ? stats->min : middle;
            return middle > stats->max ? stats->max : middle;
        }
    }
    return stats->max;
}

uint64_t stats_quantile(struct stats *stats, unsigned per_mille)
{
    if (stats->count == 0)
        return 0;
    uint64_t rank =
        stats->count / 1000 * per_mille + (stats->count % 1000 * per_mille + 999) / 1000;
    rank = rank ? rank : 1;
    if (rank == stats->count)
        return stats->max;
    return stats_exact(stats) ? stats_sorted(stats)[rank - 1] : find_rank(stats, rank);
}

double stats_deviation(const struct stats *stats)
{
    return stats->count ? sqrt(stats->away / (double)stats->count) : 0;
}

double stats_variation(const struct stats *stats)
{
    return stats->mean > 0 ? stats_deviation(stats) / stats->mean : 0;
}

uint64_t stats_median_distance(struct stats *stats)
{
    struct stats distances = {0};
    uint64_t median = stats_quantile(stats, 500);
    for (size_t i = 0; i < stats->kept_count; ++i) {
        uint64_t value = stats->kept[i];
        stats_add(&distances, value > median ? value - median : median - value);
    }
    uint64_t distance = stats_quantile(&distances, 500);
    stats_free(&distances);
    return distance;
}

bool stats_exact(const struct stats *stats)
{
    return stats->stride <= 1;
}

void stats_free(struct stats *stats)
{
    for (unsigned octave = 0; stats->octaves && octave < OCTAVES; ++octave)
        free(stats->octaves[octave]);
    free(stats->octaves);
    free(stats->kept);
    free(stats->sorted);
    *stats = (struct stats){0};
}

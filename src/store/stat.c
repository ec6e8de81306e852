#include "store/stat.h"

#include <math.h>
#include <stdlib.h>

static void forget_octaves(struct rtl_stat *stat)
{
    for (unsigned octave = 0; stat->octaves && octave < RTL_STAT_OCTAVES; octave++)
        free(stat->octaves[octave]);
    free(stat->octaves);
    stat->octaves = NULL;
}

static uint64_t *octave_of(struct rtl_stat *stat, uint32_t bin)
{
    uint64_t **octave = &stat->octaves[bin / RTL_STAT_STEPS];
    if (!*octave)
        *octave = calloc(RTL_STAT_STEPS, sizeof **octave);
    return *octave;
}

/* All steps get memory of their own. */
static bool spread(struct rtl_stat *stat)
{
    stat->octaves = calloc(RTL_STAT_OCTAVES, sizeof *stat->octaves);
    for (uint32_t i = 0; stat->octaves && i < stat->few_count; i++) {
        uint64_t *octave = octave_of(stat, stat->few_bins[i]);
        if (!octave)
            break;
        octave[stat->few_bins[i] % RTL_STAT_STEPS] = stat->few_counts[i];
        if (i + 1 < stat->few_count)
            continue;
        stat->few_count = 0;
        return true;
    }
    forget_octaves(stat);
    return false;
}

bool rtl_stat_add_bin(struct rtl_stat *stat, uint32_t bin, uint64_t count)
{
    uint32_t place = 0;
    while (place < stat->few_count && stat->few_bins[place] != bin)
        place++;
    if (!stat->octaves && place < RTL_STAT_FEW) {
        stat->few_count += place == stat->few_count;
        stat->few_bins[place] = bin;
        stat->few_counts[place] += count;
        return true;
    }
    uint64_t *octave = stat->octaves || spread(stat) ? octave_of(stat, bin) : NULL;
    if (octave)
        octave[bin % RTL_STAT_STEPS] += count;
    return octave != NULL;
}

/* Of the few, which are in no order. */
static uint64_t next_of_few(const struct rtl_stat *stat, uint32_t *bin)
{
    uint32_t best = RTL_STAT_FEW;
    for (uint32_t i = 0; i < stat->few_count; i++)
        if (stat->few_bins[i] >= *bin &&
            (best == RTL_STAT_FEW || stat->few_bins[i] < stat->few_bins[best]))
            best = i;
    if (best == RTL_STAT_FEW)
        return 0;
    *bin = stat->few_bins[best];
    return stat->few_counts[best];
}

uint64_t rtl_stat_next_bin(const struct rtl_stat *stat, uint32_t *bin)
{
    if (!stat->octaves)
        return next_of_few(stat, bin);
    for (uint32_t at = *bin; at < RTL_STAT_BINS; at++) {
        const uint64_t *octave = stat->octaves[at / RTL_STAT_STEPS];
        if (!octave) {
            at |= RTL_STAT_STEPS - 1;
        } else if (octave[at % RTL_STAT_STEPS]) {
            *bin = at;
            return octave[at % RTL_STAT_STEPS];
        }
    }
    return 0;
}

bool rtl_stat_merge(struct rtl_stat *stat, const struct rtl_stat *part)
{
    uint32_t bin = 0;
    for (uint64_t count; (count = rtl_stat_next_bin(part, &bin)) > 0; bin++)
        if (!rtl_stat_add_bin(stat, bin, count))
            return false;
    stat->count += part->count;
    stat->total += part->total;
    stat->squares += part->squares;
    if (part->least_inverted > stat->least_inverted)
        stat->least_inverted = part->least_inverted;
    if (part->max > stat->max)
        stat->max = part->max;
    return true;
}

uint64_t rtl_stat_min(const struct rtl_stat *stat)
{
    return stat->count ? ~stat->least_inverted : 0;
}

/* n * sum(d^2) - sum(d)^2 as integers where they fit: no digits cancel. */
double rtl_stat_deviation(const struct rtl_stat *stat)
{
    if (stat->count == 0)
        return 0;
    double count = (double)stat->count;
    rtl_wide most = ~(rtl_wide)0;
    if (stat->squares <= most / stat->count) {
        rtl_wide all = stat->squares * stat->count;
        rtl_wide mean = (rtl_wide)stat->total * stat->total;
        return all > mean ? sqrt((double)(all - mean)) / count : 0;
    }
    double mean = (double)stat->total / count;
    double variance = (double)stat->squares / count - mean * mean;
    return variance > 0 ? sqrt(variance) : 0;
}

/* The middle of a step; a step that holds one number only is that. */
static uint64_t middle(uint32_t bin)
{
    uint32_t octave = bin / RTL_STAT_STEPS;
    uint32_t step = bin % RTL_STAT_STEPS;
    if (octave == 0)
        return step;
    uint64_t width = UINT64_C(1) << (octave - 1);
    return (RTL_STAT_STEPS + step) * width + width / 2;
}

static uint64_t limit(const struct rtl_stat *stat, uint64_t value)
{
    uint64_t least = rtl_stat_min(stat);
    if (value < least)
        return least;
    return value > stat->max ? stat->max : value;
}

uint64_t rtl_stat_percentile(const struct rtl_stat *stat, double fraction)
{
    double wanted = ceil(fraction * (double)stat->count);
    uint64_t rank = wanted < 1 ? 1 : (uint64_t)wanted;
    uint64_t seen = 0;
    uint32_t bin = 0;
    for (uint64_t count; (count = rtl_stat_next_bin(stat, &bin)) > 0; bin++) {
        seen += count;
        if (seen >= rank)
            return limit(stat, middle(bin));
    }
    return stat->max;
}

void rtl_stat_free(struct rtl_stat *stat)
{
    forget_octaves(stat);
    *stat = (struct rtl_stat){0};
}

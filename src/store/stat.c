#include "store/stat.h"

#include <math.h>
#include <stdlib.h>

bool rtl_stat_octave(struct rtl_stat *stat, unsigned octave)
{
    stat->octaves[octave] = calloc(RTL_STAT_STEPS, sizeof(uint64_t));
    return stat->octaves[octave] != NULL;
}

bool rtl_stat_merge(struct rtl_stat *stat, const struct rtl_stat *part)
{
    for (unsigned octave = 0; octave < RTL_STAT_OCTAVES; octave++) {
        if (!part->octaves[octave])
            continue;
        if (!stat->octaves[octave] && !rtl_stat_octave(stat, octave))
            return false;
        for (unsigned step = 0; step < RTL_STAT_STEPS; step++)
            stat->octaves[octave][step] += part->octaves[octave][step];
    }
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
static uint64_t middle(unsigned octave, unsigned step)
{
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
    for (unsigned octave = 0; octave < RTL_STAT_OCTAVES; octave++)
        for (unsigned step = 0; stat->octaves[octave] && step < RTL_STAT_STEPS; step++) {
            seen += stat->octaves[octave][step];
            if (seen >= rank)
                return limit(stat, middle(octave, step));
        }
    return stat->max;
}

void rtl_stat_free(struct rtl_stat *stat)
{
    for (unsigned octave = 0; octave < RTL_STAT_OCTAVES; octave++)
        free(stat->octaves[octave]);
    *stat = (struct rtl_stat){0};
}

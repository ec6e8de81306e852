#include "fleet/minutes.h"

#include "common/memory.h"

#include <stdlib.h>
#include <string.h>

#define MINUTE_NS UINT64_C(60000000000)

struct group {
    size_t place;
    uint32_t gpu, device, name;
    uint64_t count, sum, min, max;
    uint32_t bins[MINUTES_BINS];
};

struct minutes {
    struct run *run;
    struct fill *fill;
    uint64_t minute;
    struct group **groups; /* in the order in which they came; kept for the next minutes */
    size_t count, room;
    struct rtl_index
        index; /* by place and GPU, and name: their first 64 bits are told apart below */
};

struct minutes *minutes_new(struct run *run, struct fill *fill)
{
    struct minutes *stats = memory_new(1, sizeof *stats);
    stats->run = run;
    stats->fill = fill;
    return stats;
}

unsigned minutes_bin(uint64_t duration)
{
    if (duration < 16)
        return (unsigned)duration;
    unsigned octave = 63 - (unsigned)__builtin_clzll(duration);
    return 16 * (octave - 3) + (unsigned)(duration >> (octave - 4)) % 16;
}

static void put_bins(struct block *block, const struct group *group)
{
    uint16_t bins[MINUTES_BINS];
    uint32_t counts[MINUTES_BINS];
    size_t count = 0;
    for (unsigned i = minutes_bin(group->min); i <= minutes_bin(group->max); ++i)
        if (group->bins[i]) {
            bins[count] = (uint16_t)i;
            counts[count++] = group->bins[i];
        }
    block_items(block, STATS_BINS, bins, sizeof bins[0], count);
    block_items(block, STATS_COUNTS, counts, sizeof counts[0], count);
}

static void put_group(struct minutes *stats, const struct group *group)
{
    struct fill *fill = stats->fill;
    struct block *block = run_row(stats->run, fill, stats->minute * MINUTE_NS, group->place);
    if (!block)
        return;
    block_number(block, STATS_GPU, group->gpu);
    fill_text(fill, STATS_DEVICE, group->device);
    fill_text(fill, STATS_NAME, group->name);
    block_number(block, STATS_MINUTE, stats->minute * 60);
    block_number(block, STATS_COUNT, group->count);
    block_number(block, STATS_SUM, group->sum);
    block_number(block, STATS_MIN, group->min);
    block_number(block, STATS_MAX, group->max);
    put_bins(block, group);
}

static void clear(struct group *group)
{
    if (group->count)
        memset(&group->bins[minutes_bin(group->min)], 0,
               (minutes_bin(group->max) - minutes_bin(group->min) + 1) * sizeof group->bins[0]);
    group->count = group->sum = group->max = 0;
    group->min = UINT64_MAX;
}

void minutes_flush(struct minutes *stats)
{
    for (size_t i = 0; i < stats->count; ++i) {
        if (stats->groups[i]->count)
            put_group(stats, stats->groups[i]);
        clear(stats->groups[i]);
    }
}

static bool is_group(const struct group *group, size_t place, uint32_t gpu, uint32_t name)
{
    return group->place == place && group->gpu == gpu && group->name == name;
}

static struct group *add_group(struct minutes *stats, uint64_t key, size_t place, uint32_t gpu,
                               uint32_t name)
{
    if (stats->count == stats->room) {
        stats->room = stats->room ? 2 * stats->room : 64;
        stats->groups = memory_grown(stats->groups, stats->room, sizeof(struct group *));
    }
    struct group *group = memory_new(1, sizeof *group);
    group->place = place;
    group->gpu = gpu;
    group->name = name;
    clear(group);
    if (rtl_index_put(&stats->index, key, (uint32_t)stats->count) != 0)
        memory_is_short();
    stats->groups[stats->count++] = group;
    return group;
}

/* The key is mixed; where two share one, the next is taken. */
static struct group *find(struct minutes *stats, size_t place, uint32_t gpu, uint32_t name)
{
    uint64_t key = rtl_index_mix(rtl_index_mix(place, gpu), name);
    for (;; ++key) {
        uint32_t at = rtl_index_get(&stats->index, key);
        if (at == RTL_INDEX_MISSING)
            return add_group(stats, key, place, gpu, name);
        if (is_group(stats->groups[at], place, gpu, name))
            return stats->groups[at];
    }
}

void minutes_add(struct minutes *stats, size_t place, const struct minutes_gpu *gpu, uint32_t name,
                 uint64_t start, uint64_t duration)
{
    uint64_t minute = start / MINUTE_NS;
    if (minute != stats->minute) {
        minutes_flush(stats);
        stats->minute = minute;
    }
    struct group *group = find(stats, place, gpu->number, name);
    group->device = gpu->device;
    ++group->count;
    group->sum += duration;
    group->min = duration < group->min ? duration : group->min;
    group->max = duration > group->max ? duration : group->max;
    ++group->bins[minutes_bin(duration)];
}

void minutes_free(struct minutes *stats)
{
    if (!stats)
        return;
    for (size_t i = 0; i < stats->count; ++i)
        free(stats->groups[i]);
    free(stats->groups);
    rtl_index_free(&stats->index);
    free(stats);
}

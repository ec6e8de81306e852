/**
 * What a session keeps of hardware counters: which there are, and what each kernel or range
 * counted. Told by the wire's records, as they come.
 *
 * No locks: the session has one. Memory that is short is counted.
 */
#ifndef RTL_INTERCEPT_RANGES_COUNTS_H
#define RTL_INTERCEPT_RANGES_COUNTS_H

#include "common/metrics.h"
#include "intercept/ranges/kept.h"
#include "ring/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A counter of a device. */
struct rtl_kept_counter {
    uint32_t counter, agent, pass;
    size_t place; /**< of its name among `names`, where this pass reads it */
    char name[RTL_COUNTER_NAME];
};

/** What counters of a device counted in a kernel or a range. */
struct rtl_kept_sample {
    size_t values; /**< first of them */
    uint32_t agent, count, flags;
    uint32_t next; /**< of the same kernel or range, RTL_KEPT_NONE: none */
};

/** Zeroed memory is empty. */
struct rtl_kept_counts {
    bool known; /**< that counters are read, and how; the next three are known */
    enum rtl_counting_mode mode;
    uint32_t pass, passes;             /**< passes 0: nothing is read */
    struct rtl_kept_counter *counters; /**< by their ids */
    const char **names;                /**< those that this pass reads, each once */
    size_t counter_count, counter_capacity, name_count, name_capacity;

    struct rtl_kept_sample *samples;
    uint64_t *values;
    size_t sample_count, sample_capacity, value_count, value_capacity;
    struct rtl_kept_places places; /**< of samples, by rtl_kept_kernel_key or the range's id */
    uint64_t lost;                 /**< found no memory */
};

/** Takes a record of RTL_WIRE_COUNTING, _COUNTER or _SAMPLE; others are left out. */
void rtl_kept_count(struct rtl_kept_counts *counts, enum rtl_wire_type type, const void *body);

/** Names a kernel, as ids name ranges. */
uint64_t rtl_kept_kernel_key(uint32_t queue, uint64_t packet);

/** Adds what was counted in one kernel or range to a row of `name_count` counts. Returns how many
 * samples there are; `*flags` gets theirs (enum rtl_sample_flags) as well. */
uint32_t rtl_kept_counted(const struct rtl_kept_counts *counts, uint64_t key, struct rtl_count *row,
                          uint32_t *flags);

/** A counter that some pass reads, NULL if none does. */
const struct rtl_kept_counter *rtl_kept_counter(const struct rtl_kept_counts *counts,
                                                const char *name);

/** Frees the samples; which counters there are stays. */
void rtl_kept_counts_forget(struct rtl_kept_counts *counts);

/** Frees all; `counts` is empty then. */
void rtl_kept_counts_free(struct rtl_kept_counts *counts);

#endif

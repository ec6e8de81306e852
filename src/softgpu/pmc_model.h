/**
 * What a kernel adds to the performance counters: a declared model, so that expected values can be
 * computed. docs/softgpu-counters.md has its formulas.
 *
 * Rules come from SOFTGPU_COUNTERS; they are read before the device thread starts. The rest is for
 * the device thread, except that the formulas are pure.
 */
#ifndef SOFTGPU_PMC_MODEL_H
#define SOFTGPU_PMC_MODEL_H

#include "softgpu/pmc_blocks.h"
#include "softgpu/truth.h"

enum {
    SG_PMC_CYCLES_PER_TICK = 10, /**< cycles of the declared clock, 1 GHz, in a tick of 10 ns */
    SG_PMC_LINE = 64             /**< bytes of a line of the L2 cache, and of a request to memory */
};

/** What a kernel is made of. */
typedef struct sg_mix {
    uint32_t valu, salu, smem, loads, stores, flat, lds; /**< instructions of each wave */
    uint32_t conflicts;   /**< cycles that each wave loses to bank conflicts of the LDS */
    uint32_t read, write; /**< bytes of each work-item */
    uint32_t hit;         /**< per cent of its requests that hit the L2 cache */
} sg_mix_t;

/** The mix of a kernel that no rule fits. */
extern const sg_mix_t sg_mix_default;

/** Reads rules from a string (NULL: none). False after what is wrong has been named on stderr; then
 * there are no rules. */
bool sg_mix_set(const char *setting);

/** Reads SOFTGPU_COUNTERS. */
void sg_mix_init(void);

/** Waves of a dispatch: for each workgroup, partial ones at the edges included, its work-items in
 * sixty-fours, rounded up. */
uint64_t sg_mix_waves(const uint32_t grid[3], const uint16_t block[3]);

/** What the kernel that the entry is about adds, by quantity. */
void sg_mix_count(const sg_mix_t *mix, const softgpu_truth_entry_t *entry,
                  uint64_t counts[SG_PMC_OF_KERNELS]);

#endif

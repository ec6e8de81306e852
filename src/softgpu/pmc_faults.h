/**
 * SOFTGPU_COUNTERS_FAULT: how the performance counters misbehave on request.
 *
 * A list of items with commas between them: `absent`, `slots=N`, `slots=BLOCK:N`,
 * `invalid=BLOCK:EVENT`, `hang=BLOCK`. docs/softgpu-counters.md says what each does.
 */
#ifndef SOFTGPU_PMC_FAULTS_H
#define SOFTGPU_PMC_FAULTS_H

#include "softgpu/pmc_blocks.h"

enum { SG_PMC_INVALID_MOST = 16 };

/** What is wrong with the counters; all zero but `slots` in health. */
typedef struct sg_pmc_faults {
    bool absent;                   /**< the library answers as one that ROCr cannot use */
    bool hangs[SG_PMC_BLOCKS];     /**< reading a counter of the block never ends */
    uint32_t slots[SG_PMC_BLOCKS]; /**< counters that the library finds free in each instance */
    struct {
        uint32_t block, event;
    } invalid[SG_PMC_INVALID_MOST]; /**< events that this device does not have */
    uint32_t invalid_count;
} sg_pmc_faults_t;

/** Reads the setting from a string; NULL stands for a variable that is not set. False after a bad
 * item has been named on stderr; it and what follows are then left out. Any thread. */
bool sg_pmc_faults_set(sg_pmc_faults_t *faults, const char *setting);

/** Reads the environment. */
void sg_pmc_faults_read(sg_pmc_faults_t *faults);

/** Place of the block in sg_pmc_blocks. */
static inline size_t sg_pmc_place(const sg_pmc_block_t *block)
{
    return (size_t)(block - sg_pmc_blocks);
}

#endif

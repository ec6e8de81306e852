/**
 * The performance counters as the device has them: registers of each GPU, and what they count.
 *
 * A counter is a slot of an instance of a block. It counts the event that its select register names
 * while CP_PERFMON_CNTL says start; what is read is what it had when CP_PERFMON_CNTL was last
 * written with the sample bit. What a kernel counts is added at once, when the kernel ends, spread
 * over the instances of each block; cycles run.
 *
 * Device thread only, but for sg_pmc_open.
 */
#ifndef SOFTGPU_PMC_H
#define SOFTGPU_PMC_H

#include "softgpu/pmc_model.h"

/** Sets all registers of all GPUs to 0 and reads SOFTGPU_COUNTERS_FAULT. Called at the driver's
 * open, before the device thread starts. */
void sg_pmc_open(void);

/** Notes that a kernel is on the GPU from tick `start`, which is now, to tick `end`. */
void sg_pmc_kernel_starts(uint32_t gpu, uint64_t start, uint64_t end);

/** Adds what the kernel counts, if the GPU's counters run. `of_waves`: its queue has counting
 * enabled, so that the counters of waves see it. The entry gets what was added; the counts are
 * valid until the next call. */
void sg_pmc_kernel_ends(const sg_mix_t *mix, bool of_waves, softgpu_truth_entry_t *entry);

/** Writes a register, by its address in dwords. False if there is none at this address, or it does
 * not take the value. */
bool sg_pmc_write(uint32_t gpu, uint32_t address, uint32_t value);

/** Reads a half of a counter. False if there is none at this address, or GRBM_GFX_INDEX names not
 * one instance but several. */
bool sg_pmc_read(uint32_t gpu, uint32_t address, uint32_t *value);

/** True if the counter at this address never answers (SOFTGPU_COUNTERS_FAULT=hang=BLOCK). */
bool sg_pmc_hangs(uint32_t address);

#endif

/**
 * The PM4 that starts, reads and stops a set of performance counters, in the order and with the
 * traps of AMD's aqlprofile (pmc_builder.h there): a reading samples before it waits, and stopping
 * reads nothing.
 *
 * Pure functions: any thread.
 */
#ifndef SOFTGPU_AQLPROFILE_COMMANDS_H
#define SOFTGPU_AQLPROFILE_COMMANDS_H

#include "softgpu/pmc_blocks.h"

/** Dwords being written. Without room they are only counted. */
typedef struct sg_commands {
    uint32_t *dwords; /**< NULL: count only */
    uint32_t count;
} sg_commands_t;

/** A counter to be used: an event in a slot of an instance. */
typedef struct sg_counter {
    const sg_pmc_block_t *block;
    uint32_t instance; /**< in each engine */
    uint32_t slot;
    uint32_t event;
} sg_counter_t;

/** Selects the events, enables the counting of the queue's waves, resets and starts. */
void sg_commands_start(sg_commands_t *commands, const sg_counter_t *counters, uint32_t count);

/** Samples all counters, waits for the queue's kernels, and copies each counter's sample, engine by
 * engine, as 64 bits to `output`. */
void sg_commands_read(sg_commands_t *commands, const sg_counter_t *counters, uint32_t count,
                      uint64_t *output);

/** Stops all counters. */
void sg_commands_stop(sg_commands_t *commands);

/** Enables or disables the counting of the queue's waves. */
void sg_commands_enable(sg_commands_t *commands, bool enable);

#endif

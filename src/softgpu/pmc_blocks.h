/**
 * The performance counters of the software GPU: which blocks count, what of, in which registers.
 *
 * One table for both sides, the library that writes the commands (aqlprofile.c) and the device that
 * reads them (pm4.c, pmc.c). Blocks, instances, slots and registers are a gfx906's. Sources of the
 * facts: AMD's aqlprofile (gfx9_block_info.h, gc_9_2_1_offset.h, vega20_ip_offset.h), event ids
 * from rocprofiler-sdk's counter_defs.yaml (gfx906) and, where it has none, from vega10_enum.h.
 *
 * Constant data and pure functions: any thread.
 */
#ifndef SOFTGPU_PMC_BLOCKS_H
#define SOFTGPU_PMC_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SG_PMC_ENGINES = 4,    /**< shader engines of each GPU */
    SG_PMC_BLOCKS = 4,     /**< blocks that count */
    SG_PMC_SLOTS = 226,    /**< counters of all blocks, instances and engines together */
    SG_PMC_EVENT_MAX = 511 /**< largest event id that the narrowest select register holds */
};

/** What events count. The first ones come from kernels, the last two from time. Formulas:
 * docs/softgpu-counters.md. */
typedef enum sg_pmc_quantity {
    SG_PMC_WAVES,
    SG_PMC_ITEMS,
    SG_PMC_VALU,
    SG_PMC_SALU,
    SG_PMC_SMEM,
    SG_PMC_LOADS,
    SG_PMC_STORES,
    SG_PMC_VMEM,
    SG_PMC_FLAT,
    SG_PMC_LDS,
    SG_PMC_INSTRUCTIONS,
    SG_PMC_CONFLICTS,
    SG_PMC_WAVE_CYCLES,
    SG_PMC_THREAD_CYCLES,
    SG_PMC_L2_REQUESTS,
    SG_PMC_L2_HITS,
    SG_PMC_L2_MISSES,
    SG_PMC_EA_READS,
    SG_PMC_EA_READS_32,
    SG_PMC_EA_WRITES,
    SG_PMC_EA_WRITES_64,
    SG_PMC_OF_KERNELS, /**< how many quantities kernels bring */
    SG_PMC_CYCLES = SG_PMC_OF_KERNELS,
    SG_PMC_BUSY,
    SG_PMC_NOTHING /**< an event that this device does not model: stays 0 */
} sg_pmc_quantity_t;

/** A block of the GPU. Each instance in each engine has counters of its own. */
typedef struct sg_pmc_block {
    const char *name;
    uint32_t id;        /**< hsa_ven_amd_aqlprofile_block_name_t */
    uint32_t instances; /**< in each engine, or of the GPU */
    bool per_engine;    /**< each shader engine has such instances */
    bool of_waves;  /**< counts the work of queues that have counting enabled; others count all */
    uint32_t slots; /**< counters of an instance */
    const uint32_t *selects; /**< address of each slot's select register, in dwords */
    const uint32_t *values;  /**< address of each slot's low word; the high word is the next one */
    uint32_t first; /**< place of its first slot among SG_PMC_SLOTS: by engine, instance, slot */
} sg_pmc_block_t;

/** An event that this device models. */
typedef struct sg_pmc_event {
    const char *name;
    uint32_t block; /**< hsa_ven_amd_aqlprofile_block_name_t */
    uint32_t event; /**< counter_id of hsa_ven_amd_aqlprofile_event_t */
    sg_pmc_quantity_t quantity;
} sg_pmc_event_t;

/** What a register of a block is. */
typedef enum sg_pmc_register { SG_PMC_SELECT, SG_PMC_LOW, SG_PMC_HIGH } sg_pmc_register_t;

/** All blocks, SG_PMC_BLOCKS of them. */
extern const sg_pmc_block_t sg_pmc_blocks[SG_PMC_BLOCKS];

/** All modelled events; `*count` of them. */
const sg_pmc_event_t *sg_pmc_events(size_t *count);

/** The block with this id of HSA; NULL if the device has no such counters. */
const sg_pmc_block_t *sg_pmc_block(uint32_t id);

/** The block with this name; NULL if there is none. */
const sg_pmc_block_t *sg_pmc_block_named(const char *name);

/** The block with a register at this address; NULL if none has. Fills what the register is and of
 * which slot. */
const sg_pmc_block_t *sg_pmc_block_at(uint32_t address, sg_pmc_register_t *what, uint32_t *slot);

/** The event with this id; NULL if it is not modelled. */
const sg_pmc_event_t *sg_pmc_event(uint32_t block, uint32_t event);

/** Engines in which the block has instances: 1 or SG_PMC_ENGINES. */
static inline uint32_t sg_pmc_engines(const sg_pmc_block_t *block)
{
    return block->per_engine ? SG_PMC_ENGINES : 1;
}

#endif

#include "softgpu/pmc_blocks.h"

#include <string.h>

/* hsa_ven_amd_aqlprofile_block_name_t. Its header defines an object where it is included from C, so
 * only one source of a library may. */
enum { GRBM = 3, SQ = 6, TA = 10, TCC = 12 };

static const uint32_t GRBM_SELECTS[] = {0xd840, 0xd841};
static const uint32_t GRBM_VALUES[] = {0xd040, 0xd043};
static const uint32_t SQ_SELECTS[] = {0xd9c0, 0xd9c1, 0xd9c2, 0xd9c3,
                                      0xd9c4, 0xd9c5, 0xd9c6, 0xd9c7};
static const uint32_t SQ_VALUES[] = {0xd1c0, 0xd1c2, 0xd1c4, 0xd1c6,
                                     0xd1c8, 0xd1ca, 0xd1cc, 0xd1ce};
static const uint32_t TA_SELECTS[] = {0xdac0, 0xdac2};
static const uint32_t TA_VALUES[] = {0xd2c0, 0xd2c2};
static const uint32_t TCC_SELECTS[] = {0xdb80, 0xdb82, 0xdb84, 0xdb85};
static const uint32_t TCC_VALUES[] = {0xd380, 0xd382, 0xd384, 0xd386};

const sg_pmc_block_t sg_pmc_blocks[SG_PMC_BLOCKS] = {
    {"GRBM", GRBM, 1, false, false, 2, GRBM_SELECTS, GRBM_VALUES, 0},
    {"SQ", SQ, 1, true, true, 8, SQ_SELECTS, SQ_VALUES, 2},
    {"TA", TA, 16, true, true, 2, TA_SELECTS, TA_VALUES, 34},
    {"TCC", TCC, 16, false, false, 4, TCC_SELECTS, TCC_VALUES, 162},
};

static const sg_pmc_event_t events[] = {
    {"GRBM_COUNT", GRBM, 0, SG_PMC_CYCLES},
    {"GRBM_GUI_ACTIVE", GRBM, 2, SG_PMC_BUSY},
    {"SQ_CYCLES", SQ, 2, SG_PMC_CYCLES},
    {"SQ_BUSY_CYCLES", SQ, 3, SG_PMC_BUSY},
    {"SQ_WAVES", SQ, 4, SG_PMC_WAVES},
    {"SQ_ITEMS", SQ, 14, SG_PMC_ITEMS},
    {"SQ_INSTS", SQ, 25, SG_PMC_INSTRUCTIONS},
    {"SQ_INSTS_VALU", SQ, 26, SG_PMC_VALU},
    {"SQ_INSTS_VMEM_WR", SQ, 27, SG_PMC_STORES},
    {"SQ_INSTS_VMEM_RD", SQ, 28, SG_PMC_LOADS},
    {"SQ_INSTS_VMEM", SQ, 29, SG_PMC_VMEM},
    {"SQ_INSTS_SALU", SQ, 30, SG_PMC_SALU},
    {"SQ_INSTS_SMEM", SQ, 31, SG_PMC_SMEM},
    {"SQ_INSTS_FLAT", SQ, 32, SG_PMC_FLAT},
    {"SQ_INSTS_LDS", SQ, 34, SG_PMC_LDS},
    {"SQ_WAVE_CYCLES", SQ, 46, SG_PMC_WAVE_CYCLES},
    {"SQ_ACTIVE_INST_VALU", SQ, 71, SG_PMC_VALU},
    {"SQ_INST_CYCLES_SALU", SQ, 84, SG_PMC_SALU},
    {"SQ_THREAD_CYCLES_VALU", SQ, 85, SG_PMC_THREAD_CYCLES},
    {"SQ_LDS_BANK_CONFLICT", SQ, 93, SG_PMC_CONFLICTS},
    {"TA_TA_BUSY", TA, 15, SG_PMC_BUSY},
    {"TA_FLAT_READ_WAVEFRONTS", TA, 101, SG_PMC_LOADS},
    {"TA_FLAT_WRITE_WAVEFRONTS", TA, 102, SG_PMC_STORES},
    {"TCC_CYCLE", TCC, 1, SG_PMC_CYCLES},
    {"TCC_BUSY", TCC, 2, SG_PMC_BUSY},
    {"TCC_REQ", TCC, 3, SG_PMC_L2_REQUESTS},
    {"TCC_HIT", TCC, 20, SG_PMC_L2_HITS},
    {"TCC_MISS", TCC, 22, SG_PMC_L2_MISSES},
    {"TCC_EA_WRREQ", TCC, 29, SG_PMC_EA_WRITES},
    {"TCC_EA_WRREQ_64B", TCC, 30, SG_PMC_EA_WRITES_64},
    {"TCC_EA_RDREQ", TCC, 41, SG_PMC_EA_READS},
    {"TCC_EA_RDREQ_32B", TCC, 42, SG_PMC_EA_READS_32},
};

enum { EVENTS = sizeof events / sizeof events[0] };

const sg_pmc_event_t *sg_pmc_events(size_t *count)
{
    *count = EVENTS;
    return events;
}

const sg_pmc_block_t *sg_pmc_block(uint32_t id)
{
    for (size_t i = 0; i < SG_PMC_BLOCKS; i++)
        if (sg_pmc_blocks[i].id == id)
            return &sg_pmc_blocks[i];
    return NULL;
}

const sg_pmc_block_t *sg_pmc_block_named(const char *name)
{
    for (size_t i = 0; i < SG_PMC_BLOCKS; i++)
        if (strcmp(sg_pmc_blocks[i].name, name) == 0)
            return &sg_pmc_blocks[i];
    return NULL;
}

const sg_pmc_block_t *sg_pmc_block_at(uint32_t address, sg_pmc_register_t *what, uint32_t *slot)
{
    for (size_t i = 0; i < SG_PMC_BLOCKS; i++) {
        const sg_pmc_block_t *block = &sg_pmc_blocks[i];
        for (*slot = 0; *slot < block->slots; ++*slot) {
            if (address == block->selects[*slot])
                *what = SG_PMC_SELECT;
            else if (address == block->values[*slot])
                *what = SG_PMC_LOW;
            else if (address == block->values[*slot] + 1)
                *what = SG_PMC_HIGH;
            else
                continue;
            return block;
        }
    }
    return NULL;
}

const sg_pmc_event_t *sg_pmc_event(uint32_t block, uint32_t event)
{
    for (size_t i = 0; i < EVENTS; i++)
        if (events[i].block == block && events[i].event == event)
            return &events[i];
    return NULL;
}

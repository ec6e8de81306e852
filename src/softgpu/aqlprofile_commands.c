#include "softgpu/aqlprofile_commands.h"

#include "softgpu/pm4_packets.h"

/* Values of the SQ's registers: every stage, every unit, every address space. */
static const uint32_t SQ_CONTROL = 0xffff007f;
static const uint32_t SQ_MASK = 0xffffffff;

/* Fields beside the event in the SQ's select registers: all SIMDs, banks and clients. */
static const uint32_t SQ_SELECT = 0x0f0ff000;

static void put(sg_commands_t *commands, uint32_t dword)
{
    if (commands->dwords)
        commands->dwords[commands->count] = dword;
    commands->count++;
}

static void set(sg_commands_t *commands, uint32_t address, uint32_t value)
{
    put(commands, sg_pm4_header(SG_PM4_SET_UCONFIG_REG, 2));
    put(commands, address - SG_PM4_UCONFIG_BASE);
    put(commands, value);
}

static void flush(sg_commands_t *commands)
{
    put(commands, sg_pm4_header(SG_PM4_EVENT_WRITE, 1));
    put(commands, SG_PM4_FLUSH);
}

static void copy(sg_commands_t *commands, uint32_t address, const uint32_t *target)
{
    uint64_t to = (uintptr_t)target;
    put(commands, sg_pm4_header(SG_PM4_COPY_DATA, 5));
    put(commands, SG_PM4_COPY_FROM_REGISTER | SG_PM4_COPY_TO_MEMORY | SG_PM4_COPY_STREAM);
    put(commands, address);
    put(commands, 0);
    put(commands, (uint32_t)to);
    put(commands, (uint32_t)(to >> 32));
}

void sg_commands_enable(sg_commands_t *commands, bool enable)
{
    put(commands, sg_pm4_header(SG_PM4_SET_SH_REG, 2));
    put(commands, SG_REG_COMPUTE_PERFCOUNT_ENABLE - SG_PM4_SH_BASE);
    put(commands, enable ? 1 : 0);
}

static uint32_t index_of(const sg_counter_t *counter)
{
    return counter->block->instances > 1
               ? SG_INDEX_INSTANCE(counter->instance) | SG_INDEX_ALL_ARRAYS | SG_INDEX_ALL_ENGINES
               : SG_INDEX_ALL;
}

static void select_event(sg_commands_t *commands, const sg_counter_t *counter)
{
    bool is_sq = counter->block == sg_pmc_block_named("SQ");
    set(commands, SG_REG_GRBM_GFX_INDEX, index_of(counter));
    set(commands, counter->block->selects[counter->slot], counter->event | (is_sq ? SQ_SELECT : 0));
    if (is_sq) {
        set(commands, SG_REG_SQ_PERFCOUNTER_MASK, SQ_MASK);
        set(commands, SG_REG_SQ_PERFCOUNTER_CTRL, SQ_CONTROL);
    }
}

void sg_commands_start(sg_commands_t *commands, const sg_counter_t *counters, uint32_t count)
{
    flush(commands);
    set(commands, SG_REG_GRBM_GFX_INDEX, SG_INDEX_ALL);
    set(commands, SG_REG_RLC_PERFMON_CLK_CNTL, 1);
    set(commands, SG_REG_CP_PERFMON_CNTL, SG_PERFMON_RESET);
    set(commands, SG_REG_SQ_PERFCOUNTER_CTRL, SQ_CONTROL);
    for (uint32_t i = 0; i < count; i++)
        select_event(commands, &counters[i]);
    set(commands, SG_REG_GRBM_GFX_INDEX, SG_INDEX_ALL);
    sg_commands_enable(commands, true);
    set(commands, SG_REG_CP_PERFMON_CNTL, SG_PERFMON_RESET);
    set(commands, SG_REG_CP_PERFMON_CNTL, SG_PERFMON_START);
    flush(commands);
}

/* The index for one engine's instance, where that is one of several. */
static uint32_t index_in(const sg_counter_t *counter, uint32_t engine)
{
    uint32_t index = index_of(counter);
    return counter->block->per_engine ? (index & ~SG_INDEX_ALL_ENGINES) | SG_INDEX_ENGINE(engine)
                                      : index;
}

void sg_commands_read(sg_commands_t *commands, const sg_counter_t *counters, uint32_t count,
                      uint64_t *output)
{
    set(commands, SG_REG_CP_PERFMON_CNTL, SG_PERFMON_START | SG_PERFMON_SAMPLE);
    set(commands, SG_REG_GRBM_GFX_INDEX, SG_INDEX_ALL);
    flush(commands);
    const uint32_t *target = (const uint32_t *)output;
    for (uint32_t i = 0; i < count; i++) {
        const sg_counter_t *counter = &counters[i];
        for (uint32_t engine = 0; engine < sg_pmc_engines(counter->block); engine++) {
            uint32_t low = counter->block->values[counter->slot];
            set(commands, SG_REG_GRBM_GFX_INDEX, index_in(counter, engine));
            copy(commands, low, target);
            copy(commands, low + 1, target + 1);
            target += 2;
        }
    }
    set(commands, SG_REG_GRBM_GFX_INDEX, SG_INDEX_ALL);
}

void sg_commands_stop(sg_commands_t *commands)
{
    set(commands, SG_REG_GRBM_GFX_INDEX, SG_INDEX_ALL);
    set(commands, SG_REG_CP_PERFMON_CNTL, SG_PERFMON_STOP);
    set(commands, SG_REG_RLC_PERFMON_CLK_CNTL, 0);
    flush(commands);
}

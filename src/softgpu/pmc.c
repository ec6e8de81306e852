#include "softgpu/pmc.h"

#include "softgpu/clock.h"
#include "softgpu/pm4_packets.h"
#include "softgpu/pmc_faults.h"
#include "softgpu/settings.h"

#include <string.h>

enum { COUNTS_MOST = 32, HIGH_WORD = 32 };

/* A counter. */
typedef struct sg_slot {
    const sg_pmc_block_t *block; /* NULL until its select register has been written */
    uint32_t instance;           /* of all of the block on the GPU: engine by engine */
    sg_pmc_quantity_t quantity;
    uint64_t count;
    uint64_t since;   /* clock of its quantity up to which `count` is right, where that is time */
    uint64_t sampled; /* what is read */
} sg_slot_t;

/* Time in which at least one kernel was on the GPU. Kernels start in order of time, so their union
 * needs no more than the last stretch. */
typedef struct sg_busy {
    uint64_t before; /* ticks in stretches that are over */
    uint64_t start, end;
} sg_busy_t;

typedef struct sg_counters {
    bool running;
    uint32_t index; /* GRBM_GFX_INDEX */
    sg_busy_t busy;
    sg_slot_t slots[SG_PMC_SLOTS];
    uint16_t used[SG_PMC_SLOTS]; /* places of the slots with a select */
    uint32_t used_count;
} sg_counters_t;

static sg_counters_t gpus[SG_MAX_GPUS];
static sg_pmc_faults_t faults;
static softgpu_truth_count_t added[COUNTS_MOST];

void sg_pmc_open(void)
{
    memset(gpus, 0, sizeof gpus);
    for (uint32_t gpu = 0; gpu < SG_MAX_GPUS; gpu++)
        gpus[gpu].index = SG_INDEX_ALL;
    sg_pmc_faults_read(&faults);
}

/* ---- time ---- */

void sg_pmc_kernel_starts(uint32_t gpu, uint64_t start, uint64_t end)
{
    sg_busy_t *busy = &gpus[gpu].busy;
    if (start > busy->end) {
        busy->before += busy->end - busy->start;
        busy->start = start;
        busy->end = end;
    } else if (end > busy->end) {
        busy->end = end;
    }
}

/* Where the clock of a quantity of time stands, in cycles. */
static uint64_t clock_of(const sg_counters_t *counters, sg_pmc_quantity_t quantity, uint64_t now)
{
    const sg_busy_t *busy = &counters->busy;
    uint64_t ticks = now;
    if (quantity == SG_PMC_BUSY)
        ticks = busy->before + (now < busy->end ? now : busy->end) - busy->start;
    return ticks * SG_PMC_CYCLES_PER_TICK;
}

static bool is_time(sg_pmc_quantity_t quantity)
{
    return quantity == SG_PMC_CYCLES || quantity == SG_PMC_BUSY;
}

/* Brings the counters of time up to now; `counts` is false where the time did not count. */
static void catch_up(sg_counters_t *counters, bool counts)
{
    uint64_t now = sg_clock_ticks();
    for (uint32_t i = 0; i < counters->used_count; i++) {
        sg_slot_t *slot = &counters->slots[counters->used[i]];
        if (!is_time(slot->quantity))
            continue;
        uint64_t stands = clock_of(counters, slot->quantity, now);
        if (counts)
            slot->count += stands - slot->since;
        slot->since = stands;
    }
}

/* ---- kernels ---- */

/* An instance's part of what a kernel counts: equal parts, and what is left over one by one to the
 * first instances. */
static uint64_t part(uint64_t count, const sg_slot_t *slot)
{
    uint64_t instances = (uint64_t)slot->block->instances * sg_pmc_engines(slot->block);
    return count / instances + (slot->instance < count % instances ? 1 : 0);
}

/* Lists for the log what was counted, by event: whether or not a counter was set to it, so that the
 * log says the same in every pass. */
static void list(const uint64_t counts[SG_PMC_OF_KERNELS], bool of_waves,
                 softgpu_truth_entry_t *entry)
{
    size_t events = 0;
    const sg_pmc_event_t *event = sg_pmc_events(&events);
    entry->counts = added;
    entry->count_count = 0;
    for (const sg_pmc_event_t *end = event + events; event < end; event++) {
        if (event->quantity >= SG_PMC_OF_KERNELS || counts[event->quantity] == 0 ||
            (!of_waves && sg_pmc_block(event->block)->of_waves))
            continue;
        added[entry->count_count++] = (softgpu_truth_count_t){
            .block = event->block, .event = event->event, .value = counts[event->quantity]};
    }
}

void sg_pmc_kernel_ends(const sg_mix_t *mix, bool of_waves, softgpu_truth_entry_t *entry)
{
    sg_counters_t *counters = &gpus[entry->gpu];
    if (!counters->running)
        return;
    uint64_t counts[SG_PMC_OF_KERNELS];
    sg_mix_count(mix, entry, counts);
    for (uint32_t i = 0; i < counters->used_count; i++) {
        sg_slot_t *slot = &counters->slots[counters->used[i]];
        if (slot->quantity < SG_PMC_OF_KERNELS && (of_waves || !slot->block->of_waves))
            slot->count += part(counts[slot->quantity], slot);
    }
    list(counts, of_waves, entry);
}

/* ---- registers ---- */

static sg_slot_t *slot_at(sg_counters_t *counters, const sg_pmc_block_t *block, uint32_t instance,
                          uint32_t slot)
{
    return &counters->slots[block->first + instance * block->slots + slot];
}

/* Which instances of the block GRBM_GFX_INDEX names, as a stretch in each of some engines. */
typedef struct sg_reach {
    uint32_t first_engine, engines, first_instance, instances;
} sg_reach_t;

static bool reach_of(const sg_counters_t *counters, const sg_pmc_block_t *block, sg_reach_t *reach)
{
    uint32_t index = counters->index;
    *reach = (sg_reach_t){0, sg_pmc_engines(block), 0, block->instances};
    if (block->per_engine && (index & SG_INDEX_ALL_ENGINES) == 0) {
        reach->first_engine = index >> 16 & 0xffU;
        reach->engines = 1;
    }
    if (block->instances > 1 && (index & SG_INDEX_ALL_INSTANCES) == 0) {
        reach->first_instance = index & 0xffU;
        reach->instances = 1;
    }
    return reach->first_engine + reach->engines <= sg_pmc_engines(block) &&
           reach->first_instance + reach->instances <= block->instances;
}

static void select_event(sg_counters_t *counters, const sg_pmc_block_t *block, uint32_t instance,
                         uint32_t number, uint32_t event)
{
    sg_slot_t *slot = slot_at(counters, block, instance, number);
    if (!slot->block)
        counters->used[counters->used_count++] = (uint16_t)(slot - counters->slots);
    const sg_pmc_event_t *known = sg_pmc_event(block->id, event);
    slot->block = block;
    slot->instance = instance;
    slot->quantity = known ? known->quantity : SG_PMC_NOTHING;
}

static bool write_select(sg_counters_t *counters, const sg_pmc_block_t *block, uint32_t number,
                         uint32_t value)
{
    sg_reach_t reach;
    if (!reach_of(counters, block, &reach))
        return false;
    if (counters->running)
        catch_up(counters, true);
    for (uint32_t e = 0; e < reach.engines; e++)
        for (uint32_t i = 0; i < reach.instances; i++)
            select_event(counters, block,
                         (reach.first_engine + e) * block->instances + reach.first_instance + i,
                         number, value & SG_PMC_EVENT_MAX);
    if (counters->running)
        catch_up(counters, false);
    return true;
}

static void reset(sg_counters_t *counters)
{
    for (uint32_t i = 0; i < counters->used_count; i++) {
        counters->slots[counters->used[i]].count = 0;
        counters->slots[counters->used[i]].sampled = 0;
    }
}

static void sample(sg_counters_t *counters)
{
    for (uint32_t i = 0; i < counters->used_count; i++) {
        sg_slot_t *slot = &counters->slots[counters->used[i]];
        slot->sampled = slot->count;
    }
}

static bool control(sg_counters_t *counters, uint32_t value)
{
    uint32_t state = value & SG_PERFMON_STATE;
    if (state > SG_PERFMON_STOP || (value & ~(uint32_t)(SG_PERFMON_STATE | SG_PERFMON_SAMPLE)) != 0)
        return false;
    catch_up(counters, counters->running);
    counters->running = state == SG_PERFMON_START;
    if (state == SG_PERFMON_RESET)
        reset(counters);
    if (value & SG_PERFMON_SAMPLE)
        sample(counters);
    return true;
}

bool sg_pmc_write(uint32_t gpu, uint32_t address, uint32_t value)
{
    sg_counters_t *counters = &gpus[gpu];
    switch (address) {
    case SG_REG_GRBM_GFX_INDEX:
        counters->index = value;
        return true;
    case SG_REG_CP_PERFMON_CNTL:
        return control(counters, value);
    case SG_REG_SQ_PERFCOUNTER_CTRL:
    case SG_REG_SQ_PERFCOUNTER_MASK:
    case SG_REG_RLC_PERFMON_CLK_CNTL:
        return true; /* every stage and unit is counted, and no clock is gated */
    default:
        break;
    }
    sg_pmc_register_t what = SG_PMC_LOW;
    uint32_t slot = 0;
    const sg_pmc_block_t *block = sg_pmc_block_at(address, &what, &slot);
    return block && what == SG_PMC_SELECT && write_select(counters, block, slot, value);
}

bool sg_pmc_read(uint32_t gpu, uint32_t address, uint32_t *value)
{
    sg_counters_t *counters = &gpus[gpu];
    sg_pmc_register_t what = SG_PMC_SELECT;
    uint32_t slot = 0;
    sg_reach_t reach;
    const sg_pmc_block_t *block = sg_pmc_block_at(address, &what, &slot);
    if (!block || what == SG_PMC_SELECT || !reach_of(counters, block, &reach) ||
        reach.engines * reach.instances != 1)
        return false;
    uint32_t instance = reach.first_engine * block->instances + reach.first_instance;
    uint64_t sampled = slot_at(counters, block, instance, slot)->sampled;
    *value = (uint32_t)(what == SG_PMC_LOW ? sampled : sampled >> HIGH_WORD);
    return true;
}

bool sg_pmc_hangs(uint32_t address)
{
    sg_pmc_register_t what = SG_PMC_LOW;
    uint32_t slot = 0;
    const sg_pmc_block_t *block = sg_pmc_block_at(address, &what, &slot);
    return block && faults.hangs[sg_pmc_place(block)];
}

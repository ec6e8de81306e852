#include "../../common/check.h"
#include "intercept/counters/plan.h"

#include <string.h>

/* A device with so many slots for each block, and one event that it does not have. */
struct device {
    uint32_t slots, sq_slots;
    uint32_t missing_block, missing_event;
};

static bool is_valid(void *context, uint32_t block, uint32_t event)
{
    const struct device *device = context;
    return block != device->missing_block || event != device->missing_event;
}

static uint32_t slots(void *context, uint32_t block, uint32_t event)
{
    const struct device *device = context;
    (void)event;
    return block == RTL_BLOCK_SQ ? device->sq_slots : device->slots;
}

static uint32_t instances(void *context, uint32_t block)
{
    (void)context;
    return block == RTL_BLOCK_TCC ? 16 : 0;
}

static bool plan(struct rtl_counters_plan *plan, const char *names, struct device *device)
{
    const struct rtl_counters_device facts = {.families = RTL_GFX900,
                                              .name = "gfx906",
                                              .context = device,
                                              .is_valid = is_valid,
                                              .slots = slots,
                                              .instances = instances};
    return rtl_counters_make_plan(plan, names, &facts);
}

static const struct rtl_planned_counter *planned(const struct rtl_counters_plan *plan,
                                                 const char *name)
{
    for (uint32_t i = 0; i < plan->count; i++)
        if (strcmp(plan->counters[i].counter->name, name) == 0)
            return &plan->counters[i];
    return NULL;
}

const char *Plan_OnePassForWhatFits(void)
{
    struct rtl_counters_plan made;
    struct device device = {.slots = 4, .sq_slots = 8, .missing_block = UINT32_MAX};
    CHECK(plan(&made, "SQ_WAVES,TCC_HIT, TCC_MISS", &device));
    CHECK(made.count == 3 && made.passes == 1);
    CHECK(planned(&made, "TCC_HIT")->instances == 16);
    CHECK(planned(&made, "SQ_WAVES")->instances == 1);
    CHECK(planned(&made, "TCC_HIT")->counter->event == 20);
    return NULL;
}

/* No block has more counters in a pass than slots, and every counter is in one. */
const char *Plan_NoPassHasMoreThanTheSlots(void)
{
    struct rtl_counters_plan made;
    for (uint32_t count = 1; count <= 4; count++) {
        struct device device = {.slots = count, .sq_slots = 2, .missing_block = UINT32_MAX};
        CHECK(plan(&made,
                   "TCC_HIT,TCC_MISS,TCC_EA_RDREQ,TCC_EA_RDREQ_32B,TCC_EA_WRREQ,SQ_WAVES,"
                   "SQ_INSTS_VALU,SQ_INSTS_SALU",
                   &device));
        CHECK(made.count == 8);
        uint32_t wanted = (5 + count - 1) / count;
        CHECK(made.passes == (wanted > 2 ? wanted : 2));
        for (uint32_t pass = 0; pass < made.passes; pass++) {
            uint32_t tcc = 0;
            uint32_t sq = 0;
            for (uint32_t i = 0; i < made.count; i++) {
                tcc += made.counters[i].pass == pass &&
                       made.counters[i].counter->block == RTL_BLOCK_TCC;
                sq += made.counters[i].pass == pass &&
                      made.counters[i].counter->block == RTL_BLOCK_SQ;
            }
            CHECK(tcc <= count && sq <= 2);
        }
    }
    return NULL;
}

/* The first pass has room for one of l2_hit's two: both go into the second. */
const char *Plan_AMetricStaysTogether(void)
{
    struct rtl_counters_plan made;
    struct device device = {.slots = 3, .sq_slots = 8, .missing_block = UINT32_MAX};
    CHECK(plan(&made, "TCC_EA_RDREQ,TCC_EA_WRREQ,l2_hit", &device));
    CHECK(planned(&made, "TCC_HIT")->pass == 1 && planned(&made, "TCC_MISS")->pass == 1);
    CHECK(made.passes == 2);
    return NULL;
}

const char *Plan_AMetricThatNeverFitsIsSpread(void)
{
    struct rtl_counters_plan made;
    struct device device = {.slots = 1, .sq_slots = 8, .missing_block = UINT32_MAX};
    CHECK(plan(&made, "l2_hit", &device));
    CHECK(made.count == 2 && made.passes == 2);
    return NULL;
}

const char *Plan_ACounterIsReadOnce(void)
{
    struct rtl_counters_plan made;
    struct device device = {.slots = 4, .sq_slots = 8, .missing_block = UINT32_MAX};
    CHECK(plan(&made, "TCC_HIT,l2_hit,l2_requests,TCC_HIT,kernels", &device));
    CHECK(made.count == 2);
    return NULL;
}

const char *Plan_RefusalsNameWhatIsWrong(void)
{
    struct rtl_counters_plan made;
    struct device device = {.slots = 4, .sq_slots = 8, .missing_block = UINT32_MAX};
    CHECK(!plan(&made, "SQ_WAVES,SQ_WAVEZ", &device));
    CHECK(strstr(made.problem, "'SQ_WAVEZ'") && strstr(made.problem, "SQ_WAVES"));
    CHECK(made.count == 0 && made.passes == 0);
    CHECK(!plan(&made, "GL2C_HIT", &device));
    CHECK(strstr(made.problem, "gfx906") && strstr(made.problem, "GL2C_HIT"));
    device.missing_block = RTL_BLOCK_TCC;
    device.missing_event = 22;
    CHECK(!plan(&made, "l2_hit", &device));
    CHECK(strstr(made.problem, "TCC_MISS") && strstr(made.problem, "l2_hit"));
    return NULL;
}

const char *Plan_WhatNeedsNoCounter(void)
{
    CHECK(!rtl_counters_are_wanted("kernels,lane_use"));
    CHECK(!rtl_counters_are_wanted(""));
    CHECK(!rtl_counters_are_wanted(",, "));
    CHECK(rtl_counters_are_wanted("kernels,SQ_WAVES"));
    CHECK(rtl_counters_are_wanted("kernels,l2_hit"));
    CHECK(rtl_counters_are_wanted("nonsense"));
    return NULL;
}

const char *Plan_TooMany(void)
{
    struct rtl_counters_plan made;
    struct device device = {.slots = 4, .sq_slots = 8, .missing_block = UINT32_MAX};
    char names[4096];
    size_t length = 0;
    size_t count = 0;
    uint32_t wanted = 0;
    const struct rtl_counter *all = rtl_counters(&count);
    for (size_t i = 0; i < count && wanted <= RTL_MOST_COUNTERS; i++) {
        size_t name = strlen(all[i].name);
        if (!(all[i].families & RTL_GFX900))
            continue;
        CHECK(length + name + 2 < sizeof names);
        memcpy(names + length, all[i].name, name);
        names[length + name] = ',';
        length += name + 1;
        wanted++;
    }
    names[length] = '\0';
    CHECK(plan(&made, names, &device) == (wanted <= RTL_MOST_COUNTERS));
    return NULL;
}

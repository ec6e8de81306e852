#include "intercept/counters/device.h"

#include "common/pages.h"
#include "intercept/base/account.h"
#include "intercept/base/agents.h"
#include "intercept/base/api.h"
#include "intercept/base/emit.h"

#include <string.h>

static struct rtl_counters_agent *devices; /* RTL_MOST_COUNTED; NULL: counters were not asked for */
static uint32_t device_count;
static uint32_t next_counter;
static struct rtl_counters_agent nobody = {.agent = RTL_NONE};

/* ---- what a device has ---- */

static bool is_valid(void *context, uint32_t block, uint32_t event)
{
    return rtl_aql_is_valid(((struct rtl_counters_agent *)context)->handle, block, event);
}

static uint32_t slots(void *context, uint32_t block, uint32_t event)
{
    return rtl_aql_slots(((struct rtl_counters_agent *)context)->handle, block, event);
}

static uint32_t instances(void *context, uint32_t block)
{
    return rtl_aql_instances(((struct rtl_counters_agent *)context)->handle, rtl_block_name(block));
}

static bool make_plan(struct rtl_counters_agent *device, const char *names)
{
    char name[65] = "";
    (void)rtl_api.hsa_agent_get_info(device->handle, HSA_AGENT_INFO_NAME, name);
    struct rtl_counters_device facts = {.families = rtl_gfx_of(name),
                                        .name = name,
                                        .context = device,
                                        .is_valid = is_valid,
                                        .slots = slots,
                                        .instances = instances};
    if (rtl_counters_make_plan(&device->plan, names, &facts))
        return true;
    if (device == devices || strcmp(device->plan.problem, devices->plan.problem) != 0)
        rtl_emit_note(RTL_NONE, "RTL_METRICS: %s: no hardware counter is read on agent %u",
                      device->plan.problem, device->agent);
    return false;
}

static void describe(const struct rtl_counters_agent *device)
{
    for (uint32_t i = 0; i < device->plan.count; i++) {
        const struct rtl_planned_counter *planned = &device->plan.counters[i];
        const struct rtl_counter *counter = planned->counter;
        struct rtl_wire_counter wire = {
            .counter = next_counter++,
            .agent = device->agent,
            .block = counter->block,
            .event = counter->event,
            .instances = (uint16_t)planned->instances,
            .pass = (uint16_t)planned->pass,
            .name_length = (uint16_t)strlen(counter->name),
        };
        struct rtl_piece pieces[] = {{&wire, sizeof wire}, {counter->name, wire.name_length}};
        rtl_emit_definition(RTL_WIRE_COUNTER, pieces, 2);
    }
}

/* The counters of the pass that this process makes. */
static void choose(struct rtl_counters_agent *device, uint32_t pass)
{
    device->event_count = 0;
    for (uint32_t i = 0; i < device->plan.count; i++) {
        const struct rtl_planned_counter *planned = &device->plan.counters[i];
        if (planned->pass == pass)
            device->events[device->event_count++] = (struct rtl_aql_event){
                planned->counter->block, planned->counter->event, planned->instances};
    }
    device->planned = device->event_count > 0;
}

static struct rtl_counters_agent *known(uint32_t agent)
{
    for (uint32_t i = 0; i < device_count; i++)
        if (devices[i].agent == agent)
            return &devices[i];
    return NULL;
}

static bool have_devices(void)
{
    if (devices == NULL)
        devices = rtl_pages(RTL_MOST_COUNTED * sizeof *devices);
    if (devices == NULL)
        rtl_emit_note(RTL_NONE, "RTL_METRICS: memory is short: no hardware counter is read");
    return devices != NULL;
}

uint32_t rtl_counters_plan_devices(const char *names, uint32_t pass)
{
    uint32_t passes = 0;
    if (!have_devices())
        return 0;
    for (uint32_t i = 0; i < rtl_agents_gpus() && i < RTL_MOST_COUNTED; i++) {
        hsa_agent_t handle = rtl_agents_gpu(i);
        uint32_t agent = rtl_agents_id(handle);
        struct rtl_counters_agent *device = known(agent);
        if (device != NULL) { /* after another hsa_init: the same device under another handle */
            device->handle = handle;
            passes = device->plan.passes > passes ? device->plan.passes : passes;
            continue;
        }
        device = &devices[device_count++];
        device->handle = handle;
        device->agent = agent;
        if (!make_plan(device, names))
            continue;
        describe(device);
        choose(device, pass);
        if (device->plan.passes > passes)
            passes = device->plan.passes;
    }
    return passes;
}

struct rtl_counters_agent *rtl_counters_agent(uint32_t agent)
{
    struct rtl_counters_agent *device = known(agent);
    return device != NULL && device->planned ? device : NULL;
}

uint32_t rtl_counters_place(const struct rtl_counters_agent *device)
{
    return (uint32_t)(device - devices);
}

void rtl_counters_give_up(struct rtl_counters_agent *device, const char *why)
{
    device->planned = false;
    rtl_emit_note(RTL_NONE, "no hardware counter is read on agent %u: %s", device->agent, why);
}

struct rtl_aql_block *rtl_counters_profiles(const struct rtl_counters_agent *device,
                                            uint32_t profiles)
{
    return rtl_aql_make(device->handle, device->events, device->event_count, profiles);
}

/* ---- what is sent ---- */

/* What was to be counted, and could have been: a loss. RTL_LOST_REASONS for what nobody expects. */
static enum rtl_lost lost_for(enum rtl_uncounted_why why)
{
    switch (why) {
    case RTL_UNCOUNTED_MEMORY:
        return RTL_LOST_MEMORY;
    case RTL_UNCOUNTED_SHUTDOWN:
        return RTL_LOST_SHUTDOWN;
    case RTL_UNCOUNTED_RING:
        return rtl_emit_why();
    default:
        return RTL_LOST_REASONS;
    }
}

void rtl_counters_miss(struct rtl_counters_agent *device, enum rtl_uncounted_why why,
                       uint64_t count)
{
    struct rtl_counters_agent *account = device != NULL ? device : &nobody;
    atomic_fetch_add_explicit(&account->uncounted[why], count, memory_order_relaxed);
    if (lost_for(why) != RTL_LOST_REASONS)
        rtl_account_lose(RTL_KIND_SAMPLES, lost_for(why), count);
}

bool rtl_counters_send(struct rtl_counters_agent *device, const struct rtl_wire_sample *sample,
                       const uint64_t *values)
{
    struct rtl_piece pieces[] = {{sample, sizeof *sample},
                                 {values, device->event_count * sizeof *values}};
    if (rtl_emit_try(RTL_WIRE_SAMPLE, pieces, 2))
        return true;
    rtl_counters_miss(device, RTL_UNCOUNTED_RING, 1);
    return false;
}

bool rtl_counters_missed(enum rtl_uncounted_why why)
{
    uint64_t count = atomic_load_explicit(&nobody.uncounted[why], memory_order_relaxed);
    for (uint32_t i = 0; i < device_count; i++)
        count += atomic_load_explicit(&devices[i].uncounted[why], memory_order_relaxed);
    return count > 0;
}

static void account(struct rtl_counters_agent *device)
{
    for (uint32_t why = 0; why < RTL_UNCOUNTED_REASONS; why++) {
        uint64_t count = atomic_load_explicit(&device->uncounted[why], memory_order_relaxed);
        if (count == device->reported[why])
            continue;
        struct rtl_wire_uncounted wire = {.count = count, .agent = device->agent, .why = why};
        struct rtl_piece piece = {&wire, sizeof wire};
        rtl_emit_definition(RTL_WIRE_UNCOUNTED, &piece, 1);
        device->reported[why] = count;
    }
}

void rtl_counters_account(void)
{
    for (uint32_t i = 0; i < device_count; i++)
        account(&devices[i]);
    account(&nobody);
}

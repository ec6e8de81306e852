#include "intercept/base/agents.h"

#include "common/clock.h"
#include "intercept/base/api.h"
#include "intercept/base/emit.h"
#include "intercept/base/forks.h"

#include <pthread.h>
#include <string.h>

#define MOST_AGENTS     256u
#define CLOCK_PERIOD_NS UINT64_C(100000000)
#define FIRST_SPAN_TICKS                                                                           \
    UINT64_C(1000000) /* between the first two points, so that the rate is known */
#define SNAPSHOT_TRIES 8
#define FIRST_STEPS    5000
#define FIRST_STEP_NS  20000

/* HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY of ROCm 5.3 and later; Debian's header does not have it
 * yet. */
#define AGENT_INFO_TIMESTAMP_FREQUENCY 0xA016

struct agent {
    hsa_agent_t handle;
    hsa_device_type_t type;
    uint32_t node;                /* of the driver */
    uint64_t last_ticks, last_ns; /* last clock point; this and the next two under the lock */
    uint64_t newest_ticks;        /* largest tick seen */
    uint64_t last_sent;           /* host time of the last point, 0 if there was none */
    _Atomic bool has_clock;       /* there were points, or the runtime would not give any */
};

static struct agent agents[MOST_AGENTS];
static uint32_t agent_count;
static uint32_t gpus[MOST_AGENTS];
static uint32_t gpu_count;
static pthread_mutex_t clock_lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t info32(hsa_agent_t agent, int attribute, uint32_t otherwise)
{
    uint32_t value = otherwise;
    if (rtl_api.hsa_agent_get_info(agent, (hsa_agent_info_t)attribute, &value) !=
        HSA_STATUS_SUCCESS)
        return otherwise;
    return value;
}

static uint64_t info64(hsa_agent_t agent, int attribute)
{
    uint64_t value = 0;
    if (rtl_api.hsa_agent_get_info(agent, (hsa_agent_info_t)attribute, &value) !=
        HSA_STATUS_SUCCESS)
        return 0;
    return value;
}

/* Reads a text of at most 64 bytes, which HSA does not always terminate. */
static size_t info_text(hsa_agent_t agent, int attribute, char *text)
{
    memset(text, 0, 65);
    if (rtl_api.hsa_agent_get_info(agent, (hsa_agent_info_t)attribute, text) != HSA_STATUS_SUCCESS)
        text[0] = '\0';
    return strnlen(text, 64);
}

static void send_agent(uint32_t id, uint32_t gpu)
{
    hsa_agent_t handle = agents[id].handle;
    char name[65];
    char product[65];
    char uuid[65];
    struct rtl_wire_agent wire = {
        .handle = handle.handle,
        .clock_hz = gpu != RTL_NONE ? info64(handle, AGENT_INFO_TIMESTAMP_FREQUENCY) : 0,
        .agent = id,
        .device_type = (uint32_t)agents[id].type,
        .gpu = gpu,
        .node = agents[id].node,
        .bdf = info32(handle, HSA_AMD_AGENT_INFO_BDFID, 0),
        .compute_units = info32(handle, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, 0),
    };
    wire.name_length = (uint16_t)info_text(handle, HSA_AGENT_INFO_NAME, name);
    wire.product_length = (uint16_t)info_text(handle, HSA_AMD_AGENT_INFO_PRODUCT_NAME, product);
    wire.uuid_length = (uint16_t)info_text(handle, HSA_AMD_AGENT_INFO_UUID, uuid);
    struct rtl_piece pieces[] = {{&wire, sizeof wire},
                                 {name, wire.name_length},
                                 {product, wire.product_length},
                                 {uuid, wire.uuid_length}};
    rtl_emit_definition(RTL_WIRE_AGENT, pieces, 4);
}

/* A program that shuts the runtime down and opens it again finds the same devices under other
 * handles, and an old handle may be another device's. */
static hsa_status_t visit(hsa_agent_t handle, void *data)
{
    (void)data;
    struct agent agent = {.handle = handle, .type = HSA_DEVICE_TYPE_CPU};
    rtl_api.hsa_agent_get_info(handle, HSA_AGENT_INFO_DEVICE, &agent.type);
    agent.node = info32(handle, HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, RTL_NONE);
    for (uint32_t i = 0; i < agent_count; i++)
        if (agents[i].type == agent.type && agents[i].node == agent.node) {
            agents[i].handle = handle;
            return HSA_STATUS_SUCCESS;
        }
    if (agent_count == MOST_AGENTS)
        return HSA_STATUS_SUCCESS;
    uint32_t id = agent_count++;
    agents[id] = agent;
    uint32_t gpu = RTL_NONE;
    if (agents[id].type == HSA_DEVICE_TYPE_GPU) {
        gpu = gpu_count;
        gpus[gpu_count++] = id;
    }
    send_agent(id, gpu);
    return HSA_STATUS_SUCCESS;
}

void rtl_agents_list(void)
{
    rtl_api.hsa_iterate_agents(visit, NULL);
}

uint32_t rtl_agents_id(hsa_agent_t agent)
{
    for (uint32_t i = 0; i < agent_count; i++)
        if (agents[i].handle.handle == agent.handle)
            return i;
    return RTL_NONE;
}

hsa_agent_t rtl_agents_handle(uint32_t id)
{
    return agents[id].handle;
}

bool rtl_agents_has_clock(uint32_t id)
{
    return id >= agent_count || agents[id].type != HSA_DEVICE_TYPE_GPU ||
           atomic_load_explicit(&agents[id].has_clock, memory_order_acquire);
}

bool rtl_agents_is_gpu(hsa_agent_t agent)
{
    uint32_t id = rtl_agents_id(agent);
    return id != RTL_NONE && agents[id].type == HSA_DEVICE_TYPE_GPU;
}

uint32_t rtl_agents_gpus(void)
{
    return gpu_count;
}

hsa_agent_t rtl_agents_gpu(uint32_t gpu)
{
    return agents[gpus[gpu]].handle;
}

/* The HSA system clock counts in units of its own frequency, which has been 1 GHz so far. */
static uint64_t system_to_ns(uint64_t value)
{
    static uint64_t frequency;
    if (frequency == 0 && (rtl_api.hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY,
                                                       &frequency) != HSA_STATUS_SUCCESS ||
                           frequency == 0))
        frequency = UINT64_C(1000000000);
    if (frequency == UINT64_C(1000000000))
        return value;
    uint64_t seconds = value / frequency;
    return seconds * UINT64_C(1000000000) + (value % frequency) * UINT64_C(1000000000) / frequency;
}

static bool translate(const struct agent *agent, uint64_t ticks, uint64_t *ns)
{
    uint64_t system = 0;
    rtl_forks_enter();
    hsa_status_t status =
        rtl_api.hsa_amd_profiling_convert_tick_to_system_domain(agent->handle, ticks, &system);
    rtl_forks_leave();
    if (status != HSA_STATUS_SUCCESS)
        return false;
    *ns = system_to_ns(system);
    return true;
}

/* Under the lock. */
static void send_point(uint32_t id, uint64_t ticks, uint64_t ns)
{
    struct agent *agent = &agents[id];
    if (ticks <= agent->last_ticks || ns <= agent->last_ns)
        return;
    struct rtl_wire_clock wire = {.ticks = ticks, .system_ns = ns, .agent = id};
    agent->last_ticks = ticks;
    agent->last_ns = ns;
    agent->last_sent = rtl_now();
    struct rtl_piece piece = {&wire, sizeof wire};
    rtl_emit_definition(RTL_WIRE_CLOCK, &piece, 1);
}

/* Under the lock. The newest tick is translated first: that makes the runtime look at both clocks
 * again if its last look is too old to go by. A tick from before it was opened, asked for while it
 * has looked but once, spoils all later ones from then: their rate is decided once and for all.
 * (Both seen in ROCr 5.2.3.) */
static void send_newest(uint32_t id)
{
    struct agent *agent = &agents[id];
    uint64_t newest = agent->newest_ticks;
    uint64_t ns;
    uint64_t before;
    if (!translate(agent, newest, &ns))
        return;
    if (agent->last_sent == 0 && newest > FIRST_SPAN_TICKS &&
        translate(agent, newest - FIRST_SPAN_TICKS, &before) && before < ns)
        send_point(id, newest - FIRST_SPAN_TICKS, before);
    send_point(id, newest, ns);
}

/* Under the lock. */
static void look_at_clock(uint32_t id, uint64_t ticks)
{
    struct agent *agent = &agents[id];
    if (ticks > agent->newest_ticks)
        agent->newest_ticks = ticks;
    if (agent->last_sent == 0 || rtl_now() - agent->last_sent > CLOCK_PERIOD_NS)
        send_newest(id);
    atomic_store_explicit(&agent->has_clock, true, memory_order_release);
}

static bool has_ticks(uint32_t id, uint64_t ticks)
{
    return ticks != 0 && id < agent_count && agents[id].type == HSA_DEVICE_TYPE_GPU;
}

/* Nobody sleeps for the lock: whoever gives it back, a thread of the program as it may be, would
 * have to wake that one by a system call. */
static void lock_clock(void)
{
    while (pthread_mutex_trylock(&clock_lock) != 0)
        rtl_nap(FIRST_STEP_NS);
}

void rtl_agents_clock(uint32_t id, uint64_t ticks)
{
    if (!has_ticks(id, ticks))
        return;
    lock_clock();
    look_at_clock(id, ticks);
    pthread_mutex_unlock(&clock_lock);
}

void rtl_agents_first_clock(uint32_t id, uint64_t ticks)
{
    if (!has_ticks(id, ticks))
        return;
    for (int i = 0; i < FIRST_STEPS && !rtl_agents_has_clock(id); i++) {
        if (pthread_mutex_trylock(&clock_lock) == 0) {
            look_at_clock(id, ticks);
            pthread_mutex_unlock(&clock_lock);
        } else {
            rtl_nap(FIRST_STEP_NS);
        }
    }
}

void rtl_agents_clock_end(void)
{
    lock_clock();
    for (uint32_t i = 0; i < agent_count; i++)
        if (agents[i].newest_ticks > agents[i].last_ticks)
            send_newest(i);
    pthread_mutex_unlock(&clock_lock);
    rtl_agents_snapshot_clocks();
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* In a time namespace ROCr has CLOCK_BOOTTIME as the process does, and translates ticks to what the
 * driver has, which is the machine's. */
static uint64_t by_machine_clock(uint64_t system_ns, uint64_t boot)
{
    uint64_t offset = (uint64_t)rtl_clock_offset(CLOCK_BOOTTIME);
    bool is_own = distance(system_ns, boot + offset) < distance(system_ns, boot);
    return is_own ? system_ns - offset : system_ns;
}

static bool read_clocks(struct rtl_wire_clock_snapshot *snapshot)
{
    uint64_t system = 0;
    uint64_t begin = rtl_clock_ns(CLOCK_MONOTONIC);
    uint64_t boot = rtl_now();
    if (rtl_api.hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &system) != HSA_STATUS_SUCCESS)
        return false;
    uint64_t real = rtl_clock_ns(CLOCK_REALTIME);
    uint64_t boot_again = rtl_now();
    uint64_t end = rtl_clock_ns(CLOCK_MONOTONIC);
    snapshot->system_ns = by_machine_clock(system_to_ns(system), boot);
    snapshot->monotonic_ns =
        begin + (end - begin) / 2 - (uint64_t)rtl_clock_offset(CLOCK_MONOTONIC);
    snapshot->boottime_ns = boot + (boot_again - boot) / 2;
    snapshot->realtime_ns = real;
    snapshot->width_ns = end - begin;
    return true;
}

void rtl_agents_snapshot_clocks(void)
{
    struct rtl_wire_clock_snapshot best = {.width_ns = UINT64_MAX};
    for (int i = 0; i < SNAPSHOT_TRIES; i++) {
        struct rtl_wire_clock_snapshot snapshot;
        if (!read_clocks(&snapshot))
            return;
        if (snapshot.width_ns < best.width_ns)
            best = snapshot;
    }
    struct rtl_piece piece = {&best, sizeof best};
    rtl_emit_definition(RTL_WIRE_CLOCK_SNAPSHOT, &piece, 1);
}

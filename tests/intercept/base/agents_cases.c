/* The clock points of an agent. The runtime behind them, and the way out of librtl, are made up. */
#include "intercept/base/agents.h"

#include "../../common/check.h"
#include "intercept/base/api.h"
#include "intercept/base/emit.h"

#include <string.h>

enum { GPU = 7, TICK_NS = 10, MOST = 16 };

#define OPENED UINT64_C(5000000000000) /* tick at which the runtime was opened */

struct rtl_api rtl_api;

static struct rtl_wire_clock sent[MOST];
static unsigned sent_count;

void rtl_emit_definition(enum rtl_wire_type type, const struct rtl_piece *pieces, unsigned count)
{
    if (type == RTL_WIRE_CLOCK && count == 1 && sent_count < MOST)
        memcpy(&sent[sent_count++], pieces[0].data, sizeof *sent);
}

/* ---- the runtime ---- */

static hsa_status_t iterate_agents(hsa_status_t (*visit)(hsa_agent_t, void *), void *data)
{
    return visit((hsa_agent_t){GPU}, data);
}

/* It does not tell the rate of the agent's clock. */
static hsa_status_t agent_get_info(hsa_agent_t agent, hsa_agent_info_t attribute, void *value)
{
    const hsa_device_type_t type = HSA_DEVICE_TYPE_GPU;
    if (agent.handle != GPU || attribute != HSA_AGENT_INFO_DEVICE)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    memcpy(value, &type, sizeof type);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t system_get_info(hsa_system_info_t attribute, void *value)
{
    const uint64_t answer =
        attribute == HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY ? UINT64_C(1000000000) : OPENED * TICK_NS;
    memcpy(value, &answer, sizeof answer);
    return HSA_STATUS_SUCCESS;
}

/* As ROCr's GpuAgent::TranslateTime: it has looked at both clocks when it was opened, and looks
 * again for a later tick. The first tick from before decides the rate for all of these, and has
 * none to go by unless there was a second look. */
static hsa_status_t convert_tick(hsa_agent_t agent, uint64_t tick, uint64_t *system)
{
    static bool looked_again, decided, spoilt;
    if (agent.handle != GPU)
        return HSA_STATUS_ERROR_INVALID_AGENT;
    looked_again = looked_again || tick > OPENED;
    if (tick < OPENED && !decided) {
        decided = true;
        spoilt = !looked_again;
    }
    *system = tick < OPENED && spoilt ? UINT64_C(1) << 63 : tick * TICK_NS;
    return HSA_STATUS_SUCCESS;
}

/* ---- cases ---- */

/* A session may ask for the newest times before there are any. The first kernel's, soon after the
 * runtime was opened, still come with a second point from before. */
const char *Agents_TheFirstPointsTellTheRate(void)
{
    rtl_api.hsa_iterate_agents = iterate_agents;
    rtl_api.hsa_agent_get_info = agent_get_info;
    rtl_api.hsa_system_get_info = system_get_info;
    rtl_api.hsa_amd_profiling_convert_tick_to_system_domain = convert_tick;
    rtl_agents_list();
    rtl_agents_clock(0, 0);
    rtl_agents_clock_end();
    CHECK(sent_count == 0);
    rtl_agents_clock(0, OPENED + 1000);
    CHECK(sent_count == 2);
    CHECK(sent[0].ticks < OPENED && sent[1].ticks == OPENED + 1000);
    for (unsigned i = 0; i < 2; i++)
        CHECK(sent[i].agent == 0 && sent[i].system_ns == sent[i].ticks * TICK_NS);
    return NULL;
}

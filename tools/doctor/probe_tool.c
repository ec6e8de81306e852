/*
 * librtlprobe.so: the tool by which rtl doctor sees a runtime as librtl.so would. It says on stdout
 * what the runtime hands over while it starts: sizes and step ids of its API tables, an entry that
 * RTL cannot do without and that is not there, and how its intercept queues hand over packets.
 * Nothing reaches the device.
 */
#include "intercept/base/api.h"
#include "intercept/queue/intercept_abi.h"

#include <stdio.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT bool OnLoad(void *table, uint64_t version, uint64_t failed, const char *const *names);
EXPORT void OnUnload(void);

/* One GPU is enough: the queue is the runtime's work, not the device's. */
static hsa_status_t ask(hsa_agent_t agent, void *context)
{
    (void)context;
    hsa_device_type_t type;
    hsa_status_t status = rtl_api.hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
    if (status != HSA_STATUS_SUCCESS || type != HSA_DEVICE_TYPE_GPU)
        return status;
    (void)printf("generation %s\n", rtl_intercept_abi_name(rtl_intercept_abi_probe(agent)));
    return HSA_STATUS_INFO_BREAK;
}

bool OnLoad(void *table, uint64_t version, uint64_t failed, const char *const *names)
{
    (void)version;
    (void)failed;
    (void)names;
    const char *missing = "";
    bool complete = rtl_api_take(table, &missing);
    (void)printf("tables %u %u %u %u\n", rtl_api.core_size, rtl_api.ext_size, rtl_api.core_step,
                 rtl_api.ext_step);
    if (complete)
        (void)rtl_api.hsa_iterate_agents(ask, NULL);
    else
        (void)printf("missing %s\n", missing);
    (void)fflush(stdout);
    return true;
}

void OnUnload(void)
{
}

/*
 * A tool that asks each GPU agent, while the runtime starts, which generation its intercept queues
 * are of: HSA_TOOLS_LIB=…/probe_tool.so. The answers go to the file PROBE_REPORT, a line each.
 */
#include "intercept/base/api.h"
#include "intercept/queue/intercept_abi.h"

#include <stdio.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT bool OnLoad(void *table, uint64_t version, uint64_t failed, const char *const *names);
EXPORT void OnUnload(void);

static hsa_status_t ask(hsa_agent_t agent, void *data)
{
    hsa_device_type_t type;
    hsa_status_t status = rtl_api.hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
    if (status == HSA_STATUS_SUCCESS && type == HSA_DEVICE_TYPE_GPU)
        (void)fprintf(data, "%s\n", rtl_intercept_abi_name(rtl_intercept_abi_probe(agent)));
    return status;
}

bool OnLoad(void *table, uint64_t version, uint64_t failed, const char *const *names)
{
    (void)version;
    (void)failed;
    (void)names;
    const char *missing;
    const char *path = getenv("PROBE_REPORT"); // NOLINT(concurrency-mt-unsafe)
    FILE *file = path != NULL ? fopen(path, "we") : NULL;
    if (file == NULL)
        return true;
    if (rtl_api_take(table, &missing))
        (void)rtl_api.hsa_iterate_agents(ask, file);
    (void)fclose(file);
    return true;
}

void OnUnload(void)
{
}

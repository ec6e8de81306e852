/* A runtime with one GPU, without a driver's file: as much of it as rtl asks. */
#include <hsa/hsa.h>
#include <stddef.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT hsa_status_t hsa_init(void)
{
    return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_shut_down(void)
{
    return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_system_get_info(hsa_system_info_t attribute, void *value)
{
    const uint16_t number = attribute == HSA_SYSTEM_INFO_VERSION_MAJOR ? 1 : 18;
    memcpy(value, &number, sizeof number);
    return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_iterate_agents(hsa_status_t (*callback)(hsa_agent_t, void *), void *data)
{
    const hsa_agent_t agent = {1};
    return callback(agent, data);
}

EXPORT hsa_status_t hsa_agent_get_info(hsa_agent_t agent, hsa_agent_info_t attribute, void *value)
{
    const hsa_device_type_t type = HSA_DEVICE_TYPE_GPU;
    (void)agent;
    if (attribute == HSA_AGENT_INFO_DEVICE)
        memcpy(value, &type, sizeof type);
    else
        memcpy(value, "gfx9999", sizeof "gfx9999");
    return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_status_string(hsa_status_t status, const char **text)
{
    (void)status;
    *text = "no error";
    return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_system_get_major_extension_table(uint16_t extension, uint16_t version,
                                                         size_t size, void *table)
{
    (void)extension;
    (void)version;
    (void)size;
    (void)table;
    return HSA_STATUS_ERROR;
}

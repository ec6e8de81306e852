#include "kineto/vendor_devices.h"

#include "intercept/base/agents.h"
#include "intercept/base/api.h"

#include <hsa/hsa_ext_amd.h>
#include <pthread.h>
#include <string.h>

#define MOST_GPUS  256u
#define NAME_BYTES 65u /* HSA fills 64, and does not always terminate them */

/* Names stay where they are once they have been handed out. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char names[MOST_GPUS][NAME_BYTES];

static uint32_t info32(hsa_agent_t agent, int attribute)
{
    uint32_t value = 0;
    hsa_status_t status = rtl_api.hsa_agent_get_info(agent, (hsa_agent_info_t)attribute, &value);
    return status == HSA_STATUS_SUCCESS ? value : 0;
}

/* The maker's name, or that of the instruction set ("gfx906"); NULL: neither. */
static const char *name_of(uint32_t gpu, hsa_agent_t agent)
{
    static const int attributes[] = {HSA_AMD_AGENT_INFO_PRODUCT_NAME, HSA_AGENT_INFO_NAME};
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < 2 && names[gpu][0] == '\0'; i++) {
        char text[NAME_BYTES] = "";
        if (rtl_api.hsa_agent_get_info(agent, (hsa_agent_info_t)attributes[i], text) ==
            HSA_STATUS_SUCCESS)
            memcpy(names[gpu], text, NAME_BYTES - 1);
    }
    pthread_mutex_unlock(&lock);
    return names[gpu][0] != '\0' ? names[gpu] : NULL;
}

/* The largest is the device's memory; others are pieces of it, for other uses. */
static hsa_status_t look_at_pool(hsa_amd_memory_pool_t pool, void *largest)
{
    hsa_amd_segment_t segment = HSA_AMD_SEGMENT_PRIVATE;
    size_t size = 0;
    if (rtl_api.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment) ==
            HSA_STATUS_SUCCESS &&
        segment == HSA_AMD_SEGMENT_GLOBAL &&
        rtl_api.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, &size) ==
            HSA_STATUS_SUCCESS &&
        size > *(uint64_t *)largest)
        *(uint64_t *)largest = size;
    return HSA_STATUS_SUCCESS;
}

static uint64_t memory_of(hsa_agent_t agent)
{
    uint64_t largest = 0;
    (void)rtl_api.hsa_amd_agent_iterate_memory_pools(agent, look_at_pool, &largest);
    return largest;
}

uint32_t rtl_devices_count(void)
{
    return rtl_agents_gpus();
}

bool rtl_devices_get(uint32_t gpu, pu1DeviceProperties *properties)
{
    if (gpu >= rtl_devices_count() || gpu >= MOST_GPUS)
        return false;
    hsa_agent_t agent = rtl_agents_gpu(gpu);
    properties->name = name_of(gpu, agent);
    properties->memory_bytes = memory_of(agent);
    properties->compute_units = info32(agent, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT);
    properties->wave_size = info32(agent, HSA_AGENT_INFO_WAVEFRONT_SIZE);
    return true;
}

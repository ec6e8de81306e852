#include "intercept/counters/aqlprofile.h"

#include "intercept/base/agents.h"
#include "intercept/base/api.h"

#include <hsa/hsa_ven_amd_aqlprofile.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define FENCES                                                                                     \
    (HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |                           \
     HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE)
#define BARRIER (1u << HSA_PACKET_HEADER_BARRIER)
#define PAGE    4096u

typedef hsa_ven_amd_aqlprofile_event_t event_t;
typedef hsa_ven_amd_aqlprofile_profile_t profile_t;

struct rtl_aql_profile {
    profile_t profile;
    const struct rtl_aql_event *counters;
    uint32_t count;
    struct rtl_aql_packet start, read, stop;
};

/* Profiles of the same counters, in memory that is theirs together. */
struct rtl_aql_block {
    void *commands, *output;
    uint32_t count;
    event_t *events; /* each counter for each instance */
    struct rtl_aql_profile profiles[];
};

static hsa_ven_amd_aqlprofile_1_00_pfn_t library;

bool rtl_aql_open(void)
{
    memset(&library, 0, sizeof library);
    if (rtl_api.hsa_system_get_major_extension_table(
            HSA_EXTENSION_AMD_AQLPROFILE, hsa_ven_amd_aqlprofile_VERSION_MAJOR, sizeof library,
            &library) != HSA_STATUS_SUCCESS)
        return false;
    return library.hsa_ven_amd_aqlprofile_validate_event != NULL &&
           library.hsa_ven_amd_aqlprofile_start != NULL &&
           library.hsa_ven_amd_aqlprofile_stop != NULL &&
           library.hsa_ven_amd_aqlprofile_read != NULL &&
           library.hsa_ven_amd_aqlprofile_get_info != NULL &&
           library.hsa_ven_amd_aqlprofile_iterate_data != NULL;
}

bool rtl_aql_is_valid(hsa_agent_t agent, uint32_t block, uint32_t event)
{
    event_t asked = {(hsa_ven_amd_aqlprofile_block_name_t)block, 0, event};
    bool valid = false;
    return library.hsa_ven_amd_aqlprofile_validate_event(agent, &asked, &valid) ==
               HSA_STATUS_SUCCESS &&
           valid;
}

uint32_t rtl_aql_slots(hsa_agent_t agent, uint32_t block, uint32_t event)
{
    event_t asked = {(hsa_ven_amd_aqlprofile_block_name_t)block, 0, event};
    profile_t profile = {.agent = agent,
                         .type = HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_PMC,
                         .events = &asked,
                         .event_count = 1};
    uint32_t slots = 0;
    if (library.hsa_ven_amd_aqlprofile_get_info(
            &profile, HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_COUNTERS, &slots) != HSA_STATUS_SUCCESS)
        return 0;
    return slots;
}

uint32_t rtl_aql_instances(hsa_agent_t agent, const char *block_name)
{
    profile_t profile = {.agent = agent, .type = HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_PMC};
    hsa_ven_amd_aqlprofile_id_query_t query = {.name = block_name};
    if (library.hsa_ven_amd_aqlprofile_get_info(&profile, HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_ID,
                                                &query) != HSA_STATUS_SUCCESS)
        return 0;
    return query.instance_count;
}

/* ---- memory ---- */

static hsa_status_t see_pool(hsa_amd_memory_pool_t pool, void *data)
{
    hsa_amd_segment_t segment = HSA_AMD_SEGMENT_PRIVATE;
    uint32_t flags = 0;
    bool allowed = false;
    rtl_api.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
    rtl_api.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
    rtl_api.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED,
                                         &allowed);
    if (segment != HSA_AMD_SEGMENT_GLOBAL || !allowed ||
        (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT) == 0)
        return HSA_STATUS_SUCCESS;
    *(hsa_amd_memory_pool_t *)data = pool;
    return HSA_STATUS_INFO_BREAK;
}

static hsa_status_t see_agent(hsa_agent_t agent, void *data)
{
    if (rtl_agents_is_gpu(agent))
        return HSA_STATUS_SUCCESS;
    return rtl_api.hsa_amd_agent_iterate_memory_pools(agent, see_pool, data);
}

/* Memory of the host that the device reads and writes coherently: the pool for kernel arguments,
 * where profilers on ROCr have always put both buffers. */
static void *allocate(hsa_agent_t agent, size_t size)
{
    hsa_amd_memory_pool_t pool = {0};
    void *memory = NULL;
    if (rtl_api.hsa_amd_memory_pool_get_info == NULL ||
        rtl_api.hsa_amd_agent_iterate_memory_pools == NULL ||
        rtl_api.hsa_amd_memory_pool_allocate == NULL || rtl_api.hsa_amd_memory_pool_free == NULL ||
        rtl_api.hsa_amd_agents_allow_access == NULL)
        return NULL;
    (void)rtl_api.hsa_iterate_agents(see_agent, &pool);
    if (pool.handle == 0 ||
        rtl_api.hsa_amd_memory_pool_allocate(pool, size, 0, &memory) != HSA_STATUS_SUCCESS)
        return NULL;
    if (rtl_api.hsa_amd_agents_allow_access(1, &agent, NULL, memory) != HSA_STATUS_SUCCESS) {
        rtl_api.hsa_amd_memory_pool_free(memory);
        return NULL;
    }
    memset(memory, 0, size);
    return memory;
}

static bool has_sizes(const profile_t *profile)
{
    return profile->command_buffer.size > 0 && profile->output_buffer.size > 0;
}

/* The library tells the sizes of both buffers when it is to start without any; an older one tells
 * them when asked. */
static bool ask_sizes(profile_t *profile)
{
    struct rtl_aql_packet unused;
    hsa_status_t status =
        library.hsa_ven_amd_aqlprofile_start(profile, (hsa_ext_amd_aql_pm4_packet_t *)&unused);
    if (status == HSA_STATUS_SUCCESS && has_sizes(profile))
        return true;
    return library.hsa_ven_amd_aqlprofile_get_info(
               profile, HSA_VEN_AMD_AQLPROFILE_INFO_COMMAND_BUFFER_SIZE,
               &profile->command_buffer.size) == HSA_STATUS_SUCCESS &&
           library.hsa_ven_amd_aqlprofile_get_info(
               profile, HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA_SIZE, &profile->output_buffer.size) ==
               HSA_STATUS_SUCCESS &&
           has_sizes(profile);
}

/* ---- packets ---- */

void rtl_aql_set_signal(void *packet, uint64_t signal)
{
    memcpy((unsigned char *)packet + offsetof(hsa_barrier_and_packet_t, completion_signal), &signal,
           sizeof signal);
}

void rtl_aql_set_barrier(void *packet)
{
    uint16_t header;
    memcpy(&header, packet, sizeof header);
    header |= BARRIER;
    memcpy(packet, &header, sizeof header);
}

void rtl_aql_barrier(void *packet, uint64_t dependency, uint64_t signal)
{
    hsa_barrier_and_packet_t barrier = {
        .header = HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE | BARRIER | FENCES,
        .dep_signal = {{dependency}},
        .completion_signal = {signal},
    };
    memcpy(packet, &barrier, sizeof barrier);
}

/* The library leaves the header and the signal of a packet to its user. */
static void *blank(struct rtl_aql_packet *packet)
{
    memset(packet, 0, sizeof *packet);
    return packet;
}

static void finish(struct rtl_aql_packet *packet)
{
    uint16_t header = HSA_PACKET_TYPE_VENDOR_SPECIFIC << HSA_PACKET_HEADER_TYPE | BARRIER | FENCES;
    memcpy(packet, &header, sizeof header);
    rtl_aql_set_signal(packet, 0);
}

static bool make_packets(struct rtl_aql_profile *made)
{
    if (library.hsa_ven_amd_aqlprofile_start(&made->profile, blank(&made->start)) !=
            HSA_STATUS_SUCCESS ||
        library.hsa_ven_amd_aqlprofile_stop(&made->profile, blank(&made->stop)) !=
            HSA_STATUS_SUCCESS ||
        library.hsa_ven_amd_aqlprofile_read(&made->profile, blank(&made->read)) !=
            HSA_STATUS_SUCCESS)
        return false;
    finish(&made->start);
    finish(&made->stop);
    finish(&made->read);
    return true;
}

void *rtl_aql_enable(hsa_agent_t agent, struct rtl_aql_packet *packet)
{
    profile_t profile = {.agent = agent, .type = HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_PMC};
    (void)blank(packet);
    if (library.hsa_ven_amd_aqlprofile_get_info(&profile, HSA_VEN_AMD_AQLPROFILE_INFO_ENABLE_CMD,
                                                packet) != HSA_STATUS_SUCCESS ||
        profile.command_buffer.size == 0)
        return NULL;
    profile.command_buffer.ptr = allocate(agent, profile.command_buffer.size);
    if (profile.command_buffer.ptr == NULL)
        return NULL;
    if (library.hsa_ven_amd_aqlprofile_get_info(&profile, HSA_VEN_AMD_AQLPROFILE_INFO_ENABLE_CMD,
                                                packet) == HSA_STATUS_SUCCESS) {
        finish(packet);
        return profile.command_buffer.ptr;
    }
    rtl_aql_free_enable(profile.command_buffer.ptr);
    return NULL;
}

void rtl_aql_free_enable(void *memory)
{
    if (memory != NULL)
        rtl_api.hsa_amd_memory_pool_free(memory);
}

const struct rtl_aql_packet *rtl_aql_start(const struct rtl_aql_profile *profile)
{
    return &profile->start;
}

const struct rtl_aql_packet *rtl_aql_read(const struct rtl_aql_profile *profile)
{
    return &profile->read;
}

const struct rtl_aql_packet *rtl_aql_stop(const struct rtl_aql_profile *profile)
{
    return &profile->stop;
}

/* ---- profiles ---- */

static uint32_t events_of(const struct rtl_aql_event *counters, uint32_t count)
{
    uint32_t events = 0;
    for (uint32_t i = 0; i < count; i++)
        events += counters[i].instances;
    return events;
}

static event_t *list_events(const struct rtl_aql_event *counters, uint32_t count, uint32_t events)
{
    event_t *list = events > 0 ? calloc(events, sizeof *list) : NULL;
    event_t *event = list;
    for (uint32_t i = 0; i < count && list != NULL; i++)
        for (uint32_t index = 0; index < counters[i].instances; index++)
            *event++ = (event_t){(hsa_ven_amd_aqlprofile_block_name_t)counters[i].block, index,
                                 counters[i].event};
    return list;
}

static uint32_t whole_pages(uint32_t size)
{
    return (size + PAGE - 1) / PAGE * PAGE;
}

static bool fill(struct rtl_aql_block *block, const profile_t *like,
                 const struct rtl_aql_event *counters, uint32_t count)
{
    uint32_t commands = whole_pages(like->command_buffer.size);
    uint32_t output = whole_pages(like->output_buffer.size);
    block->commands = allocate(like->agent, (size_t)commands * block->count);
    block->output = allocate(like->agent, (size_t)output * block->count);
    if (block->commands == NULL || block->output == NULL)
        return false;
    for (uint32_t i = 0; i < block->count; i++) {
        struct rtl_aql_profile *made = &block->profiles[i];
        made->profile = *like;
        made->counters = counters;
        made->count = count;
        made->profile.command_buffer.ptr = (unsigned char *)block->commands + (size_t)commands * i;
        made->profile.output_buffer.ptr = (unsigned char *)block->output + (size_t)output * i;
        if (!make_packets(made))
            return false;
    }
    return true;
}

struct rtl_aql_block *rtl_aql_make(hsa_agent_t agent, const struct rtl_aql_event *counters,
                                   uint32_t count, uint32_t profiles)
{
    uint32_t events = events_of(counters, count);
    struct rtl_aql_block *block = NULL;
    size_t size = sizeof *block + profiles * sizeof block->profiles[0];
    if (posix_memalign((void **)&block, 64, size) != 0)
        return NULL;
    memset(block, 0, size);
    block->count = profiles;
    block->events = list_events(counters, count, events);
    profile_t like = {.agent = agent,
                      .type = HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_PMC,
                      .events = block->events,
                      .event_count = events};
    if (block->events != NULL && ask_sizes(&like) && fill(block, &like, counters, count))
        return block;
    rtl_aql_free(block);
    return NULL;
}

struct rtl_aql_profile *rtl_aql_profile(struct rtl_aql_block *block, uint32_t index)
{
    return &block->profiles[index];
}

void rtl_aql_free(struct rtl_aql_block *block)
{
    if (block == NULL)
        return;
    if (block->commands != NULL)
        rtl_api.hsa_amd_memory_pool_free(block->commands);
    if (block->output != NULL)
        rtl_api.hsa_amd_memory_pool_free(block->output);
    free(block->events);
    free(block);
}

/* ---- values ---- */

struct sums {
    const struct rtl_aql_profile *profile;
    uint64_t *values;
};

static hsa_status_t add(hsa_ven_amd_aqlprofile_info_type_t type,
                        hsa_ven_amd_aqlprofile_info_data_t *data, void *context)
{
    struct sums *sums = context;
    if (type != HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA)
        return HSA_STATUS_SUCCESS;
    const event_t *event = &data->pmc_data.event;
    for (uint32_t i = 0; i < sums->profile->count; i++) {
        const struct rtl_aql_event *counter = &sums->profile->counters[i];
        if (counter->block == (uint32_t)event->block_name && counter->event == event->counter_id) {
            sums->values[i] += data->pmc_data.result;
            break;
        }
    }
    return HSA_STATUS_SUCCESS;
}

bool rtl_aql_values(const struct rtl_aql_profile *profile, uint64_t *values)
{
    struct sums sums = {profile, values};
    memset(values, 0, profile->count * sizeof *values);
    return library.hsa_ven_amd_aqlprofile_iterate_data(&profile->profile, add, &sums) ==
           HSA_STATUS_SUCCESS;
}

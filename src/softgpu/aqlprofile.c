/*
 * libhsa-amd-aqlprofile64.so: AMD's library for performance counters, for the software GPU.
 *
 * ROCr loads it when a program asks for the extension (hsa_system_get_major_extension_table), and
 * hands out its functions. It talks to no device: it writes PM4 into the caller's command buffer,
 * fills vendor packets that lead there, and takes the caller's output buffer apart again.
 * Interface: hsa/hsa_ven_amd_aqlprofile.h; behaviour where that is silent: AMD's aqlprofile
 * (aql_profile.cpp, commandbuffermgr.hpp there). Any thread.
 */
#include "softgpu/aqlprofile_commands.h"
#include "softgpu/pm4_packets.h"
#include "softgpu/pmc_faults.h"

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ven_amd_aqlprofile.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PUBLIC __attribute__((visibility("default")))

typedef hsa_ven_amd_aqlprofile_event_t event_t;
typedef hsa_ven_amd_aqlprofile_profile_t profile_t;
typedef hsa_ext_amd_aql_pm4_packet_t packet_t;

enum {
    DWORD = 4,
    EVENTS_MOST = 1024,
    ALIGNMENT = 64,         /* of each piece of the command buffer, dwords */
    BUFFER_MARGIN = 0x1800, /* what the real library adds before it rounds down to pages */
    BUFFER_PAGE = 0xfff,
    ANSWER_COMMANDS = 0x2000, /* what it answers where it does not know the counters */
    ANSWER_DATA = 0x1800
};

/* Front of a command buffer: where its pieces are, in dwords from the start. */
typedef struct layout {
    uint32_t mark;
    uint32_t read, read_size, start, start_size, stop, stop_size;
    uint32_t end;
} layout_t;

_Static_assert(HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GRBM == 3 &&
                   HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SQ == 6 &&
                   HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TA == 10 &&
                   HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TCC == 12,
               "the ids of pmc_blocks.c");

static const uint32_t MARK = 0x50514753;

/* A vendor packet as the packet processor sees it; ROCr's amd_aql_queue.cpp. */
typedef struct jump_packet {
    uint16_t header;
    uint16_t format;
    uint32_t jump[4];
    uint32_t remaining;
    uint32_t reserved[8];
    hsa_signal_t completion_signal;
} jump_packet_t;

_Static_assert(sizeof(jump_packet_t) == sizeof(packet_t), "both are AQL packets");

static _Thread_local char message[256] = "";
static sg_pmc_faults_t faults;

__attribute__((format(printf, 2, 3))) static hsa_status_t fail(hsa_status_t status,
                                                               const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): a false alarm of clang-tidy 14
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return status;
}

static void read_faults(void)
{
    sg_pmc_faults_read(&faults);
}

static const sg_pmc_faults_t *health(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, read_faults);
    return &faults;
}

/* The counters are a gfx906's; on another device these registers would be others. */
static hsa_status_t check_agent(hsa_agent_t agent)
{
    char name[64] = "";
    if (hsa_agent_get_info(agent, HSA_AGENT_INFO_NAME, name) != HSA_STATUS_SUCCESS ||
        strcmp(name, "gfx906") != 0)
        return fail(HSA_STATUS_ERROR, "the agent '%s' is not one of the software GPU", name);
    return HSA_STATUS_SUCCESS;
}

/* ---- events ---- */

static const char *reject(const event_t *event)
{
    const sg_pmc_block_t *block = sg_pmc_block(event->block_name);
    if (!block)
        return "Bad block";
    if (event->block_index >= block->instances)
        return "Bad block index";
    if (event->counter_id > SG_PMC_EVENT_MAX)
        return "Bad event ID";
    for (uint32_t i = 0; i < health()->invalid_count; i++)
        if (health()->invalid[i].block == event->block_name &&
            health()->invalid[i].event == event->counter_id)
            return "Bad event ID";
    return NULL;
}

static hsa_status_t check_event(const event_t *event)
{
    const char *why = reject(event);
    return why ? fail(HSA_STATUS_ERROR, "%s, event(block %u index %u event %u)", why,
                      event->block_name, event->block_index, event->counter_id)
               : HSA_STATUS_SUCCESS;
}

/* Samples of an event: one for each engine that has the block. */
static uint32_t samples_of(const event_t *event)
{
    return sg_pmc_engines(sg_pmc_block(event->block_name));
}

/* How many of the events before this one are in the same instance. */
static uint32_t slot_of(const event_t *events, uint32_t number)
{
    uint32_t slot = 0;
    for (uint32_t i = 0; i < number; i++)
        if (events[i].block_name == events[number].block_name &&
            events[i].block_index == events[number].block_index)
            slot++;
    return slot;
}

static hsa_status_t take_event(const profile_t *profile, uint32_t number, sg_counter_t *counter)
{
    const event_t *event = &profile->events[number];
    hsa_status_t status = check_event(event);
    if (status != HSA_STATUS_SUCCESS)
        return status;
    *counter = (sg_counter_t){.block = sg_pmc_block(event->block_name),
                              .instance = event->block_index,
                              .slot = slot_of(profile->events, number),
                              .event = event->counter_id};
    if (counter->slot >= health()->slots[sg_pmc_place(counter->block)])
        return fail(HSA_STATUS_ERROR,
                    "Event is out of block counter registers number limit, event(block %s index %u "
                    "event %u)",
                    counter->block->name, event->block_index, event->counter_id);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t take_events(const profile_t *profile, sg_counter_t counters[EVENTS_MOST])
{
    if (profile->type != HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_PMC)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "Bad profile type (%u): no traces here",
                    profile->type);
    if (profile->event_count > EVENTS_MOST || (profile->event_count > 0 && !profile->events))
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "Bad events array");
    hsa_status_t status = check_agent(profile->agent);
    for (uint32_t i = 0; i < profile->event_count && status == HSA_STATUS_SUCCESS; i++)
        status = take_event(profile, i, &counters[i]);
    return status;
}

/* ---- buffers ---- */

static uint32_t align(uint32_t dwords)
{
    return (dwords + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Lays the pieces out, and writes them where the profile has a command buffer of that size. */
static void lay_out(const profile_t *profile, const sg_counter_t *counters, uint32_t *buffer,
                    layout_t *layout)
{
    sg_commands_t read = {.dwords = buffer ? buffer + layout->read : NULL};
    sg_commands_read(&read, counters, profile->event_count, profile->output_buffer.ptr);
    layout->read_size = read.count;
    layout->start = align(layout->read + read.count);
    sg_commands_t start = {.dwords = buffer ? buffer + layout->start : NULL};
    sg_commands_start(&start, counters, profile->event_count);
    layout->start_size = start.count;
    layout->stop = align(layout->start + start.count);
    sg_commands_t stop = {.dwords = buffer ? buffer + layout->stop : NULL};
    sg_commands_stop(&stop);
    layout->stop_size = stop.count;
    layout->end = layout->stop + stop.count;
}

static uint32_t data_size(const profile_t *profile)
{
    uint32_t samples = 0;
    for (uint32_t i = 0; i < profile->event_count; i++)
        samples += samples_of(&profile->events[i]);
    return samples * (uint32_t)sizeof(uint64_t);
}

/* A buffer that is too small gets the size that it should have; without a pointer that is the
 * answer to a question. */
static hsa_status_t fit(hsa_ven_amd_aqlprofile_descriptor_t *buffer, uint32_t size,
                        const char *what)
{
    if (buffer->size >= size)
        return HSA_STATUS_SUCCESS;
    uint32_t had = buffer->size;
    buffer->size = size;
    if (!buffer->ptr)
        return HSA_STATUS_SUCCESS;
    return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "the %s buffer has %u of %u bytes", what, had,
                size);
}

static void jump_to(const void *buffer, uint32_t dwords, packet_t *packet)
{
    uint64_t address = (uintptr_t)buffer;
    jump_packet_t jump = {.format = SG_PM4_AQL_FORMAT, .remaining = SG_PM4_AQL_REMAINING};
    jump.jump[0] = sg_pm4_header(SG_PM4_INDIRECT_BUFFER, 3);
    jump.jump[1] = (uint32_t)address;
    jump.jump[2] = (uint32_t)(address >> 32);
    jump.jump[3] = SG_PM4_JUMP_VALID | SG_PM4_JUMP_STREAM | dwords;
    jump.header = packet->header;
    jump.completion_signal = packet->completion_signal;
    memcpy(packet, &jump, sizeof jump);
}

/* The layout that hsa_ven_amd_aqlprofile_start left in the command buffer. */
static hsa_status_t find_layout(const profile_t *profile, const layout_t **layout)
{
    *layout = profile->command_buffer.ptr;
    if (!*layout || profile->command_buffer.size < sizeof **layout || (*layout)->mark != MARK)
        return fail(HSA_STATUS_ERROR, "the command buffer was not filled by start");
    return HSA_STATUS_SUCCESS;
}

/* ---- the interface ---- */

PUBLIC uint32_t hsa_ven_amd_aqlprofile_version_major(void)
{
    /* ROCr does not use a library of another version, and answers as if there were none. */
    return health()->absent ? 0 : HSA_AQLPROFILE_VERSION_MAJOR;
}

PUBLIC uint32_t hsa_ven_amd_aqlprofile_version_minor(void)
{
    return HSA_AQLPROFILE_VERSION_MINOR;
}

PUBLIC hsa_status_t hsa_ven_amd_aqlprofile_error_string(const char **str)
{
    *str = message;
    return HSA_STATUS_SUCCESS;
}

PUBLIC hsa_status_t hsa_ven_amd_aqlprofile_validate_event(hsa_agent_t agent, const event_t *event,
                                                          bool *result)
{
    *result = false;
    hsa_status_t status = check_agent(agent);
    if (status == HSA_STATUS_SUCCESS)
        *result = check_event(event) == HSA_STATUS_SUCCESS;
    return status;
}

PUBLIC hsa_status_t hsa_ven_amd_aqlprofile_start(profile_t *profile, packet_t *aql_start_packet)
{
    sg_counter_t counters[EVENTS_MOST];
    layout_t layout = {.mark = MARK, .read = align(sizeof layout / DWORD)};
    hsa_status_t status = take_events(profile, counters);
    if (status != HSA_STATUS_SUCCESS)
        return status;
    lay_out(profile, counters, NULL, &layout);
    status = fit(&profile->output_buffer, data_size(profile), "output");
    if (status == HSA_STATUS_SUCCESS)
        status = fit(&profile->command_buffer,
                     (layout.end * DWORD + BUFFER_MARGIN) & ~(uint32_t)BUFFER_PAGE, "command");
    uint32_t *buffer = profile->command_buffer.ptr;
    if (status != HSA_STATUS_SUCCESS || !buffer)
        return status;
    lay_out(profile, counters, buffer, &layout);
    memcpy(buffer, &layout, sizeof layout);
    jump_to(buffer + layout.start, layout.start_size, aql_start_packet);
    return HSA_STATUS_SUCCESS;
}

PUBLIC hsa_status_t hsa_ven_amd_aqlprofile_stop(const profile_t *profile, packet_t *aql_stop_packet)
{
    const layout_t *layout = NULL;
    hsa_status_t status = find_layout(profile, &layout);
    if (status == HSA_STATUS_SUCCESS)
        jump_to((const uint32_t *)profile->command_buffer.ptr + layout->stop, layout->stop_size,
                aql_stop_packet);
    return status;
}

PUBLIC hsa_status_t hsa_ven_amd_aqlprofile_read(const profile_t *profile, packet_t *aql_read_packet)
{
    const layout_t *layout = NULL;
    hsa_status_t status = find_layout(profile, &layout);
    if (status == HSA_STATUS_SUCCESS)
        jump_to((const uint32_t *)profile->command_buffer.ptr + layout->read, layout->read_size,
                aql_read_packet);
    return status;
}

PUBLIC hsa_status_t hsa_ven_amd_aqlprofile_legacy_get_pm4(const packet_t *aql_packet, void *data)
{
    (void)aql_packet;
    (void)data;
    return fail(HSA_STATUS_ERROR, "this device takes AQL packets, not PM4");
}

PUBLIC hsa_status_t hsa_ven_amd_aqlprofile_iterate_data(
    const profile_t *profile, hsa_ven_amd_aqlprofile_data_callback_t callback, void *data)
{
    sg_counter_t counters[EVENTS_MOST];
    hsa_status_t status = take_events(profile, counters);
    if (status != HSA_STATUS_SUCCESS)
        return status;
    const uint64_t *sample = profile->output_buffer.ptr;
    if (!sample || profile->output_buffer.size < data_size(profile))
        return fail(HSA_STATUS_ERROR, "the output buffer is too small");
    for (uint32_t i = 0; i < profile->event_count; i++) {
        for (uint32_t id = 0; id < samples_of(&profile->events[i]); id++) {
            hsa_ven_amd_aqlprofile_info_data_t info = {.sample_id = id};
            info.pmc_data.event = profile->events[i];
            info.pmc_data.result = *sample++;
            status = callback(HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA, &info, data);
            if (status != HSA_STATUS_SUCCESS)
                return status == HSA_STATUS_INFO_BREAK ? HSA_STATUS_SUCCESS : status;
        }
    }
    return HSA_STATUS_SUCCESS;
}

/* ---- hsa_ven_amd_aqlprofile_get_info ---- */

/* Adds up the samples of an event, or takes the one that is asked for. */
static hsa_status_t pick(hsa_ven_amd_aqlprofile_info_type_t type,
                         hsa_ven_amd_aqlprofile_info_data_t *found, void *data)
{
    hsa_ven_amd_aqlprofile_info_data_t *asked = data;
    (void)type;
    if (memcmp(&found->pmc_data.event, &asked->pmc_data.event, sizeof(event_t)) != 0)
        return HSA_STATUS_SUCCESS;
    if (asked->sample_id == UINT32_MAX)
        asked->pmc_data.result += found->pmc_data.result;
    else if (asked->sample_id == found->sample_id)
        asked->pmc_data.result = found->pmc_data.result;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t block_id(hsa_ven_amd_aqlprofile_id_query_t *query)
{
    const sg_pmc_block_t *block = query->name ? sg_pmc_block_named(query->name) : NULL;
    if (!block)
        return fail(HSA_STATUS_ERROR, "Bad block name");
    query->id = block->id;
    query->instance_count = block->instances;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t block_counters(const profile_t *profile, uint32_t *counters)
{
    if (profile->event_count == 0 || !profile->events)
        return fail(HSA_STATUS_ERROR, "Bad events array");
    hsa_status_t status = check_event(&profile->events[0]);
    if (status == HSA_STATUS_SUCCESS)
        *counters = health()->slots[sg_pmc_place(sg_pmc_block(profile->events[0].block_name))];
    return status;
}

/* Without a command buffer the size is the answer; it is written into the profile, const or not. */
static hsa_status_t enable_commands(const profile_t *profile, bool enable, packet_t *packet)
{
    profile_t *written = (profile_t *)(uintptr_t)profile;
    sg_commands_t commands = {.dwords = profile->command_buffer.ptr};
    sg_commands_t counted = {0};
    sg_commands_enable(&counted, enable);
    if (!commands.dwords) {
        written->command_buffer.size = counted.count * DWORD;
        return HSA_STATUS_SUCCESS;
    }
    if (profile->command_buffer.size != counted.count * DWORD || !packet)
        return fail(HSA_STATUS_ERROR, "get_info, wrong profile cmd size");
    sg_commands_enable(&commands, enable);
    jump_to(commands.dwords, commands.count, packet);
    return HSA_STATUS_SUCCESS;
}

PUBLIC hsa_status_t hsa_ven_amd_aqlprofile_get_info(const profile_t *profile,
                                                    hsa_ven_amd_aqlprofile_info_type_t attribute,
                                                    void *value)
{
    bool may_be_null = attribute == HSA_VEN_AMD_AQLPROFILE_INFO_ENABLE_CMD ||
                       attribute == HSA_VEN_AMD_AQLPROFILE_INFO_DISABLE_CMD;
    if (!profile || (!value && !may_be_null))
        return fail(HSA_STATUS_ERROR, "NULL argument");
    hsa_status_t status = check_agent(profile->agent);
    if (status != HSA_STATUS_SUCCESS)
        return status;
    switch (attribute) {
    case HSA_VEN_AMD_AQLPROFILE_INFO_COMMAND_BUFFER_SIZE:
        *(uint32_t *)value = ANSWER_COMMANDS;
        return status;
    case HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA_SIZE:
        *(uint32_t *)value = ANSWER_DATA;
        return status;
    case HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA:
        ((hsa_ven_amd_aqlprofile_info_data_t *)value)->pmc_data.result = 0;
        return hsa_ven_amd_aqlprofile_iterate_data(profile, pick, value);
    case HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_COUNTERS:
        return block_counters(profile, value);
    case HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_ID:
        return block_id(value);
    case HSA_VEN_AMD_AQLPROFILE_INFO_ENABLE_CMD:
        return enable_commands(profile, true, value);
    case HSA_VEN_AMD_AQLPROFILE_INFO_DISABLE_CMD:
        return enable_commands(profile, false, value);
    default:
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "Invalid attribute (%u)", attribute);
    }
}

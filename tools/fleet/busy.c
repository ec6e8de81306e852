#include "fleet/busy.h"

#include "common/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE_NS    UINT64_C(60000000000)
#define MINUTES_MOST (UINT64_C(10) * 366 * 24 * 60)

struct device {
    const rtl_agent_t *agent; /* as the first process saw it */
    size_t place;             /* of that */
    uint32_t name;            /* what tells it from others of its host */
    uint64_t until;           /* end of what has been added */
    uint64_t *minutes;        /* busy, ns */
    size_t count;             /* of minutes there is room for */
};

struct busy {
    struct run *run;
    uint64_t begin, end;  /* of the recording, since 1970 */
    uint64_t from, until; /* the first kernel's start, the last one's end; 0: there is none */
    uint64_t first;       /* minute that `minutes` of devices begin with */
    struct device *devices;
    size_t count;
    struct rtl_index by_gpu; /* by process and ordinal */
};

static uint32_t name_of(struct run *run, const char *text)
{
    size_t name = texts_number(&run->names.texts, text);
    if (name == TEXTS_NONE)
        memory_is_short();
    return (uint32_t)name;
}

static uint32_t number_name(struct run *run, uint32_t gpu)
{
    char text[32];
    (void)snprintf(text, sizeof text, "number %u", gpu);
    return name_of(run, text);
}

/* GPUs that have no uuid of their own all have the same one, with X for digits. Partitions share
 * their place on the bus, and are nodes of their own. */
static uint32_t device_name(struct run *run, const rtl_agent_t *agent)
{
    char text[64];
    if (agent->uuid[0] && !strstr(agent->uuid, "XX"))
        return text_names_id(&run->names, agent->uuid);
    if (agent->bdf == 0 && agent->node == 0)
        return number_name(run, agent->gpu);
    (void)snprintf(text, sizeof text, "%02x:%02x.%x node %u", agent->bdf >> 8 & 0xff,
                   agent->bdf >> 3 & 0x1f, agent->bdf & 7, agent->node);
    return name_of(run, text);
}

static uint32_t find_device(struct busy *busy, size_t place, const rtl_agent_t *agent)
{
    struct run *run = busy->run;
    uint32_t name = device_name(run, agent);
    for (size_t i = 0; i < busy->count; ++i)
        if (busy->devices[i].name == name &&
            run->told[busy->devices[i].place].host == run->told[place].host)
            return (uint32_t)i;
    struct device *device = &busy->devices[busy->count];
    *device = (struct device){.agent = agent, .place = place, .name = name};
    return (uint32_t)busy->count++;
}

static void take_agents(struct busy *busy, const rtl_agent_t *agents, size_t count)
{
    busy->devices = memory_new(count, sizeof *busy->devices);
    for (size_t i = 0; i < count; ++i) {
        size_t place = run_place(busy->run, agents[i].process);
        if (agents[i].gpu == RTL_TRACE_NONE || place == SIZE_MAX)
            continue;
        if (rtl_index_put(&busy->by_gpu, rtl_index_key(agents[i].process, agents[i].gpu),
                          find_device(busy, place, &agents[i])) != 0)
            memory_is_short();
    }
}

struct busy *busy_new(struct run *run, rtl_status_t *status)
{
    const rtl_agent_t *agents;
    size_t count;
    *status = rtlTraceAgents(run->trace, &agents, &count);
    if (*status != RTL_OK)
        return NULL;
    struct busy *busy = memory_new(1, sizeof *busy);
    busy->run = run;
    busy->begin = run_time(run, run->info.start);
    busy->end = run_time(run, run->info.end);
    busy->first = busy->begin / MINUTE_NS;
    take_agents(busy, agents, count);
    return busy;
}

uint32_t busy_device(struct busy *busy, uint32_t process, uint32_t gpu)
{
    uint32_t at = rtl_index_get(&busy->by_gpu, rtl_index_key(process, gpu));
    return at == RTL_INDEX_MISSING ? number_name(busy->run, gpu) : busy->devices[at].name;
}

static uint64_t *minute_of(struct device *device, size_t at)
{
    if (at >= device->count) {
        size_t count = 2 * at + 16;
        device->minutes = memory_grown(device->minutes, count, sizeof *device->minutes);
        memset(device->minutes + device->count, 0,
               (count - device->count) * sizeof *device->minutes);
        device->count = count;
    }
    return &device->minutes[at];
}

static void add_piece(struct busy *busy, struct device *device, uint64_t start, uint64_t end)
{
    while (start < end) {
        uint64_t at = start / MINUTE_NS - busy->first;
        uint64_t next = (busy->first + at + 1) * MINUTE_NS;
        uint64_t stop = end < next ? end : next;
        if (at >= MINUTES_MOST)
            return;
        *minute_of(device, (size_t)at) += stop - start;
        start = stop;
    }
}

void busy_add(struct busy *busy, uint32_t process, uint32_t gpu, uint64_t start, uint64_t end)
{
    uint32_t at = rtl_index_get(&busy->by_gpu, rtl_index_key(process, gpu));
    if (at == RTL_INDEX_MISSING)
        return;
    struct device *device = &busy->devices[at];
    start = run_time(busy->run, start);
    end = run_time(busy->run, end);
    if (busy->until == 0) {
        busy->from = start;
        bool within = busy->begin < start && start < busy->end;
        busy->first = (within ? busy->begin : start) / MINUTE_NS;
    }
    busy->until = end > busy->until ? end : busy->until;
    start = start > device->until ? start : device->until;
    if (end <= start)
        return;
    add_piece(busy, device, start, end);
    device->until = end;
}

/* Of a minute, what the recording has of it. */
static uint64_t span_of(const struct busy *busy, uint64_t minute)
{
    uint64_t begin = minute * MINUTE_NS > busy->begin ? minute * MINUTE_NS : busy->begin;
    uint64_t end = (minute + 1) * MINUTE_NS < busy->end ? (minute + 1) * MINUTE_NS : busy->end;
    return end > begin ? end - begin : 0;
}

static void put_minute(struct busy *busy, struct fill *fill, const struct device *device, size_t at)
{
    struct run *run = busy->run;
    uint64_t minute = busy->first + at;
    struct block *block = run_row(run, fill, minute * MINUTE_NS, device->place);
    if (!block)
        return;
    block_number(block, GPUS_GPU, device->agent->gpu);
    fill_text(fill, GPUS_DEVICE, device->name);
    fill_text(fill, GPUS_UUID, text_names_id(&run->names, device->agent->uuid));
    fill_text(fill, GPUS_PRODUCT, text_names_id(&run->names, device->agent->product));
    block_number(block, GPUS_MINUTE, minute * 60);
    block_number(block, GPUS_BUSY, at < device->count ? device->minutes[at] : 0);
    block_number(block, GPUS_SPAN, span_of(busy, minute));
}

/* The recording, and kernels that lie beyond it by a clock that is not the host's; where they all
 * do, they alone. */
static void set_span(struct busy *busy)
{
    if (busy->until == 0)
        return;
    bool apart = busy->until <= busy->begin || busy->from >= busy->end;
    busy->begin = apart || busy->from < busy->begin ? busy->from : busy->begin;
    busy->end = apart || busy->until > busy->end ? busy->until : busy->end;
}

void busy_put(struct busy *busy, struct fill *fill)
{
    set_span(busy);
    uint64_t skipped = busy->begin / MINUTE_NS - busy->first;
    uint64_t minutes = busy->end > busy->begin ? (busy->end - 1) / MINUTE_NS - busy->first + 1 : 0;
    for (size_t at = (size_t)skipped; at < minutes && at < MINUTES_MOST; ++at)
        for (size_t i = 0; i < busy->count && !fill->failed; ++i)
            put_minute(busy, fill, &busy->devices[i], at);
}

void busy_free(struct busy *busy)
{
    if (!busy)
        return;
    for (size_t i = 0; i < busy->count; ++i)
        free(busy->devices[i].minutes);
    free(busy->devices);
    rtl_index_free(&busy->by_gpu);
    free(busy);
}

#include "intercept/callbacks/definitions.h"

#include <stdlib.h>
#include <string.h>

#define MOST_IDS    (1u << 24) /* of a kind; what is beyond is not known */
#define MOST_POINTS 4096u      /* of a clock: older ones go */

/* The item of an id, zeroed when it is new; NULL if it is too large or memory is short. */
static void *make_item(struct rtl_defined_table *table, uint32_t id, size_t size)
{
    if (id >= MOST_IDS)
        return NULL;
    if (id >= table->count) {
        uint32_t count = table->count > 0 ? table->count : 64;
        while (count <= id)
            count *= 2;
        unsigned char *items = realloc(table->items, count * size);
        if (items == NULL)
            return NULL;
        memset(items + table->count * size, 0, (count - table->count) * size);
        table->items = items;
        table->count = count;
    }
    return table->items + id * size;
}

static const void *find_item(const struct rtl_defined_table *table, uint32_t id, size_t size)
{
    return id < table->count ? table->items + id * size : NULL;
}

const struct rtl_defined_queue *rtl_defined_queue_of(const struct rtl_definitions *definitions,
                                                     uint32_t id)
{
    const struct rtl_defined_queue *queue = find_item(&definitions->queues, id, sizeof *queue);
    return queue != NULL && queue->known ? queue : NULL;
}

const struct rtl_wire_shape *rtl_defined_shape_of(const struct rtl_definitions *definitions,
                                                  uint32_t id)
{
    const struct rtl_defined_shape *shape = find_item(&definitions->shapes, id, sizeof *shape);
    return shape != NULL && shape->known ? &shape->wire : NULL;
}

const struct rtl_defined_call *rtl_defined_call_of(const struct rtl_definitions *definitions,
                                                   uint32_t id)
{
    return find_item(&definitions->calls, id, sizeof(struct rtl_defined_call));
}

void rtl_definitions_begin(struct rtl_definitions *definitions)
{
    definitions->system.dx = definitions->system.dy = 1;
    for (unsigned i = 0; i < RTL_DEFINED_AGENTS; i++)
        definitions->agents[i].ticks.dx = definitions->agents[i].ticks.dy = 1;
}

/* ---- clocks ---- */

/* Older points are of no use: what they are about has been handed over. */
static void shorten(struct rtl_line *line)
{
    if (line->points < MOST_POINTS)
        return;
    size_t half = line->points / 2;
    memmove(line->x, line->x + half, (line->points - half) * sizeof *line->x);
    memmove(line->y, line->y + half, (line->points - half) * sizeof *line->y);
    line->points -= half;
    line->last = 0;
}

void rtl_definitions_clock(struct rtl_definitions *definitions, const struct rtl_wire_clock *wire)
{
    if (wire->agent >= RTL_DEFINED_AGENTS)
        return;
    struct rtl_defined_agent *agent = &definitions->agents[wire->agent];
    shorten(&agent->ticks);
    if (rtl_line_add(&agent->ticks, wire->ticks, wire->system_ns) == 0)
        rtl_clock_finish_ticks(&agent->ticks, agent->clock_hz);
    definitions->clock_moved = true;
}

void rtl_definitions_snapshot(struct rtl_definitions *definitions,
                              const struct rtl_wire_clock_snapshot *wire)
{
    if (definitions->snapshot_count == RTL_DEFINED_SNAPSHOTS) {
        definitions->snapshot_count--;
        memmove(definitions->snapshots, definitions->snapshots + 1,
                definitions->snapshot_count * sizeof *definitions->snapshots);
    }
    definitions->snapshots[definitions->snapshot_count++] = *wire;
    struct rtl_line line = {.dx = 1, .dy = 1};
    if (rtl_clock_make_system(&line, definitions->snapshots, definitions->snapshot_count) != 0) {
        rtl_line_free(&line);
        return;
    }
    rtl_line_free(&definitions->system);
    definitions->system = line;
    definitions->clock_moved = true;
}

/* One point says nothing of the rate. */
bool rtl_defined_has_clock(const struct rtl_defined_agent *agent)
{
    size_t points = agent->ticks.points;
    return points > 1 || (points == 1 && agent->clock_hz != 0);
}

uint64_t rtl_defined_time(struct rtl_definitions *definitions, struct rtl_defined_agent *agent,
                          uint64_t ticks)
{
    if (ticks == 0 || (agent->gpu != RTL_NONE && !rtl_defined_has_clock(agent)))
        return 0;
    uint64_t system = agent->gpu != RTL_NONE ? rtl_line_at(&agent->ticks, ticks) : ticks;
    return rtl_line_at(&definitions->system, system);
}

bool rtl_defined_clock_covers(const struct rtl_defined_agent *agent, uint64_t ticks)
{
    const struct rtl_line *line = &agent->ticks;
    return agent->gpu == RTL_NONE || ticks == 0 ||
           (rtl_defined_has_clock(agent) && line->x[line->points - 1] >= ticks);
}

struct rtl_defined_agent *rtl_defined_agent_of(struct rtl_definitions *definitions,
                                               const struct rtl_defined_queue *queue)
{
    static struct rtl_defined_agent unknown = {.gpu = RTL_NONE};
    if (queue == NULL || queue->agent >= RTL_DEFINED_AGENTS ||
        !definitions->agents[queue->agent].known)
        return &unknown;
    return &definitions->agents[queue->agent];
}

const char *rtl_defined_name(const struct rtl_definitions *definitions,
                             const struct rtl_wire_shape *shape)
{
    const struct rtl_defined_symbol *symbol =
        find_item(&definitions->symbols, shape->symbol, sizeof(struct rtl_defined_symbol));
    return symbol != NULL ? symbol->name : NULL;
}

uint32_t rtl_defined_gpu(const struct rtl_definitions *definitions, uint32_t agent)
{
    return agent < RTL_DEFINED_AGENTS && definitions->agents[agent].known
               ? definitions->agents[agent].gpu
               : RTL_NONE;
}

/* ---- definitions ---- */

void rtl_definitions_agent(struct rtl_definitions *definitions, const struct rtl_wire_agent *wire)
{
    if (wire->agent >= RTL_DEFINED_AGENTS)
        return;
    struct rtl_defined_agent *agent = &definitions->agents[wire->agent];
    agent->known = true;
    agent->gpu = wire->gpu;
    agent->clock_hz = wire->clock_hz;
    rtl_clock_finish_ticks(&agent->ticks, agent->clock_hz);
}

void rtl_definitions_queue(struct rtl_definitions *definitions, const struct rtl_wire_queue *wire)
{
    struct rtl_defined_queue *queue = make_item(&definitions->queues, wire->queue, sizeof *queue);
    if (queue != NULL)
        *queue = (struct rtl_defined_queue){true, wire->agent, wire->address};
}

/* The name is never freed: events point to it. */
void rtl_definitions_symbol(struct rtl_definitions *definitions, const struct rtl_wire_symbol *wire)
{
    struct rtl_defined_symbol *symbol =
        make_item(&definitions->symbols, wire->symbol, sizeof *symbol);
    if (symbol != NULL && symbol->name == NULL)
        symbol->name = strndup((const char *)(wire + 1), wire->name_length);
}

void rtl_definitions_shape(struct rtl_definitions *definitions, const struct rtl_wire_shape *wire)
{
    struct rtl_defined_shape *shape = make_item(&definitions->shapes, wire->shape, sizeof *shape);
    if (shape != NULL)
        *shape = (struct rtl_defined_shape){true, *wire};
}

void rtl_definitions_call(struct rtl_definitions *definitions, const struct rtl_wire_call *wire)
{
    const char *text = (const char *)(wire + 1);
    struct rtl_defined_call *call = make_item(&definitions->calls, wire->call, sizeof *call);
    if (call == NULL || call->name != NULL)
        return;
    call->name = strndup(text, wire->name_length);
    call->arguments = strndup(text + wire->name_length, wire->arguments_length);
}

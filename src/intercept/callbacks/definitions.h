/**
 * Definitions: what the records of kernels, copies and host calls refer to by ids, and the clocks
 * that their times are read by.
 *
 * One thread at a time. Names are never freed: events point to them.
 */
#ifndef RTL_INTERCEPT_CALLBACKS_DEFINITIONS_H
#define RTL_INTERCEPT_CALLBACKS_DEFINITIONS_H

#include "ring/clock_line.h"
#include "ring/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RTL_DEFINED_AGENTS    256u
#define RTL_DEFINED_SNAPSHOTS 64u

/** Things by their ids. */
struct rtl_defined_table {
    unsigned char *items;
    uint32_t count;
};

struct rtl_defined_agent {
    bool known;
    uint32_t gpu;
    uint64_t clock_hz;
    struct rtl_line ticks; /* to the HSA system clock */
};

struct rtl_defined_queue {
    bool known;
    uint32_t agent;
    uint64_t address;
};

struct rtl_defined_symbol {
    char *name;
};

struct rtl_defined_shape {
    bool known;
    struct rtl_wire_shape wire;
};

struct rtl_defined_call {
    char *name, *arguments;
};

/** Zeroed memory and rtl_definitions_begin. */
struct rtl_definitions {
    struct rtl_defined_table queues, symbols, shapes, calls;
    struct rtl_defined_agent agents[RTL_DEFINED_AGENTS];
    struct rtl_wire_clock_snapshot snapshots[RTL_DEFINED_SNAPSHOTS];
    size_t snapshot_count;
    struct rtl_line system; /**< HSA system clock to CLOCK_BOOTTIME */
    bool clock_moved;       /**< a clock is known further than before; the user takes it back */
};

void rtl_definitions_begin(struct rtl_definitions *definitions);

/** Takes a definition. What memory is short for is not known. */
void rtl_definitions_agent(struct rtl_definitions *, const struct rtl_wire_agent *wire);
void rtl_definitions_queue(struct rtl_definitions *, const struct rtl_wire_queue *wire);
void rtl_definitions_symbol(struct rtl_definitions *, const struct rtl_wire_symbol *wire);
void rtl_definitions_shape(struct rtl_definitions *, const struct rtl_wire_shape *wire);
void rtl_definitions_call(struct rtl_definitions *, const struct rtl_wire_call *wire);
void rtl_definitions_clock(struct rtl_definitions *, const struct rtl_wire_clock *wire);
void rtl_definitions_snapshot(struct rtl_definitions *, const struct rtl_wire_clock_snapshot *wire);

/** What an id stands for, NULL if it is not known (yet). */
const struct rtl_defined_queue *rtl_defined_queue_of(const struct rtl_definitions *, uint32_t id);
const struct rtl_wire_shape *rtl_defined_shape_of(const struct rtl_definitions *, uint32_t id);
const struct rtl_defined_call *rtl_defined_call_of(const struct rtl_definitions *, uint32_t id);

/** The name of a shape's kernel, NULL if it is not known (yet). */
const char *rtl_defined_name(const struct rtl_definitions *, const struct rtl_wire_shape *shape);

/** The agent of a queue (NULL: not known); one that is no GPU where it is not known. */
struct rtl_defined_agent *rtl_defined_agent_of(struct rtl_definitions *,
                                               const struct rtl_defined_queue *queue);

/** The GPU that an agent is, RTL_NONE if it is none or not known. */
uint32_t rtl_defined_gpu(const struct rtl_definitions *, uint32_t agent);

/** True if ticks of the agent can be read: one point says nothing of the rate, which some runtimes
 * do not tell either. */
bool rtl_defined_has_clock(const struct rtl_defined_agent *agent);

/** True if the agent's clock is known up to these ticks, so that no later point moves them. */
bool rtl_defined_clock_covers(const struct rtl_defined_agent *agent, uint64_t ticks);

/** Ticks of an agent, or ns of the HSA system clock for one that is no GPU, to CLOCK_BOOTTIME. 0
 * for 0, and where the clock is not known. */
uint64_t rtl_defined_time(struct rtl_definitions *, struct rtl_defined_agent *agent,
                          uint64_t ticks);

#endif

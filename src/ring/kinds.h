/**
 * Which kind a record is of, for those that count by kind at either end of the ring.
 */
#ifndef RTL_RING_KINDS_H
#define RTL_RING_KINDS_H

#include "ring/wire.h"

/** RTL_KIND_NONE if it is a kernel or copy. `body` is whole; `type` may be any number. */
static inline enum rtl_kind rtl_kind_of(uint32_t type, const void *body)
{
    switch (type) {
    case RTL_WIRE_KERNEL:
    case RTL_WIRE_KERNELS:
    case RTL_WIRE_COPY:
    case RTL_WIRE_DRAFT_KERNEL:
    case RTL_WIRE_DRAFT_COPY:
        return RTL_KIND_NONE;
    case RTL_WIRE_API:
        return RTL_KIND_CALLS;
    case RTL_WIRE_RANGE: {
        const struct rtl_wire_range *range = body;
        return range->kind == RTL_RANGE_MARK ? RTL_KIND_MARKS : RTL_KIND_RANGES;
    }
    case RTL_WIRE_RANGE_END:
        return RTL_KIND_RANGE_ENDS;
    case RTL_WIRE_LAUNCH:
    case RTL_WIRE_DRAFT_LAUNCH: {
        const struct rtl_wire_launch *launch = body;
        return launch->graph != RTL_NONE ? RTL_KIND_LAUNCHES : RTL_KIND_BATCHES;
    }
    case RTL_WIRE_GRAPH:
    case RTL_WIRE_NODE:
        return RTL_KIND_GRAPHS;
    case RTL_WIRE_SAMPLE:
        return RTL_KIND_SAMPLES;
    case RTL_WIRE_NAME:
        return RTL_KIND_NAMES;
    default:
        return RTL_KIND_DEFINITIONS;
    }
}

#endif

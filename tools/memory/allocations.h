/**
 * Memory that the program allocated by HIP while it was recorded, from its host calls: hipMalloc
 * and its kind for devices, managed memory, and pinned memory of the host. Arrays and textures are
 * left out: their sizes are not told. A pitched allocation counts as its width times its height.
 */
#ifndef RTL_TOOLS_MEMORY_ALLOCATIONS_H
#define RTL_TOOLS_MEMORY_ALLOCATIONS_H

#include "analysis/memory_calls.h"
#include "common/texts.h"

#include <rtl/rtl_trace.h>

#include <stdbool.h>
#include <stddef.h>

/** An allocation counts from the end of its call to the begin of the one that frees it, ns: so it
 * is right whichever threads make them. */
struct allocation {
    enum memory_kind kind;
    uint64_t bytes, from;
    uint64_t to;    /**< freed, or its address was given out again; UINT64_MAX: neither */
    size_t call;    /**< number in allocations.names: which call */
    uint64_t range; /**< innermost range of the call, 0: none */
};

/** Of a process. */
struct allocations {
    uint32_t process;
    struct allocation *list; /**< by `from` */
    size_t count, room;
    uint64_t failed;  /**< calls that got no memory */
    uint64_t unknown; /**< frees of what RTL has not seen allocated */
    uint64_t lost;    /**< host calls that are not in the trace; allocations may be among them */
    bool stopped;     /**< recording was, for a time */
};

struct allocations_list {
    struct allocations *processes; /**< those with any, by number */
    size_t count;
    struct texts names;
};

/** Reads the host calls of a trace. The caller frees it, on failure as well; then rtlTraceError
 * tells. */
rtl_status_t allocations_read(rtl_trace_t *trace, struct allocations_list *list);

/** Most bytes of a kind that were held at once, and since when. */
struct memory_peak {
    uint64_t bytes, time;
};
struct memory_peak allocations_peak(const struct allocations *allocations, enum memory_kind kind);

/** Bytes of a kind that were held at a time. */
uint64_t allocations_at(const struct allocations *allocations, enum memory_kind kind,
                        uint64_t time);

/** Whether an allocation was held at a time. */
bool allocation_is_held(const struct allocation *allocation, uint64_t time);

void allocations_free(struct allocations_list *list);

#endif

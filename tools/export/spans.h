/**
 * Ranges as they look on a stream: from the first to the last of the kernels that follow each other
 * and were launched inside of the range. Within those of a replay lie the ranges that its nodes
 * were captured in, once for each launch.
 */
#ifndef RTL_TOOLS_EXPORT_SPANS_H
#define RTL_TOOLS_EXPORT_SPANS_H

#include "export/export.h"

#include <stdbool.h>

#define SPANS_DEEP 64u
#define SPANS_NAME 256u

struct span {
    uint64_t range;
    uint32_t process, gpu, stream;
    bool captured; /**< it was open at the capture of the kernels' nodes, not at their launch */
    uint64_t start, end;
    char name[SPANS_NAME]; /**< cut off if it is longer */
};

/** Gets a span that has ended; outer ones come after those inside. */
typedef void (*spans_emit)(void *state, const struct span *span);

struct spans;

/** NULL when memory is short. Memory is bounded by the number of streams. */
struct spans *spans_new(rtl_trace_t *trace, spans_emit emit, void *state);

/** A kernel ran on a stream. Kernels come by their start. */
rtl_status_t spans_kernel(struct spans *spans, const struct export_event *event, uint32_t stream);

/** Ends all spans that are open. */
void spans_end(struct spans *spans);

void spans_free(struct spans *spans);

#endif

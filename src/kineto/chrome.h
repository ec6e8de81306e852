/**
 * A session as a trace in the format of Chrome's tracing, in the words that Kineto uses.
 */
#ifndef RTL_KINETO_CHROME_H
#define RTL_KINETO_CHROME_H

#include "kineto/session.h"

#include <stdio.h>

/** A piece of the program that carries an id; times in ns of CLOCK_REALTIME. */
typedef struct pu1_annotation {
    const char *name;
    uint64_t start, end, id;
    uint32_t thread;
} pu1_annotation_t;

/** Times in the file count from this, which it tells as `baseTimeNanoseconds`. */
typedef struct pu1_trace {
    const pu1_vendors_t *vendors;
    const pu1_item_t *items;
    size_t item_count;
    const pu1_annotation_t *annotations;
    size_t annotation_count;
    uint64_t base_ns;
    uint64_t dropped;
} pu1_trace_t;

/** Writes it. Each call with device work begins one flow, which ends at each piece of that work;
 * work without its call has none. False if memory is short; errors of the file are the stream's. */
bool pu1_write_chrome(const pu1_trace_t *trace, FILE *file);

#endif

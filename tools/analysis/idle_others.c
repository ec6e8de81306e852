#include "analysis/idle_others.h"

#include "common/memory.h"
#include "store/select.h"

#include <stdlib.h>

/* Whether the process has work on another GPU. */
static rtl_status_t has_others(rtl_trace_t *trace, uint32_t process, uint32_t gpu, bool *has)
{
    const rtl_queue_t *queues;
    size_t count;
    rtl_status_t status = rtlTraceQueues(trace, &queues, &count);
    *has = false;
    for (size_t i = 0; status == RTL_OK && i < count; ++i)
        *has = *has || (queues[i].process == process && queues[i].gpu != gpu &&
                        queues[i].gpu != RTL_TRACE_NONE && (queues[i].kernels || queues[i].copies));
    return status;
}

rtl_status_t idle_others_open(rtl_trace_t *trace, uint32_t process, uint32_t gpu, uint64_t from,
                              struct idle_others *others)
{
    *others = (struct idle_others){.gpu = gpu};
    rtl_status_t status = has_others(trace, process, gpu, &others->open);
    if (status != RTL_OK || !others->open)
        return status;
    rtl_trace_select_pause(trace, true);
    status = activity_works_open_at(trace, process, RTL_TRACE_NONE, from, &others->works);
    rtl_trace_select_pause(trace, false);
    return status;
}

/* Reads the next work of another GPU, if none is read. */
static rtl_status_t come(struct idle_others *others)
{
    struct activity_work work;
    rtl_status_t status = RTL_OK;
    while (!others->end && others->coming.from == others->coming.to && status == RTL_OK) {
        status = activity_works_next(&others->works, &work);
        others->end = status == RTL_END;
        if (status == RTL_OK && work.gpu != others->gpu && work.gpu != RTL_TRACE_NONE)
            others->coming = (struct idle_span){work.start, work.end};
    }
    return status == RTL_END ? RTL_OK : status;
}

static void keep(struct idle_others *others, struct idle_span span)
{
    if (others->count == others->capacity) {
        others->capacity = others->capacity ? 2 * others->capacity : 16;
        others->begun = memory_grown(others->begun, others->capacity, sizeof *others->begun);
    }
    others->begun[others->count++] = span;
}

/* Drops what ended before, and finds what ended within. */
static bool find_begun(struct idle_others *others, struct idle_span within, struct idle_span *ran)
{
    bool found = false;
    size_t kept = 0;
    for (size_t i = 0; i < others->count; ++i) {
        struct idle_span span = others->begun[i];
        if (span.to <= within.from)
            continue;
        others->begun[kept++] = span;
        if (found || span.to > within.to)
            continue;
        ran->from = span.from > within.from ? span.from : within.from;
        ran->to = span.to;
        found = true;
    }
    others->count = kept;
    return found;
}

rtl_status_t idle_others_next(struct idle_others *others, struct idle_span within,
                              struct idle_span *ran)
{
    if (!others->open)
        return RTL_END;
    while (!find_begun(others, within, ran)) {
        rtl_status_t status = come(others);
        if (status != RTL_OK)
            return status;
        if (others->coming.from == others->coming.to || others->coming.from >= within.to)
            return RTL_END;
        if (others->coming.to > within.from)
            keep(others, others->coming);
        others->coming = (struct idle_span){0};
    }
    return RTL_OK;
}

void idle_others_close(struct idle_others *others)
{
    activity_works_close(&others->works);
    free(others->begun);
    *others = (struct idle_others){0};
}

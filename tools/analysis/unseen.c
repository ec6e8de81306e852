#include "analysis/unseen.h"

#include "common/memory.h"
#include "common/owned.h"

#include <stdlib.h>
#include <string.h>

/* What `calls` says of host calls that are not in the trace and might be. */
static bool are_missing(const char *calls)
{
    static const char *const missing[] = {"off",       "not_preloaded", "namespace",
                                          "passed_by", "other_copy",    "static"};
    for (size_t i = 0; i < sizeof missing / sizeof *missing; ++i)
        if (strcmp(missing[i], calls) == 0)
            return true;
    return false;
}

static int compare_queues(const void *a, const void *b)
{
    const rtl_queue_t *left = a;
    const rtl_queue_t *right = b;
    if (left->process != right->process)
        return left->process < right->process ? -1 : 1;
    return (left->queue > right->queue) - (left->queue < right->queue);
}

/* The reader lists queues by process, then queue. */
static uint64_t kernels_of(const rtl_queue_t *queues, size_t count,
                           const rtl_trace_hip_queue_t *made)
{
    const rtl_queue_t key = {.process = made->process, .queue = made->queue};
    const rtl_queue_t *queue =
        count > 0 ? bsearch(&key, queues, count, sizeof *queues, compare_queues) : NULL;
    return queue ? queue->kernels : 0;
}

static void add(struct unseen *unseen, const rtl_trace_hip_queue_t *made, uint64_t kernels)
{
    size_t i = 0;
    while (i < unseen->count && (unseen->list[i].process != made->process ||
                                 strcmp(unseen->list[i].library, made->library) != 0 ||
                                 strcmp(unseen->list[i].calls, made->calls) != 0))
        ++i;
    struct unseen_hip *hip = &unseen->list[i];
    if (i == unseen->count) {
        *hip = (struct unseen_hip){.process = made->process,
                                   .library = made->library,
                                   .calls = made->calls,
                                   .wanted = strcmp(made->calls, "off") == 0};
        ++unseen->count;
        unseen->missing += !hip->wanted;
    }
    hip->kernels += kernels;
    unseen->missing_kernels += hip->wanted ? 0 : kernels;
}

/* Where recording was stopped all the time nothing was promised. */
static bool was_stopped(const rtl_pause_t *pauses, size_t count, uint32_t process)
{
    size_t own;
    return owned_by(process, pauses, count, sizeof *pauses, &own) != NULL;
}

rtl_status_t unseen_read(rtl_trace_t *trace, struct unseen *unseen)
{
    const rtl_trace_hip_queue_t *made;
    const rtl_queue_t *queues;
    const rtl_pause_t *pauses;
    size_t count;
    size_t queue_count;
    size_t pause_count;
    *unseen = (struct unseen){.list = NULL};
    rtl_status_t status = rtlTraceHipQueues(trace, &made, &count);
    if (status == RTL_OK)
        status = rtlTraceQueues(trace, &queues, &queue_count);
    if (status == RTL_OK)
        status = rtlTracePauses(trace, &pauses, &pause_count);
    if (status != RTL_OK)
        return status;
    unseen->list = memory_new(count, sizeof *unseen->list);
    for (size_t i = 0; i < count; ++i) {
        uint64_t kernels = kernels_of(queues, queue_count, &made[i]);
        if (are_missing(made[i].calls) &&
            (kernels > 0 || !was_stopped(pauses, pause_count, made[i].process)))
            add(unseen, &made[i], kernels);
    }
    return RTL_OK;
}

void unseen_free(struct unseen *unseen)
{
    free(unseen->list);
    *unseen = (struct unseen){.list = NULL};
}

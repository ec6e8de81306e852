#include "export/html_idle.h"

#include "analysis/idle_device.h"
#include "common/memory.h"

#include <stdlib.h>

#define MOST       (UINT64_C(1) << 20) /* pieces */
#define LEAST_TIME 128u                /* ns, that is left out first where there are more */

/* A device that is being read. */
struct reader {
    struct html_idle *idle;
    struct idle_device device;
    size_t gap; /* place of the gap's first piece */
};

/* Makes room where there are too many: the shortest go. */
static void thin(struct html_idle *idle)
{
    size_t kept;
    do {
        idle->least = idle->least ? 2 * idle->least : LEAST_TIME;
        kept = 0;
        for (size_t i = 0; i < idle->count; ++i)
            if (idle->list[i].to - idle->list[i].from >= idle->least)
                idle->list[kept++] = idle->list[i];
        idle->count = kept;
    } while (kept > MOST / 2);
}

static void add(void *context, size_t cause, uint64_t from, uint64_t to)
{
    struct reader *reader = context;
    struct html_idle *idle = reader->idle;
    char text[256];
    if (cause == IDLE_IN_GRAPH || to - from < idle->least)
        return;
    (void)snprintf(text, sizeof text, "%s%s", cause >= IDLE_CALLS ? "in " : "",
                   idle_label(&reader->device.causes, cause));
    size_t number = texts_number(&idle->causes, text);
    if (number == TEXTS_NONE)
        memory_is_short();
    if (idle->count == idle->capacity) {
        idle->capacity = idle->capacity ? 2 * idle->capacity : 1024;
        idle->list = memory_grown(idle->list, idle->capacity, sizeof *idle->list);
    }
    idle->list[idle->count++] = (struct html_idle_piece){.from = from,
                                                         .to = to,
                                                         .process = reader->device.process,
                                                         .gpu = reader->device.gpu,
                                                         .cause = (uint32_t)number};
}

/* The gap's pieces are there: only now it is known what ended it, for all of them. */
static void end_gap(void *context, uint64_t from, uint64_t to, const struct activity_work *next)
{
    struct reader *reader = context;
    (void)from;
    (void)to;
    for (; reader->gap < reader->idle->count; ++reader->gap)
        reader->idle->list[reader->gap].correlation = next->correlation;
    if (reader->idle->count >= MOST)
        thin(reader->idle);
    reader->gap = reader->idle->count;
}

static rtl_status_t read_device(const struct export *export, const rtl_queue_t *queue,
                                struct html_idle *idle)
{
    struct reader reader = {.idle = idle,
                            .device = {.process = queue->process,
                                       .gpu = queue->gpu,
                                       .window = {export->from, export->to},
                                       .gap = end_gap,
                                       .context = &reader,
                                       .idle = {.piece = add, .context = &reader}},
                            .gap = idle->count};
    rtl_status_t status = idle_device_read(export->trace, &reader.device);
    idle_device_free(&reader.device);
    return status;
}

/* True if a queue before it is of the same process and GPU. */
static bool is_known(const rtl_queue_t *queues, size_t at)
{
    for (size_t i = 0; i < at; ++i)
        if (queues[i].kernels && queues[i].process == queues[at].process &&
            queues[i].gpu == queues[at].gpu)
            return true;
    return false;
}

static int by_start(const void *left, const void *right)
{
    const struct html_idle_piece *a = left;
    const struct html_idle_piece *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->gpu > b->gpu) - (a->gpu < b->gpu);
}

rtl_status_t html_idle_read(const struct export *export, struct html_idle *idle)
{
    const rtl_queue_t *queues;
    size_t count;
    if (filter_given(export->selection.filter, FILTER_KERNEL | FILTER_STREAM | FILTER_PHASE))
        return RTL_OK; /* something else may have run */
    rtl_status_t status = absent_read(export->trace, 0, RTL_TRACE_NONE, &idle->absent);
    if (status != RTL_OK || idle->absent.by_mode)
        return status;
    status = rtlTraceQueues(export->trace, &queues, &count);
    for (size_t i = 0; status == RTL_OK && i < count; ++i)
        if (queues[i].kernels && queues[i].gpu != RTL_TRACE_NONE &&
            export_wants(export, queues[i].process) && !is_known(queues, i) &&
            rtl_trace_selects(export->trace, queues[i].process, queues[i].gpu))
            status = read_device(export, &queues[i], idle);
    if (idle->count)
        qsort(idle->list, idle->count, sizeof *idle->list, by_start);
    return status;
}

const struct html_idle_piece *html_idle_next(struct html_idle *idle, uint64_t time)
{
    if (idle->next == idle->count || idle->list[idle->next].from >= time)
        return NULL;
    return &idle->list[idle->next++];
}

void html_idle_free(struct html_idle *idle)
{
    free(idle->list);
    texts_free(&idle->causes);
    *idle = (struct html_idle){0};
}

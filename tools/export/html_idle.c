#include "export/html_idle.h"

#include "analysis/idle_device.h"
#include "common/memory.h"
#include "export/html_put.h"
#include "export/html_time.h"

#include <stdlib.h>

/* So many events, and the shortest of those that follow are none any more. */
#define MOST       (UINT64_C(1) << 20)
#define LEAST_TIME 128u /* ns, at first */

/* What ran so long before a window is read at first, ns. */
#define LOOK_BACK UINT64_C(1000000)

/* A part of a gap. */
struct piece {
    uint64_t from, to;
    size_t cause;
};

struct html_idle_device {
    struct html_page *page;
    struct idle_device device;
    struct piece *pieces; /* of the gap at hand */
    size_t count, capacity;
    uint32_t *names; /* texts of the page by cause, plus one; 0: not made */
    size_t name_count;
    struct activity_works works; /* where it is read beside the events */
    struct activity_work coming;
    bool has; /* something that is coming */
};

static void add(void *context, size_t cause, uint64_t from, uint64_t to)
{
    struct html_idle_device *device = context;
    if (cause == IDLE_IN_GRAPH)
        return;
    if (device->count == device->capacity) {
        device->capacity = device->capacity ? 2 * device->capacity : 64;
        device->pieces = memory_grown(device->pieces, device->capacity, sizeof *device->pieces);
    }
    device->pieces[device->count++] = (struct piece){from, to, cause};
}

/* The text of a cause: a call has "in " before it. */
static uint32_t name_of(struct html_idle_device *device, size_t cause)
{
    char text[256];
    if (cause >= device->name_count) {
        size_t count = 2 * (cause + 1);
        device->names = memory_grown(device->names, count, sizeof *device->names);
        for (size_t i = device->name_count; i < count; ++i)
            device->names[i] = 0;
        device->name_count = count;
    }
    if (device->names[cause] == 0) {
        (void)snprintf(text, sizeof text, "%s%s", cause >= IDLE_CALLS ? "in " : "",
                       idle_label(&device->device.causes, cause));
        device->names[cause] = html_number(device->page, text) + 1;
    }
    return device->names[cause] - 1;
}

/* Where there are too many events, those that are longer than most are taken from then on. */
static bool is_event(struct html_idle *idle, const struct piece *piece)
{
    if (piece->to - piece->from < idle->least)
        return false;
    if (++idle->pieces == MOST) {
        idle->least = idle->least ? 2 * idle->least : LEAST_TIME;
        idle->pieces = MOST / 2;
    }
    return true;
}

/* Keeps a gap if it is among the longest. */
static void keep_gap(struct html_idle *idle, const struct html_gap *gap)
{
    size_t at = idle->gap_count;
    if (at == HTML_GAPS && gap->to - gap->from <= idle->gaps[at - 1].to - idle->gaps[at - 1].from)
        return;
    if (at == HTML_GAPS)
        --at;
    else
        ++idle->gap_count;
    for (; at > 0 && idle->gaps[at - 1].to - idle->gaps[at - 1].from < gap->to - gap->from; --at)
        idle->gaps[at] = idle->gaps[at - 1];
    idle->gaps[at] = *gap;
}

/* The gap's pieces are there: only now it is known what ended it, for all of them. */
static void end_gap(void *context, uint64_t from, uint64_t to, const struct activity_work *next)
{
    struct html_idle_device *device = context;
    struct html_key key = html_no_key;
    const struct html_gap gap = {.from = html_time(from, device->page->zero),
                                 .to = html_time(to, device->page->zero),
                                 .process = device->device.process,
                                 .gpu = device->device.gpu,
                                 .name = name_of(device, device->device.idle.last)};
    keep_gap(&device->page->idle, &gap);
    key.kind = HTML_IDLE;
    key.process = device->device.process;
    key.gpu = device->device.gpu;
    for (size_t i = 0; i < device->count; ++i) {
        const struct piece *piece = &device->pieces[i];
        struct html_slice slice = {.item = name_of(device, piece->cause),
                                   .correlation = next->correlation};
        if (slice.item == UINT32_MAX ||
            !html_put_late(device->page, &key, &slice, piece->from, piece->to,
                           is_event(&device->page->idle, piece)))
            memory_is_short();
    }
    device->count = 0;
}

static rtl_status_t come(struct html_idle_device *device)
{
    rtl_status_t status = activity_works_next(&device->works, &device->coming);
    device->has = status == RTL_OK;
    return status == RTL_END ? RTL_OK : status;
}

/* So far back something of a launch may have run that goes on in the window, ns. */
static uint64_t launch_before(const struct html_page *page)
{
    const struct html_graphs *graphs = &page->graphs;
    uint64_t from = page->export->from;
    uint64_t most = 0;
    for (size_t i = 0; i < graphs->launch_count; ++i) {
        const rtl_graph_launch_t *row = &graphs->launch_rows[i];
        if (row->start && row->start < from && row->end > from && from - row->start > most)
            most = from - row->start;
    }
    return most;
}

/* Opens what a device did, and reads as little of what was before a window as it takes to know
 * since when the device was idle at its begin: something that ran before it, if there is anything.
 */
static rtl_status_t open_works(struct html_page *page, struct html_idle_device *device)
{
    const struct export *export = page->export;
    uint32_t process = device->device.process;
    uint32_t gpu = device->device.gpu;
    uint64_t back = launch_before(page) + LOOK_BACK;
    rtl_status_t status;
    for (;; back *= 8) {
        uint64_t from = export->from > back && back < UINT64_MAX / 8 ? export->from - back : 0;
        status = activity_works_open_at(export->trace, process, gpu, from, &device->works);
        if (status == RTL_OK)
            status = come(device);
        bool before = device->has && device->coming.start < export->from;
        if (status != RTL_OK || before || from <= export->info.start)
            return status;
        activity_works_close(&device->works);
    }
}

static rtl_status_t open_device(struct html_page *page, const rtl_queue_t *queue)
{
    struct html_idle *idle = &page->idle;
    const struct export *export = page->export;
    struct html_idle_device *device = memory_new(1, sizeof *device);
    idle->devices = memory_grown(idle->devices, idle->count + 1, sizeof(struct html_idle_device *));
    idle->devices[idle->count++] = device;
    device->page = page;
    device->device = (struct idle_device){.process = queue->process,
                                          .gpu = queue->gpu,
                                          .window = {export->from, export->to},
                                          .gap = end_gap,
                                          .context = device,
                                          .outside = true,
                                          .idle = {.piece = add, .context = device}};
    rtl_status_t status = idle_device_open(export->trace, &device->device);
    return status == RTL_OK && idle->beside ? open_works(page, device) : status;
}

static struct html_idle_device *device_of(const struct html_idle *idle, uint32_t process,
                                          uint32_t gpu)
{
    for (size_t i = 0; i < idle->count; ++i)
        if (idle->devices[i]->device.process == process && idle->devices[i]->device.gpu == gpu)
            return idle->devices[i];
    return NULL;
}

rtl_status_t html_idle_begin(struct html_page *page)
{
    const struct export *export = page->export;
    struct html_idle *idle = &page->idle;
    const rtl_queue_t *queues;
    size_t count;
    if (filter_given(export->selection.filter, FILTER_KERNEL | FILTER_STREAM | FILTER_PHASE))
        return RTL_OK; /* something else may have run */
    idle->beside = export->from || export->to;
    rtl_status_t status = absent_read(export->trace, 0, RTL_TRACE_NONE, &idle->absent);
    if (status != RTL_OK || idle->absent.by_mode)
        return status;
    status = rtlTraceQueues(export->trace, &queues, &count);
    for (size_t i = 0; status == RTL_OK && i < count; ++i)
        if (queues[i].kernels && queues[i].gpu != RTL_TRACE_NONE &&
            export_wants(export, queues[i].process) &&
            !device_of(idle, queues[i].process, queues[i].gpu) &&
            rtl_trace_selects(export->trace, queues[i].process, queues[i].gpu))
            status = open_device(page, &queues[i]);
    return status;
}

/* What of a device begins by `start`, where it is read beside the events. */
static rtl_status_t read_until(struct html_idle_device *device, uint64_t start)
{
    rtl_status_t status = RTL_OK;
    while (device->has && device->coming.start <= start && status == RTL_OK) {
        status = idle_device_take(&device->device, &device->coming);
        if (status == RTL_OK)
            status = come(device);
    }
    return status;
}

rtl_status_t html_idle_until(struct html_page *page, uint64_t start)
{
    const struct html_idle *idle = &page->idle;
    rtl_status_t status = RTL_OK;
    for (size_t i = 0; idle->beside && i < idle->count && status == RTL_OK; ++i)
        status = read_until(idle->devices[i], start);
    return status;
}

rtl_status_t html_idle_take(struct html_page *page, uint32_t process,
                            const struct activity_work *work)
{
    const struct html_idle *idle = &page->idle;
    struct html_idle_device *device = idle->beside ? NULL : device_of(idle, process, work->gpu);
    return device ? idle_device_take(&device->device, work) : RTL_OK;
}

/* What begins behind the window ends the last gap in it. */
static rtl_status_t finish_device(struct html_idle_device *device)
{
    rtl_status_t status = device->has ? idle_device_take(&device->device, &device->coming) : RTL_OK;
    return status == RTL_OK ? idle_device_finish(&device->device) : status;
}

rtl_status_t html_idle_finish(struct html_page *page)
{
    const struct html_idle *idle = &page->idle;
    uint64_t to = page->export->to;
    rtl_status_t status = html_idle_until(page, to ? to : UINT64_MAX);
    for (size_t i = 0; i < idle->count && status == RTL_OK; ++i)
        status = finish_device(idle->devices[i]);
    return status;
}

void html_idle_free(struct html_idle *idle)
{
    for (size_t i = 0; i < idle->count; ++i) {
        idle_device_free(&idle->devices[i]->device);
        activity_works_close(&idle->devices[i]->works);
        free(idle->devices[i]->pieces);
        free(idle->devices[i]->names);
        free(idle->devices[i]);
    }
    free(idle->devices);
    *idle = (struct html_idle){0};
}

/* What devices did: kernels, copies, launches of graphs, and where they come from. */
#include "export/rocpd_rows.h"

#include "common/command.h"
#include "export/lookup.h"

#include <string.h>

/* Where a kernel or copy comes from. No part is ever NULL: its views would lose the row. */
struct source {
    int64_t thread, region_name, stack, parent;
};

/* A region that was written, or a range of an earlier part: thread and name. */
static bool find_region(struct rocpd *rocpd, struct rocpd_last *last, int64_t id)
{
    int64_t found[2];
    if (id == 0)
        return false;
    if (last->key == id)
        return true;
    if (!database_find(&rocpd->database, ROCPD_FIND_REGION,
                       "SELECT tid, name_id FROM rocpd_region WHERE id = ?", id, found, 2) &&
        !(rocpd->earlier &&
          database_find(&rocpd->database, ROCPD_FIND_EARLIER,
                        "SELECT tid, name_id FROM temp.earlier WHERE id = ?", id, found, 2)))
        return false;
    *last = (struct rocpd_last){.key = id, .id = found[0], .other = found[1]};
    return true;
}

/* True if a host call that is not in this file is in another part of the export. */
static bool in_other_part(const struct rocpd *rocpd, const struct export_event *event)
{
    return rocpd->export->split_size && event->origin.call &&
           selection_has_call(&rocpd->export->selection, event->origin.start);
}

/* `name` is the string of the region's name where there is no range. */
static struct source source_of(struct rocpd *rocpd, const struct export_event *event, int64_t name)
{
    int64_t call = rocpd_region_id(event->process, event->origin.call);
    int64_t range = rocpd_region_id(event->process, event->origin.range);
    struct source source = {.thread = rocpd_unknown_thread_id(rocpd, event->process),
                            .region_name = name};
    if (find_region(rocpd, &rocpd->range, range)) {
        source.thread = rocpd->range.id;
        source.region_name = rocpd->range.other;
        source.parent = range;
    }
    if (find_region(rocpd, &rocpd->call, call)) {
        source.thread = rocpd->call.id;
        source.stack = call;
    } else if (in_other_part(rocpd, event)) {
        source.thread = rocpd_thread_id(rocpd, event->process, event->origin.thread);
        source.stack = call;
    }
    return source;
}

static uint32_t agent_of_queue(const struct rocpd *rocpd, uint32_t process, uint32_t queue)
{
    const rtl_queue_t *items = NULL;
    size_t count = 0;
    size_t place = lookup_queue_place(rocpd->export, process, queue);
    (void)rtlTraceQueues(rocpd->export->trace, &items, &count);
    return place < count ? items[place].agent : RTL_TRACE_NONE;
}

/* The id of a kernel's symbol, and of the string that is its name. */
static int64_t kernel_id(struct rocpd *rocpd, const rtl_kernel_t *kernel, int64_t *name)
{
    size_t place = lookup_symbol_place(rocpd->export, kernel->process, kernel->symbol);
    if (place < rocpd->symbols) {
        if (rocpd->names[place] == 0)
            rocpd->names[place] = rocpd_string_id(rocpd, kernel->name);
        *name = rocpd->names[place];
        return (int64_t)place + 1;
    }
    bool added;
    int64_t id =
        (int64_t)rocpd->symbols + rocpd_text_id(rocpd, &rocpd->unknown, kernel->name, &added);
    const rtl_symbol_t symbol = {.process = kernel->process,
                                 .agent = RTL_TRACE_NONE,
                                 .name = kernel->name,
                                 .mangled = kernel->mangled};
    if (added)
        (void)rocpd_symbol_row(rocpd, id, &symbol);
    *name = rocpd_string_id(rocpd, kernel->name);
    return id;
}

/* A stream is of one device, which its kernels tell; but the NULL stream and that of each thread
 * (hipStreamLegacy 1, hipStreamPerThread 2) are there for all. */
static void note_stream(struct rocpd *rocpd, const struct export_event *event, int64_t stream,
                        int64_t agent)
{
    if ((size_t)stream > rocpd->streams || rocpd->agents_of_streams[stream] != 0 ||
        event->kernel->graph != RTL_TRACE_NONE)
        return;
    bool single = lookup_stream(rocpd->export, event->process, event->origin.stream) > 2;
    if (!single || (size_t)agent <= rocpd->agents)
        rocpd->agents_of_streams[stream] = single ? agent : -1;
}

/* Ids of executable graphs count from 1 there as here; those of nodes do there, from 0 here. */
static int kernel_row(struct rocpd *rocpd, const struct export_event *event)
{
    const rtl_kernel_t *kernel = event->kernel;
    bool replayed = kernel->graph != RTL_TRACE_NONE;
    int64_t name;
    int64_t symbol = kernel_id(rocpd, kernel, &name);
    struct source source = source_of(rocpd, event, name);
    int status = rocpd_event_row(rocpd, ROCPD_KERNELS, source.stack, source.parent);
    if (status != EXIT_FINE)
        return status;
    int64_t agent =
        rocpd_agent_id(rocpd, event->process, agent_of_queue(rocpd, event->process, kernel->queue));
    int64_t stream = rocpd_stream_id(rocpd, event->process, event->origin.stream);
    note_stream(rocpd, event, stream, agent);
    const int64_t row[] = {
        rocpd_node_id(rocpd, event->process),
        rocpd_process_id(rocpd, event->process),
        source.thread,
        agent,
        symbol,
        ++rocpd->dispatches,
        rocpd_queue_id(rocpd, event->process, kernel->queue),
        stream,
        (int64_t)kernel->start,
        (int64_t)kernel->end,
        (int64_t)kernel->private_size,
        (int64_t)kernel->group_size,
        (int64_t)kernel->block[0],
        (int64_t)kernel->block[1],
        (int64_t)kernel->block[2],
        (int64_t)kernel->grid[0],
        (int64_t)kernel->grid[1],
        (int64_t)kernel->grid[2],
        (int64_t)(replayed ? kernel->graph : 0),
        (int64_t)(kernel->node != RTL_TRACE_NONE ? (uint64_t)kernel->node + 1 : 0),
        source.region_name,
        rocpd->events};
    status = database_numbers(
        &rocpd->database, ROCPD_KERNEL,
        "INSERT OR ROLLBACK INTO rocpd_kernel_dispatch(nid, pid, tid, agent_id, kernel_id,"
        " dispatch_id, queue_id, stream_id, start, end, private_segment_size, group_segment_size,"
        " workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y,"
        " grid_size_z, graph_exec_id, graph_node_id, region_name_id, event_id)",
        sizeof row / sizeof *row, row);
    return status == EXIT_FINE ? rocpd_sample_rows(rocpd, event) : status;
}

static const char *copy_name(const rtl_copy_t *copy)
{
    static const char *const names[][2] = {
        {"host-to-host", "MEMORY_COPY_HOST_TO_HOST"},
        {"host-to-device", "MEMORY_COPY_HOST_TO_DEVICE"},
        {"device-to-host", "MEMORY_COPY_DEVICE_TO_HOST"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (strcmp(names[i][0], copy->kind) == 0)
            return names[i][1];
    return "MEMORY_COPY_DEVICE_TO_DEVICE";
}

/* A copy whose times nobody took is left out. */
static int copy_row(struct rocpd *rocpd, const struct export_event *event)
{
    const rtl_copy_t *copy = event->copy;
    if (copy->start == 0 && copy->end == 0)
        return EXIT_FINE;
    struct source source = source_of(rocpd, event, rocpd_string_id(rocpd, ""));
    int status = rocpd_event_row(rocpd, ROCPD_COPIES, source.stack, source.parent);
    if (status != EXIT_FINE)
        return status;
    return database_row(
        &rocpd->database, ROCPD_COPY,
        "INSERT INTO rocpd_memory_copy(nid, pid, tid, start, end, name_id, dst_agent_id,"
        " src_agent_id, size, queue_id, stream_id, region_name_id, event_id)"
        " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
        "iiiiiiiiiiiii", rocpd_node_id(rocpd, event->process),
        rocpd_process_id(rocpd, event->process), source.thread, (int64_t)copy->start,
        (int64_t)copy->end, rocpd_string_id(rocpd, copy_name(copy)),
        rocpd_agent_id(rocpd, event->process, copy->dst),
        rocpd_agent_id(rocpd, event->process, copy->src), (int64_t)copy->bytes,
        rocpd_queue_id(rocpd, event->process, copy->queue),
        rocpd_stream_id(rocpd, event->process, event->origin.stream), source.region_name,
        rocpd->events);
}

static int launch_row(struct rocpd *rocpd, const rtl_graph_launch_t *launch)
{
    int64_t call = rocpd_region_id(launch->process, launch->correlation);
    uint64_t start = launch->start ? launch->start : launch->time;
    uint64_t end = launch->end > start ? launch->end : start;
    int status = rocpd_event_row(rocpd, ROCPD_LAUNCHES, call,
                                 rocpd_region_id(launch->process, launch->range));
    if (status != EXIT_FINE)
        return status;
    return database_row(
        &rocpd->database, ROCPD_LAUNCH,
        "INSERT INTO rocpd_graph_launch(nid, pid, tid, start, end, graph_exec_id,"
        " kernel_dispatch_count, event_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        "iiiiiiii", rocpd_node_id(rocpd, launch->process), rocpd_process_id(rocpd, launch->process),
        rocpd_thread_id(rocpd, launch->process, launch->thread), (int64_t)start, (int64_t)end,
        (int64_t)launch->graph, (int64_t)launch->kernels, rocpd->events);
}

int rocpd_visit_device(void *state, const struct export_event *event)
{
    struct rocpd *rocpd = state;
    if (event->kind == EXPORT_KERNEL)
        return kernel_row(rocpd, event);
    return event->kind == EXPORT_COPY ? copy_row(rocpd, event) : launch_row(rocpd, event->launch);
}

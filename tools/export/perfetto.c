/* Perfetto's own format: which tracks and events a trace has there. A part begins with a packet
 * that forgets the interned names, so that files can be put one behind the other. */
#include "export/costs.h"
#include "export/lanes.h"
#include "export/later.h"
#include "export/levels.h"
#include "export/lookup.h"
#include "export/out.h"
#include "export/perfetto_packets.h"

#include "common/command.h"
#include "common/memory.h"
#include "common/open.h"
#include "common/say.h"
#include "common/show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What a track or a lane is of. */
enum track_kind {
    OF_PROCESS = 1,
    OF_THREAD,
    OF_GPU,
    OF_STREAM,
    OF_QUEUE,
    OF_COPIES,
    OF_LAUNCHES, /* of graphs, by GPU */
    OF_STARTED,  /* ranges that need not nest */
    OF_DEPTH,
    OF_RUNNING,
    OF_COUNTER, /* of hardware, while a kernel ran */
    OF_CALL     /* no track: a flow */
};

struct perfetto {
    struct export *export;
    struct out out;
    uint64_t seed; /* makes ids of this trace different from those of others */
    uint64_t untimed;
    struct packets packets;
    struct lanes lanes;
    struct levels counters;
    struct later later;                 /* ends of slices, and what counters become */
    uint64_t reached;                   /* the time of what is written */
    bool ahead;                         /* calls of kernels are told before they begin */
    const rtl_graph_launch_t *launches; /* by process, graph, launch */
    size_t launch_count;
    bool *launch_told; /* by place in `launches`: it has its slice */
    struct costs costs;
};

/* Ids. */

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t hash = (a ^ b) * UINT64_C(0x9E3779B97F4A7C15);
    hash ^= hash >> 32;
    hash *= UINT64_C(0xD6E8FEB86659FD93);
    return hash ^ hash >> 32;
}

/* 48 bits: enough to be different, and short in a varint. */
static uint64_t id_of(const struct perfetto *perfetto, const struct lane_key *key, unsigned number)
{
    uint64_t id = mix(perfetto->seed, (uint64_t)key->kind << 32 | key->process);
    return mix(mix(id, key->id), (uint64_t)key->gpu << 32 | number) >> 16 | 1;
}

static uint64_t flow_of(const struct perfetto *perfetto, uint32_t process, uint64_t call)
{
    struct lane_key key = {process, OF_CALL, call, 0};
    return id_of(perfetto, &key, 0);
}

static uint64_t seed_of(const struct export *export)
{
    uint64_t seed = mix(export->info.start, (uint64_t) export->info.realtime_offset);
    for (const char *c = export->info.host; *c; ++c)
        seed = mix(seed, (unsigned char)*c);
    return seed;
}

/* Tracks. */

static size_t begin_track(struct perfetto *perfetto, uint64_t id, uint64_t parent, const char *name)
{
    packets_begin(&perfetto->packets, FLAG_NEEDS_STATE);
    size_t begin = proto_begin(&perfetto->packets.packet, PACKET_TRACK);
    proto_number(&perfetto->packets.packet, TRACK_ID, id);
    if (parent)
        proto_number(&perfetto->packets.packet, TRACK_PARENT, parent);
    if (name)
        proto_text(&perfetto->packets.packet, TRACK_NAME, name);
    return begin;
}

static void end_track(struct perfetto *perfetto, size_t begin)
{
    proto_end(&perfetto->packets.packet, begin);
    packets_write(&perfetto->packets);
}

static uint64_t process_track(const struct perfetto *perfetto, uint32_t process)
{
    struct lane_key key = {process, OF_PROCESS, 0, 0};
    return id_of(perfetto, &key, 0);
}

static uint64_t thread_track(const struct perfetto *perfetto, uint32_t process, uint32_t thread)
{
    struct lane_key key = {process, OF_THREAD, thread, 0};
    return id_of(perfetto, &key, 0);
}

static uint64_t gpu_track(const struct perfetto *perfetto, uint32_t process, uint32_t gpu)
{
    struct lane_key key = {process, OF_GPU, 0, gpu};
    return id_of(perfetto, &key, 0);
}

static void write_process(struct perfetto *perfetto, const rtl_process_t *process)
{
    char name[512];
    const char *given = export_process_name(process);
    (void)snprintf(name, sizeof name, "%.400s%s%.64s", given[0] ? given : "process",
                   process->rank[0] ? ", rank " : "", process->rank);
    size_t begin = begin_track(perfetto, process_track(perfetto, process->process), 0, NULL);
    size_t inside = proto_begin(&perfetto->packets.packet, TRACK_PROCESS);
    proto_number(&perfetto->packets.packet, PROCESS_PID, process->pid);
    proto_text(&perfetto->packets.packet, PROCESS_NAME, name);
    proto_end(&perfetto->packets.packet, inside);
    end_track(perfetto, begin);
}

static void write_thread(struct perfetto *perfetto, const rtl_thread_t *thread)
{
    const rtl_process_t *process = export_process(perfetto->export, thread->process);
    size_t begin = begin_track(perfetto, thread_track(perfetto, thread->process, thread->thread),
                               process_track(perfetto, thread->process), NULL);
    size_t inside = proto_begin(&perfetto->packets.packet, TRACK_THREAD);
    proto_number(&perfetto->packets.packet, THREAD_PID, process ? process->pid : 0);
    proto_number(&perfetto->packets.packet, THREAD_TID, thread->thread);
    if (thread->name[0])
        proto_text(&perfetto->packets.packet, THREAD_NAME, thread->name);
    proto_end(&perfetto->packets.packet, inside);
    end_track(perfetto, begin);
}

static void write_gpu(struct perfetto *perfetto, const rtl_agent_t *agent)
{
    char name[256];
    (void)snprintf(name, sizeof name, "GPU %u: %.100s %.100s", agent->gpu, agent->name,
                   agent->product);
    end_track(perfetto, begin_track(perfetto, gpu_track(perfetto, agent->process, agent->gpu),
                                    process_track(perfetto, agent->process), name));
}

static rtl_status_t write_tracks(struct perfetto *perfetto)
{
    const struct export *export = perfetto->export;
    const rtl_agent_t *agents;
    const rtl_thread_t *threads;
    size_t agent_count;
    size_t thread_count = 0;
    for (size_t i = 0; i < export->process_count; ++i)
        if (export_wants(export, export->processes[i].process))
            write_process(perfetto, &export->processes[i]);
    rtl_status_t status = rtlTraceAgents(export->trace, &agents, &agent_count);
    for (size_t i = 0; status == RTL_OK && i < agent_count; ++i)
        if (agents[i].gpu != RTL_TRACE_NONE && export_wants(export, agents[i].process))
            write_gpu(perfetto, &agents[i]);
    if (status == RTL_OK)
        status = rtlTraceThreads(export->trace, &threads, &thread_count);
    for (size_t i = 0; status == RTL_OK && i < thread_count; ++i)
        if (export_wants(export, threads[i].process))
            write_thread(perfetto, &threads[i]);
    return status;
}

static const char *stream_name(const struct perfetto *perfetto, const struct lane_key *key)
{
    const rtl_stream_t *streams = NULL;
    size_t count = 0;
    size_t place = lookup_stream_place(perfetto->export, key->process, (uint32_t)key->id);
    (void)rtlTraceStreams(perfetto->export->trace, &streams, &count);
    return place < count ? streams[place].name : "";
}

static void tell_lane(struct perfetto *perfetto, const struct lane *lane, uint64_t track)
{
    static const char *const nouns[] = {[OF_STREAM] = "stream",
                                        [OF_QUEUE] = "queue",
                                        [OF_COPIES] = "copies of queue",
                                        [OF_LAUNCHES] = "graph launches",
                                        [OF_STARTED] = "started ranges"};
    char name[400];
    char which[32] = "";
    char further[48] = "";
    const struct lane_key *key = &lane->key;
    const char *given = key->kind == OF_STREAM ? stream_name(perfetto, key) : "";
    bool of_gpu = key->kind != OF_STARTED && key->gpu != RTL_TRACE_NONE;
    if (key->kind != OF_STARTED && key->kind != OF_LAUNCHES)
        (void)snprintf(which, sizeof which, " %" PRIu64, key->id);
    if (lane->number)
        (void)snprintf(further, sizeof further, " (at the same time, %u)", lane->number);
    (void)snprintf(name, sizeof name, "%s%s%s%.256s%s", nouns[key->kind], which,
                   given[0] ? " " : "", given, further);
    end_track(perfetto, begin_track(perfetto, track,
                                    of_gpu ? gpu_track(perfetto, key->process, key->gpu)
                                           : process_track(perfetto, key->process),
                                    name));
}

/* Slices on lanes. */

/* Where it came from. Flows may go from part to part: these can be put together. */
static void origin(struct perfetto *perfetto, const struct export_event *event, bool flow)
{
    uint64_t call = event->origin.call;
    if (call)
        packets_number(&perfetto->packets, "correlation", call);
    if (event->origin.range)
        packets_number(&perfetto->packets, "range", event->origin.range);
    if (call && flow && selection_has_call(&perfetto->export->selection, event->origin.start))
        proto_fixed64(&perfetto->packets.event, EVENT_FLOW,
                      flow_of(perfetto, event->process, call));
}

/* The track of a lane that is free for [start, end); 0 when memory is short. Kernels of a launch
 * have lanes that are theirs until the launch ends. */
static uint64_t take_track(struct perfetto *perfetto, const struct lane_key *key, uint64_t start,
                           uint64_t end, const rtl_graph_launch_t *launch)
{
    struct lane *lane = lanes_take(&perfetto->lanes, key, launch, start, end);
    if (!lane)
        return 0;
    uint64_t track = id_of(perfetto, key, lane->number);
    if (!lane->told)
        tell_lane(perfetto, lane, track);
    lane->told = 1;
    lane->owner = launch;
    if (launch && lane->busy < launch->end)
        lane->busy = launch->end;
    return track;
}

static void forget_lanes(struct perfetto *perfetto)
{
    for (size_t i = 0; i < perfetto->lanes.count; ++i)
        perfetto->lanes.list[i].told = 0;
}

/* Counters. */

/* Hardware counters are told apart by their places in the list of all. */
static const char *counter_name(const struct perfetto *perfetto, uint64_t place)
{
    const rtl_trace_counter_t *items = NULL;
    size_t count = 0;
    (void)rtlTraceCounters(perfetto->export->trace, &items, &count);
    return place < count ? items[place].name : "";
}

static void tell_counter(struct perfetto *perfetto, const struct lane_key *key, uint64_t track)
{
    char name[128];
    if (key->kind == OF_DEPTH)
        (void)snprintf(name, sizeof name, "queue %" PRIu64 " depth", key->id);
    else if (key->kind == OF_COUNTER)
        (void)snprintf(name, sizeof name, "%s", counter_name(perfetto, key->id));
    else
        (void)snprintf(name, sizeof name, "GPU %u running kernels (0: idle)", key->gpu);
    size_t begin = begin_track(perfetto, track, gpu_track(perfetto, key->process, key->gpu), name);
    size_t inside = proto_begin(&perfetto->packets.packet, TRACK_COUNTER);
    proto_number(&perfetto->packets.packet, COUNTER_UNIT, UNIT_COUNT);
    proto_end(&perfetto->packets.packet, inside);
    end_track(perfetto, begin);
}

static void write_sample(void *state, struct level *counter, uint64_t time)
{
    struct perfetto *perfetto = state;
    uint64_t track = id_of(perfetto, &counter->key, 0);
    if (!counter->told)
        tell_counter(perfetto, &counter->key, track);
    counter->told = true;
    packets_begin_event(&perfetto->packets, TYPE_COUNTER, track);
    proto_number(&perfetto->packets.event, EVENT_COUNTER, counter->value);
    packets_end_event(&perfetto->packets, time);
}

static struct level *counter_of(struct perfetto *perfetto, const struct lane_key *key)
{
    struct level *counter = levels_of(&perfetto->counters, key);
    perfetto->packets.failed |= counter == NULL;
    return counter;
}

static struct level *depth_of(struct perfetto *perfetto, const rtl_kernel_t *kernel)
{
    const struct lane_key key = {kernel->process, OF_DEPTH, kernel->queue, kernel->gpu};
    return counter_of(perfetto, &key);
}

static void change(struct perfetto *perfetto, struct level *counter, enum later_change change)
{
    uint64_t value = change == LATER_MORE ? counter->value + 1 : counter->value - 1;
    levels_set(&perfetto->counters, counter, perfetto->reached, change == LATER_ZERO ? 0 : value);
}

/* In the order of time. */

static void add_later(struct perfetto *perfetto, const struct later_item *item)
{
    if (!later_add(&perfetto->later, item))
        perfetto->packets.failed = true;
}

static void end_slice(struct perfetto *perfetto, uint64_t track, uint64_t time)
{
    const struct later_item item = {.time = time, .track = track};
    add_later(perfetto, &item);
}

/* Comes to a time: what has changed before is written. */
static void reach(struct perfetto *perfetto, uint64_t time)
{
    levels_until(&perfetto->counters, time, write_sample, perfetto);
    if (perfetto->reached < time)
        perfetto->reached = time;
}

/* Writes what is to come up to `time`, before what begins then. */
static void write_until(struct perfetto *perfetto, uint64_t time)
{
    struct later_item item;
    while (later_take(&perfetto->later, time, &item)) {
        reach(perfetto, item.time);
        if (item.track)
            packets_end_slice(&perfetto->packets, item.track, item.time);
        for (unsigned i = 0; i < 2; ++i)
            if (item.levels[i])
                change(perfetto, item.levels[i], item.change);
    }
    reach(perfetto, time);
}

/* At the end of a part slices end; what counters have become just now, and will, is for the next
 * one. */
static void end_slices(struct perfetto *perfetto)
{
    struct later next = {0};
    struct later_item item;
    while (later_take(&perfetto->later, UINT64_MAX, &item)) {
        if (item.track)
            packets_end_slice(&perfetto->packets, item.track, item.time);
        item.track = 0;
        if (item.levels[0] && !later_add(&next, &item))
            perfetto->packets.failed = true;
    }
    later_free(&perfetto->later);
    perfetto->later = next;
}

/* A queue is deeper from a kernel's call on, which comes before the kernel, if it has one. */
static bool is_told(const struct perfetto *perfetto, const rtl_kernel_t *kernel,
                    const rtl_trace_origin_t *origin)
{
    return perfetto->ahead && origin->call && origin->start < kernel->start;
}

static void look_ahead(void *state, const rtl_kernel_t *kernel, const rtl_trace_origin_t *origin)
{
    struct perfetto *perfetto = state;
    const struct later_item item = {
        .time = origin->start, .levels = {depth_of(perfetto, kernel)}, .change = LATER_MORE};
    if (is_told(perfetto, kernel, origin))
        add_later(perfetto, &item);
}

/* The end of a kernel is that of its slice, too. */
static void count_kernel(struct perfetto *perfetto, const struct export_event *event,
                         struct later_item *end)
{
    const rtl_kernel_t *kernel = event->kernel;
    const struct lane_key key = {kernel->process, OF_RUNNING, 0, kernel->gpu};
    struct level *running = counter_of(perfetto, &key);
    struct level *depth = depth_of(perfetto, kernel);
    if (!running || !depth)
        return;
    change(perfetto, running, LATER_MORE);
    if (!is_told(perfetto, kernel, &event->origin))
        change(perfetto, depth, LATER_MORE);
    end->levels[0] = running;
    end->levels[1] = depth;
}

/* The value while the kernel runs, 0 behind it. */
static void write_counts(struct perfetto *perfetto, const struct export_event *event)
{
    const rtl_trace_sample_t *sample = event->samples;
    for (uint32_t i = 0; event->sample_count && i < sample->count; ++i) {
        const struct lane_key key = {event->process, OF_COUNTER,
                                     lookup_counter_place(perfetto->export, sample->counters[i]),
                                     event->kernel->gpu};
        struct level *counter = counter_of(perfetto, &key);
        const struct later_item end = {
            .time = event->kernel->end, .levels = {counter}, .change = LATER_ZERO};
        if (!counter)
            return;
        levels_set(&perfetto->counters, counter, perfetto->reached, sample->values[i]);
        add_later(perfetto, &end);
    }
}

/* Parts. */

static void write_clock(struct proto *packet, unsigned id, uint64_t time)
{
    size_t begin = proto_begin(packet, SNAPSHOT_CLOCK);
    proto_number(packet, CLOCK_ID, id);
    proto_number(packet, CLOCK_TIME, time);
    proto_end(packet, begin);
}

static void write_head(struct perfetto *perfetto)
{
    const rtl_trace_info_t *info = &perfetto->export->info;
    struct proto *packet = &perfetto->packets.packet;
    packets_begin(&perfetto->packets, FLAG_CLEARED);
    proto_number(packet, PACKET_FIRST, 1);
    size_t begin = proto_begin(packet, PACKET_DEFAULTS);
    proto_number(packet, DEFAULTS_CLOCK, CLOCK_IS_BOOTTIME);
    proto_end(packet, begin);
    begin = proto_begin(packet, PACKET_CLOCK_SNAPSHOT);
    write_clock(packet, CLOCK_IS_BOOTTIME, info->start);
    write_clock(packet, CLOCK_IS_REALTIME, info->start + (uint64_t)info->realtime_offset);
    proto_number(packet, SNAPSHOT_PRIMARY, CLOCK_IS_BOOTTIME);
    proto_end(packet, begin);
    packets_write(&perfetto->packets);
}

static void forget(struct perfetto *perfetto)
{
    packets_forget(&perfetto->packets);
    for (size_t i = 0; i < perfetto->counters.count; ++i)
        perfetto->counters.list[i]->told = false;
}

static int begin(struct perfetto *perfetto)
{
    forget(perfetto);
    int status = out_begin(&perfetto->out, perfetto->export);
    if (status != EXIT_FINE)
        return status;
    write_head(perfetto);
    if (write_tracks(perfetto) != RTL_OK)
        return open_failed(perfetto->export->trace, perfetto->export->path);
    return EXIT_FINE;
}

static int end(struct perfetto *perfetto)
{
    end_slices(perfetto);
    forget_lanes(perfetto);
    return out_end(&perfetto->out);
}

/* Events. */

static void write_api(struct perfetto *perfetto, const rtl_api_t *api)
{
    char arguments[1024];
    uint64_t track = thread_track(perfetto, api->process, api->thread);
    (void)rtlApiArguments(api, arguments, sizeof arguments);
    packets_begin_event(&perfetto->packets, TYPE_BEGIN, track);
    packets_describe(&perfetto->packets, "api", api->name);
    packets_number(&perfetto->packets, "correlation", api->correlation);
    if (api->result)
        packets_signed(&perfetto->packets, "result", api->result);
    if (arguments[0])
        packets_text(&perfetto->packets, "arguments", arguments);
    proto_fixed64(&perfetto->packets.event, EVENT_FLOW,
                  flow_of(perfetto, api->process, api->correlation));
    packets_end_event(&perfetto->packets, api->start);
    end_slice(perfetto, track, api->end);
}

static void write_value(void *state, const char *name, const struct rtl_value *value)
{
    if (value->whole)
        packets_number(state, name, value->exact);
    else
        packets_real(state, name, value->number);
}

/* Names of ranges are not interned: each may be another one. A range that is open stays open. */
static void write_range(struct perfetto *perfetto, const struct export_event *event)
{
    const rtl_range_t *range = event->range;
    struct lane_key key = {range->process, OF_STARTED, 0, 0};
    bool mark = strcmp(range->kind, "mark") == 0;
    bool started = strcmp(range->kind, "start") == 0;
    uint64_t end = range->end ? range->end : UINT64_MAX;
    uint64_t track = started ? take_track(perfetto, &key, event->start, end, NULL)
                             : thread_track(perfetto, range->process, range->thread);
    perfetto->packets.failed |= track == 0;
    packets_begin_event(&perfetto->packets, mark ? TYPE_INSTANT : TYPE_BEGIN, track);
    packets_category(&perfetto->packets, "range");
    proto_text(&perfetto->packets.event, EVENT_NAME, range->name);
    packets_number(&perfetto->packets, "range", range->id);
    costs_each(&perfetto->costs, range, write_value, &perfetto->packets);
    packets_end_event(&perfetto->packets, range->start);
    if (!mark && range->end)
        end_slice(perfetto, track, range->end);
}

static int compare_launches(const void *a, const void *b)
{
    const rtl_graph_launch_t *left = a;
    const rtl_graph_launch_t *right = b;
    if (left->process != right->process)
        return left->process < right->process ? -1 : 1;
    if (left->graph != right->graph)
        return left->graph < right->graph ? -1 : 1;
    return (left->launch > right->launch) - (left->launch < right->launch);
}

static const rtl_graph_launch_t *launch_of(const struct perfetto *perfetto,
                                           const rtl_kernel_t *kernel)
{
    const rtl_graph_launch_t key = {
        .process = kernel->process, .graph = kernel->graph, .launch = kernel->launch};
    if (kernel->graph == RTL_TRACE_NONE || perfetto->launch_count == 0)
        return NULL;
    return bsearch(&key, perfetto->launches, perfetto->launch_count, sizeof key, compare_launches);
}

static void dimensions(struct perfetto *perfetto, const char *key, const uint32_t values[3])
{
    char buffer[40];
    (void)snprintf(buffer, sizeof buffer, "%u x %u x %u", values[0], values[1], values[2]);
    packets_word(&perfetto->packets, key, buffer);
}

/* One slice for a launch, however many branches it has, by its first kernel: so that who counts
 * them by name has the number of launches. */
static void write_launch(struct perfetto *perfetto, const struct export_event *event,
                         const rtl_graph_launch_t *launch)
{
    char name[32];
    size_t place = (size_t)(launch - perfetto->launches);
    const struct lane_key key = {event->process, OF_LAUNCHES, 0, event->kernel->gpu};
    if (perfetto->launch_told[place])
        return;
    perfetto->launch_told[place] = true;
    uint64_t track = take_track(perfetto, &key, event->start, launch->end, NULL);
    (void)snprintf(name, sizeof name, "GRAPH %u", launch->graph);
    packets_begin_event(&perfetto->packets, TYPE_BEGIN, track);
    packets_describe(&perfetto->packets, "graph", name);
    packets_number(&perfetto->packets, "launch", launch->launch);
    packets_number(&perfetto->packets, "generation", launch->generation);
    packets_number(&perfetto->packets, "kernels", launch->kernels);
    if (launch->kernels < launch->expected)
        packets_number(&perfetto->packets, "kernels not in the trace",
                       launch->expected - launch->kernels);
    origin(perfetto, event, true);
    packets_end_event(&perfetto->packets, event->start);
    end_slice(perfetto, track, launch->end);
    perfetto->packets.failed |= track == 0;
}

static void write_kernel(struct perfetto *perfetto, const struct export_event *event)
{
    const rtl_kernel_t *kernel = event->kernel;
    const rtl_graph_launch_t *launch = launch_of(perfetto, kernel);
    if (launch)
        write_launch(perfetto, event, launch);
    bool streamed = event->origin.stream != RTL_TRACE_NONE;
    struct lane_key key = {kernel->process, streamed ? OF_STREAM : OF_QUEUE,
                           streamed ? event->origin.stream : kernel->queue, kernel->gpu};
    uint64_t track = take_track(perfetto, &key, kernel->start, kernel->end, launch);
    packets_begin_event(&perfetto->packets, TYPE_BEGIN, track);
    packets_describe(&perfetto->packets, "kernel", kernel->name);
    packets_number(&perfetto->packets, "queue", kernel->queue);
    packets_number(&perfetto->packets, "packet", kernel->packet);
    dimensions(perfetto, "grid", kernel->grid);
    dimensions(perfetto, "block", kernel->block);
    if (launch) {
        packets_number(&perfetto->packets, "graph", launch->graph);
        packets_number(&perfetto->packets, "launch", launch->launch);
    }
    if (kernel->node != RTL_TRACE_NONE)
        packets_number(&perfetto->packets, "node", kernel->node);
    if (kernel->node_range)
        packets_number(&perfetto->packets, "capture_range", kernel->node_range);
    for (uint32_t i = 0; event->sample_count && i < event->samples->count; ++i)
        packets_number(&perfetto->packets, event->samples->counters[i]->name,
                       event->samples->values[i]);
    origin(perfetto, event, launch == NULL);
    packets_end_event(&perfetto->packets, kernel->start);
    struct later_item end = {.time = kernel->end, .track = track};
    if (!perfetto->export->no_counters) {
        count_kernel(perfetto, event, &end);
        write_counts(perfetto, event);
    }
    add_later(perfetto, &end);
    perfetto->packets.failed |= track == 0;
}

static void write_copy(struct perfetto *perfetto, const struct export_event *event)
{
    const rtl_copy_t *copy = event->copy;
    struct lane_key key = {copy->process, OF_COPIES, copy->queue, copy->gpu};
    if (copy->start == 0 && copy->end == 0) {
        ++perfetto->untimed;
        return;
    }
    uint64_t track = take_track(perfetto, &key, copy->start, copy->end, NULL);
    packets_begin_event(&perfetto->packets, TYPE_BEGIN, track);
    packets_describe(&perfetto->packets, "copy", copy->kind);
    packets_number(&perfetto->packets, "bytes", copy->bytes);
    packets_word(&perfetto->packets, "engine", copy->engine);
    origin(perfetto, event, true);
    packets_end_event(&perfetto->packets, copy->start);
    end_slice(perfetto, track, copy->end);
    perfetto->packets.failed |= track == 0;
}

static int visit(void *state, const struct export_event *event)
{
    struct perfetto *perfetto = state;
    int status = EXIT_FINE;
    if (out_full(&perfetto->out)) {
        status = end(perfetto);
        if (status == EXIT_FINE)
            status = begin(perfetto);
    }
    if (status != EXIT_FINE)
        return status;
    write_until(perfetto, event->start);
    if (event->kind == EXPORT_RANGE)
        write_range(perfetto, event);
    else if (event->kind == EXPORT_API)
        write_api(perfetto, event->api);
    else if (event->kind == EXPORT_COPY)
        write_copy(perfetto, event);
    else
        write_kernel(perfetto, event);
    if (perfetto->packets.failed)
        return say_fail(EXIT_USAGE, "there is not enough memory");
    return perfetto->out.error ? out_end(&perfetto->out) : EXIT_FINE;
}

static int write_all(struct perfetto *perfetto)
{
    int status = begin(perfetto);
    if (status == EXIT_FINE)
        status = export_walk_ahead(perfetto->export,
                                   EXPORT_RANGE | EXPORT_API | EXPORT_COPY | EXPORT_KERNEL, visit,
                                   perfetto->ahead ? look_ahead : NULL, perfetto);
    if (status != EXIT_FINE)
        return status;
    write_until(perfetto, UINT64_MAX);
    status = end(perfetto);
    if (status == EXIT_FINE && perfetto->untimed)
        say("%s %s left out: nobody took the times", show_things(perfetto->untimed, "copy").text,
            show_are(perfetto->untimed));
    return status;
}

static void clean(struct perfetto *perfetto)
{
    levels_free(&perfetto->counters);
    later_free(&perfetto->later);
    free(perfetto->launch_told);
    packets_free(&perfetto->packets);
    lanes_free(&perfetto->lanes);
    costs_free(&perfetto->costs);
    out_drop(&perfetto->out);
}

static int run(struct export *export)
{
    static struct perfetto perfetto;
    perfetto = (struct perfetto){.export = export, .seed = seed_of(export)};
    perfetto.packets = packets_of(&perfetto.out);
    perfetto.ahead = export->info.calls != 0 && !export->no_counters;
    rtl_status_t status =
        rtlTraceGraphLaunches(export->trace, &perfetto.launches, &perfetto.launch_count);
    perfetto.launch_told = memory_new(perfetto.launch_count + 1, sizeof(bool));
    if (status == RTL_OK)
        status = costs_read(&perfetto.costs, export);
    int result = status == RTL_OK ? write_all(&perfetto) : open_failed(export->trace, export->path);
    clean(&perfetto);
    return result;
}

const struct exporter export_perfetto = {
    "perfetto", ".perfetto-trace",
    EXPORT_SPLITS | EXPORT_PER_RANK | EXPORT_STREAMS | EXPORT_GZIP | EXPORT_COUNTERS, run};

/* Chrome's JSON in the dialect of Kineto, which HTA, TraceLens and Perfetto read. */
#include "export/costs.h"
#include "export/lanes.h"
#include "export/lookup.h"
#include "export/out.h"
#include "export/sent.h"
#include "export/spans.h"

#include "common/command.h"
#include "common/open.h"
#include "common/say.h"
#include "common/show.h"

#include <inttypes.h>
#include <string.h>

/* Times are told relative to a multiple of so many ns (13 days) of CLOCK_REALTIME: so those of
 * ranks agree, and doubles hold them to the ns. */
#define BASE_NS (INT64_C(1) << 50)

/* Rows of kernels that came from no stream that is known, and of lanes behind the first: where the
 * trace has no more streams than that, else behind those. */
#define ROW_OF_QUEUE 1000u
#define ROW_OF_LANE  1000u /* times that of queues */

/* Correlations of a process are made different from those of others. */
#define PROCESS_SHIFT 40u

enum { ROW_STREAM = 1, ROW_HOST_COPIES };

struct chrome {
    struct export *export;
    struct out out;
    bool first;    /* no event is written yet */
    int64_t shift; /* from the trace's clock to ts */
    uint64_t untimed;
    struct lanes lanes;
    struct sent sent;
    struct spans *spans;
    struct costs costs;
    uint32_t row_of_queue;
};

/* Names of numbers. */

/* Place of a process among those of the file, from 0. */
static uint32_t place_of(const struct chrome *chrome, uint32_t process)
{
    const struct export *export = chrome->export;
    uint32_t place = 0;
    for (size_t i = 0; i < export->process_count; ++i) {
        if (export->processes[i].process == process)
            return place;
        place += export_wants(export, export->processes[i].process);
    }
    return place;
}

static uint32_t pid_of(const struct chrome *chrome, uint32_t process)
{
    const rtl_process_t *found = export_process(chrome->export, process);
    return found ? found->pid : process;
}

/* The pid of a device is its number; of further processes in the file each has its own. */
static uint64_t device_pid(const struct chrome *chrome, uint32_t process, uint32_t gpu)
{
    return gpu + 1000 * (uint64_t)place_of(chrome, process);
}

static uint64_t id_of(const struct chrome *chrome, uint32_t process, uint64_t correlation)
{
    return correlation | (uint64_t)place_of(chrome, process) << PROCESS_SHIFT;
}

/* JSON. */

static void key(struct chrome *chrome, const char *name)
{
    out_text(&chrome->out, ",\"");
    out_text(&chrome->out, name);
    out_text(&chrome->out, "\":");
}

static void number(struct chrome *chrome, const char *name, uint64_t value)
{
    key(chrome, name);
    out_number(&chrome->out, value);
}

/* The name is one of the trace. */
static void named_number(struct chrome *chrome, const char *name, uint64_t value)
{
    out_text(&chrome->out, ",");
    out_json(&chrome->out, name);
    out_text(&chrome->out, ":");
    out_number(&chrome->out, value);
}

static void text(struct chrome *chrome, const char *name, const char *value)
{
    key(chrome, name);
    out_json(&chrome->out, value);
}

static void time_of(struct chrome *chrome, const char *name, uint64_t ns)
{
    int64_t shifted = (int64_t)(ns + (uint64_t)chrome->shift);
    key(chrome, name);
    if (shifted < 0)
        out_text(&chrome->out, "-");
    out_micros(&chrome->out, shifted < 0 ? 0 - (uint64_t)shifted : (uint64_t)shifted);
}

static void three(struct chrome *chrome, const char *name, const uint32_t values[3])
{
    key(chrome, name);
    for (unsigned i = 0; i < 3; ++i) {
        out_text(&chrome->out, i ? "," : "[");
        out_number(&chrome->out, values[i]);
    }
    out_text(&chrome->out, "]");
}

static void begin_event(struct chrome *chrome, const char *phase)
{
    out_text(&chrome->out, chrome->first ? "\n{\"ph\":\"" : ",\n{\"ph\":\"");
    out_text(&chrome->out, phase);
    out_text(&chrome->out, "\"");
    chrome->first = false;
}

static void row(struct chrome *chrome, uint64_t pid, uint64_t tid)
{
    number(chrome, "pid", pid);
    number(chrome, "tid", tid);
}

/* A slice, up to its arguments, which begin with `first`, a number that may be negative. */
static void slice(struct chrome *chrome, const char *category, const char *name, uint64_t start,
                  uint64_t end, const char *first, int64_t value)
{
    begin_event(chrome, "X");
    text(chrome, "cat", category);
    text(chrome, "name", name);
    time_of(chrome, "ts", start);
    key(chrome, "dur");
    out_micros(&chrome->out, end > start ? end - start : 0);
    out_text(&chrome->out, ",\"args\":{\"");
    out_text(&chrome->out, first);
    out_text(&chrome->out, "\":");
    out_signed(&chrome->out, value);
}

static void end_slice(struct chrome *chrome)
{
    out_text(&chrome->out, "}}");
}

/* Metadata. */

static void metadata(struct chrome *chrome, const char *what, uint64_t pid, uint64_t tid,
                     const char *name)
{
    begin_event(chrome, "M");
    text(chrome, "name", what);
    row(chrome, pid, tid);
    out_text(&chrome->out, ",\"ts\":0,\"args\":{\"name\":");
    out_json(&chrome->out, name);
    end_slice(chrome);
}

static void sort_index(struct chrome *chrome, uint64_t pid, uint64_t index)
{
    begin_event(chrome, "M");
    text(chrome, "name", "process_sort_index");
    row(chrome, pid, 0);
    out_text(&chrome->out, ",\"ts\":0,\"args\":{\"sort_index\":");
    out_number(&chrome->out, index);
    end_slice(chrome);
}

static void write_process(struct chrome *chrome, const rtl_process_t *process)
{
    char name[512];
    const char *given = export_process_name(process);
    (void)snprintf(name, sizeof name, "%.400s%s%.64s", given[0] ? given : "process",
                   process->rank[0] ? ", rank " : "", process->rank);
    metadata(chrome, "process_name", process->pid, 0, name);
    sort_index(chrome, process->pid, place_of(chrome, process->process));
}

static bool is_of_several(const struct chrome *chrome)
{
    const struct export *export = chrome->export;
    size_t count = 0;
    for (size_t i = 0; i < export->process_count; ++i)
        count += export_wants(export, export->processes[i].process);
    return count > 1;
}

/* A GPU is a process of its own in the file, one for each process that knows it: of several, those
 * alone that it has used, by whose they are. */
static void write_device(struct chrome *chrome, const rtl_agent_t *agent)
{
    char name[384];
    char whose[80] = "";
    uint64_t pid = device_pid(chrome, agent->process, agent->gpu);
    const rtl_process_t *process = export_process(chrome->export, agent->process);
    if (process && is_of_several(chrome)) {
        if (!lookup_gpu_is_used(chrome->export, agent->process, agent->gpu))
            return;
        if (process->rank[0])
            (void)snprintf(whose, sizeof whose, " of rank %.64s", process->rank);
        else
            (void)snprintf(whose, sizeof whose, " of process %u", process->pid);
    }
    (void)snprintf(name, sizeof name, "GPU %u%s: %.100s %.100s", agent->gpu, whose, agent->name,
                   agent->product);
    metadata(chrome, "process_name", pid, 0, name);
    sort_index(chrome, pid, 5000000 + pid);
}

static rtl_status_t write_names(struct chrome *chrome)
{
    const struct export *export = chrome->export;
    const rtl_agent_t *agents;
    const rtl_thread_t *threads;
    size_t agent_count;
    size_t thread_count;
    for (size_t i = 0; i < export->process_count; ++i)
        if (export_wants(export, export->processes[i].process))
            write_process(chrome, &export->processes[i]);
    rtl_status_t status = rtlTraceAgents(export->trace, &agents, &agent_count);
    for (size_t i = 0; status == RTL_OK && i < agent_count; ++i)
        if (agents[i].gpu != RTL_TRACE_NONE && export_wants(export, agents[i].process))
            write_device(chrome, &agents[i]);
    if (status == RTL_OK)
        status = rtlTraceThreads(export->trace, &threads, &thread_count);
    for (size_t i = 0; status == RTL_OK && i < thread_count; ++i) {
        char name[300];
        char again[16] = "";
        if (!export_wants(export, threads[i].process))
            continue;
        if (threads[i].generation > 1)
            (void)snprintf(again, sizeof again, "#%u", threads[i].generation);
        (void)snprintf(name, sizeof name, "thread %u%s%s%.256s", threads[i].tid, again,
                       threads[i].name[0] ? " " : "", threads[i].name);
        metadata(chrome, "thread_name", pid_of(chrome, threads[i].process), threads[i].thread,
                 name);
    }
    return status;
}

static const char *stream_name(const struct chrome *chrome, uint32_t process, uint32_t stream)
{
    const rtl_stream_t *streams = NULL;
    size_t count = 0;
    size_t place = lookup_stream_place(chrome->export, process, stream);
    (void)rtlTraceStreams(chrome->export->trace, &streams, &count);
    return place < count ? streams[place].name : "";
}

static void name_row(struct chrome *chrome, const struct lane *lane, uint64_t pid, uint64_t tid)
{
    char name[400];
    char further[32] = "";
    uint32_t stream = (uint32_t)lane->key.id;
    const char *given = stream_name(chrome, lane->key.process, stream);
    if (lane->number)
        (void)snprintf(further, sizeof further, " (at the same time, %u)", lane->number);
    if (lane->key.kind == ROW_HOST_COPIES)
        (void)snprintf(name, sizeof name, "copies by the host%s", further);
    else if (stream >= chrome->row_of_queue)
        (void)snprintf(name, sizeof name, "queue %u%s", stream - chrome->row_of_queue, further);
    else
        (void)snprintf(name, sizeof name, "stream %u%s%.256s%s", stream, given[0] ? " " : "", given,
                       further);
    metadata(chrome, "thread_name", pid, tid, name);
}

/* The file's head. */

static void write_devices(struct chrome *chrome, const rtl_agent_t *agents, size_t count)
{
    bool first = true;
    out_text(&chrome->out, "\"deviceProperties\": [");
    for (size_t i = 0; i < count; ++i) {
        const rtl_agent_t *agent = &agents[i];
        if (agent->gpu == RTL_TRACE_NONE || !export_wants(chrome->export, agent->process))
            continue;
        out_text(&chrome->out, first ? "\n  {\"id\":" : ",\n  {\"id\":");
        first = false;
        out_number(&chrome->out, device_pid(chrome, agent->process, agent->gpu));
        text(chrome, "name", agent->product[0] ? agent->product : agent->name);
        text(chrome, "gfx", agent->name);
        text(chrome, "uuid", agent->uuid);
        number(chrome, "numSms", agent->compute_units);
        out_text(&chrome->out, "}");
    }
    out_text(&chrome->out, first ? "],\n" : "\n],\n");
}

static const rtl_process_t *first_process(const struct export *export)
{
    for (size_t i = 0; i < export->process_count; ++i)
        if (export_wants(export, export->processes[i].process))
            return &export->processes[i];
    return NULL;
}

static void write_rank(struct chrome *chrome)
{
    const rtl_process_t *process = first_process(chrome->export);
    uint64_t rank = 0;
    for (const char *c = process ? process->rank : ""; *c >= '0' && *c <= '9' && rank < 1000000;
         ++c)
        rank = 10 * rank + (uint64_t)(*c - '0');
    out_text(&chrome->out, "\"distributedInfo\": {\"rank\": "); /* HTA's pattern wants the blank */
    out_number(&chrome->out, rank);
    out_text(&chrome->out, "},\n");
}

static rtl_status_t write_head(struct chrome *chrome)
{
    const struct export *export = chrome->export;
    const rtl_agent_t *agents;
    size_t count;
    int64_t base = (int64_t)((uint64_t) export->info.realtime_offset - (uint64_t)chrome->shift);
    rtl_status_t status = rtlTraceAgents(export->trace, &agents, &count);
    if (status != RTL_OK)
        return status;
    out_text(&chrome->out, "{\n\"schemaVersion\": 1,\n");
    write_devices(chrome, agents, count);
    write_rank(chrome);
    out_text(&chrome->out, "\"displayTimeUnit\": \"ms\",\n\"baseTimeNanoseconds\": ");
    out_signed(&chrome->out, base);
    out_text(&chrome->out, ",\n\"traceName\": ");
    out_json(&chrome->out, export->path);
    out_text(&chrome->out, ",\n\"traceEvents\": [");
    chrome->first = true;
    return write_names(chrome);
}

static int begin(struct chrome *chrome)
{
    int status = out_begin(&chrome->out, chrome->export);
    sent_clear(&chrome->sent);
    for (size_t i = 0; i < chrome->lanes.count; ++i)
        chrome->lanes.list[i].told = 0;
    if (status == EXIT_FINE && write_head(chrome) != RTL_OK)
        status = open_failed(chrome->export->trace, chrome->export->path);
    return status;
}

static int end(struct chrome *chrome)
{
    spans_end(chrome->spans);
    out_text(&chrome->out, "\n]\n}\n");
    return out_end(&chrome->out);
}

/* Events. */

static void external(struct chrome *chrome, uint32_t process, uint64_t range)
{
    if (range)
        number(chrome, "External id", id_of(chrome, process, range));
}

static bool write_api(struct chrome *chrome, const rtl_api_t *api)
{
    char arguments[1024];
    (void)rtlApiArguments(api, arguments, sizeof arguments);
    slice(chrome, "cuda_runtime", api->name, api->start, api->end, "stream", -1);
    number(chrome, "cid", api->definition ? api->definition->call : 0);
    number(chrome, "correlation", id_of(chrome, api->process, api->correlation));
    external(chrome, api->process, api->range);
    key(chrome, "result");
    out_signed(&chrome->out, api->result);
    text(chrome, "arguments", arguments);
    out_text(&chrome->out, "}");
    row(chrome, pid_of(chrome, api->process), api->thread);
    out_text(&chrome->out, "}");
    return sent_add(&chrome->sent, api->process, api->correlation);
}

static void write_value(void *state, const char *name, const struct rtl_value *value)
{
    struct chrome *chrome = state;
    char real[40];
    if (value->whole) {
        named_number(chrome, name, value->exact);
        return;
    }
    (void)snprintf(real, sizeof real, "%.9g", value->number);
    key(chrome, name);
    out_text(&chrome->out, real);
}

static void write_range(struct chrome *chrome, const rtl_range_t *range)
{
    const rtl_process_t *process = export_process(chrome->export, range->process);
    uint64_t last = process && process->end ? process->end : chrome->export->info.end;
    bool open = range->end == 0;
    slice(chrome, "user_annotation", range->name, range->start, open ? last : range->end, "stream",
          -1);
    number(chrome, "External id", id_of(chrome, range->process, range->id));
    text(chrome, "kind", range->kind);
    if (open)
        out_text(&chrome->out, ",\"open\":true");
    costs_each(&chrome->costs, range, write_value, chrome);
    out_text(&chrome->out, "}");
    row(chrome, pid_of(chrome, range->process), range->thread);
    out_text(&chrome->out, "}");
}

/* Readers such as HTA take what has a `stream` in its args for the GPU's work; Kineto gives these
 * none. */
static void write_span(void *state, const struct span *span)
{
    struct chrome *chrome = state;
    slice(chrome, "gpu_user_annotation", span->name, span->start, span->end, "External id",
          (int64_t)id_of(chrome, span->process, span->range));
    if (span->captured)
        out_text(&chrome->out, ",\"captured\":true");
    out_text(&chrome->out, "}");
    row(chrome, device_pid(chrome, span->process, span->gpu), span->stream);
    out_text(&chrome->out, "}");
}

/* An arrow from the host call, if the file has it. */
static void write_flow(struct chrome *chrome, const struct export_event *event, uint64_t pid,
                       uint64_t tid)
{
    const rtl_trace_origin_t *origin = &event->origin;
    if (!origin->call || !sent_has(&chrome->sent, event->process, origin->call))
        return;
    uint64_t id = id_of(chrome, event->process, origin->call);
    for (bool source = sent_first(&chrome->sent, event->process, origin->call);; source = false) {
        begin_event(chrome, source ? "s" : "f");
        out_text(&chrome->out, ",\"cat\":\"ac2g\",\"name\":\"ac2g\"");
        number(chrome, "id", id);
        row(chrome, source ? pid_of(chrome, event->process) : pid, source ? origin->thread : tid);
        time_of(chrome, "ts", source ? origin->start : event->start);
        out_text(&chrome->out, source ? "}" : ",\"bp\":\"e\"}");
        if (!source)
            return;
    }
}

static void correlation(struct chrome *chrome, const struct export_event *event)
{
    key(chrome, "correlation");
    if (event->origin.call)
        out_number(&chrome->out, id_of(chrome, event->process, event->origin.call));
    else
        out_text(&chrome->out, "-1");
}

/* The stream as tools want it: a number, always. */
static uint32_t stream_of(const struct chrome *chrome, const struct export_event *event,
                          uint32_t queue)
{
    return event->origin.stream != RTL_TRACE_NONE ? event->origin.stream
                                                  : chrome->row_of_queue + queue;
}

/* Where the rows of queues begin. */
static uint32_t find_row_of_queue(const struct export *export)
{
    const rtl_stream_t *streams = NULL;
    size_t count = 0;
    uint32_t row = ROW_OF_QUEUE;
    (void)rtlTraceStreams(export->trace, &streams, &count);
    for (size_t i = 0; i < count; ++i)
        while (streams[i].stream >= row && row < UINT32_MAX / 10)
            row *= 10;
    return row;
}

/* The row for something that runs from `start` to `end`; it gets a name when it is new. False when
 * memory is short. */
static bool take_row(struct chrome *chrome, const struct lane_key *key, uint64_t start,
                     uint64_t end, uint64_t *pid, uint64_t *tid)
{
    struct lane *lane = lanes_take(&chrome->lanes, key, NULL, start, end);
    if (!lane)
        return false;
    *pid = key->kind == ROW_STREAM ? device_pid(chrome, key->process, key->gpu)
                                   : pid_of(chrome, key->process);
    *tid = key->id + (uint64_t)ROW_OF_LANE * chrome->row_of_queue * lane->number;
    if (!lane->told)
        name_row(chrome, lane, *pid, *tid);
    lane->told = 1;
    return true;
}

/* A number of workgroups, as Kineto has grids. */
static void grid(struct chrome *chrome, const rtl_kernel_t *kernel)
{
    uint32_t groups[3];
    for (unsigned i = 0; i < 3; ++i) {
        uint32_t block = kernel->block[i] ? kernel->block[i] : 1;
        groups[i] = kernel->grid[i] / block + (kernel->grid[i] % block != 0);
    }
    three(chrome, "grid", groups);
    three(chrome, "block", kernel->block);
}

/* The runtime fills memory by a kernel of its own. */
static bool is_fill(const rtl_kernel_t *kernel)
{
    return strncmp(kernel->name, "__amd_rocclr_fillBuffer", 23) == 0;
}

/* A counter's row: its value while the kernel runs, 0 behind it. */
static void write_count(struct chrome *chrome, const char *name, uint64_t pid, uint64_t time,
                        uint64_t value)
{
    begin_event(chrome, "C");
    text(chrome, "name", name);
    row(chrome, pid, 0);
    time_of(chrome, "ts", time);
    out_text(&chrome->out, ",\"args\":{\"value\":");
    out_number(&chrome->out, value);
    end_slice(chrome);
}

static void write_counts(struct chrome *chrome, const struct export_event *event)
{
    const rtl_kernel_t *kernel = event->kernel;
    const rtl_trace_sample_t *sample = event->samples;
    uint64_t pid =
        device_pid(chrome, kernel->process, kernel->gpu == RTL_TRACE_NONE ? 0 : kernel->gpu);
    for (uint32_t i = 0; event->sample_count && i < sample->count; ++i) {
        write_count(chrome, sample->counters[i]->name, pid, kernel->start, sample->values[i]);
        write_count(chrome, sample->counters[i]->name, pid, kernel->end, 0);
    }
}

static rtl_status_t write_kernel(struct chrome *chrome, const struct export_event *event)
{
    const rtl_kernel_t *kernel = event->kernel;
    uint32_t stream = stream_of(chrome, event, kernel->queue);
    uint32_t gpu = kernel->gpu == RTL_TRACE_NONE ? 0 : kernel->gpu;
    struct lane_key where = {kernel->process, ROW_STREAM, stream, gpu};
    uint64_t pid;
    uint64_t tid;
    if (!take_row(chrome, &where, kernel->start, kernel->end, &pid, &tid))
        return RTL_E_MEMORY;
    slice(chrome, is_fill(kernel) ? "gpu_memset" : "kernel",
          is_fill(kernel) ? "Memset (Device)" : kernel->name, kernel->start, kernel->end, "device",
          gpu);
    number(chrome, "stream", stream);
    number(chrome, "hsa_queue", kernel->queue);
    correlation(chrome, event);
    external(chrome, event->process, event->origin.range);
    grid(chrome, kernel);
    number(chrome, "shared memory", kernel->group_size);
    if (is_fill(kernel))
        text(chrome, "kernel", kernel->name);
    if (kernel->graph != RTL_TRACE_NONE) {
        number(chrome, "graph id", kernel->graph);
        number(chrome, "graph launch", kernel->launch);
    }
    if (kernel->node != RTL_TRACE_NONE)
        number(chrome, "graph node id", kernel->node);
    if (kernel->node_range)
        number(chrome, "capture id", id_of(chrome, kernel->process, kernel->node_range));
    for (uint32_t i = 0; event->sample_count && i < event->samples->count; ++i)
        named_number(chrome, event->samples->counters[i]->name, event->samples->values[i]);
    out_text(&chrome->out, "}");
    row(chrome, pid, tid);
    out_text(&chrome->out, "}");
    write_flow(chrome, event, pid, tid);
    if (!chrome->export->no_counters)
        write_counts(chrome, event);
    return spans_kernel(chrome->spans, event, stream);
}

static const char *copy_name(const char *kind)
{
    static const char *const names[][2] = {
        {"host-to-device", "Memcpy HtoD (Host -> Device)"},
        {"device-to-host", "Memcpy DtoH (Device -> Host)"},
        {"device-to-device", "Memcpy DtoD (Device -> Device)"},
        {"peer", "Memcpy PtoP (Device -> Device)"},
        {"host-to-host", "Memcpy HtoH (Host -> Host)"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
        if (strcmp(names[i][0], kind) == 0)
            return names[i][1];
    return "Memcpy";
}

static rtl_status_t write_copy(struct chrome *chrome, const struct export_event *event)
{
    const rtl_copy_t *copy = event->copy;
    bool host = copy->gpu == RTL_TRACE_NONE;
    uint32_t stream = stream_of(chrome, event, copy->queue);
    struct lane_key where = {copy->process, host ? ROW_HOST_COPIES : ROW_STREAM, stream,
                             host ? 0 : copy->gpu};
    uint64_t length = copy->end > copy->start ? copy->end - copy->start : 0;
    uint64_t pid;
    uint64_t tid;
    if (copy->start == 0 && copy->end == 0) {
        ++chrome->untimed;
        return RTL_OK;
    }
    if (!take_row(chrome, &where, copy->start, copy->end, &pid, &tid))
        return RTL_E_MEMORY;
    slice(chrome, "gpu_memcpy", copy_name(copy->kind), copy->start, copy->end, "device",
          host ? -1 : (int64_t)copy->gpu);
    key(chrome, "stream");
    out_signed(&chrome->out, host ? -1 : (int64_t)stream);
    number(chrome, "hsa_queue", copy->queue);
    correlation(chrome, event);
    external(chrome, event->process, event->origin.range);
    number(chrome, "bytes", copy->bytes);
    text(chrome, "engine", copy->engine);
    if (length) {
        char rate[40];
        (void)snprintf(rate, sizeof rate, "%.6g", (double)copy->bytes / (double)length);
        key(chrome, "memory bandwidth (GB/s)");
        out_text(&chrome->out, rate);
    }
    out_text(&chrome->out, "}");
    row(chrome, pid, tid);
    out_text(&chrome->out, "}");
    write_flow(chrome, event, pid, tid);
    return RTL_OK;
}

static rtl_status_t write_event(struct chrome *chrome, const struct export_event *event)
{
    switch (event->kind) {
    case EXPORT_RANGE:
        write_range(chrome, event->range);
        return RTL_OK;
    case EXPORT_API:
        return write_api(chrome, event->api) ? RTL_OK : RTL_E_MEMORY;
    case EXPORT_COPY:
        return write_copy(chrome, event);
    default:
        return write_kernel(chrome, event);
    }
}

static int visit(void *state, const struct export_event *event)
{
    struct chrome *chrome = state;
    int result = EXIT_FINE;
    if (out_full(&chrome->out)) {
        result = end(chrome);
        if (result == EXIT_FINE)
            result = begin(chrome);
    }
    if (result != EXIT_FINE)
        return result;
    rtl_status_t status = write_event(chrome, event);
    if (status == RTL_E_MEMORY)
        return say_fail(EXIT_USAGE, "there is not enough memory");
    if (status != RTL_OK)
        return open_failed(chrome->export->trace, chrome->export->path);
    return chrome->out.error ? out_end(&chrome->out) : EXIT_FINE;
}

static int write_all(struct chrome *chrome)
{
    if (costs_read(&chrome->costs, chrome->export) != RTL_OK)
        return open_failed(chrome->export->trace, chrome->export->path);
    int status = begin(chrome);
    if (status == EXIT_FINE)
        status = export_walk(
            chrome->export, EXPORT_RANGE | EXPORT_API | EXPORT_COPY | EXPORT_KERNEL, visit, chrome);
    if (status == EXIT_FINE)
        status = end(chrome);
    if (status == EXIT_FINE && chrome->untimed)
        say("%s %s left out: nobody took the times", show_things(chrome->untimed, "copy").text,
            show_are(chrome->untimed));
    return status;
}

static int run(struct export *export)
{
    static struct chrome chrome;
    /* Unsigned, since the clocks of a damaged trace may be anywhere. */
    uint64_t offset = (uint64_t) export->info.realtime_offset;
    int64_t start = (int64_t)(export->info.start + offset);
    int64_t since_base = ((start % BASE_NS) + BASE_NS) % BASE_NS;
    uint64_t base = (uint64_t)start - (uint64_t)since_base;
    chrome = (struct chrome){.export = export,
                             .shift = (int64_t)(offset - base),
                             .row_of_queue = find_row_of_queue(export)};
    chrome.spans = spans_new(export->trace, write_span, &chrome);
    int status =
        chrome.spans ? write_all(&chrome) : say_fail(EXIT_USAGE, "there is not enough memory");
    out_drop(&chrome.out);
    lanes_free(&chrome.lanes);
    sent_free(&chrome.sent);
    spans_free(chrome.spans);
    costs_free(&chrome.costs);
    return status;
}

const struct exporter export_chrome = {
    "chrome", ".json",
    EXPORT_SPLITS | EXPORT_PER_RANK | EXPORT_STREAMS | EXPORT_GZIP | EXPORT_COUNTERS, run};

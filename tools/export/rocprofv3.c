/* JSON as rocprofv3 writes it and TraceLens reads it: one tool, in which several processes are one.
 * Names are numbers that `strings` and `kernel_symbols` explain; those come last, when all are
 * known. */
#include "export/out.h"

#include "common/command.h"
#include "common/memory.h"
#include "common/open.h"
#include "common/say.h"
#include "common/shorten.h"
#include "common/texts.h"
#include "export/lookup.h"
#include "export/parts.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TRUNCATED_WIDTH 60u

/* Places in `strings.buffer_records`, where a reader finds the names of operations by kind. */
enum kind { KIND_NONE, KIND_DISPATCH, KIND_HIP, KIND_COPY, KIND_MARKER };

/* Operations of copies, as rocprofiler-sdk numbers them. */
static const char *const copy_names[] = {"MEMORY_COPY_NONE", "MEMORY_COPY_HOST_TO_HOST",
                                         "MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_HOST",
                                         "MEMORY_COPY_DEVICE_TO_DEVICE"};

static const char *const copy_kinds[] = {"", "host-to-host", "host-to-device", "device-to-host"};

struct json {
    struct export *export;
    struct out out;
    bool first; /* of an array */
    struct texts calls;
    struct texts unknown; /* names of kernels without a symbol: their ids follow the symbols' */
    size_t symbols;
    uint64_t dispatches;
    unsigned kinds; /* of events that are written (enum export_kind) */
    bool failed;    /* memory was short, and that has been said */
};

static void text(struct json *json, const char *plain)
{
    out_text(&json->out, plain);
}

/* "key":number */
static void number(struct json *json, const char *key, uint64_t value)
{
    text(json, key);
    out_number(&json->out, value);
}

static void string(struct json *json, const char *key, const char *value)
{
    text(json, key);
    out_json(&json->out, value);
}

static void item(struct json *json)
{
    text(json, json->first ? "\n" : ",\n");
    json->first = false;
}

static size_t text_number(struct json *json, struct texts *texts, const char *name)
{
    size_t number = texts_number(texts, name);
    if (number == TEXTS_NONE && !json->failed) {
        say("there is not enough memory");
        json->failed = true;
    }
    return number == TEXTS_NONE ? 0 : number;
}

static int state(const struct json *json)
{
    if (json->failed)
        return EXIT_USAGE;
    return json->out.error ? export_file_failed(json->export, json->out.error) : EXIT_FINE;
}

/* Ids of calls are those of a process; here is one row of ids for all. */
static uint64_t correlation(uint32_t process, uint64_t call)
{
    return call ? (uint64_t)(process - 1) << 40 | call : 0;
}

/* The thread of the call, or the first of the process. */
static uint32_t thread_of(const struct json *json, const struct export_event *event)
{
    const rtl_process_t *process = export_process(json->export, event->process);
    if (event->origin.thread)
        return event->origin.thread;
    return process ? process->pid : 0;
}

/* Handles of agents and queues: places in the lists of the trace, from 1; 0 is none. */
static uint64_t handle(size_t place)
{
    return place == SIZE_MAX ? 0 : (uint64_t)place + 1;
}

static uint64_t agent_of_queue(const struct json *json, uint32_t process, uint32_t queue)
{
    const rtl_queue_t *items = NULL;
    size_t count = 0;
    size_t place = lookup_queue_place(json->export, process, queue);
    (void)rtlTraceQueues(json->export->trace, &items, &count);
    return place < count ? handle(lookup_agent_place(json->export, process, items[place].agent))
                         : 0;
}

/* Begins a record, with what all have. */
static void record(struct json *json, enum kind kind, uint64_t operation, uint64_t id,
                   uint32_t thread, uint64_t start, uint64_t end)
{
    item(json);
    number(json, "{\"kind\":", kind);
    number(json, ",\"operation\":", operation);
    number(json, ",\"correlation_id\":{\"internal\":", id);
    number(json, ",\"external\":0},\"thread_id\":", thread);
    number(json, ",\"start_timestamp\":", start);
    number(json, ",\"end_timestamp\":", end);
}

static uint64_t kernel_id(struct json *json, const rtl_kernel_t *kernel)
{
    size_t place = lookup_symbol_place(json->export, kernel->process, kernel->symbol);
    if (place < json->symbols)
        return (uint64_t)place + 1;
    return (uint64_t)json->symbols + text_number(json, &json->unknown, kernel->name) + 1;
}

static void size3(struct json *json, const char *key, const uint32_t size[3])
{
    text(json, key);
    number(json, "{\"x\":", size[0]);
    number(json, ",\"y\":", size[1]);
    number(json, ",\"z\":", size[2]);
    text(json, "}");
}

static void stream(struct json *json, const struct export_event *event)
{
    uint32_t number_of = event->origin.stream;
    number(json, ",\"stream_id\":{\"handle\":", number_of == RTL_TRACE_NONE ? 0 : number_of);
    text(json, "}");
}

/* Which kernel a record is of, and how it was launched. */
static void dispatch(struct json *json, const rtl_kernel_t *kernel, uint64_t id)
{
    uint64_t symbol = kernel_id(json, kernel);
    number(json, ",\"dispatch_info\":{\"agent_id\":{\"handle\":",
           agent_of_queue(json, kernel->process, kernel->queue));
    number(json, "},\"queue_id\":{\"handle\":",
           handle(lookup_queue_place(json->export, kernel->process, kernel->queue)));
    number(json, "},\"kernel_id\":", symbol);
    number(json, ",\"dispatch_id\":", id);
    number(json, ",\"private_segment_size\":", kernel->private_size);
    number(json, ",\"group_segment_size\":", kernel->group_size);
    size3(json, ",\"workgroup_size\":", kernel->block);
    size3(json, ",\"grid_size\":", kernel->grid);
    text(json, "}");
}

/* Readers that know of graphs find what a kernel was replayed from; 0 is none, nodes count from 1.
 */
static int kernel(void *given, const struct export_event *event)
{
    struct json *json = given;
    const rtl_kernel_t *kernel = event->kernel;
    record(json, KIND_DISPATCH, 0, correlation(event->process, event->origin.call),
           thread_of(json, event), kernel->start, kernel->end);
    stream(json, event);
    if (kernel->graph != RTL_TRACE_NONE) {
        number(json, ",\"graph_exec_id\":", kernel->graph);
        number(json, ",\"graph_node_id\":",
               kernel->node == RTL_TRACE_NONE ? 0 : (uint64_t)kernel->node + 1);
    }
    dispatch(json, kernel, ++json->dispatches);
    text(json, "}");
    return state(json);
}

/* What counters counted during a kernel. Kernels come in the same order again. */
static int counted(void *given, const struct export_event *event)
{
    struct json *json = given;
    const rtl_kernel_t *kernel = event->kernel;
    ++json->dispatches;
    if (event->sample_count == 0)
        return EXIT_FINE;
    item(json);
    number(json, "{\"thread_id\":", thread_of(json, event));
    number(json, ",\"dispatch_data\":{\"correlation_id\":{\"internal\":",
           correlation(event->process, event->origin.call));
    number(json, ",\"external\":0},\"start_timestamp\":", kernel->start);
    number(json, ",\"end_timestamp\":", kernel->end);
    dispatch(json, kernel, json->dispatches);
    text(json, "},\"records\":[");
    for (uint32_t i = 0; i < event->samples->count; ++i) {
        number(json, i ? ",{\"counter_id\":{\"handle\":" : "{\"counter_id\":{\"handle\":",
               handle(lookup_counter_place(json->export, event->samples->counters[i])));
        number(json, "},\"value\":", event->samples->values[i]);
        text(json, "}");
    }
    text(json, "]}");
    return state(json);
}

/* A copy whose times nobody took is left out. */
static int copy(void *given, const struct export_event *event)
{
    struct json *json = given;
    const rtl_copy_t *copy = event->copy;
    uint64_t operation = 4;
    if (copy->start == 0 && copy->end == 0)
        return EXIT_FINE;
    for (uint64_t i = 1; i < sizeof copy_kinds / sizeof *copy_kinds; ++i)
        if (strcmp(copy_kinds[i], copy->kind) == 0)
            operation = i;
    record(json, KIND_COPY, operation, correlation(event->process, event->origin.call),
           thread_of(json, event), copy->start, copy->end);
    stream(json, event);
    number(json, ",\"dst_agent_id\":{\"handle\":",
           handle(lookup_agent_place(json->export, copy->process, copy->dst)));
    number(json, "},\"src_agent_id\":{\"handle\":",
           handle(lookup_agent_place(json->export, copy->process, copy->src)));
    number(json, "},\"bytes\":", copy->bytes);
    text(json, "}");
    return state(json);
}

static int call(void *given, const struct export_event *event)
{
    struct json *json = given;
    const rtl_api_t *api = event->api;
    record(json, KIND_HIP, text_number(json, &json->calls, api->name),
           correlation(api->process, api->correlation), api->thread, api->start, api->end);
    text(json, "}");
    return state(json);
}

static int marker(void *given, const struct export_event *event)
{
    struct json *json = given;
    const rtl_range_t *range = event->range;
    record(json, KIND_MARKER, 0, correlation(range->process, range->id), range->thread,
           range->start, lookup_range_end(json->export, range));
    text(json, "}");
    return state(json);
}

/* What a marker says. */
static int marker_text(void *given, const struct export_event *event)
{
    struct json *json = given;
    item(json);
    number(json, "{\"key\":", correlation(event->process, event->range->id));
    string(json, ",\"value\":", event->range->name);
    text(json, "}");
    return state(json);
}

static int array(struct json *json, const char *key, unsigned kinds,
                 int (*visit)(void *json, const struct export_event *event))
{
    text(json, key);
    text(json, "[");
    json->first = true;
    int status = export_walk(json->export, kinds & json->kinds, visit, json);
    text(json, "]");
    return status;
}

/* Idle time is what lies between init and fini and is not busy: those of the processes, and of a
 * part or a window its own. */
static void metadata(struct json *json)
{
    const struct export *export = json->export;
    const rtl_process_t *first = NULL;
    uint64_t init = UINT64_MAX;
    uint64_t fini = 0;
    for (size_t i = 0; i < export->process_count; ++i) {
        const rtl_process_t *process = &export->processes[i];
        uint64_t end = process->end ? process->end : export->info.end;
        if (!export_wants(export, process->process))
            continue;
        first = first ? first : process;
        init = process->start < init ? process->start : init;
        fini = end > fini ? end : fini;
    }
    init = first ? init : export->info.start;
    init = init > export->since ? init : export->since;
    init = init > export->from ? init : export->from;
    fini = export->to && export->to < fini ? export->to : fini;
    fini = fini > init ? fini : init;
    number(json, "\"metadata\":{\"pid\":", first ? first->pid : 0);
    number(json, ",\"init_time\":", init);
    number(json, ",\"fini_time\":", fini);
    string(json, ",\"node\":{\"id\":0,\"hostname\":",
           first && first->host[0] ? first->host : export->info.host);
    string(json, "},\"command\":[", first ? first->command : export->info.command);
    string(json, "],\"creator\":", export->info.creator);
    text(json, "}");
}

static void agent(struct json *json, size_t place, const rtl_agent_t *agent)
{
    bool gpu = agent->gpu != RTL_TRACE_NONE;
    item(json);
    number(json, "{\"id\":{\"handle\":", handle(place));
    number(json, "},\"type\":", gpu ? 2 : 1);
    number(json, ",\"node_id\":", agent->node);
    number(json, ",\"logical_node_id\":", agent->agent);
    number(json, ",\"logical_node_type_id\":", gpu ? agent->gpu : agent->agent);
    number(json, ",\"cu_count\":", agent->compute_units);
    string(json, ",\"name\":", agent->name);
    string(json, ",\"product_name\":", agent->product);
    string(json, ",\"model_name\":", agent->product);
    text(json, ",\"vendor_name\":\"AMD\"}");
}

static int agents(struct json *json)
{
    const rtl_agent_t *items;
    size_t count;
    if (rtlTraceAgents(json->export->trace, &items, &count) != RTL_OK)
        return open_failed(json->export->trace, json->export->path);
    text(json, ",\n\"agents\":[");
    json->first = true;
    for (size_t i = 0; i < count; ++i)
        if (export_wants(json->export, items[i].process))
            agent(json, i, &items[i]);
    text(json, "]");
    return EXIT_FINE;
}

static void counter(struct json *json, size_t place, const rtl_trace_counter_t *counter)
{
    const struct rtl_counter *known = lookup_counter(json->export, counter);
    const char *block = rtl_block_name(counter->block);
    item(json);
    number(json, "{\"agent_id\":{\"handle\":",
           handle(lookup_agent_place(json->export, counter->process, counter->agent)));
    number(json, "},\"id\":{\"handle\":", handle(place));
    string(json, "},\"name\":", counter->name);
    string(json, ",\"description\":", known ? known->text : "");
    string(json, ",\"block\":", block ? block : "");
    text(json, ",\"expression\":\"\",\"is_constant\":0,\"is_derived\":0,\"dimension_ids\":[]}");
}

static int counters(struct json *json)
{
    const rtl_trace_counter_t *items;
    size_t count;
    if (rtlTraceCounters(json->export->trace, &items, &count) != RTL_OK)
        return open_failed(json->export->trace, json->export->path);
    text(json, ",\n\"counters\":[");
    json->first = true;
    for (size_t i = 0; i < count; ++i)
        if (export_wants(json->export, items[i].process))
            counter(json, i, &items[i]);
    text(json, "]");
    return EXIT_FINE;
}

static void symbol(struct json *json, uint64_t id, const char *mangled, const char *name,
                   const char *truncated)
{
    item(json);
    number(json, "{\"kernel_id\":", id);
    string(json, ",\"kernel_name\":", mangled[0] ? mangled : name);
    string(json, ",\"formatted_kernel_name\":", name);
    string(json, ",\"demangled_kernel_name\":", name);
    string(json, ",\"truncated_kernel_name\":", truncated);
    text(json, "}");
}

/* Of the symbols, then of kernels that are known by no symbol; the rule is that of tables on a
 * terminal, and different names have different ones. */
static char **truncated_names(const struct json *json, const rtl_symbol_t *symbols, size_t count)
{
    size_t all = count + json->unknown.count;
    struct shorten_item *items = memory_new(all, sizeof *items);
    for (size_t i = 0; i < all; ++i)
        items[i] = (struct shorten_item){
            i < count ? symbols[i].name : json->unknown.list[i - count], TRUNCATED_WIDTH};
    char **names = shorten_names(items, all);
    free(items);
    return names;
}

/* The first stands for none, so that a kernel's id is also a place in the list. */
static int symbols(struct json *json)
{
    const rtl_symbol_t *items;
    size_t count;
    if (rtlTraceSymbols(json->export->trace, &items, &count) != RTL_OK)
        return open_failed(json->export->trace, json->export->path);
    text(json, ",\n\"kernel_symbols\":[");
    json->first = true;
    char **truncated = truncated_names(json, items, count);
    symbol(json, 0, "", "", "");
    for (size_t i = 0; i < count; ++i)
        symbol(json, (uint64_t)i + 1, items[i].mangled, items[i].name, truncated[i]);
    for (size_t i = 0; i < json->unknown.count; ++i)
        symbol(json, (uint64_t)(count + i) + 1, "", json->unknown.list[i], truncated[count + i]);
    shorten_free(truncated, count + json->unknown.count);
    text(json, "]");
    return EXIT_FINE;
}

static void operations(struct json *json, const char *kind, const char *const *names, size_t count)
{
    item(json);
    string(json, "{\"kind\":", kind);
    text(json, ",\"operations\":[");
    for (size_t i = 0; i < count; ++i)
        string(json, i ? "," : "", names[i]);
    text(json, "]}");
}

static int strings(struct json *json)
{
    static const char *const dispatch[] = {"KERNEL_DISPATCH_NONE"};
    static const char *const marked[] = {"roctxRange"};
    text(json, ",\n\"strings\":{\"callback_records\":[],\"buffer_records\":[");
    json->first = true;
    operations(json, "NONE", NULL, 0);
    operations(json, "KERNEL_DISPATCH", dispatch, 1);
    operations(json, "HIP_RUNTIME_API", (const char *const *)json->calls.list, json->calls.count);
    operations(json, "MEMORY_COPY", copy_names, sizeof copy_names / sizeof *copy_names);
    operations(json, "MARKER_CORE_API", marked, 1);
    text(json, "],\n");
    int status = array(json, "\"marker_api\":", EXPORT_RANGE, marker_text);
    text(json, "}");
    return status;
}

static int buffer_records(struct json *json)
{
    text(json, ",\n\"buffer_records\":{");
    int status = array(json, "\"kernel_dispatch\":", EXPORT_KERNEL, kernel);
    if (status == EXIT_FINE)
        status = array(json, ",\n\"memory_copy\":", EXPORT_COPY, copy);
    if (status == EXIT_FINE)
        status = array(json, ",\n\"hip_api\":", EXPORT_API, call);
    if (status == EXIT_FINE)
        status = array(json, ",\n\"marker_api\":", EXPORT_RANGE, marker);
    text(json, ",\n\"hsa_api\":[],\"scratch_memory\":[],\"memory_allocation\":[],\"rccl_api\":[]}");
    return status;
}

/* `first` is how many kernels earlier parts have. */
static int callback_records(struct json *json, uint64_t first)
{
    uint64_t last = json->dispatches;
    text(json, ",\n\"callback_records\":{");
    json->dispatches = first;
    int status = array(json, "\"counter_collection\":",
                       json->export->info.kernel_samples ? EXPORT_KERNEL : 0, counted);
    json->dispatches = last;
    text(json, "}");
    return status;
}

static int write_all(struct json *json)
{
    uint64_t first = json->dispatches;
    text(json, "{\"rocprofiler-sdk-tool\":[{");
    metadata(json);
    int status = agents(json);
    if (status == EXIT_FINE)
        status = buffer_records(json);
    if (status == EXIT_FINE)
        status = counters(json);
    if (status == EXIT_FINE)
        status = callback_records(json, first);
    if (status == EXIT_FINE)
        status = symbols(json);
    if (status == EXIT_FINE)
        status = strings(json);
    text(json, ",\n\"code_objects\":[],\"host_functions\":[]}]}\n");
    return status;
}

static int begin(struct json *json, struct export *export, unsigned kinds)
{
    const rtl_symbol_t *items;
    memset(json, 0, sizeof *json);
    json->export = export;
    json->kinds = kinds;
    if (rtlTraceSymbols(export->trace, &items, &json->symbols) != RTL_OK)
        return open_failed(export->trace, export->path);
    return EXIT_FINE;
}

static void end(struct json *json)
{
    out_drop(&json->out);
    texts_free(&json->calls);
    texts_free(&json->unknown);
}

/* What an event takes is what it is when it is written. */
static uint64_t weigh(void *given, const struct export_event *event)
{
    struct json *measured = given;
    uint64_t before = measured->out.written;
    if (event->kind == EXPORT_KERNEL) {
        (void)kernel(measured, event);
        (void)counted(measured, event);
    } else if (event->kind == EXPORT_COPY) {
        (void)copy(measured, event);
    } else if (event->kind == EXPORT_API) {
        (void)call(measured, event);
    } else if (event->kind == EXPORT_RANGE) {
        (void)marker(measured, event);
        (void)marker_text(measured, event);
    }
    return measured->out.written - before;
}

/* The window of a part, by a file that nobody writes. */
static int plan(struct parts *parts, struct json *measured)
{
    if (!parts->export->split_size)
        return parts_next(parts, 0, 0, weigh, measured);
    out_count(&measured->out, parts->export);
    int status = write_all(measured);
    if (status == EXIT_FINE)
        status = parts_next(parts, EXPORT_RANGE | EXPORT_API | EXPORT_COPY | EXPORT_KERNEL,
                            measured->out.written, weigh, measured);
    return status;
}

static int write_part(struct json *json, struct json *measured, struct parts *parts)
{
    int status = plan(parts, measured);
    if (status == EXIT_FINE)
        status = out_begin(&json->out, json->export);
    if (status == EXIT_FINE)
        status = write_all(json);
    return status == EXIT_FINE ? out_end(&json->out) : status;
}

static int run(struct export *export)
{
    static struct json json;
    static struct json measured;
    struct parts parts;
    parts_begin(&parts, export);
    int status = begin(&json, export, EXPORT_ALL);
    if (status == EXIT_FINE)
        status = begin(&measured, export, 0);
    while (status == EXIT_FINE && parts.left)
        status = write_part(&json, &measured, &parts);
    parts_end(&parts);
    end(&json);
    end(&measured);
    return status;
}

const struct exporter export_rocprofv3 = {
    "rocprofv3", "_results.json", EXPORT_SPLITS | EXPORT_PER_RANK | EXPORT_STREAMS | EXPORT_GZIP,
    run};

/* rocpd 3.0 (rocprofiler-sdk, ROCm Optiq): every table has a suffix of its own and a view without
 * it, every row the identity of the file. */
#include "export/database.h"

#include "analysis/memory_calls.h"
#include "common/command.h"
#include "common/memory.h"
#include "common/open.h"
#include "common/say.h"
#include "common/texts.h"
#include "export/lookup.h"
#include "export/rocpd_agent.h"
#include "export/rocpd_schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* The statements that write rows; the tables have their suffix at the end only. */
enum {
    STRING,
    META,
    NODE,
    PROCESS,
    THREAD,
    AGENT_ROW,
    UNKNOWN_AGENT,
    QUEUE,
    STREAM,
    OBJECT,
    SYMBOL,
    EVENT,
    RANGE_EVENT,
    DEVICE_EVENT,
    ARGUMENT,
    REGION,
    KERNEL,
    COPY,
    LAUNCH,
    ALLOCATION,
    PMC,
    PMC_EVENT,
    FIND_REGION
};

enum category { CALLS, RANGES, KERNELS, COPIES, LAUNCHES, ALLOCATIONS, CATEGORIES };

/* The id of what was asked for last, which is asked for again as a rule; 0: of nothing. */
struct last {
    int64_t key, id, other;
};

struct rocpd {
    struct database database;
    struct export *export;
    char guid[40], suffix[44];
    struct texts strings; /* a string's id is its number + 1 */
    struct texts hosts;   /* a node's id is its number + 1 */
    struct texts unknown; /* names of kernels without a symbol: their ids follow the symbols' */
    /* Where the trace does not know: rows with ids that follow those of the lists. */
    int64_t base; /* added to ids of processes and threads, by which rocpd joins files */
    size_t threads, agents, queues, streams, symbols;
    int64_t events, dispatches;
    int64_t categories[CATEGORIES]; /* string ids, 0: not yet */
    int64_t *names;                 /* string ids of the names of symbols, by place; 0: not yet */
    struct last node, range, call;
    bool *objects; /* code objects that are written, by id */
};

static int64_t text_id(struct rocpd *rocpd, struct texts *texts, const char *text, bool *added)
{
    size_t before = texts->count;
    size_t number = texts_number(texts, text);
    *added = texts->count != before;
    if (number != TEXTS_NONE)
        return (int64_t)number + 1;
    if (!rocpd->database.failed)
        say("there is not enough memory");
    rocpd->database.failed = true;
    return 0;
}

static int64_t string_id(struct rocpd *rocpd, const char *text)
{
    bool added;
    int64_t id = text_id(rocpd, &rocpd->strings, text, &added);
    if (added)
        (void)database_row(&rocpd->database, STRING,
                           "INSERT INTO rocpd_string(id, string) VALUES (?, ?)", "it", id, text);
    return id;
}

/* Definitions. The id of a row is the place in the list of the trace, from 1. */

static int64_t node_id(struct rocpd *rocpd, uint32_t process)
{
    if (rocpd->node.key == process)
        return rocpd->node.id;
    const rtl_process_t *found = export_process(rocpd->export, process);
    const char *host = found && found->host[0] ? found->host : rocpd->export->info.host;
    bool added;
    int64_t id = text_id(rocpd, &rocpd->hosts, host, &added);
    if (added)
        (void)database_row(&rocpd->database, NODE,
                           "INSERT INTO rocpd_info_node(id, hash, machine_id, hostname)"
                           " VALUES (?, ?, ?, ?)",
                           "iitt", id, id, host, host);
    rocpd->node = (struct last){.key = process, .id = id};
    return id;
}

static int64_t process_id(const struct rocpd *rocpd, uint32_t process)
{
    return rocpd->base + process;
}

static int64_t unknown_thread_id(const struct rocpd *rocpd, uint32_t process)
{
    return rocpd->base + (int64_t)rocpd->threads + process;
}

static int64_t thread_id(const struct rocpd *rocpd, uint32_t process, uint32_t thread)
{
    size_t place = lookup_thread_place(rocpd->export, process, thread);
    return place < rocpd->threads ? rocpd->base + (int64_t)place + 1
                                  : unknown_thread_id(rocpd, process);
}

static int64_t agent_id(const struct rocpd *rocpd, uint32_t process, uint32_t agent)
{
    size_t place = lookup_agent_place(rocpd->export, process, agent);
    return (int64_t)(place < rocpd->agents ? place + 1 : rocpd->agents + process);
}

static int64_t queue_id(const struct rocpd *rocpd, uint32_t process, uint32_t queue)
{
    size_t place = lookup_queue_place(rocpd->export, process, queue);
    return (int64_t)(place < rocpd->queues ? place + 1 : rocpd->queues + process);
}

static int64_t stream_id(const struct rocpd *rocpd, uint32_t process, uint32_t stream)
{
    size_t place = lookup_stream_place(rocpd->export, process, stream);
    return (int64_t)(place < rocpd->streams ? place + 1 : rocpd->streams + process);
}

static int thread_row(struct rocpd *rocpd, int64_t id, uint32_t process, uint32_t thread,
                      const char *name)
{
    const rtl_process_t *found = export_process(rocpd->export, process);
    return database_row(
        &rocpd->database, THREAD,
        "INSERT INTO rocpd_info_thread(id, nid, ppid, pid, tid, name) VALUES (?, ?, ?, ?, ?, ?)",
        "iiiiit", id, node_id(rocpd, process), (int64_t)(found ? found->ppid : 0),
        process_id(rocpd, process), (int64_t)thread, name);
}

static int agent_row(struct rocpd *rocpd, int64_t id, const rtl_agent_t *items, size_t place)
{
    const rtl_agent_t *agent = &items[place];
    bool typed = strcmp(agent->type, "GPU") == 0 || strcmp(agent->type, "CPU") == 0;
    char *json = rocpd_agent_json(items, place);
    if (!json)
        return say_fail(EXIT_USAGE, "there is not enough memory");
    int status = database_row(
        &rocpd->database, AGENT_ROW,
        "INSERT INTO rocpd_info_agent(id, nid, pid, type, absolute_index, logical_index,"
        " type_index, name, model_name, vendor_name, product_name, user_name, extdata)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        "iiitiiitttttt", id, node_id(rocpd, agent->process), process_id(rocpd, agent->process),
        typed ? agent->type : NULL, (int64_t)agent->node, (int64_t)agent->agent,
        (int64_t)rocpd_agent_type_index(items, place), agent->name, agent->product,
        rocpd_agent_vendor(agent), agent->product, agent->product, json);
    free(json);
    return status;
}

/* Stands for an agent of the process that the trace does not name. */
static int unknown_agent_row(struct rocpd *rocpd, int64_t id, uint32_t process)
{
    return database_row(
        &rocpd->database, UNKNOWN_AGENT,
        "INSERT INTO rocpd_info_agent(id, nid, pid, name, model_name, product_name, user_name)"
        " VALUES (?1, ?2, ?3, ?4, ?4, ?4, ?4)",
        "iiit", id, node_id(rocpd, process), process_id(rocpd, process), "unknown");
}

static int named_row(struct rocpd *rocpd, unsigned which, const char *sql, int64_t id,
                     uint32_t process, const char *name)
{
    return database_row(&rocpd->database, which, sql, "iiit", id, node_id(rocpd, process),
                        process_id(rocpd, process), name);
}

static int queue_row(struct rocpd *rocpd, int64_t id, uint32_t process, const char *name)
{
    return named_row(rocpd, QUEUE,
                     "INSERT INTO rocpd_info_queue(id, nid, pid, name) VALUES (?, ?, ?, ?)", id,
                     process, name);
}

static int stream_row(struct rocpd *rocpd, int64_t id, uint32_t process, const char *name)
{
    return named_row(rocpd, STREAM,
                     "INSERT INTO rocpd_info_stream(id, nid, pid, name) VALUES (?, ?, ?, ?)", id,
                     process, name);
}

/* A code object for each agent that has kernels: the trace knows no more of them. It has the
 * agent's id. */
static int object_row(struct rocpd *rocpd, int64_t id, uint32_t process)
{
    if (rocpd->objects[id])
        return EXIT_FINE;
    rocpd->objects[id] = true;
    return database_row(&rocpd->database, OBJECT,
                        "INSERT INTO rocpd_info_code_object(id, nid, pid, agent_id)"
                        " VALUES (?1, ?2, ?3, ?1)",
                        "iii", id, node_id(rocpd, process), process_id(rocpd, process));
}

static int symbol_row(struct rocpd *rocpd, int64_t id, const rtl_symbol_t *symbol)
{
    int64_t object = agent_id(rocpd, symbol->process, symbol->agent);
    int status = object_row(rocpd, object, symbol->process);
    if (status != EXIT_FINE)
        return status;
    return database_row(
        &rocpd->database, SYMBOL,
        "INSERT INTO rocpd_info_kernel_symbol(id, nid, pid, code_object_id, kernel_name,"
        " display_name, kernel_object, kernarg_segment_size, group_segment_size,"
        " private_segment_size, extdata) VALUES (?1, ?, ?, ?, ?, ?6, ?, ?, ?, ?,"
        " json_object('kernel_id', ?1, 'formatted_kernel_name', ?6, 'demangled_kernel_name', ?6,"
        " 'truncated_kernel_name', ?6))",
        "iiiittiiii", id, node_id(rocpd, symbol->process), process_id(rocpd, symbol->process),
        object, symbol->mangled[0] ? symbol->mangled : symbol->name, symbol->name,
        (int64_t)symbol->kernel_object, (int64_t)symbol->kernarg_size, (int64_t)symbol->group_size,
        (int64_t)symbol->private_size);
}

/* A process, and what stands for what is not known of it. Its main thread is one that did nothing
 * known. */
static int process_row(struct rocpd *rocpd, const rtl_process_t *process)
{
    int64_t id = process->process;
    uint64_t end = process->end ? process->end : rocpd->export->info.end;
    int status = database_row(
        &rocpd->database, PROCESS,
        "INSERT INTO rocpd_info_process(id, nid, ppid, pid, init, fini, start, end, command)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        "iiiiiiiit", process_id(rocpd, process->process), node_id(rocpd, process->process),
        (int64_t)process->ppid, (int64_t)process->pid, (int64_t)process->start, (int64_t)end,
        (int64_t)process->start, (int64_t)end, process->command);
    if (status == EXIT_FINE)
        status = thread_row(rocpd, unknown_thread_id(rocpd, process->process), process->process,
                            process->pid, NULL);
    if (status == EXIT_FINE)
        status = unknown_agent_row(rocpd, (int64_t)rocpd->agents + id, process->process);
    if (status == EXIT_FINE)
        status = queue_row(rocpd, (int64_t)rocpd->queues + id, process->process, "unknown");
    if (status == EXIT_FINE)
        status = stream_row(rocpd, (int64_t)rocpd->streams + id, process->process, "unknown");
    return status;
}

static int write_processes(struct rocpd *rocpd)
{
    const struct export *export = rocpd->export;
    int status = EXIT_FINE;
    for (size_t i = 0; i < export->process_count && status == EXIT_FINE; ++i)
        if (export_wants(export, export->processes[i].process))
            status = process_row(rocpd, &export->processes[i]);
    return status;
}

/* As the program called it, else as the kernel does; NULL if neither is known. */
static const char *thread_name(const rtl_thread_t *thread)
{
    const char *name = thread->name[0] ? thread->name : thread->comm;
    return name[0] ? name : NULL;
}

/* rocprofiler-sdk's ids are pids and tids: where its views take several files for one they join by
 * them alone. So ids of files of different processes have to be different. */
static int64_t base_of(const struct export *export)
{
    for (size_t i = 0; i < export->process_count; ++i)
        if (export_wants(export, export->processes[i].process))
            return (int64_t) export->processes[i].pid << 24;
    return 0;
}

static int write_threads(struct rocpd *rocpd)
{
    const rtl_thread_t *items;
    int status = EXIT_FINE;
    if (rtlTraceThreads(rocpd->export->trace, &items, &rocpd->threads) != RTL_OK)
        return open_failed(rocpd->export->trace, rocpd->export->path);
    for (size_t i = 0; i < rocpd->threads && status == EXIT_FINE; ++i)
        if (export_wants(rocpd->export, items[i].process))
            status = thread_row(rocpd, rocpd->base + (int64_t)i + 1, items[i].process,
                                items[i].thread, thread_name(&items[i]));
    return status;
}

static uint32_t largest_process(const struct export *export)
{
    uint32_t largest = 0;
    for (size_t i = 0; i < export->process_count; ++i)
        if (export->processes[i].process > largest)
            largest = export->processes[i].process;
    return largest;
}

static int write_agents(struct rocpd *rocpd)
{
    const rtl_agent_t *items;
    int status = EXIT_FINE;
    if (rtlTraceAgents(rocpd->export->trace, &items, &rocpd->agents) != RTL_OK)
        return open_failed(rocpd->export->trace, rocpd->export->path);
    rocpd->objects =
        memory_new(rocpd->agents + largest_process(rocpd->export) + 1, sizeof *rocpd->objects);
    for (size_t i = 0; i < rocpd->agents && status == EXIT_FINE; ++i)
        if (export_wants(rocpd->export, items[i].process))
            status = agent_row(rocpd, (int64_t)i + 1, items, i);
    return status;
}

static int write_queues(struct rocpd *rocpd)
{
    const rtl_queue_t *items;
    char name[32];
    int status = EXIT_FINE;
    if (rtlTraceQueues(rocpd->export->trace, &items, &rocpd->queues) != RTL_OK)
        return open_failed(rocpd->export->trace, rocpd->export->path);
    for (size_t i = 0; i < rocpd->queues && status == EXIT_FINE; ++i) {
        (void)snprintf(name, sizeof name, "Queue %u", items[i].queue);
        if (export_wants(rocpd->export, items[i].process))
            status = queue_row(rocpd, (int64_t)i + 1, items[i].process, name);
    }
    return status;
}

static int write_streams(struct rocpd *rocpd)
{
    const rtl_stream_t *items;
    char name[32];
    int status = EXIT_FINE;
    if (rtlTraceStreams(rocpd->export->trace, &items, &rocpd->streams) != RTL_OK)
        return open_failed(rocpd->export->trace, rocpd->export->path);
    for (size_t i = 0; i < rocpd->streams && status == EXIT_FINE; ++i) {
        (void)snprintf(name, sizeof name, "Stream %u", items[i].stream);
        if (export_wants(rocpd->export, items[i].process))
            status = stream_row(rocpd, (int64_t)i + 1, items[i].process,
                                items[i].name[0] ? items[i].name : name);
    }
    return status;
}

static int write_symbols(struct rocpd *rocpd)
{
    const rtl_symbol_t *items;
    int status = EXIT_FINE;
    if (rtlTraceSymbols(rocpd->export->trace, &items, &rocpd->symbols) != RTL_OK)
        return open_failed(rocpd->export->trace, rocpd->export->path);
    rocpd->names = memory_new(rocpd->symbols + 1, sizeof *rocpd->names);
    for (size_t i = 0; i < rocpd->symbols && status == EXIT_FINE; ++i)
        if (export_wants(rocpd->export, items[i].process))
            status = symbol_row(rocpd, (int64_t)i + 1, &items[i]);
    return status;
}

static int counter_row(struct rocpd *rocpd, int64_t id, const rtl_trace_counter_t *counter)
{
    const struct rtl_counter *known = lookup_counter(rocpd->export, counter);
    const char *block = rtl_block_name(counter->block);
    return database_row(
        &rocpd->database, PMC,
        "INSERT INTO rocpd_info_pmc(id, nid, pid, agent_id, target_arch, event_code, name, symbol,"
        " description, component, units, value_type, block, expression, is_constant, is_derived)"
        " VALUES (?, ?, ?, ?, 'GPU', ?, ?, ?, ?, 'rocm', ?, 'ABS', ?, '', 0, 0)",
        "iiiiittttt", id, node_id(rocpd, counter->process), process_id(rocpd, counter->process),
        agent_id(rocpd, counter->process, counter->agent), (int64_t)counter->event, counter->name,
        counter->name, known ? known->text : "", known ? known->unit : "", block ? block : "");
}

static int write_counters(struct rocpd *rocpd)
{
    const rtl_trace_counter_t *items;
    size_t count;
    int status = EXIT_FINE;
    if (rtlTraceCounters(rocpd->export->trace, &items, &count) != RTL_OK)
        return open_failed(rocpd->export->trace, rocpd->export->path);
    for (size_t i = 0; i < count && status == EXIT_FINE; ++i)
        if (export_wants(rocpd->export, items[i].process))
            status = counter_row(rocpd, (int64_t)i + 1, &items[i]);
    return status;
}

/* Rows refer to each other, which is looked at when all are there. */
static int write_definitions(struct rocpd *rocpd)
{
    static int (*const lists[])(struct rocpd *) = {write_threads, write_agents,  write_queues,
                                                   write_streams, write_symbols, write_processes,
                                                   write_counters};
    int status = EXIT_FINE;
    for (size_t i = 0; i < sizeof lists / sizeof *lists && status == EXIT_FINE; ++i)
        status = lists[i](rocpd);
    return status;
}

/* Events. */

/* Host calls and ranges share the ids of their process; here is one row of ids for all. */
static int64_t region_id(uint32_t process, uint64_t correlation)
{
    return correlation ? (int64_t)((uint64_t)(process - 1) << 40 | correlation) : 0;
}

static int64_t category_id(struct rocpd *rocpd, enum category category)
{
    static const char *const names[CATEGORIES] = {"HIP_RUNTIME_API", "MARKER_CORE_RANGE_API",
                                                  "KERNEL_DISPATCH", "MEMORY_COPY",
                                                  "GRAPH_LAUNCH",    "MEMORY_ALLOCATION"};
    if (rocpd->categories[category] == 0)
        rocpd->categories[category] = string_id(rocpd, names[category]);
    return rocpd->categories[category];
}

/* Begins a row: what it belongs to. `rocpd->events` is its event. Ids of the device's events come
 * from SQLite, which is quicker and counts as we do: no other statement writes some then. */
static int event_row(struct rocpd *rocpd, enum category category, int64_t stack, int64_t parent)
{
    const int64_t row[] = {++rocpd->events, category_id(rocpd, category), stack, parent, stack};
    if (category == KERNELS || category == COPIES || category == LAUNCHES)
        return database_numbers(&rocpd->database, DEVICE_EVENT,
                                "INSERT OR ROLLBACK INTO rocpd_event(category_id, stack_id,"
                                " parent_stack_id, correlation_id)",
                                4, row + 1);
    return database_numbers(&rocpd->database, EVENT,
                            "INSERT OR ROLLBACK INTO rocpd_event(id, category_id, stack_id,"
                            " parent_stack_id, correlation_id)",
                            5, row);
}

static int region_row(struct rocpd *rocpd, int64_t id, uint32_t process, uint32_t thread,
                      uint64_t start, uint64_t end, const char *name)
{
    const int64_t row[] = {id,
                           node_id(rocpd, process),
                           process_id(rocpd, process),
                           thread_id(rocpd, process, thread),
                           (int64_t)start,
                           (int64_t)end,
                           string_id(rocpd, name),
                           rocpd->events};
    return database_numbers(&rocpd->database, REGION,
                            "INSERT OR ROLLBACK INTO rocpd_region(id, nid, pid, tid, start, end,"
                            " name_id, event_id)",
                            8, row);
}

/* What C calls an argument's type. */
static const char *type_name(const rtl_parameter_t *parameter)
{
    switch (parameter->type) {
    case 's':
        return "hipStream_t";
    case 'e':
        return "hipEvent_t";
    case 'g':
        return "hipGraph_t";
    case 'x':
        return "hipGraphExec_t";
    case 'n':
        return "hipGraphNode_t";
    case 'u':
        return "unsigned long";
    case 'i':
        return "long";
    case 'z':
        return "size_t";
    case 'b':
        return parameter->enumeration;
    case 'd':
        return "double";
    case '3':
        return "dim3";
    default:
        return "void*";
    }
}

static void argument_text(const rtl_argument_t *argument, char *text, size_t size)
{
    uint64_t word = argument->words[0];
    double real;
    switch (argument->parameter.type) {
    case 'u':
    case 'z':
        (void)snprintf(text, size, "%" PRIu64, word);
        break;
    case 'i':
    case 'b':
        (void)snprintf(text, size, "%" PRId64, (int64_t)word);
        break;
    case 'd':
        memcpy(&real, &word, sizeof real);
        (void)snprintf(text, size, "%.17g", real);
        break;
    case '3':
        (void)snprintf(text, size, "{%u, %u, %u}", (uint32_t)word, (uint32_t)(word >> 32),
                       (uint32_t)argument->words[1]);
        break;
    default:
        (void)snprintf(text, size, "0x%" PRIx64, word);
        break;
    }
}

/* The views join a stream's argument with the stream by its extdata. */
static int argument_row(struct rocpd *rocpd, const rtl_api_t *api, int64_t position,
                        const rtl_argument_t *argument)
{
    char text[80];
    char extdata[48] = "{}";
    argument_text(argument, text, sizeof text);
    if (argument->parameter.type == 's' && api->stream != RTL_TRACE_NONE)
        (void)snprintf(extdata, sizeof extdata, "{\"stream_id\":%" PRId64 "}",
                       stream_id(rocpd, api->process, api->stream));
    return database_mixed(&rocpd->database, ARGUMENT,
                          "INSERT OR ROLLBACK INTO rocpd_arg(event_id, position, type, name, value,"
                          " extdata)",
                          "iitttt", rocpd->events, position, type_name(&argument->parameter),
                          argument->parameter.name, text, extdata);
}

static int argument_rows(struct rocpd *rocpd, const rtl_api_t *api)
{
    rtl_argument_t argument;
    int status = EXIT_FINE;
    for (size_t i = 0; status == EXIT_FINE && rtlApiArgument(api, i, &argument) == RTL_OK; ++i)
        status = argument_row(rocpd, api, (int64_t)i, &argument);
    return status;
}

/* The only agent of a type in a process; RTL_TRACE_NONE if there are several. */
static uint32_t only_agent(const struct rocpd *rocpd, uint32_t process, const char *type)
{
    const rtl_agent_t *items = NULL;
    size_t count = 0;
    uint32_t found = RTL_TRACE_NONE;
    (void)rtlTraceAgents(rocpd->export->trace, &items, &count);
    for (size_t i = 0; i < count; ++i) {
        if (items[i].process != process || strcmp(items[i].type, type) != 0)
            continue;
        if (found != RTL_TRACE_NONE)
            return RTL_TRACE_NONE;
        found = items[i].agent;
    }
    return found;
}

/* Where memory lies: a call does not say its device, so it is known where there is one only. Of
 * managed memory it is not. */
static int64_t agent_of_memory(const struct rocpd *rocpd, uint32_t process, enum memory_kind kind)
{
    uint32_t agent = RTL_TRACE_NONE;
    if (kind != MEMORY_MANAGED)
        agent = only_agent(rocpd, process, kind == MEMORY_HOST ? "CPU" : "GPU");
    return agent_id(rocpd, process, agent);
}

/* What a host call allocated or freed. As in the files of rocprofiler-sdk a free has neither a size
 * nor an agent: readers look for the address. */
static int allocation_row(struct rocpd *rocpd, const rtl_api_t *api,
                          const struct memory_call *memory)
{
    int status = event_row(rocpd, ALLOCATIONS, region_id(api->process, api->correlation),
                           region_id(api->process, api->range));
    if (status != EXIT_FINE)
        return status;
    return database_row(
        &rocpd->database, ALLOCATION,
        "INSERT INTO rocpd_memory_allocate(nid, pid, tid, agent_id, type, level, start, end,"
        " address, size, queue_id, stream_id, event_id)"
        " VALUES (?, ?, ?, nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        "iiiittiiiiiii", node_id(rocpd, api->process), process_id(rocpd, api->process),
        thread_id(rocpd, api->process, api->thread),
        memory->frees ? 0 : agent_of_memory(rocpd, api->process, memory->kind),
        memory->frees ? "FREE" : "ALLOC", memory->is_virtual ? "VIRTUAL" : "REAL",
        (int64_t)api->start, (int64_t)api->end, (int64_t)memory->pointer,
        memory->frees ? 0 : (int64_t)memory->bytes, queue_id(rocpd, api->process, RTL_TRACE_NONE),
        stream_id(rocpd, api->process, api->stream), rocpd->events);
}

static int call_row(struct rocpd *rocpd, const rtl_api_t *api)
{
    int64_t id = region_id(api->process, api->correlation);
    int status = event_row(rocpd, CALLS, id, region_id(api->process, api->range));
    if (status == EXIT_FINE)
        status = region_row(rocpd, id, api->process, api->thread, api->start, api->end, api->name);
    if (status == EXIT_FINE)
        status = argument_rows(rocpd, api);
    struct memory_call memory;
    if (status == EXIT_FINE && memory_call(api, &memory) && memory.pointer)
        status = allocation_row(rocpd, api, &memory);
    return status;
}

/* What hardware counters counted during the event that was written last. */
static int sample_rows(struct rocpd *rocpd, const struct export_event *event)
{
    int status = EXIT_FINE;
    for (size_t i = 0; i < event->sample_count; ++i)
        for (uint32_t j = 0; j < event->samples[i].count && status == EXIT_FINE; ++j) {
            const rtl_trace_sample_t *sample = &event->samples[i];
            size_t place = lookup_counter_place(rocpd->export, sample->counters[j]);
            status = database_row(
                &rocpd->database, PMC_EVENT,
                "INSERT INTO rocpd_pmc_event(event_id, pmc_id, value) VALUES (?, ?, ?)", "iid",
                rocpd->events, (int64_t)place + 1, (double)sample->values[j]);
        }
    return status;
}

/* The event of a range: its text is the message that readers sum markers by. */
static int range_event_row(struct rocpd *rocpd, const rtl_range_t *range, int64_t stack)
{
    return database_row(
        &rocpd->database, RANGE_EVENT,
        "INSERT INTO rocpd_event(id, category_id, stack_id, parent_stack_id, correlation_id,"
        " extdata) VALUES (?, ?, ?3, ?, ?3, json_object('message', ?5))",
        "iiiit", ++rocpd->events, category_id(rocpd, RANGES), stack,
        region_id(range->process, range->parent), range->name);
}

static int range_row(struct rocpd *rocpd, const struct export_event *event)
{
    const rtl_range_t *range = event->range;
    int64_t id = region_id(range->process, range->id);
    int status = range_event_row(rocpd, range, id);
    if (status != EXIT_FINE)
        return status;
    status = region_row(rocpd, id, range->process, range->thread, range->start,
                        lookup_range_end(rocpd->export, range), range->name);
    return status == EXIT_FINE ? sample_rows(rocpd, event) : status;
}

static int visit_host(void *state, const struct export_event *event)
{
    struct rocpd *rocpd = state;
    return event->kind == EXPORT_RANGE ? range_row(rocpd, event) : call_row(rocpd, event->api);
}

/* Where a kernel or copy comes from. No part is ever NULL: its views would lose the row. */
struct source {
    int64_t thread, region_name, stack, parent;
};

/* A region that was written: thread and name. */
static bool find_region(struct rocpd *rocpd, struct last *last, int64_t id)
{
    int64_t found[2];
    if (id == 0)
        return false;
    if (last->key == id)
        return true;
    if (!database_find(&rocpd->database, FIND_REGION,
                       "SELECT tid, name_id FROM rocpd_region WHERE id = ?", id, found, 2))
        return false;
    *last = (struct last){.key = id, .id = found[0], .other = found[1]};
    return true;
}

/* `name` is the string of the region's name where there is no range. */
static struct source source_of(struct rocpd *rocpd, const struct export_event *event, int64_t name)
{
    int64_t call = region_id(event->process, event->origin.call);
    int64_t range = region_id(event->process, event->origin.range);
    struct source source = {.thread = unknown_thread_id(rocpd, event->process),
                            .region_name = name};
    if (find_region(rocpd, &rocpd->range, range)) {
        source.thread = rocpd->range.id;
        source.region_name = rocpd->range.other;
        source.parent = range;
    }
    if (find_region(rocpd, &rocpd->call, call)) {
        source.thread = rocpd->call.id;
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
            rocpd->names[place] = string_id(rocpd, kernel->name);
        *name = rocpd->names[place];
        return (int64_t)place + 1;
    }
    bool added;
    int64_t id = (int64_t)rocpd->symbols + text_id(rocpd, &rocpd->unknown, kernel->name, &added);
    const rtl_symbol_t symbol = {.process = kernel->process,
                                 .agent = RTL_TRACE_NONE,
                                 .name = kernel->name,
                                 .mangled = kernel->mangled};
    if (added)
        (void)symbol_row(rocpd, id, &symbol);
    *name = string_id(rocpd, kernel->name);
    return id;
}

/* Ids of executable graphs count from 1 there as here; those of nodes do there, from 0 here. */
static int kernel_row(struct rocpd *rocpd, const struct export_event *event)
{
    const rtl_kernel_t *kernel = event->kernel;
    bool replayed = kernel->graph != RTL_TRACE_NONE;
    int64_t name;
    int64_t symbol = kernel_id(rocpd, kernel, &name);
    struct source source = source_of(rocpd, event, name);
    int status = event_row(rocpd, KERNELS, source.stack, source.parent);
    if (status != EXIT_FINE)
        return status;
    const int64_t row[] = {
        node_id(rocpd, event->process),
        process_id(rocpd, event->process),
        source.thread,
        agent_id(rocpd, event->process, agent_of_queue(rocpd, event->process, kernel->queue)),
        symbol,
        ++rocpd->dispatches,
        queue_id(rocpd, event->process, kernel->queue),
        stream_id(rocpd, event->process, event->origin.stream),
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
        &rocpd->database, KERNEL,
        "INSERT OR ROLLBACK INTO rocpd_kernel_dispatch(nid, pid, tid, agent_id, kernel_id,"
        " dispatch_id, queue_id, stream_id, start, end, private_segment_size, group_segment_size,"
        " workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y,"
        " grid_size_z, graph_exec_id, graph_node_id, region_name_id, event_id)",
        sizeof row / sizeof *row, row);
    return status == EXIT_FINE ? sample_rows(rocpd, event) : status;
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
    struct source source = source_of(rocpd, event, string_id(rocpd, ""));
    int status = event_row(rocpd, COPIES, source.stack, source.parent);
    if (status != EXIT_FINE)
        return status;
    return database_row(
        &rocpd->database, COPY,
        "INSERT INTO rocpd_memory_copy(nid, pid, tid, start, end, name_id, dst_agent_id,"
        " src_agent_id, size, queue_id, stream_id, region_name_id, event_id)"
        " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
        "iiiiiiiiiiiii", node_id(rocpd, event->process), process_id(rocpd, event->process),
        source.thread, (int64_t)copy->start, (int64_t)copy->end, string_id(rocpd, copy_name(copy)),
        agent_id(rocpd, event->process, copy->dst), agent_id(rocpd, event->process, copy->src),
        (int64_t)copy->bytes, queue_id(rocpd, event->process, copy->queue),
        stream_id(rocpd, event->process, event->origin.stream), source.region_name, rocpd->events);
}

static int launch_row(struct rocpd *rocpd, const rtl_graph_launch_t *launch)
{
    int64_t call = region_id(launch->process, launch->correlation);
    uint64_t start = launch->start ? launch->start : launch->time;
    uint64_t end = launch->end > start ? launch->end : start;
    int status = event_row(rocpd, LAUNCHES, call, region_id(launch->process, launch->range));
    if (status != EXIT_FINE)
        return status;
    return database_row(
        &rocpd->database, LAUNCH,
        "INSERT INTO rocpd_graph_launch(nid, pid, tid, start, end, graph_exec_id,"
        " kernel_dispatch_count, event_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        "iiiiiiii", node_id(rocpd, launch->process), process_id(rocpd, launch->process),
        thread_id(rocpd, launch->process, launch->thread), (int64_t)start, (int64_t)end,
        (int64_t)launch->graph, (int64_t)launch->kernels, rocpd->events);
}

static int visit_device(void *state, const struct export_event *event)
{
    struct rocpd *rocpd = state;
    if (event->kind == EXPORT_KERNEL)
        return kernel_row(rocpd, event);
    return event->kind == EXPORT_COPY ? copy_row(rocpd, event) : launch_row(rocpd, event->launch);
}

/* The schema. */

/* A random UUID (RFC 9562, version 4), with '-' and, for names of tables, with '_'. */
static int make_guid(struct rocpd *rocpd)
{
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return say_fail(EXIT_USAGE, "the system gave no random number");
    bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40);
    bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80);
    char *at = rocpd->guid;
    for (unsigned i = 0; i < sizeof bytes; ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *at++ = '-';
        at += snprintf(at, 3, "%02x", bytes[i]);
    }
    (void)snprintf(rocpd->suffix, sizeof rocpd->suffix, "_%s", rocpd->guid);
    for (char *c = rocpd->suffix; *c; ++c)
        if (*c == '-')
            *c = '_';
    return EXIT_FINE;
}

static int run_built(struct rocpd *rocpd, char *text)
{
    int status = text ? database_run(&rocpd->database, text)
                      : say_fail(EXIT_USAGE, "there is not enough memory");
    sqlite3_free(text);
    return status;
}

static int write_metadata(struct rocpd *rocpd)
{
    static const char sql[] = "INSERT INTO rocpd_metadata(tag, value) VALUES (?, ?)";
    const char *const rows[][2] = {{"schema_version", "3.0.2"},
                                   {"uuid", rocpd->suffix},
                                   {"guid", rocpd->guid},
                                   {"creator", rocpd->export->info.creator}};
    int status = EXIT_FINE;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && status == EXIT_FINE; ++i)
        status = database_row(&rocpd->database, META, sql, "tt", rows[i][0], rows[i][1]);
    return status;
}

/* All regions come before all kernels, which look up theirs. */
static int write_all(struct rocpd *rocpd)
{
    int status = make_guid(rocpd);
    rocpd->base = base_of(rocpd->export);
    if (status == EXIT_FINE)
        status = run_built(rocpd, rocpd_schema_tables(rocpd->guid));
    if (status == EXIT_FINE)
        status = write_metadata(rocpd);
    if (status == EXIT_FINE)
        status = write_definitions(rocpd);
    if (status == EXIT_FINE)
        status = export_walk(rocpd->export, EXPORT_RANGE | EXPORT_API, visit_host, rocpd);
    if (status == EXIT_FINE)
        status = database_flush(&rocpd->database);
    if (status == EXIT_FINE)
        status = export_walk(rocpd->export, EXPORT_LAUNCH | EXPORT_COPY | EXPORT_KERNEL,
                             visit_device, rocpd);
    if (status == EXIT_FINE)
        status = database_flush(&rocpd->database);
    database_forget(&rocpd->database);
    if (status == EXIT_FINE)
        status = run_built(rocpd, rocpd_schema_names(rocpd->guid, rocpd->suffix));
    return status == EXIT_FINE ? run_built(rocpd, rocpd_schema_views()) : status;
}

static int run(struct export *export)
{
    static struct rocpd rocpd;
    rocpd = (struct rocpd){.export = export};
    int status = database_begin(&rocpd.database, export, "");
    if (status == EXIT_FINE)
        status = write_all(&rocpd);
    if (status == EXIT_FINE)
        status = database_end(&rocpd.database);
    database_drop(&rocpd.database);
    texts_free(&rocpd.strings);
    texts_free(&rocpd.hosts);
    texts_free(&rocpd.unknown);
    free(rocpd.objects);
    free(rocpd.names);
    return status;
}

const struct exporter export_rocpd = {"rocpd", ".rocpd.db", EXPORT_PER_RANK, run};

/* What rows of rocpd refer to: processes, threads, agents, queues, streams, kernels, counters. */
#include "export/rocpd_rows.h"

#include "common/command.h"
#include "common/memory.h"
#include "common/open.h"
#include "common/say.h"
#include "export/lookup.h"
#include "export/rocpd_agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int thread_row(struct rocpd *rocpd, int64_t id, uint32_t process, uint32_t thread,
                      const char *name)
{
    const rtl_process_t *found = export_process(rocpd->export, process);
    return database_row(
        &rocpd->database, ROCPD_THREAD,
        "INSERT INTO rocpd_info_thread(id, nid, ppid, pid, tid, name) VALUES (?, ?, ?, ?, ?, ?)",
        "iiiiit", id, rocpd_node_id(rocpd, process), (int64_t)(found ? found->ppid : 0),
        rocpd_process_id(rocpd, process), (int64_t)thread, name);
}

static int agent_row(struct rocpd *rocpd, int64_t id, const rtl_agent_t *items, size_t place)
{
    const rtl_agent_t *agent = &items[place];
    bool typed = strcmp(agent->type, "GPU") == 0 || strcmp(agent->type, "CPU") == 0;
    char *json = rocpd_agent_json(items, place);
    if (!json)
        return say_fail(EXIT_USAGE, "there is not enough memory");
    int status = database_row(
        &rocpd->database, ROCPD_AGENT,
        "INSERT INTO rocpd_info_agent(id, nid, pid, type, absolute_index, logical_index,"
        " type_index, name, model_name, vendor_name, product_name, user_name, extdata)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        "iiitiiitttttt", id, rocpd_node_id(rocpd, agent->process),
        rocpd_process_id(rocpd, agent->process), typed ? agent->type : NULL, (int64_t)agent->node,
        (int64_t)agent->agent, (int64_t)rocpd_agent_type_index(items, place), agent->name,
        agent->product, rocpd_agent_vendor(agent), agent->product, agent->product, json);
    free(json);
    return status;
}

/* Stands for an agent of the process that the trace does not name. */
static int unknown_agent_row(struct rocpd *rocpd, int64_t id, uint32_t process)
{
    return database_row(
        &rocpd->database, ROCPD_UNKNOWN_AGENT,
        "INSERT INTO rocpd_info_agent(id, nid, pid, name, model_name, product_name, user_name)"
        " VALUES (?1, ?2, ?3, ?4, ?4, ?4, ?4)",
        "iiit", id, rocpd_node_id(rocpd, process), rocpd_process_id(rocpd, process), "unknown");
}

static int named_row(struct rocpd *rocpd, unsigned which, const char *sql, int64_t id,
                     uint32_t process, const char *name)
{
    return database_row(&rocpd->database, which, sql, "iiit", id, rocpd_node_id(rocpd, process),
                        rocpd_process_id(rocpd, process), name);
}

static int queue_row(struct rocpd *rocpd, int64_t id, uint32_t process, const char *name)
{
    return named_row(rocpd, ROCPD_QUEUE,
                     "INSERT INTO rocpd_info_queue(id, nid, pid, name) VALUES (?, ?, ?, ?)", id,
                     process, name);
}

static int stream_row(struct rocpd *rocpd, int64_t id, uint32_t process, const char *name)
{
    return named_row(rocpd, ROCPD_STREAM,
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
    return database_row(&rocpd->database, ROCPD_OBJECT,
                        "INSERT INTO rocpd_info_code_object(id, nid, pid, agent_id)"
                        " VALUES (?1, ?2, ?3, ?1)",
                        "iii", id, rocpd_node_id(rocpd, process), rocpd_process_id(rocpd, process));
}

int rocpd_symbol_row(struct rocpd *rocpd, int64_t id, const rtl_symbol_t *symbol)
{
    int64_t object = rocpd_agent_id(rocpd, symbol->process, symbol->agent);
    int status = object_row(rocpd, object, symbol->process);
    if (status != EXIT_FINE)
        return status;
    return database_row(
        &rocpd->database, ROCPD_SYMBOL,
        "INSERT INTO rocpd_info_kernel_symbol(id, nid, pid, code_object_id, kernel_name,"
        " display_name, kernel_object, kernarg_segment_size, group_segment_size,"
        " private_segment_size, extdata) VALUES (?1, ?, ?, ?, ?, ?6, ?, ?, ?, ?,"
        " json_object('kernel_id', ?1, 'formatted_kernel_name', ?6, 'demangled_kernel_name', ?6,"
        " 'truncated_kernel_name', ?6))",
        "iiiittiiii", id, rocpd_node_id(rocpd, symbol->process),
        rocpd_process_id(rocpd, symbol->process), object,
        symbol->mangled[0] ? symbol->mangled : symbol->name, symbol->name,
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
        &rocpd->database, ROCPD_PROCESS,
        "INSERT INTO rocpd_info_process(id, nid, ppid, pid, init, fini, start, end, command)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        "iiiiiiiit", rocpd_process_id(rocpd, process->process),
        rocpd_node_id(rocpd, process->process), (int64_t)process->ppid, (int64_t)process->pid,
        (int64_t)process->start, (int64_t)end, (int64_t)process->start, (int64_t)end,
        process->command);
    if (status == EXIT_FINE)
        status = thread_row(rocpd, rocpd_unknown_thread_id(rocpd, process->process),
                            process->process, process->pid, NULL);
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
    rocpd->agents_of_streams = memory_new(rocpd->streams + 1, sizeof *rocpd->agents_of_streams);
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
            status = rocpd_symbol_row(rocpd, (int64_t)i + 1, &items[i]);
    return status;
}

static int counter_row(struct rocpd *rocpd, int64_t id, const rtl_trace_counter_t *counter)
{
    const struct rtl_counter *known = lookup_counter(rocpd->export, counter);
    const char *block = rtl_block_name(counter->block);
    return database_row(
        &rocpd->database, ROCPD_PMC,
        "INSERT INTO rocpd_info_pmc(id, nid, pid, agent_id, target_arch, event_code, name, symbol,"
        " description, component, units, value_type, block, expression, is_constant, is_derived)"
        " VALUES (?, ?, ?, ?, 'GPU', ?, ?, ?, ?, 'rocm', ?, 'ABS', ?, '', 0, 0)",
        "iiiiittttt", id, rocpd_node_id(rocpd, counter->process),
        rocpd_process_id(rocpd, counter->process),
        rocpd_agent_id(rocpd, counter->process, counter->agent), (int64_t)counter->event,
        counter->name, counter->name, known ? known->text : "", known ? known->unit : "",
        block ? block : "");
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
int rocpd_write_definitions(struct rocpd *rocpd)
{
    static int (*const lists[])(struct rocpd *) = {write_threads, write_agents,  write_queues,
                                                   write_streams, write_symbols, write_processes,
                                                   write_counters};
    int status = EXIT_FINE;
    for (size_t i = 0; i < sizeof lists / sizeof *lists && status == EXIT_FINE; ++i)
        status = lists[i](rocpd);
    return status;
}

/* What the host did: calls with their arguments, what they allocated, ranges. */
#include "export/rocpd_rows.h"

#include "analysis/memory_calls.h"
#include "common/command.h"
#include "export/lookup.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The call that takes memory of its stream's device. */
#define FROM_STREAM "hipMallocAsync"

static int region_row(struct rocpd *rocpd, int64_t id, uint32_t process, uint32_t thread,
                      uint64_t start, uint64_t end, const char *name)
{
    const int64_t row[] = {id,
                           rocpd_node_id(rocpd, process),
                           rocpd_process_id(rocpd, process),
                           rocpd_thread_id(rocpd, process, thread),
                           (int64_t)start,
                           (int64_t)end,
                           rocpd_string_id(rocpd, name),
                           rocpd->events};
    return database_numbers(&rocpd->database, ROCPD_REGION,
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
                       rocpd_stream_id(rocpd, api->process, api->stream));
    return database_mixed(&rocpd->database, ROCPD_ARGUMENT,
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
    return rocpd_agent_id(rocpd, process, agent);
}

/* What a host call allocated or freed. As in the files of rocprofiler-sdk a free has neither a size
 * nor an agent: readers look for the address. */
static int allocation_row(struct rocpd *rocpd, const rtl_api_t *api,
                          const struct memory_call *memory)
{
    int status =
        rocpd_event_row(rocpd, ROCPD_ALLOCATIONS, rocpd_region_id(api->process, api->correlation),
                        rocpd_region_id(api->process, api->range));
    if (status != EXIT_FINE)
        return status;
    return database_row(
        &rocpd->database, ROCPD_ALLOCATION,
        "INSERT INTO rocpd_memory_allocate(nid, pid, tid, agent_id, type, level, start, end,"
        " address, size, queue_id, stream_id, event_id)"
        " VALUES (?, ?, ?, nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        "iiiittiiiiiii", rocpd_node_id(rocpd, api->process), rocpd_process_id(rocpd, api->process),
        rocpd_thread_id(rocpd, api->process, api->thread),
        memory->frees ? 0 : agent_of_memory(rocpd, api->process, memory->kind),
        memory->frees ? "FREE" : "ALLOC", memory->is_virtual ? "VIRTUAL" : "REAL",
        (int64_t)api->start, (int64_t)api->end, (int64_t)memory->pointer,
        memory->frees ? 0 : (int64_t)memory->bytes,
        rocpd_queue_id(rocpd, api->process, RTL_TRACE_NONE),
        rocpd_stream_id(rocpd, api->process, api->stream), rocpd->events);
}

int rocpd_place_memory(struct rocpd *rocpd)
{
    int status = EXIT_FINE;
    for (size_t i = 0; i < rocpd->streams && rocpd->pooled && status == EXIT_FINE; ++i)
        if (rocpd->agents_of_streams[i + 1] > 0)
            status = database_row(
                &rocpd->database, ROCPD_ALLOCATION_AGENT,
                "UPDATE rocpd_memory_allocate AS m SET agent_id = ? WHERE stream_id = ? AND"
                " type = 'ALLOC' AND EXISTS (SELECT 1 FROM rocpd_event e JOIN rocpd_region r"
                " ON r.id = e.stack_id JOIN rocpd_string s ON s.id = r.name_id"
                " WHERE e.id = m.event_id AND s.string = '" FROM_STREAM "')",
                "ii", rocpd->agents_of_streams[i + 1], (int64_t)i + 1);
    return status;
}

static int call_row(struct rocpd *rocpd, const rtl_api_t *api)
{
    int64_t id = rocpd_region_id(api->process, api->correlation);
    int status = rocpd_event_row(rocpd, ROCPD_CALLS, id, rocpd_region_id(api->process, api->range));
    if (status == EXIT_FINE)
        status = region_row(rocpd, id, api->process, api->thread, api->start, api->end, api->name);
    if (status == EXIT_FINE)
        status = argument_rows(rocpd, api);
    struct memory_call memory;
    if (status == EXIT_FINE && memory_call(api, &memory) && memory.pointer) {
        rocpd->pooled |= strcmp(api->name, FROM_STREAM) == 0;
        status = allocation_row(rocpd, api, &memory);
    }
    return status;
}

/* The event of a range: its text is the message that readers sum markers by. */
static int range_event_row(struct rocpd *rocpd, const rtl_range_t *range, int64_t stack)
{
    return database_row(
        &rocpd->database, ROCPD_RANGE_EVENT,
        "INSERT INTO rocpd_event(id, category_id, stack_id, parent_stack_id, correlation_id,"
        " extdata) VALUES (?, ?, ?3, ?, ?3, json_object('message', ?5))",
        "iiiit", ++rocpd->events, rocpd_category_id(rocpd, ROCPD_RANGES), stack,
        rocpd_region_id(range->process, range->parent), range->name);
}

/* What takes no time is no region in rocprofiler-sdk's files but a sample, on a track of its thread
 * that is called as its category. A thread's track has the thread's id. */
static int moment_row(struct rocpd *rocpd, int64_t id, const rtl_range_t *range)
{
    int64_t track = rocpd_thread_id(rocpd, range->process, range->thread);
    int status = database_row(
        &rocpd->database, ROCPD_TRACK,
        "INSERT OR IGNORE INTO rocpd_track(id, nid, pid, tid, name_id) VALUES (?1, ?, ?, ?1, ?)",
        "iiii", track, rocpd_node_id(rocpd, range->process),
        rocpd_process_id(rocpd, range->process), rocpd_category_id(rocpd, ROCPD_RANGES));
    if (status != EXIT_FINE)
        return status;
    return database_row(
        &rocpd->database, ROCPD_SAMPLE,
        "INSERT INTO rocpd_sample(id, track_id, timestamp, event_id) VALUES (?, ?, ?, ?)", "iiii",
        id, track, (int64_t)range->start, rocpd->events);
}

static int range_row(struct rocpd *rocpd, const struct export_event *event)
{
    const rtl_range_t *range = event->range;
    int64_t id = rocpd_region_id(range->process, range->id);
    int status = range_event_row(rocpd, range, id);
    if (status != EXIT_FINE)
        return status;
    uint64_t end = lookup_range_end(rocpd->export, range);
    status = end == range->start ? moment_row(rocpd, id, range)
                                 : region_row(rocpd, id, range->process, range->thread,
                                              range->start, end, range->name);
    return status == EXIT_FINE ? rocpd_sample_rows(rocpd, event) : status;
}

int rocpd_begin_earlier(struct rocpd *rocpd)
{
    rocpd->earlier = true;
    return database_run(&rocpd->database,
                        "CREATE TEMP TABLE earlier(id INTEGER PRIMARY KEY, tid, name_id)");
}

int rocpd_visit_earlier(void *state, const struct export_event *event)
{
    struct rocpd *rocpd = state;
    const rtl_range_t *range = event->range;
    return database_row(&rocpd->database, ROCPD_EARLIER,
                        "INSERT INTO temp.earlier(id, tid, name_id) VALUES (?, ?, ?)", "iii",
                        rocpd_region_id(range->process, range->id),
                        rocpd_thread_id(rocpd, range->process, range->thread),
                        rocpd_string_id(rocpd, range->name));
}

int rocpd_visit_host(void *state, const struct export_event *event)
{
    struct rocpd *rocpd = state;
    return event->kind == EXPORT_RANGE ? range_row(rocpd, event) : call_row(rocpd, event->api);
}

/* rtl info: what a trace is about. */
#include "analysis/account.h"
#include "analysis/counted.h"
#include "analysis/notes.h"
#include "analysis/pauses.h"
#include "common/command.h"
#include "common/open.h"
#include "common/parse.h"
#include "common/plain.h"
#include "common/show.h"
#include "common/table.h"
#include "common/trace_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Everything that the reader lists. */
struct lists {
    const char *path;
    rtl_trace_t *trace;
    rtl_trace_info_t info;
    const rtl_process_t *processes;
    const rtl_agent_t *agents;
    const rtl_queue_t *queues;
    const rtl_symbol_t *symbols;
    const rtl_note_t *notes;
    const rtl_graph_t *graphs; /* a row for each generation */
    const rtl_graph_launch_t *launches;
    size_t process_count, agent_count, queue_count, symbol_count, note_count;
    size_t graph_count, launch_count;
};

static rtl_status_t read_lists(rtl_trace_t *trace, struct lists *lists)
{
    rtl_status_t status = rtlTraceInfo(trace, &lists->info);
    if (status == RTL_OK)
        status = rtlTraceProcesses(trace, &lists->processes, &lists->process_count);
    if (status == RTL_OK)
        status = rtlTraceAgents(trace, &lists->agents, &lists->agent_count);
    if (status == RTL_OK)
        status = rtlTraceQueues(trace, &lists->queues, &lists->queue_count);
    if (status == RTL_OK)
        status = rtlTraceSymbols(trace, &lists->symbols, &lists->symbol_count);
    if (status == RTL_OK)
        status = rtlTraceNotes(trace, &lists->notes, &lists->note_count);
    if (status == RTL_OK)
        status = rtlTraceGraphs(trace, &lists->graphs, &lists->graph_count);
    if (status == RTL_OK)
        status = rtlTraceGraphLaunches(trace, &lists->launches, &lists->launch_count);
    return status;
}

static uint64_t realtime(const rtl_trace_info_t *info, uint64_t time)
{
    return time + (uint64_t)info->realtime_offset;
}

static const char *or_unknown(const char *text)
{
    return text[0] ? plain(text) : "unknown";
}

/* The generations of a graph stand one after the other. */
static size_t count_graphs(const struct lists *lists)
{
    size_t count = 0;
    for (size_t i = 0; i < lists->graph_count; ++i)
        count += i == 0 || lists->graphs[i].process != lists->graphs[i - 1].process ||
                 lists->graphs[i].graph != lists->graphs[i - 1].graph;
    return count;
}

static void show_file(const struct lists *lists)
{
    const rtl_trace_info_t *info = &lists->info;
    (void)printf("%s\n", plain(lists->path));
    (void)printf("  format     %" PRIu32 ".%" PRIu32 ", written by %s\n", info->format_major,
                 info->format_minor, or_unknown(info->creator));
    (void)printf("  command    %s\n", or_unknown(info->command));
    (void)printf("  host       %s\n", or_unknown(info->host));
    (void)printf("  mode       %s\n", or_unknown(info->mode));
    (void)printf("  recorded   %s, %s\n", show_date(realtime(info, info->start)).text,
                 show_duration((double)(info->end - info->start)).text);
    (void)printf("  ended      %s", info->finished ? "in order"
                                    : info->failure[0]
                                        ? "not: it could not be written, "
                                        : "not: it is being recorded, or the collector was killed");
    if (!info->finished)
        (void)printf("%s", info->failure);
    if (info->exit_status >= 256)
        (void)printf(", program died by signal %d", info->exit_status - 256);
    else if (info->exit_status >= 0)
        (void)printf(", exit status %d", info->exit_status);
    (void)printf("\n  kernels    %s, and %s known\n", show_count(info->kernels).text,
                 show_things(lists->symbol_count, "kernel function").text);
    (void)printf("  copies     %s\n", show_count(info->copies).text);
    (void)printf("  host calls %s\n", show_count(info->calls).text);
    (void)printf("  ranges     %s\n", show_count(info->ranges).text);
    (void)printf("  graphs     %s, launched %s\n", show_count(count_graphs(lists)).text,
                 show_things(lists->launch_count, "time").text);
    (void)printf("  size       %s", show_bytes(info->bytes).text);
    if (info->kernels)
        (void)printf(", %.1f bytes per kernel", (double)info->bytes / (double)info->kernels);
    (void)putchar('\n');
}

static void show_agent(const rtl_agent_t *agent)
{
    (void)printf("  GPU %-6" PRIu32 " %s %s, %" PRIu32 " compute units%s%s, ", agent->gpu,
                 plain(agent->name), plain(agent->product), agent->compute_units,
                 agent->uuid[0] ? ", " : "", plain(agent->uuid));
    if (agent->clock_hz)
        (void)printf("clock %.3f MHz\n", (double)agent->clock_hz / 1e6);
    else
        (void)printf("clock rate not told by the runtime\n");
}

static void show_processes(const struct lists *lists)
{
    for (size_t i = 0; i < lists->process_count; ++i) {
        const rtl_process_t *p = &lists->processes[i];
        (void)printf("\nprocess %" PRIu32 ": pid %" PRIu32 ", %s, %s mode by %s, librtl %s\n",
                     p->process, p->pid, plain(p->state), or_unknown(p->mode), or_unknown(p->way),
                     or_unknown(p->library));
        (void)printf("  command    %s\n", or_unknown(p->command));
        if (p->title[0])
            (void)printf("  title      %s\n", plain(p->title));
        if (p->rank[0])
            (void)printf("  rank       %s\n", plain(p->rank));
        if (p->torn)
            (void)printf("  torn       %s of the ring cut off by its end\n",
                         show_things(p->torn, "slot").text);
        for (size_t j = 0; j < lists->agent_count; ++j) {
            const rtl_agent_t *a = &lists->agents[j];
            if (a->process != p->process || a->gpu == RTL_TRACE_NONE)
                continue;
            show_agent(a);
        }
    }
}

static void show_queues(const struct lists *lists)
{
    static const char *const heading[] = {"process", "queue", "gpu", "size",   "kernels",
                                          "copies",  "lived", "way", "address"};
    if (lists->queue_count == 0)
        return;
    (void)printf("\nqueues\n");
    struct table *table = table_new("rrrrrrrll");
    for (size_t i = 0; i < sizeof heading / sizeof heading[0]; ++i)
        table_cell(table, heading[i]);
    for (size_t i = 0; i < lists->queue_count; ++i) {
        const rtl_queue_t *q = &lists->queues[i];
        uint64_t end = q->end ? q->end : lists->info.end;
        char address[24];
        (void)snprintf(address, sizeof address, "0x%" PRIx64, q->address);
        table_cell(table, show_count(q->process).text);
        table_cell(table, show_count(q->queue).text);
        table_cell(table, q->gpu == RTL_TRACE_NONE ? "-" : show_count(q->gpu).text);
        table_cell(table, show_count(q->size).text);
        table_cell(table, show_count(q->kernels).text);
        table_cell(table, show_count(q->copies).text);
        table_cell(table, show_duration(end > q->start ? (double)(end - q->start) : 0).text);
        table_cell(table, q->way);
        table_cell(table, address);
    }
    table_print(table, stdout);
}

static void show_pauses(const struct lists *lists)
{
    const rtl_pause_t *pauses;
    size_t count;
    if (rtlTracePauses(lists->trace, &pauses, &count) != RTL_OK || count == 0)
        return;
    (void)printf("\npauses\n");
    (void)pauses_show(lists->trace, stdout);
}

static void show_counters(const struct lists *lists)
{
    (void)counted_show_counters(lists->trace, stdout); /* they were read when it was opened */
}

static void show_notes(const struct lists *lists)
{
    struct notes notes;
    if (lists->note_count == 0 || notes_read(lists->trace, &notes) != RTL_OK)
        return; /* they were read when the trace was opened */
    (void)printf("\nnotes\n");
    for (size_t i = 0; i < notes.count; ++i) {
        const struct notes_line *line = &notes.lines[i];
        (void)printf("  %s  ", show_date(realtime(&lists->info, line->note->time)).text);
        notes_show(stdout, line);
        (void)putchar('\n');
    }
    notes_end(&notes);
}

static json_t *json_processes(const struct lists *lists)
{
    json_t *list = json_array();
    for (size_t i = 0; i < lists->process_count; ++i) {
        const rtl_process_t *p = &lists->processes[i];
        json_t *object = json_pack(
            "{s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "process",
            open_id(p->process), "pid", (json_int_t)p->pid, "ppid", (json_int_t)p->ppid, "command",
            open_text(p->command), "host", open_text(p->host), "rank", open_text(p->rank), "mode",
            open_text(p->mode), "way", open_text(p->way), "library", open_text(p->library),
            "start_ns", open_number(p->start), "end_ns", p->end ? open_number(p->end) : json_null(),
            "state", open_text(p->state), "torn", open_number(p->torn), "title",
            open_text(p->title));
        (void)json_array_append_new(list, object);
    }
    return list;
}

static json_t *json_agents(const struct lists *lists)
{
    json_t *list = json_array();
    for (size_t i = 0; i < lists->agent_count; ++i) {
        const rtl_agent_t *a = &lists->agents[i];
        json_t *object = json_pack(
            "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:o}", "process",
            open_id(a->process), "agent", open_id(a->agent), "gpu", open_id(a->gpu), "type",
            open_text(a->type), "name", open_text(a->name), "product", open_text(a->product),
            "uuid", open_text(a->uuid), "node", (json_int_t)a->node, "bdf", (json_int_t)a->bdf,
            "compute_units", (json_int_t)a->compute_units, "clock_hz", open_number(a->clock_hz));
        (void)json_array_append_new(list, object);
    }
    return list;
}

static json_t *json_queues(const struct lists *lists)
{
    json_t *list = json_array();
    for (size_t i = 0; i < lists->queue_count; ++i) {
        const rtl_queue_t *q = &lists->queues[i];
        json_t *object = json_pack(
            "{s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:o}", "process",
            open_id(q->process), "queue", open_id(q->queue), "agent", open_id(q->agent), "gpu",
            open_id(q->gpu), "address", open_address(q->address), "hsa_id", open_number(q->hsa_id),
            "size", (json_int_t)q->size, "way", open_text(q->way), "start_ns",
            open_number(q->start), "end_ns", q->end ? open_number(q->end) : json_null(), "kernels",
            open_number(q->kernels), "copies", open_number(q->copies));
        (void)json_array_append_new(list, object);
    }
    return list;
}

static json_t *json_notes(const struct lists *lists)
{
    json_t *list = json_array();
    for (size_t i = 0; i < lists->note_count; ++i) {
        const rtl_note_t *note = &lists->notes[i];
        json_t *object = json_pack("{s:o, s:o, s:o, s:o}", "process",
                                   note->process ? open_id(note->process) : json_null(), "queue",
                                   open_id(note->queue), "time_ns", open_number(note->time), "text",
                                   open_text(note->text));
        (void)json_array_append_new(list, object);
    }
    return list;
}

static json_t *json_info(const struct lists *lists)
{
    const rtl_trace_info_t *info = &lists->info;
    json_t *pauses;
    json_t *counting;
    json_t *object = json_pack(
        "{s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:b, s:i, s:o, s:o, s:I}", "file",
        open_text(lists->path), "format_major", (json_int_t)info->format_major, "format_minor",
        (json_int_t)info->format_minor, "creator", open_text(info->creator), "command",
        open_text(info->command), "host", open_text(info->host), "mode", open_text(info->mode),
        "start_ns", open_number(info->start), "end_ns", open_number(info->end),
        "realtime_offset_ns", (json_int_t)info->realtime_offset, "finished", info->finished,
        "exit_status", info->exit_status, "kernels", open_number(info->kernels), "bytes",
        open_number(info->bytes), "symbols", (json_int_t)lists->symbol_count);
    (void)json_object_set_new(object, "bytes_behind", open_number(info->bytes_behind));
    (void)json_object_set_new(object, "copies", open_number(info->copies));
    (void)json_object_set_new(object, "calls", open_number(info->calls));
    (void)json_object_set_new(object, "ranges", open_number(info->ranges));
    (void)json_object_set_new(object, "graphs", open_number(count_graphs(lists)));
    (void)json_object_set_new(object, "graph_launches", open_number(lists->launch_count));
    (void)json_object_set_new(object, "processes", json_processes(lists));
    (void)json_object_set_new(object, "agents", json_agents(lists));
    (void)json_object_set_new(object, "queues", json_queues(lists));
    (void)json_object_set_new(object, "notes", json_notes(lists));
    (void)pauses_json(lists->trace, &pauses); /* they were read when the trace was opened */
    (void)json_object_set_new(object, "pauses", pauses);
    (void)counted_counters_json(lists->trace, &counting); /* the same */
    (void)json_object_set_new(object, "counting", counting);
    (void)json_object_set_new(object, "kernel_samples", open_number(info->kernel_samples));
    (void)json_object_set_new(object, "range_samples", open_number(info->range_samples));
    return object;
}

static int show(const struct lists *lists)
{
    show_file(lists);
    show_processes(lists);
    show_queues(lists);
    show_pauses(lists);
    show_counters(lists);
    show_notes(lists);
    return EXIT_FINE;
}

struct options {
    const char *path;
    bool json;
};

static const struct argp_option option_list[] = {
    {"json", 'j', NULL, 0, "write JSON", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'j':
        options->json = true;
        return 0;
    case ARGP_KEY_ARG:
        return trace_command_take(value, &options->path);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int cmd_info(int argc, char **argv)
{
    static const char doc[] =
        "Shows what a trace is about: how it was recorded, its processes, GPUs, "
        "queues and notes."
        "\vExamples:\n  rtl info trace.db";
    static const struct argp argp = {option_list, parse_option, "FILE", doc, NULL, NULL, NULL};
    struct options options = {0};
    if (parse(&argp, argc, argv, 0, &options) != 0)
        return EXIT_USAGE;
    if (trace_command_needs(options.path, "rtl info FILE"))
        return EXIT_USAGE;
    rtl_trace_t *trace = open_trace(options.path);
    if (!trace)
        return EXIT_USAGE;
    struct lists lists = {.path = options.path, .trace = trace};
    int status;
    if (read_lists(trace, &lists) != RTL_OK)
        status = open_failed(trace, options.path);
    else
        status = options.json ? open_print_json(json_info(&lists), EXIT_FINE) : show(&lists);
    rtlTraceClose(trace);
    return status;
}

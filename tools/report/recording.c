/* How a trace was recorded, and whether all is there. */
#include "report/parts.h"

#include "analysis/account.h"
#include "analysis/notes.h"
#include "analysis/pauses.h"
#include "common/command.h"
#include "common/open.h"

#include <inttypes.h>
#include <string.h>

#define MOST_PROCESSES 64u
#define MOST_NOTES     64u

static json_t *processes_json(const rtl_process_t *processes, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count && i < MOST_PROCESSES; ++i) {
        const rtl_process_t *p = &processes[i];
        (void)json_array_append_new(
            list,
            json_pack("{s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "process", open_id(p->process),
                      "pid", (json_int_t)p->pid, "command",
                      open_text(p->title[0] ? p->title : p->command), "rank", open_text(p->rank),
                      "mode", open_text(p->mode), "way", open_text(p->way), "library",
                      open_text(p->library), "state", open_text(p->state)));
    }
    return list;
}

static json_t *gpus_json(const rtl_agent_t *agents, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count && json_array_size(list) < MOST_PROCESSES; ++i)
        if (agents[i].gpu != RTL_TRACE_NONE)
            (void)json_array_append_new(
                list, json_pack("{s:o, s:o, s:o, s:o, s:I}", "process", open_id(agents[i].process),
                                "gpu", open_id(agents[i].gpu), "name", open_text(agents[i].name),
                                "product", open_text(agents[i].product), "compute_units",
                                (json_int_t)agents[i].compute_units));
    return list;
}

static json_t *notes_json(rtl_trace_t *trace, uint64_t start)
{
    struct notes notes;
    json_t *list = json_array();
    if (notes_read(trace, &notes) != RTL_OK)
        return list; /* they were read when the trace was opened */
    for (size_t i = 0; i < notes.count && i < MOST_NOTES; ++i) {
        const rtl_note_t *note = notes.lines[i].note;
        (void)json_array_append_new(
            list, json_pack("{s:o, s:o, s:I}", "at",
                            open_number(note->time > start ? note->time - start : 0), "text",
                            open_text(note->text), "others", (json_int_t)notes.lines[i].others));
    }
    notes_end(&notes);
    return list;
}

/* ns of a date: too large a number for the page's. */
static json_t *date_json(const rtl_trace_info_t *info)
{
    char digits[24];
    (void)snprintf(digits, sizeof digits, "%" PRIu64,
                   info->start + (uint64_t)info->realtime_offset);
    return json_string(digits);
}

json_t *report_recording(rtl_trace_t *trace, const char *path)
{
    rtl_trace_info_t info;
    const rtl_process_t *processes;
    const rtl_agent_t *agents;
    json_t *pauses;
    size_t process_count;
    size_t agent_count;
    if (rtlTraceInfo(trace, &info) != RTL_OK ||
        rtlTraceProcesses(trace, &processes, &process_count) != RTL_OK ||
        rtlTraceAgents(trace, &agents, &agent_count) != RTL_OK ||
        pauses_json(trace, &pauses) != RTL_OK)
        return NULL;
    const char *name = strrchr(path, '/');
    json_t *object = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:b, s:o, s:o}", "file",
        open_text(name ? name + 1 : path), "command", open_text(info.command), "host",
        open_text(info.host), "mode", open_text(info.mode), "creator", open_text(info.creator),
        "date", date_json(&info), "recorded_ns", open_number(info.end - info.start), "exit_status",
        info.exit_status, "finished", (int)info.finished, "failure", open_text(info.failure),
        "bytes", open_number(info.bytes));
    (void)json_object_set_new(object, "start_ns", open_number(info.start));
    (void)json_object_set_new(object, "kernels", open_number(info.kernels));
    (void)json_object_set_new(object, "copies", open_number(info.copies));
    (void)json_object_set_new(object, "calls", open_number(info.calls));
    (void)json_object_set_new(object, "ranges", open_number(info.ranges));
    (void)json_object_set_new(object, "process_count", open_number(process_count));
    (void)json_object_set_new(object, "processes", processes_json(processes, process_count));
    (void)json_object_set_new(object, "gpus", gpus_json(agents, agent_count));
    (void)json_object_set_new(object, "notes", notes_json(trace, info.start));
    (void)json_object_set_new(object, "pauses", pauses);
    return object;
}

static json_t *losses_json(const struct account *account)
{
    json_t *list = json_array();
    for (unsigned reason = 0; reason < RTL_LOSS_REASONS; ++reason)
        if (account->lost[reason])
            (void)json_array_append_new(
                list, json_pack("{s:o, s:s, s:s, s:s}", "lost", open_number(account->lost[reason]),
                                "reason", rtlLossName((rtl_loss_t)reason), "meaning",
                                account_meaning((rtl_loss_t)reason), "advice",
                                account_advice((rtl_loss_t)reason)));
    return list;
}

json_t *report_verdict(rtl_trace_t *trace, const char *path)
{
    struct verdict verdict;
    json_t *object = check_json(trace, path);
    if (!object)
        return NULL;
    (void)account_verdict(trace, &verdict);  /* check_json has read it */
    (void)json_object_del(object, "queues"); /* there may be thousands of them */
    (void)json_object_del(object, "notes");
    (void)json_object_set_new(object, "unknown", json_boolean(verdict.unknown));
    (void)json_object_set_new(object, "losses", losses_json(&verdict.total));
    return object;
}

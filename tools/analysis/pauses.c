#include "analysis/pauses.h"

#include "common/open.h"
#include "common/plain.h"
#include "common/show.h"

#include <inttypes.h>
#include <string.h>

#define SHOWN 10u

static const struct {
    const char *why, *words;
} reasons[] = {
    {"program", "by the program (rtlStop)"},
    {"roctx", "by the program (roctxProfilerPause)"},
    {"ctl", "by rtl ctl stop"},
    {"start-off", "from the beginning (--start-off)"},
    {"delay", "until --delay was over"},
    {"duration", "when --duration was over"},
};

static const char *words_of(const char *why)
{
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; ++i)
        if (strcmp(reasons[i].why, why) == 0)
            return reasons[i].words;
    return plain(why);
}

/* When a process was heard of last. */
static uint64_t end_of(rtl_trace_t *trace, const rtl_trace_info_t *info, uint32_t process)
{
    const rtl_process_t *processes;
    size_t count;
    if (rtlTraceProcesses(trace, &processes, &count) != RTL_OK)
        return info->end;
    for (size_t i = 0; i < count; ++i)
        if (processes[i].process == process && processes[i].end)
            return processes[i].end;
    return info->end;
}

static double since(uint64_t from, uint64_t to)
{
    return to > from ? (double)(to - from) : 0;
}

static void show_one(FILE *file, const rtl_trace_info_t *info, const rtl_pause_t *pause,
                     uint64_t end)
{
    (void)fprintf(file, "    process %" PRIu32 ", %s after the start: for %s, %s%s\n",
                  pause->process, show_duration(since(info->start, pause->start)).text,
                  show_duration(since(pause->start, end)).text, words_of(pause->why),
                  pause->end ? "" : "; it was not started again");
}

rtl_status_t pauses_show(rtl_trace_t *trace, FILE *file)
{
    const rtl_pause_t *pauses;
    size_t count;
    rtl_trace_info_t info;
    double total = 0;
    rtl_status_t status = rtlTracePauses(trace, &pauses, &count);
    if (status == RTL_OK)
        status = rtlTraceInfo(trace, &info);
    if (status != RTL_OK || count == 0)
        return status;
    for (size_t i = 0; i < count; ++i)
        total += since(pauses[i].start,
                       pauses[i].end ? pauses[i].end : end_of(trace, &info, pauses[i].process));
    (void)fprintf(file, "  recording was stopped %s, for %s in all\n",
                  show_things(count, "time").text, show_duration(total).text);
    for (size_t i = 0; i < count && i < SHOWN; ++i)
        show_one(file, &info, &pauses[i],
                 pauses[i].end ? pauses[i].end : end_of(trace, &info, pauses[i].process));
    if (count > SHOWN)
        (void)fprintf(file, "    and %s more: rtl sql FILE 'SELECT * FROM pauses'\n",
                      show_count(count - SHOWN).text);
    return RTL_OK;
}

rtl_status_t pauses_json(rtl_trace_t *trace, json_t **list)
{
    const rtl_pause_t *pauses;
    size_t count;
    *list = json_array();
    rtl_status_t status = rtlTracePauses(trace, &pauses, &count);
    for (size_t i = 0; status == RTL_OK && i < count; ++i) {
        const rtl_pause_t *pause = &pauses[i];
        json_t *object = json_pack("{s:o, s:o, s:o, s:o}", "process", open_id(pause->process),
                                   "start_ns", open_number(pause->start), "end_ns",
                                   pause->end ? open_number(pause->end) : json_null(), "why",
                                   open_text(pause->why));
        (void)json_array_append_new(*list, object);
    }
    return status;
}

#include "analysis/partial.h"

#include "analysis/account.h"
#include "common/plain.h"
#include "common/settle.h"
#include "common/show.h"

#include <string.h>

const char *partial_mode(rtl_trace_t *trace, uint32_t process)
{
    const rtl_process_t *processes;
    size_t count;
    if (rtlTraceProcesses(trace, &processes, &count) != RTL_OK)
        return NULL;
    for (size_t i = 0; i < count; ++i)
        if (processes[i].process == process)
            return strcmp(processes[i].mode, "full") != 0 ? processes[i].mode : NULL;
    return NULL;
}

/* Of a trace that does not tell why kernels were left out, the mode tells whether it may be that.
 */
static void add(rtl_trace_t *trace, const rtl_ledger_t *row, bool recording,
                struct partial *partial)
{
    struct account account;
    account_of(row, &account);
    const char *mode = partial_mode(trace, row->process);
    uint64_t by_mode = mode ? account_by_mode(&account) : 0;
    partial->by_mode += by_mode;
    partial->mode = by_mode ? mode : partial->mode;
    partial->stopped = partial->stopped || account.skipped > by_mode;
    for (unsigned what = 0; what < RTL_OPAQUES; ++what)
        partial->opaque = partial->opaque || row->opaque_of_graphs[what] > 0;
    partial_add_missing(partial, &account, recording);
}

bool partial_recording(rtl_trace_t *trace)
{
    rtl_trace_info_t info;
    return rtlTraceInfo(trace, &info) == RTL_OK && settle_is_recording(&info);
}

void partial_add_missing(struct partial *partial, const struct account *account, bool recording)
{
    bool under_way = account->pending + account->unstored > 0;
    partial->lost = partial->lost || account->lost_total > 0 || (under_way && !recording);
    partial->unstored = partial->unstored || (under_way && recording);
}

bool partial_is(const rtl_graph_launch_t *launch)
{
    return launch->kernels != launch->expected || launch->unseen > 0;
}

rtl_status_t partial_read(rtl_trace_t *trace, uint32_t process, struct partial *partial)
{
    const rtl_ledger_t *rows;
    size_t count;
    *partial = (struct partial){0};
    bool recording = partial_recording(trace);
    rtl_status_t status = rtlTraceLedger(trace, &rows, &count);
    for (size_t i = 0; status == RTL_OK && i < count; ++i)
        if ((process == 0 || rows[i].process == process) && !account_is_copies(trace, &rows[i]))
            add(trace, &rows[i], recording, partial);
    return status;
}

void partial_say(const struct partial *partial, char *text, size_t size)
{
    char mode[64] = "";
    const struct {
        bool is;
        const char *words;
    } reasons[] = {
        {partial->mode != NULL, mode},
        {partial->stopped, "left out while recording was stopped"},
        {partial->opaque, "in packets that RTL cannot look into"},
        {partial->lost, "lost"},
        {partial->unstored, "not stored yet"},
    };
    size_t used = 0;
    if (partial->mode)
        (void)snprintf(mode, sizeof mode, "left out by the mode %s", plain(partial->mode));
    text[0] = '\0';
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons && used < size; ++i)
        if (reasons[i].is)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", or " : "",
                                     reasons[i].words);
}

void partial_show(const struct partial *partial, uint64_t launches, const char *what, FILE *out)
{
    char why[256];
    if (launches == 0)
        return;
    partial_say(partial, why, sizeof why);
    (void)fprintf(out, "  not whole in the trace, so not in %s: %s", what,
                  show_things(launches, "launch").text);
    if (why[0])
        (void)fprintf(out, ": kernels of %s were %s", launches == 1 ? "it" : "them", why);
    (void)fprintf(out, "%s%s\n", partial->mode ? " (rtl trace -m full records them)" : "",
                  !partial->mode && (partial->opaque || partial->lost) ? " (see rtl check)" : "");
}

void partial_show_none(const struct partial *partial, FILE *out)
{
    if (partial->mode)
        (void)fprintf(out,
                      "  the mode %s left out %s, those of graphs among them if there were any "
                      "(rtl trace -m full records them)\n",
                      plain(partial->mode), show_things(partial->by_mode, "kernel").text);
}

json_t *partial_json(const struct partial *partial, uint64_t launches)
{
    json_t *list = json_array();
    if (launches && partial->mode)
        (void)json_array_append_new(list, json_string("mode"));
    if (launches && partial->stopped)
        (void)json_array_append_new(list, json_string("stopped"));
    if (launches && partial->opaque)
        (void)json_array_append_new(list, json_string("opaque"));
    if (launches && partial->lost)
        (void)json_array_append_new(list, json_string("lost"));
    if (launches && partial->unstored)
        (void)json_array_append_new(list, json_string("unstored"));
    return list;
}

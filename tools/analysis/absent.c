#include "analysis/absent.h"

#include "analysis/account.h"
#include "common/open.h"
#include "common/show.h"
#include "store/select.h"

static void add(rtl_trace_t *trace, const rtl_ledger_t *row, bool recording, struct absent *absent)
{
    struct account account;
    account_of(row, &account);
    uint64_t by_mode = account_by_mode(&account);
    uint64_t lost = account.lost_total + account.pending + account.unstored;
    uint64_t *sum = account_is_copies(trace, row) ? &absent->copies : &absent->kernels;
    *sum += by_mode + lost;
    absent->by_mode += by_mode;
    absent->why.mode = by_mode ? partial_mode(trace, row->process) : absent->why.mode;
    partial_add_missing(&absent->why, &account, recording);
    for (unsigned what = 0; what < RTL_OPAQUE_OF_DIRECT; ++what) {
        absent->packets += row->opaque[what];
        absent->why.opaque = absent->why.opaque || row->opaque[what] > 0;
    }
}

/* The GPU that a row is of. */
static uint32_t gpu_of(const rtl_ledger_t *row, const rtl_queue_t *queues, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (queues[i].process == row->process && queues[i].queue == row->queue)
            return queues[i].gpu;
    return RTL_TRACE_NONE;
}

rtl_status_t absent_read(rtl_trace_t *trace, uint32_t process, uint32_t gpu, struct absent *absent)
{
    const rtl_ledger_t *rows;
    const rtl_queue_t *queues;
    size_t row_count;
    size_t queue_count;
    *absent = (struct absent){0};
    bool recording = partial_recording(trace);
    rtl_status_t status = rtlTraceQueues(trace, &queues, &queue_count);
    if (status == RTL_OK)
        status = rtlTraceLedger(trace, &rows, &row_count);
    for (size_t i = 0; status == RTL_OK && i < row_count; ++i) {
        uint32_t of = gpu_of(&rows[i], queues, queue_count);
        if ((process == 0 || rows[i].process == process) && (gpu == RTL_TRACE_NONE || of == gpu) &&
            rtl_trace_selects(trace, rows[i].process, of))
            add(trace, &rows[i], recording, absent);
    }
    return status;
}

bool absent_any(const struct absent *absent)
{
    return absent->kernels + absent->copies + absent->packets > 0;
}

void absent_say(const struct absent *absent, char *text, size_t size)
{
    const struct {
        uint64_t count;
        const char *what;
    } parts[] = {
        {absent->kernels, "kernel"}, {absent->copies, "copy"}, {absent->packets, "opaque packet"}};
    char why[256];
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof *parts && used < size; ++i)
        if (parts[i].count)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " and " : "",
                                     show_things(parts[i].count, parts[i].what).text);
    if (used == 0 || used >= size)
        return;
    partial_say(&absent->why, why, sizeof why);
    (void)snprintf(text + used, size - used, " %s not in the trace%s%s%s",
                   show_are(absent->kernels + absent->copies + absent->packets), why[0] ? " (" : "",
                   why, why[0] ? ")" : "");
}

json_t *absent_json(const struct absent *absent)
{
    char why[256];
    if (!absent_any(absent))
        return json_null();
    partial_say(&absent->why, why, sizeof why);
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "kernels", open_number(absent->kernels), "copies",
                     open_number(absent->copies), "packets", open_number(absent->packets),
                     "by_mode", open_number(absent->by_mode), "why", open_text(why));
}

#include "analysis/kinds.h"

#include "analysis/account.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *label;
} names[KINDS] = {
    {"calls", "host calls"},
    {"ranges", "ranges"},
    {"range_ends", "ends of ranges"},
    {"marks", "marks"},
    {"launches", "graph launches"},
    {"batches", "batches of packets"},
    {"graphs", "graphs and nodes"},
    {"samples", "samples of counters"},
    {"names", "names"},
    {"definitions", "definitions"},
    {"processes", "processes"},
};

const char *kinds_label(unsigned kind)
{
    return names[kind].label;
}

const char *kinds_name(unsigned kind)
{
    return names[kind].name;
}

const char *kinds_meaning(rtl_loss_t reason)
{
    if (reason == RTL_LOSS_PENDING)
        return "too many were on their way at once";
    return reason == RTL_LOSS_SHUTDOWN ? "not finished, or not handed over, when the program ended"
                                       : account_meaning(reason);
}

const char *kinds_advice(rtl_loss_t reason)
{
    if (reason == RTL_LOSS_PENDING)
        return "lower the number of launches that are under way at once";
    return reason == RTL_LOSS_SHUTDOWN ? "let the program wait for its work before it ends; if "
                                         "they waited for room, record "
                                         "with a larger ring than now (rtl trace --buffer)"
                                       : account_advice(reason);
}

static int by_process(const void *key, const void *item)
{
    uint32_t wanted = *(const uint32_t *)key;
    uint32_t process = ((const rtl_kind_ledger_t *)item)->process;
    return (wanted > process) - (wanted < process);
}

bool kinds_known(rtl_trace_t *trace, uint32_t process)
{
    const rtl_kind_ledger_t *rows;
    size_t count;
    return rtlTraceKinds(trace, &rows, &count) == RTL_OK && count > 0 &&
           bsearch(&process, rows, count, sizeof *rows, by_process);
}

static void add(struct kind *total, const rtl_kind_ledger_t *row)
{
    total->there = true;
    total->seen += row->seen;
    total->recorded += row->recorded;
    total->stored += row->stored;
    total->waiting += row->waiting;
    total->stopped += row->stopped;
    total->withheld += row->withheld;
    total->unstored += row->recorded > row->stored ? row->recorded - row->stored : 0;
    for (unsigned reason = 0; reason < RTL_LOSS_REASONS; ++reason) {
        total->lost[reason] += row->lost[reason];
        total->lost_total += row->lost[reason];
    }
}

/* What is not recorded at all is told otherwise. */
static bool is_absent(const rtl_process_t *process)
{
    return strcmp(process->state, "refused") == 0 || strcmp(process->state, "unrecorded") == 0 ||
           strcmp(process->state, "not_started") == 0;
}

/* Rows are by process, as processes are. */
static rtl_status_t count_unknown(rtl_trace_t *trace, const rtl_kind_ledger_t *rows, size_t count,
                                  struct kinds *kinds)
{
    const rtl_process_t *processes;
    size_t process_count;
    size_t row = 0;
    rtl_status_t status = rtlTraceProcesses(trace, &processes, &process_count);
    for (size_t i = 0; status == RTL_OK && i < process_count; ++i) {
        while (row < count && rows[row].process < processes[i].process)
            ++row;
        bool known = row < count && rows[row].process == processes[i].process;
        kinds->unknown += !known && !is_absent(&processes[i]);
    }
    return status;
}

rtl_status_t kinds_read(rtl_trace_t *trace, struct kinds *kinds)
{
    const rtl_kind_ledger_t *rows;
    size_t count;
    memset(kinds, 0, sizeof *kinds);
    kinds->whole = true;
    rtl_status_t status = rtlTraceKinds(trace, &rows, &count);
    for (size_t i = 0; status == RTL_OK && i < count; ++i)
        for (unsigned kind = 0; kind < KINDS; ++kind)
            if (strcmp(rows[i].kind, names[kind].name) == 0)
                add(&kinds->kinds[kind], &rows[i]);
    for (unsigned kind = 0; kind < KINDS; ++kind)
        kinds->whole = kinds->whole && kinds_missing(&kinds->kinds[kind]) == 0;
    return status == RTL_OK ? count_unknown(trace, rows, count, kinds) : status;
}

uint64_t kinds_missing(const struct kind *kind)
{
    return kind->lost_total + kind->waiting + kind->unstored;
}

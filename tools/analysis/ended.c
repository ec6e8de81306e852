#include "analysis/ended.h"

#include "common/owned.h"
#include "common/show.h"

#include <stdio.h>
#include <string.h>

static struct ended_way *way_of(struct ended *ended, const rtl_process_t *process)
{
    if (strcmp(process->state, "died") == 0)
        return &ended->died;
    if (strcmp(process->state, "exited") == 0)
        return &ended->exited;
    return strcmp(process->state, "replaced") == 0 ? &ended->replaced : NULL;
}

/* What the process counted as lost itself has a reason of its own, and is none of this. */
static void add_row(struct ended_way *way, const rtl_ledger_t *row)
{
    uint64_t explained = row->recorded + row->skipped;
    for (unsigned reason = 0; reason < RTL_LOSS_REASONS; ++reason)
        explained += row->lost[reason];
    way->packets += row->lost[RTL_LOSS_KILLED];
    way->packets += row->seen > explained ? row->seen - explained : 0;
    way->unbounded |= row->lost[RTL_LOSS_NOT_FOLLOWED] > 0;
}

static bool has_stranger(const rtl_queue_t *queues, size_t count, uint32_t process)
{
    size_t own;
    queues = owned_by(process, queues, count, sizeof *queues, &own);
    for (size_t i = 0; i < own; ++i)
        if (strcmp(queues[i].way, "pass") == 0)
            return true;
    return false;
}

static void add_rows(struct ended_way *way, const rtl_ledger_t *rows, size_t count,
                     uint32_t process)
{
    size_t own;
    rows = owned_by(process, rows, count, sizeof *rows, &own);
    for (size_t i = 0; i < own; ++i)
        add_row(way, &rows[i]);
}

rtl_status_t ended_count(rtl_trace_t *trace, struct ended *ended)
{
    const rtl_process_t *processes;
    const rtl_queue_t *queues;
    const rtl_ledger_t *rows;
    size_t process_count;
    size_t queue_count;
    size_t row_count;
    *ended = (struct ended){0};
    rtl_status_t status = rtlTraceProcesses(trace, &processes, &process_count);
    if (status == RTL_OK)
        status = rtlTraceQueues(trace, &queues, &queue_count);
    if (status == RTL_OK)
        status = rtlTraceLedger(trace, &rows, &row_count);
    for (size_t i = 0; status == RTL_OK && i < process_count; ++i) {
        struct ended_way *way = way_of(ended, &processes[i]);
        if (!way)
            continue;
        ++way->processes;
        way->unbounded |= has_stranger(queues, queue_count, processes[i].process);
        add_rows(way, rows, row_count, processes[i].process);
    }
    return status;
}

/* Where other losses stand beside it, it has to be clear which packets are meant. */
static void say_packets(const struct ended_way *way, bool others, char *text, size_t size)
{
    const char *whose = way->processes == 1 ? "its" : "their";
    if (way->unbounded)
        (void)snprintf(text, size, "how many of %s packets are unaccounted for is not known",
                       whose);
    else if (way->packets == 0)
        (void)snprintf(text, size, "none of %s packets that RTL saw is unaccounted for%s", whose,
                       others ? ", beyond what is told to be lost" : "");
    else
        (void)snprintf(text, size, "at most %s of %s packets %s unaccounted for%s",
                       show_count(way->packets).text, whose, show_are(way->packets),
                       others ? " (in flight, or not handed over, at that moment)" : "");
}

/* Returns how much of `text` is used then. */
static size_t append(const struct ended_way *way, unsigned processes, const char *what, bool others,
                     char *text, size_t size)
{
    char packets[192];
    say_packets(way, others, packets, sizeof packets);
    int used = snprintf(text, size, "; %u of %u processes %s: %s", way->processes, processes, what,
                        packets);
    return used < 0 ? 0 : (size_t)used < size ? (size_t)used : size - 1;
}

/* An image that told its end has nothing to be said of as long as all is accounted for. */
static bool owes(const struct ended_way *way)
{
    return way->packets > 0 || way->unbounded;
}

void ended_say(const struct ended *ended, unsigned processes, bool others, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    if (ended->died.processes > 0)
        used += append(&ended->died, processes, "ended without telling", others, text, size);
    if (owes(&ended->exited))
        used +=
            append(&ended->exited, processes, "ended by _exit", others, text + used, size - used);
    if (owes(&ended->replaced))
        (void)append(&ended->replaced, processes, "executed another program", others, text + used,
                     size - used);
}

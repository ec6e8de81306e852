#include "analysis/account.h"

#include "analysis/unseen.h"
#include "common/settle.h"
#include "common/show.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *meaning, *advice;
} reasons[RTL_LOSS_REASONS] = {
    [RTL_LOSS_POOL] = {"no completion signal was free",
                       "give the program more memory where the notes name a limit of it (ulimit "
                       "-d, ulimit -v); else the pool grows while the program runs, up to "
                       "RTL_POOL: warm the program up before the part that counts, or lower the "
                       "number of kernels in flight"},
    [RTL_LOSS_PENDING] = {"too many kernels of the queue were waiting to be read",
                          "give the program more memory where the notes name a limit of it (ulimit "
                          "-v); else leave librtl's worker, a thread of the program, a core"},
    [RTL_LOSS_RING] = {"the ring was full",
                       "record with a larger ring than now (rtl trace --buffer), write the trace "
                       "to a faster disk, or leave the collector a core"},
    [RTL_LOSS_SHUTDOWN] = {"not finished when the program or the queue ended",
                           "let the program wait for its kernels before it ends"},
    [RTL_LOSS_REARMED] =
        {"the program wrote the signal while its kernel ran",
         "report it, with the program if possible: the times of these kernels were "
         "overwritten by the program"},
    [RTL_LOSS_KILLED] = {"in flight, or not handed over, when the process ended without closing "
                         "its ring, or executed another program",
                         "let the program wait for its kernels before it executes another one, or "
                         "ends at once (_exit, a signal)"},
    [RTL_LOSS_NO_TIME] = {"the device left no timestamps",
                          "see whether the driver's profiling is switched off for the queue, and "
                          "report it"},
    [RTL_LOSS_SPACE] =
        {"the ring was full, and its folder had no memory for more of it (the notes tell which, "
         "and "
         "what was missing)",
         "make room in the folder that the notes name (/dev/shm, as a rule), or name a folder with "
         "more room as TMPDIR when /dev/shm is small"},
    [RTL_LOSS_NOT_FOLLOWED] =
        {"past RTL, or on queues that it did not follow then (the notes name them)",
         "see the notes, which say why; where a queue is passed through for good, "
         "RTL_QUEUE=interpose, the default, follows more queues than RTL_QUEUE=intercept"},
    [RTL_LOSS_MEMORY] = {"memory was short", "leave the program and the collector more memory"},
    [RTL_LOSS_MALFORMED] = {"their records contradicted themselves",
                            "see whether the program writes where it should not (a sanitizer "
                            "tells), else report it"},
};

const char *account_meaning(rtl_loss_t reason)
{
    return reasons[reason].meaning;
}

const char *account_advice(rtl_loss_t reason)
{
    return reasons[reason].advice;
}

void account_of(const rtl_ledger_t *row, struct account *account)
{
    *account = (struct account){
        .packets = row->packets,
        .seen = row->seen,
        .recorded = row->recorded,
        .stored = row->stored,
        .skipped = row->skipped,
        .forwarded = row->forwarded,
        .borrowed = row->borrowed,
        .helped = row->helped,
        .stopped = row->stopped,
        .withheld = row->withheld,
    };
    for (unsigned reason = 0; reason < RTL_LOSS_REASONS; ++reason) {
        account->lost[reason] = row->lost[reason];
        account->lost_total += row->lost[reason];
    }
    uint64_t explained = account->recorded + account->skipped + account->lost_total;
    account->pending = account->seen > explained ? account->seen - explained : 0;
    account->unstored =
        account->recorded > account->stored ? account->recorded - account->stored : 0;
}

void account_add(struct account *total, const struct account *part)
{
    total->packets += part->packets;
    total->seen += part->seen;
    total->recorded += part->recorded;
    total->stored += part->stored;
    total->skipped += part->skipped;
    for (unsigned reason = 0; reason < RTL_LOSS_REASONS; ++reason)
        total->lost[reason] += part->lost[reason];
    total->lost_total += part->lost_total;
    total->pending += part->pending;
    total->unstored += part->unstored;
    total->forwarded += part->forwarded;
    total->borrowed += part->borrowed;
    total->helped += part->helped;
    total->stopped += part->stopped;
    total->withheld += part->withheld;
    total->untold += part->untold;
}

uint64_t account_by_mode(const struct account *account)
{
    uint64_t others = account->stopped + account->withheld + account->untold;
    return account->skipped > others ? account->skipped - others : 0;
}

static const char *note_about(rtl_trace_t *trace, uint32_t process)
{
    const rtl_note_t *notes;
    size_t count;
    if (rtlTraceNotes(trace, &notes, &count) != RTL_OK)
        return NULL;
    for (size_t i = 0; i < count; ++i)
        if (notes[i].process == process)
            return notes[i].text;
    return NULL;
}

static rtl_status_t count_processes(rtl_trace_t *trace, struct verdict *verdict)
{
    const rtl_process_t *processes;
    size_t count;
    rtl_status_t status = rtlTraceProcesses(trace, &processes, &count);
    verdict->all_full = true;
    for (size_t i = 0; status == RTL_OK && i < count; ++i) {
        ++verdict->processes;
        bool started = strcmp(processes[i].state, "not_started") != 0;
        verdict->all_full =
            verdict->all_full && (!started || strcmp(processes[i].mode, "full") == 0);
        verdict->died += strcmp(processes[i].state, "died") == 0;
        verdict->running += strcmp(processes[i].state, "running") == 0;
        verdict->refused += strcmp(processes[i].state, "refused") == 0;
        verdict->imported += strcmp(processes[i].state, "imported") == 0;
        if (strcmp(processes[i].state, "unrecorded") == 0 && verdict->unrecorded++ == 0)
            verdict->why = note_about(trace, processes[i].process);
        if (!started && verdict->not_started++ == 0)
            verdict->no_start = note_about(trace, processes[i].process);
        verdict->torn += processes[i].torn;
    }
    return status;
}

static rtl_status_t count_queues(rtl_trace_t *trace, struct verdict *verdict)
{
    const rtl_queue_t *queues;
    size_t count;
    rtl_status_t status = rtlTraceQueues(trace, &queues, &count);
    for (size_t i = 0; status == RTL_OK && i < count; ++i)
        verdict->untracked += strcmp(queues[i].way, "pass") == 0;
    return status;
}

static int compare_queues(const void *a, const void *b)
{
    const rtl_queue_t *left = a;
    const rtl_queue_t *right = b;
    if (left->process != right->process)
        return left->process < right->process ? -1 : 1;
    return (left->queue > right->queue) - (left->queue < right->queue);
}

/* The reader lists queues by process, then queue. */
bool account_is_copies(rtl_trace_t *trace, const rtl_ledger_t *row)
{
    const rtl_queue_t key = {.process = row->process, .queue = row->queue};
    const rtl_queue_t *queues;
    size_t count;
    if (rtlTraceQueues(trace, &queues, &count) != RTL_OK || count == 0)
        return false;
    const rtl_queue_t *queue = bsearch(&key, queues, count, sizeof *queues, compare_queues);
    return queue && strcmp(queue->way, "copies") == 0;
}

static bool is_full(rtl_trace_t *trace, uint32_t process)
{
    const rtl_process_t *processes;
    size_t count;
    if (rtlTraceProcesses(trace, &processes, &count) != RTL_OK)
        return true;
    for (size_t i = 0; i < count; ++i)
        if (processes[i].process == process)
            return strcmp(processes[i].mode, "full") == 0;
    return true;
}

/* What the other modes do not promise is no more than not known there. */
static void add_opaque(rtl_trace_t *trace, const rtl_ledger_t *row, struct verdict *verdict)
{
    uint64_t all = 0;
    uint64_t of_graphs = 0;
    for (unsigned what = 0; what < RTL_OPAQUE_OF_DIRECT; ++what) {
        all += row->opaque[what];
        of_graphs += row->opaque_of_graphs[what];
    }
    if (of_graphs && !is_full(trace, row->process))
        of_graphs = 0;
    verdict->opaque.of_graphs += of_graphs;
    verdict->opaque.elsewhere += all > of_graphs ? all - of_graphs : 0;
    verdict->opaque.direct += row->opaque[RTL_OPAQUE_OF_DIRECT];
}

static rtl_status_t add_ledger(rtl_trace_t *trace, struct verdict *verdict)
{
    const rtl_ledger_t *rows;
    size_t count;
    rtl_status_t status = rtlTraceLedger(trace, &rows, &count);
    for (size_t i = 0; status == RTL_OK && i < count; ++i) {
        struct account account;
        account_of(&rows[i], &account);
        if (account.skipped && !kinds_known(trace, rows[i].process))
            account.untold = account.skipped;
        account_add(account_is_copies(trace, &rows[i]) ? &verdict->copies : &verdict->total,
                    &account);
        add_opaque(trace, &rows[i], verdict);
    }
    return status;
}

/* Kernels of a process that are not in the trace, and why. */
static uint64_t explained_in(rtl_trace_t *trace, uint32_t process)
{
    const rtl_ledger_t *rows;
    size_t count;
    uint64_t explained = 0;
    if (rtlTraceLedger(trace, &rows, &count) != RTL_OK)
        return 0;
    for (size_t i = 0; i < count; ++i) {
        struct account account;
        if (rows[i].process != process || account_is_copies(trace, &rows[i]))
            continue;
        account_of(&rows[i], &account);
        explained += account.lost_total + account.skipped + account.pending + account.unstored;
    }
    return explained;
}

/* The kernels that are missing in the launches of a process: each must be in its ledger. */
static void judge_launches(rtl_trace_t *trace, uint32_t process, uint64_t missing,
                           struct verdict *verdict)
{
    uint64_t explained = missing ? explained_in(trace, process) : 0;
    verdict->graphs.missing += missing;
    verdict->graphs.lost += missing > explained ? missing - explained : 0;
}

static void add_launch(const rtl_graph_launch_t *launch, struct verdict *verdict, uint64_t *missing)
{
    bool partial = launch->kernels < launch->expected;
    ++verdict->graphs.launches;
    verdict->graphs.uncertain += launch->certain == 0;
    verdict->graphs.partial += partial;
    *missing += partial ? launch->expected - launch->kernels : 0;
}

/* The reader gives out launches by process first. */
static rtl_status_t add_launches(rtl_trace_t *trace, struct verdict *verdict)
{
    rtl_launch_iter_t *iter = NULL;
    rtl_graph_launch_t launch;
    uint32_t process = 0;
    uint64_t missing = 0;
    rtl_status_t status = rtlTraceLaunches(trace, NULL, &iter);
    while (status == RTL_OK && (status = rtlLaunchNext(iter, &launch)) == RTL_OK) {
        if (launch.process != process) {
            judge_launches(trace, process, missing, verdict);
            process = launch.process;
            missing = 0;
        }
        add_launch(&launch, verdict, &missing);
    }
    judge_launches(trace, process, missing, verdict);
    rtlLaunchIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

static rtl_status_t count_unseen(rtl_trace_t *trace, struct verdict *verdict)
{
    struct unseen unseen;
    rtl_status_t status = unseen_read(trace, &unseen);
    if (status != RTL_OK)
        return status;
    verdict->unseen.hips = unseen.missing;
    verdict->unseen.kernels = unseen.missing_kernels;
    verdict->unseen.off = unseen.count > unseen.missing;
    unseen_free(&unseen);
    return RTL_OK;
}

static bool is_whole(const struct account *account)
{
    return account->lost_total == 0 && account->pending == 0 && account->unstored == 0 &&
           account->seen == account->recorded + account->skipped &&
           account->stored == account->recorded;
}

rtl_status_t account_verdict(rtl_trace_t *trace, struct verdict *verdict)
{
    rtl_trace_info_t info;
    memset(verdict, 0, sizeof *verdict);
    rtl_status_t status = rtlTraceInfo(trace, &info);
    if (status == RTL_OK)
        status = count_processes(trace, verdict);
    if (status == RTL_OK)
        status = count_queues(trace, verdict);
    if (status == RTL_OK)
        status = add_ledger(trace, verdict);
    if (status == RTL_OK)
        status = add_launches(trace, verdict);
    if (status == RTL_OK)
        status = ended_count(trace, &verdict->ended);
    if (status == RTL_OK)
        status = count_unseen(trace, verdict);
    if (status == RTL_OK)
        status = kinds_read(trace, &verdict->kinds);
    if (status != RTL_OK)
        return status;
    verdict->finished = info.finished != 0;
    verdict->recording = settle_is_recording(&info);
    verdict->elsewhere = settle_is_elsewhere(&info) ? info.host : NULL;
    verdict->failure = info.failure;
    verdict->at_least = !verdict->finished && !verdict->recording && !info.accounted;
    bool whole = verdict->finished && verdict->processes > verdict->not_started &&
                 verdict->running == 0 && verdict->refused == 0 && verdict->unrecorded == 0 &&
                 verdict->untracked == 0 && verdict->torn == 0 && is_whole(&verdict->total) &&
                 is_whole(&verdict->copies) && verdict->graphs.lost == 0 &&
                 verdict->opaque.of_graphs == 0 && verdict->unseen.hips == 0 &&
                 verdict->kinds.whole;
    verdict->complete = whole && verdict->imported == 0;
    verdict->empty = verdict->complete && verdict->total.seen > 0 && verdict->total.stored == 0;
    verdict->unknown = whole && verdict->imported > 0;
    return RTL_OK;
}

bool account_failed(const struct verdict *verdict)
{
    return verdict->failure && verdict->failure[0];
}

struct line {
    char *text;
    size_t size, used;
};

static void append(struct line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void append(struct line *line, const char *format, ...)
{
    if (line->used >= line->size)
        return;
    va_list arguments;
    va_start(arguments, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is started above
    int length = vsnprintf(line->text + line->used, line->size - line->used, format, arguments);
    va_end(arguments);
    if (length > 0)
        line->used += (size_t)length;
}

static void append_losses(struct line *line, const struct verdict *verdict,
                          const struct account *total, const char *what)
{
    for (unsigned reason = 0; reason < RTL_LOSS_REASONS; ++reason)
        if (total->lost[reason])
            append(line, ", %s lost (%s)", show_count(total->lost[reason]).text,
                   account_meaning((rtl_loss_t)reason));
    if (total->pending)
        append(line, ", %s %s", show_count(total->pending).text,
               verdict->running ? "under way" : "unaccounted");
    if (total->unstored)
        append(line, ", %s handed over and not in the file", show_count(total->unstored).text);
    if (total->stored > total->recorded)
        append(line, ", %s more in the file than the process counted",
               show_count(total->stored - total->recorded).text);
    if (total->recorded + total->skipped + total->lost_total > total->seen)
        append(line, ", the ledger explains more %s than it saw", what);
}

static void append_left_out(struct line *line, const struct account *total)
{
    uint64_t by_mode = account_by_mode(total);
    if (by_mode)
        append(line, ", %s left out by the mode", show_count(by_mode).text);
    if (total->stopped)
        append(line, ", %s left out while recording was stopped", show_count(total->stopped).text);
    if (total->withheld)
        append(line, ", %s left out by their thread", show_count(total->withheld).text);
    if (total->untold)
        append(line, ", %s left out", show_count(total->untold).text);
}

static void append_account(struct line *line, const struct verdict *verdict,
                           const struct account *total, const char *what)
{
    append(line, "%s of %s%s %s", show_count(total->stored).text,
           verdict->at_least ? "at least " : "", show_count(total->seen).text, what);
    append_left_out(line, total);
    append_losses(line, verdict, total, what);
}

/* Of kinds of which something is missing. */
static void append_kind(struct line *line, const struct verdict *verdict, unsigned number)
{
    const struct kind *kind = &verdict->kinds.kinds[number];
    append(line, "; %s of %s %s", show_count(kind->stored).text, show_count(kind->seen).text,
           kinds_label(number));
    for (unsigned reason = 0; reason < RTL_LOSS_REASONS; ++reason)
        if (kind->lost[reason])
            append(line, ", %s lost (%s)", show_count(kind->lost[reason]).text,
                   kinds_meaning((rtl_loss_t)reason));
    if (kind->waiting)
        append(line, ", %s %s", show_count(kind->waiting).text,
               verdict->running ? "under way" : "unaccounted");
    if (kind->unstored)
        append(line, ", %s handed over and not in the file", show_count(kind->unstored).text);
}

static void append_kinds(struct line *line, const struct verdict *verdict)
{
    for (unsigned kind = 0; kind < KINDS; ++kind)
        if (kinds_missing(&verdict->kinds.kinds[kind]))
            append_kind(line, verdict, kind);
    if (verdict->kinds.unknown)
        append(line, "; whether all host calls, ranges and graph launches are there is not known");
}

static void append_unseen(struct line *line, const struct verdict *verdict)
{
    if (verdict->unseen.hips)
        append(line, ", the host calls of %s were not seen",
               show_things(verdict->unseen.kernels, "kernel").text);
    if (verdict->unseen.past)
        append(line, ", %s of HIP without the call that launched %s",
               show_things(verdict->unseen.past, "kernel").text,
               verdict->unseen.past == 1 ? "it" : "them");
    if (verdict->unseen.off)
        append(line, ", without host calls (RTL_PRELOAD=off)");
}

static void append_opaque(struct line *line, const struct verdict *verdict)
{
    if (verdict->opaque.of_graphs)
        append(line, ", %s of graphs without packets for their kernels",
               show_things(verdict->opaque.of_graphs, "packet").text);
    if (verdict->opaque.elsewhere)
        append(line, ", %s whose content is not known",
               show_things(verdict->opaque.elsewhere, "packet").text);
}

static void append_states(struct line *line, const struct verdict *verdict)
{
    if (verdict->untracked)
        append(line, ", %s not followed", show_things(verdict->untracked, "queue").text);
    if (verdict->refused)
        append(line, ", %s with another build of librtl",
               show_things(verdict->refused, "process").text);
    if (verdict->torn)
        append(line, ", records in %s torn", show_things(verdict->torn, "ring slot").text);
    if (verdict->unrecorded)
        append(line, ", %s not recorded", show_things(verdict->unrecorded, "process").text);
    if (verdict->imported)
        append(line, ", %s imported: what is missing is not known",
               show_things(verdict->imported, "process").text);
    if (verdict->running)
        append(line, ", %s still running at the end",
               show_things(verdict->running, "process").text);
    if (account_failed(verdict))
        append(line, ", the trace could not be written: %s", verdict->failure);
    if (verdict->recording)
        append(line, ", the recording goes on");
    else if (!verdict->finished)
        append(line, ", the recording has not ended%s", verdict->elsewhere ? "" : " in order");
}

/* What came after the last checkpoint is not known. */
static void append_nothing(struct line *line, const struct verdict *verdict)
{
    if (verdict->recording)
        append(line, "nothing recorded so far, the recording goes on");
    else if (!verdict->finished)
        append(line, "nothing recorded until the last checkpoint, the recording has not ended%s",
               verdict->elsewhere ? "" : " in order");
    else
        append(line, "nothing recorded: no GPU runtime came up with librtl in it");
}

/* All processes are ones that tell why they were not recorded, or that there was nothing to be. */
static void append_absent(struct line *line, const struct verdict *verdict)
{
    const char *why = verdict->unrecorded ? verdict->why : verdict->no_start;
    append(line, "nothing recorded: %s", why ? why : "the notes tell why");
    if (verdict->processes > 1)
        append(line, " (and %u more)", verdict->processes - 1);
}

/* Losses beside packets that were in flight when a process ended. */
static bool has_other_losses(const struct verdict *verdict)
{
    uint64_t lost = verdict->total.lost_total + verdict->copies.lost_total -
                    verdict->total.lost[RTL_LOSS_KILLED] - verdict->copies.lost[RTL_LOSS_KILLED];
    for (unsigned kind = 0; kind < KINDS; ++kind)
        lost += kinds_missing(&verdict->kinds.kinds[kind]);
    return lost > 0 || verdict->torn > 0;
}

/* Recording is stopped by the user or the program: what is left out for that alone was not to be in
 * the trace. */
static bool was_asked_for(const struct verdict *verdict)
{
    const struct account *kernels = &verdict->total;
    const struct account *copies = &verdict->copies;
    return kernels->stopped + copies->stopped > 0 && kernels->stopped == kernels->skipped &&
           copies->stopped == copies->skipped;
}

static const char *word_of(const struct verdict *verdict)
{
    if (verdict->empty)
        return "EMPTY";
    if (verdict->complete)
        return was_asked_for(verdict) ? "complete for what was to be recorded" : "complete";
    return verdict->unknown ? "UNKNOWN" : "INCOMPLETE";
}

void account_line(const struct verdict *verdict, char *text, size_t size)
{
    struct line line = {text, size, 0};
    char ended[512];
    if (verdict->damage && verdict->processes == 0) {
        append(&line, "DAMAGED: %s", verdict->damage);
        return;
    }
    if (verdict->processes == 0) {
        append_nothing(&line, verdict);
        return;
    }
    if (verdict->unrecorded + verdict->not_started == verdict->processes) {
        append_absent(&line, verdict);
        return;
    }
    if (verdict->damage)
        append(&line, "DAMAGED: %s; ", verdict->damage);
    else
        append(&line, "%s: ", word_of(verdict));
    append_account(&line, verdict, &verdict->total, "kernels");
    if (verdict->copies.seen || verdict->copies.stored) {
        append(&line, "; ");
        append_account(&line, verdict, &verdict->copies, "copies");
    }
    if (verdict->graphs.lost)
        append(&line, ", %s of graph launches missing and not in the ledger",
               show_count(verdict->graphs.lost).text);
    append_opaque(&line, verdict);
    append_unseen(&line, verdict);
    append_kinds(&line, verdict);
    append_states(&line, verdict);
    ended_say(&verdict->ended, verdict->processes, has_other_losses(verdict), ended, sizeof ended);
    append(&line, "%s", ended);
}

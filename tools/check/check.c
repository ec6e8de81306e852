/* rtl check: is everything that RTL saw in the trace, and is the trace true? */
#include "analysis/account.h"
#include "analysis/counted.h"
#include "analysis/kinds.h"
#include "analysis/notes.h"
#include "analysis/pauses.h"
#include "analysis/truth.h"
#include "analysis/unseen.h"
#include "check/links.h"
#include "check/ranks.h"
#include "common/command.h"
#include "common/open.h"
#include "common/parse.h"
#include "common/plain.h"
#include "common/say.h"
#include "common/settle.h"
#include "common/show.h"
#include "common/table.h"
#include "common/trace_command.h"
#include "store/digest.h"
#include "store/stats_make.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DAMAGES    8
#define NOTES_OF_PAUSES 4

/* What is not as it was recorded: the first of it, for people. */
struct damages {
    bool known; /* the trace has digests to be compared with */
    unsigned count;
    char texts[MOST_DAMAGES][512];
};

struct check {
    const char *path;
    bool deep; /* all is unpacked */
    struct damages damages;
    struct verdict verdict;
    struct links links;
    struct counted_list counted;
    struct unseen unseen;
    rtl_trace_t *trace;
    const rtl_ledger_t *rows;
    size_t row_count;
    const rtl_kind_ledger_t *kinds;
    size_t kind_count;
    const rtl_note_t *all_notes;
    size_t all_note_count;
    struct notes notes; /* as they are shown */
    bool against_truth;
    struct truth_result truth;
    struct check_ranks ranks;
};

/* What a row of the ledger counts. */
static const char *of_what(const struct check *check, size_t row)
{
    return account_is_copies(check->trace, &check->rows[row]) ? "copies" : "kernels";
}

/* What the mode promises, and else what there is to say something about. */
static bool is_shown(const rtl_kind_ledger_t *row)
{
    static const char *const always[] = {"calls", "ranges", "launches"};
    static const char *const if_any[] = {"marks", "samples"};
    for (size_t i = 0; i < sizeof always / sizeof *always; ++i)
        if (strcmp(row->kind, always[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof if_any / sizeof *if_any; ++i)
        if (row->seen > 0 && strcmp(row->kind, if_any[i]) == 0)
            return true;
    return row->seen > row->stored + row->stopped + row->withheld;
}

static const char *label_of(const char *name)
{
    for (unsigned kind = 0; kind < KINDS; ++kind)
        if (strcmp(kinds_name(kind), name) == 0)
            return kinds_label(kind);
    return name;
}

static void show_kind(struct table *table, const rtl_kind_ledger_t *row)
{
    uint64_t lost = 0;
    if (!is_shown(row))
        return;
    for (unsigned reason = 0; reason < RTL_LOSS_REASONS; ++reason)
        lost += row->lost[reason];
    table_cell(table, show_count(row->process).text);
    table_cell(table, "");
    table_cell(table, label_of(row->kind));
    table_cell(table, show_count(row->seen).text);
    table_cell(table, show_count(row->stored).text);
    table_cell(table, show_count(row->stopped + row->withheld).text);
    table_cell(table, show_count(lost).text);
    table_cell(table, show_count(row->waiting).text);
    table_cell(table, "");
    table_cell(table, "");
}

static void show_ledger(const struct check *check)
{
    static const char *const heading[] = {"process",  "queue", "of",      "seen",     "in trace",
                                          "left out", "lost",  "pending", "borrowed", "forwarded"};
    struct table *table = table_new("rrlrrrrrrr");
    for (size_t i = 0; i < sizeof heading / sizeof heading[0]; ++i)
        table_cell(table, heading[i]);
    for (size_t i = 0; i < check->row_count; ++i) {
        struct account account;
        account_of(&check->rows[i], &account);
        table_cell(table, show_count(check->rows[i].process).text);
        table_cell(table, show_count(check->rows[i].queue).text);
        table_cell(table, of_what(check, i));
        table_cell(table, show_count(account.seen).text);
        table_cell(table, show_count(account.stored).text);
        table_cell(table, show_count(account.skipped).text);
        table_cell(table, show_count(account.lost_total).text);
        table_cell(table, show_count(account.pending).text);
        table_cell(table, show_count(account.borrowed).text);
        table_cell(table, show_count(account.forwarded).text);
    }
    for (size_t i = 0; i < check->kind_count; ++i)
        show_kind(table, &check->kinds[i]);
    table_print(table, stdout);
}

static const char *why_pending(const struct verdict *verdict)
{
    if (verdict->recording)
        return "under way in the processes, or not stored yet";
    if (account_failed(verdict))
        return "they could not be written into the trace, or had not been handed over";
    if (!verdict->finished)
        return "they were under way in the processes, or had not been stored";
    if (verdict->running)
        return "under way in processes that outlived the recording";
    return "neither recorded nor explained, which is an error of RTL: report it";
}

/* What is wrong with the trace as a whole. */
static void show_state(const struct verdict *verdict)
{
    if (verdict->recording)
        (void)printf("  the recording goes on: this is what was stored until its last checkpoint, "
                     "which is made once a second\n");
    else if (!verdict->finished && account_failed(verdict))
        (void)printf("  the trace could not be written (%s): what came after the last checkpoint "
                     "that was is not in it\n    what to do: give the trace a place with more room "
                     "(rtl trace -o) and record again; what is in the trace is right\n",
                     verdict->failure);
    else if (account_failed(verdict))
        (void)printf(
            "  the trace could not be written for a time (%s): what came then is not all in "
            "it\n    what to do: give the trace a place with more room (rtl trace -o) and "
            "record again; what is in the trace is right\n",
            verdict->failure);
    else if (verdict->elsewhere)
        (void)printf(
            "  host %s records it, or has not ended in order: which of the two is not seen "
            "from this host; what came after the last checkpoint that is seen here is not "
            "in it (it makes one each second)\n    what to do: look again when that "
            "recording has ended; what is in the trace is right\n",
            plain(verdict->elsewhere));
    else if (!verdict->finished)
        (void)printf("  the collector was killed, or could not write and could not say so either: "
                     "what came after its last checkpoint is not in the trace (it makes one each "
                     "second)\n    what to do: see what became of it, "
                     "and record again if the end matters; what is in the trace is right\n");
    if (verdict->at_least)
        (void)printf("  the counts are those of the last checkpoint: there was at least so much\n");
    if (verdict->finished && verdict->running)
        (void)printf("  processes that still ran when the recording ended: %u\n    what to do: let "
                     "rtl trace wait for them (^C ends it at once)\n",
                     verdict->running);
    if (verdict->refused)
        (void)printf("  processes with another build of librtl: %u\n    what to do: unset "
                     "HSA_TOOLS_LIB, or let it name the librtl.so that belongs to this rtl\n",
                     verdict->refused);
    if (verdict->unrecorded)
        (void)printf("  processes that are not recorded and should be: %u\n    what to do: see the "
                     "notes, which tell what each of them lacked\n",
                     verdict->unrecorded);
    if (verdict->untracked)
        (void)printf("  queues that were not followed: %u\n    what to do: see the notes, which "
                     "name them\n",
                     verdict->untracked);
}

static void show_damages(const struct damages *damages)
{
    for (unsigned i = 0; i < damages->count && i < MOST_DAMAGES; ++i)
        (void)printf("  damaged: %s\n", damages->texts[i]);
    if (damages->count > MOST_DAMAGES)
        (void)printf("  damaged: %s more\n",
                     show_things(damages->count - MOST_DAMAGES, "place").text);
    if (damages->count)
        (void)puts("    what to do: take a copy that is whole, if there is one; rows that were "
                   "changed by hand are told as well");
}

static void show_left_out(const struct verdict *verdict, const struct account *total,
                          const char *what)
{
    uint64_t by_mode = account_by_mode(total);
    if (by_mode)
        (void)printf("  left out %s: the mode does not record them\n"
                     "    what to do: record in full mode (rtl trace -m full)\n",
                     show_things(by_mode, what).text);
    if (total->stopped)
        (void)printf("  left out %s, as asked: recording was stopped when they were submitted; see "
                     "below when that was, and by whom\n",
                     show_things(total->stopped, what).text);
    if (total->withheld)
        (void)printf("  left out %s: the thread that submitted them had stopped the recording of "
                     "what it does (roctxProfilerPause)\n",
                     show_things(total->withheld, what).text);
    if (total->untold)
        (void)printf("  left out %s: %srecording was stopped when they were submitted; this trace "
                     "does not tell\n    what to do: %ssee below when recording was stopped\n",
                     show_things(total->untold, what).text,
                     verdict->all_full ? "for the process or for their thread, "
                                       : "the mode does not record them, or ",
                     verdict->all_full ? "" : "record in full mode (rtl trace -m full), and ");
}

static void show_account(const struct verdict *verdict, const struct account *total,
                         const char *what)
{
    for (unsigned i = 0; i < RTL_LOSS_REASONS; ++i) {
        if (total->lost[i] == 0)
            continue;
        (void)printf("  lost %s (%s): %s\n    what to do: %s\n",
                     show_things(total->lost[i], what).text, rtlLossName((rtl_loss_t)i),
                     account_meaning((rtl_loss_t)i), account_advice((rtl_loss_t)i));
    }
    show_left_out(verdict, total, what);
    if (total->pending || total->unstored)
        (void)printf("  not accounted for %s: %s\n",
                     show_things(total->pending + total->unstored, what).text,
                     why_pending(verdict));
}

static void show_missing(const struct verdict *verdict, unsigned number)
{
    const struct kind *kind = &verdict->kinds.kinds[number];
    for (unsigned i = 0; i < RTL_LOSS_REASONS; ++i)
        if (kind->lost[i])
            (void)printf("  %s lost %s (%s): %s\n    what to do: %s\n", kinds_label(number),
                         show_count(kind->lost[i]).text, rtlLossName((rtl_loss_t)i),
                         kinds_meaning((rtl_loss_t)i), kinds_advice((rtl_loss_t)i));
    if (kind->waiting)
        (void)printf("  %s not accounted for %s: %s\n", kinds_label(number),
                     show_count(kind->waiting).text, why_pending(verdict));
    if (kind->unstored)
        (void)printf("  %s handed over and not in the file: %s\n", kinds_label(number),
                     show_count(kind->unstored).text);
}

static void show_kinds(const struct verdict *verdict)
{
    for (unsigned kind = 0; kind < KINDS; ++kind)
        show_missing(verdict, kind);
    if (verdict->kinds.unknown)
        (void)printf("  host calls, ranges and graph launches: %s of this trace %s not "
                     "count what of these was lost; the notes may tell\n",
                     show_things(verdict->kinds.unknown, "process").text,
                     verdict->kinds.unknown == 1 ? "does" : "do");
}

/* A call is recorded when it returns, so nobody knows how many had not. A thread that ends the
 * process itself (_exit) is in none; what others had launched by then is counted with its kernels,
 * as show_unlinked tells. */
static void show_unreturned(const struct verdict *verdict)
{
    if (verdict->died > 0 && verdict->kinds.kinds[KIND_HOST_CALLS].seen > 0)
        (void)printf("  host calls that had not returned when a process ended without telling are "
                     "not in the trace\n");
}

/* What brings packets back that RTL can see. */
static void show_opaque(const struct verdict *verdict)
{
    if (verdict->opaque.of_graphs)
        (void)printf("  not seen: what %s of graph launches lead to: lists of commands, in which "
                     "kernels have no packet that could be timed\n"
                     "    what to do: set DEBUG_HIP_GRAPH_PM4=0 for the program, so that HIP "
                     "submits a packet for each kernel\n",
                     show_things(verdict->opaque.of_graphs, "packet").text);
    if (verdict->opaque.elsewhere)
        (void)printf("  not known: what is in %s of the vendor's, outside of graph launches that "
                     "librtl.so knows in full mode: commands for counters, say, or whole graphs "
                     "if DEBUG_HIP_GRAPH_PM4 is 1\n",
                     show_things(verdict->opaque.elsewhere, "packet").text);
    if (verdict->opaque.direct)
        (void)printf(
            "  not seen in time: %s, which the device took without the doorbell that "
            "librtl.so sees; they are among the kernels that were lost as not_followed\n"
            "    what to do: set DEBUG_CLR_DIRECT_DOORBELL=0 for the program, if it is one "
            "of HIP\n",
            show_things(verdict->opaque.direct, "packet").text);
}

static void show_reasons(const struct verdict *verdict)
{
    show_account(verdict, &verdict->total, "kernel");
    show_account(verdict, &verdict->copies, "copy");
    show_opaque(verdict);
    show_kinds(verdict);
    show_state(verdict);
    if (verdict->torn)
        (void)printf("  torn %s: records that a process had begun when it ended without closing "
                     "its ring, or executed another program\n    what to do: as for packets that "
                     "it had in flight\n",
                     show_things(verdict->torn, "slot").text);
    show_unreturned(verdict);
}

/* No loss: the kernel is there, what it came from is not. */
static void show_unlinked(const char *what, uint64_t count)
{
    if (count)
        (void)printf(
            "  warning: %s whose host call or range is not in the trace: %s\n"
            "    it was lost, had not returned at the end, or came after the last checkpoint\n",
            what, show_count(count).text);
}

/* What the mode promises beside kernels. */
static void show_unseen(const struct check *check)
{
    unseen_show(&check->unseen, true, stdout);
    if (check->links.past == 0)
        return;
    (void)printf("  not seen: the calls that launched %s of HIP\n    ",
                 show_things(check->links.past, "kernel").text);
    (void)puts(check->links.stopped
                   ? "they were under way when recording was started, or passed librtl.so by"
                   : "what to do: see whether a library calls HIP in its constructors and is "
                     "opened with RTLD_DEEPBIND, or finds HIP's functions without dlsym");
}

static void show_launches(const struct verdict *verdict)
{
    if (verdict->graphs.launches == 0)
        return;
    (void)printf("  graph launches: %s", show_count(verdict->graphs.launches).text);
    if (verdict->graphs.partial)
        (void)printf(", %s with kernels %s (%s, %s)", show_count(verdict->graphs.partial).text,
                     verdict->complete ? "left out" : "missing",
                     show_things(verdict->graphs.missing, "kernel").text,
                     verdict->graphs.lost ? "which the ledger does not explain"
                                          : "as the ledger says");
    if (verdict->graphs.uncertain)
        (void)printf(", %s with kernels whose node is not certain",
                     show_count(verdict->graphs.uncertain).text);
    (void)putchar('\n');
}

/* Pauses are told above; each has two notes. */
static bool tells_pause(const struct notes_line *line)
{
    return strcmp(line->note->text, "recording was stopped") == 0 ||
           strcmp(line->note->text, "recording was started") == 0;
}

static void show_notes(const struct check *check)
{
    size_t of_pauses = 0;
    for (size_t i = 0; i < check->notes.count; ++i) {
        if (tells_pause(&check->notes.lines[i]) && ++of_pauses > NOTES_OF_PAUSES)
            continue;
        (void)fputs("  note: ", stdout);
        notes_show(stdout, &check->notes.lines[i]);
        (void)putchar('\n');
    }
    if (of_pauses > NOTES_OF_PAUSES)
        (void)printf("  and %s more that recording was stopped or started\n",
                     show_things(of_pauses - NOTES_OF_PAUSES, "note").text);
}

static void show_difference(const char *what, uint64_t count)
{
    if (count)
        (void)printf("  %s: %s\n", what, show_count(count).text);
}

static void show_copies_truth(const struct truth_copies_result *copies)
{
    if (copies->executed == 0 && copies->recorded == 0 && copies->by_host == 0)
        return;
    (void)printf("  copies: %s executed, %s in the trace, %s of them equal in bytes and ticks\n",
                 show_count(copies->executed).text, show_count(copies->recorded).text,
                 show_count(copies->equal).text);
    show_difference("copies by the host, which the truth does not know", copies->by_host);
    show_difference("copies of the runtime for itself", copies->internal);
    show_difference("copies left out, as the ledger says", copies->skipped);
    show_difference("copies lost, as the ledger says", copies->lost);
    show_difference("copies missing", copies->missing);
    show_difference("copies never executed so", copies->invented);
    show_difference("copies with another time", copies->wrong_time);
}

static void show_truth(const struct truth_result *truth)
{
    char line[256];
    (void)snprintf(line, sizeof line, "truth: %s, %s executed, %s in the trace, %s of them equal",
                   truth->same ? "equal" : "DIFFERENT", show_count(truth->executed).text,
                   show_count(truth->recorded).text, show_count(truth->equal).text);
    show_styled(stdout, truth->same ? SHOW_GOOD : SHOW_BAD, line);
    (void)putchar('\n');
    if (truth->equal > 0)
        (void)printf("  equal means once, with the name, queue and ticks of the truth; translated "
                     "times are at most %" PRIu64 " ns off\n",
                     truth->widest_ns);
    show_difference("left out, as the ledger says", truth->skipped);
    show_difference("on queues of the runtime itself, which no tool is shown", truth->internal);
    show_difference("lost, as the ledger says", truth->lost);
    show_difference("missing", truth->missing);
    show_difference("never executed", truth->invented);
    show_difference("more than once in the trace", truth->repeated);
    show_difference("queues whose ledger is wrong", truth->misaccounted);
    show_difference("other name", truth->wrong_name);
    show_difference("other ticks", truth->wrong_ticks);
    show_difference("other time", truth->wrong_time);
    show_copies_truth(&truth->copies);
    for (unsigned i = 0; i < truth->sentence_count; ++i)
        (void)printf("  - %s\n", plain(truth->sentences[i]));
}

static int show_text(const struct check *check, int status)
{
    char line[1024];
    account_line(&check->verdict, line, sizeof line);
    show_styled(stdout, check->verdict.complete && !check->verdict.empty ? SHOW_GOOD : SHOW_BAD,
                line);
    (void)putchar('\n');
    check_ranks_show(&check->ranks, stdout);
    if (check->row_count + check->kind_count > 0)
        show_ledger(check);
    show_damages(&check->damages);
    show_reasons(&check->verdict);
    show_unseen(check);
    show_unlinked("kernels", check->links.kernels);
    show_unlinked("copies", check->links.copies);
    show_launches(&check->verdict);
    counted_show(check->trace, &check->counted, stdout);
    if (pauses_show(check->trace, stdout) != RTL_OK)
        return open_failed(check->trace, check->path);
    show_notes(check);
    if (check->against_truth)
        show_truth(&check->truth);
    return status;
}

static json_t *json_lost(const uint64_t *lost)
{
    json_t *object = json_object();
    for (unsigned i = 0; i < RTL_LOSS_REASONS; ++i)
        (void)json_object_set_new(object, rtlLossName((rtl_loss_t)i), open_number(lost[i]));
    return object;
}

static json_t *json_account(const struct account *account)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "packets",
                     open_number(account->packets), "seen", open_number(account->seen), "recorded",
                     open_number(account->recorded), "stored", open_number(account->stored),
                     "skipped", open_number(account->skipped), "pending",
                     open_number(account->pending), "forwarded", open_number(account->forwarded),
                     "borrowed", open_number(account->borrowed), "helped",
                     open_number(account->helped), "lost", json_lost(account->lost), "stopped",
                     open_number(account->stopped), "withheld", open_number(account->withheld));
}

static json_t *json_queues(const struct check *check)
{
    json_t *list = json_array();
    for (size_t i = 0; i < check->row_count; ++i) {
        struct account account;
        account_of(&check->rows[i], &account);
        json_t *object = json_account(&account);
        (void)json_object_set_new(object, "process", open_id(check->rows[i].process));
        (void)json_object_set_new(object, "queue", open_id(check->rows[i].queue));
        (void)json_object_set_new(object, "of", open_text(of_what(check, i)));
        (void)json_array_append_new(list, object);
    }
    return list;
}

static json_t *json_ranks(const struct check_ranks *ranks)
{
    json_t *list = json_array();
    for (size_t i = 0; i < ranks->count; ++i) {
        const struct check_rank *rank = &ranks->list[i];
        (void)json_array_append_new(
            list, json_pack("{s:o, s:o, s:o, s:o}", "rank", open_text(rank->rank), "processes",
                            open_number(rank->processes), "kernels", json_account(&rank->kernels),
                            "copies", json_account(&rank->copies)));
    }
    return list;
}

static json_t *json_copies_truth(const struct truth_copies_result *copies)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "executed",
                     open_number(copies->executed), "recorded", open_number(copies->recorded),
                     "equal", open_number(copies->equal), "by_host", open_number(copies->by_host),
                     "internal", open_number(copies->internal), "skipped",
                     open_number(copies->skipped), "lost", open_number(copies->lost), "missing",
                     open_number(copies->missing), "invented", open_number(copies->invented),
                     "wrong_time", open_number(copies->wrong_time));
}

static json_t *json_truth(const struct truth_result *truth)
{
    json_t *differences = json_array();
    for (unsigned i = 0; i < truth->sentence_count; ++i)
        (void)json_array_append_new(differences, open_text(truth->sentences[i]));
    return json_pack(
        "{s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o}",
        "same", (int)truth->same, "executed", open_number(truth->executed), "recorded",
        open_number(truth->recorded), "matched", open_number(truth->matched), "equal",
        open_number(truth->equal), "skipped", open_number(truth->skipped), "lost",
        open_number(truth->lost), "internal", open_number(truth->internal), "missing",
        open_number(truth->missing), "invented", open_number(truth->invented), "repeated",
        open_number(truth->repeated), "misaccounted_queues", open_number(truth->misaccounted),
        "wrong_name", open_number(truth->wrong_name), "wrong_ticks",
        open_number(truth->wrong_ticks), "wrong_time", open_number(truth->wrong_time), "widest_ns",
        open_number(truth->widest_ns), "differences", differences, "copies",
        json_copies_truth(&truth->copies));
}

static json_t *json_launches(const struct verdict *verdict)
{
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o}", "launches", open_number(verdict->graphs.launches), "uncertain",
        open_number(verdict->graphs.uncertain), "partial", open_number(verdict->graphs.partial),
        "missing", open_number(verdict->graphs.missing), "lost", open_number(verdict->graphs.lost));
}

/* At most so many packets; null where nobody knows. */
static json_t *json_unaccounted(const struct ended *ended)
{
    if (ended->died.unbounded || ended->exited.unbounded || ended->replaced.unbounded)
        return json_null();
    return open_number(ended->died.packets + ended->exited.packets + ended->replaced.packets);
}

static json_t *json_kind(const struct kind *kind)
{
    json_t *lost = json_object();
    for (unsigned i = 0; i < RTL_LOSS_REASONS; ++i)
        if (kind->lost[i])
            (void)json_object_set_new(lost, rtlLossName((rtl_loss_t)i), open_number(kind->lost[i]));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "seen", open_number(kind->seen),
                     "recorded", open_number(kind->recorded), "stored", open_number(kind->stored),
                     "stopped", open_number(kind->stopped), "withheld", open_number(kind->withheld),
                     "pending", open_number(kind->waiting), "lost", lost);
}

static json_t *json_kinds(const struct kinds *kinds)
{
    json_t *object = json_object();
    for (unsigned kind = 0; kind < KINDS; ++kind)
        if (kinds->kinds[kind].there)
            (void)json_object_set_new(object, kinds_name(kind), json_kind(&kinds->kinds[kind]));
    return object;
}

/* The first places of all. */
static json_t *json_damages(const struct damages *damages)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < damages->count && i < MOST_DAMAGES; ++i)
        (void)json_array_append_new(list, open_text(damages->texts[i]));
    return list;
}

static json_t *json_check(const struct check *check)
{
    const struct verdict *verdict = &check->verdict;
    char line[1024];
    account_line(verdict, line, sizeof line);
    json_t *notes = json_array();
    json_t *pauses;
    for (size_t i = 0; i < check->all_note_count; ++i)
        (void)json_array_append_new(notes, open_text(check->all_notes[i].text));
    json_t *object = json_pack(
        "{s:o, s:b, s:o, s:b, s:b, s:i, s:i, s:i, s:i, s:i, s:o, s:o, s:o, s:o}", "file",
        open_text(check->path), "complete", (int)verdict->complete, "completeness", open_text(line),
        "finished", (int)verdict->finished, "recording", (int)verdict->recording, "processes",
        (int)verdict->processes, "died", (int)verdict->died, "running", (int)verdict->running,
        "refused", (int)verdict->refused, "queues_not_followed", (int)verdict->untracked, "torn",
        open_number(verdict->torn), "total", json_account(&verdict->total), "queues",
        json_queues(check), "notes", notes);
    if (verdict->elsewhere)
        (void)json_object_set_new(object, "recording", json_null());
    (void)json_object_set_new(object, "copies", json_account(&verdict->copies));
    (void)json_object_set_new(object, "ranks", json_ranks(&check->ranks));
    (void)json_object_set_new(object, "opaque",
                              json_pack("{s:o, s:o, s:o}", "of_graphs",
                                        open_number(verdict->opaque.of_graphs), "elsewhere",
                                        open_number(verdict->opaque.elsewhere), "direct",
                                        open_number(verdict->opaque.direct)));
    (void)json_object_set_new(object, "replaced",
                              json_integer((json_int_t)verdict->ended.replaced.processes));
    (void)json_object_set_new(object, "exited",
                              json_integer((json_int_t)verdict->ended.exited.processes));
    (void)json_object_set_new(object, "unaccounted", json_unaccounted(&verdict->ended));
    (void)json_object_set_new(object, "empty", json_boolean(verdict->empty));
    (void)json_object_set_new(object, "failure",
                              open_text(account_failed(verdict) ? verdict->failure : ""));
    (void)json_object_set_new(object, "at_least", json_boolean(verdict->at_least));
    (void)json_object_set_new(object, "unrecorded", json_integer((json_int_t)verdict->unrecorded));
    (void)json_object_set_new(object, "imported", json_integer((json_int_t)verdict->imported));
    (void)json_object_set_new(object, "not_started",
                              json_integer((json_int_t)verdict->not_started));
    (void)json_object_set_new(object, "graphs", json_launches(verdict));
    (void)json_object_set_new(object, "kinds", json_kinds(&verdict->kinds));
    (void)json_object_set_new(object, "processes_without_kinds",
                              open_number(verdict->kinds.unknown));
    (void)pauses_json(check->trace, &pauses); /* they were read when the trace was opened */
    (void)json_object_set_new(object, "pauses", pauses);
    (void)json_object_set_new(object, "counters", counted_json(&check->counted));
    (void)json_object_set_new(object, "calls", open_number(check->links.calls));
    (void)json_object_set_new(object, "kernels_without_call", open_number(check->links.kernels));
    (void)json_object_set_new(object, "copies_without_call", open_number(check->links.copies));
    (void)json_object_set_new(object, "unseen_hips", unseen_json(&check->unseen));
    (void)json_object_set_new(object, "unseen_kernels", open_number(verdict->unseen.kernels));
    (void)json_object_set_new(object, "kernels_past_calls", open_number(check->links.past));
    (void)json_object_set_new(object, "digests", json_boolean(check->damages.known));
    (void)json_object_set_new(object, "deep", json_boolean(check->deep));
    (void)json_object_set_new(object, "damage", json_damages(&check->damages));
    if (check->against_truth)
        (void)json_object_set_new(object, "truth", json_truth(&check->truth));
    return object;
}

/* A call that was under way when recording was started is not recorded, and its kernels may be. */
static void judge_links(struct check *check)
{
    if (check->links.past == 0 || check->links.stopped)
        return;
    check->verdict.unseen.past = check->links.past;
    check->verdict.complete = check->verdict.empty = false;
}

static void take_damage(void *context, const char *what)
{
    struct damages *damages = context;
    if (damages->count < MOST_DAMAGES)
        (void)snprintf(damages->texts[damages->count], sizeof damages->texts[0], "%s", plain(what));
    ++damages->count;
}

static void judge_damage(struct check *check)
{
    if (check->damages.count == 0)
        return;
    check->verdict.damage = check->damages.texts[0];
    check->verdict.complete = check->verdict.empty = false;
}

static int read_check(rtl_trace_t *trace, struct check *check, const char *const *logs,
                      size_t log_count)
{
    char error[512] = "";
    rtl_status_t status =
        rtl_digest_check(trace, &check->damages.known, take_damage, &check->damages);
    if (status == RTL_OK)
        status = account_verdict(trace, &check->verdict);
    if (status == RTL_OK)
        status = rtlTraceLedger(trace, &check->rows, &check->row_count);
    if (status == RTL_OK)
        status = check_ranks_read(trace, &check->ranks);
    if (status == RTL_OK)
        status = rtlTraceKinds(trace, &check->kinds, &check->kind_count);
    if (status == RTL_OK)
        status = rtlTraceNotes(trace, &check->all_notes, &check->all_note_count);
    if (status == RTL_OK)
        status = notes_read(trace, &check->notes);
    if (status == RTL_OK)
        status = links_read(trace, check->deep, take_damage, &check->damages, &check->links);
    if (status == RTL_OK && check->deep)
        status = rtl_stats_compare(trace, take_damage, &check->damages);
    if (status == RTL_OK)
        status = counted_read(trace, &check->counted);
    if (status == RTL_OK)
        status = unseen_read(trace, &check->unseen);
    if (status != RTL_OK)
        return open_failed(trace, check->path);
    judge_links(check);
    judge_damage(check);
    check->against_truth = log_count > 0;
    if (log_count > 0 &&
        truth_compare(trace, logs, log_count, &check->truth, error, sizeof error) != 0)
        return say_fail(EXIT_USAGE, "%s", error);
    if (!check->verdict.complete || (log_count > 0 && !check->truth.same))
        return EXIT_DIFFERENT;
    /* The truth says what was to be there. */
    return check->verdict.empty && log_count == 0 ? EXIT_EMPTY : EXIT_FINE;
}

static void free_check(struct check *check)
{
    notes_end(&check->notes);
    check_ranks_free(&check->ranks);
    counted_free(&check->counted);
    unseen_free(&check->unseen);
}

json_t *check_json(rtl_trace_t *trace, const char *path)
{
    struct check check = {.path = path, .trace = trace};
    json_t *object = NULL;
    if (read_check(trace, &check, NULL, 0) != EXIT_USAGE)
        object = json_check(&check);
    free_check(&check);
    return object;
}

static int show(const char *path, const char *const *logs, size_t log_count, bool deep, bool json)
{
    rtl_trace_t *trace = open_trace(path);
    struct check check = {.path = path, .deep = deep, .trace = trace};
    if (!trace)
        return EXIT_USAGE;
    int status = read_check(trace, &check, logs, log_count);
    if (status != EXIT_USAGE)
        status = json ? open_print_json(json_check(&check), status) : show_text(&check, status);
    free_check(&check);
    rtlTraceClose(trace);
    return status;
}

int check_show(const char *path, const char *const *logs, size_t log_count, bool json)
{
    return show(path, logs, log_count, false, json);
}

#define MOST_LOGS 1024u

enum { OPTION_NO_WAIT = 256 };

struct options {
    const char *path;
    const char *logs[MOST_LOGS];
    size_t log_count;
    bool deep, json;
};

static const struct argp_option option_list[] = {
    {"truth", 't', "LOG", 0,
     "compare with what the software GPU executed (SOFTGPU_TRUTH); further LOGs may follow FILE",
     0},
    {"deep", 'd', NULL, 0,
     "unpack all that is packed, too, and look whether it is what its rows say; takes longer", 0},
    {"json", 'j', NULL, 0, "write JSON", 0},
    {"no-wait", OPTION_NO_WAIT, NULL, 0,
     "do not wait for a recorder whose processes have all ended (up to five seconds)", 0},
    {0},
};

static error_t add_log(struct options *options, const char *path)
{
    if (options->log_count == MOST_LOGS)
        return say_fail(EINVAL, "more than %u truth logs", MOST_LOGS);
    options->logs[options->log_count++] = path;
    return 0;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 't':
        return add_log(options, value);
    case 'd':
        options->deep = true;
        return 0;
    case 'j':
        options->json = true;
        return 0;
    case OPTION_NO_WAIT:
        settle_never();
        return 0;
    case ARGP_KEY_ARG:
        if (!options->path) {
            options->path = value;
            return 0;
        }
        if (options->log_count == 0)
            return say_fail(EINVAL,
                            "one trace at a time: '%s' is a second one (truth logs follow "
                            "--truth)",
                            value);
        return add_log(options, value);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int cmd_check(int argc, char **argv)
{
    static const char doc[] =
        "Proves that everything that RTL saw and the mode records is in the trace: kernels, "
        "copies, host calls, ranges and graph launches. Or says what is missing, why, and what "
        "to do."
        "\vThe exit status is 0 if the trace is complete (and, with --truth, "
        "equal to the truth), 1 if "
        "not, 2 if something cannot be read, 3 if it is complete and all kernels were left out. "
        "What the mode leaves out, or what passed while "
        "recording was stopped, is told and does not make "
        "a trace incomplete.\n\n"
        "Examples:\n"
        "  rtl check trace.db\n"
        "  rtl check --deep trace.db\n"
        "  SOFTGPU_TRUTH=truth rtl trace --gpu soft -- ./program\n"
        "  rtl check trace.db --truth truth";
    static const struct argp argp = {option_list, parse_option, "FILE [LOG...]", doc, NULL,
                                     NULL,        NULL};
    static struct options options;
    if (parse(&argp, argc, argv, 0, &options) != 0)
        return EXIT_USAGE;
    if (trace_command_needs(options.path, "rtl check FILE"))
        return EXIT_USAGE;
    return show(options.path, options.logs, options.log_count, options.deep, options.json);
}

/* The collector against fake processes that end in every way. */
#include "collect/collect.h"
#include "made.h"
#include "store/codec.h"

#include <rtl/rtl_trace.h>
#include <sqlite3.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What a test looks at in a trace. */
struct seen {
    rtl_trace_t *trace;
    const rtl_process_t *processes;
    const rtl_ledger_t *ledger;
    const rtl_note_t *notes;
    size_t process_count, ledger_count, note_count;
    uint64_t kernels;
};

static const char *look(struct made *made, struct seen *seen)
{
    rtl_trace_info_t info;
    char error[512] = "";
    CHECK_DONE(made_end(made));
    CHECK(rtlTraceOpen(made->trace, &seen->trace, error, sizeof error) == RTL_OK);
    CHECK(rtlTraceInfo(seen->trace, &info) == RTL_OK);
    CHECK(rtlTraceProcesses(seen->trace, &seen->processes, &seen->process_count) == RTL_OK);
    CHECK(rtlTraceLedger(seen->trace, &seen->ledger, &seen->ledger_count) == RTL_OK);
    CHECK(rtlTraceNotes(seen->trace, &seen->notes, &seen->note_count) == RTL_OK);
    CHECK(info.finished == 1);
    seen->kernels = info.kernels;
    return NULL;
}

static void done(struct made *made, struct seen *seen)
{
    rtlTraceClose(seen->trace);
    made_clean(made);
}

#define SOME UINT64_C(1000)

static void some_kernels(struct rtl_ring *ring)
{
    made_definitions(ring);
    made_queue(ring, 0, 0x1000, MADE_BEGIN_NS);
    for (uint64_t i = 0; i < SOME; ++i)
        made_kernel(ring, 0, i, i % 2, MADE_BEGIN + 10 * i, MADE_BEGIN + 10 * i + 5);
}

static void close_in_order(struct rtl_ring *ring)
{
    some_kernels(ring);
    made_ledger(ring, 0, SOME + 7, SOME, 7);
    rtl_ring_close(ring);
}

const char *Collect_ClosedProcess(void)
{
    struct made made;
    struct seen seen;
    CHECK_DONE(made_begin(&made));
    pid_t pid = made_process(&made, close_in_order);
    CHECK_DONE(look(&made, &seen));
    CHECK(seen.process_count == 1);
    CHECK(seen.processes[0].pid == (uint32_t)pid);
    CHECK(strcmp(seen.processes[0].state, "closed") == 0);
    CHECK(strcmp(seen.processes[0].command, "fake") == 0);
    CHECK(seen.kernels == SOME);
    CHECK(seen.ledger_count == 1);
    CHECK(seen.ledger[0].seen == SOME + 7 && seen.ledger[0].recorded == SOME);
    CHECK(seen.ledger[0].stored == SOME && seen.ledger[0].skipped == 7);
    CHECK(seen.ledger[0].lost[RTL_LOSS_KILLED] == 0);
    done(&made, &seen);
    return NULL;
}

static void close_in_debt(struct rtl_ring *ring)
{
    some_kernels(ring);
    made_ledger(ring, 0, SOME + 9, SOME, 7);
    rtl_ring_close(ring);
}

const char *Collect_ClosedProcessWithKernelsUnderWay(void)
{
    struct made made;
    struct seen seen;
    CHECK_DONE(made_begin(&made));
    (void)made_process(&made, close_in_debt);
    CHECK_DONE(look(&made, &seen));
    CHECK(strcmp(seen.processes[0].state, "closed") == 0);
    CHECK(seen.ledger[0].recorded == SOME && seen.ledger[0].skipped == 7);
    CHECK(seen.ledger[0].lost[RTL_LOSS_SHUTDOWN] == 2);
    CHECK(seen.ledger[0].lost[RTL_LOSS_KILLED] == 0);
    done(&made, &seen);
    return NULL;
}

/* Of 1020 kernels 1000 were handed over, 5 left out by the mode, 3 lost on the way and 12 were
 * still with the process. Its own count of what it handed over lags behind by two. */
static void die_in_debt(struct rtl_ring *ring)
{
    some_kernels(ring);
    made_ledger(ring, 0, SOME + 20, SOME - 2, 5);
    atomic_store(&ring->header->ledger[0].lost[RTL_LOST_POOL], 3);
    (void)raise(SIGKILL);
}

const char *Collect_KilledProcess(void)
{
    struct made made;
    struct seen seen;
    CHECK_DONE(made_begin(&made));
    (void)made_process(&made, die_in_debt);
    CHECK_DONE(look(&made, &seen));
    CHECK(seen.process_count == 1);
    CHECK(strcmp(seen.processes[0].state, "died") == 0);
    CHECK(seen.kernels == SOME);
    CHECK(seen.ledger[0].recorded == SOME && seen.ledger[0].stored == SOME);
    CHECK(seen.ledger[0].skipped == 5);
    CHECK(seen.ledger[0].lost[RTL_LOSS_POOL] == 3);
    CHECK(seen.ledger[0].lost[RTL_LOSS_KILLED] == 12);
    CHECK(seen.note_count == 0);
    done(&made, &seen);
    return NULL;
}

/* Of what it had claimed by a draft, other threads of its may have claimed some before and
 * committed it, in front of the draft or behind it, and long ago. */
#define FULL_CHUNK (RTL_CHUNK_KERNELS + 1000u) /* divisible by 24 */

static void fill_kernels(struct rtl_wire_kernel *kernels, uint64_t packet, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        kernels[i] = (struct rtl_wire_kernel){.packet = packet + i,
                                              .start = MADE_BEGIN + 10 * (packet + i),
                                              .end = MADE_BEGIN + 10 * (packet + i) + 5,
                                              .launch = RTL_NONE,
                                              .ordinal = RTL_NONE};
}

static void draft(struct rtl_ring *ring, uint64_t packet, unsigned count)
{
    struct rtl_wire_kernel kernels[64];
    struct rtl_ring_draft unused;
    fill_kernels(kernels, packet, count);
    (void)rtl_ring_draft_kernels(ring, kernels, count, &unused);
}

static void draft_copy(struct rtl_ring *ring, uint32_t queue, uint64_t ordinal, bool commits)
{
    struct rtl_wire_copy copy = {.ordinal = ordinal,
                                 .start = MADE_BEGIN + ordinal,
                                 .end = MADE_BEGIN + ordinal + 1,
                                 .bytes = 64,
                                 .queue = queue};
    struct rtl_piece piece = {&copy, sizeof copy};
    struct rtl_ring_draft draft;
    (void)rtl_ring_draft(ring, RTL_WIRE_COPY, &piece, 1, 0, &draft);
    if (commits)
        rtl_ring_commit(ring, &draft);
}

static void die_with_drafts(struct rtl_ring *ring)
{
    made_definitions(ring);
    made_queue(ring, 0, 0x1000, MADE_BEGIN_NS);
    made_copies(ring, 1);
    for (uint64_t i = 0; i < FULL_CHUNK; i += 24) {
        struct rtl_wire_kernel kernels[24];
        fill_kernels(kernels, i, 24);
        (void)rtl_ring_push_kernels(ring, kernels, 24);
    }
    draft_copy(ring, 1, 0, true);
    draft(ring, 10, 2);              /* in a chunk that is stored */
    draft(ring, FULL_CHUNK - 3, 10); /* some are there */
    draft(ring, FULL_CHUNK + 7, 64); /* none is there yet */
    draft(ring, FULL_CHUNK + 8, 1);  /* twice */
    draft_copy(ring, 1, 0, false);
    draft_copy(ring, 1, 1, false);
    made_kernel(ring, 0, FULL_CHUNK + 7, 0, MADE_BEGIN + 10ul * (FULL_CHUNK + 7),
                MADE_BEGIN + 10ul * (FULL_CHUNK + 7) + 5);
    made_ledger(ring, 0, FULL_CHUNK + 80, FULL_CHUNK, 0);
    made_ledger(ring, 1, 2, 1, 0);
    (void)raise(SIGKILL);
}

const char *Collect_KilledBetweenItsClaimAndItsCommit(void)
{
    struct made made;
    struct seen seen;
    rtl_kernel_iter_t *kernels = NULL;
    rtl_kernel_t kernel;
    uint64_t next = 0;
    CHECK_DONE(made_begin(&made));
    (void)made_process(&made, die_with_drafts);
    CHECK_DONE(look(&made, &seen));
    CHECK(seen.kernels == FULL_CHUNK + 71);
    CHECK(seen.ledger_count == 2 && seen.ledger[0].recorded == FULL_CHUNK + 71);
    CHECK(seen.ledger[0].lost[RTL_LOSS_KILLED] == 9);
    CHECK(seen.ledger[1].recorded == 2 && seen.ledger[1].stored == 2);
    CHECK(seen.ledger[1].lost[RTL_LOSS_KILLED] == 0);
    rtl_kernel_filter_t filter = {.queue = RTL_TRACE_NONE, .by_queue = 1};
    CHECK(rtlTraceKernels(seen.trace, &filter, &kernels) == RTL_OK);
    while (rtlKernelNext(kernels, &kernel) == RTL_OK) {
        CHECK(kernel.packet == next && kernel.start_ticks == MADE_BEGIN + 10 * next);
        next++;
    }
    CHECK(next == FULL_CHUNK + 71);
    rtlKernelIterFree(kernels);
    done(&made, &seen);
    return NULL;
}

/* Launches of graph 5, by number, which is also when they began. */
#define LAUNCHES 5000u /* more than the collector remembers ids of */

static void draft_launch(struct rtl_ring *ring, uint32_t number, bool commits)
{
    struct rtl_wire_launch launch = {
        .time_ns = MADE_BEGIN_NS + number, .launch = number, .graph = 5, .queue = RTL_NONE};
    struct rtl_piece piece = {&launch, sizeof launch};
    struct rtl_ring_draft draft;
    if (!rtl_ring_draft(ring, RTL_WIRE_LAUNCH, &piece, 1, 0, &draft))
        _exit(2);
    if (commits)
        rtl_ring_commit(ring, &draft);
}

static void die_with_launches(struct rtl_ring *ring)
{
    made_definitions(ring);
    draft_launch(ring, 1, true);
    draft_launch(ring, 1, false); /* as the one in front */
    draft_launch(ring, 2, false);
    draft_launch(ring, 3, false); /* as the one behind, and long before the end */
    draft_launch(ring, 4, false);
    draft_launch(ring, 4, false); /* twice */
    draft_launch(ring, 3, true);
    for (uint32_t number = 5; number <= LAUNCHES; ++number)
        draft_launch(ring, number, true);
    draft_launch(ring, LAUNCHES + 1, false);
    atomic_store(&ring->header->lanes[0].lane.begun[RTL_KIND_LAUNCHES], LAUNCHES + 2);
    (void)raise(SIGKILL);
}

/* Each is in the trace once, and the one of which nothing was drafted was killed. */
const char *Collect_KilledBetweenClaimAndCommitOfLaunches(void)
{
    struct made made;
    struct seen seen;
    const rtl_graph_launch_t *launches;
    const rtl_kind_ledger_t *kinds;
    size_t count;
    size_t kind = 0;
    CHECK_DONE(made_begin(&made));
    (void)made_process(&made, die_with_launches);
    CHECK_DONE(look(&made, &seen));
    CHECK(rtlTraceGraphLaunches(seen.trace, &launches, &count) == RTL_OK);
    CHECK(count == LAUNCHES + 1);
    for (size_t i = 0; i < count; ++i)
        CHECK(launches[i].time == MADE_BEGIN_NS + 1 + i);
    CHECK(rtlTraceKinds(seen.trace, &kinds, &count) == RTL_OK);
    while (kind < count && strcmp(kinds[kind].kind, "launches") != 0)
        ++kind;
    CHECK(kind < count && kinds[kind].recorded == LAUNCHES + 1);
    CHECK(kinds[kind].lost[RTL_LOSS_KILLED] == 1);
    done(&made, &seen);
    return NULL;
}

static void one_kernel_without_a_clock(struct rtl_ring *ring)
{
    made_queue(ring, 0, 0x1000, MADE_BEGIN_NS);
    made_kernel(ring, 0, 0, 0, MADE_BEGIN, MADE_BEGIN + 5);
    made_ledger(ring, 0, 1, 1, 0);
}

static void die_without_a_clock(struct rtl_ring *ring)
{
    one_kernel_without_a_clock(ring);
    (void)raise(SIGKILL);
}

static void close_without_a_clock(struct rtl_ring *ring)
{
    one_kernel_without_a_clock(ring);
    rtl_ring_close(ring);
}

static const char *ends_without_a_clock(void (*end)(struct rtl_ring *ring), const char *expected)
{
    struct made made;
    struct seen seen;
    CHECK_DONE(made_begin(&made));
    (void)made_process(&made, end);
    CHECK_DONE(look(&made, &seen));
    CHECK(seen.kernels == 1 && seen.note_count == 1);
    CHECK(strstr(seen.notes[0].text, expected) != NULL);
    done(&made, &seen);
    return NULL;
}

const char *Collect_EndsBeforeTheClockWasKnown(void)
{
    CHECK_DONE(ends_without_a_clock(die_without_a_clock,
                                    "ended without telling before the clock of its GPU was known"));
    return ends_without_a_clock(close_without_a_clock,
                                "ended before the clock of its GPU was known");
}

/* Dies between the reservation of two slots and their use; what another thread wrote behind them is
 * there. */
static void die_in_a_push(struct rtl_ring *ring)
{
    some_kernels(ring);
    atomic_fetch_add(&ring->header->head, 2);
    made_kernel(ring, 0, SOME, 0, MADE_BEGIN + 10 * SOME, MADE_BEGIN + 10 * SOME + 5);
    made_ledger(ring, 0, SOME + 3, SOME + 1, 0);
    (void)raise(SIGKILL);
}

const char *Collect_KilledInTheMiddleOfAPush(void)
{
    struct made made;
    struct seen seen;
    CHECK_DONE(made_begin(&made));
    (void)made_process(&made, die_in_a_push);
    CHECK_DONE(look(&made, &seen));
    CHECK(seen.processes[0].torn == 2);
    CHECK(seen.kernels == SOME + 1);
    CHECK(seen.ledger[0].lost[RTL_LOSS_KILLED] == 2);
    done(&made, &seen);
    return NULL;
}

static void push_packed(struct rtl_ring *ring, uint64_t first)
{
    struct rtl_wire_kernel kernels[64];
    for (uint64_t i = 0; i < 64; ++i)
        kernels[i] = (struct rtl_wire_kernel){.packet = first + i,
                                              .start = MADE_BEGIN + 10 * (first + i),
                                              .end = MADE_BEGIN + 10 * (first + i) + 5,
                                              .launch = RTL_NONE,
                                              .ordinal = RTL_NONE};
    if (rtl_ring_push_kernels(ring, kernels, 64) != 64)
        _exit(2);
}

/* As before, with 64 kernels in one record: it had reserved the slots for as many more. */
static void die_while_it_packs(struct rtl_ring *ring)
{
    some_kernels(ring);
    uint64_t before = rtl_ring_pending(ring);
    push_packed(ring, SOME);
    uint64_t slots = rtl_ring_pending(ring) - before;
    if (slots >= 64)
        _exit(2);
    atomic_fetch_add(&ring->header->head, slots);
    push_packed(ring, SOME + 128);
    made_ledger(ring, 0, SOME + 192, SOME + 64, 0);
    (void)raise(SIGKILL);
}

const char *Collect_KilledWhileItPackedKernels(void)
{
    struct made made;
    struct seen seen;
    CHECK_DONE(made_begin(&made));
    (void)made_process(&made, die_while_it_packs);
    CHECK_DONE(look(&made, &seen));
    CHECK(seen.processes[0].torn > 0 && seen.processes[0].torn < 64);
    CHECK(seen.kernels == SOME + 128);
    CHECK(seen.ledger[0].recorded == SOME + 128);
    CHECK(seen.ledger[0].lost[RTL_LOSS_KILLED] == 64);
    done(&made, &seen);
    return NULL;
}

static void die_at_once(struct rtl_ring *ring)
{
    (void)ring;
    (void)raise(SIGKILL);
}

const char *Collect_KilledBeforeItSaidAnything(void)
{
    struct made made;
    struct seen seen;
    CHECK_DONE(made_begin(&made));
    pid_t pid = made_process(&made, die_at_once);
    CHECK_DONE(look(&made, &seen));
    CHECK(seen.process_count == 1);
    CHECK(seen.processes[0].pid == (uint32_t)pid);
    CHECK(strcmp(seen.processes[0].state, "died") == 0);
    CHECK(seen.kernels == 0);
    done(&made, &seen);
    return NULL;
}

static void be_a_stranger(struct rtl_ring *ring)
{
    close_in_order(ring);
    ring->header->wire_version = RTL_WIRE_VERSION + 1;
    (void)snprintf(ring->header->library_version, sizeof ring->header->library_version, "9.8.7");
}

static char told[512];

static void tell(void *context, const char *sentence)
{
    (void)context;
    (void)snprintf(told, sizeof told, "%s", sentence);
}

/* The sentence names the process, the library's version and what to do, to the user and in the
 * trace; others are collected all the same. */
const char *Collect_RefusesAnotherWireVersion(void)
{
    struct made made;
    struct seen seen;
    char pid_text[32];
    char error[512] = "";
    CHECK_DONE(made_begin(&made));
    pid_t pid = made_process(&made, be_a_stranger);
    (void)made_process(&made, close_in_order);
    struct rtl_collector *collector = rtl_collector_new(made.session, made.writer, tell, NULL);
    CHECK(collector != NULL);
    told[0] = '\0';
    for (int i = 0; i < 3; ++i) {
        (void)rtl_collector_round(collector);
        (void)usleep(25000);
    }
    struct rtl_collector_status status;
    rtl_collector_status(collector, &status);
    rtl_collector_end(collector);
    CHECK(status.refused == 1 && status.processes == 2 && status.open == 0);
    (void)snprintf(pid_text, sizeof pid_text, "process %d ", (int)pid);
    CHECK(strstr(told, pid_text) && strstr(told, "9.8.7") && strstr(told, "another build"));
    CHECK(strstr(told, "librtl.so that belongs to this rtl"));

    CHECK(rtl_writer_close(made.writer, 0, error, sizeof error) == 0);
    CHECK(rtlTraceOpen(made.trace, &seen.trace, error, sizeof error) == RTL_OK);
    CHECK(rtlTraceProcesses(seen.trace, &seen.processes, &seen.process_count) == RTL_OK);
    CHECK(rtlTraceNotes(seen.trace, &seen.notes, &seen.note_count) == RTL_OK);
    CHECK(seen.process_count == 2);
    unsigned refused = 0;
    for (size_t i = 0; i < 2; ++i)
        refused += seen.processes[i].pid == (uint32_t)pid &&
                   strcmp(seen.processes[i].state, "refused") == 0;
    CHECK(refused == 1);
    CHECK(seen.note_count == 1 && strcmp(seen.notes[0].text, told) == 0);
    done(&made, &seen);
    return NULL;
}

/* As an exec of a program that loads librtl again: the ring is not mapped any more, and there is a
 * second one of the same process. */
static const char *exec_session;

static void exec_another(struct rtl_ring *ring)
{
    struct rtl_ring second;
    some_kernels(ring);
    made_ledger(ring, 0, SOME + 1, SOME, 0);
    rtl_ring_unmap(ring);
    rtl_ring_replace_former(exec_session);
    if (rtl_ring_create(&second, exec_session, 1u << 20) != 0)
        _exit(3);
    (void)rtl_ring_reserve_piece(&second, SIZE_MAX);
    close_in_order(&second);
    for (;;)
        (void)pause();
}

/* As two copies of the library in one image: both rings are written. */
static void have_two_rings(struct rtl_ring *ring)
{
    struct rtl_ring second;
    rtl_ring_replace_former(exec_session);
    if (rtl_ring_create(&second, exec_session, 1u << 20) != 0)
        _exit(3);
    (void)rtl_ring_reserve_piece(&second, SIZE_MAX);
    some_kernels(&second);
    made_ledger(&second, 0, SOME, SOME, 0);
    some_kernels(ring);
    made_ledger(ring, 0, SOME, SOME, 0);
    for (;;)
        (void)pause();
}

static void execute_sleep(struct rtl_ring *ring)
{
    some_kernels(ring);
    made_ledger(ring, 0, SOME + 1, SOME, 0);
    (void)execl("/bin/sleep", "sleep", "1000", (char *)NULL);
    _exit(3);
}

/* A process that goes on, and its collector. */
struct going {
    struct made made;
    struct rtl_collector *collector;
    pid_t pid;
};

static const char *go(struct going *going, void (*work)(struct rtl_ring *ring))
{
    CHECK_DONE(made_begin(&going->made));
    exec_session = going->made.session;
    going->pid = fork();
    if (going->pid == 0) {
        struct rtl_ring ring;
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* if the test fails */
        if (rtl_ring_create(&ring, going->made.session, 1u << 20) != 0)
            _exit(1);
        (void)rtl_ring_reserve_piece(&ring, SIZE_MAX);
        work(&ring);
    }
    going->collector = rtl_collector_new(going->made.session, going->made.writer, NULL, NULL);
    CHECK(going->collector != NULL);
    return NULL;
}

/* Rounds until so many rings, kernels and losses are known, or a minute is over. */
static struct rtl_collector_status rounds(struct going *going, unsigned processes, uint64_t kernels,
                                          uint64_t lost)
{
    struct rtl_collector_status status = {0};
    for (int i = 0; i < 6000; ++i) {
        (void)rtl_collector_round(going->collector);
        rtl_collector_status(going->collector, &status);
        if (status.processes == processes && status.kernels == kernels && status.lost == lost)
            break;
        (void)usleep(10000);
    }
    return status;
}

static const char *stop(struct going *going, struct seen *seen)
{
    char error[512] = "";
    (void)kill(going->pid, SIGKILL);
    (void)waitpid(going->pid, NULL, 0);
    rtl_collector_end(going->collector);
    CHECK(rtl_writer_close(going->made.writer, 0, error, sizeof error) == 0);
    CHECK(rtlTraceOpen(going->made.trace, &seen->trace, error, sizeof error) == RTL_OK);
    CHECK(rtlTraceProcesses(seen->trace, &seen->processes, &seen->process_count) == RTL_OK);
    CHECK(rtlTraceLedger(seen->trace, &seen->ledger, &seen->ledger_count) == RTL_OK);
    return NULL;
}

/* The first image is over although the process lives. */
const char *Collect_ImageReplacedByExec(void)
{
    struct going going;
    struct seen seen;
    CHECK_DONE(go(&going, exec_another));
    struct rtl_collector_status status = rounds(&going, 2, 2 * SOME, 1);
    CHECK(status.processes == 2 && status.kernels == 2 * SOME && status.lost == 1);
    CHECK(status.alive == 2);
    CHECK_DONE(stop(&going, &seen));
    CHECK(seen.process_count == 2);
    CHECK(strcmp(seen.processes[0].state, "replaced") == 0);
    CHECK(strcmp(seen.processes[1].state, "closed") == 0);
    CHECK(seen.processes[0].pid == seen.processes[1].pid);
    CHECK(seen.ledger[0].lost[RTL_LOSS_KILLED] == 1);
    done(&going.made, &seen);
    return NULL;
}

/* By one that has no librtl, so that nobody tells; it may still execute one that has. */
const char *Collect_ImageReplacedByAStranger(void)
{
    struct going going;
    struct seen seen;
    CHECK_DONE(go(&going, execute_sleep));
    struct rtl_collector_status status = rounds(&going, 1, SOME, 1);
    CHECK(status.kernels == SOME && status.lost == 1);
    CHECK(status.alive == 1 && status.open == 1);
    CHECK_DONE(stop(&going, &seen));
    CHECK(seen.process_count == 1 && strcmp(seen.processes[0].state, "replaced") == 0);
    done(&going.made, &seen);
    return NULL;
}

const char *Collect_TwoRingsOfOneImage(void)
{
    struct going going;
    struct seen seen;
    CHECK_DONE(go(&going, have_two_rings));
    struct rtl_collector_status status = rounds(&going, 2, 2 * SOME, 0);
    CHECK(status.processes == 2 && status.kernels == 2 * SOME);
    (void)usleep(100000); /* the collector looks again */
    (void)rtl_collector_round(going.collector);
    rtl_collector_status(going.collector, &status);
    CHECK(status.open == 2);
    CHECK_DONE(stop(&going, &seen));
    CHECK(seen.process_count == 2);
    for (unsigned i = 0; i < 2; ++i)
        CHECK(strcmp(seen.processes[i].state, "died") == 0);
    done(&going.made, &seen);
    return NULL;
}

/* Lengths that reach beyond the record, kernels that are not in it, and a type that nobody knows.
 */
static void lie(struct rtl_ring *ring)
{
    some_kernels(ring);
    struct rtl_wire_note note = {.queue = RTL_NONE, .text_length = 60000};
    struct rtl_piece piece = {&note, sizeof note};
    (void)rtl_ring_push(ring, RTL_WIRE_NOTE, &piece, 1);
    (void)rtl_ring_push(ring, (enum rtl_wire_type)77, &piece, 1);
    struct rtl_wire_kernels kernels = {.kernels = 60};
    struct rtl_piece packed = {&kernels, sizeof kernels};
    (void)rtl_ring_push(ring, RTL_WIRE_KERNELS, &packed, 1);
    made_ledger(ring, 0, SOME, SOME, 0);
    rtl_ring_close(ring);
}

const char *Collect_MalformedRecordsAreCounted(void)
{
    struct made made;
    struct seen seen;
    CHECK_DONE(made_begin(&made));
    (void)made_process(&made, lie);
    CHECK_DONE(look(&made, &seen));
    CHECK(seen.kernels == SOME);
    CHECK(seen.note_count == 1);
    CHECK(strncmp(seen.notes[0].text, "3 records of process", 20) == 0);
    done(&made, &seen);
    return NULL;
}

/* Many times the ring's size while the collector runs: nothing lost, nothing twice, and the ring's
 * file is gone at the end. */
#define MANY 200000u

static void write_many(struct rtl_ring *ring)
{
    made_definitions(ring);
    made_queue(ring, 0, 0x1000, MADE_BEGIN_NS);
    for (uint64_t i = 0; i < MANY; ++i) {
        struct rtl_wire_kernel kernel = {.packet = i,
                                         .start = MADE_BEGIN + i,
                                         .end = MADE_BEGIN + i + 1,
                                         .launch = RTL_NONE,
                                         .ordinal = RTL_NONE};
        while (rtl_ring_push_kernels(ring, &kernel, 1) == 0)
            (void)usleep(100);
    }
    made_ledger(ring, 0, MANY, MANY, 0);
    rtl_ring_close(ring);
}

const char *Collect_FollowsARunningProcess(void)
{
    struct made made;
    struct seen seen;
    char error[512] = "";
    CHECK_DONE(made_begin(&made));
    pid_t pid = fork();
    if (pid == 0)
        _exit(made_process(&made, write_many) > 0 ? 0 : 1);
    struct rtl_collector *collector = rtl_collector_new(made.session, made.writer, NULL, NULL);
    CHECK(collector != NULL);
    struct rtl_collector_status status = {0};
    while (status.processes == 0 || status.open > 0) {
        (void)usleep(1000 * rtl_collector_round(collector));
        rtl_collector_status(collector, &status);
    }
    char command[MADE_PATH];
    (void)snprintf(command, sizeof command, "ls %s/ring.* >/dev/null 2>&1", made.session);
    CHECK(made_shell(command) != 0);
    rtl_collector_end(collector);
    CHECK(rtl_writer_close(made.writer, 0, error, sizeof error) == 0);
    CHECK(rtlTraceOpen(made.trace, &seen.trace, error, sizeof error) == RTL_OK);
    rtl_kernel_filter_t filter = RTL_KERNEL_FILTER_ALL;
    rtl_kernel_iter_t *iter;
    rtl_kernel_t kernel;
    filter.by_queue = 1;
    CHECK(rtlTraceKernels(seen.trace, &filter, &iter) == RTL_OK);
    uint64_t next = 0;
    while (rtlKernelNext(iter, &kernel) == RTL_OK)
        CHECK(kernel.packet == next++);
    CHECK(next == MANY);
    rtlKernelIterFree(iter);
    done(&made, &seen);
    return NULL;
}

/* Batches of so many kernels that come twice, each another than all before: graphs, whose nodes are
 * told when the process has ended, and are more than wait for a transaction. */
#define GRAPHS  600u
#define KERNELS 64u

static void push_batch(struct rtl_ring *ring, uint32_t launch, uint32_t graph)
{
    uint64_t first = (uint64_t)KERNELS * launch;
    struct rtl_wire_launch body = {.launch = launch,
                                   .graph = RTL_NONE,
                                   .first = first,
                                   .fingerprint = 1000 + graph,
                                   .thread = 71,
                                   .packets = KERNELS,
                                   .kernels = KERNELS};
    struct rtl_piece piece = {&body, sizeof body};
    if (!rtl_ring_push(ring, RTL_WIRE_LAUNCH, &piece, 1))
        _exit(2);
    for (uint32_t i = 0; i < KERNELS; ++i) {
        struct rtl_wire_kernel kernel = {.packet = first + i,
                                         .start = MADE_BEGIN + 10 * (first + i),
                                         .end = MADE_BEGIN + 10 * (first + i) + 5,
                                         .launch = launch,
                                         .ordinal = i};
        if (rtl_ring_push_kernels(ring, &kernel, 1) != 1)
            _exit(2);
    }
}

static void die_with_graphs(struct rtl_ring *ring)
{
    made_definitions(ring);
    made_queue(ring, 0, 0x1000, MADE_BEGIN_NS);
    for (uint32_t launch = 0; launch < 2 * GRAPHS; ++launch)
        push_batch(ring, launch, launch % GRAPHS);
    uint64_t kernels = (uint64_t)2 * GRAPHS * KERNELS;
    made_ledger(ring, 0, kernels + 12, kernels, 0);
    (void)raise(SIGKILL);
}

/* What a process owed when it died stays lost while its graphs are stored. */
const char *Collect_KilledWithManyGraphs(void)
{
    struct made made;
    struct seen seen;
    const rtl_graph_t *graphs;
    size_t count;
    uint64_t nodes = 0;
    CHECK_DONE(made_begin(&made));
    pid_t pid = fork();
    if (pid == 0) {
        struct rtl_ring ring;
        if (rtl_ring_create(&ring, made.session, 8u << 20) != 0)
            _exit(1);
        (void)rtl_ring_reserve_piece(&ring, SIZE_MAX);
        die_with_graphs(&ring);
    }
    (void)waitpid(pid, NULL, 0);
    CHECK_DONE(look(&made, &seen));
    CHECK(seen.kernels == (uint64_t)2 * GRAPHS * KERNELS);
    CHECK(seen.ledger_count == 1 && seen.ledger[0].lost[RTL_LOSS_KILLED] == 12);
    CHECK(rtlTraceGraphs(seen.trace, &graphs, &count) == RTL_OK);
    for (size_t i = 0; i < count; ++i)
        nodes += graphs[i].nodes;
    CHECK(nodes == (uint64_t)GRAPHS * KERNELS);
    done(&made, &seen);
    return NULL;
}

static uint64_t now_ns(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_BOOTTIME, &time);
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

/* A process that is always ahead of its collector. */
static void fill_for_ever(struct rtl_ring *ring)
{
    uint64_t i = 0;
    made_definitions(ring);
    made_queue(ring, 0, 0x1000, MADE_BEGIN_NS);
    for (;;) {
        struct rtl_wire_kernel kernels[64];
        for (unsigned k = 0; k < 64; ++k, ++i)
            kernels[k] = (struct rtl_wire_kernel){.packet = i,
                                                  .start = MADE_BEGIN + i,
                                                  .end = MADE_BEGIN + i + 1,
                                                  .launch = RTL_NONE,
                                                  .ordinal = RTL_NONE};
        unsigned done = 0;
        while ((done += rtl_ring_push_kernels(ring, kernels + done, 64 - done)) < 64)
            ;
    }
}

/* When the last checkpoint was, as anybody sees it who opens the file. */
static uint64_t last_checkpoint(sqlite3 *db)
{
    sqlite3_stmt *row = NULL;
    uint64_t end = 0;
    if (sqlite3_prepare_v2(db, "SELECT value FROM meta WHERE key = 'end'", -1, &row, NULL) ==
            SQLITE_OK &&
        sqlite3_step(row) == SQLITE_ROW)
        end = (uint64_t)sqlite3_column_int64(row, 0);
    (void)sqlite3_finalize(row);
    return end;
}

/* Rounds until there were three checkpoints. None is later than a second and what two rounds take
 * here, with all that keeps this process from its work. */
static const char *watch_checkpoints(struct rtl_collector *collector, sqlite3 *db)
{
    uint64_t longest = 0;
    uint64_t seen = last_checkpoint(db);
    uint64_t before = seen;
    for (unsigned checkpoints = 0; checkpoints < 3;) {
        (void)rtl_collector_round(collector);
        uint64_t end = now_ns();
        longest = end - before > longest ? end - before : longest;
        before = end;
        uint64_t last = last_checkpoint(db);
        CHECK(end < last + UINT64_C(1000000000) + 2 * longest);
        checkpoints += last != seen;
        seen = last;
    }
    return NULL;
}

const char *Collect_CheckpointsWhileTheRingNeverEmpties(void)
{
    struct made made;
    sqlite3 *db = NULL;
    char error[512];
    CHECK_DONE(made_begin(&made));
    pid_t pid = fork();
    if (pid == 0) {
        struct rtl_ring ring;
        if (rtl_ring_create(&ring, made.session, 1u << 20) != 0)
            _exit(1);
        (void)rtl_ring_reserve_piece(&ring, SIZE_MAX);
        fill_for_ever(&ring);
    }
    struct rtl_collector *collector = rtl_collector_new(made.session, made.writer, NULL, NULL);
    CHECK(collector != NULL);
    CHECK(sqlite3_open_v2(made.trace, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK);
    const char *failed = watch_checkpoints(collector, db);
    (void)sqlite3_close(db);
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
    rtl_collector_end(collector);
    CHECK(rtl_writer_close(made.writer, 0, error, sizeof error) == 0);
    made_clean(&made);
    return failed;
}

/* The numbers of rtl summary against ones worked out by hand. */
#include "analysis/account.h"
#include "common/show.h"
#include "made.h"
#include "ring/files.h"
#include "summary/tally.h"
#include "summary/tally_copies.h"

#include <errno.h>
#include <string.h>

/* Queue 0:  add [0, 100)            add [200, 300)
 * Queue 1:          mul [50, 150)   mul [200, 240) mul [500, 500)
 * Their union is [0, 150) and [200, 300): 250 of 500 ticks; queue 0 is busy 200, queue 1 140. */
static void overlap(struct rtl_ring *ring)
{
    made_definitions(ring);
    made_queue(ring, 0, 0x1000, MADE_BEGIN_NS);
    made_queue(ring, 1, 0x2000, MADE_BEGIN_NS);
    made_kernel(ring, 0, 0, 0, MADE_BEGIN, MADE_BEGIN + 100);
    made_kernel(ring, 1, 0, 1, MADE_BEGIN + 50, MADE_BEGIN + 150);
    made_kernel(ring, 0, 1, 0, MADE_BEGIN + 200, MADE_BEGIN + 300);
    made_kernel(ring, 1, 1, 1, MADE_BEGIN + 200, MADE_BEGIN + 240);
    made_kernel(ring, 1, 2, 1, MADE_BEGIN + 500, MADE_BEGIN + 500);
    made_ledger(ring, 0, 2, 2, 0);
    made_ledger(ring, 1, 3, 3, 0);
    rtl_ring_close(ring);
}

static const char *check_names(const struct tally *tally)
{
    CHECK(tally->name_count == 2 && tally->kernels == 5);
    CHECK(tally->total == 340 * MADE_TICK_NS);
    const rtl_group_t *add = &tally->names[0];
    const rtl_group_t *mul = &tally->names[1];
    CHECK(strcmp(add->name, "add(int*)") == 0);
    CHECK(add->count == 2 && add->total == 200 * MADE_TICK_NS);
    CHECK(add->min == 100 * MADE_TICK_NS && add->max == 100 * MADE_TICK_NS);
    CHECK(strcmp(mul->name, "mul(float*)") == 0);
    CHECK(mul->count == 3 && mul->total == 140 * MADE_TICK_NS);
    CHECK(mul->min == 0 && mul->max == 100 * MADE_TICK_NS);
    return NULL;
}

const char *Summary_Numbers(void)
{
    struct made made;
    struct tally tally;
    rtl_trace_t *trace;
    char error[512] = "";
    CHECK_DONE(made_begin(&made));
    (void)made_process(&made, overlap);
    CHECK_DONE(made_end(&made));
    CHECK(rtlTraceOpen(made.trace, &trace, error, sizeof error) == RTL_OK);
    CHECK(tally_read(trace, 0, 0, &tally) == RTL_OK);
    CHECK_DONE(check_names(&tally));
    CHECK(tally.gpu_count == 1 && tally.gpus[0].queues == 2);
    CHECK(tally.gpus[0].span.kernels == 5);
    CHECK(tally.gpus[0].span.busy == 250 * MADE_TICK_NS);
    CHECK(tally.gpus[0].span.first == MADE_BEGIN_NS);
    CHECK(tally.queue_count == 2);
    CHECK(tally.queues[0].span.busy == 200 * MADE_TICK_NS);
    CHECK(tally.queues[1].span.busy == 140 * MADE_TICK_NS);
    tally_free(&tally);
    rtlTraceClose(trace);
    made_clean(&made);
    return NULL;
}

/* The same device in two processes is one device; its busy time is the union over both. */
const char *Summary_OneDeviceInTwoProcesses(void)
{
    struct made made;
    struct tally tally;
    rtl_trace_t *trace;
    char error[512] = "";
    CHECK_DONE(made_begin(&made));
    (void)made_process(&made, overlap);
    (void)made_process(&made, overlap);
    CHECK_DONE(made_end(&made));
    CHECK(rtlTraceOpen(made.trace, &trace, error, sizeof error) == RTL_OK);
    CHECK(tally_read(trace, 0, 0, &tally) == RTL_OK);
    CHECK(tally.gpu_count == 1 && tally.gpus[0].queues == 4 && tally.queue_count == 4);
    CHECK(tally.gpus[0].span.kernels == 10);
    CHECK(tally.gpus[0].span.busy == 250 * MADE_TICK_NS);
    CHECK(tally.name_count == 2 && tally.names[0].count == 4);
    tally_free(&tally);
    rtlTraceClose(trace);
    made_clean(&made);
    return NULL;
}

static const char *verdict_of(made_work work, struct verdict *verdict, char *line, size_t size)
{
    struct made made;
    rtl_trace_t *trace;
    char error[512] = "";
    CHECK_DONE(made_begin(&made));
    if (work)
        (void)made_process(&made, work);
    CHECK_DONE(made_end(&made));
    CHECK(rtlTraceOpen(made.trace, &trace, error, sizeof error) == RTL_OK);
    CHECK(account_verdict(trace, verdict) == RTL_OK);
    account_line(verdict, line, size);
    rtlTraceClose(trace);
    made_clean(&made);
    return NULL;
}

static void skip_some(struct rtl_ring *ring)
{
    overlap(ring);
    made_ledger(ring, 0, 1502, 2, 1500);
}

/* Two to the device, one back, one by the host without times. */
static void copy_some(struct rtl_ring *ring)
{
    overlap(ring);
    made_copies(ring, 2);
    made_copy(ring, 2, 1000, RTL_COPY_HOST_TO_DEVICE, RTL_ENGINE_SDMA, MADE_BEGIN, MADE_BEGIN + 10);
    made_copy(ring, 2, 3000, RTL_COPY_HOST_TO_DEVICE, RTL_ENGINE_SDMA, MADE_BEGIN, MADE_BEGIN + 30);
    made_copy(ring, 2, 500, RTL_COPY_DEVICE_TO_HOST, RTL_ENGINE_KERNEL, MADE_BEGIN, MADE_BEGIN + 5);
    made_copy(ring, 2, 77, RTL_COPY_HOST_TO_HOST, RTL_ENGINE_HOST, 0, 0);
    made_ledger(ring, 2, 4, 4, 0);
}

static void lose_a_copy(struct rtl_ring *ring)
{
    copy_some(ring);
    made_ledger(ring, 2, 5, 4, 0);
    atomic_store(&ring->header->ledger[2].lost[RTL_LOST_POOL], 1);
}

const char *Summary_Copies(void)
{
    struct made made;
    struct tally_copies tally;
    rtl_trace_t *trace;
    char error[512] = "";
    CHECK_DONE(made_begin(&made));
    (void)made_process(&made, copy_some);
    CHECK_DONE(made_end(&made));
    CHECK(rtlTraceOpen(made.trace, &trace, error, sizeof error) == RTL_OK);
    CHECK(tally_copies_read(trace, 0, 0, &tally) == RTL_OK);
    CHECK(tally.count == 3 && tally.copies == 4 && tally.bytes == 4577);
    CHECK(tally.total == 45 * MADE_TICK_NS);
    const struct tally_kind *first = &tally.kinds[0];
    CHECK(strcmp(first->kind, "host-to-device") == 0 && first->copies == 2);
    CHECK(first->bytes == 4000 && first->total == 40 * MADE_TICK_NS);
    CHECK(tally_copies_rate(first) == 10.0);
    CHECK(strcmp(tally.kinds[1].kind, "device-to-host") == 0 && tally.kinds[1].bytes == 500);
    CHECK(strcmp(tally.kinds[2].kind, "host-to-host") == 0 && tally.kinds[2].total == 0);
    CHECK(tally_copies_rate(&tally.kinds[2]) == 0);
    rtlTraceClose(trace);
    made_clean(&made);
    return NULL;
}

static void lose_one(struct rtl_ring *ring)
{
    overlap(ring);
    made_ledger(ring, 0, 3, 2, 0);
    atomic_store(&ring->header->ledger[0].lost[RTL_LOST_RING], 1);
}

static void leave_one(struct rtl_ring *ring)
{
    overlap(ring);
    made_ledger(ring, 0, 3, 2, 0);
}

static void record_unseen(struct rtl_ring *ring)
{
    overlap(ring);
    made_ledger(ring, 0, 1, 2, 0);
}

static void count_too_much(struct rtl_ring *ring)
{
    overlap(ring);
    made_ledger(ring, 0, 3, 3, 0);
}

const char *Summary_Verdicts(void)
{
    struct verdict verdict;
    char line[512];
    CHECK_DONE(verdict_of(overlap, &verdict, line, sizeof line));
    CHECK(verdict.complete && strcmp(line, "complete: 5 of 5 kernels") == 0);
    CHECK_DONE(verdict_of(skip_some, &verdict, line, sizeof line));
    CHECK(verdict.complete);
    CHECK(strcmp(line, "complete: 5 of 1 505 kernels, 1 500 left out by the mode") == 0);
    CHECK_DONE(verdict_of(lose_one, &verdict, line, sizeof line));
    CHECK(!verdict.complete && strstr(line, "1 lost (the ring was full"));
    CHECK_DONE(verdict_of(leave_one, &verdict, line, sizeof line));
    CHECK(!verdict.complete && strstr(line, "1 lost (not finished when the program"));
    CHECK_DONE(verdict_of(record_unseen, &verdict, line, sizeof line));
    CHECK(!verdict.complete && strstr(line, "explains more kernels than it saw"));
    CHECK_DONE(verdict_of(count_too_much, &verdict, line, sizeof line));
    CHECK(!verdict.complete && strstr(line, "1 handed over and not in the file"));
    CHECK_DONE(verdict_of(copy_some, &verdict, line, sizeof line));
    CHECK(verdict.complete && strcmp(line, "complete: 5 of 5 kernels; 4 of 4 copies") == 0);
    CHECK_DONE(verdict_of(lose_a_copy, &verdict, line, sizeof line));
    CHECK(!verdict.complete &&
          strstr(line, "INCOMPLETE: 5 of 5 kernels; 4 of 5 copies, 1 lost (no"));
    CHECK_DONE(verdict_of(NULL, &verdict, line, sizeof line));
    CHECK(!verdict.complete && strstr(line, "nothing recorded"));
    return NULL;
}

/* ---- what is neither kernel nor copy ---- */

static void with_ranges(struct rtl_ring *ring)
{
    overlap(ring);
    for (uint64_t id = 1; id <= 6; ++id) {
        made_range(ring, RTL_RANGE_PUSH, id, 0, MADE_BEGIN_NS + id, "a range");
        made_range_end(ring, id, MADE_BEGIN_NS + 10 + id);
    }
}

static void lose_ranges(struct rtl_ring *ring)
{
    with_ranges(ring);
    atomic_store(&ring->header->kinds[RTL_KIND_RANGES].account.lost[RTL_LOST_RING], 1234);
}

static void wait_and_end(struct rtl_ring *ring)
{
    with_ranges(ring);
    atomic_store(&ring->header->kinds[RTL_KIND_MARKS].account.waiting, 3);
}

static void begin_a_launch(struct rtl_ring *ring)
{
    with_ranges(ring);
    atomic_store(&ring->header->lanes[7].lane.begun[RTL_KIND_LAUNCHES], 2);
}

static void leave_ranges_out(struct rtl_ring *ring)
{
    with_ranges(ring);
    atomic_store(&ring->header->lanes[0].lane.stopped[RTL_KIND_RANGES], 5);
    atomic_store(&ring->header->lanes[3].lane.withheld[RTL_KIND_RANGES], 6);
}

/* A record that claims a longer text than it has room for. */
static void break_a_range(struct rtl_ring *ring)
{
    const struct rtl_wire_range range = {.id = 9, .text_length = 60000};
    const struct rtl_piece piece = {&range, sizeof range};
    with_ranges(ring);
    (void)rtl_ring_push(ring, RTL_WIRE_RANGE, &piece, 1);
}

const char *Summary_VerdictsOnKinds(void)
{
    struct verdict verdict;
    char line[512];
    CHECK_DONE(verdict_of(with_ranges, &verdict, line, sizeof line));
    CHECK(verdict.complete && strcmp(line, "complete: 5 of 5 kernels") == 0);
    CHECK_DONE(verdict_of(lose_ranges, &verdict, line, sizeof line));
    CHECK(!verdict.complete && strcmp(line, "INCOMPLETE: 5 of 5 kernels; 6 of 1 240 ranges, "
                                            "1 234 lost (the ring was full)") == 0);
    CHECK_DONE(verdict_of(wait_and_end, &verdict, line, sizeof line));
    CHECK(!verdict.complete && strstr(line, "; 0 of 3 marks, 3 lost (not finished, or not handed"));
    CHECK_DONE(verdict_of(begin_a_launch, &verdict, line, sizeof line));
    CHECK(!verdict.complete && strstr(line, "; 0 of 2 graph launches, 2 lost (not finished"));
    CHECK_DONE(verdict_of(break_a_range, &verdict, line, sizeof line));
    CHECK(!verdict.complete && strstr(line, "; 6 of 7 ranges, 1 lost (their records contra"));
    CHECK_DONE(verdict_of(leave_ranges_out, &verdict, line, sizeof line));
    CHECK(verdict.complete && verdict.kinds.kinds[1].seen == 17);
    return NULL;
}

/* Nobody knows why there is nothing as long as more may come. */
const char *Summary_NothingSoFar(void)
{
    struct verdict verdict = {.recording = true};
    char line[512];
    account_line(&verdict, line, sizeof line);
    CHECK(strcmp(line, "nothing recorded so far, the recording goes on") == 0);
    verdict.recording = false;
    account_line(&verdict, line, sizeof line);
    CHECK(strstr(line, "until the last checkpoint") && !strstr(line, "no process"));
    verdict.finished = true;
    account_line(&verdict, line, sizeof line);
    CHECK(strcmp(line, "nothing recorded: no GPU runtime came up with librtl in it") == 0);
    return NULL;
}

/* A session with a process that left something, and maybe one that was recorded. */
static const char *verdict_with(made_work work, const struct rtl_refusal *refusal, uint32_t start,
                                struct verdict *verdict, char *line, size_t size)
{
    struct made made;
    rtl_trace_t *trace;
    char error[512] = "";
    CHECK_DONE(made_begin(&made));
    if (work)
        (void)made_process(&made, work);
    if (refusal)
        CHECK(rtl_refusal_leave(made.session, refusal));
    else
        rtl_start_leave(made.session, start);
    CHECK_DONE(made_end(&made));
    CHECK(rtlTraceOpen(made.trace, &trace, error, sizeof error) == RTL_OK);
    CHECK(account_verdict(trace, verdict) == RTL_OK);
    account_line(verdict, line, size);
    rtlTraceClose(trace);
    made_clean(&made);
    return NULL;
}

/* What could not start has nothing that is missing, and is not all there is. */
const char *Summary_NoStart(void)
{
    struct verdict verdict;
    char line[512];
    CHECK_DONE(verdict_with(overlap, NULL, 0x1008, &verdict, line, sizeof line));
    CHECK(verdict.complete && verdict.not_started == 1 && verdict.unrecorded == 0);
    CHECK(strcmp(line, "complete: 5 of 5 kernels") == 0);
    CHECK_DONE(verdict_with(NULL, NULL, 0x1008, &verdict, line, sizeof line));
    CHECK(!verdict.complete && strstr(line, "nothing recorded: process ") == line);
    CHECK(strstr(line, " did not come up: hsa_init returned 0x1008"));
    CHECK_DONE(verdict_with(NULL, NULL, RTL_START_UNDER_WAY, &verdict, line, sizeof line));
    CHECK(!verdict.complete && strstr(line, "hsa_init had not returned"));
    return NULL;
}

const char *Summary_NoRing(void)
{
    static const char *const texts[RTL_REFUSED_REASONS] = {
        "no ring could be made", "RTL_SESSION is not",       "RTL_SESSION was taken",
        "another build",         "has not loaded librtl.so", "has not what librtl.so needs",
        "another rtl trace",     "raised privileges"};
    struct verdict verdict;
    char line[512];
    for (unsigned why = 0; why < RTL_REFUSED_REASONS; ++why) {
        const struct rtl_refusal refusal = {
            .pid = 77, .error = EPERM, .why = (enum rtl_refused)why};
        CHECK_DONE(verdict_with(overlap, &refusal, 0, &verdict, line, sizeof line));
        CHECK(!verdict.complete && verdict.unrecorded == 1);
        CHECK(strcmp(line, "INCOMPLETE: 5 of 5 kernels, 1 process not recorded") == 0);
        CHECK_DONE(verdict_with(NULL, &refusal, 0, &verdict, line, sizeof line));
        CHECK(strstr(line, "nothing recorded: process 77 ") == line && strstr(line, texts[why]));
    }
    return NULL;
}

static void stop_in_between(struct rtl_ring *ring)
{
    skip_some(ring);
    atomic_store(&ring->header->ledger[0].stopped, 1000);
    atomic_store(&ring->header->ledger[0].withheld, 200);
}

static void stop_only(struct rtl_ring *ring)
{
    skip_some(ring);
    atomic_store(&ring->header->ledger[0].stopped, 1500);
}

static void stop_and_lose(struct rtl_ring *ring)
{
    stop_only(ring);
    atomic_fetch_add(&ring->header->ledger[0].seen, 1);
    atomic_fetch_add(&ring->header->ledger[0].lost[RTL_LOST_RING], 1);
}

/* Why kernels were left out, each for its reason. */
const char *Summary_LeftOutAndWhy(void)
{
    struct verdict verdict;
    char line[512];
    CHECK_DONE(verdict_of(stop_in_between, &verdict, line, sizeof line));
    CHECK(verdict.complete);
    CHECK(strcmp(line, "complete: 5 of 1 505 kernels, 300 left out by the mode, 1 000 left out "
                       "while recording was stopped, 200 left out by their thread") == 0);
    CHECK_DONE(verdict_of(stop_only, &verdict, line, sizeof line));
    CHECK(verdict.complete);
    CHECK(strcmp(line, "complete for what was to be recorded: 5 of 1 505 kernels, 1 500 left out "
                       "while recording was stopped") == 0);
    CHECK_DONE(verdict_of(stop_and_lose, &verdict, line, sizeof line));
    CHECK(!verdict.complete && strncmp(line, "INCOMPLETE: ", 12) == 0);
    return NULL;
}

const char *Show_Numbers(void)
{
    CHECK(strcmp(show_count(0).text, "0") == 0);
    CHECK(strcmp(show_count(999).text, "999") == 0);
    CHECK(strcmp(show_count(1000).text, "1 000") == 0);
    CHECK(strcmp(show_count(UINT64_MAX).text, "18 446 744 073 709 551 615") == 0);
    CHECK(strcmp(show_duration(0).text, "0 ns") == 0);
    CHECK(strcmp(show_duration(999).text, "999 ns") == 0);
    CHECK(strcmp(show_duration(1000).text, "1.000 us") == 0);
    CHECK(strcmp(show_duration(123456).text, "123.5 us") == 0);
    CHECK(strcmp(show_duration(2.5e9).text, "2.500 s") == 0);
    CHECK(strcmp(show_bytes(1023).text, "1023 B") == 0);
    CHECK(strcmp(show_bytes(1536).text, "1.5 KiB") == 0);
    CHECK(strcmp(show_share(1, 3).text, "33.3 %") == 0);
    CHECK(strcmp(show_share(0, 0).text, "0.0 %") == 0);
    return NULL;
}

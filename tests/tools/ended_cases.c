/* The verdict on processes that end without a word. */
#include "analysis/account.h"
#include "made.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#define SOME UINT64_C(100)

static const char *session;

static void some_kernels(struct rtl_ring *ring, uint64_t seen)
{
    made_definitions(ring);
    made_queue(ring, 0, 0x1000, MADE_BEGIN_NS);
    for (uint64_t i = 0; i < SOME; ++i)
        made_kernel(ring, 0, i, 0, MADE_BEGIN + 10 * i, MADE_BEGIN + 10 * i + 5);
    made_ledger(ring, 0, seen, SOME, 0);
}

static void die_in_order(struct rtl_ring *ring)
{
    some_kernels(ring, SOME);
    (void)raise(SIGKILL);
}

static void die_with_packets(struct rtl_ring *ring)
{
    some_kernels(ring, SOME + 12);
    (void)raise(SIGKILL);
}

static void die_in_a_record(struct rtl_ring *ring)
{
    some_kernels(ring, SOME);
    atomic_fetch_add(&ring->header->head, 3);
    (void)raise(SIGKILL);
}

static void die_with_strangers(struct rtl_ring *ring)
{
    some_kernels(ring, SOME + 4);
    atomic_store(&ring->header->ledger[0].lost[RTL_LOST_NOT_FOLLOWED], 4);
    (void)raise(SIGKILL);
}

static void exit_in_order(struct rtl_ring *ring)
{
    atomic_store(&ring->header->exited, 1);
    die_in_order(ring);
}

static void exit_with_packets(struct rtl_ring *ring)
{
    atomic_store(&ring->header->exited, 1);
    die_with_packets(ring);
}

/* The ring was full for some, and a range is lost, too. */
static void die_after_losses(struct rtl_ring *ring)
{
    some_kernels(ring, SOME + 5);
    atomic_store(&ring->header->ledger[0].lost[RTL_LOST_RING], 5);
    (void)raise(SIGKILL);
}

static void die_after_losses_with_packets(struct rtl_ring *ring)
{
    some_kernels(ring, SOME + 12);
    atomic_store(&ring->header->ledger[0].lost[RTL_LOST_RING], 5);
    (void)raise(SIGKILL);
}

static void be_replaced(struct rtl_ring *ring)
{
    some_kernels(ring, SOME + 1);
    rtl_ring_unmap(ring);
    rtl_ring_replace_former(session);
    _exit(0);
}

/* What the verdict says of a process that does so; `line` has room for 512. */
static const char *judge(made_work work, struct verdict *verdict, char *line)
{
    struct made made;
    rtl_trace_t *trace;
    char error[512] = "";
    CHECK_DONE(made_begin(&made));
    session = made.session;
    (void)made_process(&made, work);
    CHECK_DONE(made_end(&made));
    CHECK(rtlTraceOpen(made.trace, &trace, error, sizeof error) == RTL_OK);
    CHECK(account_verdict(trace, verdict) == RTL_OK);
    account_line(verdict, line, 512);
    rtlTraceClose(trace);
    made_clean(&made);
    return NULL;
}

const char *Ended_WithAllHandedOver(void)
{
    struct verdict verdict;
    char line[512];
    CHECK_DONE(judge(die_in_order, &verdict, line));
    CHECK(verdict.complete && verdict.ended.died.processes == 1 && verdict.ended.died.packets == 0);
    CHECK(strcmp(line, "complete: 100 of 100 kernels; 1 of 1 processes ended without telling: none "
                       "of its packets that RTL saw is "
                       "unaccounted for") == 0);
    return NULL;
}

const char *Ended_WithPacketsUnderWay(void)
{
    struct verdict verdict;
    char line[512];
    CHECK_DONE(judge(die_with_packets, &verdict, line));
    CHECK(!verdict.complete && verdict.ended.died.packets == 12);
    CHECK(strncmp(line, "INCOMPLETE: 100 of 112 kernels, 12 lost (in flight", 50) == 0);
    CHECK(strstr(
        line,
        "; 1 of 1 processes ended without telling: at most 12 of its packets are unaccounted for"));
    return NULL;
}

/* A process that has told how it ended did not die, and there is nothing to say of it where nothing
 * is missing. */
const char *Ended_ByExit(void)
{
    struct verdict verdict;
    char line[512];
    CHECK_DONE(judge(exit_in_order, &verdict, line));
    CHECK(verdict.complete && verdict.died == 0 && verdict.ended.exited.processes == 1);
    CHECK(strcmp(line, "complete: 100 of 100 kernels") == 0);
    CHECK_DONE(judge(exit_with_packets, &verdict, line));
    CHECK(!verdict.complete && verdict.died == 0 && verdict.ended.exited.packets == 12);
    CHECK(strstr(line, "; 1 of 1 processes ended by _exit: at most 12 of its packets are "
                       "unaccounted for"));
    return NULL;
}

/* "None is unaccounted for" beside a loss would contradict it. */
const char *Ended_AfterLosses(void)
{
    struct verdict verdict;
    char line[512];
    CHECK_DONE(judge(die_after_losses, &verdict, line));
    CHECK(!verdict.complete && verdict.ended.died.packets == 0);
    CHECK(strcmp(line, "INCOMPLETE: 100 of 105 kernels, 5 lost (the ring was full); 1 of 1 "
                       "processes ended without telling: none of its packets that RTL "
                       "saw is unaccounted for, "
                       "beyond what is "
                       "told to be lost") == 0);
    CHECK_DONE(judge(die_after_losses_with_packets, &verdict, line));
    CHECK(!verdict.complete && verdict.ended.died.packets == 7);
    CHECK(strstr(line, "; 1 of 1 processes ended without telling: at most 7 of its packets are "
                       "unaccounted for (in "
                       "flight, or not handed over, at that moment)"));
    return NULL;
}

/* So they are of several processes, and an image that was replaced. */
const char *Ended_Said(void)
{
    char text[512];
    const struct ended ended = {.died = {.processes = 2},
                                .replaced = {.processes = 1, .packets = 1}};
    ended_say(&ended, 3, false, text, sizeof text);
    CHECK(strcmp(text, "; 2 of 3 processes ended without telling: none of their packets "
                       "that RTL saw is "
                       "unaccounted for; 1 of 3 "
                       "processes executed another program: at most 1 of its packets is "
                       "unaccounted for") == 0);
    ended_say(&ended, 3, true, text, sizeof text);
    CHECK(strcmp(text, "; 2 of 3 processes ended without telling: none of their packets "
                       "that RTL saw is "
                       "unaccounted for, beyond "
                       "what is told to be lost; 1 of 3 processes executed another program: at "
                       "most 1 of its packets is unaccounted for (in flight, or not handed over, "
                       "at that moment)") == 0);
    return NULL;
}

/* Perhaps a host call: nobody knows. */
const char *Ended_WithATornRecord(void)
{
    struct verdict verdict;
    char line[512];
    CHECK_DONE(judge(die_in_a_record, &verdict, line));
    CHECK(!verdict.complete && verdict.torn == 3 && verdict.ended.died.packets == 0);
    CHECK(strstr(line, ", records in 3 ring slots torn"));
    return NULL;
}

const char *Ended_WithPacketsThatWentPast(void)
{
    struct verdict verdict;
    char line[512];
    CHECK_DONE(judge(die_with_strangers, &verdict, line));
    CHECK(!verdict.complete && verdict.ended.died.unbounded);
    CHECK(strstr(
        line, "ended without telling: how many of its packets are unaccounted for is not known"));
    return NULL;
}

const char *Ended_ReplacedWithPacketsUnderWay(void)
{
    struct verdict verdict;
    char line[512];
    CHECK_DONE(judge(be_replaced, &verdict, line));
    CHECK(!verdict.complete && verdict.died == 0);
    CHECK(verdict.ended.replaced.processes == 1 && verdict.ended.replaced.packets == 1);
    CHECK(strstr(line, "; 1 of 1 processes executed another program: at most 1 of its packets is "
                       "unaccounted for"));
    return NULL;
}

/* One signal of the program's, at 1, that kernels of two queues complete: it goes on down to -1.
 * The first queue's was replaced, and is forwarded; the second queue's may be borrowed, at any
 * moment of that. Whatever comes of it, the signal is lowered once by each, and each kernel has its
 * own times. The same where both are forwarded; the signal never has the start of one and the end
 * of the other then, for anybody who sees that it was lowered. */
#include "../../common/brief.h"
#include "../../common/check.h"
#include "fake_records.h"
#include "fake_signals.h"
#include "intercept/base/api.h"
#include "intercept/base/emit.h"
#include "intercept/queue/harvest.h"
#include "intercept/queue/pending_add.h"
#include "intercept/queue/record_out.h"
#include "intercept/queue/shapes.h"
#include "stepping.h"

#include <time.h>

#define QUEUES  2u
#define RECORDS 64u
#define SIGNALS 64u
#define MOST    400000u     /* instructions, of any build */
#ifdef __SANITIZE_ADDRESS__ /* which sees no more with more of them: the order is what the other   \
                               builds try */
#define FINE  100u          /* so many of them are tried one by one */
#define FEWER 100u          /* or so many */
#else
#define FINE  1000u
#define FEWER 250u
#endif
#define DRAFTS 16u

enum { FIRST, SECOND };

struct side {
    struct rtl_queue queue;
    struct rtl_wire_ledger ledger;
    struct rtl_reserved slots[RECORDS];
    struct rtl_reservations reservations;
    _Alignas(64) hsa_kernel_dispatch_packet_t packet;
    uint64_t packets;
};

static struct side sides[QUEUES];
static struct rtl_graph_pages graph_pages;
static struct rtl_wire_kernel kernels[8]; /* what came into the ring */
static _Atomic unsigned kernel_count;     /* a forward may come amid another */
static struct {
    struct rtl_wire_kernel kernels[8];
    _Atomic unsigned count; /* 0: committed, or given up */
} drafts[DRAFTS];
static _Atomic unsigned draft_count;
static unsigned naps;
static uint64_t shared; /* the signal */

/* ---- what harvesting needs from the rest of librtl ---- */

struct rtl_queue *rtl_queues_at(uint32_t slot)
{
    return &sides[slot].queue;
}

uint32_t rtl_queues_count(void)
{
    return QUEUES;
}

enum rtl_copy_sent rtl_out_draft_copy(uint32_t queue, const struct rtl_kernel_facts *facts,
                                      struct rtl_copy_draft *copy)
{
    (void)queue;
    (void)facts;
    (void)copy;
    return RTL_COPY_NO_ROOM;
}

void rtl_out_commit_copy(const struct rtl_copy_draft *copy)
{
    (void)copy;
}

bool rtl_shapes_find(const struct rtl_kernel_facts *facts, uint32_t *shape)
{
    (void)facts;
    *shape = 0;
    return true;
}

void rtl_emit_note(uint32_t queue, const char *format, ...)
{
    (void)queue;
    (void)format;
}

enum rtl_lost rtl_emit_why(void)
{
    return RTL_LOST_RING;
}

unsigned rtl_emit_kernels(const struct rtl_wire_kernel *sent, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        kernels[kernel_count++ % 8] = sent[i];
    return count;
}

unsigned rtl_emit_draft_kernels(const struct rtl_wire_kernel *sent, unsigned count,
                                struct rtl_emit_draft *draft)
{
    unsigned at = draft_count++ % DRAFTS;
    for (unsigned i = 0; i < count; i++)
        drafts[at].kernels[i] = sent[i];
    drafts[at].count = count;
    draft->draft.position = at;
    return count;
}

void rtl_emit_commit_kernels(const struct rtl_emit_draft *draft, const struct rtl_wire_kernel *sent,
                             unsigned count)
{
    (void)rtl_emit_kernels(sent, count);
    drafts[draft->draft.position].count = 0;
}

void rtl_emit_give_up(const struct rtl_emit_draft *draft)
{
    drafts[draft->draft.position].count = 0;
}

static unsigned reclaim(void *context)
{
    (void)context;
    return 0;
}

/* ---- the program and the device ---- */

static const char *set_up_side(uint32_t slot)
{
    struct side *side = &sides[slot];
    memset(side, 0, sizeof *side);
    side->reservations.slots = side->slots;
    side->reservations.mask = RECORDS - 1;
    rtl_reservations_clear(&side->reservations);
    side->queue.id = side->queue.index = slot;
    side->queue.ledger = &side->ledger;
    side->queue.phase = RTL_QUEUE_LIVE;
    CHECK(fake_records(&side->queue.pending, RECORDS));
    side->queue.rewriter = (struct rtl_rewriter){.pending = &side->queue.pending,
                                                 .pool = &rtl_signals,
                                                 .borrows = rtl_borrows,
                                                 .pages = &graph_pages,
                                                 .ledger = &side->ledger,
                                                 .mode = RTL_MODE_FULL,
                                                 .reservations = &side->reservations,
                                                 .queue_index = slot,
                                                 .reclaim = reclaim};
    return NULL;
}

/* A kernel with a signal, or 0 for none; returns what the device is to complete. */
static uint64_t submit(uint32_t slot, uint64_t signal)
{
    struct side *side = &sides[slot];
    memset(&side->packet, 0, sizeof side->packet);
    side->packet.header = HSA_PACKET_TYPE_KERNEL_DISPATCH;
    side->packet.completion_signal.handle = signal;
    rtl_rewrite(&side->queue.rewriter, &side->packet, side->packets++, 1, 1);
    return side->packet.completion_signal.handle;
}

static int64_t value_of(uint64_t signal)
{
    return __atomic_load_n(&((amd_signal_t *)(uintptr_t)signal)->value, __ATOMIC_ACQUIRE);
}

static bool is_recorded(unsigned at, uint32_t queue, uint64_t start, uint64_t end)
{
    return at < kernel_count && kernels[at].queue == queue && kernels[at].start == start &&
           kernels[at].end == end;
}

static void tear_down(void)
{
    for (uint32_t slot = 0; slot < QUEUES; slot++) {
        rtl_rewrite_release(&sides[slot].queue.rewriter);
        rtl_pending_end(&sides[slot].queue.pending);
    }
}

/* The first queue's kernel has run, behind one whose forward it had to wait for, and is to be
 * forwarded. */
static const char *set_up(void)
{
    CHECK(rtl_harvest_begin());
    memset((void *)rtl_borrows->sets, 0, sizeof rtl_borrows->sets);
    CHECK(fake_pool(&rtl_signals, SIGNALS));
    CHECK_DONE(set_up_side(FIRST));
    CHECK_DONE(set_up_side(SECOND));
    kernel_count = 0;
    naps = 0;
    shared = fake_signal(1);
    uint64_t before = submit(FIRST, fake_signal(2));
    uint64_t replaced = submit(FIRST, shared);
    CHECK(replaced != shared && replaced != 0);
    fake_complete(before, 10, 20);
    CHECK(rtl_harvest_forward(&sides[FIRST].queue, false) == 1);
    CHECK(is_recorded(0, FIRST, 10, 20));
    fake_complete(replaced, 100, 200);
    return NULL;
}

/* ---- at any moment ---- */

#ifdef STEPPING
static bool is_kernel(const struct rtl_wire_kernel *kernel, uint32_t queue, uint64_t start)
{
    return kernel->queue == queue && kernel->start == start;
}

/* How often the ring has a kernel, in what is committed and in drafts. */
static unsigned times_in_ring(uint32_t queue, uint64_t start, bool with_drafts)
{
    unsigned times = 0;
    for (unsigned i = 0; i < kernel_count; i++)
        times += is_kernel(&kernels[i], queue, start);
    for (unsigned at = 0; with_drafts && at < DRAFTS; at++)
        for (unsigned i = 0; i < drafts[at].count; i++)
            times += is_kernel(&drafts[at].kernels[i], queue, start);
    return times;
}

/* The second queue's kernel runs when all that is over. */
static const char *finish(void)
{
    uint64_t signal = sides[SECOND].packet.completion_signal.handle;
    struct rtl_queue *second = &sides[SECOND].queue;
    CHECK(value_of(shared) == 0 && is_recorded(1, FIRST, 100, 200));
    CHECK(rtl_harvest(second, UINT32_MAX, RTL_HARVEST_ALL) == 0 && kernel_count == 2);
    fake_complete(signal, 500, 600);
    if (signal != shared)
        CHECK(rtl_harvest_forward(second, false) == 1);
    else
        CHECK(rtl_harvest(second, UINT32_MAX, RTL_HARVEST_ALL) == 1);
    CHECK(value_of(shared) == -1 && kernel_count == 3 && is_recorded(2, SECOND, 500, 600));
    tear_down();
    return NULL;
}

static void forward(void *context)
{
    (void)context;
    (void)rtl_harvest_forward(&sides[FIRST].queue, false);
}

static void borrow(void *context)
{
    (void)context;
    (void)submit(SECOND, shared);
}

/* One of the two, and the other behind some of its instructions. */
struct pair {
    void (*steps)(void *context);
    void (*acts)(void *context);
    uint32_t at; /* 0: behind all */
};

static bool act_at(void *context, uint32_t step)
{
    const struct pair *pair = context;
    if (step != pair->at)
        return true;
    pair->acts(NULL);
    return false;
}

static const char *run(struct pair *pair, uint32_t *steps, unsigned *borrowed)
{
    CHECK_DONE(set_up());
    *steps = stepping_run(pair->steps, pair, act_at);
    if (pair->at == 0 || *steps < pair->at)
        pair->acts(NULL);
    forward(NULL); /* if it came too early */
    *borrowed += sides[SECOND].packet.completion_signal.handle == shared;
    return finish();
}

/* Builds that take many instructions are tried behind some of them only. */
static const char *run_all(struct pair *pair, unsigned *borrowed)
{
    uint32_t last;
    uint32_t steps;
    CHECK_DONE(run(pair, &last, borrowed));
    CHECK(last > 2 && last < MOST);
    for (pair->at = 1; pair->at <= last; pair->at += 1 + last / rtl_test_times(FINE))
        CHECK_DONE(run(pair, &steps, borrowed));
    return NULL;
}

const char *Harvest_ASignalIsForwardedThatIsBorrowedMeanwhile(void)
{
    struct pair pair = {.steps = forward, .acts = borrow};
    unsigned borrowed = 0;
    CHECK_DONE(run_all(&pair, &borrowed));
    CHECK(borrowed > 0); /* early ones */
    return NULL;
}

const char *Harvest_ASignalIsBorrowedThatIsForwardedMeanwhile(void)
{
    struct pair pair = {.steps = borrow, .acts = forward};
    unsigned borrowed = 0;
    CHECK_DONE(run_all(&pair, &borrowed));
    CHECK(borrowed > 0);
    return NULL;
}

/* A kernel of each queue has run, and both are to be forwarded to a signal at 2. */
static const char *set_up_both(void)
{
    CHECK(rtl_harvest_begin());
    CHECK(fake_pool(&rtl_signals, SIGNALS));
    memset((void *)rtl_borrows->sets, 0, sizeof rtl_borrows->sets);
    kernel_count = 0;
    shared = fake_signal(2);
    for (uint32_t slot = 0; slot < QUEUES; slot++) {
        CHECK_DONE(set_up_side(slot));
        uint64_t replaced = submit(slot, shared);
        CHECK(replaced != shared && replaced != 0);
        uint64_t start = UINT64_C(100) * (slot + 1);
        fake_complete(replaced, start, start + 50);
    }
    return NULL;
}

/* The times of neither kernel, or of one. */
static bool is_whole(void)
{
    const amd_signal_t *signal = (const amd_signal_t *)(uintptr_t)shared;
    return signal->end_ts == (signal->start_ts == 0 ? 0 : signal->start_ts + 50);
}

/* The first queue's forward, and the second's behind some of its instructions. */
struct two {
    uint32_t at;
    unsigned meanwhile; /* kernels that were forwarded there */
    bool whole;         /* the times before them */
};

static bool forward_other(void *context, uint32_t step)
{
    struct two *two = context;
    if (step != two->at)
        return true;
    two->whole = is_whole();
    two->meanwhile = rtl_harvest_forward(&sides[SECOND].queue, false);
    return false;
}

static const char *forward_both(struct two *two, uint32_t *steps)
{
    CHECK_DONE(set_up_both());
    *two = (struct two){.at = two->at, .whole = true};
    *steps = stepping_run(forward, two, forward_other);
    CHECK(two->whole || two->meanwhile == 0);
    if (two->meanwhile == 0)
        CHECK(rtl_harvest_forward(&sides[SECOND].queue, false) == 1);
    CHECK(is_whole() && value_of(shared) == 0 && kernel_count == 2);
    CHECK(is_recorded(0, FIRST, 100, 150) || is_recorded(1, FIRST, 100, 150));
    CHECK(is_recorded(0, SECOND, 200, 250) || is_recorded(1, SECOND, 200, 250));
    tear_down();
    return NULL;
}

const char *Harvest_TwoQueuesForwardToOneSignal(void)
{
    struct two two = {.at = 0};
    unsigned torn = 0;
    unsigned early = 0;
    uint32_t last;
    uint32_t steps;
    CHECK_DONE(forward_both(&two, &last));
    CHECK(last > 2 && last < MOST);
    for (two.at = 1; two.at <= last; two.at += 1 + last / rtl_test_times(FINE)) {
        CHECK_DONE(forward_both(&two, &steps));
        torn += !two.whole;
        early += two.meanwhile;
    }
    CHECK(early > 0 && (torn > 0 || last > rtl_test_times(FINE)));
    return NULL;
}

/* ---- what the program is told ---- */

#define SOME 3u

static void harvest_first(void *context)
{
    (void)context;
    (void)rtl_harvest(&sides[FIRST].queue, UINT32_MAX, RTL_HARVEST_ALL);
}

/* Another thread has waited, harvests what is left, and is told that all is done. */
static bool all_are_in_ring(void)
{
    harvest_first(NULL);
    for (uint64_t i = 1; i <= SOME; i++)
        if (times_in_ring(FIRST, 100 * i, true) == 0)
            return false;
    return true;
}

struct told {
    uint32_t at;
    bool safe;
};

static bool tell_at(void *context, uint32_t step)
{
    struct told *told = context;
    if (step != told->at)
        return true;
    told->safe = all_are_in_ring();
    return false;
}

static const char *harvest_and_tell(struct told *told, uint32_t *steps)
{
    CHECK(rtl_harvest_begin());
    CHECK(fake_pool(&rtl_signals, SIGNALS));
    CHECK_DONE(set_up_side(FIRST));
    kernel_count = 0;
    for (uint64_t i = 1; i <= SOME; i++)
        fake_complete(submit(FIRST, 0), 100 * i, 100 * i + 50);
    told->safe = true;
    *steps = stepping_run(harvest_first, told, tell_at);
    CHECK(told->safe && kernel_count == SOME && sides[FIRST].ledger.recorded == SOME);
    for (uint64_t i = 1; i <= SOME; i++)
        CHECK(times_in_ring(FIRST, 100 * i, false) == 1);
    rtl_rewrite_release(&sides[FIRST].queue.rewriter);
    rtl_pending_end(&sides[FIRST].queue.pending);
    return NULL;
}

/* The worker may lose its processor anywhere, and the process may end there. */
const char *Harvest_WhatIsClaimedIsInTheRing(void)
{
    struct told told = {.at = 0};
    uint32_t last;
    uint32_t steps;
    CHECK_DONE(harvest_and_tell(&told, &last));
    CHECK(last > 2 && last < MOST);
    for (told.at = 1; told.at <= last; told.at += 1 + last / rtl_test_times(FEWER))
        CHECK_DONE(harvest_and_tell(&told, &steps));
    return NULL;
}

static bool look_at(void *context, uint32_t step)
{
    bool *early = context;
    (void)step;
    if (value_of(shared) < 1 && times_in_ring(FIRST, 100, true) == 0)
        *early = true;
    return true;
}

const char *Harvest_ASignalFallsBehindItsRecord(void)
{
    bool early = false;
    CHECK_DONE(set_up());
    CHECK(stepping_run(forward, &early, look_at) > 2);
    CHECK(!early && value_of(shared) == 0 && is_recorded(1, FIRST, 100, 200));
    tear_down();
    return NULL;
}

#else

const char *Harvest_WhatIsClaimedIsInTheRing(void)
{
    return NULL;
}

const char *Harvest_ASignalFallsBehindItsRecord(void)
{
    return NULL;
}

const char *Harvest_TwoQueuesForwardToOneSignal(void)
{
    return NULL;
}

const char *Harvest_ASignalIsForwardedThatIsBorrowedMeanwhile(void)
{
    return NULL;
}

const char *Harvest_ASignalIsBorrowedThatIsForwardedMeanwhile(void)
{
    return NULL;
}

#endif

/* ---- somebody is about to borrow ---- */

static bool enter(void)
{
    struct rtl_record_id id = {SECOND, atomic_load(&sides[SECOND].queue.pending.tail)};
    return rtl_borrow_enter(rtl_borrows, shared, id);
}

const char *Harvest_AForwardComesBehindWhoIsAboutToBorrow(void)
{
    struct rtl_queue *first = &sides[FIRST].queue;
    CHECK_DONE(set_up());
    CHECK(enter());
    CHECK(rtl_harvest_forward(first, false) == 0 && value_of(shared) == 1 && kernel_count == 1);
    CHECK(submit(SECOND, 0) != 0); /* the record is another one's after all */
    CHECK(rtl_harvest_forward(first, false) == 1 && value_of(shared) == 0);
    CHECK(is_recorded(1, FIRST, 100, 200));
    tear_down();
    return NULL;
}

/* Instead of a nap, the other thread goes on, the third time. */
int __wrap_nanosleep(const struct timespec *time, struct timespec *left);

int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
    (void)time;
    (void)left;
    if (++naps == 3)
        (void)submit(SECOND, 0);
    return 0;
}

const char *Harvest_ClosingWaitsForWhoIsAboutToBorrow(void)
{
    CHECK_DONE(set_up());
    CHECK(enter());
    rtl_harvest_close(&sides[FIRST].queue);
    CHECK(naps == 3 && value_of(shared) == 0 && is_recorded(1, FIRST, 100, 200));
    tear_down();
    return NULL;
}

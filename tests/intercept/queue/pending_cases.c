#include "../../common/check.h"
#include "fake_records.h"
#include "fake_signals.h"
#include "intercept/queue/pending_add.h"

#include <pthread.h>
#include <sched.h>

#define RECORDS 64u

static struct rtl_pending pending;
static struct rtl_pool pool;

static const char *set_up_with(uint64_t records)
{
    CHECK(fake_records(&pending, records) && pending.mask + 1 == records);
    CHECK(rtl_pending_room(&pending) > 0);
    CHECK(fake_pool(&pool, RECORDS));
    return NULL;
}

static const char *set_up(void)
{
    return set_up_with(RECORDS);
}

/* Adds a record with a pool signal; returns that signal. */
static uint64_t add(uint64_t own)
{
    struct rtl_kernel_facts facts = {.app_signal = own, .packet = 5};
    if (rtl_pool_take(&pool, &facts.pool_id, 1) != 1)
        return 0;
    rtl_pending_add(&pending, &facts);
    return rtl_pool_handle(&pool, facts.pool_id);
}

static enum rtl_take take(uint64_t sequence, bool forwards)
{
    struct rtl_kernel_facts facts;
    return take_record(&pending, &pool, sequence, forwards, &facts);
}

const char *Pending_FactsComeBack(void)
{
    CHECK_DONE(set_up());
    struct rtl_kernel_facts in = {
        .kernel_object = UINT64_MAX - 1,
        .packet = (UINT64_C(1) << 48) - 2,
        .grid = {UINT32_MAX, UINT32_MAX - 1, UINT32_MAX - 2},
        .group_size = UINT32_MAX - 3,
        .block = {UINT16_MAX, UINT16_MAX - 1, UINT16_MAX - 2},
        .flags = RTL_RECORD_BARRIER,
        .epoch = UINT32_MAX,
    };
    struct rtl_kernel_facts out;
    CHECK(rtl_pool_take(&pool, &in.pool_id, 1) == 1);
    CHECK(rtl_pending_add(&pending, &in) == 0);
    fake_complete(rtl_pool_handle(&pool, in.pool_id), UINT64_MAX - 9, UINT64_MAX - 8);
    CHECK(take_record(&pending, &pool, 0, false, &out) == RTL_TAKE_TAKEN);
    CHECK(out.kernel_object == in.kernel_object && out.packet == in.packet && out.app_signal == 0);
    CHECK(memcmp(out.grid, in.grid, sizeof in.grid) == 0);
    CHECK(memcmp(out.block, in.block, sizeof in.block) == 0);
    CHECK(out.group_size == in.group_size && out.flags == in.flags && out.epoch == in.epoch);
    CHECK(out.pool_id == in.pool_id);
    CHECK(out.start == UINT64_MAX - 9 && out.end == UINT64_MAX - 8);
    return NULL;
}

/* Kernel `i` of runs of some kernels each: of a launch, of a host call alone, or of neither. */
static struct rtl_kernel_facts fact_of_run(uint64_t i)
{
    static const uint64_t lengths[] = {1, 2, 63, 64, 65, 150, 3};
    uint64_t run = 0;
    uint64_t first = 0;
    while (i >= first + lengths[run % 7])
        first += lengths[run++ % 7];
    struct rtl_kernel_facts facts = {
        .packet = 5 * i + run, .launch = RTL_NONE, .ordinal = RTL_NONE};
    if (run % 3 != 0)
        facts.correlation = run;
    if (run % 3 == 1) {
        facts.packet = 1000 + i;
        facts.launch = (uint32_t)run;
        facts.ordinal = (uint32_t)(i - first) + 7;
    }
    return facts;
}

const char *Pending_OriginsComeBack(void)
{
    CHECK_DONE(set_up());
    uint64_t next = 0;
    for (uint64_t i = 0; i < 5000; i++) {
        struct rtl_kernel_facts in = fact_of_run(i);
        CHECK(rtl_pool_take(&pool, &in.pool_id, 1) == 1 && rtl_pending_room(&pending) > 0);
        CHECK(rtl_pending_add(&pending, &in) == i);
        fake_complete(rtl_pool_handle(&pool, in.pool_id), i, i + 1);
        /* Some lag, up to a full ring. */
        for (; next + (i / 100 % RECORDS) < i || rtl_pending_room(&pending) == 0; next++) {
            struct rtl_kernel_facts out;
            struct rtl_kernel_facts was = fact_of_run(next);
            CHECK(take_record(&pending, &pool, next, false, &out) == RTL_TAKE_TAKEN);
            CHECK(out.packet == was.packet && out.correlation == was.correlation);
            CHECK(out.launch == was.launch && out.ordinal == was.ordinal);
            ((amd_signal_t *)(uintptr_t)rtl_pool_handle(&pool, out.pool_id))->value = 1;
            rtl_pool_give(&pool, &out.pool_id, 1);
            rtl_pending_advance(&pending);
        }
    }
    CHECK(next > 4900);
    return NULL;
}

const char *Pending_WaitingIsNotTaken(void)
{
    CHECK_DONE(set_up());
    uint64_t signal = add(0);
    CHECK(take(0, true) == RTL_TAKE_WAITING);
    CHECK(take(1, true) == RTL_TAKE_DONE); /* never added */
    fake_complete(signal, 1, 2);
    CHECK(take(0, true) == RTL_TAKE_TAKEN);
    return NULL;
}

const char *Pending_OnlyOneTakes(void)
{
    CHECK_DONE(set_up());
    fake_complete(add(0), 1, 2);
    CHECK(take(0, false) == RTL_TAKE_TAKEN);
    CHECK(take(0, false) == RTL_TAKE_DONE);
    return NULL;
}

const char *Pending_RoomIsFoundWhenItRunsOut(void)
{
    CHECK_DONE(set_up());
    uint64_t signals[RECORDS];
    for (uint64_t i = 0; i < RECORDS; i++)
        signals[i] = add(0);
    CHECK(rtl_pending_room(&pending) == 0);
    for (uint64_t i = 0; i < 3; i++) {
        fake_complete(signals[i], 1, 2);
        CHECK(take(i, false) == RTL_TAKE_TAKEN);
    }
    CHECK(rtl_pending_room(&pending) == 0);
    rtl_pending_advance(&pending);
    CHECK(rtl_pending_room(&pending) == 3);
    return NULL;
}

const char *Pending_AdvanceStopsAtTheFirstThatWaits(void)
{
    CHECK_DONE(set_up());
    uint64_t signals[4];
    for (int i = 0; i < 4; i++)
        signals[i] = add(0);
    CHECK(rtl_pending_room(&pending) == RECORDS - 4);
    fake_complete(signals[0], 1, 2);
    fake_complete(signals[2], 1, 2);
    CHECK(take(0, false) == RTL_TAKE_TAKEN && take(2, false) == RTL_TAKE_TAKEN);
    rtl_pending_advance(&pending);
    CHECK(pending.head == 1);
    fake_complete(signals[1], 1, 2);
    CHECK(take(1, false) == RTL_TAKE_TAKEN);
    rtl_pending_advance(&pending);
    CHECK(pending.head == 3);
    return NULL;
}

const char *Pending_AbandonedIsGone(void)
{
    CHECK_DONE(set_up());
    struct rtl_kernel_facts facts;
    uint64_t signal = add(0);
    CHECK(rtl_pending_abandon(&pending, 0, &facts) && facts.packet == 5);
    fake_complete(signal, 1, 2);
    CHECK(take(0, true) == RTL_TAKE_DONE && !rtl_pending_abandon(&pending, 0, &facts));
    return NULL;
}

/* As many records as find room, of packets from `first` on; how many. */
static uint64_t fill(uint64_t first)
{
    uint64_t added = 0;
    for (; rtl_pending_room(&pending) > 0; added++) {
        struct rtl_kernel_facts facts = {.packet = first + added, .launch = RTL_NONE};
        rtl_pending_add(&pending, &facts);
    }
    return added;
}

/* Takes the records [first, end), the last one first; how many were as they should be. */
static uint64_t abandon(uint64_t first, uint64_t end)
{
    uint64_t right = 0;
    struct rtl_kernel_facts facts;
    for (uint64_t at = end; at-- > first;)
        right += rtl_pending_abandon(&pending, at, &facts) && facts.packet == at;
    rtl_pending_advance(&pending);
    return right;
}

/* With a table that lies beside the rest, and with larger ones: nothing of it lies where something
 * else does, what the forwarder notes among them. */
const char *Pending_AllThatFindRoomAreFound(void)
{
    static const uint64_t sizes[] = {8192, 16384, 65536};
    for (unsigned i = 0; i < 3; i++) {
        CHECK_DONE(set_up_with(sizes[i]));
        for (uint64_t lap = 0; lap < 3; lap++) {
            memset(pending.ready, 0xa5, sizes[i] / 8);
            CHECK(fill(lap * sizes[i]) == sizes[i]);
            CHECK(abandon(lap * sizes[i], (lap + 1) * sizes[i]) == sizes[i]);
            for (uint64_t byte = 0; byte < sizes[i] / 8; byte++)
                CHECK(pending.ready[byte] == 0xa5);
        }
    }
    return NULL;
}

const char *Pending_ForwardsAreForTheWorker(void)
{
    CHECK_DONE(set_up());
    uint64_t own = fake_signal(3);
    uint64_t signal = add(own);
    CHECK(pending.to_forward == 1 && !rtl_pending_must_forward(&pending, &pool, 0));
    fake_complete(signal, 1, 2);
    CHECK(rtl_pending_must_forward(&pending, &pool, 0));
    CHECK(take(0, false) == RTL_TAKE_FORWARD);
    CHECK(take(0, true) == RTL_TAKE_TAKEN && !rtl_pending_must_forward(&pending, &pool, 0));
    return NULL;
}

const char *Pending_StandingOfRecords(void)
{
    CHECK_DONE(set_up());
    uint64_t own = fake_signal(1);
    struct rtl_kernel_facts facts = {.app_signal = own, .pool_id = UINT32_MAX};
    CHECK(rtl_pending_classify(&pending, 0, own) == RTL_BORROWER_COMING);
    rtl_pending_add(&pending, &facts);
    CHECK(rtl_pending_classify(&pending, 0, own) == RTL_BORROWER_LIVE);
    CHECK(rtl_pending_classify(&pending, 0, own + 64) == RTL_BORROWER_OTHER);
    CHECK(rtl_pending_classify(&pending, RECORDS, own) == RTL_BORROWER_COMING); /* next lap */
    fake_complete(own, 1, 2);
    CHECK(take(0, false) == RTL_TAKE_TAKEN);
    CHECK(rtl_pending_classify(&pending, 0, own) == RTL_BORROWER_STALE);
    return NULL;
}

static void write_value(uint64_t handle, int64_t value)
{
    __atomic_store_n(&((amd_signal_t *)(uintptr_t)handle)->value, value, __ATOMIC_RELAXED);
}

/* Adds a record that borrows `own`. */
static uint64_t borrow(uint64_t own)
{
    struct rtl_kernel_facts facts = {.app_signal = own, .pool_id = UINT32_MAX, .epoch = 3};
    facts.baseline_end = rtl_signal_end_low32(own);
    return rtl_pending_add(&pending, &facts);
}

const char *Pending_BorrowedIsTakenWhenTheDeviceHasWrittenTimes(void)
{
    CHECK_DONE(set_up());
    uint64_t own = fake_signal(2);
    fake_complete(own, 5, 9); /* an earlier kernel's times */
    struct rtl_kernel_facts facts;
    CHECK(borrow(own) == 0);
    CHECK(take(0, false) == RTL_TAKE_WAITING);
    write_value(own, 0); /* the program's doing */
    CHECK(take(0, true) == RTL_TAKE_WAITING && !rtl_pending_is_rearmed(&pending, 0));
    fake_complete(own, 11, 12);
    CHECK(take_record(&pending, &pool, 0, false, &facts) == RTL_TAKE_TAKEN);
    CHECK(facts.start == 11 && facts.end == 12 && facts.pool_id == UINT32_MAX);
    CHECK(facts.app_signal == own && facts.epoch == 3 && facts.flags == 0);
    return NULL;
}

const char *Pending_RearmedUnseenKeepsItsTimes(void)
{
    CHECK_DONE(set_up());
    uint64_t own = fake_signal(1);
    struct rtl_kernel_facts facts;
    CHECK(borrow(own) == 0);
    CHECK(!rtl_pending_is_rearmed(&pending, 0));
    CHECK(!take_rearmed_record(&pending, 0, &facts));
    fake_complete(own, 21, 22);
    CHECK(!rtl_pending_is_rearmed(&pending, 0)); /* completed: the ordinary way */
    write_value(own, 1);
    CHECK(take(0, false) == RTL_TAKE_WAITING);
    CHECK(rtl_pending_is_rearmed(&pending, 0));
    CHECK(take_rearmed_record(&pending, 0, &facts));
    CHECK(facts.start == 21 && facts.end == 22 && facts.app_signal == own);
    CHECK(!take_rearmed_record(&pending, 0, &facts) && take(0, false) == RTL_TAKE_DONE);
    return NULL;
}

const char *Pending_PoolSignalsAreNeverRearmed(void)
{
    CHECK_DONE(set_up());
    uint64_t signal = add(fake_signal(1));
    fake_complete(signal, 1, 2);
    write_value(signal, 1);
    CHECK(!rtl_pending_is_rearmed(&pending, 0));
    CHECK(rtl_pending_app_signal(&pending, 0) != 0 && rtl_pending_app_signal(&pending, 1) == 0);
    return NULL;
}

#define HARVESTERS 3
#define TOTAL      60000u
#define OF_A_CALL  37u /* kernels */
#define LATE       40u /* one kernel completes when so many others have been submitted */

struct harvest {
    unsigned taken;
    uint64_t packets; /* sum, to tell which */
    unsigned wrong;
};

static void harvest_one(struct harvest *harvest, uint64_t at)
{
    struct rtl_kernel_facts facts;
    if (take_record(&pending, &pool, at, true, &facts) != RTL_TAKE_TAKEN)
        return;
    harvest->taken++;
    harvest->packets += facts.packet;
    if (facts.packet != at || facts.start != at + 1 || facts.kernel_object != at * 64 ||
        facts.correlation != at / OF_A_CALL)
        harvest->wrong++;
    amd_signal_t *signal = (amd_signal_t *)(uintptr_t)rtl_pool_handle(&pool, facts.pool_id);
    __atomic_store_n(&signal->value, 1, __ATOMIC_RELAXED);
    rtl_pool_give(&pool, &facts.pool_id, 1);
}

/* Looks at records that are done as well, as one who comes late does. */
static void *harvest(void *context)
{
    struct harvest *harvest = context;
    while (atomic_load(&pending.head) < TOTAL) {
        uint64_t tail = atomic_load(&pending.tail);
        uint64_t head = atomic_load(&pending.head);
        for (uint64_t at = head < 100 ? 0 : head - 100; at < tail; at++)
            harvest_one(harvest, at);
        rtl_pending_advance(&pending);
        sched_yield();
    }
    return NULL;
}

static void complete_late(uint64_t *signal, uint64_t *number)
{
    if (*signal != 0)
        fake_complete(*signal, *number + 1, *number + 2);
    *signal = 0;
}

/* The device completes at once but for one kernel in LATE, with which the queue is never empty
 * unless it pauses; a signal is back in the pool only when its record was taken. */
static void submit_all(uint64_t pause_every)
{
    uint64_t late = 0;
    uint64_t late_number = 0;
    for (uint64_t i = 0; i < TOTAL;) {
        struct rtl_kernel_facts facts = {.packet = i,
                                         .kernel_object = i * 64,
                                         .correlation = i / OF_A_CALL,
                                         .launch = RTL_NONE,
                                         .ordinal = RTL_NONE};
        while (pause_every != 0 && i % pause_every == 0 && atomic_load(&pending.head) != i) {
            complete_late(&late, &late_number);
            sched_yield();
        }
        if (rtl_pending_room(&pending) == 0 || rtl_pool_take(&pool, &facts.pool_id, 1) == 0) {
            sched_yield();
            continue;
        }
        rtl_pending_add(&pending, &facts);
        uint64_t signal = rtl_pool_handle(&pool, facts.pool_id);
        if (i % LATE == 0) {
            complete_late(&late, &late_number);
            late = signal;
            late_number = i;
        } else {
            fake_complete(signal, i + 1, i + 2);
        }
        i++;
    }
    complete_late(&late, &late_number);
}

static struct rtl_kernel_facts borrowed_copy(uint64_t own, uint16_t more)
{
    return (struct rtl_kernel_facts){.app_signal = own,
                                     .pool_id = UINT32_MAX,
                                     .baseline_end = rtl_signal_end_low32(own),
                                     .flags = (uint16_t)(RTL_RECORD_COPY | more)};
}

const char *Pending_CopyHasTheTimesOfItsEngine(void)
{
    CHECK_DONE(set_up());
    struct rtl_kernel_facts facts = borrowed_copy(fake_signal(1), 0);
    uint64_t own = facts.app_signal;
    rtl_shared_signal(own)->signal.start_ts = 5; /* of a kernel before */
    rtl_shared_signal(own)->signal.end_ts = 6;
    facts.baseline_end = rtl_signal_end_low32(own);
    rtl_pending_add(&pending, &facts);
    CHECK(take_record(&pending, &pool, 0, false, &facts) == RTL_TAKE_WAITING);
    rtl_shared_signal(own)->signal.value = 0; /* the program's doing */
    CHECK(take_record(&pending, &pool, 0, false, &facts) == RTL_TAKE_WAITING);
    rtl_shared_signal(own)->signal.value = 1;
    fake_complete_copy(own, 70, 90);
    CHECK(take_record(&pending, &pool, 0, false, &facts) == RTL_TAKE_TAKEN);
    CHECK(facts.start == 70 && facts.end == 90 && (facts.flags & RTL_RECORD_SDMA) != 0);
    return NULL;
}

const char *Pending_CopyByAKernelHasItsTimes(void)
{
    CHECK_DONE(set_up());
    struct rtl_kernel_facts facts = borrowed_copy(fake_signal(1), 0);
    rtl_pending_add(&pending, &facts);
    fake_complete(facts.app_signal, 70, 90);
    CHECK(take_record(&pending, &pool, 0, false, &facts) == RTL_TAKE_TAKEN);
    CHECK(facts.start == 70 && facts.end == 90 && (facts.flags & RTL_RECORD_SDMA) == 0);
    return NULL;
}

const char *Pending_CopyByTheHostNeedsNoTimes(void)
{
    CHECK_DONE(set_up());
    struct rtl_kernel_facts facts = borrowed_copy(fake_signal(1), RTL_RECORD_UNTIMED);
    rtl_pending_add(&pending, &facts);
    CHECK(take_record(&pending, &pool, 0, false, &facts) == RTL_TAKE_WAITING);
    CHECK(!rtl_pending_is_rearmed(&pending, 0));
    rtl_shared_signal(facts.app_signal)->signal.value = 0;
    CHECK(take_record(&pending, &pool, 0, false, &facts) == RTL_TAKE_TAKEN);
    CHECK(facts.start == 0 && facts.end == 0);
    return NULL;
}

const char *Pending_TimesArePutWhereTheyCameFrom(void)
{
    uint64_t handle = fake_signal(1);
    struct rtl_shared_signal *shared = rtl_shared_signal(handle);
    struct rtl_kernel_facts facts = {.start = 3, .end = 4, .flags = RTL_RECORD_COPY};
    shared->sdma_end = 99; /* of a copy before */
    rtl_signal_put_times(handle, &facts);
    CHECK(shared->signal.start_ts == 3 && shared->signal.end_ts == 4 && shared->sdma_end == 0);
    facts =
        (struct rtl_kernel_facts){.start = 7, .end = 8, .flags = RTL_RECORD_COPY | RTL_RECORD_SDMA};
    rtl_signal_put_times(handle, &facts);
    CHECK(shared->sdma_start == 7 && shared->sdma_end == 8 && shared->signal.end_ts == 4);
    facts.flags = RTL_RECORD_COPY | RTL_RECORD_UNTIMED;
    facts.end = 100;
    rtl_signal_put_times(handle, &facts);
    CHECK(shared->sdma_end == 8 && shared->signal.end_ts == 4);
    return NULL;
}

static const char *take_all(uint64_t pause_every)
{
    struct harvest harvests[HARVESTERS] = {{0}};
    pthread_t threads[HARVESTERS];
    for (int i = 0; i < HARVESTERS; i++)
        CHECK(pthread_create(&threads[i], NULL, harvest, &harvests[i]) == 0);
    submit_all(pause_every);
    unsigned taken = 0;
    uint64_t packets = 0;
    for (int i = 0; i < HARVESTERS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(harvests[i].wrong == 0);
        taken += harvests[i].taken;
        packets += harvests[i].packets;
    }
    CHECK(taken == TOTAL && packets == (uint64_t)TOTAL * (TOTAL - 1) / 2);
    return NULL;
}

const char *Pending_EveryRecordIsTakenOnce(void)
{
    CHECK_DONE(set_up());
    return take_all(0);
}

/* With room for many, and of a queue that is idle every 96 records: slabs change their places
 * while others look for records. */
const char *Pending_EveryRecordIsTakenOnceWhileSlabsGoRound(void)
{
    CHECK_DONE(set_up_with(1024));
    CHECK_DONE(take_all(0));
    CHECK_DONE(set_up_with(1024));
    return take_all(96);
}

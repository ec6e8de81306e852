/*
 * The memory of pending records: how much of it a queue takes, that it uses it again, and that each
 * record is where its number says, whatever was there before.
 */
#include "../../common/check.h"
#include "fake_records.h"
#include "fake_signals.h"
#include "intercept/queue/pending_add.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#define ALL 40000u /* records of a random run */

static struct rtl_slabs own; /* that no other queue has */
static struct rtl_pending pending;
static struct rtl_pool pool;

static void tear_down(void)
{
    if (pending.table != NULL)
        rtl_pending_end(&pending);
    memset(&pending, 0, sizeof pending);
    rtl_slabs_end(&own);
}

static const char *set_up(uint64_t records)
{
    tear_down();
    CHECK(rtl_slabs_init(&own) && rtl_pending_init(&pending, &own, records));
    CHECK(pending.mask + 1 == records);
    CHECK(fake_pool(&pool, FAKE_SIGNALS / 4));
    return NULL;
}

static uint64_t mix(uint64_t number)
{
    number = (number ^ number >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    number = (number ^ number >> 27) * UINT64_C(0x94D049BB133111EB);
    return number ^ number >> 31;
}

/* What the record `sequence` is given: runs of some kernels come from one call or launch. */
static struct rtl_kernel_facts facts_of(uint64_t sequence)
{
    uint64_t run = sequence / (1 + sequence / 1000 % 90);
    struct rtl_kernel_facts facts = {.kernel_object = mix(sequence),
                                     .packet = 3 * sequence + 1,
                                     .grid = {(uint32_t)mix(sequence + 1), 2, 3},
                                     .block = {(uint16_t)mix(sequence + 2), 5, 6},
                                     .epoch = (uint32_t)mix(sequence + 3),
                                     .launch = RTL_NONE,
                                     .ordinal = RTL_NONE};
    facts.correlation = run % 4 == 0 ? 0 : mix(run);
    if (run % 4 == 1) {
        facts.launch = (uint32_t)run;
        facts.ordinal = (uint32_t)(facts.packet + run);
    }
    return facts;
}

static bool are_of(const struct rtl_kernel_facts *facts, uint64_t sequence)
{
    struct rtl_kernel_facts was = facts_of(sequence);
    return facts->kernel_object == was.kernel_object && facts->packet == was.packet &&
           facts->grid[0] == was.grid[0] && facts->block[0] == was.block[0] &&
           facts->epoch == was.epoch && facts->correlation == was.correlation &&
           facts->launch == was.launch && facts->ordinal == was.ordinal;
}

static const char *add(uint64_t *signal)
{
    uint64_t sequence = atomic_load(&pending.tail);
    struct rtl_kernel_facts facts = facts_of(sequence);
    CHECK(rtl_pending_room(&pending) > 0);
    CHECK(rtl_pool_take(&pool, &facts.pool_id, 1) == 1);
    CHECK(rtl_pending_add(&pending, &facts) == sequence);
    *signal = rtl_pool_handle(&pool, facts.pool_id);
    return NULL;
}

static void give_back(const struct rtl_kernel_facts *facts)
{
    amd_signal_t *signal = (amd_signal_t *)(uintptr_t)rtl_pool_handle(&pool, facts->pool_id);
    __atomic_store_n(&signal->value, 1, __ATOMIC_RELAXED);
    rtl_pool_give(&pool, &facts->pool_id, 1);
}

static const char *take(uint64_t sequence)
{
    struct rtl_kernel_facts facts;
    CHECK(take_record(&pending, &pool, sequence, false, &facts) == RTL_TAKE_TAKEN);
    CHECK(are_of(&facts, sequence) && facts.start == 5 && facts.end == 6);
    give_back(&facts);
    rtl_pending_advance(&pending);
    return NULL;
}

/* Adds so many records of kernels that complete at once, and takes each when `behind` others have
 * been added: the queue is never empty. */
static const char *pass(uint64_t count, uint64_t behind)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t signal;
        CHECK_DONE(add(&signal));
        fake_complete(signal, 5, 6);
        while (atomic_load(&pending.tail) - atomic_load(&pending.head) > behind)
            CHECK_DONE(take(atomic_load(&pending.head)));
    }
    return NULL;
}

/* Slabs in which the queue's last record is number `first` or later. */
static unsigned slabs_since(uint64_t first)
{
    unsigned touched = 0;
    uint32_t end = atomic_load(&own.region_count) * RTL_SLABS_REGION;
    for (uint32_t number = RTL_SLABS_REGION; number < end; number++) {
        const struct rtl_record_slab *slab = rtl_slabs_at(&own, number);
        bool found = false;
        for (unsigned i = 0; i < RTL_SLAB; i++)
            found = found || atomic_load(&slab->records[i].state) > first * RTL_RECORD_STATES;
        touched += found;
    }
    return touched;
}

/* A few in flight lie in two slabs, and in two more those behind them and the ones to come. */
const char *Slabs_AQueueThatIsNeverEmptyTakesAFew(void)
{
    CHECK_DONE(set_up(16384));
    CHECK_DONE(pass(100000, 10));
    CHECK(slabs_since(0) <= 4);
    CHECK_DONE(pass(100000, 300));
    CHECK(slabs_since(0) <= 300 / RTL_SLAB + 4);
    return NULL;
}

const char *Slabs_AfterABurstAFewAreUsedAgain(void)
{
    CHECK_DONE(set_up(1024));
    CHECK_DONE(pass(1023, 1023));
    while (atomic_load(&pending.head) < atomic_load(&pending.tail))
        CHECK_DONE(take(atomic_load(&pending.head)));
    CHECK(slabs_since(0) == 1024 / RTL_SLAB);
    uint64_t first = atomic_load(&pending.tail);
    CHECK_DONE(pass(50000, 10));
    CHECK(slabs_since(first) <= 5);
    return NULL;
}

const char *Slabs_ALongKernelKeepsOneRecordAndNotTheOthers(void)
{
    uint64_t first;
    uint64_t signal;
    CHECK_DONE(set_up(1024));
    CHECK_DONE(pass(2000, 0));
    CHECK_DONE(add(&first));
    uint64_t sequence = atomic_load(&pending.tail) - 1;
    CHECK(rtl_pending_classify(&pending, sequence, 0) == RTL_BORROWER_LIVE);
    CHECK(rtl_pending_classify(&pending, sequence + 1, 0) == RTL_BORROWER_COMING);
    for (uint64_t old = 0; old < sequence; old++)
        CHECK(rtl_pending_classify(&pending, old, 0) == RTL_BORROWER_STALE);
    for (uint64_t added = 1; added < 1024; added++) {
        CHECK_DONE(add(&signal));
        fake_complete(signal, 5, 6);
        CHECK_DONE(take(sequence + added));
    }
    CHECK(rtl_pending_room(&pending) == 0);
    fake_complete(first, 5, 6);
    CHECK_DONE(take(sequence));
    CHECK(rtl_pending_room(&pending) > 0);
    CHECK_DONE(pass(3000, 1023));
    return NULL;
}

/* ---- memory ahead ---- */

#define PAGE 4096u

/* Pages of a region that have memory. */
static unsigned resident(const struct rtl_slabs *slabs, uint32_t region)
{
    unsigned char in[RTL_SLABS_REGION * sizeof(struct rtl_record_slab) / PAGE];
    unsigned count = 0;
    if (mincore((void *)rtl_slabs_at(slabs, region * RTL_SLABS_REGION), sizeof in * PAGE, in) != 0)
        return UINT_MAX;
    for (unsigned i = 0; i < sizeof in; i++)
        count += in[i] & 1u;
    return count;
}

/* False where the system takes memory only when it is written to. */
static bool may_be_ahead(void)
{
    void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool may = page != MAP_FAILED && madvise(page, PAGE, MADV_POPULATE_WRITE) == 0;
    (void)munmap(page, PAGE);
    return may;
}

const char *Slabs_MemoryIsThereAhead(void)
{
    static const unsigned all = RTL_SLABS_REGION * sizeof(struct rtl_record_slab) / PAGE;
    static struct rtl_slabs slabs;
    uint32_t numbers[RTL_SLABS_REGION];
    if (!may_be_ahead())
        return NULL;
    CHECK(rtl_slabs_init(&slabs));
    rtl_slabs_reserve(&slabs, 8);
    CHECK(atomic_load(&slabs.region_count) == 2 && resident(&slabs, 1) == all);
    CHECK(rtl_slabs_take(&slabs, numbers, 24) == 24);
    rtl_slabs_reserve(&slabs, 8); /* there are 8 */
    CHECK(atomic_load(&slabs.region_count) == 2);
    CHECK(rtl_slabs_take(&slabs, numbers, 1) == 1);
    rtl_slabs_reserve(&slabs, 8);
    CHECK(atomic_load(&slabs.region_count) == 3 && resident(&slabs, 2) == all);
    rtl_slabs_end(&slabs);
    return NULL;
}

/* ---- several queues ---- */

/* Some of the records are done, some pending. A queue that begins with their memory has none. */
const char *Slabs_GivenBackAreForgotten(void)
{
    struct rtl_kernel_facts facts;
    CHECK_DONE(set_up(128));
    CHECK_DONE(pass(100, 30));
    rtl_pending_end(&pending);
    uint32_t unused = atomic_load(&own.unused_count);
    memset(&pending, 0, sizeof pending);
    CHECK(rtl_pending_init(&pending, &own, 128) && rtl_pending_room(&pending) > 0);
    CHECK(atomic_load(&own.unused_count) == unused - 2 && atomic_load(&own.region_count) == 2);
    for (uint64_t i = 0; i < 128; i++) {
        CHECK(rtl_pending_classify(&pending, i, 0) == RTL_BORROWER_COMING);
        CHECK(rtl_pending_look(&pending, &pool, i, true, &facts) == RTL_TAKE_DONE);
        CHECK(!rtl_pending_abandon(&pending, i, &facts));
    }
    tear_down();
    return NULL;
}

static uint64_t add_until_full(struct rtl_pending *queue)
{
    uint64_t count = 0;
    for (struct rtl_kernel_facts facts = {.packet = 1}; rtl_pending_room(queue) > 0; count++)
        (void)rtl_pending_add(queue, &facts);
    return count;
}

/* As where the system gives no more: a queue has the room that there is, and more when some is
 * done.
 */
const char *Slabs_WithoutMemoryThereIsNoRoom(void)
{
    static struct rtl_slabs few;
    static struct rtl_pending poor;
    struct rtl_kernel_facts facts;
    CHECK(rtl_slabs_init(&few) && rtl_pending_init(&poor, &few, 4096));
    rtl_slabs_reserve(&few, 1);
    uint32_t regions = atomic_exchange(&few.region_count, RTL_SLABS_REGIONS);
    CHECK(add_until_full(&poor) == RTL_SLABS_REGION * (uint64_t)RTL_SLAB);
    for (uint64_t i = 0; i < RTL_SLAB; i++) {
        CHECK(rtl_pending_room(&poor) == 0);
        CHECK(rtl_pending_abandon(&poor, i, &facts));
        rtl_pending_advance(&poor);
    }
    CHECK(add_until_full(&poor) == RTL_SLAB);
    atomic_store(&few.region_count, regions);
    CHECK(add_until_full(&poor) == 4096 - RTL_SLABS_REGION * (uint64_t)RTL_SLAB);
    rtl_pending_end(&poor);
    rtl_slabs_end(&few);
    return NULL;
}

/* ---- many threads ---- */

#define QUEUES 3
#define EACH   30000u /* records of a queue */

static struct rtl_pending queues[QUEUES];
static _Atomic unsigned taken_of[QUEUES], wrong;

/* Kernels of queue `q`. */
static void *submit_to(void *queue)
{
    uint64_t q = (uint64_t)((struct rtl_pending *)queue - queues);
    for (uint64_t i = 0; i < EACH;) {
        struct rtl_kernel_facts facts = {.packet = i,
                                         .kernel_object = mix(q << 32 | i),
                                         .correlation = i / 40 * QUEUES + q + 1,
                                         .launch = RTL_NONE,
                                         .ordinal = RTL_NONE};
        if (rtl_pending_room(queue) == 0 || rtl_pool_take(&pool, &facts.pool_id, 1) == 0) {
            sched_yield();
            continue;
        }
        (void)rtl_pending_add(queue, &facts);
        fake_complete(rtl_pool_handle(&pool, facts.pool_id), i + 1, i + 2);
        i++;
    }
    return NULL;
}

static void take_one(unsigned q, uint64_t at)
{
    struct rtl_kernel_facts facts;
    if (take_record(&queues[q], &pool, at, true, &facts) != RTL_TAKE_TAKEN)
        return;
    if (facts.packet != at || facts.kernel_object != mix((uint64_t)q << 32 | at) ||
        facts.correlation != at / 40 * QUEUES + q + 1 || facts.start != at + 1)
        atomic_fetch_add(&wrong, 1);
    atomic_fetch_add(&taken_of[q], 1);
    give_back(&facts);
}

/* Looks at records that are done as well: their places may have later ones by then. */
static void *harvest_all(void *unused)
{
    (void)unused;
    for (unsigned left = 1; left != 0;) {
        left = 0;
        for (unsigned q = 0; q < QUEUES; q++) {
            uint64_t tail = atomic_load(&queues[q].tail);
            uint64_t head = atomic_load(&queues[q].head);
            for (uint64_t at = head < 200 ? 0 : head - 200; at < tail; at++)
                take_one(q, at);
            rtl_pending_advance(&queues[q]);
            left += atomic_load(&queues[q].head) < EACH;
        }
        sched_yield();
    }
    return NULL;
}

const char *Slabs_ManyThreadsHarvestManyQueues(void)
{
    pthread_t threads[QUEUES + 2];
    CHECK_DONE(set_up(1024));
    atomic_store(&wrong, 0);
    for (unsigned i = 0; i < QUEUES; i++) {
        CHECK(fake_records(&queues[i], 1024));
        atomic_store(&taken_of[i], 0);
    }
    for (unsigned i = 0; i < QUEUES + 2; i++)
        CHECK(pthread_create(&threads[i], NULL, i < QUEUES ? submit_to : harvest_all,
                             i < QUEUES ? &queues[i] : NULL) == 0);
    for (unsigned i = 0; i < QUEUES + 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(atomic_load(&wrong) == 0);
    for (unsigned i = 0; i < QUEUES; i++)
        CHECK(atomic_load(&taken_of[i]) == EACH);
    return NULL;
}

/* ---- against a list ---- */

/* What is known of each record; its number is its place. */
struct listed {
    uint64_t signal;
    bool completed, taken;
};

static struct listed list[ALL];
static uint64_t added, head; /* all before it are taken */

static uint64_t draw(uint64_t step, unsigned which, uint64_t limit)
{
    return mix(step * 8 + which) % limit;
}

static const char *add_some(uint64_t step, uint64_t records)
{
    for (uint64_t left = draw(step, 1, 100); left > 0; left--) {
        bool full = added - head == records;
        CHECK((rtl_pending_room(&pending) == 0) == full);
        if (full || atomic_load(&pool.free) == 0 || added == ALL)
            break;
        list[added] = (struct listed){0};
        CHECK_DONE(add(&list[added].signal));
        added++;
    }
    return NULL;
}

/* One that may be anywhere: done long ago, in flight, or to come. */
static uint64_t any(uint64_t step, uint64_t records)
{
    uint64_t back = added < 2 * records ? added : 2 * records;
    return added - back + draw(step, 2, back + records);
}

static uint64_t in_flight(uint64_t step)
{
    return head + draw(step, 3, added - head);
}

static const char *take_any(uint64_t step, uint64_t records)
{
    uint64_t sequence =
        draw(step, 4, 2) == 0 || added == head ? any(step, records) : in_flight(step);
    struct rtl_kernel_facts facts;
    enum rtl_take found = take_record(&pending, &pool, sequence, false, &facts);
    if (sequence >= added || list[sequence].taken) {
        CHECK(found == RTL_TAKE_DONE);
        return NULL;
    }
    CHECK(found == (list[sequence].completed ? RTL_TAKE_TAKEN : RTL_TAKE_WAITING));
    if (found == RTL_TAKE_WAITING)
        return NULL;
    CHECK(are_of(&facts, sequence));
    list[sequence].taken = true;
    give_back(&facts);
    return NULL;
}

static const char *classify_any(uint64_t step, uint64_t records)
{
    uint64_t sequence = any(step, records);
    enum rtl_borrower borrower = rtl_pending_classify(&pending, sequence, 0);
    if (sequence >= added)
        CHECK(borrower == RTL_BORROWER_COMING);
    else
        CHECK(borrower == (list[sequence].taken ? RTL_BORROWER_STALE : RTL_BORROWER_LIVE));
    return NULL;
}

/* The model knows at once what is done, the records when they are looked through. */
static const char *advance(void)
{
    while (head < added && list[head].taken)
        head++;
    rtl_pending_advance(&pending);
    CHECK(atomic_load(&pending.head) == head);
    return NULL;
}

static const char *count_unfinished(void)
{
    uint64_t unfinished = 0;
    for (uint64_t i = head; i < added; i++)
        unfinished += !list[i].taken;
    CHECK(rtl_pending_unfinished(&pending) == unfinished);
    return NULL;
}

static const char *run(uint64_t records, uint64_t seed)
{
    CHECK_DONE(set_up(records));
    added = head = 0;
    for (uint64_t step = seed; added < ALL; step++) {
        if (draw(step, 0, 12) == 0)
            CHECK_DONE(add_some(step, records));
        if (head < added) {
            uint64_t done = in_flight(step);
            if (!list[done].completed)
                fake_complete(list[done].signal, 5, 6);
            list[done].completed = true;
        }
        CHECK_DONE(take_any(step, records));
        CHECK_DONE(classify_any(step, records));
        CHECK_DONE(advance());
        if (draw(step, 5, 50) == 0)
            CHECK_DONE(count_unfinished());
    }
    return NULL;
}

const char *Slabs_RandomUseAgreesWithAList(void)
{
    static const uint64_t sizes[] = {RTL_SLAB, 128, 512};
    for (unsigned i = 0; i < 3; i++)
        CHECK_DONE(run(sizes[i], UINT64_C(1000000000) * (i + 1)));
    return NULL;
}

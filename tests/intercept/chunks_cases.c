/*
 * The memory of pending records: how much of it a queue takes, and that each record is where its
 * number says, whatever was there before.
 */
#include "../common/check.h"
#include "fake_signals.h"
#include "intercept/pending_add.h"

#include <limits.h>
#include <sys/mman.h>

#define ALL 40000u /* records of a random run */

static struct rtl_pending pending;
static struct rtl_pool pool;

static const char *set_up(uint64_t records)
{
    memset(&pending, 0, sizeof pending);
    CHECK(rtl_pending_init(&pending, records) && pending.mask + 1 == records);
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
    ((amd_signal_t *)(uintptr_t)rtl_pool_handle(&pool, facts->pool_id))->value = 1;
    rtl_pool_give(&pool, &facts->pool_id, 1);
}

static const char *take(uint64_t sequence)
{
    struct rtl_kernel_facts facts;
    CHECK(rtl_pending_take(&pending, &pool, sequence, false, &facts) == RTL_TAKE_TAKEN);
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

/* Chunks in which a record was added that is number `first` or later. */
static unsigned chunks_since(uint64_t first)
{
    unsigned touched = 0;
    for (const struct rtl_chunk *chunk = pending.chunks;
         (const void *)chunk < (void *)pending.table; chunk++) {
        bool found = false;
        for (unsigned i = 0; i < RTL_CHUNK; i++)
            found = found || atomic_load(&chunk->records[i].state) > first * 4;
        touched += found;
    }
    return touched;
}

/* A few in flight lie in two chunks, and in two more those behind them and the ones to come. */
const char *Chunks_AQueueThatIsNeverEmptyTakesAFew(void)
{
    CHECK_DONE(set_up(16384));
    CHECK_DONE(pass(100000, 10));
    CHECK(chunks_since(0) <= 4);
    CHECK_DONE(pass(100000, 300));
    CHECK(chunks_since(0) <= 300 / RTL_CHUNK + 4);
    return NULL;
}

const char *Chunks_AfterABurstAFewAreUsedAgain(void)
{
    CHECK_DONE(set_up(1024));
    CHECK_DONE(pass(1023, 1023));
    while (atomic_load(&pending.head) < atomic_load(&pending.tail))
        CHECK_DONE(take(atomic_load(&pending.head)));
    CHECK(chunks_since(0) == 1024 / RTL_CHUNK);
    uint64_t first = atomic_load(&pending.tail);
    CHECK_DONE(pass(50000, 10));
    CHECK(chunks_since(first) <= 5);
    return NULL;
}

const char *Chunks_ALongKernelKeepsOneRecordAndNotTheOthers(void)
{
    uint64_t first;
    uint64_t signal;
    CHECK_DONE(set_up(1024));
    CHECK_DONE(pass(2000, 0));
    CHECK_DONE(add(&first));
    uint64_t sequence = atomic_load(&pending.tail) - 1;
    CHECK(rtl_pending_judge(&pending, sequence, 0) == RTL_RECORD_LIVE);
    CHECK(rtl_pending_judge(&pending, sequence + 1, 0) == RTL_RECORD_COMING);
    for (uint64_t old = 0; old < sequence; old++)
        CHECK(rtl_pending_judge(&pending, old, 0) == RTL_RECORD_STALE);
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

/* Pages of the chunks [first, end) that have memory. */
static unsigned resident(uint32_t first, uint32_t end)
{
    unsigned char in[256];
    uintptr_t begin = (uintptr_t)(pending.chunks + first) / PAGE * PAGE;
    size_t bytes = (uintptr_t)(pending.chunks + end) - begin;
    unsigned pages = (unsigned)((bytes + PAGE - 1) / PAGE);
    unsigned count = 0;
    if (pages > sizeof in || mincore((void *)begin, bytes, in) != 0)
        return UINT_MAX;
    for (unsigned i = 0; i < pages; i++)
        count += in[i] & 1u;
    return count;
}

static unsigned pages_of(uint32_t first, uint32_t end)
{
    uintptr_t begin = (uintptr_t)(pending.chunks + first) / PAGE * PAGE;
    return (unsigned)(((uintptr_t)(pending.chunks + end) - begin + PAGE - 1) / PAGE);
}

/* False where the system takes memory only when it is written to. */
static bool may_be_ahead(void)
{
    void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool may = page != MAP_FAILED && madvise(page, PAGE, MADV_POPULATE_WRITE) == 0;
    (void)munmap(page, PAGE);
    return may;
}

const char *Chunks_MemoryIsThereAhead(void)
{
    if (!may_be_ahead())
        return NULL;
    CHECK_DONE(set_up(16384));
    CHECK(resident(0, 1) == pages_of(0, 1) && resident(4, 100) == 0);
    rtl_pending_take_memory(&pending, 8); /* behind the one in use and the next */
    CHECK(resident(0, 10) == pages_of(0, 10) && resident(12, 100) == 0);
    uint64_t three = 3 * (uint64_t)RTL_CHUNK;
    CHECK_DONE(pass(three, three));
    rtl_pending_take_memory(&pending, 8);
    CHECK(resident(0, 12) == pages_of(0, 12) && resident(14, 100) == 0);
    rtl_pending_take_memory(&pending, 100000); /* no more than there is */
    CHECK(resident(200, 258) == pages_of(200, 258));
    CHECK_DONE(pass(20000, 10));
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
    enum rtl_take found = rtl_pending_take(&pending, &pool, sequence, false, &facts);
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

static const char *judge_any(uint64_t step, uint64_t records)
{
    uint64_t sequence = any(step, records);
    enum rtl_record_standing standing = rtl_pending_judge(&pending, sequence, 0);
    if (sequence >= added)
        CHECK(standing == RTL_RECORD_COMING);
    else
        CHECK(standing == (list[sequence].taken ? RTL_RECORD_STALE : RTL_RECORD_LIVE));
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
        CHECK_DONE(judge_any(step, records));
        CHECK_DONE(advance());
        if (draw(step, 5, 50) == 0)
            CHECK_DONE(count_unfinished());
    }
    return NULL;
}

const char *Chunks_RandomUseAgreesWithAList(void)
{
    static const uint64_t sizes[] = {RTL_CHUNK, 128, 512};
    for (unsigned i = 0; i < 3; i++)
        CHECK_DONE(run(sizes[i], UINT64_C(1000000000) * (i + 1)));
    return NULL;
}

#include "../common/check.h"
#include "pool/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A backend that numbers its signals from 1000 and can be made to fail. */
struct maker {
    unsigned made, destroyed, fail_after;
};

static bool make(void *context, uint64_t *handle)
{
    struct maker *maker = context;
    if (maker->made == maker->fail_after)
        return false;
    *handle = 1000 + maker->made++;
    return true;
}

static void destroy(void *context, uint64_t handle)
{
    (void)handle;
    ((struct maker *)context)->destroyed++;
}

static const char *set_up(struct rtl_pool *pool, struct maker *maker, uint32_t limit)
{
    *maker = (struct maker){.fail_after = UINT32_MAX};
    struct rtl_pool_backend backend = {make, destroy, maker};
    CHECK(rtl_pool_init(pool, limit, backend));
    return NULL;
}

const char *Pool_GrowsToTheTargetAndNotBeyondTheLimit(void)
{
    struct rtl_pool pool;
    struct maker maker;
    CHECK_DONE(set_up(&pool, &maker, 100));
    CHECK(rtl_pool_grow(&pool, 64) == 64);
    CHECK(rtl_pool_grow(&pool, 64) == 0);
    CHECK(rtl_pool_grow(&pool, 1000) == 36);
    CHECK(maker.made == 100);
    CHECK(rtl_pool_end(&pool) == 0);
    return NULL;
}

const char *Pool_GivesWhatItHasAndTakesItBack(void)
{
    struct rtl_pool pool;
    struct maker maker;
    uint32_t ids[20];
    bool seen[10] = {false};
    CHECK_DONE(set_up(&pool, &maker, 10));
    CHECK(rtl_pool_take(&pool, ids, 1) == 0);
    CHECK(rtl_pool_grow(&pool, 10) == 10);
    CHECK(rtl_pool_take(&pool, ids, 4) == 4);
    CHECK(rtl_pool_take(&pool, ids + 4, 16) == 6);
    CHECK(rtl_pool_take(&pool, ids + 10, 1) == 0);
    for (int i = 0; i < 10; i++) {
        CHECK(ids[i] < 10 && !seen[ids[i]]);
        seen[ids[i]] = true;
        CHECK(rtl_pool_handle(&pool, ids[i]) == 1000 + ids[i]);
    }
    rtl_pool_give(&pool, ids, 0);
    rtl_pool_give(&pool, ids, 10);
    CHECK(rtl_pool_take(&pool, ids, 20) == 10);
    rtl_pool_give(&pool, ids, 10);
    CHECK(rtl_pool_end(&pool) == 0);
    return NULL;
}

const char *Pool_ShrinksByNoMoreThanIsFree(void)
{
    struct rtl_pool pool;
    struct maker maker;
    uint32_t ids[100];
    CHECK_DONE(set_up(&pool, &maker, 100));
    CHECK(rtl_pool_grow(&pool, 80) == 80);
    CHECK(rtl_pool_take(&pool, ids, 50) == 50);
    CHECK(rtl_pool_shrink(&pool, 10) == 10 && maker.destroyed == 10);
    CHECK(rtl_pool_shrink(&pool, 100) == 20 && rtl_pool_is_empty(&pool));
    rtl_pool_give(&pool, ids, 50);
    CHECK(rtl_pool_take(&pool, ids, 100) == 50);
    rtl_pool_give(&pool, ids, 50);
    CHECK(rtl_pool_end(&pool) == 0 && maker.destroyed == 80);
    return NULL;
}

/* Each signal is somewhere once, whether it came in a block or not and is wanted in one or not. */
const char *Pool_BlocksAndSingleOnesAreTheSameSignals(void)
{
    enum { ALL = 4096 + 100 };
    static const unsigned sizes[] = {1, 64, 63, 65, 200, 7, 64, 128, 1, 130, 64, 31};
    struct rtl_pool pool;
    struct maker maker;
    static uint32_t ids[ALL + 1];
    static bool seen[ALL];
    CHECK_DONE(set_up(&pool, &maker, ALL));
    CHECK(rtl_pool_grow(&pool, ALL) == ALL);
    for (unsigned round = 0; round < 200; round++) {
        unsigned taken = 0;
        for (unsigned i = round; taken < ALL / 2; i++) {
            unsigned want = sizes[i % 12] < ALL - taken ? sizes[i % 12] : ALL - taken;
            CHECK(rtl_pool_take(&pool, ids + taken, want) == want);
            taken += want;
        }
        if (round % 3 == 0)
            rtl_pool_repack(&pool);
        if (round % 5 == 0)
            taken += rtl_pool_take(&pool, ids + taken, ALL);
        CHECK(taken + (unsigned)atomic_load(&pool.free) == ALL);
        for (unsigned i = round, given = 0; given < taken; i += 5) {
            unsigned some = sizes[i % 12] < taken - given ? sizes[i % 12] : taken - given;
            rtl_pool_give(&pool, ids + given, some);
            given += some;
        }
        rtl_pool_repack(&pool);
    }
    CHECK(rtl_pool_take(&pool, ids, ALL + 1) == ALL && rtl_pool_is_empty(&pool));
    memset(seen, 0, sizeof seen);
    for (unsigned i = 0; i < ALL; i++) {
        CHECK(ids[i] < ALL && !seen[ids[i]]);
        seen[ids[i]] = true;
    }
    rtl_pool_give(&pool, ids, ALL);
    CHECK(rtl_pool_end(&pool) == 0 && maker.destroyed == ALL);
    return NULL;
}

const char *Pool_StopsGrowingWhenSignalsCannotBeMade(void)
{
    struct rtl_pool pool;
    struct maker maker;
    CHECK_DONE(set_up(&pool, &maker, 100));
    maker.fail_after = 7;
    CHECK(rtl_pool_grow(&pool, 50) == 7);
    CHECK(rtl_pool_grow(&pool, 50) == 0);
    maker.fail_after = 9;
    CHECK(rtl_pool_grow(&pool, 50) == 2);
    CHECK(rtl_pool_end(&pool) == 0 && maker.destroyed == 9);
    return NULL;
}

const char *Pool_EndDestroysTheFreeAndCountsTheRest(void)
{
    struct rtl_pool pool;
    struct maker maker;
    uint32_t ids[3];
    CHECK_DONE(set_up(&pool, &maker, 10));
    CHECK(rtl_pool_grow(&pool, 10) == 10);
    CHECK(rtl_pool_take(&pool, ids, 3) == 3);
    CHECK(rtl_pool_end(&pool) == 3);
    CHECK(maker.destroyed == 7);
    return NULL;
}

#define GROWERS 4
#define GROWN   2000

/* A backend for several threads, which refuses every seventh time if it is told to. */
struct makers {
    _Atomic unsigned asked, made;
    bool refuses;
};

static bool make_together(void *context, uint64_t *handle)
{
    struct makers *makers = context;
    if (atomic_fetch_add(&makers->asked, 1) % 7 == 6 && makers->refuses)
        return false;
    *handle = 1000 + atomic_fetch_add(&makers->made, 1);
    return true;
}

static void destroy_any(void *context, uint64_t handle)
{
    (void)context;
    (void)handle;
}

/* Until the pool has as many as there may be, or for long enough. */
static void *grow_on(void *context)
{
    struct rtl_pool *pool = context;
    for (int i = 0; i < GROWN && atomic_load(&pool->named) < GROWN; i++)
        (void)rtl_pool_grow(pool, atomic_load(&pool->made) + 5);
    return NULL;
}

static const char *grow_together(bool refuses)
{
    struct rtl_pool pool;
    struct makers makers = {.refuses = refuses};
    pthread_t threads[GROWERS];
    static uint32_t ids[GROWN + 1];
    static bool seen[GROWN];
    memset(seen, 0, sizeof seen);
    struct rtl_pool_backend backend = {make_together, destroy_any, &makers};
    CHECK(rtl_pool_init(&pool, GROWN, backend));
    for (int i = 0; i < GROWERS; i++)
        CHECK(pthread_create(&threads[i], NULL, grow_on, &pool) == 0);
    for (int i = 0; i < GROWERS; i++)
        pthread_join(threads[i], NULL);
    uint32_t made = atomic_load(&makers.made);
    CHECK(made == atomic_load(&pool.made) && made <= GROWN);
    CHECK(refuses || made == GROWN);
    CHECK(rtl_pool_take(&pool, ids, GROWN + 1) == made);
    for (uint32_t i = 0; i < made; i++) {
        uint64_t handle = rtl_pool_handle(&pool, ids[i]);
        CHECK(ids[i] < GROWN && handle >= 1000 && handle < 1000 + made && !seen[handle - 1000]);
        seen[handle - 1000] = true;
    }
    rtl_pool_give(&pool, ids, made);
    CHECK(rtl_pool_end(&pool) == 0);
    return NULL;
}

const char *Pool_SeveralThreadsMakeSignals(void)
{
    return grow_together(false);
}

const char *Pool_SeveralThreadsAreRefusedSignals(void)
{
    return grow_together(true);
}

#define THREADS 4
#define ROUNDS  30000
#define FEW     64
#define MANY    4800 /* of which blocks are made */
#define MOST    200  /* that are taken at once */

struct hand {
    struct rtl_pool *pool;
    unsigned most;
    _Atomic int *holder; /* per id: 0 free, else number of the hand */
    int number;
    unsigned wrong;
};

static void *take_and_give(void *context)
{
    struct hand *hand = context;
    unsigned random = (unsigned)hand->number * 7919u;
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t ids[MOST];
        random = random * 1664525u + 1013904223u;
        unsigned got = rtl_pool_take(hand->pool, ids, 1 + (random >> 16) % hand->most);
        for (unsigned i = 0; i < got; i++) {
            int free = 0;
            if (!atomic_compare_exchange_strong(&hand->holder[ids[i]], &free, hand->number))
                hand->wrong++;
        }
        for (unsigned i = 0; i < got; i++)
            atomic_store(&hand->holder[ids[i]], 0);
        rtl_pool_give(hand->pool, ids, got);
    }
    return NULL;
}

static const char *hand_round(uint32_t signals, unsigned most)
{
    struct rtl_pool pool;
    struct maker maker;
    static _Atomic int holder[MANY];
    struct hand hands[THREADS];
    pthread_t threads[THREADS];
    CHECK_DONE(set_up(&pool, &maker, signals));
    CHECK(rtl_pool_grow(&pool, signals / 2) == signals / 2);
    for (int i = 0; i < THREADS; i++) {
        hands[i] = (struct hand){&pool, most, holder, i + 1, 0};
        CHECK(pthread_create(&threads[i], NULL, take_and_give, &hands[i]) == 0);
    }
    CHECK(rtl_pool_grow(&pool, signals) == signals / 2); /* while the others are at it */
    for (int i = 0; i < ROUNDS / 10; i++)
        rtl_pool_repack(&pool);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(hands[i].wrong == 0);
    }
    static uint32_t all[MANY + 1];
    CHECK(rtl_pool_take(&pool, all, signals + 1) == signals);
    rtl_pool_give(&pool, all, signals);
    CHECK(rtl_pool_end(&pool) == 0);
    return NULL;
}

const char *Pool_NoSignalIsInTwoHands(void)
{
    return hand_round(FEW, 16);
}

const char *Pool_NoSignalIsInTwoBlocks(void)
{
    return hand_round(MANY, MOST);
}

#include "../../common/check.h"
#include "intercept/queue/submit_lock.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#define THREADS 4u
#define ROUNDS  100000u
#define ASKERS  2u
#define LINES   32u /* that all write to: their stores take long, and those behind wait */

/* What a queue is to its producers: work that is there, work that is done by one at a time. */
static struct {
    struct rtl_submit_lock lock;
    _Atomic uint64_t there;
    uint64_t done;             /* of who has the turn */
    _Atomic bool taken;        /* somebody has it */
    _Atomic bool shared;       /* two had it at the same time */
    _Atomic uint64_t by_quick; /* times that somebody entered by the quick way */
    _Atomic bool over;
    struct {
        _Alignas(64) _Atomic uint64_t value;
    } lines[LINES];
} work;

static bool prepared; /* there is a quick way here */

static void set_up(void)
{
    prepared = rtl_submit_lock_prepare();
    memset(&work, 0, sizeof work);
    rtl_submit_lock_begin(&work.lock);
}

static void do_work(void)
{
    if (atomic_exchange(&work.taken, true))
        atomic_store(&work.shared, true);
    work.done = atomic_load(&work.there);
    atomic_store(&work.taken, false);
}

static void delay_stores(void)
{
    for (unsigned i = 0; i < LINES; i++)
        atomic_store_explicit(&work.lines[i].value, i, memory_order_relaxed);
}

static void submit(bool stays)
{
    delay_stores();
    if (rtl_submit_lock_try_fast(&work.lock)) {
        do_work();
        atomic_fetch_add_explicit(&work.by_quick, 1, memory_order_relaxed);
        delay_stores();
        if (!rtl_submit_lock_unlock_fast(&work.lock))
            return;
    }
    if (!rtl_submit_lock_try_or_delegate(&work.lock))
        return;
    do
        do_work();
    while (!rtl_submit_lock_unlock_or_repeat(&work.lock, stays));
}

static void *produce(void *rounds)
{
    for (uint64_t i = 0; i < *(const uint64_t *)rounds; i++) {
        atomic_fetch_add(&work.there, 1);
        submit(true);
    }
    return NULL;
}

/* As the completion worker: it looks, and does not stay. */
static void *look(void *unused)
{
    while (!atomic_load(&work.over)) {
        submit(false);
        (void)sched_yield();
    }
    return unused;
}

static const char *run(unsigned producers, unsigned askers, uint64_t rounds)
{
    pthread_t threads[THREADS];
    pthread_t others[ASKERS];
    for (unsigned i = 0; i < producers; i++)
        CHECK(pthread_create(&threads[i], NULL, produce, &rounds) == 0);
    for (unsigned i = 0; i < askers; i++)
        CHECK(pthread_create(&others[i], NULL, look, NULL) == 0);
    for (unsigned i = 0; i < producers; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&work.over, true);
    for (unsigned i = 0; i < askers; i++)
        pthread_join(others[i], NULL);
    CHECK(!atomic_load(&work.shared));
    CHECK(!rtl_submit_lock_is_taken(&work.lock));
    /* Nobody has looked since: who requests last saw to it that all is done. */
    CHECK(work.done == producers * rounds && work.done == atomic_load(&work.there));
    return NULL;
}

const char *Turn_OneThreadGoesTheQuickWay(void)
{
    set_up();
    CHECK_DONE(run(1, 0, ROUNDS));
    CHECK(atomic_load(&work.by_quick) == (prepared ? ROUNDS - 1 : 0));
    return NULL;
}

const char *Turn_WhoLooksIsNeverInsideWithTheOwner(void)
{
    set_up();
    CHECK_DONE(run(1, ASKERS, ROUNDS));
    CHECK(atomic_load(&work.by_quick) > 0 || !prepared);
    return NULL;
}

const char *Turn_ManyProducersTakeTurns(void)
{
    set_up();
    CHECK_DONE(run(THREADS, 1, ROUNDS / THREADS));
    return NULL;
}

/* A thread that has ended leaves its place to the next, and what it owned. */
const char *Turn_ThreadsThatComeAndGo(void)
{
    set_up();
    uint64_t rounds = 3;
    for (unsigned i = 0; i < 1000; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, produce, &rounds) == 0);
        pthread_join(thread, NULL);
        CHECK(work.done == (i + 1) * rounds);
    }
    CHECK(atomic_load(&work.by_quick) == (prepared ? 2000u : 0u));
    return NULL;
}

/* Packets that a producer's own call leads to are left to that call. */
const char *Turn_WhoIsInsideDoesNotEnterAgain(void)
{
    set_up();
    if (!prepared)
        return NULL;
    submit(true);
    CHECK(rtl_submit_lock_try_fast(&work.lock));
    CHECK(!rtl_submit_lock_try_fast(&work.lock));
    CHECK(!rtl_submit_lock_try_or_delegate(&work.lock));
    CHECK(rtl_submit_lock_is_taken(&work.lock));
    CHECK(rtl_submit_lock_unlock_fast(&work.lock));
    submit(true);
    CHECK(!rtl_submit_lock_is_taken(&work.lock));
    return NULL;
}

const char *Turn_EndedIsNobodys(void)
{
    set_up();
    submit(true);
    if (prepared) {
        CHECK(rtl_submit_lock_try_fast(&work.lock));
        CHECK(!rtl_submit_lock_end(&work.lock));
        CHECK(rtl_submit_lock_unlock_fast(&work.lock));
        CHECK(!rtl_submit_lock_try_or_delegate(&work.lock));
    }
    CHECK(rtl_submit_lock_end(&work.lock));
    CHECK(!rtl_submit_lock_try_fast(&work.lock) && !rtl_submit_lock_try_or_delegate(&work.lock));
    rtl_submit_lock_begin(&work.lock);
    CHECK(rtl_submit_lock_try_or_delegate(&work.lock));
    CHECK(!rtl_submit_lock_end(&work.lock));
    rtl_submit_lock_unlock(&work.lock);
    CHECK(rtl_submit_lock_end(&work.lock));
    return NULL;
}

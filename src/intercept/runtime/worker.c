#include "intercept/runtime/worker.h"

#include "common/allowance.h"
#include "common/clock.h"
#include "common/pages.h"
#include "common/wakeup.h"
#include "intercept/base/agents.h"
#include "intercept/base/control.h"
#include "intercept/base/slice.h"
#include "intercept/base/stall.h"
#include "intercept/base/tasks.h"
#include "intercept/queue/harvest.h"
#include "intercept/queue/round.h"
#include "intercept/queue/shapes.h"
#include "intercept/queue/signal_pool.h"
#include "intercept/queue/submit_lock.h"
#include "intercept/queue/waits.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define FEW_ROUND          128u    /* so few: the nap before was too short */
#define LONG_NAP_NS        400000u /* after few */
#define SHORTEST_NAP_NS    50000u
#define LONGEST_NAP_NS     2000000u /* while something is pending */
#define IDLE_NAP_NS        5000000u /* while nothing is */
#define STEP_NS            50000u   /* of a thread that waits for the worker */
#define SNAPSHOT_PERIOD_NS UINT64_C(10000000000)
#define ATTENTION_NS       1000000u   /* without a nap, while signals are to be forwarded */
#define LINGER_NS          200000u    /* and after the last one */
#define ALERT_NS           100000000u /* then naps stay short */
#define ATTENTIVE_NS       50000u     /* between rounds */
#define LOOKS              16u        /* before others may have the processor */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rtl_task task;
static bool running;     /* under the lock */
static int thread_error; /* under the lock: why it is not, 0 if nothing was tried */
static _Atomic bool stopping;
static _Atomic bool ended;
static _Atomic uint32_t rounds;
static struct rtl_wakeup wakeup; /* cuts a nap short */
static _Atomic bool napping;     /* and nobody has rung yet */
static _Atomic bool expected;    /* a signal was replaced since the worker last looked */
static struct rtl_round state = {.stopping = &stopping}; /* the worker's */

static void nap(uint32_t wakeups_seen, uint64_t ns)
{
    atomic_store(&napping, true);
    rtl_wakeup_nap(&wakeup, wakeups_seen, ns);
    atomic_store_explicit(&napping, false, memory_order_relaxed);
}

void rtl_worker_wake(void)
{
    if (atomic_load_explicit(&napping, memory_order_relaxed) && atomic_exchange(&napping, false)) {
        int saved = errno;
        rtl_wakeup_send(&wakeup);
        errno = saved;
    }
}

void rtl_worker_signal_replaced(void)
{
    if (!atomic_load(&expected))
        atomic_store(&expected, true);
}

unsigned rtl_worker_round(void)
{
    rtl_control_poll();
    return rtl_round(&state);
}

/* Signals that are to be forwarded cannot wait: no nap, unless nothing of the kind has happened for
 * so long that a nap makes little difference, or threads of the program look after theirs.
 * `*since`: when something did. True if there is to be no nap. */
static bool attend(uint64_t *since)
{
    uint64_t now = rtl_now();
    uint64_t end = now + ATTENTIVE_NS;
    for (unsigned i = 1; now < end; i++) {
        if (now - *since > (rtl_forwards_pending() ? ATTENTION_NS : LINGER_NS) ||
            rtl_waits_are_forwarding())
            return false;
        if (rtl_forward_ready_all() > 0)
            *since = now;
        if (i % LOOKS == 0)
            (void)sched_yield();
        now = rtl_now();
    }
    return true;
}

/* The nap after a round in which so much has finished, `ns` after the last such one. Short under
 * load, so that records and signals are still in the caches when the submitter uses them again;
 * longer when little has finished, because the wake-up would cost more than all the rest; and with
 * each busy queue, because a round costs something for each. */
static uint64_t after(unsigned finished, uint64_t ns, uint64_t length)
{
    if (finished < FEW_ROUND)
        return finished > 0 && length * 2 > LONG_NAP_NS ? LONG_NAP_NS : length * 2;
    uint64_t of_one = finished * UINT64_C(1000) < ns ? LONG_NAP_NS / 2 : SHORTEST_NAP_NS;
    return state.served > 1 ? of_one * state.served : of_one;
}

/* How long a nap may be; `since`: when a signal was last to be forwarded. */
static uint64_t limit(uint64_t *length, uint64_t since)
{
    uint64_t longest = state.waiting || rtl_harvest_has_parked() ? LONGEST_NAP_NS : IDLE_NAP_NS;
    if (rtl_now() - since < ALERT_NS)
        longest = SHORTEST_NAP_NS;
    if (*length > longest)
        *length = longest;
    return *length;
}

/* Of tables that threads of the program write to when they submit or help. */
static void prefault(void)
{
    rtl_shapes_prefault();
    rtl_prefault(rtl_borrows, rtl_borrows + 1);
}

static void *work(void *unused)
{
    (void)unused;
    uint64_t since = 0;
    pthread_setname_np(pthread_self(), "rtl-worker");
    rtl_signal_pool_is_of_rtl();
    rtl_sched_request_slice(
        RTL_SLICE_SHORTEST); /* a round is short, and signals run out until it comes */
    (void)rtl_submit_lock_prepare();
    prefault();
    uint64_t length = SHORTEST_NAP_NS;
    uint64_t found = 0; /* when something had finished last */
    uint64_t next_snapshot = rtl_now() + SNAPSHOT_PERIOD_NS;
    while (!atomic_load_explicit(&stopping, memory_order_acquire)) {
        rtl_stall_round();
        uint32_t wakeups_seen = rtl_wakeup_count(&wakeup);
        unsigned finished = rtl_worker_round();
        atomic_fetch_add_explicit(&rounds, 1, memory_order_release);
        if (rtl_now() > next_snapshot) {
            rtl_agents_snapshot_clocks();
            next_snapshot = rtl_now() + SNAPSHOT_PERIOD_NS;
        }
        if (atomic_exchange(&expected, false))
            since = rtl_now();
        uint64_t now = rtl_now();
        uint64_t before = found;
        found = finished > 0 ? now : found;
        state.busy = state.fullest >= RTL_ROUND_BUSY || attend(&since);
        if (state.busy)
            continue;
        length = after(finished, now - before, length);
        nap(wakeups_seen, limit(&length, since));
    }
    atomic_store_explicit(&ended, true, memory_order_release);
    return NULL;
}

/* Not the last thread that the program may have. */
static bool start_thread(void)
{
    thread_error =
        rtl_tasks_left() ? rtl_task_start(&task, RTL_TASK_DOES_NOT_ALLOCATE, work) : EAGAIN;
    return thread_error == 0;
}

void rtl_worker_why_not(char *text, size_t size)
{
    struct rtl_allowance least = rtl_allowance_least();
    struct rlimit limit;
    pthread_mutex_lock(&lock);
    int error = thread_error;
    pthread_mutex_unlock(&lock);
    const char *meaning = strerrordesc_np(error);
    if (error == EAGAIN && getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        (void)snprintf(text, size,
                       "no thread could be spared for RTL's worker (%s; RLIMIT_NPROC is %llu)",
                       meaning, (unsigned long long)limit.rlim_cur);
    else if (error == ENOMEM && least.limit != UINT64_MAX)
        (void)snprintf(text, size,
                       "no memory could be spared for RTL's worker (%s; %s, is %" PRIu64 " KiB)",
                       meaning, rtl_allowance_name(least.resource), least.limit / 1024);
    else
        (void)snprintf(text, size, "no thread could be made for RTL's worker (%s)",
                       meaning != NULL ? meaning : "unknown error");
}

bool rtl_worker_start(struct rtl_ring *to)
{
    pthread_mutex_lock(&lock);
    if (!running) {
        state.ring = to;
        atomic_store(&stopping, false);
        atomic_store(&ended, false);
        rtl_control_poll(); /* what is due is done before the first kernel */
        running = start_thread();
    }
    bool result = running;
    pthread_mutex_unlock(&lock);
    return result;
}

static bool has_ended(void *unused)
{
    (void)unused;
    return atomic_load_explicit(&ended, memory_order_acquire);
}

/* Each round may end in a nap, which is cut short. */
static bool has_made_rounds(void *context)
{
    const uint32_t *goal = context;
    if ((int32_t)(atomic_load_explicit(&rounds, memory_order_acquire) - *goal) >= 0 ||
        has_ended(NULL))
        return true;
    rtl_wakeup_send(&wakeup);
    return false;
}

void rtl_worker_quiesce(uint64_t patience_ns)
{
    pthread_mutex_lock(&lock);
    bool waits = running;
    pthread_mutex_unlock(&lock);
    if (!waits)
        return;
    uint32_t goal = atomic_load(&rounds) + 2;
    (void)rtl_wait_until(has_made_rounds, &goal, rtl_clock_ns(CLOCK_MONOTONIC) + patience_ns,
                         STEP_NS);
}

bool rtl_worker_stop(uint64_t patience_ns)
{
    pthread_mutex_lock(&lock);
    bool stopped = true;
    if (running) {
        atomic_store_explicit(&stopping, true, memory_order_release);
        rtl_wakeup_send(&wakeup);
        stopped =
            rtl_wait_until(has_ended, NULL, rtl_clock_ns(CLOCK_MONOTONIC) + patience_ns, STEP_NS);
        if (stopped) {
            pthread_join(task.thread, NULL);
            running = false;
        }
    }
    pthread_mutex_unlock(&lock);
    return stopped;
}

void rtl_worker_forked(void)
{
    running = false;
    pthread_mutex_init(&lock, NULL);
}

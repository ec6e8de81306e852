#include "intercept/worker.h"

#include "common/allowance.h"
#include "common/clock.h"
#include "common/pages.h"
#include "intercept/agents.h"
#include "intercept/control.h"
#include "intercept/emit.h"
#include "intercept/harvest.h"
#include "intercept/launches.h"
#include "intercept/lifecycle.h"
#include "intercept/queue.h"
#include "intercept/shapes.h"
#include "intercept/signal_pool.h"
#include "intercept/slice.h"
#include "intercept/submit.h"
#include "intercept/tasks.h"
#include "intercept/threads.h"
#include "intercept/waits.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHUNKS_AHEAD      320u /* of records, of all queues, that have memory before use */
#define LOOKS_TO_CHECK    64u  /* whether somebody goes round us */
#define LOOKS_TO_ASK      16u  /* for the lock to submit, where one round after the other is busy */
#define CAREFUL_ROUNDS    64u  /* that look, once packets passed us by or were left to us */
#define PATIENCE          64u  /* records of running kernels to look behind */
#define BUSY_ROUND        512u /* so many records of a queue in a round: go on at once */
#define FEW_ROUND         128u /* so few: the nap before was too short */
#define LONG_NAP_NS       400000u /* after few */
#define SHORTEST_NAP_NS   50000u
#define LONGEST_NAP_NS    2000000u /* while something is pending */
#define IDLE_NAP_NS       5000000u /* while nothing is */
#define STEP_NS           50000u   /* of who waits for the worker */
#define MOST_TOLD         16u      /* times that memory was short, or no longer */
#define BRACKET_PERIOD_NS UINT64_C(10000000000)
#define CLOSE_NS          UINT64_C(1000000000) /* that a destroyed queue may wait for room */
#define ATTENTION_NS      1000000u   /* without a nap, while signals are to be forwarded */
#define LINGER_NS         200000u    /* and after the last one */
#define ALERT_NS          100000000u /* then naps stay short */
#define ATTENTIVE_NS      50000u     /* between rounds */
#define LOOKS             16u        /* before others may have the processor */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread;
static bool running;     /* under the lock */
static int thread_error; /* under the lock: why it is not, 0 if nothing was tried */
static struct rtl_ring *ring;
static _Atomic bool stopping;
static _Atomic bool ended;
static _Atomic uint32_t rounds;
static _Atomic uint32_t bell; /* futex: moved to cut a nap short */
static _Atomic bool napping;  /* and nobody has moved it yet */
static _Atomic bool expected; /* a signal was replaced since the worker last looked */
static bool busy;             /* no nap before this round; the worker's, as what follows */
static bool waiting;          /* records were left in this round */
static bool looking;          /* in this round, at what who submits is about to write */
static uint32_t looks;        /* rounds that did so */
static uint64_t looked;       /* when one did last, ns */
static unsigned careful;      /* so many rounds are to look, whatever else happens */
static uint32_t served;       /* queues of which something had finished in this round */
static unsigned fullest;      /* most of one of them; BUSY_ROUND: there is more to do */

static void nap(uint32_t bell_seen, uint64_t ns)
{
    struct timespec time = {.tv_sec = 0, .tv_nsec = (long)ns};
    atomic_store(&napping, true);
    syscall(SYS_futex, &bell, FUTEX_WAIT_PRIVATE, bell_seen, &time, NULL, 0);
    atomic_store_explicit(&napping, false, memory_order_relaxed);
}

static void ring_bell(void)
{
    atomic_fetch_add(&bell, 1);
    syscall(SYS_futex, &bell, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void rtl_worker_wake(void)
{
    if (atomic_load_explicit(&napping, memory_order_relaxed) && atomic_exchange(&napping, false)) {
        int saved = errno;
        ring_bell();
        errno = saved;
    }
}

void rtl_worker_signal_replaced(void)
{
    if (!atomic_load(&expected))
        atomic_store(&expected, true);
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t most(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* While no kernel has a signal nobody is in a hurry: a thread of the program that shares a core
 * with us goes on first, else it would wait for all that is made ahead. */
static void let_program_go_on(void)
{
    if (rtl_signal_pool_is_idle())
        (void)sched_yield();
}

/* Few at a time, since who stops the worker waits for it, and each may take long where the machine
 * has much to do. */
static void grow_pool(void)
{
    if (rtl_queues_count() == 0)
        return; /* the runtime may still be on its way up, and the pool */
    uint32_t target = rtl_signal_pool_wanted();
    uint32_t made = atomic_load_explicit(&rtl_signals.made, memory_order_relaxed);
    while (made < target && !atomic_load_explicit(&stopping, memory_order_acquire)) {
        made = least(made + RTL_POOL_BLOCK, target);
        if (rtl_pool_grow(&rtl_signals, made) == 0)
            return;
        let_program_go_on();
        fullest = BUSY_ROUND; /* no nap before there are as many as there should be */
    }
}

static unsigned serve(struct rtl_queue *queue)
{
    unsigned finished = rtl_harvest_forward(queue, false);
    uint64_t tail = atomic_load_explicit(&queue->pending.tail, memory_order_relaxed);
    uint64_t used = tail - atomic_load_explicit(&queue->pending.head, memory_order_relaxed);
    if (used == 0)
        return finished;
    /* A full ring of ours holds records back: they find room in the next round, or the queue's own
     * run out. */
    if (rtl_emit_room(BUSY_ROUND) || used > (queue->pending.mask + 1) / 2)
        finished += rtl_harvest(queue, BUSY_ROUND,
                                used > (queue->pending.mask + 1) / 2 ? RTL_HARVEST_ALL : PATIENCE);
    rtl_harvest_rearmed(queue);
    rtl_harvest_set_aside(queue);
    if (atomic_load_explicit(&queue->pending.head, memory_order_relaxed) < tail)
        waiting = true;
    return finished;
}

static bool is_empty(const struct rtl_queue *queue)
{
    return atomic_load_explicit(&queue->pending.tail, memory_order_relaxed) ==
           atomic_load_explicit(&queue->pending.head, memory_order_relaxed);
}

/* What is told of the clock later leaves free queues out. */
static void close_queue(struct rtl_queue *queue)
{
    rtl_queues_observer()->closing(queue);
    rtl_harvest_close(queue);
    uint64_t newest = atomic_load_explicit(&queue->newest, memory_order_relaxed);
    if (newest != 0)
        rtl_agents_clock(queue->agent, newest);
    struct rtl_wire_queue_end end = {.time_ns = rtl_now(), .queue = queue->id};
    struct rtl_piece piece = {&end, sizeof end};
    rtl_emit_definition(RTL_WIRE_QUEUE_END, &piece, 1);
    queue->closing_at = 0;
    rtl_queues_release(queue);
}

/* What of a destroyed queue has completed waits for room in the ring for a while, unless the
 * runtime goes, too: to close the queue accounts for all that is left. */
static bool may_close(struct rtl_queue *queue, unsigned finished)
{
    if (atomic_load_explicit(&stopping, memory_order_acquire) || is_empty(queue) ||
        (finished < BUSY_ROUND && rtl_emit_room(BUSY_ROUND)))
        return true;
    if (queue->closing_at == 0)
        queue->closing_at = rtl_now();
    return rtl_now() - queue->closing_at > CLOSE_NS;
}

/* True if packets are behind for a round: their doorbell passed us by. Those that are just being
 * written move on. By interception a full ring holds packets back as well. */
static bool stays_behind(struct rtl_queue *queue)
{
    uint64_t submitted = atomic_load_explicit(&queue->submitted, memory_order_relaxed);
    bool stays = queue->way == RTL_WAY_INTERCEPT || queue->seen_submitted == submitted;
    queue->seen_submitted = submitted;
    return stays && rtl_submit_is_behind(queue);
}

/* To request the submit lock interrupts the threads of the program (submit_lock.h): not often while
 * they are busy. */
static bool is_time(uint32_t often)
{
    return looking && looks % often == 0;
}

/* Now and then a look whether somebody goes round us. Returns how much more there may be to do. */
static unsigned submit_behind(struct rtl_queue *queue)
{
    bool stays = stays_behind(queue);
    if (stays && queue->way != RTL_WAY_INTERCEPT)
        careful = CAREFUL_ROUNDS; /* who does so once will do it again */
    bool asks = !busy || queue->way == RTL_WAY_INTERCEPT || is_time(LOOKS_TO_ASK);
    if (!(stays && asks) && !is_time(LOOKS_TO_CHECK))
        return !stays && rtl_submit_is_behind(queue); /* soon another look */
    bool all = rtl_submit_some(queue);
    return !all || (queue->way == RTL_WAY_INTERCEPT && rtl_submit_is_behind(queue));
}

/* Whether this round is to look at what who submits is about to write, and would have to fetch
 * again then: while kernels come and go, as rarely as where nothing happens. */
static bool is_due(void)
{
    if (rtl_submit_take_left())
        careful = CAREFUL_ROUNDS;
    return served == 0 || careful > 0 || rtl_now() - looked > IDLE_NAP_NS;
}

/* Returns how much more there may be to do. */
static unsigned look_after(struct rtl_queue *queue, unsigned finished)
{
    if (looking || finished >= BUSY_ROUND)
        rtl_chunks_reserve(&rtl_chunks, CHUNKS_AHEAD);
    return looking || queue->way == RTL_WAY_INTERCEPT ? submit_behind(queue) : 0;
}

/* The reader of the trace is told where there is no memory, and how much is missing. */
static void tell_memory(void)
{
    static bool short_before;
    static unsigned told;
    bool is_short = rtl_ring_is_short(ring);
    if (is_short == short_before)
        return;
    short_before = is_short;
    const char *end = strrchr(ring->path, '/');
    int length = end != NULL ? (int)(end - ring->path) : 0;
    uint64_t has = atomic_load(&ring->header->usable) * RTL_SLOT_SIZE / 1024;
    uint64_t whole = (ring->mask + 1) * RTL_SLOT_SIZE / 1024;
    if (told++ >= MOST_TOLD)
        return;
    if (is_short)
        rtl_emit_note(RTL_NONE,
                      "%.*s has no room: the ring of this process has %" PRIu64 " of %" PRIu64
                      " KiB, %" PRIu64 " KiB are missing",
                      length, ring->path, has, whole, whole - has);
    else
        rtl_emit_note(RTL_NONE, "%.*s has room again for the ring of this process", length,
                      ring->path);
}

/* Of the ring, ahead of need: a piece a round, since zeroing memory takes time; but no nap then. */
static void keep_memory(void)
{
    if (rtl_ring_reserve_ahead(ring) > 0) {
        let_program_go_on();
        fullest = BUSY_ROUND;
    }
    tell_memory();
}

unsigned rtl_worker_round(void)
{
    rtl_control_poll();
    unsigned finished = 0;
    looking = is_due();
    careful -= careful > 0;
    waiting = false;
    served = 0;
    fullest = 0;
    grow_pool();
    if (ring != NULL)
        keep_memory();
    (void)rtl_emit_flush();
    rtl_launches_poll();
    rtl_threads_look();
    rtl_pool_repack(&rtl_signals);
    finished += rtl_harvest_aside();
    for (uint32_t i = 0; i < rtl_queues_count(); i++) {
        struct rtl_queue *queue = rtl_queues_at(i);
        uint32_t phase = atomic_load_explicit(&queue->phase, memory_order_acquire);
        if (phase == RTL_QUEUE_FREE)
            continue;
        unsigned of_queue = serve(queue);
        served += of_queue > 0;
        fullest = most(fullest, of_queue);
        finished += of_queue;
        if (phase == RTL_QUEUE_LIVE && queue->way != RTL_WAY_COPIES)
            finished += look_after(queue, of_queue);
        uint64_t newest = atomic_load_explicit(&queue->newest, memory_order_relaxed);
        if (newest != 0)
            rtl_agents_clock(queue->agent, newest);
        if (phase == RTL_QUEUE_CLOSING && may_close(queue, of_queue))
            close_queue(queue);
    }
    if (looking) {
        looks++;
        looked = rtl_now();
    }
    return finished;
}

#ifdef RTL_TEST_STALL_NS
/* A worker that gets no processor, for the tests' shape of the library. */
static void stall(void)
{
    rtl_nap(RTL_TEST_STALL_NS);
}
#else
static void stall(void)
{
}
#endif

/* Signals that are to be forwarded cannot wait: no nap, unless nothing of the kind has happened for
 * so long that a nap makes little difference, or threads of the program look after theirs.
 * `*since`: when something did. True if there is to be no nap. */
static bool attend(uint64_t *since)
{
    uint64_t now = rtl_now();
    uint64_t end = now + ATTENTIVE_NS;
    for (unsigned i = 1; now < end; i++) {
        if (now - *since > (rtl_forwards_pending() ? ATTENTION_NS : LINGER_NS) || rtl_waits_help())
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
    return served > 1 ? of_one * served : of_one;
}

/* How long a nap may be; `since`: when a signal was last to be forwarded. */
static uint64_t limit(uint64_t *length, uint64_t since)
{
    uint64_t longest = waiting || rtl_harvest_has_aside() ? LONGEST_NAP_NS : IDLE_NAP_NS;
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
    rtl_prefault(&rtl_borrows, &rtl_borrows + 1);
}

static void *work(void *unused)
{
    (void)unused;
    uint64_t since = 0;
    pthread_setname_np(pthread_self(), "rtl-worker");
    rtl_sched_request_slice(
        RTL_SLICE_SHORTEST); /* a round is short, and signals run out until it comes */
    (void)rtl_submit_lock_prepare();
    prefault();
    uint64_t length = SHORTEST_NAP_NS;
    uint64_t found = 0; /* when something had finished last */
    uint64_t next_bracket = rtl_now() + BRACKET_PERIOD_NS;
    while (!atomic_load_explicit(&stopping, memory_order_acquire)) {
        stall();
        uint32_t bell_seen = atomic_load(&bell);
        unsigned finished = rtl_worker_round();
        atomic_fetch_add_explicit(&rounds, 1, memory_order_release);
        if (rtl_now() > next_bracket) {
            rtl_agents_bracket();
            next_bracket = rtl_now() + BRACKET_PERIOD_NS;
        }
        if (atomic_exchange(&expected, false))
            since = rtl_now();
        uint64_t now = rtl_now();
        uint64_t before = found;
        found = finished > 0 ? now : found;
        busy = fullest >= BUSY_ROUND || attend(&since);
        if (busy)
            continue;
        length = after(finished, now - before, length);
        nap(bell_seen, limit(&length, since));
    }
    atomic_store_explicit(&ended, true, memory_order_release);
    return NULL;
}

/* Not the last thread that the program may have. */
static bool start_thread(void)
{
    thread_error = rtl_tasks_left() ? rtl_task_start(&thread, work) : EAGAIN;
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
        ring = to;
        atomic_store(&stopping, false);
        atomic_store(&ended, false);
        rtl_control_poll(); /* what is due is done before the first kernel */
        running = start_thread();
    }
    bool result = running;
    pthread_mutex_unlock(&lock);
    return result;
}

static void wait_until(bool (*done)(uint32_t), uint32_t argument, uint64_t patience_ns)
{
    uint64_t deadline = rtl_clock_ns(CLOCK_MONOTONIC) + patience_ns;
    while (!done(argument) && rtl_clock_ns(CLOCK_MONOTONIC) < deadline)
        rtl_nap(STEP_NS);
}

static bool worker_ended(uint32_t unused)
{
    (void)unused;
    return atomic_load_explicit(&ended, memory_order_acquire);
}

static bool rounds_reached(uint32_t goal)
{
    return (int32_t)(atomic_load_explicit(&rounds, memory_order_acquire) - goal) >= 0 ||
           worker_ended(0);
}

void rtl_worker_settle(uint64_t patience_ns)
{
    pthread_mutex_lock(&lock);
    bool waits = running;
    pthread_mutex_unlock(&lock);
    if (!waits)
        return;
    uint32_t goal = atomic_load(&rounds) + 2;
    uint64_t deadline = rtl_clock_ns(CLOCK_MONOTONIC) + patience_ns;
    while (!rounds_reached(goal) && rtl_clock_ns(CLOCK_MONOTONIC) < deadline) {
        ring_bell(); /* each round may end in a nap */
        rtl_nap(STEP_NS);
    }
}

bool rtl_worker_stop(uint64_t patience_ns)
{
    pthread_mutex_lock(&lock);
    bool stopped = true;
    if (running) {
        atomic_store_explicit(&stopping, true, memory_order_release);
        ring_bell();
        wait_until(worker_ended, 0, patience_ns);
        stopped = worker_ended(0);
        if (stopped) {
            pthread_join(thread, NULL);
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

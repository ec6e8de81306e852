#include "intercept/queue/signal_pool.h"

#include "intercept/base/emit.h"
#include "intercept/queue/queue.h"

#include <errno.h>

/* At once: before there is a queue, and for each one as many as are at hand and in a harvest. */
#define FIRST_SIGNALS      1024u
#define SIGNALS_OF_A_QUEUE 128u

/* Ahead of use: so many more than are in use, a piece at a time. At first it is what a program
 * submits before the worker has a core (10 000 kernels, or 0.5 ms, where program and device keep
 * both of two busy). */
#define SPARE 12288u
#define PIECE 512u

/* So many are made as soon as they may be of use; more only where no kernel has finished whose
 * signal could serve again: with the ring and the records of a queue of 16384 packets, these stay
 * below 48 MiB. */
#define EASY 24576u

/* By a thread that has none, in one go: a thread of the program's waits for them. */
#define PIECE_NOW 64u

/* In all: every record of a queue may hold one, and some are being harvested, or at hand. */
#define IN_PASSING 1024u

/* How often a thread asks for a piece of which others may have taken all. */
#define TRIES 8u

/* Given back where the runtime has no memory for more: the program may be the next that needs one.
 */
#define RESERVE 64u

struct rtl_pool rtl_signals;
struct rtl_borrow_table *rtl_borrows;

static bool left_to_program;
static uint32_t (*most_allowed)(void);
static _Atomic bool refused; /* the runtime has refused one: it is asked for no more */
static _Thread_local bool is_of_rtl __attribute__((tls_model("initial-exec")));

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t most(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* ---- no more than there is memory for ---- */

void rtl_signal_pool_limit_by(uint32_t (*most)(void))
{
    most_allowed = most;
}

void rtl_signal_pool_refused(void)
{
    atomic_store_explicit(&refused, true, memory_order_relaxed);
}

void rtl_signal_pool_resume(void)
{
    atomic_store_explicit(&refused, false, memory_order_relaxed);
}

/* Half of those that are free at most: kernels that are recorded need some, too. */
static void make_do(void)
{
    int64_t idle = atomic_load_explicit(&rtl_signals.free, memory_order_relaxed);
    (void)rtl_pool_shrink(&rtl_signals, idle > 0 ? least((uint32_t)idle / 2, RESERVE) : 0);
    rtl_emit_note(RTL_NONE,
                  "the runtime had no memory for another completion signal: RTL goes on with the "
                  "%u that it has",
                  atomic_load_explicit(&rtl_signals.made, memory_order_relaxed));
}

static uint32_t allowed(void)
{
    return most_allowed != NULL ? most_allowed() : UINT32_MAX;
}

static unsigned grow(uint32_t end)
{
    if (atomic_load_explicit(&refused, memory_order_relaxed))
        return 0;
    unsigned made = rtl_pool_grow(&rtl_signals, end);
    if (atomic_load_explicit(&refused, memory_order_relaxed))
        make_do();
    return made;
}

unsigned rtl_signal_pool_grow(uint32_t target)
{
    return grow(least(target, allowed()));
}

/* ---- for the queues that live now ---- */

/* Signals that a destroyed queue keeps until the worker has come by. */
static uint64_t held_signals(const struct rtl_queue *queue)
{
    return RTL_REWRITE_CACHE + atomic_load_explicit(&queue->pending.tail, memory_order_relaxed) -
           atomic_load_explicit(&queue->pending.head, memory_order_relaxed);
}

/* At once, and at most; what is between comes with use. */
struct demand {
    uint32_t at_once, most;
};

static uint32_t limited(uint64_t signals)
{
    return signals < rtl_signals.limit ? (uint32_t)signals : rtl_signals.limit;
}

static struct demand demand_of_queues(void)
{
    uint64_t at_once = FIRST_SIGNALS;
    uint64_t most = 0;
    for (uint32_t i = 0; i < rtl_queues_count(); i++) {
        struct rtl_queue *queue = rtl_queues_at(i);
        uint32_t phase = atomic_load_explicit(&queue->phase, memory_order_acquire);
        bool kernels = phase == RTL_QUEUE_LIVE && queue->interception != RTL_COPIES_ONLY;
        if (phase == RTL_QUEUE_CLOSING)
            most += held_signals(queue);
        else if (phase == RTL_QUEUE_LIVE) /* most copies have a signal of their own, and keep it */
            most += kernels ? queue->pending.mask + 1 + IN_PASSING : queue->size;
        at_once += kernels ? SIGNALS_OF_A_QUEUE : 0;
    }
    return (struct demand){limited(at_once), limited(most)};
}

/* Where the worker makes none, half of what may be made comes at once: it may find none, too, where
 * it submits what a thread of the program has left. */
void rtl_signal_pool_open_queue(void)
{
    struct demand demand = demand_of_queues();
    uint32_t half = least(demand.most, rtl_signals.limit / 2);
    (void)rtl_signal_pool_grow(left_to_program ? most(demand.at_once, half) : demand.at_once);
}

/* ---- with use ---- */

bool rtl_signal_pool_is_idle(void)
{
    uint32_t made = atomic_load_explicit(&rtl_signals.made, memory_order_relaxed);
    return atomic_load_explicit(&rtl_signals.free, memory_order_relaxed) >= (int64_t)made;
}

/* Twice what is in use: so many may soon be. Beyond EASY only a thread that finds none makes more.
 */
static uint32_t ahead_of_use(void)
{
    uint32_t made = atomic_load_explicit(&rtl_signals.made, memory_order_relaxed);
    int64_t idle = atomic_load_explicit(&rtl_signals.free, memory_order_relaxed);
    uint32_t used = idle < made ? made - (idle > 0 ? (uint32_t)idle : 0) : 0;
    return least(least(used + most(used, SPARE), EASY), made + PIECE);
}

void rtl_signal_pool_leave_to_program(void)
{
    left_to_program = true;
}

void rtl_signal_pool_is_of_rtl(void)
{
    is_of_rtl = true;
}

uint32_t rtl_signal_pool_wanted(void)
{
    if (left_to_program)
        return atomic_load_explicit(&rtl_signals.made, memory_order_relaxed);
    struct demand demand = demand_of_queues();
    return most(least(ahead_of_use(), demand.most), demand.at_once);
}

/* Of a piece that several threads ask for at once others may make all, and take it. The limits,
 * which take a while, are looked at before. */
static unsigned make_pieces(uint32_t end)
{
    unsigned made = 0;
    for (unsigned tries = 0; made == 0 && tries < TRIES; tries++) {
        uint32_t named = atomic_load_explicit(&rtl_signals.named, memory_order_relaxed);
        if (!rtl_pool_is_empty(&rtl_signals) || named >= end)
            break;
        made = grow(least(named + PIECE_NOW, end));
    }
    return made;
}

unsigned rtl_signal_pool_make_now(bool even_if_many)
{
    uint32_t end = even_if_many ? rtl_signals.limit : EASY;
    uint32_t named = atomic_load_explicit(&rtl_signals.named, memory_order_relaxed);
    int saved = errno;
    unsigned made = 0;
    bool may = !left_to_program || !is_of_rtl;
    if (may && rtl_pool_is_empty(&rtl_signals) && named < end)
        made = make_pieces(least(end, allowed()));
    errno = saved;
    return made;
}

#include "intercept/turn.h"

#include "common/clock.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SERVED         (UINT32_C(1) << 30) /* in `asked`: somebody has the turn */
#define ENDED          (UINT32_C(1) << 31) /* nobody gets it */
#define THREADS        256u
#define BARRIER_NAP_NS 100000
#define MOVES                                                                                      \
    8u /* of the owner; where there are more, threads take turns and none is the owner             \
        */

_Thread_local struct rtl_turn_thread *rtl_turn_thread;

static struct rtl_turn_thread threads[THREADS];
static _Atomic bool prepared;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key;

static bool barrier(int command)
{
    int saved = errno;
    bool done = syscall(SYS_membarrier, command, 0, 0) == 0;
    errno = saved;
    return done;
}

bool rtl_turn_prepare(void)
{
    if (!atomic_load(&prepared) && barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED))
        atomic_store(&prepared, true);
    return atomic_load(&prepared);
}

/* ---- threads ---- */

static void let_go(void *thread)
{
    struct rtl_turn_thread *self = thread;
    rtl_turn_thread = NULL;
    atomic_store_explicit(&self->taken, false, memory_order_release);
}

static void make_key(void)
{
    has_key = pthread_key_create(&key, let_go) == 0;
}

static struct rtl_turn_thread *find_place(void)
{
    for (unsigned i = 0; i < THREADS; i++)
        if (!atomic_load_explicit(&threads[i].taken, memory_order_relaxed) &&
            !atomic_exchange_explicit(&threads[i].taken, true, memory_order_acquire))
            return &threads[i];
    return NULL;
}

/* A thread's place is another's when it has ended, and so is what it owns. */
static struct rtl_turn_thread *own_place(void)
{
    if (rtl_turn_thread != NULL)
        return rtl_turn_thread;
    (void)pthread_once(&once, make_key);
    struct rtl_turn_thread *place = has_key ? find_place() : NULL;
    if (place != NULL && pthread_setspecific(key, place) != 0) {
        atomic_store_explicit(&place->taken, false, memory_order_release);
        place = NULL;
    }
    rtl_turn_thread = place;
    return place;
}

/* ---- turns ---- */

static bool is_inside(struct rtl_turn *turn, struct rtl_turn_thread *owner)
{
    return owner != NULL && atomic_load_explicit(&owner->inside, memory_order_acquire) == turn;
}

/* Every thread has passed a barrier when this returns. Where somebody has forbidden the system call
 * since rtl_turn_prepare, a nap is as good: what a core has stored is there after some ns. */
static void pass_barriers(void)
{
    if (!barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED))
        rtl_nap(BARRIER_NAP_NS);
}

static struct rtl_turn_thread *owner_of(struct rtl_turn *turn)
{
    return atomic_load_explicit(&turn->owner, memory_order_acquire);
}

/* True if the owner is at it by the quick way. If it is not, it does not get in as long as `asked`
 * is not 0. */
static bool owner_has_it(struct rtl_turn *turn)
{
    struct rtl_turn_thread *owner = owner_of(turn);
    if (owner != NULL && owner != rtl_turn_thread)
        pass_barriers();
    return is_inside(turn, owner);
}

static bool serve_idle(struct rtl_turn *turn)
{
    uint32_t idle = 0;
    if (!atomic_compare_exchange_strong_explicit(&turn->asked, &idle, 1 | SERVED,
                                                 memory_order_acq_rel, memory_order_relaxed))
        return false;
    turn->seen = 1 | SERVED;
    return true;
}

static bool serve(struct rtl_turn *turn)
{
    uint32_t asked = atomic_load_explicit(&turn->asked, memory_order_relaxed);
    do {
        if (asked == 0 || (asked & (SERVED | ENDED)) != 0)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&turn->asked, &asked, asked | SERVED,
                                                    memory_order_acq_rel, memory_order_relaxed));
    turn->seen = asked | SERVED;
    return true;
}

/* An owner that is inside looks whether somebody asked when it leaves. If it did so while this
 * thread stood as the one who serves, it has left everything to this thread: hence another try. */
bool rtl_turn_ask(struct rtl_turn *turn)
{
    bool serves = serve_idle(turn);
    if (!serves && (atomic_fetch_add(&turn->asked, 1) & (SERVED | ENDED)) != 0)
        return false;
    while (serves || serve(turn)) {
        if (!owner_has_it(turn))
            return true;
        atomic_fetch_and(&turn->asked, ~SERVED);
        if (is_inside(turn, owner_of(turn))) /* another one by now, or nobody */
            return false;
        serves = false;
    }
    return false;
}

/* A queue whose owner changes again and again has none: each change costs a system call, and the
 * other threads an interrupt. */
static void move(struct rtl_turn *turn)
{
    struct rtl_turn_thread *self = own_place();
    if (turn->moves > MOVES || self == NULL ||
        self == atomic_load_explicit(&turn->owner, memory_order_relaxed))
        return;
    turn->moves++;
    atomic_store_explicit(&turn->owner, turn->moves > MOVES ? NULL : self, memory_order_relaxed);
}

bool rtl_turn_pass(struct rtl_turn *turn, bool stays)
{
    if (stays && atomic_load_explicit(&prepared, memory_order_relaxed))
        move(turn);
    uint32_t seen = turn->seen;
    if (atomic_compare_exchange_strong_explicit(&turn->asked, &seen, 0, memory_order_acq_rel,
                                                memory_order_acquire))
        return true;
    turn->seen = seen;
    return false;
}

void rtl_turn_drop(struct rtl_turn *turn)
{
    atomic_store_explicit(&turn->asked, 0, memory_order_release);
}

bool rtl_turn_is_taken(struct rtl_turn *turn)
{
    return atomic_load(&turn->asked) != 0 || owner_has_it(turn);
}

bool rtl_turn_end(struct rtl_turn *turn)
{
    uint32_t asked = 0;
    if (!atomic_compare_exchange_strong_explicit(&turn->asked, &asked, ENDED, memory_order_acq_rel,
                                                 memory_order_acquire) &&
        (asked & ENDED) == 0)
        return false;
    return !owner_has_it(turn);
}

void rtl_turn_begin(struct rtl_turn *turn)
{
    turn->moves = 0;
    atomic_store(&turn->owner, NULL);
    atomic_store(&turn->asked, 0);
}

void rtl_turn_forked(void)
{
    atomic_store(&prepared, false);
    for (unsigned i = 0; i < THREADS; i++) {
        if (&threads[i] == rtl_turn_thread)
            continue;
        atomic_store(&threads[i].inside, NULL);
        atomic_store(&threads[i].taken, false);
    }
}

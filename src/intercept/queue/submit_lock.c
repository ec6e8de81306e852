#include "intercept/queue/submit_lock.h"

#include "common/clock.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HELD           (UINT32_C(1) << 30) /* in `requests`: somebody holds the lock by the slow path */
#define ENDED          (UINT32_C(1) << 31) /* nobody gets it */
#define THREADS        256u
#define BARRIER_NAP_NS 100000
#define OWNER_CHANGES                                                                              \
    8u /* of the owner; where there are more, threads take turns and none is the owner             \
        */

_Thread_local struct rtl_submit_thread *rtl_submit_thread;

static struct rtl_submit_thread threads[THREADS];
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

bool rtl_submit_lock_prepare(void)
{
    if (!atomic_load(&prepared) && barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED))
        atomic_store(&prepared, true);
    return atomic_load(&prepared);
}

/* ---- threads ---- */

static void let_go(void *thread)
{
    struct rtl_submit_thread *self = thread;
    rtl_submit_thread = NULL;
    atomic_store_explicit(&self->taken, false, memory_order_release);
}

static void make_key(void)
{
    has_key = pthread_key_create(&key, let_go) == 0;
}

static struct rtl_submit_thread *find_place(void)
{
    for (unsigned i = 0; i < THREADS; i++)
        if (!atomic_load_explicit(&threads[i].taken, memory_order_relaxed) &&
            !atomic_exchange_explicit(&threads[i].taken, true, memory_order_acquire))
            return &threads[i];
    return NULL;
}

/* A thread's place is another's when it has ended, and so is what it owns. */
static struct rtl_submit_thread *own_place(void)
{
    if (rtl_submit_thread != NULL)
        return rtl_submit_thread;
    (void)pthread_once(&once, make_key);
    struct rtl_submit_thread *place = has_key ? find_place() : NULL;
    if (place != NULL && pthread_setspecific(key, place) != 0) {
        atomic_store_explicit(&place->taken, false, memory_order_release);
        place = NULL;
    }
    rtl_submit_thread = place;
    return place;
}

/* ---- locks ---- */

static bool is_inside(struct rtl_submit_lock *lock, struct rtl_submit_thread *owner)
{
    return owner != NULL && atomic_load_explicit(&owner->inside, memory_order_acquire) == lock;
}

/* Every thread has passed a barrier when this returns. Where somebody has forbidden the system call
 * since rtl_submit_lock_prepare, a nap is as good: what a core has stored is there after some ns.
 */
static void pass_barriers(void)
{
    if (!barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED))
        rtl_nap(BARRIER_NAP_NS);
}

static struct rtl_submit_thread *owner_of(struct rtl_submit_lock *lock)
{
    return atomic_load_explicit(&lock->owner, memory_order_acquire);
}

/* True if the owner holds it by the fast path. If it is not, it does not get in as long as
 * `requests` is not 0. */
static bool owner_has_it(struct rtl_submit_lock *lock)
{
    struct rtl_submit_thread *owner = owner_of(lock);
    if (owner != NULL && owner != rtl_submit_thread)
        pass_barriers();
    return is_inside(lock, owner);
}

static bool serve_idle(struct rtl_submit_lock *lock)
{
    uint32_t idle = 0;
    if (!atomic_compare_exchange_strong_explicit(&lock->requests, &idle, 1 | HELD,
                                                 memory_order_acq_rel, memory_order_relaxed))
        return false;
    lock->seen = 1 | HELD;
    return true;
}

static bool serve(struct rtl_submit_lock *lock)
{
    uint32_t requests = atomic_load_explicit(&lock->requests, memory_order_relaxed);
    do {
        if (requests == 0 || (requests & (HELD | ENDED)) != 0)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&lock->requests, &requests, requests | HELD,
                                                    memory_order_acq_rel, memory_order_relaxed));
    lock->seen = requests | HELD;
    return true;
}

/* An owner that is inside looks whether there are requests when it leaves. If it did so while this
 * thread stood as the one who serves, it has left everything to this thread: hence another try. */
bool rtl_submit_lock_try_or_delegate(struct rtl_submit_lock *lock)
{
    bool serves = serve_idle(lock);
    if (!serves && (atomic_fetch_add(&lock->requests, 1) & (HELD | ENDED)) != 0)
        return false;
    while (serves || serve(lock)) {
        if (!owner_has_it(lock))
            return true;
        atomic_fetch_and(&lock->requests, ~HELD);
        if (is_inside(lock, owner_of(lock))) /* another one by now, or nobody */
            return false;
        serves = false;
    }
    return false;
}

/* A queue whose owner changes again and again has none: each change costs a system call, and the
 * other threads an interrupt. */
static void move(struct rtl_submit_lock *lock)
{
    struct rtl_submit_thread *self = own_place();
    if (lock->owner_changes > OWNER_CHANGES || self == NULL ||
        self == atomic_load_explicit(&lock->owner, memory_order_relaxed))
        return;
    lock->owner_changes++;
    atomic_store_explicit(&lock->owner, lock->owner_changes > OWNER_CHANGES ? NULL : self,
                          memory_order_relaxed);
}

bool rtl_submit_lock_unlock_or_repeat(struct rtl_submit_lock *lock, bool stays)
{
    if (stays && atomic_load_explicit(&prepared, memory_order_relaxed))
        move(lock);
    uint32_t seen = lock->seen;
    if (atomic_compare_exchange_strong_explicit(&lock->requests, &seen, 0, memory_order_acq_rel,
                                                memory_order_acquire))
        return true;
    lock->seen = seen;
    return false;
}

void rtl_submit_lock_unlock(struct rtl_submit_lock *lock)
{
    atomic_store_explicit(&lock->requests, 0, memory_order_release);
}

bool rtl_submit_lock_is_taken(struct rtl_submit_lock *lock)
{
    return atomic_load(&lock->requests) != 0 || owner_has_it(lock);
}

bool rtl_submit_lock_end(struct rtl_submit_lock *lock)
{
    uint32_t requests = 0;
    if (!atomic_compare_exchange_strong_explicit(&lock->requests, &requests, ENDED,
                                                 memory_order_acq_rel, memory_order_acquire) &&
        (requests & ENDED) == 0)
        return false;
    return !owner_has_it(lock);
}

void rtl_submit_lock_begin(struct rtl_submit_lock *lock)
{
    lock->owner_changes = 0;
    atomic_store(&lock->owner, NULL);
    atomic_store(&lock->requests, 0);
}

void rtl_submit_lock_forked(void)
{
    atomic_store(&prepared, false);
    for (unsigned i = 0; i < THREADS; i++) {
        if (&threads[i] == rtl_submit_thread)
            continue;
        atomic_store(&threads[i].inside, NULL);
        atomic_store(&threads[i].taken, false);
    }
}

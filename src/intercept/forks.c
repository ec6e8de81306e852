#include "intercept/forks.h"

#include "common/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define PATIENCE_NS UINT64_C(100000000) /* then a child may hang, and the parent does not */
#define STEP_NS     20000

static _Atomic uint32_t inside; /* threads */
static _Atomic uint32_t forks;  /* under way */
static void (*tell_child)(void);

/* Where RTL does nothing, and nobody is inside but perhaps whom the fork interrupted. */
static bool is_child;

/* What the program does in its own handlers, in the middle of its fork, is not held up. */
static _Thread_local bool is_forking __attribute__((tls_model("initial-exec")));

static void nap(void)
{
    struct timespec step = {.tv_sec = 0, .tv_nsec = STEP_NS};
    nanosleep(&step, NULL);
}

void rtl_forks_enter(void)
{
    int saved = errno;
    uint64_t end = 0;
    atomic_fetch_add(&inside, 1);
    while (atomic_load(&forks) > 0 && !is_forking) {
        uint64_t now = rtl_clock_ns(CLOCK_MONOTONIC);
        end = end == 0 ? now + PATIENCE_NS : end;
        if (now > end)
            break;
        atomic_fetch_sub(&inside, 1);
        nap();
        atomic_fetch_add(&inside, 1);
    }
    errno = saved;
}

void rtl_forks_leave(void)
{
    atomic_fetch_sub(&inside, 1);
}

static void before(void)
{
    int saved = errno;
    uint64_t end = rtl_clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
    is_forking = true;
    atomic_fetch_add(&forks, 1);
    while (!is_child && atomic_load(&inside) > 0 && rtl_clock_ns(CLOCK_MONOTONIC) < end)
        nap();
    errno = saved;
}

static void in_parent(void)
{
    atomic_fetch_sub(&forks, 1);
    is_forking = false;
}

static void in_child(void)
{
    is_child = true;
    atomic_store(&forks, 0);
    is_forking = false;
    tell_child();
}

void rtl_forks_watch(void (*child)(void))
{
    tell_child = child;
    (void)pthread_atfork(before, in_parent, in_child);
}

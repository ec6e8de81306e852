#include "intercept/base/forks.h"

#include "common/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define PATIENCE_NS UINT64_C(100000000) /* then a child may hang, and the parent does not */
#define STEP_NS     20000

static _Atomic uint32_t inside; /* threads */
static _Atomic uint32_t forks;  /* under way */
static void (*tell_child)(void);

/* Where RTL does nothing, and nobody is inside but perhaps whom the fork interrupted. */
static bool is_child;

/* What the program does in its own handlers, in the middle of its fork, is not held up. */
static _Thread_local bool is_forking __attribute__((tls_model("initial-exec")));

void rtl_forks_enter(void)
{
    uint64_t end = 0;
    atomic_fetch_add(&inside, 1);
    while (atomic_load(&forks) > 0 && !is_forking) {
        uint64_t now = rtl_clock_ns(CLOCK_MONOTONIC);
        end = end == 0 ? now + PATIENCE_NS : end;
        if (now > end)
            break;
        atomic_fetch_sub(&inside, 1);
        rtl_nap(STEP_NS);
        atomic_fetch_add(&inside, 1);
    }
}

void rtl_forks_leave(void)
{
    atomic_fetch_sub(&inside, 1);
}

static void before(void)
{
    uint64_t end = rtl_clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
    is_forking = true;
    atomic_fetch_add(&forks, 1);
    while (!is_child && atomic_load(&inside) > 0 && rtl_clock_ns(CLOCK_MONOTONIC) < end)
        rtl_nap(STEP_NS);
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

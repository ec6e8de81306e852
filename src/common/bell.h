/**
 * A bell that cuts a thread's nap short: a futex that counts how often it was rung.
 *
 * Who naps looks at the bell before he looks whether there is anything to do, so that what is rung
 * for in between is not slept over. Zero-initialised.
 */
#ifndef RTL_COMMON_BELL_H
#define RTL_COMMON_BELL_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct rtl_bell {
    _Atomic uint32_t rung;
};

/** How often the bell was rung. Any thread. */
static inline uint32_t rtl_bell_look(struct rtl_bell *bell)
{
    return atomic_load(&bell->rung);
}

/** Sleeps for `ns`, less than a second, or until the bell is rung; not at all if it was rung since
 * rtl_bell_look returned `seen`. May set errno. */
static inline void rtl_bell_nap(struct rtl_bell *bell, uint32_t seen, uint64_t ns)
{
    struct timespec time = {.tv_sec = 0, .tv_nsec = (long)ns};
    (void)syscall(SYS_futex, &bell->rung, FUTEX_WAIT_PRIVATE, seen, &time, NULL, 0);
}

/** Wakes one thread that naps at the bell, or that is about to. Any thread; may set errno. */
static inline void rtl_bell_ring(struct rtl_bell *bell)
{
    atomic_fetch_add(&bell->rung, 1);
    (void)syscall(SYS_futex, &bell->rung, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

#endif

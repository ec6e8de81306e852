/**
 * Wakes a thread that sleeps for a while: a futex that counts how often it was woken.
 *
 * The thread reads the count before it looks whether there is anything to do, so that a wakeup that
 * is sent in between is not slept over. Zero-initialised.
 */
#ifndef RTL_COMMON_WAKEUP_H
#define RTL_COMMON_WAKEUP_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct rtl_wakeup {
    _Atomic uint32_t sent;
};

/** How many wakeups were sent. Any thread. */
static inline uint32_t rtl_wakeup_count(struct rtl_wakeup *wakeup)
{
    return atomic_load(&wakeup->sent);
}

/** Sleeps for `ns`, less than a second, or until a wakeup is sent; not at all if one was since
 * rtl_wakeup_count returned `seen`. May set errno. */
static inline void rtl_wakeup_nap(struct rtl_wakeup *wakeup, uint32_t seen, uint64_t ns)
{
    struct timespec time = {.tv_sec = 0, .tv_nsec = (long)ns};
    (void)syscall(SYS_futex, &wakeup->sent, FUTEX_WAIT_PRIVATE, seen, &time, NULL, 0);
}

/** Wakes one thread that sleeps here, or that is about to. Any thread; may set errno. */
static inline void rtl_wakeup_send(struct rtl_wakeup *wakeup)
{
    atomic_fetch_add(&wakeup->sent, 1);
    (void)syscall(SYS_futex, &wakeup->sent, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

#endif

#include "common/clock.h"

#include <errno.h>

uint64_t rtl_clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t rtl_now(void)
{
    return rtl_clock_ns(CLOCK_BOOTTIME);
}

void rtl_nap(uint64_t ns)
{
    struct timespec time = {.tv_sec = 0, .tv_nsec = (long)ns};
    int saved = errno;
    (void)nanosleep(&time, NULL);
    errno = saved;
}

bool rtl_wait_until(bool (*done)(void *context), void *context, uint64_t deadline_ns,
                    uint64_t nap_ns)
{
    while (!done(context)) {
        if (rtl_clock_ns(CLOCK_MONOTONIC) > deadline_ns)
            return false;
        rtl_nap(nap_ns);
    }
    return true;
}

#include "common/clock.h"

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

#include "softgpu/clock.h"

#include <time.h>

uint64_t sg_clock_ticks(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    return ((uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec) / SG_NS_PER_TICK;
}

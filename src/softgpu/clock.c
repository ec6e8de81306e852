#include "softgpu/clock.h"

#include "common/clock.h"

__attribute__((constructor)) static void at_load(void)
{
    (void)rtl_clock_begin();
}

uint64_t sg_clock_ticks(void)
{
    return rtl_now() / SG_NS_PER_TICK;
}

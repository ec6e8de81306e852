#include "softgpu/clock.h"

#include "softgpu/process.h"
#include "softgpu/settings.h"

#include <hsakmt.h>
#include <time.h>

uint64_t sg_clock_ticks(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    return ((uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec) / SG_NS_PER_TICK;
}

/* The system counter is rounded down to the tick: with both counters of one reading exactly
 * proportional, no pair of readings can make a translated time drift. */
HSAKMT_STATUS hsaKmtGetClockCounters(HSAuint32 NodeId, HsaClockCounters *Counters)
{
    if (!sg_process_is_open())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    if (!Counters)
        return HSAKMT_STATUS_INVALID_PARAMETER;
    if (NodeId > sg_settings()->gpus)
        return HSAKMT_STATUS_INVALID_NODE_UNIT;
    uint64_t ticks = sg_clock_ticks();
    Counters->GPUClockCounter = NodeId == 0 ? 0 : ticks;
    Counters->CPUClockCounter = ticks * SG_NS_PER_TICK;
    Counters->SystemClockCounter = ticks * SG_NS_PER_TICK;
    Counters->SystemClockFrequencyHz = UINT64_C(1000000000);
    return HSAKMT_STATUS_SUCCESS;
}

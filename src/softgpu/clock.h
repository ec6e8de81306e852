/**
 * The software GPU's clock: 100 MHz, as gfx9's reference clock, derived from CLOCK_BOOTTIME: the
 * machine's, as a GPU and its driver know nothing of time namespaces.
 *
 * One tick is exactly SG_NS_PER_TICK nanoseconds of the system clock with no offset, so that ROCr's
 * translation of ticks to system time (GpuAgent::TranslateTime, a ratio of two differences) is
 * exact.
 */
#ifndef SOFTGPU_CLOCK_H
#define SOFTGPU_CLOCK_H

#include <stdint.h>

/** Nanoseconds of the system clock in one tick of the GPU clock. */
#define SG_NS_PER_TICK UINT64_C(10)

/** The GPU clock now, in ticks. Any thread. */
uint64_t sg_clock_ticks(void);

#endif

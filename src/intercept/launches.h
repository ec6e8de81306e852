/**
 * Graph launches on their way to the queues.
 *
 * The packets that a thread reserves between rtl_launch_begin and rtl_launch_end belong to its
 * launch, on whatever queue, and whoever submits them. When all have passed, the launch's record is
 * sent: who comes last sends it.
 */
#ifndef RTL_INTERCEPT_LAUNCHES_H
#define RTL_INTERCEPT_LAUNCHES_H

#include <stdint.h>

/** Begins a launch of a generation of a graph in the calling thread; sets rtl_origin.launch. The id
 * of the launch, or RTL_NONE: too many are on their way, or one is open in this thread already.
 * Any thread, lock-free. */
uint32_t rtl_launch_begin(uint32_t graph, uint32_t generation);

/** Ends the launch that is open in the calling thread, if any: nothing more will be reserved for
 * it. */
void rtl_launch_end(void);

/** The calling thread has reserved `packets` for its launch; returns the ordinal of the first. */
uint32_t rtl_launch_reserve(uint32_t queue, uint64_t first, uint32_t packets);

/** Packets of a launch have passed, or never will (`unseen`). Any thread. */
void rtl_launch_pass(uint32_t launch, uint32_t packets, uint32_t kernels, uint32_t unseen);

#endif

/**
 * The SDMA engine: gfx9 packets as ROCr writes them (amd_blit_sdma.cpp, sdma_registers.h).
 */
#ifndef SOFTGPU_SDMA_H
#define SOFTGPU_SDMA_H

#include "softgpu/queue.h"

#include <stdbool.h>

/** Does whatever the queue can do now, without waiting. Sets queue->wake. Returns whether anything
 *  happened. Device thread only. */
bool sg_sdma_serve(sg_queue_t *queue);

#endif

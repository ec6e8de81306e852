/**
 * The AQL packet processor. HSA System Architecture 1.2, section 2.9; the vendor packets as ROCr
 * writes them (hsa_ext_amd.h, amd_aql_queue.cpp).
 */
#ifndef SOFTGPU_AQL_H
#define SOFTGPU_AQL_H

#include "softgpu/queue.h"

#include <stdbool.h>

/** Does whatever the queue can do now, without waiting: ends kernels whose time has come, starts
 * packets. Sets queue->wake. Returns whether anything happened. Device thread only. */
bool sg_aql_serve(sg_queue_t *queue);

#endif

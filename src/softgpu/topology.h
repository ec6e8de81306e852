/**
 * Facts about the machine that other modules need; most of topology.c is behind the hsaKmt
 * functions.
 */
#ifndef SOFTGPU_TOPOLOGY_H
#define SOFTGPU_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

/** Size of each GPU's frame buffer in bytes, as on an MI50. It is address space: memory is only
 * used for what is touched. */
#define SG_FRAME_BUFFER_BYTES (UINT64_C(16) << 30)

/** True for the KFD node of a software GPU, false for the host's and for nodes that do not exist.
 */
bool sg_topology_is_gpu(uint32_t node);

#endif

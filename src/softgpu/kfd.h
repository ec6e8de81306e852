/**
 * The driver's side of the software GPU: what the KFD's ioctls do, by module.
 *
 * Functions that answer an ioctl take its arguments as <linux/kfd_ioctl.h> has them and return 0 or
 * an errno value. They are called by any thread.
 */
#ifndef SOFTGPU_KFD_H
#define SOFTGPU_KFD_H

#include <linux/kfd_ioctl.h>
#include <stdbool.h>
#include <stdint.h>

/** The GPU with this id of the topology, as an ordinal from 0; -1 if there is none. */
int sg_kfd_gpu_of(uint32_t gpu_id);

/** The id of a GPU in the topology, from its ordinal. */
uint32_t sg_kfd_id_of(uint32_t gpu);

/** True while this very process has the driver open: not in a forked child of one that has. */
bool sg_kfd_is_open(void);

/** True while a runtime has said that it begins, and not yet that it ends: it gets exceptions of
 * its queues. Any thread. */
bool sg_kfd_has_runtime(void);

/** The memory that stands for the GPUs' and for what the driver shares with the process; -1 before
 * the driver is opened. */
int sg_kfd_memfd(void);

#endif

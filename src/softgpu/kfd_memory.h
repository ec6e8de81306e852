/**
 * Memory of the software GPUs. What the driver gives out are pages of one memfd, which the process
 * maps itself at the address that the driver is told; so one address serves host and devices.
 * Memory of the process that is registered keeps its place, and has a second address on the
 * devices where the thunk chose one.
 *
 * sg_memory_find and sg_memory_host (exec.h) are implemented here.
 */
#ifndef SOFTGPU_KFD_MEMORY_H
#define SOFTGPU_KFD_MEMORY_H

#include "softgpu/kfd.h"
#include "softgpu/settings.h"

#include <stdatomic.h>
#include <stddef.h>

/** Doorbells of a GPU: a slot of 8 bytes each, in a page of this size at this place of the memfd.
 * Both must be what thunk and runtime expect of gfx9. */
enum { SG_DOORBELLS = 1024, SG_DOORBELL_BYTES = SG_DOORBELLS * 8 };

/** Makes the memfd. -1 with errno on failure. */
int sg_kfd_memory_create(void);

/** Forgets all allocations; what they hold is given back unless a forked child asks, whose parent
 * it is. */
void sg_kfd_memory_clear(bool give_back);

/** Locks and unlocks the table around a fork. */
void sg_kfd_memory_before_fork(void);
void sg_kfd_memory_after_fork(void);

int sg_kfd_allocate(struct kfd_ioctl_alloc_memory_of_gpu_args *args);
int sg_kfd_free(const struct kfd_ioctl_free_memory_of_gpu_args *args);
int sg_kfd_map(struct kfd_ioctl_map_memory_to_gpu_args *args);
int sg_kfd_unmap(struct kfd_ioctl_unmap_memory_from_gpu_args *args);

/** Bytes of a GPU's frame buffer that are allocated. */
uint64_t sg_kfd_memory_used(uint32_t gpu);

/** The doorbells of a GPU as the device reads them, and their place in the memfd. NULL if they
 * cannot be mapped. */
_Atomic uint64_t *sg_kfd_doorbells(uint32_t gpu, uint64_t *offset);

#endif

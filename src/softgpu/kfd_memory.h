/**
 * What the software GPUs have at which address. What the driver gives out are pages of a memfd
 * (kfd_buffers.h), which the process maps at the address that the driver is told; so one address
 * serves host and devices.
 * Memory of the process that is registered keeps its place, and has a second address on the
 * devices where the thunk chose one.
 *
 * sg_memory_find and sg_memory_host (exec.h) are implemented here.
 */
#ifndef SOFTGPU_KFD_MEMORY_H
#define SOFTGPU_KFD_MEMORY_H

#include "softgpu/kfd.h"
#include "softgpu/kfd_buffers.h"
#include "softgpu/settings.h"

#include <stdatomic.h>
#include <stddef.h>

/** Doorbells of a GPU: a slot of 8 bytes each, in a page of this size at this place of the memfd.
 * Both must be what thunk and runtime expect of gfx9. */
enum { SG_DOORBELLS = 1024, SG_DOORBELL_BYTES = SG_DOORBELLS * 8 };

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

/** AMDKFD_IOC_EXPORT_DMABUF, which older headers do not have. */
typedef struct sg_export_dmabuf_args {
    uint64_t handle;
    uint32_t flags; /* O_CLOEXEC */
    uint32_t dmabuf_fd;
} sg_export_dmabuf_args_t;

int sg_kfd_export_dmabuf(sg_export_dmabuf_args_t *args);
int sg_kfd_import_dmabuf(struct kfd_ioctl_import_dmabuf_args *args);
int sg_kfd_dmabuf_info(struct kfd_ioctl_get_dmabuf_info_args *args);

/** A part of a buffer at an address of a GPU, by a handle of the GPU's render node. */
typedef struct sg_mapping {
    uint32_t handle;
    uint32_t gpu;
    uint64_t offset;
    uint64_t bytes;
    uint64_t address;
} sg_mapping_t;

/** Maps it: 0 or an errno value. */
int sg_memory_place(sg_buffer_t *buffer, const sg_mapping_t *mapping);

/** Takes away what a handle mapped at an address, or, with address 0, something that it mapped
 * anywhere. False if there is no such thing. */
bool sg_memory_displace(uint32_t handle, uint64_t address);

/** The doorbells of a GPU as the device reads them, and their place in the memfd. NULL if they
 * cannot be mapped. */
_Atomic uint64_t *sg_kfd_doorbells(uint32_t gpu, uint64_t *offset);

#endif

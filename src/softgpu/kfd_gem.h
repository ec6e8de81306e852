/**
 * Handles of the render nodes: how a process names buffers that it has taken from dmabufs, and maps
 * them at the devices' addresses. What libdrm's functions for buffers do.
 *
 * The functions return 0 or an errno value; EBADF for what is no handle. Any thread.
 */
#ifndef SOFTGPU_KFD_GEM_H
#define SOFTGPU_KFD_GEM_H

#include "softgpu/front.h"

/** Makes a handle of a dmabuf, for a GPU. */
int sg_gem_import(uint32_t gpu, int dmabuf, uint32_t *handle, uint64_t *bytes);

/** Gives a handle back, with all that was mapped by it. */
int sg_gem_free(uint32_t handle);

/** A new dmabuf of what a handle stands for. */
int sg_gem_export(uint32_t handle, int *dmabuf);

/** Where the process finds the memory in what it may map of the render node. Another process's
 * memory has a place from SG_FOREIGN_PLACES on, which is mapped by sg_gem_host_map. */
int sg_gem_place(uint32_t handle, uint64_t *place);
int sg_gem_host_map(const sg_host_mapping_t *wanted, uint64_t place, void **mapped);

/** The process's own view of the memory, until the handle is given back. */
int sg_gem_cpu_map(uint32_t handle, void **address);

/** Maps a part at an address of the handle's GPU. */
int sg_gem_map(uint32_t handle, uint64_t offset, uint64_t bytes, uint64_t address);
int sg_gem_unmap(uint32_t handle, uint64_t address);

int sg_gem_metadata(uint32_t handle, sg_metadata_t *metadata);
int sg_gem_set_metadata(uint32_t handle, const sg_metadata_t *metadata);

/** Forgets all handles: without giving their memory back if it was a parent's. */
void sg_gem_clear(bool give_back);

/** Locks and unlocks the handles around a fork. */
void sg_gem_before_fork(void);
void sg_gem_after_fork(void);

#endif

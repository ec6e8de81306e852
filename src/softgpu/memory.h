/**
 * Memory of the software GPUs: every heap is host memory, one address for host and devices.
 *
 * sg_memory_find (exec.h) is implemented here too.
 */
#ifndef SOFTGPU_MEMORY_H
#define SOFTGPU_MEMORY_H

#include <hsakmttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Prepares the table of allocations. False when memory is short. Called at the thunk's open. */
bool sg_memory_open(void);

/** Gives back everything that is still allocated. Called at the thunk's close, with no device
 * thread. */
void sg_memory_close(void);

/** In a forked child: forgets the parent's allocations without unmapping them, for code of the
 * parent may still read them. */
void sg_memory_forget(void);

/** Locks and unlocks the table around a fork. */
void sg_memory_before_fork(void);
void sg_memory_after_fork(void);

/** Maps `size` bytes of zeroed memory that costs nothing until touched, aligned to `alignment` (a
 * power of two, at least a page). NULL on failure. The caller unmaps with munmap(address, size).
 * Any thread. */
void *sg_memory_map(size_t size, size_t alignment);

/** Allocates `size` bytes (a multiple of the page) on a node, aligned to `alignment` (a power of
 * two, 0 for the default). The answer is that of hsaKmtAllocMemory. Any thread. */
HSAKMT_STATUS sg_memory_allocate(uint32_t node, uint64_t size, uint64_t alignment,
                                 HsaMemFlags flags, void **address);

/** Bytes that are allocated on a node, scratch apart. Any thread. */
uint64_t sg_memory_used(uint32_t node);

/** The page that stands for the remapped MMIO registers (HDP flush): written by programs, read by
 * nobody. Lives while the thunk is open. */
void *sg_memory_mmio_page(void);

#endif

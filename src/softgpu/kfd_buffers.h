/**
 * Buffers: what the driver gives out, pages of one memfd. An allocation, a handle of a render node
 * and a mapping each hold the buffer that they are of.
 *
 * A dmabuf is a descriptor of the memfd, opened anew, whose place in the file is that of a page
 * which describes the buffer: so it can be known again, by this process and others, however it was
 * duplicated or passed on. It holds a lock on that page, of the kind that goes with the last
 * descriptor; while somebody has one, the memory is not given back.
 */
#ifndef SOFTGPU_KFD_BUFFERS_H
#define SOFTGPU_KFD_BUFFERS_H

#include "softgpu/front.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sg_buffer sg_buffer_t;

/** Opens the memfd. -1 with errno on failure. */
int sg_buffers_open(void);

/** Forgets that memfd's buffers, without giving anything back: it was a parent's. */
void sg_buffers_forget(void);

/** Locks and unlocks the buffers around a fork. */
void sg_buffers_before_fork(void);
void sg_buffers_after_fork(void);

/** A buffer of memory that reads as zero, held once; `flags` are those of its allocation. NULL if
 * there is no more. */
sg_buffer_t *sg_buffer_create(uint64_t bytes, uint32_t flags, uint32_t gpu);

/** Holds it once more. */
void sg_buffer_hold(sg_buffer_t *buffer);

/** Holds it once less; what nobody holds is given back. NULL is ignored. */
void sg_buffer_release(sg_buffer_t *buffer);

uint64_t sg_buffer_bytes(const sg_buffer_t *buffer);
uint32_t sg_buffer_flags(const sg_buffer_t *buffer);
uint32_t sg_buffer_gpu(const sg_buffer_t *buffer);

/** Its place in this process's memfd. False if it is another process's. */
bool sg_buffer_place(const sg_buffer_t *buffer, uint64_t *place);

/** Maps a part of it, for reading and writing, at `address` whatever is there, or anywhere if that
 * is NULL. A forked child does not have it. MAP_FAILED with errno on failure. */
void *sg_buffer_map(const sg_buffer_t *buffer, void *address, uint64_t offset, uint64_t bytes);

/** Maps a part of it as mmap(2) would. MAP_FAILED with errno on failure. */
void *sg_buffer_host_map(const sg_buffer_t *buffer, const sg_host_mapping_t *wanted,
                         uint64_t offset);

/** A dmabuf of it: a descriptor, or an errno value that is negated. */
int sg_buffer_export(sg_buffer_t *buffer, bool close_on_exec);

/** The buffer that a dmabuf is of, held once more: 0 or an errno value. EINVAL for what is no
 * dmabuf, or one whose memory is no more. */
int sg_buffer_import(int descriptor, sg_buffer_t **buffer);

/** The metadata of a buffer that has been exported or imported. False if it was not. */
bool sg_buffer_metadata(const sg_buffer_t *buffer, sg_metadata_t *metadata);
bool sg_buffer_set_metadata(sg_buffer_t *buffer, const sg_metadata_t *metadata);

/** Bytes of a GPU's frame buffer that are in use. */
uint64_t sg_buffers_used(uint32_t gpu);

#endif

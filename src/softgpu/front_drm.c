/* What thunk and runtime ask of libdrm, for render nodes of software GPUs. The preloaded library
 * comes before libdrm, where that is loaded; the functions are declared here, for nothing of it
 * need be installed. What is no software GPU is passed on. */
#include "softgpu/front.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRONT __attribute__((visibility("default")))

enum { DRM_MAJOR = 3, DRM_MINOR = 57 };

/* A GPU that was opened: amdgpu_device_handle. As with libdrm, its descriptor is one of its own:
 * the thunk of 6.1 closes the one that it opened, and uses this. */
typedef struct amdgpu_device {
    int descriptor;
    sg_gpu_facts_t facts;
} sg_drm_device_t;

/* struct amdgpu_gpu_info of amdgpu.h, as far as it is filled; the caller's is longer. */
typedef struct sg_gpu_info {
    uint32_t asic_id;
    uint32_t chip_rev;
    uint32_t chip_external_rev;
    uint32_t family_id;
    uint64_t ids_flags;
    uint64_t max_engine_clk;
    uint64_t max_memory_clk;
    uint32_t pipes[8];
    uint32_t gpu_counter_freq; /* kHz */
} sg_gpu_info_t;

_Static_assert(offsetof(sg_gpu_info_t, gpu_counter_freq) == 72, "libdrm's layout");

/* amdgpu_bo_handle. */
typedef struct amdgpu_bo {
    sg_drm_buffer_t buffer;
} sg_drm_bo_t;

/* struct amdgpu_bo_import_result. */
typedef struct sg_import {
    sg_drm_bo_t *bo;
    uint64_t bytes;
} sg_import_t;

/* struct amdgpu_bo_info. */
typedef struct sg_bo_info {
    uint64_t bytes;
    uint64_t alignment;
    uint32_t heap;
    uint64_t flags;
    sg_metadata_t metadata;
} sg_bo_info_t;

_Static_assert(offsetof(sg_bo_info_t, metadata) == 32, "libdrm's layout");

/* union drm_amdgpu_gem_mmap. */
typedef union sg_gem_mmap {
    uint32_t handle;
    uint64_t place;
} sg_gem_mmap_t;

/* Kinds of handle and operations of amdgpu.h, an ioctl and a heap of amdgpu_drm.h,
 * the alignment of memory. */
enum { HANDLE_KMS = 1, HANDLE_DMABUF = 2 };
enum { MAP = 1, UNMAP = 2 };
enum { GEM_MMAP = 1, HEAP_VRAM = 4, PAGE = 4096 };

int drmOpenRender(int minor);
int drmClose(int descriptor);
int drmCommandWriteRead(int descriptor, unsigned long index, void *data, unsigned long size);
int amdgpu_device_initialize(int descriptor, uint32_t *major_version, uint32_t *minor_version,
                             sg_drm_device_t **handle);
int amdgpu_device_deinitialize(sg_drm_device_t *device);
int amdgpu_device_get_fd(sg_drm_device_t *device);
const char *amdgpu_get_marketing_name(sg_drm_device_t *device);
int amdgpu_query_gpu_info(sg_drm_device_t *device, sg_gpu_info_t *info);
int amdgpu_bo_import(sg_drm_device_t *device, int type, uint32_t handle, sg_import_t *result);
int amdgpu_bo_export(sg_drm_bo_t *bo, int type, uint32_t *handle);
int amdgpu_bo_free(sg_drm_bo_t *bo);
int amdgpu_bo_cpu_map(sg_drm_bo_t *bo, void **address);
int amdgpu_bo_query_info(sg_drm_bo_t *bo, sg_bo_info_t *info);
int amdgpu_bo_set_metadata(sg_drm_bo_t *bo, const sg_metadata_t *metadata);
int amdgpu_bo_va_op(sg_drm_bo_t *bo, uint64_t offset, uint64_t size, uint64_t address,
                    uint64_t flags, uint32_t operation);

FRONT int drmOpenRender(int minor)
{
    int descriptor = sg_front_open_render((unsigned)minor, O_RDWR | O_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}

FRONT int drmClose(int descriptor)
{
    return close(descriptor);
}

/* Of the driver's ioctls by this way, the one that tells where to map a buffer. */
FRONT int drmCommandWriteRead(int descriptor, unsigned long index, void *data, unsigned long size)
{
    sg_gem_mmap_t *args = data;
    if (index != GEM_MMAP || size != sizeof(*args) || sg_front_render_of(descriptor) == 0)
        return -EOPNOTSUPP;
    return sg_front_calls()->buffer_place(args->handle, &args->place);
}

FRONT int amdgpu_device_initialize(int descriptor, uint32_t *major_version, uint32_t *minor_version,
                                   sg_drm_device_t **handle)
{
    unsigned number = sg_front_render_of(descriptor);
    if (number == 0)
        return -ENODEV;
    sg_drm_device_t *device = calloc(1, sizeof(*device));
    if (!device)
        return -ENOMEM;
    int failed = sg_front_calls()->facts(number, &device->facts);
    if (!failed) {
        device->descriptor = sg_front_open_render(number, O_RDWR | O_CLOEXEC);
        failed = device->descriptor < 0 ? -errno : 0;
    }
    if (failed) {
        free(device);
        return failed;
    }
    *major_version = DRM_MAJOR;
    *minor_version = DRM_MINOR;
    *handle = device;
    return 0;
}

FRONT int amdgpu_device_deinitialize(sg_drm_device_t *device)
{
    (void)close(device->descriptor);
    free(device);
    return 0;
}

FRONT int amdgpu_device_get_fd(sg_drm_device_t *device)
{
    return device->descriptor;
}

FRONT const char *amdgpu_get_marketing_name(sg_drm_device_t *device)
{
    return device->facts.name;
}

FRONT int amdgpu_query_gpu_info(sg_drm_device_t *device, sg_gpu_info_t *info)
{
    memset(info, 0, sizeof(*info));
    info->asic_id = device->facts.device;
    info->family_id = device->facts.family;
    info->gpu_counter_freq = device->facts.counter_khz;
    return 0;
}

/* ---- buffers ---- */

FRONT int amdgpu_bo_import(sg_drm_device_t *device, int type, uint32_t handle, sg_import_t *result)
{
    if (type != HANDLE_DMABUF)
        return -EOPNOTSUPP;
    sg_drm_bo_t *bo = calloc(1, sizeof(*bo));
    if (!bo)
        return -ENOMEM;
    int failed = sg_front_calls()->buffer_import(sg_front_render_of(device->descriptor),
                                                 (int)handle, &bo->buffer);
    if (failed) {
        free(bo);
        return failed;
    }
    result->bo = bo;
    result->bytes = bo->buffer.bytes;
    return 0;
}

FRONT int amdgpu_bo_export(sg_drm_bo_t *bo, int type, uint32_t *handle)
{
    if (type == HANDLE_KMS) {
        *handle = bo->buffer.handle;
        return 0;
    }
    if (type != HANDLE_DMABUF)
        return -EOPNOTSUPP;
    int dmabuf = sg_front_calls()->buffer_export(bo->buffer.handle);
    if (dmabuf < 0)
        return dmabuf;
    *handle = (uint32_t)dmabuf;
    return 0;
}

FRONT int amdgpu_bo_free(sg_drm_bo_t *bo)
{
    int failed = sg_front_calls()->buffer_free(bo->buffer.handle);
    free(bo);
    return failed;
}

FRONT int amdgpu_bo_cpu_map(sg_drm_bo_t *bo, void **address)
{
    return sg_front_calls()->buffer_cpu_map(bo->buffer.handle, address);
}

FRONT int amdgpu_bo_query_info(sg_drm_bo_t *bo, sg_bo_info_t *info)
{
    memset(info, 0, sizeof(*info));
    info->bytes = bo->buffer.bytes;
    info->alignment = PAGE;
    info->heap = HEAP_VRAM;
    return sg_front_calls()->buffer_metadata(bo->buffer.handle, &info->metadata);
}

FRONT int amdgpu_bo_set_metadata(sg_drm_bo_t *bo, const sg_metadata_t *metadata)
{
    return sg_front_calls()->buffer_set_metadata(bo->buffer.handle, metadata);
}

/* As with libdrm, the flags are not looked at: what is mapped may be read and written. */
FRONT int amdgpu_bo_va_op(sg_drm_bo_t *bo, uint64_t offset, uint64_t size, uint64_t address,
                          uint64_t flags, uint32_t operation)
{
    (void)flags;
    if (operation == MAP)
        return sg_front_calls()->buffer_map(bo->buffer.handle, offset, size, address);
    if (operation == UNMAP)
        return sg_front_calls()->buffer_unmap(bo->buffer.handle, address);
    return -EOPNOTSUPP;
}

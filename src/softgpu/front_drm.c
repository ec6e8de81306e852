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

int drmOpenRender(int minor);
int drmClose(int descriptor);
int drmCommandWriteRead(int descriptor, unsigned long index, void *data, unsigned long size);
int amdgpu_device_initialize(int descriptor, uint32_t *major_version, uint32_t *minor_version,
                             sg_drm_device_t **handle);
int amdgpu_device_deinitialize(sg_drm_device_t *device);
int amdgpu_device_get_fd(sg_drm_device_t *device);
const char *amdgpu_get_marketing_name(sg_drm_device_t *device);
int amdgpu_query_gpu_info(sg_drm_device_t *device, sg_gpu_info_t *info);
int amdgpu_bo_import(sg_drm_device_t *device, int type, uint32_t handle, void *result);
int amdgpu_bo_export(void *buffer, int type, uint32_t *handle);
int amdgpu_bo_free(void *buffer);
int amdgpu_bo_cpu_map(void *buffer, void **address);
int amdgpu_bo_va_op(void *buffer, uint64_t offset, uint64_t size, uint64_t address, uint64_t flags,
                    uint32_t operation);

FRONT int drmOpenRender(int minor)
{
    int descriptor = sg_front_open_render((unsigned)minor, O_RDWR | O_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}

FRONT int drmClose(int descriptor)
{
    return close(descriptor);
}

FRONT int drmCommandWriteRead(int descriptor, unsigned long index, void *data, unsigned long size)
{
    (void)descriptor;
    (void)index;
    (void)data;
    (void)size;
    return -EOPNOTSUPP;
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

FRONT int amdgpu_bo_import(sg_drm_device_t *device, int type, uint32_t handle, void *result)
{
    (void)device;
    (void)type;
    (void)handle;
    (void)result;
    return -EOPNOTSUPP;
}

FRONT int amdgpu_bo_export(void *buffer, int type, uint32_t *handle)
{
    (void)buffer;
    (void)type;
    (void)handle;
    return -EOPNOTSUPP;
}

FRONT int amdgpu_bo_free(void *buffer)
{
    (void)buffer;
    return -EOPNOTSUPP;
}

FRONT int amdgpu_bo_cpu_map(void *buffer, void **address)
{
    (void)buffer;
    (void)address;
    return -EOPNOTSUPP;
}

FRONT int amdgpu_bo_va_op(void *buffer, uint64_t offset, uint64_t size, uint64_t address,
                          uint64_t flags, uint32_t operation)
{
    (void)buffer;
    (void)offset;
    (void)size;
    (void)address;
    (void)flags;
    (void)operation;
    return -EOPNOTSUPP;
}

/**
 * Between the two libraries of the software GPU: the one that is preloaded into every process
 * (front.c, front_drm.c: libsoftgpu.so) and the one with the device, which the first loads when the
 * process opens the driver for the first time (kfd.c: libsoftgpu-device.so).
 */
#ifndef SOFTGPU_FRONT_H
#define SOFTGPU_FRONT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Number of the first render node (/dev/dri/renderD128), that of the first GPU. */
enum { SG_FIRST_RENDER_NODE = 128 };

/** What libdrm tells of a GPU. */
typedef struct sg_gpu_facts {
    const char *name;     /**< the marketing name; lives as long as the library */
    uint32_t device;      /**< PCI device id */
    uint32_t family;      /**< AMDGPU_FAMILY_* of amdgpu_drm.h */
    uint32_t counter_khz; /**< rate of the GPU clock */
    uint64_t frame_buffer_bytes;
} sg_gpu_facts_t;

/** One thing in a folder of sysfs. */
typedef struct sg_sysfs_entry {
    char name[32];
    bool is_folder;
} sg_sysfs_entry_t;

/** What users of a buffer keep with it: struct amdgpu_bo_metadata of amdgpu.h. */
typedef struct sg_metadata {
    uint64_t flags;
    uint64_t tiling;
    uint32_t bytes;
    uint32_t words[64];
} sg_metadata_t;

/** A buffer that was taken from a dmabuf, as a render node names it. */
typedef struct sg_drm_buffer {
    uint32_t handle;
    uint64_t bytes;
} sg_drm_buffer_t;

/** Places of a render node that are not in its file. */
#define SG_FOREIGN_PLACES (UINT64_C(1) << 62)

/** What mmap(2) is asked for. */
typedef struct sg_host_mapping {
    void *address;
    size_t bytes;
    int protection;
    int flags;
} sg_host_mapping_t;

/** The functions of the device's library. All keep to the convention of system calls: a result that
 * is not negative, or an errno value that is negated. Any thread. */
typedef struct sg_front_calls {
    /** Opens /dev/kfd: a descriptor, close-on-exec if `flags` (of open(2)) say so. */
    int (*open_kfd)(int flags);
    /** Opens the render node with this number. */
    int (*open_render)(unsigned number, int flags);
    /** Before a descriptor of open_kfd is closed. */
    void (*closing_kfd)(int descriptor);
    /** ioctl(2) on a descriptor of open_kfd. */
    int (*ioctl)(unsigned long request, void *argument);
    /** The facts of the GPU with this render node; -ENODEV if there is none. */
    int (*facts)(unsigned number, sg_gpu_facts_t *facts);
    /** The text of a file of sysfs, by its path without doubled slashes and dots. The caller frees
     * it. -ENOENT if there is no such file, -EISDIR if it is a folder. */
    int (*sysfs_text)(const char *path, char **text, size_t *size);
    /** Entry number `index` of a folder of sysfs: 1, or 0 behind the last one. -ENOENT if there is
     * no such folder, -ENOTDIR if it is a file. */
    int (*sysfs_entry)(const char *path, unsigned index, sg_sysfs_entry_t *entry);
    /** Takes a buffer from a dmabuf, for the GPU with this render node. -EINVAL for what is none,
     * or has no memory any more. */
    int (*buffer_import)(unsigned number, int dmabuf, sg_drm_buffer_t *buffer);
    /** Gives a handle back, with all mappings by it. -EBADF for what is no handle, here and below.
     */
    int (*buffer_free)(uint32_t handle);
    /** A dmabuf of the buffer: a descriptor. */
    int (*buffer_export)(uint32_t handle);
    /** Where a mapping of the render node has the buffer's memory. From SG_FOREIGN_PLACES on lies
     * what is another process's: it is mapped by buffer_host_map. */
    int (*buffer_place)(uint32_t handle, uint64_t *place);
    /** mmap(2) of such a place: 0, or an errno value that is negated. `mapped` is its address. */
    int (*buffer_host_map)(const sg_host_mapping_t *wanted, uint64_t place, void **mapped);
    /** Maps all of it for the host, until the handle is given back. */
    int (*buffer_cpu_map)(uint32_t handle, void **address);
    /** Maps a part of it at an address of the GPU, and takes away what was mapped there. */
    int (*buffer_map)(uint32_t handle, uint64_t offset, uint64_t bytes, uint64_t address);
    int (*buffer_unmap)(uint32_t handle, uint64_t address);
    int (*buffer_metadata)(uint32_t handle, sg_metadata_t *metadata);
    int (*buffer_set_metadata)(uint32_t handle, const sg_metadata_t *metadata);
} sg_front_calls_t;

/** Gives the front its calls; by the device's library as it is loaded. `calls` stays. */
void softgpu_front_take(const sg_front_calls_t *calls);

/** dlopen and dlsym, past whoever stands in front of them, as a profiler does: what the software
 * GPU is made of is none of the program's doings. */
void *softgpu_front_open(const char *path, int mode);
void *softgpu_front_symbol(void *library, const char *name);

/** Descriptors of a GPU as front.c knows them: the render node's number of an open one, 0 if it is
 * none. */
unsigned sg_front_render_of(int descriptor);

/** Opens a render node as open(2) would: a descriptor, or -1 with errno. */
int sg_front_open_render(unsigned number, int flags);

/** The device's calls, NULL (with errno) if its library cannot be loaded. */
const sg_front_calls_t *sg_front_calls(void);

#endif

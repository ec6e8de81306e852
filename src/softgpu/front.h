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

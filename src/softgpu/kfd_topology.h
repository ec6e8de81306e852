/**
 * What the machine looks like to programs: node 0 is the host, nodes 1 to N are software GPUs. The
 * driver tells it in files of sysfs, which are made here when they are asked for.
 */
#ifndef SOFTGPU_KFD_TOPOLOGY_H
#define SOFTGPU_KFD_TOPOLOGY_H

#include "softgpu/front.h"
#include "softgpu/kfd.h"

/** As sg_front_calls_t has them. */
int sg_topology_text(const char *path, char **text, size_t *size);
int sg_topology_entry(const char *path, unsigned index, sg_sysfs_entry_t *entry);

/** What libdrm tells of every GPU. */
void sg_topology_facts(sg_gpu_facts_t *facts);

/** Size of each GPU's frame buffer in bytes, as on an MI50. It is address space: memory is only
 * used for what is touched. */
#define SG_FRAME_BUFFER_BYTES (UINT64_C(16) << 30)

int sg_kfd_apertures(struct kfd_ioctl_get_process_apertures_new_args *args);
int sg_kfd_tile_config(struct kfd_ioctl_get_tile_config_args *args);

#endif

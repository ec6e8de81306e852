/* The driver without a thunk: its descriptors and ioctls. */
#ifndef TESTS_SOFTGPU_KFD_H
#define TESTS_SOFTGPU_KFD_H

#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <linux/kfd_ioctl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/* The id of the first GPU in the topology: that of the apertures. */
inline uint32_t kfd_gpu(int kfd)
{
    kfd_process_device_apertures apertures[16] = {};
    kfd_ioctl_get_process_apertures_new_args args = {};
    args.kfd_process_device_apertures_ptr = reinterpret_cast<uint64_t>(apertures);
    args.num_of_nodes = 16;
    return ioctl(kfd, AMDKFD_IOC_GET_PROCESS_APERTURES_NEW, &args) == 0 ? apertures[0].gpu_id : 0;
}

/* What a thunk does before anything else: the device starts. */
inline bool kfd_acquire(int kfd, uint32_t gpu, int render)
{
    kfd_ioctl_acquire_vm_args args = {};
    args.gpu_id = gpu;
    args.drm_fd = static_cast<uint32_t>(render);
    return ioctl(kfd, AMDKFD_IOC_ACQUIRE_VM, &args) == 0;
}

#endif

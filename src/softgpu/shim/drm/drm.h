/* <linux/kfd_ioctl.h> includes this header of libdrm's, which Debian does not install with the
 * kernel's, and takes nothing from it but the kernel's types. A real one comes first. */
#ifndef SOFTGPU_SHIM_DRM_H
#define SOFTGPU_SHIM_DRM_H

#include <linux/types.h>

#endif

// The kernels of rtl-selftest-work, compiled with RTL for where hipRTC is not there.

#include <hip/hip_runtime.h>

#include "kernels.h"

SELFTEST_KERNELS(SELFTEST_KERNEL)

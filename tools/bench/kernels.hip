// The kernels of rtl-bench-work. They compute nothing: how long they take is all that matters.

#include <hip/hip_runtime.h>

#include "work.h"

namespace
{

// Some ns on the device: GPUs of today have about two cycles to a ns.
__device__ void busy(long long ns)
{
    long long begin = clock64();
    while (clock64() - begin < 2 * ns) {
    }
}

} // namespace

extern "C" {

__global__ void rtl_bench_short(int *sink)
{
    if (threadIdx.x > 1024)
        *sink = 1;
}

__global__ void rtl_bench_medium(int *sink)
{
    if (threadIdx.x > 1024)
        *sink = 1;
    busy(WORK_MEDIUM_NS);
}

__global__ void rtl_bench_long(int *sink)
{
    if (threadIdx.x > 1024)
        *sink = 1;
    busy(WORK_LONG_NS);
}

int work_launch_kernel(enum work_kernel kernel, void *stream, int *sink)
{
    static void (*const kernels[])(int *) = {rtl_bench_short, rtl_bench_medium, rtl_bench_long};
    kernels[kernel]<<<dim3(1), dim3(64), 0, static_cast<hipStream_t>(stream)>>>(sink);
    return hipGetLastError();
}
}

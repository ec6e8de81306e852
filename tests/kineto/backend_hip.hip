// HIP on the software GPU.
#include "backend.h"

#include "../softgpu/hip/check.h"

namespace
{

constexpr size_t bytes = 1 << 16;

hipStream_t stream;
int *counter;
uint8_t *device, *pinned;

void kernels(unsigned count, unsigned microseconds)
{
    for (unsigned i = 0; i < count; i++) {
        hip_lasts<<<1, 64, 0, stream>>>(counter, microseconds * 1000);
        MUST(hipGetLastError());
    }
}

void copies(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        MUST(hipMemcpyAsync(device, pinned, bytes, hipMemcpyHostToDevice, stream));
    }
}

void sets(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        MUST(hipMemsetAsync(device, 1, bytes, stream));
    }
}

void wait_for_device()
{
    MUST(hipDeviceSynchronize());
}

} // namespace

struct backend backend_open()
{
    MUST(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    MUST(hipMalloc(reinterpret_cast<void **>(&counter), sizeof *counter));
    MUST(hipMalloc(reinterpret_cast<void **>(&device), bytes));
    MUST(hipHostMalloc(reinterpret_cast<void **>(&pinned), bytes));
    kernels(1, 1);
    sets(1);
    copies(1);
    wait_for_device();
    int devices = 0;
    hipDeviceProp_t properties;
    MUST(hipGetDeviceCount(&devices));
    MUST(hipGetDeviceProperties(&properties, 0));
    return {"RTL",
            "hipLaunchKernel",
            "hipMemcpyAsync",
            "hipMemsetAsync",
            kernels,
            copies,
            sets,
            wait_for_device,
            static_cast<uint32_t>(devices),
            static_cast<uint32_t>(properties.multiProcessorCount),
            static_cast<uint32_t>(properties.warpSize),
            properties.totalGlobalMem};
}

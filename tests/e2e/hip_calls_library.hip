// A library that is linked with HIP and opened by a program that is not (hip_calls.py).

#include "../softgpu/hip/kernels.h"

// Adds 1 to a value of the GPU's, `launches` times; returns the value, or -1.
extern "C" int add_on_gpu(int launches)
{
    int *value = nullptr;
    int result = -1;
    if (hipMalloc(reinterpret_cast<void **>(&value), sizeof *value) != hipSuccess ||
        hipMemset(value, 0, sizeof *value) != hipSuccess) {
        return -1;
    }
    for (int i = 0; i < launches; i++) {
        hip_add<<<1, 64>>>(value, 1, 1);
    }
    if (hipMemcpy(&result, value, sizeof result, hipMemcpyDeviceToHost) != hipSuccess ||
        hipFree(value) != hipSuccess) {
        return -1;
    }
    return result;
}

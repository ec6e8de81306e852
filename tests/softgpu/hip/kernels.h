// Kernels of the HIP tests; plugin.c says what they do on the software GPU.
#ifndef HIP_KERNELS_H
#define HIP_KERNELS_H

#include <hip/hip_runtime.h>

#include <cstdint>

// Copies bytes.
__global__ void hip_move(uint8_t *target, const uint8_t *source, size_t size)
{
    for (size_t i = threadIdx.x; i < size; i += blockDim.x) {
        target[i] = source[i];
    }
}

// values[i] += addend
__global__ void hip_add(int *values, int count, int addend)
{
    int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) {
        values[i] += addend;
    }
}

// values[i] = values[i] * factor + i
__global__ void hip_scale(int *values, int count, int factor)
{
    int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) {
        values[i] = values[i] * factor + i;
    }
}

// Takes milliseconds (see plugin.c), computes nothing.
__global__ void hip_slow()
{
}

// Counts, and takes the given time on the software GPU.
__global__ void hip_lasts(int *counter, uint32_t ns)
{
    (*counter)++;
}

// Counts, and takes the time that stands in memory when it starts, on the software GPU.
__global__ void hip_takes(int *counter, const uint32_t *ns)
{
    (*counter)++;
}

// Which GPU runs it. On the software GPU only.
__global__ void hip_where(int *gpu)
{
    *gpu = -1;
}

#endif

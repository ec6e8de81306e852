/* A HIP library that does nothing, at once: what is left of a call is its wrapper. */
#include "intercept/hip/declare.h"

hipError_t hipFree(void *ptr)
{
    (void)ptr;
    return hipSuccess;
}

hipError_t hipMalloc(void **ptr, size_t size)
{
    *ptr = &((char *)ptr)[size & 1];
    return hipSuccess;
}

hipError_t hipLaunchKernel(const void *function_address, dim3 numBlocks, dim3 dimBlocks,
                           void **args, size_t sharedMemBytes, hipStream_t stream)
{
    (void)function_address;
    (void)numBlocks;
    (void)dimBlocks;
    (void)args;
    (void)sharedMemBytes;
    (void)stream;
    return hipSuccess;
}

hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned int gridDimX, unsigned int gridDimY,
                                 unsigned int gridDimZ, unsigned int blockDimX,
                                 unsigned int blockDimY, unsigned int blockDimZ,
                                 unsigned int sharedMemBytes, hipStream_t stream,
                                 void **kernelParams, void **extra)
{
    (void)f;
    (void)gridDimX;
    (void)gridDimY;
    (void)gridDimZ;
    (void)blockDimX;
    (void)blockDimY;
    (void)blockDimZ;
    (void)sharedMemBytes;
    (void)stream;
    (void)kernelParams;
    (void)extra;
    return hipSuccess;
}

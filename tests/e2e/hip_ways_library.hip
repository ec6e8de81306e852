// A library that captures a graph of sixteen kernels and replays it. It prints the calls that it
// makes ("made NAME COUNT"). hip_ways.c opens it, in several ways.

#include <dlfcn.h>
#include <stdio.h>

#include "../softgpu/hip/kernels.h"

#pragma clang diagnostic ignored "-Wdeprecated-declarations"

#define KERNELS 16

static void made(const char *name, int count)
{
    (void)printf("made %s %d\n", name, count);
    (void)fflush(stdout);
}

#define NUMBER_OF(number) #number
#define NUMBER(macro)     NUMBER_OF(macro)

// Calls a function of HIP, which is right, or returns 1.
#define DO(function, ...)                                                                          \
    made(#function, 1);                                                                            \
    if (function(__VA_ARGS__) != hipSuccess)                                                       \
    return 1

static int wait_for(hipStream_t stream, bool by_version)
{
    using synchronize = hipError_t (*)(hipStream_t);
    synchronize function = hipStreamSynchronize;
    if (by_version)
        function = reinterpret_cast<synchronize>(
            dlvsym(dlopen("libamdhip64.so." NUMBER(HIP_VERSION_MAJOR), RTLD_NOW | RTLD_NOLOAD),
                   "hipStreamSynchronize", "hip_4.2"));
    made("hipStreamSynchronize", 1);
    return function == nullptr || function(stream) != hipSuccess;
}

extern "C" int run(int count, int by_version)
{
    int *value;
    void *host;
    int result = 0;
    hipStream_t stream;
    hipGraph_t graph;
    hipGraphExec_t exec;
    DO(hipMalloc, reinterpret_cast<void **>(&value), sizeof *value);
    DO(hipMemcpy, value, &result, sizeof result, hipMemcpyHostToDevice);
    // HIP makes this by a call of hipHostMalloc, which has to be its own.
    DO(hipMemAllocHost, &host, sizeof *value);
    DO(hipHostFree, host);
    DO(hipStreamCreate, &stream);
    DO(hipStreamBeginCapture, stream, hipStreamCaptureModeGlobal);
    made("hipLaunchKernel", KERNELS);
    for (int i = 0; i < KERNELS; i++)
        hip_add<<<1, 64, 0, stream>>>(value, 1, 1);
    DO(hipStreamEndCapture, stream, &graph);
    DO(hipGraphInstantiate, &exec, graph, nullptr, nullptr, 0);
    made("hipGraphLaunch", count);
    for (int i = 0; i < count; i++)
        if (hipGraphLaunch(exec, stream) != hipSuccess)
            return 1;
    if (wait_for(stream, by_version != 0) != 0)
        return 1;
    DO(hipMemcpy, &result, value, sizeof result, hipMemcpyDeviceToHost);
    (void)printf("kernels %d\n", result);
    (void)fflush(stdout);
    return result != count * KERNELS;
}

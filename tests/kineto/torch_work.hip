// A library for torch_profile.py: work of HIP, graphs among it.
#include "../softgpu/hip/kernels.h"

namespace
{

constexpr int values = 64;

hipStream_t stream;
hipGraphExec_t graph;
int *memory;

} // namespace

// All return 0, or hipError_t.

extern "C" int work_open(int nodes)
{
    hipGraph_t captured = nullptr;
    hipError_t error = hipStreamCreate(&stream);
    error = error != hipSuccess
                ? error
                : hipMalloc(reinterpret_cast<void **>(&memory), values * sizeof *memory);
    error = error != hipSuccess ? error : hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal);
    for (int i = 0; i < nodes && error == hipSuccess; i++) {
        hip_add<<<1, values, 0, stream>>>(memory, values, i);
        error = hipGetLastError();
    }
    error = error != hipSuccess ? error : hipStreamEndCapture(stream, &captured);
    error =
        error != hipSuccess ? error : hipGraphInstantiate(&graph, captured, nullptr, nullptr, 0);
    return error;
}

extern "C" int work_replay()
{
    return hipGraphLaunch(graph, stream);
}

extern "C" int work_single()
{
    hip_scale<<<1, values, 0, stream>>>(memory, values, 2);
    return hipGetLastError();
}

extern "C" int work_set()
{
    return hipMemsetAsync(memory, 0, values * sizeof *memory, stream);
}

extern "C" int work_wait()
{
    return hipDeviceSynchronize();
}

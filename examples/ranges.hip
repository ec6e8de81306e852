// What each step of a loop costs the GPU, told to the program itself.
//
//     hipcc ranges.hip $(pkg-config --cflags --libs rtl) -o ranges && ./ranges
//
// Under `rtl trace` the ranges go into the trace as well: rtl ranges trace.db

#include <hip/hip_runtime.h>
#include <rtl/rtl_session.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define MUST(call)                                                                                 \
    do {                                                                                           \
        hipError_t error = (call);                                                                 \
        if (error != hipSuccess) {                                                                 \
            std::fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(error));                     \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

__global__ void scale(float *values, int count, float factor)
{
    int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) {
        values[i] *= factor;
    }
}

namespace
{

constexpr int count = 1 << 16;
constexpr int layers = 8;
constexpr int steps = 4;

void tell(uint64_t range)
{
    rtl_range_result_t result;
    if (rtlSessionResult(range, 1000, &result) != 0) {
        std::perror("rtlSessionResult");
        std::exit(1);
    }
    std::printf("%s: %" PRIu64 " kernels, %" PRIu64 " graph launches, %" PRIu64
                " bytes copied; took %" PRIu64 " ns, GPU busy for %" PRIu64 " ns, idle for %" PRIu64
                " ns\n",
                result.text, result.kernels, result.graph_launches, result.copy_bytes,
                result.wall_ns, result.busy_ns, result.idle_ns);
}

} // namespace

int main()
{
    bool session = rtlSessionBegin() == 0;
    float *values = nullptr;
    std::vector<uint64_t> ranges;
    hipStream_t stream = nullptr;
    hipGraph_t graph = nullptr;
    hipGraphExec_t exec = nullptr;
    MUST(hipMalloc(reinterpret_cast<void **>(&values), count * sizeof *values));
    MUST(hipStreamCreate(&stream));

    rtlRangePush("prepare");
    ranges.push_back(rtlRangeCurrent());
    MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    for (int i = 0; i < layers; i++) {
        scale<<<count / 256, 256, 0, stream>>>(values, count, 1.01F);
    }
    MUST(hipStreamEndCapture(stream, &graph));
    MUST(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    rtlRangePop();

    rtlRangePush("all steps");
    ranges.push_back(rtlRangeCurrent());
    for (int i = 0; i < steps; i++) {
        char name[16];
        std::snprintf(name, sizeof name, "step %d", i);
        rtlRangePush(name);
        ranges.push_back(rtlRangeCurrent());
        for (int k = 0; k < i; k++) {
            scale<<<count / 256, 256, 0, stream>>>(values, count, 0.99F);
        }
        MUST(hipGraphLaunch(exec, stream));
        MUST(hipStreamSynchronize(stream));
        rtlRangePop();
    }
    rtlRangePop();

    if (session) {
        for (uint64_t range : ranges) {
            tell(range);
        }
        rtlSessionEnd();
    }
    MUST(hipGraphExecDestroy(exec));
    MUST(hipGraphDestroy(graph));
    MUST(hipStreamDestroy(stream));
    MUST(hipFree(values));
    return 0;
}

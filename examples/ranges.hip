// What each step of a loop costs the GPU, told to the program itself when the step is over.
//
//     hipcc ranges.hip $(pkg-config --cflags --libs rtl) -o ranges && ./ranges
//
// Under `rtl trace` the ranges go into the trace as well: rtl ranges trace.db

#include <hip/hip_runtime.h>
#include <rtl/rtl_session.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

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

// Ends the range, waits for its work, and prints a line of the table.
void pop()
{
    rtl_range_result_t result;
    rtl_range_metric_t lanes;
    char use[16] = "-";
    rtlRangePop(&result);
    if (result.error != 0) {
        std::printf("%s\n", std::strerror(result.error));
        return;
    }
    if (rtlSessionMetric(result.id, "lane_use", &lanes) == 0) {
        std::snprintf(use, sizeof use, "%.1f %s", lanes.value, lanes.unit);
    }
    std::printf("%-10s %7" PRIu64 " %7" PRIu64 " %9s %10.1f %10.1f\n", result.text, result.kernels,
                result.graph_launches, use, result.busy_ns / 1e3, result.idle_ns / 1e3);
}

void fail()
{
    char sentence[256];
    rtlSessionError(sentence, sizeof sentence);
    std::fprintf(stderr, "ranges: %s\n", sentence);
    std::exit(1);
}

} // namespace

int main()
{
    if (rtlSessionMetrics("lane_use") != 0) {
        fail();
    }
    if (rtlSessionBegin() != 0) {
        std::perror("rtlSessionBegin");
        return 1;
    }
    float *values = nullptr;
    hipStream_t stream = nullptr;
    hipGraph_t graph = nullptr;
    hipGraphExec_t exec = nullptr;
    MUST(hipMalloc(reinterpret_cast<void **>(&values), count * sizeof *values));
    MUST(hipStreamCreate(&stream));

    std::printf("%-10s %7s %7s %9s %10s %10s\n", "range", "kernels", "graphs", "lane use",
                "busy us", "idle us");
    rtlRangePush("prepare");
    MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    for (int i = 0; i < layers; i++) {
        scale<<<count / 256, 256, 0, stream>>>(values, count, 1.01F);
    }
    MUST(hipStreamEndCapture(stream, &graph));
    MUST(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    pop();

    rtlRangePush("all steps");
    for (int i = 0; i < steps; i++) {
        char name[16];
        std::snprintf(name, sizeof name, "step %d", i);
        rtlRangePush(name);
        for (int k = 0; k < i; k++) {
            scale<<<count / 256, 256, 0, stream>>>(values, count, 0.99F);
        }
        MUST(hipGraphLaunch(exec, stream));
        pop();
    }
    pop();

    rtlSessionEnd();
    MUST(hipGraphExecDestroy(exec));
    MUST(hipGraphDestroy(graph));
    MUST(hipStreamDestroy(stream));
    MUST(hipFree(values));
    return 0;
}

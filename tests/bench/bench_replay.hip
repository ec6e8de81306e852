// What a launch of a graph costs the thread that makes it: time-stamp counter and thread CPU clock
// around hipGraphLaunch, for a chain of NODES kernels. Each launch is waited for, outside of it.
//
//     bench_replay NODES LAUNCHES
//
// Prints one line of JSON: the median of a launch, the same for each kernel, and the mean by the
// CPU clock, in ns; items are the kernels, those of launches for warming up included.

#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "timing.h"

namespace
{

enum { WARM_UP = 8, MOST_NODES = 100000 };

void must(hipError_t status, const char *what)
{
    if (status != hipSuccess) {
        std::fprintf(stderr, "bench_replay: %s: %s\n", what, hipGetErrorString(status));
        std::exit(1);
    }
}

__global__ void replayed(int *data)
{
    if (data != nullptr) {
        *data = 1;
    }
}

hipGraphExec_t capture(hipStream_t stream, int nodes)
{
    hipGraph_t graph = nullptr;
    hipGraphExec_t exec = nullptr;
    int *data = nullptr;
    must(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal), "beginning a capture");
    for (int i = 0; i < nodes; i++) {
        replayed<<<1, 64, 0, stream>>>(data);
    }
    must(hipStreamEndCapture(stream, &graph), "ending a capture");
    must(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), "instantiating a graph");
    must(hipGraphDestroy(graph), "destroying the captured graph");
    return exec;
}

} // namespace

int main(int argc, char **argv)
{
    int nodes = argc == 3 ? std::atoi(argv[1]) : 0;
    int launches = argc == 3 ? std::atoi(argv[2]) : 0;
    if (nodes < 1 || nodes > MOST_NODES || launches < 1) {
        std::fprintf(stderr,
                     "bench_replay: usage: bench_replay NODES LAUNCHES, NODES from 1 to %d\n",
                     static_cast<int>(MOST_NODES));
        return 2;
    }
    hipStream_t stream = nullptr;
    must(hipStreamCreate(&stream), "creating a stream");
    hipGraphExec_t exec = capture(stream, nodes);
    std::vector<double> costs;
    double scale = ticks_per_ns();
    double cpu = 0;
    for (int i = 0; i < WARM_UP + launches; i++) {
        double cpu_begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
        unsigned long long begin = __rdtsc();
        must(hipGraphLaunch(exec, stream), "launching a graph");
        unsigned long long end = __rdtsc();
        double cpu_end = now_ns(CLOCK_THREAD_CPUTIME_ID);
        must(hipStreamSynchronize(stream), "waiting for a stream");
        if (i >= WARM_UP) {
            costs.push_back(static_cast<double>(end - begin) / scale);
            cpu += cpu_end - cpu_begin;
        }
    }
    double median = quantile(costs.data(), costs.size(), 0.5);
    std::printf("{\"nodes\": %d, \"launches\": %d, \"items\": %d, \"launch_ns\": %.1f, "
                "\"node_ns\": %.2f, \"cpu_ns\": %.1f}\n",
                nodes, launches, (WARM_UP + launches) * nodes, median, median / nodes,
                cpu / launches);
    must(hipGraphExecDestroy(exec), "destroying a graph");
    must(hipStreamDestroy(stream), "destroying a stream");
    return 0;
}

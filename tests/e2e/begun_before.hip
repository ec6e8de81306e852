// begun_before TIMES MOST: replays of a chain of 400 kernels, while another thread starts recording
// within each hipGraphLaunch, sooner or later by what the last one took. After so many launches
// that were under way when it was started, or MOST, it ends. Prints `kernels N` for all that ran.

#include "../softgpu/hip/check.h"

#include <atomic>
#include <chrono>
#include <dlfcn.h>
#include <thread>

namespace
{

const int nodes = 400;

using Clock = std::chrono::steady_clock;

// rtlStop or rtlStart of the library that is in this process.
void control(const char *name)
{
    auto function = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, name));
    CHECK(function != nullptr && function() == 0, name);
}

hipGraphExec_t make_graph(hipStream_t stream)
{
    int *count = nullptr;
    hipGraph_t graph = nullptr;
    hipGraphExec_t exec = nullptr;
    MUST(hipMalloc(&count, sizeof *count));
    MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    for (int i = 0; i < nodes; i++) {
        hip_lasts<<<1, 64, 0, stream>>>(count, 100);
    }
    MUST(hipStreamEndCapture(stream, &graph));
    MUST(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    MUST(hipGraphDestroy(graph));
    return exec;
}

void wait_until(Clock::time_point time)
{
    while (Clock::now() < time) {
        std::this_thread::yield();
    }
}

// Whether recording was started before the launch returned, `share` of its time after its begin.
bool launch(hipGraphExec_t exec, hipStream_t stream, double share, Clock::duration &took)
{
    std::atomic<bool> begun{false}, returned{false}, within{false};
    control("rtlStop");
    std::thread other([&] {
        while (!begun) {
        }
        wait_until(Clock::now() + std::chrono::duration_cast<Clock::duration>(share * took));
        control("rtlStart");
        within = !returned;
    });
    Clock::time_point start = Clock::now();
    begun = true;
    MUST(hipGraphLaunch(exec, stream));
    returned = true;
    took = Clock::now() - start;
    other.join();
    MUST(hipStreamSynchronize(stream));
    return within;
}

} // namespace

int main(int argc, char **argv)
{
    int times = argc == 3 ? std::atoi(argv[1]) : 0;
    int most = argc == 3 ? std::atoi(argv[2]) : 0;
    int rounds = 0;
    Clock::duration took = std::chrono::milliseconds(1);
    hipStream_t stream = nullptr;
    MUST(hipStreamCreate(&stream));
    hipGraphExec_t exec = make_graph(stream);
    MUST(hipGraphLaunch(exec, stream));
    MUST(hipStreamSynchronize(stream));
    for (; times > 0 && rounds < most; rounds++) {
        times -= launch(exec, stream, (rounds % 10) / 10.0, took) ? 1 : 0;
    }
    MUST(hipGraphExecDestroy(exec));
    MUST(hipStreamDestroy(stream));
    std::printf("kernels %d\n", nodes * (rounds + 1));
    return failures() == 0 ? 0 : 1;
}

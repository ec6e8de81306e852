// told WAY END: kernels, copies and launches of a graph, which the program is told in this way are
// done; then it ends by this signal, or by exit, _exit or quick_exit, in the same moment. Prints
// before that, in one line, how many kernels and launches it waits for.

#include "../softgpu/hip/check.h"

#include <atomic>
#include <csignal>
#include <map>
#include <unistd.h>

namespace
{

const int kernels = 100, nodes = 4, launches = 5;
const size_t bytes = 1 << 16;

int *counter;
uint8_t *device, *host;
hipStream_t stream, other;
hipEvent_t begin, event;

void launch(hipStream_t on)
{
    hip_lasts<<<1, 64, 0, on>>>(counter, 500);
}

// Whether it waits or not, it knows that something is done only when it is told.
template <typename Query> void poll(Query query)
{
    hipError_t status = hipErrorNotReady;
    while (status == hipErrorNotReady) {
        status = query();
    }
    MUST(status);
}

void by_stream()
{
    MUST(hipStreamSynchronize(stream));
}

void by_device()
{
    MUST(hipDeviceSynchronize());
}

void by_event()
{
    MUST(hipEventSynchronize(event));
}

void by_stream_query()
{
    poll([] { return hipStreamQuery(stream); });
}

void by_event_query()
{
    poll([] { return hipEventQuery(event); });
}

void by_elapsed()
{
    float elapsed = 0;
    poll([&] { return hipEventElapsedTime(&elapsed, begin, event); });
}

// Behind all that the stream has, by the NULL stream.
void by_copy()
{
    MUST(hipMemcpy(host, device, bytes, hipMemcpyDeviceToHost));
}

// The kernels are on one stream, and the program hears of another one.
void by_other_stream()
{
    MUST(hipStreamWaitEvent(other, event, 0));
    launch(other);
    MUST(hipStreamSynchronize(other));
}

// By a function that the stream calls when it gets there.
std::atomic<bool> called;

void by_callback()
{
    MUST(hipStreamAddCallback(
        stream, [](hipStream_t, hipError_t, void *) { called = true; }, nullptr, 0));
    while (!called) {
    }
}

void work()
{
    hipGraph_t graph;
    hipGraphExec_t exec;
    MUST(hipMalloc(&counter, sizeof *counter));
    MUST(hipMalloc(&device, bytes));
    MUST(hipHostMalloc(&host, bytes));
    MUST(hipStreamCreate(&stream));
    MUST(hipStreamCreate(&other));
    MUST(hipEventCreate(&begin));
    MUST(hipEventCreate(&event));
    MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    for (int i = 0; i < nodes; i++) {
        launch(stream);
    }
    MUST(hipStreamEndCapture(stream, &graph));
    MUST(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    MUST(hipEventRecord(begin, stream));
    for (int i = 0; i < kernels; i++) {
        launch(stream);
    }
    for (int i = 0; i < launches; i++) {
        MUST(hipGraphLaunch(exec, stream));
    }
    MUST(hipMemcpyAsync(host, device, bytes, hipMemcpyDeviceToHost, stream));
    MUST(hipEventRecord(event, stream));
}

void end_by(const std::string &how)
{
    static const std::map<std::string, int> signals = {
        {"kill", SIGKILL}, {"term", SIGTERM}, {"abort", SIGABRT}, {"segv", SIGSEGV}};
    if (how == "_exit") {
        _exit(0);
    }
    if (how == "quick_exit") {
        quick_exit(0);
    }
    if (signals.count(how) != 0) {
        (void)raise(signals.at(how));
    }
    exit(0);
}

} // namespace

int main(int count, char **arguments)
{
    static const std::map<std::string, void (*)()> ways = {{"stream", by_stream},
                                                           {"device", by_device},
                                                           {"event", by_event},
                                                           {"stream-query", by_stream_query},
                                                           {"event-query", by_event_query},
                                                           {"elapsed", by_elapsed},
                                                           {"copy", by_copy},
                                                           {"callback", by_callback},
                                                           {"other-stream", by_other_stream}};
    if (count != 3 || ways.count(arguments[1]) == 0) {
        return 2;
    }
    std::string way = arguments[1];
    work();
    std::printf("%d %d\n", kernels + nodes * launches + (way == "other-stream" ? 1 : 0), launches);
    (void)std::fflush(stdout);
    ways.at(way)();
    end_by(arguments[2]);
}

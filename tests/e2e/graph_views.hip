// graph_views [PERCENT]: graphs whose replays are known beforehand, for the views of rtl.
//
// Graph 1 is a chain of 12 kernels of about 20 us, with a copy before the tenth. Node 4 lasts three
// times as long, node 7 10 us or 40 us in turn, and in launches 13 and 31 node 2 lasts 20 ms. Graph
// 2 is the same without the last of these, and its node 5 takes 10 percent longer, node 6 PERCENT
// longer. In graph 3 a kernel of 300 us and one of 30 us stand side by side between two others.
//
// A kernel reads its duration from memory when it starts, so each replay has its own.

#include "../softgpu/hip/check.h"

namespace
{

const int chain = 12, replays = 48, branching_replays = 24;

int *counter;
uint32_t *durations; // of the nodes of a graph, by place

void capture(hipStream_t stream, int place, unsigned blocks = 1)
{
    hip_takes<<<dim3(blocks), dim3(64), 0, stream>>>(counter, durations + place);
}

// 0 to 990 ns, as even as a hash is.
uint32_t jitter(uint32_t graph, uint32_t replay, uint32_t node)
{
    uint32_t x = (graph * 1000 + replay) * 1000 + node;
    x = (x ^ (x >> 16U)) * 0x7feb352dU;
    x = (x ^ (x >> 15U)) * 0x846ca68bU;
    return (x ^ (x >> 16U)) % 100 * 10;
}

uint32_t lasts(int graph, int replay, int node, int percent)
{
    uint32_t ns = 20000;
    if (node == 4) {
        ns = 60000;
    } else if (node == 7) {
        ns = replay % 2 == 0 ? 10000 : 40000;
    } else if (graph == 2 && node == 5) {
        ns = 22000;
    } else if (graph == 2 && node == 6) {
        ns += ns / 100 * static_cast<uint32_t>(percent);
    } else if (graph == 1 && node == 2 && (replay == 13 || replay == 31)) {
        return 20000000;
    }
    return ns + jitter(static_cast<uint32_t>(graph), static_cast<uint32_t>(replay),
                       static_cast<uint32_t>(node));
}

hipGraphExec_t end_capture(hipStream_t stream)
{
    hipGraph_t graph = nullptr;
    hipGraphExec_t exec = nullptr;
    MUST(hipStreamEndCapture(stream, &graph));
    MUST(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    return exec;
}

void run_chain(int number, int percent, hipStream_t stream, void *memory, void *pinned)
{
    MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    for (int node = 0; node < chain; node++) {
        if (node == 9) {
            MUST(hipMemcpyAsync(memory, pinned, 4096, hipMemcpyHostToDevice, stream));
        }
        capture(stream, node);
    }
    hipGraphExec_t exec = end_capture(stream);
    for (int replay = 1; replay <= replays; replay++) {
        for (int node = 0; node < chain; node++) {
            durations[node] = lasts(number, replay, node, percent);
        }
        MUST(hipGraphLaunch(exec, stream));
        MUST(hipStreamSynchronize(stream));
    }
}

void run_branches(hipStream_t stream)
{
    static const uint32_t branching[] = {20000, 300000, 30000, 20000};
    hipStream_t other = nullptr;
    hipEvent_t fork = nullptr, join = nullptr;
    MUST(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
    MUST(hipEventCreate(&fork));
    MUST(hipEventCreate(&join));
    MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    capture(stream, 0);
    MUST(hipEventRecord(fork, stream));
    MUST(hipStreamWaitEvent(other, fork, 0));
    capture(stream, 1);
    capture(other, 2, 2);
    MUST(hipEventRecord(join, other));
    MUST(hipStreamWaitEvent(stream, join, 0));
    capture(stream, 3);
    hipGraphExec_t exec = end_capture(stream);
    std::memcpy(durations, branching, sizeof branching);
    for (int replay = 1; replay <= branching_replays; replay++) {
        MUST(hipGraphLaunch(exec, stream));
        MUST(hipStreamSynchronize(stream));
    }
}

} // namespace

int main(int argc, char **argv)
{
    hipStream_t stream = nullptr;
    void *memory = nullptr, *pinned = nullptr;
    int percent = argc > 1 ? std::atoi(argv[1]) : 0;
    MUST(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    MUST(hipMalloc(&memory, 4096));
    MUST(hipHostMalloc(&pinned, 4096));
    MUST(hipHostMalloc(reinterpret_cast<void **>(&counter), sizeof *counter));
    MUST(hipHostMalloc(reinterpret_cast<void **>(&durations), chain * sizeof *durations));
    *counter = 0;
    run_chain(1, percent, stream, memory, pinned);
    run_chain(2, percent, stream, memory, pinned);
    run_branches(stream);
    CHECK(*counter == 2 * chain * replays + 4 * branching_replays, "kernels that ran");
    return finish();
}

// steps serve|train|make|stop|parts|layers|peers [NS [KERNELS [PLANT]]]: what a server, a trainer,
// a maker of graphs and one of parts of steps do, whose steps and calls are known.
//
// A kernel takes NS (20000) on the software GPU; the decode graph has so many KERNELS (4). PLANT is
// "layer": its third one takes 20 % longer; or "sync": each token waits once more.
//
// serve: a warm-up of 3 kernels, then 4 requests: a launch of graph 1 (6 kernels of 8 workgroups,
// the prefill) and 25 tokens. A token is a launch of graph 2 (4 kernels of a workgroup), a kernel,
// a copy to the host and a wait for the stream, in a range "token". Behind each token of request 1
// the thread sleeps for 300 us in no host call; of request 2 it waits in hipStreamSynchronize for a
// stream that a callback holds up for 300 us; of request 3 it copies 64 KiB to the device.
//
// train: 5 other kernels, then 40 iterations of 7 kernels, with a wait behind each.
//
// make: graph 1 is captured and instantiated; 5 times it is captured again, of two workgroups and
// of one in turn, updated with that, and launched, but not after the third; then it is destroyed.
// Graph 2 is captured and instantiated, and never launched. A third is captured only.
//
// stop: 20 tokens, 10 for which recording is stopped, and 20 more; the three parts 2 ms apart.
//
// parts: 3 requests, of which a token is a launch of each of 3 graphs (3, 4 and 5 kernels), a
// kernel and a wait, and the prefill 30 kernels and no graph; 10 tokens each. Then 5 launches of
// graph 4, and 5 once it is of other workgroups. Each graph is updated before its first launch.
//
// layers: 20 launches of a graph of hip_scale, 6 layers, and hip_where. A layer is hip_lasts (8
// us), hip_takes, hip_add and hip_lasts (6 us, two workgroups). With PLANT "layer" hip_takes takes
// 20 % longer in layer 3; with "fused" hip_scale stands for the last two; with "batch" all grids
// are twice as large, and hip_move stands for hip_takes.
//
// peers: a launch of a graph of 3 kernels, and 20 rounds on two GPUs. In each a kernel of 3 ms runs
// on GPU 1, and one of 20 us is submitted to GPU 0: in even rounds it waits for the former, in odd
// ones it does not.

#include "../softgpu/hip/check.h"
#include "roctx.h"

#include <unistd.h>

namespace
{

const int requests = 4, tokens = 25, prefill_kernels = 6;
const int slow_kernel = 2, slow_layer = 3;
const int model_layers = 6, model_launches = 20;
int decode_kernels = 4;
bool planted_layer, planted_sync, planted_fusion, planted_batch;
const int iterations = 40, iteration_kernels = 7, other_kernels = 5;
const int parts_graphs = 3, parts_requests = 3, parts_tokens = 10, parts_prefill = 30;
const int parts_launches = 5;
const int peers_rounds = 20, peers_us = 3000;
const unsigned planted_us = 300, updates = 5;
const size_t planted_bytes = 65536, copied_bytes = 4096;

int *counter;
uint32_t *takes; // of a kernel, and of the slow one
hipStream_t stream, held;
void *memory, *pinned;

void launch(unsigned blocks)
{
    hip_takes<<<dim3(blocks), dim3(64), 0, stream>>>(counter, takes);
}

// A graph of the tokens; all kernels are alike but for their time.
hipGraphExec_t capture_decode()
{
    hipGraph_t graph = nullptr;
    hipGraphExec_t exec = nullptr;
    MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    for (int i = 0; i < decode_kernels; i++) {
        const uint32_t *of = planted_layer && i == slow_kernel ? takes + 1 : takes;
        hip_takes<<<dim3(1), dim3(64), 0, stream>>>(counter, of);
    }
    MUST(hipStreamEndCapture(stream, &graph));
    MUST(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    return exec;
}

hipGraph_t capture_only(int kernels, unsigned blocks)
{
    hipGraph_t graph = nullptr;
    MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    for (int i = 0; i < kernels; i++) {
        launch(blocks);
    }
    MUST(hipStreamEndCapture(stream, &graph));
    return graph;
}

hipGraphExec_t capture(int kernels, unsigned blocks)
{
    hipGraphExec_t exec = nullptr;
    MUST(hipGraphInstantiate(&exec, capture_only(kernels, blocks), nullptr, nullptr, 0));
    return exec;
}

void hold(hipStream_t, hipError_t, void *)
{
    usleep(planted_us);
}

void plant(int request)
{
    if (request == 1) {
        usleep(planted_us);
    } else if (request == 2) {
        MUST(hipStreamAddCallback(held, hold, nullptr, 0));
        MUST(hipStreamSynchronize(held));
    } else if (request == 3) {
        MUST(hipMemcpyAsync(memory, pinned, planted_bytes, hipMemcpyHostToDevice, stream));
    }
}

void decode(hipGraphExec_t exec, int request)
{
    push("token");
    MUST(hipGraphLaunch(exec, stream));
    if (planted_sync) {
        MUST(hipStreamSynchronize(stream));
    }
    launch(2);
    MUST(hipMemcpyAsync(pinned, memory, copied_bytes, hipMemcpyDeviceToHost, stream));
    MUST(hipStreamSynchronize(stream));
    pop();
    plant(request);
}

void serve()
{
    hipGraphExec_t prefill = capture(prefill_kernels, 8);
    hipGraphExec_t token = capture_decode();
    for (unsigned i = 0; i < 3; i++) {
        launch(4);
    }
    for (int request = 0; request < requests; request++) {
        MUST(hipGraphLaunch(prefill, stream));
        MUST(hipStreamSynchronize(stream));
        for (int i = 0; i < tokens; i++) {
            decode(token, request);
        }
    }
    MUST(hipStreamSynchronize(stream));
    CHECK(*counter == 3 + requests * (prefill_kernels + tokens * (decode_kernels + 1)),
          "kernels that ran");
}

void stop()
{
    hipGraphExec_t token = capture_decode();
    for (int part = 0; part < 3; part++) {
        if (part > 0) {
            usleep(2000);
            control(part == 1 ? "rtlStop" : "rtlStart");
        }
        for (int i = 0; i < (part == 1 ? 10 : 20); i++) {
            decode(token, 0);
        }
    }
}

void train()
{
    for (unsigned i = 0; i < other_kernels; i++) {
        launch(20 + i);
    }
    for (int i = 0; i < iterations; i++) {
        for (unsigned k = 0; k < iteration_kernels; k++) {
            launch(k % 3 + 1);
        }
        MUST(hipStreamSynchronize(stream));
    }
    CHECK(*counter == other_kernels + iterations * iteration_kernels, "kernels that ran");
}

void update(hipGraphExec_t exec, int kernels, unsigned blocks)
{
    hipGraphNode_t node = nullptr;
    hipGraphExecUpdateResult result = hipGraphExecUpdateSuccess;
    hipGraph_t graph = capture_only(kernels, blocks);
    MUST(hipGraphExecUpdate(exec, graph, &node, &result));
    MUST(hipGraphDestroy(graph));
}

void make()
{
    hipGraphExec_t exec = capture(3, 1);
    for (unsigned i = 1; i <= updates; i++) {
        update(exec, 3, 1 + i % 2);
        if (i != 3) {
            MUST(hipGraphLaunch(exec, stream));
            MUST(hipStreamSynchronize(stream));
        }
    }
    MUST(hipGraphExecDestroy(exec));
    (void)capture(2, 1);
    (void)capture_only(4, 1);
}

void parts()
{
    hipGraphExec_t graphs[parts_graphs];
    for (int i = 0; i < parts_graphs; i++) {
        graphs[i] = capture(3 + i, 1);
        update(graphs[i], 3 + i, 1);
    }
    for (int request = 0; request < parts_requests; request++) {
        for (int i = 0; i < parts_prefill; i++) {
            launch(4);
        }
        for (int token = 0; token < parts_tokens; token++) {
            for (hipGraphExec_t graph : graphs) {
                MUST(hipGraphLaunch(graph, stream));
            }
            launch(2);
            MUST(hipStreamSynchronize(stream));
        }
    }
    hipGraphExec_t grows = capture(3, 1);
    for (unsigned blocks = 1; blocks <= 2; blocks++) {
        update(grows, 3, blocks);
        for (int i = 0; i < parts_launches; i++) {
            MUST(hipGraphLaunch(grows, stream));
            MUST(hipStreamSynchronize(stream));
        }
    }
    CHECK(*counter == parts_requests * (parts_prefill + parts_tokens * (3 + 4 + 5 + 1)) +
                          2 * parts_launches * 3,
          "kernels that ran");
}

void launch_layer(int layer, unsigned grid)
{
    auto *values = static_cast<int *>(memory);
    auto *bytes = static_cast<uint8_t *>(memory);
    const uint32_t *ns = planted_layer && layer == slow_layer ? takes + 1 : takes;
    hip_lasts<<<dim3(grid), dim3(64), 0, stream>>>(counter, 8000);
    if (planted_batch) {
        hip_move<<<dim3(grid), dim3(64), 0, stream>>>(bytes, bytes + 64, 64);
    } else {
        hip_takes<<<dim3(grid), dim3(64), 0, stream>>>(counter, ns);
    }
    if (planted_fusion) {
        hip_scale<<<dim3(2 * grid), dim3(64), 0, stream>>>(values, 64, 1);
    } else {
        hip_add<<<dim3(grid), dim3(64), 0, stream>>>(values, 64, 1);
        hip_lasts<<<dim3(2 * grid), dim3(64), 0, stream>>>(counter, 6000);
    }
}

void layers()
{
    hipGraph_t graph = nullptr;
    hipGraphExec_t exec = nullptr;
    unsigned grid = planted_batch ? 2 : 1;
    MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    hip_scale<<<dim3(grid), dim3(64), 0, stream>>>(static_cast<int *>(memory), 64, 1);
    for (int layer = 0; layer < model_layers; layer++) {
        launch_layer(layer, grid);
    }
    hip_where<<<dim3(1), dim3(64), 0, stream>>>(static_cast<int *>(memory));
    MUST(hipStreamEndCapture(stream, &graph));
    MUST(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    for (int i = 0; i < model_launches; i++) {
        MUST(hipGraphLaunch(exec, stream));
        MUST(hipStreamSynchronize(stream));
    }
}

void peers()
{
    hipStream_t peer = nullptr;
    hipEvent_t done = nullptr;
    MUST(hipGraphLaunch(capture(3, 1), stream));
    MUST(hipSetDevice(1));
    MUST(hipStreamCreateWithFlags(&peer, hipStreamNonBlocking));
    MUST(hipEventCreateWithFlags(&done, hipEventDisableTiming));
    for (int round = 0; round < peers_rounds; round++) {
        MUST(hipSetDevice(1));
        hip_lasts<<<dim3(1), dim3(64), 0, peer>>>(counter, 1000 * peers_us);
        MUST(hipEventRecord(done, peer));
        MUST(hipSetDevice(0));
        if (round % 2 == 0) {
            MUST(hipStreamWaitEvent(stream, done, 0));
        }
        launch(1);
        MUST(hipStreamSynchronize(stream));
        MUST(hipStreamSynchronize(peer));
    }
}

} // namespace

int main(int argc, char **argv)
{
    MUST(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    MUST(hipStreamCreateWithFlags(&held, hipStreamNonBlocking));
    MUST(hipMalloc(&memory, planted_bytes));
    MUST(hipHostMalloc(&pinned, planted_bytes));
    MUST(hipHostMalloc(reinterpret_cast<void **>(&counter), sizeof *counter));
    MUST(hipHostMalloc(reinterpret_cast<void **>(&takes), 2 * sizeof *takes));
    *counter = 0;
    takes[0] = argc > 2 ? static_cast<uint32_t>(std::atoi(argv[2])) : 20000;
    takes[1] = takes[0] + takes[0] / 5;
    decode_kernels = argc > 3 ? std::atoi(argv[3]) : decode_kernels;
    planted_layer = argc > 4 && std::strcmp(argv[4], "layer") == 0;
    planted_sync = argc > 4 && std::strcmp(argv[4], "sync") == 0;
    planted_fusion = argc > 4 && std::strcmp(argv[4], "fused") == 0;
    planted_batch = argc > 4 && std::strcmp(argv[4], "batch") == 0;
    if (argc > 1 && std::strcmp(argv[1], "train") == 0) {
        train();
    } else if (argc > 1 && std::strcmp(argv[1], "make") == 0) {
        make();
    } else if (argc > 1 && std::strcmp(argv[1], "stop") == 0) {
        stop();
    } else if (argc > 1 && std::strcmp(argv[1], "parts") == 0) {
        parts();
    } else if (argc > 1 && std::strcmp(argv[1], "layers") == 0) {
        layers();
    } else if (argc > 1 && std::strcmp(argv[1], "peers") == 0) {
        peers();
    } else {
        serve();
    }
    return finish();
}

// Graphs: captured and built by hand, changed, and replayed with other data.

#include "check.h"

namespace
{

const int count = 500;
const size_t size = count * sizeof(int);

int *pinned()
{
    void *memory = nullptr;
    MUST(hipHostMalloc(&memory, size));
    return static_cast<int *>(memory);
}

int *device()
{
    void *memory = nullptr;
    MUST(hipMalloc(&memory, size));
    return static_cast<int *>(memory);
}

// What `out` holds after in[i] = start + i went through "+ addend, * factor + i".
bool result_is(const int *out, int start, int addend, int factor)
{
    for (int i = 0; i < count; i++) {
        if (out[i] != (start + i + addend) * factor + i) {
            return false;
        }
    }
    return true;
}

void replay(hipGraphExec_t exec, hipStream_t stream, int *in, const int *out, int addend,
            int factor, const char *what)
{
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < count; i++) {
            in[i] = round * 100 + i;
        }
        MUST(hipGraphLaunch(exec, stream));
        MUST(hipStreamSynchronize(stream));
        CHECK(result_is(out, round * 100, addend, factor), what + std::to_string(round));
    }
}

hipGraphExec_t instantiate(hipGraph_t graph)
{
    hipGraphExec_t exec = nullptr;
    MUST(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    return exec;
}

void captured(hipStream_t stream)
{
    int *in = pinned(), *out = pinned(), *data = device();
    hipGraph_t graph = nullptr;
    MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    MUST(hipMemcpyAsync(data, in, size, hipMemcpyHostToDevice, stream));
    for (int i = 0; i < 10; i++) {
        hip_add<<<2, 256, 0, stream>>>(data, count, 1);
    }
    hip_scale<<<2, 256, 0, stream>>>(data, count, 3);
    MUST(hipMemcpyAsync(out, data, size, hipMemcpyDeviceToHost, stream));
    MUST(hipStreamEndCapture(stream, &graph));
    size_t nodes = 0;
    MUST(hipGraphGetNodes(graph, nullptr, &nodes));
    CHECK(nodes == 13, std::to_string(nodes) + " nodes");
    hipGraphExec_t exec = instantiate(graph);
    replay(exec, stream, in, out, 10, 3, "captured ");
    MUST(hipGraphExecDestroy(exec));
    MUST(hipGraphDestroy(graph));
}

// One stream forks into another and joins it again.
void captured_on_two(hipStream_t stream, hipStream_t side)
{
    int *in = pinned(), *out = pinned(), *other = pinned(), *data = device(), *more = device();
    hipEvent_t forked = nullptr, joined = nullptr;
    MUST(hipEventCreateWithFlags(&forked, hipEventDisableTiming));
    MUST(hipEventCreateWithFlags(&joined, hipEventDisableTiming));
    hipGraph_t graph = nullptr;
    MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    MUST(hipMemcpyAsync(data, in, size, hipMemcpyHostToDevice, stream));
    MUST(hipEventRecord(forked, stream));
    MUST(hipStreamWaitEvent(side, forked, 0));
    MUST(hipMemcpyAsync(more, data, size, hipMemcpyDeviceToDevice, side));
    hip_add<<<2, 256, 0, side>>>(more, count, 100);
    MUST(hipMemcpyAsync(other, more, size, hipMemcpyDeviceToHost, side));
    MUST(hipEventRecord(joined, side));
    MUST(hipStreamWaitEvent(stream, joined, 0));
    hip_add<<<2, 256, 0, stream>>>(data, count, 7);
    hip_scale<<<2, 256, 0, stream>>>(data, count, 2);
    MUST(hipMemcpyAsync(out, data, size, hipMemcpyDeviceToHost, stream));
    MUST(hipStreamEndCapture(stream, &graph));
    hipGraphExec_t exec = instantiate(graph);
    replay(exec, stream, in, out, 7, 2, "on two streams ");
    for (int i = 0; i < count; i++) {
        CHECK(other[i] == in[i] + 100, "the side stream's result");
    }
    MUST(hipGraphExecDestroy(exec));
    MUST(hipGraphDestroy(graph));
}

hipKernelNodeParams kernel_node(void (*kernel)(int *, int, int), void **arguments)
{
    hipKernelNodeParams node{};
    node.func = reinterpret_cast<void *>(kernel);
    node.gridDim = dim3(2);
    node.blockDim = dim3(256);
    node.kernelParams = arguments;
    return node;
}

void built(hipStream_t stream)
{
    int *in = pinned(), *out = pinned(), *data = device();
    int number = count, addend = 4, factor = 5;
    void *add_arguments[] = {&data, &number, &addend};
    void *scale_arguments[] = {&data, &number, &factor};
    hipGraph_t graph = nullptr;
    hipGraphNode_t clear = nullptr, load = nullptr, add = nullptr, scale = nullptr, store = nullptr;
    MUST(hipGraphCreate(&graph, 0));
    hipMemsetParams set{};
    set.dst = data;
    set.value = 0;
    set.elementSize = 1;
    set.width = size;
    set.height = 1;
    MUST(hipGraphAddMemsetNode(&clear, graph, nullptr, 0, &set));
    MUST(hipGraphAddMemcpyNode1D(&load, graph, &clear, 1, data, in, size, hipMemcpyHostToDevice));
    hipKernelNodeParams add_node = kernel_node(hip_add, add_arguments);
    MUST(hipGraphAddKernelNode(&add, graph, &load, 1, &add_node));
    hipKernelNodeParams scale_node = kernel_node(hip_scale, scale_arguments);
    MUST(hipGraphAddKernelNode(&scale, graph, &add, 1, &scale_node));
    MUST(hipGraphAddMemcpyNode1D(&store, graph, &scale, 1, out, data, size, hipMemcpyDeviceToHost));
    hipGraphExec_t exec = instantiate(graph);
    replay(exec, stream, in, out, 4, 5, "built by hand ");
    addend = 40;
    MUST(hipGraphExecKernelNodeSetParams(exec, add, &add_node));
    replay(exec, stream, in, out, 40, 5, "changed ");
    MUST(hipGraphExecDestroy(exec));
    MUST(hipGraphDestroy(graph));
}

} // namespace

int main()
{
    hipStream_t stream = nullptr, side = nullptr;
    MUST(hipStreamCreate(&stream));
    MUST(hipStreamCreate(&side));
    captured(stream);
    captured_on_two(stream, side);
    built(stream);
    return finish();
}

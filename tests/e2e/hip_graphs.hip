// hip_graphs SCENARIO: graphs in every way that HIP has, whose kernels the device's
// truth log tells apart: each node's kernel lasts a time of its own, which is its argument. At the
// end the program reads that log (SOFTGPU_TRUTH) and writes to HIP_GRAPHS_EXPECTED, for each kernel
// that the device has executed, what a trace must say of it: queue and packet, the call it came
// from, graph, generation, launch, node, the range that was open at its launch, and the one that
// was open when its node was captured.
//
// A graph's number is the how many-th it is that was instantiated, its nodes count in the order in
// which they were made, its launches from 1. HIP 5.2 keeps a pointer to a node's arguments, not a
// copy: they stay where they are until the end.
//
// hip_graphs random FIRST COUNT: so many graphs drawn from the seeds FIRST, FIRST + 1, …
// hip_graphs dags FIRST COUNT REPLAYS LONGEST: graphs of rows of 1 to LONGEST kernels, drawn from
// seeds, too, each launched so many times and never changed
// hip_graphs storm NODES REPLAYS [PAUSE_US [NS]]: a chain of so many kernels, launched so many
// times with so long a pause; node i lasts NS (100) + 10 * (i % 50) ns; nothing is written

#include "../softgpu/hip/check.h"
#include "roctx.h"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

extern "C" {
#include "softgpu/truth.h"
}

namespace
{

const char *const lasts_name = "_Z9hip_lastsPij";
const char *const marker_name = "_Z9hip_wherePi";
const char *const fill_prefix = "__amd_rocclr_fillBuffer";
const char *const copy_prefix = "__amd_rocclr_copyBuffer";

// In the place of a kernel's duration: a node without a kernel, and one that is a copy. HIP 5.2
// gives that to an SDMA engine, later releases to a kernel.
enum : uint32_t { NO_KERNEL = UINT32_MAX, COPY = UINT32_MAX - 1 };

// ---- ranges, where librtl is there to keep them ----

class Range
{
  public:
    explicit Range(const char *name)
    {
        push(name);
        open().emplace_back(name);
    }
    ~Range()
    {
        open().pop_back();
        pop();
    }
    Range(const Range &) = delete;
    Range &operator=(const Range &) = delete;
    // The innermost one of the thread.
    static std::string now()
    {
        return open().empty() ? "" : open().back();
    }

  private:
    static std::vector<std::string> &open()
    {
        thread_local std::vector<std::string> names;
        return names;
    }
};

// ---- what the program knows ----

// What a node does on the device: a kernel that lasts `ns`, or (0) a kernel of HIP's own that fills
// memory.
struct Node {
    uint32_t ns;
    std::string range;
    int number;
    bool twin = false; // nothing but its arguments tells it from another node
};

// A call of the program: the count-th of its name in its thread.
struct Call {
    const char *name;
    int thread, count;
};

struct Graph {
    int number = 0, generation = 1, launches = 0;
    bool in_line = false; // its kernels go to the launching stream's queue, one after another
    hipGraphExec_t exec = nullptr;
    std::vector<Node> nodes;
};

struct Launch {
    Call call;
    int graph, generation, ordinal;
    bool in_line;
    std::vector<Node> nodes;
    std::string range;
};

struct Eager {
    Call call;
    std::string range;
};

struct Arguments {
    int *counter;
    uint32_t ns;
    void *pointers[2];
};

// Of all that follows, and of HIP 5.2: several threads that launch or capture the same kernel get
// each other's arguments, and an executable graph is launched for one thread only.
std::mutex lock;
std::deque<Arguments> arguments;
std::vector<Launch> launches;
std::map<uint32_t, Eager> eager; // by ns
std::vector<Eager> markers;      // marker i stands before launch i
int graphs, copies;
uint32_t next_ns = 1000;
int *counter; // of kernels that have run, and behind it what markers write

Call called(const char *name)
{
    thread_local std::map<std::string, int> counts;
    return {name, static_cast<int>(syscall(SYS_gettid)), ++counts[name]};
}

// Arguments of hip_lasts that last as long as nothing else does.
Arguments &new_arguments()
{
    std::lock_guard<std::mutex> guard(lock);
    arguments.push_back({counter, next_ns, {}});
    next_ns += 10;
    Arguments &last = arguments.back();
    last.pointers[0] = &last.counter;
    last.pointers[1] = &last.ns;
    return last;
}

const void *function()
{
    return reinterpret_cast<const void *>(hip_lasts);
}

// A kernel that no graph has.
void run(hipStream_t stream)
{
    Arguments &with = new_arguments();
    std::lock_guard<std::mutex> guard(lock);
    MUST(hipLaunchKernel(function(), dim3(1), dim3(64), with.pointers, 0, stream));
    eager[with.ns] = {called("hipLaunchKernel"), Range::now()};
}

// A kernel that becomes the graph's next node.
void capture(Graph &graph, hipStream_t stream, unsigned blocks = 1)
{
    Arguments &with = new_arguments();
    std::lock_guard<std::mutex> guard(lock);
    MUST(hipLaunchKernel(function(), dim3(blocks), dim3(64), with.pointers, 0, stream));
    called("hipLaunchKernel");
    graph.nodes.push_back({with.ns, Range::now(), static_cast<int>(graph.nodes.size())});
}

hipKernelNodeParams kernel_node(Arguments &with, unsigned blocks)
{
    hipKernelNodeParams params{};
    params.func = const_cast<void *>(function());
    params.gridDim = dim3(blocks);
    params.blockDim = dim3(64);
    params.kernelParams = with.pointers;
    return params;
}

hipGraphNode_t add_kernel(Graph &graph, hipGraph_t source, std::vector<hipGraphNode_t> after,
                          unsigned blocks = 1)
{
    Arguments &with = new_arguments();
    hipKernelNodeParams params = kernel_node(with, blocks);
    hipGraphNode_t node = nullptr;
    MUST(hipGraphAddKernelNode(&node, source, after.data(), after.size(), &params));
    graph.nodes.push_back({with.ns, Range::now(), static_cast<int>(graph.nodes.size())});
    return node;
}

// A number for a node that has no kernel of its own.
void skip(Graph &graph, uint32_t what = NO_KERNEL)
{
    graph.nodes.push_back({what, Range::now(), static_cast<int>(graph.nodes.size())});
}

void instantiate(Graph &graph, hipGraph_t source)
{
    std::lock_guard<std::mutex> guard(lock);
    MUST(hipGraphInstantiate(&graph.exec, source, nullptr, nullptr, 0));
    graph.number = ++graphs;
    graph.generation = 1;
    graph.launches = 0;
}

// With a marker right before. One thread at a time: HIP 5.2 launches an executable graph for one
// only, and threads that launch the same kernel, one of them by a graph, get each other's
// arguments.
void launch(Graph &graph, hipStream_t stream)
{
    std::lock_guard<std::mutex> guard(lock);
    int *gpu = counter + 1;
    void *pointers[] = {&gpu};
    MUST(hipLaunchKernel(reinterpret_cast<const void *>(hip_where),
                         dim3(static_cast<uint32_t>(launches.size() + 1)), dim3(64), pointers, 0,
                         stream));
    markers.push_back({called("hipLaunchKernel"), Range::now()});
    MUST(hipGraphLaunch(graph.exec, stream));
    launches.push_back({called("hipGraphLaunch"), graph.number, graph.generation, ++graph.launches,
                        graph.in_line, graph.nodes, Range::now()});
}

// ---- scenarios ----

hipStream_t new_stream()
{
    hipStream_t stream = nullptr;
    MUST(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    return stream;
}

hipGraph_t end_capture(hipStream_t stream)
{
    hipGraph_t graph = nullptr;
    MUST(hipStreamEndCapture(stream, &graph));
    return graph;
}

void capture_layers(Graph &graph, hipStream_t stream)
{
    capture(graph, stream);
    for (const char *layer : {"layer 0", "layer 1"}) {
        Range outer(layer);
        capture(graph, stream);
        {
            Range inner("attention");
            capture(graph, stream, 2);
            capture(graph, stream, 2);
        }
        Range inner("mlp");
        capture(graph, stream, 3);
    }
    capture(graph, stream);
}

void destroy(Graph &graph, hipGraph_t source)
{
    MUST(hipDeviceSynchronize());
    MUST(hipGraphExecDestroy(graph.exec));
    MUST(hipGraphDestroy(source));
}

// A model's layers as ranges: those that are open while a kernel is captured are its node's, at
// each replay.
void captured()
{
    hipStream_t stream = new_stream();
    Graph graph;
    run(stream);
    {
        Range range("capture");
        MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
        capture_layers(graph, stream);
    }
    hipGraph_t source = end_capture(stream);
    instantiate(graph, source);
    for (int i = 0; i < 10; i++) {
        Range range("step");
        run(stream);
        launch(graph, stream);
        run(stream);
    }
    destroy(graph, source);
}

void nothing(void *)
{
}

// All kinds of nodes. An executable graph with a host node can be launched once only in HIP 5.2.
void built()
{
    const size_t size = 65536;
    hipStream_t stream = new_stream();
    Graph graph;
    graph.in_line = true;
    void *memory = nullptr, *pinned = nullptr;
    MUST(hipMalloc(&memory, size));
    MUST(hipHostMalloc(&pinned, size));
    hipGraph_t source = nullptr;
    hipGraphNode_t clear = nullptr, load = nullptr, empty = nullptr, host = nullptr;
    MUST(hipGraphCreate(&source, 0));
    hipMemsetParams set{};
    set.dst = memory;
    set.value = 7;
    set.elementSize = 1;
    set.width = size;
    set.height = 1;
    {
        Range range("prepare");
        MUST(hipGraphAddMemsetNode(&clear, source, nullptr, 0, &set));
        graph.nodes.push_back({0, Range::now(), 0});
    }
    MUST(hipGraphAddEmptyNode(&empty, source, &clear, 1));
    skip(graph);
    hipGraphNode_t first = add_kernel(graph, source, {empty});
    MUST(hipGraphAddMemcpyNode1D(&load, source, &first, 1, pinned, memory, size,
                                 hipMemcpyDeviceToHost));
    skip(graph, COPY);
    hipHostNodeParams calls{nothing, pinned};
    MUST(hipGraphAddHostNode(&host, source, &load, 1, &calls));
    skip(graph);
    {
        Range range("compute");
        hipGraphNode_t second = add_kernel(graph, source, {host}, 2);
        add_kernel(graph, source, {second}, 2); // told apart by nothing but their order
    }
    for (int i = 0; i < 10; i++) {
        instantiate(graph, source);
        launch(graph, stream);
        copies++;
        MUST(hipDeviceSynchronize());
        MUST(hipGraphExecDestroy(graph.exec));
    }
    CHECK(static_cast<uint8_t *>(pinned)[size - 1] == 7, "what the graph copied");
    MUST(hipGraphDestroy(source));
    // One of no graph, and too large for a kernel: HIP 7.2 has kernels make the copies of graphs.
    MUST(hipMemcpyAsync(pinned, memory, size, hipMemcpyDeviceToHost, stream));
    MUST(hipStreamSynchronize(stream));
}

// Streams that fork and join while they are captured, and a diamond by hand.
void forked()
{
    hipStream_t stream = new_stream(), side = new_stream();
    hipEvent_t begun = nullptr, ended = nullptr;
    MUST(hipEventCreateWithFlags(&begun, hipEventDisableTiming));
    MUST(hipEventCreateWithFlags(&ended, hipEventDisableTiming));
    Graph graph, diamond;
    MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    capture(graph, stream);
    MUST(hipEventRecord(begun, stream));
    MUST(hipStreamWaitEvent(side, begun, 0));
    for (unsigned i = 0; i < 3; i++) {
        Range left("left");
        capture(graph, stream, 2);
        Range right("right");
        capture(graph, side, 3);
    }
    MUST(hipEventRecord(ended, side));
    MUST(hipStreamWaitEvent(stream, ended, 0));
    {
        Range range("join");
        capture(graph, stream, 4);
    }
    hipGraph_t source = end_capture(stream), by_hand = nullptr;
    instantiate(graph, source);
    MUST(hipGraphCreate(&by_hand, 0));
    hipGraphNode_t top = add_kernel(diamond, by_hand, {});
    hipGraphNode_t left = add_kernel(diamond, by_hand, {top}, 2);
    hipGraphNode_t right = add_kernel(diamond, by_hand, {top}, 3);
    add_kernel(diamond, by_hand, {left, right}, 4);
    instantiate(diamond, by_hand);
    for (int i = 0; i < 10; i++) {
        launch(graph, stream);
        run(side);
        launch(diamond, stream);
    }
    destroy(graph, source);
    destroy(diamond, by_hand);
}

// Branches that do not depend on each other and run the same kernel in the same geometry.
void twins()
{
    hipStream_t stream = new_stream();
    Graph graph;
    hipGraph_t source = nullptr;
    MUST(hipGraphCreate(&source, 0));
    hipGraphNode_t top = add_kernel(graph, source, {});
    hipGraphNode_t left = add_kernel(graph, source, {top}, 2);
    hipGraphNode_t right = add_kernel(graph, source, {top}, 2);
    add_kernel(graph, source, {left, right});
    graph.nodes[1].twin = graph.nodes[2].twin = true;
    instantiate(graph, source);
    for (int i = 0; i < 10; i++) {
        launch(graph, stream);
    }
    destroy(graph, source);
}

// A graph that changes, and handles that are used again for other graphs.
void changed()
{
    hipStream_t stream = new_stream();
    Graph graph, next;
    hipGraph_t source = nullptr, other = nullptr;
    MUST(hipGraphCreate(&source, 0));
    hipGraphNode_t first = add_kernel(graph, source, {});
    hipGraphNode_t second = add_kernel(graph, source, {first}, 2);
    instantiate(graph, source);
    launch(graph, stream);
    for (int i = 0; i < 3; i++) { // many changes, one generation
        Arguments &with = new_arguments();
        hipKernelNodeParams params = kernel_node(with, 5);
        MUST(hipGraphExecKernelNodeSetParams(graph.exec, second, &params));
        graph.nodes[1].ns = with.ns;
    }
    graph.generation++;
    launch(graph, stream);
    launch(graph, stream);
    { // which shows in no node, but for how long the kernel lasts
        Arguments &with = new_arguments();
        hipKernelNodeParams params = kernel_node(with, 5);
        MUST(hipGraphExecKernelNodeSetParams(graph.exec, second, &params));
        graph.nodes[1].ns = with.ns;
        graph.generation++;
    }
    launch(graph, stream);
    MUST(hipGraphCreate(&other, 0));
    {
        Range range("updated");
        add_kernel(next, other, {add_kernel(next, other, {}, 3)}, 4);
    }
    hipGraphNode_t error = nullptr;
    hipGraphExecUpdateResult result{};
    MUST(hipGraphExecUpdate(graph.exec, other, &error, &result));
    graph.nodes = next.nodes;
    graph.generation++;
    launch(graph, stream);
    destroy(graph, source);
    MUST(hipGraphDestroy(other));
    std::map<hipGraphExec_t, int> handles;
    for (int i = 0; i < 40; i++) {
        Graph again;
        hipGraph_t made = nullptr;
        MUST(hipGraphCreate(&made, 0));
        hipGraphNode_t last = add_kernel(again, made, {});
        for (int j = 0; j < i % 3; j++) {
            last = add_kernel(again, made, {last});
        }
        instantiate(again, made);
        handles[again.exec]++;
        launch(again, stream);
        launch(again, stream);
        destroy(again, made);
    }
    // Where it lies is chance from 6 on.
    CHECK(HIP_VERSION_MAJOR >= 6 || handles.size() < 40, "HIP did not use a handle again");
}

// Graphs in graphs. HIP 5.2 runs a child graph right where the node stands that holds it.
void nested()
{
    hipStream_t stream = new_stream();
    Graph graph, middle, inner;
    hipGraph_t source = nullptr, inside = nullptr, between = nullptr;
    MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
    {
        Range range("inner");
        capture(inner, stream, 2);
        capture(inner, stream, 2);
    }
    inside = end_capture(stream);
    MUST(hipGraphCreate(&between, 0));
    MUST(hipGraphCreate(&source, 0));
    hipGraphNode_t holds = nullptr, child = nullptr;
    hipGraphNode_t before = add_kernel(middle, between, {}, 3);
    MUST(hipGraphAddChildGraphNode(&holds, between, &before, 1, inside));
    skip(middle);
    hipGraphNode_t first = add_kernel(graph, source, {}, 4);
    MUST(hipGraphAddChildGraphNode(&child, source, &first, 1, between));
    skip(graph);
    for (const Graph *part : {&middle, &inner}) {
        for (Node node : part->nodes) {
            node.number = static_cast<int>(graph.nodes.size());
            graph.nodes.push_back(node);
        }
    }
    add_kernel(graph, source, {child}, 5);
    MUST(hipGraphDestroy(inside));
    MUST(hipGraphDestroy(between));
    instantiate(graph, source);
    for (int i = 0; i < 10; i++) {
        launch(graph, stream);
    }
    destroy(graph, source);
}

// Each thread captures, changes and launches graphs of its own.
void threads()
{
    // From 5.7 on a capture in global mode may end when another thread synchronises, as these do.
    const int allowed = HIP_VERSION_MAJOR == 5 && HIP_VERSION_MINOR < 7 ? 3 : 2;
    const hipStreamCaptureMode modes[] = {hipStreamCaptureModeThreadLocal,
                                          hipStreamCaptureModeRelaxed, hipStreamCaptureModeGlobal};
    std::vector<std::thread> all;
    for (int i = 0; i < 4; i++) {
        all.emplace_back([i, &modes, allowed] {
            hipStream_t stream = new_stream();
            for (int round = 0; round < 5; round++) {
                Graph graph;
                MUST(hipStreamBeginCapture(stream, modes[(i + round) % allowed]));
                std::string name = "thread " + std::to_string(i);
                {
                    Range range(name.c_str());
                    capture_layers(graph, stream);
                }
                hipGraph_t source = end_capture(stream);
                instantiate(graph, source);
                for (int replay = 0; replay < 5; replay++) {
                    run(stream);
                    launch(graph, stream);
                }
                MUST(hipStreamSynchronize(stream));
                MUST(hipGraphExecDestroy(graph.exec));
                MUST(hipGraphDestroy(source));
            }
        });
    }
    for (std::thread &thread : all) {
        thread.join();
    }
}

// Several threads launch one executable graph, each on a stream of its own: its launches are in
// flight side by side.
void shared()
{
    hipStream_t stream = new_stream();
    Graph graph;
    graph.in_line = true;
    MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    capture_layers(graph, stream);
    hipGraph_t source = end_capture(stream);
    instantiate(graph, source);
    std::vector<std::thread> all;
    for (int i = 0; i < 4; i++) {
        all.emplace_back([&graph] {
            hipStream_t own = new_stream();
            for (int replay = 0; replay < 25; replay++) {
                Range range("replay");
                launch(graph, own);
            }
            MUST(hipStreamSynchronize(own));
        });
    }
    for (std::thread &thread : all) {
        thread.join();
    }
    destroy(graph, source);
}

// Graphs that are made, changed and destroyed while recording is stopped, and launched when it is
// not.
void stopped()
{
    hipStream_t stream = new_stream();
    Graph before, made;
    hipGraph_t first = nullptr, second = nullptr;
    MUST(hipGraphCreate(&first, 0));
    hipGraphNode_t node = add_kernel(before, first, {}, 2);
    instantiate(before, first);
    run(stream);
    launch(before, stream);
    MUST(hipDeviceSynchronize());
    control("rtlStop");
    Arguments &with = new_arguments();
    hipKernelNodeParams params = kernel_node(with, 3);
    MUST(hipGraphExecKernelNodeSetParams(before.exec, node, &params));
    before.nodes[0].ns = with.ns;
    before.generation++;
    for (int i = 0; i < 3; i++) {
        Graph again;
        MUST(hipGraphCreate(&second, 0));
        add_kernel(again, second, {add_kernel(again, second, {}, 4)}, 5);
        instantiate(again, second);
        if (i < 2) {
            destroy(again, second);
        } else {
            made = again;
        }
    }
    control("rtlStart");
    for (int i = 0; i < 5; i++) {
        launch(before, stream);
        launch(made, stream);
        run(stream);
    }
    destroy(before, first);
    destroy(made, second);
}

// Graphs of any shape, with kernels that are hard to tell apart, changed between launches.
class Random
{
  public:
    explicit Random(unsigned seed) : dice_(seed)
    {
    }
    void run_one(hipStream_t stream)
    {
        MUST(hipGraphCreate(&source_, 0));
        const unsigned count = 2 + pick(20);
        for (unsigned i = 0; i < count; i++) {
            add();
        }
        if (HIP_VERSION_MAJOR >= 6) {
            number_nodes();
        }
        instantiate(graph_, source_);
        for (unsigned i = 0; i < 8; i++) {
            bool changes = !kernels_.empty() && pick(3) == 0;
            for (unsigned j = 0; changes && j < 1 + pick(3); j++) {
                change();
            }
            graph_.generation += static_cast<int>(changes);
            if (pick(2) == 0) {
                run(stream);
            }
            launch(graph_, stream);
        }
        destroy(graph_, source_);
    }
    // Kernels alone, in branches, the same at each launch: what packets alone can tell of.
    void run_dag(hipStream_t stream, unsigned replays, unsigned longest)
    {
        MUST(hipGraphCreate(&source_, 0));
        const unsigned count = 2 + pick(20);
        for (unsigned i = 0; i < count; i++) {
            add_chain(1 + pick(longest));
        }
        instantiate(graph_, source_);
        for (unsigned i = 0; i < replays; i++) {
            if (pick(2) == 0) {
                run(stream);
            }
            launch(graph_, stream);
        }
    }
    void end()
    {
        destroy(graph_, source_);
    }

  private:
    unsigned pick(unsigned below)
    {
        return static_cast<unsigned>(dice_() % below);
    }
    // Some of the nodes so far, more likely the last ones.
    std::vector<hipGraphNode_t> some()
    {
        std::vector<hipGraphNode_t> chosen;
        for (size_t i = 0; i < made_.size(); i++) {
            if (pick(static_cast<unsigned>(made_.size() - i) + 1) == 0) {
                chosen.push_back(made_[i]);
            }
        }
        return chosen;
    }
    void add()
    {
        std::string name = "part " + std::to_string(pick(3));
        Range range(name.c_str());
        std::vector<hipGraphNode_t> after = some();
        hipGraphNode_t node = nullptr;
        const unsigned kind = pick(8);
        if (kind == 0 && !kernels_only_) {
            MUST(hipGraphAddEmptyNode(&node, source_, after.data(), after.size()));
            skip(graph_);
        } else if (kind == 1 && !kernels_only_) {
            node = add_child(after);
        } else {
            kernels_.emplace_back(graph_.nodes.size(), nullptr);
            node = add_kernel(graph_, source_, after, 1 + pick(12));
            kernels_.back().second = node;
        }
        made_.push_back(node);
    }
    // A kernel behind some of the nodes so far, and more in a row behind it.
    void add_chain(unsigned length)
    {
        std::vector<hipGraphNode_t> after = some();
        for (unsigned i = 0; i < length; i++) {
            after = {add_kernel(graph_, source_, after, 1 + pick(12))};
        }
        made_.push_back(after[0]);
    }
    hipGraphNode_t add_child(const std::vector<hipGraphNode_t> &after)
    {
        hipGraph_t inside = nullptr;
        hipGraphNode_t node = nullptr;
        skip(graph_);
        MUST(hipGraphCreate(&inside, 0));
        add_kernel(graph_, inside, {add_kernel(graph_, inside, {}, 1 + pick(12))}, 1);
        MUST(hipGraphAddChildGraphNode(&node, source_, after.data(), after.size(), inside));
        MUST(hipGraphDestroy(inside));
        return node;
    }
    // Nodes are counted in the order in which HIP 6 and later list them, which is not that of their
    // making, as before.
    void number_nodes()
    {
        size_t count = made_.size();
        std::vector<hipGraphNode_t> listed(count);
        MUST(hipGraphGetNodes(source_, listed.data(), &count));
        CHECK(count == made_.size(), "HIP lists other nodes");
        for (size_t i = 0; i < made_.size(); i++) {
            auto at = std::find(listed.begin(), listed.end(), made_[i]);
            graph_.nodes[i].number = static_cast<int>(at - listed.begin());
        }
    }
    void change()
    {
        auto [number, node] = kernels_[pick(static_cast<unsigned>(kernels_.size()))];
        Arguments &with = new_arguments();
        hipKernelNodeParams params = kernel_node(with, 1 + pick(12));
        MUST(hipGraphExecKernelNodeSetParams(graph_.exec, node, &params));
        graph_.nodes[number].ns = with.ns;
    }
    std::mt19937 dice_;
    hipGraph_t source_ = nullptr;
    // From 6 on hipGraphLaunch ends in a null pointer of HIP's own for some graphs that have
    // branches, and graphs in them or empty nodes; which ones depends on
    // DEBUG_HIP_GRAPH_SEGMENT_SCHEDULING.
    const bool kernels_only_ = HIP_VERSION_MAJOR >= 6;
    Graph graph_;
    std::vector<hipGraphNode_t> made_;
    std::vector<std::pair<size_t, hipGraphNode_t>> kernels_; // by number
};

void random_graphs(unsigned first, unsigned count)
{
    hipStream_t stream = new_stream();
    for (unsigned i = 0; i < count; i++) {
        Random(first + i).run_one(stream);
    }
}

void random_dags(unsigned first, unsigned count, unsigned replays, unsigned longest)
{
    hipStream_t stream = new_stream();
    std::deque<Random> all; // each keeps its memory to itself until the end
    for (unsigned i = 0; i < count; i++) {
        all.emplace_back(first + i).run_dag(stream, replays, longest);
    }
    for (Random &one : all) {
        one.end();
    }
}

// What a call of HIP leaves behind it.
void tell(const char *what, hipError_t result)
{
    int error = errno;
    hipError_t last = hipPeekAtLastError();
    std::printf("%s: %d, then %d, errno %d\n", what, static_cast<int>(result),
                static_cast<int>(last), error);
}

#define TELL(call)                                                                                 \
    do {                                                                                           \
        errno = 77;                                                                                \
        tell(#call, call);                                                                         \
    } while (0)

// Calls that fail, and what the others make of HIP's last error: the same, whoever watches.
void errors()
{
    hipStream_t stream = new_stream();
    Graph graph;
    hipGraph_t source = nullptr, other = nullptr;
    hipGraphExec_t none = nullptr;
    hipGraphNode_t node = nullptr;
    hipGraphExecUpdateResult update{};
    void *memory = nullptr;
    MUST(hipMalloc(&memory, 4096));
    graph.in_line = true;
    TELL(hipStreamBeginCapture(nullptr, hipStreamCaptureModeGlobal));
    TELL(hipGraphAddEmptyNode(nullptr, nullptr, nullptr, 0));
    TELL(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    {
        Range range("well");
        capture(graph, stream);
    }
    TELL(hipGraphAddEmptyNode(nullptr, nullptr, nullptr, 0));
    { // Up to HIP 6 the call leaves that error where it is, so that RTL cannot ask which node it
      // has become.
        Range range("with an error");
        TELL(hipMemsetD32Async(memory, 1, 1024, stream));
        graph.nodes.push_back({0, HIP_VERSION_MAJOR < 7 ? "" : Range::now(), 1});
    }
    TELL(hipGetLastError());
    {
        Range range("well");
        TELL(hipMemsetD32Async(memory, 2, 1024, stream));
        graph.nodes.push_back({0, Range::now(), 2});
    }
    if (HIP_VERSION_MAJOR < 7) { // either ends the capture there, and its graph is gone
        TELL(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
        TELL(hipStreamEndCapture(stream, nullptr));
    }
    TELL(hipStreamEndCapture(stream, &source));
    TELL(hipGraphInstantiate(nullptr, source, nullptr, nullptr, 0));
    TELL(hipGraphInstantiate(&none, nullptr, nullptr, nullptr, 0));
    instantiate(graph, source);
    tell("instantiated", hipSuccess);
    TELL(hipGraphLaunch(nullptr, stream));
    called("hipGraphLaunch");
    launch(graph, stream);
    tell("launched", hipSuccess);
    MUST(hipGraphCreate(&other, 0));
    TELL(hipGraphAddEmptyNode(&node, other, nullptr, 0));
    TELL(hipGraphExecUpdate(graph.exec, other, &node, &update));
    TELL(hipGraphExecKernelNodeSetParams(graph.exec, node, nullptr));
    TELL(hipGraphExecUpdate(graph.exec, source, &node, &update));
    graph.generation++;
    TELL(hipGraphDestroy(nullptr));
    launch(graph, stream);
    TELL(hipGraphExecDestroy(nullptr));
    MUST(hipGraphDestroy(other));
    destroy(graph, source);
    tell("destroyed", hipSuccess);
}

// HIP keeps what it has launched until somebody waits for it, some 700 bytes a kernel.
constexpr int awaited_replays = 1000;

void storm(int nodes, int replays, int pause_us, int ns)
{
    hipStream_t stream = new_stream();
    MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    for (int i = 0; i < nodes; i++) {
        Arguments &with = new_arguments();
        with.ns = static_cast<uint32_t>(ns + 10 * (i % 50));
        MUST(hipLaunchKernel(function(), dim3(1), dim3(64), with.pointers, 0, stream));
    }
    hipGraph_t source = end_capture(stream);
    hipGraphExec_t exec = nullptr;
    MUST(hipGraphInstantiate(&exec, source, nullptr, nullptr, 0));
    for (int i = 0; i < replays; i++) {
        MUST(hipGraphLaunch(exec, stream));
        if (i % awaited_replays == awaited_replays - 1) {
            MUST(hipStreamSynchronize(stream));
        }
        if (pause_us > 0) {
            std::this_thread::sleep_for(std::chrono::microseconds(pause_us));
        }
    }
    MUST(hipDeviceSynchronize());
    MUST(hipGraphExecDestroy(exec));
    MUST(hipGraphDestroy(source));
}

// ---- what the device did ----

struct Done {
    std::string name;
    uint64_t queue, packet, start, ns;
    uint32_t grid;
};

std::vector<Done> read_truth()
{
    char error[256] = "";
    softgpu_truth_t *log = softgpu_truth_open(std::getenv("SOFTGPU_TRUTH"), error, sizeof error);
    if (log == nullptr) {
        std::fprintf(stderr, "%s\n", error);
        std::exit(1);
    }
    softgpu_truth_entry_t entry;
    std::vector<Done> all;
    while (softgpu_truth_next(log, &entry) == 1) {
        if (entry.kind == SOFTGPU_TRUTH_KERNEL) {
            all.push_back({entry.name, entry.queue_hsa_id, entry.index, entry.start_ns,
                           entry.end_ns - entry.start_ns, entry.grid[0]});
        }
    }
    softgpu_truth_close(log);
    return all;
}

class Expected
{
  public:
    explicit Expected(std::FILE *file) : file_(file)
    {
    }
    void kernel(const Done &done, const Launch &launch, const Node &node)
    {
        std::string ids = std::to_string(launch.graph) + "|" + std::to_string(launch.generation) +
                          "|" + std::to_string(launch.ordinal) + "|" +
                          (node.twin ? "?" : std::to_string(node.number));
        write(done, launch.call, ids, launch.range, node.range);
    }
    void kernel(const Done &done, const Eager &of)
    {
        write(done, of.call, "|||", of.range, "");
    }

  private:
    void write(const Done &done, const Call &call, const std::string &ids, const std::string &range,
               const std::string &captured)
    {
        std::fprintf(file_, "%llu|%llu|%s|%d|%d|%s|%s|%s\n",
                     static_cast<unsigned long long>(done.queue),
                     static_cast<unsigned long long>(done.packet), call.name, call.thread,
                     call.count, ids.c_str(), range.c_str(), captured.c_str());
    }
    std::FILE *file_;
};

// A kernel's launch and node.
struct Place {
    const Launch *launch;
    const Node *node;
};

bool is_of(const Done &done, const Node &node)
{
    switch (node.ns) {
    case 0:
        return done.name.rfind(fill_prefix, 0) == 0;
    case COPY:
        return done.name.rfind(copy_prefix, 0) == 0;
    default:
        return done.name == lasts_name && done.ns == node.ns;
    }
}

// Of the nodes that come, those that are copies and no kernel.
void leave_out_copies(std::deque<Place> &coming, const Done *next)
{
    while (!coming.empty() && coming.front().node->ns == COPY &&
           (next == nullptr || !is_of(*next, *coming.front().node))) {
        coming.pop_front();
    }
}

// Behind each marker on its queue: the kernels of its launch, if that one is in line.
void follow_markers(const std::vector<Done> &all, std::map<const Done *, Place> &places)
{
    std::map<std::pair<uint64_t, uint64_t>, const Done *> in_order;
    for (const Done &done : all) {
        in_order[{done.queue, done.packet}] = &done;
    }
    uint64_t queue = 0;
    std::deque<Place> coming;
    for (const auto &[place, done] : in_order) {
        if (place.first != queue || done->name == marker_name) {
            leave_out_copies(coming, nullptr);
            CHECK(coming.empty(), "a launch that is not whole");
            coming.clear();
            queue = place.first;
        }
        if (done->name == marker_name) {
            const Launch &launch = launches[done->grid / 64 - 1];
            for (const Node &node : launch.nodes) {
                if (launch.in_line && node.ns != NO_KERNEL) {
                    coming.push_back({&launch, &node});
                }
            }
            continue;
        }
        leave_out_copies(coming, done);
        if (!coming.empty()) {
            copies -= coming.front().node->ns == COPY;
            CHECK(is_of(*done, *coming.front().node), done->name);
            places[done] = coming.front();
            coming.pop_front();
        }
    }
}

// The kernels of launches that follow each other on one stream: the same node's in order of time.
void follow_time(const std::vector<Done> &all, std::map<const Done *, Place> &places)
{
    std::map<uint32_t, std::deque<Place>> coming;
    for (const Launch &launch : launches) {
        for (const Node &node : launch.nodes) {
            if (!launch.in_line) {
                coming[node.ns].push_back({&launch, &node});
            }
        }
    }
    std::multimap<uint64_t, const Done *> in_order;
    for (const Done &done : all) {
        in_order.emplace(done.start, &done);
    }
    for (const auto &[start, done] : in_order) {
        std::deque<Place> &nodes = coming[static_cast<uint32_t>(done->ns)];
        if (done->name == lasts_name && places.count(done) == 0 && !nodes.empty()) {
            places[done] = nodes.front();
            nodes.pop_front();
        }
    }
}

void compare()
{
    std::vector<Done> all = read_truth();
    std::map<const Done *, Place> places;
    follow_markers(all, places);
    follow_time(all, places);
    size_t planned = 0;
    for (const Launch &launch : launches) {
        planned +=
            static_cast<size_t>(std::count_if(launch.nodes.begin(), launch.nodes.end(),
                                              [](const Node &node) { return node.ns < COPY; }));
    }
    auto placed = std::count_if(places.begin(), places.end(),
                                [](const auto &place) { return place.second.node->ns < COPY; });
    CHECK(static_cast<size_t>(placed) == planned, "kernels of graphs that the device has executed");
    const char *path = std::getenv("HIP_GRAPHS_EXPECTED");
    std::FILE *file = path != nullptr ? std::fopen(path, "w") : nullptr;
    if (file == nullptr) {
        return;
    }
    Expected expected(file);
    for (const Done &done : all) {
        auto place = places.find(&done);
        if (place != places.end()) {
            expected.kernel(done, *place->second.launch, *place->second.node);
        } else if (done.name == marker_name) {
            expected.kernel(done, markers[done.grid / 64 - 1]);
        } else if (done.name == lasts_name) {
            expected.kernel(done, eager.at(static_cast<uint32_t>(done.ns)));
        }
    }
    MUST(std::fclose(file) == 0 ? hipSuccess : hipErrorUnknown);
}

} // namespace

int main(int argc, char **argv)
{
    const std::map<std::string, void (*)()> scenarios = {
        {"captured", captured}, {"built", built},     {"forked", forked}, {"changed", changed},
        {"nested", nested},     {"threads", threads}, {"shared", shared}, {"stopped", stopped},
        {"errors", errors},     {"twins", twins}};
    std::string name = argc > 1 ? argv[1] : "";
    void *memory = nullptr;
    MUST(hipHostMalloc(&memory, 2 * sizeof(int)));
    counter = static_cast<int *>(memory);
    *counter = 0;
    if (name == "storm" && argc >= 4 && argc <= 6) {
        storm(std::atoi(argv[2]), std::atoi(argv[3]), argc >= 5 ? std::atoi(argv[4]) : 0,
              argc == 6 ? std::atoi(argv[5]) : 100);
        std::printf("%d kernels\n", *counter);
        return finish();
    }
    auto scenario = scenarios.find(name);
    if (name == "random" && argc == 4) {
        random_graphs(static_cast<unsigned>(std::atoi(argv[2])),
                      static_cast<unsigned>(std::atoi(argv[3])));
    } else if (name == "dags" && argc == 6) {
        random_dags(
            static_cast<unsigned>(std::atoi(argv[2])), static_cast<unsigned>(std::atoi(argv[3])),
            static_cast<unsigned>(std::atoi(argv[4])), static_cast<unsigned>(std::atoi(argv[5])));
    } else if (scenario != scenarios.end()) {
        scenario->second();
    } else {
        std::fprintf(stderr, "hip_graphs: no scenario '%s'\n", name.c_str());
        return 2;
    }
    MUST(hipDeviceSynchronize());
    compare();
    std::printf("%zu launches of %d graphs, %d copies\n", launches.size(), graphs, copies);
    return finish();
}

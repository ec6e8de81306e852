// host_graphs OPENREG EXPECTED: graphs, single kernels, sets and copies of HIP and of OpenReg, in
// pieces that the host knows (host.h). What the software GPU says it has executed goes to EXPECTED,
// and what the program knows itself to stdout.

#include "../softgpu/hip/check.h"

#include "kineto/host.h"
#include "kineto/openreg/openreg.h"

#include <cinttypes>
#include <dlfcn.h>
#include <thread>

extern "C" {
#include "softgpu/truth.h"
}

namespace
{

constexpr int nodes = 12, replays = 7, singles = 5, copies = 3, sets = 4, threads = 3;
constexpr size_t bytes = 1 << 16;

template <typename Function> Function *find(void *library, const char *name)
{
    auto *function = reinterpret_cast<Function *>(dlsym(library, name));
    if (function == nullptr) {
        std::fprintf(stderr, "there is no %s\n", name);
        std::exit(1);
    }
    return function;
}

void push(const std::string &name)
{
    find<void(const char *)>(RTLD_DEFAULT, "pu1HostPush")(name.c_str());
}

void pop()
{
    find<void()>(RTLD_DEFAULT, "pu1HostPop")();
}

int *counter;
uint8_t *device, *pinned;

hipGraphExec_t make_graph(hipStream_t stream)
{
    hipGraph_t graph = nullptr;
    hipGraphExec_t exec = nullptr;
    // HIP 7.2 refuses other threads' hipStreamSynchronize during a global capture.
    MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
    push("capture"); // launches nothing
    for (int i = 0; i < nodes; i++) {
        hip_lasts<<<1, 64, 0, stream>>>(counter, 1000 * (i + 1));
    }
    pop();
    MUST(hipStreamEndCapture(stream, &graph));
    MUST(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    return exec;
}

void replay(hipGraphExec_t exec, hipStream_t stream, const std::string &thread)
{
    push("thread " + thread);
    for (int i = 0; i < replays; i++) {
        push("replay " + thread + "." + std::to_string(i));
        MUST(hipGraphLaunch(exec, stream));
        pop();
    }
    pop();
    MUST(hipStreamSynchronize(stream)); // long after the pops
}

void run_thread(int number)
{
    hipStream_t stream = nullptr;
    MUST(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    replay(make_graph(stream), stream, std::to_string(number));
}

void run_single()
{
    hipStream_t stream = nullptr;
    MUST(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    push("single \"kernels\" \xff\n");
    for (int i = 0; i < singles; i++) {
        hip_lasts<<<2, 64, 0, stream>>>(counter, 100);
    }
    pop();
    push("copies");
    for (int i = 0; i < copies; i++) {
        MUST(hipMemcpyAsync(device, pinned, bytes, hipMemcpyHostToDevice, stream));
    }
    pop();
    push("sets");
    for (int i = 0; i < sets; i++) {
        MUST(hipMemsetAsync(device, 0, bytes, stream));
    }
    pop();
    MUST(hipStreamSynchronize(stream));
}

void run_openreg(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    CHECK(library != nullptr, dlerror());
    auto *spin = find<int(const char *, unsigned, openregStream_t)>(library, "openregSpin");
    auto *set = find<int(void *, int, size_t, openregStream_t)>(library, "openregMemsetAsync");
    push("openreg");
    for (int i = 0; i < singles; i++) {
        CHECK(spin("openreg kernel", 100, nullptr) == 0, "spin");
    }
    push("openreg sets");
    for (int i = 0; i < sets; i++) {
        CHECK(set(pinned, 1, bytes, nullptr) == 0, "set");
    }
    pop();
    pop();
    // Nobody waits for it: the host does.
}

// Kernels as the device has executed them: name, start and end.
void write_expected(const char *path)
{
    char error[256];
    softgpu_truth_t *truth = softgpu_truth_open(std::getenv("SOFTGPU_TRUTH"), error, sizeof error);
    std::FILE *file = std::fopen(path, "w");
    softgpu_truth_entry_t entry;
    if (truth == nullptr || file == nullptr) {
        std::fprintf(stderr, "%s\n", error);
        std::exit(1);
    }
    while (softgpu_truth_next(truth, &entry) == 1) {
        if (entry.kind == SOFTGPU_TRUTH_KERNEL && entry.bytes == 0) {
            std::fprintf(file, "%s %" PRIu64 " %" PRIu64 "\n", entry.name, entry.start_ns,
                         entry.end_ns);
        }
    }
    softgpu_truth_close(truth);
    std::fclose(file);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 3) {
        return 2;
    }
    MUST(hipMalloc(reinterpret_cast<void **>(&counter), sizeof *counter));
    MUST(hipMalloc(reinterpret_cast<void **>(&device), bytes));
    MUST(hipHostMalloc(reinterpret_cast<void **>(&pinned), bytes));
    run_single();
    std::vector<std::thread> workers;
    run_thread(0);
    for (int i = 1; i < threads; i++) {
        workers.emplace_back(run_thread, i);
    }
    for (std::thread &worker : workers) {
        worker.join();
    }
    run_openreg(argv[1]);
    MUST(hipDeviceSynchronize());
    write_expected(argv[2]);
    std::printf("%d nodes, %d replays, %d threads, %d singles, %d copies, %d sets\n", nodes,
                replays, threads, singles, copies, sets);
    return failures() == 0 ? 0 : 1;
}

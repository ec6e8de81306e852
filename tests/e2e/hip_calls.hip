// hip_calls [WAY]: many host calls, most of them wrong, each with what it returned, HIP's last
// error after it and errno; at the end how often each was made. What it prints does not depend on
// who watches. Ways:
//
//     (none)   the calls alone
//     fork     and in a child, which goes on without HIP's GPU
//     exec     and by a child that executes this program anew
//     fork-first  and in a child that is forked before there is a GPU in the process
//     threads  four threads at once, 2000 launches and copies each
//     flood    200 000 calls as fast as they go, and some kernels
//     stop     launches while recording is on, and others, not counted, while it is stopped

#include "../softgpu/hip/check.h"

#include <hip/hip_ext.h>

#include <cerrno>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace
{

std::map<std::string, int> made;
std::mutex made_lock;

void count(const char *name)
{
    std::lock_guard<std::mutex> guard(made_lock);
    made[name]++;
}

void tell(const char *name, hipError_t result)
{
    int error = errno;
    hipError_t peeked = hipPeekAtLastError();
    hipError_t last = hipGetLastError();
    std::printf("%s: %s, last %s %s, errno %d\n", name, hipGetErrorName(result),
                hipGetErrorName(peeked), hipGetErrorName(last), error);
}

// Makes a call, counts it and prints what came of it.
#define TRY(name, ...)                                                                             \
    [&] {                                                                                          \
        errno = 42;                                                                                \
        hipError_t result = name(__VA_ARGS__);                                                     \
        tell(#name, result);                                                                       \
        count(#name);                                                                              \
    }()

void memory()
{
    void *memory = nullptr, *other = nullptr;
    size_t pitch = 0, bytes = 0;
    unsigned flags = 0;
    TRY(hipMalloc, &memory, 4096);
    TRY(hipMalloc, nullptr, 4096);
    TRY(hipMalloc, &other, SIZE_MAX / 2);
    TRY(hipMalloc, &other, 0);
    TRY(hipMemPtrGetInfo, memory, &bytes);
    TRY(hipFree, memory);
    TRY(hipFree, memory);
    TRY(hipFree, nullptr);
    TRY(hipFree, &pitch);
    TRY(hipHostMalloc, &memory, 100, 0);
    TRY(hipHostMalloc, &other, 100, 0xffffffff);
    TRY(hipHostGetFlags, &flags, memory);
    TRY(hipHostGetDevicePointer, &other, memory, 0);
    TRY(hipHostFree, memory);
    TRY(hipHostFree, &pitch);
    TRY(hipMallocManaged, &memory, 100, hipMemAttachGlobal);
    TRY(hipMallocManaged, &other, 0, hipMemAttachGlobal);
    TRY(hipFree, memory);
    TRY(hipMallocPitch, &memory, &pitch, 100, 10);
    TRY(hipFree, memory);
    TRY(hipExtMallocWithFlags, &memory, 64, hipDeviceMallocDefault);
    TRY(hipFree, memory);
    TRY(hipFreeAsync, nullptr, nullptr);
    TRY(hipFreeArray, nullptr);
}

void copies()
{
    static int host[64];
    void *memory = nullptr;
    MUST(hipMalloc(&memory, sizeof host));
    count("hipMalloc");
    TRY(hipMemcpy, memory, host, sizeof host, hipMemcpyHostToDevice);
    TRY(hipMemcpy, host, memory, sizeof host, hipMemcpyDeviceToHost);
    TRY(hipMemcpy, host, memory, sizeof host, static_cast<hipMemcpyKind>(77));
    TRY(hipMemcpy, nullptr, memory, sizeof host, hipMemcpyDefault);
    TRY(hipMemcpy, host, memory, 0, hipMemcpyDefault);
    TRY(hipMemcpyAsync, memory, host, sizeof host, hipMemcpyDefault, nullptr);
    TRY(hipMemcpyAsync, memory, nullptr, sizeof host, hipMemcpyDefault, nullptr);
    TRY(hipMemcpyHtoD, memory, host, sizeof host);
    TRY(hipMemcpyDtoH, host, memory, sizeof host);
    TRY(hipMemcpy2D, host, 16, memory, 16, 16, 4, hipMemcpyDeviceToHost);
    TRY(hipMemcpy2D, host, 8, memory, 16, 16, 4, hipMemcpyDeviceToHost);
    TRY(hipMemcpy3D, nullptr);
    TRY(hipMemcpyToSymbol, host, host, 4, 0, hipMemcpyHostToDevice);
    TRY(hipMemcpyWithStream, memory, host, sizeof host, hipMemcpyHostToDevice, nullptr);
    TRY(hipMemset, memory, 1, sizeof host);
    TRY(hipMemset, nullptr, 1, sizeof host);
    TRY(hipMemsetAsync, memory, 1, sizeof host, nullptr);
    TRY(hipMemsetD8, memory, 1, 16);
    TRY(hipMemsetD32, memory, 1, 16);
    TRY(hipMemset2D, memory, 16, 3, 8, 4);
    TRY(hipMemset3D, make_hipPitchedPtr(memory, 16, 16, 4), 5, make_hipExtent(8, 2, 2));
    TRY(hipStreamSynchronize, nullptr);
    MUST(hipFree(memory));
    count("hipFree");
}

void launches()
{
    int value = 5, *counter = nullptr;
    uint32_t ns = 1000;
    void *arguments[] = {&counter, &ns};
    auto *kernel = reinterpret_cast<const void *>(hip_lasts);
    TRY(hipHostMalloc, reinterpret_cast<void **>(&counter), sizeof *counter, 0);
    *counter = 0;
    for (unsigned block : {64U, 4096U}) {
        errno = 42;
        hip_lasts<<<2, block>>>(counter, ns);
        int error = errno;
        count("hipLaunchKernel");
        std::printf("launch by the compiler, errno %d: %s\n", error,
                    hipGetErrorName(hipGetLastError()));
    }
    TRY(hipLaunchKernel, kernel, dim3(3), dim3(64), arguments, 0, nullptr);
    TRY(hipLaunchKernel, kernel, dim3(0), dim3(64), arguments, 0, nullptr);
#if HIP_VERSION_MAJOR < 7 // which takes what it does not know for a handle, and reads it
    TRY(hipLaunchKernel, &value, dim3(1), dim3(64), arguments, 0, nullptr);
#endif
    TRY(hipExtLaunchKernel, kernel, dim3(1), dim3(64), arguments, 0, nullptr, nullptr, nullptr, 0);
    TRY(hipLaunchCooperativeKernel, kernel, dim3(1), dim3(64), arguments, 0, nullptr);
    TRY(hipConfigureCall, dim3(4), dim3(64), 0, nullptr);
    MUST(hipSetupArgument(&counter, sizeof counter, 0));
    MUST(hipSetupArgument(&ns, sizeof ns, sizeof counter));
    TRY(hipLaunchByPtr, kernel);
    TRY(hipModuleLaunchKernel, nullptr, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr);
    errno = 42;
    tell("hipExtModuleLaunchKernel",
         hipExtModuleLaunchKernel(nullptr, 64, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
    count("hipExtModuleLaunchKernel");
    TRY(hipDeviceSynchronize);
    std::printf("counted %d\n", *counter);
    TRY(hipHostFree, counter);
}

void modules()
{
    hipModule_t module = nullptr;
    hipFunction_t function = nullptr;
    TRY(hipModuleLoad, &module, "/nonexistent/kernels.co");
    TRY(hipModuleLoadData, &module, nullptr);
    TRY(hipModuleGetFunction, &function, nullptr, "nothing");
    TRY(hipModuleUnload, nullptr);
}

void streams()
{
    hipStream_t stream = nullptr;
    hipEvent_t event = nullptr, other = nullptr;
    float milliseconds = 0;
    unsigned flags = 0;
    int priority = 0;
    TRY(hipStreamCreate, nullptr);
    TRY(hipStreamCreateWithFlags, &stream, hipStreamNonBlocking);
    TRY(hipStreamCreateWithFlags, &stream, 12345);
    TRY(hipStreamGetFlags, stream, &flags);
    TRY(hipStreamGetPriority, stream, &priority);
    TRY(hipStreamQuery, stream);
    TRY(hipEventCreate, &event);
    TRY(hipEventCreateWithFlags, &other, 0xfff);
    TRY(hipEventCreateWithFlags, &other, hipEventDisableTiming);
    TRY(hipEventElapsedTime, &milliseconds, event, other);
    TRY(hipEventRecord, event, stream);
    TRY(hipEventRecord, nullptr, stream);
    TRY(hipStreamWaitEvent, stream, event, 0);
    TRY(hipStreamWaitEvent, stream, nullptr, 0);
    TRY(hipStreamSynchronize, stream);
    TRY(hipEventSynchronize, event);
    TRY(hipEventQuery, event);
    TRY(hipEventQuery, nullptr);
    TRY(hipEventElapsedTime, nullptr, event, event);
    TRY(hipEventDestroy, event);
    TRY(hipEventDestroy, other);
    TRY(hipEventDestroy, nullptr);
    TRY(hipStreamDestroy, stream);
    TRY(hipStreamDestroy, nullptr);
}

void graphs()
{
    hipStream_t stream = nullptr;
    hipGraph_t graph = nullptr;
    hipGraphExec_t exec = nullptr;
    hipGraphNode_t node = nullptr;
    hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
    int *counter = nullptr;
    size_t nodes = 0;
    MUST(hipStreamCreate(&stream));
    count("hipStreamCreate");
    MUST(hipHostMalloc(reinterpret_cast<void **>(&counter), sizeof *counter, 0));
    count("hipHostMalloc");
    *counter = 0;
    TRY(hipStreamEndCapture, stream, &graph);
    TRY(hipStreamBeginCapture, nullptr, hipStreamCaptureModeGlobal);
    TRY(hipStreamBeginCapture, stream, hipStreamCaptureModeThreadLocal);
    TRY(hipStreamIsCapturing, stream, &status);
    hip_lasts<<<1, 64, 0, stream>>>(counter, 1000);
    count("hipLaunchKernel");
    TRY(hipStreamEndCapture, stream, &graph);
    TRY(hipGraphGetNodes, graph, nullptr, &nodes);
    TRY(hipGraphInstantiate, &exec, graph, nullptr, nullptr, 0);
    TRY(hipGraphInstantiate, nullptr, graph, nullptr, nullptr, 0);
    TRY(hipGraphLaunch, exec, stream);
    TRY(hipGraphLaunch, nullptr, stream);
    TRY(hipStreamSynchronize, stream);
    TRY(hipGraphExecDestroy, exec);
    TRY(hipGraphAddEmptyNode, &node, graph, nullptr, 0);
    TRY(hipGraphAddKernelNode, &node, graph, nullptr, 0, nullptr);
    TRY(hipGraphDestroy, graph);
    TRY(hipGraphCreate, &graph, 0);
    TRY(hipGraphDestroy, graph);
    TRY(hipGraphExecDestroy, nullptr);
    std::printf("counted %d\n", *counter);
    MUST(hipHostFree(counter));
    count("hipHostFree");
    MUST(hipStreamDestroy(stream));
    count("hipStreamDestroy");
}

void thread()
{
    hipStream_t stream = nullptr;
    int *counter = nullptr, copy = 0;
    MUST(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    MUST(hipHostMalloc(reinterpret_cast<void **>(&counter), sizeof *counter, 0));
    *counter = 0;
    for (int i = 0; i < 2000; i++) {
        hip_lasts<<<1, 64, 0, stream>>>(counter, 200);
        MUST(hipMemcpyAsync(&copy, counter, sizeof copy, hipMemcpyDefault, stream));
        count("hipLaunchKernel");
        count("hipMemcpyAsync");
    }
    MUST(hipStreamSynchronize(stream));
    CHECK(*counter == 2000 && copy == 2000, std::to_string(*counter));
    MUST(hipHostFree(counter));
    MUST(hipStreamDestroy(stream));
    for (const char *name : {"hipStreamCreateWithFlags", "hipHostMalloc", "hipStreamSynchronize",
                             "hipHostFree", "hipStreamDestroy"}) {
        count(name);
    }
}

void threads()
{
    std::thread all[4];
    for (std::thread &one : all) {
        one = std::thread(thread);
    }
    for (std::thread &one : all) {
        one.join();
    }
}

void launch(int *counter, int launches, bool counted)
{
    for (int i = 0; i < launches; i++) {
        hip_lasts<<<1, 64>>>(counter, 200);
        MUST(hipStreamSynchronize(nullptr));
        if (counted) {
            count("hipLaunchKernel");
            count("hipStreamSynchronize");
        }
    }
}

int *new_counter()
{
    void *memory = nullptr;
    MUST(hipHostMalloc(&memory, sizeof(int)));
    count("hipHostMalloc");
    *static_cast<int *>(memory) = 0;
    return static_cast<int *>(memory);
}

void flood()
{
    int *counter = new_counter();
    for (int i = 0; i < 20; i++) {
        for (int j = 0; j < 10000; j++) {
            (void)hipEventQuery(nullptr);
        }
        launch(counter, 10, true);
    }
    made["hipEventQuery"] += 200000;
    CHECK(*counter == 200, std::to_string(*counter));
}

// Tells librtl.so, where it is there.
void record(const char *function)
{
    using Control = int (*)();
    auto *control = reinterpret_cast<Control>(dlsym(RTLD_DEFAULT, function));
    if (control != nullptr) {
        CHECK(control() == 0, function);
    }
}

void stop()
{
    int *counter = new_counter();
    launch(counter, 10, true);
    record("rtlStop");
    launch(counter, 10, false);
    record("rtlStart");
    launch(counter, 10, true);
    CHECK(*counter == 30, std::to_string(*counter));
}

// The process's children: what they do is not in its counts.
void child(const char *program, bool executes)
{
    std::fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        if (executes) {
            execl(program, program, nullptr);
            _exit(127);
        }
        made.clear();
        TRY(hipEventQuery, nullptr);
        TRY(hipFree, nullptr);
        std::fflush(stdout);
        _exit(3);
    }
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid, "wait");
    std::printf("the child ended with %x\n", status);
}

} // namespace

int main(int argc, char **argv)
{
    std::string way = argc > 1 ? argv[1] : "";
    (void)std::setvbuf(stdout, nullptr, _IOLBF, 0);
    if (way == "fork-first" && fork() != 0) {
        int ended = -1;
        CHECK(wait(&ended) > 0 && ended == 0, std::to_string(ended));
    }
    if (way == "threads") {
        threads();
    } else if (way == "flood") {
        flood();
    } else if (way == "stop") {
        stop();
    } else {
        memory();
        copies();
        launches();
        modules();
        streams();
        graphs();
    }
    if (way == "fork" || way == "exec") {
        child(argv[0], way == "exec");
    }
    count("hipDeviceSynchronize");
    int status = finish();
    for (const auto &entry : made) {
        std::printf("made %s %d\n", entry.first.c_str(), entry.second);
    }
    return status;
}

// Device memory of one process in another, by HIP's handles for that. ROCr of 7.2 does it by
// dmabufs; before, and with HSA_ENABLE_IPC_MODE_LEGACY, by ioctls that Linux does not have: then
// there are no handles.

#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

namespace
{

const int count = 2000;
const size_t size = size_t{4} << 20U;

struct Pipe {
    int ends[2] = {-1, -1};

    Pipe()
    {
        MUST(pipe(ends) == 0 ? hipSuccess : hipErrorUnknown);
    }
    template <typename Value> void send(const Value &value) const
    {
        MUST(write(ends[1], &value, sizeof value) == sizeof value ? hipSuccess : hipErrorUnknown);
    }
    template <typename Value> Value receive() const
    {
        Value value{};
        MUST(read(ends[0], &value, sizeof value) == sizeof value ? hipSuccess : hipErrorUnknown);
        return value;
    }
};

std::vector<int> numbers(int first)
{
    std::vector<int> made(count);
    for (int i = 0; i < count; i++) {
        made[i] = first + i;
    }
    return made;
}

void add(void *device, int value)
{
    hip_add<<<(count + 255) / 256, 256>>>(static_cast<int *>(device), count, value);
    MUST(hipGetLastError());
    MUST(hipDeviceSynchronize());
}

std::vector<int> read_back(const void *device)
{
    std::vector<int> host(count);
    MUST(hipMemcpy(host.data(), device, count * sizeof(int), hipMemcpyDeviceToHost));
    return host;
}

// Opens the other process's memory twice, one after the other, and adds to what is in it.
int opener(const Pipe &to, const Pipe &from)
{
    hipIpcMemHandle_t handle{};
    if (read(to.ends[0], &handle, sizeof handle) != sizeof handle) {
        return 0; // the owner could get none
    }
    for (int round = 0; round < 2; round++) {
        void *memory = nullptr;
        MUST(hipIpcOpenMemHandle(&memory, handle, hipIpcMemLazyEnablePeerAccess));
        CHECK(read_back(memory) == numbers(100 + round * 5), "what the other process wrote");
        add(memory, 5);
        MUST(hipIpcCloseMemHandle(memory));
    }
    from.send('x');
    (void)to.receive<char>();
    return finish();
}

void owner(const Pipe &to, const Pipe &from)
{
    void *memory = nullptr;
    hipIpcMemHandle_t handle{};
    MUST(hipMalloc(&memory, size));
    MUST(hipMemcpy(memory, numbers(100).data(), count * sizeof(int), hipMemcpyHostToDevice));
    hipError_t status = hipIpcGetMemHandle(&handle, memory);
#if HIP_VERSION_MAJOR >= 7
    MUST(status);
#endif
    if (status != hipSuccess) {
        CHECK(read_back(memory) == numbers(100), "memory that has no handle is as it was");
        return;
    }
    to.send(handle);
    (void)from.receive<char>();
    CHECK(read_back(memory) == numbers(110), "what the other process wrote");
    MUST(hipFree(memory));
    to.send('x');
}

} // namespace

int main()
{
    Pipe to, from;
    pid_t child = fork(); // before HIP is used: each has a driver of its own
    if (child == 0) {
        (void)close(to.ends[1]);
        (void)close(STDOUT_FILENO); // that all is well is the parent's to say
        std::exit(opener(to, from));
    }
    (void)close(to.ends[0]);
    owner(to, from);
    (void)close(to.ends[1]);
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child, "the other process ends");
    CHECK(status == 0, "the other process is content");
    return finish();
}

// Device memory of one process in another, by HIP's handles for that. ROCr of 7.2 does it by
// dmabufs; before, and with HSA_ENABLE_IPC_MODE_LEGACY, by ioctls that Linux does not have: then
// there are no handles.

#include "check.h"

#include <sys/socket.h>
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

#if HIP_VERSION_MAJOR >= 7

hipMemAllocationProp kind()
{
    hipMemAllocationProp made{};
    made.type = hipMemAllocationTypePinned;
    made.location.type = hipMemLocationTypeDevice;
    made.requestedHandleType = hipMemHandleTypePosixFileDescriptor;
    return made;
}

void *mapped(hipMemGenericAllocationHandle_t handle)
{
    void *space = nullptr;
    hipMemAccessDesc access{};
    access.location = kind().location;
    access.flags = hipMemAccessFlagsProtReadWrite;
    MUST(hipMemAddressReserve(&space, size, 0, nullptr, 0));
    MUST(hipMemMap(space, size, 0, handle, 0));
    MUST(hipMemSetAccess(space, size, &access, 1));
    return space;
}

void unmap(void *space)
{
    MUST(hipMemUnmap(space, size));
    MUST(hipMemAddressFree(space, size));
}

// A descriptor goes through a socket.
void pass(int socket, int *descriptor, bool away)
{
    char byte = 'x';
    iovec data = {&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    if (away) {
        cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(header), descriptor, sizeof(int));
    }
    MUST((away ? sendmsg(socket, &message, 0) : recvmsg(socket, &message, 0)) == 1
             ? hipSuccess
             : hipErrorUnknown);
    if (!away) {
        std::memcpy(descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
    }
}

// Memory by a handle that is passed on as a descriptor.
void take_handle(int socket)
{
    int descriptor = -1;
    char byte = 'x';
    hipMemGenericAllocationHandle_t handle{};
    pass(socket, &descriptor, false);
    MUST(hipMemImportFromShareableHandle(
        &handle, reinterpret_cast<void *>(static_cast<intptr_t>(descriptor)),
        hipMemHandleTypePosixFileDescriptor));
    (void)close(descriptor);
    void *space = mapped(handle);
    CHECK(read_back(space) == numbers(300), "what the other process wrote by its handle");
    add(space, 3);
    unmap(space);
    MUST(hipMemRelease(handle));
    MUST(write(socket, &byte, 1) == 1 ? hipSuccess : hipErrorUnknown);
}

void give_handle(int socket)
{
    int descriptor = -1;
    char byte = 0;
    hipMemGenericAllocationHandle_t handle{};
    hipMemAllocationProp made = kind();
    MUST(hipMemCreate(&handle, size, &made, 0));
    void *space = mapped(handle);
    MUST(hipMemcpy(space, numbers(300).data(), count * sizeof(int), hipMemcpyHostToDevice));
    MUST(
        hipMemExportToShareableHandle(&descriptor, handle, hipMemHandleTypePosixFileDescriptor, 0));
    pass(socket, &descriptor, true);
    (void)close(descriptor);
    MUST(read(socket, &byte, 1) == 1 ? hipSuccess : hipErrorUnknown);
    CHECK(read_back(space) == numbers(303), "what the other process wrote by the handle");
    unmap(space);
    MUST(hipMemRelease(handle));
}

#else

void take_handle(int)
{
}
void give_handle(int)
{
}

#endif

// Opens the other process's memory twice, one after the other, and adds to what is in it.
int opener(const Pipe &to, const Pipe &from, int socket)
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
    take_handle(socket);
    return finish();
}

void owner(const Pipe &to, const Pipe &from, int socket)
{
    void *memory = nullptr;
    hipIpcMemHandle_t handle{};
    MUST(hipMalloc(&memory, size));
    MUST(hipMemcpy(memory, numbers(100).data(), count * sizeof(int), hipMemcpyHostToDevice));
    hipError_t status = hipIpcGetMemHandle(&handle, memory);
#if HIP_VERSION_MAJOR >= 7
    MUST(status);
#endif
    // HIP 5.7 gives a handle that the other process cannot open.
    if (status != hipSuccess || (HIP_VERSION_MAJOR == 5 && HIP_VERSION_MINOR > 2)) {
        CHECK(read_back(memory) == numbers(100), "memory that has no handle is as it was");
        return;
    }
    to.send(handle);
    (void)from.receive<char>();
    CHECK(read_back(memory) == numbers(110), "what the other process wrote");
    MUST(hipFree(memory));
    to.send('x');
    give_handle(socket);
}

} // namespace

int main()
{
    Pipe to, from;
    int sockets[2] = {-1, -1};
    MUST(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets) == 0 ? hipSuccess : hipErrorUnknown);
    pid_t child = fork(); // before HIP is used: each has a driver of its own
    if (child == 0) {
        (void)close(to.ends[1]);
        (void)close(STDOUT_FILENO); // that all is well is the parent's to say
        (void)close(sockets[0]);
        std::exit(opener(to, from, sockets[1]));
    }
    (void)close(to.ends[0]);
    (void)close(sockets[1]);
    owner(to, from, sockets[0]);
    (void)close(to.ends[1]);
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child, "the other process ends");
    CHECK(status == 0, "the other process is content");
    return finish();
}

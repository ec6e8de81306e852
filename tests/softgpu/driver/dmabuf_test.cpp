// dmabufs, by the driver's ioctls and by libdrm's functions for buffers.

#include "front.h"

#include <algorithm>
#include <dlfcn.h>
#include <sys/socket.h>
#include <sys/wait.h>

namespace
{

/* The driver's, which older headers do not have. */
struct Export {
    uint64_t handle;
    uint32_t flags;
    uint32_t dmabuf_fd;
};

/* libdrm's. */
struct Metadata {
    uint64_t flags, tiling;
    uint32_t bytes;
    uint32_t words[64];
};

struct Info {
    uint64_t bytes, alignment;
    uint32_t heap;
    uint64_t flags;
    Metadata metadata;
};

struct Import {
    void *buffer;
    uint64_t bytes;
};

enum { SIZE = 64 << 10, DMABUF = 2, KMS = 1, MAP = 1, UNMAP = 2, GEM_MMAP = 1 };

template <typename Function> Function *find(const char *name)
{
    return reinterpret_cast<Function *>(dlsym(RTLD_DEFAULT, name));
}

void *reserve(size_t size)
{
    return mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/* A descriptor through a socket, as programs pass them on. */
void send(int socket, int descriptor)
{
    char byte = 0;
    iovec data = {&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptor)] = {};
    msghdr message = {};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptor);
    *reinterpret_cast<int *>(CMSG_DATA(header)) = descriptor;
    EXPECT_EQ(sendmsg(socket, &message, 0), 1);
}

int receive(int socket)
{
    char byte = 0;
    iovec data = {&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message = {};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    if (recvmsg(socket, &message, 0) != 1)
        return -1;
    return *reinterpret_cast<int *>(CMSG_DATA(CMSG_FIRSTHDR(&message)));
}

class Dmabuf : public Front
{
  protected:
    // NOLINTBEGIN(misc-non-private-member-variables-in-classes): a fixture's members are for its
    // tests
    void *device = nullptr;
    // NOLINTEND(misc-non-private-member-variables-in-classes)

    void open_all()
    {
        uint32_t version[2] = {};
        open_gpu();
        ASSERT_EQ(find<int(int, uint32_t *, uint32_t *, void **)>("amdgpu_device_initialize")(
                      render, &version[0], &version[1], &device),
                  0);
    }

    void TearDown() override
    {
        if (device)
            (void)find<int(void *)>("amdgpu_device_deinitialize")(device);
        Front::TearDown();
    }

    /* Memory that has no address. */
    uint64_t create(uint64_t size = SIZE)
    {
        kfd_ioctl_alloc_memory_of_gpu_args args = {};
        args.size = size;
        args.gpu_id = gpu;
        args.flags = KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE;
        EXPECT_EQ(ioctl(kfd, AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &args), 0);
        return args.handle;
    }

    int release(uint64_t handle)
    {
        kfd_ioctl_free_memory_of_gpu_args args = {handle};
        return ioctl(kfd, AMDKFD_IOC_FREE_MEMORY_OF_GPU, &args);
    }

    /* A dmabuf, or -1 with errno. */
    int give(uint64_t handle, uint32_t flags = O_CLOEXEC)
    {
        Export args = {handle, flags, 0};
        return ioctl(kfd, _IOWR('K', 0x24, Export), &args) == 0 ? static_cast<int>(args.dmabuf_fd)
                                                                : -1;
    }

    /* A handle of memory at an address, 0 with errno. */
    uint64_t take(int dmabuf, const void *address)
    {
        kfd_ioctl_import_dmabuf_args args = {};
        args.va_addr = reinterpret_cast<uint64_t>(address);
        args.gpu_id = gpu;
        args.dmabuf_fd = static_cast<uint32_t>(dmabuf);
        return ioctl(kfd, AMDKFD_IOC_IMPORT_DMABUF, &args) == 0 ? args.handle : 0;
    }

    int import(int dmabuf, Import *result)
    {
        return find<int(void *, int, uint32_t, Import *)>("amdgpu_bo_import")(
            device, DMABUF, static_cast<uint32_t>(dmabuf), result);
    }

    static int va_op(void *buffer, uint64_t offset, uint64_t size, const void *address,
                     uint32_t operation)
    {
        return find<int(void *, uint64_t, uint64_t, uint64_t, uint64_t, uint32_t)>(
            "amdgpu_bo_va_op")(buffer, offset, size, reinterpret_cast<uint64_t>(address), 0,
                               operation);
    }

    static int drop(void *buffer)
    {
        return find<int(void *)>("amdgpu_bo_free")(buffer);
    }
};

TEST_F(Dmabuf, IsTheSameMemory)
{
    open_all();
    auto memory = allocate(KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE, SIZE);
    map(memory.handle);
    auto *first = reinterpret_cast<char *>(memory.va_addr);
    int dmabuf = give(memory.handle);
    ASSERT_GE(dmabuf, 0);
    EXPECT_EQ(fcntl(dmabuf, F_GETFD), FD_CLOEXEC);

    kfd_ioctl_get_dmabuf_info_args info = {};
    info.dmabuf_fd = static_cast<uint32_t>(dmabuf);
    ASSERT_EQ(ioctl(kfd, AMDKFD_IOC_GET_DMABUF_INFO, &info), 0);
    EXPECT_EQ(info.size, uint64_t{SIZE});
    EXPECT_EQ(info.gpu_id, gpu);
    EXPECT_EQ(info.flags, uint32_t{KFD_IOC_ALLOC_MEM_FLAGS_VRAM});

    auto *second = static_cast<char *>(reserve(SIZE));
    uint64_t handle = take(dmabuf, second);
    ASSERT_NE(handle, 0U);
    EXPECT_NE(handle, memory.handle);
    map(handle);
    first[5] = 55;
    EXPECT_EQ(second[5], 55);
    second[SIZE - 1] = 66;
    EXPECT_EQ(first[SIZE - 1], 66);
    EXPECT_EQ(close(dmabuf), 0);
    EXPECT_EQ(release(handle), 0);
    EXPECT_EQ(release(memory.handle), 0);
    (void)munmap(first, SIZE);
    (void)munmap(second, SIZE);
}

/* Whoever has a descriptor has the memory, by whatever way he came to it; it is given back with the
 * last. */
TEST_F(Dmabuf, KeepsTheMemory)
{
    open_all();
    uint64_t before = available();
    uint64_t handle = create();
    int dmabuf = give(handle, 0);
    ASSERT_GE(dmabuf, 0);
    EXPECT_EQ(fcntl(dmabuf, F_GETFD), 0);
    int copy = dup(dmabuf);
    EXPECT_EQ(release(handle), 0);
    EXPECT_EQ(close(dmabuf), 0);
    EXPECT_EQ(available(), before - SIZE);
    auto *place = static_cast<char *>(reserve(SIZE));
    handle = take(copy, place);
    ASSERT_NE(handle, 0U);
    EXPECT_EQ(close(copy), 0);
    EXPECT_EQ(available(), before - SIZE);
    map(handle);
    place[0] = 1;
    EXPECT_EQ(release(handle), 0);
    EXPECT_EQ(available(), before);
    (void)munmap(place, SIZE);
}

TEST_F(Dmabuf, BuffersAreMappedByHandles)
{
    open_all();
    uint64_t before = available();
    uint64_t handle = create();
    Import buffer = {};
    int dmabuf = give(handle);
    ASSERT_EQ(import(dmabuf, &buffer), 0);
    EXPECT_EQ(buffer.bytes, uint64_t{SIZE});
    EXPECT_EQ(close(dmabuf), 0);

    auto *space = static_cast<char *>(reserve(3 * SIZE));
    Engine engine(kfd, gpu);
    ASSERT_EQ(va_op(buffer.buffer, 0, SIZE, space + SIZE, MAP), 0);
    ASSERT_TRUE(engine.fill(space + SIZE, 0x1234, SIZE));
    EXPECT_EQ(*reinterpret_cast<uint32_t *>(space + 2 * SIZE - 4), 0x1234U);
    EXPECT_EQ(va_op(buffer.buffer, 0, SIZE, space + SIZE, MAP), -EINVAL) << "taken";
    EXPECT_EQ(va_op(buffer.buffer, 0, 4096, space + 2 * SIZE - 4096, MAP), -EINVAL) << "taken";
    EXPECT_EQ(va_op(buffer.buffer, 4096, SIZE, space, MAP), -EINVAL) << "too long";
    EXPECT_EQ(va_op(buffer.buffer, 0, SIZE, nullptr, MAP), -EINVAL);
    ASSERT_EQ(va_op(buffer.buffer, SIZE - 4096, 4096, space, MAP), 0) << "its last page";
    EXPECT_EQ(*reinterpret_cast<uint32_t *>(space), 0x1234U);

    /* As the runtime maps it for the host. */
    uint32_t kms = 0;
    ASSERT_EQ(find<int(void *, int, uint32_t *)>("amdgpu_bo_export")(buffer.buffer, KMS, &kms), 0);
    uint64_t place = kms;
    ASSERT_EQ(find<int(int, unsigned long, void *, unsigned long)>("drmCommandWriteRead")(
                  render, GEM_MMAP, &place, sizeof place),
              0);
    auto *host = static_cast<uint32_t *>(
        mmap(nullptr, SIZE, PROT_READ, MAP_SHARED, render, static_cast<off_t>(place)));
    ASSERT_NE(host, MAP_FAILED);
    EXPECT_EQ(host[1], 0x1234U);
    void *view = nullptr;
    ASSERT_EQ(find<int(void *, void **)>("amdgpu_bo_cpu_map")(buffer.buffer, &view), 0);
    EXPECT_EQ(static_cast<uint32_t *>(view)[2], 0x1234U);

    EXPECT_EQ(va_op(buffer.buffer, 0, SIZE, space + SIZE, UNMAP), 0);
    EXPECT_EQ(va_op(buffer.buffer, 0, SIZE, space + SIZE, UNMAP), -EINVAL);
    EXPECT_EQ(release(handle), 0);
    EXPECT_EQ(available(), before - SIZE);
    EXPECT_EQ(drop(buffer.buffer), 0);
    EXPECT_EQ(available(), before);
    EXPECT_FALSE(engine.fill(space, 0x4321, 4, false)) << "mapped by a handle that is no more";
    (void)munmap(host, SIZE);
    (void)munmap(space, 3 * SIZE);
}

TEST_F(Dmabuf, CarriesMetadata)
{
    open_all();
    uint64_t handle = create();
    int dmabuf = give(handle);
    Import one = {};
    Import other = {};
    Info info = {};
    Metadata metadata = {};
    ASSERT_EQ(import(dmabuf, &one), 0);
    ASSERT_EQ(import(dmabuf, &other), 0);
    auto *query = find<int(void *, Info *)>("amdgpu_bo_query_info");
    auto *set = find<int(void *, Metadata *)>("amdgpu_bo_set_metadata");
    ASSERT_EQ(query(other.buffer, &info), 0);
    EXPECT_EQ(info.bytes, uint64_t{SIZE});
    EXPECT_EQ(info.metadata.bytes, 0U);
    metadata.bytes = sizeof metadata.words + 4;
    EXPECT_EQ(set(one.buffer, &metadata), -EINVAL);
    metadata.bytes = 8;
    metadata.words[1] = 77;
    ASSERT_EQ(set(one.buffer, &metadata), 0);
    ASSERT_EQ(query(other.buffer, &info), 0);
    EXPECT_EQ(info.metadata.bytes, 8U);
    EXPECT_EQ(info.metadata.words[1], 77U);

    /* The driver tells how much there is to whoever has too little space. */
    uint32_t words[2] = {};
    kfd_ioctl_get_dmabuf_info_args args = {};
    args.dmabuf_fd = static_cast<uint32_t>(dmabuf);
    args.metadata_ptr = reinterpret_cast<uint64_t>(words);
    args.metadata_size = 4;
    EXPECT_EQ(ioctl(kfd, AMDKFD_IOC_GET_DMABUF_INFO, &args), -1);
    EXPECT_EQ(args.metadata_size, 8U);
    EXPECT_EQ(words[1], 0U);
    EXPECT_EQ(ioctl(kfd, AMDKFD_IOC_GET_DMABUF_INFO, &args), 0);
    EXPECT_EQ(words[1], 77U);
    EXPECT_EQ(drop(one.buffer), 0);
    EXPECT_EQ(drop(other.buffer), 0);
    EXPECT_EQ(close(dmabuf), 0);
    EXPECT_EQ(release(handle), 0);
}

TEST_F(Dmabuf, WhatIsNoneIsRefused)
{
    open_all();
    Import result = {};
    int other = memfd_create("other", 0);
    ASSERT_EQ(ftruncate(other, off_t{1} << 46), 0);
    ASSERT_EQ(lseek(other, off_t{1} << 40, SEEK_SET), off_t{1} << 40);
    int zero = open("/dev/zero", O_RDWR);
    uint64_t handle = create();
    int moved = give(handle);
    ASSERT_EQ(lseek(moved, 0, SEEK_SET), 0);
    for (int descriptor : {-1, kfd, render, zero, other, moved}) {
        errno = 0;
        EXPECT_EQ(take(descriptor, reserve(SIZE)), 0U);
        EXPECT_EQ(errno, EINVAL);
        EXPECT_EQ(import(descriptor, &result), -EINVAL);
    }
    EXPECT_EQ(give(handle + 1000), -1);
    EXPECT_EQ(errno, EINVAL);

    /* Memory of the process's own is no dmabuf, and what has no address is not mapped. */
    static char own[8192];
    kfd_ioctl_alloc_memory_of_gpu_args args = {};
    args.va_addr = reinterpret_cast<uint64_t>(reserve(4096));
    args.mmap_offset = (reinterpret_cast<uint64_t>(own) + 4095) & ~uint64_t{4095};
    args.size = 4096;
    args.gpu_id = gpu;
    args.flags = KFD_IOC_ALLOC_MEM_FLAGS_USERPTR;
    ASSERT_EQ(ioctl(kfd, AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &args), 0);
    EXPECT_EQ(give(args.handle), -1);
    kfd_ioctl_map_memory_to_gpu_args mapping = {};
    mapping.handle = handle;
    mapping.device_ids_array_ptr = reinterpret_cast<uint64_t>(&gpu);
    mapping.n_devices = 1;
    EXPECT_EQ(ioctl(kfd, AMDKFD_IOC_MAP_MEMORY_TO_GPU, &mapping), -1);
    for (int descriptor : {zero, other, moved})
        (void)close(descriptor);
}

TEST_F(Dmabuf, OutlivesItsOwner)
{
    int sockets[2] = {};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), 0);
    pid_t child = fork();
    if (child == 0) {
        open_all();
        auto memory =
            allocate(KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE, SIZE);
        map(memory.handle);
        *reinterpret_cast<uint32_t *>(memory.va_addr + 4096) = 0x1234;
        send(sockets[1], give(memory.handle));
        (void)close(kfd);
        _exit(0);
    }
    open_all();
    int dmabuf = receive(sockets[0]);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    auto *place = static_cast<char *>(reserve(SIZE));
    uint64_t handle = take(dmabuf, place);
    ASSERT_NE(handle, 0U);
    map(handle);
    EXPECT_EQ(*reinterpret_cast<uint32_t *>(place + 4096), 0x1234U);
    EXPECT_EQ(release(handle), 0);
    (void)close(dmabuf);
    (void)close(sockets[0]);
    (void)close(sockets[1]);
    (void)munmap(place, SIZE);
}

/* The other process opens a driver of its own. It gets the very memory, which stays for it when its
 * owner has none any more. */
TEST_F(Dmabuf, GoesToAnotherProcess)
{
    int sockets[2] = {};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), 0);
    pid_t child = fork();
    if (child == 0) {
        (void)close(sockets[0]);
        open_all();
        int dmabuf = receive(sockets[1]);
        auto *place = static_cast<uint32_t *>(reserve(SIZE));
        uint64_t before = available();
        uint64_t handle = take(dmabuf, place);
        map(handle);
        Import buffer = {};
        bool good = handle != 0 && place[1] == 0x1234 && available() == before &&
                    import(dmabuf, &buffer) == 0;
        /* The host maps it through the render node, and nothing beyond it. */
        uint32_t kms = 0;
        (void)find<int(void *, int, uint32_t *)>("amdgpu_bo_export")(buffer.buffer, KMS, &kms);
        uint64_t offset = kms;
        good = good && find<int(int, unsigned long, void *, unsigned long)>("drmCommandWriteRead")(
                           render, GEM_MMAP, &offset, sizeof offset) == 0;
        auto host = [&](uint64_t at, size_t size) {
            return static_cast<uint32_t *>(mmap(nullptr, size, PROT_READ, MAP_SHARED, render,
                                                static_cast<off_t>(offset + at)));
        };
        uint32_t *all = host(0, SIZE);
        uint32_t *last = host(SIZE - 4096, 4096);
        good = good && all != MAP_FAILED && all[1] == 0x1234 && last != MAP_FAILED &&
               last[1] == 0x1234 && host(4096, SIZE) == MAP_FAILED && errno == EINVAL &&
               host(SIZE + 4096, 4096) == MAP_FAILED;
        /* What is passed on from here is the same again. */
        int again = give(handle);
        uint64_t second = take(again, nullptr);
        good = good && second != 0 && close(again) == 0 && release(second) == 0;
        (void)close(dmabuf);
        Engine engine(kfd, gpu);
        good = good && engine.fill(place, 0x4321, SIZE);
        char byte = good ? 1 : 0;
        (void)write(sockets[1], &byte, 1);
        good = good && read(sockets[1], &byte, 1) == 1 && place[2] == 0x4321;
        good = good && drop(buffer.buffer) == 0 && release(handle) == 0;
        byte = good ? 1 : 0;
        (void)write(sockets[1], &byte, 1);
        (void)read(sockets[1], &byte, 1);
        _exit(good && !HasFailure() ? 0 : 1);
    }
    (void)close(sockets[1]);
    open_all();
    uint64_t before = available();
    auto memory = allocate(KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE, SIZE);
    map(memory.handle);
    auto *words = reinterpret_cast<uint32_t *>(memory.va_addr);
    std::fill(words, words + SIZE / 4, 0x1234);
    int dmabuf = give(memory.handle);
    send(sockets[0], dmabuf);
    EXPECT_EQ(close(dmabuf), 0);
    char byte = 0;
    ASSERT_EQ(read(sockets[0], &byte, 1), 1);
    EXPECT_EQ(byte, 1);
    EXPECT_EQ(words[SIZE / 4 - 1], 0x4321U);
    EXPECT_EQ(release(memory.handle), 0);
    EXPECT_EQ(available(), before - SIZE) << "the other one has it";
    ASSERT_EQ(write(sockets[0], &byte, 1), 1);
    ASSERT_EQ(read(sockets[0], &byte, 1), 1);
    EXPECT_EQ(byte, 1);
    EXPECT_EQ(available(), before) << "nobody has it";
    ASSERT_EQ(write(sockets[0], &byte, 1), 1);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    (void)close(sockets[0]);
    (void)munmap(words, SIZE);
}

} // namespace

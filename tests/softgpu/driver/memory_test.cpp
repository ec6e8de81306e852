#include "fixture.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <hsa/amd_hsa_signal.h>
#include <numeric>

namespace
{

class Memory : public Gpu
{
  protected:
    void SetUp() override
    {
        Gpu::SetUp();
        setting("SOFTGPU_DEVICES", "2");
        open();
    }

    static std::vector<unsigned char> pattern(size_t size, unsigned seed)
    {
        std::vector<unsigned char> bytes(size);
        for (size_t i = 0; i < size; i++)
            bytes[i] = static_cast<unsigned char>((i * 2654435761U + seed) >> 13);
        return bytes;
    }

    /* An asynchronous copy by ROCr, waited for. Which engine does it, is ROCr's choice. */
    void copy(void *dst, hsa_agent_t dst_agent, const void *src, hsa_agent_t src_agent, size_t size)
    {
        hsa_signal_t done = gpu_signal(1);
        ASSERT_EQ(hsa_amd_memory_async_copy(dst, dst_agent, src, src_agent, size, 0, nullptr, done),
                  HSA_STATUS_SUCCESS);
        ASSERT_TRUE(gpu_wait(done));
        hsa_signal_destroy(done);
    }

    std::vector<Entry> copies()
    {
        std::vector<Entry> found;
        char error[256] = "";
        softgpu_truth_t *truth = softgpu_truth_open(log_path().c_str(), error, sizeof error);
        EXPECT_NE(truth, nullptr) << error;
        Entry entry;
        while (truth && softgpu_truth_next(truth, &entry) == 1)
            if (entry.kind == SOFTGPU_TRUTH_COPY)
                found.push_back(entry);
        softgpu_truth_close(truth);
        return found;
    }
};

/* ROCr from 5.7 on has memory of the program's own at the devices' address too, which it knows
 * nothing more of, unless it is told not to. */
class OtherAddress : public Memory
{
  protected:
    void SetUp() override
    {
        setting("HSA_USE_SVM", "0");
        Memory::SetUp();
    }
};

TEST_F(Memory, CopiesInEveryDirection)
{
    /* Sizes around ROCr's limit of one SDMA packet (0x3fffe0 bytes) and odd ones. */
    for (size_t size :
         {size_t{1}, size_t{4097}, size_t{0x3fffe0}, size_t{0x3fffe1}, size_t{9000001}}) {
        std::vector<unsigned char> expected = pattern(size, static_cast<unsigned>(size));
        auto *host = static_cast<unsigned char *>(gpu_memory(&machine, machine.host, size));
        auto *back = static_cast<unsigned char *>(gpu_memory(&machine, machine.host, size));
        void *first = gpu_memory(&machine, machine.vram[0], size);
        void *same = gpu_memory(&machine, machine.vram[0], size);
        void *peer = gpu_memory(&machine, machine.vram[1], size);
        std::memcpy(host, expected.data(), size);
        std::memset(back, 0, size);
        copy(first, machine.gpu[0], host, machine.cpu, size);
        copy(same, machine.gpu[0], first, machine.gpu[0], size);
        copy(peer, machine.gpu[1], same, machine.gpu[0], size);
        copy(back, machine.cpu, peer, machine.gpu[1], size);
        EXPECT_EQ(std::memcmp(back, expected.data(), size), 0) << size;
        for (void *memory :
             {static_cast<void *>(host), static_cast<void *>(back), first, same, peer})
            EXPECT_EQ(hsa_amd_memory_pool_free(memory), HSA_STATUS_SUCCESS);
    }
}

TEST_F(Memory, SynchronousCopyOfUnregisteredMemory)
{
    std::vector<unsigned char> source = pattern(100003, 7);
    std::vector<unsigned char> result(source.size());
    void *device = gpu_memory(&machine, machine.vram[0], source.size());
    ASSERT_EQ(hsa_memory_copy(device, source.data(), source.size()), HSA_STATUS_SUCCESS);
    ASSERT_EQ(hsa_memory_copy(result.data(), device, source.size()), HSA_STATUS_SUCCESS);
    EXPECT_EQ(source, result);
    hsa_amd_memory_pool_free(device);
}

TEST_F(Memory, FillsEveryHeap)
{
    enum { WORDS = 3000001 };
    for (hsa_amd_memory_pool_t pool : {machine.host, machine.vram[0], machine.vram[1]}) {
        auto *memory = static_cast<uint32_t *>(gpu_memory(&machine, pool, size_t{WORDS + 1} * 4));
        memory[WORDS] = 0x12345678;
        ASSERT_EQ(hsa_amd_memory_fill(memory, 0xdeadbeef, WORDS), HSA_STATUS_SUCCESS);
        EXPECT_EQ(memory[0], 0xdeadbeefU);
        EXPECT_EQ(memory[WORDS / 2], 0xdeadbeefU);
        EXPECT_EQ(memory[WORDS - 1], 0xdeadbeefU);
        EXPECT_EQ(memory[WORDS], 0x12345678U);
        hsa_amd_memory_pool_free(memory);
    }
}

/* A window of a 3D volume; the widths make ROCr use several packets and element sizes. */
TEST_F(Memory, RectangularCopy)
{
    const hsa_dim3_t range = {71, 5, 3};
    const uint32_t pitch = 128;
    const uint32_t slice = pitch * 8;
    const size_t size = size_t{slice} * 4;
    auto *host = static_cast<unsigned char *>(gpu_memory(&machine, machine.host, size));
    auto *device = static_cast<unsigned char *>(gpu_memory(&machine, machine.vram[0], size));
    std::vector<unsigned char> source = pattern(size, 3);
    std::memcpy(host, source.data(), size);
    std::memset(device, 0xee, size);
    hsa_pitched_ptr_t from = {host, pitch, slice};
    hsa_pitched_ptr_t to = {device, pitch, slice};
    hsa_dim3_t from_offset = {3, 1, 0};
    hsa_dim3_t to_offset = {6, 2, 1};
    hsa_signal_t done = gpu_signal(1);
    ASSERT_EQ(hsa_amd_memory_async_copy_rect(&to, &to_offset, &from, &from_offset, &range,
                                             machine.gpu[0], hsaHostToDevice, 0, nullptr, done),
              HSA_STATUS_SUCCESS);
    ASSERT_TRUE(gpu_wait(done));
    for (uint32_t z = 0; z < 4; z++)
        for (uint32_t y = 0; y < 8; y++)
            for (uint32_t x = 0; x < pitch; x++) {
                bool inside = x >= 6 && x < 6 + range.x && y >= 2 && y < 2 + range.y && z >= 1;
                unsigned char expected =
                    inside ? source[(z - 1) * slice + (y - 1) * pitch + (x - 3)] : 0xee;
                ASSERT_EQ(device[z * slice + y * pitch + x], expected) << x << ' ' << y << ' ' << z;
            }
    hsa_signal_destroy(done);
    hsa_amd_memory_pool_free(host);
    hsa_amd_memory_pool_free(device);
}

/* The times in a copy's signal are the log's, also where one copy takes several packets. */
TEST_F(Memory, CopyTimesAreTheLogs)
{
    enum { SIZE = 9000001 };
    ASSERT_EQ(hsa_amd_profiling_async_copy_enable(true), HSA_STATUS_SUCCESS);
    void *host = gpu_memory(&machine, machine.host, SIZE);
    void *device = gpu_memory(&machine, machine.vram[0], SIZE);
    hsa_signal_t done = gpu_signal(1);
    ASSERT_EQ(hsa_amd_memory_async_copy(device, machine.gpu[0], host, machine.cpu, SIZE, 0, nullptr,
                                        done),
              HSA_STATUS_SUCCESS);
    ASSERT_TRUE(gpu_wait(done));
    hsa_amd_profiling_async_copy_time_t time = {0, 0};
    ASSERT_EQ(hsa_amd_profiling_get_async_copy_time(done, &time), HSA_STATUS_SUCCESS);
    uint64_t bytes = 0;
    uint64_t start = UINT64_MAX;
    uint64_t end = 0;
    for (const Entry &entry : copies()) {
        if (entry.signal != done.handle)
            continue;
        bytes += entry.bytes;
        start = std::min(start, entry.start_ns);
        end = std::max(end, entry.end_ns);
        EXPECT_EQ(entry.src - reinterpret_cast<uint64_t>(host),
                  entry.dst - reinterpret_cast<uint64_t>(device));
    }
    EXPECT_EQ(bytes, uint64_t{SIZE});
    EXPECT_EQ(time.start, start);
    EXPECT_EQ(time.end, end);
    EXPECT_GT(end, start);
    hsa_signal_destroy(done);
}

TEST_F(Memory, CopiesWaitForTheirDependencies)
{
    auto *host = static_cast<unsigned char *>(gpu_memory(&machine, machine.host, 4096));
    auto *device = static_cast<unsigned char *>(gpu_memory(&machine, machine.vram[0], 4096));
    std::memset(device, 0, 4096);
    std::memset(host, 1, 4096);
    hsa_signal_t dependency = gpu_signal(1);
    hsa_signal_t done = gpu_signal(1);
    ASSERT_EQ(hsa_amd_memory_async_copy(device, machine.gpu[0], host, machine.cpu, 4096, 1,
                                        &dependency, done),
              HSA_STATUS_SUCCESS);
    hsa_queue_t *queue = gpu_queue(machine.gpu[0], 64);
    ASSERT_TRUE(gpu_drain(queue));
    EXPECT_EQ(hsa_signal_load_scacquire(done), 1);
    EXPECT_EQ(device[0], 0);
    std::memset(host, 2, 4096);
    hsa_signal_store_screlease(dependency, 0);
    ASSERT_TRUE(gpu_wait(done));
    EXPECT_EQ(device[4095], 2);
    hsa_queue_destroy(queue);
}

TEST_F(OtherAddress, PointerInfo)
{
    enum { SIZE = 3 << 20 };
    void *device = gpu_memory(&machine, machine.vram[1], SIZE);
    hsa_amd_pointer_info_t info = {};
    info.size = sizeof info;
    ASSERT_EQ(
        hsa_amd_pointer_info(static_cast<char *>(device) + 12345, &info, nullptr, nullptr, nullptr),
        HSA_STATUS_SUCCESS);
    EXPECT_EQ(info.type, HSA_EXT_POINTER_TYPE_HSA);
    EXPECT_EQ(info.agentBaseAddress, device);
    EXPECT_EQ(info.sizeInBytes, size_t{SIZE});
    EXPECT_EQ(info.agentOwner.handle, machine.gpu[1].handle);

    std::vector<char> own(100000);
    void *locked = nullptr;
    ASSERT_EQ(hsa_amd_memory_lock(own.data(), own.size(), machine.gpu, 2, &locked),
              HSA_STATUS_SUCCESS);
    ASSERT_EQ(hsa_amd_pointer_info(own.data() + 5, &info, nullptr, nullptr, nullptr),
              HSA_STATUS_SUCCESS);
    EXPECT_EQ(info.type, HSA_EXT_POINTER_TYPE_LOCKED);
    EXPECT_EQ(info.hostBaseAddress, own.data());
    EXPECT_EQ(info.agentBaseAddress, locked);
    ASSERT_EQ(hsa_amd_memory_unlock(own.data()), HSA_STATUS_SUCCESS);

    ASSERT_EQ(hsa_amd_pointer_info(own.data(), &info, nullptr, nullptr, nullptr),
              HSA_STATUS_SUCCESS);
    EXPECT_EQ(info.type, HSA_EXT_POINTER_TYPE_UNKNOWN);
    hsa_amd_memory_pool_free(device);
}

/* Registered memory has another address on the devices; engines and kernels reach it by that. The
 * list's first int counts the others (kernels.cl). */
TEST_F(OtherAddress, RegisteredMemoryIsReachedByTheDevicesAddress)
{
    enum { SIZE = 100000 };
    std::vector<unsigned char> expected = pattern(SIZE, 11);
    std::vector<unsigned char> own = expected;
    std::vector<unsigned char> back(SIZE + 3);
    void *locked = nullptr;
    void *locked_back = nullptr;
    ASSERT_EQ(hsa_amd_memory_lock(own.data(), SIZE, machine.gpu, 2, &locked), HSA_STATUS_SUCCESS);
    ASSERT_EQ(hsa_amd_memory_lock(back.data() + 3, SIZE, machine.gpu, 2, &locked_back),
              HSA_STATUS_SUCCESS);
    ASSERT_NE(locked, own.data()); /* else the rest shows nothing */
    void *device = gpu_memory(&machine, machine.vram[0], SIZE);
    copy(device, machine.gpu[0], locked, machine.cpu, SIZE);
    copy(locked_back, machine.cpu, device, machine.gpu[0], SIZE);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), back.begin() + 3));
    for (const Entry &entry : copies())
        EXPECT_TRUE(entry.src == reinterpret_cast<uint64_t>(own.data()) ||
                    entry.dst == reinterpret_cast<uint64_t>(back.data() + 3));

    struct {
        void *list;
        int value;
    } arguments = {locked, 7};
    void *kernarg = gpu_memory(&machine, machine.kernarg, sizeof arguments);
    std::memcpy(kernarg, &arguments, sizeof arguments);
    std::memset(own.data(), 0, 8);
    hsa_queue_t *queue = gpu_queue(machine.gpu[0], 64);
    hsa_signal_t done = gpu_signal(1);
    hsa_kernel_dispatch_packet_t packet = gpu_dispatch(kernels.append, kernarg, done);
    (void)gpu_submit(queue, &packet, kernel_header(true));
    ASSERT_TRUE(gpu_wait(done));
    const int list[2] = {1, 7};
    EXPECT_EQ(std::memcmp(own.data(), list, sizeof list), 0);
    hsa_queue_destroy(queue);
    hsa_signal_destroy(done);
    EXPECT_EQ(hsa_amd_memory_unlock(own.data()), HSA_STATUS_SUCCESS);
    EXPECT_EQ(hsa_amd_memory_unlock(back.data() + 3), HSA_STATUS_SUCCESS);
    hsa_amd_memory_pool_free(kernarg);
    hsa_amd_memory_pool_free(device);
}

/* HIP registers what it copies, and what begins at one address with two sizes at once. */
TEST_F(Memory, OneAddressIsRegisteredWithTwoSizes)
{
    enum { SMALL = 4096, LARGE = 3 * SMALL };
    std::vector<unsigned char> own(LARGE);
    void *small = nullptr;
    void *large = nullptr;
    ASSERT_EQ(hsa_amd_memory_lock(own.data(), SMALL, machine.gpu, 2, &small), HSA_STATUS_SUCCESS);
    ASSERT_EQ(hsa_amd_memory_lock(own.data(), LARGE, machine.gpu, 2, &large), HSA_STATUS_SUCCESS);
    void *device = gpu_memory(&machine, machine.vram[0], LARGE);
    std::vector<unsigned char> expected = pattern(LARGE, 12);
    own = expected;
    copy(device, machine.gpu[0], large, machine.cpu, LARGE);
    std::fill(own.begin(), own.end(), 0);
    copy(small, machine.cpu, device, machine.gpu[0], SMALL);
    copy(static_cast<char *>(large) + SMALL, machine.cpu, static_cast<char *>(device) + SMALL,
         machine.gpu[0], LARGE - SMALL);
    EXPECT_EQ(own, expected);
    EXPECT_EQ(hsa_amd_memory_unlock(own.data()), HSA_STATUS_SUCCESS);
    EXPECT_EQ(hsa_amd_memory_unlock(own.data()), HSA_STATUS_SUCCESS);
    hsa_amd_memory_pool_free(device);
}

TEST_F(Memory, PeersMayUseEachOthersMemory)
{
    hsa_amd_memory_pool_access_t access = HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;
    ASSERT_EQ(hsa_amd_agent_memory_pool_get_info(machine.gpu[0], machine.vram[1],
                                                 HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access),
              HSA_STATUS_SUCCESS);
    EXPECT_EQ(access, HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT);
}

/* Else HIP copies small buffers with memcpy, and no profiler sees them. */
TEST_F(Memory, TheHostHasNoAccessToFrameBuffers)
{
    hsa_amd_memory_pool_access_t access = HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT;
    ASSERT_EQ(hsa_amd_agent_memory_pool_get_info(machine.cpu, machine.vram[0],
                                                 HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access),
              HSA_STATUS_SUCCESS);
    EXPECT_EQ(access, HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED);
}

/* What is freed is given back: 64 GB pass through a machine that has less. */
TEST_F(Memory, FreedMemoryIsGivenBack)
{
    for (int i = 0; i < 64; i++) {
        void *memory = gpu_memory(&machine, machine.vram[0], size_t{1} << 30);
        std::memset(memory, 1, 1 << 20);
        ASSERT_EQ(hsa_amd_memory_pool_free(memory), HSA_STATUS_SUCCESS);
    }
}

std::atomic<uint64_t> fault_address;

hsa_status_t on_fault(const hsa_amd_event_t *event, void *)
{
    if (event->event_type == HSA_AMD_GPU_MEMORY_FAULT_EVENT)
        fault_address = event->memory_fault.virtual_address;
    return HSA_STATUS_SUCCESS;
}

/* A copy from memory that the device cannot see is a memory fault, told as on hardware. */
TEST_F(Memory, UnmappedMemoryIsAFault)
{
    ASSERT_EQ(hsa_amd_register_system_event_handler(on_fault, nullptr), HSA_STATUS_SUCCESS);
    std::vector<char> own(8192);
    void *device = gpu_memory(&machine, machine.vram[0], own.size());
    hsa_signal_t done = gpu_signal(1);
    ASSERT_EQ(hsa_amd_memory_async_copy(device, machine.gpu[0], own.data(), machine.cpu, own.size(),
                                        0, nullptr, done),
              HSA_STATUS_SUCCESS);
    for (int i = 0; i < 30000 && fault_address == 0; i++)
        usleep(1000);
    EXPECT_EQ(fault_address, reinterpret_cast<uint64_t>(own.data()));
    EXPECT_EQ(hsa_signal_load_scacquire(done), 1);
}

} // namespace

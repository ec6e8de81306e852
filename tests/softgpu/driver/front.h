/* What the test programs of the driver's ioctls share: the driver opened, without a runtime. */
#ifndef TESTS_SOFTGPU_FRONT_H
#define TESTS_SOFTGPU_FRONT_H

#include "kfd.h"

#include <gtest/gtest.h>

class Front : public testing::Test
{
  protected:
    // NOLINTBEGIN(misc-non-private-member-variables-in-classes): a fixture's members are for its
    // tests
    int kfd = -1;
    int render = -1;
    uint32_t gpu = 0;
    // NOLINTEND(misc-non-private-member-variables-in-classes)

    void open_gpu()
    {
        kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
        render = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
        ASSERT_GE(kfd, 0);
        ASSERT_GE(render, 0);
        gpu = kfd_gpu(kfd);
        ASSERT_NE(gpu, 0U);
        ASSERT_TRUE(kfd_acquire(kfd, gpu, render));
    }

    void TearDown() override
    {
        if (render >= 0)
            (void)close(render);
        if (kfd >= 0)
            (void)close(kfd);
    }

    /* Memory of the driver at an address of the kernel's choice. */
    kfd_ioctl_alloc_memory_of_gpu_args allocate(uint32_t flags, uint64_t size)
    {
        void *place =
            mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        kfd_ioctl_alloc_memory_of_gpu_args args = {};
        args.va_addr = reinterpret_cast<uint64_t>(place);
        args.size = size;
        args.gpu_id = gpu;
        args.flags = flags;
        EXPECT_EQ(ioctl(kfd, AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &args), 0);
        return args;
    }

    void map(uint64_t handle)
    {
        kfd_ioctl_map_memory_to_gpu_args args = {};
        args.handle = handle;
        args.device_ids_array_ptr = reinterpret_cast<uint64_t>(&gpu);
        args.n_devices = 1;
        EXPECT_EQ(ioctl(kfd, AMDKFD_IOC_MAP_MEMORY_TO_GPU, &args), 0);
        EXPECT_EQ(args.n_success, 1U);
    }

    uint64_t available()
    {
        kfd_ioctl_get_available_memory_args args = {};
        args.gpu_id = gpu;
        EXPECT_EQ(ioctl(kfd, AMDKFD_IOC_AVAILABLE_MEMORY, &args), 0);
        return args.available;
    }
};

/* A copy engine of a GPU. One that met a fault does no more. */
class Engine
{
  public:
    Engine(int kfd, uint32_t gpu) : kfd(kfd)
    {
        kfd_ioctl_create_queue_args args = {};
        args.gpu_id = gpu;
        args.queue_type = KFD_IOC_QUEUE_TYPE_SDMA;
        args.queue_percentage = 100;
        args.ring_base_address = reinterpret_cast<uint64_t>(ring);
        args.ring_size = sizeof ring;
        args.read_pointer_address = reinterpret_cast<uint64_t>(&pointers[0]);
        args.write_pointer_address = reinterpret_cast<uint64_t>(&pointers[1]);
        EXPECT_EQ(ioctl(kfd, AMDKFD_IOC_CREATE_QUEUE, &args), 0);
        id = args.queue_id;
        page = mmap(nullptr, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, kfd,
                    static_cast<off_t>(args.doorbell_offset & ~uint64_t{0xffffffff}));
        EXPECT_NE(page, MAP_FAILED);
        doorbell = static_cast<volatile uint64_t *>(page) +
                   (args.doorbell_offset & (PAGE_BYTES - 1)) / sizeof(uint64_t);
    }

    ~Engine()
    {
        kfd_ioctl_destroy_queue_args args = {id, 0};
        EXPECT_EQ(ioctl(kfd, AMDKFD_IOC_DESTROY_QUEUE, &args), 0);
        (void)munmap(page, PAGE_BYTES);
    }

    Engine(const Engine &) = delete;
    Engine &operator=(const Engine &) = delete;

    /* Fills memory with a value; false if the engine did not come to the end of it. What is
     * expected to fail is waited for no longer than anybody would. */
    bool fill(const void *target, uint32_t value, uint32_t bytes, bool expected = true)
    {
        enum { FILL = 11, MILLISECONDS = 30000, SHORT = 50 };
        auto to = reinterpret_cast<uint64_t>(target);
        for (uint32_t word : {uint32_t{FILL} | 2U << 30U, static_cast<uint32_t>(to),
                              static_cast<uint32_t>(to >> 32U), value, bytes - 4})
            ring[written++] = word;
        *doorbell = written * sizeof(uint32_t);
        for (int i = 0; i < (expected ? MILLISECONDS : SHORT) && !is_done(); i++)
            usleep(1000);
        return is_done();
    }

  private:
    enum { PAGE_BYTES = 8192, WORDS = 1024 };

    bool is_done() const
    {
        return pointers[0] == written * sizeof(uint32_t);
    }

    int kfd;
    uint32_t id = 0;
    void *page = nullptr;
    volatile uint64_t *doorbell = nullptr;
    uint64_t written = 0;
    alignas(4096) uint32_t ring[WORDS] = {};
    volatile uint64_t pointers[2] = {};
};

#endif

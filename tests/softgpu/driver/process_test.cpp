#include "fixture.h"

#include "kfd.h"
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>

namespace
{

class Process : public Gpu
{
  protected:
    /* A number in a status file of proc(5). */
    static unsigned number_in(const std::string &path, const std::string &name)
    {
        std::ifstream status(path);
        std::string word;
        unsigned number = 0;
        while (status >> word)
            if (word == name)
                status >> number;
        return number;
    }

    static unsigned threads()
    {
        return number_in("/proc/self/status", "Threads:");
    }

    /* Address space in pages. */
    static uint64_t address_space()
    {
        std::ifstream statm("/proc/self/statm");
        uint64_t pages = 0;
        statm >> pages;
        return pages;
    }

    unsigned logged_kernels()
    {
        char error[256] = "";
        softgpu_truth_t *truth = softgpu_truth_open(log_path().c_str(), error, sizeof error);
        EXPECT_NE(truth, nullptr) << error;
        softgpu_truth_entry_t entry;
        unsigned count = 0;
        while (truth && softgpu_truth_next(truth, &entry) == 1)
            if (entry.kind == SOFTGPU_TRUTH_KERNEL && std::string(entry.name) == "quick")
                count++;
        softgpu_truth_close(truth);
        return count;
    }

    bool work()
    {
        hsa_queue_t *queue = gpu_queue(machine.gpu[0], 64);
        launch(queue, kernels.quick, true);
        bool done = gpu_drain(queue);
        hsa_queue_destroy(queue);
        return done;
    }

    static bool is_asleep(const std::filesystem::path &task)
    {
        std::ifstream status(task / "stat");
        std::string text;
        std::getline(status, text);
        size_t name_end = text.rfind(')');
        return name_end + 2 < text.size() && text[name_end + 2] == 'S' &&
               number_in(task / "status", "voluntary_ctxt_switches:") > 0;
    }

    /* Waits until all other threads sleep. One that is just made allocates, and the address
     * sanitizer of gcc 12 does not take its allocator's locks at a fork: a child that allocates
     * would wait for a lock whose owner it does not have. */
    static void let_threads_begin()
    {
        const std::string own = std::to_string(gettid());
        for (unsigned tries = 0; tries < 10000; tries++) {
            bool all = true;
            for (const auto &task : std::filesystem::directory_iterator("/proc/self/task"))
                all = all && (task.path().filename() == own || is_asleep(task.path()));
            if (all)
                return;
            (void)usleep(1000);
        }
    }

    /* Runs `body` in a forked child and returns its exit status, or -1 after 30 s. */
    template <typename Body> static int in_child(Body body)
    {
        pid_t child = fork();
        if (child == 0) {
            alarm(30);
            _exit(body());
        }
        int status = 0;
        if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
            return -1;
        return WEXITSTATUS(status);
    }
};

TEST_F(Process, OpensAndClosesAgainAndAgain)
{
    unsigned threads_before = threads();
    uint64_t space = 0;
    for (int i = 0; i < 20; i++) {
        open();
        ASSERT_TRUE(work());
        close();
        EXPECT_EQ(threads(), threads_before);
        if (i == 10)
            space = address_space();
    }
    EXPECT_EQ(logged_kernels(), 20U); /* the log goes on from one opening to the next */
    /* The scratch pool alone is 4 GB for each GPU: what stays must not grow by such an amount. */
    EXPECT_LT(address_space(), space + (uint64_t{1} << 30) / 4096);
}

TEST_F(Process, InitCountsReferences)
{
    open();
    ASSERT_EQ(hsa_init(), HSA_STATUS_SUCCESS);
    ASSERT_EQ(hsa_shut_down(), HSA_STATUS_SUCCESS);
    EXPECT_TRUE(work());
}

/* Somebody who looks whether the driver is there, beside a runtime that uses it. */
TEST_F(Process, AnotherDescriptorChangesNothing)
{
    open();
    int other = ::open("/dev/kfd", O_RDWR | O_CLOEXEC);
    ASSERT_GE(other, 0);
    EXPECT_NE(kfd_gpu(other), 0U);
    EXPECT_EQ(::close(other), 0);
    EXPECT_TRUE(work());
    close();
    EXPECT_EQ(kfd_gpu(other), 0U);
    EXPECT_EQ(errno, EBADF);
}

TEST_F(Process, ChildOfAFreshProcessHasItsOwnGpu)
{
    EXPECT_EQ(in_child([this] {
                  open();
                  return work() ? 0 : 1;
              }),
              0);
    open();
    EXPECT_TRUE(work());
}

TEST_F(Process, ChildAfterAClosedGpuHasItsOwn)
{
    open();
    ASSERT_TRUE(work());
    close();
    EXPECT_EQ(in_child([this] {
                  open();
                  return work() ? 0 : 1;
              }),
              0);
}

/* In the child of a process whose GPU is open, calls fail as they do with the real driver, whose
 * memory a child does not have. The parent does not notice. */
TEST_F(Process, ChildOfAnOpenGpuFailsCleanly)
{
    open();
    hsa_queue_t *queue = gpu_queue(machine.gpu[0], 64);
    auto *shared = static_cast<char *>(gpu_memory(&machine, machine.vram[0], 8 << 20));
    shared[0] = 'p';
    int kfd = ::open("/dev/kfd", O_RDWR | O_CLOEXEC);
    ASSERT_GE(kfd, 0);
    let_threads_begin();
    int status = in_child([this, shared, kfd] {
        if (kfd_gpu(kfd) != 0 || errno != EBADF)
            return 1;
        /* ROCr 7.2 asserts that a queue that could not be made had scratch memory. */
        hsa_queue_t *mine = nullptr;
        if (HSA_AMD_INTERFACE_VERSION_MINOR < 15 &&
            hsa_queue_create(machine.gpu[0], 64, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, UINT32_MAX,
                             UINT32_MAX, &mine) == HSA_STATUS_SUCCESS)
            return 2;
        void *memory = nullptr;
        if (hsa_amd_memory_pool_allocate(machine.vram[0], 8 << 20, 0, &memory) ==
            HSA_STATUS_SUCCESS)
            return 3;
        unsigned char there = 0;
        return mincore(shared, 4096, &there) == -1 && errno == ENOMEM ? 0 : 4;
    });
    EXPECT_EQ(status, 0);
    EXPECT_EQ(::close(kfd), 0);
    EXPECT_EQ(shared[0], 'p');
    EXPECT_EQ(hsa_amd_memory_pool_free(shared), HSA_STATUS_SUCCESS);
    launch(queue, kernels.slow, true);
    EXPECT_TRUE(gpu_drain(queue));
    hsa_queue_destroy(queue);
}

/* Such a child may open the driver itself; what it does then is its own. */
TEST_F(Process, ChildMayOpenTheDriverAnew)
{
    open();
    let_threads_begin();
    EXPECT_EQ(in_child([] {
                  int kfd = ::open("/dev/kfd", O_RDWR | O_CLOEXEC);
                  int render = ::open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
                  uint32_t gpu = kfd < 0 ? 0 : kfd_gpu(kfd);
                  if (gpu == 0 || !kfd_acquire(kfd, gpu, render))
                      return 1;
                  kfd_ioctl_create_event_args event = {};
                  if (ioctl(kfd, AMDKFD_IOC_CREATE_EVENT, &event) != 0 || event.event_id != 1)
                      return 2;
                  if (threads() != 2)
                      return 3;
                  return ::close(kfd) == 0 && threads() == 1 ? 0 : 4;
              }),
              0);
    EXPECT_TRUE(work());
}

TEST_F(Process, ForksWhileTheDeviceWorks)
{
    open();
    hsa_queue_t *queue = gpu_queue(machine.gpu[0], 4096);
    for (int i = 0; i < 20; i++) {
        for (int k = 0; k < 500; k++)
            launch(queue, kernels.quick, false);
        ASSERT_EQ(in_child([] { return 7; }), 7);
    }
    EXPECT_TRUE(gpu_drain(queue));
    hsa_queue_destroy(queue);
}

TEST_F(Process, ManyGpus)
{
    setting("SOFTGPU_DEVICES", "16");
    open();
    EXPECT_EQ(machine.gpus, 16U);
    for (unsigned i = 0; i < machine.gpus; i++) {
        hsa_queue_t *queue = gpu_queue(machine.gpu[i], 64);
        EXPECT_TRUE(gpu_drain(queue));
        EXPECT_EQ(log_of(queue).at(0).gpu, i);
        hsa_queue_destroy(queue);
    }
}

} // namespace

/* What the test programs of this folder share: a GPU that is opened with settings, and the truth
 * log of what it did. */
#ifndef TESTS_SOFTGPU_FIXTURE_H
#define TESTS_SOFTGPU_FIXTURE_H

extern "C" {
#include "gpu.h"
}

extern "C" {
#include "softgpu/truth.h"
}

#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>
#include <vector>

/* One entry of the log with a name of its own. */
struct Entry : softgpu_truth_entry_t {
    std::string kernel;
};

class Gpu : public testing::Test
{
  protected:
    // NOLINTBEGIN(misc-non-private-member-variables-in-classes): a fixture's members are for its
    // tests
    gpu_machine_t machine = {};
    gpu_kernels_t kernels = {};
    bool is_open = false;
    // NOLINTEND(misc-non-private-member-variables-in-classes)

    void SetUp() override
    {
        setting("SOFTGPU_DURATION", "slow=300000,*=0");
        setting("SOFTGPU_PLUGINS", DRIVER_PLUGIN);
        setting("SOFTGPU_TRUTH", log_path().c_str());
    }

    void TearDown() override
    {
        close();
        (void)unlink(log_path().c_str());
    }

    static void setting(const char *name, const char *value)
    {
        ASSERT_EQ(setenv(name, value, 1), 0); // NOLINT(concurrency-mt-unsafe): before HSA is open
    }

    void open()
    {
        gpu_open(&machine);
        is_open = true;
        ASSERT_GT(machine.gpus, 0U);
        gpu_load(&machine, DRIVER_KERNELS, &kernels);
    }

    void close()
    {
        if (!is_open)
            return;
        gpu_unload(&kernels);
        gpu_close();
        is_open = false;
    }

    static std::string log_path()
    {
        return testing::TempDir() + "softgpu-driver-" + std::to_string(getpid()) + ".truth";
    }

    /* The log's entries about a queue. Readable while the GPU works: what was completed is there.
     */
    std::vector<Entry> log_of(const void *queue)
    {
        std::vector<Entry> entries;
        char error[256] = "";
        softgpu_truth_t *truth = softgpu_truth_open(log_path().c_str(), error, sizeof error);
        EXPECT_NE(truth, nullptr) << error;
        if (!truth)
            return entries;
        Entry entry;
        int found = 0;
        while ((found = softgpu_truth_next(truth, &entry)) == 1) {
            entry.kernel = entry.name;
            if (entry.queue_address == reinterpret_cast<uint64_t>(queue))
                entries.push_back(entry);
        }
        EXPECT_EQ(found, 0) << softgpu_truth_error(truth);
        softgpu_truth_close(truth);
        return entries;
    }

    static uint16_t kernel_header(bool barrier)
    {
        return gpu_header(HSA_PACKET_TYPE_KERNEL_DISPATCH, barrier);
    }

    /* Submits a kernel without a signal. */
    static void launch(hsa_queue_t *queue, uint64_t kernel, bool barrier)
    {
        hsa_kernel_dispatch_packet_t packet = gpu_dispatch(kernel, nullptr, hsa_signal_t{0});
        (void)gpu_submit(queue, &packet, kernel_header(barrier));
    }
};

#endif

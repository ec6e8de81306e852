#include "fixture.h"

#include <algorithm>
#include <cstring>

namespace
{

class Hostile : public Gpu
{
};

TEST_F(Hostile, ReadAheadNeedsNoDoorbell)
{
    setting("SOFTGPU_READ_AHEAD", "1");
    open();
    hsa_queue_t *queue = gpu_queue(machine.gpu[0], 64);
    hsa_signal_t signal = gpu_signal(3);
    hsa_kernel_dispatch_packet_t packet = gpu_dispatch(kernels.quick, nullptr, signal);
    for (int i = 0; i < 3; i++)
        gpu_put(queue, &packet, kernel_header(true));
    EXPECT_TRUE(gpu_wait(signal));
    hsa_queue_destroy(queue);
}

/* The completion comes up to 5 ms after the end that the times tell, differently each time, and
 * kernels of one queue still follow each other. */
TEST_F(Hostile, DelayComesBetweenEndAndSignal)
{
    setting("SOFTGPU_DELAY", "5000000:42");
    open();
    hsa_queue_t *queue = gpu_queue(machine.gpu[0], 64);
    enum { COUNT = 20 };
    uint64_t latest = 0;
    for (int i = 0; i < COUNT; i++) {
        hsa_signal_t signal = gpu_signal(1);
        hsa_kernel_dispatch_packet_t packet = gpu_dispatch(kernels.quick, nullptr, signal);
        gpu_submit(queue, &packet, kernel_header(true));
        ASSERT_TRUE(gpu_wait(signal));
        uint64_t seen = 0;
        hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &seen);
        const Entry logged = log_of(queue).back();
        ASSERT_GE(seen, logged.end_ns);
        EXPECT_EQ(logged.start_ticks, logged.end_ticks);
        latest = std::max(latest, seen - logged.end_ns);
        hsa_signal_destroy(signal);
    }
    /* 20 draws up to 5 ms: that all stay below 0.5 ms has odds of 1 to 10^20. */
    EXPECT_GT(latest, 500000U);
    hsa_queue_destroy(queue);
}

/* Copies are delayed too, and barriers hold their queue meanwhile. */
TEST_F(Hostile, DelayKeepsOrderAndData)
{
    setting("SOFTGPU_DELAY", "100000");
    open();
    hsa_queue_t *queue = gpu_queue(machine.gpu[0], 64);
    auto *host = static_cast<char *>(gpu_memory(&machine, machine.host, 4096));
    void *device = gpu_memory(&machine, machine.vram[0], 4096);
    for (int i = 0; i < 50; i++) {
        std::memset(host, i, 4096);
        hsa_signal_t signal = gpu_signal(1);
        ASSERT_EQ(hsa_amd_memory_async_copy(device, machine.gpu[0], host, machine.cpu, 4096, 0,
                                            nullptr, signal),
                  HSA_STATUS_SUCCESS);
        ASSERT_TRUE(gpu_wait(signal));
        EXPECT_EQ(static_cast<char *>(device)[77], i);
        hsa_signal_destroy(signal);
        ASSERT_TRUE(gpu_drain(queue));
    }
    hsa_queue_destroy(queue);
}

/* The queues are served in an order that is not that of their creation; each keeps its own order.
 */
TEST_F(Hostile, ReorderShufflesQueues)
{
    setting("SOFTGPU_REORDER", "7");
    open();
    enum { QUEUES = 8, EACH = 16 };
    std::vector<hsa_queue_t *> queues;
    queues.reserve(QUEUES);
    for (int i = 0; i < QUEUES; i++)
        queues.push_back(gpu_queue(machine.gpu[0], 64));
    hsa_barrier_and_packet_t hold;
    std::memset(&hold, 0, sizeof hold);
    hold.dep_signal[0] = gpu_signal(1);
    for (hsa_queue_t *queue : queues) {
        gpu_submit(queue, &hold, gpu_header(HSA_PACKET_TYPE_BARRIER_AND, true));
        for (int i = 0; i < EACH; i++)
            launch(queue, kernels.quick, true);
    }
    hsa_signal_store_screlease(hold.dep_signal[0], 0);
    std::vector<uint64_t> first;
    first.reserve(QUEUES);
    for (hsa_queue_t *queue : queues)
        ASSERT_TRUE(gpu_drain(queue));
    for (hsa_queue_t *queue : queues) {
        std::vector<Entry> log = log_of(queue);
        ASSERT_EQ(log.size(), size_t{EACH} + 2);
        for (size_t i = 0; i < log.size(); i++)
            EXPECT_EQ(log[i].index, i);
        first.push_back(log[1].start_ticks);
        hsa_queue_destroy(queue);
    }
    EXPECT_FALSE(std::is_sorted(first.begin(), first.end()));
}

TEST_F(Hostile, OneProcessorIsEnough)
{
    setting("SOFTGPU_CPU", "0");
    open();
    hsa_queue_t *queue = gpu_queue(machine.gpu[0], 64);
    EXPECT_TRUE(gpu_drain(queue));
    hsa_queue_destroy(queue);
}

/* Bad settings are named once and the defaults used. */
TEST_F(Hostile, BadSettingsAreNamed)
{
    setting("SOFTGPU_DEVICES", "many");
    setting("SOFTGPU_WIDTH", "0");
    setting("SOFTGPU_DELAY", "5:x");
    setting("SOFTGPU_READ_AHEAD", "yes");
    setting("SOFTGPU_CPU", "1000");
    testing::internal::CaptureStderr();
    open();
    hsa_queue_destroy(gpu_queue(machine.gpu[0], 64)); /* the device thread has begun */
    std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(machine.gpus, 1U);
    for (const char *name : {"SOFTGPU_DEVICES=many", "SOFTGPU_WIDTH=0", "SOFTGPU_DELAY=5:x",
                             "SOFTGPU_READ_AHEAD=yes", "SOFTGPU_CPU=1000"})
        EXPECT_NE(said.find(name), std::string::npos) << said;
}

} // namespace

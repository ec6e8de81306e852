#include "fixture.h"

#include <atomic>
#include <cstring>
#include <ctime>
#include <thread>

namespace
{

class Signal : public Gpu
{
  protected:
    void SetUp() override
    {
        Gpu::SetUp();
        open();
    }

    uint64_t now()
    {
        uint64_t time = 0;
        EXPECT_EQ(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &time), HSA_STATUS_SUCCESS);
        return time;
    }
};

/* 2 ms kernels outlast the 200 us for which ROCr spins before it sleeps on the event. */
TEST_F(Signal, SleepingAndSpinningWaitersSeeTheEnd)
{
    close();
    setting("SOFTGPU_DURATION", "slow=2000000,*=0");
    open();
    hsa_queue_t *queue = gpu_queue(machine.gpu[0], 64);
    for (hsa_wait_state_t how : {HSA_WAIT_STATE_BLOCKED, HSA_WAIT_STATE_ACTIVE})
        for (int i = 0; i < 10; i++) {
            hsa_signal_t signal = gpu_signal(1);
            hsa_kernel_dispatch_packet_t packet = gpu_dispatch(kernels.slow, nullptr, signal);
            gpu_submit(queue, &packet, kernel_header(true));
            EXPECT_EQ(
                hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX, how), 0);
            EXPECT_GE(now(), log_of(queue).back().end_ns);
            hsa_signal_destroy(signal);
        }
    hsa_queue_destroy(queue);
}

TEST_F(Signal, WaitTimesOut)
{
    hsa_signal_t signal = gpu_signal(1);
    uint64_t before = now();
    EXPECT_EQ(hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, 3000000,
                                        HSA_WAIT_STATE_BLOCKED),
              1);
    EXPECT_GE(now() - before, 2000000U);
    hsa_signal_destroy(signal);
}

TEST_F(Signal, WaitAnyFindsTheOneThatCame)
{
    hsa_queue_t *queue = gpu_queue(machine.gpu[0], 64);
    hsa_signal_t signals[3] = {gpu_signal(1), gpu_signal(1), gpu_signal(1)};
    hsa_signal_condition_t conditions[3] = {HSA_SIGNAL_CONDITION_LT, HSA_SIGNAL_CONDITION_LT,
                                            HSA_SIGNAL_CONDITION_LT};
    hsa_signal_value_t values[3] = {1, 1, 1};
    hsa_kernel_dispatch_packet_t packet = gpu_dispatch(kernels.slow, nullptr, signals[1]);
    gpu_submit(queue, &packet, kernel_header(true));
    hsa_signal_value_t value = -1;
    EXPECT_EQ(hsa_amd_signal_wait_any(3, signals, conditions, values, UINT64_MAX,
                                      HSA_WAIT_STATE_BLOCKED, &value),
              1U);
    EXPECT_EQ(value, 0);
    hsa_queue_destroy(queue);
}

std::atomic<int> handled;

bool on_signal(hsa_signal_value_t, void *)
{
    handled++;
    return false;
}

TEST_F(Signal, AsyncHandlersRun)
{
    enum { COUNT = 200 };
    hsa_queue_t *queue = gpu_queue(machine.gpu[0], 256);
    std::vector<hsa_signal_t> signals;
    signals.reserve(COUNT);
    for (int i = 0; i < COUNT; i++) {
        signals.push_back(gpu_signal(1));
        ASSERT_EQ(hsa_amd_signal_async_handler(signals[i], HSA_SIGNAL_CONDITION_LT, 1, on_signal,
                                               nullptr),
                  HSA_STATUS_SUCCESS);
    }
    for (hsa_signal_t signal : signals) {
        hsa_kernel_dispatch_packet_t packet = gpu_dispatch(kernels.quick, nullptr, signal);
        gpu_submit(queue, &packet, kernel_header(true));
    }
    for (int i = 0; i < 30000 && handled < COUNT; i++)
        usleep(1000);
    EXPECT_EQ(handled, COUNT);
    hsa_queue_destroy(queue);
}

/* Beyond 4096 there are no more events, as with the real driver; ROCr polls such signals. */
TEST_F(Signal, MoreSignalsThanEvents)
{
    enum { COUNT = 5000 };
    hsa_queue_t *queue = gpu_queue(machine.gpu[0], 64);
    std::vector<hsa_signal_t> signals;
    signals.reserve(COUNT);
    for (int i = 0; i < COUNT; i++)
        signals.push_back(gpu_signal(1));
    for (hsa_signal_t signal : {signals.front(), signals.back()}) {
        hsa_kernel_dispatch_packet_t packet = gpu_dispatch(kernels.slow, nullptr, signal);
        gpu_submit(queue, &packet, kernel_header(true));
        EXPECT_TRUE(gpu_wait(signal));
    }
    for (hsa_signal_t signal : signals)
        hsa_signal_destroy(signal);
    hsa_queue_destroy(queue);
}

/* The system timestamp is CLOCK_BOOTTIME, and a kernel lies between the host's stamps around it. */
TEST_F(Signal, ClocksAgree)
{
    timespec boot = {};
    clock_gettime(CLOCK_BOOTTIME, &boot);
    uint64_t before = static_cast<uint64_t>(boot.tv_sec) * 1000000000U + boot.tv_nsec;
    uint64_t stamp = now();
    clock_gettime(CLOCK_BOOTTIME, &boot);
    uint64_t after = static_cast<uint64_t>(boot.tv_sec) * 1000000000U + boot.tv_nsec;
    EXPECT_GE(stamp + 10, before);
    EXPECT_LE(stamp, after);

    hsa_queue_t *queue = gpu_queue(machine.gpu[0], 64);
    ASSERT_EQ(hsa_amd_profiling_set_profiler_enabled(queue, 1), HSA_STATUS_SUCCESS);
    for (int i = 0; i < 100; i++) {
        hsa_signal_t signal = gpu_signal(1);
        hsa_kernel_dispatch_packet_t packet =
            gpu_dispatch(i % 2 ? kernels.slow : kernels.quick, nullptr, signal);
        uint64_t submitted = now();
        gpu_submit(queue, &packet, kernel_header(true));
        ASSERT_TRUE(gpu_wait(signal));
        uint64_t seen = now();
        hsa_amd_profiling_dispatch_time_t time = {0, 0};
        ASSERT_EQ(hsa_amd_profiling_get_dispatch_time(machine.gpu[0], signal, &time),
                  HSA_STATUS_SUCCESS);
        const Entry logged = log_of(queue).back();
        EXPECT_EQ(time.start, logged.start_ns);
        EXPECT_EQ(time.end, logged.end_ns);
        EXPECT_LE(submitted, time.start);
        EXPECT_LE(time.end, seen);
        hsa_signal_destroy(signal);
    }
    hsa_queue_destroy(queue);
}

} // namespace

#include "fixture.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <ostream>
#include <thread>

namespace
{

class Queue : public Gpu
{
  protected:
    void SetUp() override
    {
        Gpu::SetUp();
        setting("SOFTGPU_WIDTH", "4");
        open();
    }

    std::vector<Entry> kernels_of(const hsa_queue_t *queue)
    {
        std::vector<Entry> all = log_of(queue);
        all.erase(std::remove_if(all.begin(), all.end(),
                                 [](const Entry &e) { return e.kind != SOFTGPU_TRUTH_KERNEL; }),
                  all.end());
        return all;
    }

    /* Most kernels of the log that were under way at one time. */
    static unsigned widest(const std::vector<Entry> &entries)
    {
        unsigned most = 0;
        for (const Entry &one : entries) {
            unsigned together = 0;
            for (const Entry &other : entries)
                if (other.start_ticks <= one.start_ticks && one.start_ticks < other.end_ticks)
                    together++;
            most = std::max(most, together);
        }
        return most;
    }
};

TEST_F(Queue, BarrierBitMakesKernelsWaitForEachOther)
{
    hsa_queue_t *queue = gpu_queue(machine.gpu[0], 64);
    for (int i = 0; i < 8; i++)
        launch(queue, kernels.slow, true);
    ASSERT_TRUE(gpu_drain(queue));
    std::vector<Entry> done = kernels_of(queue);
    ASSERT_EQ(done.size(), 8U);
    EXPECT_EQ(widest(done), 1U);
    for (const Entry &entry : done) {
        EXPECT_EQ(entry.kernel, "slow");
        EXPECT_EQ(entry.end_ticks - entry.start_ticks, 30000U);
        EXPECT_EQ(entry.start_ns, entry.start_ticks * 10);
        EXPECT_EQ(entry.end_ns, entry.end_ticks * 10);
    }
    hsa_queue_destroy(queue);
}

TEST_F(Queue, WithoutBarrierBitKernelsOverlapUpToTheWidth)
{
    hsa_queue_t *queue = gpu_queue(machine.gpu[0], 64);
    hsa_kernel_dispatch_packet_t packet = gpu_dispatch(kernels.slow, nullptr, hsa_signal_t{0});
    uint64_t last = 0;
    for (int i = 0; i < 12; i++)
        last = gpu_put(queue, &packet, kernel_header(false));
    gpu_ring(queue, last);
    ASSERT_TRUE(gpu_drain(queue));
    std::vector<Entry> done = kernels_of(queue);
    ASSERT_EQ(done.size(), 12U);
    EXPECT_EQ(widest(done), 4U);
    hsa_queue_destroy(queue);
}

TEST_F(Queue, KernelsOfDifferentQueuesOverlap)
{
    hsa_queue_t *one = gpu_queue(machine.gpu[0], 64);
    hsa_queue_t *two = gpu_queue(machine.gpu[0], 64);
    /* A barrier holds both until everything is submitted. */
    hsa_barrier_and_packet_t hold;
    std::memset(&hold, 0, sizeof hold);
    hold.dep_signal[0] = gpu_signal(1);
    for (hsa_queue_t *queue : {one, two}) {
        gpu_submit(queue, &hold, gpu_header(HSA_PACKET_TYPE_BARRIER_AND, true));
        launch(queue, kernels.slow, true);
    }
    hsa_signal_store_screlease(hold.dep_signal[0], 0);
    ASSERT_TRUE(gpu_drain(one));
    ASSERT_TRUE(gpu_drain(two));
    std::vector<Entry> both = kernels_of(one);
    for (const Entry &entry : kernels_of(two))
        both.push_back(entry);
    ASSERT_EQ(both.size(), 2U);
    EXPECT_EQ(widest(both), 2U);
    hsa_queue_destroy(one);
    hsa_queue_destroy(two);
    hsa_signal_destroy(hold.dep_signal[0]);
}

TEST_F(Queue, BarrierAndWaitsForAllItsSignals)
{
    hsa_queue_t *queue = gpu_queue(machine.gpu[0], 64);
    hsa_queue_t *other = gpu_queue(machine.gpu[0], 64);
    hsa_barrier_and_packet_t barrier;
    std::memset(&barrier, 0, sizeof barrier);
    barrier.dep_signal[0] = gpu_signal(1);
    barrier.dep_signal[4] = gpu_signal(1);
    barrier.completion_signal = gpu_signal(1);
    gpu_submit(queue, &barrier, gpu_header(HSA_PACKET_TYPE_BARRIER_AND, false));
    launch(queue, kernels.quick, false); /* no barrier bit: still behind the barrier packet */
    hsa_signal_store_screlease(barrier.dep_signal[0], 0);
    ASSERT_TRUE(gpu_drain(other)); /* the device looked meanwhile */
    EXPECT_EQ(hsa_signal_load_scacquire(barrier.completion_signal), 1);
    EXPECT_TRUE(kernels_of(queue).empty());

    hsa_kernel_dispatch_packet_t packet =
        gpu_dispatch(kernels.slow, nullptr, barrier.dep_signal[4]);
    gpu_submit(other, &packet, kernel_header(true));
    ASSERT_TRUE(gpu_wait(barrier.completion_signal));
    ASSERT_TRUE(gpu_drain(queue));
    std::vector<Entry> log = log_of(queue);
    ASSERT_EQ(log.size(), 3U);
    EXPECT_EQ(log[0].kind, SOFTGPU_TRUTH_BARRIER);
    EXPECT_EQ(log[0].signal, barrier.completion_signal.handle);
    EXPECT_GE(log[0].end_ticks, kernels_of(other).at(0).end_ticks);
    EXPECT_GE(log[1].start_ticks, log[0].end_ticks);
    hsa_queue_destroy(queue);
    hsa_queue_destroy(other);
}

TEST_F(Queue, BarrierOrWaitsForOneOfItsSignals)
{
    hsa_queue_t *queue = gpu_queue(machine.gpu[0], 64);
    hsa_barrier_or_packet_t barrier;
    std::memset(&barrier, 0, sizeof barrier);
    barrier.dep_signal[1] = gpu_signal(1);
    barrier.dep_signal[3] = gpu_signal(1);
    barrier.completion_signal = gpu_signal(1);
    gpu_submit(queue, &barrier, gpu_header(HSA_PACKET_TYPE_BARRIER_OR, true));
    hsa_queue_t *other = gpu_queue(machine.gpu[0], 64);
    ASSERT_TRUE(gpu_drain(other));
    EXPECT_EQ(hsa_signal_load_scacquire(barrier.completion_signal), 1);
    hsa_signal_store_screlease(barrier.dep_signal[3], 0);
    EXPECT_TRUE(gpu_wait(barrier.completion_signal));
    hsa_queue_destroy(queue);
    hsa_queue_destroy(other);
}

TEST_F(Queue, BarrierValueComparesTheMaskedSignal)
{
    struct Case {
        hsa_signal_condition32_t condition;
        hsa_signal_value_t unmet, met;
    };
    const Case cases[] = {{HSA_SIGNAL_CONDITION_EQ, 0x14, 0x25},
                          {HSA_SIGNAL_CONDITION_NE, 0x35, 0x16},
                          {HSA_SIGNAL_CONDITION_LT, 0x15, 0xf4},
                          {HSA_SIGNAL_CONDITION_GTE, 0x14, 0x17}};
    hsa_queue_t *queue = gpu_queue(machine.gpu[0], 64);
    hsa_queue_t *other = gpu_queue(machine.gpu[0], 64);
    for (const Case &c : cases) {
        hsa_amd_barrier_value_packet_t packet;
        std::memset(&packet, 0, sizeof packet);
        packet.header.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE;
        packet.signal = gpu_signal(c.unmet);
        packet.value = 5;
        packet.mask = 0xf;
        packet.cond = c.condition;
        packet.completion_signal = gpu_signal(1);
        gpu_submit(queue, &packet, gpu_header(HSA_PACKET_TYPE_VENDOR_SPECIFIC, true));
        ASSERT_TRUE(gpu_drain(other));
        EXPECT_EQ(hsa_signal_load_scacquire(packet.completion_signal), 1) << c.condition;
        hsa_signal_store_screlease(packet.signal, c.met);
        ASSERT_TRUE(gpu_wait(packet.completion_signal)) << c.condition;
        hsa_signal_destroy(packet.signal);
        hsa_signal_destroy(packet.completion_signal);
    }
    hsa_queue_destroy(queue);
    hsa_queue_destroy(other);
}

TEST_F(Queue, KernelsComputeInOrder)
{
    enum { COUNT = 1000 };
    hsa_queue_t *queue = gpu_queue(machine.gpu[0], 64);
    auto *list = static_cast<int *>(gpu_memory(&machine, machine.host, (COUNT + 1) * sizeof(int)));
    list[0] = 0;
    struct Arguments {
        int *list;
        int value;
    };
    auto *arguments =
        static_cast<Arguments *>(gpu_memory(&machine, machine.kernarg, COUNT * sizeof(Arguments)));
    for (int i = 0; i < COUNT; i++) {
        arguments[i] = Arguments{list, i};
        hsa_kernel_dispatch_packet_t packet =
            gpu_dispatch(kernels.append, &arguments[i], hsa_signal_t{0});
        gpu_submit(queue, &packet, kernel_header(true));
    }
    ASSERT_TRUE(gpu_drain(queue));
    ASSERT_EQ(list[0], COUNT);
    for (int i = 0; i < COUNT; i++)
        ASSERT_EQ(list[i + 1], i);
    hsa_queue_destroy(queue);
    hsa_amd_memory_pool_free(list);
    hsa_amd_memory_pool_free(arguments);
}

/* The signal's times are the log's, and are written only where profiling was asked for. */
TEST_F(Queue, TimestampsOnlyWithProfiling)
{
    for (bool profiled : {false, true}) {
        hsa_queue_t *queue = gpu_queue(machine.gpu[0], 64);
        ASSERT_EQ(hsa_amd_profiling_set_profiler_enabled(queue, profiled), HSA_STATUS_SUCCESS);
        hsa_signal_t signal = gpu_signal(1);
        hsa_kernel_dispatch_packet_t packet = gpu_dispatch(kernels.slow, nullptr, signal);
        gpu_submit(queue, &packet, kernel_header(true));
        ASSERT_TRUE(gpu_wait(signal));
        const auto *raw = reinterpret_cast<const amd_signal_t *>(signal.handle);
        const Entry logged = kernels_of(queue).back();
        EXPECT_EQ(logged.signal, signal.handle);
        EXPECT_EQ(raw->start_ts, profiled ? logged.start_ticks : 0U);
        EXPECT_EQ(raw->end_ts, profiled ? logged.end_ticks : 0U);
        if (profiled) {
            hsa_amd_profiling_dispatch_time_t time = {0, 0};
            EXPECT_EQ(hsa_amd_profiling_get_dispatch_time(machine.gpu[0], signal, &time),
                      HSA_STATUS_SUCCESS);
            EXPECT_EQ(time.start, logged.start_ns);
            EXPECT_EQ(time.end, logged.end_ns);
        }
        hsa_signal_destroy(signal);
        hsa_queue_destroy(queue);
    }
}

TEST_F(Queue, ManyQueuesAtOnce)
{
    enum { QUEUES = 64, EACH = 20 };
    std::vector<hsa_queue_t *> queues;
    queues.reserve(QUEUES);
    for (int i = 0; i < QUEUES; i++)
        queues.push_back(gpu_queue(machine.gpu[0], 64));
    hsa_signal_t signal = gpu_signal(hsa_signal_value_t{QUEUES} * EACH);
    for (int i = 0; i < EACH; i++)
        for (hsa_queue_t *queue : queues) {
            hsa_kernel_dispatch_packet_t packet = gpu_dispatch(kernels.quick, nullptr, signal);
            gpu_submit(queue, &packet, kernel_header(i % 2 == 0));
        }
    EXPECT_TRUE(gpu_wait(signal));
    for (hsa_queue_t *queue : queues) {
        std::vector<Entry> log = log_of(queue);
        ASSERT_EQ(log.size(), static_cast<size_t>(EACH));
        for (int i = 0; i < EACH; i++)
            EXPECT_EQ(log[i].index, static_cast<uint64_t>(i));
        hsa_queue_destroy(queue);
    }
}

/* Far more packets than slots, several producers with doorbells in any order. */
TEST_F(Queue, ProducersShareAFullQueue)
{
    enum { PRODUCERS = 4, EACH = 5000 };
    hsa_queue_t *queue = gpu_queue(machine.gpu[0], 64);
    hsa_signal_t signal = gpu_signal(hsa_signal_value_t{PRODUCERS} * EACH);
    std::vector<std::thread> producers;
    producers.reserve(PRODUCERS);
    for (int p = 0; p < PRODUCERS; p++)
        producers.emplace_back([&] {
            for (int i = 0; i < EACH; i++) {
                hsa_kernel_dispatch_packet_t packet = gpu_dispatch(kernels.quick, nullptr, signal);
                gpu_submit(queue, &packet, kernel_header(false));
            }
        });
    for (std::thread &producer : producers)
        producer.join();
    EXPECT_TRUE(gpu_wait(signal));
    EXPECT_EQ(hsa_signal_load_scacquire(signal), 0);
    EXPECT_EQ(hsa_queue_load_read_index_scacquire(queue), uint64_t{PRODUCERS} * EACH);
    std::vector<Entry> log = kernels_of(queue);
    ASSERT_EQ(log.size(), size_t{PRODUCERS} * EACH);
    for (size_t i = 0; i < log.size(); i++)
        ASSERT_EQ(log[i].index, i);
    hsa_queue_destroy(queue);
}

TEST_F(Queue, MillionDispatches)
{
    enum { BATCH = 1000, BATCHES = 1000 };
    hsa_queue_t *queue = gpu_queue(machine.gpu[0], 4096);
    hsa_kernel_dispatch_packet_t packet = gpu_dispatch(kernels.quick, nullptr, hsa_signal_t{0});
    for (int batch = 0; batch < BATCHES; batch++) {
        uint64_t last = 0;
        for (int i = 0; i < BATCH; i++)
            last = gpu_put(queue, &packet, kernel_header(true));
        gpu_ring(queue, last);
    }
    ASSERT_TRUE(gpu_drain(queue));
    char error[256] = "";
    softgpu_truth_t *truth = softgpu_truth_open(log_path().c_str(), error, sizeof error);
    ASSERT_NE(truth, nullptr) << error;
    softgpu_truth_entry_t entry;
    uint64_t seen = 0;
    uint64_t last_end = 0;
    while (softgpu_truth_next(truth, &entry) == 1) {
        if (entry.queue_address != reinterpret_cast<uint64_t>(queue) ||
            entry.kind != SOFTGPU_TRUTH_KERNEL)
            continue;
        ASSERT_EQ(entry.index, seen);
        ASSERT_GE(entry.start_ticks, last_end);
        last_end = entry.end_ticks;
        seen++;
    }
    softgpu_truth_close(truth);
    EXPECT_EQ(seen, uint64_t{BATCH} * BATCHES);
    hsa_queue_destroy(queue);
}

/* Nothing runs before a doorbell. */
TEST_F(Queue, WaitsForTheDoorbell)
{
    hsa_queue_t *queue = gpu_queue(machine.gpu[0], 64);
    hsa_queue_t *other = gpu_queue(machine.gpu[0], 64);
    hsa_signal_t signal = gpu_signal(1);
    hsa_kernel_dispatch_packet_t packet = gpu_dispatch(kernels.quick, nullptr, signal);
    uint64_t index = gpu_put(queue, &packet, kernel_header(true));
    ASSERT_TRUE(gpu_drain(other));
    EXPECT_EQ(hsa_signal_load_scacquire(signal), 1);
    EXPECT_EQ(hsa_queue_load_read_index_scacquire(queue), 0U);
    gpu_ring(queue, index);
    EXPECT_TRUE(gpu_wait(signal));
    hsa_queue_destroy(queue);
    hsa_queue_destroy(other);
}

/* A rung doorbell over a slot that is not written yet: the device stalls there, then goes on. */
TEST_F(Queue, StallsAtAnInvalidPacket)
{
    hsa_queue_t *queue = gpu_queue(machine.gpu[0], 64);
    hsa_queue_t *other = gpu_queue(machine.gpu[0], 64);
    hsa_signal_t signal = gpu_signal(2);
    hsa_kernel_dispatch_packet_t packet = gpu_dispatch(kernels.quick, nullptr, signal);
    uint64_t gap = hsa_queue_add_write_index_screlease(queue, 1);
    uint64_t index = gpu_put(queue, &packet, kernel_header(true));
    gpu_ring(queue, index);
    ASSERT_TRUE(gpu_drain(other));
    EXPECT_EQ(hsa_signal_load_scacquire(signal), 2);
    auto *slot = static_cast<char *>(queue->base_address) + gap * 64;
    std::memcpy(slot + 2, reinterpret_cast<char *>(&packet) + 2, 62);
    reinterpret_cast<std::atomic<uint16_t> *>(slot)->store(kernel_header(true),
                                                           std::memory_order_release);
    EXPECT_TRUE(gpu_wait(signal));
    hsa_queue_destroy(queue);
    hsa_queue_destroy(other);
}

TEST_F(Queue, AgentDispatchIsDoneAtOnce)
{
    hsa_queue_t *queue = gpu_queue(machine.gpu[0], 64);
    hsa_agent_dispatch_packet_t packet;
    std::memset(&packet, 0, sizeof packet);
    packet.completion_signal = gpu_signal(1);
    gpu_submit(queue, &packet, gpu_header(HSA_PACKET_TYPE_AGENT_DISPATCH, true));
    EXPECT_TRUE(gpu_wait(packet.completion_signal));
    std::vector<Entry> log = log_of(queue);
    ASSERT_EQ(log.size(), 1U);
    EXPECT_EQ(log[0].kind, SOFTGPU_TRUTH_AGENT);
    hsa_queue_destroy(queue);
}

/* What was under way is abandoned: its signal stays, and the device goes on. */
TEST_F(Queue, DestroyAbandonsWhatIsUnderWay)
{
    close();
    setting("SOFTGPU_DURATION", "slow=60000000000,*=0");
    open();
    hsa_queue_t *queue = gpu_queue(machine.gpu[0], 64);
    hsa_signal_t signal = gpu_signal(1);
    hsa_kernel_dispatch_packet_t packet = gpu_dispatch(kernels.slow, nullptr, signal);
    gpu_submit(queue, &packet, kernel_header(true));
    for (int i = 0; i < 30000 && hsa_queue_load_read_index_scacquire(queue) == 0; i++)
        usleep(1000);
    EXPECT_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
    EXPECT_EQ(hsa_signal_load_scacquire(signal), 1);
    hsa_queue_t *other = gpu_queue(machine.gpu[0], 64);
    EXPECT_TRUE(gpu_drain(other));
    hsa_queue_destroy(other);
    hsa_signal_destroy(signal);
}

TEST_F(Queue, PriorityAndMaskAreAccepted)
{
    hsa_queue_t *queue = gpu_queue(machine.gpu[0], 64);
    const uint32_t mask[2] = {0xffff, 0};
    EXPECT_EQ(hsa_amd_queue_set_priority(queue, HSA_AMD_QUEUE_PRIORITY_HIGH), HSA_STATUS_SUCCESS);
    EXPECT_EQ(hsa_amd_queue_cu_set_mask(queue, 64, mask), HSA_STATUS_SUCCESS);
    EXPECT_TRUE(gpu_drain(queue));
    hsa_queue_destroy(queue);
}

/* ---- the extended dispatch ---- */

/* HSA_AMD_PACKET_TYPE_EXT_KERNEL_DISPATCH of ROCm 7's hsa_ext_amd.h. */
struct Extended {
    uint16_t header;
    uint8_t format, dimensions;
    uint16_t workgroup[3];
    uint16_t reserved;
    uint32_t count_x;
    uint16_t count_y, count_z;
    uint8_t cluster[3];
    uint8_t hint;
    uint32_t private_size, group_size;
    uint64_t kernel;
    void *kernarg;
    hsa_signal_t dependency, completion;
};

static_assert(sizeof(Extended) == 64, "a packet");

Extended extended(uint64_t kernel, hsa_signal_t dependency, hsa_signal_t completion)
{
    Extended packet = {};
    packet.format = 3;
    packet.dimensions = 2;
    packet.workgroup[0] = 32;
    packet.workgroup[1] = packet.workgroup[2] = 1;
    packet.count_x = 5;
    packet.count_y = 3;
    packet.count_z = 1;
    packet.cluster[0] = 2;
    packet.cluster[1] = 4;
    packet.cluster[2] = 1;
    packet.kernel = kernel;
    packet.dependency = dependency;
    packet.completion = completion;
    return packet;
}

uint16_t vendor_header()
{
    return gpu_header(HSA_PACKET_TYPE_VENDOR_SPECIFIC, false);
}

TEST_F(Queue, ExtendedDispatchIsAKernelThatWaitsForItsDependency)
{
    hsa_queue_t *queue = gpu_queue(machine.gpu[0], 64);
    hsa_queue_t *other = gpu_queue(machine.gpu[0], 64);
    hsa_signal_t dependency = gpu_signal(1);
    hsa_signal_t completion = gpu_signal(1);
    Extended packet = extended(kernels.slow, dependency, completion);
    gpu_submit(queue, &packet, vendor_header());
    launch(queue, kernels.quick, false); /* stands behind it */
    ASSERT_TRUE(gpu_drain(other));       /* the device looked meanwhile */
    EXPECT_TRUE(log_of(queue).empty());
    hsa_signal_store_screlease(dependency, 0);
    ASSERT_TRUE(gpu_wait(completion));
    ASSERT_TRUE(gpu_drain(queue));
    std::vector<Entry> done = kernels_of(queue);
    ASSERT_EQ(done.size(), 2U);
    auto slow = std::find_if(done.begin(), done.end(),
                             [](const Entry &entry) { return entry.kernel == "slow"; });
    ASSERT_NE(slow, done.end());
    EXPECT_EQ(slow->index, 0U);
    EXPECT_EQ(slow->signal, completion.handle);
    EXPECT_EQ(slow->end_ticks - slow->start_ticks, 30000U);
    const uint32_t grid[3] = {5 * 2 * 32, 3 * 4, 1};
    const uint16_t block[3] = {32, 1, 1};
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(slow->grid[i], grid[i]);
        EXPECT_EQ(slow->block[i], block[i]);
    }
    hsa_queue_destroy(queue);
    hsa_queue_destroy(other);
    hsa_signal_destroy(dependency);
    hsa_signal_destroy(completion);
}

/* ---- malformed packets ---- */

struct Errors {
    std::atomic<int> calls{0};
    std::atomic<int> status{0};
};

void on_error(hsa_status_t status, hsa_queue_t *, void *data)
{
    auto *errors = static_cast<Errors *>(data);
    errors->status = status;
    errors->calls++;
}

struct Malformed {
    const char *what;
    hsa_status_t status;
    void (*spoil)(hsa_kernel_dispatch_packet_t *packet, uint16_t *header);
};

void PrintTo(const Malformed &malformed, std::ostream *out)
{
    *out << malformed.what;
}

using Packet = hsa_kernel_dispatch_packet_t;

/* Makes the packet an extended dispatch that `spoil` has been at. */
void spoil_extended(Packet *packet, uint16_t *header, void (*spoil)(Extended *))
{
    Extended bad = extended(packet->kernel_object, hsa_signal_t{0}, packet->completion_signal);
    spoil(&bad);
    std::memcpy(packet, &bad, sizeof bad);
    *header = gpu_header(HSA_PACKET_TYPE_VENDOR_SPECIFIC, true);
}

const Malformed MALFORMED[] = {
    {"NoDimensions", HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS,
     [](Packet *p, uint16_t *) { p->setup = 0; }},
    {"EmptyGrid", HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS,
     [](Packet *p, uint16_t *) { p->grid_size_x = 0; }},
    {"EmptyWorkgroup", HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS,
     [](Packet *p, uint16_t *) { p->workgroup_size_x = 0; }},
    {"UnusedDimension", HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS,
     [](Packet *p, uint16_t *) { p->grid_size_y = 2; }},
    {"WorkgroupAboveGrid", HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS,
     [](Packet *p, uint16_t *) { p->workgroup_size_x = 65; }},
    {"HugeWorkgroup", HSA_STATUS_ERROR_INVALID_ARGUMENT,
     [](Packet *p, uint16_t *) { p->workgroup_size_x = p->grid_size_x = 1025; }},
    {"HugeGroupSegment", HSA_STATUS_ERROR_INVALID_ALLOCATION,
     [](Packet *p, uint16_t *) { p->group_segment_size = 65537; }},
    {"NullKernelObject", HSA_STATUS_ERROR_INVALID_CODE_OBJECT,
     [](Packet *p, uint16_t *) { p->kernel_object = 0; }},
    {"UnknownType", HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, [](Packet *, uint16_t *h) { *h = 77; }},
    {"ReservedHeaderBits", HSA_STATUS_ERROR_INVALID_PACKET_FORMAT,
     [](Packet *, uint16_t *h) { *h |= 0x8000; }},
    {"UnknownVendorFormat", HSA_STATUS_ERROR_INVALID_PACKET_FORMAT,
     [](Packet *p, uint16_t *h) {
         *h = gpu_header(HSA_PACKET_TYPE_VENDOR_SPECIFIC, true);
         p->setup = 200;
     }},
    {"ExtendedWithoutDimensions", HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS,
     [](Packet *p, uint16_t *h) { spoil_extended(p, h, [](Extended *e) { e->dimensions = 4; }); }},
    {"ExtendedWithoutClusters", HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS,
     [](Packet *p, uint16_t *h) { spoil_extended(p, h, [](Extended *e) { e->cluster[1] = 0; }); }},
    {"ExtendedTooLarge", HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS,
     [](Packet *p, uint16_t *h) {
         spoil_extended(p, h, [](Extended *e) { e->count_x = UINT32_MAX; });
     }},
    {"ExtendedHugeWorkgroup", HSA_STATUS_ERROR_INVALID_ARGUMENT,
     [](Packet *p, uint16_t *h) {
         spoil_extended(p, h, [](Extended *e) { e->workgroup[0] = 1025; });
     }},
    {"ExtendedWithoutKernel", HSA_STATUS_ERROR_INVALID_CODE_OBJECT,
     [](Packet *p, uint16_t *h) { spoil_extended(p, h, [](Extended *e) { e->kernel = 0; }); }},
};

class MalformedPacket : public Queue, public testing::WithParamInterface<Malformed>
{
};

TEST_P(MalformedPacket, CallsTheErrorCallback)
{
    Errors errors;
    hsa_queue_t *queue = nullptr;
    ASSERT_EQ(hsa_queue_create(machine.gpu[0], 64, HSA_QUEUE_TYPE_MULTI, on_error, &errors,
                               UINT32_MAX, UINT32_MAX, &queue),
              HSA_STATUS_SUCCESS);
    hsa_signal_t before = gpu_signal(1);
    hsa_signal_t after = gpu_signal(1);
    Packet good = gpu_dispatch(kernels.quick, nullptr, before);
    gpu_submit(queue, &good, kernel_header(true));
    Packet bad = gpu_dispatch(kernels.quick, nullptr, after);
    uint16_t header = kernel_header(true);
    GetParam().spoil(&bad, &header);
    uint64_t index = gpu_submit(queue, &bad, header);
    EXPECT_TRUE(gpu_wait(before));
    for (int i = 0; i < 30000 && errors.calls == 0; i++)
        usleep(1000);
    EXPECT_EQ(errors.calls, 1);
    EXPECT_EQ(errors.status, GetParam().status);
    EXPECT_EQ(hsa_signal_load_scacquire(after), 1);
    EXPECT_EQ(hsa_queue_load_read_index_scacquire(queue), index);
    std::vector<Entry> log = log_of(queue);
    ASSERT_EQ(log.size(), 2U);
    EXPECT_EQ(log[1].kind, SOFTGPU_TRUTH_ERROR);
    EXPECT_EQ(log[1].index, index);
    EXPECT_EQ(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);

    /* The device lives on. */
    hsa_queue_t *other = gpu_queue(machine.gpu[0], 64);
    EXPECT_TRUE(gpu_drain(other));
    hsa_queue_destroy(other);
}

INSTANTIATE_TEST_SUITE_P(All, MalformedPacket, testing::ValuesIn(MALFORMED),
                         [](const testing::TestParamInfo<Malformed> &info) {
                             return std::string(info.param.what);
                         });

} // namespace

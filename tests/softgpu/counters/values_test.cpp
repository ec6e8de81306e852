// What the software GPU's performance counters count, through the real ROCr.
//
// Expected values are computed here from the formulas of docs/softgpu-counters.md, and compared
// with the truth log too.

#include "session.h"

#include <algorithm>
#include <numeric>

namespace
{

constexpr uint64_t CYCLES_PER_TICK = 10;

class Values : public Counters
{
  protected:
    /* What the log says that the kernels of a queue added to an event. */
    uint64_t truth(const hsa_queue_t *on, uint32_t block, uint32_t id)
    {
        uint64_t sum = 0;
        char error[256] = "";
        softgpu_truth_t *log = softgpu_truth_open(log_path().c_str(), error, sizeof error);
        EXPECT_NE(log, nullptr) << error;
        softgpu_truth_entry_t entry;
        while (log && softgpu_truth_next(log, &entry) == 1) {
            if (entry.queue_address != reinterpret_cast<uint64_t>(on))
                continue;
            for (uint32_t i = 0; i < entry.count_count; i++)
                if (entry.counts[i].block == block && entry.counts[i].event == id)
                    sum += entry.counts[i].value;
        }
        softgpu_truth_close(log);
        return sum;
    }

    /* Ticks in which a kernel of one of the queues was on the device: the union of their times. */
    uint64_t busy_ticks(const std::vector<const hsa_queue_t *> &on)
    {
        std::vector<std::pair<uint64_t, uint64_t>> times;
        for (const hsa_queue_t *one : on)
            for (const Entry &entry : log_of(one))
                if (entry.kind == SOFTGPU_TRUTH_KERNEL)
                    times.emplace_back(entry.start_ticks, entry.end_ticks);
        std::sort(times.begin(), times.end());
        uint64_t ticks = 0;
        uint64_t reached = 0;
        for (const auto &time : times) {
            uint64_t from = std::max(time.first, reached);
            ticks += time.second > from ? time.second - from : 0;
            reached = std::max(reached, time.second);
        }
        return ticks;
    }
};

TEST_F(Values, InstructionsFollowFromWavesAndTheDeclaredMix)
{
    setting("SOFTGPU_COUNTERS",
            "slow valu=100; quick valu=7 salu=5 smem=3 loads=11 stores=2 lds=6 conflicts=9");
    begin();
    Session counters(functions, machine, machine.gpu[0],
                     {{SQ, 0, SQ_WAVES},
                      {SQ, 0, SQ_ITEMS},
                      {SQ, 0, SQ_INSTS_VALU},
                      {SQ, 0, SQ_INSTS_SALU},
                      {SQ, 0, SQ_INSTS_SMEM},
                      {SQ, 0, SQ_INSTS_VMEM_RD},
                      {SQ, 0, SQ_INSTS_VMEM_WR},
                      {SQ, 0, SQ_INSTS_LDS}});
    Session more(
        functions, machine, machine.gpu[0],
        {{SQ, 0, SQ_THREAD_CYCLES_VALU}, {SQ, 0, SQ_LDS_BANK_CONFLICT}, {SQ, 0, SQ_WAVE_CYCLES}});
    counters.start(queue);
    run(queue, kernels.quick, 1000, 128); /* 7 groups of 2 waves, and one of 104 work-items: 16 */
    counters.read(queue);
    counters.stop(queue);
    EXPECT_EQ(counters.value(SQ, SQ_WAVES), 16U);
    EXPECT_EQ(counters.value(SQ, SQ_ITEMS), 1000U);
    EXPECT_EQ(counters.value(SQ, SQ_INSTS_VALU), 16U * 7);
    EXPECT_EQ(counters.value(SQ, SQ_INSTS_SALU), 16U * 5);
    EXPECT_EQ(counters.value(SQ, SQ_INSTS_SMEM), 16U * 3);
    EXPECT_EQ(counters.value(SQ, SQ_INSTS_VMEM_RD), 16U * 11);
    EXPECT_EQ(counters.value(SQ, SQ_INSTS_VMEM_WR), 16U * 2);
    EXPECT_EQ(counters.value(SQ, SQ_INSTS_LDS), 16U * 6);

    more.start(queue);
    run(queue, kernels.slow, 65, 64); /* 300 us in two waves */
    more.read(queue);
    more.stop(queue);
    EXPECT_EQ(more.value(SQ, SQ_THREAD_CYCLES_VALU), 65U * 100);
    EXPECT_EQ(more.value(SQ, SQ_LDS_BANK_CONFLICT), 0U);
    EXPECT_EQ(more.value(SQ, SQ_WAVE_CYCLES), 2U * 300000 / 4);
    EXPECT_EQ(truth(queue, SQ, SQ_INSTS_VALU), 16U * 7 + 2 * 100);
    EXPECT_EQ(truth(queue, SQ, SQ_LDS_BANK_CONFLICT), 16U * 9);
}

TEST_F(Values, RequestsFollowFromBytesAndHitRate)
{
    setting("SOFTGPU_COUNTERS", "quick read=9 write=5 hit=25");
    begin();
    auto all = [](uint32_t id) { return all_instances(TCC, 16, id); };
    Session cache(functions, machine, machine.gpu[0], all(TCC_REQ) + all(TCC_HIT) + all(TCC_MISS));
    Session memory(functions, machine, machine.gpu[0],
                   all(TCC_EA_RDREQ) + all(TCC_EA_RDREQ_32B) + all(TCC_EA_WRREQ) +
                       all(TCC_EA_WRREQ_64B));
    for (Session *one : {&cache, &memory}) {
        one->start(queue);
        run(queue, kernels.quick, 1000, 256);
        one->read(queue);
        one->stop(queue);
    }
    /* 9000 bytes are 140 lines and 40 bytes more, 5000 are 78 lines and 8 bytes more. */
    EXPECT_EQ(cache.value(TCC, TCC_REQ), 141U + 79);
    EXPECT_EQ(cache.value(TCC, TCC_HIT), 35U + 19);
    EXPECT_EQ(cache.value(TCC, TCC_MISS), 141U + 79 - 35 - 19);
    EXPECT_EQ(memory.value(TCC, TCC_EA_RDREQ), 141U - 35);
    EXPECT_EQ(memory.value(TCC, TCC_EA_RDREQ_32B), 0U);
    EXPECT_EQ(memory.value(TCC, TCC_EA_WRREQ), 79U);
    EXPECT_EQ(memory.value(TCC, TCC_EA_WRREQ_64B), 78U);
    EXPECT_EQ(truth(queue, TCC, TCC_EA_RDREQ), 2U * (141 - 35));
}

TEST_F(Values, AHitRateOfNothingAndOfEverything)
{
    setting("SOFTGPU_COUNTERS", "quick read=64 write=0 hit=0; slow read=64 write=0 hit=100");
    begin();
    Session counters(functions, machine, machine.gpu[0],
                     all_instances(TCC, 16, TCC_HIT) + all_instances(TCC, 16, TCC_MISS));
    counters.start(queue);
    run(queue, kernels.quick, 640, 64);
    counters.read(queue);
    EXPECT_EQ(counters.value(TCC, TCC_HIT), 0U);
    EXPECT_EQ(counters.value(TCC, TCC_MISS), 640U);
    run(queue, kernels.slow, 64, 64);
    counters.read(queue);
    EXPECT_EQ(counters.value(TCC, TCC_HIT), 64U);
    EXPECT_EQ(counters.value(TCC, TCC_MISS), 640U);
}

TEST_F(Values, EachInstanceHasItsPart)
{
    setting("SOFTGPU_COUNTERS", "quick read=64 write=0 hit=100 loads=1");
    begin();
    Session counters(functions, machine, machine.gpu[0],
                     std::vector<Event>{{SQ, 0, SQ_WAVES}} + all_instances(TCC, 16, TCC_HIT) +
                         all_instances(TA, 16, TA_FLAT_READ_WAVEFRONTS));
    counters.start(queue);
    run(queue, kernels.quick, 70 * 64, 64);
    counters.read(queue);
    EXPECT_EQ(counters.samples(SQ, SQ_WAVES), (std::vector<uint64_t>{18, 18, 17, 17}));
    /* 4480 lines: 280 for each of 16 */
    EXPECT_EQ(counters.samples(TCC, TCC_HIT), std::vector<uint64_t>(16, 280));
    /* 70 instructions on 64 instances, the first six have one more; samples are engine by engine
     * for each instance */
    std::vector<uint64_t> parts = counters.samples(TA, TA_FLAT_READ_WAVEFRONTS);
    ASSERT_EQ(parts.size(), 64U);
    for (size_t instance = 0; instance < 16; instance++)
        for (size_t engine = 0; engine < 4; engine++)
            EXPECT_EQ(parts[instance * 4 + engine], engine == 0 && instance < 6 ? 2U : 1U);
}

TEST_F(Values, AReadingInBetweenDisturbsNothing)
{
    begin();
    Session counters(functions, machine, machine.gpu[0],
                     {{SQ, 0, SQ_WAVES}, {GRBM, 0, GRBM_COUNT}, {GRBM, 0, GRBM_GUI_ACTIVE}});
    counters.start(queue);
    uint64_t cycles = 0;
    for (uint64_t kernel = 1; kernel <= 50; kernel++) {
        run(queue, kernels.quick, 64 * 3, 64);
        counters.read(queue);
        EXPECT_EQ(counters.value(SQ, SQ_WAVES), 3 * kernel);
        EXPECT_GT(counters.value(GRBM, GRBM_COUNT), cycles);
        cycles = counters.value(GRBM, GRBM_COUNT);
    }
    EXPECT_EQ(counters.value(GRBM, GRBM_GUI_ACTIVE), 0U); /* they take no time */
}

TEST_F(Values, OnlyWhatEndsBetweenStartAndStopIsCounted)
{
    begin();
    Session counters(functions, machine, machine.gpu[0], {{SQ, 0, SQ_WAVES}});
    run(queue, kernels.quick, 64, 64);
    counters.start(queue);
    run(queue, kernels.quick, 128, 64);
    counters.read(queue);
    counters.stop(queue);
    run(queue, kernels.quick, 256, 64);
    EXPECT_EQ(counters.value(SQ, SQ_WAVES), 2U);
    counters.start(queue); /* from nothing again */
    run(queue, kernels.quick, 64 * 5, 64);
    counters.read(queue);
    EXPECT_EQ(counters.value(SQ, SQ_WAVES), 5U);
    EXPECT_EQ(truth(queue, SQ, SQ_WAVES), 7U);
}

/* A reading without the barrier bit samples before its queue's kernels are done. */
TEST_F(Values, TheBarrierBitMakesAReadingWhole)
{
    setting("SOFTGPU_DURATION", "slow=20000000,*=0");
    begin();
    Session counters(functions, machine, machine.gpu[0], {{SQ, 0, SQ_WAVES}});
    counters.start(queue);
    run(queue, kernels.slow, 64, 64);
    counters.read(queue, false);
    EXPECT_EQ(counters.value(SQ, SQ_WAVES), 0U);
    EXPECT_EQ(log_of(queue).at(1).kind, SOFTGPU_TRUTH_KERNEL); /* it waited for the kernel */
    run(queue, kernels.slow, 64, 64);
    counters.read(queue);
    EXPECT_EQ(counters.value(SQ, SQ_WAVES), 2U);
}

/* Kernels of two queues at once, some of them overlapping in their queue too. */
TEST_F(Values, BusyCyclesAreTheUnionOverQueues)
{
    begin();
    hsa_queue_t *other = gpu_queue(machine.gpu[0], 256);
    enable(other, true);
    Session counters(functions, machine, machine.gpu[0],
                     {{GRBM, 0, GRBM_GUI_ACTIVE},
                      {GRBM, 0, GRBM_COUNT},
                      {SQ, 0, SQ_BUSY_CYCLES},
                      {SQ, 0, SQ_WAVES}});
    counters.start(queue);
    counters.read(queue); /* nothing of `other` starts before the counters do */
    for (int i = 0; i < 20; i++) {
        run(queue, kernels.slow, 64, 64, i % 3 == 0);
        run(other, kernels.slow, 128, 64, i % 2 == 0);
        run(other, kernels.quick, 192, 64, false);
    }
    ASSERT_TRUE(gpu_drain(other));
    counters.read(queue);
    counters.stop(queue);
    uint64_t busy = busy_ticks({queue, other}) * CYCLES_PER_TICK;
    EXPECT_GE(busy, 10 * 300000U);
    EXPECT_EQ(counters.value(GRBM, GRBM_GUI_ACTIVE), busy);
    EXPECT_EQ(counters.samples(SQ, SQ_BUSY_CYCLES), std::vector<uint64_t>(4, busy));
    EXPECT_GE(counters.value(GRBM, GRBM_COUNT), busy);
    EXPECT_EQ(counters.value(SQ, SQ_WAVES), 20U * (1 + 2 + 3));
    EXPECT_EQ(truth(queue, SQ, SQ_WAVES), 20U);
    EXPECT_EQ(truth(other, SQ, SQ_WAVES), 100U);
    (void)hsa_queue_destroy(other);
}

/* Cycles are those between start and sample: no more than the time that the host sees around both,
 * no less than the time between what it saw in between. */
TEST_F(Values, CyclesCountTime)
{
    begin();
    auto now = [] {
        timespec time = {};
        (void)clock_gettime(CLOCK_BOOTTIME, &time);
        return static_cast<uint64_t>(time.tv_sec) * 1000000000U +
               static_cast<uint64_t>(time.tv_nsec);
    };
    Session counters(functions, machine, machine.gpu[0], {{GRBM, 0, GRBM_COUNT}});
    uint64_t before = now();
    counters.start(queue);
    counters.read(queue);
    uint64_t started = now();
    run(queue, kernels.slow, 64, 64);
    ASSERT_TRUE(gpu_drain(queue));
    uint64_t ends = now();
    counters.read(queue);
    uint64_t after = now();
    EXPECT_GE(counters.value(GRBM, GRBM_COUNT), ends - started - 20);
    EXPECT_LE(counters.value(GRBM, GRBM_COUNT), after - before + 20);
}

TEST_F(Values, CountersOfWavesSeeOnlyQueuesThatAreEnabled)
{
    begin();
    hsa_queue_t *other = gpu_queue(machine.gpu[0], 256);
    Session counters(functions, machine, machine.gpu[0],
                     std::vector<Event>{{SQ, 0, SQ_WAVES}} + all_instances(TCC, 16, TCC_REQ));
    auto waves = [&] {
        EXPECT_TRUE(gpu_drain(other));
        counters.read(queue);
        return counters.value(SQ, SQ_WAVES);
    };
    counters.start(queue);
    counters.read(queue);
    run(other, kernels.quick, 64, 64);
    EXPECT_EQ(waves(), 0U);
    EXPECT_EQ(counters.value(TCC, TCC_REQ), 8U + 4); /* 512 bytes read, 256 written */
    enable(other, true);
    run(other, kernels.quick, 64, 64);
    EXPECT_EQ(waves(), 1U);
    enable(other, false);
    run(other, kernels.quick, 64, 64);
    EXPECT_EQ(waves(), 1U);
    EXPECT_EQ(counters.value(TCC, TCC_REQ), 3U * (8 + 4));
    EXPECT_EQ(truth(other, SQ, SQ_WAVES), 1U);
    EXPECT_EQ(truth(other, TCC, TCC_REQ), 36U);
    (void)hsa_queue_destroy(other);
}

TEST_F(Values, EachGpuHasItsOwn)
{
    setting("SOFTGPU_DEVICES", "2");
    begin();
    hsa_queue_t *second = gpu_queue(machine.gpu[1], 64);
    Session here(functions, machine, machine.gpu[0], {{SQ, 0, SQ_WAVES}});
    Session there(functions, machine, machine.gpu[1], {{SQ, 0, SQ_WAVES}});
    here.start(queue);
    there.start(second);
    run(queue, kernels.quick, 640, 64);
    run(second, kernels.quick, 64, 64);
    here.read(queue);
    there.read(second);
    EXPECT_EQ(here.value(SQ, SQ_WAVES), 10U);
    EXPECT_EQ(there.value(SQ, SQ_WAVES), 1U);
    (void)hsa_queue_destroy(second);
}

/* Late completions, queues overtaking each other: sums are the same. */
TEST_F(Values, HostileSwitchesDoNotChangeSums)
{
    setting("SOFTGPU_DELAY", "200000:3");
    setting("SOFTGPU_REORDER", "5");
    begin();
    hsa_queue_t *other = gpu_queue(machine.gpu[0], 256);
    enable(other, true);
    Session counters(functions, machine, machine.gpu[0],
                     {{SQ, 0, SQ_WAVES}, {GRBM, 0, GRBM_GUI_ACTIVE}});
    counters.start(queue);
    counters.read(queue);
    for (int i = 0; i < 30; i++) {
        run(queue, kernels.slow, 64, 64, false);
        run(other, kernels.quick, 640, 64, false);
    }
    ASSERT_TRUE(gpu_drain(other));
    counters.read(queue);
    EXPECT_EQ(counters.value(SQ, SQ_WAVES), 30U * 11);
    EXPECT_EQ(counters.value(GRBM, GRBM_GUI_ACTIVE), busy_ticks({queue, other}) * CYCLES_PER_TICK);
    (void)hsa_queue_destroy(other);
}

/* More events than an instance has slots take two passes; each gives what one would. */
TEST_F(Values, TwoPassesForManyEvents)
{
    begin();
    const std::vector<uint32_t> ids = {SQ_WAVES,         SQ_ITEMS,         SQ_INSTS_VALU,
                                       SQ_INSTS_VMEM_WR, SQ_INSTS_VMEM_RD, SQ_INSTS_SALU,
                                       SQ_INSTS_SMEM,    SQ_INSTS_LDS,     SQ_THREAD_CYCLES_VALU};
    std::vector<Event> first, second;
    for (uint32_t id : ids)
        (first.size() < 8 ? first : second).push_back({SQ, 0, id});
    std::vector<uint64_t> values;
    for (const std::vector<Event> &pass : {first, second}) {
        Session counters(functions, machine, machine.gpu[0], pass);
        counters.start(queue);
        run(queue, kernels.quick, 256, 64);
        counters.read(queue);
        counters.stop(queue);
        for (const Event &event : pass)
            values.push_back(counters.value(SQ, event.counter_id));
    }
    EXPECT_EQ(values, (std::vector<uint64_t>{4, 256, 32, 4, 8, 16, 8, 0, 2048}));
    for (size_t i = 0; i < ids.size(); i++)
        EXPECT_EQ(truth(queue, SQ, ids[i]), 2 * values[i]);
}

} // namespace

// The declared model of the performance counters and its settings, without a device.

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <string>
#include <unistd.h>

extern "C" {
#include "softgpu/kernel.h"
#include "softgpu/pmc_faults.h"
}

namespace
{

class Counted : public testing::Test
{
  protected:
    ~Counted() override
    {
        sg_mix_set(nullptr);
        unlink(path_.c_str());
    }

    static sg_mix_t mix(const char *name, const char *demangled = nullptr)
    {
        sg_kernel_t kernel{};
        kernel.name = const_cast<char *>(name);
        kernel.demangled = const_cast<char *>(demangled);
        sg_mix_match(&kernel);
        return kernel.mix;
    }

    // NOLINTNEXTLINE(misc-non-private-member-variables-in-classes): a fixture's is for its tests
    std::string path_ = testing::TempDir() + "softgpu-pmc-" + std::to_string(getpid());
};

/* Every workgroup is looked at. */
uint64_t waves_one_by_one(const uint32_t grid[3], const uint16_t block[3])
{
    uint64_t waves = 0;
    for (uint32_t z = 0; z < grid[2]; z += block[2])
        for (uint32_t y = 0; y < grid[1]; y += block[1])
            for (uint32_t x = 0; x < grid[0]; x += block[0]) {
                uint64_t items = static_cast<uint64_t>(std::min<uint32_t>(block[0], grid[0] - x)) *
                                 std::min<uint32_t>(block[1], grid[1] - y) *
                                 std::min<uint32_t>(block[2], grid[2] - z);
                waves += (items + 63) / 64;
            }
    return waves;
}

TEST_F(Counted, WavesOfGridsThatDoNotFillTheirWorkgroups)
{
    std::mt19937 random(17);
    auto draw = [&](uint32_t most) { return static_cast<uint32_t>(random() % most + 1); };
    for (int i = 0; i < 2000; i++) {
        uint16_t block[3] = {static_cast<uint16_t>(draw(128)), static_cast<uint16_t>(draw(8)),
                             static_cast<uint16_t>(draw(4))};
        uint32_t grid[3];
        for (int axis = 0; axis < 3; axis++)
            grid[axis] = block[axis] + draw(4 * block[axis]) - 1;
        EXPECT_EQ(sg_mix_waves(grid, block), waves_one_by_one(grid, block));
    }
    const uint32_t large[3] = {UINT32_MAX, 1, 1};
    const uint16_t wide[3] = {1024, 1, 1};
    EXPECT_EQ(sg_mix_waves(large, wide), UINT64_C(1) << 26);
}

TEST_F(Counted, InstructionsAddUp)
{
    ASSERT_TRUE(sg_mix_set("* valu=1 salu=20 smem=300 loads=4000 stores=50000 flat=600000 lds=7"));
    softgpu_truth_entry_t entry{};
    entry.grid[0] = 192;
    entry.block[0] = 64;
    entry.grid[1] = entry.grid[2] = entry.block[1] = entry.block[2] = 1;
    uint64_t counts[SG_PMC_OF_KERNELS] = {};
    sg_mix_t any = mix("any");
    sg_mix_count(&any, &entry, counts);
    EXPECT_EQ(counts[SG_PMC_VMEM], 3U * 54000);
    EXPECT_EQ(counts[SG_PMC_INSTRUCTIONS], 3U * 654328);
}

TEST_F(Counted, TheFirstRuleThatFitsCounts)
{
    ASSERT_TRUE(sg_mix_set("scale read=64 hit=0; ns::* valu=9 ;; s* lds=5"));
    EXPECT_EQ(mix("scale").read, 64U);
    EXPECT_EQ(mix("scale").hit, 0U);
    EXPECT_EQ(mix("scale").lds, 0U);
    EXPECT_EQ(mix("scale").valu, sg_mix_default.valu);
    EXPECT_EQ(mix("shift").lds, 5U);
    EXPECT_EQ(mix("_ZN2ns3addIfEEvPT_", "void ns::add<float>(float*)").valu, 9U);
    EXPECT_EQ(mix("other").read, 8U);
    ASSERT_TRUE(sg_mix_set(nullptr));
    EXPECT_EQ(mix("scale").read, 8U);
}

TEST_F(Counted, RulesOfAFile)
{
    std::ofstream(path_) << "# what kernels read\n\nscale read=64   # much\n\tshift\twrite=3\n";
    ASSERT_TRUE(sg_mix_set(("@" + path_).c_str()));
    EXPECT_EQ(mix("scale").read, 64U);
    EXPECT_EQ(mix("shift").write, 3U);
}

TEST_F(Counted, BadRulesAreNamed)
{
    for (const char *bad : {"k read", "k read=", "k read=-1", "k hit=101", "k speed=3", "k read=1x",
                            "a valu=3; k valu=10000000", "@/no/such/file"}) {
        testing::internal::CaptureStderr();
        EXPECT_FALSE(sg_mix_set(bad)) << bad;
        std::string said = testing::internal::GetCapturedStderr();
        EXPECT_NE(said.find("SOFTGPU_COUNTERS: "), std::string::npos) << said;
        EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
        EXPECT_EQ(mix("a").valu, sg_mix_default.valu);
    }
}

TEST_F(Counted, FaultsOnRequest)
{
    sg_pmc_faults_t faults;
    ASSERT_TRUE(sg_pmc_faults_set(&faults, nullptr));
    EXPECT_FALSE(faults.absent);
    EXPECT_EQ(faults.invalid_count, 0U);
    ASSERT_TRUE(sg_pmc_faults_set(&faults, "absent,slots=SQ:3,invalid=TCC:20,hang=TA"));
    EXPECT_TRUE(faults.absent);
    EXPECT_EQ(faults.slots[sg_pmc_place(sg_pmc_block_named("SQ"))], 3U);
    EXPECT_EQ(faults.slots[sg_pmc_place(sg_pmc_block_named("GRBM"))], 2U);
    EXPECT_EQ(faults.invalid[0].block, 12U);
    EXPECT_EQ(faults.invalid[0].event, 20U);
    EXPECT_TRUE(faults.hangs[sg_pmc_place(sg_pmc_block_named("TA"))]);
    EXPECT_FALSE(faults.hangs[sg_pmc_place(sg_pmc_block_named("SQ"))]);
    for (const char *bad : {"gone", "slots", "slots=", "slots=XX:1", "slots=SQ:", "invalid=SQ",
                            "hang=sq", "absent,,absent", "invalid=SQ:9999"}) {
        testing::internal::CaptureStderr();
        EXPECT_FALSE(sg_pmc_faults_set(&faults, bad)) << bad;
        EXPECT_NE(testing::internal::GetCapturedStderr().find(bad), std::string::npos);
    }
}

/* Places of slots and addresses of registers do not overlap. */
TEST_F(Counted, EveryCounterHasItsPlaceAndItsRegisters)
{
    std::set<uint32_t> addresses;
    uint32_t place = 0;
    uint32_t registers = 0;
    for (const sg_pmc_block_t &block : sg_pmc_blocks) {
        EXPECT_EQ(block.first, place) << block.name;
        place += sg_pmc_engines(&block) * block.instances * block.slots;
        for (uint32_t slot = 0; slot < block.slots; slot++) {
            const uint32_t own[3] = {block.selects[slot], block.values[slot],
                                     block.values[slot] + 1};
            for (uint32_t i = 0; i < 3; i++) {
                sg_pmc_register_t what;
                uint32_t found = 99;
                EXPECT_EQ(sg_pmc_block_at(own[i], &what, &found), &block);
                EXPECT_EQ(what, static_cast<sg_pmc_register_t>(i));
                EXPECT_EQ(found, slot);
                addresses.insert(own[i]);
                registers++;
            }
        }
    }
    EXPECT_EQ(place, static_cast<uint32_t>(SG_PMC_SLOTS));
    EXPECT_EQ(addresses.size(), registers);
}

} // namespace

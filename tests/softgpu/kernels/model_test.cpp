// The model of durations.

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <tuple>
#include <unistd.h>
#include <vector>

extern "C" {
#include "softgpu/kernel.h"
}

namespace
{

class Model : public testing::Test
{
  protected:
    ~Model() override
    {
        sg_model_set(nullptr, nullptr, nullptr);
        unlink(path_.c_str());
    }
    static sg_kernel_t kernel(const char *name, const char *demangled = nullptr)
    {
        sg_kernel_t kernel{};
        kernel.name = const_cast<char *>(name);
        kernel.demangled = const_cast<char *>(demangled);
        sg_model_match(&kernel);
        return kernel;
    }
    static uint64_t ticks(const sg_kernel_t &kernel, uint32_t queue = 0, uint64_t ordinal = 0,
                          uint32_t groups = 1)
    {
        hsa_kernel_dispatch_packet_t packet{};
        packet.workgroup_size_x = 256;
        packet.workgroup_size_y = packet.workgroup_size_z = 1;
        packet.grid_size_x = 256 * groups;
        packet.grid_size_y = packet.grid_size_z = 1;
        return sg_model_ticks(&kernel, &packet, queue, ordinal);
    }
    bool schedule(const std::string &text)
    {
        std::ofstream(path_) << text;
        return sg_model_set(("@" + path_).c_str(), nullptr, nullptr);
    }
    // What a setting that must be refused says.
    static std::string refused(const char *duration, const char *copy, const char *seed)
    {
        testing::internal::CaptureStderr();
        EXPECT_FALSE(sg_model_set(duration, copy, seed));
        return testing::internal::GetCapturedStderr();
    }
    std::string path_ = "/tmp/softgpu-model-" + std::to_string(getpid());
};

TEST_F(Model, FixedDurationIsInNanoseconds)
{
    ASSERT_TRUE(sg_model_set("2000", nullptr, nullptr));
    EXPECT_EQ(ticks(kernel("any")), 200U);
    ASSERT_TRUE(sg_model_set("2001", nullptr, nullptr));
    EXPECT_EQ(ticks(kernel("any")), 201U) << "rounds up to ticks of 10 ns";
    ASSERT_TRUE(sg_model_set("0", nullptr, nullptr));
    EXPECT_EQ(ticks(kernel("any"), 3, 4, 1000), 0U);
}

TEST_F(Model, DefaultGrowsWithTheGrid)
{
    ASSERT_TRUE(sg_model_set(nullptr, nullptr, nullptr));
    sg_kernel_t any = kernel("any");
    EXPECT_GT(ticks(any), 50U);
    EXPECT_LT(ticks(any), 1000U);
    EXPECT_EQ(ticks(any, 0, 0, 1), ticks(any, 0, 0, 60)) << "one pass over the device";
    EXPECT_LT(ticks(any, 0, 0, 60), ticks(any, 0, 0, 60000));
}

TEST_F(Model, FirstRuleThatFitsCounts)
{
    ASSERT_TRUE(sg_model_set("gemm*=5000,ns::scale*=70,*add*=60,100", nullptr, nullptr));
    EXPECT_EQ(ticks(kernel("gemm_nt")), 500U);
    EXPECT_EQ(ticks(kernel("_ZN2ns5scaleIfEEvPT_S1_", "void ns::scale<float>(float*, float)")), 7U);
    EXPECT_EQ(ticks(kernel("_Z3addPf", "add(float*)")), 6U);
    EXPECT_EQ(ticks(kernel("other")), 10U);
}

TEST_F(Model, ScheduleFile)
{
    ASSERT_TRUE(schedule("# durations\n"
                         "\n"
                         "gemm*  5000          # plain\n"
                         "jitter 10000 20%\n"
                         "both   1000 0 every 10 x 8\n"
                         "late   1000 every 5 x 2.5\n"
                         "*      700\n"));
    EXPECT_EQ(ticks(kernel("gemm_nt")), 500U);
    EXPECT_EQ(ticks(kernel("other")), 70U);

    sg_kernel_t jitter = kernel("jitter");
    uint64_t least = UINT64_MAX, most = 0, sum = 0;
    for (uint64_t ordinal = 0; ordinal < 10000; ordinal++) {
        uint64_t now = ticks(jitter, 1, ordinal);
        least = now < least ? now : least;
        most = now > most ? now : most;
        sum += now;
    }
    EXPECT_GE(least, 800U);
    EXPECT_LT(least, 805U);
    EXPECT_LE(most, 1200U);
    EXPECT_GT(most, 1195U);
    EXPECT_NEAR(static_cast<double>(sum) / 10000, 1000, 5);

    for (const auto &[name, every, slow] :
         {std::tuple("both", 10, 800U), std::tuple("late", 5, 250U)}) {
        sg_kernel_t outliers = kernel(name);
        int count = 0;
        for (uint64_t ordinal = 0; ordinal < 100000; ordinal++) {
            uint64_t now = ticks(outliers, 0, ordinal);
            ASSERT_TRUE(now == 100 || now == slow) << now;
            count += now == slow ? 1 : 0;
        }
        EXPECT_NEAR(count, 100000 / every, 600) << name;
    }
}

TEST_F(Model, SameRunSameDurations)
{
    ASSERT_TRUE(schedule("* 100000 50% every 7 x 3\n"));
    sg_kernel_t any = kernel("any");
    std::vector<uint64_t> first, again, other;
    auto fill = [&](std::vector<uint64_t> *list) {
        for (uint64_t ordinal = 0; ordinal < 100; ordinal++) {
            list->push_back(ticks(any, 2, ordinal));
        }
    };
    fill(&first);
    fill(&again);
    EXPECT_EQ(first, again);
    ASSERT_TRUE(sg_model_set(("@" + path_).c_str(), nullptr, "99"));
    fill(&other);
    EXPECT_NE(first, other);
}

TEST_F(Model, CopiesTakeLatencyAndRate)
{
    ASSERT_TRUE(sg_model_set(nullptr, "1000:2", nullptr));
    EXPECT_EQ(sg_model_copy_ticks(0), 100U);
    EXPECT_EQ(sg_model_copy_ticks(2000000), 100U + 100000U);
    ASSERT_TRUE(sg_model_set(nullptr, "0:1000000000", nullptr));
    EXPECT_LE(sg_model_copy_ticks(4096), 1U);
    ASSERT_TRUE(sg_model_set(nullptr, nullptr, nullptr));
    EXPECT_GT(sg_model_copy_ticks(1 << 30), sg_model_copy_ticks(1 << 20));
}

TEST_F(Model, BadSettingsAreNamedAndTheDefaultUsed)
{
    sg_model_set(nullptr, nullptr, nullptr);
    uint64_t plain = ticks(kernel("any")), copy = sg_model_copy_ticks(100);
    for (const char *bad : {"fast", "-5", "1e99", "a=", "a=b", "1,,2", "@/no/such/file", "10ns"}) {
        std::string said = refused(bad, nullptr, nullptr);
        EXPECT_NE(said.find("SOFTGPU_DURATION"), std::string::npos) << bad << ": " << said;
        EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
        EXPECT_EQ(ticks(kernel("any")), plain) << bad;
    }
    for (const char *bad : {"slow", "1:", "1:0", "1:fast"}) {
        EXPECT_NE(refused(nullptr, bad, nullptr).find("SOFTGPU_COPY"), std::string::npos) << bad;
        EXPECT_EQ(sg_model_copy_ticks(100), copy) << bad;
    }
    EXPECT_NE(refused(nullptr, nullptr, "x").find("SOFTGPU_SEED"), std::string::npos);
}

TEST_F(Model, BadLinesAreNamedWithFileAndNumber)
{
    for (const char *line : {"name", "name slow", "name 1 200%", "name 1 x", "name 1 every 5 x",
                             "name 1 every 0 x 2", "name 1 every 2.5 x 2", "name 1 5% often",
                             "name 1 every 5 y 2", "name 1 1 every 5 x 2 3"}) {
        std::string text = std::string("good 1\n") + line + "\n";
        std::ofstream(path_) << text;
        std::string said = refused(("@" + path_).c_str(), nullptr, nullptr);
        EXPECT_NE(said.find("'" + path_ + "' line 2: "), std::string::npos) << line << ": " << said;
    }
}

} // namespace

// Plugins: which are taken, which refused, and which of their functions a kernel gets.

#include "fake_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <string>

extern "C" {
#include "softgpu/kernel.h"
}

namespace
{

// Plugins are loaded once in a process, before the first kernel is looked for.
class LoadPlugins : public testing::Environment
{
  public:
    void SetUp() override
    {
        setenv("SOFTGPU_PLUGINS", OLD_PLUGIN ":/no/such/plugin.so::" MUTE_PLUGIN ":" GOOD_PLUGIN,
               1);
        testing::internal::CaptureStderr();
        sg_plugin_load();
        sg_plugin_load();
        said = testing::internal::GetCapturedStderr();
    }
    static std::string said;
};
std::string LoadPlugins::said;
const testing::Environment *const load_plugins = testing::AddGlobalTestEnvironment(new LoadPlugins);

hsa_kernel_dispatch_packet_t packet_with(void *kernarg)
{
    hsa_kernel_dispatch_packet_t packet{};
    packet.grid_size_x = 7;
    packet.grid_size_y = packet.grid_size_z = 1;
    packet.workgroup_size_x = packet.workgroup_size_y = packet.workgroup_size_z = 1;
    packet.kernarg_address = kernarg;
    return packet;
}

TEST(Plugin, BadOnesAreNamedOnceEach)
{
    const std::string &said = LoadPlugins::said;
    EXPECT_NE(said.find("'" OLD_PLUGIN "' is not used: it was built for another version"),
              std::string::npos)
        << said;
    EXPECT_NE(said.find("'/no/such/plugin.so' is not used"), std::string::npos) << said;
    EXPECT_NE(said.find("'" MUTE_PLUGIN "' is not used: it does not export softgpu_plugin"),
              std::string::npos)
        << said;
    EXPECT_EQ(said.find(GOOD_PLUGIN), std::string::npos) << said;
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 3) << said;
}

TEST(Plugin, ComputesWaitsAndTakesItsTime)
{
    FakeMemory memory;
    ASSERT_TRUE(sg_model_set(nullptr, nullptr, nullptr));
    const sg_kernel_t *kernel = sg_kernel_find(memory.symbol("store.kd"));
    int32_t target = 0;
    struct {
        int32_t *target;
        int8_t small;
        int64_t wide;
    } kernarg = {&target, -2, 30};
    hsa_kernel_dispatch_packet_t packet = packet_with(&kernarg);
    EXPECT_FALSE(sg_kernel_ready(kernel, &packet, 0));
    target = 1;
    EXPECT_TRUE(sg_kernel_ready(kernel, &packet, 0));
    EXPECT_EQ(sg_model_ticks(kernel, &packet, 0, 0), 70U);
    sg_kernel_run(kernel, &packet, 0);
    EXPECT_EQ(target, 1000 - 2 + 30);
}

TEST(Plugin, IsFoundByDemangledName)
{
    FakeMemory memory;
    const sg_kernel_t *kernel = sg_kernel_find(memory.symbol("_ZN2ns5scaleIfEEvPT_S1_.kd"));
    ASSERT_NE(kernel->host, nullptr);
    EXPECT_STREQ(kernel->host->name, "ns::scale");
}

TEST(Plugin, FormsOfNames)
{
    struct {
        const char *whole, *name, *plain;
    } const cases[] = {
        {"add(float*, int)", "add", nullptr},
        {"void ns::scale<float>(float*, float)", "ns::scale<float>", "ns::scale"},
        {"void (anonymous namespace)::f<int, (char)3>(int (*)(int))",
         "(anonymous namespace)::f<int, (char)3>", "(anonymous namespace)::f"},
        {"std::enable_if<true, void>::type g<A<B> >(A<B>)", "g<A<B> >", "g"},
        {"plain", "plain", nullptr},
    };
    for (const auto &want : cases) {
        char *forms[3];
        size_t count = sg_name_forms(want.whole, forms);
        ASSERT_EQ(count, want.plain != nullptr ? 3U : 2U) << want.whole;
        EXPECT_STREQ(forms[0], want.whole);
        EXPECT_STREQ(forms[1], want.name);
        if (want.plain != nullptr) {
            EXPECT_STREQ(forms[2], want.plain);
        }
        for (size_t i = 0; i < count; i++) {
            free(forms[i]);
        }
    }
}

} // namespace

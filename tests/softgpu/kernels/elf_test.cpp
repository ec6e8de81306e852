// From a kernel object to name and arguments, on a real code object; and on damaged ones.

#include "fake_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

extern "C" {
#include "softgpu/kernel.h"
}

namespace
{

const char long_name[] = "with_a_name_that_is_quite_a_bit_longer_than_the_others";

TEST(Kernel, IsFoundBySymbol)
{
    FakeMemory memory;
    for (const char *name : {"nothing", "store", long_name, "_ZN2ns5scaleIfEEvPT_S1_"}) {
        const sg_kernel_t *kernel = sg_kernel_find(memory.symbol(std::string(name) + ".kd"));
        EXPECT_STREQ(sg_kernel_name(kernel), name);
        EXPECT_EQ(kernel, sg_kernel_find(memory.symbol(std::string(name) + ".kd")));
    }
}

TEST(Kernel, TellsItsArguments)
{
    FakeMemory memory;
    const sg_kernel_t *kernel = sg_kernel_find(memory.symbol("store.kd"));
    // __global int *, char, long, int4, each at its natural alignment.
    const softgpu_argument_t want[] = {{0, 8}, {8, 1}, {16, 8}, {32, 16}};
    ASSERT_EQ(kernel->argument_count, 4U);
    for (size_t i = 0; i < 4; i++) {
        EXPECT_EQ(kernel->arguments[i].offset, want[i].offset) << i;
        EXPECT_EQ(kernel->arguments[i].size, want[i].size) << i;
    }
    EXPECT_GE(kernel->kernarg_size, 48U);
    EXPECT_EQ(sg_kernel_find(memory.symbol("nothing.kd"))->argument_count, 0U);
}

TEST(Kernel, IsNamedOnceWhenNothingIsKnown)
{
    FakeMemory memory;
    testing::internal::CaptureStderr();
    sg_kernel_find(memory.symbol(std::string(long_name) + ".kd"));
    sg_kernel_forget(memory.base(), memory.size());
    sg_kernel_find(memory.symbol(std::string(long_name) + ".kd"));
    sg_kernel_find(memory.symbol("nothing.kd"));
    std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(said.find("nothing'"), std::string::npos) << "there is nothing to compute: " << said;
    size_t first = said.find(long_name);
    // It may have been told by an earlier test of this process, but never twice.
    if (first != std::string::npos) {
        EXPECT_EQ(said.find(long_name, first + 1), std::string::npos) << said;
    }
}

TEST(Kernel, OutsideOfAnyCodeObjectHasNoName)
{
    FakeMemory memory;
    testing::internal::CaptureStderr();
    EXPECT_STREQ(sg_kernel_name(sg_kernel_find(64)), "");
    EXPECT_STREQ(sg_kernel_name(sg_kernel_find(reinterpret_cast<uintptr_t>(memory.base()) + 256)),
                 "");
    EXPECT_STREQ(sg_kernel_name(sg_kernel_find(memory.symbol("store.kd") + 64 * 32)), "");
    testing::internal::GetCapturedStderr();
}

// A module is unloaded and another one loaded at the same place.
TEST(Kernel, IsForgottenWithItsMemory)
{
    FakeMemory memory;
    uint64_t object = memory.symbol("store.kd");
    const sg_kernel_t *kernel = sg_kernel_find(object);
    EXPECT_STREQ(sg_kernel_name(kernel), "store");

    std::string old("store.kd");
    for (uint8_t *at = memory.base(); at + old.size() < memory.base() + memory.size(); at++) {
        if (std::memcmp(at, old.c_str(), old.size()) == 0) {
            std::memcpy(at, "other.kd", old.size());
        }
    }
    sg_kernel_forget(memory.base() + memory.size(), 4096);
    EXPECT_EQ(sg_kernel_find(object), kernel) << "other memory was freed";
    sg_kernel_forget(memory.base(), memory.size());
    EXPECT_STREQ(sg_kernel_name(sg_kernel_find(object)), "other");
    EXPECT_STREQ(sg_kernel_name(kernel), "store") << "whoever still runs it may read it";
}

// With the sanitizers this finds reads outside of the allocation.
TEST(Kernel, SurvivesDamagedCodeObjects)
{
    FakeMemory memory;
    std::mt19937 random(1);
    uint64_t object = memory.symbol("store.kd");
    size_t found = 0;
    for (int round = 0; round < 4000; round++) {
        memory.load();
        for (int i = 0; i < 8; i++) {
            size_t at = 4096 + random() % (random() % 2 == 0 ? 0x200 : 0x3000);
            memory.base()[at] = static_cast<uint8_t>(random() % 4 == 0 ? 0xFF : random());
        }
        sg_elf_kernel_t elf{};
        if (!sg_elf_find(object, memory.base(), memory.size(), &elf)) {
            continue;
        }
        found++;
        softgpu_argument_t *arguments = nullptr;
        size_t count = 0;
        if (sg_metadata_arguments(elf.metadata, elf.metadata_size, elf.symbol, &arguments,
                                  &count)) {
            free(arguments);
        }
    }
    EXPECT_GT(found, 100U);
}

TEST(Kernel, SurvivesDamagedMetadata)
{
    FakeMemory memory;
    sg_elf_kernel_t elf{};
    ASSERT_TRUE(sg_elf_find(memory.symbol("store.kd"), memory.base(), memory.size(), &elf));
    const std::vector<uint8_t> whole(elf.metadata, elf.metadata + elf.metadata_size);
    std::mt19937 random(2);
    size_t good = 0;
    for (size_t round = 0; round < whole.size() + 4000; round++) {
        // Each copy ends where its memory ends: first all lengths, then wrong bytes.
        std::vector<uint8_t> copy(whole.begin(),
                                  whole.begin() + static_cast<long>(std::min(round, whole.size())));
        for (int i = 0; i < 4 && round >= whole.size(); i++) {
            copy[random() % copy.size()] = static_cast<uint8_t>(random());
        }
        softgpu_argument_t *arguments = nullptr;
        size_t count = 0;
        if (sg_metadata_arguments(copy.data(), copy.size(), "store.kd", &arguments, &count)) {
            good++;
            free(arguments);
        }
    }
    EXPECT_GT(good, 0U);
    softgpu_argument_t *arguments = nullptr;
    size_t count = 0;
    EXPECT_FALSE(sg_metadata_arguments(whole.data(), whole.size(), "none.kd", &arguments, &count));
    EXPECT_FALSE(sg_metadata_arguments(nullptr, 0, "store.kd", &arguments, &count));
}

} // namespace

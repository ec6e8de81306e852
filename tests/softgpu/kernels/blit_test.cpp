// The copy and fill kernels of the runtimes, against what each of their work-items does on a GPU
// (as the device library's bitcode, opencl.bc, says).

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

using Bytes = std::vector<uint8_t>;

const softgpu_kernel_t *find(const std::string &name)
{
    const softgpu_plugin_t *plugin = sg_blit_plugin();
    for (size_t i = 0; i < plugin->kernel_count; i++) {
        if (name == plugin->kernels[i].name) {
            return &plugin->kernels[i];
        }
    }
    ADD_FAILURE() << "no kernel " << name;
    return nullptr;
}

// The kernarg segment, argument by argument at natural alignment.
class Kernarg
{
  public:
    template <class T> Kernarg &add(const T &value, size_t align = sizeof(T))
    {
        bytes_.resize((bytes_.size() + align - 1) / align * align);
        const auto *from = reinterpret_cast<const uint8_t *>(&value);
        arguments_.push_back({static_cast<uint32_t>(bytes_.size()), sizeof value});
        bytes_.insert(bytes_.end(), from, from + sizeof value);
        return *this;
    }
    void run(const std::string &name, uint32_t x, uint32_t y = 1, uint32_t z = 1)
    {
        softgpu_dispatch_t dispatch{};
        dispatch.grid[0] = x;
        dispatch.grid[1] = y;
        dispatch.grid[2] = z;
        dispatch.kernarg = bytes_.data();
        dispatch.argument_count = arguments_.size();
        dispatch.arguments = arguments_.data();
        find(name)->run(&dispatch, nullptr);
    }
    bool ready(const std::string &name)
    {
        softgpu_dispatch_t dispatch{};
        dispatch.kernarg = bytes_.data();
        return find(name)->ready(&dispatch, nullptr);
    }

  private:
    Bytes bytes_;
    std::vector<softgpu_argument_t> arguments_;
};

struct Long4 {
    uint64_t at[4];
};

class Blit : public testing::Test
{
  protected:
    Blit() : source_(random_bytes(20000)), target_(random_bytes(20000)), want_(target_)
    {
    }
    Bytes random_bytes(size_t count)
    {
        Bytes bytes(count);
        for (uint8_t &byte : bytes) {
            byte = static_cast<uint8_t>(random_());
        }
        return bytes;
    }
    uint32_t pick(uint32_t below)
    {
        return static_cast<uint32_t>(random_() % below);
    }
    std::mt19937 random_{1};
    Bytes source_, target_, want_;
};

TEST_F(Blit, CopyBuffer)
{
    for (int round = 0; round < 500; round++) {
        uint64_t from = pick(999), into = pick(999), bytes = pick(3000);
        uint64_t size = bytes / 4 + 1;
        auto remain = static_cast<uint32_t>(bytes % 4);
        if (round % 5 == 0) {
            remain = 8;
            size = bytes;
        }
        auto grid = static_cast<uint32_t>((size + 255) / 256 * 256);
        for (uint64_t id = 0; id < size && id < grid; id++) {
            if (remain == 8) {
                want_[into + id] = source_[from + id];
                continue;
            }
            uint64_t count = id < size - 1 ? 4 : remain;
            std::memcpy(&want_[into + id * 4], &source_[from + id * 4], count);
        }
        Kernarg()
            .add(source_.data())
            .add(target_.data())
            .add(from)
            .add(into)
            .add(size)
            .add(remain)
            .run("__amd_rocclr_copyBuffer", grid);
        ASSERT_EQ(target_, want_) << round;
    }
}

TEST_F(Blit, CopyBufferAligned)
{
    for (uint32_t unit : {4U, 16U}) {
        uint64_t from = 3, into = 5, size = 100;
        std::memcpy(&want_[into * unit], &source_[from * unit], size * unit);
        Kernarg()
            .add(source_.data())
            .add(target_.data())
            .add(from)
            .add(into)
            .add(size)
            .add(unit)
            .run("__amd_rocclr_copyBufferAligned", 256);
        ASSERT_EQ(target_, want_);
    }
}

TEST_F(Blit, CopyRectangle)
{
    for (int round = 0; round < 300; round++) {
        uint64_t unit = round % 3 == 0 ? 16 : round % 3 == 1 ? 4 : 1;
        Long4 from{{10 + pick(5), 100 + pick(9), pick(7), 0}};
        Long4 into{{10 + pick(5), 90 + pick(9), pick(7), 0}};
        Long4 size{{1 + pick(10), 1 + pick(9), 1 + pick(3), unit}};
        for (uint64_t z = 0; z < size.at[2]; z++) {
            for (uint64_t y = 0; y < size.at[1]; y++) {
                for (uint64_t x = 0; x < size.at[0]; x++) {
                    uint64_t s = from.at[2] + x + y * from.at[0] + z * from.at[1];
                    uint64_t t = into.at[2] + x + y * into.at[0] + z * into.at[1];
                    std::memcpy(&want_[t * unit], &source_[s * unit], unit);
                }
            }
        }
        Kernarg kernarg;
        kernarg.add(source_.data()).add(target_.data()).add(from, 32).add(into, 32).add(size, 32);
        kernarg.run(unit == 1 ? "__amd_rocclr_copyBufferRect"
                              : "__amd_rocclr_copyBufferRectAligned",
                    16, 16, 4);
        ASSERT_EQ(target_, want_) << round;
    }
}

// The four typed views of one buffer; the kernel takes the widest that is there.
Kernarg views(uint8_t *buffer, uint64_t unit)
{
    Kernarg kernarg;
    for (uint64_t width : {1, 2, 4, 8}) {
        kernarg.add(width == unit ? buffer : nullptr);
    }
    return kernarg;
}

TEST_F(Blit, Fill)
{
    for (int round = 0; round < 400; round++) {
        uint64_t unit = uint64_t{1} << pick(4), offset = pick(50), size = pick(200);
        uint32_t length = 1 + pick(4);
        Bytes pattern = random_bytes(length * unit);
        for (uint64_t id = 0; id < size; id++) {
            std::memcpy(&want_[(offset + id * length) * unit], pattern.data(), pattern.size());
        }
        views(target_.data(), unit)
            .add(pattern.data())
            .add(length)
            .add(offset)
            .add(size)
            .run("__amd_rocclr_fillBufferAligned", 256);
        ASSERT_EQ(target_, want_) << round;
    }
}

// As in the source among HIP's strings: a work-item goes on by a stride until the end. HIP has no
// gaps between the work-items; the kernel can have them.
TEST_F(Blit, CopyBufferOfHip64)
{
    for (int round = 0; round < 500; round++) {
        uint64_t unit = round % 2 ? 16 : 4;
        uint64_t size = 1 + pick(9000);
        auto remainder = static_cast<uint32_t>(size % unit);
        uint32_t grid = 64 * (1 + pick(4));
        uint32_t stride = round % 7 == 0 ? grid + pick(50) : grid;
        uint64_t whole = size - remainder;
        for (uint64_t id = 0; id < grid; id++) {
            for (uint64_t at = id; at * unit < whole; at += stride) {
                std::memcpy(&want_[at * unit], &source_[at * unit], unit);
            }
        }
        std::memcpy(&want_[whole], &source_[whole], remainder);
        Kernarg kernarg;
        kernarg.add(source_.data()).add(target_.data()).add(size).add(remainder);
        kernarg.add(static_cast<uint32_t>(unit)).add(target_.data() + whole).add(stride);
        if (round % 3 == 0) {
            kernarg.add(uint32_t{64}); // 7.2: the size of a workgroup
        }
        kernarg.run("__amd_rocclr_copyBuffer", grid);
        ASSERT_EQ(target_, want_) << round;
        source_ = random_bytes(source_.size());
    }
}

TEST_F(Blit, FillOfHip64)
{
    for (int round = 0; round < 400; round++) {
        uint32_t unit = 1U << pick(5);
        uint32_t length = 1 + pick(4);
        uint64_t patterns = pick(200);
        uint32_t grid = 16 * (1 + pick(4));
        uint32_t stride = (round % 7 == 0 ? grid + pick(20) : grid) * length;
        Bytes pattern = random_bytes(size_t{length} * unit);
        for (uint64_t id = 0; id < grid; id++) {
            for (uint64_t at = id * length; at < patterns * length; at += stride) {
                std::memcpy(&want_[at * unit], pattern.data(), pattern.size());
            }
        }
        Kernarg kernarg;
        kernarg.add(target_.data()).add(pattern.data()).add(length).add(unit);
        kernarg.add(target_.data() + patterns * length * unit).add(stride);
        if (round % 3 == 0) {
            kernarg.add(uint32_t{64});
        }
        kernarg.run("__amd_rocclr_fillBufferAligned", grid);
        ASSERT_EQ(target_, want_) << round;
    }
}

// s_load_dword and s_load_dwordx4 of kernel arguments, as they are encoded up to GFX9 and from
// GFX10 on.
TEST_F(Blit, RocrsKernelsByTheirFirstLoads)
{
    struct {
        const char *name;
        unsigned quads, words;
    } const known[] = {
        {"__rocr_CopyAligned", 5, 1}, {"__rocr_CopyMisaligned", 3, 1}, {"__rocr_Fill", 2, 0}};
    for (const auto &kernel : known) {
        for (bool gfx10 : {false, true}) {
            std::vector<uint32_t> code;
            for (unsigned i = 0; i < kernel.quads + kernel.words; i++) {
                bool quad = i < kernel.quads;
                uint32_t load = gfx10  ? quad ? 0xf4080000 : 0xf4000000
                                : quad ? 0xc00a0000
                                       : 0xc0020000;
                code.push_back(load | (i * 4 + 4) << 6); // where to
                code.push_back(0xf8000000 | i * 16);     // from where
            }
            code.insert(code.end(), 8, 0xbf800000); // s_nop
            const char *name =
                sg_blit_recognise(reinterpret_cast<const uint8_t *>(code.data()), code.size() * 4);
            EXPECT_STREQ(name, kernel.name) << gfx10;
        }
    }
    const uint32_t other[] = {0xf4040000, 0, 0xf4080000, 0, 0xbf800000, 0xbf800000};
    EXPECT_EQ(sg_blit_recognise(reinterpret_cast<const uint8_t *>(other), sizeof other), nullptr);
}

TEST_F(Blit, FillOnlyWithWorkItemsOfTheGrid)
{
    std::memset(want_.data(), 7, 64);
    uint8_t pattern = 7;
    views(target_.data(), 1)
        .add(&pattern)
        .add(uint32_t{1})
        .add(uint64_t{0})
        .add(uint64_t{1000})
        .run("__amd_rocclr_fillBufferAligned", 64);
    ASSERT_EQ(target_, want_);
}

TEST_F(Blit, Fill2D)
{
    for (int round = 0; round < 300; round++) {
        uint64_t unit = uint64_t{1} << pick(4), origin = pick(20);
        uint64_t width = 1 + pick(30), height = 1 + pick(30), pitch = 30 + pick(9);
        uint32_t length = round % 4 == 0 ? 2 : 1;
        Bytes pattern = random_bytes(length * unit);
        for (uint64_t y = 0; y < height; y++) {
            for (uint64_t x = 0; x < width; x++) {
                std::memcpy(&want_[(origin + y * pitch + x) * unit], pattern.data(),
                            pattern.size());
            }
        }
        views(target_.data(), unit)
            .add(pattern.data())
            .add(length)
            .add(origin)
            .add(width)
            .add(height)
            .add(pitch)
            .run("__amd_rocclr_fillBufferAligned2D", 32, 32);
        ASSERT_EQ(target_, want_) << round;
    }
}

TEST_F(Blit, StreamWrite)
{
    uint32_t narrow[2] = {1, 2};
    uint64_t wide = 3;
    uint64_t *no_wide = nullptr;
    uint32_t *no_narrow = nullptr;
    Kernarg()
        .add(&narrow[0])
        .add(no_wide)
        .add(uint64_t{0x1122334455667788})
        .add(uint64_t{4})
        .run("__amd_rocclr_streamOpsWrite", 1);
    EXPECT_EQ(narrow[0], 0x55667788U);
    EXPECT_EQ(narrow[1], 2U);
    Kernarg()
        .add(no_narrow)
        .add(&wide)
        .add(uint64_t{0x1122334455667788})
        .add(uint64_t{8})
        .run("__amd_rocclr_streamOpsWrite", 1);
    EXPECT_EQ(wide, 0x1122334455667788U);
}

TEST_F(Blit, StreamWait)
{
    struct {
        uint64_t now, value, flags, mask;
        bool ready;
    } const cases[] = {
        {5, 6, 0, UINT64_MAX, false}, {6, 6, 0, UINT64_MAX, true},  {7, 6, 0, UINT64_MAX, true},
        {0x15, 6, 0, 0xF, false},     {5, 6, 1, UINT64_MAX, false}, {6, 6, 1, UINT64_MAX, true},
        {0x26, 6, 1, 0xF, true},      {8, 6, 2, UINT64_MAX, false}, {4, 6, 2, UINT64_MAX, true},
        {4, 6, 2, 2, false},          {9, 6, 3, 0xF, false},        {8, 6, 3, 0xF, true},
    };
    for (const auto &test : cases) {
        uint64_t wide = test.now;
        auto narrow = static_cast<uint32_t>(test.now);
        uint64_t *no_wide = nullptr;
        uint32_t *no_narrow = nullptr;
        EXPECT_EQ(Kernarg()
                      .add(no_narrow)
                      .add(&wide)
                      .add(test.value)
                      .add(test.flags)
                      .add(test.mask)
                      .ready("__amd_rocclr_streamOpsWait"),
                  test.ready)
            << test.now << " " << test.value << " " << test.flags;
        EXPECT_EQ(Kernarg()
                      .add(&narrow)
                      .add(no_wide)
                      .add(test.value)
                      .add(test.flags)
                      .add(test.mask)
                      .ready("__amd_rocclr_streamOpsWait"),
                  test.ready)
            << test.now << " " << test.value << " " << test.flags << " in 32 bits";
    }
}

TEST_F(Blit, RuntimeCopyAndFill)
{
    const uint8_t *from = source_.data() + 3;
    uint8_t *into = target_.data() + 7;
    std::memcpy(&want_[7], from, 1000);
    Kernarg copy;
    for (uint64_t start : {0, 10, 900, 996, 1000}) {
        copy.add(from + start).add(into + start);
    }
    copy.add(uint32_t{15360}).run("__rocr_CopyAligned", 15360);
    ASSERT_EQ(target_, want_);

    std::memcpy(&want_[7 + 2000], from + 2000, 333);
    Kernarg odd;
    for (uint64_t start : {2000, 2300, 2333}) {
        odd.add(from + start).add(into + start);
    }
    odd.add(uint32_t{15360}).run("__rocr_CopyMisaligned", 15360);
    ASSERT_EQ(target_, want_);

    uint32_t value = 0xA1B2C3D4;
    for (size_t i = 0; i < 100; i++) {
        std::memcpy(&want_[4000 + i * 4], &value, 4);
    }
    uint8_t *start = target_.data() + 4000;
    Kernarg()
        .add(start)
        .add(start + 256)
        .add(start + 400)
        .add(value)
        .add(uint32_t{3840})
        .run("__rocr_Fill", 3840);
    ASSERT_EQ(target_, want_);
}

} // namespace

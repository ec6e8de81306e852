// Shared virtual memory by the driver's ioctl: attributes of ranges, and what the device reaches.

#include "front.h"

#include <algorithm>
#include <fstream>

#include <string>
#include <utility>
#include <vector>

namespace
{

enum { PAGE = 4096 };

using Attributes = std::vector<kfd_ioctl_svm_attribute>;

class Svm : public Front
{
  protected:
    // NOLINTBEGIN(misc-non-private-member-variables-in-classes): a fixture's members are for its
    // tests
    char *memory = nullptr;
    // NOLINTEND(misc-non-private-member-variables-in-classes)

    void SetUp() override
    {
        open_gpu();
        void *made =
            mmap(nullptr, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(made, MAP_FAILED);
        memory = static_cast<char *>(made);
    }

    void TearDown() override
    {
        (void)munmap(memory, 8 * PAGE);
        Front::TearDown();
    }

    /* 0, or errno. The answer is in the attributes. */
    int svm(uint32_t operation, const void *start, uint64_t size, Attributes &attributes,
            int missing = 0)
    {
        size_t more = attributes.size() * sizeof(attributes[0]);
        std::vector<uint64_t> space((sizeof(kfd_ioctl_svm_args) + more) / sizeof(uint64_t));
        auto *args = reinterpret_cast<kfd_ioctl_svm_args *>(space.data());
        args->start_addr = reinterpret_cast<uint64_t>(start);
        args->size = size;
        args->op = operation;
        args->nattr = static_cast<uint32_t>(attributes.size() + static_cast<size_t>(missing));
        std::copy(attributes.begin(), attributes.end(), args->attrs);
        int result = ioctl(kfd, AMDKFD_IOC_SVM + (more << _IOC_SIZESHIFT), args);
        std::copy(args->attrs, args->attrs + attributes.size(), attributes.begin());
        return result == 0 ? 0 : errno;
    }

    int set(const char *start, uint64_t size, Attributes attributes)
    {
        return svm(KFD_IOCTL_SVM_OP_SET_ATTR, start, size, attributes);
    }

    /* One attribute's type and value. */
    std::pair<uint32_t, uint32_t> get(const char *start, uint64_t size, uint32_t type,
                                      uint32_t value = 0)
    {
        Attributes one = {{type, value}};
        EXPECT_EQ(svm(KFD_IOCTL_SVM_OP_GET_ATTR, start, size, one), 0);
        return {one[0].type, one[0].value};
    }

    uint32_t access(const char *start, uint64_t size)
    {
        return get(start, size, KFD_IOCTL_SVM_ATTR_ACCESS, gpu).first;
    }
};

TEST_F(Svm, ANodeSaysThatItIsThere)
{
    std::string name;
    uint64_t value = 0;
    uint64_t capability = 0;
    std::ifstream file("/sys/devices/virtual/kfd/kfd/topology/nodes/1/properties");
    while (file >> name >> value)
        if (name == "capability")
            capability = value;
    EXPECT_NE(capability & (1U << 27), 0U);
}

TEST_F(Svm, UntouchedMemoryHasTheDefaults)
{
    EXPECT_EQ(access(memory, PAGE), uint32_t{KFD_IOCTL_SVM_ATTR_NO_ACCESS});
    EXPECT_EQ(get(memory, PAGE, KFD_IOCTL_SVM_ATTR_PREFERRED_LOC).second,
              uint32_t{KFD_IOCTL_SVM_LOCATION_UNDEFINED});
    EXPECT_EQ(get(memory, PAGE, KFD_IOCTL_SVM_ATTR_SET_FLAGS).second,
              uint32_t{KFD_IOCTL_SVM_FLAG_HOST_ACCESS | KFD_IOCTL_SVM_FLAG_COHERENT});
    EXPECT_EQ(get(memory, PAGE, KFD_IOCTL_SVM_ATTR_GRANULARITY).second, 9U);
}

/* What is set in the middle splits a range; a question about several has what all have. */
TEST_F(Svm, RangesAreSplit)
{
    ASSERT_EQ(set(memory, 6 * PAGE,
                  {{KFD_IOCTL_SVM_ATTR_ACCESS, gpu},
                   {KFD_IOCTL_SVM_ATTR_PREFERRED_LOC, gpu},
                   {KFD_IOCTL_SVM_ATTR_GRANULARITY, 5}}),
              0);
    ASSERT_EQ(set(memory + 2 * PAGE, 2 * PAGE,
                  {{KFD_IOCTL_SVM_ATTR_PREFERRED_LOC, KFD_IOCTL_SVM_LOCATION_SYSMEM},
                   {KFD_IOCTL_SVM_ATTR_CLR_FLAGS, KFD_IOCTL_SVM_FLAG_COHERENT},
                   {KFD_IOCTL_SVM_ATTR_SET_FLAGS, KFD_IOCTL_SVM_FLAG_GPU_RO}}),
              0);
    for (int page = 0; page < 6; page++) {
        bool inside = page == 2 || page == 3;
        char *at = memory + page * PAGE;
        EXPECT_EQ(access(at, PAGE), uint32_t{KFD_IOCTL_SVM_ATTR_ACCESS}) << page;
        EXPECT_EQ(get(at, PAGE, KFD_IOCTL_SVM_ATTR_PREFERRED_LOC).second, inside ? 0 : gpu);
        EXPECT_EQ(get(at, PAGE, KFD_IOCTL_SVM_ATTR_GRANULARITY).second, 5U);
        EXPECT_EQ(
            (get(at, PAGE, KFD_IOCTL_SVM_ATTR_SET_FLAGS).second & KFD_IOCTL_SVM_FLAG_COHERENT) == 0,
            inside);
    }
    EXPECT_EQ(access(memory + 6 * PAGE, PAGE), uint32_t{KFD_IOCTL_SVM_ATTR_NO_ACCESS});
    EXPECT_EQ(get(memory, 6 * PAGE, KFD_IOCTL_SVM_ATTR_PREFERRED_LOC).second,
              uint32_t{KFD_IOCTL_SVM_LOCATION_UNDEFINED});
    EXPECT_EQ(get(memory, 6 * PAGE, KFD_IOCTL_SVM_ATTR_SET_FLAGS).second,
              uint32_t{KFD_IOCTL_SVM_FLAG_HOST_ACCESS});
    EXPECT_EQ(get(memory, 6 * PAGE, KFD_IOCTL_SVM_ATTR_CLR_FLAGS).second,
              ~uint32_t{KFD_IOCTL_SVM_FLAG_HOST_ACCESS | KFD_IOCTL_SVM_FLAG_COHERENT |
                        KFD_IOCTL_SVM_FLAG_GPU_RO});
}

/* Gaps between ranges are filled, and what was set there stays. */
TEST_F(Svm, RangesAreJoined)
{
    ASSERT_EQ(set(memory + PAGE, PAGE, {{KFD_IOCTL_SVM_ATTR_GRANULARITY, 3}}), 0);
    ASSERT_EQ(set(memory + 3 * PAGE, PAGE, {{KFD_IOCTL_SVM_ATTR_GRANULARITY, 4}}), 0);
    ASSERT_EQ(set(memory, 5 * PAGE, {{KFD_IOCTL_SVM_ATTR_ACCESS_IN_PLACE, gpu}}), 0);
    const uint32_t granularity[] = {9, 3, 9, 4, 9};
    for (int page = 0; page < 5; page++) {
        char *at = memory + page * PAGE;
        EXPECT_EQ(access(at, PAGE), uint32_t{KFD_IOCTL_SVM_ATTR_ACCESS_IN_PLACE}) << page;
        EXPECT_EQ(get(at, PAGE, KFD_IOCTL_SVM_ATTR_GRANULARITY).second, granularity[page]);
    }
    ASSERT_EQ(set(memory + 4 * PAGE, PAGE, {{KFD_IOCTL_SVM_ATTR_NO_ACCESS, gpu}}), 0);
    EXPECT_EQ(access(memory, 5 * PAGE), uint32_t{KFD_IOCTL_SVM_ATTR_NO_ACCESS});
    EXPECT_EQ(access(memory, 4 * PAGE), uint32_t{KFD_IOCTL_SVM_ATTR_ACCESS_IN_PLACE});
}

/* By the process's own address, while the process has the memory. */
TEST_F(Svm, TheDeviceReachesWhatItWasGiven)
{
    auto word = [this](int page) { return *reinterpret_cast<uint32_t *>(memory + page * PAGE); };
    ASSERT_EQ(set(memory, 4 * PAGE, {{KFD_IOCTL_SVM_ATTR_ACCESS, gpu}}), 0);
    Engine engine(kfd, gpu);
    ASSERT_TRUE(engine.fill(memory, 0x1234, 4 * PAGE));
    EXPECT_EQ(word(0), 0x1234U);
    EXPECT_EQ(word(3), 0x1234U);
    ASSERT_EQ(munmap(memory + 2 * PAGE, PAGE), 0);
    ASSERT_TRUE(engine.fill(memory, 0x4321, 2 * PAGE));
    EXPECT_EQ(word(1), 0x4321U);
    ASSERT_TRUE(engine.fill(memory + 3 * PAGE, 0x4321, PAGE));
    EXPECT_EQ(word(3), 0x4321U);
    EXPECT_FALSE(engine.fill(memory + PAGE, 0x5678, 2 * PAGE, false));
    EXPECT_EQ(word(1), 0x4321U);
}

TEST_F(Svm, TheDeviceDoesNotReachWhatWasTakenBack)
{
    ASSERT_EQ(set(memory, 2 * PAGE, {{KFD_IOCTL_SVM_ATTR_ACCESS_IN_PLACE, gpu}}), 0);
    ASSERT_EQ(set(memory + PAGE, PAGE, {{KFD_IOCTL_SVM_ATTR_NO_ACCESS, gpu}}), 0);
    Engine engine(kfd, gpu);
    EXPECT_TRUE(engine.fill(memory, 0x1234, PAGE));
    EXPECT_FALSE(engine.fill(memory, 0x5678, 2 * PAGE, false));
    EXPECT_EQ(*reinterpret_cast<uint32_t *>(memory), 0x1234U);
}

TEST_F(Svm, WhatIsNotSoundIsRefused)
{
    Attributes none;
    Attributes good = {{KFD_IOCTL_SVM_ATTR_ACCESS, gpu}};
    EXPECT_EQ(svm(2, memory, PAGE, good), EINVAL);
    EXPECT_EQ(svm(KFD_IOCTL_SVM_OP_SET_ATTR, memory + 1, PAGE, good), EINVAL);
    EXPECT_EQ(svm(KFD_IOCTL_SVM_OP_SET_ATTR, memory, PAGE + 1, good), EINVAL);
    EXPECT_EQ(svm(KFD_IOCTL_SVM_OP_SET_ATTR, memory, 0, good), EINVAL);
    EXPECT_EQ(svm(KFD_IOCTL_SVM_OP_SET_ATTR, memory, ~uint64_t{PAGE - 1}, good), EINVAL);
    EXPECT_EQ(svm(KFD_IOCTL_SVM_OP_SET_ATTR, memory, PAGE, none, 1), EINVAL);
    EXPECT_EQ(svm(KFD_IOCTL_SVM_OP_SET_ATTR, memory, PAGE, good, 1 << 30), EINVAL);
    for (kfd_ioctl_svm_attribute bad : {kfd_ioctl_svm_attribute{KFD_IOCTL_SVM_ATTR_ACCESS, gpu + 1},
                                        {KFD_IOCTL_SVM_ATTR_PREFERRED_LOC, gpu + 1},
                                        {KFD_IOCTL_SVM_ATTR_GRANULARITY + 1, 0}})
        EXPECT_EQ(set(memory, PAGE, {good[0], bad}), EINVAL) << bad.type;
    for (uint32_t type : {KFD_IOCTL_SVM_ATTR_ACCESS_IN_PLACE, KFD_IOCTL_SVM_ATTR_NO_ACCESS}) {
        Attributes question = {{type, gpu}};
        EXPECT_EQ(svm(KFD_IOCTL_SVM_OP_GET_ATTR, memory, PAGE, question), EINVAL);
    }
    ASSERT_EQ(munmap(memory + 7 * PAGE, PAGE), 0);
    EXPECT_EQ(set(memory, 8 * PAGE, good), EFAULT);
    EXPECT_EQ(access(memory, 7 * PAGE), uint32_t{KFD_IOCTL_SVM_ATTR_NO_ACCESS});
}

} // namespace

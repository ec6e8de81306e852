#include "kfd.h"

#include <chrono>
#include <gtest/gtest.h>
#include <set>
#include <thread>
#include <vector>

namespace
{

/* kfd_event_data since interface 1.14: the age that the caller saw last stands where exceptions
 * have their data. */
struct Data : kfd_event_data {
    uint64_t age() const
    {
        return (static_cast<uint64_t>(memory_exception_data.failure.ReadOnly) << 32) |
               memory_exception_data.failure.NotPresent;
    }

    void set_age(uint64_t age)
    {
        memory_exception_data.failure.NotPresent = static_cast<uint32_t>(age);
        memory_exception_data.failure.ReadOnly = static_cast<uint32_t>(age >> 32);
    }
};

static_assert(sizeof(Data) == 48, "the driver's ABI");

class Events : public testing::Test
{
  protected:
    int kfd = -1; // NOLINT(misc-non-private-member-variables-in-classes): for the tests

    void SetUp() override
    {
        kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
        ASSERT_GE(kfd, 0);
    }

    void TearDown() override
    {
        (void)close(kfd);
    }

    kfd_ioctl_create_event_args create(uint32_t type, bool auto_reset)
    {
        kfd_ioctl_create_event_args args = {};
        args.event_type = type;
        args.auto_reset = auto_reset;
        EXPECT_EQ(ioctl(kfd, AMDKFD_IOC_CREATE_EVENT, &args), 0);
        return args;
    }

    uint32_t signal(bool auto_reset = true)
    {
        return create(KFD_IOC_EVENT_SIGNAL, auto_reset).event_id;
    }

    void set(uint32_t id)
    {
        kfd_ioctl_set_event_args args = {id, 0};
        EXPECT_EQ(ioctl(kfd, AMDKFD_IOC_SET_EVENT, &args), 0);
    }

    static Data data(uint32_t id, uint64_t age = 0)
    {
        Data made = {};
        made.event_id = id;
        made.set_age(age);
        return made;
    }

    /* KFD_IOC_WAIT_RESULT_*, or -1. */
    int wait(std::vector<Data> &waited, bool all, uint32_t milliseconds)
    {
        kfd_ioctl_wait_events_args args = {};
        args.events_ptr = reinterpret_cast<uint64_t>(waited.data());
        args.num_events = static_cast<uint32_t>(waited.size());
        args.wait_for_all = all;
        args.timeout = milliseconds;
        return ioctl(kfd, AMDKFD_IOC_WAIT_EVENTS, &args) == 0 ? static_cast<int>(args.wait_result)
                                                              : -1;
    }

    int wait(uint32_t id, uint32_t milliseconds = 0)
    {
        std::vector<Data> waited = {data(id)};
        return wait(waited, true, milliseconds);
    }
};

TEST_F(Events, SignalsHaveASlotAndOthersHaveNot)
{
    std::set<uint32_t> ids;
    for (int i = 0; i < 100; i++) {
        auto event = create(KFD_IOC_EVENT_SIGNAL, true);
        EXPECT_EQ(event.event_slot_index, event.event_id);
        EXPECT_GT(event.event_id, 0U);
        EXPECT_LT(event.event_id, uint32_t{KFD_SIGNAL_EVENT_LIMIT});
        EXPECT_NE(event.event_page_offset, 0U);
        ids.insert(event.event_id);
    }
    EXPECT_EQ(ids.size(), 100U);
    EXPECT_GE(create(KFD_IOC_EVENT_MEMORY, false).event_id, uint32_t{KFD_SIGNAL_EVENT_LIMIT});
}

TEST_F(Events, AreAsManyAsThePageHasSlots)
{
    for (int i = 1; i < KFD_SIGNAL_EVENT_LIMIT; i++)
        (void)signal();
    kfd_ioctl_create_event_args args = {};
    EXPECT_EQ(ioctl(kfd, AMDKFD_IOC_CREATE_EVENT, &args), -1);
    EXPECT_EQ(errno, ENOSPC);
    kfd_ioctl_destroy_event_args one = {17, 0};
    EXPECT_EQ(ioctl(kfd, AMDKFD_IOC_DESTROY_EVENT, &one), 0);
    EXPECT_EQ(ioctl(kfd, AMDKFD_IOC_DESTROY_EVENT, &one), -1);
    EXPECT_EQ(signal(), 17U);
}

TEST_F(Events, OneWaitConsumesWhatIsResetByItself)
{
    uint32_t once = signal(true);
    uint32_t lasting = signal(false);
    EXPECT_EQ(wait(once), KFD_IOC_WAIT_RESULT_TIMEOUT);
    set(once);
    set(lasting);
    EXPECT_EQ(wait(once), KFD_IOC_WAIT_RESULT_COMPLETE);
    EXPECT_EQ(wait(once), KFD_IOC_WAIT_RESULT_TIMEOUT);
    EXPECT_EQ(wait(lasting), KFD_IOC_WAIT_RESULT_COMPLETE);
    EXPECT_EQ(wait(lasting), KFD_IOC_WAIT_RESULT_COMPLETE);
    kfd_ioctl_reset_event_args reset = {lasting, 0};
    EXPECT_EQ(ioctl(kfd, AMDKFD_IOC_RESET_EVENT, &reset), 0);
    EXPECT_EQ(wait(lasting), KFD_IOC_WAIT_RESULT_TIMEOUT);
}

TEST_F(Events, WaitsForAnyOrAll)
{
    std::vector<Data> both = {data(signal()), data(signal())};
    set(both[0].event_id);
    EXPECT_EQ(wait(both, true, 5), KFD_IOC_WAIT_RESULT_TIMEOUT);
    set(both[1].event_id);
    set(both[0].event_id);
    EXPECT_EQ(wait(both, true, 500), KFD_IOC_WAIT_RESULT_COMPLETE);
    EXPECT_EQ(wait(both, false, 5), KFD_IOC_WAIT_RESULT_TIMEOUT);
    set(both[1].event_id);
    EXPECT_EQ(wait(both, false, 500), KFD_IOC_WAIT_RESULT_COMPLETE);
}

/* An age begins at 1 and grows with each raise; who knows an older one need not wait. */
TEST_F(Events, HaveAges)
{
    uint32_t id = signal();
    std::vector<Data> waited = {data(id, 1)};
    EXPECT_EQ(wait(waited, true, 5), KFD_IOC_WAIT_RESULT_TIMEOUT);
    EXPECT_EQ(waited[0].age(), 1U);
    set(id);
    set(id);
    EXPECT_EQ(wait(id), KFD_IOC_WAIT_RESULT_COMPLETE); /* takes the flag */
    EXPECT_EQ(wait(waited, true, 0), KFD_IOC_WAIT_RESULT_COMPLETE);
    EXPECT_EQ(waited[0].age(), 3U);
    EXPECT_EQ(wait(waited, true, 5), KFD_IOC_WAIT_RESULT_TIMEOUT);
}

TEST_F(Events, ARaiseWakesWhoSleeps)
{
    uint32_t id = signal();
    std::thread other([this, id] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        set(id);
    });
    EXPECT_EQ(wait(id, 900), KFD_IOC_WAIT_RESULT_COMPLETE);
    other.join();
    std::vector<Data> unknown = {data(4000)};
    EXPECT_EQ(wait(unknown, true, 0), -1);
    EXPECT_EQ(errno, EINVAL);
}

} // namespace

#include "../common/check.h"
#include "header.h"

TEST(Header, IsTheSameInCAndCpp)
{
    const size_t own[HEADER_FACTS] = {HEADER_LIST};
    size_t in_c[HEADER_FACTS] = {};
    header_in_c(in_c);
    for (int i = 0; i < HEADER_FACTS; i++) {
        EXPECT_EQ(in_c[i], own[i]) << "fact " << i;
    }
}

// Sizes and values that libraries are built with: not to be changed within a major version.
TEST(Header, HasTheLayoutOfVersion1)
{
    EXPECT_EQ(sizeof(pu1ActivityRecord), 80U);
    EXPECT_EQ(PU1_TABLE_1_0, 96U);
    EXPECT_EQ(sizeof(pu1TracingApiTable), 104U); // 1.1
    EXPECT_EQ(sizeof(pu1DeviceProperties), 32U);
    EXPECT_EQ(PU1_MAJOR_OF(PU1_VERSION), 1U);
    EXPECT_EQ(PRIVATEUSE1_RUNTIME, 1);
    EXPECT_EQ(PRIVATEUSE1_DRIVER, 2);
    EXPECT_EQ(CONCURRENT_KERNEL, 3);
    EXPECT_EQ(GPU_MEMCPY, 4);
    EXPECT_EQ(GPU_MEMSET, 5);
    EXPECT_EQ(PU1_ERROR_MALFORMED, 9);
    EXPECT_STREQ(PU1_REGISTER_SYMBOL, "kineto_register_privateuse1_plugin");
}

RTL_C_TEST(Members, AreThoseOfRfc8259)
RTL_C_TEST(Members, AreNotDeep)
RTL_C_TEST(Members, ComeOneByOne)
RTL_C_TEST(Text, KnowsTheCharactersOfRfc3629)
RTL_C_TEST(Text, NamesArePlain)
RTL_C_TEST(Text, ObjectsHaveNoBackslash)
RTL_C_TEST(Text, NumbersAreNotLong)
RTL_C_TEST(External, BelongsToWhatIsLaunched)
RTL_C_TEST(External, IsAThreadsOwn)
RTL_C_TEST(External, NotesAreNeverMixed)
RTL_C_TEST(Session, KeepsCopies)
RTL_C_TEST(Session, LeavesUnknownKindsAlone)
RTL_C_TEST(Session, TellsErrors)
RTL_C_TEST(Session, TellsLosses)
RTL_C_TEST(Session, PassesDeepIdsOn)
RTL_C_TEST(Session, IsOneAtATime)
RTL_C_TEST(Session, PassesIdsOn)
RTL_C_TEST(Rows, AreNumbersOfTheirOwn)
RTL_C_TEST(Session, TellsFlowsApart)
RTL_C_TEST(Records, SayWhatEventsSay)
RTL_C_TEST(Records, HaveRowsForStreams)
RTL_C_TEST(Records, TellSetsAndCopies)
RTL_C_TEST(Records, AreThoseOfTheWindow)
RTL_C_TEST(Records, WithoutTimesAreDropped)
RTL_C_TEST(Records, KeepTheSessionsClock)
RTL_C_TEST(Buffers, LeaveMetadataOutFirst)
RTL_C_TEST(Buffers, AreCompletedOnce)

#include "../common/check.h"

RTL_C_TEST(Pool, GrowsToTheTargetAndNotBeyondTheLimit)
RTL_C_TEST(Pool, GivesWhatItHasAndTakesItBack)
RTL_C_TEST(Pool, BlocksAndSingleOnesAreTheSameSignals)
RTL_C_TEST(Pool, StopsGrowingWhenSignalsCannotBeMade)
RTL_C_TEST(Pool, ShrinksByNoMoreThanIsFree)
RTL_C_TEST(Pool, EndDestroysTheFreeAndCountsTheRest)
RTL_C_TEST(Pool, SeveralThreadsMakeSignals)
RTL_C_TEST(Pool, SeveralThreadsAreRefusedSignals)
RTL_C_TEST(Pool, NoSignalIsInTwoHands)
RTL_C_TEST(Pool, NoSignalIsInTwoBlocks)

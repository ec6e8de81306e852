#include "../../common/check.h"

RTL_C_TEST(Copies, PlainSignalStays)
RTL_C_TEST(Copies, KindsAndWhoCopies)
RTL_C_TEST(Copies, CountingSignalIsReplaced)
RTL_C_TEST(Copies, RefusedOnesNeverWere)
RTL_C_TEST(Copies, OfNothingOrWithoutASignalPass)
RTL_C_TEST(Copies, WhatIsNotRecordedIsCounted)
RTL_C_TEST(Copies, ADeviceThatLeavesNoTimes)
RTL_C_TEST(Copies, Rectangles)
RTL_C_TEST(Copies, BatchOfOne)
RTL_C_TEST(Copies, BatchesOfSeveralHaveNoTimes)
RTL_C_TEST(Copies, FromSeveralThreads)
